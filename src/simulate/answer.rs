//! Bodies of answers: whole, broken off, or trickling.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use serde_json::Value;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// A dripping body: one byte, this pause, and so on for 75 s, longer than any round.
const DRIP_PAUSE: Duration = Duration::from_millis(250);
const DRIP_BYTES: u64 = 300;

/// Filler of large bodies, so that no body is ever built as a whole.
static PADDING: [u8; 16 << 10] = [b'.'; 16 << 10];

/// What closes the JSON after its padding.
const CLOSING: &[u8] = b"\"}\n";

/// The body of an answer, played from a script. Its size is always announced.
pub(super) struct Answer {
    script: VecDeque<Step>,
    /// Announced bytes that have not been sent.
    left: u64,
    pause: Option<Pin<Box<Sleep>>>,
}

enum Step {
    Send(Bytes),
    Pad(u64),
    Pause(Duration),
    /// Be pending once, so that what is buffered goes out.
    Flush,
    BreakOff,
}

impl Answer {
    /// JSON that names endpoint and round, padded to `size` bytes where that is longer.
    pub(super) fn whole(endpoint: &str, round: u64, size: u64) -> Self {
        let (opening, padding) = Self::json(endpoint, round, size);
        Self::play(vec![Step::Send(opening), Step::Pad(padding), Step::Send(Bytes::from_static(CLOSING))], 0)
    }

    /// Announces what [`Answer::whole`] would send, and breaks off before its padding.
    pub(super) fn truncated(endpoint: &str, round: u64, size: u64) -> Self {
        let (opening, padding) = Self::json(endpoint, round, size);
        let unsent = padding.saturating_add(CLOSING.len() as u64);
        Self::play(vec![Step::Send(opening), Step::Flush, Step::BreakOff], unsent)
    }

    /// Far slower than any budget.
    pub(super) fn dripping() -> Self {
        let byte = || Step::Send(Bytes::from_static(b" "));
        let steps = (0..DRIP_BYTES).flat_map(|_| [byte(), Step::Pause(DRIP_PAUSE)]);
        Self::play(steps.collect(), 0)
    }

    /// No bytes.
    pub(super) fn empty() -> Self {
        Self::play(Vec::new(), 0)
    }

    /// The JSON up to its padding, and the bytes of padding that make it as long as asked.
    fn json(endpoint: &str, round: u64, size: u64) -> (Bytes, u64) {
        let name = Value::from(endpoint);
        let opening = Bytes::from(format!("{{\"endpoint\":{name},\"round\":{round},\"data\":\""));
        let padding = size.saturating_sub((opening.len() + CLOSING.len()) as u64);
        (opening, padding)
    }

    fn play(steps: Vec<Step>, unsent: u64) -> Self {
        let size = |step: &Step| match step {
            Step::Send(bytes) => bytes.len() as u64,
            Step::Pad(size) => *size,
            Step::Pause(_) | Step::Flush | Step::BreakOff => 0,
        };
        let left = steps.iter().map(size).fold(unsent, u64::saturating_add);
        Self { script: steps.into(), left, pause: None }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                std::task::ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            let bytes = match self.script.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Send(bytes)) => bytes,
                Some(Step::Pad(0)) => continue,
                Some(Step::Pad(size)) => {
                    let now = PADDING.len().min(usize::try_from(size).unwrap_or(usize::MAX));
                    self.script.push_front(Step::Pad(size - now as u64));
                    Bytes::from_static(PADDING.split_at(now).0)
                }
                Some(Step::Pause(time)) => {
                    self.pause = Some(Box::pin(sleep(time)));
                    continue;
                }
                Some(Step::Flush) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(Step::BreakOff) => {
                    return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())));
                }
            };
            self.left = self.left.saturating_sub(bytes.len() as u64);
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.script.is_empty() && self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
