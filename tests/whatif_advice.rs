//! What is advised, word for word, and what is not.

#[path = "support/sample.rs"]
#[expect(dead_code, reason = "each test file uses its own part")]
mod sample;

use fanscope::domain::{Ab, HedgeContract, HedgeDelay, Mode, Outcome, Settings, Variant};
use fanscope::whatif::advice::{Sentence, Weight, advise};
use fanscope::whatif::hedge::{HedgeRow, HedgeStatus, HedgeStudy};
use fanscope::whatif::outlook::{Outlook, Question, Status};
use fanscope::whatif::quantile::Quantile;
use fanscope::whatif::quorum::{QuorumRow, QuorumStudy};
use fanscope::whatif::seen::Seen;
use fanscope::whatif::survival::{Observation, Observed};
use sample::{CUT, cut, in_mode, ms, question, round};
use std::sync::Arc;
use std::time::Duration;

const BUDGET: Duration = ms(200);

fn says(question: &Question) -> Vec<String> {
    // Quorums and hedges are looked at by others, and told here below.
    let outlook = Outlook { quorum: QuorumStudy::default(), hedge: None, ..question.answer() };
    words(&advise(question, &outlook))
}

fn words(sentences: &[Sentence]) -> Vec<String> {
    sentences.iter().map(Sentence::to_string).collect()
}

fn at(time: u64, what: Observed) -> Observation {
    Observation { time: ms(time), what }
}

fn ok(time: u64) -> Observation {
    at(time, Observed::Ok)
}

/// Rounds of four calls, of which one in five has a late one and one in ten one that fails.
fn mixed(rounds: u64, probes: bool) -> Vec<Arc<Seen>> {
    let settings = Arc::new(Settings { budget: BUDGET, ..Settings::default() });
    let round = |no: u64| {
        let slow = if no.is_multiple_of(5) { 210 + no % 7 * 3 } else { 150 };
        let fails = if no % 10 == 1 { at(30, Observed::Error) } else { ok(100) };
        let late = cut(no, &settings, probes, &[ok(50 + no % 20), ok(120), fails, ok(slow)]);
        Arc::new(late)
    };
    (1..=rounds).map(round).collect()
}

#[test]
fn too_few_rounds_carry_no_advice() {
    assert_eq!(says(&question(mixed(0, false))), [""; 0]);
    let one = says(&question(mixed(1, true)));
    assert_eq!(one, ["Only 1 round so far: too thin for advice, which takes 20."]);
    assert_eq!(
        says(&question(mixed(19, true))),
        ["Only 19 rounds so far: too thin for advice, which takes 20."]
    );
    assert_ne!(says(&question(mixed(20, true)))[0].get(..4), Some("Only"));
}

#[test]
fn w7_what_a_longer_budget_buys_with_n_and_interval() {
    let said = says(&question(mixed(400, true)));
    assert_eq!(
        said,
        [
            "225 ms would answer 96.8 % (95.8 to 97.6, n 80 calls) instead of 92.5 %: 4.3 points for 25 ms.",
            "95 % is reached at 220 ms (95.4 %, 94.2 to 96.3, n 80 calls); 99 % is unreachable: 2.5 % (1.8 to 3.4, \
             n 400 rounds) errors at any budget.",
            "shop-3 alone is 100.0 % of what is cut. Without it a round is complete 90.0 % of the time (86.7 to \
             92.6, n 400 rounds) instead of 70.0 %.",
        ]
    );
    let strong = advise(&question(mixed(400, true)), &question(mixed(400, true)).answer());
    let strong: Vec<&str> =
        strong[0].0.iter().filter(|piece| piece.1 == Weight::Strong).map(|piece| piece.0.as_str()).collect();
    assert_eq!(strong, ["225 ms", "96.8 %", "4.3 points for 25 ms"]);
}

#[test]
fn w6_what_rests_on_few_calls_is_called_thin() {
    let said = says(&question(mixed(60, true)));
    assert!(said[0].contains(", thin, n 12 calls) instead of 92.5 %"), "{said:?}");
}

