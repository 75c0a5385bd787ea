//! How long an endpoint takes, estimated from calls of which some were cut.
//!
//! A call cut at 200 ms has not taken 200 ms: it is right-censored. Dropping it makes every percentile too
//! good, counting it as an answer makes them wrong. The estimator here is Aalen and Johansen's (1978) with
//! errors as a competing risk; without errors it is Kaplan and Meier's (1958). Pure: times come in, numbers go
//! out.

use crate::domain::{AttemptKind, AttemptOutcome, Call, Late, Outcome, Reason, Round};
use std::time::Duration;

/// Slack in comparing a curve with a quantile, so that 0.1 + 0.2 reaches 0.3.
pub(super) const EPSILON: f64 = 1e-9;

/// What was seen of a call at the end of its observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Observed {
    /// It answered at that time.
    Ok,
    /// It failed at that time.
    Error,
    /// It was still pending at that time, and nobody looked any longer.
    Censored,
}

/// A call as the estimator sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// When, from the round's start.
    pub time: Duration,
    /// What was seen then.
    pub what: Observed,
}

/// How many calls were seen how at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tied {
    /// When, from the round's start.
    pub time: Duration,
    /// Answered then.
    pub ok: usize,
    /// Failed then.
    pub error: usize,
    /// Last seen pending then.
    pub censored: usize,
}

/// What the endpoint's curve learns from a call: its primary attempt, on the round's clock, so that waiting
/// for a permit counts as it does for the budget. `None` where nothing was sent for reasons of our own (W1).
///
/// A primary that lost to its hedge, or was cut, is censored at the instant it was last seen pending. An answer
/// or a failure that came late but was seen is an event at its real time. The endpoint's own `timeout` is part
/// of its contract and counts as an error.
#[must_use]
pub fn observation(call: &Call) -> Option<Observation> {
    let Some(primary) = call.attempts.iter().find(|a| a.kind == AttemptKind::Primary) else {
        // Nothing on the wire: one that was cut in the queue was pending all the same, the others were not asked.
        let waited = match call.outcome {
            Outcome::Ok => false,
            Outcome::NotNeeded => true,
            Outcome::Missing(reason) => of_reason(reason) == Some(Observed::Censored),
        };
        return waited.then_some(Observation { time: call.end, what: Observed::Censored });
    };
    let own_timeout = call.outcome == Outcome::Missing(Reason::Timeout);
    let what = match primary.outcome {
        AttemptOutcome::Failed => primary.reason.map_or(Some(Observed::Error), of_reason)?,
        // A value after the endpoint's own limit is one that nobody was waiting for.
        _ if own_timeout => return Some(Observation { time: call.end, what: Observed::Error }),
        AttemptOutcome::Ok => Observed::Ok,
        AttemptOutcome::Cancelled => Observed::Censored,
    };
    Some(Observation { time: primary.end, what })
}

/// The same, where our own lateness is no evidence: a call that a late wake-up cut was pending until its limit, and
/// what came after that was seen by accident. A probe round is meant to see it. The endpoint's own timeout is an error
/// unless that was our doing.
#[must_use]
pub fn fair(round: &Round, call: &Call) -> Option<Observation> {
    let seen = observation(call)?;
    let Some(limit) = round.limit_of(call) else { return Some(seen) };
    let accident = match call.outcome {
        Outcome::Missing(Reason::Timeout) => seen.time >= limit && round.is_misjudged(call),
        _ => round.overrun.is_some() && round.probe.is_none() && seen.time > limit,
    };
    Some(if accident { Observation { time: limit, what: Observed::Censored } } else { seen })
}

/// What a failure says of the upstream: an error, nothing yet (we stopped looking), or nothing at all.
pub(super) const fn of_reason(reason: Reason) -> Option<Observed> {
    match reason {
        Reason::Deadline
        | Reason::Throttled
        | Reason::QuorumImpossible
        | Reason::SiblingFailed
        | Reason::RequestDeadline
        | Reason::Aborted => Some(Observed::Censored),
        Reason::InvalidRequest
        | Reason::LocalFdLimit
        | Reason::LocalPortLimit
        | Reason::BackingOff
        | Reason::BreakerOpen => None,
        _ => Some(Observed::Error),
    }
}

/// What was seen of a straggler that was watched past its round's end.
#[must_use]
pub fn of_late(late: &Late) -> Observed {
    match late.outcome {
        Outcome::Ok => Observed::Ok,
        Outcome::NotNeeded => Observed::Censored,
        Outcome::Missing(reason) => of_reason(reason).unwrap_or(Observed::Censored),
    }
}

/// The curve from one event time up to the next. `ok + error + pending = 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The event time.
    pub time: Duration,
    /// Calls still pending just before it: what the step rests on.
    pub at_risk: usize,
    /// Share answered by then, `F_ok`.
    pub ok: f64,
    /// Share failed by then, `F_err`.
    pub error: f64,
    /// Share still pending, `S`.
    pub pending: f64,
}

impl Row {
    /// How much this step may be trusted (W6).
    #[must_use]
    pub const fn grade(&self) -> Grade {
        Grade::of(self.at_risk)
    }
}

/// How much a number may be trusted, by the calls at risk where it was read (W6); the worse, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Shown as it is.
    Solid,
    /// Shown with that word beside it.
    Thin,
    /// Not shown: too few for a number.
    None,
}

impl Grade {
    /// At least 20 at risk are solid, at least 5 thin.
    #[must_use]
    pub const fn of(at_risk: usize) -> Self {
        match at_risk {
            20.. => Self::Solid,
            5..=19 => Self::Thin,
            _ => Self::None,
        }
    }
}

