//! What a hedge at each delay would give, and what it would cost: a model of independent attempts (W5).

use crate::domain::HedgeDelay;
use std::time::Duration;

/// Every delay that was looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HedgeStudy {
    /// No hedge first, then delays that ascend in what they cost.
    pub rows: Vec<HedgeRow>,
    /// What the load budget allows: extra attempts by primaries, 0 to 1.
    pub load_budget: f64,
    /// The smallest delay within the load budget; `None` where it buys nothing or can't be said.
    pub best: Option<Duration>,
    /// Hedges that were really sent in the rounds that were looked at.
    pub real: u64,
    /// What was really seen with the delay that holds, from 30 real hedges on.
    pub observed: Option<HedgeSeen>,
    /// Calls at risk that the model rests on: answers and errors of primary attempts.
    pub n: usize,
    /// Whether more than 5 % of the calls behind it were cut by a quorum or a winner.
    pub assumes_independence: bool,
}

/// One delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HedgeRow {
    /// The delay; `None`: no hedge.
    pub delay: Option<HedgeDelay>,
    /// The same as a time: of a percentile the mean over the endpoints.
    pub time: Option<Duration>,
    /// Hedges by primaries, 0 to 1, as if the load budget allowed all of them.
    pub extra_load: f64,
    /// Share of the calls that answer by the budget that holds, 0 to 1.
    pub ok_by_budget: f64,
    /// The time by which 99 % of the calls have answered; `None` where the data do not reach that far.
    pub p99: Option<Duration>,
    /// How good that is.
    pub status: HedgeStatus,
}

/// Where a hedge's figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HedgeStatus {
    /// The model, within what was seen.
    Model,
    /// What really ran.
    Observed,
    /// The model beyond what was seen: no hedge could have shown it.
    Extrapolated,
}

impl HedgeStatus {
    /// Its stable spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Observed => "observed",
            Self::Extrapolated => "extrapolated",
        }
    }
}

/// What hedged calls really did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HedgeSeen {
    /// The delay they had.
    pub delay: HedgeDelay,
    /// Calls that had it.
    pub calls: u64,
    /// Hedges that were sent for them.
    pub hedges: u64,
    /// Hedges by primaries.
    pub extra_load: f64,
    /// Share of the calls that answered by the budget that holds.
    pub ok_by_budget: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// The time by which 99 % of them had answered.
    pub p99: Option<Duration>,
    /// Its 95 % interval, open where the data do not reach that far.
    pub p99_interval: (Option<Duration>, Option<Duration>),
}
