//! What a hedge at each delay would give, and what it would cost: a model of independent attempts (W5).
//!
//! The model hedges a call once, or in a race as often as is allowed, and takes every failure for one that hedges.
//! Figures are means over the calls of the endpoints that may be hedged, of those for which anything was sent.

mod lanes;
pub mod model;
mod observed;
pub mod steps;

use super::outlook::Question;
use super::survival::{Curve, Grade};
use crate::domain::{CallSpec, HedgeDelay, HedgeSettings};
use lanes::Lanes;
use std::time::Duration;

/// Percentiles that are looked at as delays.
const PERCENTILES: [f64; 6] = [0.99, 0.95, 0.9, 0.8, 0.6, 0.5];

/// A percentile delay is at least that, and a recommended one too (R24).
const LEAST: Duration = Duration::from_millis(1);

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
    /// Share of the calls that answer by the budget that holds, 0 to 1; `None` where fewer than 5 calls are at risk
    /// (W6).
    pub ok_by_budget: Option<f64>,
    /// Whether that rests on fewer than 20.
    pub thin: bool,
    /// The time by which 99 % of the calls have answered; `None` where the data do not reach that far, or fewer than
    /// 5 calls were at risk there.
    pub p99: Option<Duration>,
    /// Whether that rests on fewer than 20.
    pub p99_thin: bool,
    /// How good that is.
    pub status: HedgeStatus,
}

impl HedgeRow {
    /// Where its figures come from, and whether few calls are behind any of them.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self.status {
            HedgeStatus::Model if self.thin || self.p99_thin => "model, thin",
            HedgeStatus::Extrapolated if self.thin || self.p99_thin => "extrapolated, thin",
            status => status.as_str(),
        }
    }
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

/// Whether calls of this endpoint may be hedged, by its own contract or by that of the mode.
#[must_use]
pub fn may_hedge(spec: &CallSpec, by_mode: HedgeSettings) -> bool {
    lanes::contract(spec, by_mode).is_some()
}

/// A percentile delay (R24): the smallest time by which the share `q` of primaries has answered, or where errors don't
/// hedge at once has ended either way; at least 1 ms and at most half of the budget, which it is where the data don't
/// reach that far.
#[must_use]
pub fn percentile(curve: &Curve, q: f64, on_error: bool, budget: Duration) -> Duration {
    let found = if on_error { curve.quantile_ok(q) } else { curve.quantile_settled(q) };
    let most = budget / 2;
    found.unwrap_or(most).min(most).max(LEAST)
}

impl HedgeStudy {
    /// Looks at the rounds; `None` where no call may be hedged. With fewer than 5 calls of an endpoint (W6) there are
    /// no rows.
    #[must_use]
    pub fn of(question: &Question) -> Option<Self> {
        let lanes = Lanes::of(question)?;
        let load_budget = question.settings.hedge.load_budget;
        if lanes.is_empty() || lanes.grade() == Grade::None {
            return Some(Self { load_budget, real: lanes.real, n: lanes.events, ..Self::default() });
        }
        let budget = question.settings.effective_budget().0;
        let held = observed::held(question);
        let best = lanes.best(load_budget);
        Some(Self {
            rows: rows(&lanes, budget, held, best),
            load_budget,
            best,
            real: lanes.real,
            observed: observed::observed(question, held),
            n: lanes.events,
            assumes_independence: lanes.assumes_independence(),
        })
    }
}

fn rows(lanes: &Lanes, budget: Duration, held: HedgeDelay, best: Option<Duration>) -> Vec<HedgeRow> {
    let race = HedgeDelay::Fixed(Duration::ZERO);
    let mut delays: Vec<HedgeDelay> = PERCENTILES.map(HedgeDelay::Percentile).into();
    for delay in std::iter::once(held).chain(best.map(HedgeDelay::Fixed)) {
        if !delay.is_race() && !delays.contains(&delay) {
            delays.push(delay);
        }
    }
    let mut rows: Vec<HedgeRow> = delays.into_iter().map(|delay| lanes.row(Some(delay), budget)).collect();
    rows.sort_by(|a, b| a.extra_load.total_cmp(&b.extra_load).then(b.time.cmp(&a.time)));
    rows.insert(0, lanes.row(None, budget));
    rows.push(lanes.row(Some(race), budget));
    rows
}
