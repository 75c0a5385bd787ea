//! Reads an answer's body: counts it as it came and as it is meant, limits it, looks for a text, and keeps its
//! beginning.

use super::decode::{Coding, Decoder};
use super::evidence::Beginning;
use crate::engine::transport::Trace;
use http_body_util::BodyExt;
use reqwest::header::HeaderMap;
use std::io::{self, Write};

/// Decoded bytes after which others have a turn: decoding takes the engine's own time, and a few bytes may stand
/// for many.
const TURN: u64 = 256 << 10;

/// Bytes that are decoded at once, so that what comes out of them is no more than a turn or two.
const fn slice(coding: Coding) -> usize {
    match coding {
        // Four bytes may stand for a block of 128 KiB.
        Coding::Zstd => 16,
        // A byte may stand for a thousand.
        Coding::Gzip | Coding::Deflate => 1 << 10,
        Coding::Identity | Coding::Other(_) => usize::MAX,
    }
}

/// What is asked of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// How it is encoded.
    pub(super) coding: Coding,
    /// Most bytes, decoded.
    pub(super) limit: u64,
    /// A text that should be in it.
    pub(super) text: Option<&'a str>,
}

/// What the body showed.
#[derive(Debug)]
pub(super) enum Read {
    /// It ended; whether the text was in it.
    Whole {
        /// Whether the text that was looked for stood in it.
        found: bool,
        /// What came behind it.
        trailers: Option<HeaderMap>,
    },
    /// It is larger than allowed.
    TooLarge,
    /// It broke.
    Broken(reqwest::Error),
    /// It came whole, or is coming, and is not what its coding promises.
    Undecodable(io::Error),
}

/// Reads to the end or to the limit. The first bytes go into `kept`.
pub(super) async fn read(
    body: reqwest::Body,
    wanted: Wanted<'_>,
    trace: &Trace,
    kept: &mut Beginning,
) -> Read {
    let mut sink = Sink {
        finder: Finder::new(wanted.text.unwrap_or_default().as_bytes()),
        total: 0,
        limit: wanted.limit,
        trace,
        kept,
    };
    let ended = drain(body, wanted.coding, &mut sink).await;
    if sink.total > sink.limit {
        return Read::TooLarge;
    }
    match ended {
        Ok(trailers) => {
            sink.kept.whole = true;
            Read::Whole { found: sink.finder.found(), trailers }
        }
        Err(Ended::Broken(error)) => Read::Broken(error),
        Err(Ended::Undecodable(error)) => Read::Undecodable(error),
    }
}

/// Why a body ended before its end.
enum Ended {
    Broken(reqwest::Error),
    Undecodable(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Undecodable(error)
    }
}

/// Takes in the whole body; what came behind it, if anything did.
async fn drain(
    mut body: reqwest::Body,
    coding: Coding,
    sink: &mut Sink<'_>,
) -> Result<Option<HeaderMap>, Ended> {
    let trace = sink.trace;
    let mut decoder = Decoder::new(coding, sink);
    let (mut wire, mut turn) = (0_u64, TURN);
    let mut trailers = None;
    while let Some(frame) = body.frame().await {
        let chunk = match frame.map_err(Ended::Broken)?.into_data() {
            Ok(chunk) => chunk,
            Err(frame) => {
                trailers = frame.into_trailers().ok();
                continue;
            }
        };
        wire = wire.saturating_add(chunk.len() as u64);
        trace.wire_bytes(wire);
        for slice in chunk.chunks(slice(coding)) {
            decoder.feed(slice)?;
            let total = decoder.sink().map_or(0, |sink| sink.total);
            if coding.is_undone() && total >= turn {
                turn = total.saturating_add(TURN);
                tokio::task::yield_now().await;
            }
        }
    }
    decoder.finish()?;
    Ok(trailers)
}

/// Where the decoded bytes go.
struct Sink<'a> {
    finder: Finder<'a>,
    total: u64,
    limit: u64,
    trace: &'a Trace,
    kept: &'a mut Beginning,
}

impl Write for Sink<'_> {
    /// Refuses once there is too much, also what a decoder offers again on its way out.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let too_large = || io::Error::other("the body is too large");
        if self.total > self.limit {
            return Err(too_large());
        }
        self.total = self.total.saturating_add(bytes.len() as u64);
        self.trace.bytes(self.total);
        self.kept.feed(bytes);
        if self.total > self.limit {
            return Err(too_large());
        }
        self.finder.feed(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    use std::future::{Future, poll_fn};
    use std::io::Read as _;
    use std::pin::pin;
    use tokio::time::Instant;

    const SIZE: u64 = 4 << 20;

    fn gzip() -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::copy(&mut std::io::repeat(b'0').take(SIZE), &mut encoder).unwrap();
        encoder.finish().unwrap()
    }

    /// A frame of blocks that each repeat one byte (RFC 8878, 3.1.1.2.2).
    fn zstd() -> Vec<u8> {
        const BLOCK: u32 = 128 << 10;
        let blocks = u32::try_from(SIZE).unwrap() / BLOCK;
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x68];
        for left in (0..blocks).rev() {
            let head = BLOCK << 3 | 1 << 1 | u32::from(left == 0);
            frame.extend(&head.to_le_bytes()[..3]);
            frame.push(b'0');
        }
        frame
    }

    #[tokio::test]
    async fn a_body_that_is_much_larger_than_it_came_gives_others_a_turn() {
        for (coding, body) in [(Coding::Gzip, gzip()), (Coding::Zstd, zstd())] {
            gives_turns(coding, body).await;
        }
    }

    async fn gives_turns(coding: Coding, body: Vec<u8>) {
        let body = reqwest::Body::from(body);
        let trace = Trace::new(Instant::now(), None);
        let mut kept = Beginning::default();
        let mut reading = pin!(read(body, Wanted { coding, limit: SIZE, text: None }, &trace, &mut kept));
        let (mut turns, mut most, mut before) = (0, 0, 0);
        let ended = poll_fn(|cx| {
            let polled = reading.as_mut().poll(cx);
            let bytes = trace.seen(Instant::now()).bytes;
            (turns, most, before) = (turns + 1, most.max(bytes - before), bytes);
            polled
        })
        .await;
        assert!(matches!(ended, Read::Whole { found: true, .. }), "{ended:?}");
        assert_eq!(before, SIZE);
        // At most one slice and what a decoder holds come on top of a turn's bytes.
        assert!(turns > 2 && most < TURN + (2 << 20), "{coding:?}: {turns} turns, {most} bytes in one");
    }

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