/// Cumulative incidence of answers and errors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    rows: Vec<Row>,
    n: usize,
    horizon: Option<Duration>,
    first_censored: Option<Duration>,
    pending_until: Option<Duration>,
}

impl Curve {
    /// The estimate, in O(n log n).
    ///
    /// With `n` at risk, `d` events at `t` and `d_k` of them of kind `k`: `S(t) = prod(1 - d/n)` and
    /// `F_k(t) = sum S(t-) d_k/n` (Aalen and Johansen 1978). A call censored at an event's very time was still at
    /// risk for it.
    #[must_use]
    pub fn of(observations: &[Observation]) -> Self {
        let mut sorted = observations.to_vec();
        sorted.sort_unstable_by_key(|o| o.time);
        Self::of_sorted(&sorted)
    }

    /// As [`Curve::of`], in O(n), of observations that ascend by time already.
    #[must_use]
    pub fn of_sorted(sorted: &[Observation]) -> Self {
        let tied = sorted.chunk_by(|a, b| a.time == b.time).filter_map(|tied| {
            let count = |what| tied.iter().filter(|o| o.what == what).count();
            Some(Tied {
                time: tied.first()?.time,
                ok: count(Observed::Ok),
                error: count(Observed::Error),
                censored: count(Observed::Censored),
            })
        });
        Self::fold(sorted.len(), tied)
    }

    /// As [`Curve::of`], of counts at times that ascend.
    #[must_use]
    pub fn of_tied(tied: &[Tied]) -> Self {
        let n = tied.iter().fold(0, |n: usize, t| n.saturating_add(t.ok + t.error + t.censored));
        Self::fold(n, tied.iter().copied())
    }

    fn fold(n: usize, ascending: impl Iterator<Item = Tied>) -> Self {
        let mut rows = Vec::new();
        let (mut pending_until, mut first_censored, mut horizon) = (None, None, None);
        let mut at_risk = n;
        let (mut ok, mut error, mut pending) = (0.0, 0.0, 1.0);
        for tied in ascending {
            let events = tied.ok + tied.error;
            if events > 0 {
                ok += pending * share(tied.ok, at_risk);
                error += pending * share(tied.error, at_risk);
                pending *= share(at_risk - events, at_risk);
                rows.push(Row { time: tied.time, at_risk, ok, error, pending });
                pending_until = None;
            }
            if tied.censored > 0 {
                pending_until = pending_until.or(Some(tied.time));
                first_censored = first_censored.or(Some(tied.time));
            }
            at_risk -= events + tied.censored;
            horizon = Some(tied.time);
        }
        Self { rows, n, horizon, first_censored, pending_until }
    }

    /// A row per event time, ascending. Before the first one everything is pending.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Calls that the curve rests on.
    #[must_use]
    pub const fn n(&self) -> usize {
        self.n
    }

    /// The latest time at which anything was seen, event or not. Beyond it nothing is known of what was still
    /// pending: where a quantile is `None`, all that may be said is "later than this, if ever".
    #[must_use]
    pub const fn horizon(&self) -> Option<Duration> {
        self.horizon
    }

    /// The earliest time at which a call was last seen pending. Up to it the curve is a plain recount.
    #[must_use]
    pub const fn first_censored(&self) -> Option<Duration> {
        self.first_censored
    }

    /// Up to when all calls that outlast the last event were seen pending: what a quantile that the curve does
    /// not reach is at least. `None` where no call outlasts it.
    #[must_use]
    pub const fn pending_until(&self) -> Option<Duration> {
        self.pending_until
    }

    /// The row that holds at `t`: the last one at or before it. `None` before the first event.
    #[must_use]
    pub fn at(&self, t: Duration) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.time <= t);
        after.checked_sub(1).and_then(|last| self.rows.get(last))
    }

    /// Smallest and largest share that may have answered by `t`. They are equal up to the horizon; beyond it
    /// what was pending there may or may not have answered (W3).
    #[must_use]
    pub fn ok_bounds(&self, t: Duration) -> (f64, f64) {
        let (ok, error) = self.at(t).map_or((0.0, 0.0), |row| (row.ok, row.error));
        if self.horizon.is_some_and(|h| t <= h) { (ok, ok) } else { (ok, 1.0 - error) }
    }

    /// The smallest time by which at least the share `q` had answered; errors never answer. `None` where that was
    /// not seen: cut before ([`Curve::horizon`]), or out of reach because too many fail.
    #[must_use]
    pub fn quantile_ok(&self, q: f64) -> Option<Duration> {
        self.row_ok(q).map(|row| row.time)
    }

    /// The row in which [`Curve::quantile_ok`] is read: it also says how many were at risk.
    #[must_use]
    pub fn row_ok(&self, q: f64) -> Option<&Row> {
        self.first(q, |row| row.ok)
    }

    /// The smallest time by which at least the share `q` had answered or failed. `None` where that was not seen.
    #[must_use]
    pub fn quantile_settled(&self, q: f64) -> Option<Duration> {
        self.first(q, |row| row.ok + row.error).map(|row| row.time)
    }

    /// Whether errors alone keep the share `q` from ever being reached, whatever became of the calls cut.
    #[must_use]
    pub fn unreachable_ok(&self, q: f64) -> bool {
        self.rows.last().is_some_and(|row| 1.0 - row.error < q - EPSILON)
    }

    fn first(&self, q: f64, level: impl Fn(&Row) -> f64) -> Option<&Row> {
        // The levels ascend, so the rows below q are a prefix.
        let below = self.rows.partition_point(|row| level(row) < q - EPSILON);
        self.rows.get(below)
    }
}

/// `part / whole`, with `whole` at least 1 wherever it is asked.
#[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests;
