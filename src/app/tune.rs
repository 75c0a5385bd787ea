//! What a key does to the settings: ladders of sensible values. Pure; every result is a valid setting.

use crate::domain::{HedgeDelay, Mode, Settings};
use std::time::Duration;

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Down,
    Up,
}

/// Step of the budget, and the budget (ms) up to which it holds.
const BUDGET_STEPS: &[(u64, u64)] =
    &[(10, 1), (20, 2), (50, 5), (100, 10), (200, 25), (1000, 50), (2000, 100), (5000, 250)];

/// Step of the budget above the table.
const LAST_STEP: u64 = 500;

/// Percentiles of the hedge delay, after the fixed times.
const PERCENTILES: &[f64] = &[0.5, 0.8, 0.9, 0.95, 0.99];

/// Periods in milliseconds.
const PERIODS: &[u64] =
    &[0, 10, 20, 50, 100, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000, 30_000, 60_000];

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The next mark of the budget's ladder. Up ends where the request budget would clamp it (R35).
pub(super) fn budget(settings: &mut Settings, way: Way) {
    let most = settings.most_budget();
    let ladder = || budget_marks().chain([most]).filter(|&d| d <= most);
    let next = match way {
        Way::Down => ladder().filter(|&d| d < settings.budget).max(),
        Way::Up => ladder().filter(|&d| d > settings.budget).min(),
    };
    if let Some(next) = next {
        settings.budget = next;
    }
}

/// 1, 2, … 10, 12, … 20, 25, … ms, up to ten minutes.
fn budget_marks() -> impl Iterator<Item = Duration> {
    let step = |at: u64| BUDGET_STEPS.iter().find(|s| at < s.0).map_or(LAST_STEP, |s| s.1);
    std::iter::successors(Some(1_u64), move |&at| Some(at + step(at)))
        .map(ms)
        .take_while(|&d| d <= ms(600_000))
}

/// k one down or up, within the optional calls.
pub(super) fn quorum(settings: &mut Settings, optional: usize, way: Way) {
    let k = settings.quorum_of(optional);
    let next = match way {
        Way::Down => k.saturating_sub(1),
        Way::Up => k.saturating_add(1),
    };
    settings.quorum = Some(next.clamp(1, optional.max(1)));
}

/// The next mark of the delay's ladder: fixed times below the budget, then percentiles.
pub(super) fn hedge_delay(settings: &mut Settings, way: Way) {
    let ladder = delay_marks(settings.budget);
    let place = |delay| match delay {
        HedgeDelay::Fixed(d) => (0, d.as_secs_f64()),
        HedgeDelay::Percentile(q) => (1, q),
    };
    let here = place(settings.hedge.delay);
    let next = match way {
        Way::Down => ladder.iter().rev().find(|&&mark| place(mark) < here),
        Way::Up => ladder.iter().find(|&&mark| place(mark) > here),
    };
    if let Some(&next) = next {
        settings.hedge.delay = next;
    }
}

fn delay_marks(budget: Duration) -> Vec<HedgeDelay> {
    let small = [0, 1, 2, 5].into_iter().filter(|&at| at == 0 || budget <= ms(20));
    let tens = (1..=10).map(|i| i * 10);
    let rest = (5..=400).map(|i| i * 25);
    let fixed = small.chain(tens).chain(rest).map(ms).filter(|&d| d < budget).map(HedgeDelay::Fixed);
    fixed.chain(PERCENTILES.iter().copied().map(HedgeDelay::Percentile)).collect()
}

/// The next period.
pub(super) fn period(settings: &mut Settings, way: Way) {
    let mut ladder = PERIODS.iter().copied().map(ms);
    let next = match way {
        Way::Down => ladder.rfind(|&d| d < settings.every),
        Way::Up => ladder.find(|&d| d > settings.every),
    };
    if let Some(next) = next {
        settings.every = next;
    }
}

/// The mode after this one; a quorum of nothing is left out.
pub(super) fn next_mode(mode: Mode, optional: usize) -> Mode {
    let all = Mode::ALL.iter().copied().filter(|&m| allowed(m, optional));
    all.clone().skip_while(|&m| m != mode).nth(1).or_else(|| all.clone().next()).unwrap_or(mode)
}

/// Shares of rounds that are probes.
const PROBES: &[f64] = &[0.0, 0.05, 0.2];

/// The share of probe rounds after this one; after the most, none.
pub(super) fn next_probe(probe: f64) -> f64 {
    PROBES.iter().copied().find(|&p| p > probe).unwrap_or_default()
}

