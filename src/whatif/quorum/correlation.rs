//! Whether calls of one round are slow together: whole rounds are drawn again (Efron's bootstrap, 1979), and what they
//! show is held against what independent calls would give.
//!
//! The difference is looked at for every k, at the budget that holds, or where that shows none (at a budget at which
//! everything answers there is none to see) at the median of the k that holds. The 95 % intervals are simultaneous,
//! as wide as it takes to hold all of them (the largest deviation by its spread): independent calls are called
//! correlated in about one study of twenty, and not for one k of twenty.
//!
//! What was cut before enters as the estimators have it, to first order ([`super::influence`]).

use super::facts::{Facts, Series};
use super::independent::{accumulate, at_least, convolve, distribution};
use super::influence::Influence;
use crate::whatif::shares::{Share, Z};
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
    /// The standard deviation that independent calls would have.
    independent: f64,
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
    let shows = |at| Moment::of(facts, at).filter(Moment::shows);
    let median = || facts.of_k(k).and_then(|series| series.curve.quantile_ok(0.5));
    // Mostly there is nothing to test.
    let Some(moment) = shows(budget).or_else(|| median().and_then(shows)) else { return found };
    let spread = Spread::of(facts, &moment);
    for (compared, deviation) in moment.compared.iter().zip(&spread.deviations) {
        let size = compared.difference.abs();
        let within = spread.width * deviation.max(compared.independent);
        let clear = size >= MATTERS && size > within + 1e-6;
        if let Some(found) = found.get_mut(compared.k).filter(|_| clear) {
            *found = true;
        }
    }
    found
}

impl Moment {
    /// `None` where an endpoint was not seen that long: what independent calls would give is not known then.
    fn of(facts: &Facts, at: Duration) -> Option<Self> {
        if !facts.calls.iter().all(|calls| calls.is_known(at)) {
            return None;
        }
        let answers: Vec<f64> = facts.calls.iter().map(|calls| calls.ok(at)).collect();
        let shares = at_least(distribution(&answers));
        let spreads = independent_spreads(&answers, &shares, facts.rounds);
        let kth = facts.kth.iter().zip(shares.iter().skip(1)).enumerate();
        let compared =
            kth.filter(|(_, (kth, _))| kth.n() >= ENOUGH && kth.is_known(at)).map(|(k, (kth, share))| {
                let observed = kth.ok(at);
                let independent = spreads.get(k).copied().unwrap_or_default();
                Compared { k, observed, difference: observed - share, independent }
            });
        Some(Self { at, compared: compared.collect(), answers })
    }

    /// Whether any difference is worth a test.
    fn shows(&self) -> bool {
        self.compared.iter().any(|compared| compared.difference.abs() >= MATTERS)
    }
}

/// For each k, from 0, the standard deviation of the difference over so many rounds of independent calls of which none
/// is cut: what is left of the variance of "k have answered" without what the calls' own shares explain,
/// `q(1-q) - sum (dq/dp)^2 p(1-p)` (Hájek's projection, 1968). Draws of a few rounds that are not as all others don't
/// tell how many there might have been; this does.
fn independent_spreads(answers: &[f64], at_least: &[f64], rounds: usize) -> Vec<f64> {
    let mut variances: Vec<f64> = at_least.iter().skip(1).map(|q| q * (1.0 - q)).collect();
    let mut others = vec![0.0; answers.len()];
    for (place, p) in answers.iter().enumerate() {
        let without = answers.iter().enumerate().filter(|&(other, _)| other != place);
        convolve(without.map(|(_, &p)| p), &mut others);
        // The call decides where exactly one answer is wanting.
        for (variance, slope) in variances.iter_mut().zip(&others) {
            *variance -= slope * slope * p * (1.0 - p);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
    let rounds = rounds.max(1) as f64;
    variances.into_iter().map(|variance| (variance.max(0.0) / rounds).sqrt()).collect()
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
    /// So many of them wide, to either side, hold all in 39 of 40 draws (there may be two times to look at); more where
    /// the rounds are few.
    width: f64,
}

impl Spread {
    fn of(facts: &Facts, moment: &Moment) -> Self {
        let table = Table::of(facts, moment);
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut sums = vec![[0.0; BLOCK]; table.blocks];
        let mut places = vec![0; facts.rounds];
        let mut shares = vec![0.0; facts.calls.len() + 1];
        let mut drawn: Vec<Vec<f64>> = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            draw(&mut rng, &mut places);
            table.sum(&places, &mut sums);
            drawn.push(deviations(sums.as_flattened(), moment, &mut shares));
        }
        let square = |i: usize| drawn.iter().filter_map(|d| d.get(i)).map(|d| d * d).sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "a small constant")]
        let deviation = |i: usize| (square(i) / DRAWS as f64).sqrt();
        let deviations: Vec<f64> = (0..moment.compared.len()).map(deviation).collect();
        let largest = |draw: &Vec<f64>| {
            let scaled = draw.iter().zip(&deviations).filter(|&(_, &spread)| spread > 1e-6);
            scaled.map(|(d, spread)| d.abs() / spread).fold(0.0, f64::max)
        };
        let mut largest: Vec<f64> = drawn.iter().map(largest).collect();
        largest.sort_unstable_by(f64::total_cmp);
        let width = largest.get(DRAWS * 39 / 40 - 1).copied().unwrap_or(f64::INFINITY).max(Z);
        Self { deviations, width: width / known(facts.rounds).sqrt() }
    }
}

