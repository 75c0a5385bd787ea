//! From an endpoint and a round to a request: URL, headers, body, and the way to connect for it.
//!
//! Limits that come with the client: dot segments of a path (`/../`, also as `/%2E%2E/`) are resolved, and what
//! no URL holds and `'` in a query are percent-encoded before they go out, of which `check` warns; every other byte
//! is left as written.
//!
//! Must not know sockets or answers. Errors say which key is wrong and never repeat a value: values may be
//! secrets.

use super::classify::Via;
use super::client::ClientKey;
use super::environment::Environment;
use super::tls::TlsKey;
use crate::domain::TraceId;
use crate::profile::reach::reach;
use crate::profile::redact::{secrets_in_urls, secrets_in_values};
use crate::profile::secrets::{is_secret_header, is_secret_key};
use crate::profile::{Endpoint, HttpChoice, Proxy};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use url::{Origin, Url};

/// A request as the profile means it, before the wire.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// Method.
    pub(super) method: Method,
    /// Where to, without userinfo.
    pub(super) url: Url,
    /// Headers of the profile, `traceparent`, and the encoding that is asked for.
    pub(super) headers: HeaderMap,
    /// Body; empty means none.
    pub(super) body: String,
    /// The URL of the proxy that it goes through.
    proxy: Option<String>,
    /// Whether this is still the endpoint's own scheme, host and port.
    home: bool,
}

/// A request ready for the wire.
pub(super) struct Wire {
    /// How to connect for it.
    pub(super) key: ClientKey,
    /// The request.
    pub(super) request: reqwest::Request,
}

