//! Two variants that rounds had in turn, side by side (W9). Both met the same weather, so their rounds are compared as
//! two samples; the round is the unit. Pure.

use super::outlook::Question;
use super::seen::Seen;
use super::shares::{Difference, Mean, Share};
use crate::domain::{Ab, Arm, Outcome, Variant};
use std::time::Duration;

/// Both variants.
#[derive(Debug, Clone, PartialEq)]
pub struct Arms {
    /// The first, of odd rounds.
    pub a: ArmSeen,
    /// The second, of even rounds.
    pub b: ArmSeen,
    /// Completeness of the second less that of the first.
    pub completeness: Difference,
    /// Share of partial rounds of the second less that of the first.
    pub partial: Difference,
}

/// One variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmSeen {
    /// What it is.
    pub variant: Variant,
    /// Rounds that had it.
    pub rounds: u64,
    /// Mean of their answered shares, 0 to 1.
    pub completeness: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Share of them that were partial.
    pub partial: f64,
    /// Its 95 % interval.
    pub partial_interval: (f64, f64),
    /// Median time of a round, from its start to publishing.
    pub p50: Duration,
    /// The 99th percentile of that time, by nearest rank.
    pub p99: Duration,
}

/// Folds the rounds of one variant in a few bytes. Their times are kept by whoever folds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArmFold {
    mean: Mean,
    partial: u64,
}

impl ArmFold {
    /// Adds a round of which `answered` of `calls` calls answered.
    pub fn push(&mut self, answered: usize, calls: usize, partial: bool) {
        self.mean.push(answered, calls);
        self.partial += u64::from(partial);
    }

    fn shares(&self) -> Option<(Share, Share)> {
        Some((self.mean.share()?, Share::of(self.partial, self.mean.rounds())?.by_rounds()))
    }

    fn seen(
        &self,
        variant: Variant,
        (completeness, partial): (Share, Share),
        times: [Duration; 2],
    ) -> ArmSeen {
        let [p50, p99] = times;
        ArmSeen {
            variant,
            rounds: self.mean.rounds(),
            completeness: completeness.value,
            interval: completeness.interval(),
            partial: partial.value,
            partial_interval: partial.interval(),
            p50,
            p99,
        }
    }
}

impl Arms {
    /// The variants that take turns now or, where none do, that did last. `None` before both had a round.
    #[must_use]
    pub fn of(question: &Question) -> Option<Self> {
        let ran = |round: &Seen| round.arm.and(round.settings.ab);
        let ab = question.settings.ab.or_else(|| question.rounds.iter().rev().find_map(|r| ran(r)))?;
        let [mut a, mut b] = [(ArmFold::default(), Vec::new()), (ArmFold::default(), Vec::new())];
        for round in question.rounds.iter().filter(|r| ran(r) == Some(ab)) {
            let (fold, times) = if round.arm == Some(Arm::A) { &mut a } else { &mut b };
            let answered = round.calls.iter().filter(|call| call.outcome == Outcome::Ok).count();
            fold.push(answered, round.calls.len(), round.partial);
            times.push(round.took);
        }
        Self::between(&ab, [&a.0, &b.0], [quantiles(a.1), quantiles(b.1)])
    }

    /// Both side by side; `times` are the 50th and the 99th percentile of each. `None` while one has no rounds.
    #[must_use]
    pub fn between(ab: &Ab, folds: [&ArmFold; 2], times: [[Duration; 2]; 2]) -> Option<Self> {
        let [a, b] = [folds[0].shares()?, folds[1].shares()?];
        Some(Self {
            a: folds[0].seen(ab.a, a, times[0]),
            b: folds[1].seen(ab.b, b, times[1]),
            completeness: Difference::of(a.0, b.0),
            partial: Difference::of(a.1, b.1),
        })
    }
}

/// The 50th and the 99th percentile by nearest rank: the smallest time that at least so many hundredths kept to.
fn quantiles(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort_unstable();
    let rank = |percent: usize| times.len().saturating_mul(percent).div_ceil(100).saturating_sub(1);
    [50, 99].map(|percent| times.get(rank(percent)).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w9_variants_are_compared_by_whole_rounds() {
        let [a, b] = [150, 250].map(|ms| Variant::Budget(Duration::from_millis(ms)));
        let (mut folds, ab) = ([ArmFold::default(); 2], Ab { a, b });
        let times = [[150, 151], [180, 250]].map(|times| times.map(Duration::from_millis));
        assert_eq!(Arms::between(&ab, [&folds[0], &folds[1]], times), None);
        for i in 0..40 {
            folds[0].push(if i % 2 == 0 { 6 } else { 8 }, 8, i % 2 == 0);
        }
        assert_eq!(Arms::between(&ab, [&folds[0], &folds[1]], times), None, "one alone is no comparison");
        (0..40).for_each(|_| folds[1].push(8, 8, false));
        let both = Arms::between(&ab, [&folds[0], &folds[1]], times).unwrap();
        assert_eq!((both.a.variant, both.b.variant, both.a.rounds, both.b.rounds), (a, b, 40, 40));
        assert_eq!((both.a.completeness, both.b.completeness), (0.875, 1.0));
        assert_eq!((both.a.partial, both.b.partial, both.b.p99), (0.5, 0.0, times[1][1]));
        assert!(both.a.interval.0 < 0.875 && 0.875 < both.a.interval.1 && both.b.interval.0 < 1.0);
        assert_eq!((both.completeness.value, both.partial.value), (0.125, -0.5));
        assert!(both.completeness.is_clear() && both.partial.is_clear());
    }
}
