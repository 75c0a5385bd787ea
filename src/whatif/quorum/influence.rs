//! What each observation changes in an estimate of how many have answered by some time.
//!
//! The estimator is a smooth function of its observations' weights. Its derivatives (Jaeckel's infinitesimal
//! jackknife, 1972) make what it would be with other weights a sum over observations, to first order; without cut ones
//! exactly so. Rounds can be drawn again and again at the price of a sum.

use crate::whatif::survival::{Curve, Observation, Observed};
use std::time::Duration;

/// A row of the curve with the sums up to it.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    time: Duration,
    /// `1/Y`, of the calls at risk.
    each: f64,
    /// `F_ok` from it on.
    ok: f64,
    /// What an answer there adds, `S(t-)/Y`.
    gain: f64,
    /// `sum d/(Y(Y-d))` before it.
    stay_before: f64,
    /// The same with it.
    stay: f64,
    /// What it takes from the estimate that one more was at risk there and before.
    drag: f64,
}

/// The estimate `F_ok` at one time.
#[derive(Debug, Clone)]
pub(super) struct Influence {
    steps: Vec<Step>,
    at: Duration,
    ok: f64,
    /// `1/n` where none was cut before, and the estimate is a plain share.
    plain: Option<f64>,
}

impl Influence {
    /// Of this curve at this time.
    pub fn of(curve: &Curve, at: Duration) -> Self {
        let rows = curve.rows();
        let rows = rows.get(..rows.partition_point(|row| row.time <= at)).unwrap_or_default();
        let mut steps: Vec<Step> = Vec::with_capacity(rows.len());
        let mut pending = 1.0;
        for row in rows {
            let before = steps.last().copied().unwrap_or_default();
            let each = reciprocal(row.at_risk);
            let left = if pending > 0.0 { row.pending / pending } else { 0.0 };
            // After the last call nobody is at risk, and the sum is not asked for.
            let stay = if left > 0.0 { before.stay + (1.0 / left - 1.0) * each } else { before.stay };
            steps.push(Step {
                time: row.time,
                each,
                ok: row.ok,
                gain: pending * each,
                stay_before: before.stay,
                stay,
                drag: before.drag + (row.ok - before.ok) * (before.stay - each),
            });
            pending = row.pending;
        }
        let ok = steps.last().map_or(0.0, |step| step.ok);
        let is_plain = curve.first_censored().is_none_or(|censored| at <= censored);
        Self { steps, at, ok, plain: is_plain.then(|| reciprocal(curve.n())) }
    }

    /// The derivative of the estimate by the weight of this observation of the curve. They add up to 0: twice of
    /// everything changes nothing.
    pub fn by_weight(&self, seen: Observation) -> f64 {
        if let Some(each) = self.plain {
            let answered = seen.what == Observed::Ok && seen.time <= self.at;
            return (if answered { 1.0 - self.ok } else { -self.ok }) * each;
        }
        let after = self.steps.partition_point(|step| step.time <= seen.time);
        let step = after.checked_sub(1).and_then(|i| self.steps.get(i)).copied().unwrap_or_default();
        let to_come = self.ok - step.ok;
        match seen.what {
            _ if seen.time > self.at => step.drag,
            Observed::Censored => step.drag + step.stay * to_come,
            Observed::Error => step.drag + (step.stay_before - step.each) * to_come,
            Observed::Ok => step.drag + (step.stay_before - step.each) * to_come + step.gain,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
fn reciprocal(count: usize) -> f64 {
    1.0 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::survival::Tied;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn seen(observations: &[(u64, u8)]) -> Vec<Observation> {
        let what = |code| [Observed::Ok, Observed::Error, Observed::Censored][usize::from(code)];
        observations.iter().map(|&(t, code)| Observation { time: ms(t), what: what(code) }).collect()
    }

    fn ok(curve: &Curve, at: Duration) -> f64 {
        curve.at(at).map_or(0.0, |row| row.ok)
    }

    /// The estimate where each observation counts a million times and one of them `more` times more.
    fn weighed(observations: &[Observation], one: usize, more: usize, at: Duration) -> f64 {
        let mut tied: Vec<Tied> = Vec::new();
        let mut order: Vec<usize> = (0..observations.len()).collect();
        order.sort_by_key(|&i| observations[i].time);
        for i in order {
            let Observation { time, what } = observations[i];
            let weight = 1_000_000 + if i == one { more } else { 0 };
            let mut here = Tied { time, ok: 0, error: 0, censored: 0 };
            match what {
                Observed::Ok => here.ok = weight,
                Observed::Error => here.error = weight,
                Observed::Censored => here.censored = weight,
            }
            match tied.last_mut().filter(|last| last.time == time) {
                Some(last) => {
                    last.ok += here.ok;
                    last.error += here.error;
                    last.censored += here.censored;
                }
                None => tied.push(here),
            }
        }
        ok(&Curve::of_tied(&tied), at)
    }

    proptest! {
        #[test]
        fn w4_it_is_the_derivative_by_the_weight(
            observations in prop::collection::vec((1_u64..30, 0_u8..3), 1..20), at in 0_u64..35,
        ) {
            let (observations, at) = (seen(&observations), ms(at));
            let curve = Curve::of(&observations);
            let influence = Influence::of(&curve, at);
            let sum: f64 = observations.iter().map(|&o| influence.by_weight(o)).sum();
            prop_assert!(sum.abs() < 1e-9, "{}", sum);
            for (i, &o) in observations.iter().enumerate() {
                let slope = (weighed(&observations, i, 100, at) - weighed(&observations, i, 0, at)) / 1e-4;
                let each = influence.by_weight(o);
                prop_assert!((slope - each).abs() < 1e-3, "{}: {} is not {}", i, each, slope);
            }
        }

        #[test]
        fn w4_where_none_is_cut_the_way_round_gives_the_same(
            observations in prop::collection::vec((1_u64..30, 0_u8..2), 1..20), at in 0_u64..35,
        ) {
            let (observations, at) = (seen(&observations), ms(at));
            let plain = Influence::of(&Curve::of(&observations), at);
            let round = Influence { plain: None, ..plain.clone() };
            prop_assert!(plain.plain.is_some());
            for &o in &observations {
                prop_assert!((plain.by_weight(o) - round.by_weight(o)).abs() < 1e-9);
            }
        }
    }
}
