//! The latest rounds, one mark each.

use crate::domain::{Round, RoundNo};
use std::collections::VecDeque;
use std::time::Duration;

/// Rounds that are kept: more than any screen is wide.
const KEPT: usize = 512;

/// What is remembered of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub struct RoundMark {
    /// Its number.
    pub no: RoundNo,
    /// When it started, from the session's start.
    pub at: Duration,
    /// Whether it stands in statistics. One that does not says nothing of the upstreams, good or bad.
    pub counts: bool,
    /// Whether its contract was met: nothing missing, or the quorum reached, and no failure.
    pub kept: bool,
    /// Whether the result was partial (R40).
    pub partial: bool,
    /// Calls cut at a time limit.
    pub cut: usize,
    /// Calls missing for any other reason.
    pub error: usize,
    /// Whether it took longer than its budget without being cut there (R32).
    pub late: bool,
    /// Hedges that won.
    pub hedges_won: u32,
}

/// The latest rounds in order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History(VecDeque<RoundMark>);

impl History {
    pub(super) fn push(&mut self, round: &Round) {
        let missing =
            |cut| round.calls.iter().filter_map(|c| c.outcome.reason()).filter(|r| r.is_cut() == cut).count();
        let mark = RoundMark {
            no: round.no,
            at: round.at,
            counts: round.counts(),
            kept: round.ok && !round.partial(),
            partial: round.partial(),
            cut: missing(true),
            error: missing(false),
            late: round.settings.mode.ignores_budget() && round.took > round.budget,
            hedges_won: round.calls.iter().map(|c| c.hedges.won).sum(),
        };
        // Rounds that overlap may settle out of order.
        let place = self.0.iter().rev().take_while(|m| m.no > mark.no).count();
        self.0.insert(self.0.len() - place, mark);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// Every round that is kept, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &RoundMark> {
        self.0.iter()
    }

    /// How many are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no round has settled yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
