//! Two variants of the settings that rounds have in turn, so that both meet the same weather (W9).

use super::numbers;
use super::reason::words;
use super::settings::{HedgeDelay, Mode, Settings};
use std::time::Duration;

words! {
    /// Whose turn a round is.
    Arm {
        /// The first variant's: rounds with odd numbers.
        A = "a",
        /// The second's: rounds with even numbers.
        B = "b",
    }
}

impl Arm {
    /// Whose turn the round with this number is.
    #[must_use]
    pub const fn of(round: u64) -> Self {
        if round % 2 == 1 { Self::A } else { Self::B }
    }
}

/// One number of the settings, as one of the variants has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Variant {
    /// The contract.
    Mode(Mode),
    /// The optional budget.
    Budget(Duration),
    /// k.
    Quorum(usize),
    /// The hedge delay.
    Hedge(HedgeDelay),
}

impl Variant {
    /// The names of what may vary.
    pub const KEYS: [&'static str; 4] = ["mode", "budget", "quorum", "hedge"];

    /// What varies.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Mode(_) => "mode",
            Self::Budget(_) => "budget",
            Self::Quorum(_) => "quorum",
            Self::Hedge(_) => "hedge",
        }
    }

    /// The value as a record has it: `quorum`, `150ms`, `3`, `p95`.
    #[must_use]
    pub fn value(&self) -> String {
        match self {
            Self::Mode(mode) => mode.as_str().to_owned(),
            Self::Budget(budget) => format!("{}ms", numbers::millis(*budget)),
            Self::Quorum(k) => k.to_string(),
            Self::Hedge(delay) => delay.to_string(),
        }
    }

    /// What [`Variant::key`] and [`Variant::value`] gave.
    #[must_use]
    pub fn parse(key: &str, value: &str) -> Option<Self> {
        match key {
            "mode" => Mode::parse(value).map(Self::Mode),
            "budget" => match HedgeDelay::parse(value)? {
                HedgeDelay::Fixed(budget) => Some(Self::Budget(budget)),
                HedgeDelay::Percentile(_) => None,
            },
            "quorum" => value.parse().ok().map(Self::Quorum),
            "hedge" => HedgeDelay::parse(value).map(Self::Hedge),
            _ => None,
        }
    }

    fn set(&self, settings: &mut Settings) {
        match *self {
            Self::Mode(mode) => settings.mode = mode,
            Self::Budget(budget) => settings.budget = budget,
            Self::Quorum(k) => settings.quorum = Some(k),
            Self::Hedge(delay) => settings.hedge.delay = delay,
        }
    }
}

/// Two variants of one thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ab {
    /// What odd rounds have.
    pub a: Variant,
    /// What even rounds have.
    pub b: Variant,
}

impl Ab {
    /// The variant whose turn it is.
    #[must_use]
    pub const fn of(&self, arm: Arm) -> &Variant {
        match arm {
            Arm::A => &self.a,
            Arm::B => &self.b,
        }
    }
}

impl Settings {
    /// Whether rounds end at their budget and nowhere else, whoever's turn it is.
    #[must_use]
    pub fn end_at_budget(&self) -> bool {
        [Arm::A, Arm::B].iter().all(|&arm| self.of_arm(arm).mode.ends_at_budget())
    }

    /// What the round with this number is asked to do, and whose turn it is where two take turns.
    #[must_use]
    pub fn of_round(&self, round: u64) -> (Self, Option<Arm>) {
        let arm = self.ab.map(|_| Arm::of(round));
        (arm.map_or_else(|| self.clone(), |arm| self.of_arm(arm)), arm)
    }

    /// What a round is asked to do whose turn is this; the same where none take turns.
    #[must_use]
    pub fn of_arm(&self, arm: Arm) -> Self {
        let mut settings = self.clone();
        if let Some(ab) = self.ab {
            ab.of(arm).set(&mut settings);
        }
        settings
    }

    /// Whether a round may be asked to do the other without anybody having changed these: they are the same, whoever's
    /// turn it is.
    #[must_use]
    pub fn takes_turns_with(&self, other: &Self) -> bool {
        self == other || self.ab.is_some() && self.of_arm(Arm::A) == other.of_arm(Arm::A)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w9_a_variant_reads_back() {
        for variant in [
            Variant::Mode(Mode::WaitAll),
            Variant::Budget(Duration::from_micros(2500)),
            Variant::Quorum(3),
            Variant::Hedge(HedgeDelay::Percentile(0.95)),
            Variant::Hedge(HedgeDelay::Fixed(Duration::ZERO)),
        ] {
            assert!(Variant::KEYS.contains(&variant.key()));
            assert_eq!(Variant::parse(variant.key(), &variant.value()), Some(variant));
        }
        for (key, value) in
            [("budget", "p95"), ("budget", "200"), ("quorum", "-1"), ("mode", "x"), ("k", "3")]
        {
            assert_eq!(Variant::parse(key, value), None, "{key} {value}");
        }
    }

    #[test]
    fn w9_rounds_take_turns() {
        let [a, b] = [150, 250].map(|ms| Variant::Budget(Duration::from_millis(ms)));
        let base = Settings { ab: Some(Ab { a, b }), ..Settings::default() };
        let turns = [1, 2, 3].map(|no| base.of_round(no));
        assert_eq!(turns.clone().map(|(s, _)| s.budget.as_millis()), [150, 250, 150]);
        assert_eq!(turns.map(|(_, arm)| arm), [Some(Arm::A), Some(Arm::B), Some(Arm::A)]);
        assert_eq!(Settings::default().of_round(1), (Settings::default(), None));
        assert_eq!(base.of_arm(Arm::B), base.of_round(2).0);
    }

    #[test]
    fn w9_a_turn_is_no_change() {
        let [a, b] = [150, 250].map(|ms| Variant::Budget(Duration::from_millis(ms)));
        let base = Settings { ab: Some(Ab { a, b }), ..Settings::default() };
        let [odd, even] = [1, 2].map(|no| base.of_round(no).0);
        assert!(base.takes_turns_with(&odd) && odd.takes_turns_with(&even) && even.takes_turns_with(&base));
        let other = Settings { mode: Mode::Quorum, ..even.clone() };
        assert!(!odd.takes_turns_with(&other) && !other.takes_turns_with(&odd));
        assert!(!odd.takes_turns_with(&Settings { ab: None, ..odd.clone() }), "turns that end are a change");
        assert!(
            !Settings::default().takes_turns_with(&Settings { budget: base.watch(), ..Settings::default() })
        );
    }
}
