//! From a line back to the round that it was written from, to the microsecond. What a record does not hold (a
//! failed answer's text) is absent.

use super::line::LateLine;
use super::round::{AttemptLine, CallLine, CallOutcome, PhasesLine, RoundLine, ServerTimingLine};
use crate::domain::{
    Arm, Attempt, AttemptOutcome, Call, EndpointId, HedgeCounts, Late, Outcome, Phase, Phases, Reason, Round,
    RoundNo, ServerTiming, Settings, Suppressed, text,
};
use std::sync::Arc;
use std::time::Duration;

/// The settings that hold, and those of each turn where variants take turns: many rounds share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    pub(super) settings: Arc<Settings>,
    /// Of the arms, in the order of [`Arm::ALL`].
    turns: Option<[Arc<Settings>; 2]>,
}

impl Held {
    pub(super) fn new(settings: Settings) -> Self {
        let turns = settings.ab.map(|_| [Arm::A, Arm::B].map(|arm| Arc::new(settings.of_arm(arm))));
        Self { settings: Arc::new(settings), turns }
    }

    fn of(&self, arm: Option<Arm>) -> &Arc<Settings> {
        let turn = arm.zip(self.turns.as_ref()).and_then(|(arm, turns)| turns.get(arm as usize));
        turn.unwrap_or(&self.settings)
    }
}

/// The endpoints of a record, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// In profile order.
    pub(super) names: Vec<String>,
    /// Whether each is required.
    pub(super) required: Vec<bool>,
}

impl Names {
    /// The endpoint with this name; in the line of a round it mostly stands in its place.
    fn find(&self, name: &str, place: usize) -> Option<EndpointId> {
        let is = |known: &String| known == name;
        let found = self.names.get(place).is_some_and(is).then_some(place);
        found.or_else(|| self.names.iter().position(is)).map(EndpointId)
    }

    fn get(&self, name: &str, place: usize) -> Result<EndpointId, String> {
        let found = self.find(name, place).or_else(|| self.find(&text::clean(name), place));
        found.ok_or_else(|| format!("its session has no endpoint `{}`", text::clean(name)))
    }

    fn is_required(&self, endpoint: EndpointId) -> bool {
        self.required.get(endpoint.index()).copied().unwrap_or(false)
    }
}

impl RoundLine {
    /// The round; `settings` are those that held when it was written.
    pub(super) fn into_round(self, names: &Names, settings: &Held) -> Result<Round, String> {
        let calls = self.calls.into_iter().enumerate();
        let calls: Vec<Call> = calls.map(|(i, call)| call.into_call(names, i)).collect::<Result<_, _>>()?;
        let failed = self.failed.iter().map(|f| names.get(&f.endpoint, 0)).collect::<Result<_, _>>()?;
        let budget = Duration::from(self.budget_ms);
        let settings = held(settings.of(self.arm), self.mode, (!self.clamped).then_some(budget), self.k);
        let watched = || self.watched_ms.map_or_else(|| settings.watch(), Duration::from);
        let answered = |c: &&Call| c.outcome == Outcome::Ok && !names.is_required(c.endpoint);
        Ok(Round {
            no: RoundNo(self.round),
            at: self.at_ms.into(),
            start_lag: self.start_lag_ms.into(),
            probe: self.probe.then(watched),
            arm: self.arm,
            settings,
            budget,
            clamped: self.clamped,
            k: self.k,
            ended_by: self.ended_by,
            took: self.took_ms.into(),
            ok: self.ok,
            quorum_impossible_at: self.quorum_impossible_at_ms.map(Duration::from),
            quorum_at: self.quorum_at_ms.map(Duration::from),
            overrun: self.overrun_ms.map(Duration::from),
            lingering: self.lingering,
            warmup: self.warmup,
            late: Vec::new(),
            answered_optional: calls.iter().filter(answered).count(),
            failed,
            calls,
        })
    }
}

