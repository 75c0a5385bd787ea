//! When rounds start: R38, pause, step, quit, on paused time.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::{Ab, Arm, EndedBy, Event, Guards, HedgeDelay, Mode, Round, Settings, Variant};
use fanscope::engine::limits::Limits;
use fanscope::engine::pacer::{Command, Pacer};
use std::sync::Arc;
use support::{FakeNet, Play, ms, shared, specs};
use tokio::sync::mpsc;

struct Bench {
    commands: mpsc::Sender<Command>,
    events: mpsc::Receiver<Event>,
    alive: std::rc::Rc<std::cell::Cell<usize>>,
}

/// Starts a pacer on the local set; events are read as they come.
fn start(script: Vec<Play>, settings: Settings, rounds: Option<u64>) -> Bench {
    start_behind(&Guards::default(), script, settings, rounds)
}

fn start_behind(guards: &Guards, script: Vec<Play>, settings: Settings, rounds: Option<u64>) -> Bench {
    let net = FakeNet::new(script.into_iter().map(|p| vec![p]).collect());
    let alive = std::rc::Rc::clone(&net.alive);
    let calls = specs(net.script.len());
    let (shared, events) = shared(net);
    let (commands, orders) = mpsc::channel(8);
    tokio::task::spawn_local(Pacer::new(shared, Limits::new(calls, guards), settings, rounds, 0).run(orders));
    Bench { commands, events, alive }
}

impl Bench {
    async fn round(&mut self) -> Arc<Round> {
        loop {
            if let Event::RoundSettled { round, .. } = self.events.recv().await.expect("the engine ended") {
                return round;
            }
        }
    }

    async fn rest(mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.events.recv().await {
            all.push(event);
        }
        all
    }
}

fn settings(every: u64) -> Settings {
    Settings { every: ms(every), ..Settings::default() }
}

fn local(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}

#[test]
fn r38_rounds_start_on_their_plan_whatever_the_earlier_ones_do() {
    local(async {
        let bench = start(vec![Play::Hang], settings(150), Some(5));
        let events = bench.rest().await;
        let starts: Vec<_> = events
            .iter()
            .filter_map(|e| match e {
                Event::RoundStarted(s) => Some(s.at.as_millis()),
                _ => None,
            })
            .collect();
        assert_eq!(starts, [0, 150, 300, 450, 600]);
        let settled = events.iter().filter(|e| matches!(e, Event::RoundSettled { .. })).count();
        assert_eq!(settled, 5);
    });
}

#[test]
fn r38_a_start_without_room_is_skipped_and_counted_and_nothing_bursts() {
    local(async {
        let mut settings = settings(50);
        (settings.max_overlap, settings.budget) = (2, ms(190));
        let bench = start(vec![Play::Hang], settings, Some(4));
        let events = bench.rest().await;
        let at = |e: &Event| match e {
            Event::RoundStarted(s) => Some(s.at.as_millis()),
            _ => None,
        };
        // 190 ms rounds, two at a time: the starts at 100 and 150 find no room.
        assert_eq!(events.iter().filter_map(at).collect::<Vec<_>>(), [0, 50, 200, 250]);
        let last = events.iter().rev().find_map(|e| match e {
            Event::RoundSettled { vitals, .. } => Some(vitals.skipped),
            _ => None,
        });
        assert_eq!(last, Some(2));
    });
}

#[test]
fn r38_without_a_period_the_next_round_starts_when_the_last_ended() {
    local(async {
        let bench = start(vec![Play::ok(30)], settings(0), Some(3));
        let events = bench.rest().await;
        let starts = events.iter().filter_map(|e| match e {
            Event::RoundStarted(s) => Some((s.at.as_millis(), s.start_lag.as_millis())),
            _ => None,
        });
        assert_eq!(starts.collect::<Vec<_>>(), [(0, 0), (30, 0), (60, 0)]);
    });
}

#[test]
fn r38_a_machine_that_slept_skips_what_it_missed() {
    local(async {
        let mut bench = start(vec![Play::ok(10)], settings(100), None);
        bench.round().await;
        // The clock jumps by 950 ms without the pacer having run: one late start, no burst.
        tokio::time::advance(ms(950)).await;
        let late = bench.round().await;
        let next = bench.round().await;
        assert_eq!((late.at.as_millis(), late.start_lag.as_millis()), (960, 60));
        assert_eq!((next.at.as_millis(), next.start_lag.as_millis()), (1000, 0));
    });
}

