//! Single rules of the round, on paused time through the real round runner.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::event::AttemptStep;
use fanscope::domain::{
    Answer, AttemptOutcome, EndedBy, Event, Guards, HedgeContract, HedgeDelay, HedgeSettings, Mode, Outcome,
    Phase, Reason, Settings, Suppression, TraceId,
};
use fanscope::engine::clock::{Clock, TokioTimer};
use fanscope::engine::gaps::Gaps;
use fanscope::engine::limits::Limits;
use fanscope::engine::policy::{CallPlan, RoundPlan};
use fanscope::engine::round::{Abort, Shared};
use fanscope::engine::sink::Sink;
use fanscope::engine::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport};
use futures_util::FutureExt;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use support::{
    FakeNet, Play, SharedLimits, brief, call, hedge, ms, open, plan, play, play_with, run, shared,
};

fn net(calls: Vec<Play>) -> FakeNet {
    FakeNet::new(calls.into_iter().map(|c| vec![c]).collect())
}

fn plain(n: usize) -> Vec<CallPlan> {
    vec![call(None); n]
}

fn required() -> CallPlan {
    CallPlan { required: true, ..call(None) }
}

#[tokio::test(start_paused = true)]
async fn r3_a_panicking_call_is_internal_and_the_round_goes_on() {
    let calls = vec![Play::Panic(ms(10)), Play::PanicAtOnce, Play::ok(50)];
    let round = play(net(calls), plan(Mode::Deadline, 200, plain(3))).await;
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::Internal));
    assert_eq!(round.calls[0].detail(), Some("panicked: planted panic"));
    assert_eq!(round.calls[0].end, ms(10));
    assert_eq!(round.calls[1].outcome, Outcome::Missing(Reason::Internal));
    assert_eq!(round.calls[2].outcome, Outcome::Ok);
    assert_eq!((round.took, round.ended_by), (ms(50), EndedBy::AllSettled));
}

#[tokio::test(start_paused = true)]
async fn r4_a_call_that_cannot_be_built_is_missing_and_the_others_run() {
    let calls = vec![Play::fail(0, Reason::InvalidRequest), Play::ok(50)];
    let round = play(net(calls), plan(Mode::Deadline, 200, plain(2))).await;
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::InvalidRequest));
    assert_eq!(round.calls[1].outcome, Outcome::Ok);
}

/// Notes evidence at once; then each endpoint ends in its own way.
struct Evident;

