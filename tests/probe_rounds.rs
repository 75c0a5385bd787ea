//! Probe rounds (W7): stragglers are watched past the deadline, on paused time through the real pacer.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::guards::{DependencySpec, HostSpec, Route};
use fanscope::domain::{
    CallSpec, EndedBy, Event, Guards, HedgeContract, HedgeDelay, HedgeSettings, Late, Mode, Outcome, Reason,
    Round, Settings,
};
use fanscope::engine::limits::Limits;
use fanscope::engine::pacer::{Command, Pacer};
use fanscope::engine::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use support::{FakeNet, Play, ms, one_dependency, shared, specs};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// What is run.
struct Bench {
    guards: Guards,
    calls: Vec<CallSpec>,
    script: Vec<Vec<Play>>,
    settings: Settings,
    rounds: Option<u64>,
}

/// A run that goes on.
struct Going {
    commands: mpsc::Sender<Command>,
    events: mpsc::Receiver<Event>,
    alive: Rc<Cell<usize>>,
    begun: Instant,
}

/// An event and when it was had.
type At = (Duration, Event);

impl Bench {
    /// Probe rounds of one attempt a call.
    fn new(script: Vec<Play>, settings: Settings) -> Self {
        Self {
            guards: Guards::default(),
            calls: specs(script.len()),
            script: script.into_iter().map(|play| vec![play]).collect(),
            settings,
            rounds: Some(1),
        }
    }

    fn start(self) -> Going {
        let net = FakeNet::new(self.script);
        let alive = Rc::clone(&net.alive);
        let (shared, events) = shared(net);
        let (commands, orders) = mpsc::channel(8);
        let limits = Limits::new(self.calls, &self.guards);
        let begun = Instant::now();
        let pacer = Pacer::new(shared, limits, self.settings, self.rounds, 1);
        tokio::task::spawn_local(pacer.run(orders));
        Going { commands, events, alive, begun }
    }

    /// Runs it to its end, which it finds by itself. Nothing is left then.
    fn run(self) -> Vec<At> {
        local(async {
            let mut going = self.start();
            let all = going.rest().await;
            assert_eq!(going.alive.get(), 0, "something outlived the engine");
            all
        })
    }
}

impl Going {
    async fn rest(&mut self) -> Vec<At> {
        let mut all = Vec::new();
        while let Some(event) = self.events.recv().await {
            all.push((self.begun.elapsed(), event));
        }
        all
    }
}