#[test]
fn w3_where_everything_above_is_censored_it_is_said_how_to_see_further() {
    let said = says(&question(mixed(400, false)));
    assert_eq!(
        said,
        [
            "150 ms would answer 92.5 % (91.1 to 93.7, n 400 rounds) instead of 92.5 %: 50 ms less for nothing.",
            "Above 200 ms everything is censored (n 400 rounds): a longer budget answers 92.5 % to 97.5 %. Watch 5 % of the rounds \
             past the deadline to see further.",
            "shop-3 alone is 100.0 % of what is cut. Without it a round is complete 90.0 % of the time (86.7 to \
             92.6, n 400 rounds) instead of 70.0 %.",
        ]
    );
    // Where they are watched already it takes more of them.
    let mut watched = question(mixed(400, false));
    watched.settings.probe = 0.05;
    assert!(says(&watched)[1].ends_with(" Too few calls were watched past the deadline yet: thin."));
}

#[test]
fn a_budget_that_is_longer_than_it_need_be() {
    let quick = (0..100).map(|i| round(BUDGET, &[ok(50 + i % 9), ok(90)]));
    assert_eq!(
        says(&question(quick.collect())),
        [
            "90 ms would answer 100.0 % (96.2 to 100.0, n 100 rounds) instead of 100.0 %: 110 ms less for nothing."
        ]
    );
    let just = (0..100).map(|i| round(BUDGET, &[ok(195 + i % 3), ok(199)]));
    assert_eq!(
        says(&question(just.collect())),
        ["200 ms answers 100.0 % (96.2 to 100.0, n 100 rounds): no other budget that was seen is better."]
    );
}

#[test]
fn names_are_those_of_the_profile_and_a_lack_of_them_is_no_fault() {
    let mut question = question(mixed(400, true));
    question.names = vec!["a".into(), "b".into(), "c".into(), "recs".into()];
    assert!(says(&question)[2].starts_with("recs alone is"));
    question.names.clear();
    assert!(says(&question)[2].starts_with("call 4 alone is"));
}

fn quorum(k: usize, met: f64, independent: f64, correlated: bool) -> QuorumRow {
    QuorumRow {
        k,
        n: 400,
        by_budget: Some(met),
        interval: Some((met - 0.02, met + 0.02)),
        status: Status::Exact,
        independent: Some(independent),
        correlated,
        times: [Quantile::default(); 3],
        curve: Vec::new(),
    }
}

#[test]
fn w4_correlated_calls_are_named_with_both_figures() {
    let question = question(mixed(400, true));
    let rows = vec![quorum(1, 0.99, 1.0, false), quorum(2, 0.9, 0.97, true), quorum(3, 0.8, 0.7, true)];
    let mut outlook = question.answer();
    outlook.quorum = QuorumStudy { k: 2, rows };
    outlook.hedge = None;
    // Other things come first where no quorum is asked for.
    assert!(words(&advise(&question, &outlook)).iter().all(|said| !said.contains("correlated")));
    let mut asked = question.clone();
    asked.settings.mode = Mode::Quorum;
    assert_eq!(
        advise(&asked, &outlook)[0].to_string(),
        "Calls are correlated: k 2 is met by 200 ms in 90.0 % (88.0 to 92.0, n 400) of the rounds, independent \
         calls would give 97.0 %."
    );
    outlook.quorum.k = 1;
    assert!(
        !advise(&asked, &outlook)[0].to_string().contains("correlated"),
        "k that holds is as if independent"
    );
}

fn hedges(buys: f64, load: f64, status: HedgeStatus) -> HedgeStudy {
    let row = |delay: Option<u64>, extra_load, ok_by_budget| HedgeRow {
        delay: delay.map(|delay| HedgeDelay::Fixed(ms(delay))),
        time: delay.map(ms),
        extra_load,
        ok_by_budget: Some(ok_by_budget),
        thin: false,
        p99: None,
        p99_thin: false,
        status,
    };
    HedgeStudy {
        rows: vec![row(None, 0.0, 0.925), row(Some(95), load, 0.925 + buys), row(Some(50), 0.2, 0.97)],
        load_budget: 0.05,
        best: Some(ms(95)),
        n: 1500,
        ..HedgeStudy::default()
    }
}

