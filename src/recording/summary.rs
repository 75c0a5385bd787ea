//! The last line: everything together. Where nothing was seen there is no number.

mod fold;
mod times;
mod turns;
mod watch;

pub use fold::SummaryFold;
pub use turns::{AbSummary, ArmSummary, DifferenceLine, Differences};
pub use watch::LateTotal;

use super::units::{Millis, Ordered};
use crate::domain::{Reason, Suppression};
use crate::whatif::quantile::Quantile;
use serde::{Deserialize, Serialize};

/// Everything together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SummaryLine {
    /// Completed rounds.
    pub rounds: u64,
    /// Those that failed (R34).
    pub failed: u64,
    /// Planned starts that did not happen (R38, R39).
    pub skipped: u64,
    /// Rounds whose own timers woke them too late to judge what they cut; absent where there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub overruns: u64,
    /// Share of the rounds that were partial (R40); null without rounds.
    pub partial: Option<f64>,
    /// Mean completeness of the rounds; null without rounds.
    pub completeness: Option<f64>,
    /// How long the rounds took.
    pub round: RoundTimes,
    /// One per endpoint, in profile order.
    pub endpoints: Vec<EndpointSummary>,
    /// Hedges of all endpoints.
    pub hedges: HedgesTotal,
    /// Rounds whose stragglers were watched past their end (W7); absent where there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub probes: u64,
    /// What became of these stragglers; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<LateTotal>,
    /// Two variants side by side, where rounds took turns (W9).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ab: Option<Box<AbSummary>>,
    /// What had to hold.
    pub gates: Vec<GateLine>,
    /// By what share of itself a time may read too long, as there were too many to keep each: 0.002 is 0.2 %. Absent
    /// where times are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded_by: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Nearest-rank quantiles of the rounds' `took_ms`, null without rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RoundTimes {
    /// Rounds that they rest on.
    pub n: u64,
    /// Median.
    pub p50_ms: Option<Millis>,
    /// 90th percentile.
    pub p90_ms: Option<Millis>,
    /// 99th percentile.
    pub p99_ms: Option<Millis>,
}

/// An endpoint's share. `n = ok + sum of missing + not_needed`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EndpointSummary {
    /// Its name.
    pub endpoint: String,
    /// Its calls.
    pub n: u64,
    /// Answered.
    pub ok: u64,
    /// Not answered, by reason.
    pub missing: Ordered<Reason, u64>,
    /// The status of those missing for [`Reason::HttpStatus`], where all had the same. For people only: it is no
    /// part of the line, where the reason keeps its stable spelling.
    #[serde(skip)]
    pub status: Option<u16>,
    /// Cancelled because enough had answered.
    pub not_needed: u64,
    /// Calls that its quantiles rest on: those of which something was sent.
    pub observed: u64,
    /// Median time to an answer by the survival curve; null where it was not reached, or with fewer than 5 calls
    /// at risk there (W6).
    pub p50_ms: Option<Millis>,
    /// 95th percentile, likewise.
    pub p95_ms: Option<Millis>,
    /// 99th percentile, likewise.
    pub p99_ms: Option<Millis>,
    /// The median and the 95th percentile once more, with how far they may be trusted; for people only, as the status.
    #[serde(skip)]
    pub trusted: [Quantile; 2],
}

/// Hedges of all calls, and what they cost (R31). `sent = won + wasted`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HedgesTotal {
    /// Primary attempts that were sent.
    pub primaries: u64,
    /// Hedges that were sent.
    pub sent: u64,
    /// Those that settled their call.
    pub won: u64,
    /// The others.
    pub wasted: u64,
    /// `sent / primaries`; null without primaries.
    pub extra_load: Option<f64>,
    /// Time spent for nothing: by hedges that did not win and by primaries that lost to one.
    pub wasted_ms: Millis,
    /// Connections dialled again, as `Connected::reconnects` counts them.
    pub reconnects: u64,
    /// Due and not sent, by cause.
    pub suppressed: Ordered<Suppression, u64>,
}

/// A condition on the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateLine {
    /// As it was written.
    pub gate: String,
    /// Whether it held; null where there was no data.
    pub passed: Option<bool>,
    /// What was compared; null where there was no data.
    pub value: Option<f64>,
}
