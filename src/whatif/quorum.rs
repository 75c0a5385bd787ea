//! When the k-th answer is there, for each k: from whole rounds, and beside it what independent calls would give (W4).
//!
//! k and n count optional calls. A call for which nothing was sent can never answer in its round: it counts as an
//! error at its start.
//!
//! A row's curve of a [`QuorumStudy`] is read at up to about [`GRID`] times that all rows share, from the event times
//! of every k at even ranks and with the budget among them, so that many calls stay affordable. [`QuorumStudy::one`]
//! has a point at every event.

mod correlation;
mod facts;
pub mod independent;
mod influence;

use super::outlook::{Question, Status};
use super::quantile::{Quantile, Trust};
use super::shares::Share;
use super::spread::{Band, Level};
use facts::{Facts, Series};
use independent::{at_least, distribution};
use std::time::Duration;

/// Times at which the rows of a study are read, about, at most.
pub const GRID: usize = 128;

/// Every k of the optional calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuorumStudy {
    /// k that holds or would hold.
    pub k: usize,
    /// For 1, 2, … up to the number of optional calls; empty without rounds.
    pub rows: Vec<QuorumRow>,
}

/// One k.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuorumRow {
    /// How many answers are enough.
    pub k: usize,
    /// Rounds that count: not those of a kind that ended, by a quorum or a failure, before this k was decided.
    pub n: usize,
    /// Share of the rounds in which they are there by the budget that holds, 0 to 1.
    pub by_budget: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How good that is.
    pub status: Status,
    /// The same if calls were independent of each other; `None` where an endpoint was not seen that long.
    pub independent: Option<f64>,
    /// Whether the two differ by more than chance: at least 0.02, and the 95 % interval of the difference, from whole
    /// rounds drawn again, excludes 0. Looked at by the budget, and where half of the rounds have k answers.
    pub correlated: bool,
    /// p50, p90 and p99 of the time of the k-th answer.
    pub times: [Quantile; 3],
    /// The curve over time.
    pub curve: Vec<QuorumPoint>,
}

/// The curve of a k from one time up to the next. `met + impossible + pending = 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuorumPoint {
    /// When, from the round's start.
    pub time: Duration,
    /// Rounds that were undecided and watched just before.
    pub at_risk: usize,
    /// Share of the rounds with k answers.
    pub met: f64,
    /// Share of the rounds with too many errors for k answers.
    pub impossible: f64,
    /// Share of the rounds that are undecided.
    pub pending: f64,
    /// Share with k answers if calls were independent of each other. Of an endpoint that was not seen that long, what
    /// had answered until then.
    pub independent: f64,
}

impl QuorumStudy {
    /// Looks at the rounds.
    #[must_use]
    pub fn of(question: &Question) -> Self {
        let facts = Facts::of(question);
        let n = facts.kth.len();
        let k = question.settings.quorum_of(n);
        if facts.rounds == 0 {
            return Self { k, ..Self::default() };
        }
        let budget = question.settings.effective_budget().0;
        let correlated = correlation::correlated(&facts, k, budget);
        let by_budget = known(&facts, budget);
        let times = grid(&facts, budget);
        let independent: Vec<Vec<f64>> = times.iter().map(|&t| independent(&facts, t)).collect();
        let row = |((place, series), correlated): ((usize, &Series), bool)| {
            let k = place + 1;
            let seen = times.iter().zip(&independent).take_while(|&(&t, _)| series.is_within(t));
            let curve = seen.map(|(&t, shares)| point(series, t, shares.get(k))).collect();
            QuorumRow { correlated, curve, ..summary(&facts, k, budget, by_budget.as_deref()) }
        };
        let rows = facts.kth.iter().enumerate().zip(correlated).map(row).collect();
        Self { k, rows }
    }

    /// One k with a point at every event. Nothing is known of a k that there is not.
    #[must_use]
    pub fn one(question: &Question, k: usize) -> QuorumRow {
        let facts = Facts::of(question);
        let budget = question.settings.effective_budget().0;
        let Some(series) = facts.of_k(k).filter(|_| facts.rounds > 0) else {
            return QuorumRow { k, ..QuorumRow::default() };
        };
        let held = question.settings.quorum_of(facts.kth.len());
        let correlated = correlation::correlated(&facts, held, budget).get(k - 1).copied().unwrap_or(false);
        let events = series.curve.rows().iter().map(|row| row.time);
        let curve = events.map(|t| point(series, t, independent(&facts, t).get(k))).collect();
        QuorumRow { correlated, curve, ..summary(&facts, k, budget, known(&facts, budget).as_deref()) }
    }
}

