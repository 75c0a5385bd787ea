//! The round on the lanes while it runs, built from live events.
//!
//! Live events may be lost. A lane then shows less than happened until the round is published; no total is
//! taken from here.

use crate::domain::event::{AttemptStep, RoundStarted};
use crate::domain::{AttemptKind, AttemptOutcome, EndpointId, Outcome, Phase, Reason};
use std::time::Duration;

/// A round that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRound {
    /// How it began.
    pub started: RoundStarted,
    /// Its calls, in profile order.
    pub calls: Vec<LiveCall>,
    /// The latest time that an event brought, from the round's start.
    pub latest: Duration,
}

/// A call of a running round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LiveCall {
    /// What went on the wire so far.
    pub attempts: Vec<LiveAttempt>,
    /// When and how it settled.
    pub settled: Option<(Duration, Outcome)>,
}

/// An attempt of a running round.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveAttempt {
    /// Which URL.
    pub replica: usize,
    /// Primary or hedge.
    pub kind: AttemptKind,
    /// When it went out.
    pub start: Duration,
    /// The phases it entered, and when.
    pub phases: Vec<(Phase, Duration)>,
    /// How it ended.
    pub ended: Option<Ended>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// When.
    pub at: Duration,
    /// How.
    pub outcome: AttemptOutcome,
    /// Why, where it failed.
    pub reason: Option<Reason>,
    /// The answer's status.
    pub status: Option<u16>,
    /// Whether it used a kept connection.
    pub reused: Option<bool>,
}

/// More attempts than a call can have: what a faulty sender may make a lane grow to.
const MOST_ATTEMPTS: usize = 8;

/// Phases of an attempt that are kept.
const MOST_PHASES: usize = 16;

impl LiveRound {
    /// A round that has just begun, with a call for each endpoint.
    #[must_use]
    pub fn new(started: RoundStarted, endpoints: usize) -> Self {
        Self { started, calls: vec![LiveCall::default(); endpoints], latest: Duration::ZERO }
    }

    /// How long it runs at this moment of the session. Never less than its latest event says.
    #[must_use]
    pub fn elapsed(&self, now: Duration) -> Duration {
        now.saturating_sub(self.started.at).max(self.latest)
    }

    /// Takes a step of an attempt in.
    pub(super) fn step(&mut self, call: EndpointId, attempt: usize, at: Duration, step: &AttemptStep) {
        self.latest = self.latest.max(at);
        let Some(call) = self.calls.get_mut(call.index()) else { return };
        if attempt >= MOST_ATTEMPTS {
            return;
        }
        // A lost start leaves a gap; what is known of the attempt begins now.
        while call.attempts.len() <= attempt {
            let kind = if call.attempts.is_empty() { AttemptKind::Primary } else { AttemptKind::Hedge };
            call.attempts.push(LiveAttempt { replica: 0, kind, start: at, phases: Vec::new(), ended: None });
        }
        let Some(live) = call.attempts.get_mut(attempt) else { return };
        match *step {
            AttemptStep::Started { replica, kind } => {
                *live = LiveAttempt { replica, kind, start: at, phases: Vec::new(), ended: None };
            }
            AttemptStep::Reached(phase) if live.phases.len() < MOST_PHASES => live.phases.push((phase, at)),
            AttemptStep::Reached(_) => {}
            AttemptStep::Ended { outcome, reason, status, reused } => {
                live.ended = Some(Ended { at, outcome, reason, status, reused });
            }
        }
    }

    /// Takes the end of a call in.
    pub(super) fn settle(&mut self, call: EndpointId, at: Duration, outcome: Outcome) {
        self.latest = self.latest.max(at);
        if let Some(call) = self.calls.get_mut(call.index()) {
            call.settled = Some((at, outcome));
        }
    }
}

impl LiveAttempt {
    /// Time in each phase until `end`: the phases entered, each until the next.
    #[must_use]
    pub fn segments(&self, end: Duration) -> Vec<(Phase, Duration)> {
        let mut from = (Phase::Queued, self.start);
        let mut out = Vec::with_capacity(self.phases.len() + 1);
        for &next in &self.phases {
            out.push((from.0, next.1.saturating_sub(from.1)));
            from = next;
        }
        out.push((from.0, end.saturating_sub(from.1)));
        out.retain(|&(_, time)| !time.is_zero());
        out
    }

    /// Whether it goes over a kept connection, as far as its end or its phases tell.
    #[must_use]
    pub fn reused(&self) -> Option<bool> {
        let dialled = |p: &(Phase, Duration)| matches!(p.0, Phase::Dns | Phase::Connect | Phase::Tls);
        let sent = |p: &(Phase, Duration)| matches!(p.0, Phase::Waiting | Phase::Body);
        match self.ended {
            Some(ended) => ended.reused,
            None if self.phases.iter().any(dialled) => Some(false),
            None => self.phases.iter().any(sent).then_some(true),
        }
    }

    /// The phase it is in.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phases.last().map_or(Phase::Queued, |p| p.0)
    }
}
