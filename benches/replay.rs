//! What it takes to move in a long recording: 10,000 rounds of 64 calls. Prints medians and the longest.

#![expect(clippy::print_stdout, reason = "it is there to print")]

#[path = "support/rounds.rs"]
mod rounds;

use fanscope::app::{Action, App, Effect, Message, Scene, update};
use fanscope::domain::{CallSpec, Seek, Speed};
use fanscope::recording::{EndpointLine, Line};
use fanscope::session::replay::{Recording, Replay, Told};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

const ROUNDS: u64 = 10_000;
const LANES: usize = 64;

fn main() {
    let (rounds, lanes) = match std::env::args().nth(1).and_then(|n| n.parse().ok()) {
        // `cargo test` runs benches, too; it is to see that they work.
        None if std::env::args().any(|arg| arg == "--test") => (200, 8),
        rounds => (rounds.unwrap_or(ROUNDS), LANES),
    };
    let file = recording(rounds, lanes);
    let bytes = file.as_file().metadata().expect("a size").len();
    let begun = Instant::now();
    let opened = Recording::open(file.path()).expect("a recording");
    let setup = rounds::setup(lanes);
    let mut app = App::of_recording(setup.clone(), String::new(), Speed::default());
    let mut replay = Replay::start(opened, Speed::default(), Scene::new(&setup)).expect("a thread");
    replay.pause(true);
    let last = Duration::from_millis(500 * rounds);
    while replay.playback().length < last {
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = begun.elapsed();
    #[expect(clippy::cast_precision_loss, reason = "a size to be printed")]
    let megabytes = bytes as f64 / 1e6;
    println!("{rounds} rounds of {lanes} calls, {megabytes:.0} MB");
    println!("indexed in {took:.2?}, {:.0} MB/s; resident {} MB", megabytes / took.as_secs_f64(), resident());
    follow(&mut app, &mut replay);
    let mut dice = ChaCha8Rng::seed_from_u64(3);
    let mut jump = |app: &mut App, replay: &mut Replay<Scene>| {
        let part = u16::try_from(dice.next_u32() % 1000).unwrap_or(0);
        replay.seek(Seek::Part(part));
        follow(app, replay);
    };
    measured("a jump to anywhere", 100, || jump(&mut app, &mut replay));
    let key = |app: &mut App, replay: &mut Replay<Scene>, action| {
        for effect in update(app, Message::Action(action)) {
            match effect {
                Effect::Seek(to) => replay.seek(to),
                Effect::Pause(paused) => replay.pause(paused),
                _ => {}
            }
        }
        follow(app, replay);
    };
    key(&mut app, &mut replay, Action::Tenth(9));
    measured("10 s back", 100, || key(&mut app, &mut replay, Action::ShortBack));
    measured("10 s ahead", 100, || key(&mut app, &mut replay, Action::ShortAhead));
    measured("a round back", 2000, || key(&mut app, &mut replay, Action::Earlier));
    measured("a round ahead", 2000, || key(&mut app, &mut replay, Action::Later));
    println!("resident {} MB", resident());
}

/// Takes in what the recording tells.
fn follow(app: &mut App, replay: &mut Replay<Scene>) {
    while let Some(told) = replay.ready() {
        let message = match told {
            Told::Event(event) => Message::Engine(event),
            Told::Jumped(scene, round) => Message::Jumped(scene, round),
            Told::Arrived(round) => Message::Arrived(round),
            Told::News => continue,
        };
        update(app, message);
    }
}

fn measured(what: &str, times: usize, mut work: impl FnMut()) {
    let mut took: Vec<Duration> = (0..times)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    took.sort_unstable();
    let rank = |share: usize| took.get(times * share / 100).or(took.last()).copied().unwrap_or_default();
    println!("{what}: median {:.2?}, p99 {:.2?}, longest {:.2?}, of {times}", rank(50), rank(99), rank(100));
}

/// Megabytes of the process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kb = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    kb.and_then(|kb| kb.trim().parse::<u64>().ok()).unwrap_or(0) / 1000
}

fn recording(count: u64, lanes: usize) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut out = BufWriter::new(&file);
    let (settings, mut dice) = (rounds::settings(), ChaCha8Rng::seed_from_u64(7));
    let names: Vec<String> = rounds::setup(lanes).endpoints.into_iter().map(|e| e.name).collect();
    let endpoint = |name: &String| EndpointLine::of(name, &CallSpec::default(), false);
    let first = Line::session("bench", "", names.iter().map(endpoint).collect(), &settings);
    let mut write =
        |line: Line| out.write_all(line.to_json_line().expect("a line").as_bytes()).expect("room");
    write(first);
    for no in 1..=count {
        write(Line::round(&rounds::round(no, lanes, &settings, &mut dice), &names));
    }
    out.flush().expect("room");
    drop(out);
    file
}
