//! Single decisions, with stamps and times given.

use super::*;
use crate::domain::{AttemptKind, Mode};
use crate::engine::transport::Failure;

/// Lets everything through.
struct Open;

impl Gate for Open {
    fn primary(&mut self, _: EndpointId) -> Result<Berth, Reason> {
        Ok(Berth { replica: 0, waits: false })
    }

    fn hedge(&mut self, _: EndpointId, next: usize, _: bool) -> Result<usize, Suppression> {
        Ok(next)
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn plain(n: usize) -> RoundPlan {
    let call = CallPlan { required: false, timeout: None, replicas: 2, hedge: None };
    RoundPlan {
        mode: Mode::Deadline,
        budget: ms(200),
        request_budget: ms(10_000),
        k: None,
        quorum_fail_fast: false,
        calls: vec![call; n],
    }
}

fn hedged(delay: u64) -> RoundPlan {
    let mut plan = plain(1);
    let hedge = HedgePlan { delay: ms(delay), max: 1, on_error: true, load_budget: 0.05, suppressed: None };
    plan.calls[0].hedge = Some(hedge);
    plan
}

fn started(plan: RoundPlan) -> (Policy, Vec<Order>) {
    let (mut policy, mut orders) = (Policy::new(plan), Vec::new());
    policy.begin(&mut Open, &mut orders);
    (policy, std::mem::take(&mut orders))
}

fn ok(call: usize, attempt: usize, end: u64) -> Done {
    Done { call: EndpointId(call), attempt, end: ms(end), result: Ok(()) }
}

fn failed(call: usize, attempt: usize, end: u64) -> Done {
    Done { result: Err(Failure::new(Reason::ConnReset, "")), ..ok(call, attempt, end) }
}

fn step(policy: &mut Policy, now: u64, mut done: Vec<Done>) -> Vec<Order> {
    let mut orders = Vec::new();
    policy.step(ms(now), &mut done, &mut Open, &mut orders);
    orders
}

#[test]
fn r8_r9_a_late_wake_up_classifies_by_the_stamps() {
    let (mut policy, _) = started(plain(3));
    // The runtime woke at 205 and delivers in an order of its own.
    step(&mut policy, 205, vec![ok(0, 0, 203), ok(1, 0, 200), failed(2, 0, 199)]);
    assert_eq!(policy.calls()[0].outcome(), Some(Outcome::Missing(Reason::Deadline)));
    assert_eq!(policy.calls()[1].outcome(), Some(Outcome::Ok));
    assert_eq!(policy.calls()[2].outcome(), Some(Outcome::Missing(Reason::ConnReset)));
    assert_eq!(policy.over(), Some(EndedBy::Deadline));
}

#[test]
fn r17_a_value_between_the_deadline_and_its_cancellation_is_late_not_lost() {
    let (mut policy, _) = started(plain(2));
    step(&mut policy, 201, vec![ok(0, 0, 201)]);
    assert_eq!(policy.calls()[0].late_by(), Some(ms(1)));
    // After the round was over, while its cancellation is under way.
    step(&mut policy, 204, vec![ok(1, 0, 203)]);
    assert_eq!(policy.calls()[1].late_by(), Some(ms(3)));
    for call in policy.calls() {
        assert_eq!(call.outcome(), Some(Outcome::Missing(Reason::Deadline)));
        assert!(matches!(call.attempts()[0].state, AttemptState::Ended(_, Ok(()))));
    }
}

#[test]
fn r19_what_ended_in_the_same_wake_up_as_the_kth_answer_is_kept() {
    let mut plan = plain(4);
    (plan.mode, plan.k) = (Mode::Quorum, Some(1));
    let (mut policy, _) = started(plan);
    let orders = step(&mut policy, 90, vec![failed(2, 0, 80), ok(1, 0, 70), ok(0, 0, 60)]);
    let outcomes: Vec<_> = policy.calls().iter().map(CallState::outcome).collect();
    assert_eq!(outcomes[..2], [Some(Outcome::Ok); 2]);
    assert_eq!(outcomes[2], Some(Outcome::Missing(Reason::ConnReset)));
    assert_eq!(outcomes[3], Some(Outcome::NotNeeded));
    assert_eq!((policy.quorum().0, policy.over()), (Some(ms(60)), Some(EndedBy::Quorum)));
    assert!(orders.contains(&Order::Cancel { call: EndpointId(3), attempt: 0 }));
}

#[test]
fn r23_a_hedge_is_ordered_at_its_delay_and_goes_to_the_next_replica() {
    let (mut policy, orders) = started(hedged(50));
    assert_eq!(orders, [Order::Start { call: EndpointId(0), attempt: 0, replica: 0 }]);
    assert_eq!(policy.next_wake(), Some(ms(50)));
    let orders = step(&mut policy, 50, vec![]);
    assert_eq!(orders, [Order::Start { call: EndpointId(0), attempt: 1, replica: 1 }]);
    assert_eq!(policy.next_wake(), Some(ms(200)));
}

#[test]
fn r26_a_tie_between_attempts_goes_to_the_primary() {
    let (mut policy, _) = started(hedged(50));
    step(&mut policy, 50, vec![]);
    step(&mut policy, 90, vec![ok(0, 1, 90), ok(0, 0, 90)]);
    let call = &policy.calls()[0];
    assert_eq!(call.winner().map(|w| call.attempts()[w].kind), Some(AttemptKind::Primary));
    assert_eq!((call.counts().sent, call.counts().won, call.counts().wasted), (1, 0, 1));
}

#[test]
fn no_attempt_starts_after_the_deadline_or_in_the_step_that_ends_the_round() {
    let (mut policy, _) = started(hedged(50));
    // A wake-up so late that the hedge's time and the deadline have both passed.
    let orders = step(&mut policy, 201, vec![]);
    assert!(!orders.iter().any(|o| matches!(o, Order::Start { .. })), "{orders:?}");
    assert_eq!(policy.calls()[0].counts().sent, 0);
    // A hedge that was due when a required call failed: taken back before it went out.
    let mut plan = hedged(50);
    let required = CallPlan { required: true, hedge: None, ..plan.calls[0].clone() };
    plan.calls.push(required);
    let (mut policy, _) = started(plan);
    let orders = step(&mut policy, 60, vec![failed(1, 0, 55)]);
    assert!(!orders.iter().any(|o| matches!(o, Order::Start { .. })), "{orders:?}");
    assert_eq!((policy.calls()[0].counts().sent, policy.over()), (0, Some(EndedBy::RequiredFailed)));
}

#[test]
fn r8_r34_a_late_wake_up_does_not_blame_a_limit_that_cut_nothing() {
    // The last call ended at the very limit, and the wake-up came after it.
    for mode in [Mode::WaitAll, Mode::FailFast, Mode::Deadline] {
        let mut plan = plain(2);
        (plan.mode, plan.request_budget) = (mode, ms(500));
        let limit = if mode == Mode::Deadline { 200 } else { 500 };
        let (mut policy, _) = started(plan.clone());
        step(&mut policy, limit + 1, vec![ok(0, 0, limit - 1), ok(1, 0, limit)]);
        assert_eq!((policy.over(), policy.ok()), (Some(EndedBy::AllSettled), true), "{mode}");
        plan.calls[1].required = true;
        let (mut policy, _) = started(plan);
        step(&mut policy, 501, vec![ok(0, 0, 20), ok(1, 0, 500)]);
        assert_eq!((policy.over(), policy.ok()), (Some(EndedBy::AllSettled), true), "{mode}, required");
    }
}