impl Transport for Evident {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        let endpoint = request.endpoint.index();
        trace.trace_id(TraceId::of_traceparent(&format!("00-{:032x}-{:016x}-01", endpoint + 1, 1)));
        trace.answer(move || {
            assert!(endpoint != 1, "planted panic while evidence is made");
            Answer {
                status_line: format!("HTTP/1.1 50{endpoint}"),
                headers: Vec::new(),
                headers_left_off: 0,
                body: "sorry".into(),
                body_truncated: false,
            }
        });
        Box::pin(async move {
            match endpoint {
                0 | 1 => Err(Failure::new(Reason::HttpStatus, "503")),
                2 => Ok(()),
                _ => std::future::pending().await,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn s8_6_a_failed_attempt_keeps_its_answer_and_no_other_does() {
    let (shared, _events) = shared(Evident);
    let round = run(&shared, &open(4), brief(plan(Mode::Deadline, 200, plain(4)))).await.unwrap();
    let attempts: Vec<_> = round.calls.iter().map(|c| &c.attempts[0]).collect();
    let lines: Vec<_> =
        attempts.iter().map(|a| a.answer.as_ref().map(|answer| answer.status_line.as_str())).collect();
    assert_eq!(lines, [Some("HTTP/1.1 500"), None, None, None]);
    // Evidence that can't be made is nothing but missing.
    assert_eq!(attempts[1].reason, Some(Reason::HttpStatus));
    for (i, attempt) in attempts.iter().enumerate() {
        assert_eq!(attempt.trace_id.unwrap().to_string(), format!("{:032x}", i + 1));
    }
}

/// Fails at 10 ms with evidence that takes 5 ms to make; the second call answers at 10 ms.
struct Elaborate;

impl Transport for Elaborate {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        Box::pin(async move {
            tokio::time::sleep(ms(10)).await;
            if request.endpoint.index() == 1 {
                return Ok(());
            }
            trace.answer(|| {
                // Paused time moves on at the first poll.
                let _ = tokio::time::advance(ms(5)).now_or_never();
                Answer {
                    status_line: "HTTP/1.1 503".to_owned(),
                    headers: Vec::new(),
                    headers_left_off: 0,
                    body: "sorry".into(),
                    body_truncated: false,
                }
            });
            Err(Failure::new(Reason::HttpStatus, "503"))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn r8_r9_evidence_takes_no_time_of_a_call_that_ended_at_the_same_moment() {
    let (shared, _events) = shared(Elaborate);
    let round = run(&shared, &open(2), brief(plan(Mode::Deadline, 12, plain(2)))).await.unwrap();
    assert!(round.calls[0].attempts[0].answer.is_some());
    assert_eq!((round.calls[0].end, round.calls[1].end), (ms(10), ms(10)));
    assert_eq!(round.calls[1].outcome, Outcome::Ok);
}

#[tokio::test(start_paused = true)]
async fn r7_an_endpoints_own_timeout_cuts_it_with_its_own_reason() {
    let mut plan = plan(Mode::Deadline, 200, plain(2));
    plan.calls[0].timeout = Some(ms(100));
    let round = play(net(vec![Play::ok(101), Play::ok(150)]), plan.clone()).await;
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::Timeout));
    assert_eq!(round.calls[0].end, ms(100));
    assert_eq!(round.calls[0].attempts[0].outcome, AttemptOutcome::Cancelled);
    assert_eq!((round.took, round.ended_by), (ms(150), EndedBy::AllSettled));
    // Success at the very instant wins; a timeout beyond the budget never fires.
    let round = play(net(vec![Play::ok(100), Play::ok(150)]), plan.clone()).await;
    assert_eq!(round.calls[0].outcome, Outcome::Ok);
    plan.calls[0].timeout = Some(ms(200));
    let round = play(net(vec![Play::Hang, Play::ok(150)]), plan).await;
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::Deadline));
}

#[tokio::test(start_paused = true)]
async fn r12_a_hanging_call_never_ends_the_round_before_the_budget() {
    let round = play(net(vec![Play::Hang]), plan(Mode::Deadline, 200, plain(1))).await;
    assert_eq!(round.took, ms(200));
    assert_eq!(round.overshoot(), Some(Duration::ZERO));
    assert_eq!(round.calls[0].phase, Phase::Waiting);
}

#[tokio::test(start_paused = true)]
async fn r13_r14_the_result_is_published_before_anything_is_cancelled_and_nothing_outlives_it() {
    let net = net(vec![Play::Hang, Play::ok(10)]);
    let alive = std::rc::Rc::clone(&net.alive);
    let (shared, mut events) = shared(net);
    let limits = &open(4);
    let round = run(&shared, limits, brief(plan(Mode::Deadline, 200, plain(2)))).await.unwrap();
    assert_eq!((alive.get(), round.lingering), (0, 0));
    drop(shared);
    let mut published = false;
    let mut cancelled_after = false;
    while let Some(event) = events.recv().await {
        match event {
            Event::RoundPublished(_) => published = true,
            Event::Attempt {
                step: AttemptStep::Ended { outcome: AttemptOutcome::Cancelled, .. }, ..
            } => {
                assert!(published, "cancelled before publishing");
                cancelled_after = true;
            }
            _ => {}
        }
    }
    assert!(cancelled_after);
}

/// A network where something goes on working for an attempt after it was dropped.
struct Haunted(std::rc::Rc<std::cell::RefCell<Vec<Trace>>>);

impl Transport for Haunted {
    fn attempt(&self, _: AttemptRequest, trace: Trace) -> AttemptFuture {
        self.0.borrow_mut().push(trace);
        Box::pin(std::future::pending())
    }
}

/// Paused time, which counts how often an instant is to be met as closely as can be.
#[derive(Clone, Default)]
struct Counting(Rc<Cell<usize>>);

impl Clock for Counting {
    type Timer = TokioTimer;

    fn now(&self) -> tokio::time::Instant {
        tokio::time::Instant::now()
    }

    fn timer(&self) -> TokioTimer {
        TokioTimer::default()
    }

    fn lead(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::ZERO
    }
}

#[tokio::test(start_paused = true)]
async fn r12_only_cuts_are_waited_for_awake_and_only_where_that_is_wanted() {
    // Before the cut come a hedge, a call that ends, and the looks at the clock in between.
    let script = vec![vec![Play::Hang, Play::Hang], vec![Play::ok(100)]];
    for (spin, cuts) in [(true, 1), (false, 0)] {
        let clock = Counting::default();
        let (sink, _events) = Sink::new();
        let (epoch, abort, gaps) = (clock.now(), Abort::default(), Gaps::new(&clock));
        let transport = Rc::new(FakeNet::new(script.clone()));
        let shared = Shared { clock: clock.clone(), transport, sink, epoch, abort, gaps };
        let mut brief = brief(plan(Mode::Hedge, 600, vec![call(hedge(50, 1, true)), call(None)]));
        brief.settings = Arc::new(Settings { spin, ..Settings::clone(&brief.settings) });
        let over = fanscope::engine::round::run(&shared, &open(2), brief).await.unwrap();
        assert_eq!((over.round.took, clock.0.get()), (ms(600), cuts), "{spin}");
    }
}

#[tokio::test(start_paused = true)]
async fn r13_what_is_alive_after_the_grace_is_counted_and_delays_no_result() {
    let traces = std::rc::Rc::default();
    let (mut shared, mut events) = shared(FakeNet::default());
    shared.transport = std::rc::Rc::new(Haunted(std::rc::Rc::clone(&traces)));
    let limits = &open(4);
    let began = tokio::time::Instant::now();
    let round = run(&shared, limits, brief(plan(Mode::Deadline, 200, plain(3)))).await.unwrap();
    assert_eq!((round.took, round.lingering), (ms(200), 3));
    assert_eq!(began.elapsed(), ms(250), "the grace is 50 ms, and no longer");
    let published = std::iter::from_fn(|| events.try_recv().ok())
        .find_map(|e| if let Event::RoundPublished(round) = e { Some(round) } else { None });
    assert_eq!(published.unwrap().took, ms(200));

    // What is gone within the grace does not linger.
    traces.borrow_mut().clear();
    let (round, ()) = tokio::join!(run(&shared, limits, brief(plan(Mode::Deadline, 200, plain(3)))), async {
        tokio::time::sleep(ms(220)).await;
        traces.borrow_mut().clear();
    });
    assert_eq!(round.unwrap().lingering, 0);
}

#[tokio::test(start_paused = true)]
async fn r24_a_warming_call_has_no_delay_and_the_round_says_so() {
    let limits = limits_of(&[HedgeContract::ByMode, HedgeContract::Off]);
    let plan = limits.plan(&Settings { mode: Mode::Hedge, ..Settings::default() });
    let (shared, mut events) = shared(net(vec![Play::ok(10), Play::ok(10)]));
    let limits = &open(2);
    let round = run(&shared, limits, brief(plan)).await.unwrap();
    let Ok(Event::RoundStarted(started)) = events.try_recv() else { panic!("no start") };
    assert_eq!((started.warming, started.hedge_delays), (1, vec![None, None]));
    assert_eq!(round.calls[0].hedge_delay, None);
}

#[tokio::test(start_paused = true)]
async fn the_live_events_tell_every_attempt_from_its_start_to_its_end() {
    let script = vec![
        vec![Play::ok(10)],
        vec![Play::fail(20, Reason::HttpStatus)],
        vec![Play::Hang],
        vec![Play::ok(150), Play::ok(30)],
    ];
    let mut calls = plain(3);
    calls.push(call(hedge(50, 1, true)));
    let (shared, mut events) = shared(FakeNet::new(script));
    let limits = &open(4);
    let round = run(&shared, limits, brief(plan(Mode::Deadline, 200, calls))).await.unwrap();
    let mut ends = std::collections::BTreeMap::new();
    let mut settled = std::collections::BTreeMap::new();
    drop(shared);
    while let Some(event) = events.recv().await {
        match event {
            Event::Attempt {
                call,
                attempt,
                at,
                step: AttemptStep::Ended { outcome, reason, status, .. },
                ..
            } => {
                assert!(ends.insert((call, attempt), (at, outcome, reason, status)).is_none());
            }
            Event::CallSettled { call, at, outcome, .. } => {
                assert!(settled.insert(call, (at, outcome)).is_none());
            }
            _ => {}
        }
    }
    for call in &round.calls {
        assert_eq!(settled.get(&call.endpoint), Some(&(call.end, call.outcome)));
        for (index, a) in call.attempts.iter().enumerate() {
            let told = ends.get(&(call.endpoint, index));
            assert_eq!(told, Some(&(a.end, a.outcome, a.reason, a.status)));
        }
    }
    assert_eq!(ends.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn r14_an_abandoned_round_is_reported_and_leaves_nothing() {
    let net = net(vec![Play::Hang, Play::ok(10)]);
    let alive = std::rc::Rc::clone(&net.alive);
    let (shared, _events) = shared(net);
    let limits = &open(4);
    let (round, ()) = tokio::join!(run(&shared, limits, brief(plan(Mode::Deadline, 200, plain(2)))), async {
        tokio::time::sleep(ms(50)).await;
        shared.abort.tell();
    });
    let round = round.unwrap();
    assert_eq!((round.ended_by, round.took), (EndedBy::Aborted, ms(50)));
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::Aborted));
    assert_eq!(round.calls[1].outcome, Outcome::Ok);
    assert_eq!(alive.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn r22_a_missed_quorum_says_how_many_are_short() {
    let plan = RoundPlan { k: Some(3), ..plan(Mode::Quorum, 200, plain(3)) };
    let round = play(net(vec![Play::ok(10), Play::Hang, Play::Hang]), plan).await;
    assert_eq!((round.shortfall(), round.partial()), (Some(2), true));
}

#[tokio::test(start_paused = true)]
async fn r23_hedges_are_armed_again_after_each_and_wrap_round_the_replicas() {
    let mut calls = vec![call(hedge(30, 3, true))];
    calls[0].replicas = 2;
    let net = net(vec![Play::Hang]);
    let sent = std::rc::Rc::clone(&net.sent);
    let round = play(net, plan(Mode::Hedge, 200, calls)).await;
    let starts: Vec<_> = round.calls[0].attempts.iter().map(|a| a.start).collect();
    assert_eq!(starts, [ms(0), ms(30), ms(60), ms(90)]);
    let replicas: Vec<_> = sent.borrow().iter().map(|r| r.replica).collect();
    assert_eq!(replicas, [0, 1, 0, 1]);
    // R27: with one still running at the deadline the reason is the deadline.
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::Deadline));
    assert_eq!(round.calls[0].hedges.wasted, 3);
}

#[tokio::test(start_paused = true)]
async fn r25_a_failure_that_no_retry_helps_settles_the_call_unless_another_attempt_is_alive() {
    let plan = plan(Mode::Hedge, 200, vec![call(hedge(50, 1, true))]);
    let early = FakeNet::new(vec![vec![Play::fail(20, Reason::CheckFailed), Play::ok(10)]]);
    let round = play(early, plan.clone()).await;
    assert_eq!((round.took, round.calls[0].attempts.len()), (ms(20), 1));
    let late = FakeNet::new(vec![vec![Play::fail(70, Reason::CheckFailed), Play::ok(40)]]);
    let round = play(late, plan).await;
    assert_eq!((round.took, round.calls[0].outcome), (ms(90), Outcome::Ok));
}

#[tokio::test(start_paused = true)]
async fn r25_without_on_error_a_failure_before_the_delay_settles_the_call() {
    let plan = plan(Mode::Hedge, 200, vec![call(hedge(50, 1, false))]);
    let net = FakeNet::new(vec![vec![Play::fail(20, Reason::ConnReset), Play::ok(10)]]);
    let round = play(net, plan).await;
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::ConnReset));
    assert_eq!(round.took, ms(20));
}

#[tokio::test(start_paused = true)]
async fn r28_a_suppressed_hedge_is_spent_and_counted_by_its_cause() {
    let plan = plan(Mode::Hedge, 200, vec![call(hedge(50, 1, true)), call(hedge(50, 1, true))]);
    let net = net(vec![Play::ok(150), Play::fail(20, Reason::ConnReset)]);
    let round = play_with(net, plan, &no_tokens(2)).await;
    for call in &round.calls {
        assert_eq!((call.hedges.sent, call.hedges.suppressed.get(Suppression::Budget)), (0, 1));
    }
    // Nothing else runs, so the failure settles the call.
    assert_eq!((round.calls[1].end, round.calls[0].end), (ms(20), ms(150)));
}

#[tokio::test(start_paused = true)]
async fn r32_wait_all_is_never_cut_at_the_budget() {
    let mut plan = plan(Mode::WaitAll, 200, plain(2));
    plan.request_budget = ms(500);
    let round = play(net(vec![Play::ok(300), Play::fail(400, Reason::ConnReset)]), plan.clone()).await;
    assert_eq!((round.took, round.ended_by, round.ok), (ms(400), EndedBy::AllSettled, true));
    let round = play(net(vec![Play::ok(300), Play::Hang]), plan).await;
    assert_eq!((round.took, round.ended_by), (ms(500), EndedBy::RequestDeadline));
    assert_eq!(round.calls[1].outcome, Outcome::Missing(Reason::RequestDeadline));
    assert!(round.ok, "only a required call fails a round");
}

#[tokio::test(start_paused = true)]
async fn r33_fail_fast_ends_at_the_first_failure() {
    let calls = vec![Play::ok(10), Play::fail(60, Reason::ConnectRefused), Play::Hang];
    let round = play(net(calls), plan(Mode::FailFast, 200, plain(3))).await;
    assert_eq!((round.took, round.ended_by, round.ok), (ms(60), EndedBy::FailedFast, false));
    assert_eq!(round.calls[0].outcome, Outcome::Ok);
    assert_eq!(round.calls[2].outcome, Outcome::Missing(Reason::SiblingFailed));
    assert_eq!(round.failed, [round.calls[1].endpoint]);
    let round = play(net(vec![Play::ok(10), Play::ok(300)]), plan(Mode::FailFast, 200, plain(2))).await;
    assert_eq!((round.took, round.ended_by, round.ok), (ms(300), EndedBy::AllSettled, true));
}

#[tokio::test(start_paused = true)]
async fn r34_a_required_failure_ends_the_round_at_once() {
    let calls = vec![required(), required(), call(None), call(None)];
    let plays =
        vec![Play::fail(80, Reason::ConnReset), Play::fail(80, Reason::HttpStatus), Play::ok(30), Play::Hang];
    let round = play(net(plays), plan(Mode::Deadline, 200, calls)).await;
    assert_eq!((round.took, round.ended_by, round.ok), (ms(80), EndedBy::RequiredFailed, false));
    assert_eq!(round.failed.len(), 2, "every required failure that occurred is listed");
    assert_eq!(round.calls[3].outcome, Outcome::Missing(Reason::SiblingFailed));
}

#[tokio::test(start_paused = true)]
async fn r34_required_calls_run_past_the_budget_and_optional_ones_do_not() {
    let calls = vec![required(), call(None)];
    let mut plan = plan(Mode::Deadline, 200, calls);
    plan.request_budget = ms(500);
    let round = play(net(vec![Play::ok(350), Play::Hang]), plan.clone()).await;
    assert_eq!((round.took, round.ended_by, round.ok), (ms(350), EndedBy::AllSettled, true));
    assert_eq!((round.calls[1].outcome, round.calls[1].end), (Outcome::Missing(Reason::Deadline), ms(200)));
    // Settled before the optional calls were cut: the deadline ended the round.
    let round = play(net(vec![Play::ok(100), Play::Hang]), plan.clone()).await;
    assert_eq!((round.took, round.ended_by), (ms(200), EndedBy::Deadline));
    let round = play(net(vec![Play::Hang, Play::ok(10)]), plan).await;
    assert_eq!((round.took, round.ended_by, round.ok), (ms(500), EndedBy::RequestDeadline, false));
    assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::RequestDeadline));
}

