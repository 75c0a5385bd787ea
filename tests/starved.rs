//! Times in which the process did not run, on paused time: a stopped process, a machine that slept, a starved CPU.
//! What comes of them is said and not charged to the upstreams.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::guards::HostSpec;
use fanscope::domain::{
    EndedBy, Event, Guards, HedgeContract, HedgeDelay, HedgeSettings, Mode, Outcome, Reason, Round, Settings,
};
use fanscope::engine::clock::{Clock, TokioTimer};
use fanscope::engine::gaps::Gaps;
use fanscope::engine::limits::Limits;
use fanscope::engine::pacer::{Command, Pacer};
use fanscope::engine::round::{Abort, Shared};
use fanscope::engine::sink::Sink;
use fanscope::whatif::survival::{Observed, fair};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use support::{
    FakeNet, Play, SharedLimits, brief, call, guarded, ms, one_dependency, open, plan, shared, specs,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, advance};

/// A machine that can be put to sleep: then its clock stands still.
#[derive(Clone, Default)]
struct Laptop {
    slept: Rc<Cell<Duration>>,
}

impl Laptop {
    fn sleep(&self, time: Duration) {
        self.slept.set(self.slept.get() + time);
    }
}

impl Clock for Laptop {
    type Timer = TokioTimer;

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn timer(&self) -> TokioTimer {
        TokioTimer::default()
    }

    fn slept(&self) -> Duration {
        // Since the machine was started, long before the session.
        Duration::from_secs(86_400) + self.slept.get()
    }
}

const DEADLINE: Outcome = Outcome::Missing(Reason::Deadline);

/// Runs a round of 200 ms in which nothing runs from its start on for so long, whatever becomes ready meanwhile.
async fn stalled(calls: Vec<Play>, limits: &SharedLimits, stall: u64) -> (Arc<Round>, Vec<Event>) {
    let net = FakeNet::new(calls.into_iter().map(|play| vec![play]).collect());
    let plan = plan(Mode::Deadline, 200, vec![call(None); net.script.len()]);
    let (shared, mut events) = shared(net);
    let round = support::run(&shared, limits, brief(plan));
    let (round, ()) = tokio::join!(round, advance(ms(stall)));
    drop(shared);
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        all.push(event);
    }
    (round.unwrap(), all)
}

