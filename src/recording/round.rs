//! A settled round in a record. Times are milliseconds from the round's start, `at_ms` from the session's.

use super::line::name_of;
use super::units::{Millis, Ordered};
use crate::domain::{
    Arm, Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, HttpVersion, Mode, Outcome, Phase,
    Reason, Round, ServerTiming, Suppression, TraceId,
};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// A settled round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "the record's own fields, each a fact of the round")]
pub struct RoundLine {
    /// Its number.
    pub round: u64,
    /// When it started, from the session's start.
    #[serde(default)]
    pub at_ms: Millis,
    /// How late that was.
    #[serde(default)]
    pub start_lag_ms: Millis,
    /// The contract.
    pub mode: Mode,
    /// The optional budget that held.
    pub budget_ms: Millis,
    /// Whether that is less than was asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clamped: bool,
    /// k of a quorum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// From its start to publishing.
    #[serde(default)]
    pub took_ms: Millis,
    /// Whether it succeeded; a partial round does.
    #[serde(default)]
    pub ok: bool,
    /// R40.
    #[serde(default)]
    pub partial: bool,
    /// R40.
    #[serde(default)]
    pub cacheable: bool,
    /// Calls with an answer.
    #[serde(default)]
    pub answered: usize,
    /// Answered share of the calls, 0 to 1, unrounded.
    #[serde(default)]
    pub completeness: f64,
    /// k less the optional answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<usize>,
    /// When the k-th answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum_at_ms: Option<Millis>,
    /// From when on the quorum could not be met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum_impossible_at_ms: Option<Millis>,
    /// How late our own timers woke it up, where that was late enough to misjudge calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrun_ms: Option<Millis>,
    /// Attempts that outlived their grace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lingering: usize,
    /// Whether it is left out of every statistic.
    #[serde(default, skip_serializing_if = "is_false")]
    pub warmup: bool,
    /// Whether its stragglers were watched past its end; what became of them stands in lines of their own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub probe: bool,
    /// Until when they were to be watched, from its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched_ms: Option<Millis>,
    /// Whose turn it was, where two variants take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<Arm>,
    /// Planned starts that did not happen, since the session's start.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub skipped: u64,
    /// Why, by endpoint.
    #[serde(default)]
    pub missing: Ordered<String, Reason>,
    /// Endpoints that were cancelled because enough had answered.
    #[serde(default)]
    pub not_needed: Vec<String>,
    /// The failures that failed the round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedLine>,
    /// One per endpoint, in profile order.
    #[serde(default)]
    pub calls: Vec<CallLine>,
}

impl RoundLine {
    pub(super) fn of(round: &Round, names: &[String]) -> Self {
        let missing =
            round.calls.iter().filter_map(|c| Some((name_of(names, c.endpoint), c.outcome.reason()?)));
        let not_needed = round.calls.iter().filter(|c| c.outcome == Outcome::NotNeeded);
        Self {
            round: round.no.0,
            at_ms: round.at.into(),
            start_lag_ms: round.start_lag.into(),
            mode: round.settings.mode,
            budget_ms: round.budget.into(),
            clamped: round.clamped,
            k: round.k,
            ended_by: round.ended_by,
            took_ms: round.took.into(),
            ok: round.ok,
            partial: round.partial(),
            cacheable: round.cacheable(),
            answered: round.answered(),
            completeness: round.completeness(),
            shortfall: round.shortfall(),
            quorum_at_ms: round.quorum_at.map(Millis::from),
            quorum_impossible_at_ms: round.quorum_impossible_at.map(Millis::from),
            overrun_ms: round.overrun.map(Millis::from),
            lingering: round.lingering,
            warmup: round.warmup,
            probe: round.probe.is_some(),
            watched_ms: round.probe.map(Millis::from),
            arm: round.arm,
            skipped: 0,
            missing: missing.collect(),
            not_needed: not_needed.map(|c| name_of(names, c.endpoint)).collect(),
            failed: round.failed.iter().filter_map(|&id| FailedLine::of(round, id, names)).collect(),
            calls: round.calls.iter().map(|call| CallLine::of(call, names)).collect(),
        }
    }
}

/// A failure that failed its round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedLine {
    /// Whose.
    pub endpoint: String,
    /// Why.
    pub reason: Reason,
    /// The error's own words; the reason's where it had none.
    #[serde(default)]
    pub detail: String,
}

impl FailedLine {
    fn of(round: &Round, endpoint: EndpointId, names: &[String]) -> Option<Self> {
        let call = round.calls.iter().find(|call| call.endpoint == endpoint)?;
        let reason = call.outcome.reason()?;
        let detail = call.detail().map_or_else(|| reason.label(call.status), str::to_owned);
        Some(Self { endpoint: name_of(names, endpoint), reason, detail })
    }
}

/// How a call came out, without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Answered within its limit.
    Ok,
    /// Not answered; the reason stands beside it.
    Missing,
    /// Cancelled because enough had answered.
    NotNeeded,
}

impl From<Outcome> for CallOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Ok,
            Outcome::Missing(_) => Self::Missing,
            Outcome::NotNeeded => Self::NotNeeded,
        }
    }
}

