//! What the hot paths allocate, counted. Time is noise on a shared machine and these counts are not: a path that
//! begins to allocate more fails here, and the bound is raised only by whoever has a reason for it.
//!
//! Every bound is what was counted when it was set and half an allocation: the counts are the same in every run, but
//! for a few in a round over HTTP, and one more for each call or lane in sight does not fit in. Where a path got cheaper its
//! bound is to follow.

#![expect(clippy::print_stdout, reason = "what was counted is to be read")]

#[path = "../benches/support/rounds.rs"]
mod rounds;
mod support;

use allocation_counter::measure;
use fanscope::app::{App, Message, update};
use fanscope::domain::event::{AttemptStep, RoundStarted, Vitals};
use fanscope::domain::{AttemptKind, CallSpec, Event, Mode, Phase, Round, RoundNo, Settings};
use fanscope::engine::clock::TokioClock;
use fanscope::engine::round::{Brief, Shared};
use fanscope::engine::transport::{AttemptFuture, AttemptRequest, Trace, Transport};
use fanscope::http::HttpTransport;
use fanscope::metrics::Metrics;
use fanscope::profile;
use fanscope::recording::{EndpointLine, Scribe, SummaryFold};
use fanscope::stats::Stats;
use fanscope::view;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use support::{SharedLimits, brief, call, ms, open, plan, shared};
use tokio::sync::mpsc::Receiver;

/// Calls of a round, lanes of a screen.
const LANES: usize = 64;

/// Rounds before the first count: pools, queues and buffers have grown to their sizes by then.
const WARM: u64 = 5;

/// Rounds that are counted.
const COUNTED: u64 = 20;

/// Fails where `count` for each of so many is above `most`, and says what it was.
#[track_caller]
fn hold(what: &str, count: u64, of: u64, most: f64) {
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let each = count as f64 / of as f64;
    println!("{what}: {each:.2} allocations each, at most {most}");
    assert!(each <= most, "{what}: {each:.2} allocations each, and there were to be at most {most}");
}

/// A network that answers after 10 ms, or never, and allocates nothing but the future that it has to return.
struct Quick {
    answers: bool,
}

impl Transport for Quick {
    fn attempt(&self, _: AttemptRequest, trace: Trace) -> AttemptFuture {
        let answers = self.answers;
        Box::pin(async move {
            trace.reach(Phase::Waiting);
            tokio::time::sleep(if answers { ms(10) } else { ms(3_600_000) }).await;
            trace.reach(Phase::Body);
            Ok(())
        })
    }
}

/// Runs a round as the engine does and hears what it tells.
async fn round(shared: &Shared<TokioClock>, limits: &SharedLimits, events: &mut Receiver<Event>, no: u64) {
    let plan = plan(Mode::Deadline, 200, vec![call(None); LANES]);
    let brief = Brief { no: RoundNo(no), ..brief(plan) };
    let round = support::run(shared, limits, brief).await.expect("somebody listens");
    assert!(shared.sink.deliver(Event::RoundSettled { round, vitals: Vitals::default() }).await);
    while events.try_recv().is_ok() {}
}

/// Allocations of each of the counted rounds, on this thread.
fn rounds_of(net: impl Transport + 'static, runtime: &tokio::runtime::Runtime) -> Vec<u64> {
    let limits = open(LANES);
    let (shared, mut events) = runtime.block_on(async { shared(net) });
    let mut count = |no| measure(|| runtime.block_on(round(&shared, &limits, &mut events, no))).count_total;
    for no in 1..=WARM {
        count(no);
    }
    (WARM + 1..=WARM + COUNTED).map(count).collect()
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime")
}

#[test]
fn the_engine_for_each_call_that_is_answered() {
    let counts = rounds_of(Quick { answers: true }, &paused());
    hold("a call, answered, the network left out", counts.iter().sum(), COUNTED * LANES as u64, 9.9);
}

#[test]
fn the_engine_for_each_call_that_is_cut() {
    let counts = rounds_of(Quick { answers: false }, &paused());
    hold("a call, cut, the network left out", counts.iter().sum(), COUNTED * LANES as u64, 9.9);
}

/// Answers every request at once, each connection on a thread of its own.
fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(n @ 1..) = stream.read(&mut bytes) {
        head.extend_from_slice(&bytes[..n]);
        while let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            head.drain(..end + 4);
            if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}

/// How the bytes of an answer arrive is the machine's affair, and a piece more may cost an allocation: so the round
/// with the fewest is held against the bound.
#[test]
fn http_for_each_call_over_a_kept_connection() {
    let endpoint = |i| format!("[[endpoint]]\nname = \"e{i}\"\nurl = \"http://{}/\"\n", upstream());
    let text: String = (0..LANES).map(endpoint).collect();
    let profile = profile::parse("counted", &text, Path::new("."), &|_| None).expect("a profile");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let net = runtime.block_on(async { HttpTransport::new(Arc::new(profile), None) }).expect("a transport");
    let least = rounds_of(net, &runtime).into_iter().min().expect("a round");
    hold("a call over HTTP", least, LANES as u64, 77.9);
}

