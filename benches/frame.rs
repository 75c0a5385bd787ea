//! What a frame costs: drawing many lanes, and taking in a settled round. No terminal takes part.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use fanscope::app::{App, Colour, EndpointInfo, Message, Options, Setup, update};
use fanscope::domain::event::{RoundStarted, Vitals};
use fanscope::domain::{
    Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, Event, HedgeCounts, Outcome, Phase,
    Phases, Reason, Round, RoundNo, Settings,
};
use fanscope::view;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Rounds behind the screen that is drawn.
const ROUNDS: u64 = 300;

/// Lanes, columns, rows.
const SCREENS: [(usize, u16, u16); 3] = [(8, 120, 40), (64, 200, 60), (500, 80, 24)];

const BUDGET: Duration = Duration::from_millis(200);

fn settings() -> Arc<Settings> {
    Arc::new(Settings { budget: BUDGET, ..Settings::default() })
}

fn setup(lanes: usize) -> Setup {
    let endpoint = |i| EndpointInfo {
        name: format!("endpoint-{i}"),
        required: false,
        replicas: 1,
        simulated: false,
        breaker: false,
        requests: Vec::new(),
    };
    let settings = Settings::clone(&settings());
    let options = Options { ascii: false, colour: Colour::Ansi16 };
    Setup {
        profile: "bench".into(),
        endpoints: (0..lanes).map(endpoint).collect(),
        hosts: lanes,
        settings,
        options,
    }
}

/// A call that answers within 20 to 220 ms, so that one in ten is cut; one in twenty fails at once.
fn call(index: usize, dice: &mut ChaCha8Rng) -> Call {
    let end = Duration::from_micros(u64::from(20_000 + dice.next_u32() % 200_000));
    let fails = dice.next_u32().is_multiple_of(20);
    let (end, outcome, attempted) = if fails {
        let end = Duration::from_millis(2);
        (end, Outcome::Missing(Reason::HttpStatus), AttemptOutcome::Failed)
    } else if end > BUDGET {
        (BUDGET, Outcome::Missing(Reason::Deadline), AttemptOutcome::Cancelled)
    } else {
        (end, Outcome::Ok, AttemptOutcome::Ok)
    };
    let mut phases = Phases::default();
    phases.add(Phase::Connect, end / 10);
    phases.add(Phase::Waiting, end / 2);
    phases.add(Phase::Body, end.saturating_sub(end / 10 + end / 2));
    let attempt = Attempt {
        replica: 0,
        kind: AttemptKind::Primary,
        start: Duration::ZERO,
        end,
        outcome: attempted,
        reason: fails.then_some(Reason::HttpStatus),
        detail: None,
        status: (outcome == Outcome::Ok).then_some(200).or(fails.then_some(503)),
        bytes: 1_000,
        reused: Some(true),
        http: None,
        remote: None,
        phase: Phase::Body,
        phases,
        trace_id: None,
        answer: None,
    };
    Call {
        endpoint: EndpointId(index),
        outcome,
        end,
        phase: Phase::Body,
        status: attempt.status,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: (outcome == Outcome::Ok).then_some(0),
        attempts: vec![attempt],
    }
}

fn round(no: u64, lanes: usize, settings: &Arc<Settings>, dice: &mut ChaCha8Rng) -> Round {
    let calls: Vec<Call> = (0..lanes).map(|i| call(i, dice)).collect();
    let last = calls.iter().map(|c| c.end).max().unwrap_or_default();
    let answered = calls.iter().filter(|c| c.outcome == Outcome::Ok).count();
    Round {
        no: RoundNo(no),
        at: Duration::from_millis(500 * no),
        start_lag: Duration::from_micros(300),
        settings: Arc::clone(settings),
        budget: BUDGET,
        clamped: false,
        k: None,
        ended_by: if last >= BUDGET { EndedBy::Deadline } else { EndedBy::AllSettled },
        took: last,
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        lingering: 0,
        warmup: false,
        answered_optional: answered,
        failed: Vec::new(),
        calls,
    }
}

fn settled(no: u64, lanes: usize, settings: &Arc<Settings>, dice: &mut ChaCha8Rng) -> Message {
    let round = Arc::new(round(no, lanes, settings, dice));
    Message::Engine(Event::RoundSettled { round, vitals: Vitals::default() })
}

/// A screen with settled rounds behind it, the last of them on its lanes.
fn app(lanes: usize) -> App {
    let (settings, mut dice) = (settings(), ChaCha8Rng::seed_from_u64(7));
    let mut app = App::new(setup(lanes));
    for no in 1..=ROUNDS {
        let round = round(no, lanes, &settings, &mut dice);
        let started = RoundStarted {
            round: round.no,
            at: round.at,
            start_lag: round.start_lag,
            settings: Arc::clone(&settings),
            budget: BUDGET,
            hedge_delays: vec![None; lanes],
            warming: 0,
        };
        update(&mut app, Message::Engine(Event::RoundStarted(started)));
        update(&mut app, Message::Tick(round.at + round.took));
        let event = Event::RoundSettled { round: Arc::new(round), vitals: Vitals::default() };
        update(&mut app, Message::Engine(event));
    }
    app
}

fn draw(c: &mut Criterion) {
    let mut group = c.benchmark_group("draw");
    for (lanes, width, height) in SCREENS {
        let app = app(lanes);
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
        let name = BenchmarkId::from_parameter(format!("{lanes} lanes {width}x{height}"));
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut frame = terminal.get_frame();
                frame.buffer_mut().reset();
                view::draw(black_box(&app), &mut frame);
            });
        });
    }
    group.finish();
}

fn take_in(c: &mut Criterion) {
    let mut group = c.benchmark_group("update");
    for lanes in [8, 64, 500] {
        let mut app = app(lanes);
        let (settings, mut dice) = (settings(), ChaCha8Rng::seed_from_u64(8));
        let mut no = ROUNDS;
        group.bench_function(BenchmarkId::from_parameter(format!("RoundSettled of {lanes} calls")), |b| {
            let next = || {
                no += 1;
                settled(no, lanes, &settings, &mut dice)
            };
            b.iter_batched(next, |message| update(&mut app, message), BatchSize::SmallInput);
        });
    }
    group.finish();
}

criterion_group!(frame, draw, take_in);
criterion_main!(frame);
