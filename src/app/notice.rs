//! What the screen says for a moment, and whether the session is recorded.

use super::{App, Message};

/// Something to be said for a moment: until the next key, or until it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It was done.
    Done(String),
    /// It could not be done.
    Failed(String),
    /// A word and what it means, over as many rows as that takes. It stays until the next key.
    Explained(String),
}

/// Whether the session is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Recording {
    /// It is not.
    #[default]
    Off,
    /// It is.
    On,
    /// It should be, and something is missing for this reason.
    Faulty(String),
}

impl App {
    /// What is said at the moment.
    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// Whoever goes on has read it.
    pub(super) fn heard(&mut self, message: &Message) {
        let over = matches!(
            message,
            Message::Action(_)
                | Message::Typed(_)
                | Message::Pasted(_)
                | Message::Pointed(..)
                | Message::NoticeOver
        );
        if over {
            self.notice = None;
        }
    }
}
