//! The trade-off: what is asked, where one is on the curve, and what keys do there.

use super::*;
use crate::domain::{Ab, PlayState, Playback, Variant};
use crate::stats::Window;
use crate::whatif::budget::{BudgetCurve, BudgetPoint};
use crate::whatif::outlook::{Outlook, Status};

/// Points at 50, 100, … 400 ms around a budget of 200 ms.
fn outlook() -> Outlook {
    let point = |step: u32| BudgetPoint {
        budget: fx::ms(f64::from(step) * 50.0),
        status: Status::Exact,
        n: 3,
        at_risk: 0,
        completeness: Some(f64::from(step) / 8.0),
        interval: None,
        next_minute: None,
        bounds: None,
        all: None,
        at_least_k: None,
        missing: Vec::new(),
    };
    let budgets = BudgetCurve { points: (1..=8).map(point).collect(), ..BudgetCurve::default() };
    Outlook { rounds: 3, calls: 24, budget: fx::ms(200.0), budgets, ..Outlook::default() }
}

/// In the trade-off of three rounds.
fn there() -> App {
    let (mut app, round) = running();
    fx::finish(&mut app, round);
    update(&mut app, Message::Outlook(Box::new(outlook())));
    press(&mut app, Action::Tradeoff);
    app
}

fn marked(app: &App) -> Duration {
    app.marked().unwrap().budget
}

#[test]
fn the_marker_moves_along_the_curve_and_the_budget_stays() {
    let mut app = there();
    assert_eq!((app.screen, marked(&app)), (Screen::Tradeoff, fx::ms(200.0)), "it begins where one is");
    for (action, at) in [
        (Action::BudgetUp, 250.0),
        (Action::BudgetDown, 200.0),
        (Action::BudgetDown, 150.0),
        (Action::First, 50.0),
        (Action::BudgetDown, 50.0),
        (Action::Last, 400.0),
        (Action::BudgetUp, 400.0),
    ] {
        assert!(press(&mut app, action).is_empty());
        assert_eq!(marked(&app), fx::ms(at), "{action:?}");
    }
    assert_eq!(app.wanted().budget, fx::ms(200.0));
    press(&mut app, Action::Help);
    press(&mut app, Action::Back);
    assert_eq!((app.screen, marked(&app)), (Screen::Tradeoff, fx::ms(400.0)), "the help gives it back");
    press(&mut app, Action::Back);
    assert_eq!(app.screen, Screen::Dashboard);
    assert_eq!(applied(&press(&mut app, Action::BudgetUp)).budget, fx::ms(250.0), "keys are as before");
}

#[test]
fn enter_makes_the_marked_budget_the_one_that_holds_as_any_key_would() {
    let mut app = there();
    press(&mut app, Action::BudgetUp);
    let effects = press(&mut app, Action::Detail);
    assert_eq!(applied(&effects).budget, fx::ms(250.0));
    assert!(app.config.is_switching() && app.screen == Screen::Tradeoff);
    assert!(press(&mut app, Action::Detail).is_empty(), "it is asked for already");
    // R35: not beyond what the request budget leaves.
    let tight = Settings { request_budget: fx::ms(300.0), ..app.wanted().clone() };
    let echo = Arc::new(app.wanted().clone());
    update(&mut app, Message::Engine(Event::SettingsChanged { at: fx::at(9), settings: echo }));
    update(&mut app, Message::Engine(Event::SettingsChanged { at: fx::at(9), settings: Arc::new(tight) }));
    press(&mut app, Action::Last);
    assert_eq!(applied(&press(&mut app, Action::Detail)).budget, fx::ms(295.0));
    // R24: a fixed delay goes along.
    press(&mut app, Action::Mode(Mode::Hedge));
    press(&mut app, Action::First);
    for _ in 0..5 {
        press(&mut app, Action::NumberDown);
    }
    let HedgeDelay::Fixed(delay) = applied(&press(&mut app, Action::Detail)).hedge.delay else { panic!() };
    assert!(delay < fx::ms(50.0));
}

#[test]
fn in_a_recording_the_marker_moves_and_nothing_is_changed() {
    let playback = Playback { state: PlayState::Playing, ..Playback::default() };
    let mut app = fx::recorded(fx::page(Mode::Deadline, 5, Options::default()), playback);
    update(&mut app, Message::Outlook(Box::new(outlook())));
    press(&mut app, Action::Tradeoff);
    for (action, at) in [(Action::ShortAhead, 250.0), (Action::MarkerUp, 300.0), (Action::MarkerDown, 250.0)]
    {
        assert!(press(&mut app, action).is_empty());
        assert_eq!(marked(&app), fx::ms(at));
    }
    for nothing in [Action::Detail, Action::Probe] {
        assert!(press(&mut app, nothing).is_empty());
    }
    assert_eq!((app.wanted().budget, app.screen), (fx::ms(200.0), Screen::Tradeoff));
    press(&mut app, Action::Back);
    assert_eq!(press(&mut app, Action::ShortAhead).len(), 1, "elsewhere the arrows go along the recording");
}