impl Asked {
    /// Fills the endpoint's templates for a round.
    pub(super) fn new(
        endpoint: &Endpoint,
        url: &str,
        round: u64,
        row: &[String],
        ids: &TraceIds,
        environment: &Environment,
    ) -> Result<Self, String> {
        let mut url = Url::parse(url).map_err(|e| format!("url: {e}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("url: neither http nor https".to_owned());
        }
        let method = Method::from_bytes(endpoint.method.as_bytes()).map_err(|e| format!("method: {e}"))?;
        // With room for those that are ours.
        let mut headers = HeaderMap::with_capacity(endpoint.headers.len() + 3);
        for (name, value) in &endpoint.headers {
            let parsed = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("header {name:?}: not a header name"))?;
            let value = HeaderValue::from_str(&value.fill(round, row))
                .map_err(|_| format!("header {name:?}: its value has bytes that no header may have"))?;
            headers.append(parsed, value);
        }
        if let Some(credentials) = take_userinfo(&mut url) {
            headers.entry(header::AUTHORIZATION).or_insert(credentials);
        }
        if endpoint.trace
            && let Ok(parent) = HeaderValue::try_from(ids.traceparent())
        {
            headers.entry(TRACEPARENT).or_insert(parent);
        }
        // A part of an encoded body can't be decoded.
        if !headers.contains_key(header::RANGE) {
            headers.entry(header::ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
        }
        let proxy = proxy_for(&url, endpoint, environment);
        Ok(Self { method, url, headers, body: endpoint.body.fill(round, row), proxy, home: true })
    }

    /// The request that a redirect asks for, without credentials once scheme, host or port differ.
    /// `None` where the answer is no redirect; the error says why it can't be followed.
    pub(super) fn redirected(
        &self,
        status: StatusCode,
        location: Option<&HeaderValue>,
        (endpoint, environment): (&Endpoint, &Environment),
    ) -> Option<Result<Self, &'static str>> {
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = location?;
        let target = std::str::from_utf8(location.as_bytes()).ok().and_then(|l| self.url.join(l).ok());
        let Some(mut url) = target else {
            return Some(Err("redirected to something that is no URL"));
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Some(Err("redirected to neither http nor https"));
        }
        take_userinfo(&mut url);
        let proxy = proxy_for(&url, endpoint, environment);
        let mut next = Self { url, proxy, ..self.clone() };
        let becomes_get = match status.as_u16() {
            303 => next.method != Method::HEAD,
            301 | 302 => next.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            next.method = Method::GET;
            next.body.clear();
            for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
                next.headers.remove(name);
            }
        }
        if origin(&next.url) != origin(&self.url) {
            next.home = false;
            let names: Vec<_> = next.headers.keys().filter(|n| stays_home(n)).cloned().collect();
            for name in names {
                next.headers.remove(name);
            }
        }
        Some(Ok(next))
    }

    /// The proxy that it goes through.
    pub(super) fn via(&self) -> Option<Via> {
        self.proxy.as_deref().and_then(|proxy| Via::new(proxy, &self.url))
    }

    /// The trace that it is sent under.
    pub(super) fn trace_id(&self) -> Option<TraceId> {
        self.headers.get(TRACEPARENT).and_then(|h| h.to_str().ok()).and_then(TraceId::of_traceparent)
    }

    /// Every secret in it, with its parts: what an upstream, or the proxy, might send back.
    pub(super) fn secrets(&self) -> Vec<String> {
        let url = self.url.as_str();
        let mut found: Vec<String> = secrets_in_urls(url).map(str::to_owned).collect();
        let pairs = self.url.query_pairs().filter(|(key, _)| is_secret_key(key));
        found.extend(pairs.map(|(_, value)| value.into_owned()));
        found.extend(secrets_in_values(&self.body).map(str::to_owned));
        for (name, value) in &self.headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            if is_secret_header(name.as_str()) {
                found.extend(parts(&value));
            } else {
                found.extend(secrets_in_urls(&value).map(str::to_owned));
            }
        }
        found.extend(self.proxy.iter().flat_map(|proxy| secrets_of_proxy(proxy)));
        found
    }

    /// The request with everything that connecting needs.
    pub(super) fn wire(&self, endpoint: &Endpoint) -> Result<Wire, String> {
        let mut headers = self.headers.clone();
        let host = headers.get(header::HOST).map(|host| host.to_str().map_err(|_| "header host: not a host"));
        let reach = reach(endpoint, &self.url, host.transpose()?, self.home)?;
        if reach.http != HttpChoice::Http11 {
            // It is the URL's authority now.
            headers.remove(header::HOST);
        } else if let Some(host) = &reach.host {
            let host = HeaderValue::from_str(host).map_err(|_| "url: its host can't be sent as a header")?;
            headers.insert(header::HOST, host);
        }
        let tls = TlsKey {
            ca: endpoint.tls.ca.clone(),
            // Our certificate is a credential too.
            identity: endpoint.tls.cert.clone().zip(endpoint.tls.key.clone()).filter(|_| self.home),
            insecure: endpoint.tls.insecure,
            verify_as: reach.verify_as,
        };
        // A proxy may be reached by TLS.
        let tls = (reach.url.scheme() == "https" || self.proxy.is_some()).then_some(tls);
        let key = ClientKey::new(reach.http, self.proxy.clone(), tls, reach.dial, &reach.url);
        let mut request = reqwest::Request::new(self.method.clone(), reach.url);
        *request.headers_mut() = headers;
        if !self.body.is_empty() {
            *request.body_mut() = Some(self.body.clone().into());
        } else if matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            // RFC 9110, 8.6: a method that has a meaning for a body says so when there is none. Servers ask for it (411).
            request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok(Wire { key, request })
    }
}

fn origin(url: &Url) -> Origin {
    url.origin()
}

/// Whether a header is kept from another scheme, host or port. `Host` named the first one.
fn stays_home(name: &HeaderName) -> bool {
    *name == header::HOST || is_secret_header(name.as_str())
}

/// The URL of the proxy that a request to this URL goes through.
fn proxy_for(url: &Url, endpoint: &Endpoint, environment: &Environment) -> Option<String> {
    match &endpoint.proxy {
        Proxy::None => None,
        Proxy::Env => environment.proxy(url).map(str::to_owned),
        Proxy::Url(proxy) => Some(proxy.clone()),
    }
}

