//! Variances, intervals and whole-round shares against worked examples with right answers (`tests/vectors.json`,
//! times in ms). Curves and quantiles of the kinds `km` and `aj`, and the curve of `bounds`, are held in
//! `tests/survival.rs`; `budget`, `budget_nested` and `wilson` in `tests/recount.rs`.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/sample.rs"]
#[expect(dead_code, reason = "each test file uses its own part")]
mod sample;

use fanscope::domain::Reason;
use fanscope::whatif::budget::{BudgetCurve, BudgetPoint};
use fanscope::whatif::outlook::{Question, Status};
use fanscope::whatif::shares::Mean;
use fanscope::whatif::spread::{Band, Level, log_log, variances};
use fanscope::whatif::survival::{Curve, Observation, Observed};
use sample::{ms, question, round};
use serde_json::Value;
use std::time::Duration;

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

fn vector(name: &str) -> Value {
    vectors().into_iter().find(|v| v["name"] == name).unwrap()
}

fn close(what: &str, got: f64, want: &Value) {
    assert!((got - want.as_f64().unwrap()).abs() < 1e-6, "{what} is {got}, expected {want}");
}

fn observed(code: &Value) -> Observed {
    match code.as_u64() {
        Some(1) => Observed::Ok,
        Some(2) => Observed::Error,
        Some(0) => Observed::Censored,
        _ => panic!("unknown code {code}"),
    }
}

fn seen(time: &Value, code: &Value) -> Observation {
    let time = Duration::from_secs_f64(time.as_f64().unwrap() / 1e3);
    Observation { time, what: observed(code) }
}

/// Input comes as pairs or as two columns.
fn observations(input: &Value) -> Vec<Observation> {
    if let Some(pairs) = input["obs"].as_array() {
        return pairs.iter().map(|pair| seen(&pair[0], &pair[1])).collect();
    }
    let column = |name: &str| input[name].as_array().unwrap().clone();
    column("times").iter().zip(&column("event")).map(|(t, code)| seen(t, code)).collect()
}

fn interval(what: &str, got: (f64, f64), want: &Value) {
    close(what, got.0, &want[0]);
    close(what, got.1, &want[1]);
}

#[test]
fn w2_greenwood_and_its_interval() {
    let vector = vector("km_ties_event_before_censor");
    let curve = Curve::of(&observations(&vector["input"]));
    let at = curve.rows().iter().position(|row| row.time == ms(30)).unwrap();
    let variance = variances(&curve, Level::Pending)[at];
    close("variance", variance, &vector["expected"]["greenwood_var_at_30"]);
    interval("interval", log_log(curve.rows()[at].pending, variance), &vector["expected"]["loglog95_at_30"]);
    interval("band", Band::of(&curve, Level::Pending).at(ms(30)), &vector["expected"]["loglog95_at_30"]);
}

#[test]
fn w2_the_variance_of_an_incidence() {
    let named = vectors().into_iter().filter(|v| v["kind"] == "aj_var").map(|vector| {
        let curve = Curve::of(&observations(&vector["input"]));
        let name = vector["name"].as_str().unwrap().to_owned();
        let t = ms(vector["input"]["t"].as_u64().unwrap());
        let at = curve.rows().iter().rposition(|row| row.time <= t).unwrap();
        let check = |level, share: f64, want: &Value| {
            let share_of = want.get("F").or_else(|| want.get("F_ok")).unwrap();
            close(&name, share, share_of);
            let variance = variances(&curve, level)[at];
            close(&name, variance, &want["var"]);
            if let Some(want) = want.get("loglog95") {
                interval(&name, log_log(share, variance), want);
                interval(&name, Band::of(&curve, level).at(t), want);
            }
        };
        let (row, want) = (curve.rows()[at], &vector["expected"]);
        if let Some(error) = want.get("err") {
            check(Level::Ok, row.ok, &want["ok"]);
            check(Level::Error, row.error, error);
        } else {
            check(Level::Ok, row.ok, want);
        }
        name
    });
    assert_eq!(named.count(), 3);
}

#[test]
fn w2_wilson_where_nothing_was_cut_before() {
    let vector = vector("km_deadline_type1_censoring");
    let curve = Curve::of(&observations(&vector["input"]));
    let band = Band::of(&curve, Level::Ok);
    interval("ok by 150", band.at(ms(150)), &vector["expected"]["wilson95_ok_by_150"]);
}

#[test]
fn w2_what_dropping_cut_calls_would_say() {
    let vector = vector("survivorship_bias_of_dropping_cancelled");
    let want = &vector["expected"];
    let all = observations(&vector["input"]);
    let kept: Vec<_> = all.iter().filter(|o| o.what != Observed::Censored).copied().collect();
    let [honest, naive] = [Curve::of(&all), Curve::of(&kept)];
    let q = vector["input"]["q"].as_f64().unwrap();
    assert_eq!(naive.quantile_settled(q), Some(ms(want["naive_p90_of_completed"].as_u64().unwrap())));
    assert!(want["km_p90"].is_null() && honest.quantile_ok(q).is_none());
    assert_eq!(want["km_p90_status"], "not_observed_censored_at_200");
    assert_eq!((honest.pending_until(), honest.unreachable_ok(q)), (Some(ms(200)), false));
    close("naive", naive.at(ms(155)).unwrap().ok, &want["naive_ok_by_155"]);
    close("honest", honest.at(ms(155)).unwrap().ok, &want["km_ok_by_155"]);
}

