//! What other budgets would have given (W3): exact, estimated, bounded; and that intervals hold what they promise.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/sample.rs"]
mod sample;

use fanscope::domain::{EndpointId, HedgeDelay, HedgeSettings, Mode, Outcome, Reason, Settings};
use fanscope::whatif::budget::{BudgetCurve, BudgetPoint};
use fanscope::whatif::outlook::{Question, Status};
use fanscope::whatif::recount::Recount;
use fanscope::whatif::seen::{Seen, SeenCall};
use fanscope::whatif::spread::{Level, log_log, variances};
use fanscope::whatif::survival::{Curve, Observation, Observed};
use proptest::prelude::*;
use sample::{CUT, FAILED, Nature, cut, dice, in_mode, ms, question, round, session, share, shuffled};
use std::sync::Arc;
use std::time::Duration;

const BUDGET: Duration = ms(200);

fn at(question: &Question, budget: u64) -> BudgetPoint {
    BudgetCurve::at(question, &[ms(budget)]).remove(0)
}

fn ok(ms: u64) -> Observation {
    Observation { time: sample::ms(ms), what: Observed::Ok }
}

fn pending(ms: u64) -> Observation {
    Observation { time: sample::ms(ms), what: Observed::Censored }
}

fn observed(rounds: &[Arc<Seen>]) -> f64 {
    let share = |round: &Arc<Seen>| {
        let answered = round.calls.iter().filter(|call| call.outcome == Outcome::Ok).count();
        f64::from(u32::try_from(answered).unwrap()) / f64::from(u32::try_from(round.calls.len()).unwrap())
    };
    rounds.iter().map(share).sum::<f64>() / f64::from(u32::try_from(rounds.len()).unwrap())
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn w3_the_budget_that_ran_gives_what_was_observed() {
    for probes in [None, Some(5)] {
        let rounds = session(&Nature::PLAIN, 300, BUDGET, probes, &mut dice(1));
        let question = question(rounds);
        let curve = BudgetCurve::of(&question);
        let now = curve.points.iter().find(|point| point.budget == BUDGET).unwrap();
        assert_eq!((now.status, now.n), (Status::Exact, 300));
        assert_eq!(now.completeness.unwrap().to_bits(), observed(&question.rounds).to_bits());
        let cut = question.rounds.iter().flat_map(|r| &r.calls).filter(|call| call.outcome == CUT).count();
        assert!(now.missing.contains(&(Reason::Deadline, cut as u64)));
        assert_eq!((now.at_risk, curve.exact_until), (cut, Some(BUDGET)));
    }
}

#[test]
fn w3_estimates_go_on_where_the_recount_ends() {
    let question = question(session(&Nature::PLAIN, 600, BUDGET, Some(5), &mut dice(2)));
    let points = BudgetCurve::at(&question, &[ms(199), BUDGET, BUDGET + Duration::from_nanos(1), ms(210)]);
    let shares: Vec<f64> = points.iter().map(|point| point.completeness.unwrap()).collect();
    assert_eq!(points[2].status, Status::Estimated);
    assert!(same(shares[1], shares[2]) && shares[3] > shares[2], "{shares:?}");
    // The same as the pooled curve of all calls, all of which were sent.
    let now = question.now;
    let calls = question.rounds.iter().flat_map(|r| r.calls.iter().filter_map(move |c| r.meant(c, now)));
    let pooled = Curve::of(&calls.collect::<Vec<_>>());
    for budget in [210, 240, 280] {
        let point = at(&question, budget);
        assert_eq!(point.status, Status::Estimated, "{budget}");
        assert!(same(point.completeness.unwrap(), pooled.at(ms(budget)).unwrap().ok), "{budget}");
    }
}

/// Calls of a round are not independent: the variance of the pooled curve, times calls by effective size.
#[test]
fn w2_an_estimate_is_as_sure_as_the_pooled_curve_by_whole_rounds() {
    let nature = Nature { together: 200, alone: 50, ..Nature::PLAIN };
    let question = question(session(&nature, 400, BUDGET, Some(3), &mut dice(11)));
    let now = question.now;
    let calls = question.rounds.iter().flat_map(|r| r.calls.iter().filter_map(move |c| r.meant(c, now)));
    let pooled = Curve::of(&calls.collect::<Vec<_>>());
    let variances = variances(&pooled, Level::Ok);
    let mut recount = Recount::new(&[BUDGET], 1, &[false; 8]);
    question.rounds.iter().for_each(|round| recount.add(round));
    let sample = recount.rows()[0].found.as_ref().unwrap().sample;
    assert!(sample < 3200.0 / 2.0, "they are slow together: {sample}");
    for budget in [210, 230, 250] {
        let point = at(&question, budget);
        let row = pooled.rows().iter().rposition(|row| row.time <= ms(budget)).unwrap();
        let want = log_log(pooled.rows()[row].ok, variances[row] * 3200.0 / sample);
        let got = point.interval.unwrap();
        assert!(same(got.0, want.0) && same(got.1, want.1), "{budget}: {got:?} is not {want:?}");
    }
}

#[test]
fn w3_after_deadline_rounds_there_are_bounds_and_after_probes_an_estimate() {
    let nature = Nature::PLAIN;
    let mut rounds = session(&nature, 200, BUDGET, None, &mut dice(3));
    let before = question(rounds.clone());
    let point = at(&before, 300);
    assert_eq!((point.status, point.completeness, point.interval), (Status::Bounded, None, None));
    let (low, high) = point.bounds.unwrap();
    let lost = |r: &Arc<Seen>| r.calls.iter().filter(|call| call.outcome == FAILED).count();
    let errors = f64::from(u32::try_from(before.rounds.iter().map(lost).sum::<usize>()).unwrap()) / 1600.0;
    assert!(same(low, observed(&before.rounds)) && same(high, 1.0 - errors), "{low} {high}");
    assert_eq!(BudgetCurve::of(&before).errors, None, "what was cut may fail, too");
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    let mut probes = dice(4);
    rounds.extend((201..=260).map(|no| Arc::new(cut(no, &settings, true, &nature.round(&mut probes)))));
    let after = question(rounds);
    let point = at(&after, 260);
    assert_eq!(point.status, Status::Estimated, "{point:?}");
    let (low, high) = point.interval.unwrap();
    assert!(low < nature.truth(ms(260)) && nature.truth(ms(260)) < high, "{point:?}");
    let errors = BudgetCurve::of(&after).errors.unwrap();
    assert!((errors - 0.02).abs() < 0.01, "{errors}");
    // As the stragglers come to an end there is no number any more (W6), and the bounds are narrow.
    let statuses: Vec<Status> = BudgetCurve::of(&after).points.iter().map(|point| point.status).collect();
    let mut order = statuses.clone();
    order.dedup();
    assert_eq!(order, [Status::Exact, Status::Estimated, Status::Thin, Status::Bounded]);
    let (low, high) = at(&after, 400).bounds.unwrap();
    assert!(high - low < 0.01, "{low} {high}");
}

#[test]
fn w3_where_nothing_was_left_to_come_the_recount_goes_on() {
    // All answer or fail within the budget.
    let rounds = (0..40).map(|i| {
        let error = Observation { time: ms(30), what: Observed::Error };
        round(BUDGET, &[ok(50 + i), ok(60), if i % 4 == 0 { error } else { ok(90) }])
    });
    let question = question(rounds.collect());
    let (ran, beyond) = (at(&question, 200), at(&question, 390));
    assert_eq!((ran.status, ran.n, ran.bounds), (Status::Exact, 40, None));
    assert!(same(ran.completeness.unwrap(), 110.0 / 120.0) && ran.interval.is_some());
    assert_eq!(BudgetPoint { budget: ms(200), ..beyond }, ran, "nothing can change it");
    assert_eq!(BudgetCurve::of(&question).exact_until, Some(BUDGET), "no round ran longer");
    // One call that was cut may answer.
    let mut one = question.clone();
    one.rounds.push(round(BUDGET, &[ok(50), ok(60), pending(200)]));
    let point = at(&one, 390);
    assert_eq!((point.status, point.completeness, point.n), (Status::Bounded, None, 41));
    let (low, high) = point.bounds.unwrap();
    assert!(same(low, 112.0 / 123.0) && same(high, 113.0 / 123.0), "{low} {high}");
}

#[test]
fn w3_where_all_stragglers_came_in_the_estimate_goes_on() {
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    let rounds = (1..=40).map(|no| Arc::new(cut(no, &settings, no > 10, &[ok(50), ok(250)])));
    let question = question(rounds.collect());
    let (there, beyond) = (at(&question, 250), at(&question, 390));
    assert_eq!((there.status, there.at_risk), (Status::Estimated, 30));
    assert!(same(there.completeness.unwrap(), 1.0));
    assert_eq!(BudgetPoint { budget: ms(250), ..beyond }, there);
}

#[test]
fn w3_stragglers_that_are_still_watched_are_pending_until_now() {
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    let nature = [ok(50), ok(400)];
    let round = |no| {
        let mut round = cut(no, &settings, true, &nature);
        round.calls[1].late = None;
        Arc::new(round)
    };
    let mut question = question((1..=30).map(round).collect());
    // Now is 300 ms after the last start and more after the others, which are known no longer than they are watched.
    question.now = question.rounds.last().unwrap().at + ms(300);
    assert_eq!((at(&question, 300).at_risk, at(&question, 301).at_risk), (30, 29));
    assert_eq!((at(&question, 1000).at_risk, at(&question, 1001).at_risk), (28, 0));
    assert!(same(at(&question, 300).completeness.unwrap(), 0.5));
    assert_eq!(at(&question, 1001).bounds, Some((0.5, 1.0)));
}

#[test]
fn w3_one_long_round_is_no_reason_to_give_up_the_others() {
    let mut rounds = session(&Nature::PLAIN, 600, BUDGET, Some(6), &mut dice(5));
    let long =
        |n: u64, seed| in_mode(session(&Nature::PLAIN, n, ms(1000), None, &mut dice(seed)), Mode::WaitAll);
    rounds.extend(long(1, 6));
    let one = question(rounds.clone());
    assert_eq!((at(&one, 200).status, at(&one, 200).n), (Status::Exact, 601));
    assert_eq!(at(&one, 240).status, Status::Estimated);
    // Where no estimate is to be had the one round is no number (W6); a few are one, and say how little they are.
    assert_eq!(at(&one, 5000).status, Status::Bounded);
    let few = question(rounds.iter().cloned().chain(long(4, 8)).collect());
    assert_eq!((at(&few, 5000).status, at(&few, 5000).n), (Status::Exact, 5));
    rounds.extend(long(24, 7));
    let many = question(rounds);
    assert_eq!((at(&many, 240).status, at(&many, 240).n), (Status::Exact, 25));
}

#[test]
fn r24_below_the_exact_budgets_of_hedged_rounds_there_are_bounds() {
    let hedged = |round: Arc<Seen>| {
        let mut round = Arc::unwrap_or_clone(round);
        let hedge = HedgeSettings { delay: HedgeDelay::Percentile(0.95), ..HedgeSettings::default() };
        round.settings = Arc::new(Settings { hedge, ..Settings::clone(&round.settings) });
        round.calls.iter_mut().for_each(|call| call.hedge_delay = Some(ms(100)));
        Arc::new(round)
    };
    let plain = session(&Nature::PLAIN, 100, BUDGET, None, &mut dice(8));
    let as_it_was: Vec<f64> =
        [50, 150, 199].map(|b| at(&question(plain.clone()), b).completeness.unwrap()).into();
    let rounds = in_mode(plain.into_iter().map(hedged).collect(), Mode::Hedge);
    let question = question(rounds);
    let now = at(&question, 200);
    assert_eq!(now.status, Status::Exact);
    for (budget, low) in [50, 150, 199].into_iter().zip(as_it_was) {
        let point = at(&question, budget);
        assert_eq!((point.status, point.completeness), (Status::Bounded, None), "{budget}");
        let bounds = point.bounds.unwrap();
        assert!(same(bounds.0, low) && same(bounds.1, now.completeness.unwrap()), "{budget}: {bounds:?}");
    }
}

#[test]
fn w1_beyond_a_quorum_it_is_said_what_is_assumed() {
    let mut rounds = Vec::new();
    for (no, nature) in session(&Nature::PLAIN, 200, BUDGET, None, &mut dice(9)).into_iter().enumerate() {
        let mut round = Arc::unwrap_or_clone(nature);
        let mut ends: Vec<Duration> =
            round.calls.iter().filter(|c| c.outcome == Outcome::Ok).map(|c| c.end).collect();
        ends.sort_unstable();
        let Some(&end) = ends.get(4) else { continue };
        for call in round.calls.iter_mut().filter(|call| call.end > end) {
            (call.outcome, call.end) = (Outcome::NotNeeded, end);
            call.whole = Some(Observation { time: end, what: Observed::Censored });
        }
        round.settings = Arc::new(Settings { mode: Mode::Quorum, ..Settings::clone(&round.settings) });
        round.no = fanscope::domain::RoundNo(no as u64);
        rounds.push(Arc::new(round));
    }
    let earliest = rounds.iter().flat_map(|r| &r.calls).filter(|c| c.outcome == Outcome::NotNeeded);
    let earliest = earliest.map(|call| call.end).min().unwrap();
    let curve = BudgetCurve::of(&question(rounds));
    assert!(curve.assumes_independence);
    assert_eq!(curve.exact_until, Some(earliest));
    let estimated = curve.points.iter().filter(|point| point.status == Status::Estimated).count();
    assert!(estimated > 10, "{estimated}");
    assert!(
        !BudgetCurve::of(&question(session(&Nature::PLAIN, 50, BUDGET, None, &mut dice(1))))
            .assumes_independence
    );
}

#[test]
fn r34_required_calls_are_not_estimated_but_are_as_they_were() {
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    // The required call answers late, the optional one at 300 ms.
    let round = |no| {
        let mut round = cut(no, &settings, true, &[ok(50), ok(300)]);
        round.calls[0].end = ms(350);
        round.calls[0].whole = Some(ok(350));
        Arc::new(round)
    };
    let mut question = question((1..=40).map(round).collect());
    question.specs[0].required = true;
    let shares = [100, 200, 250, 300].map(|budget| at(&question, budget).completeness.unwrap());
    assert!(shares.iter().zip([0.5, 0.5, 0.5, 1.0]).all(|(a, b)| same(*a, b)), "{shares:?}");
    assert_eq!(at(&question, 300).at_risk, 40);
}

#[test]
fn w1_where_nothing_was_sent_no_budget_buys_it() {
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    let round = |no| {
        let mut round = cut(no, &settings, true, &[ok(50), ok(300)]);
        let call = &mut round.calls[0];
        (call.outcome, call.end) = (Outcome::Missing(Reason::BreakerOpen), Duration::ZERO);
        (call.whole, call.primary) = (None, None);
        Arc::new(round)
    };
    let question = question((1..=40).map(round).collect());
    assert!(same(at(&question, 300).completeness.unwrap(), 0.5));
    assert_eq!(BudgetCurve::of(&question).errors, Some(0.5));
}

#[test]
fn a_cursor_goes_along_even_steps_and_meets_the_budget() {
    for (budget, step, points) in [(200, 5, 80), (150, 5, 60), (187, 5, 75), (1, 0, 100), (5000, 100, 100)] {
        let rounds = vec![round(ms(budget), &[ok(1)])];
        let curve = BudgetCurve::of(&question(rounds));
        let budgets: Vec<Duration> = curve.points.iter().map(|point| point.budget).collect();
        assert!(budgets.is_sorted() && budgets.contains(&ms(budget)), "{budget}");
        assert_eq!(budgets.len(), points, "{budget}");
        assert!(step == 0 || budgets[0] == ms(step) && budgets[1] == ms(2 * step), "{budget}");
        let again = BudgetCurve::at(&question(vec![round(ms(budget), &[ok(1)])]), &budgets);
        assert_eq!(again, curve.points, "{budget}");
    }
    assert_eq!(BudgetCurve::of(&question(Vec::new())), BudgetCurve::default());
    let nothing = BudgetCurve::at(&question(Vec::new()), &[ms(100)]);
    assert_eq!((nothing[0].status, nothing[0].n, nothing[0].bounds), (Status::NotObserved, 0, None));
}

#[test]
fn the_knee_is_where_the_curve_bends_and_not_where_it_is_straight() {
    // Most answer by 60 ms, the rest slowly until 200.
    let bent = (0..40).map(|i| {
        let slow = 60 + i * 7 / 2;
        round(BUDGET, &[ok(20 + i), ok(21 + i), ok(22 + i), ok(23 + i), ok(slow)])
    });
    let knee = BudgetCurve::of(&question(bent.collect())).knee.unwrap();
    assert!((ms(50)..=ms(75)).contains(&knee), "{knee:?}");
    let straight = (0..40).map(|i| round(BUDGET, &[ok(1 + i * 10 / 2)]));
    assert_eq!(BudgetCurve::of(&question(straight.collect())).knee, None);
    // A step is no bend, and of nothing there is none.
    let step = (0..40).map(|_| round(BUDGET, &[ok(50)]));
    assert_eq!(BudgetCurve::of(&question(step.collect())).knee, None);
    assert_eq!(BudgetCurve::of(&question(vec![round(BUDGET, &[pending(200)])])).knee, None);
}

/// How often, of so many tries, a forecast holds what the next minute's rounds then give, and an interval the truth.
fn coverage(nature: &Nature, budget: Duration, probes: Option<u64>, tries: u64) -> (u64, u64) {
    coverage_of(nature, budget, probes, tries, 150)
}

fn coverage_of(
    nature: &Nature,
    budget: Duration,
    probes: Option<u64>,
    tries: u64,
    rounds: u64,
) -> (u64, u64) {
    let truth = nature.truth(budget);
    let (mut next, mut mean) = (0, 0);
    for seed in 0..tries {
        let mut dice = dice(1000 + seed);
        let question = question(session(nature, rounds, BUDGET, probes, &mut dice));
        let point = BudgetCurve::at(&question, &[budget]).remove(0);
        let minute: f64 = (0..120).map(|_| share(&nature.round(&mut dice), budget)).sum::<f64>() / 120.0;
        let holds = |(low, high): (f64, f64), value: f64| u64::from(low <= value && value <= high);
        next += holds(point.next_minute.unwrap(), minute);
        mean += holds(point.interval.unwrap(), truth);
    }
    (next, mean)
}

/// Meant are 95 of 100, of which chance leaves at least 90 in so many tries.
fn covers(nature: &Nature, cases: &[(Duration, Option<u64>)]) {
    let tries = 200;
    for &(budget, probes) in cases {
        let (next, mean) = coverage(nature, budget, probes, tries);
        assert!(next >= tries * 9 / 10, "{nature:?} at {budget:?}: {next} of {tries} minutes");
        assert!(mean >= tries * 9 / 10, "{nature:?} at {budget:?}: {mean} of {tries} intervals");
    }
}

/// Recounted below the budget that ran and at it, and estimated above.
const CASES: [(Duration, Option<u64>); 3] = [(ms(120), None), (BUDGET, None), (ms(230), Some(2))];

#[test]
fn w3_the_next_minute_falls_into_its_interval() {
    covers(&Nature::PLAIN, &CASES);
}

#[test]
fn w3_the_next_minute_falls_into_its_interval_where_calls_are_slow_together() {
    covers(&Nature { together: 200, alone: 0, ..Nature::PLAIN }, &CASES);
}

#[test]
fn w3_the_next_minute_falls_into_its_interval_where_many_calls_fail() {
    covers(&Nature { calls: 16, together: 80, alone: 100, errors: 80, ..Nature::PLAIN }, &CASES);
}

#[test]
fn w3_the_next_minute_falls_into_its_interval_after_few_rounds() {
    let (next, mean) = [Nature::PLAIN, Nature { together: 200, alone: 0, ..Nature::PLAIN }]
        .iter()
        .map(|nature| coverage_of(nature, ms(150), None, 200, 12))
        .fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(next >= 360 && mean >= 360, "{next} minutes and {mean} intervals of 400");
}

fn outcome() -> impl Strategy<Value = Came> {
    prop_oneof![
        4 => Just((Outcome::Ok, Some(Observed::Ok))),
        2 => Just((CUT, Some(Observed::Censored))),
        1 => Just((FAILED, Some(Observed::Error))),
        1 => Just((Outcome::NotNeeded, Some(Observed::Censored))),
        1 => Just((Outcome::Missing(Reason::BreakerOpen), None)),
        1 => Just((Outcome::Missing(Reason::Throttled), Some(Observed::Censored))),
        1 => Just((Outcome::Missing(Reason::RequestDeadline), Some(Observed::Censored))),
    ]
}

type Came = (Outcome, Option<Observed>);

/// When and how it settled, what came later, its hedge's delay.
type AnyCall = ((u64, Came), Option<(Came, u64)>, Option<u64>);

/// Anything at all, also what no engine would write.
fn any_round() -> impl Strategy<Value = Arc<Seen>> {
    let late = prop::option::of((outcome(), 0_u64..2000));
    let calls = prop::collection::vec(((0_u64..400, outcome()), late, prop::option::of(0_u64..300)), 0..6);
    let mode = prop::sample::select(Mode::ALL);
    (mode, prop::sample::select(vec![0_u64, 100, 200, 200, 250]), calls, any::<bool>(), 0_u64..5000).prop_map(
        |(mode, budget, calls, probe, start)| {
            let settings = Arc::new(Settings { mode, budget: ms(budget), ..Settings::default() });
            let mut round = Arc::unwrap_or_clone(round(ms(budget), &[]));
            round.at = ms(start);
            round.settings = settings;
            round.probe = probe.then_some(ms(budget * 5));
            let call = |(i, ((end, (outcome, what)), late, delay)): (usize, &AnyCall)| {
                let whole = what.map(|what| Observation { time: ms(*end), what });
                let late = late.filter(|_| probe);
                let late = late.map(|((outcome, _), end)| fanscope::domain::Late {
                    endpoint: EndpointId(i),
                    outcome,
                    end: ms(end),
                });
                SeenCall {
                    endpoint: EndpointId(i),
                    outcome: *outcome,
                    end: ms(*end),
                    hedge_delay: delay.map(ms).filter(|_| mode == Mode::Hedge),
                    primary: whole,
                    whole,
                    hedges: Box::default(),
                    late,
                }
            };
            round.calls = calls.iter().enumerate().map(call).collect();
            Arc::new(round)
        },
    )
}

fn fine(point: &BudgetPoint) -> Result<(), TestCaseError> {
    let within = |(low, high): (f64, f64)| (0.0..=1.0).contains(&low) && low <= high && high <= 1.0;
    for interval in [point.interval, point.next_minute, point.bounds].into_iter().flatten() {
        prop_assert!(within(interval), "{point:?}");
    }
    if let Some(share) = point.completeness {
        let (low, high) = point.interval.unwrap();
        prop_assert!((0.0..=1.0).contains(&share), "{point:?}");
        prop_assert!(low <= share + 1e-9 && share <= high + 1e-9, "{point:?}");
        prop_assert!(matches!(point.status, Status::Exact | Status::Estimated | Status::Thin), "{point:?}");
        prop_assert!(point.status != Status::Estimated || point.at_risk >= 20, "{point:?}");
        prop_assert!(point.status != Status::Thin || (5..20).contains(&point.at_risk), "{point:?}");
    } else {
        prop_assert!(matches!(point.status, Status::Bounded | Status::NotObserved), "{point:?}");
        prop_assert_eq!(point.bounds.is_some(), point.status == Status::Bounded);
    }
    Ok(())
}

fn alike(a: &BudgetPoint, b: &BudgetPoint) -> bool {
    let pair = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| match (a, b) {
        (Some(a), Some(b)) => (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9,
        (a, b) => a.is_none() && b.is_none(),
    };
    let one = |a: Option<f64>, b: Option<f64>| pair(a.map(|a| (a, a)), b.map(|b| (b, b)));
    (a.budget, a.status, a.n, a.at_risk, &a.missing) == (b.budget, b.status, b.n, b.at_risk, &b.missing)
        && one(a.completeness, b.completeness)
        && one(a.all, b.all)
        && one(a.at_least_k, b.at_least_k)
        && pair(a.interval, b.interval)
        && pair(a.next_minute, b.next_minute)
        && pair(a.bounds, b.bounds)
}

proptest! {
    #[test]
    fn whatever_the_rounds_are_numbers_are_shares(
        rounds in prop::collection::vec(any_round(), 0..60), budget in prop::sample::select(vec![0_u64, 1, 150, 200, 90_000]),
        required in any::<bool>(), every in 0_u64..2000,
    ) {
        let mut question = question(rounds);
        question.settings.budget = ms(budget);
        question.settings.every = ms(every);
        if let Some(spec) = question.specs.first_mut() {
            spec.required = required;
        }
        let outlook = question.answer();
        for point in &outlook.budgets.points {
            fine(point)?;
        }
        prop_assert!(outlook.budgets.errors.is_none_or(|errors| (0.0..=1.0).contains(&errors)));
        for sentence in &outlook.advice {
            let text = sentence.to_string();
            prop_assert!(!text.contains("NaN") && !text.contains("inf") && text.ends_with('.'), "{text}");
        }
        prop_assert!(outlook.advice.len() <= 3);
        prop_assert_eq!(question.answer(), outlook, "asked again it says the same");
    }

    #[test]
    fn w3_more_budget_never_answers_less(
        seed in any::<u64>(), rounds in 1_u64..60, probes in prop::option::of(1_u64..4),
        together in 0_u32..400, errors in 0_u32..400,
    ) {
        let nature = Nature { together, errors, ..Nature::PLAIN };
        let question = question(session(&nature, rounds, BUDGET, probes, &mut dice(seed)));
        let curve = BudgetCurve::of(&question);
        let mut low = 0.0;
        for point in &curve.points {
            let least = point.completeness.or(point.bounds.map(|bounds| bounds.0)).unwrap();
            prop_assert!(least >= low - 1e-12, "{point:?} after {low}");
            low = least;
        }
        let most = curve.points.iter().filter_map(|point| point.bounds).map(|bounds| bounds.1).reduce(f64::max);
        prop_assert!(most.is_none_or(|most| most >= low));
    }

    #[test]
    fn the_order_of_rounds_and_endpoints_says_nothing(
        rounds in prop::collection::vec(any_round(), 0..60), seed in any::<u64>(),
    ) {
        let mut one = question(rounds);
        one.settings = Settings { budget: BUDGET, ..Settings::default() };
        let mut other = one.clone();
        let mut dice = dice(seed);
        other.rounds = shuffled(other.rounds, &mut dice);
        let turned = |round: &Arc<Seen>| {
            let mut round = Seen::clone(round);
            let last = round.calls.len();
            round.calls.reverse();
            for (i, call) in round.calls.iter_mut().enumerate() {
                call.endpoint = EndpointId(i);
                call.late = call.late.map(|late| fanscope::domain::Late { endpoint: EndpointId(i), ..late });
            }
            prop_assert_eq!(round.calls.len(), last);
            Ok(Arc::new(round))
        };
        other.rounds = other.rounds.iter().map(turned).collect::<Result<_, TestCaseError>>()?;
        let (one, other) = (one.answer(), other.answer());
        prop_assert_eq!((one.rounds, one.calls, one.probes, one.round), (other.rounds, other.calls, other.probes, other.round));
        prop_assert_eq!(one.budgets.exact_until, other.budgets.exact_until);
        for (a, b) in one.budgets.points.iter().zip(&other.budgets.points) {
            prop_assert!(alike(a, b), "{a:?} {b:?}");
        }
    }
}

/// W3: above the budget only rounds that were meant to be watched show anything. A round that was cut late, since this
/// machine was busy, saw the quick ones of the late calls and none of the slow ones.
#[test]
fn w3_what_our_own_stalls_saw_is_no_evidence_beyond_the_budget() {
    let late = |second| {
        let mut round = Arc::unwrap_or_clone(round(BUDGET, &[ok(50), second]));
        // It came, or was cut, late: missing either way.
        (round.calls[1].outcome, round.calls[1].end) = (CUT, BUDGET);
        Arc::new(round)
    };
    let seconds = [pending(201), ok(230), pending(460)];
    let question = question((0..90).map(|i| late(seconds[i % 3])).collect());
    for budget in [220, 250, 400] {
        let point = at(&question, budget);
        assert_eq!((point.status, point.completeness), (Status::Bounded, None), "{budget}");
        assert_eq!(point.bounds, Some((0.5, 1.0)), "{budget}");
    }
}

/// A budget at which only a handful of the rounds count is not told by them, and the curve never falls.
#[test]
fn w6_a_handful_of_rounds_is_not_exact() {
    let ended = || {
        let mut round = Arc::unwrap_or_clone(round(BUDGET, &[ok(30), pending(40)]));
        round.calls[1].outcome = Outcome::NotNeeded;
        Arc::new(round)
    };
    let mut rounds = in_mode((0..99).map(|_| ended()).collect(), Mode::Quorum);
    rounds.push(round(BUDGET, &[ok(150), ok(180)]));
    let points = BudgetCurve::at(&question(rounds), &[35, 100, 200].map(ms));
    assert_eq!((points[0].status, points[0].n), (Status::Exact, 100));
    assert!(points.iter().skip(1).all(|point| point.status != Status::Exact), "{points:?}");
    let told: Vec<f64> = points.iter().filter_map(|point| point.completeness).collect();
    assert!(told.is_sorted(), "{told:?}");
}
