//! What is looked at: filter, order, window, panel, frozen pictures and the mouse.

use super::*;
use crate::app::{Key, KeyCode};
use crate::domain::event::SkipCause;
use crate::domain::{Answer, Attempt, FaultSwitch, ServerTiming};

fn type_in(app: &mut App, text: &str) {
    for c in text.chars() {
        update(app, Message::Typed(Key::char(c)));
    }
}

#[test]
fn the_filter_chooses_lanes_by_name_and_by_reason() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    press(&mut app, Action::Filter);
    assert!(app.is_typing());
    type_in(&mut app, "re");
    let names = |app: &App| -> Vec<String> {
        app.lineup.lanes().iter().map(|&i| app.endpoints[i].name.clone()).collect()
    };
    // By their names reviews and recs, by `connect_refused` the ads.
    assert_eq!(names(&app), ["reviews", "recs", "ads"]);
    type_in(&mut app, "c");
    assert_eq!(names(&app), ["recs"]);
    assert_eq!(app.selected, 5, "the selected lane stays selected while it is shown");
    type_in(&mut app, "q?");
    assert!(names(&app).is_empty(), "keys are text while typing");
    press(&mut app, Action::Detail);
    assert_eq!(app.screen, Screen::Dashboard, "no lane, no detail");
    update(&mut app, Message::Typed(Key::plain(KeyCode::Esc)));
    assert_eq!((names(&app).len(), app.is_typing()), (8, false));
    let before = (app.screen, app.selected, app.lineup.clone());
    update(&mut app, Message::Pasted("q1".to_owned()));
    assert_eq!((app.screen, app.selected, app.lineup.clone()), before, "pasted text holds no commands");
    press(&mut app, Action::Filter);
    update(&mut app, Message::Pasted("ads".to_owned()));
    update(&mut app, Message::Typed(Key::plain(KeyCode::Enter)));
    assert_eq!((names(&app), app.selected), (vec!["ads".to_owned()], 7), "a shown lane is selected");
    press(&mut app, Action::Back);
    assert_eq!(names(&app).len(), 8, "Esc takes the filter back");
}

#[test]
fn lanes_are_sorted_by_what_a_key_asks_for() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    let first = |app: &App| app.endpoints[app.lineup.lanes()[0]].name.clone();
    let mut seen = vec![(app.lineup.sort(), first(&app))];
    for _ in 0..4 {
        press(&mut app, Action::Sort);
        seen.push((app.lineup.sort(), first(&app)));
    }
    let worst = {
        let rows = app.stats().missing(app.window);
        let count = |i: usize| rows.iter().filter(|r| r.endpoint.index() == i).map(|r| r.count).sum::<u64>();
        (0..8).max_by_key(|&i| (count(i), std::cmp::Reverse(i))).map(|i| app.endpoints[i].name.clone())
    };
    let expected = [
        (Sort::Profile, "catalog".to_owned()),
        (Sort::Missing, worst.unwrap()),
        (Sort::Slowest, "recs".to_owned()),
        (Sort::Name, "ads".to_owned()),
        (Sort::Profile, "catalog".to_owned()),
    ];
    assert_eq!(seen, expected);
    press(&mut app, Action::First);
    press(&mut app, Action::Sort);
    press(&mut app, Action::Sort);
    press(&mut app, Action::Sort);
    press(&mut app, Action::First);
    press(&mut app, Action::Down);
    assert_eq!(app.endpoints[app.selected].name, "catalog", "keys move along what is seen");
}

#[test]
fn history_freezes_the_picture_and_goes_round_by_round() {
    let (mut app, round) = running();
    assert!(app.is_moving());
    press(&mut app, Action::Earlier);
    assert_eq!((app.round_no(), app.rounds_back()), (Some(RoundNo(3)), Some(0)));
    assert!(!app.is_moving(), "nothing moves in a frozen picture");
    let before = app.stats().totals(Window::Start);
    fx::finish(&mut app, round);
    assert_eq!((app.round_no(), app.rounds_back()), (Some(RoundNo(3)), Some(1)), "the round went on unseen");
    assert_eq!(app.stats().totals(Window::Start), before, "the counts are frozen with it");
    for _ in 0..5 {
        press(&mut app, Action::Earlier);
    }
    assert_eq!(app.round_no(), Some(RoundNo(1)), "there is none before the first");
    press(&mut app, Action::Later);
    assert_eq!(app.round_no(), Some(RoundNo(2)));
    press(&mut app, Action::Back);
    assert_eq!(
        (app.round_no(), app.rounds_back()),
        (Some(RoundNo(4)), None),
        "Esc goes back to what is live"
    );
    assert_eq!(app.stats().totals(Window::Start).calls(), before.calls() + 8, "nothing was lost");
    press(&mut app, Action::Earlier);
    press(&mut app, Action::Later);
    press(&mut app, Action::Later);
    assert_eq!(app.rounds_back(), None, "past the newest it is live again");
}

