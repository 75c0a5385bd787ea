//! Helpers shared by the engine's tests: a fake network on paused time.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unnecessary_wraps, reason = "plans take an option")]

use fanscope::domain::guards::{DependencySpec, HostSpec, Route};
use fanscope::domain::{
    CallSpec, EndpointId, Event, Guards, HedgeContract, Mode, Phase, Reason, Round, RoundNo, Settings,
};
use fanscope::engine::clock::TokioClock;
use fanscope::engine::gaps::Gaps;
use fanscope::engine::limits::Limits;
use fanscope::engine::limits::guards::Tolls;
use fanscope::engine::policy::{CallPlan, HedgePlan, RoundPlan};
use fanscope::engine::round::{Abort, Brief, Shared};
use fanscope::engine::sink::Sink;
use fanscope::engine::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// What the fake network does with an attempt.
#[derive(Debug, Clone)]
pub enum Play {
    /// Ends after this time.
    End(Duration, Result<(), Failure>),
    /// Never ends.
    Hang,
    /// Never gets past connecting.
    Dials,
    /// Panics after this time.
    Panic(Duration),
    /// Panics while it is built.
    PanicAtOnce,
}

impl Play {
    pub fn ok(after: u64) -> Self {
        Self::End(ms(after), Ok(()))
    }

    pub fn fail(after: u64, reason: Reason) -> Self {
        let status = (reason == Reason::HttpStatus).then_some(503);
        Self::End(ms(after), Err(Failure { status, ..Failure::new(reason, reason.as_str()) }))
    }
}

/// A network that plays a script: per call, per attempt. Counts what is in flight.
#[derive(Debug, Clone, Default)]
pub struct FakeNet {
    pub script: Rc<Vec<Vec<Play>>>,
    pub alive: Rc<Cell<usize>>,
    pub sent: Rc<RefCell<Vec<AttemptRequest>>>,
}

impl FakeNet {
    pub fn new(script: Vec<Vec<Play>>) -> Self {
        Self { script: Rc::new(script), ..Self::default() }
    }
}

/// Counts an attempt for as long as it lives.
struct Alive(Rc<Cell<usize>>);

impl Alive {
    fn new(count: &Rc<Cell<usize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Transport for FakeNet {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        self.sent.borrow_mut().push(request);
        let plays = self.script.get(request.endpoint.index()).cloned().unwrap_or_default();
        let play = plays.get(request.attempt).or(plays.last()).cloned().unwrap_or(Play::Hang);
        assert!(!matches!(play, Play::PanicAtOnce), "planted panic while building");
        let alive = Alive::new(&self.alive);
        Box::pin(async move {
            let _alive = alive;
            let dials = matches!(play, Play::Dials);
            trace.reach(if dials { Phase::Connect } else { Phase::Waiting });
            match play {
                Play::End(after, result) => {
                    tokio::time::sleep(after).await;
                    trace.retry_after(result.as_ref().err().and_then(|f| f.retry_after));
                    result
                }
                Play::Panic(after) => {
                    tokio::time::sleep(after).await;
                    panic!("planted panic");
                }
                Play::Hang | Play::Dials | Play::PanicAtOnce => std::future::pending().await,
            }
        })
    }
}

/// What outlives a round, shared as the engine shares it.
pub type SharedLimits = Rc<RefCell<Limits>>;

pub fn specs(calls: usize) -> Vec<CallSpec> {
    let hedge = HedgeContract::ByMode;
    vec![CallSpec { required: false, timeout: None, replicas: 1, repeatable: true, hedge }; calls]
}

/// Limits with as many hedges in hand as there can be (10 for each call), behind these guards.
pub fn guarded(calls: usize, guards: &Guards) -> SharedLimits {
    let mut limits = Limits::new(specs(calls), guards);
    (0..calls).for_each(|call| limits.pay_in(EndpointId(call), 10.0));
    Rc::new(RefCell::new(limits))
}

/// Limits that hold nothing back.
pub fn open(calls: usize) -> SharedLimits {
    guarded(calls, &Guards::default())
}

/// One dependency for all calls, one host for each, one replica each.
pub fn one_dependency(calls: usize, permits: u32, breaker: bool) -> Guards {
    Guards {
        dependencies: vec![DependencySpec { permits }],
        hosts: vec![HostSpec { max_rps: None }; calls],
        routes: (0..calls).map(|host| vec![Route { dependency: 0, host, breaker }]).collect(),
    }
}

pub fn call(hedge: Option<HedgePlan>) -> CallPlan {
    CallPlan { required: false, timeout: None, replicas: 1, hedge }
}

pub fn hedge(delay: u64, max: u8, on_error: bool) -> Option<HedgePlan> {
    Some(HedgePlan { delay: ms(delay), max, on_error, load_budget: 0.05, suppressed: None })
}

pub fn plan(mode: Mode, budget: u64, calls: Vec<CallPlan>) -> RoundPlan {
    RoundPlan {
        mode,
        budget: ms(budget),
        request_budget: ms(10_000),
        k: None,
        quorum_fail_fast: false,
        calls,
    }
}

/// The shared part of an engine on paused time, and its event reader.
pub fn shared(net: impl Transport + 'static) -> (Shared<TokioClock>, mpsc::Receiver<Event>) {
    let (sink, events) = Sink::new();
    let epoch = Instant::now();
    let (abort, gaps) = (Abort::default(), Gaps::new(&TokioClock));
    (Shared { clock: TokioClock, transport: Rc::new(net), sink, epoch, abort, gaps }, events)
}

/// Runs a round of which nothing is watched past its end.
pub async fn run(shared: &Shared<TokioClock>, limits: &SharedLimits, brief: Brief) -> Option<Arc<Round>> {
    fanscope::engine::round::run(shared, limits, brief).await.map(|over| over.round)
}

/// Runs one round through the real runner.
pub async fn play(net: FakeNet, plan: RoundPlan) -> Arc<Round> {
    let limits = open(plan.calls.len());
    play_with(net, plan, &limits).await
}

/// As [`play`], behind these limits.
pub async fn play_with(net: FakeNet, plan: RoundPlan, limits: &SharedLimits) -> Arc<Round> {
    let (shared, _events) = shared(net);
    run(&shared, limits, brief(plan)).await.expect("somebody listens")
}

pub fn brief(plan: RoundPlan) -> Brief {
    let settings = Arc::new(Settings {
        mode: plan.mode,
        budget: plan.budget,
        request_budget: plan.request_budget,
        ..Settings::default()
    });
    let (planned, tolls) = (Instant::now(), Tolls::default());
    Brief { no: RoundNo(1), settings, plan, planned, tolls, probe: None, arm: None }
}
