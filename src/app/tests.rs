use super::fixture as fx;
use super::*;
use crate::domain::Mode;
use crate::domain::event::{AttemptStep, Vitals};
use crate::domain::{EndpointId, HedgeDelay, Outcome, Reason, RoundNo};
use std::time::Duration;

mod look;
mod tradeoff;

fn press(app: &mut App, action: Action) -> Vec<Effect> {
    update(app, Message::Action(action))
}

fn applied(effects: &[Effect]) -> &Settings {
    match effects {
        [Effect::Apply(settings)] => settings,
        other => panic!("no settings in {other:?}"),
    }
}

/// A page round that runs since 187 ms.
fn running() -> (App, Round) {
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    let round = fx::round(4, fx::at(4), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL);
    fx::play(&mut app, &round, fx::ms(187.0));
    (app, round)
}

#[test]
fn a_change_is_pending_until_a_round_starts_with_it() {
    let (mut app, _) = running();
    let effects = press(&mut app, Action::BudgetUp);
    assert_eq!(applied(&effects).budget, fx::ms(250.0));
    assert_eq!(app.config.live().budget, fx::ms(200.0));
    assert_eq!(app.wanted().budget, fx::ms(250.0));
    assert_eq!(app.round_budget(), fx::ms(200.0), "no round changes its settings midway");

    // A round that was started before the change arrived says nothing of it.
    fx::start(&mut app, &fx::round(5, fx::at(5), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL));
    assert!(app.config.is_switching());
    let settings = Arc::new(app.wanted().clone());
    fx::start(&mut app, &fx::round(6, fx::at(6), &settings, &fx::TYPICAL));
    assert!(!app.config.is_switching() && *app.config.live() == *settings);
}

#[test]
fn repeated_keys_build_on_what_is_pending_and_can_take_it_back() {
    let (mut app, _) = running();
    press(&mut app, Action::BudgetUp);
    let effects = press(&mut app, Action::BudgetUp);
    assert_eq!(applied(&effects).budget, fx::ms(300.0));
    press(&mut app, Action::BudgetDown);
    let effects = press(&mut app, Action::BudgetDown);
    assert_eq!(applied(&effects).budget, fx::ms(200.0));
    assert!(!app.config.is_switching(), "back to what is in force: nothing is pending");
}

#[test]
fn keys_that_come_faster_than_their_echoes_leave_nothing_pending() {
    let (mut app, _) = running();
    let echo = |app: &mut App, settings: &Settings| {
        let settings = Arc::new(settings.clone());
        update(app, Message::Engine(Event::SettingsChanged { at: fx::ms(1.0), settings }));
    };
    for keys in [
        vec![Action::BudgetUp, Action::BudgetDown],
        vec![Action::Mode(Mode::Quorum), Action::Mode(Mode::Deadline)],
        vec![Action::NextMode; 5],
        vec![Action::BudgetUp, Action::BudgetDown, Action::BudgetUp],
    ] {
        let asked: Vec<Settings> =
            keys.into_iter().map(|key| applied(&press(&mut app, key)).clone()).collect();
        let last = asked.last().unwrap().clone();
        for settings in &asked {
            echo(&mut app, settings);
        }
        assert_eq!(*app.wanted(), last);
        fx::start(&mut app, &fx::round(7, fx::at(7), &Arc::new(last.clone()), &fx::TYPICAL));
        assert!(!app.config.is_switching());
        // What comes from elsewhere now is news.
        let other = Settings { budget: fx::ms(123.0), ..last.clone() };
        echo(&mut app, &other);
        assert_eq!(*app.wanted(), other);
        echo(&mut app, &last);
    }
}

#[test]
fn an_echo_of_an_earlier_key_does_not_undo_a_later_one() {
    let (mut app, _) = running();
    let first = applied(&press(&mut app, Action::BudgetUp)).clone();
    press(&mut app, Action::BudgetUp);
    let at = fx::at(9);
    update(&mut app, Message::Engine(Event::SettingsChanged { at, settings: Arc::new(first) }));
    assert_eq!(app.wanted().budget, fx::ms(300.0));
}

#[test]
fn a_change_from_elsewhere_is_pending_too() {
    let (mut app, _) = running();
    let settings = Arc::new(fx::settings(Mode::WaitAll));
    update(&mut app, Message::Engine(Event::SettingsChanged { at: fx::at(9), settings }));
    assert_eq!((app.config.live().mode, app.wanted().mode), (Mode::Deadline, Mode::WaitAll));
}