fn dice() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(7)
}

fn settled(round: &Arc<Round>) -> Event {
    Event::RoundSettled { round: Arc::clone(round), vitals: Vitals::default() }
}

/// What a screen hears of a round until it is over.
fn events(round: &Arc<Round>) -> Vec<Event> {
    let started = RoundStarted {
        round: round.no,
        at: round.at,
        start_lag: round.start_lag,
        settings: Arc::clone(&round.settings),
        budget: round.budget,
        hedge_delays: vec![None; round.calls.len()],
        warming: 0,
    };
    let mut events = vec![Event::RoundStarted(started)];
    for call in &round.calls {
        let step = |at, step| Event::Attempt { round: round.no, call: call.endpoint, attempt: 0, at, step };
        events.push(step(Duration::ZERO, AttemptStep::Started { replica: 0, kind: AttemptKind::Primary }));
        events.push(step(ms(1), AttemptStep::Reached(Phase::Waiting)));
        events.push(Event::CallSettled {
            round: round.no,
            call: call.endpoint,
            at: call.end,
            outcome: call.outcome,
        });
    }
    events.push(Event::RoundPublished(Arc::clone(round)));
    events
}

/// A screen with this many rounds behind it, and the settings of the next ones.
fn screen(rounds: u64) -> (App, Arc<Settings>, ChaCha8Rng) {
    let (settings, mut dice) = (rounds::settings(), dice());
    let mut app = App::new(rounds::setup(LANES));
    for no in 1..=rounds {
        let round = Arc::new(rounds::round(no, LANES, &settings, &mut dice));
        for event in events(&round).into_iter().chain([settled(&round)]) {
            update(&mut app, Message::Engine(event));
        }
    }
    (app, settings, dice)
}

#[test]
fn a_frame_of_64_lanes() {
    let (app, ..) = screen(100);
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).expect("a terminal in memory");
    let mut draw = || {
        let mut frame = terminal.get_frame();
        frame.buffer_mut().reset();
        measure(|| view::draw(&app, &mut frame)).count_total
    };
    draw();
    let count = draw();
    assert_eq!(count, draw(), "the same frame allocates the same");
    // Half of one for each lane in sight.
    hold("a frame", count, 1, 800.0);
}

/// As many rounds behind it as a screen keeps, so that what is kept no longer grows.
#[test]
fn the_screen_for_each_call_of_a_round() {
    let (mut app, settings, mut dice) = screen(520);
    let (mut live, mut over) = (0, 0);
    for no in 521..=520 + COUNTED {
        let round = Arc::new(rounds::round(no, LANES, &settings, &mut dice));
        let mut hear = |event| measure(|| drop(update(&mut app, Message::Engine(event)))).count_total;
        live += events(&round).into_iter().map(&mut hear).sum::<u64>();
        over += hear(settled(&round));
    }
    let calls = COUNTED * LANES as u64;
    hold("what is heard of a call while it runs", live, calls, 2.7);
    hold("a call of a settled round", over, calls, 0.6);
}

fn scribe() -> (Scribe, Vec<String>) {
    let names: Vec<String> = rounds::setup(LANES).endpoints.into_iter().map(|e| e.name).collect();
    let endpoints = names.iter().map(|name| EndpointLine::of(name, &CallSpec::default(), false)).collect();
    (Scribe::new("counted", "", endpoints, rounds::settings()), names)
}

/// Has every round of so many taken in; the allocations of those after the first.
fn counted(warm: u64, mut take: impl FnMut(&Arc<Round>)) -> u64 {
    let (settings, mut dice) = (rounds::settings(), dice());
    let mut round = |no| Arc::new(rounds::round(no, LANES, &settings, &mut dice));
    for no in 1..=warm {
        take(&round(no));
    }
    let each = (warm + 1..=warm + COUNTED).map(|no| {
        let round = round(no);
        measure(|| take(&round)).count_total
    });
    each.sum()
}

#[test]
fn a_recorded_line_for_each_call() {
    let (mut scribe, _) = scribe();
    let count = counted(50, |round| {
        let line = scribe.event(&settled(round)).expect("a line");
        let text = line.to_json_line().expect("a line");
        assert!(text.ends_with('\n'));
    });
    hold("a call of a recorded line", count, COUNTED * LANES as u64, 3.7);
}

#[test]
fn statistics_for_each_call() {
    let mut stats = Stats::new(LANES);
    let count = counted(520, |round| stats.fold(round, Vitals::default()));
    hold("a call folded into the statistics", count, COUNTED * LANES as u64, 0.5);
}

#[test]
fn a_summary_for_each_call() {
    let (_, names) = scribe();
    let mut fold = SummaryFold::new(&names);
    let count = counted(50, |round| fold.push(round));
    hold("a call folded into the summary", count, COUNTED * LANES as u64, 0.5);
}

#[test]
fn metrics_for_each_call() {
    let (_, names) = scribe();
    let mut metrics = Metrics::new("counted", &names, &rounds::settings());
    let count = counted(50, |round| metrics.event(&settled(round)));
    hold("a call folded into the metrics", count, COUNTED * LANES as u64, 0.5);
}
