//! What our own lateness excuses: the one rule by which breakers, hints and estimates tell a call that this machine
//! cut from one that its upstream left unanswered.

use super::reason::{Phase, Reason};
use super::round::{Attempt, AttemptOutcome, Call, Outcome, Round};
use std::time::Duration;

impl Round {
    /// How late a round of this budget may wake up and still be judged as if on time: a tenth of the budget, which
    /// is what a cut call can have missed by our doing, and 5 ms at least, for timers of a busy machine are late by
    /// as much now and then.
    #[must_use]
    pub fn tolerance(budget: Duration) -> Duration {
        (budget / 10).max(Duration::from_millis(5))
    }

    /// The time limit that cut this call, if one did.
    #[must_use]
    pub fn limit_of(&self, call: &Call) -> Option<Duration> {
        match call.outcome {
            Outcome::Missing(Reason::Deadline) => Some(self.budget),
            Outcome::Missing(Reason::RequestDeadline) => Some(self.settings.request_budget),
            // Its own timeout is when it settled.
            Outcome::Missing(Reason::Timeout) => Some(call.end),
            _ => None,
        }
    }

    /// Whether this call was cut at a limit that the round saw too late, and might have been answered otherwise.
    #[must_use]
    pub fn is_misjudged(&self, call: &Call) -> bool {
        let held_up = |limit| {
            let mut attempts = call.attempts.iter();
            call.attempts.is_empty() || attempts.any(|attempt| attempt.is_held_up(limit, self.budget))
        };
        self.overrun.is_some() && self.limit_of(call).is_some_and(held_up)
    }
}

impl Attempt {
    /// Whether our own lateness may have kept this attempt from ending by its call's `limit`, in a round of this
    /// budget. That takes more than a limit that was seen too late: what the sockets held is taken before anything is
    /// cut, so a request that was out by then and is still unanswered waits for its upstream, on however slow a
    /// machine.
    #[must_use]
    pub fn is_held_up(&self, limit: Duration, budget: Duration) -> bool {
        let late = self.end.saturating_sub(limit);
        if late <= Round::tolerance(budget) {
            return false;
        }
        let reached = self.end.saturating_sub(self.phases.get(self.phase).unwrap_or_default());
        // What came after the limit came as late as we looked.
        if self.outcome != AttemptOutcome::Cancelled || reached > limit {
            return true;
        }
        // To connect takes several turns, all of which wait for us; one that got nowhere for longer than we were late
        // had those turns.
        self.phase < Phase::Waiting && late >= limit.saturating_sub(self.start)
    }
}
