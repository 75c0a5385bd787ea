//! What one endpoint's calls came to, by window.

use super::tally::Window;
use super::{MissingRow, Stats};
use crate::domain::EndpointId;

/// An endpoint's calls of a window: `ok + not_needed + missing` are all of them, always (R41).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointTotals {
    /// Calls with an answer.
    pub ok: u64,
    /// Calls cancelled because enough had answered.
    pub not_needed: u64,
    /// Reasons that occurred, the most frequent first.
    pub missing: Vec<MissingRow>,
}

impl EndpointTotals {
    /// Calls that are missing, for whatever reason.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing.iter().map(|row| row.count).sum()
    }

    /// All calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.ok + self.not_needed + self.missing()
    }
}

impl Stats {
    /// An endpoint's calls of a window; nothing for an endpoint that the profile does not have.
    #[must_use]
    pub fn endpoint_totals(&self, endpoint: EndpointId, window: Window) -> EndpointTotals {
        let Some(own) = self.endpoints.get(endpoint.index()) else { return EndpointTotals::default() };
        let head = self.head();
        let calls = own.calls(head, window);
        let rows = own.missing.iter().map(|(&reason, tally)| MissingRow {
            endpoint,
            reason,
            status: tally.status(head, window),
            count: tally.count.sum(head, window),
            calls,
        });
        let mut missing: Vec<MissingRow> = rows.filter(|row| row.count > 0).collect();
        missing.sort_by_key(|row| std::cmp::Reverse(row.count));
        EndpointTotals { ok: own.ok.sum(head, window), not_needed: own.not_needed.sum(head, window), missing }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture as fx;
    use super::*;
    use crate::domain::event::Vitals;
    use crate::domain::{Mode, Reason};
    use std::sync::Arc;

    #[test]
    fn r41_an_endpoints_windows_sum_to_its_calls_and_agree_with_the_table() {
        let mut stats = Stats::new(8);
        let mut dice = fx::Dice::new(3);
        for no in 1..=700 {
            let mode = if no % 3 == 0 { Mode::Quorum } else { Mode::Deadline };
            let settings = Arc::new(fx::settings(mode));
            let round = fx::round(no, fx::at(no), &settings, &fx::page_fates(&mut dice));
            stats.fold(&round, Vitals::default());
        }
        for window in Window::ALL {
            let rounds = stats.totals(window).rounds;
            let table = stats.missing(window);
            for id in (0..8).map(EndpointId) {
                let totals = stats.endpoint_totals(id, window);
                assert_eq!(totals.calls(), rounds, "{id:?} {window:?}");
                let own: Vec<MissingRow> = table.iter().filter(|row| row.endpoint == id).copied().collect();
                assert_eq!(totals.missing, own);
            }
            assert!(stats.endpoint_totals(EndpointId(5), window).not_needed > 0);
        }
        let geo = stats.endpoint_totals(EndpointId(6), Window::Start);
        assert!(geo.missing.iter().any(|r| r.reason == Reason::HttpStatus && r.status == Some(503)));
        assert_eq!(stats.endpoint_totals(EndpointId(8), Window::Start), EndpointTotals::default());
    }
}
