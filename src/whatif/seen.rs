//! What the estimators keep of a round: its contract and what was seen of each of its calls, and of stragglers as far
//! as they were watched. A few dozen bytes a call, so that some hundred rounds can be looked at anew at any time.

use super::survival::{Observation, Observed, fair, of_late, of_reason};
use crate::domain::{
    Arm, AttemptKind, AttemptOutcome, Call, EndpointId, HedgeDelay, Late, Mode, Outcome, Reason, Round,
    RoundNo, Settings,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A round that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Its number.
    pub no: RoundNo,
    /// When it started, from the session's start.
    pub at: Duration,
    /// From its start to publishing.
    pub took: Duration,
    /// What it was asked to do.
    pub settings: Arc<Settings>,
    /// The optional budget that held.
    pub budget: Duration,
    /// k, in quorum mode.
    pub k: Option<usize>,
    /// Whether it was partial (R40).
    pub partial: bool,
    /// Whose turn it was (W9).
    pub arm: Option<Arm>,
    /// Until when its stragglers are watched, from its start; `None`: not past its end.
    pub probe: Option<Duration>,
    /// One per endpoint, in profile order.
    pub calls: Box<[SeenCall]>,
}

/// A call of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenCall {
    /// Whose.
    pub endpoint: EndpointId,
    /// How it came out for its round.
    pub outcome: Outcome,
    /// When it settled.
    pub end: Duration,
    /// The delay after which it was to be hedged.
    pub hedge_delay: Option<Duration>,
    /// What was seen of its primary attempt; `None` where nothing was sent (W1).
    pub primary: Option<Observation>,
    /// What was seen of the call with all its attempts; `None` where nothing was sent.
    pub whole: Option<Observation>,
    /// Hedges that were sent: when, and what was seen of each, both from the round's start.
    pub hedges: Box<[(Duration, Observation)]>,
    /// What became of it past its round's end.
    pub late: Option<Late>,
}

impl Seen {
    /// What is kept of a round.
    #[must_use]
    pub fn of(round: &Round) -> Self {
        let mut seen = Self {
            no: round.no,
            at: round.at,
            took: round.took,
            settings: Arc::clone(&round.settings),
            budget: round.budget,
            k: round.k,
            partial: round.partial(),
            arm: round.arm,
            probe: round.probe,
            calls: round.calls.iter().map(|call| SeenCall::of(round, call)).collect(),
        };
        round.late.iter().for_each(|&late| seen.late(late));
        seen
    }

    /// Takes in what became of a straggler.
    pub fn late(&mut self, late: Late) {
        let place = late.endpoint.index();
        // Mostly in profile order, and each endpoint once.
        let in_place = self.calls.get(place).is_some_and(|c| c.endpoint == late.endpoint);
        let place =
            if in_place { Some(place) } else { self.calls.iter().position(|c| c.endpoint == late.endpoint) };
        if let Some(call) = place.and_then(|place| self.calls.get_mut(place)) {
            call.late = Some(late);
        }
    }

    /// How long the round was meant to run: its budget, or the request budget where it is not cut at the budget.
    #[must_use]
    pub fn limit(&self) -> Duration {
        if self.settings.mode.ignores_budget() { self.settings.request_budget } else { self.budget }
    }

    /// What was seen of a call of this round with all its attempts, by the time `now` of the session. A straggler
    /// that is still watched was pending until now.
    #[must_use]
    pub fn whole(&self, call: &SeenCall, now: Duration) -> Option<Observation> {
        Some(self.past_the_end(call, call.whole?, now))
    }

    /// The same as other budgets and quorums are read from it (W3): past its limit only a round that was meant to be
    /// watched longer shows anything. In one that was cut late, for the machine was busy, what came meanwhile is no
    /// fair sample of what was to come.
    #[must_use]
    pub fn meant(&self, call: &SeenCall, now: Duration) -> Option<Observation> {
        let seen = self.whole(call, now)?;
        let beyond = self.probe.is_none() && seen.time > self.limit();
        Some(if beyond { Observation { time: self.limit(), what: Observed::Censored } } else { seen })
    }

    /// The same of its primary attempt alone. One with hedges beside it is not told apart past the round's end.
    #[must_use]
    pub fn primary(&self, call: &SeenCall, now: Duration) -> Option<Observation> {
        let primary = call.primary?;
        Some(if call.hedges.is_empty() { self.past_the_end(call, primary, now) } else { primary })
    }

    fn past_the_end(&self, call: &SeenCall, seen: Observation, now: Duration) -> Observation {
        let Some(watched) = self.probe.filter(|_| seen.what == Observed::Censored) else { return seen };
        let pending_until = |time: Duration| Observation { time: time.max(seen.time), ..seen };
        match call.late {
            // What came after the time, for the machine was busy, was not watched for.
            Some(late) if late.end > watched => pending_until(watched),
            Some(late) => Observation { time: late.end.max(seen.time), what: of_late(&late) },
            // Only a call that was cut at the round's end is watched.
            None if call.outcome == Outcome::Missing(Reason::Deadline) => {
                pending_until(now.saturating_sub(self.at).min(watched))
            }
            None => seen,
        }
    }
}

