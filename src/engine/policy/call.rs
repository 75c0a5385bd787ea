//! One call of a round in progress: its attempts, its hedges, how it settled.

use super::plan::CallPlan;
use super::{Berth, Gate, Order};
use crate::domain::{AttemptKind, EndpointId, HedgeCounts, Outcome, Reason};
use crate::engine::transport::Failure;
use std::cmp::Ordering;
use std::time::Duration;

/// An attempt that ended, stamped by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The call.
    pub call: EndpointId,
    /// The attempt within the call.
    pub attempt: usize,
    /// When, from the round's start.
    pub end: Duration,
    /// How.
    pub result: Result<(), Failure>,
}

impl Done {
    /// R19: by end stamp, a success first, then profile order; the primary before its hedges.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let key = |d: &Self| (d.end, d.result.is_err(), d.call, d.attempt);
        key(self).cmp(&key(other))
    }
}

/// How far an attempt is.
#[derive(Debug, Clone, PartialEq)]
pub enum AttemptState {
    /// Ordered in this very step, so not on the wire yet.
    Ordered,
    /// On the wire, or a primary that queues for its permit.
    Running,
    /// Ended by itself at this time.
    Ended(Duration, Result<(), Failure>),
    /// Cancelled; last seen pending at this time.
    Cancelled(Duration),
}

/// An attempt of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptSlot {
    /// Which URL.
    pub replica: usize,
    /// Primary or hedge.
    pub kind: AttemptKind,
    /// How far it is.
    pub state: AttemptState,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Settled {
    outcome: Outcome,
    at: Duration,
    winner: Option<usize>,
}

/// A call in progress or settled.
#[derive(Debug)]
pub struct CallState {
    plan: CallPlan,
    attempts: Vec<AttemptSlot>,
    /// Whether its primary queues for a permit.
    waits: bool,
    /// Hedges that were due so far, sent or suppressed.
    spent: u8,
    counts: HedgeCounts,
    next_hedge: Option<Duration>,
    settled: Option<Settled>,
    /// The limit at which it was cut, for [`CallState::late_by`].
    cut_at: Option<Duration>,
    late_by: Option<Duration>,
}

impl CallState {
    pub(super) fn new(plan: &CallPlan) -> Self {
        Self {
            plan: plan.clone(),
            attempts: Vec::with_capacity(1),
            waits: false,
            spent: 0,
            counts: HedgeCounts::default(),
            next_hedge: None,
            settled: None,
            cut_at: None,
            late_by: None,
        }
    }

    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> &CallPlan {
        &self.plan
    }

    /// Its attempts. A primary that queues for its permit is one of them.
    #[must_use]
    pub fn attempts(&self) -> &[AttemptSlot] {
        &self.attempts
    }

