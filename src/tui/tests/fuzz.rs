//! Anything that a terminal can send, through the real key map, in any state and at any size, between events that no
//! engine would send. `PROPTEST_CASES` says how many sequences are tried.

use crate::app::actions::BINDINGS;
use crate::app::{Action, App, Effect, KeyCode, Message, Screen, update};
use crate::domain::{Event, HedgeDelay, Mode, Settings};
use crate::tui::keymap::heard;
use crate::view::tests::fuzz::{STATES, state, wild};
use crate::view::tests::{drawn, scenes};
use crossterm::event::{
    Event as Input, KeyCode as Code, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers, MediaKeyCode,
    ModifierKeyCode, MouseButton, MouseEvent, MouseEventKind,
};
use proptest::prelude::*;
use std::time::Duration;

/// Sequences that are tried where nobody says how many.
const SEQUENCES: u32 = 2000;

fn config() -> ProptestConfig {
    let cases =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(SEQUENCES);
    ProptestConfig { cases, ..ProptestConfig::default() }
}

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    Input(Input),
    Engine(Event),
    Tick(Duration),
}

const fn code(key: KeyCode) -> Code {
    match key {
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Tab => Code::Tab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
    }
}

fn press(code: Code, modifiers: KeyModifiers) -> Input {
    Input::Key(KeyEvent::new(code, modifiers))
}

fn bound() -> impl Strategy<Value = Input> {
    let keys: Vec<_> = BINDINGS.iter().flat_map(|b| b.keys).collect();
    prop::sample::select(keys).prop_map(|key| {
        press(code(key.code), if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE })
    })
}

fn any_key() -> impl Strategy<Value = Input> {
    let code = prop_oneof![
        any::<char>().prop_map(Code::Char),
        prop::char::range(' ', '~').prop_map(Code::Char),
        any::<u8>().prop_map(Code::F),
        prop::sample::select(vec![
            Code::Null,
            Code::Esc,
            Code::Enter,
            Code::BackTab,
            Code::Delete,
            Code::Insert,
            Code::CapsLock,
            Code::Menu,
            Code::KeypadBegin,
            Code::Media(MediaKeyCode::Play),
            Code::Modifier(ModifierKeyCode::LeftHyper),
        ]),
    ];
    let kind = prop::sample::select(vec![KeyEventKind::Press, KeyEventKind::Repeat, KeyEventKind::Release]);
    (code, any::<u8>(), kind, any::<u8>()).prop_map(|(code, modifiers, kind, state)| {
        let (modifiers, state) =
            (KeyModifiers::from_bits_truncate(modifiers), KeyEventState::from_bits_truncate(state));
        Input::Key(KeyEvent { code, modifiers, kind, state })
    })
}

fn mouse() -> impl Strategy<Value = Input> {
    let kinds = vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::Down(MouseButton::Middle),
        MouseEventKind::Up(MouseButton::Left),
        MouseEventKind::Drag(MouseButton::Right),
        MouseEventKind::Moved,
        MouseEventKind::ScrollUp,
        MouseEventKind::ScrollDown,
        MouseEventKind::ScrollLeft,
    ];
    let at = |most: u16| prop_oneof![9 => 0..most, 1 => any::<u16>()];
    (prop::sample::select(kinds), at(130), at(45), any::<u8>()).prop_map(|(kind, column, row, modifiers)| {
        let modifiers = KeyModifiers::from_bits_truncate(modifiers);
        Input::Mouse(MouseEvent { kind, column, row, modifiers })
    })
}

fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        3 => (0_u16..=110, 0_u16..=40),
        1 => prop::sample::select(vec![(80, 24), (40, 10), (39, 10), (40, 9), (1, 1), (0, 0), (0, 9), (9, 0)]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let input = prop_oneof![
        12 => bound(),
        4 => any_key(),
        3 => mouse(),
        2 => size().prop_map(|(width, height)| Input::Resize(width, height)),
        1 => "(?s).{0,40}".prop_map(Input::Paste),
        1 => prop::sample::select(vec![Input::FocusGained, Input::FocusLost]),
    ];
    prop_oneof![
        8 => input.prop_map(Step::Input),
        3 => wild().prop_map(Step::Engine),
        1 => any::<u64>().prop_map(|ns| Step::Tick(Duration::from_nanos(ns))),
    ]
}

