//! What the screen says for a moment, and whether the session is recorded.

use super::{App, Message};
use std::time::Duration;

/// How long it is said where no key comes.
const MOMENT: Duration = Duration::from_secs(6);

/// Something to be said for a moment: until the next key, or some seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It was done.
    Done(String),
    /// It could not be done.
    Failed(String),
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
        self.notice.as_ref().map(|(notice, _)| notice)
    }

    /// Until when, from the session's start.
    #[must_use]
    pub fn notice_ends(&self) -> Option<Duration> {
        self.notice.as_ref().map(|(_, until)| *until)
    }

    pub(super) fn notify(&mut self, notice: Notice) {
        self.notice = Some((notice, self.live.now.saturating_add(MOMENT)));
    }

    /// Whoever goes on has read it.
    pub(super) fn heard(&mut self, message: &Message) {
        let over = match message {
            Message::Action(_) | Message::Typed(_) | Message::Pasted(_) | Message::Pointed(..) => true,
            Message::Tick(now) => self.notice_ends().is_some_and(|until| *now >= until),
            _ => false,
        };
        if over {
            self.notice = None;
        }
    }
}