#[test]
fn freezing_holds_a_running_round_and_a_step_lets_go() {
    let (mut app, round) = running();
    press(&mut app, Action::Freeze);
    let held = app.lane(6);
    update(&mut app, Message::Tick(round.at + fx::ms(195.0)));
    fx::finish(&mut app, round);
    assert_eq!(app.lane(6), held);
    assert_eq!(press(&mut app, Action::Step), [Effect::Pause(true), Effect::Step]);
    assert_eq!(app.rounds_back(), None, "one wants to see the round that was asked for");
    let (mut app, _) = running();
    press(&mut app, Action::Freeze);
    press(&mut app, Action::Freeze);
    assert_eq!(app.rounds_back(), None);
}

#[test]
fn rounds_are_kept_in_order_and_never_more_than_fit() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut app = App::new(fx::setup(&fx::page_names(), (*settings).clone(), Options::default()));
    for no in (1..=1400).map(|n: u64| if n.is_multiple_of(2) { n - 1 } else { n + 1 }) {
        let round = fx::round(no, fx::at(no), &settings, &fx::TYPICAL);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    let kept: Vec<u64> = app.picture().rounds.iter().map(|r| r.no.0).collect();
    assert_eq!(kept.len(), 600);
    assert!(kept.is_sorted() && kept.last() == Some(&1400), "rounds that overlap settle out of order");
}

#[test]
fn what_answers_said_is_kept_for_the_newest_rounds_only() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut app = App::new(fx::setup(&fx::page_names(), (*settings).clone(), Options::default()));
    let answer = Arc::new(Answer {
        status_line: "HTTP/1.1 503 Service Unavailable".to_owned(),
        headers: Vec::new(),
        headers_left_off: 0,
        body: "down".into(),
        body_truncated: false,
    });
    for no in 1..=400 {
        let mut round = fx::round(no, fx::at(no), &settings, &fx::TYPICAL);
        let attempt = &mut round.calls[7].attempts[0];
        attempt.answer = Some(Arc::clone(&answer));
        attempt.server_timing = [ServerTiming::new("db", None, None).unwrap()].into();
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    let with = |says: &dyn Fn(&Attempt) -> bool| -> Vec<u64> {
        let rounds = app.picture().rounds.iter().filter(|r| says(&r.calls[7].attempts[0]));
        rounds.map(|r| r.no.0).collect()
    };
    let newest: Vec<u64> = (151..=400).collect();
    assert_eq!(with(&|a| a.answer.is_some()), newest, "2,000 calls are 250 rounds of 8");
    assert_eq!(with(&|a| !a.server_timing.is_empty()), newest);
}

#[test]
fn the_mouse_selects_opens_scrolls_and_goes_back_in_time() {
    let (mut app, _) = running();
    let click = |app: &mut App, target| update(app, Message::Pointed(Gesture::Click, target));
    click(&mut app, Target::Lane(2));
    assert_eq!((app.selected, app.screen), (2, Screen::Dashboard));
    click(&mut app, Target::Lane(2));
    assert_eq!(app.screen, Screen::Detail(0), "a second click opens");
    press(&mut app, Action::Back);
    update(&mut app, Message::Pointed(Gesture::WheelDown, Target::Elsewhere));
    assert_eq!(app.selected, 3);
    click(&mut app, Target::Round(RoundNo(2)));
    assert_eq!(app.round_no(), Some(RoundNo(2)));
    update(&mut app, Message::Pointed(Gesture::WheelUp, Target::Round(RoundNo(2))));
    assert_eq!(app.round_no(), Some(RoundNo(3)));
    let before = (app.screen, app.selected, app.round_no());
    click(&mut app, Target::Elsewhere);
    assert_eq!((app.screen, app.selected, app.round_no()), before);
    click(&mut app, Target::Round(RoundNo(99)));
    assert_eq!(app.round_no(), before.2, "a round that is not kept");
    press(&mut app, Action::Filter);
    let selected = app.selected;
    click(&mut app, Target::Lane(selected));
    assert_eq!((app.screen, app.is_typing()), (Screen::Detail(0), false), "opening ends the typing");
    update(&mut app, Message::Resized(80, 24));
    update(&mut app, Message::Pointed(Gesture::WheelDown, Target::Elsewhere));
    assert_eq!((app.screen, app.selected), (Screen::Detail(3), selected), "there the wheel scrolls");
    assert!(app.rounds_back().is_some(), "who reads further down wants it to stay");
}