/// Whether rounds of this mode can run with so many optional calls.
pub(super) fn allowed(mode: Mode, optional: usize) -> bool {
    mode != Mode::Quorum || optional > 0
}

/// Puts right what a change of one number did to another: a fixed delay stays below the budget (R24), k
/// within the optional calls (R20).
pub(super) fn settle(settings: &mut Settings, optional: usize) {
    settings.budget = settings.budget.max(Settings::MIN_BUDGET);
    if let HedgeDelay::Fixed(delay) = settings.hedge.delay
        && delay >= settings.budget
    {
        let below = delay_marks(settings.budget).into_iter().rfind(|m| matches!(m, HedgeDelay::Fixed(_)));
        settings.hedge.delay = below.unwrap_or(HedgeDelay::Fixed(Duration::ZERO));
    }
    settings.quorum = settings.quorum.map(|k| k.clamp(1, optional.max(1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(from: u64, way: Way, steps: usize) -> Vec<u64> {
        let mut s = Settings { budget: ms(from), request_budget: ms(10_000), ..Settings::default() };
        let next = |s: &mut Settings| {
            budget(s, way);
            u64::try_from(s.budget.as_millis()).unwrap()
        };
        (0..steps).map(|_| next(&mut s)).collect()
    }

    #[test]
    fn the_budget_climbs_by_steps_that_grow() {
        assert_eq!(walk(200, Way::Up, 3), [250, 300, 350]);
        assert_eq!(walk(200, Way::Down, 5), [175, 150, 125, 100, 90]);
        assert_eq!(walk(8, Way::Up, 4), [9, 10, 12, 14]);
        assert_eq!(walk(2, Way::Down, 3), [1, 1, 1]);
        assert_eq!(walk(237, Way::Up, 1), [250]);
        assert_eq!(walk(237, Way::Down, 1), [200]);
        assert_eq!(walk(9800, Way::Up, 2), [9995, 9995]);
    }

    #[test]
    fn r24_the_delay_stays_below_the_budget() {
        let mut s = Settings { budget: ms(30), ..Settings::default() };
        s.hedge.delay = HedgeDelay::Fixed(ms(0));
        let mut seen = Vec::new();
        for _ in 0..8 {
            hedge_delay(&mut s, Way::Up);
            seen.push(s.hedge.delay.to_string());
        }
        assert_eq!(seen, ["10ms", "20ms", "p50", "p80", "p90", "p95", "p99", "p99"]);
        s.hedge.delay = HedgeDelay::Fixed(ms(90));
        settle(&mut s, 8);
        assert_eq!(s.hedge.delay, HedgeDelay::Fixed(ms(20)));
        s.budget = ms(1);
        settle(&mut s, 8);
        assert_eq!(s.hedge.delay, HedgeDelay::Fixed(ms(0)));
    }

    #[test]
    fn a_delay_off_the_ladder_finds_its_neighbours() {
        let mut s = Settings::default();
        s.hedge.delay = HedgeDelay::Percentile(0.93);
        hedge_delay(&mut s, Way::Down);
        assert_eq!(s.hedge.delay, HedgeDelay::Percentile(0.9));
        s.hedge.delay = HedgeDelay::Percentile(0.5);
        hedge_delay(&mut s, Way::Down);
        assert_eq!(s.hedge.delay, HedgeDelay::Fixed(ms(175)));
    }

    #[test]
    fn modes_go_round_and_a_quorum_of_nothing_is_left_out() {
        assert_eq!(next_mode(Mode::Deadline, 3), Mode::Quorum);
        assert_eq!(next_mode(Mode::Deadline, 0), Mode::Hedge);
        assert_eq!(next_mode(Mode::FailFast, 3), Mode::Deadline);
    }

    #[test]
    fn w7_the_share_of_probe_rounds_goes_round() {
        let percent = |probe: f64| format!("{:.0}", next_probe(probe) * 100.0);
        assert_eq!([0.0, 0.02, 0.05, 0.2, 1.0].map(percent), ["5", "5", "20", "0", "0"]);
    }

    #[test]
    fn periods_have_two_ends() {
        let mut s = Settings { every: ms(0), ..Settings::default() };
        period(&mut s, Way::Down);
        assert_eq!(s.every, ms(0));
        period(&mut s, Way::Up);
        assert_eq!(s.every, ms(10));
    }
}
