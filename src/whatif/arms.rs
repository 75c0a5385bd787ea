//! Two variants that rounds had in turn, side by side (W9). Both met the same weather, so their rounds are compared as
//! two samples; the round is the unit. Pure.

use super::outlook::Question;
use super::seen::Seen;
use super::shares::{Difference, Mean, Share};
use crate::domain::{Arm, Outcome, Variant};
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

impl Arms {
    /// The variants that take turns now or, where none do, that did last. `None` before both had a round.
    #[must_use]
    pub fn of(question: &Question) -> Option<Self> {
        let ran = |round: &Seen| round.arm.and(round.settings.ab);
        let ab = question.settings.ab.or_else(|| question.rounds.iter().rev().find_map(|r| ran(r)))?;
        let [mut a, mut b] = [Tally::default(), Tally::default()];
        for round in question.rounds.iter().filter(|r| ran(r) == Some(ab)) {
            match round.arm {
                Some(Arm::A) => a.push(round),
                Some(Arm::B) => b.push(round),
                None => {}
            }
        }
        let (a_shares, b_shares) = (a.shares()?, b.shares()?);
        Some(Self {
            a: a.seen(ab.a, a_shares),
            b: b.seen(ab.b, b_shares),
            completeness: Difference::of(a_shares.0, b_shares.0),
            partial: Difference::of(a_shares.1, b_shares.1),
        })
    }
}

/// The rounds of a variant.
#[derive(Default)]
struct Tally {
    answered: Mean,
    partial: u64,
    took: Vec<Duration>,
}

impl Tally {
    fn push(&mut self, round: &Seen) {
        let answered = round.calls.iter().filter(|call| call.outcome == Outcome::Ok).count();
        self.answered.push(answered, round.calls.len());
        self.partial += u64::from(round.partial);
        self.took.push(round.took);
    }

    /// Completeness, and the share of partial rounds; `None` without rounds.
    fn shares(&self) -> Option<(Share, Share)> {
        let partial = Share::of(self.partial, self.answered.rounds())?;
        Some((self.answered.share()?, partial.by_rounds()))
    }

    fn seen(mut self, variant: Variant, (completeness, partial): (Share, Share)) -> ArmSeen {
        self.took.sort_unstable();
        // Nearest rank: the smallest time that at least so many hundredths of the rounds kept to.
        let rank = |percent: usize| self.took.len().saturating_mul(percent).div_ceil(100).saturating_sub(1);
        let quantile = |percent| self.took.get(rank(percent)).copied().unwrap_or_default();
        ArmSeen {
            variant,
            rounds: self.answered.rounds(),
            completeness: completeness.value,
            interval: completeness.interval(),
            partial: partial.value,
            partial_interval: partial.interval(),
            p50: quantile(50),
            p99: quantile(99),
        }
    }
}
