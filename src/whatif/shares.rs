//! How sure one may be of a share, and of the difference of two. Pure.
//!
//! - One share: the score interval of Wilson (1927), "Probable inference, the law of succession, and statistical
//!   inference", J. Am. Stat. Assoc. 22. It is never empty, also at 0 and 1.
//! - The difference of two independent shares: the hybrid of two score intervals, method 10 of Newcombe (1998),
//!   "Interval estimation for the difference between independent proportions", Statistics in Medicine 17.
//! - A mean of shares, such as the completeness of rounds: calls of one round are not independent, so the round is
//!   the unit. The score interval is taken at the effective sample size `p(1-p)/Var(mean)` of Korn and Graubard
//!   (1998), "Confidence intervals for proportions with small expected number of positive counts estimated from
//!   survey data", Survey Methodology 24, held between the number of rounds (calls of a round all alike) and the
//!   number of calls (all independent). Rounds that are all equal show no spread: they are as many as they are.
//! - Of few rounds the spread itself is hardly known. So the effective size of everything counted by rounds is
//!   reduced by the same authors' factor for the degrees of freedom, `(z/t)^2` with Student's t of one fewer than
//!   the rounds. One round has none: it says nothing of others.
//! - A share that is yet to be seen: it strays from the truth as the sample does, and independently of it, so their
//!   difference has the variance `p(1-p)(1/n + 1/m)`. The score interval at the sample size `1/(1/n + 1/m)` is within
//!   a hair of the closed form of Krishnamoorthy and Peng (2011), "Improved closed-form prediction intervals for
//!   binomial and Poisson distributions", J. Stat. Plan. Inference 141.

/// The standard normal distribution's 97.5 % point: two-sided 95 %.
pub const Z: f64 = 1.959_963_984_540_054;

/// Student's t, 97.5 % point, for 1 to 4 degrees of freedom.
const T: [f64; 4] = [12.706_205, 4.302_653, 3.182_446, 2.776_445];

/// A share and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// 0 to 1.
    pub value: f64,
    /// Sample size, not always whole; at 0 any share is possible.
    pub n: f64,
}

impl Share {
    /// `part` of `whole`; `None` of nothing.
    #[must_use]
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
        let (part, n) = (part as f64, whole as f64);
        (whole > 0).then(|| Self { value: (part / n).min(1.0), n })
    }

    /// The same where each of its `n` is a round, so that a few are not taken for more than they are.
    #[must_use]
    pub fn by_rounds(self) -> Self {
        Self { n: self.n * known(self.n), ..self }
    }

    /// The same with so large a sample that its value would have this variance; `None` at 0 and 1, which have none.
    #[must_use]
    pub fn with_variance(value: f64, variance: f64) -> Option<Self> {
        let inside = value > 0.0 && value < 1.0 && variance > 0.0;
        inside.then(|| Self { value, n: value * (1.0 - value) / variance })
    }

    /// The same as a forecast of a share of `m` yet to be seen.
    #[must_use]
    pub fn ahead(self, m: f64) -> Self {
        let both = self.n + m;
        Self { n: if both > 0.0 { self.n * m / both } else { 0.0 }, ..self }
    }

    /// The 95 % interval, within 0 and 1.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        let Self { value: p, n } = self;
        let z2 = Z * Z;
        let centre = p * n + z2 / 2.0;
        let half = Z * (p * (1.0 - p) * n + z2 / 4.0).max(0.0).sqrt();
        let scale = n + z2;
        (((centre - half) / scale).clamp(0.0, 1.0), ((centre + half) / scale).clamp(0.0, 1.0))
    }
}

/// How much of their size so many rounds keep, by their degrees of freedom; 0 to 1.
fn known(rounds: f64) -> f64 {
    if rounds < 2.0 { 0.0 } else { (Z / student(rounds - 1.0)).powi(2) }
}

