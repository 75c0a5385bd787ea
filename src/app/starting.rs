//! What a dashboard begins with, and its first moments: until somebody types a key, the footer says how to begin.

use super::{App, Keymap, Message, Notice};
use crate::stats::Window;

impl App {
    /// The same, where these keys hold.
    #[must_use]
    pub fn with_keys(self, keymap: Keymap) -> Self {
        Self { keymap, ..self }
    }

    /// The same, where this window is counted over.
    #[must_use]
    pub fn over(self, window: Window) -> Self {
        Self { window, ..self }
    }

    /// The same, where so many rounds only warm up.
    #[must_use]
    pub fn warming(self, rounds: u64) -> Self {
        Self { warmup: rounds, ..self }
    }

    /// The same, where the process may have fewer file descriptors than rounds may need.
    #[must_use]
    pub fn short_of_descriptors(self, limit: u64, need: u64) -> Self {
        let said = format!("{limit} file descriptors of {need} that may be needed: try `ulimit -n {need}`");
        Self { descriptors: Some((limit, need)), notice: Some(Notice::Failed(said)), ..self }
    }

    /// The same in the place of another: what is looked at stays as far as that makes sense.
    #[must_use]
    pub fn after(self, before: &Self) -> Self {
        Self { size: before.size, window: before.window, panel: before.panel, ..self }
    }

    /// The same, and the footer says how to begin until the first key.
    #[must_use]
    pub fn welcoming(self) -> Self {
        Self { fresh: true, ..self }
    }

    /// Whether nobody has typed anything yet.
    #[must_use]
    pub const fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether the selected endpoint can be made to fail.
    #[must_use]
    pub fn can_break(&self) -> bool {
        self.endpoints.get(self.selected).is_some_and(|e| e.simulated)
    }

    /// Somebody has begun.
    pub(super) fn touched(&mut self, message: &Message) {
        let by_hand = matches!(
            message,
            Message::Action(_) | Message::Typed(_) | Message::Pasted(_) | Message::Pointed(..)
        );
        self.fresh &= !by_hand;
    }
}