#[test]
fn a_pause_starts_nothing_lets_the_running_round_end_and_step_runs_one() {
    local(async {
        let mut bench = start(vec![Play::Hang], settings(500), None);
        tokio::time::sleep(ms(1)).await;
        bench.commands.send(Command::Pause(true)).await.unwrap();
        let first = bench.round().await;
        assert_eq!(first.ended_by, EndedBy::Deadline);
        tokio::time::sleep(ms(5000)).await;
        bench.commands.send(Command::Step).await.unwrap();
        let stepped = bench.round().await;
        assert_eq!((stepped.no.0, stepped.at.as_millis()), (2, 5200));
        bench.commands.send(Command::Pause(false)).await.unwrap();
        let resumed = bench.round().await;
        assert_eq!((resumed.no.0, resumed.at.as_millis()), (3, 5400), "at once, and without a burst");
    });
}

#[test]
fn new_settings_hold_from_the_next_round_and_never_midway() {
    local(async {
        let mut bench = start(vec![Play::Hang], settings(500), None);
        tokio::time::sleep(ms(100)).await;
        let changed = Settings { mode: Mode::Quorum, budget: ms(80), ..settings(500) };
        bench.commands.send(Command::Apply(changed)).await.unwrap();
        let first = bench.round().await;
        assert_eq!((first.settings.mode, first.took), (Mode::Deadline, ms(200)));
        let second = bench.round().await;
        assert_eq!((second.settings.mode, second.took), (Mode::Quorum, ms(80)));
        assert_eq!(second.at.as_millis(), 500, "the plan of starts goes on");
    });
}

#[test]
fn a_shorter_period_holds_at_once() {
    local(async {
        let mut bench = start(vec![Play::ok(1)], settings(60_000), None);
        bench.round().await;
        tokio::time::sleep(ms(99)).await;
        bench.commands.send(Command::Apply(settings(300))).await.unwrap();
        assert_eq!(bench.round().await.at.as_millis(), 300);
    });
}

#[test]
fn w9_rounds_have_the_variants_in_turn_and_each_its_own_contract() {
    local(async {
        let [a, b] = [80, 150].map(|budget| Variant::Budget(ms(budget)));
        let base = Settings { ab: Some(Ab { a, b }), request_budget: ms(130), ..settings(200) };
        let events = start(vec![Play::Hang], base.clone(), Some(4)).rest().await;
        let told = events.iter().find_map(|e| match e {
            Event::SettingsChanged { settings, .. } => Some(settings.as_ref().clone()),
            _ => None,
        });
        assert_eq!(told, Some(base), "what is told is what they vary");
        let begun = events.iter().filter_map(|e| match e {
            Event::RoundStarted(s) => Some((s.settings.budget.as_millis(), s.budget.as_millis())),
            _ => None,
        });
        // The request's budget of 130 ms leaves 125 to the second variant.
        assert_eq!(begun.collect::<Vec<_>>(), [(80, 80), (150, 125), (80, 80), (150, 125)]);
        let ended = events.iter().filter_map(|e| match e {
            Event::RoundSettled { round, .. } => {
                Some((round.arm, round.settings.budget.as_millis(), round.took.as_millis(), round.clamped))
            }
            _ => None,
        });
        let turns = [(Some(Arm::A), 80, 80, false), (Some(Arm::B), 150, 125, true)];
        assert_eq!(ended.collect::<Vec<_>>(), turns.repeat(2));
    });
}

#[test]
fn w9_each_variant_has_its_own_hedge_delay_and_mode() {
    local(async {
        let fixed = |delay| Variant::Hedge(HedgeDelay::Fixed(ms(delay)));
        let hedged =
            Settings { mode: Mode::Hedge, ab: Some(Ab { a: fixed(20), b: fixed(60) }), ..settings(500) };
        let modes = Settings {
            ab: Some(Ab { a: Variant::Mode(Mode::Deadline), b: Variant::Mode(Mode::WaitAll) }),
            ..settings(500)
        };
        for (settings, delays, took) in [
            (hedged, [Some(ms(20)), Some(ms(60))], [ms(200), ms(200)]),
            (modes, [None, None], [ms(200), ms(300)]),
        ] {
            let mut bench = start(vec![Play::ok(300)], settings, Some(2));
            for turn in 0..2 {
                let round = bench.round().await;
                assert_eq!((round.calls[0].hedge_delay, round.took), (delays[turn], took[turn]), "{turn}");
            }
        }
    });
}