#[tokio::test(start_paused = true)]
async fn r34_all_optional_calls_down_is_a_successful_empty_partial_round() {
    let plays = vec![Play::ok(20), Play::fail(5, Reason::ConnectRefused), Play::fail(9, Reason::Dns)];
    let calls = vec![required(), call(None), call(None)];
    let round = play(net(plays), plan(Mode::Deadline, 200, calls)).await;
    assert!(round.ok && round.partial() && !round.cacheable());
    assert_eq!(round.answered_optional, 0);
}

#[tokio::test(start_paused = true)]
async fn r18_r34_a_quorum_counts_optional_calls_and_required_ones_are_still_awaited() {
    let calls = vec![required(), call(None), call(None), call(None)];
    let plan = RoundPlan { k: Some(1), ..plan(Mode::Quorum, 200, calls) };
    let plays = vec![Play::ok(150), Play::ok(20), Play::ok(90), Play::Hang];
    let round = play(net(plays), plan).await;
    assert_eq!(round.quorum_at, Some(ms(20)));
    assert_eq!((round.calls[2].outcome, round.calls[2].end), (Outcome::NotNeeded, ms(20)));
    assert_eq!((round.took, round.ended_by), (ms(150), EndedBy::AllSettled));
    assert!(!round.partial());
}

