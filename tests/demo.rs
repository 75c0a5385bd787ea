//! The story of `fanscope demo`: in each chapter the rounds of the engine show what its caption says.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use fanscope::app::story::CHAPTERS;
use fanscope::domain::{Event, Outcome, Round};
use fanscope::profile;
use fanscope::session::{Plan, Session};
use std::sync::Arc;
use std::time::Duration;

/// Rounds of a chapter.
const ROUNDS: u64 = 7;

/// Rounds of the real engine against the embedded upstreams, with a chapter's settings.
fn rounds(chapter: usize) -> Vec<Arc<Round>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut profile = profile::built_in("demo").unwrap();
        profile.settings = CHAPTERS[chapter].settings(&profile.settings);
        let mut session = Session::start(profile, Plan { rounds: Some(ROUNDS), warmup: 1 }).unwrap();
        let mut rounds = Vec::new();
        while let Some(event) = session.next().await {
            match event {
                Event::RoundSettled { round, .. } if !round.warmup => rounds.push(round),
                Event::Failed(why) => panic!("{why}"),
                _ => {}
            }
        }
        assert_eq!(rounds.len() as u64, ROUNDS);
        rounds
    })
}

/// The middle of what the rounds say. A busy machine may spoil some of them, never most.
fn median<T: Ord + Copy>(rounds: &[Arc<Round>], of: impl Fn(&Round) -> T) -> T {
    let mut values: Vec<T> = rounds.iter().map(|round| of(round)).collect();
    values.sort();
    values[values.len() / 2]
}

fn answered(round: &Round) -> usize {
    round.calls.iter().filter(|call| call.outcome == Outcome::Ok).count()
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn the_story_begins_with_its_first_chapter() {
    let profile = profile::built_in("demo").unwrap();
    assert_eq!(CHAPTERS[0].settings(&profile.settings), profile.settings);
    assert_eq!((profile.endpoints.len(), profile.optional()), (8, 7));
}

#[test]
fn chapter_1_one_failure_fails_the_page_and_late() {
    let rounds = rounds(0);
    assert!(rounds.iter().all(|round| !round.ok), "every page fails");
    assert!(median(&rounds, |r| r.took) > ms(1000));
    assert!(median(&rounds, answered) == 7, "seven answers are thrown away");
}

#[test]
fn chapter_2_waiting_for_all_takes_more_than_a_second() {
    let rounds = rounds(1);
    assert!(rounds.iter().all(|round| round.took > ms(1000)));
    assert_eq!(median(&rounds, answered), 7);
}

#[test]
fn chapter_3_the_deadline_holds_and_seven_of_eight_are_there() {
    let rounds = rounds(2);
    assert_eq!(median(&rounds, answered), 7);
    let took = median(&rounds, |r| r.took);
    assert!(took >= ms(200) && took < ms(400), "{took:?}");
    let cut = |round: &Round| round.calls.iter().filter(|c| matches!(c.outcome, Outcome::Missing(_))).count();
    assert_eq!(median(&rounds, cut), 1, "and the eighth has a reason");
}

#[test]
fn chapter_4_half_the_budget_costs_two_answers() {
    let rounds = rounds(3);
    assert_eq!(median(&rounds, answered), 5);
    let took = median(&rounds, |r| r.took);
    assert!(took >= ms(100) && took < ms(195), "{took:?}");
}

#[test]
fn chapter_5_four_of_seven_are_enough_and_nobody_waits_for_the_slow() {
    let rounds = rounds(4);
    let took = median(&rounds, |r| r.took);
    assert!(took < ms(120), "{took:?} is the time of the slow calls");
    let spared = |round: &Round| round.calls.iter().filter(|c| c.outcome == Outcome::NotNeeded).count();
    assert!(median(&rounds, spared) >= 1);
    assert!(rounds.iter().all(|round| round.ok));
}

#[test]
fn chapter_6_a_second_attempt_brings_the_eighth_answer() {
    let rounds = rounds(5);
    assert_eq!(median(&rounds, answered), 8);
    let took = median(&rounds, |r| r.took);
    assert!(took >= ms(100) && took < ms(200), "{took:?}");
    let hedges =
        |round: &Round| round.calls.iter().map(|c| c.attempts.len().saturating_sub(1)).sum::<usize>();
    assert_eq!(median(&rounds, hedges), 1, "for one more request a round");
}

#[test]
fn chapter_7_the_required_call_may_take_longer_than_the_others() {
    let rounds = rounds(6);
    assert!(rounds.iter().all(|round| round.calls[0].outcome == Outcome::Ok && round.ok));
    let took = median(&rounds, |r| r.took);
    assert!(took > ms(55), "{took:?} is past the budget of 50 ms");
    assert!(took < ms(200), "{took:?}");
}
