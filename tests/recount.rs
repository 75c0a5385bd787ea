//! Recounts for other budgets (W3): the worked example, the contracts of each mode, and random rounds against a
//! count by hand.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

use fanscope::domain::{
    Call, EndedBy, EndpointId, HedgeCounts, HedgeDelay, HedgeSettings, Mode, Outcome, Phase, Reason, Round,
    RoundNo, Settings,
};
use fanscope::whatif::recount::{BudgetRow, Recount};
use fanscope::whatif::shares::Share;
use proptest::prelude::*;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn round(mode: Mode, budget: u64, calls: &[(u64, Outcome)]) -> Round {
    let call = |(i, &(end, outcome)): (usize, &(u64, Outcome))| Call {
        endpoint: EndpointId(i),
        outcome,
        end: ms(end),
        phase: Phase::Waiting,
        status: None,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: None,
        attempts: Vec::new(),
    };
    let calls: Vec<Call> = calls.iter().enumerate().map(call).collect();
    let settings = Settings { mode, budget: ms(budget), request_budget: ms(1000), ..Settings::default() };
    Round {
        no: RoundNo(1),
        at: Duration::ZERO,
        start_lag: Duration::ZERO,
        settings: Arc::new(settings),
        budget: ms(budget),
        clamped: false,
        k: None,
        ended_by: EndedBy::Deadline,
        took: calls.iter().map(|c| c.end).max().unwrap_or_default(),
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: None,
        arm: None,
        late: Vec::new(),
        answered_optional: 0,
        failed: Vec::new(),
        calls,
    }
}