/// User and password of a proxy's URL: as they are written, as they are meant, and as the header that is sent.
fn secrets_of_proxy(proxy: &str) -> Vec<String> {
    // The environment's may have no scheme.
    let whole = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    let Ok(mut url) = Url::parse(&whole) else { return Vec::new() };
    let written = [url.username(), url.password().unwrap_or_default()].map(str::to_owned);
    let header = take_userinfo(&mut url);
    let mut found: Vec<String> = written.into_iter().filter(|written| !written.is_empty()).collect();
    found.extend(header.iter().flat_map(|header| parts(&String::from_utf8_lossy(header.as_bytes()))));
    found
}

/// Takes user and password out of a URL, as the header that they stand for.
fn take_userinfo(url: &mut Url) -> Option<HeaderValue> {
    let (user, password) = (url.username(), url.password());
    if user.is_empty() && password.is_none() {
        return None;
    }
    let mut credentials: Vec<u8> = percent_decode_str(user).collect();
    credentials.push(b':');
    credentials.extend(percent_decode_str(password.unwrap_or_default()));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(credentials))).ok();
    if let Some(value) = &mut value {
        value.set_sensitive(true);
    }
    // Both only fail on URLs without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    value
}

/// A secret header's value, and what of it is a secret in itself: the token behind its scheme, user and password
/// of `Basic`, the values of cookies.
fn parts(value: &str) -> Vec<String> {
    let mut parts = vec![value.to_owned()];
    parts.extend(value.split(';').filter_map(|pair| pair.split_once('=')).map(|(_, v)| v.trim().to_owned()));
    if let Some((_, token)) = value.split_once(' ') {
        let token = token.trim();
        parts.push(token.to_owned());
        let credentials = STANDARD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        parts.extend(credentials.iter().flat_map(|c| c.split(':').chain([c.as_str()])).map(str::to_owned));
    }
    parts
}

const TRACEPARENT: &str = "traceparent";

/// Makes W3C trace contexts.
pub(super) struct TraceIds {
    // Keyed by the operating system's randomness: ids can't be guessed and don't repeat between runs.
    keyed: RandomState,
    next: AtomicU64,
}

impl TraceIds {
    pub(super) fn new() -> Self {
        Self { keyed: RandomState::new(), next: AtomicU64::new(0) }
    }

    fn id(&self) -> u64 {
        // All zeros are not a valid id.
        self.keyed.hash_one(self.next.fetch_add(1, Ordering::Relaxed)).max(1)
    }

    /// A `traceparent` of version 00, sampled.
    fn traceparent(&self) -> String {
        format!("00-{:016x}{:016x}-{:016x}-01", self.id(), self.id(), self.id())
    }
}

/// The way to connect that an endpoint's URL asks for, where the URL can be used at all: to make its client
/// before the first round.
pub(super) fn key_of(
    endpoint: &Endpoint,
    url: &str,
    row: &[String],
    ids: &TraceIds,
    environment: &Environment,
) -> Option<ClientKey> {
    let asked = Asked::new(endpoint, url, 1, row, ids, environment).ok()?;
    asked.wire(endpoint).ok().map(|wire| wire.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_credentials_of_a_proxy_are_secrets_however_they_are_written() {
        for proxy in
            ["http://pr0xy-user:p%40ss@p:3128", "pr0xy-user:p%40ss@p:3128", "socks5h://pr0xy-user:p%40ss@p:1"]
        {
            let found = secrets_of_proxy(proxy);
            for secret in
                ["pr0xy-user", "p%40ss", "p@ss", "pr0xy-user:p@ss", &STANDARD.encode("pr0xy-user:p@ss")]
            {
                assert!(found.iter().any(|f| f == secret), "{secret} of {proxy} is not in {found:?}");
            }
        }
        for plain in ["http://p:3128", "p:3128", "", "http://"] {
            assert!(secrets_of_proxy(plain).is_empty(), "{plain:?}");
        }
    }
}
