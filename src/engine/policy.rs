//! What a round does next, decided from its plan, what has ended and the time: pure, no clock, no I/O.
//!
//! The runner hands over everything that ended in one wake-up together with the time, and carries out the
//! [`Order`]s that come back. Ends and limits are taken in the order of their instants, an end before a limit
//! at the same instant (R8, R26), so that the runtime's own order of delivery never decides anything (R9).

mod call;
mod plan;

pub use call::{AttemptSlot, AttemptState, CallState, Done};
pub use plan::{CallPlan, HedgePlan, RoundPlan};

use crate::domain::{EndedBy, EndpointId, Outcome, Reason, Suppression};
use std::time::Duration;

/// What the runner has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Start an attempt; the first of a call is the primary.
    Start {
        /// The call.
        call: EndpointId,
        /// The attempt within the call.
        attempt: usize,
        /// Which URL.
        replica: usize,
    },
    /// Say that a call has settled.
    Settled {
        /// The call.
        call: EndpointId,
    },
    /// Cancel an attempt that is still running.
    Cancel {
        /// The call.
        call: EndpointId,
        /// The attempt within the call.
        attempt: usize,
    },
}

/// Asked before anything is sent.
pub trait Gate {
    /// A primary is to start: where, and does it have to wait?
    ///
    /// # Errors
    /// Why nothing is sent.
    fn primary(&mut self, call: EndpointId) -> Result<Berth, Reason>;

    /// A hedge is due: takes what it costs and says where it goes. `next` is the replica whose turn it is. `race`:
    /// asked for explicitly, so the load budget does not apply. A refusal is spent and counted by its cause (R28).
    ///
    /// # Errors
    /// The cause for which the hedge is suppressed.
    fn hedge(&mut self, call: EndpointId, next: usize, race: bool) -> Result<usize, Suppression>;
}

/// Where a primary goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Berth {
    /// Which URL.
    pub replica: usize,
    /// Whether it queues for a permit first.
    pub waits: bool,
}

/// A round in progress.
#[derive(Debug)]
pub struct Policy {
    plan: RoundPlan,
    calls: Vec<CallState>,
    open: usize,
    answered_optional: usize,
    missing_optional: usize,
    quorum_at: Option<Duration>,
    quorum_impossible_at: Option<Duration>,
    optional_end: Option<EndedBy>,
    round_end: Option<EndedBy>,
    over: Option<EndedBy>,
    /// Whether the last step may have started something.
    ordered: bool,
}

/// The earliest limit that has not been applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Hedge(EndpointId),
    Timeout(EndpointId),
    Budget,
    Request,
}

impl Policy {
    /// A round that is about to start.
    #[must_use]
    pub fn new(plan: RoundPlan) -> Self {
        let calls: Vec<CallState> = plan.calls.iter().map(CallState::new).collect();
        Self {
            open: calls.len(),
            calls,
            plan,
            answered_optional: 0,
            missing_optional: 0,
            quorum_at: None,
            quorum_impossible_at: None,
            optional_end: None,
            round_end: None,
            over: None,
            ordered: true,
        }
    }

    /// Starts every call's primary that may, and in a race the hedges too. With no budget nothing starts (R11).
    pub fn begin(&mut self, gate: &mut dyn Gate, orders: &mut Vec<Order>) {
        // With no budget the optional part is over before it starts, and likewise the whole round.
        let cut = (0..self.calls.len()).any(|i| self.plan.cut_at_budget(i));
        self.optional_end = (cut && self.plan.budget.is_zero()).then_some(EndedBy::Deadline);
        self.round_end = self.plan.request_budget.is_zero().then_some(EndedBy::RequestDeadline);
        let zero = Duration::ZERO;
        for index in 0..self.calls.len() {
            let id = EndpointId(index);
            if self.plan.limit_of(index).is_zero() {
                continue;
            }
            match gate.primary(id) {
                Ok(berth) => self.calls[index].start(id, berth, orders),
                Err(reason) => {
                    self.settle(index, Outcome::Missing(reason), zero, zero, orders);
                    self.consequences(index, Outcome::Missing(reason), zero);
                }
            }
        }
        // After all primaries: a hedge only gets a permit that no primary needs.
        for (index, state) in self.calls.iter_mut().enumerate().filter(|(_, s)| s.is_race()) {
            while state.may_hedge() {
                state.hedge(EndpointId(index), zero, gate, orders);
            }
        }
        self.close(zero, orders);
    }

    /// The primary of a call has the permit that it waited for.
    pub fn admitted(&mut self, call: EndpointId) {
        if let Some(state) = self.calls.get_mut(call.index()) {
            state.admitted();
        }
    }

