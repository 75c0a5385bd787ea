//! Rules that hold in every round, on random rounds.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::guards::{DependencySpec, HostSpec, Route};
use fanscope::domain::{
    AttemptKind, AttemptOutcome, EndedBy, Event, Guards, Mode, Outcome, Reason, Round, Settings,
};
use fanscope::engine::limits::Limits;
use fanscope::engine::pacer::{Command, Pacer};
use fanscope::engine::policy::{CallPlan, HedgePlan, RoundPlan};
use fanscope::engine::transport::{AttemptFuture, AttemptRequest, Trace, Transport};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::{FakeNet, Play, brief, call, guarded, ms, play, shared, specs};
use tokio::sync::mpsc;
use tokio::time::Instant;

fn any_play() -> impl Strategy<Value = Play> {
    let reasons = prop::sample::select(vec![
        Reason::ConnectRefused,
        Reason::ConnReset,
        Reason::HttpStatus,
        Reason::CheckFailed,
        Reason::Tls,
    ]);
    prop_oneof![
        5 => (0u64..300).prop_map(Play::ok),
        3 => (0u64..300, reasons).prop_map(|(t, r)| Play::fail(t, r)),
        1 => Just(Play::Hang),
        1 => (0u64..300).prop_map(|t| Play::Panic(ms(t))),
        1 => Just(Play::PanicAtOnce),
    ]
}

fn any_hedge() -> impl Strategy<Value = HedgePlan> {
    (0u64..150, 1u8..=4, any::<bool>()).prop_map(|(delay, max, on_error)| HedgePlan {
        delay: ms(delay),
        max,
        on_error,
        load_budget: 0.05,
        suppressed: None,
    })
}

fn any_call() -> impl Strategy<Value = (CallPlan, Vec<Play>)> {
    let plan = (prop::bool::weighted(0.2), prop::option::weighted(0.3, 1u64..250), 1usize..4).prop_flat_map(
        |(required, timeout, replicas)| {
            prop::option::of(any_hedge()).prop_map(move |hedge| CallPlan {
                required,
                timeout: timeout.map(ms),
                replicas,
                hedge,
            })
        },
    );
    (plan, prop::collection::vec(any_play(), 1..6))
}

fn any_round() -> impl Strategy<Value = (RoundPlan, Vec<Vec<Play>>)> {
    let mode = prop::sample::select(Mode::ALL.to_vec());
    let calls = prop::collection::vec(any_call(), 1..9);
    (mode, 0u64..250, 0u64..400, 1usize..9, any::<bool>(), calls).prop_map(
        |(mode, budget, request, k, quorum_fail_fast, calls)| {
            let (calls, script): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
            let optional = calls.iter().filter(|c| !c.required).count();
            let k = (mode == Mode::Quorum && optional > 0).then(|| k.min(optional));
            let budget = ms(budget.min(request));
            (RoundPlan { mode, budget, request_budget: ms(request), k, quorum_fail_fast, calls }, script)
        },
    )
}

fn run(plan: RoundPlan, script: Vec<Vec<Play>>) -> (std::sync::Arc<Round>, usize, usize) {
    let net = FakeNet::new(script);
    let (alive, sent) = (Rc::clone(&net.alive), Rc::clone(&net.sent));
    let round = paused(play(net, plan));
    let sent = sent.borrow().len();
    (round, alive.get(), sent)
}

fn paused<T>(test: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(test)
}

/// A fake network whose attempts may outlive being dropped, as connections do, and that counts all of them.
struct Lingering {
    net: FakeNet,
    linger: Duration,
    alive: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
    /// When each went out.
    sent: Rc<RefCell<Vec<Instant>>>,
}

impl Lingering {
    fn new(script: Vec<Vec<Play>>, linger: u64) -> Self {
        let (alive, peak, sent) = (Arc::default(), Arc::default(), Rc::default());
        Self { net: FakeNet::new(script), linger: ms(linger), alive, peak, sent }
    }
}

/// Something that works for an attempt until a while after it was dropped.
struct Remains {
    trace: Option<Trace>,
    linger: Duration,
    alive: Arc<AtomicUsize>,
}

impl Drop for Remains {
    fn drop(&mut self) {
        let (trace, linger, alive) = (self.trace.take(), self.linger, Arc::clone(&self.alive));
        tokio::spawn(async move {
            tokio::time::sleep(linger).await;
            alive.fetch_sub(1, Ordering::SeqCst);
            drop(trace);
        });
    }
}

