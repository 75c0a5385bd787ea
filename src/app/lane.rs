//! A call as a lane shows it: one form for the running and the settled round.

use super::live::{LiveAttempt, LiveCall, LiveRound};
use crate::domain::{AttemptKind, AttemptOutcome, Call, Outcome, Phase, Reason, Round};
use std::time::Duration;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    /// Not over; the phase it is in.
    Running(Phase),
    /// Answered.
    Ok,
    /// Cut at a time limit in this phase.
    Cut(Reason, Phase),
    /// Missing for another reason.
    Error(Reason),
    /// Given up with its round in this phase: that says nothing of the upstream.
    GivenUp(Phase),
    /// Cancelled because enough had answered.
    NotNeeded,
}

impl LaneState {
    const fn settled(outcome: Outcome, phase: Phase) -> Self {
        match outcome {
            Outcome::Ok => Self::Ok,
            Outcome::NotNeeded => Self::NotNeeded,
            Outcome::Missing(reason) if reason.is_cut() => Self::Cut(reason, phase),
            Outcome::Missing(Reason::Aborted) => Self::GivenUp(phase),
            Outcome::Missing(reason) => Self::Error(reason),
        }
    }

    /// Whether it is missing.
    #[must_use]
    pub const fn is_missing(self) -> bool {
        matches!(self, Self::Cut(..) | Self::Error(_) | Self::GivenUp(_))
    }
}

/// How an attempt came out, for its own row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Still on its way.
    Running,
    /// It answered and nothing raced it.
    Ok,
    /// It answered first.
    Won,
    /// Cancelled because another attempt answered.
    Lost,
    /// Cancelled because enough calls had answered.
    NotNeeded,
    /// It failed.
    Failed(Reason),
    /// Cut at a time limit.
    Cut,
    /// Cancelled because the round was over for another reason.
    Stopped,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Which URL.
    pub replica: usize,
    /// Whether it is a hedge.
    pub hedge: bool,
    /// When it started, from the round's start.
    pub start: Duration,
    /// When it ended, or now.
    pub end: Duration,
    /// Time in each phase, in order.
    pub segments: Vec<(Phase, Duration)>,
    /// How it came out.
    pub fate: Fate,
    /// The answer's status.
    pub status: Option<u16>,
    /// Whether it went over a kept connection.
    pub reused: Option<bool>,
}

/// What a lane comes to without its bars: all there is to know of one that is not in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Where its call stands.
    pub state: LaneState,
    /// How many bars it has, at least one.
    pub bars: usize,
}

impl Outline {
    /// That of a call of a settled round.
    #[must_use]
    pub fn of_call(call: &Call) -> Self {
        Self { state: LaneState::settled(call.outcome, call.phase), bars: call.attempts.len().max(1) }
    }

    /// That of a call of a running round.
    #[must_use]
    pub fn of_live(call: &LiveCall) -> Self {
        let pending = call.attempts.iter().filter(|a| a.ended.is_none()).map(LiveAttempt::phase).max();
        let phase = pending.or_else(|| call.attempts.first().map(LiveAttempt::phase));
        let phase = phase.unwrap_or(Phase::Queued);
        let settled = |(_, outcome)| LaneState::settled(outcome, phase);
        let state = call.settled.map_or(LaneState::Running(phase), settled);
        Self { state, bars: call.attempts.len().max(1) }
    }
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Where it stands.
    pub state: LaneState,
    /// When it settled, or now.
    pub end: Duration,
    /// Status of the answer that decided.
    pub status: Option<u16>,
    /// How long after its limit a value arrived all the same (R17).
    pub late_by: Option<Duration>,
    /// When it is hedged.
    pub hedge_delay: Option<Duration>,
    /// Its attempts, the primary first. Never empty.
    pub bars: Vec<Bar>,
}

impl Lane {
    /// A call of a settled round.
    #[must_use]
    pub fn of_call(call: &Call) -> Self {
        let mut bars: Vec<Bar> = call
            .attempts
            .iter()
            .enumerate()
            .map(|(index, attempt)| Bar {
                replica: attempt.replica,
                hedge: attempt.kind == AttemptKind::Hedge,
                start: attempt.start,
                end: attempt.end,
                segments: attempt.phases.iter().collect(),
                fate: fate(call.outcome, attempt.outcome, attempt.reason, call.winner == Some(index)),
                status: attempt.status,
                reused: attempt.reused,
            })
            .collect();
        if bars.is_empty() {
            bars.push(queued(call.end, fate(call.outcome, AttemptOutcome::Cancelled, None, false)));
        }
        alone(&mut bars);
        Self {
            state: Outline::of_call(call).state,
            end: call.end,
            status: call.status,
            late_by: call.late_by,
            hedge_delay: call.hedge_delay,
            bars,
        }
    }

    /// A call of a running round, `elapsed` after the round's start.
    #[must_use]
    pub fn of_live(round: &LiveRound, index: usize, elapsed: Duration) -> Option<Self> {
        let call = round.calls.get(index)?;
        let end = call.settled.map_or(elapsed, |(at, _)| at);
        let mut bars: Vec<Bar> = (0..call.attempts.len()).filter_map(|i| live_bar(call, i, end)).collect();
        if bars.is_empty() {
            let fate = call
                .settled
                .map_or(Fate::Running, |(_, outcome)| fate(outcome, AttemptOutcome::Cancelled, None, false));
            bars.push(queued(end, fate));
        }
        alone(&mut bars);
        Some(Self {
            state: Outline::of_live(call).state,
            end,
            status: status(call),
            late_by: None,
            hedge_delay: round.started.hedge_delays.get(index).copied().flatten(),
            bars,
        })
    }

