//! Missing calls of endpoints: totals, and the table of endpoints by reason.

use super::collect::FilePart;
use crate::domain::Reason;
use crate::recording::EndpointSummary;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Endpoints by reason, in both ways the most first.
#[derive(Debug)]
pub(super) struct Missing<'a> {
    /// The reasons that occur, with their totals.
    pub(super) reasons: Vec<(Reason, u64)>,
    /// The endpoints of which calls are missing, with their totals.
    pub(super) rows: Vec<(&'a EndpointSummary, u64)>,
}

impl<'a> Missing<'a> {
    /// The table; `None` where nothing is missing.
    pub(super) fn of(endpoints: &'a [EndpointSummary]) -> Option<Self> {
        let mut totals: BTreeMap<Reason, u64> = BTreeMap::new();
        for &(reason, count) in endpoints.iter().flat_map(|e| &e.missing.0) {
            *totals.entry(reason).or_default() += count;
        }
        let mut reasons: Vec<(Reason, u64)> = totals.into_iter().collect();
        reasons.sort_by_key(|&(_, count)| Reverse(count));
        let mut rows: Vec<_> = endpoints.iter().map(|e| (e, total(e))).filter(|row| row.1 > 0).collect();
        rows.sort_by_key(|&(_, total)| Reverse(total));
        (!rows.is_empty()).then_some(Self { reasons, rows })
    }
}

/// An endpoint's missing calls.
pub(super) fn total(own: &EndpointSummary) -> u64 {
    own.missing.0.iter().map(|m| m.1).sum()
}

/// Those for one reason.
pub(super) fn count(own: &EndpointSummary, reason: Reason) -> u64 {
    own.missing.0.iter().find(|m| m.0 == reason).map_or(0, |m| m.1)
}

/// A number in the table.
pub(super) fn shown(count: u64) -> String {
    if count == 0 { "·".to_owned() } else { count.to_string() }
}

/// The endpoint of a file that answered least, where any call is missing.
pub(super) fn worst_endpoint(file: &FilePart) -> Option<&EndpointSummary> {
    let rows = file.summary.endpoints.iter().rev().filter(|e| total(e) > 0);
    rows.max_by_key(|e| total(e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Ordered;

    #[test]
    fn reasons_and_endpoints_stand_with_the_most_first() {
        let endpoint = |name: &str, missing: &[(Reason, u64)]| EndpointSummary {
            endpoint: name.to_owned(),
            missing: Ordered(missing.to_vec()),
            ..EndpointSummary::default()
        };
        let (cut, reset) = (Reason::Deadline, Reason::ConnReset);
        let all = [endpoint("a", &[(cut, 2)]), endpoint("b", &[]), endpoint("c", &[(reset, 5), (cut, 1)])];
        let table = Missing::of(&all).unwrap();
        assert_eq!(table.reasons, [(reset, 5), (cut, 3)]);
        let rows: Vec<_> = table.rows.iter().map(|(e, total)| (e.endpoint.as_str(), *total)).collect();
        assert_eq!(rows, [("c", 6), ("a", 2)]);
        assert_eq!((count(&all[2], cut), count(&all[0], reset), shown(0)), (1, 0, "·".to_owned()));
        assert!(Missing::of(&all[1..2]).is_none());
    }
}
