//! Keys typed over a recording.

use super::*;
use crate::app::{Action, Effect, Message, Scene, update};
use crate::domain::{Call, CallSpec, Late, Mode, Outcome, Reason, Speed};
use crate::recording::{EndpointLine, Line};
use crate::session::replay::{Recording, Replay};
use crate::stats::{Window, fixture as fx};
use std::io::Write;
use std::sync::Arc;

/// A recording of page rounds, every half second; a quorum from the middle on.
fn recording(rounds: u64) -> tempfile::NamedTempFile {
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let endpoint = |name: &String| EndpointLine::of(name, &CallSpec::default(), false);
    let endpoints: Vec<_> = names.iter().map(endpoint).collect();
    let mut settings = Arc::new(fx::settings(Mode::Deadline));
    let mut lines = vec![Line::session("page", "2026-11-30T10:01:02Z", endpoints.clone(), &settings)];
    let mut dice = fx::Dice::new(4);
    // Heard of after the next round.
    let mut late: Vec<Line> = Vec::new();
    for no in 1..=rounds {
        if no == rounds / 2 {
            settings = Arc::new(fx::settings(Mode::Quorum));
            lines.push(Line::settings(fx::at(no), &settings, &endpoints));
            lines.push(Line::note(fx::at(no), "deployed"));
        }
        let mut fates = fx::page_fates(&mut dice);
        fates[6] = fx::Fate::Fails(30.0, Reason::HttpStatus, Some(503));
        let mut round = fx::round(no, fx::at(no), &settings, &fates);
        round.probe = no.is_multiple_of(5).then(|| settings.watch());
        lines.push(Line::round(&round, &names));
        lines.append(&mut late);
        if round.probe.is_some() {
            let cut = round.calls.iter().filter(|c| c.outcome == Outcome::Missing(Reason::Deadline));
            let became = |call: &Call| Late {
                endpoint: call.endpoint,
                outcome: Outcome::Ok,
                end: round.took + Duration::from_millis(500),
            };
            late = cut.map(|call| Line::late(round.no, &became(call), &names)).collect();
        }
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for line in lines {
        file.write_all(line.to_json_line().unwrap().as_bytes()).unwrap();
    }
    writeln!(file, r#"{{"type":"summary","rounds":{rounds}}}"#).unwrap();
    file
}

fn open(file: &tempfile::NamedTempFile, speed: Speed) -> (App, Replay<Scene>) {
    let recording = Recording::open(file.path()).unwrap();
    let setup = super::super::recorded(&recording.session, Options::default());
    let scene = Scene::new(&setup);
    let app = App::of_recording(setup, recording.session.started.clone(), speed);
    (app, Replay::start(recording, speed, scene).unwrap())
}

/// Plays a script against a recording of so many rounds.
fn play(rounds: u64, steps: Vec<Step>) -> (Leave, Vec<String>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let file = recording(rounds);
    runtime.block_on(async {
        let (app, mut replay) = open(&file, Speed::default());
        play_on(app, &mut replay, Path::new(""), steps).await
    })
}

/// A runtime of its own for what asks for the time.
fn timeless<T>(work: impl FnOnce() -> T) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async { work() })
}

