//! Stopped and continued: the terminal goes to the shell and comes back.
//!
//! Rounds are paused first, and those under way get a moment to end; one that does not is given up by the
//! session. A stop from outside that can't be caught (SIGSTOP) gives no moment at all; its missed starts are skipped
//! starts, as for any other time in which the process could not run.

use super::job::is_foreground;
use super::run::{Leave, Loop};
use super::source::Source;
use super::surface::Surface;
use crate::app::Pace;
use crossterm::event::Event as Input;
use futures_util::{FutureExt, Stream};
use std::io;
use std::time::Duration;

/// How long a stop waits for rounds under way.
const MOMENT: Duration = Duration::from_millis(100);

/// After going on in the background: when every signal of before has been heard.
const SETTLED: Duration = Duration::from_millis(250);

impl<X, S, I> Loop<'_, X, S, I>
where
    X: Source,
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    /// Stops the process, with the terminal given back, until it is continued in the foreground.
    pub(super) async fn suspend(&mut self) -> Option<Leave> {
        self.stopping = true;
        self.source.hold();
        let left = tokio::time::timeout(MOMENT, self.quiet()).await.ok().flatten();
        if left.is_some() {
            return left;
        }
        self.source.stops();
        self.surface.give_back();
        self.job.stop().await;
        self.come_back().await
    }

    /// Continued after a stop that could not be caught: a shell may have had the terminal meanwhile.
    pub(super) async fn continued(&mut self) -> Option<Leave> {
        self.source.was_stopped();
        self.come_back().await
    }

    /// Takes in what the engine says until it is paused and no round is under way.
    async fn quiet(&mut self) -> Option<Leave> {
        while !self.source.is_quiet() {
            let told = self.source.next().await;
            // An engine that has ended is as quiet as can be.
            let ended = told.is_none();
            if let Some(left) = self.told(told) {
                return Some(left);
            }
            if ended {
                break;
            }
        }
        None
    }

    /// Takes the terminal again. In the background it is the shell's: touching it there would stop the process
    /// in the midst of it, and then a signal that ends it would not be heard.
    async fn come_back(&mut self) -> Option<Leave> {
        loop {
            if let Some(signal) = self.signals.next().now_or_never() {
                return Some(Leave::Signal(signal));
            }
            if is_foreground() {
                break;
            }
            // A signal that was sent before the one to go on may be heard after it, and must not be slept through.
            if let Ok(signal) = tokio::time::timeout(SETTLED, self.signals.next()).await {
                return Some(Leave::Signal(signal));
            }
            if !is_foreground() {
                self.job.stop_again().await;
            }
        }
        if self.surface.take_again().is_err() {
            return Some(Leave::Gone);
        }
        let left = self.measure();
        if std::mem::take(&mut self.stopping) {
            self.source.go_on(self.app.pace == Pace::Paused);
        }
        left
    }
}
