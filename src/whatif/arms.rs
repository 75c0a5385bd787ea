//! Two variants that rounds had in turn, side by side (W9).

use super::shares::Difference;
use crate::domain::Variant;
use std::time::Duration;

/// Both variants.
#[derive(Debug, Clone, PartialEq)]
pub struct Arms {
    /// The first, of odd rounds.
    pub a: ArmSeen,
    /// The second, of even rounds.
    pub b: ArmSeen,
    /// Completeness of the second less that of the first.
    pub completeness: Difference,
    /// Share of partial rounds of the second less that of the first.
    pub partial: Difference,
}

/// One variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmSeen {
    /// What it is.
    pub variant: Variant,
    /// Rounds that had it.
    pub rounds: u64,
    /// Mean of their answered shares, 0 to 1.
    pub completeness: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Share of them that were partial.
    pub partial: f64,
    /// Its 95 % interval.
    pub partial_interval: (f64, f64),
    /// Median time of a round, from its start to publishing.
    pub p50: Duration,
    /// The 99th percentile of that time, by nearest rank.
    pub p99: Duration,
}
