//! Rounds over time, in columns that grow wider as a recording grows longer.

use crate::domain::{Outcome, Round};
use std::time::Duration;

/// Most columns that are kept.
pub(super) const MOST: usize = 240;

/// Width of a column at first.
const FIRST: Duration = Duration::from_millis(100);

/// The rounds that started within a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Column {
    /// Rounds.
    pub(super) rounds: u64,
    /// Those that kept their contract: neither partial nor failed.
    pub(super) kept: u64,
    /// Their calls.
    pub(super) calls: u64,
    /// Calls cut at a time limit.
    pub(super) cut: u64,
    /// Calls missing for any other reason.
    pub(super) error: u64,
}

impl Column {
    const fn add(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.kept += other.kept;
        self.calls += other.calls;
        self.cut += other.cut;
        self.error += other.error;
    }
}

/// The columns of a recording.
#[derive(Debug, Clone)]
pub(super) struct History {
    /// Time that a column stands for.
    pub(super) width: Duration,
    /// The earliest first; from the session's start.
    pub(super) columns: Vec<Column>,
}

impl Default for History {
    fn default() -> Self {
        Self { width: FIRST, columns: Vec::new() }
    }
}

impl History {
    /// Adds a round that counts.
    pub(super) fn push(&mut self, round: &Round) {
        while self.place(round.at) >= MOST {
            self.halve();
        }
        let place = self.place(round.at);
        if place >= self.columns.len() {
            self.columns.resize(place + 1, Column::default());
        }
        let mut one = Column {
            rounds: 1,
            kept: u64::from(round.ok && !round.partial()),
            calls: round.calls.len() as u64,
            ..Column::default()
        };
        for call in &round.calls {
            match call.outcome {
                Outcome::Missing(reason) if reason.is_cut() => one.cut += 1,
                Outcome::Missing(_) => one.error += 1,
                Outcome::Ok | Outcome::NotNeeded => {}
            }
        }
        if let Some(column) = self.columns.get_mut(place) {
            column.add(&one);
        }
    }

    /// The same with at most so many columns, and no more than there are rounds.
    pub(super) fn within(&self, most: usize) -> Self {
        let mut fewer = self.clone();
        let rounds: u64 = self.columns.iter().map(|c| c.rounds).sum();
        let most = most.min(usize::try_from(rounds).unwrap_or(usize::MAX)).max(1);
        while fewer.columns.len() > most {
            fewer.halve();
        }
        fewer
    }

    /// The time that all columns stand for.
    pub(super) fn length(&self) -> Duration {
        self.width.saturating_mul(u32::try_from(self.columns.len()).unwrap_or(u32::MAX))
    }

    fn place(&self, at: Duration) -> usize {
        usize::try_from(at.as_nanos() / self.width.as_nanos().max(1)).unwrap_or(usize::MAX)
    }

    fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let pairs = self.columns.chunks(2).map(|pair| {
            let mut both = Column::default();
            for column in pair {
                both.add(column);
            }
            both
        });
        self.columns = pairs.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use crate::stats::fixture as fx;
    use std::sync::Arc;

    #[test]
    fn however_long_it_is_every_round_stands_in_its_column() {
        let settings = Arc::new(fx::settings(Mode::Deadline));
        let mut dice = fx::Dice::new(3);
        let mut history = History::default();
        let mut ats: Vec<Duration> = (0..3000).map(|i| Duration::from_millis(i * 517)).collect();
        // Rounds that overlap come out of order; a clock that jumped makes a leap.
        ats.swap(10, 900);
        ats.push(Duration::from_secs(40_000_000));
        let mut missing = 0;
        for &at in &ats {
            let round = fx::round(1, at, &settings, &fx::page_fates(&mut dice));
            missing += round.missing() as u64;
            history.push(&round);
        }
        let sum = |of: fn(&Column) -> u64| history.columns.iter().map(of).sum::<u64>();
        assert!(history.columns.len() <= MOST && history.length() >= *ats.last().unwrap());
        assert_eq!((sum(|c| c.rounds), sum(|c| c.calls)), (ats.len() as u64, 8 * ats.len() as u64));
        assert_eq!(sum(|c| c.cut + c.error), missing);
        let fewer = history.within(7);
        assert!(fewer.columns.len() <= 7);
        assert_eq!(fewer.columns.iter().map(|c| c.rounds).sum::<u64>(), ats.len() as u64);
    }

    #[test]
    fn no_column_is_narrower_than_a_round_needs_and_none_are_none() {
        assert_eq!(History::default().within(10).columns.len(), 0);
        let settings = Arc::new(fx::settings(Mode::Deadline));
        let mut history = History::default();
        for no in 0..40 {
            let at = Duration::from_millis(500 * no);
            history.push(&fx::round(no, at, &settings, &fx::page_fates(&mut fx::Dice::new(1))));
        }
        assert!(history.within(120).columns.iter().all(|c| c.rounds > 0));
    }
}