    /// Takes what ended since the last step and every limit up to `now`. `done` is left empty.
    pub fn step(
        &mut self,
        now: Duration,
        done: &mut Vec<Done>,
        gate: &mut dyn Gate,
        orders: &mut Vec<Order>,
    ) {
        self.carried_out();
        done.sort_by(Done::order);
        let mut ends = done.drain(..).peekable();
        let mut limit = self.next_limit().filter(|l| l.0 <= now);
        loop {
            match (ends.peek(), limit) {
                (Some(end), limit_now) if limit_now.is_none_or(|l| end.end <= l.0) => {
                    let Some(end) = ends.next() else { break };
                    let call = &self.calls[end.call.index()].plan();
                    // Looking for the next limit costs a pass over all calls; a plain call's end moves none.
                    let moves = call.hedge.is_some() || call.timeout.is_some();
                    self.ended(end, now, gate, orders);
                    if moves || self.open == 0 || self.round_end.is_some() || self.optional_end.is_some() {
                        limit = self.next_limit().filter(|l| l.0 <= now);
                    }
                }
                (_, Some((at, what))) => {
                    self.reached(what, at, now, gate, orders);
                    limit = self.next_limit().filter(|l| l.0 <= now);
                }
                (_, None) => break,
            }
        }
        self.close(now, orders);
        self.ordered = orders.iter().any(|o| matches!(o, Order::Start { .. }));
    }

    /// Abandons the round (quit).
    pub fn abort(&mut self, now: Duration, orders: &mut Vec<Order>) {
        self.carried_out();
        self.round_end.get_or_insert(EndedBy::Aborted);
        self.close(now, orders);
    }

