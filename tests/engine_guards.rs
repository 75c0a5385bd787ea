//! Permits, breakers, rates and back-offs in the engine: R28, R36, R37, R39, on paused time.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::event::{SkipCause, Vitals};
use fanscope::domain::guards::{DependencySpec, HostSpec, Route};
use fanscope::domain::{
    AttemptKind, CallSpec, EndedBy, EndpointId, Event, Guards, HedgeDelay, HedgeSettings, Mode, Outcome,
    Phase, Reason, Round, Settings, Suppression,
};
use fanscope::engine::clock::TokioClock;
use fanscope::engine::limits::Limits;
use fanscope::engine::pacer::{Command, Pacer};
use fanscope::engine::policy::CallPlan;
use fanscope::engine::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use support::{
    FakeNet, Play, brief, call, guarded, hedge, ms, one_dependency, plan, play_with, run, shared, specs,
};
use tokio::sync::mpsc;

fn net(calls: Vec<Play>) -> FakeNet {
    FakeNet::new(calls.into_iter().map(|c| vec![c]).collect())
}

fn missing(reason: Reason) -> Outcome {
    Outcome::Missing(reason)
}

/// An answer of 429 or 503 that asks for a pause.
fn asks_for(pause: Duration, status: u16) -> Play {
    let failure = Failure::new(Reason::HttpStatus, "slow down");
    Play::End(ms(10), Err(Failure { status: Some(status), retry_after: Some(pause), ..failure }))
}

/// One dependency and one host for each replica; the first number of each call is its first replica's.
fn replicas(calls: &[&[usize]], breaker: bool, max_rps: Option<f64>) -> Guards {
    let most = calls.iter().flat_map(|c| c.iter()).max().map_or(0, |m| m + 1);
    let route = |&at: &usize| Route { dependency: at, host: at, breaker };
    Guards {
        dependencies: vec![DependencySpec { permits: 100 }; most],
        hosts: vec![HostSpec { max_rps }; most],
        routes: calls.iter().map(|c| c.iter().map(route).collect()).collect(),
    }
}

#[tokio::test(start_paused = true)]
async fn r36_a_call_that_never_got_its_permit_was_not_sent() {
    let net = net(vec![Play::Hang, Play::ok(10)]);
    let sent = Rc::clone(&net.sent);
    let limits = guarded(2, &one_dependency(2, 1, false));
    let round = play_with(net, plan(Mode::Deadline, 200, vec![call(None); 2]), &limits).await;
    assert_eq!(round.calls[0].outcome, missing(Reason::Deadline));
    let queued = &round.calls[1];
    assert_eq!((queued.outcome, queued.phase), (missing(Reason::Throttled), Phase::Queued));
    assert_eq!((queued.attempts.len(), queued.end, sent.borrow().len()), (0, ms(200), 1));
}

#[tokio::test(start_paused = true)]
async fn r36_the_wait_is_phase_queued_and_every_limit_throttles() {
    let limits = guarded(3, &one_dependency(3, 1, false));
    let mut plan = plan(Mode::Deadline, 200, vec![call(None); 3]);
    (plan.calls[2].required, plan.request_budget) = (true, ms(400));
    plan.calls[1].timeout = Some(ms(40));
    let round = play_with(net(vec![Play::ok(60), Play::Hang, Play::ok(30)]), plan.clone(), &limits).await;
    assert_eq!((round.calls[1].outcome, round.calls[1].end), (missing(Reason::Throttled), ms(40)));
    let waited = &round.calls[2].attempts[0];
    assert_eq!((waited.start, waited.phases.get(Phase::Queued), waited.end), (ms(0), Some(ms(60)), ms(90)));
    // A required call that queues until the request's deadline.
    plan.calls[0].required = true;
    let round = play_with(net(vec![Play::Hang; 3]), plan, &limits).await;
    assert_eq!(round.calls[2].outcome, missing(Reason::Throttled));
    assert_eq!((round.ended_by, round.ok), (EndedBy::RequestDeadline, false));
}