#[test]
fn w1_a_cut_call_is_censored_when_it_was_last_seen_pending() {
    let vector = vector("late_but_observed_is_an_event");
    let nominal = observations(&vector["input"]).into_iter().map(|seen| match seen.what {
        Observed::Censored => Observation { time: ms(vector["input"]["deadline"].as_u64().unwrap()), ..seen },
        _ => seen,
    });
    let curve = Curve::of(&nominal.collect::<Vec<_>>());
    let end = curve.rows().last().unwrap().ok;
    close("censored too early", end, &vector["expected"]["wrong_if_censored_at_nominal_200"]);
}

#[test]
fn w2_whole_rounds_are_averaged() {
    let vector = vector("cluster_se_by_round");
    let lanes = 8_u8;
    let mut mean = Mean::default();
    for share in vector["input"]["round_completeness"].as_array().unwrap() {
        let answered = (0..=lanes).find(|k| (f64::from(*k) / 8.0 - share.as_f64().unwrap()).abs() < 1e-9);
        mean.push(usize::from(answered.unwrap()), usize::from(lanes));
    }
    close("mean", mean.share().unwrap().value, &vector["expected"]["mean"]);
    close("error", mean.error().unwrap(), &vector["expected"]["cluster_se"]);
    // As if all calls were independent: what must not be said.
    let naive = (0.85 * 0.15 / 80.0_f64).sqrt();
    close("naive", naive, &vector["expected"]["naive_binomial_se"]);
    let share = mean.share().unwrap();
    assert!(share.n < 80.0 * 0.2, "ten rounds of which most are alike are not eighty calls: {share:?}");
}

fn at(question: &Question, budget: u64) -> BudgetPoint {
    BudgetCurve::at(question, &[ms(budget)]).remove(0)
}

#[test]
fn w3_bounds_beyond_the_horizon() {
    let vector = vector("bounds_beyond_the_censoring_horizon");
    let calls = observations(&vector["input"]);
    let question = question(vec![round(ms(vector["input"]["horizon"].as_u64().unwrap()), &calls)]);
    let known = at(&question, 200);
    close("at 200", known.completeness.unwrap(), &vector["expected"]["F_ok_at_200"]);
    let errors = known.missing.iter().find(|m| m.0 == Reason::HttpStatus).unwrap().1;
    assert_eq!(errors, 1, "F_err is 0.1 of ten calls");
    let beyond = at(&question, vector["input"]["ask"].as_u64().unwrap());
    assert_eq!((beyond.status, beyond.completeness, beyond.interval), (Status::Bounded, None, None));
    interval("bounds", beyond.bounds.unwrap(), &vector["expected"]["ok_by_300_bounds"]);
    assert_eq!(vector["expected"]["status"], "not_observed_censored_at_200");
    assert_eq!(BudgetCurve::of(&question).exact_until, Some(ms(200)));
}

#[test]
fn w3_budgets_of_the_worked_example() {
    let vector = vector("budget_to_completeness_recount");
    let ran = ms(vector["input"]["ran_with_deadline"].as_u64().unwrap());
    let rounds = vector["input"]["rounds"].as_array().unwrap().iter().map(|calls| {
        let calls = calls.as_array().unwrap().iter().map(|pair| seen(&pair[0], &pair[1]));
        round(ran, &calls.collect::<Vec<_>>())
    });
    let mut question = question(rounds.collect());
    question.settings.quorum = Some(3);
    for (budget, want) in vector["expected"].as_object().unwrap() {
        let point = at(&question, budget.parse().unwrap());
        if let Some(bounds) = want.get("completeness_bounds") {
            assert_eq!((point.status, point.completeness), (Status::Bounded, None), "{budget}");
            interval(budget, point.bounds.unwrap(), bounds);
            continue;
        }
        assert_eq!((point.status, point.n), (Status::Exact, 5), "{budget}");
        close(budget, point.completeness.unwrap(), &want["completeness"]);
        close(budget, point.all.unwrap(), &want["all_ok"]);
        close(budget, point.at_least_k.unwrap(), &want["at_least_3"]);
        let count = |reason| point.missing.iter().find(|m| m.0 == reason).map_or(0, |m| m.1);
        assert_eq!(Some(count(Reason::Deadline)), want["missing_deadline"].as_u64(), "{budget}");
        assert_eq!(Some(count(Reason::HttpStatus)), want["missing_error"].as_u64(), "{budget}");
    }
}
