//! The worst rounds of everything read: a few, kept while the others pass by.

use crate::domain::Round;
use std::collections::BTreeSet;
use std::time::Duration;

/// Rounds that are kept.
pub(super) const KEPT: usize = 5;

/// A round and the file that it is from.
#[derive(Debug, Clone)]
pub(super) struct Bad {
    /// Which of the files, from 0.
    pub(super) file: usize,
    /// The round.
    pub(super) round: Box<Round>,
}

/// How bad a round is: failed before missing calls before time; of equals the earlier one is kept.
type Rank = (bool, usize, Duration, std::cmp::Reverse<u64>);

/// Keeps the worst.
#[derive(Debug, Default)]
pub(super) struct Worst {
    ranks: BTreeSet<(Rank, usize)>,
    /// By place; a rank names its place.
    rounds: Vec<Bad>,
    seen: u64,
}

impl Worst {
    /// Looks at a round that counts.
    pub(super) fn push(&mut self, file: usize, round: Box<Round>) {
        self.seen += 1;
        let rank = (!round.ok, round.missing(), round.took, std::cmp::Reverse(self.seen));
        let place = match self.ranks.first() {
            _ if self.rounds.len() < KEPT => self.rounds.len(),
            Some(&least) if least.0 < rank => {
                self.ranks.remove(&least);
                least.1
            }
            _ => return,
        };
        self.ranks.insert((rank, place));
        let bad = Bad { file, round };
        match self.rounds.get_mut(place) {
            Some(slot) => *slot = bad,
            None => self.rounds.push(bad),
        }
    }

    /// The worst first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Bad> {
        self.ranks.iter().rev().filter_map(|&(_, place)| self.rounds.get(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use crate::stats::fixture as fx;
    use std::sync::Arc;

    #[test]
    fn the_worst_are_kept_in_order_whatever_came_first() {
        let settings = Arc::new(fx::settings(Mode::Deadline));
        let mut dice = fx::Dice::new(7);
        let mut rounds: Vec<Round> =
            (1..=200).map(|no| fx::round(no, fx::at(no), &settings, &fx::page_fates(&mut dice))).collect();
        rounds[120].ok = false;
        let mut worst = Worst::default();
        for round in &rounds {
            worst.push(0, Box::new(round.clone()));
        }
        let kept: Vec<u64> = worst.iter().map(|bad| bad.round.no.0).collect();
        // Stable: of equals the earlier one stays before.
        rounds.sort_by_key(|r| std::cmp::Reverse((!r.ok, r.missing(), r.took)));
        let sorted: Vec<u64> = rounds.iter().take(KEPT).map(|r| r.no.0).collect();
        assert_eq!(kept, sorted);
        assert_eq!(kept[0], 121, "a failed round is worse than any other");
        assert_eq!(Worst::default().iter().count(), 0);
    }
}
