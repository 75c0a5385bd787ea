//! An estimated curve as a law of an attempt's time, in nanoseconds: whole numbers, which are exact up to 100 days.

use super::model::Law;
use crate::whatif::survival::{Curve, Row};
use std::time::Duration;

/// Errors at more times than these are put together.
const ERRORS: usize = 32;

/// A curve of steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steps {
    times: Vec<f64>,
    /// By the last time at or before: answered and failed, after nothing of either.
    levels: Vec<(f64, f64)>,
    errors: Vec<(f64, f64)>,
    /// Until when something was seen; endless where nothing is left to see.
    known: f64,
}

impl Steps {
    /// The estimate of a curve. Beyond what was seen nothing more answers.
    ///
    /// Of failures at more than 32 times, neighbours are put together, each group at its latest time: a hedge that is
    /// sent for an error comes a little late in the model, never early.
    #[must_use]
    pub fn of(curve: &Curve) -> Self {
        let rows = curve.rows();
        let mut levels = vec![(0.0, 0.0)];
        levels.extend(rows.iter().map(|row| (row.ok, row.error)));
        let over = rows.last().is_some_and(|row| row.pending <= 1e-12);
        Self {
            times: rows.iter().map(|row| nanos(row.time)).collect(),
            levels,
            errors: errors(rows),
            known: if over { f64::INFINITY } else { curve.horizon().map_or(0.0, nanos) },
        }
    }

    /// Whether the share at `t` was seen.
    #[must_use]
    pub fn is_known(&self, t: f64) -> bool {
        t <= self.known
    }

    /// The last time at which anything ended, 0 where nothing did.
    #[must_use]
    pub fn last(&self) -> f64 {
        self.times.last().copied().unwrap_or_default()
    }

    fn at(&self, t: f64) -> (f64, f64) {
        let rows = self.times.partition_point(|&time| time <= t);
        self.levels.get(rows).copied().unwrap_or_default()
    }
}

impl Law for Steps {
    fn ok(&self, t: f64) -> f64 {
        self.at(t).0
    }

    fn failed(&self, t: f64) -> f64 {
        self.at(t).1
    }

    fn errors(&self) -> &[(f64, f64)] {
        &self.errors
    }
}

fn errors(rows: &[Row]) -> Vec<(f64, f64)> {
    let before = std::iter::once(0.0).chain(rows.iter().map(|row| row.error));
    let each = rows.iter().zip(before).map(|(row, before)| (nanos(row.time), row.error - before));
    let each: Vec<(f64, f64)> = each.filter(|&(_, share)| share > 0.0).collect();
    let together = each.len().div_ceil(ERRORS).max(1);
    let group = |group: &[(f64, f64)]| {
        let &(at, _) = group.last()?;
        Some((at, group.iter().map(|&(_, share)| share).sum()))
    };
    each.chunks(together).filter_map(group).collect()
}

/// A time as the model has it.
#[must_use]
pub fn nanos(time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact up to 100 days, and whole up to any time")]
    let nanos = time.as_nanos() as f64;
    nanos
}

/// The same back, rounded to whole ones.
#[must_use]
pub fn time(nanos: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest number of its range"
    )]
    let whole = nanos.round() as u64;
    Duration::from_nanos(whole)
}
