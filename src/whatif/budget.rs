//! What each budget would have given: exact up to what was seen, estimated as far as stragglers were watched, bounded
//! beyond (W3).

use super::outlook::Status;
use crate::domain::Reason;
use std::time::Duration;

/// A curve over budgets that ascend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BudgetCurve {
    /// The budgets, evenly spaced, the one that holds among them.
    pub points: Vec<BudgetPoint>,
    /// Up to when everything is exact, where anything is.
    pub exact_until: Option<Duration>,
    /// From the last call's end on, what no budget can buy: the share of calls that are errors or are never sent.
    pub errors: Option<f64>,
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
