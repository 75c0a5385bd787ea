//! What a round is asked to do: the mode and its numbers, and what each call brings of its own.

use super::ab::Ab;
use super::numbers;
use super::reason::words;
use std::fmt;
use std::time::Duration;

words! {
    /// The contract of a round.
    Mode {
        /// What arrived by the budget is the answer.
        Deadline = "deadline",
        /// The first k answers are enough.
        Quorum = "quorum",
        /// A late primary is helped by a second attempt; the first success wins.
        Hedge = "hedge",
        /// For contrast: wait for every call.
        WaitAll = "wait-all",
        /// For contrast: the first failure fails the round.
        FailFast = "fail-fast",
    }
}

impl Mode {
    /// Whether the mode never cuts at the budget but only at the request deadline (R32, R33).
    #[must_use]
    pub const fn ignores_budget(self) -> bool {
        matches!(self, Self::WaitAll | Self::FailFast)
    }

    /// Whether a round with calls that are still running ends at the budget and nowhere else.
    #[must_use]
    pub const fn ends_at_budget(self) -> bool {
        matches!(self, Self::Deadline | Self::Hedge)
    }

    /// The mode with this spelling.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|m| m.as_str() == word)
    }
}

/// When a hedge is sent, counted from the start of the attempt before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HedgeDelay {
    /// After this time. Zero is a race.
    Fixed(Duration),
    /// At this quantile (0 < q < 1) of the endpoint's recent primary attempts.
    Percentile(f64),
}

impl HedgeDelay {
    /// Whether all attempts start at once.
    #[must_use]
    pub const fn is_race(self) -> bool {
        matches!(self, Self::Fixed(Duration::ZERO))
    }

    /// What this was displayed from: a percentile, or milliseconds.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(percent) = text.strip_prefix('p') {
            let percent: f64 = percent.parse().ok()?;
            return (percent > 0.0 && percent < 100.0).then_some(Self::Percentile(percent / 100.0));
        }
        let ms: f64 = text.strip_suffix("ms")?.parse().ok()?;
        Duration::try_from_secs_f64(ms / 1e3).ok().map(Self::Fixed)
    }
}

impl fmt::Display for HedgeDelay {
    /// `p95`, `p99.9`, `50ms`, `2.5ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(d) => write!(f, "{}ms", numbers::millis(*d)),
            // Rounded so that 0.999 prints as p99.9 and not with the float's tail.
            Self::Percentile(q) => write!(f, "p{}", (q * 1e5).round() / 1e3),
        }
    }
}

/// How calls are hedged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HedgeSettings {
    /// When the next attempt starts.
    pub delay: HedgeDelay,
    /// Hedges beside the primary, 0 to 4. `None`: 1, and in a race replicas - 1 but at least 1 (R24).
    pub max: Option<u8>,
    /// Hedges per primary that the load budget allows, as a share (0.05 is 5 %).
    pub load_budget: f64,
    /// Whether a retryable failure starts the next hedge at once (R25).
    pub on_error: bool,
}

impl HedgeSettings {
    /// Most hedges a call may be given.
    pub const MAX: u8 = 4;

    /// Hedges beside the primary for a call with this many replicas.
    #[must_use]
    pub fn max_for(&self, replicas: usize) -> u8 {
        let race = || u8::try_from(replicas.saturating_sub(1)).unwrap_or(Self::MAX).max(1);
        let max = self.max.unwrap_or_else(|| if self.delay.is_race() { race() } else { 1 });
        max.min(Self::MAX)
    }
}

impl Default for HedgeSettings {
    fn default() -> Self {
        Self { delay: HedgeDelay::Percentile(0.95), max: None, load_budget: 0.05, on_error: true }
    }
}

/// The settings of a round. They never change while it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The contract.
    pub mode: Mode,
    /// How long the optional calls may take.
    pub budget: Duration,
    /// The outer limit for the whole round.
    pub request_budget: Duration,
    /// From one planned start to the next. Zero: the next round starts when the last ended.
    pub every: Duration,
    /// k of a quorum. `None`: a majority of the optional calls.
    pub quorum: Option<usize>,
    /// Whether a quorum that can no longer be met ends the round (R21).
    pub quorum_fail_fast: bool,
    /// How calls are hedged in hedge mode.
    pub hedge: HedgeSettings,
    /// How long a finished round waits for its cancelled attempts to be gone (R13).
    pub grace: Duration,
    /// Whether the last moment before a cut is waited for awake: cuts come closer to their time, for at most 1 ms of
    /// CPU a round.
    pub spin: bool,
    /// Rounds that may run at once (R38).
    pub max_overlap: usize,
    /// Share of the rounds whose stragglers are watched past the end, 0 to 1 (W7).
    pub probe: f64,
    /// Two variants of these settings that rounds have in turn (W9).
    pub ab: Option<Ab>,
}

