//! What is made of a picture's counts to be drawn: made when it is first asked for, and kept until the counts change.
//! With thousands of endpoints it would else cost more than all the rest of a frame.

use crate::stats::{Blame, Hint, MissingRow, Stats, Window};
use std::cell::OnceCell;

/// The tables of a picture.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    missing: [OnceCell<Vec<MissingRow>>; Window::ALL.len()],
    blame: [OnceCell<Blame>; Window::ALL.len()],
    hints: OnceCell<Vec<Hint>>,
}

impl PartialEq for Tables {
    /// Everything follows from the counts.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tables {
    /// The missing table of a window, by `make`.
    pub(super) fn missing(&self, window: Window, make: impl FnOnce() -> Vec<MissingRow>) -> &[MissingRow] {
        self.missing[window as usize].get_or_init(make)
    }

    /// Who held the rounds of a window up.
    pub(super) fn blame(&self, window: Window, stats: &Stats) -> &Blame {
        self.blame[window as usize].get_or_init(|| stats.blame(window))
    }

    /// What to do about endpoints, whatever the profile already has.
    pub(super) fn hints(&self, stats: &Stats) -> &[Hint] {
        self.hints.get_or_init(|| stats.hints())
    }

    /// The counts, or the order of rows, are others now.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
