//! What to do about an endpoint whose last rounds went wrong for one reason (R42).

use crate::domain::{EndpointId, Outcome, Reason};
use std::collections::VecDeque;

/// What would help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Fix the endpoint's latency, or give it a smaller share: a `timeout` of its own.
    FixLatency,
    /// Add a circuit breaker.
    AddBreaker,
}

impl Remedy {
    /// What to do; `short` where there is little room.
    #[must_use]
    pub const fn words(self, short: bool) -> &'static str {
        match (self, short) {
            (Self::FixLatency, false) => "fix its latency or set a timeout of its own",
            (Self::FixLatency, true) => "fix its latency",
            (Self::AddBreaker, false) => "add a circuit breaker",
            (Self::AddBreaker, true) => "add a breaker",
        }
    }
}

/// One reason made up half or more of an endpoint's last rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// Whose.
    pub endpoint: EndpointId,
    /// Why its calls are missing.
    pub reason: Reason,
    /// How many of the last rounds.
    pub count: usize,
    /// The last rounds looked at, up to 20.
    pub of: usize,
    /// What would help.
    pub remedy: Remedy,
}

impl Hint {
    /// What happened to the calls, to stand between the endpoint's name and [`Hint::often`], or without a name.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self.reason {
            Reason::Deadline => "cut in",
            Reason::ConnectRefused => "refused",
            Reason::ConnectUnreachable => "unreachable in",
            _ => "not connected in",
        }
    }

    /// How often: `15 of the last 20 calls`, `short` without the last word.
    #[must_use]
    pub fn often(&self, short: bool) -> String {
        let calls = if short { "" } else { " calls" };
        format!("{} of the last {}{calls}", self.count, self.of)
    }
}

/// Rounds looked at.
const LOOKED_AT: usize = 20;

/// Outcomes of an endpoint's last rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Recent(VecDeque<Outcome>);

impl Recent {
    pub(super) fn push(&mut self, outcome: Outcome) {
        if self.0.len() == LOOKED_AT {
            self.0.pop_front();
        }
        self.0.push_back(outcome);
    }

    /// The hint, where a reason prevails and something can be said about it.
    ///
    /// Half of 20 is asked for also while fewer rounds were seen: two refusals in a row are no pattern.
    pub(super) fn hint(&self, endpoint: EndpointId) -> Option<Hint> {
        if 2 * self.0.iter().filter(|o| o.reason().is_some()).count() < LOOKED_AT {
            return None;
        }
        let count = |reason| self.0.iter().filter(|o| o.reason() == Some(reason)).count();
        let mut reasons: Vec<Reason> = self.0.iter().filter_map(|o| o.reason()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let (reason, count) = reasons
            .into_iter()
            .filter_map(|reason| Some((reason, count(reason), remedy(reason)?)))
            .filter(|&(_, count, _)| 2 * count >= LOOKED_AT)
            .max_by_key(|&(_, count, _)| count)
            .map(|(reason, count, _)| (reason, count))?;
        Some(Hint { endpoint, reason, count, of: self.0.len(), remedy: remedy(reason)? })
    }
}

const fn remedy(reason: Reason) -> Option<Remedy> {
    match reason {
        Reason::Deadline => Some(Remedy::FixLatency),
        Reason::ConnectRefused | Reason::ConnectUnreachable | Reason::ConnectFailed => {
            Some(Remedy::AddBreaker)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(outcomes: &[(Outcome, usize)]) -> Option<Hint> {
        let mut recent = Recent::default();
        for &(outcome, times) in outcomes {
            for _ in 0..times {
                recent.push(outcome);
            }
        }
        recent.hint(EndpointId(3))
    }

    #[test]
    fn r42_half_of_the_last_twenty_make_a_hint() {
        let refused = Outcome::Missing(Reason::ConnectRefused);
        let hint = after(&[(refused, 40), (Outcome::Ok, 10)]).unwrap();
        assert_eq!((hint.count, hint.of, hint.remedy), (10, 20, Remedy::AddBreaker));
        assert_eq!(after(&[(refused, 9), (Outcome::Ok, 11)]), None);
        assert_eq!(after(&[(refused, 9)]), None, "nine in all are not half of twenty");
        let cut = after(&[(Outcome::Missing(Reason::Deadline), 12)]).unwrap();
        assert_eq!((cut.count, cut.of, cut.remedy), (12, 12, Remedy::FixLatency));
    }

    #[test]
    fn r42_a_hint_is_worded_once() {
        let hint = after(&[(Outcome::Missing(Reason::Deadline), 12), (Outcome::Ok, 8)]).unwrap();
        let words = |short| format!("{} {}: {}", hint.verb(), hint.often(short), hint.remedy.words(short));
        assert_eq!(words(true), "cut in 12 of the last 20: fix its latency");
        assert_eq!(
            words(false),
            "cut in 12 of the last 20 calls: fix its latency or set a timeout of its own"
        );
        let verb = |reason| after(&[(Outcome::Missing(reason), 20)]).unwrap().verb();
        let verbs = [Reason::ConnectRefused, Reason::ConnectUnreachable, Reason::ConnectFailed].map(verb);
        assert_eq!(verbs, ["refused", "unreachable in", "not connected in"]);
    }

    #[test]
    fn r42_other_reasons_make_none() {
        assert_eq!(after(&[(Outcome::Missing(Reason::HttpStatus), 20)]), None);
        assert_eq!(after(&[(Outcome::NotNeeded, 20)]), None);
        assert_eq!(after(&[]), None);
    }
}