/// Student's t, 97.5 % point, for 1 degree of freedom or more: a table where they are few, beyond it the expansion
/// 26.7.5 of Abramowitz and Stegun, "Handbook of Mathematical Functions", good to 0.001.
fn student(freedom: f64) -> f64 {
    let few = T.iter().zip(1_u8..).find(|&(_, of)| freedom < f64::from(of) + 0.5);
    if let Some((t, _)) = few {
        return *t;
    }
    let z2 = Z * Z;
    let terms = [
        (z2 + 1.0) / 4.0,
        (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0,
        (3.0 * z2.powi(3) + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / 384.0,
        (79.0 * z2.powi(4) + 776.0 * z2.powi(3) + 1482.0 * z2 * z2 - 1920.0 * z2 - 945.0) / 92_160.0,
    ];
    Z * terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + Z
}

/// A difference of two shares, the later less the earlier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// -1 to 1.
    pub value: f64,
    /// The 95 % interval.
    pub interval: (f64, f64),
}

impl Difference {
    /// `new - old`.
    #[must_use]
    pub fn of(old: Share, new: Share) -> Self {
        let (old_lo, old_hi) = old.interval();
        let (new_lo, new_hi) = new.interval();
        let value = new.value - old.value;
        let below = (new.value - new_lo).hypot(old_hi - old.value);
        let above = (new_hi - new.value).hypot(old.value - old_lo);
        Self { value, interval: ((value - below).max(-1.0), (value + above).min(1.0)) }
    }

    /// Whether the interval does not contain 0.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.interval.0 > 0.0 || self.interval.1 < 0.0
    }
}

/// The mean of whole rounds' answered shares.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mean {
    rounds: u64,
    calls: u64,
    sum: f64,
    squares: f64,
    /// The least and the greatest share.
    range: Option<(f64, f64)>,
}

impl Mean {
    /// Adds a round of which `answered` of `calls` calls answered.
    pub fn push(&mut self, answered: usize, calls: usize) {
        #[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
        let share = if calls == 0 { 0.0 } else { answered as f64 / calls as f64 };
        self.rounds += 1;
        self.calls += calls as u64;
        self.sum += share;
        self.squares += share * share;
        let (least, greatest) = self.range.unwrap_or((share, share));
        self.range = Some((least.min(share), greatest.max(share)));
    }

    /// Adds another's rounds.
    pub fn join(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.calls += other.calls;
        self.sum += other.sum;
        self.squares += other.squares;
        let ranges = self.range.into_iter().chain(other.range);
        self.range = ranges.reduce(|(least, greatest), (a, b)| (least.min(a), greatest.max(b)));
    }