impl Transport for Lingering {
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        self.sent.borrow_mut().push(Instant::now());
        let now = self.alive.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(now, Ordering::SeqCst);
        let (linger, alive) = (self.linger, Arc::clone(&self.alive));
        let remains = Remains { trace: Some(trace.clone()), linger, alive };
        let inner = self.net.attempt(request, trace);
        Box::pin(async move {
            let _remains = remains;
            inner.await
        })
    }
}

/// One dependency and one host for all replicas of all calls.
fn one_of_all(calls: &[CallPlan], permits: u32, breaker: bool, max_rps: Option<f64>) -> Guards {
    let route = Route { dependency: 0, host: 0, breaker };
    Guards {
        dependencies: vec![DependencySpec { permits }],
        hosts: vec![HostSpec { max_rps }],
        routes: calls.iter().map(|c| vec![route; c.replicas]).collect(),
    }
}

fn limit_of(plan: &RoundPlan, index: usize) -> std::time::Duration {
    plan.calls[index].timeout.map_or(plan.limit_of(index), |t| t.min(plan.limit_of(index)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn r1_r14_r31_every_call_settles_once_nothing_outlives_the_round_and_hedges_add_up(
        (plan, script) in any_round()
    ) {
        let (round, alive, sent) = run(plan.clone(), script);
        // R1
        prop_assert_eq!(round.calls.len(), plan.calls.len());
        prop_assert_eq!(round.answered() + round.missing() + round.not_needed(), round.calls.len());
        // R14
        prop_assert_eq!(alive, 0);
        prop_assert_eq!(round.lingering, 0);
        let attempts: usize = round.calls.iter().map(|c| c.attempts.len()).sum();
        prop_assert!(sent <= attempts, "an attempt that is not recorded");
        for (index, call) in round.calls.iter().enumerate() {
            // R31
            prop_assert_eq!(call.hedges.sent, call.hedges.won + call.hedges.wasted);
            let hedges = call.attempts.iter().filter(|a| a.kind == AttemptKind::Hedge).count();
            prop_assert_eq!(hedges, call.hedges.sent as usize);
            // R8
            let limit = limit_of(&plan, index);
            if call.outcome == Outcome::Ok {
                prop_assert!(call.end <= limit);
                let winner = &call.attempts[call.winner.unwrap()];
                prop_assert_eq!(winner.outcome, AttemptOutcome::Ok);
                prop_assert_eq!(winner.end, call.end);
                // R23: nothing is sent any more once there is a winner.
                prop_assert!(call.attempts.iter().all(|a| a.start <= call.end));
            }
            for attempt in &call.attempts {
                prop_assert!(attempt.start <= attempt.end && attempt.start <= round.took);
                let phases: std::time::Duration = attempt.phases.iter().map(|p| p.1).sum();
                prop_assert_eq!(attempt.start + phases, attempt.end, "phases sum to the attempt");
                prop_assert!(attempt.kind == AttemptKind::Primary || attempt.start < limit);
            }
        }
        // R7, R12: never past the outer limit, on time that does not lag.
        prop_assert!(round.took <= plan.request_budget);
        if round.ended_by == EndedBy::Deadline {
            prop_assert_eq!(round.took, plan.budget);
        }
        if round.ended_by == EndedBy::Quorum {
            prop_assert!(round.answered_optional >= plan.k.unwrap());
        }
        prop_assert_eq!(round.ok, round.failed.is_empty(), "a failed round names its failures");
    }

    #[test]
    fn r1_one_calls_failure_never_changes_another(
        (plan, script) in any_round(),
        which in any::<prop::sample::Index>(),
    ) {
        // In a deadline round without required calls, calls have nothing to do with each other.
        let mut plan = RoundPlan { mode: Mode::Deadline, k: None, ..plan };
        plan.calls.iter_mut().for_each(|c| c.required = false);
        let (before, ..) = run(plan.clone(), script.clone());
        let which = which.index(script.len());
        let mut changed = script;
        changed[which] = vec![Play::fail(1, Reason::ConnectRefused)];
        let (after, ..) = run(plan, changed);
        for (index, (a, b)) in before.calls.iter().zip(&after.calls).enumerate() {
            if index != which {
                prop_assert_eq!(a.outcome, b.outcome);
                prop_assert_eq!(a.end, b.end);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Overlapping rounds in every mode, whose attempts fail, hang, panic and outlive being cancelled.
    #[test]
    fn r1_r14_r36_permits_are_never_exceeded_and_all_come_back(
        (plan, script) in any_round(),
        offsets in prop::collection::vec(0_u64..300, 1..5),
        permits in 1_u32..6,
        linger in prop_oneof![Just(0), 1_u64..200],
        breaker in any::<bool>(),
    ) {
        let calls = plan.calls.len();
        let net = Lingering::new(script, linger);
        let (alive, peak, sent) = (Arc::clone(&net.alive), Arc::clone(&net.peak), Rc::clone(&net.sent));
        let limits = guarded(calls, &one_of_all(&plan.calls, permits, breaker, None));
        let (rounds, last) = paused(async {
            let (mut shared, _events) = shared(FakeNet::default());
            shared.transport = Rc::new(net);
            let one = |after: u64| {
                let (shared, limits, plan) = (&shared, &limits, plan.clone());
                async move {
                    tokio::time::sleep(ms(after)).await;
                    support::run(shared, limits, brief(plan)).await.unwrap()
                }
            };
            let rounds = futures_util::future::join_all(offsets.into_iter().map(one)).await;
            // Longer than anything lingers and any breaker pauses at first.
            tokio::time::sleep(ms(6000)).await;
            let gone = alive.load(Ordering::SeqCst);
            shared.transport = Rc::new(FakeNet::new(vec![vec![Play::ok(10)]]));
            let all = support::plan(Mode::WaitAll, 1, vec![call(None); 1]);
            let last = support::run(&shared, &limits, brief(all)).await.unwrap();
            (rounds, (gone, last))
        });
        prop_assert!(peak.load(Ordering::SeqCst) <= permits as usize, "more in flight than permits");
        let mut attempts = 0;
        for round in &rounds {
            prop_assert_eq!(round.answered() + round.missing() + round.not_needed(), calls);
            for call in &round.calls {
                attempts += call.attempts.len();
                prop_assert_eq!(call.hedges.sent, call.hedges.won + call.hedges.wasted);
                let hedges = call.attempts.iter().filter(|a| a.kind == AttemptKind::Hedge).count();
                prop_assert_eq!(hedges, call.hedges.sent as usize);
                let unsent = [Reason::Throttled, Reason::BreakerOpen, Reason::BackingOff];
                if call.outcome.reason().is_some_and(|r| unsent.contains(&r)) {
                    prop_assert!(call.attempts.iter().all(|a| a.kind == AttemptKind::Hedge));
                }
                if let Some(winner) = call.winner {
                    prop_assert_eq!(call.attempts[winner].outcome, AttemptOutcome::Ok);
                    prop_assert_eq!(call.attempts[winner].end, call.end);
                }
            }
        }
        prop_assert_eq!(attempts, sent.borrow().len(), "what is recorded is what was sent");
        // Everything is gone, and a free permit is had at once; where the breaker is open, this is its probe.
        prop_assert_eq!(last.0, 0);
        prop_assert_eq!((last.1.calls[0].outcome, last.1.took), (Outcome::Ok, ms(10)));
    }

    /// Hedges, waits for permits and pauses included.
    #[test]
    fn r39_no_second_sees_more_attempts_than_the_limit_allows(
        plays in prop::collection::vec(prop::collection::vec(any_play(), 1..4), 1..6),
        every in 0_u64..400,
        limit in 6_u32..15,
        permits in 1_u32..8,
        delay in 0_u64..100,
    ) {
        let calls = plays.len();
        let net = Lingering::new(plays, 0);
        let sent = Rc::clone(&net.sent);
        let plans = vec![call(None); calls];
        let guards = one_of_all(&plans, permits, false, Some(f64::from(limit)));
        let hedge = fanscope::domain::HedgeSettings {
            delay: fanscope::domain::HedgeDelay::Fixed(ms(delay)),
            load_budget: 1.0,
            ..fanscope::domain::HedgeSettings::default()
        };
        let settings = Settings { mode: Mode::Hedge, every: ms(every), hedge, ..Settings::default() };
        let settled = paused(async {
            let (mut shared, mut events) = shared(FakeNet::default());
            shared.transport = Rc::new(net);
            let (_commands, orders): (mpsc::Sender<Command>, _) = mpsc::channel(1);
            let pacer = Pacer::new(shared, Limits::new(specs(calls), &guards), settings, Some(12), 0);
            let read = async {
                let mut settled = 0;
                while let Some(event) = events.recv().await {
                    settled += usize::from(matches!(event, Event::RoundSettled { .. }));
                }
                settled
            };
            tokio::join!(pacer.run(orders), read).1
        });
        prop_assert_eq!(settled, 12, "rounds go on");
        let sent = sent.borrow();
        for (i, at) in sent.iter().enumerate() {
            let second = sent[i..].iter().take_while(|t| **t < *at + ms(1000)).count();
            prop_assert!(second <= limit as usize, "{} attempts in one second", second);
        }
    }
}
