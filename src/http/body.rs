//! Reads an answer's body: counts, limits, looks for a text, and keeps its beginning.

use super::evidence::Beginning;
use crate::engine::transport::Trace;

/// What the body showed.
#[derive(Debug)]
pub(super) enum Read {
    /// It ended; whether the text was in it.
    Whole {
        /// Whether the text that was looked for stood in it.
        found: bool,
    },
    /// It is larger than allowed.
    TooLarge,
    /// It broke.
    Broken(reqwest::Error),
}

/// Reads to the end or to `limit` decoded bytes, looking for `text`. The first bytes go into `kept`.
pub(super) async fn read(
    response: &mut reqwest::Response,
    limit: u64,
    text: Option<&str>,
    trace: &Trace,
    kept: &mut Beginning,
) -> Read {
    let mut finder = Finder::new(text.unwrap_or_default().as_bytes());
    let mut total: u64 = 0;
    loop {
        match response.chunk().await {
            Ok(None) => {
                kept.whole = true;
                return Read::Whole { found: finder.found() };
            }
            Err(error) => return Read::Broken(error),
            Ok(Some(chunk)) => {
                total = total.saturating_add(chunk.len() as u64);
                trace.bytes(total);
                kept.feed(&chunk);
                if total > limit {
                    return Read::TooLarge;
                }
                finder.feed(&chunk);
            }
        }
    }
}

/// Finds a text in a stream of chunks, also across their borders, in the memory of the text (Knuth, Morris
/// and Pratt 1977).
struct Finder<'a> {
    text: &'a [u8],
    /// Per length of a matched prefix, the longest shorter prefix that also ends there.
    fallback: Vec<usize>,
    matched: usize,
}

impl<'a> Finder<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut fallback = vec![0; text.len()];
        let mut matched = 0;
        for at in 1..text.len() {
            while matched > 0 && text[at] != text[matched] {
                matched = fallback[matched - 1];
            }
            matched += usize::from(text[at] == text[matched]);
            fallback[at] = matched;
        }
        Self { text, fallback, matched: 0 }
    }

    fn found(&self) -> bool {
        self.matched == self.text.len()
    }

    fn feed(&mut self, chunk: &[u8]) {
        for &byte in chunk {
            if self.found() {
                return;
            }
            while self.matched > 0 && byte != self.text[self.matched] {
                self.matched = self.fallback[self.matched - 1];
            }
            self.matched += usize::from(byte == self.text[self.matched]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_never_hide_the_text(text in "[ab]{0,5}", body in "[ab]{0,40}", cut in 1_usize..7) {
            let mut finder = Finder::new(text.as_bytes());
            for chunk in body.as_bytes().chunks(cut) {
                finder.feed(chunk);
            }
            prop_assert_eq!(finder.found(), body.contains(&text));
        }
    }
}
