//! When the k-th answer is there (W4): worked examples (`tests/vectors.json`, times in ms), brute force, and made-up
//! rounds.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/seen.rs"]
mod seen;

use fanscope::domain::{Mode, Outcome, Reason, Settings};
use fanscope::whatif::outlook::{Question, Status};
use fanscope::whatif::quantile::Trust;
use fanscope::whatif::quorum::independent::{at_least, dispersion, distribution};
use fanscope::whatif::quorum::{GRID, QuorumRow, QuorumStudy};
use fanscope::whatif::survival::Observed;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use seen::{Made, millis, ms, question};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const TOLERANCE: f64 = 1e-6;

fn vectors(kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let all = file["vectors"].as_array().unwrap();
    let some: Vec<Value> = all.iter().filter(|v| v["kind"] == kind).cloned().collect();
    assert!(!some.is_empty(), "{kind}");
    some
}

fn close(name: &str, got: f64, want: &Value) {
    let want = want.as_f64().unwrap();
    assert!((got - want).abs() < TOLERANCE, "{name}: {got} is not {want}");
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn observed(code: &Value) -> Observed {
    match code.as_u64() {
        Some(1) => Observed::Ok,
        Some(2) => Observed::Error,
        Some(0) => Observed::Censored,
        _ => panic!("unknown code {code}"),
    }
}

#[test]
fn w4_independent_calls_as_worked_by_hand() {
    for vector in vectors("pb") {
        let (name, input, want) = (vector["name"].as_str().unwrap(), &vector["input"], &vector["expected"]);
        let Some(p) = input.get("p").filter(|p| p.is_array()).map(numbers) else {
            for (n, p, key) in [("n", "p", "p_at_least_one_slow"), ("n2", "p2", "p_at_least_one_slow_2000")] {
                let calls = usize::try_from(input[n].as_u64().unwrap()).unwrap();
                let all = distribution(&vec![input[p].as_f64().unwrap(); calls]);
                close(name, 1.0 - all.last().unwrap(), &want[key]);
            }
            continue;
        };
        let shares = distribution(&p);
        let tails = at_least(shares.clone());
        let mean: f64 = tails.iter().skip(1).sum();
        for (key, want) in want.as_object().unwrap() {
            let list = |got: &[f64]| {
                assert_eq!(got.len(), want.as_array().unwrap().len(), "{name}: {key}");
                got.iter().zip(want.as_array().unwrap()).for_each(|(&got, want)| close(name, got, want));
            };
            match key.as_str() {
                "pmf" => list(&shares),
                "at_least" => list(&tails),
                "mean" => close(name, mean, want),
                "var" => {
                    // The spread of the convolution is that of independent calls.
                    let independent: f64 = p.iter().map(|p| p * (1.0 - p)).sum();
                    close(name, dispersion(&tails[1..], &p).unwrap() * independent, want);
                }
                _ => panic!("{name}: {key}"),
            }
        }
    }
}

/// A round in which these calls answer by 10 ms and the others are cut at the budget.
fn by_ten(answers: &[bool]) -> Vec<Made> {
    let one = |&ok: &bool| Some(if ok { (ms(10), Observed::Ok) } else { (ms(200), Observed::Censored) });
    answers.iter().map(one).collect()
}

#[test]
fn w4_whole_rounds_beside_independent_calls_as_worked_by_hand() {
    for vector in vectors("joint") {
        let (name, want) = (vector["name"].as_str().unwrap(), &vector["expected"]);
        let rounds = vector["input"]["rounds_ok_by_t"].as_array().unwrap().iter();
        let rounds: Vec<_> =
            rounds.map(|r| by_ten(&numbers(r).iter().map(|&ok| ok > 0.0).collect::<Vec<_>>())).collect();
        let study = QuorumStudy::of(&question(ms(200), &rounds));
        let marginal = numbers(&want["p_marginal"]);
        assert_eq!(study.rows.len(), marginal.len());
        for row in &study.rows {
            let (met, independent) = (row.by_budget.unwrap(), row.independent.unwrap());
            close(name, met, &want["empirical_at_least"][row.k]);
            close(name, independent, &want["independent_at_least"][row.k]);
            close(name, met - independent, &want["diff"][row.k]);
            assert_eq!((row.status, row.n), (Status::Exact, rounds.len()), "{name}");
        }
        let answers: f64 = study.rows.iter().map(|row| row.by_budget.unwrap()).sum();
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let calls = marginal.len() as f64;
        close(name, answers / calls, &want["mean_completeness"]);
        let met: Vec<f64> = study.rows.iter().map(|row| row.by_budget.unwrap()).collect();
        close(name, dispersion(&met, &marginal).unwrap(), &want["dispersion"]);
    }
}

#[test]
fn w4_the_quorum_vectors() {
    for vector in vectors("quorum") {
        let (name, input, want) = (vector["name"].as_str().unwrap(), &vector["input"], &vector["expected"]);
        let k = usize::try_from(input["k"].as_u64().unwrap()).unwrap();
        match name {
            "quorum_time_round_level_aalen_johansen" => rounds_vector(name, k, input, want),
            "quorum_time_independent_from_marginals" => {
                for (t, want) in want["P_met"].as_object().unwrap() {
                    let p: Vec<f64> =
                        input["F_ok"].as_array().unwrap().iter().map(|f| f[t].as_f64().unwrap()).collect();
                    close(name, at_least(distribution(&p))[k], want);
                }
            }
            "quorum_time_3_of_5_exponential" => exponential_vector(name, k, input, want),
            _ => panic!("{name}"),
        }
    }
}

fn rounds_vector(name: &str, k: usize, input: &Value, want: &Value) {
    let call = |lane: &Value| Some((millis(lane[0].as_f64().unwrap()), observed(&lane[1])));
    let round = |round: &Value| round["lanes"].as_array().unwrap().iter().map(call).collect();
    let rounds: Vec<Vec<Made>> = input["rounds"].as_array().unwrap().iter().map(round).collect();
    // What each round alone says of k.
    for (made, want) in rounds.iter().zip(want["round_obs"].as_array().unwrap()) {
        let row = QuorumStudy::one(&question(ms(200), std::slice::from_ref(made)), k);
        let time = millis(want[0].as_f64().unwrap());
        let end = row.curve.first().map(|p| (p.time, p.met > 0.5));
        let decided = match observed(&want[1]) {
            Observed::Ok => Some((time, true)),
            Observed::Error => Some((time, false)),
            Observed::Censored => None,
        };
        assert_eq!(end, decided, "{name}");
    }
    let row = QuorumStudy::one(&question(ms(150), &rounds), k);
    let points = want["curve"].as_array().unwrap();
    assert_eq!(row.curve.len(), points.len(), "{name}");
    for (point, want) in row.curve.iter().zip(points) {
        assert_eq!(point.time, millis(want["t"].as_f64().unwrap()), "{name}");
        assert_eq!(Some(point.at_risk as u64), want["at_risk"].as_u64(), "{name}");
        close(name, point.met, &want["F_met"]);
        close(name, point.impossible, &want["F_impossible"]);
        close(name, point.pending, &want["S"]);
    }
    close(name, row.by_budget.unwrap(), &want["P_met_by_150"]);
    let median = row.curve.iter().find(|p| p.met >= 0.5 - 1e-9).unwrap();
    assert_eq!(median.time, millis(want["p50"].as_f64().unwrap()), "{name}");
}

/// Continuous times: their shares go through the convolution.
fn exponential_vector(name: &str, k: usize, input: &Value, want: &Value) {
    let n = usize::try_from(input["n"].as_u64().unwrap()).unwrap();
    let mean = input["mean"].as_f64().unwrap();
    let met = |k: usize, t: f64| at_least(distribution(&vec![1.0 - (-t / mean).exp(); n]))[k];
    close(name, met(k, 100.0), &want["P_by_100"]);
    for (k, key) in [(k, "p95"), (n, "p95_all5")] {
        let t = want[key].as_f64().unwrap();
        assert!((met(k, t) - 0.95).abs() < TOLERANCE && met(k, t - 0.01) < 0.95 - 1e-9, "{name}: {key}");
    }
    // E = integral of what is not met, by Simpson's rule.
    let (to, steps) = (4000.0, 40_000_u32);
    let h = to / f64::from(steps);
    let weight = |i| {
        if i == 0 || i == steps {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    let sum: f64 = (0..=steps).map(|i| weight(i) * (1.0 - met(k, f64::from(i) * h))).sum();
    close(name, sum * h / 3.0, &want["mean_time"]);
}

#[test]
fn w4_a_call_for_which_nothing_was_sent_can_never_answer() {
    let sent = vec![Some((ms(10), Observed::Ok)), Some((ms(20), Observed::Ok))];
    let held = vec![Some((ms(10), Observed::Ok)), None];
    let study = QuorumStudy::of(&question(ms(200), &[sent.clone(), sent.clone(), sent, held]));
    let [one, both] = &study.rows[..] else { panic!("{study:?}") };
    assert_eq!((one.by_budget, both.by_budget), (Some(1.0), Some(0.75)));
    assert!((both.independent.unwrap() - 0.75).abs() < 1e-12);
    assert_eq!(both.status, Status::Exact);
    let first = both.curve.first().unwrap();
    assert!((first.impossible - 0.25).abs() < 1e-12 && first.time == ms(0), "{first:?}");
}

#[test]
fn w4_required_calls_are_not_counted() {
    let mut asked = question(ms(200), &vec![by_ten(&[true, true, false]); 30]);
    asked.specs[2].required = true;
    let study = QuorumStudy::of(&asked);
    assert_eq!((study.rows.len(), study.k), (2, 2));
    assert_eq!(study.rows[1].by_budget, Some(1.0));
}

/// Rounds that were cut at 100 ms where the budget that holds is 200 ms.
#[test]
fn w6_what_was_cut_before_the_budget_is_no_exact_figure() {
    let cut = |_| vec![Some((ms(10), Observed::Ok)), Some((ms(100), Observed::Censored))];
    let probe = |_| vec![Some((ms(10), Observed::Ok)), Some((ms(150), Observed::Ok))];
    let asked = |probes| {
        let mut rounds: Vec<Vec<Made>> = (0..60).map(cut).collect();
        rounds.extend((0..probes).map(probe));
        QuorumStudy::of(&question(ms(200), &rounds)).rows.remove(1)
    };
    let none = asked(0);
    assert_eq!((none.status, none.by_budget, none.interval), (Status::NotObserved, None, None));
    assert_eq!(none.independent, None, "nor is it known of the call");
    let few = asked(8);
    assert_eq!((few.status, few.by_budget), (Status::Thin, Some(1.0)));
    let many = asked(25);
    assert_eq!((many.status, many.by_budget), (Status::Estimated, Some(1.0)));
    assert!(many.interval.unwrap().0 > 0.8);
}

#[test]
fn w4_a_few_rounds_cut_early_do_not_hide_what_nearly_all_say() {
    let mut rounds = vec![by_ten(&[true, true]); 300];
    rounds.extend(vec![vec![Some((ms(5), Observed::Censored)); 2]; 3]);
    let study = QuorumStudy::of(&question(ms(200), &rounds));
    assert_eq!((study.rows[0].status, study.rows[0].by_budget), (Status::Estimated, Some(1.0)));
}

#[test]
fn bad_input_is_no_number_and_no_panic() {
    let empty = QuorumStudy::of(&question(ms(200), &[]));
    assert!(empty.rows.is_empty());
    let no_calls = QuorumStudy::of(&question(ms(200), &[vec![], vec![]]));
    assert!(no_calls.rows.is_empty());
    assert_eq!(dispersion(&[], &[]), None);
    let asked = question(ms(200), &[by_ten(&[true, false])]);
    for k in [0, 3, usize::MAX] {
        let row = QuorumStudy::one(&asked, k);
        assert_eq!((row.k, row.status, row.by_budget), (k, Status::NotObserved, None));
        assert!(row.curve.is_empty());
    }
    let one = QuorumStudy::of(&asked);
    assert_eq!(one.rows[0].interval, Some((0.0, 1.0)), "one round says nothing of others");
    assert!(!one.rows[0].correlated);
}

/// Rounds of calls with a common coin: with probability `together` all calls of the first half are slow.
fn rounds(seed: u64, rounds: usize, calls: usize, together: f64, alone: f64) -> Vec<Vec<Made>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..rounds)
        .map(|_| {
            let coin = rng.random_bool(together);
            (0..calls)
                .map(|i| {
                    let slow = rng.random_bool(alone) || coin && i < calls / 2;
                    let time = rng.random_range(20..120) + if slow { 200 } else { 0 };
                    Some(if time <= 200 { (ms(time), Observed::Ok) } else { (ms(200), Observed::Censored) })
                })
                .collect()
        })
        .collect()
}

fn says(study: &QuorumStudy) -> bool {
    study.rows.iter().any(|row| row.correlated)
}

#[test]
fn w4_independent_calls_are_seldom_called_correlated() {
    for (n, calls, alone) in [(30, 8, 0.03), (120, 3, 0.1), (120, 8, 0.15), (600, 8, 0.15)] {
        let ask =
            |&seed: &u64| says(&QuorumStudy::of(&question(ms(200), &rounds(seed, n, calls, 0.0, alone))));
        let wrong = (0..100).filter(ask).count();
        assert!(wrong <= 7, "{wrong} of 100 with {n} rounds of {calls} calls");
    }
}

#[test]
fn w4_calls_that_are_slow_together_are_found() {
    let found = (0..40)
        .filter(|&seed| says(&QuorumStudy::of(&question(ms(200), &rounds(seed, 600, 8, 0.1, 0.02)))))
        .count();
    assert!(found >= 39, "{found} of 40");
}

/// At a budget that all calls meet there is nothing to see, but at the median there is.
#[test]
fn w4_calls_that_are_slow_together_are_found_where_the_budget_is_ample() {
    let slow = |seed| {
        let mut made = rounds(seed, 600, 8, 0.4, 0.02);
        for call in made.iter_mut().flatten().flatten() {
            if call.1 == Observed::Censored {
                *call = (ms(300), Observed::Ok);
            }
        }
        let study = QuorumStudy::of(&question(ms(1000), &made));
        let all = |share: Option<f64>| share.is_some_and(|share| share > 1.0 - 1e-9);
        assert!(study.rows.iter().all(|row| all(row.by_budget) && all(row.independent)));
        study
    };
    let found = (0..20).filter(|&seed| says(&slow(seed))).count();
    assert!(found >= 19, "{found} of 20");
}

/// In quorum mode most calls that matter are cut by the quorum.
#[test]
fn w4_rounds_that_a_quorum_ended_are_neither_wrongly_nor_never_called_correlated() {
    let ended = |mut made: Vec<Vec<Made>>, k: usize| {
        for round in &mut made {
            let mut times: Vec<Duration> =
                round.iter().flatten().filter(|c| c.1 == Observed::Ok).map(|c| c.0).collect();
            times.sort_unstable();
            let Some(&end) = times.get(k - 1) else { continue };
            for call in round.iter_mut().flatten().filter(|c| c.0 > end) {
                *call = (end, Observed::Censored);
            }
        }
        made
    };
    let ask = |seed, together| {
        let mut asked = question(ms(200), &ended(rounds(seed, 600, 8, together, 0.1), 5));
        for round in &mut asked.rounds {
            let round = Arc::make_mut(round);
            round.settings = Arc::new(Settings { mode: Mode::Quorum, ..Settings::default() });
            round.k = Some(5);
            for call in round
                .calls
                .iter_mut()
                .filter(|c| c.outcome.reason() == Some(Reason::Deadline) && c.end < ms(200))
            {
                call.outcome = Outcome::NotNeeded;
            }
        }
        let study = QuorumStudy::of(&asked);
        for row in &study.rows {
            assert_eq!((row.k > 5, row.n), (row.n == 0, if row.k > 5 { 0 } else { 600 }));
        }
        assert_eq!(study.rows[5].times[0].trust, Trust::Censored);
        says(&study)
    };
    let wrong = (0..50).filter(|&seed| ask(seed, 0.0)).count();
    assert!(wrong <= 3, "{wrong} of 50");
    let found = (0..20).filter(|&seed| ask(seed, 0.4)).count();
    assert!(found >= 18, "{found} of 20");
}

fn arbitrary() -> impl Strategy<Value = Vec<Vec<Made>>> {
    let call = prop_oneof![
        8 => (1_u64..40, 0_u8..3).prop_map(|(t, what)| {
            Some((ms(t * 10), [Observed::Ok, Observed::Error, Observed::Censored][usize::from(what)]))
        }),
        1 => Just(None),
    ];
    (0_usize..6)
        .prop_flat_map(move |n| prop::collection::vec(prop::collection::vec(call.clone(), n..=n), 0..50))
}

fn alike(a: &QuorumRow, b: &QuorumRow) {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let option = |a: Option<f64>, b: Option<f64>| a.zip(b).map_or(a == b, |(a, b)| close(a, b));
    assert!(option(a.by_budget, b.by_budget) && option(a.independent, b.independent), "{a:?} {b:?}");
    assert_eq!((a.k, a.n, a.status, a.times), (b.k, b.n, b.status, b.times));
    assert_eq!(a.curve.len(), b.curve.len());
    for (a, b) in a.curve.iter().zip(&b.curve) {
        assert_eq!((a.time, a.at_risk), (b.time, b.at_risk));
        assert!(
            close(a.met, b.met) && close(a.impossible, b.impossible) && close(a.independent, b.independent)
        );
    }
}

/// The k-th answer of a round by trying every call.
fn brute(made: &[Made], k: usize) -> (Duration, Observed) {
    let calls = || made.iter().map(|m| m.unwrap_or((ms(0), Observed::Error)));
    let by = |t, what| calls().filter(|c| c.0 <= t && c.1 == what).count();
    let mut times: Vec<Duration> = calls().map(|c| c.0).collect();
    times.sort_unstable();
    for t in times {
        if by(t, Observed::Ok) >= k {
            return (t, Observed::Ok);
        }
        if by(t, Observed::Error) > made.len() - k {
            return (t, Observed::Error);
        }
        if by(t, Observed::Censored) > 0 {
            return (t, Observed::Censored);
        }
    }
    panic!("undecided")
}

proptest! {
    #[test]
    fn w4_shares_add_up_and_never_fall(made in arbitrary(), budget in 1_u64..500) {
        let study = QuorumStudy::of(&question(ms(budget), &made));
        let n = made.first().map_or(0, Vec::len);
        prop_assert_eq!(study.rows.len(), n);
        let mut above: Option<f64> = None;
        for row in &study.rows {
            prop_assert!(row.curve.len() <= GRID + 2 * n + 1);
            for point in &row.curve {
                prop_assert!((point.met + point.impossible + point.pending - 1.0).abs() < 1e-9);
                prop_assert!((0.0..=1.0 + 1e-9).contains(&point.independent));
            }
            for pair in row.curve.windows(2) {
                prop_assert!(pair[0].time < pair[1].time && pair[0].met <= pair[1].met);
                prop_assert!(pair[0].impossible <= pair[1].impossible && pair[0].at_risk >= pair[1].at_risk);
                prop_assert!(pair[0].independent <= pair[1].independent + 1e-12);
            }
            if let Some(met) = row.by_budget {
                let (lo, hi) = row.interval.unwrap();
                prop_assert!(0.0 <= lo && lo <= met + 1e-9 && met <= hi + 1e-9 && hi <= 1.0);
            }
            // More answers are never there earlier.
            if let Some((share, above)) = row.independent.zip(above) {
                prop_assert!(share <= above + 1e-12);
            }
            above = row.independent.or(above);
        }
    }

    #[test]
    fn w4_where_none_is_cut_the_shares_are_a_count(made in arbitrary(), budget in 1_u64..500) {
        let study = QuorumStudy::of(&question(ms(budget), &made));
        for row in study.rows.iter().filter(|row| row.status == Status::Exact) {
            let met = made.iter().map(|m| brute(m, row.k)).filter(|o| o.1 == Observed::Ok && o.0 <= ms(budget)).count();
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let share = met as f64 / made.len() as f64;
            prop_assert!((row.by_budget.unwrap() - share).abs() < 1e-9);
        }
    }

    #[test]
    fn w4_one_k_has_a_row_at_every_event(made in arbitrary(), budget in 1_u64..500) {
        let asked = question(ms(budget), &made);
        for row in QuorumStudy::of(&asked).rows {
            let one = QuorumStudy::one(&asked, row.k);
            let mut events: Vec<_> =
                made.iter().map(|m| brute(m, row.k)).filter(|o| o.1 != Observed::Censored).map(|o| o.0).collect();
            events.sort_unstable();
            events.dedup();
            prop_assert_eq!(one.curve.iter().map(|p| p.time).collect::<Vec<_>>(), events);
            alike(&QuorumRow { curve: Vec::new(), ..one.clone() }, &QuorumRow { curve: Vec::new(), ..row.clone() });
            prop_assert_eq!(one.correlated, row.correlated);
            // Both read the same curve.
            for point in &row.curve {
                let at = one.curve.iter().rev().find(|p| p.time <= point.time).map_or(0.0, |p| p.met);
                prop_assert!((at - point.met).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn w4_the_order_of_rounds_and_of_endpoints_changes_nothing(
        made in arbitrary(), seed in any::<u64>(),
    ) {
        let asked = question(ms(200), &made);
        let study = QuorumStudy::of(&asked);
        let mut turned = asked.clone();
        let by = usize::try_from(seed % 97).unwrap();
        let len = turned.rounds.len().max(1);
        turned.rounds.rotate_left(by % len);
        turned.rounds.reverse();
        prop_assert_eq!(&study, &QuorumStudy::of(&turned));
        let mirrored: Vec<Vec<Made>> = made.iter().map(|m| m.iter().rev().copied().collect()).collect();
        let mirrored = QuorumStudy::of(&question(ms(200), &mirrored));
        prop_assert_eq!(study.rows.len(), mirrored.rows.len());
        study.rows.iter().zip(&mirrored.rows).for_each(|(a, b)| alike(a, b));
    }
}

/// 64 calls: the rows share their times, and stay few.
#[test]
fn w4_many_calls_share_their_times() {
    let asked: Question = question(ms(200), &rounds(7, 600, 64, 0.1, 0.05));
    let study = QuorumStudy::of(&asked);
    assert_eq!(study.rows.len(), 64);
    let times: std::collections::BTreeSet<Duration> =
        study.rows.iter().flat_map(|row| &row.curve).map(|p| p.time).collect();
    assert!(times.len() <= GRID + 1, "{}", times.len());
    assert!(study.rows[63].correlated);
    assert_eq!(Arc::strong_count(&asked.rounds[0]), 1, "nothing is kept");
}

/// Rounds of two budgets in turn: what a short one cut is no reason to know less than the long ones show.
#[test]
fn w4_rounds_that_were_meant_to_run_that_long_are_counted_exactly() {
    let made = |cut: u64| {
        let late = if cut < 200 { (ms(cut), Observed::Censored) } else { (ms(180), Observed::Ok) };
        vec![Some((ms(20), Observed::Ok)), Some((ms(90), Observed::Ok)), Some(late)]
    };
    let mut question = question(ms(200), &(0..60).map(|i| made([150, 250][i % 2])).collect::<Vec<_>>());
    for (i, round) in question.rounds.iter_mut().enumerate() {
        Arc::make_mut(round).budget = ms([150, 250][i % 2]);
    }
    let study = QuorumStudy::of(&question);
    let row = |k: usize| study.rows.get(k - 1).unwrap();
    let told: Vec<_> = (1..=3).map(|k| (row(k).status, row(k).by_budget, row(k).independent)).collect();
    assert_eq!(told, [(Status::Exact, Some(1.0), Some(1.0)); 3]);
    assert_eq!((row(2).n, row(3).n), (60, 30));
}

/// One round that went on says nothing of the many that a quorum ended.
#[test]
fn w4_w6_a_handful_of_rounds_is_no_number() {
    let quorum =
        vec![Some((ms(20), Observed::Ok)), Some((ms(40), Observed::Ok)), Some((ms(40), Observed::Censored))];
    let mut rounds = vec![quorum; 97];
    rounds.push(vec![
        Some((ms(20), Observed::Ok)),
        Some((ms(40), Observed::Ok)),
        Some((ms(60), Observed::Error)),
    ]);
    let mut question = question(ms(200), &rounds);
    let settings = Arc::new(Settings { mode: Mode::Quorum, ..question.settings.clone() });
    for round in question.rounds.iter_mut().take(97).map(Arc::make_mut) {
        (round.settings, round.k) = (Arc::clone(&settings), Some(2));
        round.calls[2].outcome = Outcome::NotNeeded;
    }
    let row = QuorumStudy::of(&question).rows.remove(2);
    assert_eq!((row.status, row.by_budget, row.correlated), (Status::NotObserved, None, false));
}
