//! W8: who holds rounds up, against a list of rounds.

use super::super::*;
use super::{fx, outcome, round, within};
use proptest::prelude::*;

const N: usize = 4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// W8: every number is what going through the rounds of the window gives.
    #[test]
    fn w8_blame_is_a_recount_of_whole_rounds(
        rounds in prop::collection::vec(
            (prop::collection::vec((outcome(), 0_u64..6), N), 0_u64..9000), 1..80,
        ),
    ) {
        let (mut stats, mut at, mut list) = (Stats::new(N), Duration::ZERO, Vec::new());
        for (i, (calls, gap)) in rounds.iter().enumerate() {
            at += Duration::from_millis(*gap);
            let outcomes: Vec<Outcome> = calls.iter().map(|c| c.0).collect();
            let mut round = round(i as u64 + 1, at, &outcomes, None);
            for (call, (_, end)) in round.calls.iter_mut().zip(calls) {
                call.end = fx::ms(10.0) * u32::try_from(*end).unwrap();
            }
            stats.fold(&round, Vitals::default());
            list.push(round);
        }
        for window in Window::ALL {
            let (rounds, blame) = (within(&list, window), stats.blame(window));
            let count = |holds: &dyn Fn(&Round) -> bool| rounds.iter().filter(|r| holds(r)).count() as u64;
            prop_assert_eq!(blame.rounds, rounds.len() as u64);
            prop_assert_eq!(blame.complete, count(&|r| r.missing() == 0));
            prop_assert_eq!(blame.rows.len(), N);
            for row in &blame.rows {
                let me = row.endpoint.0;
                let is_cut = |call: &Call| call.outcome.reason().is_some_and(Reason::is_cut);
                prop_assert_eq!(row.cut, count(&|r| is_cut(&r.calls[me])));
                // Last in: I answered, nothing was cut, and no other answer is later, or as late and after me.
                prop_assert_eq!(row.last, count(&|r| {
                    let mine = &r.calls[me];
                    let later = |(i, c): (usize, &Call)| {
                        c.outcome == Outcome::Ok && (c.end > mine.end || c.end == mine.end && i > me)
                    };
                    mine.outcome == Outcome::Ok
                        && !r.calls.iter().any(is_cut)
                        && !r.calls.iter().enumerate().any(later)
                }));
                // Complete without it: nobody else is missing.
                let others = |r: &Round| {
                    r.calls.iter().enumerate().any(|(i, c)| i != me && c.outcome.reason().is_some())
                };
                prop_assert_eq!(blame.complete + row.alone, count(&|r| !others(r)));
            }
            prop_assert!(blame.rows.is_sorted_by_key(|r| std::cmp::Reverse((r.alone, r.last + r.cut))));
            let held = blame.rows.iter().map(|r| r.last).sum::<u64>();
            prop_assert!(held <= count(&|r| !r.calls.iter().any(|c| c.outcome.reason().is_some_and(Reason::is_cut))));
        }
    }
}

/// W8, R40: who was not needed has not answered; whether enough have is told apart.
#[test]
fn w8_r40_of_rounds_that_end_at_a_quorum_those_count_that_met_it() {
    let mut stats = Stats::new(3);
    let mut fold = |no, outcomes: &[Outcome; 3], k| {
        let mut round = round(no, fx::at(no), outcomes, None);
        round.k = k;
        round.answered_optional = round.answered();
        stats.fold(&round, Vitals::default());
    };
    let (ok, cut) = (Outcome::Ok, Outcome::Missing(Reason::Deadline));
    fold(1, &[ok, ok, Outcome::NotNeeded], Some(2));
    fold(2, &[ok, cut, cut], Some(2));
    let of = |blame: Blame| (blame.rounds, blame.quorum, blame.met);
    assert_eq!(of(stats.blame(Window::Minute)), (2, 2, 1));
    let mut round = round(3, fx::at(3), &[ok, ok, cut], None);
    round.k = None;
    stats.fold(&round, Vitals::default());
    assert_eq!(of(stats.blame(Window::Start)), (3, 2, 1));
    // Not first the one but for which the third was complete, but the one that was last or cut most often.
    let order: Vec<usize> = stats.blame(Window::Start).rows.iter().map(|row| row.endpoint.0).collect();
    assert_eq!(order, [1, 2, 0]);
}

/// W8: the one that is cut holds the round up, not the last of the others.
#[test]
fn w8_where_something_was_cut_nobody_was_last_in() {
    let mut stats = Stats::new(2);
    stats.fold(
        &round(1, fx::at(1), &[Outcome::Ok, Outcome::Missing(Reason::Deadline)], None),
        Vitals::default(),
    );
    stats.fold(&round(2, fx::at(2), &[Outcome::Ok, Outcome::Missing(Reason::Dns)], None), Vitals::default());
    let blame = stats.blame(Window::Minute);
    let rows: Vec<_> = blame.rows.iter().map(|r| (r.endpoint.0, r.last, r.cut, r.alone)).collect();
    assert_eq!(rows, [(1, 0, 1, 2), (0, 1, 0, 0)]);
    assert_eq!((blame.rounds, blame.complete), (2, 0));
    assert_eq!(Stats::new(0).blame(Window::Start), Blame::default());
}
