//! Whether calls of one round are slow together: whole rounds are drawn again (Efron's bootstrap, 1979), and what they
//! show is held against what independent calls would give.
//!
//! The difference is looked at for every k, at the budget that holds and at the medians of the k that holds and of the
//! largest one (at a budget at which everything answers there is no difference to see). The 95 % intervals are
//! simultaneous, as wide as it takes to hold all of them (the largest deviation by its spread): independent calls
//! are called correlated in one study of twenty, and not for one k of twenty.
//!
//! What was cut before enters as the estimators have it, to first order ([`super::influence`]).

use super::facts::{Facts, Series};
use super::independent::{accumulate, at_least, convolve, distribution};
use super::influence::Influence;
use crate::whatif::outlook::Status;
use crate::whatif::shares::Share;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::time::Duration;

/// How often the rounds are drawn.
const DRAWS: usize = 200;

/// Any will do, as long as it stays: the same rounds give the same answer.
const SEED: u64 = 0xfa_5c_09_e5;

/// A smaller difference is nothing to tell, however sure.
const MATTERS: f64 = 0.02;

/// With fewer rounds their spread is hardly known (W6).
const ENOUGH: usize = 20;

/// The observed share of a k at one time less the independent one.
struct Compared {
    /// From 0.
    k: usize,
    observed: f64,
    difference: f64,
    /// What the spread is at least.
    least: f64,
}

/// One time with all k that can be told there.
struct Moment {
    at: Duration,
    /// Of each endpoint the share that has answered.
    answers: Vec<f64>,
    compared: Vec<Compared>,
}

/// For each k whether the observed share and the independent one differ by more than chance.
pub(super) fn correlated(facts: &Facts, k: usize, budget: Duration) -> Vec<bool> {
    let mut found = vec![false; facts.kth.len()];
    if facts.rounds < ENOUGH {
        return found;
    }
    let median = |series: &Series| series.curve.quantile_ok(0.5);
    let medians = [facts.of_k(k), facts.kth.last()].map(|series| series.and_then(median));
    let mut times: Vec<Duration> = std::iter::once(budget).chain(medians.into_iter().flatten()).collect();
    times.sort_unstable();
    times.dedup();
    let moments: Vec<Moment> = times.into_iter().filter_map(|at| Moment::of(facts, at)).collect();
    // Mostly there is nothing to test.
    if moments.iter().flat_map(|m| &m.compared).any(|c| c.difference.abs() >= MATTERS) {
        let spread = Spread::of(facts, &moments);
        let all = moments.iter().flat_map(|m| &m.compared);
        for (compared, deviation) in all.zip(&spread.deviations) {
            let size = compared.difference.abs();
            let clear = size >= MATTERS && size > spread.width * deviation + 1e-6;
            if let Some(found) = found.get_mut(compared.k).filter(|_| clear) {
                *found = true;
            }
        }
    }
    found
}

/// Whether the value there says anything.
fn is_known(series: &Series, at: Duration) -> bool {
    series.status(at) != Status::NotObserved
}

impl Moment {
    /// `None` where an endpoint was not seen that long: what independent calls would give is not known then.
    fn of(facts: &Facts, at: Duration) -> Option<Self> {
        if !facts.calls.iter().all(|calls| is_known(calls, at)) {
            return None;
        }
        let answers: Vec<f64> = facts.calls.iter().map(|calls| calls.ok(at)).collect();
        let shares = at_least(distribution(&answers));
        let kth = facts.kth.iter().zip(shares.iter().skip(1)).enumerate();
        let compared = kth.filter(|(_, (kth, _))| is_known(kth, at)).map(|(k, (kth, share))| {
            let observed = kth.ok(at);
            let least = least_spread(observed, *share, kth.curve.n());
            Compared { k, observed, difference: observed - share, least }
        });
        Some(Self { at, compared: compared.collect(), answers })
    }
}

/// Where fewer than 5 rounds are not as all others, draws of them do not tell how many there might have been (W6): the
/// spread is at least that of a count of rounds of independent calls.
fn least_spread(observed: f64, independent: f64, rounds: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
    let rounds = rounds as f64;
    if observed.min(1.0 - observed) * rounds < 5.0 - 1e-6 {
        (independent * (1.0 - independent) / rounds.max(1.0)).max(0.0).sqrt()
    } else {
        0.0
    }
}

/// How much of their number so many rounds are worth ([`Share::by_rounds`]).
fn known(rounds: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
    let rounds = rounds as f64;
    Share { value: 0.5, n: rounds }.by_rounds().n / rounds
}

