//! What a round leaves behind.

use super::watch::Watched;
use super::{Clock, Runner};
use crate::domain::{
    Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, HedgeCounts, Outcome, Phase, Reason,
    Round, Suppression,
};
use crate::engine::policy::{AttemptSlot, AttemptState, CallState};
use crate::engine::task::Handle;
use crate::engine::transport::{Failure, Seen};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The round as it stands; `took` and `lingering` are left at zero.
pub(super) fn record<C: Clock + Unpin>(runner: &Runner<'_, C>) -> Round {
    let (policy, brief) = (&runner.policy, &runner.brief);
    let calls = policy.calls().iter().zip(runner.flight.handles()).enumerate();
    let (quorum_at, quorum_impossible_at) = policy.quorum();
    Round {
        no: brief.no,
        at: runner.flight.start().saturating_duration_since(runner.shared.epoch),
        start_lag: runner.flight.start().saturating_duration_since(brief.planned),
        settings: Arc::clone(&brief.settings),
        budget: brief.plan.budget,
        clamped: brief.settings.effective_budget().1,
        k: brief.plan.k,
        ended_by: policy.over().unwrap_or(EndedBy::Aborted),
        took: Duration::ZERO,
        ok: policy.ok(),
        quorum_impossible_at,
        quorum_at,
        overrun: runner.overrun(),
        lingering: 0,
        warmup: false,
        probe: runner.watched.as_ref().map(Watched::until),
        arm: brief.arm,
        late: Vec::new(),
        answered_optional: policy.answered_optional(),
        failed: policy.failed(),
        calls: calls.map(|(i, (state, handles))| call(i, state, handles, runner.flight.start())).collect(),
    }
}

fn call(index: usize, state: &CallState, handles: &[Handle], start: Instant) -> Call {
    // What never left the queue, or was never polled, was not on the wire.
    let sent = |i: usize| handles.get(i).is_some_and(|h| h.sent().is_some());
    // Rounds are kept by the hundred: room for what there is, and no more.
    let mut attempts = Vec::with_capacity((0..handles.len()).filter(|&i| sent(i)).count());
    let on_the_wire = state.attempts().iter().zip(handles).filter(|(_, handle)| handle.sent().is_some());
    attempts.extend(on_the_wire.filter_map(|(slot, handle)| attempt(slot, handle, start)));
    let winner = state.winner().map(|winner| (0..winner).filter(|&i| sent(i)).count());
    // A call without an outcome can't be had here; if it could, it would be ours to explain.
    let outcome = state.outcome().unwrap_or(Outcome::Missing(Reason::Internal));
    let decided = winner.or_else(|| decisive(outcome, &attempts));
    Call {
        endpoint: EndpointId(index),
        outcome,
        end: state.settled_at().unwrap_or_default(),
        phase: decided.and_then(|i| attempts.get(i)).map_or(Phase::Queued, |a| a.phase),
        status: decided.and_then(|i| attempts.get(i)).and_then(|a| a.status),
        late_by: state.late_by(),
        hedge_delay: state.plan().hedge_delay(),
        hedges: hedges(state.counts(), handles),
        winner,
        attempts,
    }
}

/// A hedge that still waits for the one who gives way to it was not sent: it is short of a permit after all.
fn hedges(mut counts: HedgeCounts, handles: &[Handle]) -> HedgeCounts {
    let waits = |handle: &&Handle| handle.trace().is_some() && handle.sent().is_none();
    let waiting = u32::try_from(handles.iter().skip(1).filter(waits).count()).unwrap_or(u32::MAX);
    counts.sent = counts.sent.saturating_sub(waiting);
    counts.wasted = counts.wasted.saturating_sub(waiting);
    counts.suppressed.add_many(Suppression::Permit, waiting);
    counts
}

/// The attempt that tells most of a call without a winner: the one that failed for the call's reason, else
/// the one that had come furthest of those that did not fail, whatever the failed ones had reached.
fn decisive(outcome: Outcome, attempts: &[Attempt]) -> Option<usize> {
    let reason = outcome.reason();
    let failed = attempts.iter().position(|a| a.reason.is_some() && a.reason == reason);
    let furthest = |failed: bool| {
        let of = |&i: &usize| (attempts[i].outcome == AttemptOutcome::Failed) == failed;
        (0..attempts.len()).rev().filter(of).max_by_key(|&i| attempts[i].phase)
    };
    failed.or_else(|| furthest(false)).or_else(|| furthest(true))
}

/// An attempt as it stands; `None` where it was never built.
pub(super) fn attempt(slot: &AttemptSlot, handle: &Handle, start: Instant) -> Option<Attempt> {
    let trace = handle.trace()?;
    let (end, outcome, failure) = match &slot.state {
        AttemptState::Ended(end, Ok(())) => (Some(*end), AttemptOutcome::Ok, None),
        AttemptState::Ended(end, Err(failure)) => (Some(*end), AttemptOutcome::Failed, Some(failure)),
        AttemptState::Cancelled(at) => (Some(*at), AttemptOutcome::Cancelled, None),
        AttemptState::Ordered | AttemptState::Running => (None, AttemptOutcome::Cancelled, None),
    };
    let began = trace.started().max(start);
    let end = end.map_or(began, |end| start + end).max(began);
    let seen = handle.seen(end)?;
    Some(build(slot.replica, slot.kind, (began - start, end - start), outcome, failure, &seen))
}

fn build(
    replica: usize,
    kind: AttemptKind,
    (start, end): (Duration, Duration),
    outcome: AttemptOutcome,
    failure: Option<&Failure>,
    seen: &Seen,
) -> Attempt {
    Attempt {
        replica,
        kind,
        start,
        end,
        outcome,
        reason: failure.map(|f| f.reason),
        detail: failure.map(|f| f.detail.clone()),
        status: failure.and_then(|f| f.status).or(seen.status),
        bytes: seen.bytes,
        wire_bytes: seen.wire_bytes,
        server_timing: Arc::clone(&seen.server_timing),
        reused: seen.reused,
        http: seen.http,
        remote: seen.remote,
        phase: seen.phase,
        phases: seen.phases,
        trace_id: seen.trace_id,
        answer: failure.and_then(|_| seen.answer.clone()),
    }
}
