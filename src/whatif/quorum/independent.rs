//! How many of some independent calls answer: the Poisson-binomial distribution, by convolution.

/// The distribution of the number of answers of independent calls that answer with these probabilities: for 0, 1, …
/// as many as there are calls. In O(n²), and exact but for rounding: each call's two outcomes are folded in.
#[must_use]
pub fn distribution(answers: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; answers.len() + 1];
    convolve(answers.iter().copied(), &mut shares);
    shares
}

/// The same, into `shares`: one more than there are calls.
pub(super) fn convolve(answers: impl Iterator<Item = f64>, shares: &mut [f64]) {
    shares.fill(0.0);
    if let Some(none) = shares.first_mut() {
        *none = 1.0;
    }
    for (calls, p) in answers.enumerate() {
        let mut below = 0.0;
        for share in shares.iter_mut().take(calls + 2) {
            let here = *share;
            *share = here * (1.0 - p) + below * p;
            below = here;
        }
    }
}

/// From the shares of 0, 1, … answers to those of at least 0, 1, …
#[must_use]
pub fn at_least(mut shares: Vec<f64>) -> Vec<f64> {
    accumulate(&mut shares);
    shares
}

pub(super) fn accumulate(shares: &mut [f64]) {
    let mut sum = 0.0;
    // From above, so that small tails keep their digits.
    for share in shares.iter_mut().rev() {
        sum += *share;
        *share = f64::min(sum, 1.0);
    }
}

/// Variance of the number of answers over what it would be if calls were independent: above 1 they are slow (or fail)
/// together. From the shares of rounds with at least 1, 2, … answers and each call's probability. `None` where
/// nothing varies.
#[must_use]
pub fn dispersion(at_least: &[f64], answers: &[f64]) -> Option<f64> {
    let independent: f64 = answers.iter().map(|p| p * (1.0 - p)).sum();
    let mean: f64 = at_least.iter().sum();
    let (square, _) = at_least.iter().fold((0.0, 1.0), |(sum, odd), share| (sum + odd * share, odd + 2.0));
    (independent > 1e-9).then(|| (square - mean * mean).max(0.0) / independent)
}
