//! What is chosen of the screen, what stands where, and what is said of it.

use super::scenes;
use super::*;
use crate::app::{Shown, Target};
use crate::domain::Event;
use crate::domain::event::{SkipCause, Vitals};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn what_holds_calls_back_is_said_beside_the_instruments_own_numbers() {
    let mut app = scenes::cut(Options::default());
    let skipped = Event::StartSkipped { at: Duration::ZERO, total: 5, cause: SkipCause::Rate };
    update(&mut app, Message::Engine(skipped));
    let vitals = Vitals { open_breakers: 1, backing_off: 2, skipped: 5, ..Vitals::default() };
    let Shown::Over(round) = app.shown() else { panic!("a settled round") };
    let round = Arc::clone(round);
    update(&mut app, Message::Engine(Event::RoundSettled { round, vitals }));
    let row = |width| printed(&drawn(&app, width, 40)).lines().nth(1).unwrap().to_owned();
    let held = "skipped 5 rate   lingering 0   breakers open 1   backing off 2";
    for width in [80, 120] {
        assert!(row(width).contains(held), "routine makes room for it: {}", row(width));
    }
}

#[test]
fn a_change_is_marked_in_the_history_with_its_first_round() {
    let mut app = scenes::changed();
    let fates = crate::app::fixture::TYPICAL;
    let settings = Arc::new(crate::app::fixture::settings(crate::domain::Mode::Quorum));
    let round = crate::app::fixture::round(91, crate::app::fixture::at(91), &settings, &fates);
    crate::app::fixture::start(&mut app, &round);
    crate::app::fixture::finish(&mut app, round);
    let shown = printed(&drawn(&app, 120, 40));
    // Its words stand before it where there is no room behind.
    assert!(shown.contains("deadline → quorum ▴"), "{shown}");
}

#[test]
fn a_label_on_the_axis_touches_its_line() {
    for (width, height) in [(120, 40), (80, 24), (60, 16)] {
        let app = scenes::wait_all();
        let shown = printed(&drawn(&app, width, height));
        let row = |text: &str| shown.lines().find(|l| l.contains(text)).unwrap_or_default();
        let line = row("catalog").chars().position(|c| "┃│".contains(c)).expect("the budget's line");
        let axis: Vec<char> = row("0 ms").chars().collect();
        let around: String = axis.iter().skip(line.saturating_sub(14)).take(28).collect();
        assert!(around.contains("200 ms"), "{width}x{height}: {around}");
    }
}

#[test]
fn a_frozen_picture_says_how_far_back_it_is() {
    assert_scene("frozen", &scenes::frozen(Options::default()), &ALL);
}

#[test]
fn a_filter_is_typed_in_the_footer_and_then_named_in_the_header() {
    assert_scene("filtering", &scenes::filtering(Options::default()), &[FULL, (40, 10)]);
    assert_scene("chosen", &scenes::chosen(Options::default()), &[FULL, (80, 24)]);
}

#[test]
fn switched_upstreams_are_marked_at_their_lanes_and_in_the_history() {
    assert_scene("switched", &scenes::switched(Options::default(), &[2]), &[FULL, (80, 24)]);
    let two = scenes::switched(Options::default(), &[2, 3]);
    assert!(printed(&drawn(&two, 120, 40)).lines().next().unwrap().contains("x 2 switched   live"));
}

#[test]
fn a_filter_without_a_lane_says_so() {
    let mut app = scenes::filtering(Options::default());
    update(&mut app, Message::Pasted("zzz".to_owned()));
    assert!(printed(&drawn(&app, 80, 24)).contains("no lane has this in its name or its reasons"));
}

#[test]
fn what_stands_at_a_cell() {
    let app = scenes::cut(Options::default());
    let area = Rect::new(0, 0, 120, 40);
    let at = |x, y| target(&app, area, x, y);
    // Lanes have two rows each, below the axis.
    assert_eq!([at(30, 5), at(30, 6), at(30, 7), at(30, 8)], [0, 0, 1, 1].map(Target::Lane));
    assert_eq!(at(30, 0), Target::Elsewhere);
    let shown = printed(&drawn(&app, 120, 40));
    let y = shown.lines().position(|l| l.starts_with(" ● complete")).unwrap();
    let newest = app.round_no().unwrap();
    assert_eq!(at(118, u16::try_from(y).unwrap()), Target::Round(newest));
    assert_eq!(at(117, u16::try_from(y).unwrap()), Target::Round(crate::domain::RoundNo(newest.0 - 1)));
    assert_eq!(at(3, u16::try_from(y).unwrap()), Target::Elsewhere);
    let many = scenes::many();
    let selected = (0..24).map(|y| target(&many, Rect::new(0, 0, 80, 24), 20, y));
    assert!(selected.into_iter().any(|t| t == Target::Lane(40)), "the selected lane is in sight");
}
