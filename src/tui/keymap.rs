//! Crossterm's keys in our own words.

use crate::app::actions::{Key, KeyCode};
use crossterm::event::{KeyCode as Code, KeyEvent, KeyEventKind, KeyModifiers};

/// The key, if it is one that could be bound: pressed or repeated, alone or with Ctrl.
pub(super) fn key(event: KeyEvent) -> Option<Key> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
