//! The time limit that cut a call: which, when, and its words, the same in every panel.

use super::ctx::Ctx;
use crate::app::{Lane, LaneState};
use crate::domain::{Reason, Settings};
use std::time::Duration;

/// A time limit at which calls are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The round's deadline.
    Deadline,
    /// The outer limit, which holds for required calls and where the budget does not cut (R8).
    Request,
    /// The endpoint's own timeout.
    Timeout,
}

impl Limit {
    /// The limit that cut a call which ended so, and when it was.
    ///
    /// A call that was throttled (R36) does not say at which limit. What ended before the one that holds for it
    /// was cut at its own timeout: no other comes first.
    #[must_use]
    pub fn of(
        (reason, end): (Reason, Duration),
        required: bool,
        settings: &Settings,
        budget: Duration,
    ) -> (Self, Duration) {
        let outer = match reason {
            Reason::Deadline => false,
            Reason::RequestDeadline => true,
            _ => required || settings.mode.ignores_budget(),
        };
        let (limit, at) =
            if outer { (Self::Request, settings.request_budget) } else { (Self::Deadline, budget) };
        if reason == Reason::Throttled && end < at {
            return (Self::Timeout, end);
        }
        // Given up at the limit; when that was noticed is the instrument's own affair.
        (limit, end.min(at))
    }

    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Request => "request deadline",
            Self::Timeout => "timeout",
        }
    }

    /// `before the deadline`.
    #[must_use]
    pub fn before(self) -> String {
        let whose = if self == Self::Timeout { "its" } else { "the" };
        format!("before {whose} {}", self.word())
    }
}

impl Ctx<'_> {
    /// The limit that cut this endpoint's call in the round on the lanes, and when it was, if one did.
    pub(super) fn limit(&self, index: usize, lane: &Lane) -> Option<(Limit, Duration)> {
        let LaneState::Cut(reason, _) = lane.state else { return None };
        let required = self.app.endpoints.get(index).is_some_and(|e| e.required);
        Some(Limit::of((reason, lane.end), required, self.app.round_settings(), self.app.round_budget()))
    }

    /// How long this endpoint's call in the round on the lanes took, or runs: no longer than the limit that cut
    /// it.
    pub(super) fn end(&self, index: usize, lane: &Lane) -> Duration {
        self.limit(index, lane).map_or(lane.end, |(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture as fx;
    use crate::domain::Mode;

    /// The limit of a round with a budget of 200 ms and a request budget of 1000 ms.
    fn limit(mode: Mode, required: bool, reason: Reason, end: f64) -> (Limit, Duration) {
        let settings = Settings { request_budget: fx::ms(1000.0), ..fx::settings(mode) };
        Limit::of((reason, fx::ms(end)), required, &settings, fx::ms(200.0))
    }

    #[test]
    fn r36_a_throttled_call_was_cut_at_the_limit_that_holds_for_it() {
        let throttled = |mode, required, end| limit(mode, required, Reason::Throttled, end);
        assert_eq!(throttled(Mode::Deadline, false, 200.6), (Limit::Deadline, fx::ms(200.0)));
        assert_eq!(throttled(Mode::Deadline, true, 1000.4), (Limit::Request, fx::ms(1000.0)));
        assert_eq!(throttled(Mode::WaitAll, false, 1000.4), (Limit::Request, fx::ms(1000.0)));
        assert_eq!(throttled(Mode::Deadline, false, 50.2), (Limit::Timeout, fx::ms(50.2)), "R7");
        assert_eq!(throttled(Mode::Deadline, true, 300.0), (Limit::Timeout, fx::ms(300.0)), "R7");
    }

    #[test]
    fn r34_other_cuts_name_their_limit_themselves() {
        let deadline = limit(Mode::Deadline, false, Reason::Deadline, 201.0);
        assert_eq!(deadline, (Limit::Deadline, fx::ms(200.0)));
        let request = limit(Mode::Deadline, true, Reason::RequestDeadline, 1001.0);
        assert_eq!(request, (Limit::Request, fx::ms(1000.0)));
        let words = [Limit::Deadline, Limit::Request, Limit::Timeout].map(Limit::before);
        assert_eq!(words, ["before the deadline", "before the request deadline", "before its timeout"]);
    }
}