#[test]
fn the_modes_own_number_is_k_or_the_delay() {
    let (mut app, _) = running();
    assert!(press(&mut app, Action::NumberUp).is_empty(), "a deadline round has no number of its own");
    press(&mut app, Action::Mode(Mode::Quorum));
    assert_eq!(applied(&press(&mut app, Action::NumberUp)).quorum, Some(4));
    for _ in 0..20 {
        press(&mut app, Action::NumberUp);
    }
    assert_eq!(app.wanted().quorum, Some(8));
    for _ in 0..20 {
        press(&mut app, Action::NumberDown);
    }
    assert_eq!(app.wanted().quorum, Some(1));
    press(&mut app, Action::Mode(Mode::Hedge));
    assert_eq!(applied(&press(&mut app, Action::NumberDown)).hedge.delay, HedgeDelay::Percentile(0.9));
}

#[test]
fn a_smaller_budget_takes_a_fixed_delay_along() {
    let (mut app, _) = running();
    press(&mut app, Action::Mode(Mode::Hedge));
    for _ in 0..4 {
        press(&mut app, Action::NumberDown);
    }
    assert_eq!(app.wanted().hedge.delay, HedgeDelay::Fixed(fx::ms(175.0)));
    press(&mut app, Action::BudgetDown);
    assert_eq!(app.wanted().hedge.delay, HedgeDelay::Fixed(fx::ms(150.0)));
}

#[test]
fn a_published_round_is_on_the_lanes_at_once_and_in_the_totals_once_settled() {
    let (mut app, round) = running();
    let before = app.stats().totals(Window::Start).calls();
    let round = Arc::new(round);
    update(&mut app, Message::Engine(Event::RoundPublished(Arc::clone(&round))));
    assert_eq!(*app.shown(), Shown::Over(Arc::clone(&round)));
    assert_eq!(app.stats().totals(Window::Start).calls(), before);
    update(&mut app, Message::Engine(Event::RoundSettled { round, vitals: Vitals::default() }));
    assert_eq!(app.stats().totals(Window::Start).calls(), before + 8);
}

#[test]
fn lost_live_events_blur_a_lane_but_no_total() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut app = App::new(fx::setup(&fx::page_names(), (*settings).clone(), Options::default()));
    let round = fx::round(1, fx::at(1), &settings, &fx::TYPICAL);
    fx::start(&mut app, &round);
    // Only the very end of one attempt got through.
    let step = AttemptStep::Ended {
        outcome: crate::domain::AttemptOutcome::Ok,
        reason: None,
        status: None,
        reused: None,
    };
    let at = fx::ms(61.0);
    update(
        &mut app,
        Message::Engine(Event::Attempt { round: round.no, call: EndpointId(1), attempt: 1, at, step }),
    );
    update(&mut app, Message::Tick(round.at + fx::ms(90.0)));
    let lane = app.lane(0).unwrap();
    assert_eq!((lane.state, lane.end), (LaneState::Running(crate::domain::Phase::Queued), fx::ms(90.0)));
    assert_eq!(app.lane(1).unwrap().bars.len(), 2);
    let round = Arc::new(round);
    update(
        &mut app,
        Message::Engine(Event::RoundSettled { round: Arc::clone(&round), vitals: Vitals::default() }),
    );
    assert_eq!(*app.shown(), Shown::Over(round), "also without the news of its publishing");
    let totals = app.stats().totals(Window::Start);
    assert_eq!((totals.ok, totals.cut, totals.error), (6, 1, 1));
}

#[test]
fn overlapping_rounds_one_is_followed_to_its_end() {
    let (mut app, fourth) = running();
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let fifth = fx::round(5, fx::at(5), &settings, &fx::TYPICAL);
    fx::start(&mut app, &fifth);
    assert_eq!(app.round_no(), Some(RoundNo(4)));
    fx::finish(&mut app, fourth);
    assert_eq!(app.round_no(), Some(RoundNo(4)), "a settled round stays until the next starts");
    fx::start(&mut app, &fx::round(6, fx::at(6), &settings, &fx::TYPICAL));
    assert_eq!(app.round_no(), Some(RoundNo(6)));
    fx::finish(&mut app, fifth);
    assert_eq!(app.round_no(), Some(RoundNo(6)));
    assert_eq!(app.stats().totals(Window::Start).rounds, 5, "counted all the same");
}

#[test]
fn a_call_that_the_budget_cuts_never_shows_more_than_the_budget() {
    let (mut app, round) = running();
    update(&mut app, Message::Tick(round.at + Duration::from_secs(3)));
    assert_eq!(app.lane(5).unwrap().end, fx::ms(200.0));
    app.endpoints[5].required = true;
    assert_eq!(app.lane(5).unwrap().end, Duration::from_secs(3));
}

#[test]
fn time_never_goes_back() {
    let (mut app, round) = running();
    update(&mut app, Message::Tick(round.at));
    assert_eq!(app.elapsed(), fx::ms(187.0));
}