impl SeenCall {
    fn of(round: &Round, call: &Call) -> Self {
        let primary = fair(round, call);
        let hedges = call.attempts.iter().filter(|a| a.kind == AttemptKind::Hedge);
        let hedges = hedges.filter_map(|attempt| {
            let what = match attempt.outcome {
                AttemptOutcome::Ok => Observed::Ok,
                AttemptOutcome::Cancelled => Observed::Censored,
                AttemptOutcome::Failed => attempt.reason.map_or(Some(Observed::Error), of_reason)?,
            };
            Some((attempt.start, Observation { time: attempt.end, what }))
        });
        let hedges: Box<[_]> = hedges.collect();
        let whole = if hedges.is_empty() { primary } else { whole(call, primary, &hedges) };
        Self {
            endpoint: call.endpoint,
            outcome: call.outcome,
            end: call.end,
            hedge_delay: call.hedge_delay,
            primary,
            whole,
            hedges,
            late: None,
        }
    }
}

/// What was seen of a call with hedges: its first answer, also where it came late; its failure, once all attempts had
/// failed; else it was pending for as long as any of them was.
fn whole(
    call: &Call,
    primary: Option<Observation>,
    hedges: &[(Duration, Observation)],
) -> Option<Observation> {
    let primary = primary?;
    if call.outcome == Outcome::Ok {
        return Some(Observation { time: call.end, what: Observed::Ok });
    }
    if let Outcome::Missing(reason) = call.outcome
        && of_reason(reason) != Some(Observed::Censored)
    {
        return of_reason(reason).map(|what| Observation { time: call.end, what });
    }
    let all = || std::iter::once(&primary).chain(hedges.iter().map(|(_, seen)| seen));
    let with = |what| all().filter(move |o| o.what == what).map(|o| o.time);
    if let Some(time) = with(Observed::Ok).min() {
        return Some(Observation { time, what: Observed::Ok });
    }
    let pending = with(Observed::Censored).max();
    let failed = || with(Observed::Error).max().map(|time| Observation { time, what: Observed::Error });
    pending.map(|time| Observation { time, what: Observed::Censored }).or_else(failed)
}

/// Rounds that are looked at, at most, where nothing else is asked for.
pub const ROUNDS: usize = 600;

/// Calls in all rounds that are looked at, at most; about 200 bytes each.
const CALLS: usize = 120_000;

/// The latest rounds that count, in order of their numbers. A copy shares them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    rounds: VecDeque<Arc<Seen>>,
    most: usize,
}

impl Default for Sample {
    fn default() -> Self {
        Self::new(ROUNDS)
    }
}

impl Sample {
    /// Nothing yet; keeps this many rounds, at least one, and fewer where they have very many calls.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { rounds: VecDeque::new(), most }
    }

    /// Takes in a settled round, unless it does not count.
    pub fn push(&mut self, round: &Round) {
        if !round.counts() {
            return;
        }
        // Rounds that overlap may settle out of order.
        let after = self.rounds.iter().rev().take_while(|r| r.no > round.no).count();
        self.rounds.insert(self.rounds.len() - after, Arc::new(Seen::of(round)));
        let most = (CALLS / round.calls.len().max(1)).min(self.most).max(1);
        self.rounds.drain(..self.rounds.len().saturating_sub(most));
    }

    /// Takes in what became of a straggler, where its round is kept.
    pub fn late(&mut self, round: RoundNo, late: Late) {
        if let Some(seen) = self.rounds.iter_mut().rev().find(|seen| seen.no == round) {
            Arc::make_mut(seen).late(late);
        }
    }

    /// Forgets all rounds but the latest so many.
    pub fn keep_last(&mut self, rounds: usize) {
        self.rounds.drain(..self.rounds.len().saturating_sub(rounds));
    }

    /// Forgets all rounds.
    pub fn clear(&mut self) {
        self.rounds.clear();
    }

    /// The rounds, the oldest first.
    #[must_use]
    pub const fn rounds(&self) -> &VecDeque<Arc<Seen>> {
        &self.rounds
    }
}

/// By what delays a round was hedged.
pub(super) struct Hedging {
    /// The round's budget, at which it was hedged as it was.
    ran: Duration,
    /// Its own fixed delay, where calls had it.
    fixed: Option<Duration>,
    /// The longest other delay.
    longest: Duration,
}

impl Hedging {
    pub(super) fn of(round: &Seen) -> Self {
        let fixed = match round.settings.hedge.delay {
            HedgeDelay::Fixed(delay) if round.settings.mode == Mode::Hedge => Some(delay),
            _ => None,
        };
        let delays = || round.calls.iter().filter_map(|call| call.hedge_delay).filter(|d| !d.is_zero());
        let longest = delays().filter(|&d| Some(d) != fixed).max().unwrap_or_default();
        Self { ran: round.budget, fixed: fixed.filter(|&fixed| delays().any(|d| d == fixed)), longest }
    }

    /// Whether a percentile would have been another at this budget.
    pub(super) fn adapts(&self, budget: Duration) -> bool {
        budget < self.ran && budget < self.longest.saturating_mul(2)
    }

    /// Whether the round would have been hedged otherwise, or not allowed.
    pub(super) fn differs(&self, budget: Duration) -> bool {
        self.adapts(budget) || budget < self.ran && self.fixed.is_some_and(|delay| budget <= delay)
    }
}