fn limits_of(contracts: &[HedgeContract]) -> Limits {
    Limits::new(specs(contracts), &Guards::default())
}

fn no_tokens(calls: usize) -> SharedLimits {
    Rc::new(RefCell::new(limits_of(&vec![HedgeContract::ByMode; calls])))
}

fn specs(contracts: &[HedgeContract]) -> Vec<fanscope::domain::CallSpec> {
    let spec = |&hedge: &HedgeContract| fanscope::domain::CallSpec {
        required: false,
        timeout: None,
        replicas: 2,
        repeatable: true,
        hedge,
    };
    contracts.iter().map(spec).collect()
}

#[test]
fn r34a_an_endpoints_own_contract_holds_in_deadline_and_quorum_rounds() {
    let own = HedgeSettings { delay: HedgeDelay::Fixed(ms(40)), ..HedgeSettings::default() };
    let limits = limits_of(&[HedgeContract::Own(own), HedgeContract::Off, HedgeContract::ByMode]);
    let hedged = |mode: Mode| {
        let plan = limits.plan(&Settings { mode, ..Settings::default() });
        plan.calls.iter().map(|c| c.hedge.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(hedged(Mode::Deadline), [true, false, false]);
    assert_eq!(hedged(Mode::Quorum), [true, false, false]);
    assert_eq!(hedged(Mode::Hedge), [true, false, true]);
    assert_eq!(hedged(Mode::WaitAll), [false; 3]);
}

#[tokio::test(start_paused = true)]
async fn r24_a_percentile_warms_for_thirty_primaries_and_stays_within_its_bounds() {
    let mut limits = limits_of(&[HedgeContract::ByMode, HedgeContract::ByMode]);
    let settings = Settings { mode: Mode::Hedge, ..Settings::default() };
    let script = vec![vec![Play::ok(40)], vec![Play::Hang]];
    for _ in 0..30 {
        let plan = limits.plan(&settings);
        assert_eq!(plan.calls[0].hedge.unwrap().suppressed, Some(Suppression::Warming));
        let round = play(FakeNet::new(script.clone()), plan).await;
        assert_eq!(round.calls[0].hedges.suppressed.total(), 0, "it answered before any delay");
        assert_eq!(round.calls[1].hedges.suppressed.get(Suppression::Warming), 1);
        limits.learn(&round);
    }
    let plan = limits.plan(&settings);
    let delays: Vec<_> = plan.calls.iter().map(|c| c.hedge.unwrap()).collect();
    assert_eq!((delays[0].delay, delays[0].suppressed), (ms(40), None));
    // Never reached in the data: half of the budget.
    assert_eq!((delays[1].delay, delays[1].suppressed), (ms(100), None));
}

#[test]
fn r28_a_race_is_not_limited_by_the_load_budget_and_other_hedges_are() {
    let mut limits = limits_of(&[HedgeContract::ByMode]);
    let call = fanscope::domain::EndpointId(0);
    assert_eq!(limits.hedge(call, 1, false, Duration::ZERO).unwrap_err(), Suppression::Budget);
    assert_eq!(limits.hedge(call, 1, true, Duration::ZERO).unwrap().0, 1);
}

#[test]
fn r30_a_call_that_must_not_be_repeated_runs_unhedged() {
    let mut calls = specs(&[HedgeContract::ByMode]);
    calls[0].repeatable = false;
    let plan =
        Limits::new(calls, &Guards::default()).plan(&Settings { mode: Mode::Hedge, ..Settings::default() });
    assert_eq!(plan.calls[0].hedge.unwrap().suppressed, Some(Suppression::NotIdempotent));
}

#[tokio::test(start_paused = true)]
async fn r40_only_a_complete_round_may_be_cached() {
    let round = play(net(vec![Play::ok(10); 2]), plan(Mode::Deadline, 200, plain(2))).await;
    assert!(round.cacheable() && !round.partial());
    assert!((round.completeness() - 1.0).abs() < f64::EPSILON);
}
