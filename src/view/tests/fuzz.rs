//! Every size and any keys in any state: nothing panics, and the settings stay in their ranges.

use super::{drawn, scenes, tradeoff};
use crate::app::actions::BINDINGS;
use crate::app::fixture::{self as fx, Fate};
use crate::app::{Action, App, Colour, Gesture, Message, Options, Panel, Screen, Target, ThemeName, update};
use crate::domain::event::{AttemptStep, Vitals};
use crate::domain::{
    AttemptKind, EndpointId, Event, HedgeDelay, Mode, Outcome, Phase, PlayState, Reason, RoundNo, Settings,
};
use proptest::prelude::*;
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// States to pick from.
pub(crate) const STATES: usize = 23;

thread_local! {
    /// The states that this thread has made: most have hundreds of rounds behind them.
    static MADE: RefCell<HashMap<(usize, bool), App>> = RefCell::default();
}

/// An app in a state that a number picks.
pub(crate) fn state(pick: usize, ascii: bool) -> App {
    MADE.with_borrow_mut(|made| {
        made.entry((pick % STATES, ascii)).or_insert_with(|| new_state(pick, ascii)).clone()
    })
}

fn new_state(pick: usize, ascii: bool) -> App {
    let colour = if ascii { Colour::Mono } else { Colour::TrueColor };
    let options = Options { ascii, colour, theme: ThemeName::ALL[pick % ThemeName::ALL.len()] };
    match pick % STATES {
        0 => scenes::running(options),
        1 => scenes::cut(options),
        2 => scenes::quorum(options),
        3 => scenes::hedge(options),
        4 => scenes::hedge_running(),
        5 => scenes::required_failed(),
        6 => scenes::wait_all(),
        7 => scenes::paused(),
        8 => scenes::pending(),
        9 => scenes::waiting(),
        10 => scenes::named(&[]),
        11 => scenes::quorum_impossible(),
        12 => scenes::changed(),
        13 => scenes::frozen(options),
        14 => scenes::filtering(options),
        15 => scenes::chosen(options),
        16 => scenes::hedge_held(options),
        17 => scenes::race(),
        18 => tradeoff::scene(options),
        19 => tradeoff::full(),
        20 => tradeoff::censored(),
        21 => scenes::replay(options, PlayState::Playing),
        _ => scenes::many(),
    }
}

