//! When the k-th answer is there, for each k: from whole rounds, and beside it what independent calls would give (W4).

use super::outlook::Status;
use super::quantile::Quantile;
use std::time::Duration;

/// Every k of the optional calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuorumStudy {
    /// k that holds or would hold.
    pub k: usize,
    /// For 1, 2, … up to the number of optional calls.
    pub rows: Vec<QuorumRow>,
}

/// One k.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuorumRow {
    /// How many answers are enough.
    pub k: usize,
    /// Rounds that were looked at.
    pub n: usize,
    /// Share of the rounds in which they are there by the budget that holds, 0 to 1.
    pub by_budget: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How good that is.
    pub status: Status,
    /// The same if calls were independent of each other.
    pub independent: Option<f64>,
    /// Whether the two differ by more than chance: at least 0.02, and the 95 % interval of the difference, from whole
    /// rounds drawn again, excludes 0.
    pub correlated: bool,
    /// p50, p90 and p99 of the time of the k-th answer.
    pub times: [Quantile; 3],
    /// The curve over time.
    pub curve: Vec<QuorumPoint>,
}

/// The curve of a k from one time up to the next. `met + impossible + pending = 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuorumPoint {
    /// When, from the round's start.
    pub time: Duration,
    /// Rounds that were undecided and watched just before.
    pub at_risk: usize,
    /// Share of the rounds with k answers.
    pub met: f64,
    /// Share of the rounds with too many errors for k answers.
    pub impossible: f64,
    /// Share of the rounds that are undecided.
    pub pending: f64,
    /// Share with k answers if calls were independent of each other.
    pub independent: f64,
}