#[test]
fn jumps_speeds_and_steps_are_keys_and_modes_are_not() {
    let (why, words, _) = play(
        900,
        vec![
            resized(),
            on("7:30.", char(' ')),
            on("paused", char('5')),
            // At half of 450 s and more the quorum holds, and the note stands there.
            on("quorum 3 of 8", char('1')),
            on("deadline 200 ms", char('9')),
            on("6:45.0 ", key(KeyCode::Left)),
            on("6:35.0 ", char('[')),
            on("5:35.0 ", key(KeyCode::Right)),
            on("5:45.0 ", char(']')),
            on("6:45.0 ", char('>')),
            on("replay 2x", char('<')),
            on("replay 1x", char('m')),
            on("quorum 3 of 8", char('x')),
            on("quorum 3 of 8", char('0')),
            on("waiting for the first round", char('s')),
            on("Round 1 ", char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
    assert!(words[0].starts_with("fanscope replay page: "), "{words:?}");
}

#[test]
fn rounds_are_gone_through_one_by_one_beyond_those_that_are_kept() {
    let back = |from: u64| {
        let now = format!("Round {from} ");
        when(move |screen| screen.contains(&now), char(','))
    };
    let mut steps = vec![resized(), on("7:30.", char(' ')), on("paused", char('9'))];
    steps.extend((701..=810).rev().map(back));
    steps.push(on("Round 700 ", char('.')));
    steps.push(on("Round 701 ", key(KeyCode::Esc)));
    steps.push(when(|s| !s.contains("frozen"), char('q')));
    // 90 % of 450.1 s is within round 810.
    assert_eq!(play(900, steps).0, Leave::Quit);
}

#[test]
fn every_key_of_a_burst_counts_also_beyond_the_rounds_that_are_kept() {
    let mut steps = vec![resized(), on("7:30.", char(' ')), on("paused", char('9'))];
    steps.push(on("Round 810 ", char('.')));
    steps.extend((0..9).map(|_| on("", char('.'))));
    steps.push(on("Round 820 ", char(',')));
    steps.extend((0..119).map(|_| on("", char(','))));
    steps.push(on("Round 700 ", char('.')));
    steps.push(on("Round 701 ", char('0')));
    steps.push(on("waiting for the first round", char('.')));
    steps.push(on("Round 1 ", char(',')));
    steps.push(on("Round 1 ", char('.')));
    steps.push(on("Round 2 ", char('q')));
    assert_eq!(play(900, steps).0, Leave::Quit);
}

#[test]
fn a_round_that_runs_promises_no_file_that_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = recording(30);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_, words, last) = runtime.block_on(async {
        let (app, mut replay) = open(&file, Speed::default());
        let steps = vec![
            resized(),
            on(" 0:15.", char(' ')),
            // 90 % of 15.1 s is within a round.
            on("paused", char('9')),
            when(|s| s.contains("Round 27 ") && s.contains(" running"), char('e')),
            on("exported ", char('q')),
        ];
        play_on(app, &mut replay, dir.path(), steps).await
    });
    assert!(last.contains(".svg") && !last.contains(".json"), "{last}");
    assert!(words.iter().any(|word| word.starts_with("exported ") && !word.contains("json")), "{words:?}");
}

#[test]
fn at_the_end_it_stays_and_the_detail_says_what_a_recording_does_not_have() {
    let select = |s: &str| s.lines().any(|l| l.contains('▌') && l.contains("geo"));
    let (why, _, last) = play(
        30,
        vec![
            resized(),
            on(" 0:15.", char('9')),
            when(|s| s.contains("Round 30 ") && s.contains("   end "), key(KeyCode::End)),
            when(|s| s.lines().any(|l| l.contains('▌') && l.contains("ads")), key(KeyCode::Up)),
            when(select, key(KeyCode::Enter)),
            on("what the answer said is not in a recording", char('?')),
            when(|s| s.contains("play slower") && !s.contains("smaller budget"), char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
    assert!(last.contains("it stands meanwhile"), "{last}");
}

#[test]
fn the_trade_off_of_a_recording_is_answered_and_changes_nothing() {
    let (why, ..) = play(
        30,
        vec![
            resized(),
            on(" 0:15.", char('9')),
            when(|s| s.contains("   end "), char('a')),
            on("→ 200 ms", char('-')),
            on("→  195 ms", key(KeyCode::Enter)),
            on("by 200 ms", key(KeyCode::Esc)),
            on("a what if", char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
}

/// The app after this place was jumped to, and after everything was played up to there.
fn both(file: &tempfile::NamedTempFile, tenth: u8) -> [App; 2] {
    timeless(|| {
        let (jumping, mut replay) = open(file, Speed::FASTEST);
        let (playing, mut player) = open(file, Speed::FASTEST);
        let ends = |replay: &Replay<Scene>| {
            let playback = replay.playback();
            playback.indexed.is_none() && !playback.length.is_zero()
        };
        while !ends(&replay) || !ends(&player) {
            std::thread::yield_now();
        }
        let drain = |app: &mut App, source: &mut Replay<Scene>| {
            while let Some(message) = Source::ready(source) {
                update(app, message);
            }
        };
        let go = |mut app: App, source: &mut Replay<Scene>, from_start: bool| {
            update(&mut app, Message::Resized(SIZE.0, SIZE.1));
            Source::obey(source, Effect::Pause(true));
            drain(&mut app, source);
            // In small steps nothing is far enough for a jump.
            let steps = if from_start { u16::from(tenth) * 100 } else { 0 };
            for part in 1..=steps {
                Source::obey(source, Effect::Seek(crate::domain::Seek::Part(part)));
                drain(&mut app, source);
            }
            for effect in update(&mut app, Message::Action(Action::Tenth(tenth))) {
                Source::obey(source, effect);
            }
            drain(&mut app, source);
            app
        };
        [go(jumping, &mut replay, false), go(playing, &mut player, true)]
    })
}

#[test]
fn after_a_jump_everything_counted_is_as_if_it_had_been_played() {
    let file = recording(1000);
    for tenth in [9, 5, 3, 1] {
        let [jumped, played] = both(&file, tenth);
        assert!(played.stats().totals(Window::Start).rounds > 90);
        for window in Window::ALL {
            assert_eq!(jumped.stats().totals(window), played.stats().totals(window), "{tenth} {window:?}");
            assert_eq!(jumped.stats().missing(window), played.stats().missing(window));
        }
        let history = |app: &App| app.stats().history().iter().copied().collect::<Vec<_>>();
        assert_eq!(history(&jumped), history(&played));
        assert!(jumped.stats() == played.stats(), "hills, quantiles, pulse and blame of {tenth}");
        assert_eq!((jumped.shown(), jumped.wanted()), (played.shown(), played.wanted()));
        assert_eq!(jumped.picture().marks, played.picture().marks);
        assert!(!jumped.picture().rounds.is_empty(), "there is something to look back at");
        let [kept, all] = [&jumped, &played].map(|app| app.picture().sample.rounds());
        assert!(kept.len() >= 90, "{} to estimate from", kept.len());
        assert!(kept.iter().eq(all.range(all.len() - kept.len()..)), "with what was late, {tenth}");
        let late = kept.iter().flat_map(|seen| &seen.calls).filter(|call| call.late.is_some()).count();
        assert!(late > 0 || tenth > 4, "quorum rounds cut nothing");
    }
}
