//! Keys as the terminal sends them, as people write them, and as the screen names them.

use crate::domain::text::is_hidden;
use std::fmt::{self, Write};

/// A key without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyCode {
    /// A character as typed.
    Char(char),
    /// Cursor left.
    Left,
    /// Cursor right.
    Right,
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// Whether Ctrl was held.
    pub ctrl: bool,
}

/// Keys that are no characters, as they are written.
const NAMED: [(&str, KeyCode); 13] = [
    ("space", KeyCode::Char(' ')),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
];

/// What terminals send for some letters with Ctrl is what they send for another key.
const TWINS: [(char, &str); 4] = [('i', "tab"), ('m', "enter"), ('h', "backspace"), ('[', "esc")];

/// Why a word is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// It is no word for one.
    #[error("is no key")]
    Unknown,
    /// A terminal sends the same for this other key.
    #[error("is the same as `{0}` to a terminal")]
    Twin(&'static str),
    /// A terminal sends nothing of its own for it.
    #[error("is the same with Ctrl and without to a terminal")]
    NoCtrl,
}

impl Key {
    /// The key alone.
    #[must_use]
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, ctrl: false }
    }

    /// A character alone.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self::plain(KeyCode::Char(c))
    }

    /// A character with Ctrl.
    #[must_use]
    pub const fn ctrl(c: char) -> Self {
        Self { code: KeyCode::Char(c), ctrl: true }
    }

    /// The words for keys that are no characters.
    pub fn words() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|named| named.0)
    }

    /// Reads a key as it is displayed: a character as it is typed, or a word such as `left`, `space` or `ctrl-l`. Words
    /// may be written large.
    ///
    /// # Errors
    /// Why the word is no key, or none that a terminal can tell from others.
    pub fn parse(word: &str) -> Result<Self, NoKey> {
        let mut chars = word.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return if c.is_control() || is_hidden(c) { Err(NoKey::Unknown) } else { Ok(Self::char(c)) };
        }
        let word = word.to_ascii_lowercase();
        match word.strip_prefix("ctrl-") {
            Some(rest) => Self::with_ctrl(rest),
            None => named(&word).map(Self::plain).ok_or(NoKey::Unknown),
        }
    }

    fn with_ctrl(word: &str) -> Result<Self, NoKey> {
        let mut chars = word.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return match TWINS.iter().find(|twin| twin.0 == c) {
                Some(twin) => Err(NoKey::Twin(twin.1)),
                None if c.is_ascii_lowercase() => Ok(Self::ctrl(c)),
                None => Err(NoKey::NoCtrl),
            };
        }
        match named(word).ok_or(NoKey::Unknown)? {
            KeyCode::Enter | KeyCode::Esc | KeyCode::Tab | KeyCode::Backspace => Err(NoKey::NoCtrl),
            code => Ok(Self { code, ctrl: true }),
        }
    }

    /// Its name on the screen: `q`, `space`, `←`, `Ctrl-C`, `Home`.
    #[must_use]
    pub fn shown(self) -> String {
        self.name(false)
    }

    /// The same in 7-bit characters, for keys that have some.
    #[must_use]
    pub fn ascii(self) -> String {
        self.name(true)
    }

    fn name(self, ascii: bool) -> String {
        let mut name = String::new();
        self.write(ascii, &mut name);
        name
    }

    /// Adds its name to a text.
    pub(super) fn write(self, ascii: bool, out: &mut String) {
        if self.ctrl {
            out.push_str("Ctrl-");
        }
        match self.code {
            KeyCode::Char(' ') => out.push_str("space"),
            KeyCode::Char(c) if self.ctrl => out.extend(c.to_uppercase()),
            KeyCode::Char(c) => out.push(c),
            KeyCode::Left if !ascii => out.push('←'),
            KeyCode::Right if !ascii => out.push('→'),
            KeyCode::Up if !ascii => out.push('↑'),
            KeyCode::Down if !ascii => out.push('↓'),
            code => {
                // Writing to a string can't fail.
                let _ = write!(out, "{code:?}");
            }
        }
    }

    /// The character that it is and that can be seen, without Ctrl.
    pub(super) fn seen(self) -> Option<char> {
        match (self.code, self.ctrl) {
            (KeyCode::Char(c), false) if c != ' ' => Some(c),
            _ => None,
        }
    }

    /// Whether it is an arrow, without Ctrl.
    pub(super) fn is_arrow(self) -> bool {
        !self.ctrl && matches!(self.code, KeyCode::Left | KeyCode::Right | KeyCode::Up | KeyCode::Down)
    }
}

fn named(word: &str) -> Option<KeyCode> {
    NAMED.iter().find(|named| named.0 == word).map(|named| named.1)
}

impl fmt::Display for Key {
    /// As it is written: `q`, `space`, `left`, `ctrl-c`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ctrl = if self.ctrl { "ctrl-" } else { "" };
        match (NAMED.iter().find(|named| named.1 == self.code), self.code) {
            (Some((word, _)), _) => write!(f, "{ctrl}{word}"),
            (None, KeyCode::Char(c)) => write!(f, "{ctrl}{c}"),
            (None, code) => write!(f, "{ctrl}{code:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        let key = |word| Key::parse(word).unwrap();
        assert_eq!(key("q"), Key::char('q'));
        assert_eq!(key("R"), Key::char('R'));
        assert_eq!((key(" "), key("space")), (Key::char(' '), Key::char(' ')));
        assert_eq!((key("-"), key(","), key("é")), (Key::char('-'), Key::char(','), Key::char('é')));
        assert_eq!((key("ctrl-c"), key("Ctrl-C")), (Key::ctrl('c'), Key::ctrl('c')));
        assert_eq!((key("Left"), key("PgUp")), (Key::plain(KeyCode::Left), Key::plain(KeyCode::PageUp)));
        assert_eq!(key("ctrl-left"), Key { code: KeyCode::Left, ctrl: true });
        for word in ["", "qq", "F1", "alt-q", "ctrl-", "ctrl-ctrl-c", "\n", "\u{1b}", "shift-tab"] {
            assert_eq!(Key::parse(word), Err(NoKey::Unknown), "{word:?}");
        }
    }

    #[test]
    fn keys_that_a_terminal_cannot_tell_apart_are_refused() {
        for (word, twin) in
            [("ctrl-i", "tab"), ("Ctrl-M", "enter"), ("ctrl-h", "backspace"), ("ctrl-[", "esc")]
        {
            assert_eq!(Key::parse(word), Err(NoKey::Twin(twin)));
        }
        for word in ["ctrl-enter", "ctrl-tab", "ctrl-1", "ctrl--", "ctrl-?"] {
            assert_eq!(Key::parse(word), Err(NoKey::NoCtrl), "{word}");
        }
    }

    #[test]
    fn every_key_has_a_name_on_the_screen() {
        assert_eq!(Key::ctrl('c').shown(), "Ctrl-C");
        assert_eq!(Key::char(' ').shown(), "space");
        assert_eq!(Key::plain(KeyCode::Left).shown(), "←");
        assert_eq!(Key { code: KeyCode::Left, ctrl: true }.ascii(), "Ctrl-Left");
    }

    proptest! {
        #[test]
        fn a_key_reads_back_as_it_is_written(word in "\\PC{0,9}|(ctrl-)?([a-z]|left|space|pgdn|home)") {
            if let Ok(key) = Key::parse(&word) {
                prop_assert_eq!(Key::parse(&key.to_string()), Ok(key));
            }
        }
    }
}