#[test]
fn a_changed_setting_is_marked_at_the_first_round_that_has_it() {
    let (mut app, round) = running();
    fx::finish(&mut app, round);
    press(&mut app, Action::BudgetUp);
    let settings = Arc::new(app.wanted().clone());
    fx::start(&mut app, &fx::round(5, fx::at(5), &settings, &fx::TYPICAL));
    let change = Change::Value { what: "budget".to_owned(), from: "200".to_owned(), to: "250".to_owned() };
    assert!(app.picture().marks.iter().eq([&Mark { round: RoundNo(5), change }]));
}

#[test]
fn the_missing_table_is_sorted_at_most_once_a_second() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut app = App::new(fx::setup(&["a", "b"], (*settings).clone(), Options::default()));
    let mut round = |no: u64, ms: u64, which: usize| {
        let refused = fx::Fate::Fails(1.0, Reason::ConnectRefused, None);
        let fates = [0, 1].map(|i| if i == which { refused } else { fx::Fate::Answers(5.0) });
        let round = fx::round(no, Duration::from_millis(ms), &settings, &fates);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
        app.missing_rows().iter().map(|r| (r.endpoint.0, r.count)).collect::<Vec<_>>()
    };
    assert_eq!(round(1, 0, 0), [(0, 1)]);
    assert_eq!(round(2, 200, 1), [(0, 1), (1, 1)]);
    assert_eq!(round(3, 400, 1), [(0, 1), (1, 2)], "counts are new, places are not");
    assert_eq!(round(4, 1100, 1), [(1, 3), (0, 1)]);
}

/// As many rows as a profile may have endpoints, drawn frame after frame.
#[test]
fn a_long_missing_table_keeps_its_places() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let names: Vec<String> = (0..5000).map(|i| format!("e{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut app = App::new(fx::setup(&names, (*settings).clone(), Options::default()));
    let refused = fx::Fate::Fails(1.0, Reason::ConnectRefused, None);
    let round = fx::round(1, Duration::ZERO, &settings, &vec![refused; names.len()]);
    fx::start(&mut app, &round);
    fx::finish(&mut app, round);
    // Within the second the last endpoint fails once more: its count is new, its place is not.
    let fates: Vec<_> =
        (1..=names.len()).map(|i| if i < names.len() { fx::Fate::Answers(5.0) } else { refused }).collect();
    let round = fx::round(2, fx::ms(200.0), &settings, &fates);
    fx::start(&mut app, &round);
    fx::finish(&mut app, round);
    for _frame in 0..20 {
        let rows = app.missing_rows();
        assert!(rows.iter().map(|r| r.endpoint.0).eq(0..names.len()));
        assert_eq!(rows.last().map(|r| r.count), Some(2));
    }
}

#[test]
fn pause_and_step() {
    let (mut app, _) = running();
    assert_eq!(press(&mut app, Action::Step), [Effect::Pause(true), Effect::Step]);
    assert_eq!(press(&mut app, Action::Step), [Effect::Step]);
    assert_eq!(press(&mut app, Action::Pause), [Effect::Pause(false)]);
    update(&mut app, Message::Engine(Event::Paused(true)));
    assert_eq!(app.pace, Pace::Paused, "the engine has the last word");
}

#[test]
fn help_leaves_the_dashboard_alone() {
    let (mut app, _) = running();
    press(&mut app, Action::Help);
    assert!(press(&mut app, Action::BudgetUp).is_empty());
    press(&mut app, Action::Down);
    assert_eq!((app.screen, app.selected), (Screen::Help { top: 1, behind: Behind::Dashboard }, 5));
    press(&mut app, Action::Back);
    assert_eq!(app.screen, Screen::Dashboard);
    assert_eq!(press(&mut app, Action::Quit), [Effect::Quit]);
}

#[test]
fn t30_selecting_in_an_empty_list_is_no_harm() {
    let mut app = App::new(fx::setup(&[], fx::settings(Mode::Deadline), Options::default()));
    for action in [Action::Down, Action::Last, Action::PageDown, Action::Up, Action::First, Action::PageUp] {
        press(&mut app, action);
        assert_eq!(app.selected, 0);
    }
    assert!(press(&mut app, Action::Mode(Mode::Quorum)).is_empty(), "a quorum of nothing is no mode");
}

#[test]
fn r17_a_late_value_is_kept_on_its_lane() {
    let mut call = fx::call(0, fx::Fate::Answers(260.0), fx::ms(200.0), Outcome::Missing(Reason::Deadline));
    call.late_by = Some(fx::ms(12.0));
    let lane = Lane::of_call(&call);
    assert_eq!(lane.late_by, Some(fx::ms(12.0)));
    assert!(lane.state.is_missing());
}

#[test]
fn an_error_text_from_outside_is_cleaned() {
    let (mut app, _) = running();
    update(&mut app, Message::Failed("bad\x1b[31m news".to_owned()));
    assert_eq!(app.health, Health::Failed("bad [31m news".to_owned()));
    assert!(!app.is_moving());
}
