//! A recording: where it is, and keys of its own.

use super::*;
use crate::app::fixture as fx;
use crate::app::{App, Gesture, Target};
use crate::domain::{PlayState, Playback, Seek};
use crate::view::target;
use std::time::Duration;

/// The last but one row: the scrubber.
fn scrubber(app: &App, width: u16, height: u16) -> String {
    let buf = drawn(app, width, height);
    let row = (0..width).map(|x| buf[(x, height - 2)].symbol().to_owned()).collect::<String>();
    row.trim().to_owned()
}

fn with(app: &App, change: impl FnOnce(&mut Playback)) -> App {
    let mut playback = app.playback().unwrap().clone();
    change(&mut playback);
    fx::recorded(app.clone(), playback)
}

#[test]
fn a_recording_has_a_scrubber_and_its_own_keys_at_every_size() {
    let app = scenes::replay(Options::default(), PlayState::Playing);
    assert_scene("replay", &app, &[(200, 60), (120, 40), (80, 24), (60, 16), (40, 10)]);
    let ascii = Options { ascii: true, ..Options::default() };
    assert_scene("replay-ascii", &scenes::replay(ascii, PlayState::End), &[(80, 24), (40, 10)]);
}

#[test]
fn the_bar_is_as_full_as_the_recording_was_played() {
    let app = scenes::replay(Options::default(), PlayState::Playing);
    let bar = |share: f64| {
        let app = with(&app, |p| p.position = p.length.mul_f64(share));
        let row = scrubber(&app, 40, 10);
        (row.matches('━').count(), row.matches('─').count())
    };
    let (_, all) = bar(0.0);
    assert_eq!((bar(0.0), bar(1.0)), ((0, all), (all, 0)));
    assert_eq!(bar(0.5).0, all.div_ceil(2));
    let empty = with(&app, |p| (p.position, p.length) = (Duration::ZERO, Duration::ZERO));
    assert!(scrubber(&empty, 40, 10).starts_with("0:00.0 ─"));
}

#[test]
fn what_is_wrong_is_said_before_everything_else_and_in_red() {
    let app = scenes::replay(Options::default(), PlayState::Playing);
    let noticed = with(&app, |p| p.notice = Some("42 s without rounds skipped".to_owned()));
    assert!(scrubber(&noticed, 80, 24).ends_with("42 s without rounds skipped"));
    assert!(scrubber(&noticed, 40, 10).contains("42 s without"));
    let reading = with(&app, |p| p.indexed = Some(45));
    assert!(scrubber(&reading, 120, 40).ends_with("read 45 %"));
    let wrong = with(&noticed, |p| p.fault = Some("line 57: it is not UTF-8".to_owned()));
    for (width, height) in [(120, 40), (80, 24), (60, 16), (50, 10)] {
        assert!(scrubber(&wrong, width, height).contains("line 57: it is not"), "{width}");
        let buf = drawn(&wrong, width, height);
        assert!((0..width).any(|x| buf[(x, height - 2)].fg == Color::Red));
    }
}

#[test]
fn the_header_says_what_the_player_does() {
    for (state, word) in
        [(PlayState::Playing, "playing"), (PlayState::Following, "following"), (PlayState::End, "end")]
    {
        let text = printed(&drawn(&scenes::replay(Options::default(), state), 120, 40));
        let head = text.lines().next().unwrap();
        assert!(head.contains("recorded 2026-11-30 10:01:02 UTC"), "{head}");
        assert!(head.ends_with(&format!("replay 2x   {word}")), "{head}");
    }
}

#[test]
fn a_click_on_the_bar_goes_there() {
    let mut app = scenes::replay(Options::default(), PlayState::Playing);
    let area = Rect::new(0, 0, 80, 24);
    let parts: Vec<u16> = (0..80)
        .filter_map(|x| match target(&app, area, x, 22) {
            Target::Scrubber(part) => Some(part),
            _ => None,
        })
        .collect();
    assert!(parts.len() > 8 && parts.is_sorted());
    assert_eq!((parts.first(), parts.last()), (Some(&0), Some(&1000)));
    let effects = update(&mut app, Message::Pointed(Gesture::Click, Target::Scrubber(250)));
    assert_eq!(effects, [crate::app::Effect::Seek(Seek::Part(250))]);
}

#[test]
fn keys_that_change_rounds_do_nothing_to_a_recording() {
    let mut app = scenes::replay(Options::default(), PlayState::Playing);
    for action in [Action::NextMode, Action::BudgetUp, Action::PeriodDown, Action::NumberUp, Action::Fault] {
        assert_eq!(update(&mut app, Message::Action(action)), []);
    }
    let mut live = scenes::cut(Options::default());
    assert_eq!(update(&mut live, Message::Action(Action::Tenth(5))), []);
}