#[test]
fn w5_a_hedge_is_advised_where_it_buys_something_within_the_load() {
    let question = question(in_mode(mixed(400, false), Mode::Deadline));
    let with = |study: HedgeStudy| {
        let outlook = Outlook { hedge: Some(study), quorum: QuorumStudy::default(), ..question.answer() };
        words(&advise(&question, &outlook)).into_iter().find(|said| said.contains("hedge"))
    };
    assert_eq!(
        with(hedges(0.021, 0.048, HedgeStatus::Model)).unwrap(),
        "A hedge after 95 ms would answer 94.6 % instead of 92.5 % by 200 ms: 2.1 points for 4.8 % more load \
         (model: assumes independence, n 1500 calls)."
    );
    assert_eq!(with(hedges(0.021, 0.048, HedgeStatus::Extrapolated)), None, "not seen");
    let changed = |change: fn(&mut HedgeRow)| {
        let mut study = hedges(0.021, 0.048, HedgeStatus::Model);
        study.rows.iter_mut().for_each(change);
        with(study)
    };
    assert_eq!(changed(|row| row.thin = row.delay.is_some()), None, "too few calls");
    assert_eq!(changed(|row| row.ok_by_budget = row.ok_by_budget.filter(|_| row.delay.is_some())), None);
    assert_eq!(with(hedges(0.004, 0.048, HedgeStatus::Model)), None, "too little");
    assert_eq!(with(hedges(0.021, 0.06, HedgeStatus::Model)), None, "too much load");
    assert_eq!(with(HedgeStudy::default()), None);
}

#[test]
fn w5_whose_hedges_are_meant_and_none_where_calls_are_hedged_already() {
    let with = |question: &Question| {
        let study = Some(hedges(0.021, 0.048, HedgeStatus::Model));
        let outlook = Outlook { hedge: study, quorum: QuorumStudy::default(), ..question.answer() };
        words(&advise(question, &outlook)).into_iter().find(|said| said.contains("hedge"))
    };
    let mut asked = question(mixed(400, false));
    assert!(!with(&asked).unwrap().contains("may be hedged"));
    asked.specs[1].hedge = HedgeContract::Off;
    let some = with(&asked).unwrap();
    assert!(some.contains(" answer 94.6 % of the calls that may be hedged instead of 92.5 %"), "{some}");
    // One that runs by a contract of its own is what "instead" would have to start from.
    Arc::make_mut(&mut asked.rounds[7]).calls[2].hedge_delay = Some(ms(80));
    assert_eq!(with(&asked), None);
}

/// Whether anything is made of another budget than the one that holds.
fn speaks_of_budgets(said: &[String]) -> bool {
    ["would answer", "is reached at", "censored", "unreachable", "no other budget"]
        .iter()
        .any(|words| said.iter().any(|said| said.contains(words)))
}

#[test]
fn w7_another_budget_is_advised_only_where_rounds_end_at_theirs() {
    for probes in [true, false] {
        for &mode in Mode::ALL {
            let said = says(&question(in_mode(mixed(400, probes), mode)));
            let cut = matches!(mode, Mode::Deadline | Mode::Hedge);
            assert_eq!(speaks_of_budgets(&said), cut, "{mode:?}: {said:?}");
            assert!(said.iter().any(|said| said.starts_with("shop-3 alone is")), "{mode:?}: {said:?}");
        }
    }
    // Nor where it is the best there is.
    let just = (0..100).map(|i| round(BUDGET, &[ok(195 + i % 3), ok(199)]));
    assert_eq!(says(&question(in_mode(just.collect(), Mode::WaitAll))), [""; 0]);
    // A mode in turn with one that does not end so is neither.
    let mut turns = question(mixed(400, true));
    turns.settings.ab = Some(Ab { a: Variant::Mode(Mode::Deadline), b: Variant::Mode(Mode::Quorum) });
    assert!(!speaks_of_budgets(&says(&turns)));
}