/// How far the differences lie from themselves when the rounds are drawn again.
struct Spread {
    /// Standard deviation of each.
    deviations: Vec<f64>,
    /// So many of them wide, to either side, hold all in 95 of 100 draws; more where the rounds are few.
    width: f64,
}

impl Spread {
    fn of(facts: &Facts, moments: &[Moment]) -> Self {
        let table = Table::of(facts, moments);
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut sums = vec![0.0; table.width];
        let mut shares = vec![0.0; facts.calls.len() + 1];
        let mut drawn: Vec<Vec<f64>> = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            table.draw(&mut rng, &mut sums);
            drawn.push(deviations(&sums, moments, &mut shares));
        }
        let least = moments.iter().flat_map(|m| &m.compared).map(|c| c.least).enumerate();
        let square = |i: usize| drawn.iter().filter_map(|d| d.get(i)).map(|d| d * d).sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "a small constant")]
        let deviations: Vec<f64> =
            least.map(|(i, least)| (square(i) / DRAWS as f64).sqrt().max(least)).collect();
        let largest = |draw: &Vec<f64>| {
            let scaled = draw.iter().zip(&deviations).filter(|&(_, &spread)| spread > 1e-6);
            scaled.map(|(d, spread)| d.abs() / spread).fold(0.0, f64::max)
        };
        let mut largest: Vec<f64> = drawn.iter().map(largest).collect();
        largest.sort_unstable_by(f64::total_cmp);
        let width = largest.get(DRAWS * 95 / 100 - 1).copied().unwrap_or(f64::INFINITY);
        Self { deviations, width: width / known(facts.rounds).sqrt() }
    }
}

/// What the differences of one draw are more than those of the rounds themselves.
fn deviations(sums: &[f32], moments: &[Moment], shares: &mut [f64]) -> Vec<f64> {
    let mut sums = sums;
    let mut deviations = Vec::new();
    for moment in moments {
        let (calls, rest) = sums.split_at(sums.len().min(shares.len() - 1));
        // To first order it may leave the range of a share by a little.
        let drawn = moment.answers.iter().zip(calls).map(|(p, &change)| p + f64::from(change));
        convolve(drawn.map(|p| p.clamp(0.0, 1.0)), shares);
        accumulate(shares);
        let (kth, rest) = rest.split_at(rest.len().min(moment.compared.len()));
        for (compared, &change) in moment.compared.iter().zip(kth) {
            let independent = shares.get(compared.k + 1).copied().unwrap_or_default();
            deviations.push(compared.observed + f64::from(change) - independent - compared.difference);
        }
        sums = rest;
    }
    deviations
}

/// What each round changes: a row a round; for each moment a column for each endpoint and one for each k compared.
struct Table {
    cells: Vec<f32>,
    width: usize,
    rounds: usize,
}

impl Table {
    fn of(facts: &Facts, moments: &[Moment]) -> Self {
        let mut columns = Vec::new();
        for moment in moments {
            let kth = moment.compared.iter().filter_map(|c| facts.kth.get(c.k));
            let series = facts.calls.iter().chain(kth);
            columns.extend(series.map(|series| (Influence::of(&series.curve, moment.at), &series.by_round)));
        }
        let width = columns.len();
        let mut cells = vec![0.0; width.saturating_mul(facts.rounds)];
        for (place, (influence, by_round)) in columns.iter().enumerate() {
            let column = cells.iter_mut().skip(place).step_by(width.max(1));
            for (cell, seen) in column.zip(*by_round) {
                let change = seen.map_or(0.0, |seen| influence.by_weight(seen));
                #[expect(clippy::cast_possible_truncation, reason = "seven digits are plenty for a spread")]
                let change = change as f32;
                *cell = change;
            }
        }
        Self { cells, width, rounds: facts.rounds }
    }

    /// The sums of as many rounds as there are, drawn with replacement.
    fn draw(&self, rng: &mut impl Rng, sums: &mut [f32]) {
        sums.fill(0.0);
        for _ in 0..self.rounds {
            // The upper half of the product spreads evenly (Lemire 2019); the bias of 2^-64 x rounds is nothing.
            let place = (u128::from(rng.next_u64()) * self.rounds as u128) >> 64;
            let from = usize::try_from(place).unwrap_or_default() * self.width;
            let row = self.cells.get(from..from + self.width).unwrap_or_default();
            for (sum, cell) in sums.iter_mut().zip(row) {
                *sum += cell;
            }
        }
    }
}