impl Settings {
    /// The budget may not be set below this.
    pub const MIN_BUDGET: Duration = Duration::from_millis(1);

    /// What R35 keeps back from the request budget.
    pub const RESERVE: Duration = Duration::from_millis(5);

    /// How long stragglers of a probe round are watched: `min(5 x budget, 10 s)`, from the round's start (W7).
    #[must_use]
    pub fn watch(&self) -> Duration {
        self.effective_budget().0.saturating_mul(5).min(Duration::from_secs(10))
    }

    /// k for a round with this many optional calls, within `1..=optional` (a majority by default).
    #[must_use]
    pub fn quorum_of(&self, optional: usize) -> usize {
        self.quorum.unwrap_or(optional / 2 + 1).clamp(1, optional.max(1))
    }

    /// The largest budget that is not clamped by the request budget (R35).
    #[must_use]
    pub fn most_budget(&self) -> Duration {
        self.request_budget.saturating_sub(Self::RESERVE).max(Self::MIN_BUDGET)
    }

    /// The optional budget that really holds: `min(budget, request_budget - reserve)` (R35), and whether
    /// that is less than was asked for.
    #[must_use]
    pub fn effective_budget(&self) -> (Duration, bool) {
        let room = self.request_budget.saturating_sub(Self::RESERVE);
        (self.budget.min(room), self.budget > room)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Deadline,
            budget: Duration::from_millis(200),
            request_budget: Duration::from_secs(10),
            every: Duration::from_millis(500),
            quorum: None,
            quorum_fail_fast: false,
            hedge: HedgeSettings::default(),
            grace: Duration::from_millis(50),
            spin: true,
            max_overlap: 4,
            probe: 0.0,
            ab: None,
        }
    }
}

/// An endpoint's own say on hedging (R34a).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum HedgeContract {
    /// Hedged in hedge mode, by the round's settings.
    #[default]
    ByMode,
    /// Hedged by these settings in deadline, quorum and hedge rounds.
    Own(HedgeSettings),
    /// Never hedged.
    Off,
}

/// What the engine has to know of an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSpec {
    /// Whether its failure fails the round (R34).
    pub required: bool,
    /// Its own limit, counted from the round's start (R7).
    pub timeout: Option<Duration>,
    /// URLs to choose from, at least 1.
    pub replicas: usize,
    /// Whether a second identical request does no harm (R30).
    pub repeatable: bool,
    /// Its own say on hedging.
    pub hedge: HedgeContract,
}

impl Default for CallSpec {
    /// What an endpoint of a profile is that says nothing but its URL.
    fn default() -> Self {
        Self { required: false, timeout: None, replicas: 1, repeatable: true, hedge: HedgeContract::ByMode }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_print_as_they_are_written() {
        let shown = |d: HedgeDelay| d.to_string();
        assert_eq!(shown(HedgeDelay::Percentile(0.95)), "p95");
        assert_eq!(shown(HedgeDelay::Percentile(0.999)), "p99.9");
        assert_eq!(shown(HedgeDelay::Fixed(Duration::from_micros(2500))), "2.5ms");
        assert_eq!(shown(HedgeDelay::Fixed(Duration::ZERO)), "0ms");
    }

    #[test]
    fn a_delay_reads_back() {
        for delay in [
            HedgeDelay::Percentile(0.95),
            HedgeDelay::Percentile(99.9 / 100.0),
            HedgeDelay::Fixed(Duration::from_micros(2500)),
            HedgeDelay::Fixed(Duration::ZERO),
        ] {
            assert_eq!(HedgeDelay::parse(&delay.to_string()), Some(delay));
        }
        for none in ["", "p", "p0", "p100", "pNaN", "95", "-1ms", "1s", "NaNms", "infms"] {
            assert_eq!(HedgeDelay::parse(none), None, "{none}");
        }
    }

    #[test]
    fn r24_a_race_asks_every_replica_and_at_least_two() {
        let race = HedgeSettings { delay: HedgeDelay::Fixed(Duration::ZERO), ..HedgeSettings::default() };
        assert_eq!([1, 2, 3, 9].map(|n| race.max_for(n)), [1, 1, 2, 4]);
        assert_eq!(HedgeSettings::default().max_for(3), 1);
    }

    #[test]
    fn r35_the_reserve_clamps_the_budget() {
        let mut s = Settings { request_budget: Duration::from_millis(150), ..Settings::default() };
        assert_eq!(s.effective_budget(), (Duration::from_millis(145), true));
        s.budget = Duration::from_millis(100);
        assert_eq!(s.effective_budget(), (Duration::from_millis(100), false));
    }

    #[test]
    fn r20_the_quorum_stays_within_the_optional_calls() {
        let s = Settings { quorum: Some(9), ..Settings::default() };
        assert_eq!(s.quorum_of(8), 8);
        assert_eq!(Settings::default().quorum_of(8), 5);
        assert_eq!(Settings::default().quorum_of(0), 1);
    }
}
