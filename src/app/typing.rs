//! A line of text that is being typed or pasted, of bounded length.

use super::{Key, KeyCode};
use crate::domain::text;

/// What a key did to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// It is still being typed.
    GoesOn,
    /// It is to hold.
    Kept,
    /// It is to be forgotten.
    Dropped,
}

/// A line of text that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedLine {
    text: String,
    /// Most characters.
    most: usize,
}

impl TypedLine {
    /// Nothing is typed yet.
    pub(super) const fn new(most: usize) -> Self {
        Self { text: String::new(), most }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
    }

    /// A key was typed.
    pub(super) fn typed(&mut self, key: Key) -> Typed {
        match key.code {
            KeyCode::Char('u') if key.ctrl => self.clear(),
            KeyCode::Char(c) if !key.ctrl => self.insert(c),
            KeyCode::Backspace if self.text.pop().is_some() => {}
            KeyCode::Enter => return Typed::Kept,
            KeyCode::Esc | KeyCode::Backspace => return Typed::Dropped,
            _ => {}
        }
        Typed::GoesOn
    }

    /// Pasted text is typed.
    pub(super) fn pasted(&mut self, text: &str) {
        text.chars().for_each(|c| self.insert(c));
    }

    fn insert(&mut self, c: char) {
        if !c.is_control() && !text::is_hidden(c) && self.text.chars().count() < self.most {
            self.text.push(c);
        }
    }
}