fn float(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

fn share(part: usize, whole: usize) -> f64 {
    float(part as u64) / float(whole as u64)
}

const CUT: Outcome = Outcome::Missing(Reason::Deadline);
const RESET: Outcome = Outcome::Missing(Reason::ConnReset);

fn rows(budgets: &[u64], k: usize, required: &[bool], rounds: &[Round]) -> Vec<BudgetRow> {
    let budgets: Vec<Duration> = budgets.iter().copied().map(ms).collect();
    let mut recount = Recount::new(&budgets, k, required);
    for round in rounds {
        recount.push(round);
    }
    recount.rows()
}

fn vector(kind: &str) -> Value {
    let file: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    vectors.iter().find(|v| v["kind"] == kind).unwrap().clone()
}

#[test]
fn w3_the_worked_example() {
    let vector = vector("budget");
    let outcome = |code: &Value| match code.as_u64() {
        Some(1) => Outcome::Ok,
        Some(2) => RESET,
        _ => CUT,
    };
    let ran = vector["input"]["ran_with_deadline"].as_u64().unwrap();
    let rounds = vector["input"]["rounds"].as_array().unwrap().iter().map(|calls| {
        let calls = calls.as_array().unwrap().iter().map(|c| (c[0].as_u64().unwrap(), outcome(&c[1])));
        round(Mode::Deadline, ran, &calls.collect::<Vec<_>>())
    });
    let rounds: Vec<Round> = rounds.collect();
    let expected = vector["expected"].as_object().unwrap();
    assert_eq!(expected.len(), 5);
    for (budget, want) in expected {
        let rows = rows(&[budget.parse().unwrap()], 3, &[false; 4], &rounds);
        if want.get("status").is_some() {
            assert_eq!((rows[0].n, rows[0].left_out, &rows[0].found), (0, 5, &None), "{budget}");
            continue;
        }
        let found = rows[0].found.as_ref().unwrap();
        let close = |got: f64, key: &str| {
            assert!((got - want[key].as_f64().unwrap()).abs() < 1e-12, "{key} at {budget} is {got}");
        };
        close(found.completeness, "completeness");
        close(found.all, "all_ok");
        close(found.at_least_k, "at_least_3");
        let count = |reason| found.missing.iter().find(|m| m.0 == reason).map_or(0, |m| m.1);
        assert_eq!(Some(count(Reason::Deadline)), want["missing_deadline"].as_u64(), "{budget}");
        assert_eq!(Some(count(Reason::ConnReset)), want["missing_error"].as_u64(), "{budget}");
        assert_eq!((rows[0].n, rows[0].left_out), (5, 0));
    }
}

#[test]
fn wilson_intervals_as_worked() {
    let vector = vector("wilson");
    let cases = vector["input"]["cases"].as_array().unwrap();
    for (case, want) in cases.iter().zip(vector["expected"]["intervals"].as_array().unwrap()) {
        let share = Share::of(case[0].as_u64().unwrap(), case[1].as_u64().unwrap()).unwrap();
        let (lo, hi) = share.interval();
        assert!((lo - want[0].as_f64().unwrap()).abs() < 1e-6, "{case}: {lo}");
        assert!((hi - want[1].as_f64().unwrap()).abs() < 1e-6, "{case}: {hi}");
    }
}

#[test]
fn r35_the_budget_that_is_left_is_what_is_recounted() {
    // `budget_nested`: what remains of an outer budget is the round's own, and its limit.
    let vector = vector("budget_nested");
    let cases = vector["input"]["cases"].as_array().unwrap();
    for (case, inner) in cases.iter().zip(vector["expected"]["inner"].as_array().unwrap()) {
        let get = |key: &str| case[key].as_u64().unwrap();
        let left = get("want").min(get("outer").saturating_sub(get("elapsed") + get("reserve")));
        assert_eq!(Some(left), inner.as_u64());
        let clamped = [round(Mode::Deadline, left, &[(left, CUT), (left / 2, Outcome::Ok)])];
        let rows = rows(&[left, left + 1], 1, &[false; 2], &clamped);
        assert_eq!((rows[0].n, rows[1].n), (1, 0));
    }
}

#[test]
fn w3_a_budget_uses_only_rounds_that_were_meant_to_run_that_long() {
    let all = |budget| round(Mode::Deadline, budget, &[(10, Outcome::Ok), (20, Outcome::Ok)]);
    let rows = rows(&[100, 200, 300], 1, &[false; 2], &[all(100), all(200), all(200)]);
    let n: Vec<_> = rows.iter().map(|r| (r.n, r.left_out)).collect();
    // All had answered: that says nothing about what a round that may take longer would have met.
    assert_eq!(n, [(3, 0), (2, 1), (0, 3)]);
}

#[test]
fn w3_a_quorum_ends_what_is_known_for_all_rounds_of_its_mode() {
    let early = round(Mode::Quorum, 200, &[(30, Outcome::Ok), (30, Outcome::NotNeeded)]);
    let late = round(Mode::Quorum, 200, &[(90, Outcome::Ok), (90, Outcome::NotNeeded)]);
    let plain = round(Mode::Deadline, 200, &[(60, Outcome::Ok), (200, CUT)]);
    let rows = rows(&[30, 60, 200], 1, &[false; 2], &[early, late, plain]);
    assert_eq!(rows.iter().map(|r| (r.n, r.left_out)).collect::<Vec<_>>(), [(3, 0), (1, 2), (1, 2)]);
    assert_eq!(rows.iter().map(|r| r.cut_short).collect::<Vec<_>>(), [0, 1, 2]);
    let found = rows[0].found.as_ref().unwrap();
    assert_eq!(found.missing, [(Reason::Deadline, 5)], "what was not needed was pending");
    assert!((found.completeness - 0.5 / 3.0).abs() < 1e-12);
}

#[test]
fn r34_required_calls_are_not_cut_at_the_budget() {
    let late = round(Mode::Deadline, 200, &[(400, Outcome::Ok), (150, Outcome::Ok), (200, CUT)]);
    let row = &rows(&[100], 1, &[true, false, false], &[late])[0];
    let found = row.found.as_ref().unwrap();
    assert!((found.completeness - 1.0 / 3.0).abs() < 1e-12 && found.at_least_k == 0.0);
    assert_eq!(found.missing, [(Reason::Deadline, 2)]);
}

#[test]
fn r34_a_required_failure_ends_the_round_at_every_budget_that_is_not_shorter() {
    let sibling = Outcome::Missing(Reason::SiblingFailed);
    let failed = round(Mode::Deadline, 200, &[(80, RESET), (50, Outcome::Ok), (80, sibling)]);
    let rows = rows(&[60, 200], 1, &[true, false, false], &[failed]);
    let missing = |i: usize| rows[i].found.as_ref().unwrap().missing.clone();
    assert_eq!(missing(0), [(Reason::ConnReset, 1), (Reason::Deadline, 1)]);
    assert_eq!(missing(1), [(Reason::ConnReset, 1), (Reason::SiblingFailed, 1)]);
}

#[test]
fn r33_fail_fast_cancels_unseen_and_wait_all_sees_all() {
    let sibling = Outcome::Missing(Reason::SiblingFailed);
    let fast = round(Mode::FailFast, 200, &[(50, RESET), (50, sibling)]);
    let slow = round(Mode::WaitAll, 200, &[(50, RESET), (700, Outcome::Ok)]);
    let rows = rows(&[40, 60, 700, 1001], 1, &[false; 2], &[fast, slow]);
    assert_eq!(rows.iter().map(|r| r.n).collect::<Vec<_>>(), [2, 1, 1, 0]);
    assert_eq!(rows[0].found.as_ref().unwrap().missing, [(Reason::Deadline, 4)]);
    assert_eq!(rows[2].found.as_ref().unwrap().missing, [(Reason::ConnReset, 1)]);
}

#[test]
fn r36_a_call_that_never_got_its_permit_is_throttled_at_every_budget() {
    let queued = round(Mode::Deadline, 200, &[(200, Outcome::Missing(Reason::Throttled)), (50, Outcome::Ok)]);
    let row = &rows(&[20], 1, &[false; 2], &[queued])[0];
    assert_eq!(row.found.as_ref().unwrap().missing, [(Reason::Deadline, 1), (Reason::Throttled, 1)]);
}

/// The round, hedged by this setting; of each call when its hedge was due.
fn hedged(mut round: Round, delay: HedgeDelay, dues: &[Option<u64>]) -> Round {
    let hedge = HedgeSettings { delay, ..HedgeSettings::default() };
    round.settings = Arc::new(Settings { hedge, ..(*round.settings).clone() });
    for (call, due) in round.calls.iter_mut().zip(dues) {
        call.hedge_delay = due.map(ms);
    }
    round
}

const P95: HedgeDelay = HedgeDelay::Percentile(0.95);

#[test]
fn r24_a_percentile_delay_answers_from_twice_the_delay_on() {
    let answers = [(30, Outcome::Ok), (90, Outcome::Ok)];
    let adaptive = |due| hedged(round(Mode::Hedge, 200, &answers), P95, &[due, Some(20)]);
    let at = |rounds: &[Round]| {
        let rows = rows(&[39, 40, 99, 100, 200], 1, &[false; 2], rounds);
        rows.iter().map(|r| (r.n, r.left_out, r.hedged)).collect::<Vec<_>>()
    };
    assert_eq!(at(&[adaptive(Some(50))]), [(0, 1, 1), (0, 1, 1), (0, 1, 1), (1, 0, 0), (1, 0, 0)]);
    // While it warmed up nothing was hedged, at no budget; but those were other times than the later ones.
    let both = [adaptive(None), adaptive(Some(50))];
    assert_eq!(at(&both), [(0, 2, 2), (0, 2, 1), (0, 2, 1), (2, 0, 0), (2, 0, 0)]);
    // At the budget that ran it is what it was: half of it, rounded up.
    let most = hedged(round(Mode::Hedge, 199, &answers), P95, &[Some(100), None]);
    assert_eq!(rows(&[199], 1, &[false; 2], &[most])[0].n, 1);
    // Whose an endpoint's own delay is, is not known.
    let own = hedged(round(Mode::Deadline, 200, &answers), HedgeDelay::Fixed(ms(50)), &[Some(50), None]);
    assert_eq!(at(&[own]), [(0, 1, 1), (0, 1, 1), (0, 1, 1), (1, 0, 0), (1, 0, 0)]);
}

#[test]
fn r24_a_fixed_delay_answers_above_itself() {
    let answers = [(30, Outcome::Ok), (90, CUT)];
    let fixed = |due| hedged(round(Mode::Hedge, 200, &answers), HedgeDelay::Fixed(ms(due)), &[Some(due); 2]);
    let at = |rounds: &[Round]| {
        let rows = rows(&[20, 50, 51, 200], 1, &[false; 2], rounds);
        rows.iter().map(|r| (r.n, r.left_out, r.hedged)).collect::<Vec<_>>()
    };
    assert_eq!(at(&[fixed(50)]), [(0, 1, 1), (0, 1, 1), (1, 0, 0), (1, 0, 0)]);
    // It was chosen, so the others are as good a sample as before; a race is one at every budget.
    assert_eq!(at(&[fixed(50), fixed(10), fixed(0)]), [(2, 1, 1), (2, 1, 1), (3, 0, 0), (3, 0, 0)]);
}

#[test]
fn r21_an_impossible_quorum_ends_what_is_known() {
    let impossible = Outcome::Missing(Reason::QuorumImpossible);
    let ended = round(Mode::Quorum, 200, &[(40, RESET), (20, Outcome::Ok), (40, impossible)]);
    let rows = rows(&[30, 40, 41, 200], 1, &[false; 3], &[ended]);
    assert_eq!(rows.iter().map(|r| (r.n, r.cut_short)).collect::<Vec<_>>(), [(1, 0), (1, 0), (0, 1), (0, 1)]);
    assert_eq!(rows[0].found.as_ref().unwrap().missing, [(Reason::Deadline, 2)], "it was still running");
    let missing = &rows[1].found.as_ref().unwrap().missing;
    assert!(
        missing.contains(&(Reason::ConnReset, 1)) && missing.contains(&(Reason::Deadline, 1)),
        "{missing:?}"
    );
    assert_eq!(missing.len(), 2);
}

#[test]
fn r34_the_request_deadline_cuts_a_required_call_at_every_budget() {
    let outer = Outcome::Missing(Reason::RequestDeadline);
    let calls = [(1000, outer), (50, Outcome::Ok), (200, CUT)];
    let rows_of = |required: &[bool], mode| rows(&[60, 200, 1000], 1, required, &[round(mode, 200, &calls)]);
    let required = rows_of(&[true, false, false], Mode::Deadline);
    assert_eq!(required.iter().map(|r| r.n).collect::<Vec<_>>(), [1, 1, 0]);
    let missing = &required[0].found.as_ref().unwrap().missing;
    assert_eq!(missing.iter().map(|m| m.1).sum::<u64>(), 2);
    assert!(missing.contains(&(Reason::RequestDeadline, 1)) && missing.contains(&(Reason::Deadline, 1)));
    // In the modes without a cut at the budget an optional call is pending until then.
    let optional = rows_of(&[false; 3], Mode::WaitAll);
    assert_eq!(optional.iter().map(|r| r.n).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(optional[2].found.as_ref().unwrap().missing, [(Reason::Deadline, 2)]);
}

#[test]
fn rounds_that_do_not_count_and_no_rounds_at_all() {
    let mut warm = round(Mode::Deadline, 200, &[(10, Outcome::Ok)]);
    warm.warmup = true;
    let rows = rows(&[100], 1, &[false], &[warm]);
    assert_eq!((rows[0].n, rows[0].left_out, &rows[0].found), (0, 0, &None));
    assert!(self::rows(&[], 1, &[], &[round(Mode::Deadline, 200, &[])]).is_empty());
}

/// The same by hand: call by call, for one budget.
fn by_hand(
    budget: u64,
    k: usize,
    required: &[bool],
    rounds: &[Round],
) -> Option<(u64, f64, u64, u64, Vec<u64>)> {
    let (mut n, mut completeness, mut all, mut enough) = (0, 0.0, 0, 0);
    let mut missing = vec![0; Reason::ALL.len()];
    for &mode in Mode::ALL {
        let meant = |r: &&Round| {
            let limit = if mode.ignores_budget() { r.settings.request_budget } else { r.budget };
            r.settings.mode == mode && ms(budget) <= limit
        };
        let group: Vec<&Round> = rounds.iter().filter(meant).collect();
        let unseen = |c: &Call| {
            let required = required[c.endpoint.index()];
            let stop = c.outcome == Outcome::NotNeeded
                || c.outcome.reason() == Some(Reason::QuorumImpossible)
                || c.outcome.reason() == Some(Reason::SiblingFailed) && mode == Mode::FailFast;
            stop && (required || c.end < ms(budget))
        };
        let late =
            |c: &Call, r: &Round| c.hedge_delay.is_some_and(|d| ms(budget) < d * 2 && ms(budget) < r.budget);
        let fixed = |r: &Round| match r.settings.hedge.delay {
            HedgeDelay::Fixed(delay) => Some(delay),
            HedgeDelay::Percentile(_) => None,
        };
        let adapts = |r: &Round| fixed(r).is_none() && r.calls.iter().any(|c| late(c, r));
        if group.iter().any(|r| r.calls.iter().any(unseen) || adapts(r)) {
            continue;
        }
        let forbidden = |r: &Round| {
            let due = |c: &Call| c.hedge_delay.is_some_and(|d| d > Duration::ZERO && ms(budget) <= d);
            fixed(r).is_some() && ms(budget) < r.budget && r.calls.iter().any(due)
        };
        for round in group.into_iter().filter(|r| !forbidden(r)) {
            let (mut answered, mut optional) = (0, 0);
            for call in &round.calls {
                let required = required[call.endpoint.index()];
                let there = required || call.end <= ms(budget);
                match call.outcome {
                    Outcome::Ok if there => {
                        answered += 1;
                        optional += usize::from(!required);
                    }
                    Outcome::Missing(reason)
                        if there
                            && (required || call.outcome != CUT)
                            && (required || reason != Reason::RequestDeadline)
                            && reason != Reason::QuorumImpossible
                            && !(reason == Reason::SiblingFailed && mode == Mode::FailFast) =>
                    {
                        missing[reason as usize] += 1;
                    }
                    _ => missing[Reason::Deadline as usize] += 1,
                }
            }
            n += 1;
            completeness += share(answered, round.calls.len());
            all += u64::from(answered == round.calls.len());
            enough += u64::from(optional >= k);
        }
    }
    (n > 0).then_some((n, completeness, all, enough, missing))
}

fn any_round() -> impl Strategy<Value = Round> {
    let mode = prop::sample::select(Mode::ALL);
    let calls = prop::collection::vec((0_u64..300, 0_u8..6, 0_u64..3), 3);
    let delay = prop::option::of(prop::sample::select(vec![0_u64, 20, 50, 70]));
    (mode, prop::sample::select(vec![100_u64, 150, 200]), calls, 0_u64..120, delay).prop_map(
        |(mode, budget, calls, stop, fixed)| {
            let limit = if mode.ignores_budget() { 1000 } else { budget };
            let call = |i: usize, end: u64, kind: u8| match (kind, mode) {
                (0, Mode::Quorum) => (stop, Outcome::NotNeeded),
                (4, Mode::Quorum) => (stop, Outcome::Missing(Reason::QuorumImpossible)),
                (0, Mode::FailFast) => (stop, Outcome::Missing(Reason::SiblingFailed)),
                // Of the others only a call that may be required runs for that long.
                (5, _) if i == 0 || mode.ignores_budget() => {
                    (1000, Outcome::Missing(Reason::RequestDeadline))
                }
                (0 | 1, _) if end <= limit => (end, RESET),
                _ if end > limit => (limit, CUT),
                _ => (end, Outcome::Ok),
            };
            let ends: Vec<_> =
                calls.iter().enumerate().map(|(i, &(end, kind, _))| call(i, end, kind)).collect();
            let whole = round(mode, budget, &ends);
            if mode != Mode::Hedge {
                return whole;
            }
            let due = |&(end, _, hedged): &(u64, u8, u64)| {
                (hedged > 0).then(|| fixed.unwrap_or(end % (budget / 2)))
            };
            let dues: Vec<_> = calls.iter().map(due).collect();
            hedged(whole, fixed.map_or(P95, |delay| HedgeDelay::Fixed(ms(delay))), &dues)
        },
    )
}

proptest! {
    #[test]
    fn w3_a_recount_is_what_counting_by_hand_gives(
        rounds in prop::collection::vec(any_round(), 0..30), first_is_required in any::<bool>(), k in 0_usize..4,
    ) {
        let required = [first_is_required, false, false];
        let budgets = [0, 1, 40, 99, 100, 101, 150, 200, 250, 1000, 1001];
        for (row, &budget) in rows(&budgets, k, &required, &rounds).iter().zip(&budgets) {
            let Some((n, completeness, all, enough, missing)) = by_hand(budget, k, &required, &rounds) else {
                prop_assert_eq!((row.n, &row.found), (0, &None));
                continue;
            };
            let found = row.found.as_ref().unwrap();
            prop_assert_eq!((row.n, row.n + row.left_out), (n, rounds.len() as u64), "at {}", budget);
            prop_assert!((found.completeness - completeness / float(n)).abs() < 1e-9, "at {}", budget);
            prop_assert!((found.all - float(all) / float(n)).abs() < 1e-9);
            prop_assert!((found.at_least_k - float(enough) / float(n)).abs() < 1e-9);
            let counted: Vec<u64> = Reason::ALL
                .iter()
                .map(|r| found.missing.iter().find(|m| m.0 == *r).map_or(0, |m| m.1))
                .collect();
            prop_assert_eq!(counted, missing, "at {}", budget);
        }
    }

    #[test]
    fn w3_at_the_budget_that_ran_the_recount_is_what_was_observed(
        calls in prop::collection::vec(prop::collection::vec((0_u64..300, any::<bool>()), 4), 1..40),
    ) {
        let rounds: Vec<Round> = calls
            .iter()
            .map(|calls| {
                let call = |&(end, ok): &(u64, bool)| match (end, ok) {
                    (201.., _) => (200, CUT),
                    (_, true) => (end, Outcome::Ok),
                    (_, false) => (end, RESET),
                };
                round(Mode::Deadline, 200, &calls.iter().map(call).collect::<Vec<_>>())
            })
            .collect();
        let row = &rows(&[200], 1, &[false; 4], &rounds)[0];
        let found = row.found.as_ref().unwrap();
        let observed = rounds.iter().map(Round::completeness).sum::<f64>() / float(rounds.len() as u64);
        prop_assert_eq!(found.completeness.to_bits(), observed.to_bits());
        let missing: usize = rounds.iter().map(Round::missing).sum();
        prop_assert_eq!(found.missing.iter().map(|m| m.1).sum::<u64>(), missing as u64);
        let whole = rounds.iter().filter(|r| r.cacheable()).count();
        prop_assert!((found.all - share(whole, rounds.len())).abs() < 1e-12);
    }
}
