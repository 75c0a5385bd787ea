//! What is kept of an answer that was not accepted: bounded, redacted, safe to show.
//!
//! The bytes are noted while the answer is read; the rest is done after the attempt, and only for those that
//! failed.

use super::request::Asked;
use crate::domain::text::{cut, visible};
use crate::domain::{Answer, EndpointId};
use crate::profile::redact::{REDACTED, redact};
use crate::profile::secrets::is_secret_header;
use http::response::Parts;
use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Version};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An answer as it came.
pub(super) struct Raw {
    version: Version,
    status: StatusCode,
    headers: HeaderMap,
    body: Beginning,
    /// The request that it answers, where a redirect led there.
    hop: Option<Asked>,
}

/// The first bytes of a body.
#[derive(Default)]
pub(super) struct Beginning {
    bytes: Vec<u8>,
    more: bool,
    /// Whether the body ended as it should.
    pub(super) whole: bool,
}

impl Beginning {
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        let room = Answer::MAX_BODY.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
        self.more |= chunk.len() > room;
    }
}

impl Raw {
    /// From the head of an answer. `hop` is the request that it answers, where a redirect led there.
    pub(super) fn new(head: Parts, body: Beginning, hop: Option<Asked>) -> Self {
        Self { version: head.version, status: head.status, headers: head.headers, body, hop }
    }

    /// The evidence; `asked` is the endpoint's own request, whose secrets the upstream may have sent back.
    pub(super) fn evidence(self, asked: &Asked, pages: &Pages, endpoint: EndpointId) -> Answer {
        let mut secrets = asked.secrets();
        secrets.extend(self.hop.iter().flat_map(Asked::secrets));
        let shown = self.headers.iter().take(Answer::MAX_HEADERS).map(|(name, value)| {
            let value = header(name.as_str(), value.as_bytes(), &secrets);
            (cut(name.as_str().to_owned(), Answer::MAX_NAME), cut(value, Answer::MAX_VALUE))
        });
        Answer {
            status_line: format!("{:?} {}", self.version, self.status.as_str())
                + &self.status.canonical_reason().map(|words| format!(" {words}")).unwrap_or_default(),
            headers: shown.collect(),
            headers_left_off: self.headers.len().saturating_sub(Answer::MAX_HEADERS),
            body_truncated: self.body.more || !self.body.whole,
            body: pages.share(endpoint, self.body.text(&secrets)),
        }
    }
}

/// A header's value, unless it is a secret by its name.
fn header(name: &str, value: &[u8], secrets: &[String]) -> String {
    // A challenge asks for a secret and is none.
    let secret = name != "www-authenticate" && (is_secret_header(name) || name.starts_with("proxy-"));
    if secret {
        return REDACTED.to_owned();
    }
    visible(&redact(&String::from_utf8_lossy(value), secrets, false))
}

impl Beginning {
    fn text(&self, secrets: &[String]) -> String {
        let cut = self.more || !self.whole;
        let text = redact(&decoded(&self.bytes, cut), secrets, cut).replace("\r\n", "\n");
        text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
    }
}

/// Bytes as text, with a replacement character for what is no UTF-8. A character that the cut has split is left
/// out.
fn decoded(bytes: &[u8], cut: bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let split = || cut && std::str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none());
        if !chunk.invalid().is_empty() && !split() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// The last page of each endpoint. An upstream that fails mostly sends the same one again and again, and rounds
/// are kept by the hundred: equal ones share their memory.
#[derive(Clone, Default)]
pub(super) struct Pages(Arc<Mutex<HashMap<EndpointId, Arc<str>>>>);

impl Pages {
    fn share(&self, endpoint: EndpointId, page: String) -> Arc<str> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = last.entry(endpoint).or_default();
        if **kept != *page {
            *kept = page.into();
        }
        Arc::clone(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_utf8_is_replaced_and_a_split_character_left_out() {
        assert_eq!(decoded(b"a\xffb\xe2\x82", false), "a\u{fffd}b\u{fffd}");
        assert_eq!(decoded(b"a\xffb\xe2\x82", true), "a\u{fffd}b");
        assert_eq!(decoded(b"", true), "");
    }

    #[test]
    fn equal_pages_of_an_endpoint_share_their_memory() {
        let pages = Pages::default();
        let share = |endpoint, page: &str| pages.share(EndpointId(endpoint), page.to_owned());
        let first = share(0, "sorry");
        assert!(Arc::ptr_eq(&first, &share(0, "sorry")));
        assert!(!Arc::ptr_eq(&first, &share(1, "sorry")));
        assert_eq!(&*share(0, "other"), "other");
        assert_eq!(&*first, "sorry");
    }
}