    /// How it settled.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.settled.map(|s| s.outcome)
    }

    /// When it settled.
    #[must_use]
    pub fn settled_at(&self) -> Option<Duration> {
        self.settled.map(|s| s.at)
    }

    /// The attempt that won.
    #[must_use]
    pub fn winner(&self) -> Option<usize> {
        self.settled.and_then(|s| s.winner)
    }

    /// How late a value came that was seen after its limit (R17).
    #[must_use]
    pub fn late_by(&self) -> Option<Duration> {
        self.late_by
    }

    /// Its hedges; every one that was sent and did not win is wasted (R31).
    #[must_use]
    pub fn counts(&self) -> HedgeCounts {
        HedgeCounts { wasted: self.counts.sent - self.counts.won, ..self.counts }
    }

    /// The failure that stands for the call when all attempts failed: the primary's (R27).
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.attempts.iter().find_map(|a| match &a.state {
            AttemptState::Ended(_, Err(failure)) => Some(failure),
            _ => None,
        })
    }

    pub(super) fn next_hedge(&self) -> Option<Duration> {
        self.next_hedge
    }

    pub(super) fn disarm(&mut self) {
        self.next_hedge = None;
    }

    pub(super) fn cut_at(&mut self, limit: Duration) {
        self.cut_at = Some(limit);
    }

    /// The limit at which it was cut, if it was.
    #[must_use]
    pub fn limit(&self) -> Option<Duration> {
        self.cut_at
    }

    /// Its primary has the permit that it waited for.
    pub(super) fn admitted(&mut self) {
        self.waits = false;
    }

    /// Why it is missing, when it is cut for this reason: one that is still in the queue at a time limit was
    /// throttled (R36).
    pub(super) fn cut_as(&self, reason: Reason) -> Reason {
        let limit = matches!(reason, Reason::Deadline | Reason::RequestDeadline | Reason::Timeout);
        if limit && self.waits && self.alive() == 1 { Reason::Throttled } else { reason }
    }

    /// Attempts that have not ended.
    fn alive(&self) -> usize {
        let alive = |a: &&AttemptSlot| matches!(a.state, AttemptState::Ordered | AttemptState::Running);
        self.attempts.iter().filter(alive).count()
    }

    /// Whether it has started as a race.
    pub(super) fn is_race(&self) -> bool {
        !self.attempts.is_empty() && self.plan.hedge.is_some_and(|h| h.delay.is_zero())
    }

    pub(super) fn may_hedge(&self) -> bool {
        self.plan.hedge.is_some_and(|h| self.spent < h.max)
    }

    /// Starts the primary and arms the first hedge.
    pub(super) fn start(&mut self, id: EndpointId, berth: Berth, orders: &mut Vec<Order>) {
        self.waits = berth.waits;
        self.push(id, AttemptKind::Primary, berth.replica, orders);
        self.arm(Duration::ZERO);
    }

    fn push(&mut self, id: EndpointId, kind: AttemptKind, replica: usize, orders: &mut Vec<Order>) {
        let attempt = self.attempts.len();
        self.attempts.push(AttemptSlot { replica, kind, state: AttemptState::Ordered });
        orders.push(Order::Start { call: id, attempt, replica });
    }

    /// The orders of the last step were carried out.
    pub(super) fn carried_out(&mut self) {
        for slot in self.attempts.iter_mut().filter(|a| a.state == AttemptState::Ordered) {
            slot.state = AttemptState::Running;
        }
    }

    /// Takes back what this step ordered: nothing starts after the call's end.
    fn take_back(&mut self, id: EndpointId, now: Duration, orders: &mut Vec<Order>) {
        let ordered = |a: &AttemptSlot| a.state == AttemptState::Ordered;
        if !self.attempts.iter().any(ordered) {
            return;
        }
        let old = self.attempts.iter().rposition(|a| !ordered(a)).map_or(0, |i| i + 1);
        let back = self.attempts.drain(old..).filter(|a| a.kind == AttemptKind::Hedge).count();
        self.counts.sent -= u32::try_from(back).unwrap_or(self.counts.sent);
        // A primary that was to be sent elsewhere keeps its place before its hedges.
        for slot in self.attempts.iter_mut().filter(|a| ordered(a)) {
            slot.state = AttemptState::Cancelled(now);
        }
        orders.retain(|o| !matches!(*o, Order::Start { call, .. } if call == id));
    }

    fn arm(&mut self, from: Duration) {
        let plan = self.plan.hedge.filter(|h| self.spent < h.max && !h.delay.is_zero());
        self.next_hedge = plan.map(|h| from.saturating_add(h.delay));
    }

    /// A hedge is due: sends it, or counts why not. Either way it is spent (R28).
    pub(super) fn hedge(
        &mut self,
        id: EndpointId,
        now: Duration,
        gate: &mut dyn Gate,
        orders: &mut Vec<Order>,
    ) {
        let Some(plan) = self.plan.hedge.filter(|h| self.spent < h.max) else {
            self.disarm();
            return;
        };
        self.spent += 1;
        let primary = self.attempts.first().map_or(0, |a| a.replica);
        let next = primary.saturating_add(usize::from(self.spent)) % self.plan.replicas.max(1);
        let race = plan.delay.is_zero();
        match plan.suppressed.map_or_else(|| gate.hedge(id, next, race), Err) {
            Ok(replica) => {
                self.counts.sent += 1;
                self.push(id, AttemptKind::Hedge, replica, orders);
            }
            Err(cause) => self.counts.suppressed.add(cause),
        }
        self.arm(now);
    }

    /// One of its attempts ended in time. Returns the outcome if this settles the call. `open_at` is the time,
    /// where something may still start.
    pub(super) fn ended(
        &mut self,
        done: Done,
        open_at: Option<Duration>,
        gate: &mut dyn Gate,
        orders: &mut Vec<Order>,
    ) -> Option<Outcome> {
        let id = done.call;
        if open_at.is_some() && self.sent_elsewhere(&done, gate, orders) {
            return None;
        }
        let attempt = self.note(done)?;
        let AttemptState::Ended(_, Err(failure)) = &self.attempts[attempt].state else {
            self.counts.won += u32::from(attempt > 0);
            return Some(Outcome::Ok);
        };
        let try_again = failure.retryable() && self.plan.hedge.is_some_and(|h| h.on_error);
        if let Some(now) = open_at.filter(|_| try_again) {
            self.hedge(id, now, gate, orders);
        }
        // R25: an error never settles a call while another of its attempts is alive.
        if self.alive() > 0 { None } else { self.failure().map(|f| Outcome::Missing(f.reason)) }
    }

    /// A primary that was refused after its wait in the queue starts over where another replica is open.
    fn sent_elsewhere(&mut self, done: &Done, gate: &mut dyn Gate, orders: &mut Vec<Order>) -> bool {
        let refused = |f: &Failure| matches!(f.reason, Reason::BackingOff | Reason::BreakerOpen);
        if done.attempt > 0 || !done.result.as_ref().is_err_and(refused) {
            return false;
        }
        let (Some(slot), Ok(berth)) = (self.attempts.get_mut(done.attempt), gate.primary(done.call)) else {
            return false;
        };
        *slot = AttemptSlot { replica: berth.replica, state: AttemptState::Ordered, ..*slot };
        self.waits = berth.waits;
        let (call, attempt, replica) = (done.call, done.attempt, berth.replica);
        orders.push(Order::Start { call, attempt, replica });
        true
    }

    /// An attempt ended after the call had settled, or after its limit.
    pub(super) fn late(&mut self, done: Done, limit: Duration) {
        let limit = self.cut_at.unwrap_or(limit);
        let (end, value) = (done.end, done.result.is_ok());
        let answered = self.outcome() == Some(Outcome::Ok);
        if self.note(done).is_some() && value && !answered && end > limit {
            self.late_by.get_or_insert(end.saturating_sub(limit));
        }
    }

    /// Records the end of an attempt, once. An attempt that was cancelled while its end was already on its
    /// way has still an end that was seen.
    fn note(&mut self, done: Done) -> Option<usize> {
        let slot = self.attempts.get_mut(done.attempt)?;
        if matches!(slot.state, AttemptState::Ended(..)) {
            return None;
        }
        slot.state = AttemptState::Ended(done.end, done.result);
        // A primary that was refused at its turn queues no more.
        self.waits &= done.attempt > 0;
        Some(done.attempt)
    }

    /// Settles the call and cancels what still runs. False if it had settled before.
    pub(super) fn settle(
        &mut self,
        id: EndpointId,
        outcome: Outcome,
        at: Duration,
        now: Duration,
        orders: &mut Vec<Order>,
    ) -> bool {
        if self.settled.is_some() {
            return false;
        }
        self.disarm();
        self.take_back(id, now, orders);
        let won = |a: &AttemptSlot| a.state == AttemptState::Ended(at, Ok(()));
        let winner = (outcome == Outcome::Ok).then(|| self.attempts.iter().position(won)).flatten();
        self.settled = Some(Settled { outcome, at, winner });
        orders.push(Order::Settled { call: id });
        for (attempt, slot) in self.attempts.iter_mut().enumerate() {
            if slot.state == AttemptState::Running {
                slot.state = AttemptState::Cancelled(now);
                orders.push(Order::Cancel { call: id, attempt });
            }
        }
        true
    }
}
