//! R28, R31: hedges and their cost, against a list of rounds.

use super::super::*;
use super::{fx, outcome, round, within};
use crate::domain::{AttemptKind, Suppression};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Outcome of a call, its attempts (replica, reused, milliseconds), which of them won, what was held back.
type Made = (Outcome, Vec<(usize, Option<bool>, u64)>, Option<usize>, Vec<Suppression>);

fn made() -> impl Strategy<Value = Made> {
    let attempt = (0_usize..3, prop::option::of(any::<bool>()), 0_u64..300);
    let cause = prop::sample::select(Suppression::ALL);
    (
        outcome(),
        prop::collection::vec(attempt, 0..4),
        prop::option::of(0_usize..4),
        prop::collection::vec(cause, 0..3),
    )
}

/// A round of such calls: the first attempt of each is its primary, the others are hedges.
fn hedged(no: u64, at: Duration, calls: &[Made]) -> Round {
    let outcomes: Vec<Outcome> = calls.iter().map(|c| c.0).collect();
    let mut round = round(no, at, &outcomes, None);
    for (call, (_, attempts, winner, causes)) in round.calls.iter_mut().zip(calls) {
        let like = call.attempts[0].clone();
        let made = attempts.iter().enumerate().map(|(i, &(replica, reused, length))| {
            let mut attempt = like.clone();
            attempt.kind = if i == 0 { AttemptKind::Primary } else { AttemptKind::Hedge };
            (attempt.replica, attempt.reused) = (replica, reused);
            (attempt.start, attempt.end) = (fx::ms(10.0), fx::ms(10.0) + Duration::from_millis(length));
            attempt
        });
        call.attempts = made.collect();
        call.winner = winner.filter(|&w| w < attempts.len());
        call.hedges.sent = u32::try_from(attempts.len().saturating_sub(1)).unwrap();
        call.hedges.won = u32::from(call.winner.is_some_and(|w| w > 0));
        call.hedges.wasted = call.hedges.sent - call.hedges.won;
        for &cause in causes {
            call.hedges.suppressed.add(cause);
        }
    }
    round
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// R31: in every window sent = won + wasted, and every number is the sum over its rounds.
    #[test]
    fn r31_hedges_are_the_sums_over_the_rounds_of_the_window(
        rounds in prop::collection::vec((prop::collection::vec(made(), 3), 0_u64..9000), 1..60),
    ) {
        let (mut stats, mut at, mut list) = (Stats::new(3), Duration::ZERO, Vec::new());
        for (i, (calls, gap)) in rounds.iter().enumerate() {
            at += Duration::from_millis(*gap);
            let round = hedged(i as u64 + 1, at, calls);
            stats.fold(&round, Vitals::default());
            list.push(round);
        }
        for window in Window::ALL {
            let rows = stats.hedges(window);
            prop_assert!(rows.iter().map(|r| r.endpoint.0).eq(0..3), "in profile order");
            for row in &rows {
                let rounds = within(&list, window);
                let calls: Vec<&Call> = rounds.iter().map(|r| &r.calls[row.endpoint.0]).collect();
                let sum = |n: &dyn Fn(&Call) -> u32| calls.iter().map(|c| u64::from(n(c))).sum::<u64>();
                prop_assert_eq!(row.sent, sum(&|c| c.hedges.sent));
                prop_assert_eq!(row.won, sum(&|c| c.hedges.won));
                prop_assert_eq!(row.wasted(), sum(&|c| c.hedges.wasted));
                prop_assert_eq!(row.sent, row.won + row.wasted());
                prop_assert_eq!(row.suppressed(), sum(&|c| c.hedges.suppressed.total()));
                let most = Suppression::ALL.iter().map(|&s| sum(&|c| c.hedges.suppressed.get(s))).max();
                prop_assert_eq!(row.main_cause().map_or(0, |c| c.1), most.unwrap());
                if let Some((cause, n)) = row.main_cause() {
                    prop_assert_eq!(n, sum(&|c| c.hedges.suppressed.get(cause)));
                }
                let cut = |c: &Call| u32::from(c.outcome.reason().is_some_and(Reason::is_cut));
                prop_assert_eq!(row.cut, sum(&cut));
                prop_assert_eq!(row.missing(), sum(&|c| u32::from(c.outcome.reason().is_some())));
            }
            let all = rows.iter().skip(1).fold(rows[0], HedgeRow::plus);
            let cost = stats.hedge_cost(window);
            prop_assert_eq!(all.sent, cost.sent);
            prop_assert_eq!(all.missing(), stats.totals(window).missing());
            prop_assert_eq!(all.suppressed(), rows.iter().map(HedgeRow::suppressed).sum::<u64>());
        }
    }

    /// R31: primaries, wasted time and reconnects, counted one attempt after the other.
    #[test]
    fn r31_the_cost_is_counted_attempt_by_attempt(
        rounds in prop::collection::vec((prop::collection::vec(made(), 3), 0_u64..9000), 1..60),
    ) {
        let (mut stats, mut at, mut list) = (Stats::new(3), Duration::ZERO, Vec::new());
        let (mut seen, mut again) = (BTreeSet::new(), Vec::new());
        for (i, (calls, gap)) in rounds.iter().enumerate() {
            at += Duration::from_millis(*gap);
            let round = hedged(i as u64 + 1, at, calls);
            stats.fold(&round, Vitals::default());
            let mut dialled = 0_u64;
            for (endpoint, attempt) in round.calls.iter().flat_map(|c| c.attempts.iter().map(|a| (c.endpoint, a))) {
                if attempt.reused.is_some() {
                    let known = !seen.insert((endpoint, attempt.replica));
                    dialled += u64::from(known && attempt.reused == Some(false));
                }
            }
            again.push((round.no, dialled));
            list.push(round);
        }
        for window in Window::ALL {
            let (rounds, cost) = (within(&list, window), stats.hedge_cost(window));
            let calls = || rounds.iter().flat_map(|r| &r.calls);
            prop_assert_eq!(cost.primaries, calls().filter(|c| !c.attempts.is_empty()).count() as u64);
            let lost = |call: &Call| -> u64 {
                let attempts = call.attempts.iter().enumerate();
                let lost = attempts.filter(|&(i, _)| match (i, call.winner) {
                    (0, winner) => winner.is_some_and(|w| w > 0),
                    (i, winner) => winner != Some(i),
                });
                lost.map(|(_, a)| u64::try_from(a.end.saturating_sub(a.start).as_micros()).unwrap()).sum()
            };
            prop_assert_eq!(cost.wasted, Duration::from_micros(calls().map(lost).sum()));
            let within = again.iter().filter(|(no, _)| rounds.iter().any(|r| r.no == *no));
            prop_assert_eq!(cost.reconnects, within.map(|&(_, n)| n).sum::<u64>());
            prop_assert_eq!(cost.extra_load().is_some(), cost.primaries > 0);
        }
    }
}

