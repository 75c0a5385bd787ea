//! How sure one may be of a curve: variances of its shares and intervals about them (W2). Pure.
//!
//! - The share pending, of Kaplan and Meier: Greenwood (1926), "The natural duration of cancer".
//! - The share answered or failed, of Aalen and Johansen: the delta method with events as multinomial counts, as in
//!   Marubini and Valsecchi (1995), "Analysing survival data from clinical trials and observational studies", 10.3.
//!   With `d` of `n` at risk out at `t_j`, `d_k` of them as `k`, the variance of `F_k(t)` is
//!   `sum (F_k(t)-F_k(t_j))^2 d/(n(n-d)) + sum S(t_j-)^2 d_k(n-d_k)/n^3 - 2 sum (F_k(t)-F_k(t_j)) S(t_j-) d_k/n^2`.
//!   Before anything is censored that is the binomial `F(1-F)/n`.
//! - Intervals on the scale `log(-log F)`, which stay within 0 and 1: Kalbfleisch and Prentice (1980), "The
//!   statistical analysis of failure time data". Where nothing was censored before `t`, and where the estimate is 0 or
//!   1 and has no variance to speak of, Wilson's with the calls at risk at the start.
//! - A quantile's interval: the times at which the curve's own interval crosses it, Brookmeyer and Crowley (1982), "A
//!   confidence interval for the median survival time", Biometrics 38.

use super::shares::{Share, Z};
use super::survival::{Curve, EPSILON, Row};
use std::time::Duration;

/// What of a curve is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// The share that has answered, `F_ok`.
    Ok,
    /// The share that has failed, `F_err`.
    Error,
    /// The share that is still pending, `S`.
    Pending,
}

impl Level {
    const fn of(self, row: &Row) -> f64 {
        match self {
            Self::Ok => row.ok,
            Self::Error => row.error,
            Self::Pending => row.pending,
        }
    }

    /// Before the first event.
    const fn at_start(self) -> f64 {
        match self {
            Self::Pending => 1.0,
            Self::Ok | Self::Error => 0.0,
        }
    }
}

/// The variance of a curve's share at each of its rows, in O(rows).
#[must_use]
pub fn variances(curve: &Curve, level: Level) -> Vec<f64> {
    let mut before = 1.0;
    let mut level_before = level.at_start();
    let mut sums = Sums::default();
    let rows = curve.rows().iter().map(|row| {
        let (share, pending) = (level.of(row), before);
        let n = whole(row.at_risk);
        // What the row was made of: the counts are whole numbers, the shares are not.
        let count = |step: f64| (step / pending * n).round().clamp(0.0, n);
        let out = if pending > 0.0 { count(pending - row.pending) } else { 0.0 };
        let of_level = if pending > 0.0 { count(share - level_before) } else { 0.0 };
        (before, level_before) = (row.pending, share);
        match level {
            Level::Pending => sums.greenwood(share, n, out),
            Level::Ok | Level::Error => sums.incidence(share, pending, n, (out, of_level)),
        }
    });
    rows.collect()
}

/// The sums of the formulas, with `F(t)` taken out of them, so that one walk gives every row.
#[derive(Default)]
struct Sums {
    /// `d/(n(n-d))`, alone and with `F(t_j)` and its square.
    risk: [f64; 3],
    /// `S(t_j-)^2 d_k(n-d_k)/n^3`.
    own: f64,
    /// `S(t_j-) d_k/n^2`, alone and with `F(t_j)`.
    cross: [f64; 2],
}

impl Sums {
    fn greenwood(&mut self, pending: f64, n: f64, out: f64) -> f64 {
        if out < n {
            self.risk[0] += out / (n * (n - out));
        }
        pending * pending * self.risk[0]
    }