#[tokio::test(start_paused = true)]
async fn r36_who_is_not_needed_leaves_the_queue_and_is_not_throttled() {
    let guards = one_dependency(3, 2, false);
    let limits = guarded(3, &guards);
    let mut plan = plan(Mode::Quorum, 200, vec![call(None); 3]);
    plan.k = Some(1);
    let round = play_with(net(vec![Play::ok(20), Play::Hang, Play::ok(5)]), plan, &limits).await;
    assert_eq!(round.calls[2].outcome, Outcome::NotNeeded);
    assert_eq!(round.calls[2].attempts.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn r36_the_queue_goes_across_rounds_first_come_first_served() {
    let net = net(vec![Play::ok(60)]);
    let sent = Rc::clone(&net.sent);
    let (shared, _events) = shared(net);
    let limits = guarded(1, &one_dependency(1, 1, false));
    let one = |no: u64| {
        let (shared, limits) = (&shared, &limits);
        async move {
            tokio::time::sleep(ms(no)).await;
            let mut brief = brief(plan(Mode::Deadline, 200, vec![call(None)]));
            brief.no = fanscope::domain::RoundNo(no);
            run(shared, limits, brief).await.unwrap()
        }
    };
    let rounds = futures_util::future::join_all((1..=4).map(one)).await;
    let ends: Vec<_> = rounds.iter().map(|r| (r.calls[0].outcome, r.took)).collect();
    let ok = Outcome::Ok;
    let late = missing(Reason::Deadline);
    assert_eq!(ends, [(ok, ms(60)), (ok, ms(119)), (ok, ms(178)), (late, ms(200))]);
    assert_eq!(sent.borrow().iter().map(|r| r.round.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn r36_a_permit_that_comes_at_the_very_limit_sends_nothing_any_more() {
    let net = net(vec![Play::ok(200)]);
    let sent = Rc::clone(&net.sent);
    let (shared, _events) = shared(net);
    let limits = guarded(1, &one_dependency(1, 1, false));
    let one = |budget| run(&shared, &limits, brief(plan(Mode::Deadline, budget, vec![call(None)])));
    let (first, second) = tokio::join!(one(300), one(200));
    assert_eq!(first.unwrap().calls[0].outcome, Outcome::Ok);
    let second = second.unwrap();
    assert_eq!((second.calls[0].outcome, second.took), (missing(Reason::Throttled), ms(200)));
    assert_eq!((second.calls[0].attempts.len(), sent.borrow().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn r23_r36_while_the_primary_queues_a_hedge_may_go_where_there_is_a_permit() {
    let mut guards = replicas(&[&[0], &[0, 1]], false, None);
    guards.dependencies[0].permits = 1;
    let calls = vec![call(None), CallPlan { replicas: 2, ..call(hedge(50, 1, true)) }];
    let expected = [
        (Play::ok(20), Outcome::Ok, Some(0)),
        (Play::Hang, missing(Reason::Deadline), None),
        (Play::fail(20, Reason::ConnReset), missing(Reason::Throttled), None),
    ];
    for (play, outcome, winner) in expected {
        let script = vec![vec![Play::Hang], vec![Play::ok(1), play]];
        let limits = guarded(2, &guards);
        let round = play_with(FakeNet::new(script), plan(Mode::Hedge, 200, calls.clone()), &limits).await;
        let queued = &round.calls[1];
        assert_eq!((queued.outcome, queued.winner), (outcome, winner));
        assert_eq!((queued.attempts.len(), queued.attempts[0].kind), (1, AttemptKind::Hedge));
        assert_eq!((queued.attempts[0].replica, queued.hedges.sent), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn r27_r36_a_primary_refused_at_its_turn_waits_no_more_and_its_hedge_is_cut_at_the_deadline() {
    // The second call's primary queues and its hedge hangs elsewhere when both of its hosts ask for a pause.
    let mut guards = replicas(&[&[0], &[0, 1], &[1]], false, None);
    guards.dependencies[0].permits = 1;
    let calls = vec![call(None), CallPlan { replicas: 2, ..call(hedge(5, 1, true)) }, call(None)];
    let script = vec![vec![asks_for(ms(5000), 429)], vec![Play::Hang], vec![asks_for(ms(5000), 429)]];
    let limits = guarded(3, &guards);
    let round = play_with(FakeNet::new(script), plan(Mode::Hedge, 200, calls), &limits).await;
    let refused = &round.calls[1];
    assert_eq!((refused.outcome, refused.end), (missing(Reason::Deadline), ms(200)));
    assert_eq!((refused.attempts.len(), refused.attempts[0].kind), (1, AttemptKind::Hedge));
    assert_eq!((refused.phase, limits.borrow().guards.backing_off(ms(300))), (Phase::Waiting, 2));
}

/// A network where a connection goes on working for an attempt after it was dropped.
struct Haunted(Rc<RefCell<Vec<Trace>>>);

impl Transport for Haunted {
    fn attempt(&self, _: AttemptRequest, trace: Trace) -> AttemptFuture {
        self.0.borrow_mut().push(trace);
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn r36_a_lingering_attempt_keeps_its_permit_until_it_is_gone() {
    let traces: Rc<RefCell<Vec<Trace>>> = Rc::default();
    let (mut shared, _events) = shared(FakeNet::default());
    shared.transport = Rc::new(Haunted(Rc::clone(&traces)));
    let limits = guarded(1, &one_dependency(1, 1, false));
    let one = || run(&shared, &limits, brief(plan(Mode::Deadline, 200, vec![call(None)])));
    let first = one().await.unwrap();
    assert_eq!((first.calls[0].outcome, first.lingering), (missing(Reason::Deadline), 1));
    let second = one().await.unwrap();
    assert_eq!((second.calls[0].outcome, traces.borrow().len()), (missing(Reason::Throttled), 1));
    // Gone in the middle of a round: who waits gets it at that moment.
    let (third, ()) = tokio::join!(one(), async {
        tokio::time::sleep(ms(80)).await;
        traces.borrow_mut().clear();
    });
    let attempt = &third.unwrap().calls[0].attempts[0];
    assert_eq!(attempt.phases.get(Phase::Queued), Some(ms(200)), "this network reports no phase");
    assert_eq!(traces.borrow().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r3_r36_a_panicking_attempt_gives_its_permit_back() {
    let limits = guarded(3, &one_dependency(3, 1, false));
    let plan = plan(Mode::Deadline, 200, vec![call(None); 3]);
    let round =
        play_with(net(vec![Play::PanicAtOnce, Play::Panic(ms(10)), Play::ok(20)]), plan, &limits).await;
    assert_eq!(round.calls[0].outcome, missing(Reason::Internal));
    assert_eq!((round.calls[1].outcome, round.calls[1].end), (missing(Reason::Internal), ms(10)));
    assert_eq!((round.calls[2].outcome, round.calls[2].end), (Outcome::Ok, ms(30)));
}

#[tokio::test(start_paused = true)]
async fn r28_r36_in_a_race_no_hedge_takes_the_permit_of_a_primary() {
    let limits = guarded(2, &one_dependency(2, 2, false));
    let plan = plan(Mode::Hedge, 200, vec![call(hedge(0, 1, true)); 2]);
    let round = play_with(net(vec![Play::ok(20), Play::ok(30)]), plan, &limits).await;
    for call in &round.calls {
        assert_eq!((call.outcome, call.attempts.len()), (Outcome::Ok, 1));
        assert_eq!(call.hedges.suppressed.get(Suppression::Permit), 1);
    }
}

/// Ten failures of both calls open their breaker.
async fn tripped(plays: Vec<Play>, calls: usize) -> (support::SharedLimits, Vec<Arc<Round>>) {
    let limits = guarded(calls, &one_dependency(calls, 100, true));
    let mut rounds = Vec::new();
    for _ in 0..10_usize.div_ceil(calls) {
        let plan = plan(Mode::Deadline, 200, vec![call(None); calls]);
        rounds.push(play_with(net(plays.clone()), plan, &limits).await);
    }
    (limits, rounds)
}

#[tokio::test(start_paused = true)]
async fn r37_ten_failures_open_the_breaker_and_its_calls_are_refused_at_once() {
    let (limits, rounds) = tripped(vec![Play::fail(5, Reason::ConnectRefused), Play::Hang], 2).await;
    assert!(rounds.iter().all(|r| r.calls[0].outcome == missing(Reason::ConnectRefused)));
    assert_eq!(limits.borrow().guards.open_breakers(), 1);
    let net = net(vec![Play::ok(10); 2]);
    let sent = Rc::clone(&net.sent);
    let round = play_with(net, plan(Mode::Deadline, 200, vec![call(hedge(50, 1, true)); 2]), &limits).await;
    for call in &round.calls {
        assert_eq!((call.outcome, call.end), (missing(Reason::BreakerOpen), ms(0)));
        assert_eq!((call.attempts.len(), call.phase), (0, Phase::Queued));
    }
    assert_eq!((round.took, round.ended_by, sent.borrow().len()), (ms(0), EndedBy::AllSettled, 0));
}

#[tokio::test(start_paused = true)]
async fn r37_what_was_in_flight_for_less_than_half_of_the_budget_is_no_failure() {
    // The first holds the only permit for 150 ms of 200: the second is cut after 50 ms in flight.
    let limits = guarded(2, &one_dependency(2, 1, true));
    for _ in 0..20 {
        let plan = plan(Mode::Deadline, 200, vec![call(None); 2]);
        let round = play_with(net(vec![Play::ok(150), Play::Hang]), plan, &limits).await;
        assert_eq!(round.calls[1].outcome, missing(Reason::Deadline));
    }
    assert_eq!(limits.borrow().guards.open_breakers(), 0);
    // With the permit at 60 ms it is cut after 140.
    for _ in 0..10 {
        let plan = plan(Mode::Deadline, 200, vec![call(None); 2]);
        play_with(net(vec![Play::ok(60), Play::Hang]), plan, &limits).await;
    }
    assert_eq!(limits.borrow().guards.open_breakers(), 1);
}

#[tokio::test(start_paused = true)]
async fn r37_what_is_our_own_doing_opens_nothing() {
    let limits = guarded(3, &one_dependency(3, 100, true));
    let quorum = || fanscope::engine::policy::RoundPlan {
        k: Some(1),
        ..plan(Mode::Quorum, 200, vec![call(None), call(None), call(hedge(10, 1, true))])
    };
    for _ in 0..10 {
        // Not needed, panicked, checks that did not hold.
        let plays = vec![vec![Play::ok(190)], vec![Play::Panic(ms(150))], vec![Play::Hang, Play::Hang]];
        play_with(FakeNet::new(plays), quorum(), &limits).await;
        let plan = plan(Mode::Deadline, 200, vec![call(None)]);
        play_with(net(vec![Play::fail(10, Reason::CheckFailed)]), plan, &limits).await;
    }
    assert_eq!(limits.borrow().guards.open_breakers(), 0);
}

#[tokio::test(start_paused = true)]
async fn r37_a_primary_that_lost_to_its_hedge_is_no_failure_however_long_it_took() {
    // 170 ms of 200 in flight each time; as failures they would be half of all.
    let limits = guarded(1, &one_dependency(1, 100, true));
    for _ in 0..10 {
        let plays = FakeNet::new(vec![vec![Play::Hang, Play::ok(20)]]);
        let round = play_with(plays, plan(Mode::Hedge, 200, vec![call(hedge(150, 1, true))]), &limits).await;
        assert_eq!((round.calls[0].winner, round.calls[0].end), (Some(1), ms(170)));
    }
    assert_eq!(limits.borrow().guards.open_breakers(), 0);
}

#[tokio::test(start_paused = true)]
async fn r28_only_a_primary_that_goes_out_pays_into_the_load_budget() {
    let hedge = HedgeSettings { delay: HedgeDelay::Fixed(ms(50)), load_budget: 1.0, ..Default::default() };
    let settings = Settings { mode: Mode::Hedge, hedge, ..Settings::default() };
    // The first goes out; the second is refused, or is still in the queue at the deadline.
    let held = Limits::new(specs(2), &replicas(&[&[0], &[1]], false, None));
    let queue = Limits::new(specs(2), &one_dependency(2, 1, false));
    for (mut limits, why) in [(held, Reason::BackingOff), (queue, Reason::Throttled)] {
        if why == Reason::BackingOff {
            limits.guards.hold(EndpointId(1), 0, ms(1), ms(0));
        }
        let plan = limits.plan(&settings);
        let limits = Rc::new(RefCell::new(limits));
        let round = play_with(net(vec![Play::Hang; 2]), plan, &limits).await;
        assert_eq!(round.calls[1].outcome, missing(why));
        // The first one's hedge took what its primary had paid in, or got no permit and left it.
        let left = |call| limits.borrow_mut().hedge(EndpointId(call), 0, false, ms(9000)).is_ok();
        let sent = round.calls[0].hedges.sent == 1;
        assert_eq!((sent, left(0), left(1)), (why == Reason::BackingOff, why == Reason::Throttled, false));
    }
}

#[tokio::test(start_paused = true)]
async fn r37_after_a_pause_one_probe_goes_out_and_its_failure_doubles_the_pause() {
    // Through the pacer, so that time is the session's.
    let guards = one_dependency(3, 100, true);
    let script = vec![vec![Play::fail(5, Reason::ConnReset)], vec![Play::ok(5)], vec![Play::ok(5)]];
    let rounds = engine(&guards, specs(3), script, settings(1000), 30).await;
    // A third fails: closed.
    assert!(rounds.iter().all(|(_, v)| v.open_breakers == 0));
    let script =
        vec![vec![Play::fail(5, Reason::ConnReset)], vec![Play::fail(5, Reason::Tls)], vec![Play::ok(9)]];
    let rounds = engine(&guards, specs(3), script, settings(1000), 20).await;
    let of = |second: usize| rounds[second].0.calls.iter().map(|c| c.outcome.reason()).collect::<Vec<_>>();
    let open = Some(Reason::BreakerOpen);
    // 3 results a round: the tenth comes with the fourth round, at 3.005 s; the pause ends at 8.005 s.
    assert_eq!(of(3), [Some(Reason::ConnReset), Some(Reason::Tls), None]);
    for second in 4..=8 {
        assert_eq!(of(second), [open; 3], "{second}");
    }
    assert!(rounds[4..=8].iter().all(|(_, vitals)| vitals.open_breakers == 1));
    // One probe, the first call's; it fails, and the next pause is twice as long.
    assert_eq!(of(9), [Some(Reason::ConnReset), open, open]);
    for second in 10..=19 {
        assert_eq!(of(second), [open; 3], "{second}");
    }
    assert!(rounds[9].0.calls[1].attempts.is_empty());
}

/// A network where everything fails until a round.
struct Recovers {
    from: u64,
    net: FakeNet,
}

impl Transport for Recovers {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        if request.round.0 >= self.from {
            return self.net.attempt(request, trace);
        }
        Box::pin(async { Err(Failure::new(Reason::ConnectRefused, "down")) })
    }
}

#[tokio::test(start_paused = true)]
async fn r37_two_successful_probes_close_the_breaker() {
    let (mut shared, events) = shared(FakeNet::default());
    shared.transport = Rc::new(Recovers { from: 5, net: net(vec![Play::ok(5); 3]) });
    let limits = Limits::new(specs(3), &one_dependency(3, 100, true));
    let rounds = settled(drive(Pacer::new(shared, limits, settings(1000), Some(12), 0), events).await);
    let (open, down) = (Some(Reason::BreakerOpen), Some(Reason::ConnectRefused));
    let seen: Vec<Vec<_>> =
        rounds.iter().map(|(r, _)| r.calls.iter().map(|c| c.outcome.reason()).collect()).collect();
    assert_eq!(seen[..4], vec![vec![down; 3]; 4]);
    // The tenth failure is of 3 s; rounds of 4 to 7 s are refused, and from 8 s on there are probes.
    assert_eq!(seen[4..8], vec![vec![open; 3]; 4]);
    assert_eq!(seen[8..10], vec![vec![None, open, open]; 2]);
    assert_eq!(seen[10..], vec![vec![None; 3]; 2]);
    let open_breakers: Vec<_> = rounds.iter().map(|(_, vitals)| vitals.open_breakers).collect();
    assert_eq!(open_breakers, [0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn r28_r37_a_hedge_is_suppressed_by_a_breaker_that_opened_meanwhile() {
    // Ten fast failures open it while the eleventh call waits for its hedge.
    let mut plays = vec![Play::fail(5, Reason::ConnReset); 10];
    plays.push(Play::ok(150));
    let mut calls = vec![call(None); 10];
    calls.push(call(hedge(50, 1, true)));
    let limits = guarded(11, &one_dependency(11, 100, true));
    let round = play_with(net(plays), plan(Mode::Hedge, 200, calls), &limits).await;
    assert_eq!(round.calls[10].outcome, Outcome::Ok);
    assert_eq!(round.calls[10].hedges.suppressed.get(Suppression::Breaker), 1);
}

#[tokio::test(start_paused = true)]
async fn r37_a_breaker_that_opens_while_a_call_queues_refuses_it_then() {
    // With ten permits the ten failures of one wake-up all count before the next in the queue is let in.
    for (permits, at) in [(10, 5), (1, 50)] {
        let plays = net(vec![Play::fail(5, Reason::ConnReset); 11]);
        let limits = guarded(11, &one_dependency(11, permits, true));
        let round = play_with(plays, plan(Mode::Deadline, 200, vec![call(None); 11]), &limits).await;
        let last = &round.calls[10];
        assert_eq!((last.outcome, last.end), (missing(Reason::BreakerOpen), ms(at)));
        assert_eq!((last.attempts.len(), round.took), (0, ms(at)));
    }
}

#[tokio::test(start_paused = true)]
async fn r39_a_held_host_is_passed_over_and_a_call_without_another_is_backing_off() {
    let limits = guarded(2, &replicas(&[&[0, 1], &[0]], false, None));
    limits.borrow_mut().guards.hold(EndpointId(1), 0, ms(5000), ms(0));
    let net = net(vec![Play::ok(10), Play::ok(10)]);
    let sent = Rc::clone(&net.sent);
    let mut calls = vec![call(None); 2];
    calls[0].replicas = 2;
    let round = play_with(net, plan(Mode::Deadline, 200, calls), &limits).await;
    assert_eq!((round.calls[0].outcome, round.calls[0].attempts[0].replica), (Outcome::Ok, 1));
    assert_eq!((round.calls[1].outcome, round.calls[1].end), (missing(Reason::BackingOff), ms(0)));
    assert_eq!((round.calls[1].attempts.len(), sent.borrow().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn r39_hedges_go_on_from_the_replica_that_the_primary_went_to() {
    let limits = guarded(1, &replicas(&[&[0, 1, 2]], false, None));
    limits.borrow_mut().guards.hold(EndpointId(0), 0, ms(5000), ms(0));
    let calls = vec![CallPlan { replicas: 3, ..call(hedge(50, 2, true)) }];
    let round = play_with(net(vec![Play::Hang]), plan(Mode::Hedge, 200, calls), &limits).await;
    // The next but one would be the held one: it is passed over again.
    let to: Vec<_> = round.calls[0].attempts.iter().map(|a| a.replica).collect();
    assert_eq!(to, [1, 2, 1]);
}

#[tokio::test(start_paused = true)]
async fn r25_r39_a_429_with_a_pause_hedges_at_once_to_another_replica_and_never_to_its_own() {
    let hedged = |replicas: usize| CallPlan { replicas, ..call(hedge(100, 1, true)) };
    for status in [429, 503] {
        let script = vec![vec![asks_for(ms(3000), status), Play::ok(10)]];
        let limits = guarded(1, &replicas(&[&[0, 1]], false, None));
        let round =
            play_with(FakeNet::new(script.clone()), plan(Mode::Hedge, 200, vec![hedged(2)]), &limits).await;
        let call = &round.calls[0];
        if status == 429 {
            assert_eq!((call.outcome, call.end, call.attempts[1].replica), (Outcome::Ok, ms(20), 1));
        } else {
            // R25: a 5xx with Retry-After is not retried.
            assert_eq!(call.outcome, missing(Reason::HttpStatus));
        }
        let limits = guarded(1, &replicas(&[&[0]], false, None));
        let round = play_with(FakeNet::new(script), plan(Mode::Hedge, 200, vec![hedged(1)]), &limits).await;
        let call = &round.calls[0];
        assert_eq!((call.outcome, call.attempts.len()), (missing(Reason::HttpStatus), 1));
        assert_eq!(call.hedges.suppressed.get(Suppression::Rate), u32::from(status == 429));
        assert_eq!(limits.borrow().guards.backing_off(ms(500)), 1);
    }
}

/// A network whose answers ask for a pause and are welcome, or never end.
struct Busy;

impl Transport for Busy {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        trace.retry_after(Some(ms(5000)));
        Box::pin(async move {
            match request.endpoint.index() {
                0 => Ok(()),
                _ => std::future::pending().await,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn r39_a_pause_is_heeded_whatever_becomes_of_the_attempt() {
    let (shared, _events) = shared(Busy);
    let limits = guarded(2, &replicas(&[&[0], &[1]], false, None));
    let round = run(&shared, &limits, brief(plan(Mode::Deadline, 200, vec![call(None); 2]))).await.unwrap();
    assert_eq!((round.calls[0].outcome, round.calls[1].outcome), (Outcome::Ok, missing(Reason::Deadline)));
    let held = |at| limits.borrow().guards.backing_off(at);
    // From the end of each: the first had it at once, the second when it was cut.
    assert_eq!((held(ms(4999)), held(ms(5000)), held(ms(5199)), held(ms(5200))), (2, 1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn r39_a_call_whose_host_is_held_while_it_queues_goes_to_another_replica() {
    let mut guards = replicas(&[&[0], &[0, 1]], false, None);
    guards.dependencies[0].permits = 1;
    let limits = guarded(2, &guards);
    let mut calls = vec![call(None); 2];
    calls[1].replicas = 2;
    let script = vec![vec![asks_for(ms(3000), 429)], vec![Play::ok(20)]];
    let round = play_with(FakeNet::new(script.clone()), plan(Mode::Deadline, 200, calls), &limits).await;
    let moved = &round.calls[1];
    assert_eq!((moved.outcome, moved.end), (Outcome::Ok, ms(30)));
    assert_eq!((moved.attempts.len(), moved.attempts[0].replica), (1, 1));

    // Without another replica it is backing off, then.
    let mut guards = replicas(&[&[0], &[0]], false, None);
    guards.dependencies[0].permits = 1;
    let limits = guarded(2, &guards);
    let round =
        play_with(FakeNet::new(script), plan(Mode::Deadline, 200, vec![call(None); 2]), &limits).await;
    assert_eq!((round.calls[1].outcome, round.calls[1].end), (missing(Reason::BackingOff), ms(10)));
    assert!(round.calls[1].attempts.is_empty());
}

/// A network that can't build the second call's request.
struct Unbuildable(FakeNet);

impl Transport for Unbuildable {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        if self.can_build(request) {
            return self.0.attempt(request, trace);
        }
        Box::pin(async { Err(Failure::new(Reason::InvalidRequest, "no such header")) })
    }

    fn can_build(&self, request: AttemptRequest) -> bool {
        request.endpoint != EndpointId(1)
    }
}

#[tokio::test(start_paused = true)]
async fn r4_what_cannot_be_built_is_invalid_before_it_is_anything_else() {
    let calls = 3;
    let held = guarded(calls, &replicas(&[&[0], &[0], &[0]], false, None));
    held.borrow_mut().guards.hold(EndpointId(0), 0, ms(5000), ms(0));
    let queue = guarded(calls, &one_dependency(calls, 1, false));
    let (open, _) = tripped(vec![Play::fail(1, Reason::ConnReset); 3], calls).await;
    for (limits, other) in
        [(held, Reason::BackingOff), (open, Reason::BreakerOpen), (queue, Reason::Throttled)]
    {
        let (mut shared, _events) = shared(FakeNet::default());
        shared.transport = Rc::new(Unbuildable(net(vec![Play::Hang; 3])));
        let round =
            run(&shared, &limits, brief(plan(Mode::Deadline, 200, vec![call(None); 3]))).await.unwrap();
        assert_eq!((round.calls[1].outcome, round.calls[1].end), (missing(Reason::InvalidRequest), ms(0)));
        assert_eq!(round.calls[1].detail(), Some("no such header"));
        assert_eq!(round.calls[2].outcome, missing(other));
    }
}

#[tokio::test(start_paused = true)]
async fn r34_r37_a_refused_required_call_fails_the_round_at_once_and_nothing_is_sent() {
    let (limits, _) = tripped(vec![Play::fail(1, Reason::ConnReset); 2], 2).await;
    let net = net(vec![Play::Hang; 3]);
    let sent = Rc::clone(&net.sent);
    let mut plan = plan(Mode::Deadline, 200, vec![call(None); 3]);
    plan.calls[1].required = true;
    let round = play_with(net, plan, &limits).await;
    assert_eq!((round.ended_by, round.took, round.ok), (EndedBy::RequiredFailed, ms(0), false));
    assert_eq!(round.failed, [EndpointId(1)]);
    assert_eq!(
        round.calls[2].outcome,
        missing(Reason::SiblingFailed),
        "it has no breaker, and no time either"
    );
    assert_eq!(sent.borrow().len(), 0);
}

fn settings(every: u64) -> Settings {
    Settings { every: ms(every), ..Settings::default() }
}

/// Runs an engine for so many rounds.
async fn engine(
    guards: &Guards,
    calls: Vec<CallSpec>,
    script: Vec<Vec<Play>>,
    settings: Settings,
    rounds: u64,
) -> Vec<(Arc<Round>, Vitals)> {
    settled(watch(guards, calls, script, settings, rounds).await)
}

async fn watch(
    guards: &Guards,
    calls: Vec<CallSpec>,
    script: Vec<Vec<Play>>,
    settings: Settings,
    rounds: u64,
) -> Vec<Event> {
    let (shared, events) = shared(FakeNet::new(script));
    drive(Pacer::new(shared, Limits::new(calls, guards), settings, Some(rounds), 0), events).await
}

async fn drive(pacer: Pacer<TokioClock>, mut events: mpsc::Receiver<Event>) -> Vec<Event> {
    let (_commands, orders): (mpsc::Sender<Command>, _) = mpsc::channel(1);
    let read = async {
        let mut all = Vec::new();
        while let Some(event) = events.recv().await {
            all.push(event);
        }
        all
    };
    tokio::join!(pacer.run(orders), read).1
}

fn settled(events: Vec<Event>) -> Vec<(Arc<Round>, Vitals)> {
    let one = |e| if let Event::RoundSettled { round, vitals } = e { Some((round, vitals)) } else { None };
    events.into_iter().filter_map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn r39_a_round_that_would_exceed_the_rate_is_skipped_and_says_why() {
    // 2 calls to one host every 100 ms, at most 10/s: five rounds, then none until the second is over.
    let guards = replicas(&[&[0], &[0]], false, Some(10.0));
    let events = watch(&guards, specs(2), vec![vec![Play::ok(1)]; 2], settings(100), 12).await;
    let starts: Vec<_> = events
        .iter()
        .filter_map(|e| if let Event::RoundStarted(s) = e { Some(s.at.as_millis()) } else { None })
        .collect();
    assert_eq!(starts, [0, 100, 200, 300, 400, 1000, 1100, 1200, 1300, 1400, 2000, 2100]);
    let skipped = events.iter().filter(|e| matches!(e, Event::StartSkipped { cause: SkipCause::Rate, .. }));
    assert_eq!(skipped.count(), 10);
    let Some(Event::RoundSettled { vitals, .. }) = events.last() else { panic!("no last round") };
    assert_eq!(vitals.skipped, 10);
}

#[tokio::test(start_paused = true)]
async fn r39_a_period_that_is_just_within_the_rate_is_held_a_moment_and_skips_nothing() {
    // 2 calls to one host every 200 ms, at most 10/s. The second goes out 5 ms after the first, for its permit.
    let mut guards = replicas(&[&[0], &[0]], false, Some(10.0));
    guards.dependencies[0].permits = 1;
    let events = watch(&guards, specs(2), vec![vec![Play::ok(5)]; 2], settings(200), 8).await;
    let starts: Vec<_> = events
        .iter()
        .filter_map(|e| match e {
            Event::RoundStarted(s) => Some((s.at.as_millis(), s.start_lag.as_millis())),
            _ => None,
        })
        .collect();
    let on_time = [(0, 0), (200, 0), (400, 0), (600, 0), (800, 0)];
    assert_eq!(starts[..5], on_time);
    assert_eq!(starts[5..], [(1005, 5), (1205, 5), (1405, 5)]);
    assert!(!events.iter().any(|e| matches!(e, Event::StartSkipped { .. })));
}

#[tokio::test(start_paused = true)]
async fn r38_r39_without_a_period_the_rate_is_waited_for_and_nothing_spins() {
    let guards = replicas(&[&[0]], false, Some(2.0));
    let events = watch(&guards, specs(1), vec![vec![Play::ok(1)]], settings(0), 5).await;
    let starts: Vec<_> = events
        .iter()
        .filter_map(|e| if let Event::RoundStarted(s) = e { Some(s.at.as_millis()) } else { None })
        .collect();
    assert_eq!(starts, [0, 1, 1000, 1001, 2000]);
    assert_eq!(events.iter().filter(|e| matches!(e, Event::StartSkipped { .. })).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn r38_without_a_period_rounds_that_are_held_back_do_not_spin() {
    let guards = replicas(&[&[0]], false, None);
    let script = vec![vec![asks_for(ms(950), 429)]];
    let rounds = engine(&guards, specs(1), script, settings(0), 12).await;
    let seen: Vec<_> =
        rounds.iter().map(|(r, _)| (r.at.as_millis(), r.calls[0].outcome.reason().unwrap())).collect();
    let off = Reason::BackingOff;
    assert_eq!(seen[..3], [(0, Reason::HttpStatus), (10, off), (110, off)]);
    assert_eq!(seen[10..], [(910, off), (1010, Reason::HttpStatus)]);
}

#[tokio::test(start_paused = true)]
async fn r28_r39_a_hedge_beyond_the_rate_is_suppressed_by_it() {
    let limits = guarded(1, &replicas(&[&[0]], false, Some(1.0)));
    let round =
        play_with(net(vec![Play::ok(150)]), plan(Mode::Hedge, 200, vec![call(hedge(50, 1, true))]), &limits)
            .await;
    assert_eq!(round.calls[0].outcome, Outcome::Ok);
    assert_eq!(round.calls[0].hedges.suppressed.get(Suppression::Rate), 1);
}

#[tokio::test(start_paused = true)]
async fn r39_a_pause_ends_by_itself_and_the_host_is_asked_again() {
    let script = vec![vec![asks_for(ms(2200), 503)]];
    let rounds = engine(&replicas(&[&[0]], false, None), specs(1), script, settings(1000), 5).await;
    let seen: Vec<_> =
        rounds.iter().map(|(r, v)| (r.calls[0].outcome.reason().unwrap(), v.backing_off)).collect();
    let (asked, off) = ((Reason::HttpStatus, 1), (Reason::BackingOff, 1));
    assert_eq!(seen, [asked, off, off, asked, off]);
}
