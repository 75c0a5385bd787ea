//! What each budget would have given: exact up to what was seen, estimated as far as stragglers were watched, bounded
//! beyond (W3). Pure.
//!
//! - Exact: [`Recount`](super::recount::Recount) over whole rounds, where every round that counts is in it, or at
//!   least 20 are.
//! - Above that the estimate goes on from the last exact budget: what was answered there, and of what was pending
//!   there the share that Aalen and Johansen's estimator gives from all calls that were watched longer. In rounds of
//!   one budget that is their pooled curve times the share of calls that were sent at all, exactly.
//! - Where fewer than 5 calls are at risk (W6) there are bounds, from the last time at which there were more; where
//!   none was left there, what was known goes on.
//! - Below the exact budgets, in rounds whose hedges would have gone out earlier (R24), there are bounds too: at least
//!   what answered with the later hedges, at most what answers at the first exact budget.
//!
//! Calls of one round are not independent. So the estimate's variance is the one of independent calls times the design
//! effect, calls by effective size, of the last exact budget: Kish (1965), "Survey sampling", 8.2.

mod knee;
mod known;

use self::known::Known;
use super::outlook::{Question, Status};
use crate::domain::Reason;
use std::time::Duration;

/// A curve over budgets that ascend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BudgetCurve {
    /// The budgets, evenly spaced, the one that holds among them.
    pub points: Vec<BudgetPoint>,
    /// The largest budget that is recounted exactly, where any is.
    pub exact_until: Option<Duration>,
    /// What no budget can buy: the share of calls that are errors or are never sent. `None` where more than one call
    /// in a hundred was not seen to its end, so that there may be more of them.
    pub errors: Option<f64>,
    /// Whether more than 5 % of the optional calls were cut by a quorum, so that estimates assume that such calls
    /// are like the others (W1).
    pub assumes_independence: bool,
    /// Where the curve bends most: below it every millisecond buys much, above it little. Where it is seen.
    pub knee: Option<Duration>,
}

/// What one budget would have given.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetPoint {
    /// The budget.
    pub budget: Duration,
    /// How good the figures are.
    pub status: Status,
    /// Rounds that they rest on.
    pub n: u64,
    /// Calls that were still pending and watched then: what an estimate rests on.
    pub at_risk: usize,
    /// Mean of the rounds' answered shares, 0 to 1; `None` where only bounds are known.
    pub completeness: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Within which the completeness of the next minute's rounds lies in 19 of 20 minutes, if nothing changes.
    pub next_minute: Option<(f64, f64)>,
    /// What the completeness is at least and at most, where it is not known.
    pub bounds: Option<(f64, f64)>,
    /// Share of the rounds in which every call answers.
    pub all: Option<f64>,
    /// Share of the rounds in which at least k optional calls answer.
    pub at_least_k: Option<f64>,
    /// Missing calls by reason, in the order of [`Reason::ALL`], those that occur; of exact figures only.
    pub missing: Vec<(Reason, u64)>,
}

/// Steps up to twice the budget that holds, at most.
const STEPS: u128 = 100;

impl BudgetCurve {
    /// Budgets in even steps up to twice the one that holds.
    #[must_use]
    pub fn of(question: &Question) -> Self {
        if question.rounds.is_empty() {
            return Self::default();
        }
        let known = Known::of(question, &grid(question.settings.effective_budget().0));
        let points = known.points();
        // Where nothing is left to come the curve is flat for as long as one looks: its end is no bend.
        let seen =
            points.partition_point(|point| known.seen_until().is_some_and(|until| point.budget <= until));
        Self {
            knee: points.get(..seen).and_then(knee::of),
            exact_until: known.exact_until(),
            errors: known.errors(),
            assumes_independence: known.assumes_independence(),
            points,
        }
    }

    /// These budgets, ascending and each once.
    #[must_use]
    pub fn at(question: &Question, budgets: &[Duration]) -> Vec<BudgetPoint> {
        Known::of(question, budgets).points()
    }
}

/// Round steps of 1, 2 or 5 times a power of ten, between 40 and 100 of them, and the budget itself.
fn grid(budget: Duration) -> Vec<Duration> {
    let end = budget.as_nanos().saturating_mul(2).min(Duration::MAX.as_nanos());
    let decades = std::iter::successors(Some(1_u128), |&decade| decade.checked_mul(10));
    let step = decades.flat_map(|decade| [1, 2, 5].map(|of| decade * of)).find(|&step| end / step <= STEPS);
    let step = step.unwrap_or(end).max(1);
    let steps = (1..=end / step).map(|i| nanos(i * step)).chain([budget]);
    let mut budgets: Vec<Duration> = steps.collect();
    budgets.sort_unstable();
    budgets.dedup();
    budgets
}

fn nanos(nanos: u128) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    let rest = u32::try_from(nanos % SECOND).unwrap_or(0);
    u64::try_from(nanos / SECOND).map_or(Duration::MAX, |seconds| Duration::new(seconds, rest))
}
