//! Who holds rounds up (W8): counts of whole rounds, no model.
//!
//! In a window of `R` rounds, for each endpoint:
//! - *cut*: rounds in which its call was cut at a time limit;
//! - *last in*: rounds in which nothing was cut and its call was the last of those that answered (of equals the
//!   one later in the profile, by R19's order). Where something was cut, that is what the round waited for;
//! - *complete without it*: `(C + A) / R`, where in `C` rounds nothing was missing and in `A` rounds nothing but
//!   its call. That is a recount of what was seen: calls that were cancelled because it failed stay missing.
//!   In rounds that end at their quorum it says nothing: calls that were not needed have not answered. What counts
//!   there is whether the quorum was met (R40).

use super::tally::{Tally, Window};
use super::{PerEndpoint, Stats};
use crate::domain::{EndpointId, Outcome, Round};

/// What an endpoint did to its rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BlameTally {
    last: Tally,
    cut: Tally,
    /// Rounds in which nothing else was missing.
    alone: Tally,
}

/// Folds a round; returns whether nothing was missing in it.
pub(super) fn fold(endpoints: &mut [PerEndpoint], round: &Round, second: u64) -> bool {
    let mut tally = |id: EndpointId, count: fn(&mut BlameTally) -> &mut Tally| {
        if let Some(endpoint) = endpoints.get_mut(id.index()) {
            count(&mut endpoint.blame).add(second);
        }
    };
    let (mut missing, mut cut, mut last) = (0_usize, false, None);
    let mut only = None;
    for call in &round.calls {
        match call.outcome {
            Outcome::Ok if last.is_none_or(|(_, end)| end <= call.end) => {
                last = Some((call.endpoint, call.end));
            }
            Outcome::Ok | Outcome::NotNeeded => {}
            Outcome::Missing(reason) => {
                missing += 1;
                only = Some(call.endpoint);
                if reason.is_cut() {
                    cut = true;
                    tally(call.endpoint, |b| &mut b.cut);
                }
            }
        }
    }
    if let Some((id, _)) = last.filter(|_| !cut) {
        tally(id, |b| &mut b.last);
    }
    if let Some(id) = only.filter(|_| missing == 1) {
        tally(id, |b| &mut b.alone);
    }
    missing == 0
}

/// A row of the table. See the module for the formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlameRow {
    /// Whose.
    pub endpoint: EndpointId,
    /// Rounds in which it was the last to answer and nothing was cut.
    pub last: u64,
    /// Rounds in which it was cut.
    pub cut: u64,
    /// Rounds in which nothing was missing but its call.
    pub alone: u64,
}

/// Who held the rounds of a window up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blame {
    /// Rounds.
    pub rounds: u64,
    /// Those in which nothing was missing.
    pub complete: u64,
    /// Those that waited for a quorum.
    pub quorum: u64,
    /// Those of them that met it.
    pub met: u64,
    /// Every endpoint: those first without which most rounds would have been complete, where none waited for a
    /// quorum, then those that were last
    /// or cut in most rounds, then in profile order.
    pub rows: Vec<BlameRow>,
}

impl Stats {
    /// Who held the rounds of a window up.
    #[must_use]
    pub fn blame(&self, window: Window) -> Blame {
        let head = self.head();
        let rows = self.endpoints.iter().enumerate().map(|(index, endpoint)| BlameRow {
            endpoint: EndpointId(index),
            last: endpoint.blame.last.sum(head, window),
            cut: endpoint.blame.cut.sum(head, window),
            alone: endpoint.blame.alone.sum(head, window),
        });
        let mut rows: Vec<BlameRow> = rows.collect();
        let quorum = self.quorum.sum(head, window);
        let alone = |row: &BlameRow| if quorum == 0 { row.alone } else { 0 };
        rows.sort_by_key(|row| std::cmp::Reverse((alone(row), row.last + row.cut)));
        Blame {
            rounds: self.rounds.sum(head, window),
            complete: self.complete.sum(head, window),
            quorum,
            met: self.met.sum(head, window),
            rows,
        }
    }
}
