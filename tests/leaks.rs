//! R14 with the real transport: nothing outlives its round, nothing outlives the engine.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use fanscope::domain::{EndedBy, Event, Mode, Outcome, Reason, Settings};
use fanscope::engine::transport::AttemptRequest;
use fanscope::engine::{Command, Engine, EngineConfig, spawn};
use fanscope::http::{HttpTransport, SimulatedUrls};
use fanscope::profile::{self, Profile};
use fanscope::simulate::Fleet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Three that hang, one that answers, each with two replicas.
fn profile() -> Profile {
    let endpoint = |(name, latency): (&str, &str)| {
        let replica = format!("{{ latency = \"{latency}\" }}");
        format!("[[endpoint]]\nname = \"{name}\"\nsimulate = [{replica}, {replica}]\n")
    };
    let text: String = [("a", "1h"), ("b", "1h"), ("c", "1h"), ("d", "1ms")].map(endpoint).concat();
    profile::parse("leaks", &text, Path::new("."), &|_| None).unwrap()
}

fn start(settings: Settings, rounds: Option<u64>) -> (Engine, Fleet) {
    run(&Arc::new(profile()), settings, rounds)
}

fn run(profile: &Arc<Profile>, settings: Settings, rounds: Option<u64>) -> (Engine, Fleet) {
    let profile = Arc::clone(profile);
    let fleet = Fleet::start(&profile.endpoints, 1).unwrap();
    let urls = fleet.urls();
    let simulated: SimulatedUrls =
        Arc::new(move |r: AttemptRequest| urls.url(r.endpoint, r.replica, r.round.0, r.attempt));
    let config =
        EngineConfig { calls: profile.call_specs(), guards: profile.guards(), settings, rounds, seed: 0 };
    (spawn(config, move || HttpTransport::new(profile, Some(simulated))).unwrap(), fleet)
}

