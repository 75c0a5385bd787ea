//! The table of missing calls by endpoint and reason.

use super::tally::{Tally, Window};
use super::{PerEndpoint, Stats};
use crate::domain::{EndpointId, Reason};

/// How often a reason occurred at an endpoint, and with which status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ReasonTally {
    pub(super) count: Tally,
    /// Status and second of the last one.
    last: Option<(u16, u64)>,
    /// The last second in which the status was another than the last one's.
    other: Option<u64>,
}

impl ReasonTally {
    pub(super) fn add(&mut self, second: u64, status: Option<u16>) {
        self.count.add(second);
        if let Some(status) = status {
            if let Some((before, at)) = self.last
                && before != status
            {
                self.other = Some(at);
            }
            self.last = Some((status, second));
        }
    }

    /// The status that every one in the window had, where there was only one.
    pub(super) fn status(&self, head: u64, window: Window) -> Option<u16> {
        let from = window.first(head).unwrap_or(0);
        let mixed = self.other.is_some_and(|second| second >= from);
        self.last.filter(|_| !mixed).map(|(status, _)| status)
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingRow {
    /// Whose calls.
    pub endpoint: EndpointId,
    /// Why.
    pub reason: Reason,
    /// The status, where all of them had the same.
    pub status: Option<u16>,
    /// How many.
    pub count: u64,
    /// All calls of the endpoint in the same window.
    pub calls: u64,
}

impl MissingRow {
    /// The reason's word: `http_503`, or `http_status` where statuses were mixed.
    #[must_use]
    pub fn label(&self) -> String {
        self.reason.label(self.status)
    }
}

/// A slice of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bucket {
    /// Calls with the reason.
    pub count: u64,
    /// All calls of the endpoint.
    pub calls: u64,
}

impl Stats {
    /// Endpoints and reasons that occurred in the window: the most frequent first, then in profile order.
    #[must_use]
    pub fn missing(&self, window: Window) -> Vec<MissingRow> {
        let head = self.head();
        let mut rows = Vec::new();
        for (index, endpoint) in self.endpoints.iter().enumerate().filter(|(_, e)| !e.missing.is_empty()) {
            let calls = endpoint.calls(head, window);
            rows.extend(endpoint.missing.iter().filter_map(|(&reason, tally)| {
                let count = tally.count.sum(head, window);
                let status = tally.status(head, window);
                (count > 0).then_some(MissingRow {
                    endpoint: EndpointId(index),
                    reason,
                    status,
                    count,
                    calls,
                })
            }));
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// The window cut into `buckets` slices, the oldest first. Without a limit: the last five minutes.
    #[must_use]
    pub fn spark(&self, endpoint: EndpointId, reason: Reason, window: Window, buckets: usize) -> Vec<Bucket> {
        let Some(endpoint) = self.endpoints.get(endpoint.index()) else { return Vec::new() };
        let length = window.seconds().or(Window::FiveMinutes.seconds()).unwrap_or_default();
        let buckets = (buckets as u64).min(length);
        let end = self.head() + 1;
        (0..buckets)
            .map(|i| {
                // Seconds before the session's start would be negative: such a slice is empty.
                let edge = |i: u64| (end + i * length / buckets).checked_sub(length);
                match edge(i + 1) {
                    Some(to) if to > 0 => slice(endpoint, reason, edge(i).unwrap_or(0), to - 1),
                    _ => Bucket::default(),
                }
            })
            .collect()
    }
}

fn slice(endpoint: &PerEndpoint, reason: Reason, from: u64, to: u64) -> Bucket {
    let all = |tally: &Tally| tally.between(from, to);
    let missing: u64 = endpoint.missing.values().map(|m| all(&m.count)).sum();
    Bucket {
        count: endpoint.missing.get(&reason).map_or(0, |m| all(&m.count)),
        calls: all(&endpoint.ok) + all(&endpoint.not_needed) + missing,
    }
}
