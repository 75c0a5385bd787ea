//! The profile read once more by a key, beside the loop. Until a session stands that can take over, and where there is
//! none, what was observed goes on.

use super::run::Loop;
use super::source::Source;
use super::surface::Surface;
use crate::app::{App, Message, Notice, Page};
use crate::session::{Choice, Plan, Session};
use crossterm::event::Event as Input;
use futures_util::Stream;
use std::io;
use tokio::task::JoinHandle;

/// What came of reading: a session that runs, or all that is wrong.
pub(super) type Read = Result<Box<Session>, String>;

/// What is read, and whether it is being read.
#[derive(Debug, Default)]
pub(super) struct Reload {
    choice: Option<(Choice, Plan)>,
    reading: Option<JoinHandle<Read>>,
}

impl Reload {
    pub(super) fn of(choice: Choice, plan: Plan) -> Self {
        Self { choice: Some((choice, plan)), reading: None }
    }

    /// Waits until it has been read, for ever where it is not. Nothing is lost where that is given up.
    pub(super) async fn next(&mut self) -> Read {
        let Some(reading) = &mut self.reading else { return std::future::pending().await };
        let read = reading.await;
        self.reading = None;
        // What panicked is kept by the hook, and told once the screen is left.
        read.unwrap_or_else(|_| Err("a fault of fanscope".to_owned()))
    }
}

impl<X, S, I> Loop<'_, X, S, I>
where
    X: Source,
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    /// Begins to read the profile once more.
    pub(super) fn reload(&mut self) {
        if self.reload.reading.is_some() {
            return;
        }
        match self.reload.choice.clone().filter(|(choice, _)| choice.can_change()) {
            Some((choice, plan)) => {
                let read = move || Session::prepare(&choice, plan).map(Box::new);
                self.reload.reading = Some(tokio::task::spawn_blocking(read));
            }
            None => self.say(Notice::Done("nothing to read again: the profile is no file".to_owned())),
        }
    }

    /// Goes on with what was read, or says what is wrong with it.
    pub(super) fn reloaded(&mut self, read: Read) {
        let next = match read {
            Ok(next) => next,
            Err(faults) => {
                let title = "Not reloaded; what was read before goes on".to_owned();
                return self.tell(Message::Read(Page { title, text: faults }));
            }
        };
        let app = App::new(super::setup(&next.profile, self.app.options)).warming(next.plan().warmup);
        let app = match next.short() {
            Some(short) => app.short_of_descriptors(short.limit, short.need),
            None => app,
        };
        self.app = app.after(&self.app);
        let ended = self.source.go_on_as(*next);
        self.advisor.forget();
        self.files.forget_rounds();
        self.silent = false;
        self.look_at_recording();
        if let Some(short) = self.app.notice().cloned() {
            return self.say(short);
        }
        let recorded = ended.map_or_else(String::new, |ended| {
            let how = ended.fault().map_or_else(String::new, |fault| format!(" ({fault})"));
            format!("; the recording ended{how}")
        });
        self.say(Notice::Done(format!("reloaded {}, counts begin anew{recorded}", self.app.profile())));
    }
}
