//! A text over the whole screen, wrapped to its width and scrolled: words explained, errors of a profile.

use super::{Action, App, Behind, Effect, Screen};
use crate::domain::text;

/// A text with a title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its paragraphs, a line each; blank lines set them apart.
    pub text: String,
}

impl Page {
    /// Columns that are read with ease.
    const WIDEST: u16 = 96;

    /// The lines of the page in a terminal so wide.
    #[must_use]
    pub fn lines(&self, width: u16) -> Vec<String> {
        let room = width.saturating_sub(2).clamp(1, Self::WIDEST);
        self.text.lines().flat_map(|line| text::wrapped(line, room)).collect()
    }

    /// Rows of lines in a terminal so high: the title and the footer stay.
    #[must_use]
    pub fn rows(height: u16) -> usize {
        usize::from(height.saturating_sub(if height >= 16 { 4 } else { 2 }))
    }
}

impl App {
    /// Puts a page on the screen. What was being typed is over.
    pub(super) fn read(&mut self, page: Page) {
        let behind = self.behind();
        self.stop_typing();
        (self.page, self.screen) = (page, Screen::Page { top: 0, behind });
    }

    /// The page that is read.
    #[must_use]
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// What is behind a page that would be opened now.
    pub(super) fn behind(&self) -> Behind {
        match self.screen {
            Screen::Detail(_) => Behind::Detail,
            Screen::Tradeoff => Behind::Tradeoff,
            Screen::Dashboard => Behind::Dashboard,
            Screen::Help { behind, .. } | Screen::Page { behind, .. } => behind,
        }
    }

    /// A key while a page is read.
    pub(super) fn in_page(&mut self, top: usize, behind: Behind, action: Action) -> Vec<Effect> {
        let rows = Page::rows(self.size.1);
        let end = self.page.lines(self.size.0).len().saturating_sub(rows);
        match turned(top, (rows, end), action, Action::Glossary) {
            Turned::To(top) => self.screen = Screen::Page { top, behind },
            Turned::Closed => self.screen = behind.screen(),
            Turned::Asks(effect) => return vec![effect],
        }
        Vec::new()
    }
}

/// What a key does to a text that takes the whole screen.
pub(super) enum Turned {
    /// It begins with this line then.
    To(usize),
    /// It is left.
    Closed,
    /// The text stays; something outside of it is asked for.
    Asks(Effect),
}

/// What a key does to a text of which so many rows are in sight and which scrolls to `end`. `opens` is the action that
/// opened it, which closes it as well.
pub(super) fn turned(top: usize, (rows, end): (usize, usize), action: Action, opens: Action) -> Turned {
    // The terminal may have grown since the last key.
    let top = top.min(end);
    let to = match action {
        Action::Up => top.saturating_sub(1),
        Action::Down => top + 1,
        Action::PageUp => top.saturating_sub(rows),
        Action::PageDown => top + rows,
        Action::First => 0,
        Action::Last => end,
        Action::Quit => return Turned::Asks(Effect::Quit),
        Action::Redraw => return Turned::Asks(Effect::Redraw),
        Action::Suspend => return Turned::Asks(Effect::Suspend),
        _ if action == Action::Back || action == opens => return Turned::Closed,
        _ => top,
    };
    Turned::To(to.min(end))
}