/// An event that no engine would send, or in an order that none would.
pub(crate) fn wild() -> impl Strategy<Value = Event> {
    let reason = prop::sample::select(Reason::ALL);
    let time = prop_oneof![Just(Duration::MAX), (0_u64..1_000_000_000).prop_map(Duration::from_nanos)];
    let phase = prop::sample::select(Phase::ALL);
    (0_u64..400, 0_usize..70, 0_usize..9, time, reason, phase, 0_u8..6).prop_map(
        |(round, call, attempt, at, reason, phase, kind)| {
            let (round, call) = (RoundNo(round), EndpointId(call));
            let step = |step| Event::Attempt { round, call, attempt, at, step };
            match kind {
                0 => step(AttemptStep::Started { replica: attempt * 9, kind: AttemptKind::Hedge }),
                1 => step(AttemptStep::Reached(phase)),
                2 => Event::CallSettled { round, call, at, outcome: Outcome::Missing(reason) },
                3 => Event::Paused(attempt % 2 == 0),
                4 => {
                    let budget = at.min(Duration::from_secs(100));
                    let settings = Settings { budget, mode: Mode::ALL[attempt % 5], ..Settings::default() };
                    let fates =
                        vec![Fate::Answers([0.0, 50.0, 180.0, 250.0, 9000.0][attempt % 5]); call.index()];
                    let made = fx::round(round.0, budget, &Arc::new(settings), &fates);
                    Event::RoundSettled { round: Arc::new(made), vitals: Vitals::default() }
                }
                _ => Event::SettingsChanged {
                    at,
                    settings: Arc::new(Settings { budget: at, ..Settings::default() }),
                },
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// T01, T05, T28: any size.
    #[test]
    fn t01_every_size_draws_without_a_panic(
        pick in 0..STATES, ascii: bool, panel in prop::sample::select(&Panel::ALL[..]),
        sizes in prop::collection::vec((0_u16..=260, 0_u16..=90), 12),
        selected in 0_usize..70, top in 0_usize..100,
    ) {
        let mut app = scenes::asked(state(pick, ascii), panel);
        for (width, height) in sizes {
            app.screen = Screen::Dashboard;
            drawn(&app, width, height);
            app.screen = Screen::Tradeoff;
            drawn(&app, width, height);
            // Also an endpoint and a row that do not exist.
            (app.screen, app.selected) = (Screen::Detail(top), selected);
            drawn(&app, width, height);
        }
    }

    /// T30, T31: any keys, between events that come as they like.
    #[test]
    fn t31_any_keys_and_events_in_any_state(
        pick in 0..STATES,
        steps in prop::collection::vec((prop::sample::select(BINDINGS), prop::option::of(wild())), 1..60),
        size in (40_u16..=140, 10_u16..=50),
    ) {
        let mut app = state(pick, false);
        for (binding, event) in steps {
            let effects = update(&mut app, Message::Action(binding.action));
            if binding.action == Action::Quit {
                prop_assert_eq!(&effects, &[crate::app::Effect::Quit]);
            }
            // As the loop does it: while something is typed, keys are text.
            if app.is_typing() {
                update(&mut app, Message::Typed(binding.keys[0]));
            }
            if let Some(event) = event {
                update(&mut app, Message::Engine(event));
            }
            drawn(&app, size.0, size.1);
            prop_assert!(app.selected < app.endpoints.len().max(1));
        }
    }

    /// Any click anywhere, and what is pointed at exists.
    #[test]
    fn any_click_in_any_state(
        pick in 0_usize..STATES, size in (0_u16..=200, 0_u16..=60),
        clicks in prop::collection::vec((0_u16..=210, 0_u16..=70, 0_usize..3), 1..20),
    ) {
        let mut app = state(pick, false);
        for (x, y, gesture) in clicks {
            let target = crate::view::target(&app, Rect::new(0, 0, size.0, size.1), x, y);
            match target {
                Target::Lane(index) => prop_assert!(app.lineup.lanes().contains(&index)),
                Target::Round(no) => prop_assert!(app.stats().history().iter().any(|m| m.no == no)),
                Target::Scrubber(part) => prop_assert!(part <= 1000),
                Target::WhatIf | Target::Budget(_) | Target::Word(_) | Target::Elsewhere => {}
            }
            let gesture = [Gesture::Click, Gesture::WheelUp, Gesture::WheelDown][gesture];
            update(&mut app, Message::Pointed(gesture, target));
            drawn(&app, size.0, size.1);
        }
    }

    /// R20, R24: what keys do to the settings stays within its ranges.
    #[test]
    fn r20_r24_keys_keep_the_settings_in_range(
        pick in 0..STATES, actions in prop::collection::vec(prop::sample::select(BINDINGS), 1..120),
    ) {
        let mut app = state(pick, false);
        for binding in actions {
            for effect in update(&mut app, Message::Action(binding.action)) {
                let crate::app::Effect::Apply(settings) = effect else { continue };
                prop_assert_eq!(&settings, app.wanted());
                prop_assert!(settings.budget >= Settings::MIN_BUDGET);
                prop_assert!(settings.quorum.is_none_or(|k| (1..=app.optional().max(1)).contains(&k)));
                prop_assert!(settings.mode != Mode::Quorum || app.optional() > 0);
                if let HedgeDelay::Fixed(delay) = settings.hedge.delay {
                    prop_assert!(delay < settings.budget, "{:?} in {:?}", delay, settings.budget);
                }
            }
        }
    }
}

/// Heights at which a layout changes, and one below.
const EDGES: &[u16] = &[0, 1, 9, 10, 15, 16, 23, 24, 33, 34, 39, 40, 49, 50, 60, 80];

/// The sizes at which the layout changes, in every state; of the heights between them each state has its share.
#[test]
fn t01_the_edges_of_the_layouts() {
    let widths = [0, 1, 39, 40, 59, 60, 79, 80, 81, 109, 110, 119, 120, 159, 160, 250];
    for pick in 0..STATES {
        let mut app = state(pick, false);
        for (column, width) in (0_u16..).zip(widths) {
            let share = (0..=45).filter(|height| (height + column) % 23 == u16::try_from(pick).unwrap());
            for height in share.chain(EDGES.iter().copied()) {
                for screen in [Screen::Dashboard, Screen::Tradeoff, Screen::Detail(3)] {
                    app.screen = screen;
                    drawn(&app, width, height);
                }
            }
        }
    }
}

/// Every panel at every height, at the widths at which something changes.
#[test]
fn t01_every_panel_at_the_edges_of_the_layouts() {
    for app in [scenes::cut(Options::default()), scenes::hedge_held(Options::default()), scenes::race()] {
        for panel in Panel::ALL {
            let app = scenes::asked(app.clone(), panel);
            for (column, width) in (0_u16..).zip([60, 79, 80, 109, 110, 119, 120, 159, 160, 200]) {
                let share = (16..=60).filter(|height| (height + column) % 5 == 0);
                for height in share.chain([16, 23, 24, 39, 40, 49, 50]) {
                    drawn(&app, width, height);
                }
            }
        }
    }
}