/// R31: a reset forgets counts, but not that connections are there.
#[test]
fn r31_after_a_reset_a_dialled_connection_is_still_a_reconnect() {
    let mut stats = Stats::new(1);
    let dialled: Made = (Outcome::Ok, vec![(0, Some(false), 5)], Some(0), Vec::new());
    for no in 1..=3 {
        if no == 3 {
            stats.reset();
            assert_eq!(stats.hedge_cost(Window::Start), HedgeCost::default());
        }
        stats.fold(&hedged(no, fx::at(no), std::slice::from_ref(&dialled)), Vitals::default());
        assert_eq!(stats.hedge_cost(Window::Start).reconnects, u64::from(no > 1));
    }
}

/// R28: of causes that held back as many the first of the set is named.
#[test]
fn r28_the_main_cause_is_the_one_that_held_back_most() {
    let causes = |causes: &[Suppression]| {
        let mut stats = Stats::new(1);
        let made: Made = (Outcome::Ok, vec![(0, None, 5)], Some(0), causes.to_vec());
        stats.fold(&hedged(1, fx::at(1), &[made]), Vitals::default());
        stats.hedges(Window::Start)[0].main_cause()
    };
    assert_eq!(causes(&[]), None);
    assert_eq!(causes(&[Suppression::Rate, Suppression::Permit]), Some((Suppression::Permit, 1)));
    let rate = [Suppression::Rate, Suppression::Permit, Suppression::Rate];
    assert_eq!(causes(&rate), Some((Suppression::Rate, 2)));
}
