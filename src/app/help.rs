//! Where the lines of the help stand and how far it scrolls. The view draws by this and the keys scroll by it.

use super::App;
use super::actions::bindings;
use crate::domain::text;

/// A page of the help, for a size of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPage {
    /// What is on the screen behind it, in lines.
    pub about: Vec<String>,
    /// Lines of that, a blank one, and lines of keys.
    lines: usize,
    /// Blank rows above and below the lines.
    pub air: u16,
    /// Rows of lines.
    pub rows: usize,
    /// Columns of lines.
    pub columns: usize,
}

impl HelpPage {
    /// Columns of the terminal that a line takes.
    pub const LINE: u16 = 40;

    /// Lines that explain signs rather than keys.
    pub const SIGNS: usize = 11;

    /// The page over this screen, in a terminal with so many columns and rows.
    #[must_use]
    pub fn of(app: &App, width: u16, height: u16) -> Self {
        let about = text::wrapped(&app.about(), Self::LINE - 3);
        let air = u16::from(height >= 16);
        Self {
            lines: about.len() + 1 + bindings(app.kind()).count(),
            about,
            air,
            // The title and the footer stay.
            rows: usize::from(height.saturating_sub(2 + 2 * air)),
            columns: usize::from((width / Self::LINE).max(1)),
        }
    }

    /// Lines of the keys with the blank ones after them. The signs have a column of their own where there are
    /// columns enough and the keys fill half of their last one.
    #[must_use]
    pub fn keys(&self) -> usize {
        let (keys, rows) = (self.lines, self.rows.max(1));
        let whole = keys.next_multiple_of(rows);
        let own_column = self.columns > whole / rows && 2 * (whole - keys) <= rows;
        if own_column { whole } else { keys + 1 }
    }

    /// Lines in sight at once.
    #[must_use]
    pub fn in_sight(&self) -> usize {
        self.rows * self.columns
    }

    /// The first line of the last page, which is full: scrolling ends with the last line in sight.
    #[must_use]
    pub fn end(&self) -> usize {
        (self.keys() + Self::SIGNS).saturating_sub(self.in_sight())
    }
}