#[test]
fn w9_nothing_is_instead_of_a_budget_that_two_take_the_turns_of() {
    let mut turns = question(mixed(400, true));
    let budgets = [Variant::Budget(ms(150)), Variant::Budget(ms(250))];
    turns.settings.ab = Some(Ab { a: budgets[0], b: budgets[1] });
    assert!(!speaks_of_budgets(&says(&turns)), "{:?}", says(&turns));
    let outlook = Outlook { hedge: Some(hedges(0.021, 0.048, HedgeStatus::Model)), ..turns.answer() };
    assert!(words(&advise(&turns, &outlook)).iter().all(|said| !said.contains("A hedge after")));
    let hedge = |delay| Variant::Hedge(HedgeDelay::Fixed(ms(delay)));
    turns.settings.ab = Some(Ab { a: hedge(50), b: hedge(90) });
    assert!(speaks_of_budgets(&says(&turns)), "all rounds have this budget");
}

/// Rounds of one of two budgets, that see nothing beyond theirs but a few stragglers.
#[test]
fn w3_censored_is_what_is_above_the_last_figure_that_is_shown() {
    let round = |no: u64| {
        let budget = ms(if no.is_multiple_of(40) { 200 } else { 100 });
        let settings = Arc::new(Settings { budget, ..Settings::default() });
        Arc::new(cut(no, &settings, false, &[ok(60), ok(90), ok(300), ok(120 + no % 80)]))
    };
    let mut asked = question((1..=400).map(round).collect());
    asked.settings.budget = BUDGET;
    let outlook = asked.answer();
    assert_eq!(outlook.budgets.exact_until.map(|until| until < ms(150)), Some(true));
    let seen = outlook.budgets.points.iter().filter(|point| point.completeness.is_some());
    let last = seen.map(|point| point.budget).max().unwrap();
    assert!(last > ms(150) && last <= BUDGET);
    let said = words(&advise(&asked, &outlook));
    let from = format!("Above {} ms everything is censored (n 400 rounds): ", last.as_millis());
    assert!(said.iter().any(|said| said.starts_with(&from)), "{from} {said:?}");
}

#[test]
fn w8_a_quorum_is_not_called_complete_without_what_it_did_not_wait_for() {
    let by_quorum = |round: Arc<Seen>| {
        let mut round = Arc::unwrap_or_clone(round);
        round.k = Some(2);
        round.calls[3].outcome = if round.no.0.is_multiple_of(5) { CUT } else { Outcome::NotNeeded };
        Arc::new(round)
    };
    let rounds = in_mode(mixed(400, false), Mode::Quorum);
    let said = says(&question(rounds.into_iter().map(by_quorum).collect()));
    assert_eq!(said, ["shop-3 alone is 100.0 % of what is cut (n 80 calls)."]);
}

#[test]
fn w4_equal_figures_are_no_sign_of_correlated_calls() {
    let mut asked = question(mixed(400, true));
    asked.settings.mode = Mode::Quorum;
    let mut outlook = asked.answer();
    let says = |outlook: &Outlook| {
        words(&advise(&asked, outlook)).into_iter().find(|said| said.contains("correlated"))
    };
    // They were told apart at the median.
    outlook.quorum =
        QuorumStudy { k: 2, rows: vec![quorum(1, 1.0, 1.0, false), quorum(2, 0.97, 0.975, true)] };
    assert_eq!(says(&outlook), None);
    outlook.quorum.rows[1] = quorum(2, 0.95, 0.97, true);
    assert!(says(&outlook).is_some());
}

#[test]
fn nothing_is_made_of_a_budget_that_never_ran() {
    let mut question = question(mixed(400, false));
    question.settings.budget = ms(300);
    let said = says(&question);
    assert!(said[0].starts_with("Above 200 ms everything is censored (n 400 rounds)"), "{said:?}");
    assert!(said.iter().all(|said| !said.contains("300 ms")), "{said:?}");
    assert_eq!(question.rounds.iter().flat_map(|r| &r.calls).filter(|call| call.outcome == CUT).count(), 80);
}
