//! How long a slow terminal is left alone between frames, so that what answers a key has little to wait behind.
//!
//! Between us and what shows the frames are queues that nobody can look into: a pseudo-terminal alone takes up to some
//! 20 kB before it makes a writer wait, almost half a second at 50 kB/s. So its speed is measured where the writer had to
//! wait, and what is still queued is reckoned from that. Knows no terminal, and no clock: times come in.

use std::time::{Duration, Instant};

/// What is taken to be queued when a writer had to wait, in bytes.
const QUEUE: f64 = 16_384.0;

/// For how long a terminal counts as slow that makes nobody wait any more. Then it is tried how fast it is.
const SLOW: Duration = Duration::from_secs(30);

/// How much of what a slow terminal can take it is given: with all of it what is queued would never get less.
const SHARE: f64 = 0.75;

/// Waits shorter than this, in total, tell more of the machine than of the terminal.
const LEAST: Duration = Duration::from_millis(2);

/// How a frame went out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    /// When all of it was.
    pub(super) at: Instant,
    /// Its length.
    pub(super) bytes: usize,
    /// Bytes of it that the terminal did not take at once, and how long it took for them.
    pub(super) waited: Option<(usize, Duration)>,
}

/// A terminal as somebody knows it who writes to it.
#[derive(Debug, Default)]
pub(super) struct Line {
    slow: Option<Slow>,
}

#[derive(Debug, Clone, Copy)]
struct Slow {
    /// Bytes that were waited for and seconds that took; older ones weigh less and less.
    taken: f64,
    seconds: f64,
    /// When somebody last had to wait.
    since: Instant,
    /// Bytes that were queued then.
    queued: f64,
    at: Instant,
}

impl Line {
    /// Takes in how a frame went out.
    pub(super) fn wrote(&mut self, frame: Written) {
        let Written { at, bytes, waited } = frame;
        let before = self.slow;
        match waited.filter(|&(bytes, time)| bytes > 0 && time >= LEAST) {
            Some((waited_for, time)) => {
                let (taken, seconds) = before.map_or((0.0, 0.0), |s| (s.taken / 2.0, s.seconds / 2.0));
                self.slow = Some(Slow {
                    taken: taken + as_f64(waited_for),
                    seconds: seconds + time.as_secs_f64(),
                    since: at,
                    queued: QUEUE,
                    at,
                });
            }
            None => {
                self.slow = before.filter(|s| at.saturating_duration_since(s.since) < SLOW).map(|s| Slow {
                    queued: s.queued_at(at) + as_f64(bytes),
                    at,
                    ..s
                });
            }
        }
    }

    /// When the terminal has taken everything, as far as is known; `None` where it takes all at once.
    pub(super) fn taken_at(&self) -> Option<Instant> {
        let slow = self.slow?;
        let rest = Duration::try_from_secs_f64(slow.queued / slow.speed()).unwrap_or(SLOW);
        slow.at.checked_add(rest.min(SLOW))
    }
}

impl Slow {
    /// Bytes a second that it is given.
    fn speed(self) -> f64 {
        self.taken / self.seconds * SHARE
    }

    fn queued_at(self, at: Instant) -> f64 {
        let gone = at.saturating_duration_since(self.at).as_secs_f64() * self.speed();
        (self.queued - gone).max(0.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a frame, far below 2^52")]
const fn as_f64(bytes: usize) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A terminal that takes `speed` bytes a second behind a queue of `room` bytes, written to with frames of so many
    /// bytes when its time has come, but never sooner than 33 ms after the last. Returns for each frame when it was
    /// written and how much was queued before it.
    fn frames(speed: f64, room: f64, bytes: usize, seconds: u64) -> Vec<(Duration, f64)> {
        let start = Instant::now();
        let (mut line, mut now, mut queued, mut out) = (Line::default(), start, 0.0_f64, Vec::new());
        while now - start < Duration::from_secs(seconds) {
            out.push((now - start, queued));
            // Whole bytes are taken, so many that the rest has room.
            let over = (0..=bytes).find(|&over| queued + as_f64(bytes - over) <= room).unwrap_or(bytes);
            let waits = Duration::from_secs_f64(as_f64(over) / speed);
            queued = (queued + as_f64(bytes)).min(room);
            now += waits;
            let waited = (over > 0).then_some((over, waits));
            line.wrote(Written { at: now, bytes, waited });
            let next = (now + ms(33)).max(line.taken_at().map_or(now, |at| at.min(now + ms(250))));
            queued = (queued - (next - now).as_secs_f64() * speed).max(0.0);
            now = next;
        }
        out
    }

    #[test]
    fn a_fast_terminal_is_never_left_alone() {
        let frames = frames(5e6, 20_000.0, 4_000, 3);
        assert!(frames.len() >= 90, "{}", frames.len());
    }

    #[test]
    fn a_slow_terminal_has_little_queued_when_the_next_frame_comes() {
        for room in [8_192.0, 20_000.0] {
            let frames = frames(50_000.0, room, 4_000, 60);
            let full = frames.iter().filter(|(_, queued)| *queued > 4_000.0).count();
            assert!(full * 20 < frames.len(), "{full} of {} frames came to a queue", frames.len());
            assert!(frames.len() > 60 * 5, "and there are frames: {}", frames.len());
        }
    }

    #[test]
    fn a_terminal_that_was_slow_is_tried_again() {
        let start = Instant::now();
        let mut line = Line::default();
        let wrote = |at, waited| Written { at: start + at, bytes: 1_000, waited };
        line.wrote(wrote(ms(100), Some((500, ms(100)))));
        assert_eq!(
            line.taken_at(),
            start.checked_add(ms(100) + Duration::from_secs_f64(QUEUE / 5_000.0 / SHARE))
        );
        line.wrote(wrote(ms(29_000), None));
        assert_eq!(
            line.taken_at(),
            start.checked_add(ms(29_000) + Duration::from_secs_f64(1_000.0 / 5_000.0 / SHARE))
        );
        line.wrote(wrote(ms(30_200), None));
        assert_eq!(line.taken_at(), None);
    }

    #[test]
    fn odd_measurements_do_no_harm() {
        let start = Instant::now();
        let mut line = Line::default();
        line.wrote(Written { at: start, bytes: 0, waited: Some((0, ms(5))) });
        line.wrote(Written { at: start, bytes: 5, waited: Some((5, Duration::ZERO)) });
        assert_eq!(line.taken_at(), None);
        line.wrote(Written { at: start, bytes: 1, waited: Some((1, Duration::from_secs(1_000_000))) });
        assert_eq!(line.taken_at(), start.checked_add(SLOW));
    }
}