#[test]
fn a_question_is_a_new_one_only_where_something_it_rests_on_changed() {
    let (mut app, round) = running();
    let first = app.asking();
    update(&mut app, Message::Tick(fx::at(9)));
    press(&mut app, Action::Down);
    assert_eq!(app.asking(), first, "time and looking around change nothing");
    fx::finish(&mut app, round);
    let second = app.asking();
    assert_ne!(second, first, "a round has settled");
    press(&mut app, Action::BudgetUp);
    let third = app.asking();
    assert_ne!(third, second, "settings are asked for");
    let late = crate::domain::Late { endpoint: EndpointId(5), outcome: Outcome::Ok, end: fx::ms(340.0) };
    update(&mut app, Message::Engine(Event::Late { round: RoundNo(4), late }));
    assert_ne!(app.asking(), third, "a straggler came");
    let question = app.question();
    assert_eq!((question.rounds.len(), question.names.len(), question.specs.len()), (4, 8, 8));
    assert_eq!(question.settings, *app.wanted());
    press(&mut app, Action::Reset);
    assert!(app.question().rounds.is_empty());
}

#[test]
fn the_window_of_the_trade_off_is_that_of_the_counts_and_its_own() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    update(&mut app, Message::Outlook(Box::default()));
    press(&mut app, Action::Tradeoff);
    assert_eq!(app.question().rounds.len(), 300);
    for window in [Window::TenSeconds, Window::Minute, Window::FiveMinutes, Window::Start] {
        press(&mut app, Action::Window);
        let (question, counts) = (app.question(), app.stats().totals(window));
        assert_eq!(question.rounds.len() as u64, counts.rounds, "{window:?}");
        let calls: usize = question.rounds.iter().map(|seen| seen.calls.len()).sum();
        assert_eq!(calls as u64, counts.calls());
    }
    assert_eq!(app.window, Window::Minute, "the counts keep theirs");
}

#[test]
fn more_rounds_than_are_kept_are_the_last_ones() {
    let mut app = fx::page(Mode::Deadline, 700, Options::default());
    let rounds = app.question().rounds.len();
    assert_eq!(rounds, crate::whatif::seen::ROUNDS);
    update(&mut app, Message::Outlook(Box::new(Outlook { rounds: rounds as u64, ..outlook() })));
    assert_eq!(app.outlook_window(), "last");
    press(&mut app, Action::Tradeoff);
    press(&mut app, Action::Window);
    update(&mut app, Message::Outlook(Box::new(Outlook { rounds: 20, ..outlook() })));
    assert_eq!(app.outlook_window(), "last 10 s");
}

#[test]
fn w7_the_share_of_probe_rounds_by_key_is_marked_in_the_history() {
    let (mut app, round) = running();
    fx::finish(&mut app, round);
    let effects = press(&mut app, Action::Probe);
    assert!((applied(&effects).probe - 0.05).abs() < 1e-9);
    let settings = Arc::new(app.wanted().clone());
    fx::start(&mut app, &fx::round(5, fx::at(5), &settings, &fx::TYPICAL));
    let words: Vec<String> = app.picture().marks.iter().map(|mark| mark.change.words("to")).collect();
    assert_eq!(words, ["probe 0 to 5 %"]);
}

#[test]
fn w9_variants_are_one_change_and_end_where_what_they_vary_is_set_by_key() {
    let [a, b] = [150.0, 250.0].map(|n| Variant::Budget(fx::ms(n)));
    let plain = fx::settings(Mode::Deadline);
    let base = Settings { ab: Some(Ab { a, b }), ..plain.clone() };
    let mut app = App::new(fx::setup(&fx::page_names(), plain, Options::default()));
    let mut marks = Vec::new();
    for no in 1..=6 {
        if no == 2 {
            update(
                &mut app,
                Message::Engine(Event::SettingsChanged { at: fx::at(2), settings: Arc::new(base.clone()) }),
            );
        }
        let settings = if no < 2 { fx::settings(Mode::Deadline) } else { base.of_round(no).0 };
        let round = fx::round(no, fx::at(no), &Arc::new(settings), &fx::TYPICAL);
        fx::start(&mut app, &round);
        assert!(!app.config.is_switching(), "round {no}");
        fx::finish(&mut app, round);
        marks = app.picture().marks.iter().map(|mark| (mark.round.0, mark.change.words("to"))).collect();
    }
    assert_eq!(marks, [(2, "A/B 200 ms to budget 150 | 250 ms".to_owned())]);
    assert_eq!(app.turn(), Some((crate::domain::Arm::B, b)));
    // What they don't vary leaves them alone.
    assert!(applied(&press(&mut app, Action::Probe)).ab.is_some() && app.notice().is_none());
    let effects = press(&mut app, Action::BudgetUp);
    assert_eq!((applied(&effects).ab, applied(&effects).budget), (None, fx::ms(250.0)));
    let said = Notice::Done("A/B budget 150 | 250 ms is over: set by key".to_owned());
    assert_eq!(app.notice(), Some(&said));
}

/// In the counts and in the curve, over the same rounds, the same share of the calls has answered.
#[test]
fn w3_the_budget_that_holds_answers_what_the_counts_say() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    press(&mut app, Action::Tradeoff);
    for window in [Window::TenSeconds, Window::Minute, Window::FiveMinutes, Window::Start] {
        press(&mut app, Action::Window);
        let answered = app.question().answer();
        let held = answered.budgets.points.iter().find(|point| point.budget == fx::ms(200.0)).unwrap();
        let counts = app.stats().totals(window);
        let share =
            f64::from(u32::try_from(counts.ok).unwrap()) / f64::from(u32::try_from(counts.calls()).unwrap());
        assert_eq!((held.status, held.n), (Status::Exact, counts.rounds), "{window:?}");
        assert!((held.completeness.unwrap() - share).abs() < 1e-12, "{window:?}");
    }
}
