//! What a frame costs: drawing many lanes, taking in a settled round, and answering keys. No terminal takes part.

#[path = "support/rounds.rs"]
mod rounds;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use fanscope::app::{Action, App, Key, Message, update};
use fanscope::domain::event::{RoundStarted, Vitals};
use fanscope::domain::{Event, Settings};
use fanscope::view;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rounds::{BUDGET, round, settings, setup};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Rounds behind the screen that is drawn.
const ROUNDS: u64 = 300;

/// Lanes, columns, rows.
const SCREENS: [(usize, u16, u16); 6] =
    [(8, 120, 40), (64, 200, 60), (500, 80, 24), (500, 200, 60), (2000, 80, 24), (2000, 200, 60)];

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
    for lanes in [8, 64, 500, 2000] {
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

/// Keys that look at every lane. Each is timed from the same screen, which is copied before.
fn keys(c: &mut Criterion) {
    let mut group = c.benchmark_group("key");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for lanes in [64, 2000] {
        let app = app(lanes);
        let mut frozen = app.clone();
        act(&mut frozen, Action::Earlier);
        let mut typing = app.clone();
        act(&mut typing, Action::Filter);
        let mut sorted = app.clone();
        act(&mut sorted, Action::Sort);
        let keys: [(&str, &App, Message); 6] = [
            ("to the last lane", &app, Message::Action(Action::Last)),
            ("the first round back", &app, Message::Action(Action::Earlier)),
            ("another round back", &frozen, Message::Action(Action::Earlier)),
            ("a letter of the filter", &typing, Message::Typed(Key::char('7'))),
            ("sorted by what is missing", &app, Message::Action(Action::Sort)),
            ("sorted by the slowest", &sorted, Message::Action(Action::Sort)),
        ];
        for (name, app, key) in keys {
            group.bench_function(BenchmarkId::new(name, format!("{lanes} lanes")), |b| {
                let fresh = || (app.clone(), key.clone());
                b.iter_batched_ref(
                    fresh,
                    |(app, key)| drop(update(app, key.clone())),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

fn act(app: &mut App, action: Action) {
    update(app, Message::Action(action));
}

criterion_group!(frame, draw, take_in, keys);
criterion_main!(frame);
