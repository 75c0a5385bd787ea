//! What is recorded, noted, said for a moment, and left out of what is counted.

use super::{ALL, FULL, assert_scene, drawn, printed};
use crate::app::fixture::{self as fx};
use crate::app::{Action, App, Colour, Key, KeyCode, Message, Notice, Options, Recording, ThemeName, update};
use crate::domain::{AttemptOutcome, EndedBy, Event, FaultSwitch, Mode, Outcome, Phase, Reason};
use std::sync::Arc;
use std::time::Duration;

const ASCII: Options = Options { ascii: true, colour: Colour::Mono, theme: ThemeName::Terminal };

fn settle(app: &mut App, no: u64, change: impl FnOnce(&mut crate::domain::Round)) {
    let mut round =
        fx::round(no, fx::at(no), &Arc::new(fx::settings(Mode::Deadline)), &[fx::Fate::Answers(40.0); 8]);
    change(&mut round);
    fx::start(app, &round);
    fx::finish(app, round);
}

fn noted(app: &mut App, text: &str) {
    // Said now, after everything that was.
    said(app, fx::at(1_000), text);
}

fn said(app: &mut App, at: Duration, text: &str) {
    update(app, Message::Engine(Event::Noted { at, text: text.to_owned() }));
}

/// Recorded; noted in rounds 30 and 55; given up in 40, 41 and 42.
fn recorded(options: Options) -> App {
    let mut app = fx::page(Mode::Deadline, 29, options);
    update(&mut app, Message::Recording(Recording::On));
    for no in 30..=60 {
        settle(&mut app, no, |round| {
            if (40..=42).contains(&no) {
                round.ended_by = EndedBy::Aborted;
            }
        });
        match no {
            30 => noted(&mut app, "deployed"),
            55 => noted(&mut app, "back to 1.2, the half of the shops at first"),
            _ => {}
        }
    }
    app
}

fn typing(text: &str) -> App {
    let mut app = recorded(Options::default());
    update(&mut app, Message::Action(Action::Note));
    text.chars().for_each(|c| drop(update(&mut app, Message::Typed(Key::char(c)))));
    app
}

#[test]
fn s8_a_recorded_session_with_notes_and_rounds_that_do_not_count() {
    assert_scene("recorded", &recorded(Options::default()), &ALL);
    assert_scene("ascii-recorded", &recorded(ASCII), &[FULL, (60, 16)]);
}

#[test]
fn s8_trouble_stands_in_the_header_and_the_line_below() {
    let mut app = recorded(Options::default());
    let fault = "No space left on device, 12 lines lost".to_owned();
    update(&mut app, Message::Recording(Recording::Faulty(fault)));
    assert_scene("recorder-faulty", &app, &ALL);
}

#[test]
fn s8_a_note_is_typed_in_the_footer_and_its_end_stays_in_sight() {
    assert_scene("note", &typing("deployed 1.2"), &[FULL, (40, 10)]);
    let long = "0123456789".repeat(30);
    let text = printed(&drawn(&typing(&long), 40, 10));
    assert!(text.contains("456789") && text.contains("Enter keep   Esc drop"), "{text}");
    let mut app = typing(&long);
    assert_eq!(app.note().map(str::len), Some(200), "bounded");
    let effects = update(&mut app, Message::Typed(Key::plain(KeyCode::Enter)));
    assert_eq!(effects, [crate::app::Effect::Note(long[..200].to_owned())]);
}

#[test]
fn s8_what_is_said_stays_until_the_next_key_or_some_seconds() {
    let mut app = recorded(Options::default());
    let path = "recording to /a/long/way/down/to/the/place/shops-20260203-040506.ndjson".to_owned();
    update(&mut app, Message::Notice(Notice::Done(path.clone())));
    assert_scene("notice", &app, &[FULL, (80, 24), (40, 10)]);
    update(&mut app, Message::Tick(Duration::from_secs(3600)));
    assert!(app.notice().is_some());
    update(&mut app, Message::NoticeOver);
    assert_eq!(app.notice(), None);
    update(&mut app, Message::Notice(Notice::Failed(path)));
    update(&mut app, Message::Action(Action::Window));
    assert_eq!(app.notice(), None);
}

#[test]
fn s8_rounds_that_warm_up_say_so_and_are_not_counted() {
    let mut app = fx::page(Mode::Deadline, 0, Options::default()).warming(3);
    for no in 1..=2 {
        settle(&mut app, no, |round| round.warmup = true);
    }
    assert_eq!(app.stats().totals(crate::stats::Window::Start).rounds, 0);
    assert_scene("warming", &app, &ALL);
    settle(&mut app, 3, |round| round.warmup = true);
    settle(&mut app, 4, |_| {});
    assert_eq!(app.warming_up(), None);
    assert_eq!(app.stats().totals(crate::stats::Window::Start).rounds, 1);
}