/// Does what the loop does with an input.
fn send(app: &mut App, input: Input) -> Vec<Effect> {
    heard(app, input).map(|message| update(app, message)).unwrap_or_default()
}

/// What holds whatever was typed.
fn check(app: &App, effects: &[Effect]) -> Result<(), TestCaseError> {
    prop_assert!(app.selected < app.endpoints.len().max(1), "{} of {}", app.selected, app.endpoints.len());
    for effect in effects {
        let Effect::Apply(settings) = effect else { continue };
        prop_assert!(settings.budget >= Settings::MIN_BUDGET, "{:?}", settings.budget);
        prop_assert!(settings.quorum.is_none_or(|k| (1..=app.optional().max(1)).contains(&k)));
        prop_assert!(settings.mode != Mode::Quorum || app.optional() > 0);
        if let HedgeDelay::Fixed(delay) = settings.hedge.delay {
            prop_assert!(delay < settings.budget, "{:?} in {:?}", delay, settings.budget);
        }
    }
    let quits = |key, modifiers| heard(app, press(key, modifiers)) == Some(Message::Action(Action::Quit));
    prop_assert!(quits(Code::Char('c'), KeyModifiers::CONTROL));
    prop_assert_eq!(quits(Code::Char('q'), KeyModifiers::NONE), !app.is_typing());
    Ok(())
}

/// From anywhere Ctrl-C leads out, and Esc back to the dashboard, and soon.
fn comes_back(mut app: App) -> Result<(), TestCaseError> {
    let effects = send(&mut app.clone(), press(Code::Char('c'), KeyModifiers::CONTROL));
    prop_assert!(effects.contains(&Effect::Quit));
    for _ in 0..5 {
        let effects = send(&mut app, press(Code::Esc, KeyModifiers::NONE));
        prop_assert!(!effects.contains(&Effect::Quit));
    }
    prop_assert_eq!(app.screen, Screen::Dashboard);
    prop_assert!(!app.is_typing());
    prop_assert!(app.lineup.filter().is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    /// T01, T28, T30, T31.
    #[test]
    fn t31_whatever_a_terminal_sends_in_any_state(
        pick in 0..STATES, ascii: bool, first in size(), steps in prop::collection::vec(step(), 1..16),
    ) {
        let mut app = state(pick, ascii);
        let mut size = first;
        update(&mut app, Message::Resized(size.0, size.1));
        for step in steps {
            let effects = match step {
                Step::Input(input) => {
                    // The terminal may have another size before the app is told: it is drawn at that one.
                    if let Input::Resize(width, height) = input {
                        size = (width, height);
                        drawn(&app, width, height);
                    }
                    send(&mut app, input)
                }
                Step::Engine(event) => update(&mut app, Message::Engine(event)),
                Step::Tick(now) => update(&mut app, Message::Tick(now)),
            };
            drawn(&app, size.0, size.1);
            check(&app, &effects)?;
        }
        comes_back(app)?;
    }
}

/// T01, T28: the largest and the narrowest screens that a terminal may claim to be.
#[test]
fn t01_absurd_sizes_in_every_state() {
    for pick in 0..STATES {
        let mut app = state(pick, pick % 2 == 0);
        for (width, height) in [(500, 200), (65_535, 1), (1, 65_535), (65_535, 3), (3, 9_999)] {
            send(&mut app, Input::Resize(width, height));
            drawn(&app, width, height);
        }
        send(&mut app, Input::Resize(65_535, 12));
        send(&mut app, press(Code::Char('j'), KeyModifiers::NONE));
        drawn(&app, 80, 24);
    }
}

/// T30: with nothing to point at, select or open, no key does harm.
#[test]
fn t30_every_key_twice_without_an_endpoint() {
    for binding in BINDINGS {
        let mut app = scenes::named(&[]);
        for key in binding.keys.iter().chain(binding.keys) {
            let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            send(&mut app, press(code(key.code), modifiers));
            drawn(&app, 80, 24);
        }
    }
}