    /// Whether an answer came after this budget, where the budget did not cut it (R32).
    #[must_use]
    pub fn is_late(&self, budget: Duration) -> bool {
        self.state == LaneState::Ok && self.end > budget
    }
}

/// The status of the answer that decided: of the attempt that answered, else of the first that failed.
fn status(call: &LiveCall) -> Option<u16> {
    let ended = || call.attempts.iter().filter_map(|a| a.ended);
    ended().find(|e| e.outcome == AttemptOutcome::Ok).or_else(|| ended().next()).and_then(|e| e.status)
}

fn live_bar(call: &LiveCall, index: usize, now: Duration) -> Option<Bar> {
    let attempt = call.attempts.get(index)?;
    let end = attempt.ended.map_or(now, |e| e.at).max(attempt.start);
    let settled = call.settled.map(|(_, outcome)| outcome);
    let fate = match (attempt.ended, settled) {
        (None, None) => Fate::Running,
        (None, Some(outcome)) => fate(outcome, AttemptOutcome::Cancelled, None, false),
        (Some(e), None) if e.outcome == AttemptOutcome::Ok => Fate::Won,
        (Some(e), _) => {
            fate(settled.unwrap_or(Outcome::Ok), e.outcome, e.reason, e.outcome == AttemptOutcome::Ok)
        }
    };
    Some(Bar {
        replica: attempt.replica,
        hedge: attempt.kind == AttemptKind::Hedge,
        start: attempt.start,
        end,
        segments: attempt.segments(end),
        fate,
        status: attempt.ended.and_then(|e| e.status),
        reused: attempt.reused(),
    })
}

fn fate(call: Outcome, attempt: AttemptOutcome, reason: Option<Reason>, winner: bool) -> Fate {
    match (attempt, call) {
        (AttemptOutcome::Ok, Outcome::Ok) if winner => Fate::Won,
        (AttemptOutcome::Failed, _) => Fate::Failed(reason.unwrap_or(Reason::Internal)),
        (AttemptOutcome::Ok | AttemptOutcome::Cancelled, Outcome::Ok) => Fate::Lost,
        (_, Outcome::NotNeeded) => Fate::NotNeeded,
        (_, Outcome::Missing(reason)) if reason.is_cut() => Fate::Cut,
        (_, Outcome::Missing(Reason::SiblingFailed | Reason::Aborted | Reason::QuorumImpossible)) => {
            Fate::Stopped
        }
        // Its own timeout, or nothing could be sent.
        (_, Outcome::Missing(reason)) => Fate::Failed(reason),
    }
}

/// An attempt without company wins nothing.
fn alone(bars: &mut [Bar]) {
    if let [bar] = bars
        && bar.fate == Fate::Won
    {
        bar.fate = Fate::Ok;
    }
}

/// What stands for a call that sent nothing.
fn queued(end: Duration, fate: Fate) -> Bar {
    Bar {
        replica: 0,
        hedge: false,
        start: Duration::ZERO,
        end,
        segments: vec![(Phase::Queued, end)],
        fate,
        status: None,
        reused: None,
    }
}

/// How many calls stand where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Answered.
    pub ok: usize,
    /// Missing for a reason that is no cut.
    pub error: usize,
    /// Cut.
    pub cut: usize,
    /// Not needed.
    pub not_needed: usize,
    /// Given up with the round.
    pub given_up: usize,
    /// Not over.
    pub running: usize,
    /// Hedges sent.
    pub hedges: usize,
    /// Hedges that won.
    pub won: usize,
}

impl Tally {
    /// Counts a settled round.
    #[must_use]
    pub fn of_round(round: &Round) -> Self {
        let mut tally = Self::default();
        for call in &round.calls {
            tally.count(Some(call.outcome));
            tally.hedges += call.hedges.sent as usize;
            tally.won += call.hedges.won as usize;
        }
        tally
    }

    /// Counts a running round.
    #[must_use]
    pub fn of_live(round: &LiveRound) -> Self {
        let mut tally = Self::default();
        for call in &round.calls {
            tally.count(call.settled.map(|(_, outcome)| outcome));
            let hedges = || call.attempts.iter().filter(|a| a.kind == AttemptKind::Hedge);
            tally.hedges += hedges().count();
            let answered = |e: super::live::Ended| e.outcome == AttemptOutcome::Ok;
            tally.won += hedges().filter(|a| a.ended.is_some_and(answered)).count();
        }
        tally
    }

    fn count(&mut self, outcome: Option<Outcome>) {
        let slot = match outcome {
            None => &mut self.running,
            Some(Outcome::Ok) => &mut self.ok,
            Some(Outcome::NotNeeded) => &mut self.not_needed,
            Some(Outcome::Missing(reason)) if reason.is_cut() => &mut self.cut,
            Some(Outcome::Missing(Reason::Aborted)) => &mut self.given_up,
            Some(Outcome::Missing(_)) => &mut self.error,
        };
        *slot += 1;
    }
}
