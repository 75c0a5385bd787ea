//! Crossterm's keys and mouse in our own words.

use crate::app::{App, Gesture, Key, KeyCode, Keymap, Kind, Message, Target};
use crate::domain::text;
use crate::view;
use crossterm::event::{Event as Input, KeyCode as Code, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

/// What the terminal sent, as the app at the moment understands it.
pub(super) fn heard(app: &App, input: Input) -> Option<Message> {
    match input {
        Input::Key(event) => message((&app.keymap, app.kind()), key(event)?, app.is_typing()),
        Input::Mouse(event) => {
            let (width, height) = app.size();
            let area = Rect::new(0, 0, width, height);
            let (gesture, column, row) = (gesture(event)?, event.column, event.row);
            let target = match gesture {
                Gesture::Explain => view::word(app, area, column, row),
                _ => view::target(app, area, column, row),
            };
            // What can't be chosen or opened is explained, where it is a word.
            let words = gesture == Gesture::Click && target == Target::Elsewhere;
            let target = if words { view::word(app, area, column, row) } else { target };
            Some(Message::Pointed(gesture, target))
        }
        // Never taken for keys: who pastes a word with a q in it does not want to quit.
        Input::Paste(pasted) => {
            let line = pasted.split(['\n', '\r']).next().unwrap_or_default();
            Some(Message::Pasted(text::clean(line)))
        }
        Input::Resize(width, height) => Some(Message::Resized(width, height)),
        Input::FocusGained | Input::FocusLost => None,
    }
}

/// The key, if it is one that could be bound: pressed or repeated, alone or with Ctrl.
fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let code = match event.code {
        Code::Char(c) => KeyCode::Char(c),
        Code::Left => KeyCode::Left,
        Code::Right => KeyCode::Right,
        Code::Up => KeyCode::Up,
        Code::Down => KeyCode::Down,
        Code::Enter => KeyCode::Enter,
        Code::Esc => KeyCode::Esc,
        Code::Tab => KeyCode::Tab,
        Code::Backspace => KeyCode::Backspace,
        Code::Home => KeyCode::Home,
        Code::End => KeyCode::End,
        Code::PageUp => KeyCode::PageUp,
        Code::PageDown => KeyCode::PageDown,
        _ => return None,
    };
    let known = KeyModifiers::SHIFT | KeyModifiers::CONTROL;
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    known.contains(event.modifiers).then_some(Key { code, ctrl })
}

/// What a key says. While text is typed a key is a part of it, except that those with Ctrl keep their actions.
fn message((keymap, kind): (&Keymap, Kind), key: Key, typing: bool) -> Option<Message> {
    let action = keymap.action_for(kind, key);
    if typing && (action.is_none() || !key.ctrl) {
        Some(Message::Typed(key))
    } else {
        action.map(Message::Action)
    }
}

/// What the mouse did, where it means something.
fn gesture(event: MouseEvent) -> Option<Gesture> {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Gesture::Click),
        MouseEventKind::Down(MouseButton::Right) => Some(Gesture::Explain),
        MouseEventKind::ScrollUp => Some(Gesture::WheelUp),
        MouseEventKind::ScrollDown => Some(Gesture::WheelDown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Action;

    #[test]
    fn while_typing_keys_are_text_and_ctrl_c_still_quits() {
        let keymap = Keymap::default();
        let message = |key, typing| message((&keymap, Kind::Live), key, typing);
        let q = Key::char('q');
        assert_eq!(message(q, false), Some(Message::Action(Action::Quit)));
        assert_eq!(message(q, true), Some(Message::Typed(q)));
        assert_eq!(message(Key::ctrl('c'), true), Some(Message::Action(Action::Quit)));
        assert_eq!(message(Key::ctrl('z'), true), Some(Message::Action(Action::Suspend)));
        assert_eq!(message(Key::ctrl('u'), true), Some(Message::Typed(Key::ctrl('u'))));
        assert_eq!(message(Key::char('Q'), false), None);
        let enter = Key::plain(KeyCode::Enter);
        assert_eq!(message(enter, true), Some(Message::Typed(enter)));
    }

    #[test]
    fn the_mouse_presses_and_scrolls_and_nothing_else() {
        let event = |kind| gesture(MouseEvent { kind, column: 7, row: 3, modifiers: KeyModifiers::NONE });
        assert_eq!(event(MouseEventKind::Down(MouseButton::Left)), Some(Gesture::Click));
        assert_eq!(event(MouseEventKind::Down(MouseButton::Right)), Some(Gesture::Explain));
        assert_eq!(event(MouseEventKind::ScrollUp), Some(Gesture::WheelUp));
        assert_eq!(event(MouseEventKind::ScrollDown), Some(Gesture::WheelDown));
        for nothing in [
            MouseEventKind::Up(MouseButton::Left),
            MouseEventKind::Down(MouseButton::Middle),
            MouseEventKind::Drag(MouseButton::Left),
            MouseEventKind::Moved,
            MouseEventKind::ScrollLeft,
        ] {
            assert_eq!(event(nothing), None);
        }
    }

    #[test]
    fn keys_pass_with_ctrl_and_shift_and_not_with_alt_or_on_release() {
        let press = |code, modifiers| key(KeyEvent::new(code, modifiers));
        assert_eq!(press(Code::Char('c'), KeyModifiers::CONTROL), Some(Key::ctrl('c')));
        assert_eq!(press(Code::Char('R'), KeyModifiers::SHIFT), Some(Key::char('R')));
        assert_eq!(press(Code::Char('q'), KeyModifiers::ALT), None);
        assert_eq!(press(Code::F(1), KeyModifiers::NONE), None);
        let mut released = KeyEvent::new(Code::Char('q'), KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert_eq!(key(released), None);
    }
}