#[test]
fn a_note_belongs_to_the_round_that_runs_or_was_last_and_no_note_replaces_another() {
    let mut app = fx::page(Mode::Deadline, 5, Options::default());
    noted(&mut app, "one");
    noted(&mut app, "two");
    let round = fx::round(6, fx::at(6), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL);
    fx::play(&mut app, &round, fx::ms(20.0));
    noted(&mut app, "three");
    // Told only now, it was before this round.
    said(&mut app, round.at.saturating_sub(fx::ms(10.0)), "gap 3 s");
    fx::finish(&mut app, round);
    let marks = app.picture().marks.iter().map(|m| (m.round.0, m.change.words("→")));
    let expected =
        [(5, "one"), (5, "two"), (6, "three"), (5, "gap 3 s")].map(|(no, text)| (no, text.to_owned()));
    assert_eq!(marks.collect::<Vec<_>>(), expected);
}

#[test]
fn one_that_goes_back_reads_what_was_said_in_full() {
    let mut app = recorded(Options::default());
    for _ in 0..5 {
        update(&mut app, Message::Action(Action::Earlier));
    }
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains("back to 1.2, the half of the shops at first"), "{text}");
}

#[test]
fn a_fault_switched_before_the_first_round_and_a_note_then_are_both_marked() {
    let mut app = fx::page(Mode::Deadline, 0, Options::default());
    noted(&mut app, "before");
    update(&mut app, Message::Action(Action::Fault));
    settle(&mut app, 1, |_| {});
    let words: Vec<String> = app.picture().marks.iter().map(|m| m.change.words("→")).collect();
    let switched = format!("recs {} → {}", FaultSwitch::AsWritten, FaultSwitch::Healthy);
    assert_eq!(words, ["before".to_owned(), switched]);
}

#[test]
fn r12_a_client_overrun_is_said_of_its_round_and_beside_the_instruments_own_numbers() {
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    settle(&mut app, 4, |round| round.overrun = Some(fx::ms(250.0)));
    for (width, height) in [FULL, (80, 24)] {
        let shown = printed(&drawn(&app, width, height));
        assert!(shown.contains("client overrun 250 ms"), "{shown}");
        assert!(shown.contains("overruns 1, last 250 ms"), "{shown}");
    }
    settle(&mut app, 5, |_| {});
    let shown = printed(&drawn(&app, 120, 40));
    assert!(!shown.contains("client overrun") && shown.contains("overruns 1"), "{shown}");
}

#[test]
fn l01_a_shortage_of_descriptors_stays_in_the_header() {
    let mut app = fx::page(Mode::Deadline, 3, Options::default()).short_of_descriptors(64, 200);
    let shown = printed(&drawn(&app, 120, 40));
    assert!(shown.contains("descriptors 64 of 200") && shown.contains("`ulimit -n 200`"), "{shown}");
    update(&mut app, Message::NoticeOver);
    let shown = printed(&drawn(&app, 80, 24));
    assert!(shown.contains("descriptors 64 of 200") && !shown.contains("ulimit"), "{shown}");
}

#[test]
fn m05_a_gap_is_marked_in_the_history() {
    let mut app = fx::page(Mode::Deadline, 40, Options::default());
    noted(&mut app, "gap 2 h 10 min");
    settle(&mut app, 41, |_| {});
    let shown = printed(&drawn(&app, 120, 40));
    assert!(shown.contains("gap 2 h 10 min"), "{shown}");
}

/// A round that was given up after 100 ms: one call had answered, one had failed.
fn given_up() -> App {
    let mut app = fx::page(Mode::Deadline, 29, Options::default());
    settle(&mut app, 30, |round| {
        (round.ended_by, round.took) = (EndedBy::Aborted, fx::ms(100.0));
        for call in round.calls.iter_mut().skip(1) {
            (call.outcome, call.status) = (Outcome::Missing(Reason::Aborted), None);
            (call.end, call.winner, call.phase) = (fx::ms(100.0), None, Phase::Waiting);
            for attempt in &mut call.attempts {
                attempt.phases = attempt.phases.within(fx::ms(100.0));
                (attempt.end, attempt.outcome) = (fx::ms(100.0), AttemptOutcome::Cancelled);
                attempt.status = None;
            }
        }
    });
    app
}

/// Nobody is to be woken up because a process was stopped.
#[test]
fn calls_that_were_given_up_with_their_round_are_no_errors() {
    let mut app = given_up();
    assert_scene("given-up", &app, &[FULL, (60, 16)]);
    app.selected = 1;
    update(&mut app, Message::Action(Action::Detail));
    assert_scene("given-up-detail", &app, &[FULL]);
}
