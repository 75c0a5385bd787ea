//! Which rounds have their stragglers watched, and how many at once (W7).
//!
//! A coin at the round's start decides: [`seed::coin`] with the words 5 and the round's number, so that the same seed
//! gives the same probe rounds. Only rounds that cut at the budget have stragglers.

use crate::domain::{RoundNo, Settings, seed};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Probe rounds at once, running or watched; with so many, the coin is lost.
pub const MOST: usize = 8;

/// The word of these coins; lower ones are those of the embedded upstreams.
const WORD: u64 = 5;

/// Counts for as long as it lives.
#[derive(Debug)]
pub struct Counted(Rc<Cell<usize>>);

impl Counted {
    fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Tosses the coins and keeps the counts, which clones share.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    seed: u64,
    rounds: Rc<Cell<usize>>,
    calls: Rc<Cell<usize>>,
}

impl Probes {
    /// Coins of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Whether a round that starts now is a probe round; `settings` are its own.
    #[must_use]
    pub fn toss(&self, round: RoundNo, settings: &Settings) -> Option<Probe> {
        let won = !settings.mode.ignores_budget()
            && self.rounds.get() < MOST
            && seed::coin(self.seed, &[WORD, round.0], settings.probe);
        let (until, calls) = (settings.watch(), &self.calls);
        won.then(|| Probe { until, calls: Rc::clone(calls), _round: Counted::new(&self.rounds) })
    }

    /// Calls that are watched at this moment.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.calls.get()
    }
}

/// A probe round, which counts as one until this is dropped.
#[derive(Debug)]
pub struct Probe {
    until: Duration,
    calls: Rc<Cell<usize>>,
    _round: Counted,
}

impl Probe {
    /// Until when its stragglers are watched, from the round's start.
    #[must_use]
    pub const fn until(&self) -> Duration {
        self.until
    }

    /// Counts a call as watched.
    pub(super) fn call(&self) -> Counted {
        Counted::new(&self.calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;

    #[test]
    fn w7_a_coin_decides_from_seed_and_number_and_at_most_8_are_at_once() {
        let settings = |mode, probe| Settings { mode, probe, ..Settings::default() };
        let won = |seed, probe| {
            let settings = settings(Mode::Deadline, probe);
            // Each is over when the next one starts.
            (1..=1000)
                .filter(|&no| Probes::new(seed).toss(RoundNo(no), &settings).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!((won(3, 0.0).len(), won(3, 1.0).len()), (0, 1000));
        assert_eq!(won(3, 0.05), won(3, 0.05));
        assert_ne!(won(3, 0.05), won(4, 0.05));
        assert!(won(3, 0.05).iter().all(|no| won(3, 0.5).contains(no)), "more of them keeps the old ones");

        for (mode, cuts) in
            [(Mode::Quorum, true), (Mode::Hedge, true), (Mode::WaitAll, false), (Mode::FailFast, false)]
        {
            assert_eq!(Probes::new(0).toss(RoundNo(1), &settings(mode, 1.0)).is_some(), cuts, "{mode}");
        }

        let probes = Probes::new(0);
        let toss = |no| probes.toss(RoundNo(no), &settings(Mode::Deadline, 1.0));
        let mut at_once: Vec<_> = (1..=8).map(toss).collect();
        assert!(at_once.iter().all(Option::is_some) && toss(9).is_none());
        at_once.pop();
        assert!(toss(10).is_some());
    }
}
