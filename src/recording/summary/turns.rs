//! Two variants that rounds had in turn, side by side (W9): exact over all rounds, in bounded memory.

use super::times::Times;
use crate::domain::{Ab, Arm, Round};
use crate::recording::units::Millis;
use crate::whatif::arms::{ArmFold, ArmSeen, Arms};
use crate::whatif::shares::Difference;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Two variants. Where others took their place in the course of a session, these are the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AbSummary {
    /// What varies: `mode`, `budget`, `quorum` or `hedge`.
    pub vary: String,
    /// What odd rounds had.
    pub a: ArmSummary,
    /// What even rounds had.
    pub b: ArmSummary,
    /// The second less the first.
    pub difference: Differences,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArmSummary {
    /// What it is: `quorum`, `150ms`, `3`, `p95`.
    pub value: String,
    /// Rounds that had it.
    pub rounds: u64,
    /// Mean of their answered shares, 0 to 1.
    pub completeness: f64,
    /// Its 95 % interval.
    pub completeness_interval: [f64; 2],
    /// Share of them that were partial.
    pub partial: f64,
    /// Its 95 % interval.
    pub partial_interval: [f64; 2],
    /// Median of the rounds' `took_ms`.
    pub p50_ms: Millis,
    /// Its 99th percentile.
    pub p99_ms: Millis,
}

/// By how much two variants differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Differences {
    /// Of completeness.
    pub completeness: DifferenceLine,
    /// Of the share of partial rounds.
    pub partial: DifferenceLine,
}

/// A difference of two shares, -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceLine {
    /// How much.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// Whether that does not contain 0.
    pub clear: bool,
}

impl From<Difference> for DifferenceLine {
    fn from(difference: Difference) -> Self {
        let clear = difference.is_clear();
        Self { value: difference.value, interval: difference.interval.into(), clear }
    }
}

impl From<ArmSeen> for ArmSummary {
    fn from(arm: ArmSeen) -> Self {
        Self {
            value: arm.variant.value(),
            rounds: arm.rounds,
            completeness: arm.completeness,
            completeness_interval: arm.interval.into(),
            partial: arm.partial,
            partial_interval: arm.partial_interval.into(),
            p50_ms: arm.p50.into(),
            p99_ms: arm.p99.into(),
        }
    }
}

/// Folds rounds that took turns.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    ab: Ab,
    /// In the order of [`Arm::ALL`].
    folds: [(ArmFold, Times<1>); 2],
}

impl Turns {
    /// Takes in a round that counts, where it had a turn: of the variants before, or of others, which begin anew.
    pub(super) fn push(turns: &mut Option<Self>, round: &Round, took: u32) {
        let Some((ab, arm)) = round.settings.ab.zip(round.arm) else { return };
        let known = turns.take().filter(|turns| turns.ab == ab);
        let known = turns.insert(known.unwrap_or_else(|| Self { ab, folds: Default::default() }));
        let [a, b] = &mut known.folds;
        let (fold, times) = if arm == Arm::A { a } else { b };
        fold.push(round.answered(), round.calls.len(), round.partial());
        times.push(0, took);
    }

    /// Both variants; `None` while one has no rounds.
    pub(super) fn arms(&self) -> Option<Arms> {
        let at = |times: &Times<1>, q| Duration::from_micros(times.nearest_rank(q).map_or(0, u64::from));
        let times = self.folds.each_ref().map(|(_, times)| [at(times, 0.5), at(times, 0.99)]);
        let [a, b] = self.folds.each_ref().map(|(fold, _)| fold);
        Arms::between(&self.ab, [a, b], times)
    }

    /// The same as a part of the last line.
    pub(super) fn summary(&self) -> Option<AbSummary> {
        let Arms { a, b, completeness, partial } = self.arms()?;
        Some(AbSummary {
            vary: self.ab.a.key().to_owned(),
            a: a.into(),
            b: b.into(),
            difference: Differences { completeness: completeness.into(), partial: partial.into() },
        })
    }

    /// By what share of itself a time may read too long; `None` while times are exact.
    pub(super) fn rounded_by(&self) -> Option<f64> {
        self.folds.iter().filter_map(|(_, times)| times.rounded_by()).reduce(f64::max)
    }
}