/// What the differences of one draw are more than those of the rounds themselves.
fn deviations(sums: &[f32], moment: &Moment, shares: &mut [f64]) -> Vec<f64> {
    let (calls, kth) = sums.split_at(sums.len().min(moment.answers.len()));
    let drawn = moment.answers.iter().zip(calls).map(|(p, &change)| p + f64::from(change));
    // To first order it may leave the range of a share by a little.
    convolve(drawn.map(|p| p.clamp(0.0, 1.0)), shares);
    accumulate(shares);
    let deviation = |(compared, &change): (&Compared, &f32)| {
        let independent = shares.get(compared.k + 1).copied().unwrap_or_default();
        compared.observed + f64::from(change) - independent - compared.difference
    };
    moment.compared.iter().zip(kth).map(deviation).collect()
}

/// As many rounds as there are, with replacement.
fn draw(rng: &mut impl Rng, places: &mut [usize]) {
    let rounds = places.len() as u128;
    for place in places {
        // The upper half of the product spreads evenly (Lemire 2019); a bias of 2^-64 x rounds is nothing.
        *place = usize::try_from((u128::from(rng.next_u64()) * rounds) >> 64).unwrap_or_default();
    }
}

/// Columns that are summed at once: as many as a processor holds at hand.
const BLOCK: usize = 32;

/// What each round changes: a column for each endpoint and one for each k compared, in blocks of columns with a row a
/// round.
struct Table {
    cells: Vec<[f32; BLOCK]>,
    blocks: usize,
    rounds: usize,
}

impl Table {
    fn of(facts: &Facts, moment: &Moment) -> Self {
        let kth = moment.compared.iter().filter_map(|compared| facts.kth.get(compared.k));
        let columns: Vec<&Series> = facts.calls.iter().chain(kth).collect();
        let blocks = columns.len().div_ceil(BLOCK);
        let mut cells = vec![[0.0; BLOCK]; blocks.saturating_mul(facts.rounds)];
        for (block, columns) in cells.chunks_mut(facts.rounds.max(1)).zip(columns.chunks(BLOCK)) {
            for (place, series) in columns.iter().enumerate() {
                let influence = Influence::of(&series.curve, moment.at);
                for (row, seen) in block.iter_mut().zip(series.by_round()) {
                    let change = seen.map_or(0.0, |seen| influence.by_weight(seen));
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "seven digits are plenty for a spread"
                    )]
                    let change = change as f32;
                    if let Some(cell) = row.get_mut(place) {
                        *cell = change;
                    }
                }
            }
        }
        Self { cells, blocks, rounds: facts.rounds }
    }

    /// The sums over these rounds.
    fn sum(&self, places: &[usize], sums: &mut [[f32; BLOCK]]) {
        for (block, sum) in self.cells.chunks(self.rounds.max(1)).zip(sums) {
            let mut at_hand = [0.0; BLOCK];
            for row in places.iter().filter_map(|&place| block.get(place)) {
                for (sum, cell) in at_hand.iter_mut().zip(row) {
                    *sum += cell;
                }
            }
            *sum = at_hand;
        }
    }
}