    /// Rounds that were added.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Their calls.
    #[must_use]
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// The standard error of the mean by whole rounds; `None` without rounds.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
        let n = self.rounds as f64;
        let squares = (self.squares - self.sum * self.sum / n).max(0.0);
        (self.rounds > 0).then(|| (squares / (n - 1.0).max(1.0) / n).sqrt())
    }

    /// The mean with its effective sample size; `None` without rounds.
    #[must_use]
    pub fn share(&self) -> Option<Share> {
        #[expect(clippy::cast_precision_loss, reason = "counts of rounds and calls, far below 2^52")]
        let (n, calls) = (self.rounds as f64, self.calls as f64);
        if self.rounds == 0 {
            return None;
        }
        let mean = (self.sum / n).clamp(0.0, 1.0);
        let variance = self.error()?.powi(2);
        // Told by the shares themselves: a sum of equal ones has a spread of its rounding.
        let alike = self.range.is_none_or(|(least, greatest)| least.to_bits() == greatest.to_bits());
        let effective = if alike { n } else { (mean * (1.0 - mean) / variance).clamp(n, calls.max(n)) };
        Some(Share { value: mean, n: effective * known(n) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-5
    }

    /// Newcombe (1998), table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20 and its kind.
    #[test]
    fn differences_as_newcombe_prints_them() {
        let difference = |a, m, b, n| {
            let (new, old) = (Share::of(a, m).unwrap(), Share::of(b, n).unwrap());
            Difference::of(old, new).interval
        };
        for (got, want) in [
            (difference(56, 70, 48, 80), (0.0524, 0.3339)),
            (difference(9, 10, 3, 10), (0.1705, 0.8090)),
            (difference(6, 7, 2, 7), (0.0582, 0.8062)),
            (difference(5, 56, 0, 29), (-0.0381, 0.1926)),
            (difference(0, 10, 0, 20), (-0.1611, 0.2775)),
            (difference(10, 10, 0, 20), (0.6791, 1.0)),
            (difference(10, 10, 0, 10), (0.6075, 1.0)),
        ] {
            assert!(close(got.0, want.0) && close(got.1, want.1), "{got:?} is not {want:?}");
        }
    }

    #[test]
    fn nothing_is_no_share() {
        assert_eq!(Share::of(0, 0), None);
        assert_eq!(Mean::default().share(), None);
    }

    fn mean(rounds: &[(usize, usize)]) -> Share {
        let mut mean = Mean::default();
        for &(answered, calls) in rounds {
            mean.push(answered, calls);
        }
        mean.share().unwrap()
    }

    #[test]
    fn rounds_that_are_alike_count_once_each_and_never_for_their_calls() {
        for (answered, value) in [(7, 0.875), (8, 1.0)] {
            let alike = mean(&[(answered, 8); 50]);
            assert!(close(alike.value, value) && close(alike.n, 50.0 * known(50.0)), "{alike:?}");
        }
        // A third has no end in binary: the sum of its squares is not quite what it should be.
        assert!(close(mean(&[(1, 3); 50]).n, 50.0 * known(50.0)));
        // All or nothing: the round is all that there is to count.
        let both: Vec<_> = (0..50).map(|i| (if i % 2 == 0 { 8 } else { 0 }, 8)).collect();
        let both = mean(&both);
        assert!(close(both.value, 0.5) && close(both.n, 50.0 * known(50.0)), "{both:?}");
    }

    #[test]
    fn one_round_or_two_make_no_clear_difference() {
        let many = mean(&[(0, 8); 1000]);
        let [one, two] = [mean(&[(8, 8)]), mean(&[(8, 8); 2])];
        let spread = mean(&[(8, 8), (7, 8)]);
        for few in [one, two, spread] {
            assert!(!Difference::of(few, mean(&[(0, 8)])).is_clear(), "{few:?}");
            assert!(!Difference::of(few, mean(&[(0, 8); 2])).is_clear(), "{few:?}");
        }
        assert!(!Difference::of(one, many).is_clear() && !Difference::of(many, one).is_clear());
        assert_eq!(one.interval(), (0.0, 1.0));
        // So too where rounds are counted: both of two against none of two.
        let of = |part, whole| Share::of(part, whole).unwrap().by_rounds();
        assert!(
            !Difference::of(of(0, 2), of(2, 2)).is_clear() && !Difference::of(of(0, 1), of(1, 1)).is_clear()
        );
        assert!(
            Difference::of(of(0, 12), of(12, 12)).is_clear()
                && Difference::of(mean(&[(8, 8); 12]), many).is_clear()
        );
    }

    /// As printed in every table of the distribution.
    #[test]
    fn students_t_as_tables_print_it() {
        let table = [
            (1.0, 12.706),
            (2.0, 4.303),
            (4.0, 2.776),
            (5.0, 2.571),
            (9.0, 2.262),
            (29.0, 2.045),
            (120.0, 1.980),
        ];
        for (freedom, want) in table {
            assert!((student(freedom) - want).abs() < 1.5e-3, "{freedom}: {}", student(freedom));
        }
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_share_and_stays_within_bounds(
            a in 0_u64..200, m in 1_u64..200, b in 0_u64..200, n in 1_u64..200,
        ) {
            let (old, new) = (Share::of(a.min(m), m).unwrap(), Share::of(b.min(n), n).unwrap());
            let (lo, hi) = old.interval();
            prop_assert!(0.0 <= lo && lo <= old.value + 1e-12 && old.value <= hi + 1e-12 && hi <= 1.0);
            let there = Difference::of(old, new);
            prop_assert!(there.interval.0 <= there.value && there.value <= there.interval.1);
            let back = Difference::of(new, old);
            prop_assert!((there.interval.0 + back.interval.1).abs() < 1e-12, "the same in both directions");
            prop_assert_eq!(there.is_clear(), back.is_clear());
        }
    }
}