#[test]
fn to_finish_is_to_complete_what_runs_and_to_start_nothing_more() {
    // Told while two rounds run, or before the first has ended.
    for (told, rounds) in [(20, 1), (120, 2)] {
        local(async move {
            let bench = start(vec![Play::ok(150)], settings(100), None);
            tokio::time::sleep(ms(told)).await;
            bench.commands.send(Command::Finish).await.unwrap();
            // The commands stay open: it ends by itself.
            let commands = bench.commands.clone();
            let ended: Vec<_> = bench
                .rest()
                .await
                .into_iter()
                .filter_map(|event| match event {
                    Event::RoundSettled { round, .. } => Some((round.ended_by, round.took.as_millis())),
                    _ => None,
                })
                .collect();
            assert_eq!(ended, vec![(EndedBy::AllSettled, 150); rounds]);
            drop(commands);
        });
    }
}

#[test]
fn r14_quit_abandons_what_runs_and_a_dropped_handle_is_a_quit() {
    for by_drop in [false, true] {
        local(async move {
            let bench = start(vec![Play::Hang], settings(500), None);
            let alive = std::rc::Rc::clone(&bench.alive);
            tokio::time::sleep(ms(20)).await;
            let Bench { commands, mut events, .. } = bench;
            if by_drop {
                drop(commands);
            } else {
                commands.send(Command::Quit).await.unwrap();
            }
            let mut ended = None;
            while let Some(event) = events.recv().await {
                if let Event::RoundSettled { round, .. } = event {
                    ended = Some((round.ended_by, round.took.as_millis()));
                }
            }
            assert_eq!(ended, Some((EndedBy::Aborted, 20)));
            assert_eq!(alive.get(), 0);
        });
    }
}

#[test]
fn a_reader_that_is_behind_holds_up_starts_and_no_round_that_runs() {
    local(async {
        let mut settings = settings(0);
        settings.budget = ms(2);
        let mut bench = start(vec![Play::Hang], settings, None);
        // Nobody reads for a minute: the channel fills, then no round starts any more.
        tokio::time::sleep(ms(60_000)).await;
        let mut last = None;
        let mut took = Vec::new();
        while took.len() < 20_000 {
            match bench.events.recv().await.expect("the engine ended") {
                Event::RoundStarted(started) => last = Some(started.round),
                Event::RoundSettled { round, vitals } => {
                    assert_eq!(Some(round.no), last, "rounds come whole and in order");
                    took.push(round.took);
                    if round.at > ms(60_000) {
                        assert!(vitals.lost_events > 0, "live events were dropped, and counted");
                        break;
                    }
                }
                _ => {}
            }
        }
        assert!(took.iter().all(|t| *t == ms(2)), "no round was held up");
    });
}

#[test]
fn a_reader_that_is_behind_holds_up_no_round_while_a_gap_or_new_settings_are_told() {
    // The budget, and how long the process stands still within it or past it.
    for (budget, stop) in [(400, 0), (400, 5000), (8000, 3000)] {
        local(async move {
            let settings = Settings { budget: ms(budget), max_overlap: 1, ..settings(500) };
            let net = FakeNet::new(vec![vec![Play::Hang]]);
            let alive = std::rc::Rc::clone(&net.alive);
            let (shared, mut events) = shared(net);
            let sink = shared.sink.clone();
            let (commands, orders) = mpsc::channel(8);
            let limits = Limits::new(specs(1), &Guards::default());
            tokio::task::spawn_local(Pacer::new(shared, limits, settings.clone(), None, 0).run(orders));
            // The first round runs, and nobody reads.
            tokio::time::sleep(ms(10)).await;
            let full =
                async || tokio::time::timeout(ms(1), sink.deliver(Event::Paused(false))).await.is_err();
            while !full().await {}
            if stop == 0 {
                commands.send(Command::Apply(settings)).await.unwrap();
            }
            tokio::time::advance(ms(stop)).await;
            tokio::time::sleep(ms(budget)).await;
            assert_eq!(alive.get(), 0, "cancelled in time: {budget} {stop}");
            let took = loop {
                if let Event::RoundSettled { round, .. } = events.recv().await.unwrap() {
                    break round.took;
                }
            };
            // One that was under way while the process stood still has come as far as it was seen to.
            assert_eq!(took, ms(if stop == 0 { budget } else { 250 }));
        });
    }
}