/// What a round was asked to do: settings may have been changed between its start and its line.
fn held(
    known: &Arc<Settings>,
    mode: crate::domain::Mode,
    budget: Option<Duration>,
    k: Option<usize>,
) -> Arc<Settings> {
    let budget = budget.unwrap_or(known.budget);
    let quorum = k.or(known.quorum);
    if (known.mode, known.budget, known.quorum) == (mode, budget, quorum) {
        return Arc::clone(known);
    }
    Arc::new(Settings { mode, budget, quorum, ..(**known).clone() })
}

impl CallOutcome {
    fn with(self, reason: Option<Reason>) -> Result<Outcome, String> {
        match (self, reason) {
            (Self::Ok, _) => Ok(Outcome::Ok),
            (Self::NotNeeded, _) => Ok(Outcome::NotNeeded),
            (Self::Missing, Some(reason)) => Ok(Outcome::Missing(reason)),
            (Self::Missing, None) => Err("a call is missing without a reason".to_owned()),
        }
    }
}

impl LateLine {
    /// What it says, and of which round.
    pub(super) fn late(&self, names: &Names) -> Result<(RoundNo, Late), String> {
        let endpoint = names.get(&self.endpoint, 0)?;
        let outcome = self.outcome.with(self.reason)?;
        Ok((RoundNo(self.round), Late { endpoint, outcome, end: self.end_ms.into() }))
    }
}

impl CallLine {
    fn into_call(self, names: &Names, place: usize) -> Result<Call, String> {
        let outcome = self.outcome.with(self.reason)?;
        let mut hedges = HedgeCounts::default();
        if let Some(line) = self.hedges {
            let mut suppressed = Suppressed::default();
            for (cause, count) in line.suppressed.0 {
                suppressed.add_many(cause, count);
            }
            hedges = HedgeCounts { sent: line.sent, won: line.won, wasted: line.wasted, suppressed };
        }
        let attempts: Vec<Attempt> = self.attempts.into_iter().map(AttemptLine::into_attempt).collect();
        let answered = || attempts.iter().position(|a| a.outcome == AttemptOutcome::Ok);
        let winner = self.winner.or_else(|| if outcome == Outcome::Ok { answered() } else { None });
        Ok(Call {
            endpoint: names.get(&self.endpoint, place)?,
            outcome,
            end: self.end_ms.into(),
            phase: self.phase.unwrap_or(Phase::Queued),
            status: self.status,
            late_by: self.late_by_ms.map(Duration::from),
            hedge_delay: self.hedge_delay_ms.map(Duration::from),
            hedges,
            winner: winner.filter(|&place| place < attempts.len()),
            attempts,
        })
    }
}

impl AttemptLine {
    fn into_attempt(self) -> Attempt {
        let phases = self.phases.phases();
        Attempt {
            replica: self.replica,
            kind: self.kind,
            start: self.start_ms.into(),
            end: self.end_ms.into(),
            outcome: self.outcome,
            reason: self.reason,
            detail: self.detail.map(|detail| text::clean(&detail)),
            status: self.status,
            bytes: self.bytes,
            wire_bytes: self.wire_bytes.unwrap_or(self.bytes),
            server_timing: server_timing(&self.server_timing),
            reused: self.reused,
            http: self.http,
            remote: self.remote,
            phase: phases.iter().last().map_or(Phase::Queued, |(phase, _)| phase),
            phases,
            trace_id: self.trace_id,
            answer: None,
        }
    }
}

/// The metrics that stand in a line, within the same bounds as those of an answer.
fn server_timing(lines: &[ServerTimingLine]) -> Arc<[ServerTiming]> {
    let metric = |line: &ServerTimingLine| {
        ServerTiming::new(&line.name, line.dur_ms.map(Duration::from), line.desc.as_deref())
    };
    lines.iter().filter_map(metric).take(ServerTiming::MOST).collect()
}

impl PhasesLine {
    fn phases(&self) -> Phases {
        let mut phases = Phases::default();
        for (phase, time) in [
            (Phase::Queued, self.queued),
            (Phase::Dns, self.dns),
            (Phase::Connect, self.connect),
            (Phase::Tls, self.tls),
            (Phase::Waiting, self.waiting),
            (Phase::Body, self.body),
        ] {
            if let Some(time) = time {
                phases.add(phase, time.into());
            }
        }
        phases
    }
}
