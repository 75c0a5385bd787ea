//! Writes a session down while it goes on: a scribe that words its events, and a thread that puts the lines into a
//! file at the end of a bounded queue.
//!
//! Nothing here makes the session wait. What the disk does not take is lost, counted and told; rounds go on.

#[cfg(test)]
mod tests;

use crate::domain::{Event, numbers, text};
use crate::recording::{GateLine, Line, Scribe, Writer};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Lines that wait for the disk at most.
const QUEUE: usize = 4096;

/// Bytes in them at most.
const QUEUE_BYTES: u64 = 32 << 20;

/// The longest that a written line is kept from the file, and that a lost file goes unnoticed.
const EVERY: Duration = Duration::from_secs(1);

/// How long the end of a session waits for its file. Only a disk that hangs takes that long.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a recording stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its file.
    pub path: PathBuf,
    /// Lines in it.
    pub lines: u64,
    /// Bytes of these lines, before they are packed.
    pub bytes: u64,
    /// Lines that could not be written.
    pub lost: u64,
    /// What went wrong first, in words. It stays when all is well again.
    pub trouble: Option<String>,
    /// Whether the file is complete and closed.
    pub closed: bool,
}

impl Recording {
    /// What went wrong, and what that cost.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let why = self.trouble.as_ref()?;
        let lost = numbers::counted(self.lost, "line", "lines");
        Some(if self.lost == 0 { why.clone() } else { format!("{why}, {lost} lost") })
    }
}

/// Every recording of a session. Dropping it ends them all.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    now: Option<Recorder>,
    closing: Vec<Closing>,
    news: Arc<Notify>,
}

impl Recordings {
    /// Begins one in the place of the one that goes on.
    pub(super) fn begin(&mut self, writer: Writer, scribe: Scribe, epoch: Instant) -> io::Result<()> {
        self.end(Vec::new());
        self.now = Some(Recorder::start(writer, scribe, epoch, Arc::clone(&self.news))?);
        Ok(())
    }

    /// The one that goes on.
    pub(super) fn now(&mut self) -> Option<&mut Recorder> {
        self.now.as_mut()
    }

    /// How the one stands that goes on.
    pub(super) fn state(&self) -> Option<Recording> {
        self.now.as_ref().map(Recorder::state)
    }

    /// Ends the one that goes on, without waiting for the disk.
    pub(super) fn end(&mut self, gates: Vec<GateLine>) {
        self.closing.extend(self.now.take().map(|recorder| recorder.end(gates)));
    }

    /// Ends the one that goes on and waits until all are closed. All there were, the first one first.
    pub(super) fn finish(&mut self) -> Vec<Recording> {
        self.end(Vec::new());
        let until = Instant::now() + PATIENCE;
        self.closing.drain(..).map(|closing| closing.wait(until)).collect()
    }

    /// Told when the state of one changed by itself.
    pub(super) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }
}

impl Drop for Recordings {
    fn drop(&mut self) {
        // Nobody is left to be told; who wanted to know has asked before.
        drop(self.finish());
    }
}

/// What the session and the thread both know. Held for moments only, never while something is written.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    closed: Condvar,
    /// Told when something is worth looking at.
    news: Arc<Notify>,
    /// The session's start.
    epoch: Instant,
}

#[derive(Debug)]
struct State {
    recording: Recording,
    /// Bytes that wait for the disk.
    queued: u64,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lines are lost, or may be.
    fn trouble(&self, lost: u64, why: impl FnOnce() -> String) {
        let recording = &mut self.state().recording;
        recording.lost = recording.lost.saturating_add(lost);
        recording.trouble.get_or_insert_with(why);
        self.news.notify_one();
    }
}

/// A recording that goes on.
#[derive(Debug)]
pub(super) struct Recorder {
    scribe: Scribe,
    queue: SyncSender<String>,
    shared: Arc<Shared>,
}

impl Recorder {
    /// Begins with the session's line. `news` is told when its state changes by itself.
    ///
    /// # Errors
    /// When no thread can be had.
    fn start(writer: Writer, scribe: Scribe, epoch: Instant, news: Arc<Notify>) -> io::Result<Self> {
        let path = writer.path().to_owned();
        let recording = Recording { path, lines: 0, bytes: 0, lost: 0, trouble: None, closed: false };
        let state = Mutex::new(State { recording, queued: 0 });
        let shared = Arc::new(Shared { state, closed: Condvar::new(), news, epoch });
        let (queue, lines) = sync_channel(QUEUE);
        let keeper = Keeper { writer, told: 0, shared: Arc::clone(&shared) };
        std::thread::Builder::new().name("fanscope-recorder".to_owned()).spawn(move || keeper.run(&lines))?;
        let mut recorder = Self { scribe, queue, shared };
        recorder.line(&recorder.scribe.first());
        Ok(recorder)
    }