    /// The next instant at which [`Policy::step`] has to be called even if nothing ends.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        self.next_limit().map(|l| l.0)
    }

    /// The next instant at which calls are cut.
    #[must_use]
    pub fn next_cut(&self) -> Option<Duration> {
        self.next_of(false).map(|l| l.0)
    }

    /// What ended the round, once it is over.
    #[must_use]
    pub fn over(&self) -> Option<EndedBy> {
        self.over
    }

    /// The calls so far.
    #[must_use]
    pub fn calls(&self) -> &[CallState] {
        &self.calls
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &RoundPlan {
        &self.plan
    }

    /// When the quorum was met, and from when on it could not be.
    #[must_use]
    pub fn quorum(&self) -> (Option<Duration>, Option<Duration>) {
        (self.quorum_at, self.quorum_impossible_at)
    }

    /// Answers among the optional calls.
    #[must_use]
    pub fn answered_optional(&self) -> usize {
        self.answered_optional
    }

    /// The calls whose failure fails the round: required ones, in fail-fast all; not those that were only
    /// cancelled for another's failure.
    #[must_use]
    pub fn failed(&self) -> Vec<EndpointId> {
        let own = |s: &CallState| {
            s.outcome()
                .and_then(Outcome::reason)
                .is_some_and(|r| !matches!(r, Reason::SiblingFailed | Reason::Aborted))
        };
        (0..self.calls.len())
            .filter(|&i| self.fails_round(i) && own(&self.calls[i]))
            .map(EndpointId)
            .collect()
    }

    /// False when a required call is missing, or any in fail-fast (R33, R34).
    #[must_use]
    pub fn ok(&self) -> bool {
        let missing = |s: &CallState| s.outcome().and_then(Outcome::reason).is_some();
        !(0..self.calls.len()).any(|i| self.fails_round(i) && missing(&self.calls[i]))
    }

    /// What the last step ordered is on the wire now.
    fn carried_out(&mut self) {
        if std::mem::take(&mut self.ordered) {
            self.calls.iter_mut().for_each(CallState::carried_out);
        }
    }

    fn fails_round(&self, index: usize) -> bool {
        self.plan.mode == crate::domain::Mode::FailFast || self.plan.calls[index].required
    }

    fn next_limit(&self) -> Option<(Duration, Limit)> {
        self.next_of(true)
    }

    fn next_of(&self, hedges: bool) -> Option<(Duration, Limit)> {
        if self.over.is_some() || self.open == 0 {
            return None;
        }
        let mut next: Option<(Duration, Limit)> = None;
        let mut consider = |at: Duration, limit: Limit| {
            if next.is_none_or(|n| at < n.0) {
                next = Some((at, limit));
            }
        };
        let mut cut_at_budget = false;
        for (index, state) in self.calls.iter().enumerate().filter(|(_, s)| s.outcome().is_none()) {
            let limit = self.plan.limit_of(index);
            cut_at_budget |= self.plan.cut_at_budget(index);
            if let Some(at) = state.plan().timeout.filter(|&t| t < limit) {
                consider(at, Limit::Timeout(EndpointId(index)));
            }
            let hedge = state.next_hedge().filter(|_| hedges);
            if let Some(at) = hedge.filter(|&t| t < limit && !self.ended_for(index)) {
                consider(at, Limit::Hedge(EndpointId(index)));
            }
        }
        if cut_at_budget && self.optional_end.is_none() {
            consider(self.plan.budget, Limit::Budget);
        }
        if self.round_end.is_none() {
            consider(self.plan.request_budget, Limit::Request);
        }
        next
    }

    /// Whether the part of the round that this call belongs to has ended.
    fn ended_for(&self, index: usize) -> bool {
        self.round_end.is_some() || (self.optional_end.is_some() && !self.plan.calls[index].required)
    }

    fn ended(&mut self, done: Done, now: Duration, gate: &mut dyn Gate, orders: &mut Vec<Order>) {
        let (id, end) = (done.call, done.end);
        let index = id.index();
        let limit = self.plan.limit_of(index);
        let may_hedge = !self.ended_for(index) && now < limit;
        let state = &mut self.calls[index];
        if state.outcome().is_some() || end > limit {
            state.late(done, limit);
            return;
        }
        let outcome = state.ended(done, may_hedge.then_some(now), gate, orders);
        if let Some(outcome) = outcome {
            self.settle(index, outcome, end, now, orders);
            self.consequences(index, outcome, end);
        }
    }

    /// What a call's own outcome means for the round.
    fn consequences(&mut self, index: usize, outcome: Outcome, at: Duration) {
        let required = self.plan.calls[index].required;
        if outcome.reason().is_some() && self.fails_round(index) {
            let by = if required { EndedBy::RequiredFailed } else { EndedBy::FailedFast };
            self.round_end.get_or_insert(by);
        }
        if required {
            return;
        }
        match outcome {
            Outcome::Ok => self.answered_optional += 1,
            _ => self.missing_optional += 1,
        }
        let Some(k) = self.plan.k else { return };
        let optional = self.plan.optional();
        if self.answered_optional >= k && self.quorum_at.is_none() {
            self.quorum_at = Some(at);
            self.optional_end.get_or_insert(EndedBy::Quorum);
        } else if self.missing_optional > optional.saturating_sub(k) && self.quorum_impossible_at.is_none() {
            self.quorum_impossible_at = Some(at);
            if self.plan.quorum_fail_fast {
                self.optional_end.get_or_insert(EndedBy::QuorumImpossible);
            }
        }
    }

    fn reached(
        &mut self,
        limit: Limit,
        at: Duration,
        now: Duration,
        gate: &mut dyn Gate,
        orders: &mut Vec<Order>,
    ) {
        match limit {
            Limit::Budget => self.optional_end = Some(EndedBy::Deadline),
            Limit::Request => self.round_end = Some(EndedBy::RequestDeadline),
            Limit::Timeout(id) => {
                let outcome = Outcome::Missing(self.calls[id.index()].cut_as(Reason::Timeout));
                self.calls[id.index()].cut_at(at);
                // Its end is its limit, however late that was seen.
                self.settle(id.index(), outcome, at, now, orders);
                self.consequences(id.index(), outcome, at);
            }
            Limit::Hedge(id) => {
                // A wake-up so late that the call's time is over starts nothing any more.
                if now < self.plan.limit_of(id.index()) {
                    self.calls[id.index()].hedge(id, now, gate, orders);
                } else {
                    self.calls[id.index()].disarm();
                }
            }
        }
    }

    fn settle(
        &mut self,
        index: usize,
        outcome: Outcome,
        at: Duration,
        now: Duration,
        orders: &mut Vec<Order>,
    ) {
        if self.calls[index].settle(EndpointId(index), outcome, at, now, orders) {
            self.open -= 1;
        }
    }

    /// Settles what a limit or another call has ended, once everything of this wake-up was looked at (R19).
    fn close(&mut self, now: Duration, orders: &mut Vec<Order>) {
        if self.over.is_some() {
            return;
        }
        let mut cut = false;
        for index in 0..self.calls.len() {
            if self.calls[index].outcome().is_some() {
                continue;
            }
            let by = match (self.round_end, self.optional_end) {
                (Some(by), _) => by,
                (None, Some(by)) if !self.plan.calls[index].required => by,
                _ => continue,
            };
            cut = true;
            self.calls[index].cut_at(self.plan.limit_of(index));
            let outcome = match outcome_of_cut(by) {
                Outcome::Missing(reason) => Outcome::Missing(self.calls[index].cut_as(reason)),
                outcome => outcome,
            };
            self.settle(index, outcome, now, now, orders);
        }
        if self.open == 0 {
            let met_now = self.optional_end == Some(EndedBy::Quorum) && self.plan.required() == 0;
            self.over = Some(match (self.round_end, self.optional_end) {
                (Some(by), _) => by,
                (None, Some(by)) if cut || met_now => by,
                _ => EndedBy::AllSettled,
            });
        }
    }
}

/// The outcome of a call that was still open when its part of the round ended.
fn outcome_of_cut(by: EndedBy) -> Outcome {
    match by {
        EndedBy::Quorum => Outcome::NotNeeded,
        EndedBy::QuorumImpossible => Outcome::Missing(Reason::QuorumImpossible),
        EndedBy::RequiredFailed | EndedBy::FailedFast => Outcome::Missing(Reason::SiblingFailed),
        EndedBy::RequestDeadline => Outcome::Missing(Reason::RequestDeadline),
        EndedBy::Aborted => Outcome::Missing(Reason::Aborted),
        EndedBy::Deadline | EndedBy::AllSettled => Outcome::Missing(Reason::Deadline),
    }
}

#[cfg(test)]
mod tests;
