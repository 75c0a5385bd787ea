//! What a hedge would give (W5): worked examples (`tests/vectors.json`, times in ms) and made-up rounds.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/seen.rs"]
mod seen;

use fanscope::domain::{HedgeContract, HedgeDelay, HedgeSettings, Mode, Outcome, Settings};
use fanscope::whatif::hedge::model::{Law, Plan, first};
use fanscope::whatif::hedge::steps::{Steps, nanos, time};
use fanscope::whatif::hedge::{HedgeRow, HedgeStatus, HedgeStudy};
use fanscope::whatif::outlook::Question;
use fanscope::whatif::seen::SeenCall;
use fanscope::whatif::survival::{Curve, Observation, Observed, Tied};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use seen::{Made, call, millis, ms, question, round};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const TOLERANCE: f64 = 1e-6;
const ENDLESS: f64 = f64::INFINITY;

fn vectors(kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let all = file["vectors"].as_array().unwrap();
    let some: Vec<Value> = all.iter().filter(|v| v["kind"] == kind).cloned().collect();
    assert!(!some.is_empty(), "{kind}");
    some
}

fn close(name: &str, key: &str, got: f64, want: &Value) {
    let want = want.as_f64().unwrap();
    assert!((got - want).abs() < TOLERANCE, "{name}: {key} is {got}, not {want}");
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Attempts by their shares: the curve of a hundred thousand of them.
fn law(ok: Option<&Value>, err: Option<&Value>) -> Steps {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole hundred-thousandths")]
    let count = |share: &Value| (number(share) * 1e5).round() as usize;
    let pairs = |of: Option<&Value>| of.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut tied: Vec<Tied> = Vec::new();
    for (i, pair) in pairs(ok).iter().map(|p| (0, p.clone())).chain(pairs(err).iter().map(|p| (1, p.clone())))
    {
        let (ok, error) = if i == 0 { (count(&pair[1]), 0) } else { (0, count(&pair[1])) };
        tied.push(Tied { time: millis(number(&pair[0])), ok, error, censored: 0 });
    }
    tied.sort_by_key(|t| t.time);
    let known: usize = tied.iter().map(|t| t.ok + t.error).sum();
    // What neither answers nor fails is never seen to end.
    let last = tied.last().unwrap().time + ms(1000);
    tied.push(Tied { time: last, ok: 0, error: 0, censored: 100_000 - known });
    Steps::of(&Curve::of_tied(&tied))
}

fn after(delay: f64, on_error: bool) -> Plan {
    Plan::After { delay, on_error }
}

/// The smallest time by which a share has answered, in ms.
fn quantile(law: &Steps, plan: Plan, q: f64) -> f64 {
    let last = 4.0 * law.last();
    let found = first(q - 1e-9, last, 0.5, |t| plan.ok(law, law, ENDLESS, t)).unwrap();
    time(found).as_secs_f64() * 1e3
}

#[test]
fn w5_hedges_as_worked_by_hand() {
    for vector in vectors("hedge") {
        let (name, input, want) = (vector["name"].as_str().unwrap(), &vector["input"], &vector["expected"]);
        if name == "hedge_exponential_at_p95" {
            exponential_at_a_quantile(name, input, want);
            continue;
        }
        let ok = input.get("latency_pmf").or_else(|| input.get("ok_pmf"));
        let law = law(ok, input.get("err_pmf"));
        let delay = nanos(millis(number(&input["delay"])));
        let on_error = input["hedge_on_error"].as_bool().unwrap_or(true);
        for (key, want) in want.as_object().unwrap() {
            let by = |plan: Plan| {
                for (t, want) in want.as_object().unwrap() {
                    let t = nanos(millis(t.parse().unwrap()));
                    close(name, key, plan.ok(&law, &law, ENDLESS, t), want);
                }
            };
            match key.as_str() {
                "P_ok_by" => by(after(delay, on_error)),
                "P_ok_by_without_hedge_on_error" => by(after(delay, false)),
                "unhedged" => by(Plan::Alone),
                "extra_load" => close(name, key, after(delay, on_error).extra_load(&law, ENDLESS), want),
                "extra_load_without_hedge_on_error" => {
                    close(name, key, after(delay, false).extra_load(&law, ENDLESS), want);
                }
                "p99_unhedged" => close(name, key, quantile(&law, Plan::Alone, 0.99), want),
                "p99_hedged" => close(name, key, quantile(&law, after(delay, on_error), 0.99), want),
                "p95_hedged" => close(name, key, quantile(&law, after(delay, on_error), 0.95), want),
                _ => panic!("{name}: {key}"),
            }
        }
    }
}

/// A law in one formula.
struct Exponential(f64);

impl Exponential {
    fn delay(&self, q: f64) -> f64 {
        first(q, 100.0 * self.0, 1e-10, |t| self.ok(t)).unwrap()
    }

    fn hedged(&self, plan: Plan, q: f64) -> f64 {
        first(q, 100.0 * self.0, 1e-10, |t| plan.ok(self, self, ENDLESS, t)).unwrap()
    }
}

impl Law for Exponential {
    fn ok(&self, t: f64) -> f64 {
        1.0 - (-t.max(0.0) / self.0).exp()
    }

    fn failed(&self, _: f64) -> f64 {
        0.0
    }

    fn errors(&self) -> &[(f64, f64)] {
        &[]
    }
}

fn exponential_at_a_quantile(name: &str, input: &Value, want: &Value) {
    let law = Exponential(number(&input["mean"]));
    let q = number(&input["delay_quantile"]);
    let delay = law.delay(q);
    let plan = after(delay, true);
    close(name, "delay", delay, &want["delay"]);
    close(name, "extra_load", plan.extra_load(&law, ENDLESS), &want["extra_load"]);
    close(name, "p99_single", law.hedged(Plan::Alone, 0.99), &want["p99_single"]);
    close(name, "p99_hedged", law.hedged(plan, 0.99), &want["p99_hedged"]);
    close(name, "p999_hedged", law.hedged(plan, 0.999), &want["p999_hedged"]);
}

#[test]
fn w5_races_as_worked_by_hand() {
    for vector in vectors("race") {
        let (name, input, want) = (vector["name"].as_str().unwrap(), &vector["input"], &vector["expected"]);
        if let Some(mean) = input.get("mean").and_then(Value::as_f64) {
            let law = Exponential(mean);
            for (key, plan) in
                [("p99_single", Plan::Alone), ("p99_race2", Plan::Race(1)), ("p99_race3", Plan::Race(2))]
            {
                close(name, key, law.hedged(plan, 0.99), &want[key]);
            }
            close(
                name,
                "extra_load_race2",
                Plan::Race(1).extra_load(&law, ENDLESS),
                &want["extra_load_race2"],
            );
            continue;
        }
        let samples = input["samples"].as_array().unwrap().iter();
        let seen: Vec<Observation> =
            samples.map(|t| Observation { time: millis(number(t)), what: Observed::Ok }).collect();
        let law = Steps::of(&Curve::of(&seen));
        close(name, "p99_single", quantile(&law, Plan::Alone, 0.99), &want["p99_single"]);
        close(name, "p99_race2", quantile(&law, Plan::Race(1), 0.99), &want["p99_race2"]);
        close(name, "p90_single", quantile(&law, Plan::Alone, 0.9), &want["p90_single"]);
    }
}

#[test]
fn w5_the_curve_over_delays_as_worked_by_hand() {
    for vector in vectors("hedge_curve") {
        let (name, input, want) = (vector["name"].as_str().unwrap(), &vector["input"], &vector["expected"]);
        let law = Exponential(number(&input["mean"]));
        for row in want["curve"].as_array().unwrap() {
            let q = number(&row["delay_quantile"]);
            let plan = after(number(&row["delay"]), true);
            close(name, "delay", law.delay(q), &row["delay"]);
            close(name, "extra_load", plan.extra_load(&law, ENDLESS), &row["extra_load"]);
            let p99 = law.hedged(plan, number(&input["q"]));
            close(name, "p99", p99, &row["p99"]);
        }
        // The smallest delay within the load budget is found as the production code finds it.
        let load = |d: f64| 1.0 - after(d, true).extra_load(&law, ENDLESS);
        let best = first(1.0 - number(&input["load_budget"]), 1e5, 1e-10, load).unwrap();
        close(name, "best", best, &want["best"]["delay"]);
    }
}

/// Rounds in hedge mode with a fixed delay, or without hedges (`None`); a call is slow by itself, and so is its hedge.
struct Nature {
    seed: u64,
    calls: usize,
    errors: f64,
}

impl Nature {
    fn attempt(&self, rng: &mut ChaCha8Rng) -> (Duration, Observed) {
        let slow = if rng.random_bool(0.08) { rng.random_range(60_000..150_000) } else { 0 };
        let time = Duration::from_micros(rng.random_range(10_000..50_000) + slow);
        if rng.random_bool(self.errors) { (time / 4, Observed::Error) } else { (time, Observed::Ok) }
    }

    fn rounds(&self, rounds: usize, delay: Option<Duration>, budget: Duration) -> Question {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let made = vec![vec![None; self.calls]; rounds];
        let mut asked = question(budget, &made);
        let hedge = HedgeSettings {
            delay: delay.map_or(HedgeDelay::Percentile(0.95), HedgeDelay::Fixed),
            ..HedgeSettings::default()
        };
        let contract = if delay.is_some() { Mode::Hedge } else { Mode::Deadline };
        asked.settings = Settings { mode: contract, hedge, ..asked.settings };
        let settings = Arc::new(asked.settings.clone());
        for seen in &mut asked.rounds {
            let calls = (0..self.calls).map(|i| self.call(i, delay, budget, &mut rng)).collect();
            *seen = Arc::new(round(seen.no.0, &settings, calls));
        }
        asked
    }

    /// As the engine would play it: the first answer wins, an error hedges at once.
    fn call(&self, i: usize, delay: Option<Duration>, budget: Duration, rng: &mut ChaCha8Rng) -> SeenCall {
        let cut = |(time, what): (Duration, Observed), at: Duration| {
            if time > at { (at, Observed::Censored) } else { (time, what) }
        };
        let primary = self.attempt(rng);
        let Some(delay) = delay else { return call(i, Some(cut(primary, budget))) };
        let start = if primary.1 == Observed::Error { primary.0.min(delay) } else { delay };
        if primary.1 == Observed::Ok && primary.0 <= delay {
            return SeenCall { hedge_delay: Some(delay), ..call(i, Some(cut(primary, budget))) };
        }
        let (time, what) = self.attempt(rng);
        let hedge = (start + time, what);
        let answers = [primary, hedge].into_iter().filter(|a| a.1 == Observed::Ok).map(|a| a.0);
        let end = answers.min().filter(|&t| t <= budget);
        let failed =
            (primary.1 == Observed::Error && hedge.1 == Observed::Error).then(|| primary.0.max(hedge.0));
        let whole = match (end, failed) {
            (Some(end), _) => (end, Observed::Ok),
            (None, Some(end)) if end <= budget => (end, Observed::Error),
            _ => (budget, Observed::Censored),
        };
        let observation = |(time, what)| Observation { time, what };
        SeenCall {
            hedge_delay: Some(delay),
            primary: Some(observation(cut(primary, whole.0))),
            hedges: Box::new([(start, observation(cut(hedge, whole.0)))]),
            ..call(i, Some(whole))
        }
    }
}

fn row(study: &HedgeStudy, delay: impl Into<Option<HedgeDelay>>) -> &HedgeRow {
    let delay = delay.into();
    study.rows.iter().find(|row| row.delay == delay).unwrap_or_else(|| panic!("{delay:?} in {study:#?}"))
}

fn fixed(delay: u64) -> HedgeDelay {
    HedgeDelay::Fixed(ms(delay))
}

/// What really runs at a delay agrees with what the model made of rounds without a hedge.
#[test]
fn w5_the_model_agrees_with_hedges_that_really_run() {
    let (mut ok, mut p99, mut load) = (0, 0, 0);
    let tries = 40;
    for seed in 0..tries {
        let nature = |seed| Nature { seed, calls: 8, errors: 0.02 };
        let mut before = nature(seed).rounds(600, None, ms(150));
        before.settings.hedge.delay = HedgeDelay::Fixed(ms(55));
        let model = HedgeStudy::of(&before).unwrap();
        assert!(model.observed.is_none() && model.real == 0);
        let model = row(&model, fixed(55));
        let real = HedgeStudy::of(&nature(1000 + seed).rounds(600, Some(ms(55)), ms(150))).unwrap();
        let seen = real.observed.unwrap();
        assert_eq!((seen.delay, seen.calls), (HedgeDelay::Fixed(ms(55)), 4800));
        assert!(real.real == seen.hedges && seen.hedges > 300);
        assert_eq!(model.status, HedgeStatus::Model);
        ok += u32::from(model.ok_by_budget.is_some_and(|ok| seen.interval.0 <= ok && ok <= seen.interval.1));
        load += u32::from((seen.extra_load - model.extra_load).abs() < 0.02);
        let (lo, hi) = seen.p99_interval;
        let within = |p99| lo.is_none_or(|lo| lo <= p99) && hi.is_none_or(|hi| p99 <= hi);
        p99 += u32::from(model.p99.is_some_and(within));
    }
    // Both sides are samples: the interval of one holds the other's figure a little less than 19 times of 20.
    assert!(ok >= 30 && p99 >= 30 && load >= 38, "of {tries}: {ok} {p99} {load}");
}

/// A model of hedged rounds takes the hedges' own times.
#[test]
fn w5_real_hedges_tell_more_of_the_next_than_primaries_do() {
    let mut asked = Nature { seed: 1, calls: 4, errors: 0.0 }.rounds(600, Some(ms(55)), ms(150));
    let as_they_were = HedgeStudy::of(&asked).unwrap();
    for seen in &mut asked.rounds {
        for call in &mut Arc::make_mut(seen).calls {
            for (_, hedge) in &mut call.hedges {
                *hedge = Observation { time: ms(150), what: Observed::Censored };
            }
        }
    }
    let never = HedgeStudy::of(&asked).unwrap();
    let [good, dead] = [&as_they_were, &never].map(|study| row(study, fixed(55)).ok_by_budget.unwrap());
    let none = row(&never, None).ok_by_budget.unwrap();
    assert!(good > none + 0.01, "{good} {none}");
    assert!((dead - none).abs() < 1e-9, "a replica that never answers is no hedge: {dead} {none}");
    assert_eq!(never.best, None, "and buys nothing");
}

#[test]
fn w5_rows_go_from_no_hedge_to_a_race_by_what_they_cost() {
    let mut asked = Nature { seed: 2, calls: 4, errors: 0.02 }.rounds(300, None, ms(150));
    for spec in &mut asked.specs {
        spec.replicas = 3;
    }
    let study = HedgeStudy::of(&asked).unwrap();
    let delays: Vec<String> =
        study.rows.iter().map(|row| row.delay.map_or("none".to_owned(), |d| d.to_string())).collect();
    let first = delays.first().map(String::as_str);
    assert_eq!((first, delays.last().map(String::as_str)), (Some("none"), Some("0ms")), "{delays:?}");
    for percentile in ["p99", "p95", "p90", "p80", "p60", "p50"] {
        assert!(delays.iter().any(|d| d == percentile), "{delays:?}");
    }
    assert!((study.rows.last().unwrap().extra_load - 2.0).abs() < 1e-9, "all three at once");
    let [p50, none] = [Some(HedgeDelay::Percentile(0.5)), None].map(|d| *row(&study, d));
    assert!(none.time.is_none() && p50.time.unwrap() >= ms(25) && p50.time.unwrap() <= ms(40), "{p50:?}");
    assert!((p50.extra_load - 0.5).abs() < 0.01 && none.extra_load == 0.0);
    // R24: a percentile that is not reached is half of the budget.
    let p99 = row(&study, Some(HedgeDelay::Percentile(0.99)));
    assert_eq!(p99.time, Some(ms(75)));
}

#[test]
fn w5_the_best_delay_is_the_smallest_within_the_load_budget() {
    let mut asked = Nature { seed: 3, calls: 4, errors: 0.0 }.rounds(600, None, ms(150));
    let best = HedgeStudy::of(&asked).unwrap().best.unwrap();
    let primaries: Vec<Observation> =
        asked.rounds.iter().flat_map(|r| &r.calls).filter_map(|c| c.primary).collect();
    assert_eq!(Some(best), Curve::of(&primaries).quantile_ok(0.95), "F^-1(1 - b)");
    let study = HedgeStudy::of(&asked).unwrap();
    let chosen = row(&study, Some(HedgeDelay::Fixed(best)));
    assert!(chosen.extra_load <= 0.05 + 1e-9 && chosen.ok_by_budget > row(&study, None).ok_by_budget);
    // Not said where a call is hedged twice, nor where there is no load to spend before the budget.
    asked.settings.hedge.max = Some(2);
    assert_eq!(HedgeStudy::of(&asked).unwrap().best, None);
    asked.settings.hedge = HedgeSettings { load_budget: 0.0, ..HedgeSettings::default() };
    assert_eq!(HedgeStudy::of(&asked).unwrap().best, None);
    // Nor below what a delay may be.
    asked.settings.hedge.load_budget = 1.0;
    assert_eq!(HedgeStudy::of(&asked).unwrap().best, Some(ms(1)));
}

/// Cut at 100 ms: what a hedge would give beyond is not what was seen.
#[test]
fn w5_beyond_what_was_seen_it_is_extrapolated() {
    let mut asked = Nature { seed: 4, calls: 4, errors: 0.0 }.rounds(300, None, ms(100));
    let within = HedgeStudy::of(&asked).unwrap();
    assert_eq!(row(&within, None).status, HedgeStatus::Model);
    assert_eq!(row(&within, None).p99, None, "not seen");
    asked.settings.budget = ms(150);
    let beyond = HedgeStudy::of(&asked).unwrap();
    assert!(beyond.rows.iter().all(|row| row.status == HedgeStatus::Extrapolated), "{beyond:#?}");
}

#[test]
fn w5_only_calls_that_may_be_hedged_are_looked_at() {
    let mut asked = Nature { seed: 5, calls: 3, errors: 0.0 }.rounds(100, None, ms(150));
    let all = HedgeStudy::of(&asked).unwrap();
    asked.specs[0].repeatable = false;
    asked.specs[1].hedge = HedgeContract::Off;
    let one = HedgeStudy::of(&asked).unwrap();
    assert!(one.n > 0 && one.n < all.n);
    asked.specs[2].hedge = HedgeContract::Own(HedgeSettings { max: Some(0), ..HedgeSettings::default() });
    assert_eq!(HedgeStudy::of(&asked), None);
    asked.specs.clear();
    assert_eq!(HedgeStudy::of(&asked), None);
}

/// Hedges by a contract of their own, in deadline rounds.
#[test]
fn w5_hedges_by_contract_are_observed_with_their_own_delay() {
    let mut asked = Nature { seed: 6, calls: 4, errors: 0.0 }.rounds(600, Some(ms(55)), ms(150));
    let own = HedgeSettings { delay: HedgeDelay::Fixed(ms(55)), ..HedgeSettings::default() };
    let settings =
        Settings { mode: Mode::Deadline, hedge: HedgeSettings::default(), ..asked.settings.clone() };
    for seen in &mut asked.rounds {
        Arc::make_mut(seen).settings = Arc::new(settings.clone());
    }
    asked.settings = settings;
    assert!(HedgeStudy::of(&asked).unwrap().observed.is_none(), "none of these is hedged by the mode");
    for spec in &mut asked.specs {
        spec.hedge = HedgeContract::Own(own);
    }
    let seen = HedgeStudy::of(&asked).unwrap().observed.unwrap();
    assert_eq!((seen.delay, seen.calls), (HedgeDelay::Fixed(ms(55)), 2400));
}

#[test]
fn w6_hedges_rest_on_enough_calls_or_say_so() {
    let of = |rounds, calls, budget| {
        HedgeStudy::of(&Nature { seed: 9, calls, errors: 0.0 }.rounds(rounds, None, ms(budget))).unwrap()
    };
    // Many calls, but each endpoint's law rests on its own.
    let few = of(3, 8, 150);
    assert!(few.rows.is_empty() && few.best.is_none() && few.n > 20, "{few:#?}");
    let thin = of(12, 8, 150);
    assert!(!thin.rows.is_empty() && thin.rows.iter().all(|row| row.thin && row.ok_by_budget.is_some()));
    assert!(thin.rows.iter().all(|row| row.words().ends_with(", thin")));
    assert!(of(40, 8, 150).rows.iter().all(|row| !row.thin && row.ok_by_budget.is_some()));
    // The 99th of a hundred is read where two are left, of some hundreds where few, of thousands where many are.
    let p99 = |rounds| {
        let study = of(rounds, 4, 300);
        let row = row(&study, None);
        (row.p99.is_some(), row.p99_thin)
    };
    assert_eq!([p99(25), p99(200), p99(1500)], [(false, false), (true, true), (true, false)]);
}

/// Of a hundred calls most are cut before the budget that is asked for.
#[test]
fn w6_a_share_at_a_time_at_which_hardly_any_call_was_left_is_no_number() {
    let made = |left: u64| {
        let one = |no: u64| match no {
            no if no < left => Some((ms(180), Observed::Ok)),
            no if no % 2 == 0 => Some((ms(40), Observed::Ok)),
            _ => Some((ms(100), Observed::Censored)),
        };
        (0..100).map(|no| vec![one(no)]).collect::<Vec<_>>()
    };
    let [none, thin, solid] = [3, 10, 30].map(|left| {
        let study = HedgeStudy::of(&question(ms(170), &made(left))).unwrap();
        let row = row(&study, None);
        (row.ok_by_budget.is_some(), row.thin, study.best.is_some())
    });
    assert_eq!((none.0, none.1, none.2), (false, false, false), "and a delay is not advised");
    assert_eq!((thin.0, thin.1), (true, true));
    assert_eq!((solid.0, solid.1), (true, false));
}

#[test]
fn w1_many_calls_cut_by_a_winner_make_it_an_assumption() {
    let asked = Nature { seed: 7, calls: 4, errors: 0.0 }.rounds(300, Some(ms(35)), ms(150));
    assert!(HedgeStudy::of(&asked).unwrap().assumes_independence);
    let mut asked = Nature { seed: 7, calls: 4, errors: 0.0 }.rounds(300, None, ms(100));
    assert!(!HedgeStudy::of(&asked).unwrap().assumes_independence, "cut at the deadline is no winner");
    for seen in &mut asked.rounds {
        Arc::make_mut(seen).calls[0].outcome = Outcome::NotNeeded;
        Arc::make_mut(seen).calls[0].primary = Some(Observation { time: ms(20), what: Observed::Censored });
    }
    assert!(HedgeStudy::of(&asked).unwrap().assumes_independence);
}

/// After its own timeout a call is over: no hedge is sent, and none answers.
#[test]
fn r7_a_calls_own_timeout_ends_it_with_all_its_attempts() {
    let law = law(
        Some(&serde_json::json!([[20, 0.6], [90, 0.2]])),
        Some(&serde_json::json!([[10, 0.1], [60, 0.1]])),
    );
    let at = |t| nanos(ms(t));
    // Those that are pending at 60 fail there by the timeout, and are not hedged for it.
    let plan = after(at(80), true);
    assert!((plan.extra_load(&law, at(60)) - 0.1).abs() < 1e-9);
    assert!((plan.ok(&law, &law, at(60), at(500)) - (0.6 + 0.1 * 0.6)).abs() < 1e-9);
    assert!((after(at(80), false).extra_load(&law, at(60))).abs() < 1e-9);
    assert!((plan.extra_load(&law, ENDLESS) - 0.4).abs() < 1e-9);
}

#[test]
fn bad_input_is_no_number_and_no_panic() {
    let empty = HedgeStudy::of(&question(ms(200), &[])).is_none();
    assert!(empty, "no endpoints");
    let mut asked = question(ms(200), &[vec![None, None]]);
    let none = HedgeStudy::of(&asked).unwrap();
    assert!(none.rows.is_empty() && none.best.is_none() && none.observed.is_none());
    asked.rounds.clear();
    assert!(HedgeStudy::of(&asked).unwrap().rows.is_empty());
}

fn arbitrary() -> impl Strategy<Value = Vec<Vec<Made>>> {
    let call = prop_oneof![
        8 => (1_u64..40, 0_u8..3).prop_map(|(t, what)| {
            Some((ms(t * 10), [Observed::Ok, Observed::Error, Observed::Censored][usize::from(what)]))
        }),
        1 => Just(None),
    ];
    (1_usize..5)
        .prop_flat_map(move |n| prop::collection::vec(prop::collection::vec(call.clone(), n..=n), 1..50))
}

fn alike(a: &HedgeStudy, b: &HedgeStudy) {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert_eq!((a.best, a.real, a.n, a.rows.len()), (b.best, b.real, b.n, b.rows.len()));
    for (a, b) in a.rows.iter().zip(&b.rows) {
        assert!(
            close(a.extra_load, b.extra_load)
                && a.ok_by_budget.zip(b.ok_by_budget).is_none_or(|(a, b)| close(a, b))
                && a.ok_by_budget.is_some() == b.ok_by_budget.is_some(),
            "{a:?} {b:?}"
        );
        assert_eq!((a.delay, a.p99, a.status), (b.delay, b.p99, b.status));
    }
}

proptest! {
    #[test]
    fn w5_a_longer_delay_never_costs_more_and_a_hedge_never_hurts(
        made in arbitrary(), on_error: bool, budget in 2_u64..500, delays in prop::collection::vec(1_u64..500, 2..6),
    ) {
        let mut asked = question(ms(budget), &made);
        asked.settings.hedge.on_error = on_error;
        let study = HedgeStudy::of(&asked).unwrap();
        for pair in study.rows.windows(2) {
            prop_assert!(pair[0].extra_load <= pair[1].extra_load + 1e-9);
        }
        for row in &study.rows {
            prop_assert!(row.extra_load.is_finite() && row.ok_by_budget.is_none_or(|ok| (0.0..=1.0).contains(&ok)));
            prop_assert!(row.ok_by_budget.zip(study.rows[0].ok_by_budget).is_none_or(|(with, without)| with >= without - 1e-9));
            if let Some(alone) = study.rows[0].p99 {
                prop_assert!(row.p99.is_some_and(|p99| p99 <= alone));
            }
        }
        let mut delays = delays;
        delays.sort_unstable();
        let load = |delay: u64| {
            let mut asked = asked.clone();
            asked.settings.hedge.delay = HedgeDelay::Fixed(ms(delay));
            row(&HedgeStudy::of(&asked).unwrap(), fixed(delay)).extra_load
        };
        // Where nothing was sent at all there are no rows.
        if !study.rows.is_empty() {
            for pair in delays.windows(2) {
                prop_assert!(load(pair[0]) >= load(pair[1]) - 1e-9);
            }
        }
    }

    #[test]
    fn w5_the_order_of_rounds_and_of_endpoints_changes_nothing(made in arbitrary(), by in 0_usize..50) {
        let study = HedgeStudy::of(&question(ms(200), &made)).unwrap();
        let mut turned = question(ms(200), &made);
        let len = turned.rounds.len();
        turned.rounds.rotate_left(by % len);
        alike(&study, &HedgeStudy::of(&turned).unwrap());
        let mirrored: Vec<Vec<Made>> = made.iter().map(|m| m.iter().rev().copied().collect()).collect();
        alike(&study, &HedgeStudy::of(&question(ms(200), &mirrored)).unwrap());
    }
}

/// 64 calls of every kind.
#[test]
fn many_calls_with_errors_are_no_panic() {
    let study =
        HedgeStudy::of(&Nature { seed: 8, calls: 64, errors: 0.3 }.rounds(100, Some(ms(40)), ms(150)));
    let study = study.unwrap();
    assert!(
        study.rows.iter().all(|row| row.ok_by_budget.is_none_or(f64::is_finite)) && study.observed.is_some()
    );
}