/// Waits until the upstreams see this many connections; fails when that never comes.
fn settle_at(fleet: &Fleet, connections: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while fleet.open_connections() > connections {
        assert!(Instant::now() < until, "{} connections are still open", fleet.open_connections());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn modes() -> Vec<Settings> {
    let base = Settings { budget: Duration::from_millis(20), every: Duration::ZERO, ..Settings::default() };
    let race = fanscope::domain::HedgeSettings {
        delay: fanscope::domain::HedgeDelay::Fixed(Duration::ZERO),
        ..base.hedge
    };
    vec![
        base.clone(),
        Settings { mode: Mode::Quorum, quorum: Some(1), ..base.clone() },
        Settings { mode: Mode::Hedge, hedge: race, ..base.clone() },
        Settings { mode: Mode::WaitAll, request_budget: Duration::from_millis(30), ..base },
    ]
}

#[test]
fn r14_rounds_leave_only_the_kept_connections_and_the_engines_end_leaves_none() {
    for settings in modes() {
        let mode = settings.mode;
        let (mut engine, fleet) = start(settings, Some(12));
        let mut rounds = 0;
        while let Some(event) = engine.events.blocking_recv() {
            if let Event::RoundSettled { round, .. } = event {
                rounds += 1;
                assert_eq!(round.lingering, 0, "{mode}");
            }
        }
        assert_eq!(rounds, 12, "{mode}");
        engine.thread.join().unwrap();
        settle_at(&fleet, 0);
    }
}

#[test]
fn r14_between_rounds_a_paused_engine_holds_no_connection_to_what_it_cut() {
    for settings in modes() {
        let (mode, settings) = (settings.mode, Settings { every: Duration::from_millis(500), ..settings });
        let (mut engine, fleet) = start(settings, None);
        engine.commands.blocking_send(Command::Pause(true)).unwrap();
        engine.commands.blocking_send(Command::Step).unwrap();
        while let Some(event) = engine.events.blocking_recv() {
            if let Event::RoundSettled { round, .. } = event {
                assert_eq!(round.lingering, 0, "{mode}");
                break;
            }
        }
        // At most those that answered keep a connection: one, and in a race the other replica's.
        settle_at(&fleet, 2);
    }
}

/// Rounds that end as soon as they have begun, over and over: closing has to keep up with opening.
#[cfg(target_os = "linux")]
#[test]
fn r14_rounds_that_fail_at_once_pile_up_no_connections() {
    const LANES: usize = 150;
    // One refuses; to the others the kernel connects, and nobody ever answers.
    let refusing = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    refusing.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let refused = refusing.local_addr().unwrap().as_socket().unwrap();
    let silent: Vec<_> = (0..LANES).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addr = |i: usize| if i == 0 { refused } else { silent[i].local_addr().unwrap() };
    let lane = |i| format!("[[endpoint]]\nname = \"e{i}\"\nurl = \"http://{}/\"\n", addr(i));
    let text: String = (0..LANES).map(lane).collect();
    let profile = Arc::new(profile::parse("burst", &text, Path::new("."), &|_| None).unwrap());
    let settings = Settings { mode: Mode::FailFast, every: Duration::ZERO, ..Settings::default() };
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let (before, (mut engine, _fleet)) = (open(), run(&profile, settings, Some(100)));
    let mut most = 0;
    while let Some(event) = engine.events.blocking_recv() {
        if matches!(event, Event::RoundSettled { .. }) {
            most = most.max(open());
        }
    }
    engine.thread.join().unwrap();
    // Far above what one round and the tests beside this one need, far below the 15,000 of all rounds.
    assert!(most < before + 10 * LANES, "{most} descriptors, {before} before");
}

/// Thousands of rounds whose losers are cancelled: what was cut is closed as fast as new ones are opened.
#[test]
fn r14_r29_thousands_of_cancelled_losers_leave_no_more_sockets_than_lanes() {
    const LANES: usize = 4;
    const ROUNDS: u64 = 1500;
    let settings =
        Settings { mode: Mode::Quorum, quorum: Some(1), every: Duration::ZERO, ..Settings::default() };
    let (mut engine, fleet) = start(settings, Some(ROUNDS));
    let (mut cut, mut most) = (0, 0);
    while let Some(event) = engine.events.blocking_recv() {
        if let Event::RoundSettled { round, .. } = event {
            assert_eq!(round.lingering, 0);
            cut += round.calls.iter().filter(|call| call.outcome == Outcome::NotNeeded).count();
            most = most.max(fleet.open_connections());
            if round.no.0 == ROUNDS {
                break;
            }
        }
    }
    assert!(cut > 3000, "{cut} were cancelled");
    // The servers' side sees a close a little later: a few rounds' worth at most.
    assert!(most <= 10 * LANES, "{most} connections at once");
    settle_at(&fleet, LANES);
    drop(engine);
    settle_at(&fleet, 0);
}

/// What became of stragglers, by endpoint.
fn late(event: &Event) -> Option<(usize, Outcome, Duration)> {
    match event {
        Event::Late { late, .. } => Some((late.endpoint.index(), late.outcome, late.end)),
        _ => None,
    }
}

#[test]
fn w7_r14_stragglers_are_watched_over_http_and_leave_only_kept_connections() {
    // Slower than the budget of 20 ms and within the watch of 100 ms, and two that never answer in it.
    let endpoint = |(name, latency): (&str, &str)| {
        format!("[[endpoint]]\nname = \"{name}\"\nsimulate = {{ latency = \"{latency}\" }}\n")
    };
    let text: String =
        [("slow", "50ms"), ("never", "1h"), ("nor", "1h"), ("quick", "1ms")].map(endpoint).concat();
    let profile = Arc::new(profile::parse("probes", &text, Path::new("."), &|_| None).unwrap());
    let budget = Duration::from_millis(20);
    let settings = Settings { budget, every: Duration::from_millis(200), probe: 1.0, ..Settings::default() };
    let (mut engine, fleet) = run(&profile, settings, Some(5));
    let (mut cut, mut told, mut settled) = (Vec::new(), Vec::new(), None);
    while let Some(event) = engine.events.blocking_recv() {
        if let Event::RoundSettled { round, vitals } = &event {
            assert_eq!((round.lingering, round.probe), (0, Some(budget * 5)));
            let calls = round.calls.iter().filter(|c| c.outcome == Outcome::Missing(Reason::Deadline));
            let calls: Vec<_> = calls.filter(|c| c.late_by.is_none()).map(|c| c.endpoint.index()).collect();
            assert!(vitals.watched >= calls.len());
            cut.push(calls);
            settled = Some(round.no);
        }
        if let Event::Late { round, .. } = &event {
            assert!(settled >= Some(*round), "its round was told before");
        }
        told.extend(late(&event));
    }
    assert_eq!((cut.len(), told.len()), (5, cut.iter().map(Vec::len).sum()), "each once");
    for (endpoint, outcome, end) in told {
        match endpoint {
            // A machine that is busy may be too late even for the watch.
            0 | 3 if outcome == Outcome::Ok => assert!(end > budget, "{end:?}"),
            _ => assert_eq!((outcome, end), (Outcome::Missing(Reason::Deadline), budget * 5)),
        }
    }
    engine.thread.join().unwrap();
    settle_at(&fleet, 0);
}

#[test]
fn w7_r14_a_quit_closes_what_is_watched() {
    // Watched for 10 s, so that nothing but the quit ends it here.
    let settings = Settings {
        budget: Duration::from_secs(2),
        every: Duration::from_secs(3600),
        probe: 1.0,
        ..Settings::default()
    };
    let (mut engine, fleet) = start(settings, None);
    let watched = loop {
        if let Event::RoundSettled { vitals, .. } = engine.events.blocking_recv().unwrap() {
            break vitals.watched;
        }
    };
    assert_eq!(watched, 3);
    engine.commands.blocking_send(Command::Quit).unwrap();
    let mut told = Vec::new();
    while let Some(event) = engine.events.blocking_recv() {
        told.extend(late(&event));
    }
    assert_eq!(told.iter().map(|t| t.1).collect::<Vec<_>>(), [Outcome::Missing(Reason::Aborted); 3]);
    engine.thread.join().unwrap();
    settle_at(&fleet, 0);
}

#[test]
fn r14_a_dropped_engine_and_a_quit_close_everything_while_calls_hang() {
    for by_drop in [false, true] {
        let settings = Settings { budget: Duration::from_secs(60), ..Settings::default() };
        let (mut engine, fleet) = start(settings, None);
        // The first call has answered, so all are on their way.
        while !matches!(engine.events.blocking_recv().unwrap(), Event::CallSettled { .. }) {}
        let Engine { mut events, commands, thread, .. } = engine;
        if by_drop {
            drop(commands);
        } else {
            commands.blocking_send(Command::Quit).unwrap();
        }
        let mut ended = Vec::new();
        while let Some(event) = events.blocking_recv() {
            if let Event::RoundSettled { round, .. } = event {
                ended.push(round.ended_by);
            }
        }
        assert!(!ended.is_empty() && ended.iter().all(|e| *e == EndedBy::Aborted), "{ended:?}");
        thread.join().unwrap();
        settle_at(&fleet, 0);
    }
}