    fn incidence(&mut self, share: f64, pending: f64, n: f64, (out, own): (f64, f64)) -> f64 {
        // Where all that were at risk came out, the curve ends and its last step adds nothing here.
        if out < n {
            let risk = out / (n * (n - out));
            for (sum, of) in self.risk.iter_mut().zip([1.0, share, share * share]) {
                *sum += risk * of;
            }
        }
        self.own += pending * pending * own * (n - own) / n.powi(3);
        let cross = pending * own / (n * n);
        self.cross[0] += cross;
        self.cross[1] += cross * share;
        let [risk, with_share, with_square] = self.risk;
        let risk = share * share * risk - 2.0 * share * with_share + with_square;
        let cross = share * self.cross[0] - self.cross[1];
        (risk + self.own - 2.0 * cross).max(0.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
const fn whole(n: usize) -> f64 {
    n as f64
}

/// The 95 % interval of a share strictly between 0 and 1, on the scale `log(-log)`.
#[must_use]
pub fn log_log(share: f64, variance: f64) -> (f64, f64) {
    let log = share.ln();
    let width = (Z * variance.max(0.0).sqrt() / (share * log)).abs().exp();
    if width.is_finite() { ((log * width).exp(), (log / width).exp()) } else { (0.0, 1.0) }
}

/// A curve's share with its 95 % interval at every time.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    level: Level,
    n: f64,
    first_censored: Option<Duration>,
    /// Time, share, variance; at the rows of the curve.
    rows: Vec<(Duration, f64, f64)>,
}

impl Band {
    /// Of this share of the curve.
    #[must_use]
    pub fn of(curve: &Curve, level: Level) -> Self {
        let rows = curve.rows().iter().zip(variances(curve, level));
        Self {
            level,
            n: whole(curve.n()),
            first_censored: curve.first_censored(),
            rows: rows.map(|(row, variance)| (row.time, level.of(row), variance)).collect(),
        }
    }

    /// The interval at `t`; beyond the curve's horizon it is that of the horizon. Of nothing it is 0 to 1.
    #[must_use]
    pub fn at(&self, t: Duration) -> (f64, f64) {
        let after = self.rows.partition_point(|row| row.0 <= t);
        let row = after.checked_sub(1).and_then(|last| self.rows.get(last));
        let (share, variance) = row.map_or((self.level.at_start(), 0.0), |row| (row.1, row.2));
        let edge = share <= EPSILON || share >= 1.0 - EPSILON;
        if edge || self.first_censored.is_none_or(|censored| censored >= t) {
            Share { value: share.clamp(0.0, 1.0), n: self.n }.interval()
        } else {
            log_log(share, variance)
        }
    }

    /// Within which the time lies at which a share that ascends reaches `q`; open where the data do not reach so far.
    #[must_use]
    pub fn quantile(&self, q: f64) -> (Option<Duration>, Option<Duration>) {
        let first = |reached: &dyn Fn((f64, f64)) -> f64| {
            let rows = self.rows.iter().map(|row| row.0);
            rows.into_iter().find(|&t| reached(self.at(t)) >= q - EPSILON)
        };
        (first(&|interval| interval.1), first(&|interval| interval.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::survival::{Observation, Observed};
    use proptest::prelude::*;

    fn observations() -> impl Strategy<Value = Vec<Observation>> {
        // Few distinct times, so that ties are common.
        let what = prop_oneof![Just(Observed::Ok), Just(Observed::Error), Just(Observed::Censored)];
        let one = (0u64..40, what).prop_map(|(t, what)| Observation { time: Duration::from_millis(t), what });
        prop::collection::vec(one, 0..80)
    }

    fn only(seen: &[Observation], what: Observed) -> Vec<Observation> {
        seen.iter().filter(|o| o.what != what).copied().collect()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    proptest! {
        #[test]
        fn w2_without_censoring_the_variance_is_the_binomial(seen in observations()) {
            let curve = Curve::of(&only(&seen, Observed::Censored));
            for level in [Level::Ok, Level::Error, Level::Pending] {
                for (row, variance) in curve.rows().iter().zip(variances(&curve, level)) {
                    let share = level.of(row);
                    prop_assert!(close(variance, share * (1.0 - share) / whole(curve.n())), "{level:?} {row:?}");
                }
            }
        }

        #[test]
        fn w2_without_errors_what_is_answered_is_as_sure_as_what_is_pending(seen in observations()) {
            let curve = Curve::of(&only(&seen, Observed::Error));
            for (a, b) in variances(&curve, Level::Ok).into_iter().zip(variances(&curve, Level::Pending)) {
                prop_assert!(close(a, b), "{a} {b}");
            }
        }

        #[test]
        fn w2_a_band_holds_its_curve_and_stays_within_bounds(seen in observations(), q in 0.01_f64..1.0) {
            let curve = Curve::of(&seen);
            for level in [Level::Ok, Level::Error, Level::Pending] {
                let band = Band::of(&curve, level);
                for row in curve.rows() {
                    let (low, high) = band.at(row.time);
                    let share = level.of(row);
                    prop_assert!(0.0 <= low && low <= share + 1e-9 && share <= high + 1e-9 && high <= 1.0);
                }
            }
            let band = Band::of(&curve, Level::Ok);
            let (low, high) = band.quantile(q);
            if let Some(time) = curve.quantile_ok(q) {
                prop_assert!(low.is_some_and(|low| low <= time) && high.is_none_or(|high| high >= time));
            }
        }
    }

    #[test]
    fn nothing_seen_says_nothing() {
        let nothing = Band::of(&Curve::of(&[]), Level::Ok);
        assert_eq!((nothing.at(Duration::ZERO), nothing.quantile(0.5)), ((0.0, 1.0), (None, None)));
        assert_eq!(log_log(0.5, f64::INFINITY), (0.0, 1.0));
    }
}