/// What was said of gaps.
fn gaps<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<String> {
    let said = |event: &Event| match event {
        Event::Noted { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.into_iter().filter_map(said).collect()
}

#[tokio::test(start_paused = true)]
async fn r8_r17_a_round_that_wakes_up_too_late_says_so_and_its_late_values_are_late() {
    let (round, events) = stalled(vec![Play::ok(100), Play::Hang], &open(2), 450).await;
    assert_eq!(round.overrun, Some(ms(250)));
    assert_eq!((round.ended_by, round.took, round.counts()), (EndedBy::Deadline, ms(450), true));
    assert_eq!(round.calls.iter().map(|c| c.outcome).collect::<Vec<_>>(), [DEADLINE; 2]);
    assert_eq!(round.calls[0].late_by, Some(ms(250)), "it may have been there after 100 ms");
    assert!(round.is_misjudged(&round.calls[0]));
    assert_eq!(gaps(&events), [""; 0], "a moment is no gap");
}

#[tokio::test(start_paused = true)]
async fn a_little_lateness_is_the_instruments_own_error_and_no_overrun() {
    // A tenth of the budget, and 5 ms at least.
    for (stall, overrun) in [(205, None), (220, None), (221, Some(ms(21)))] {
        let (round, _) = stalled(vec![Play::Hang], &open(1), stall).await;
        assert_eq!(round.overrun, overrun, "{stall}");
    }
    assert_eq!(Round::tolerance(ms(20)), ms(5));
    let (round, _) = stalled(vec![Play::ok(100)], &open(1), 150).await;
    assert_eq!((round.calls[0].outcome, round.overrun), (Outcome::Ok, None), "no limit was missed");
}

#[tokio::test(start_paused = true)]
async fn r23_a_hedge_that_starts_late_is_no_overrun_and_a_deadline_behind_it_is() {
    for (stall, overrun) in [(150, None), (450, Some(ms(250)))] {
        let (shared, _events) = shared(FakeNet::new(vec![vec![Play::Hang]]));
        let plan = plan(Mode::Hedge, 200, vec![call(support::hedge(10, 1, true))]);
        let limits = open(1);
        let round = support::run(&shared, &limits, brief(plan));
        let (round, ()) = tokio::join!(round, advance(ms(stall)));
        assert_eq!(round.unwrap().overrun, overrun, "{stall}");
    }
}

#[tokio::test(start_paused = true)]
async fn r37_what_our_own_lateness_cut_opens_no_breaker_and_what_failed_does() {
    let open_after = async |play: Play, stall: u64| {
        let limits = guarded(1, &one_dependency(1, 100, true));
        for _ in 0..20 {
            stalled(vec![play.clone()], &limits, stall).await;
        }
        limits.borrow().guards.open_breakers()
    };
    assert_eq!(open_after(Play::Dials, 210).await, 1, "cut on time, more or less");
    assert_eq!(open_after(Play::Dials, 450).await, 0, "cut by us before its request was out");
    assert_eq!(open_after(Play::ok(100), 450).await, 0, "answered, late as we saw it");
    assert_eq!(open_after(Play::fail(30, Reason::ConnReset), 100).await, 1, "it failed, late as we saw it");
    assert_eq!(open_after(Play::fail(30, Reason::ConnReset), 5000).await, 0, "of a round that was given up");
}

#[tokio::test(start_paused = true)]
async fn r37_what_is_unanswered_after_a_late_wake_up_is_the_upstreams() {
    let open_after = async |play: Play, stall: u64| {
        let limits = guarded(1, &one_dependency(1, 100, true));
        for _ in 0..20 {
            let (round, _) = stalled(vec![play.clone()], &limits, stall).await;
            // Until its breaker opens.
            assert_eq!(round.overrun.is_some(), round.calls[0].outcome == DEADLINE);
            assert!(!round.is_misjudged(&round.calls[0]));
        }
        limits.borrow().guards.open_breakers()
    };
    // What the sockets held had been taken: its request was out, and no answer came.
    assert_eq!(open_after(Play::Hang, 450).await, 1);
    // A machine that is always late a little, and a host that swallows every SYN.
    assert_eq!(open_after(Play::Dials, 221).await, 1);
}

#[tokio::test(start_paused = true)]
async fn r37_one_calls_late_limit_excuses_no_call_that_was_cut_on_time() {
    let (shared, _events) = shared(FakeNet::new(vec![vec![Play::Dials], vec![Play::Dials]]));
    let mut plan = plan(Mode::Deadline, 200, vec![call(None); 2]);
    plan.calls[0].timeout = Some(ms(50));
    let limits = open(2);
    let round = support::run(&shared, &limits, brief(plan));
    let (round, ()) = tokio::join!(round, advance(ms(150)));
    let round = round.unwrap();
    let [first, second] = &round.calls[..] else { panic!("two calls") };
    assert_eq!((round.overrun, round.took), (Some(ms(100)), ms(200)));
    assert_eq!((first.outcome, first.end), (Outcome::Missing(Reason::Timeout), ms(50)), "its limit");
    assert_eq!(second.outcome, DEADLINE);
    assert!(round.is_misjudged(first) && !round.is_misjudged(second));
    // W1: a timeout is an error at its limit, unless it was ours.
    let seen = |call| fair(&round, call).map(|seen| (seen.time, seen.what));
    assert_eq!(seen(first), Some((ms(50), Observed::Censored)));
    assert_eq!(seen(second), Some((ms(200), Observed::Censored)));
}

#[tokio::test(start_paused = true)]
async fn r24_what_our_own_lateness_cut_is_pending_at_its_limit_for_the_hedge_delay() {
    let delay_after = async |play: Play, stall: u64| {
        let limits = Rc::new(RefCell::new(Limits::new(specs(1), &Guards::default())));
        // Two of three calls answer after 20 ms.
        for no in 0..60 {
            let (play, stall) = if no % 3 > 0 { (Play::ok(20), 20) } else { (play.clone(), stall) };
            let (round, _) = stalled(vec![play], &limits, stall).await;
            limits.borrow_mut().learn(&round);
        }
        let hedge = HedgeSettings { delay: HedgeDelay::Percentile(0.9), ..HedgeSettings::default() };
        let settings = Settings { mode: Mode::Hedge, budget: ms(200), hedge, ..Settings::default() };
        let plan = limits.borrow().plan(&settings);
        let hedge = plan.calls[0].hedge.unwrap();
        (hedge.delay, hedge.suppressed)
    };
    assert_eq!(specs(1)[0].hedge, HedgeContract::ByMode);
    // p90 is not reached: a call that was cut is no sign that its endpoint is quick.
    for play in [Play::Hang, Play::Dials, Play::ok(100)] {
        assert_eq!(delay_after(play.clone(), 210).await, (ms(100), None), "{play:?}");
        assert_eq!(delay_after(play.clone(), 450).await, (ms(100), None), "{play:?}");
    }
    assert_eq!(delay_after(Play::Hang, 9000).await, (ms(20), None), "given up: nothing was seen");
}

#[tokio::test(start_paused = true)]
async fn a_round_under_way_while_the_process_is_stopped_is_given_up_and_the_gap_is_told() {
    let (round, events) = stalled(vec![Play::ok(100), Play::Hang], &open(2), 7_830_200).await;
    assert_eq!((round.ended_by, round.overrun, round.counts()), (EndedBy::Aborted, None, false));
    assert_eq!(round.took, ms(200), "as far as it can have come");
    assert!(round.calls.iter().all(|call| call.outcome == Outcome::Missing(Reason::Aborted)));
    assert_eq!(round.answered() + round.missing() + round.not_needed(), 2, "R1");
    assert_eq!(gaps(&events), ["gap 2 h 10 min"]);
}

/// Rounds of one call, every 100 ms.
struct Bench {
    laptop: Laptop,
    commands: mpsc::Sender<Command>,
    events: mpsc::Receiver<Event>,
    seen: Vec<Event>,
}

impl Bench {
    fn start(play: Play, settings: Settings, rounds: Option<u64>) -> Self {
        Self::start_behind(&Guards::default(), play, settings, rounds)
    }

    fn start_behind(guards: &Guards, play: Play, settings: Settings, rounds: Option<u64>) -> Self {
        let (sink, events) = Sink::new();
        let (laptop, net) = (Laptop::default(), FakeNet::new(vec![vec![play]]));
        let shared = Shared {
            clock: laptop.clone(),
            transport: Rc::new(net),
            sink,
            epoch: Instant::now(),
            abort: Abort::default(),
            gaps: Gaps::new(&laptop),
        };
        let (commands, orders) = mpsc::channel(8);
        let pacer = Pacer::new(shared, Limits::new(specs(1), guards), settings, rounds, 0);
        tokio::task::spawn_local(pacer.run(orders));
        Self { laptop, commands, events, seen: Vec::new() }
    }

    async fn round(&mut self) -> Arc<Round> {
        loop {
            let event = self.events.recv().await.unwrap();
            self.seen.push(event.clone());
            if let Event::RoundSettled { round, .. } = event {
                return round;
            }
        }
    }

    async fn rest(&mut self) {
        while let Some(event) = self.events.recv().await {
            self.seen.push(event);
        }
    }

    /// When rounds started, in ms.
    fn starts(&self) -> Vec<u128> {
        let at = |event: &Event| match event {
            Event::RoundStarted(started) => Some(started.at.as_millis()),
            _ => None,
        };
        self.seen.iter().filter_map(at).collect()
    }
}

fn local(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

fn settings(every: u64) -> Settings {
    Settings { every: ms(every), ..Settings::default() }
}

#[test]
fn m05_a_laptop_that_slept_gives_up_its_round_starts_no_burst_and_marks_the_gap_once() {
    local(async {
        let mut bench = Bench::start(Play::ok(60), settings(100), None);
        assert_eq!(bench.round().await.calls[0].outcome, Outcome::Ok);
        tokio::time::sleep(ms(70)).await; // the second has run for 30 ms
        bench.laptop.sleep(Duration::from_secs(7800));
        let given_up = bench.round().await;
        assert_eq!((given_up.no.0, given_up.ended_by, given_up.counts()), (2, EndedBy::Aborted, false));
        for no in 3..6 {
            let round = bench.round().await;
            assert_eq!((round.no.0, round.calls[0].outcome, round.start_lag), (no, Outcome::Ok, ms(0)));
        }
        assert_eq!(bench.starts(), [0, 100, 200, 300, 400], "as if nothing had been, and no burst");
        assert_eq!(gaps(&bench.seen), ["gap 2 h 10 min"]);
    });
}

#[test]
fn m05_a_sleep_between_rounds_costs_none_and_is_marked() {
    local(async {
        let mut bench = Bench::start(Play::ok(10), settings(100), None);
        bench.round().await;
        bench.laptop.sleep(Duration::from_secs(90));
        assert!(bench.round().await.counts());
        assert_eq!(gaps(&bench.seen), ["gap 1 min 30 s"]);
        bench.laptop.sleep(ms(400)); // clocks that drift apart are no sleep
        assert!(bench.round().await.counts());
        assert_eq!(gaps(&bench.seen).len(), 1);
    });
}

#[test]
fn m05_starts_that_a_stopped_process_missed_are_skipped_and_marked() {
    local(async {
        let mut bench = Bench::start(Play::ok(10), settings(100), None);
        bench.round().await;
        advance(ms(3960)).await;
        let late = bench.round().await;
        let next = bench.round().await;
        assert_eq!((late.at, next.at), (ms(3970), ms(4000)), "one late start, no burst");
        assert_eq!(gaps(&bench.seen), ["gap 4 s"]);
    });
}

#[test]
fn m05_a_stop_is_found_in_every_mode_and_where_nothing_is_due_for_long() {
    for mode in [Mode::WaitAll, Mode::FailFast, Mode::Deadline, Mode::Quorum] {
        local(async {
            let settings = Settings { mode, budget: ms(6000), ..settings(9000) };
            let mut bench = Bench::start(Play::ok(700), settings, None);
            tokio::time::sleep(ms(400)).await;
            advance(ms(3000)).await;
            // The answer may have been there long before.
            let given_up = bench.round().await;
            assert_eq!((given_up.ended_by, given_up.counts()), (EndedBy::Aborted, false), "{mode:?}");
            assert_eq!(gaps(&bench.seen), ["gap 3 s"], "{mode:?}");
            // Between rounds, long before the next is due.
            let next = bench.round().await;
            assert_eq!((next.calls[0].outcome, next.took), (Outcome::Ok, ms(700)), "{mode:?}");
            tokio::time::sleep(ms(1000)).await;
            advance(ms(4000)).await;
            let next = bench.round().await;
            assert!(next.counts() && next.start_lag == ms(0), "{mode:?}");
            assert_eq!(gaps(&bench.seen), ["gap 3 s", "gap 4 s"], "{mode:?}");
        });
    }
}

#[test]
fn m05_a_gap_that_its_owner_announces_is_marked_once_and_a_moment_is_none() {
    local(async {
        let mut bench = Bench::start(Play::Hang, Settings { budget: ms(90), ..settings(100) }, None);
        bench.round().await;
        tokio::time::sleep(ms(50)).await; // in the second
        let stood_still = |since: u64, until: u64| Command::StoodStill { since: ms(since), until: ms(until) };
        advance(ms(5000)).await;
        bench.commands.send(stood_still(140, 5140)).await.unwrap();
        assert_eq!(bench.round().await.ended_by, EndedBy::Aborted);
        bench.commands.send(stood_still(5150, 5160)).await.unwrap();
        bench.round().await;
        bench.commands.send(Command::Pause(true)).await.unwrap();
        bench.round().await;
        assert_eq!(gaps(&bench.seen).len(), 1, "told once, by whoever saw it first");
        // While it is paused nobody else finds out.
        advance(ms(7000)).await;
        bench.commands.send(stood_still(5600, 12_600)).await.unwrap();
        bench.commands.send(Command::Quit).await.unwrap();
        bench.rest().await;
        assert_eq!(gaps(&bench.seen)[1..], ["gap 7 s"]);
    });
}

#[test]
fn r38_a_start_that_was_held_over_a_gap_is_skipped_and_one_round_starts() {
    local(async {
        let hosts = vec![HostSpec { max_rps: Some(2.0) }];
        let guards = Guards { hosts, ..one_dependency(1, 100, false) };
        let mut bench = Bench::start_behind(&guards, Play::ok(10), settings(950), None);
        bench.round().await;
        bench.commands.send(Command::Step).await.unwrap();
        bench.round().await;
        // The start at 950 ms is held until there is room, 50 ms later.
        tokio::time::sleep(ms(935)).await;
        advance(ms(3000)).await;
        for _ in 0..2 {
            bench.round().await;
        }
        assert_eq!(bench.starts(), [0, 10, 3955, 4750]);
        let skipped = bench.seen.iter().rev().find_map(|event| match event {
            Event::StartSkipped { total, .. } => Some(*total),
            _ => None,
        });
        assert_eq!(skipped, Some(3), "at 950, 1900 and 2850");
    });
}

#[test]
fn m15_a_round_that_was_given_up_is_run_again_so_that_as_many_complete_as_were_asked_for() {
    local(async {
        let mut bench = Bench::start(Play::Hang, Settings { budget: ms(90), ..settings(100) }, Some(2));
        tokio::time::sleep(ms(130)).await;
        advance(ms(5000)).await; // in the second
        bench.rest().await;
        let settled = |event: &Event| match event {
            Event::RoundSettled { round, .. } => Some((round.no.0, round.counts())),
            _ => None,
        };
        let rounds: Vec<_> = bench.seen.iter().filter_map(settled).collect();
        assert_eq!(rounds, [(1, true), (2, false), (3, true)]);
        assert_eq!(gaps(&bench.seen).len(), 1, "told once, by whoever saw it first");
    });
}

#[test]
fn w7_a_straggler_that_was_watched_while_the_process_stood_still_is_given_up() {
    for stopped in [false, true] {
        local(async {
            let settings = Settings { probe: 1.0, ..settings(60_000) };
            let mut bench = Bench::start(Play::ok(700), settings, Some(1));
            bench.round().await;
            if stopped {
                tokio::time::sleep(ms(50)).await;
                advance(ms(1300)).await;
            } else {
                bench.laptop.sleep(Duration::from_secs(60));
            }
            bench.rest().await;
            let late = bench.seen.iter().find_map(|event| match event {
                Event::Late { late, .. } => Some(late.outcome),
                _ => None,
            });
            assert_eq!(late, Some(Outcome::Missing(Reason::Aborted)), "{stopped}");
        });
    }
}
