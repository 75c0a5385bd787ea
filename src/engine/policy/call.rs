//! One call of a round in progress: its attempts, its hedges, how it settled.

use super::plan::CallPlan;
use super::{Gate, Order};
use crate::domain::{AttemptKind, EndpointId, HedgeCounts, Outcome};
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
    /// On the wire.
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

    /// What went on the wire.
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

    pub(super) fn may_hedge(&self) -> bool {
        self.plan.hedge.is_some_and(|h| self.spent < h.max)
    }

    /// Starts the primary and arms the first hedge.
    pub(super) fn start(&mut self, id: EndpointId, orders: &mut Vec<Order>) {
        self.push(id, AttemptKind::Primary, orders);
        self.arm(Duration::ZERO);
    }

    fn push(&mut self, id: EndpointId, kind: AttemptKind, orders: &mut Vec<Order>) {
        let attempt = self.attempts.len();
        let replica = usize::from(self.spent) % self.plan.replicas.max(1);
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
    fn take_back(&mut self, id: EndpointId, orders: &mut Vec<Order>) {
        let sent = self.attempts.iter().take_while(|a| a.state != AttemptState::Ordered).count();
        let back = self.attempts.drain(sent..).filter(|a| a.kind == AttemptKind::Hedge).count();
        self.counts.sent -= u32::try_from(back).unwrap_or(self.counts.sent);
        orders.retain(|o| !matches!(*o, Order::Start { call, attempt, .. } if call == id && attempt >= sent));
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
        let admitted = plan.suppressed.map_or_else(|| gate.admit(id, plan.delay.is_zero()), Err);
        match admitted {
            Ok(()) => {
                self.counts.sent += 1;
                self.push(id, AttemptKind::Hedge, orders);
            }
            Err(cause) => self.counts.suppressed.add(cause),
        }
        self.arm(now);
    }

    /// One of its attempts ended in time. Returns the outcome if this settles the call. `hedge_now` is the
    /// time, where a failure may still start a hedge.
    pub(super) fn ended(
        &mut self,
        done: Done,
        hedge_now: Option<Duration>,
        gate: &mut dyn Gate,
        orders: &mut Vec<Order>,
    ) -> Option<Outcome> {
        let id = done.call;
        let attempt = self.note(done)?;
        let AttemptState::Ended(_, Err(failure)) = &self.attempts[attempt].state else {
            self.counts.won += u32::from(attempt > 0);
            return Some(Outcome::Ok);
        };
        let try_again = failure.retryable() && self.plan.hedge.is_some_and(|h| h.on_error);
        if let Some(now) = hedge_now.filter(|_| try_again) {
            self.hedge(id, now, gate, orders);
        }
        let alive =
            self.attempts.iter().any(|a| matches!(a.state, AttemptState::Ordered | AttemptState::Running));
        // R25: an error never settles a call while another of its attempts is alive.
        if alive { None } else { self.failure().map(|f| Outcome::Missing(f.reason)) }
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
        self.take_back(id, orders);
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
