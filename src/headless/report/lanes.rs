//! A round's lanes, as text and as a picture draw them: what stands where on the time axis.

use super::words;
use crate::domain::{Attempt, AttemptKind, AttemptOutcome, Call, Outcome, Phase, Round, numbers};
use std::time::Duration;

/// How a lane ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Answered.
    Ok,
    /// Failed.
    Error,
    /// Cut at a time limit.
    Cut,
    /// Not needed, or lost to another attempt.
    NotNeeded,
    /// A hedge that won.
    Won,
}

/// A row: a call with its first attempt, or a hedge below it.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// Which endpoint, as an index; of a hedge its call's.
    pub(super) endpoint: usize,
    /// Whether it is a hedge.
    pub(super) hedge: bool,
    /// Where its bar begins.
    pub(super) start: Duration,
    /// The bar: phases one after the other.
    pub(super) phases: Vec<(Phase, Duration)>,
    /// Where it ends.
    pub(super) end: Duration,
    /// How.
    pub(super) mark: Mark,
    /// In words.
    pub(super) result: String,
}

/// The lanes of a round.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    /// The whole axis, from the round's start.
    pub(super) axis: Duration,
    /// The budget.
    pub(super) deadline: Duration,
    /// When the quorum was reached.
    pub(super) quorum: Option<Duration>,
    /// The rows.
    pub(super) rows: Vec<Lane>,
    /// Calls that have no row.
    pub(super) more: usize,
}

/// Lays out a round. With more than `most` calls those that are missing go first, and the rest is counted.
pub(super) fn lanes(round: &Round, most: usize) -> Lanes {
    let mut calls: Vec<&Call> = round.calls.iter().collect();
    if calls.len() > most {
        calls.sort_by_key(|call| call.outcome.reason().is_none());
    }
    let more = calls.len().saturating_sub(most);
    calls.truncate(most);
    let rows: Vec<Lane> = calls.into_iter().flat_map(rows).collect();
    let longest = rows.iter().map(|lane| lane.end).max().unwrap_or_default();
    // A fifth more than the budget, so that the line stands in the same place in every round.
    let axis = (round.budget.saturating_mul(6) / 5).max(longest).max(Duration::from_micros(1));
    Lanes { axis, deadline: round.budget, quorum: round.quorum_at, rows, more }
}

fn rows(call: &Call) -> Vec<Lane> {
    let endpoint = call.endpoint.index();
    let primary = call.attempts.first();
    let by_hedge =
        call.winner.and_then(|i| call.attempts.get(i)).is_some_and(|a| a.kind == AttemptKind::Hedge);
    let mark = match call.outcome {
        Outcome::Ok => Mark::Ok,
        Outcome::NotNeeded => Mark::NotNeeded,
        Outcome::Missing(reason) if reason.is_cut() => Mark::Cut,
        Outcome::Missing(_) => Mark::Error,
    };
    let start = primary.map_or(Duration::ZERO, |a| a.start);
    let waited = || if mark == Mark::Cut { vec![(Phase::Queued, call.end)] } else { Vec::new() };
    let phases = primary.map_or_else(waited, |a| reached(a, call.end));
    let by = if by_hedge { " by a hedge" } else { "" };
    let first = Lane {
        endpoint,
        hedge: false,
        start,
        phases,
        end: call.end,
        mark,
        result: format!("{}{by}", words::outcome(call)),
    };
    let hedges = call.attempts.iter().enumerate().skip(1).map(|(i, attempt)| {
        let won = call.winner == Some(i);
        Lane {
            endpoint,
            hedge: true,
            start: attempt.start,
            phases: reached(attempt, call.end.max(attempt.start)),
            end: attempt.end.min(call.end).max(attempt.start),
            mark: match attempt.outcome {
                _ if won => Mark::Won,
                AttemptOutcome::Failed => Mark::Error,
                _ => Mark::NotNeeded,
            },
            result: hedge_result(attempt, won),
        }
    });
    std::iter::once(first).chain(hedges).collect()
}

/// The phases of an attempt as far as the round waited for it.
fn reached(attempt: &Attempt, until: Duration) -> Vec<(Phase, Duration)> {
    attempt.phases.within(until.saturating_sub(attempt.start)).iter().collect()
}

fn hedge_result(attempt: &Attempt, won: bool) -> String {
    match (attempt.outcome, attempt.reason) {
        _ if won => format!("won, {}", numbers::ms(attempt.end.saturating_sub(attempt.start))),
        (AttemptOutcome::Failed, Some(reason)) => reason.label(attempt.status),
        _ => "lost".to_owned(),
    }
}

impl Lane {
    /// The phases in words: `queued 0.1 ms, waiting 30 ms`.
    pub(super) fn spelled(&self) -> String {
        let phases = self.phases.iter().map(|(phase, time)| format!("{phase} {}", numbers::ms(*time)));
        phases.collect::<Vec<_>>().join(", ")
    }
}