#[test]
fn the_window_and_the_panel_go_round() {
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    let windows: Vec<Window> = (0..4)
        .map(|_| {
            press(&mut app, Action::Window);
            app.window
        })
        .collect();
    assert_eq!(windows, [Window::FiveMinutes, Window::Start, Window::TenSeconds, Window::Minute]);
    let panels: Vec<Panel> = (0..5)
        .map(|_| {
            press(&mut app, Action::Panel);
            app.panel()
        })
        .collect();
    assert_eq!(panels, [Panel::Hedges, Panel::WhatIf, Panel::Calls, Panel::Blame, Panel::Missing]);
    assert_eq!(fx::page(Mode::Hedge, 3, Options::default()).panel(), Panel::Hedges, "the one that suits");
}

#[test]
fn faults_go_round_at_simulated_endpoints_only_and_are_marked() {
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    app.endpoints[1].simulated = false;
    (app.selected, app.endpoints[5].simulated) = (1, true);
    assert_eq!(press(&mut app, Action::Fault), [], "a real endpoint can't be made to fail");
    app.selected = 5;
    let switches: Vec<FaultSwitch> = (0..FaultSwitch::ALL.len())
        .map(|_| match press(&mut app, Action::Fault).as_slice() {
            [Effect::Fault(EndpointId(5), switch)] => *switch,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(switches[..6], FaultSwitch::ALL[1..]);
    assert_eq!(switches[6], FaultSwitch::AsWritten, "and back");
    fx::start(&mut app, &fx::round(4, fx::at(4), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL));
    assert!(app.picture().marks.is_empty(), "back where it was is no change");
    press(&mut app, Action::Fault);
    press(&mut app, Action::Fault);
    fx::start(&mut app, &fx::round(5, fx::at(5), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL));
    let change =
        Change::Value { what: "recs".to_owned(), from: "as-written".to_owned(), to: "slow".to_owned() };
    assert!(app.picture().marks.iter().eq([&Mark { round: RoundNo(5), change }]), "two steps are one change");
}

#[test]
fn the_detail_scrolls_and_stays_where_it_is_from_call_to_call_and_round_to_round() {
    let mut app = fx::page(Mode::Deadline, 30, Options::default());
    update(&mut app, Message::Resized(80, 24));
    press(&mut app, Action::First);
    press(&mut app, Action::Detail);
    assert_eq!(app.screen, Screen::Detail(0));
    let end = DetailPage::of(&app, 80, 24).end();
    assert!(end > 0, "80x24 is too small for all of it");
    let scrolled = |app: &mut App, action| {
        press(app, action);
        match app.screen {
            Screen::Detail(top) => top,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(scrolled(&mut app, Action::PageDown), end.min(20));
    assert_eq!(scrolled(&mut app, Action::Last), end);
    assert_eq!(scrolled(&mut app, Action::PageDown), end, "nothing beyond the end");
    assert_eq!(app.selected, 0, "these keys do not choose another call");
    assert_eq!(scrolled(&mut app, Action::Down), end);
    assert_eq!(app.selected, 1, "but these do");
    assert_eq!(scrolled(&mut app, Action::Earlier), end);
    assert_eq!(app.round_no(), Some(RoundNo(29)));
    assert_eq!(scrolled(&mut app, Action::PageUp), 0);
    assert_eq!(scrolled(&mut app, Action::Last), end);
    assert_eq!(scrolled(&mut app, Action::First), 0);
    // Where all is in sight there is nothing to scroll, also from further down.
    scrolled(&mut app, Action::Last);
    update(&mut app, Message::Resized(120, 60));
    assert_eq!(scrolled(&mut app, Action::PageDown), 0);
    press(&mut app, Action::Back);
    press(&mut app, Action::Last);
    assert_eq!(
        (app.screen, app.selected),
        (Screen::Dashboard, 7),
        "on the dashboard they go along the lanes"
    );
}

#[test]
fn the_furthest_attempt_decides_while_none_has_answered() {
    use crate::domain::Phase::{Body, Connect, Waiting};
    let mut lane = Lane {
        state: LaneState::Running(Waiting),
        end: fx::ms(90.0),
        status: None,
        late_by: None,
        hedge_delay: None,
        bars: Vec::new(),
    };
    assert_eq!(lane.decisive(), 0, "also of none");
    let bar = |phase, fate| Bar {
        replica: 0,
        hedge: false,
        start: fx::ms(0.0),
        end: fx::ms(90.0),
        segments: vec![(phase, fx::ms(90.0))],
        fate,
        status: None,
        reused: None,
    };
    lane.bars = vec![bar(Connect, Fate::Running), bar(Waiting, Fate::Running), bar(Waiting, Fate::Running)];
    assert_eq!(lane.decisive(), 1, "of equals the first");
    lane.bars[2] = bar(Body, Fate::Failed(Reason::ConnReset));
    assert_eq!(lane.decisive(), 1, "what failed decides nothing while others run");
    lane.state = LaneState::Error(Reason::ConnReset);
    assert_eq!(lane.decisive(), 2);
    lane.state = LaneState::Ok;
    lane.bars[0] = bar(Body, Fate::Won);
    assert_eq!(lane.decisive(), 0);
}

#[test]
fn what_the_deadline_cut_ends_at_the_deadline() {
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut round = fx::round(4, fx::at(4), &settings, &fx::TYPICAL);
    // It was noticed a little later.
    let call = &mut round.calls[5];
    call.end = fx::ms(200.7);
    call.attempts[0].end = fx::ms(200.7);
    call.attempts[0].phases.add(crate::domain::Phase::Waiting, fx::ms(0.7));
    fx::play(&mut app, &round, fx::ms(190.0));
    fx::finish(&mut app, round);
    app.selected = 5;
    let lane = app.detail_lane().unwrap();
    let sum: Duration = lane.bars[0].segments.iter().map(|s| s.1).sum();
    assert_eq!((lane.end, lane.bars[0].end, sum), (fx::ms(200.0), fx::ms(200.0), fx::ms(200.0)));
}

#[test]
fn the_detail_stays_with_its_call_when_a_filter_by_reason_lets_go_of_it() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    app.selected = 7;
    press(&mut app, Action::Filter);
    type_in(&mut app, "refused");
    assert_eq!(app.lineup.lanes(), [7]);
    press(&mut app, Action::Detail);
    // Two minutes later nothing of it is in the window any more.
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let fine = [fx::Fate::Answers(40.0); 8];
    for no in 301..=303 {
        let round = fx::round(no, fx::at(no) + Duration::from_secs(120), &settings, &fine);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    assert_eq!((app.screen, app.selected), (Screen::Detail(0), 7));
    press(&mut app, Action::Back);
    press(&mut app, Action::Fault);
    assert!(app.faults.iter().any(|f| *f != FaultSwitch::AsWritten), "its lane is still in sight");
}

#[test]
fn r38_skipped_starts_are_shown_while_no_round_can_tell_of_them() {
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    let at = fx::at(4);
    for total in 1..=5 {
        update(&mut app, Message::Engine(Event::StartSkipped { at, total, cause: SkipCause::Rate }));
    }
    let pulse = app.stats().pulse();
    assert_eq!((pulse.skipped(), pulse.skip_cause()), (5, Some(SkipCause::Rate)));
    press(&mut app, Action::Reset);
    assert_eq!((app.stats().pulse().skipped(), app.stats().pulse().skip_cause()), (0, None));
}

#[test]
fn r42_nobody_is_told_to_add_a_breaker_that_is_there() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    let about_ads = |app: &App| app.hints().any(|hint| hint.endpoint == EndpointId(7));
    assert!(about_ads(&app));
    app.endpoints[7].breaker = true;
    assert!(!about_ads(&app));
}
