//! The load budget of hedges: a bucket per endpoint (R28).

/// Hedges in hand, in millionths so that `0.05 + 0.05 + …` is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens(u64);

const ONE: u64 = 1_000_000;
const MOST: u64 = 10 * ONE;

impl Tokens {
    /// Pays in for one primary: `share` hedges per primary (0.05 is 5 %).
    pub fn deposit(&mut self, share: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=10 before"
        )]
        let paid = (share.clamp(0.0, 10.0) * 1e6).round() as u64;
        self.0 = self.0.saturating_add(paid).min(MOST);
    }

    /// Whether there is one to take.
    #[must_use]
    pub const fn ready(self) -> bool {
        self.0 >= ONE
    }

    /// Takes one hedge, if there is one.
    pub fn take(&mut self) -> bool {
        let left = self.0.checked_sub(ONE);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r28_the_load_budget_is_never_exceeded_and_capped_at_ten() {
        let mut tokens = Tokens::default();
        for _ in 0..10_000 {
            tokens.deposit(0.05);
        }
        assert_eq!((0..20).filter(|_| tokens.take()).count(), 10);
        tokens.deposit(0.999_999);
        assert!(!tokens.take());
    }
}
