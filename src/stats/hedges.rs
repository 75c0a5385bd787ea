//! Hedges by endpoint and window, and what they cost together (R28, R31).

use super::Stats;
use super::tally::{Tally, Window};
use crate::domain::{Call, Connected, EndpointId, Suppression};
use std::time::Duration;

/// Hedges of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct HedgeTally {
    sent: Tally,
    won: Tally,
    suppressed: [Tally; Suppression::ALL.len()],
    /// Not a count: it outlives a reset.
    pub(super) connected: Connected,
}

/// What the hedges of all endpoints cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CostTally {
    primaries: Tally,
    sent: Tally,
    /// In microseconds.
    wasted: Tally,
    reconnects: Tally,
}

impl HedgeTally {
    pub(super) fn fold(&mut self, call: &Call, second: u64) {
        self.sent.add_many(second, call.hedges.sent.into());
        self.won.add_many(second, call.hedges.won.into());
        for (cause, count) in call.hedges.suppressed.iter() {
            self.suppressed[cause as usize].add_many(second, count.into());
        }
    }

    fn row(&self, endpoint: EndpointId, head: u64, window: Window) -> HedgeRow {
        let sum = |tally: &Tally| tally.sum(head, window);
        HedgeRow {
            endpoint,
            sent: sum(&self.sent),
            won: sum(&self.won),
            suppressed: self.suppressed.each_ref().map(sum),
            cut: 0,
            error: 0,
        }
    }
}

impl CostTally {
    pub(super) fn fold(&mut self, call: &Call, connected: &mut Connected, second: u64) {
        self.primaries.add_many(second, call.primaries());
        self.sent.add_many(second, call.hedges.sent.into());
        self.reconnects.add_many(second, connected.reconnects(call));
        self.wasted.add_many(second, u64::try_from(call.wasted().as_micros()).unwrap_or(u64::MAX));
    }
}

/// Hedges of an endpoint in a window, and the calls that are missing all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HedgeRow {
    /// Whose.
    pub endpoint: EndpointId,
    /// Hedges that went on the wire.
    pub sent: u64,
    /// Those that settled their call.
    pub won: u64,
    /// Due and not sent, by cause in the order of [`Suppression::ALL`].
    suppressed: [u64; Suppression::ALL.len()],
    /// Calls cut at a time limit.
    pub cut: u64,
    /// Calls missing for any other reason.
    pub error: u64,
}

impl HedgeRow {
    /// Hedges that were sent for nothing: `sent - won` (R31).
    #[must_use]
    pub fn wasted(&self) -> u64 {
        self.sent.saturating_sub(self.won)
    }

    /// Due and not sent.
    #[must_use]
    pub fn suppressed(&self) -> u64 {
        self.suppressed.iter().fold(0, |sum, &n| sum.saturating_add(n))
    }

    /// Why most of the suppressed hedges were not sent, and how many for that cause.
    #[must_use]
    pub fn main_cause(&self) -> Option<(Suppression, u64)> {
        let causes = Suppression::ALL.iter().copied().zip(self.suppressed);
        // Of equals the first in the order of the set.
        causes.filter(|&(_, n)| n > 0).rev().max_by_key(|&(_, n)| n)
    }

    /// Calls that are missing.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.cut.saturating_add(self.error)
    }

    /// Both together; the endpoint stays this one's.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        let pairs = [
            (&mut self.sent, other.sent),
            (&mut self.won, other.won),
            (&mut self.cut, other.cut),
            (&mut self.error, other.error),
        ];
        for (sum, n) in pairs.into_iter().chain(self.suppressed.iter_mut().zip(other.suppressed)) {
            *sum = sum.saturating_add(n);
        }
        self
    }
}

/// What the hedges of a window cost (R31). Extra load is `sent / primaries`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HedgeCost {
    /// Primary attempts that were sent.
    pub primaries: u64,
    /// Hedges that were sent.
    pub sent: u64,
    /// Time spent for nothing, as [`Call::wasted`] counts it.
    pub wasted: Duration,
    /// Connections dialled again, as [`Connected::reconnects`] counts them.
    pub reconnects: u64,
}

impl HedgeCost {
    /// Hedges per primary, 0 to [`crate::domain::HedgeSettings::MAX`]; `None` without primaries.
    #[must_use]
    pub fn extra_load(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of attempts, far below 2^52")]
        let share = self.sent as f64 / self.primaries as f64;
        (self.primaries > 0).then_some(share)
    }
}

impl Stats {
    /// Every endpoint's hedges in a window, in profile order.
    #[must_use]
    pub fn hedges(&self, window: Window) -> Vec<HedgeRow> {
        let head = self.head();
        let rows = self.endpoints.iter().enumerate().map(|(index, endpoint)| {
            let mut row = endpoint.hedges.row(EndpointId(index), head, window);
            for (reason, tally) in &endpoint.missing {
                let part = if reason.is_cut() { &mut row.cut } else { &mut row.error };
                *part += tally.count.sum(head, window);
            }
            row
        });
        rows.collect()
    }

    /// What hedges cost in a window.
    #[must_use]
    pub fn hedge_cost(&self, window: Window) -> HedgeCost {
        let sum = |tally: &Tally| tally.sum(self.head(), window);
        HedgeCost {
            primaries: sum(&self.cost.primaries),
            sent: sum(&self.cost.sent),
            wasted: Duration::from_micros(sum(&self.cost.wasted)),
            reconnects: sum(&self.cost.reconnects),
        }
    }
}