fn local<T>(test: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

fn settings(every: u64, probe: f64) -> Settings {
    Settings { every: ms(every), probe, ..Settings::default() }
}

fn missing(reason: Reason) -> Outcome {
    Outcome::Missing(reason)
}

/// When each was told, of which round and call, how it came out and when.
fn late(events: &[At]) -> Vec<(u64, u64, usize, Outcome, u64)> {
    let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    let of = |(at, event): &At| match event {
        Event::Late { round, late: Late { endpoint, outcome, end } } => {
            Some((whole(*at), round.0, endpoint.index(), *outcome, whole(*end)))
        }
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn rounds(events: &[At]) -> Vec<Arc<Round>> {
    let of = |(_, event): &At| match event {
        Event::RoundSettled { round, .. } => Some(Arc::clone(round)),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

/// All but what says that it is a probe round.
fn plain(round: &Round) -> Round {
    Round { probe: None, settings: Arc::default(), ..round.clone() }
}

#[test]
fn w7_the_result_is_what_it_is_without_and_what_comes_later_is_told_as_it_comes() {
    let script = || {
        let fails = Play::fail(600, Reason::ConnReset);
        vec![Play::ok(50), Play::ok(340), fails, Play::Hang, Play::ok(200), Play::fail(30, Reason::Tls)]
    };
    let with = Bench::new(script(), settings(500, 1.0)).run();
    let without = Bench::new(script(), settings(500, 0.0)).run();
    let (watched, cut) = (rounds(&with).remove(0), rounds(&without).remove(0));
    assert_eq!(plain(&watched), plain(&cut));
    assert_eq!((watched.took, watched.probe, cut.probe), (ms(200), Some(ms(1000)), None));
    let when = |events: &[At], which: fn(&Event) -> bool| events.iter().find(|(_, e)| which(e)).unwrap().0;
    for which in [
        |e: &Event| matches!(e, Event::RoundPublished(_)),
        |e: &Event| matches!(e, Event::RoundSettled { .. }),
    ] {
        assert_eq!((when(&with, which), when(&without, which)), (ms(200), ms(200)));
    }
    let expected = [
        (340, 1, 1, Outcome::Ok, 340),
        (600, 1, 2, missing(Reason::ConnReset), 600),
        (1000, 1, 3, missing(Reason::Deadline), 1000),
    ];
    assert_eq!(late(&with), expected);
    assert_eq!(late(&without), []);
    let watched = with.iter().find_map(|(_, e)| match e {
        Event::RoundSettled { vitals, .. } => Some(vitals.watched),
        _ => None,
    });
    assert_eq!(watched, Some(3));
}

#[test]
fn w7_an_answer_at_the_very_end_of_the_watch_still_counts() {
    let events = Bench::new(vec![Play::ok(1000), Play::ok(1001)], settings(500, 1.0)).run();
    let expected = [(1000, 1, 0, Outcome::Ok, 1000), (1000, 1, 1, missing(Reason::Deadline), 1000)];
    assert_eq!(late(&events), expected);
}

#[test]
fn w7_a_long_budget_leaves_nothing_to_watch_and_a_clamped_one_counts() {
    let long = Settings { budget: ms(10_000), request_budget: ms(20_000), ..settings(500, 1.0) };
    let events = Bench::new(vec![Play::Hang], long).run();
    assert_eq!((rounds(&events)[0].probe, late(&events)), (Some(ms(10_000)), vec![]));
    let clamped = Settings { request_budget: ms(105), ..settings(500, 1.0) };
    let events = Bench::new(vec![Play::ok(400), Play::Hang], clamped).run();
    let expected = [(400, 1, 0, Outcome::Ok, 400), (500, 1, 1, missing(Reason::Deadline), 500)];
    assert_eq!(late(&events), expected, "neither does the request's budget end it");
}

fn hedged(primary: Play, hedge: Play) -> Vec<At> {
    let own =
        HedgeSettings { delay: HedgeDelay::Fixed(Duration::ZERO), max: Some(1), ..HedgeSettings::default() };
    let mut bench = Bench::new(vec![Play::Hang], settings(500, 1.0));
    bench.calls[0].hedge = HedgeContract::Own(own);
    bench.script = vec![vec![primary, hedge]];
    bench.run()
}

#[test]
fn w7_r27_all_attempts_go_on_and_the_first_success_or_the_last_failure_settles() {
    let told = |primary, hedge| late(&hedged(primary, hedge)).remove(0);
    let refused = || Play::fail(300, Reason::ConnectRefused);
    assert_eq!(told(Play::Hang, Play::ok(280)), (280, 1, 0, Outcome::Ok, 280));
    assert_eq!(told(Play::ok(700), refused()), (700, 1, 0, Outcome::Ok, 700));
    // The primary's reason, in whatever order they fail, also where it failed before the cut.
    for (primary, hedge, end) in [
        (refused(), Play::fail(450, Reason::Tls), 450),
        (Play::fail(450, Reason::ConnectRefused), Play::fail(300, Reason::Tls), 450),
        (Play::fail(100, Reason::ConnectRefused), Play::fail(330, Reason::Tls), 330),
    ] {
        assert_eq!(told(primary, hedge), (end, 1, 0, missing(Reason::ConnectRefused), end));
    }
    // No further attempt starts while it is watched.
    let events = hedged(Play::fail(300, Reason::ConnReset), Play::Hang);
    assert_eq!(rounds(&events)[0].calls[0].hedges.sent, 1);
}

#[test]
fn w7_only_what_the_deadline_cut_is_watched() {
    let hangs = || vec![Play::ok(20), Play::Hang, Play::Hang];
    let quorum = Settings { mode: Mode::Quorum, quorum: Some(1), ..settings(500, 1.0) };
    let events = Bench::new(hangs(), quorum).run();
    assert_eq!((rounds(&events)[0].ended_by, late(&events)), (EndedBy::Quorum, vec![]));
    for mode in [Mode::WaitAll, Mode::FailFast] {
        let contrast = Settings { mode, request_budget: ms(300), ..settings(500, 1.0) };
        let events = Bench::new(hangs(), contrast).run();
        assert_eq!((rounds(&events)[0].probe, late(&events)), (None, vec![]), "{mode}");
    }
    // One that ran into its own limit, and one that never got a permit.
    let mut bench = Bench::new(hangs(), settings(500, 1.0));
    bench.calls[1].timeout = Some(ms(90));
    bench.guards = one_dependency(3, 2, false);
    bench.script[0] = vec![Play::Hang];
    let events = bench.run();
    let reasons: Vec<_> = rounds(&events)[0].calls.iter().map(|c| c.outcome).collect();
    assert_eq!(reasons, [Reason::Deadline, Reason::Timeout, Reason::Deadline].map(missing));
    let told: Vec<_> = late(&events).into_iter().map(|l| l.2).collect();
    assert_eq!(told, [0, 2]);
}

/// Two optional calls that the deadline cuts, and a required one that goes on.
fn with_required(required: Play, request_budget: u64) -> Vec<At> {
    let settings = Settings { request_budget: ms(request_budget), ..settings(2000, 1.0) };
    let mut bench = Bench::new(vec![Play::ok(260), Play::Hang, required], settings);
    bench.calls[2].required = true;
    bench.run()
}

#[test]
fn w7_what_comes_while_the_round_still_waits_is_told_after_it() {
    let events = with_required(Play::ok(400), 10_000);
    let settled = events.iter().position(|(_, e)| matches!(e, Event::RoundSettled { .. })).unwrap();
    let first = events.iter().position(|(_, e)| matches!(e, Event::Late { .. })).unwrap();
    assert!(settled < first);
    let expected = [(400, 1, 0, Outcome::Ok, 260), (1000, 1, 1, missing(Reason::Deadline), 1000)];
    assert_eq!(late(&events), expected);
    let round = rounds(&events).remove(0);
    assert_eq!((round.ended_by, round.calls[0].late_by), (EndedBy::AllSettled, None));
    // For its round the attempt was cancelled at the deadline.
    assert_eq!(round.calls[0].attempts[0].end, ms(200));
    // The watch may also end before the round does.
    let expected = [(3000, 1, 0, Outcome::Ok, 260), (3000, 1, 1, missing(Reason::Deadline), 1000)];
    assert_eq!(late(&with_required(Play::ok(3000), 10_000)), expected);
    // Nor does it matter that the required one is cut.
    let expected = [(500, 1, 0, Outcome::Ok, 260), (1000, 1, 1, missing(Reason::Deadline), 1000)];
    assert_eq!(late(&with_required(Play::Hang, 500)), expected);
}

#[test]
fn w7_a_round_that_fails_has_nothing_watched_any_longer() {
    let events = with_required(Play::fail(400, Reason::ConnReset), 10_000);
    let expected = [(400, 1, 0, Outcome::Ok, 260), (400, 1, 1, missing(Reason::Aborted), 400)];
    assert_eq!((rounds(&events)[0].ended_by, late(&events)), (EndedBy::RequiredFailed, expected.to_vec()));
    assert_eq!(late(&with_required(Play::fail(100, Reason::ConnReset), 10_000)), []);
}

#[test]
fn w7_a_straggler_gives_its_permit_to_a_call_that_waits() {
    // One permit: the second round finds it with a straggler of the first.
    let mut bench = Bench::new(vec![Play::Hang], settings(300, 1.0));
    (bench.guards, bench.rounds) = (one_dependency(1, 1, false), Some(2));
    let events = bench.run();
    let expected =
        [(300, 1, 0, missing(Reason::Throttled), 300), (1300, 2, 0, missing(Reason::Deadline), 1000)];
    assert_eq!(late(&events), expected);
    let second = &rounds(&events)[1].calls[0];
    assert_eq!(
        (second.outcome, second.attempts[0].phases.get(fanscope::domain::Phase::Queued)),
        (missing(Reason::Deadline), None)
    );

    // One that waits already when the call is cut has the permit at that moment.
    let mut bench = Bench::new(vec![Play::Hang], settings(100, 1.0));
    (bench.guards, bench.rounds) = (one_dependency(1, 1, false), Some(2));
    let events = bench.run();
    let expected =
        [(200, 1, 0, missing(Reason::Throttled), 200), (1100, 2, 0, missing(Reason::Deadline), 1000)];
    assert_eq!(late(&events), expected);
    let waited = rounds(&events)[1].calls[0].attempts[0].phases.get(fanscope::domain::Phase::Queued);
    assert_eq!(waited, Some(ms(100)));
}

#[test]
fn w7_as_many_give_way_as_wait_and_only_those_of_the_dependency() {
    // Three calls on two permits more than there are stragglers, and one on a dependency of its own.
    let route = |dependency| vec![Route { dependency, host: 0, breaker: false }];
    let mut bench = Bench::new(vec![Play::Hang; 4], settings(300, 1.0));
    bench.guards = Guards {
        dependencies: vec![DependencySpec { permits: 4 }, DependencySpec { permits: 2 }],
        hosts: vec![HostSpec { max_rps: None }],
        routes: vec![route(0), route(0), route(0), route(1)],
    };
    bench.rounds = Some(2);
    let gave_way: Vec<_> =
        late(&bench.run()).into_iter().filter(|l| l.3 == missing(Reason::Throttled)).collect();
    assert_eq!(gave_way.iter().map(|l| (l.0, l.1, l.2)).collect::<Vec<_>>(), [(300, 1, 0), (300, 1, 1)]);
}

/// A round cut at its deadline, then at 300 ms one that hedges after 50 ms.
async fn hedged_after(commands: &mpsc::Sender<Command>, probe: f64) {
    tokio::time::sleep(ms(250)).await;
    let hedge =
        HedgeSettings { delay: HedgeDelay::Fixed(ms(50)), load_budget: 1.0, ..HedgeSettings::default() };
    let hedged = Settings { mode: Mode::Hedge, hedge, ..settings(300, probe) };
    commands.send(Command::Apply(hedged)).await.unwrap();
}

#[test]
fn w7_r36_a_straggler_gives_its_permit_to_a_hedge() {
    // Two permits: the second round's primary has the one that is free.
    let run = |probe| {
        let events = local(async {
            let mut bench = Bench::new(vec![Play::Hang], settings(300, probe));
            (bench.guards, bench.rounds) = (one_dependency(1, 2, false), Some(2));
            let mut going = bench.start();
            hedged_after(&going.commands, probe).await;
            going.rest().await
        });
        (late(&events), rounds(&events).remove(1))
    };
    let (told, with) = run(1.0);
    assert_eq!(
        told,
        [(350, 1, 0, missing(Reason::Throttled), 350), (1300, 2, 0, missing(Reason::Deadline), 1000)]
    );
    let starts: Vec<_> = with.calls[0].attempts.iter().map(|a| a.start).collect();
    assert_eq!((starts, with.calls[0].hedges.sent), (vec![ms(0), ms(50)], 1));
    let (_, without) = run(0.0);
    assert_eq!(plain(&with), plain(&without), "what is watched costs no round its hedge");
}

#[test]
fn w7_r36_a_hedge_that_still_waits_for_a_straggler_to_be_gone_is_short_of_a_permit() {
    let round = local(async {
        let (shared, mut events) = shared(Haunted(Rc::default()));
        let (commands, orders) = mpsc::channel(1);
        let limits = Limits::new(specs(1), &one_dependency(1, 2, false));
        let pacer = Pacer::new(shared, limits, settings(300, 1.0), Some(2), 1);
        let run = pacer.run(orders);
        let reads = async {
            loop {
                match events.recv().await {
                    Some(Event::RoundSettled { round, .. }) if round.no.0 == 2 => break round,
                    event => assert!(event.is_some(), "no second round"),
                }
            }
        };
        tokio::select! {
            ((), round) = async { tokio::join!(hedged_after(&commands, 1.0), reads) } => round,
            () = run => panic!("ended before"),
        }
    });
    let call = &round.calls[0];
    let permit = call.hedges.suppressed.get(fanscope::domain::Suppression::Permit);
    assert_eq!((call.attempts.len(), call.hedges.sent, call.hedges.wasted, permit), (1, 0, 0, 1));
}

#[test]
fn w7_at_most_8_probe_rounds_are_at_once_running_or_watched() {
    let many = Settings { max_overlap: 64, ..settings(50, 1.0) };
    let mut bench = Bench::new(vec![Play::Hang], many);
    bench.rounds = Some(60);
    let events = bench.run();
    let probes: Vec<Arc<Round>> = rounds(&events).into_iter().filter(|r| r.probe.is_some()).collect();
    for round in &probes {
        let at_once = probes.iter().filter(|r| r.at <= round.at && round.at < r.at + ms(1000)).count();
        assert!(at_once <= 8, "{at_once} at {:?}", round.at);
    }
    assert_eq!(probes.iter().take(9).map(|r| r.no.0).collect::<Vec<_>>()[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(probes.len() > 16, "{} probe rounds", probes.len());
    assert_eq!(late(&events).len(), probes.len());
}

#[test]
fn w7_the_same_seed_gives_the_same_probe_rounds_and_the_share_may_change() {
    let chosen = |share| {
        let mut bench = Bench::new(vec![Play::ok(1)], settings(100, share));
        bench.rounds = Some(200);
        let all = rounds(&bench.run());
        all.into_iter().filter(|r| r.probe.is_some()).map(|r| r.no.0).collect::<Vec<_>>()
    };
    let some = chosen(0.2);
    assert_eq!(some, chosen(0.2));
    // Within four standard deviations of 40.
    assert!((17..=63).contains(&some.len()), "{}", some.len());
    let live = local(async {
        let mut going =
            Bench { rounds: Some(4), ..Bench::new(vec![Play::ok(1)], settings(100, 0.0)) }.start();
        tokio::time::sleep(ms(150)).await;
        going.commands.send(Command::Apply(settings(100, 1.0))).await.unwrap();
        going.rest().await
    });
    let probes: Vec<bool> = rounds(&live).iter().map(|r| r.probe.is_some()).collect();
    assert_eq!(probes, [false, false, true, true]);
}

#[test]
fn w7_r14_quit_and_a_dropped_engine_end_the_watch_at_once() {
    for by_drop in [false, true] {
        let (events, alive) = local(async {
            let mut going =
                Bench { rounds: None, ..Bench::new(vec![Play::Hang; 3], settings(700, 1.0)) }.start();
            tokio::time::sleep(ms(450)).await;
            if by_drop {
                going.commands = mpsc::channel(1).0;
            } else {
                going.commands.send(Command::Quit).await.unwrap();
            }
            (going.rest().await, going.alive.get())
        });
        assert_eq!(late(&events), [0, 1, 2].map(|call| (450, 1, call, missing(Reason::Aborted), 450)));
        assert_eq!(alive, 0);
    }
}

#[test]
fn w7_what_is_watched_holds_up_no_start_and_goes_on_while_paused() {
    let mut bench = Bench::new(vec![Play::Hang], Settings { max_overlap: 1, ..settings(0, 1.0) });
    bench.rounds = Some(3);
    let events = bench.run();
    let starts: Vec<_> = rounds(&events).iter().map(|r| r.at.as_millis()).collect();
    assert_eq!(starts, [0, 200, 400]);
    assert_eq!(late(&events).iter().map(|l| l.0).collect::<Vec<_>>(), [1000, 1200, 1400]);

    let paused = local(async {
        let mut going = Bench { rounds: None, ..Bench::new(vec![Play::ok(750)], settings(500, 1.0)) }.start();
        tokio::time::sleep(ms(300)).await;
        going.commands.send(Command::Pause(true)).await.unwrap();
        tokio::time::sleep(ms(600)).await;
        going.commands.send(Command::Finish).await.unwrap();
        going.rest().await
    });
    // Nobody read before; the time that counts is the call's own.
    assert_eq!(late(&paused).iter().map(|l| (l.3, l.4)).collect::<Vec<_>>(), [(Outcome::Ok, 750)]);
}

#[test]
fn w7_to_finish_waits_for_what_is_watched_and_starts_nothing_more() {
    let events = local(async {
        let mut going = Bench { rounds: None, ..Bench::new(vec![Play::Hang], settings(500, 1.0)) }.start();
        tokio::time::sleep(ms(300)).await;
        going.commands.send(Command::Finish).await.unwrap();
        going.commands.send(Command::Step).await.unwrap();
        going.rest().await
    });
    assert_eq!((rounds(&events).len(), late(&events).len()), (1, 1));
    assert_eq!(late(&events)[0].0, 1000);
}

#[test]
fn w7_r37_a_breaker_sees_the_cut_and_nothing_after_it() {
    let outcomes = |probe| {
        let mut bench = Bench::new(vec![Play::ok(300)], settings(400, probe));
        (bench.guards, bench.rounds) = (one_dependency(1, 5, true), Some(15));
        let events = bench.run();
        (rounds(&events).iter().map(|r| r.calls[0].outcome).collect::<Vec<_>>(), late(&events).len())
    };
    let (with, told) = outcomes(1.0);
    let (without, _) = outcomes(0.0);
    assert_eq!(with, without);
    assert_eq!(with[10], missing(Reason::BreakerOpen), "ten cuts open it, whatever came later");
    assert_eq!(told, 10);
}

#[test]
fn w7_r39_a_late_answer_that_asks_for_a_pause_gets_it() {
    let failure = Failure {
        status: Some(503),
        retry_after: Some(ms(10_000)),
        ..Failure::new(Reason::HttpStatus, "busy")
    };
    let second = |probe| {
        let mut bench = Bench::new(vec![Play::End(ms(300), Err(failure.clone()))], settings(500, probe));
        (bench.guards, bench.rounds) = (one_dependency(1, 5, false), Some(2));
        rounds(&bench.run())[1].calls[0].outcome
    };
    assert_eq!(second(1.0), missing(Reason::BackingOff));
    assert_eq!(second(0.0), missing(Reason::Deadline));
}

#[test]
fn w7_a_reader_that_is_behind_loses_nothing_and_the_times_stay_exact() {
    let events = local(async {
        let mut bench = Bench::new(vec![Play::ok(310)], Settings { max_overlap: 64, ..settings(2, 1.0) });
        bench.rounds = None;
        let mut going = bench.start();
        // Nobody reads for a minute: the channel fills, and no round starts any more.
        tokio::time::sleep(ms(60_000)).await;
        going.commands.send(Command::Quit).await.unwrap();
        going.rest().await
    });
    let probes =
        rounds(&events).iter().filter(|r| r.probe.is_some() && r.ended_by == EndedBy::Deadline).count();
    let ends: Vec<_> = late(&events).into_iter().filter(|l| l.3 == Outcome::Ok).map(|l| l.4).collect();
    assert!(probes >= 8 && !ends.is_empty() && ends.iter().all(|&end| end == 310), "{probes} {ends:?}");
    assert_eq!(late(&events).len(), probes);
}

/// Never answers, and something of each attempt stays on whatever becomes of it.
struct Haunted(Rc<RefCell<Vec<Trace>>>);

impl Transport for Haunted {
    fn attempt(&self, _: AttemptRequest, trace: Trace) -> AttemptFuture {
        self.0.borrow_mut().push(trace);
        Box::pin(std::future::pending())
    }
}

#[test]
fn w7_r13_what_lingers_after_its_watch_is_counted_and_holds_the_end_up_for_the_grace_only() {
    let (events, ended) = local(async {
        let traces = Rc::default();
        let (shared, mut events) = shared(Haunted(Rc::clone(&traces)));
        let (_commands, orders) = mpsc::channel(1);
        let limits = Limits::new(specs(2), &Guards::default());
        let begun = Instant::now();
        let pacer = Pacer::new(shared, limits, settings(2000, 1.0), Some(2), 1);
        let mut run = std::pin::pin!(pacer.run(orders));
        // What lingers keeps the channel open.
        let mut all = Vec::new();
        loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => all.push((begun.elapsed(), event)),
                () = &mut run => return (all, begun.elapsed()),
            }
        }
    });
    let lingering = events.iter().filter_map(|(_, e)| match e {
        Event::RoundSettled { round, vitals } => Some((round.lingering, vitals.lingering)),
        _ => None,
    });
    // What is watched does not linger; what was, does, and the next round tells.
    assert_eq!(lingering.collect::<Vec<_>>(), [(0, 0), (0, 2)]);
    assert_eq!(late(&events).iter().map(|l| l.0).collect::<Vec<_>>(), [1000, 1000, 3000, 3000]);
    assert_eq!(ended, ms(3050));
}

fn any_play() -> impl Strategy<Value = Play> {
    prop_oneof![
        6 => (1_u64..600).prop_map(Play::ok),
        2 => (1_u64..600).prop_map(|t| Play::fail(t, Reason::ConnReset)),
        1 => Just(Play::Hang),
        1 => (1_u64..600).prop_map(|t| Play::Panic(ms(t))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Overlapping rounds with hedges, permits and a required call, until they are complete or are abandoned.
    #[test]
    fn w7_r14_every_straggler_is_told_exactly_once_after_its_round_and_nothing_is_left(
        script in prop::collection::vec(prop::collection::vec(any_play(), 1..4), 1..6),
        every in prop_oneof![Just(0_u64), 20_u64..300],
        required in any::<bool>(),
        permits in 1_u32..12,
        delay in 0_u64..90,
        quit in prop::option::of(1_u64..1500),
        share in prop_oneof![Just(1.0), Just(0.5)],
    ) {
        let calls = script.len();
        let hedge = HedgeSettings {
            delay: HedgeDelay::Fixed(ms(delay)),
            load_budget: 1.0,
            ..HedgeSettings::default()
        };
        let settings = Settings {
            mode: Mode::Hedge, hedge, budget: ms(100), request_budget: ms(400), ..settings(every, share)
        };
        let mut bench = Bench::new(vec![Play::Hang; calls], settings);
        (bench.script, bench.rounds, bench.guards) = (script, Some(12), one_dependency(calls, permits, false));
        bench.calls[0].required = required && calls > 1;
        let (events, alive) = local(async {
            let mut going = bench.start();
            if let Some(after) = quit {
                tokio::time::sleep(ms(after)).await;
                // It may have ended by itself.
                let _ = going.commands.send(Command::Quit).await;
            }
            (going.rest().await, going.alive.get())
        });
        prop_assert_eq!(alive, 0);
        let (mut settled, mut told) = (BTreeMap::new(), BTreeMap::new());
        for (_, event) in &events {
            match event {
                Event::RoundSettled { round, vitals } => {
                    prop_assert_eq!(round.lingering, 0);
                    prop_assert!(vitals.watched <= 8 * calls);
                    settled.insert(round.no, Arc::clone(round));
                }
                Event::Late { round, late } => {
                    let of = settled.get(round).expect("told before its round");
                    let call = &of.calls[late.endpoint.index()];
                    prop_assert_eq!(call.outcome, missing(Reason::Deadline));
                    prop_assert!(call.late_by.is_none());
                    prop_assert!(late.end >= call.end && late.end <= of.probe.unwrap());
                    prop_assert!(told.insert((*round, late.endpoint), *late).is_none(), "told twice");
                }
                _ => {}
            }
        }
        // Who was cut in a probe round with an attempt on its way is told.
        for round in settled.values().filter(|r| r.probe.is_some()) {
            for call in round.calls.iter().filter(|c| c.outcome == missing(Reason::Deadline)) {
                let ran = call.attempts.iter().any(|a| a.outcome == fanscope::domain::AttemptOutcome::Cancelled);
                let seen = ran && call.late_by.is_none();
                prop_assert_eq!(told.contains_key(&(round.no, call.endpoint)), seen, "{:?}", call);
            }
        }
    }
}