/// As [`independent`], where every endpoint was seen that long.
fn known(facts: &Facts, t: Duration) -> Option<Vec<f64>> {
    let share = |calls: &Series| {
        let counted =
            calls.recount(&facts.limits, t).and_then(|(answered, n)| Share::of(answered as u64, n as u64));
        counted.map(|share| share.value).or_else(|| calls.is_known(t).then(|| calls.ok(t)))
    };
    let mut answers: Vec<f64> = facts.calls.iter().map(share).collect::<Option<_>>()?;
    answers.sort_unstable_by(f64::total_cmp);
    Some(at_least(distribution(&answers)))
}

/// All of a row but its curve and what takes all rows.
fn summary(facts: &Facts, k: usize, budget: Duration, independent: Option<&[f64]>) -> QuorumRow {
    let Some(series) = facts.of_k(k) else { return QuorumRow { k, ..QuorumRow::default() } };
    let all = (series.answered(budget), series.n());
    // Where not all rounds were meant to run that long, those that were (W3).
    let (status, (answered, n)) = match (series.status(budget), series.recount(&facts.limits, budget)) {
        (Status::Exact, _) => (Status::Exact, all),
        (_, Some(part)) => (Status::Exact, part),
        (other, None) => (other, all),
    };
    let counted = Share::of(answered as u64, n as u64);
    // A count of rounds where it is one, free of the rounding of sums.
    let (by_budget, interval) = match status {
        Status::NotObserved | Status::Bounded => (None, None),
        Status::Exact => (counted.map(|s| s.value), counted.map(|s| s.by_rounds().interval())),
        Status::Estimated | Status::Thin => {
            (Some(series.ok(budget)), Some(Band::of(&series.curve, Level::Ok).at(budget)))
        }
    };
    let times = |q| match Quantile::of(&series.curve, q) {
        // There are rounds, and of all of them the k-th answer was cut.
        none if series.curve.n() == 0 => Quantile { trust: Trust::Censored, ..none },
        some => some,
    };
    QuorumRow {
        k,
        n,
        by_budget,
        interval,
        status,
        independent: independent.and_then(|shares| shares.get(k)).copied(),
        times: [0.5, 0.9, 0.99].map(times),
        ..QuorumRow::default()
    }
}

/// The shares of rounds with at least 0, 1, … answers by `t`, if calls were independent.
fn independent(facts: &Facts, t: Duration) -> Vec<f64> {
    at_least(distribution(&answers(facts, t)))
}

/// For each optional endpoint the share that has answered by `t`, ascending: whose it is makes no difference.
fn answers(facts: &Facts, t: Duration) -> Vec<f64> {
    let mut answers: Vec<f64> = facts.calls.iter().map(|calls| calls.ok(t)).collect();
    answers.sort_unstable_by(f64::total_cmp);
    answers
}

/// A row's curve at one time.
fn point(series: &Series, time: Duration, independent: Option<&f64>) -> QuorumPoint {
    let (met, impossible, pending) =
        series.curve.at(time).map_or((0.0, 0.0, 1.0), |row| (row.ok, row.error, row.pending));
    let independent = independent.copied().unwrap_or_default();
    QuorumPoint { time, at_risk: series.at_risk(time), met, impossible, pending, independent }
}

/// The times at which all rows are read, ascending.
fn grid(facts: &Facts, budget: Duration) -> Vec<Duration> {
    let each = (GRID / facts.kth.len().max(1)).max(2);
    let mut times = vec![budget];
    for series in &facts.kth {
        let rows = series.curve.rows();
        let last = rows.len().saturating_sub(1);
        let ranks = (0..each.min(rows.len())).map(|i| (i * last).div_ceil((each - 1).min(last).max(1)));
        times.extend(ranks.filter_map(|rank| rows.get(rank)).map(|row| row.time));
    }
    times.sort_unstable();
    times.dedup();
    thinned(times, budget)
}

/// Of more than [`GRID`] times besides the budget so many at even ranks: each costs O(n²), and a point in n curves.
fn thinned(times: Vec<Duration>, budget: Duration) -> Vec<Duration> {
    if times.len() <= GRID + 1 {
        return times;
    }
    let last = times.len() - 1;
    let mut kept: Vec<Duration> =
        (0..GRID).filter_map(|i| times.get(i * last / (GRID - 1)).copied()).collect();
    kept.push(budget);
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w4_however_many_calls_there_are_the_curves_share_a_bounded_grid_with_the_budget_on_it() {
        let ms = Duration::from_millis;
        for count in [1, 2, 129, 130, 131, 4001] {
            let times: Vec<Duration> = (0..count).map(ms).collect();
            let budget = ms(count / 3);
            let kept = thinned(times.clone(), budget);
            assert!(kept.len() <= GRID + 1 && kept.is_sorted() && kept.contains(&budget), "{count}");
            assert_eq!((kept.first(), kept.last()), (times.first(), times.last()), "{count}");
            assert_eq!(kept == times, count <= 129, "{count}");
        }
    }
}
