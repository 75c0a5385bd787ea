//! Rounds as the estimators see them, by hand and by dice.

#[path = "seen.rs"]
#[expect(dead_code, reason = "worked examples use their own part")]
mod seen;

use fanscope::domain::{EndpointId, Late, Mode, Outcome, Reason, RoundNo, Settings};
use fanscope::whatif::outlook::Question;
use fanscope::whatif::seen::Seen;
use fanscope::whatif::survival::{Observation, Observed};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::Duration;

pub const CUT: Outcome = Outcome::Missing(Reason::Deadline);
pub const FAILED: Outcome = Outcome::Missing(Reason::HttpStatus);

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A deadline round of these calls.
pub fn round(budget: Duration, calls: &[Observation]) -> Arc<Seen> {
    let settings = Arc::new(Settings { budget, ..Settings::default() });
    let made = calls.iter().enumerate().map(|(i, seen)| seen::call(i, Some((seen.time, seen.what))));
    Arc::new(Seen {
        at: Duration::ZERO,
        took: calls.iter().map(|seen| seen.time).max().unwrap_or_default(),
        partial: calls.iter().any(|seen| seen.what != Observed::Ok),
        ..seen::round(1, &settings, made.collect())
    })
}

/// What is asked of these rounds with the settings of the last.
pub fn question(rounds: Vec<Arc<Seen>>) -> Question {
    let calls = rounds.iter().map(|round| round.calls.len()).max().unwrap_or(0);
    Question {
        settings: rounds.last().map(|round| Settings::clone(&round.settings)).unwrap_or_default(),
        now: rounds.iter().map(|round| round.at).max().unwrap_or_default() + Duration::from_secs(60),
        rounds,
        names: (0..calls).map(|i| format!("shop-{i}")).collect(),
        specs: vec![seen::spec(); calls],
    }
}

/// How calls are by nature: what a round of no budget at all would see.
#[derive(Debug, Clone, Copy)]
pub struct Nature {
    pub calls: usize,
    /// Rounds in which every call is slow by that much, of 1000.
    pub together: u32,
    /// Calls that are slow for themselves, of 1000.
    pub alone: u32,
    /// Calls that fail, of 1000.
    pub errors: u32,
    pub slow_by: Duration,
}

impl Nature {
    /// 20 to 180 ms, one in four slower by up to 200 ms, two in a hundred reset.
    pub const PLAIN: Self =
        Self { calls: 8, together: 0, alone: 250, errors: 20, slow_by: Duration::from_millis(200) };

    fn call(&self, slow: bool, dice: &mut ChaCha8Rng) -> Observation {
        let of_thousand = |dice: &mut ChaCha8Rng, part: u32| dice.random_range(0..1000) < part;
        let fails = of_thousand(dice, self.errors);
        let slow = slow || of_thousand(dice, self.alone);
        let base = Duration::from_micros(dice.random_range(20_000..180_000));
        let more = self.slow_by.mul_f64(f64::from(dice.random_range(0_u32..1000)) / 1e3);
        let time = base + if slow { more } else { Duration::ZERO };
        Observation { time, what: if fails { Observed::Error } else { Observed::Ok } }
    }

    pub fn round(&self, dice: &mut ChaCha8Rng) -> Vec<Observation> {
        let slow = dice.random_range(0..1000) < self.together;
        (0..self.calls).map(|_| self.call(slow, dice)).collect()
    }

    /// Mean answered share at a budget, in very many rounds.
    pub fn truth(&self, budget: Duration) -> f64 {
        let mut dice = ChaCha8Rng::seed_from_u64(99);
        let rounds = 8_000;
        let answered = (0..rounds).map(|_| share(&self.round(&mut dice), budget)).sum::<f64>();
        answered / f64::from(rounds)
    }
}

/// Share of the calls that answer by the budget.
pub fn share(calls: &[Observation], budget: Duration) -> f64 {
    let answered = calls.iter().filter(|c| c.what == Observed::Ok && c.time <= budget).count();
    f64::from(u32::try_from(answered).expect("few")) / f64::from(u32::try_from(calls.len()).expect("few"))
}

/// What a deadline round sees of calls of such a nature; a probe also what came past its end.
pub fn cut(no: u64, settings: &Arc<Settings>, probe: bool, nature: &[Observation]) -> Seen {
    let budget = settings.budget;
    let overshoot = Duration::from_micros(300);
    let cut = Observation { time: budget + overshoot, what: Observed::Censored };
    let whole = |seen: &Observation| if seen.time > budget { cut } else { *seen };
    let all: Vec<Observation> = nature.iter().map(whole).collect();
    let mut round = Arc::unwrap_or_clone(round(budget, &all));
    round.no = RoundNo(no);
    round.at = settings.every * u32::try_from(no).expect("few rounds");
    round.settings = Arc::clone(settings);
    let watch = settings.watch();
    round.probe = probe.then_some(watch);
    for (i, seen) in nature.iter().enumerate().filter(|(_, seen)| probe && seen.time > budget) {
        let outcome = match seen.what {
            _ if seen.time > watch => CUT,
            Observed::Ok => Outcome::Ok,
            _ => FAILED,
        };
        round.late(Late { endpoint: EndpointId(i), outcome, end: seen.time.min(watch) });
    }
    round
}

/// Rounds with a budget, of which every so many-th is a probe.
pub fn session(
    nature: &Nature,
    rounds: u64,
    budget: Duration,
    every_th: Option<u64>,
    dice: &mut ChaCha8Rng,
) -> Vec<Arc<Seen>> {
    let settings = Arc::new(Settings { budget, ..Settings::default() });
    let probe = |no: u64| every_th.is_some_and(|th| no.is_multiple_of(th));
    (1..=rounds).map(|no| Arc::new(cut(no, &settings, probe(no), &nature.round(dice)))).collect()
}

pub fn dice(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The same in another order.
pub fn shuffled<T>(mut things: Vec<T>, dice: &mut ChaCha8Rng) -> Vec<T> {
    for i in (1..things.len()).rev() {
        let j = usize::try_from(dice.next_u64() % (i as u64 + 1)).expect("an index");
        things.swap(i, j);
    }
    things
}

/// Rounds of a mode.
pub fn in_mode(rounds: Vec<Arc<Seen>>, mode: Mode) -> Vec<Arc<Seen>> {
    let change = |round: Arc<Seen>| {
        let mut round = Arc::unwrap_or_clone(round);
        round.settings = Arc::new(Settings { mode, ..Settings::clone(&round.settings) });
        Arc::new(round)
    };
    rounds.into_iter().map(change).collect()
}
