//! The time of a recording: stands, or runs faster or slower than that of the world.

use crate::domain::Speed;
use std::time::Duration;
use tokio::time::Instant;

/// A clock over a recording.
#[derive(Debug)]
pub(super) struct Clock {
    /// Where it was at that time, or where it stands.
    position: Duration,
    /// Since when it runs.
    since: Option<Instant>,
    pub(super) speed: Speed,
}

impl Clock {
    /// It stands at the beginning.
    pub(super) const fn new(speed: Speed) -> Self {
        Self { position: Duration::ZERO, since: None, speed }
    }

    /// Where it is now.
    pub(super) fn position(&self, now: Instant) -> Duration {
        let ran = self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        self.position.saturating_add(self.speed.played(ran))
    }

    /// Puts it somewhere; it goes on from there if it runs.
    pub(super) fn set(&mut self, position: Duration, now: Instant) {
        self.position = position;
        self.since = self.since.map(|_| now);
    }

    /// Starts or stops it.
    pub(super) fn run(&mut self, runs: bool, now: Instant) {
        if runs != self.since.is_some() {
            self.position = self.position(now);
            self.since = runs.then_some(now);
        }
    }

    /// Makes it faster or slower from now on.
    pub(super) fn set_speed(&mut self, speed: Speed, now: Instant) {
        self.set(self.position(now), now);
        self.speed = speed;
    }

    /// Whether it runs.
    pub(super) const fn runs(&self) -> bool {
        self.since.is_some()
    }

    /// When it will be at this position; `None` while it stands.
    pub(super) fn when(&self, position: Duration) -> Option<Instant> {
        let takes = self.speed.takes(position.saturating_sub(self.position));
        // Too far to be said is as good as never.
        self.since?.checked_add(takes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_at_its_speed_and_stands_when_it_is_told_to() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut clock = Clock::new(Speed::parse("4").unwrap());
        assert_eq!((clock.position(start + ms(100)), clock.when(ms(5))), (ms(0), None));
        clock.run(true, start);
        assert_eq!(clock.position(start + ms(100)), ms(400));
        assert_eq!(clock.when(ms(400)), Some(start + ms(100)));
        clock.set_speed(Speed::SLOWEST, start + ms(100));
        assert_eq!(clock.position(start + ms(140)), ms(410));
        clock.run(true, start + ms(140));
        clock.run(false, start + ms(140));
        assert_eq!(clock.position(start + ms(900)), ms(410));
        clock.set(ms(50), start + ms(900));
        clock.run(true, start + ms(1000));
        assert_eq!(clock.position(start + ms(1040)), ms(60));
        assert_eq!(clock.when(Duration::MAX), None, "never");
    }
}