/// One endpoint's part of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallLine {
    /// Whose.
    pub endpoint: String,
    /// How it came out.
    pub outcome: CallOutcome,
    /// Why it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The phase reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Status of the answer that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// When it settled.
    #[serde(default)]
    pub end_ms: Millis,
    /// How long after its limit its value came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_by_ms: Option<Millis>,
    /// The delay after which it was to be hedged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge_delay_ms: Option<Millis>,
    /// Its hedges, where it was to be hedged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedges: Option<HedgesLine>,
    /// The attempt that won, as a place in `attempts`, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// What went on the wire, the primary first.
    #[serde(default)]
    pub attempts: Vec<AttemptLine>,
}

impl CallLine {
    fn of(call: &Call, names: &[String]) -> Self {
        let h = &call.hedges;
        let hedged = call.hedge_delay.is_some() || h.sent > 0 || h.suppressed.total() > 0;
        Self {
            endpoint: name_of(names, call.endpoint),
            outcome: call.outcome.into(),
            reason: call.outcome.reason(),
            phase: Some(call.phase),
            status: call.status,
            end_ms: call.end.into(),
            late_by_ms: call.late_by.map(Millis::from),
            hedge_delay_ms: call.hedge_delay.map(Millis::from),
            hedges: hedged.then(|| HedgesLine {
                sent: h.sent,
                won: h.won,
                wasted: h.wasted,
                suppressed: h.suppressed.iter().collect(),
            }),
            winner: call.winner.filter(|_| call.attempts.len() > 1),
            attempts: call.attempts.iter().map(AttemptLine::of).collect(),
        }
    }
}

/// A call's hedges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HedgesLine {
    /// Sent.
    pub sent: u32,
    /// Those that settled the call.
    pub won: u32,
    /// The others.
    pub wasted: u32,
    /// Due and not sent, by cause.
    #[serde(default)]
    pub suppressed: Ordered<Suppression, u32>,
}

/// One HTTP request on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttemptLine {
    /// Which URL.
    #[serde(default)]
    pub replica: usize,
    /// Primary or hedge.
    pub kind: AttemptKind,
    /// When it started.
    #[serde(default)]
    pub start_ms: Millis,
    /// When it ended.
    #[serde(default)]
    pub end_ms: Millis,
    /// How it came out.
    pub outcome: AttemptOutcome,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The error's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Body bytes received, after decoding.
    #[serde(default)]
    pub bytes: u64,
    /// Body bytes as they came, before decoding, without the framing of HTTP and TLS; where they are not as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_bytes: Option<u64>,
    /// Whether over a kept connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<bool>,
    /// HTTP version of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpVersion>,
    /// The address that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<SocketAddr>,
    /// The trace that it was sent under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// Time in each phase.
    #[serde(default)]
    pub phases: PhasesLine,
    /// What the server says of its own time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_timing: Vec<ServerTimingLine>,
}

impl AttemptLine {
    fn of(attempt: &Attempt) -> Self {
        Self {
            replica: attempt.replica,
            kind: attempt.kind,
            start_ms: attempt.start.into(),
            end_ms: attempt.end.into(),
            outcome: attempt.outcome,
            reason: attempt.reason,
            detail: attempt.detail.clone(),
            status: attempt.status,
            bytes: attempt.bytes,
            wire_bytes: (attempt.wire_bytes != attempt.bytes).then_some(attempt.wire_bytes),
            reused: attempt.reused,
            http: attempt.http,
            remote: attempt.remote,
            trace_id: attempt.trace_id,
            phases: PhasesLine::of(attempt),
            server_timing: attempt.server_timing.iter().map(ServerTimingLine::of).collect(),
        }
    }
}

/// A metric of the answer's Server-Timing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerTimingLine {
    /// Its name.
    pub name: String,
    /// The time that it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dur_ms: Option<Millis>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desc: Option<String>,
}

impl ServerTimingLine {
    fn of(metric: &ServerTiming) -> Self {
        Self {
            name: metric.name.to_string(),
            dur_ms: metric.took.map(Millis::from),
            desc: metric.description.as_deref().map(str::to_owned),
        }
    }
}

/// Time in each phase, null where the attempt had none. They sum to `end_ms - start_ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PhasesLine {
    /// Before anything was sent.
    pub queued: Option<Millis>,
    /// Resolving the name.
    pub dns: Option<Millis>,
    /// TCP connect.
    pub connect: Option<Millis>,
    /// TLS handshake.
    pub tls: Option<Millis>,
    /// Request sent, no answer yet.
    pub waiting: Option<Millis>,
    /// Body arriving.
    pub body: Option<Millis>,
}

impl PhasesLine {
    fn of(attempt: &Attempt) -> Self {
        let mut line = Self::default();
        let mut at = attempt.start;
        for (phase, time) in attempt.phases.iter() {
            // Instants are rounded, not lengths, so that the rounded lengths still sum to the attempt's.
            let next = at.saturating_add(time);
            let slot = match phase {
                Phase::Queued => &mut line.queued,
                Phase::Dns => &mut line.dns,
                Phase::Connect => &mut line.connect,
                Phase::Tls => &mut line.tls,
                Phase::Waiting => &mut line.waiting,
                Phase::Body => &mut line.body,
            };
            *slot = Some(Millis::from(next).since(at.into()));
            at = next;
        }
        line
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(value: &usize) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_none_yet(count: &u64) -> bool {
    *count == 0
}