    /// Writes an event down, where it has a line.
    pub(super) fn event(&mut self, event: &Event) {
        if let Some(line) = self.scribe.event(event) {
            self.line(&line);
        }
    }

    /// Queues a line, if there is room.
    pub(super) fn line(&mut self, line: &Line) {
        let text = match line.to_json_line() {
            Ok(text) => text,
            Err(error) => return self.shared.trouble(1, || error.to_string()),
        };
        let length = text.len() as u64;
        let full = || "the disk does not keep up".to_owned();
        {
            let mut state = self.shared.state();
            let queued = state.queued.saturating_add(length);
            // A line of any length has its place in a queue that is empty.
            if state.queued > 0 && queued > QUEUE_BYTES {
                drop(state);
                return self.shared.trouble(1, full);
            }
            state.queued = queued;
        }
        if let Err(error) = self.queue.try_send(text) {
            let mut state = self.shared.state();
            state.queued = state.queued.saturating_sub(length);
            drop(state);
            match error {
                TrySendError::Full(_) => self.shared.trouble(1, full),
                TrySendError::Disconnected(_) => self.shared.trouble(1, || "its thread ended".to_owned()),
            }
        }
    }

    fn state(&self) -> Recording {
        self.shared.state().recording.clone()
    }

    /// Ends it with the summary; the file is closed when the disk has taken everything.
    fn end(mut self, gates: Vec<GateLine>) -> Closing {
        self.line(&self.scribe.last(gates));
        Closing(self.shared)
    }
}

/// A recording whose last line is on its way.
#[derive(Debug)]
struct Closing(Arc<Shared>);

impl Closing {
    /// Waits until the file is closed, to this instant at most. What is not in it by then is trouble.
    fn wait(&self, until: Instant) -> Recording {
        let left = until.saturating_duration_since(Instant::now());
        let open = |state: &mut State| !state.recording.closed;
        let waited = self.0.closed.wait_timeout_while(self.0.state(), left, open);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        if timeout.timed_out() {
            self.0.trouble(0, || "the disk did not take its end in time".to_owned());
        }
        self.0.state().recording.clone()
    }
}

/// The thread at the end of the queue.
struct Keeper {
    writer: Writer,
    /// Lost lines that the file itself tells of.
    told: u64,
    shared: Arc<Shared>,
}

impl Keeper {
    /// Writes what comes; flushes when nothing waits and once a second at least.
    fn run(mut self, lines: &Receiver<String>) {
        let (mut flushed, mut looked, mut behind) = (Instant::now(), Instant::now(), false);
        loop {
            let next = if behind {
                lines.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                })
            } else {
                lines.recv_timeout(EVERY)
            };
            match next {
                Ok(ref line) => self.take(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let empty = next.is_err();
            if behind && empty || flushed.elapsed() >= EVERY {
                self.flush();
                flushed = Instant::now();
            }
            if looked.elapsed() >= EVERY {
                self.look();
                looked = Instant::now();
            }
            behind = !empty;
        }
        self.look();
        let Self { writer, shared, .. } = self;
        if let Err(error) = writer.finish() {
            shared.trouble(0, || words(&error));
        }
        shared.state().recording.closed = true;
        shared.closed.notify_all();
        shared.news.notify_one();
    }

    fn take(&mut self, line: &str) {
        let lost = self.shared.state().recording.lost;
        if lost > self.told {
            self.tell(lost);
        }
        let written = self.writer.line(line);
        let mut state = self.shared.state();
        state.queued = state.queued.saturating_sub(line.len() as u64);
        match written {
            Ok(()) => {
                state.recording.lines += 1;
                state.recording.bytes = state.recording.bytes.saturating_add(line.len() as u64);
            }
            Err(error) => {
                drop(state);
                self.shared.trouble(1, || words(&error));
            }
        }
    }

    /// Has the file itself say what is missing in it.
    fn tell(&mut self, lost: u64) {
        let why = self.shared.state().recording.trouble.clone().unwrap_or_default();
        let missing = numbers::counted(lost.saturating_sub(self.told), "line", "lines");
        let note = Line::note(self.shared.epoch.elapsed(), &format!("{missing} lost here: {why}"));
        // A disk that does not take it takes the line behind it no more, and that is told.
        if note.to_json_line().is_ok_and(|note| self.writer.line(&note).is_ok()) {
            self.told = lost;
        }
    }

    fn flush(&mut self) {
        if let Err(error) = self.writer.flush() {
            self.shared.trouble(0, || words(&error));
        }
    }

    /// Looks whether the file is still where it was.
    fn look(&mut self) {
        let known = self.shared.state().recording.trouble.is_some();
        if let Some(lost) = self.writer.lost().filter(|_| !known) {
            self.shared.trouble(0, || lost.to_owned());
        }
    }
}

/// An error in words, without its number.
fn words(error: &io::Error) -> String {
    let words = text::clean(&error.to_string());
    words.split(" (os error").next().unwrap_or_default().to_owned()
}
