//! A host that asked to be left alone (R39).

use std::time::Duration;

/// The longest that a Retry-After is obeyed.
pub const LONGEST: Duration = Duration::from_secs(60);

/// Whether a host is held. Times are from the session's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backoff {
    until: Duration,
}

impl Backoff {
    /// An answer of this moment asked for a pause. A shorter one never ends a longer one.
    pub fn hold(&mut self, wait: Duration, now: Duration) {
        self.until = self.until.max(now.saturating_add(wait.min(LONGEST)));
    }

    /// Whether nothing may be sent. At the very end of the pause it may.
    #[must_use]
    pub fn held(&self, now: Duration) -> bool {
        now < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r39_a_pause_holds_for_its_time_and_at_most_a_minute() {
        let s = Duration::from_secs;
        let mut host = Backoff::default();
        assert!(!host.held(s(0)));
        host.hold(s(7), s(10));
        assert!(host.held(s(10)) && host.held(Duration::from_millis(16_999)) && !host.held(s(17)));
        host.hold(s(1), s(11));
        assert!(host.held(s(16)), "a later and shorter one changes nothing");
        host.hold(Duration::MAX, s(20));
        assert!(host.held(s(79)) && !host.held(s(80)));
        host.hold(Duration::ZERO, s(90));
        assert!(!host.held(s(90)));
    }
}
