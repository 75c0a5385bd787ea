//! Writes a session down while it goes on: a scribe that words its events, and a thread that puts the lines into a
//! file at the end of a bounded queue.
//!
//! Nothing here makes the session wait. What the disk does not take is lost, counted and told; rounds go on.

#[cfg(test)]
mod tests;

mod missed;

use crate::domain::{Event, numbers, text};
use crate::recording::{GateLine, Line, Scribe, Writer};
use missed::Missed;
use std::io;
use std::mem;
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

/// How long the end of a session waits for its file where somebody waits for the end. Only a disk that hangs takes
/// that long.
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

    /// Ends the one that goes on, without waiting for the disk. How it stood until then, where there is one.
    pub(super) fn end(&mut self, gates: Vec<GateLine>) -> Option<Recording> {
        let (closing, recording) = self.now.take()?.end(gates);
        self.closing.push(closing);
        Some(recording)
    }

    /// Those that were ended and are in trouble which was not told while they went on. Each once.
    pub(super) fn trouble(&mut self) -> Vec<Recording> {
        self.closing.iter_mut().filter_map(Closing::trouble).collect()
    }

    /// Waits until all that were ended are closed, however long that takes. Nothing is lost when this is given up.
    pub(super) async fn closed(&self) {
        while !self.closing.iter().all(|closing| closing.shared.state().over) {
            self.news.notified().await;
        }
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
    /// What the file is to end with.
    end: Option<End>,
    /// Whether the thread has ended.
    over: bool,
}

/// What the last line is worded from, by the thread that writes it: in a long session that takes a while.
#[derive(Debug)]
struct End {
    scribe: Scribe,
    gates: Vec<GateLine>,
    /// What is lost between the last line that was queued and this end.
    missed: Missed,
}

/// A line on its way to the file.
#[derive(Debug)]
struct Queued {
    text: String,
    /// The time it tells of.
    at: Duration,
    /// What there was no room for just before it.
    missed: Missed,
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
    queue: SyncSender<Queued>,
    /// Lines since the last queued one that there was no room for.
    missed: Missed,
    /// The time that was told of last.
    at: Duration,
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
        let state = Mutex::new(State { recording, queued: 0, end: None, over: false });
        let shared = Arc::new(Shared { state, closed: Condvar::new(), news, epoch });
        let (queue, lines) = sync_channel(QUEUE);
        let keeper = Keeper { writer, missed: Missed::default(), shared: Arc::clone(&shared) };
        let over = Over(Arc::clone(&shared));
        std::thread::Builder::new().name("fanscope-recorder".to_owned()).spawn(move || {
            let _over = over;
            keeper.run(&lines);
        })?;
        let mut recorder = Self { scribe, queue, missed: Missed::default(), at: Duration::ZERO, shared };
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
        self.at = missed::at(line).unwrap_or(self.at);
        let at = self.at;
        let text = match line.to_json_line() {
            Ok(text) => text,
            Err(error) => return self.lose(at, &error.to_string()),
        };
        let length = text.len() as u64;
        {
            let mut state = self.shared.state();
            let queued = state.queued.saturating_add(length);
            // A line of any length has its place in a queue that is empty.
            if state.queued > 0 && queued > QUEUE_BYTES {
                drop(state);
                return self.lose(at, FULL);
            }
            state.queued = queued;
        }
        let missed = mem::take(&mut self.missed);
        if let Err(error) = self.queue.try_send(Queued { text, at, missed }) {
            let mut state = self.shared.state();
            state.queued = state.queued.saturating_sub(length);
            drop(state);
            let (queued, why) = match error {
                TrySendError::Full(queued) => (queued, FULL),
                TrySendError::Disconnected(queued) => (queued, ENDED),
            };
            self.missed = queued.missed;
            self.lose(at, why);
        }
    }

    fn lose(&mut self, at: Duration, why: &str) {
        self.missed.add(at, why);
        self.shared.trouble(1, || why.to_owned());
    }

    fn state(&self) -> Recording {
        self.shared.state().recording.clone()
    }

    /// Ends it with the summary; the file is closed when the disk has taken everything.
    fn end(self, gates: Vec<GateLine>) -> (Closing, Recording) {
        let Self { scribe, queue, missed, shared, .. } = self;
        let mut state = shared.state();
        // Not through the queue, in which there may be no room; the thread finds it where the queue ends.
        state.end = Some(End { scribe, gates, missed });
        let recording = state.recording.clone();
        drop(state);
        drop(queue);
        (Closing { shared, told: recording.trouble.is_some() }, recording)
    }
}

/// The queue is full.
const FULL: &str = "the disk does not keep up";

/// The queue has nobody at its end.
const ENDED: &str = "its thread ended";

/// A recording whose last line is on its way.
#[derive(Debug)]
struct Closing {
    shared: Arc<Shared>,
    /// Whether its trouble was known before, or has been told.
    told: bool,
}

impl Closing {
    /// How it stands, where there is trouble that was not told before.
    fn trouble(&mut self) -> Option<Recording> {
        let recording = self.shared.state().recording.clone();
        (recording.trouble.is_some() && !mem::replace(&mut self.told, true)).then_some(recording)
    }

    /// Waits until the file is closed, to this instant at most. What is not in it by then is trouble.
    fn wait(&self, until: Instant) -> Recording {
        let left = until.saturating_duration_since(Instant::now());
        let shared = &self.shared;
        let waited = shared.closed.wait_timeout_while(shared.state(), left, |state| !state.over);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        if timeout.timed_out() {
            shared.trouble(0, || "the disk did not take its end in time".to_owned());
        }
        shared.state().recording.clone()
    }
}

/// Tells whoever waits that the thread has ended, also by a fault of its own.
struct Over(Arc<Shared>);

impl Drop for Over {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.over = true;
        if !state.recording.closed {
            state.recording.trouble.get_or_insert_with(|| ENDED.to_owned());
        }
        drop(state);
        self.0.closed.notify_all();
        self.0.news.notify_one();
    }
}

/// The thread at the end of the queue.
struct Keeper {
    writer: Writer,
    /// Lines lost just before the next one, of which the file does not tell yet.
    missed: Missed,
    shared: Arc<Shared>,
}

impl Keeper {
    /// Writes what comes; flushes when nothing waits and once a second at least.
    fn run(mut self, lines: &Receiver<Queued>) {
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
            let mut empty = false;
            match next {
                Ok(line) => self.take(line),
                Err(RecvTimeoutError::Timeout) => empty = true,
                Err(RecvTimeoutError::Disconnected) => break,
            }
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
        self.end();
        let Self { writer, shared, .. } = self;
        if let Err(error) = writer.finish() {
            shared.trouble(0, || words(&error));
        }
        shared.state().recording.closed = true;
    }

    fn take(&mut self, Queued { text, at, missed }: Queued) {
        self.missed.append(missed);
        let length = text.len() as u64;
        self.write(&text, at);
        let mut state = self.shared.state();
        state.queued = state.queued.saturating_sub(length);
    }

    /// Words the last line and writes it.
    fn end(&mut self) {
        let Some(End { scribe, gates, missed }) = self.shared.state().end.take() else { return };
        self.missed.append(missed);
        let at = self.shared.epoch.elapsed();
        match scribe.last(gates).to_json_line() {
            Ok(text) => self.write(&text, at),
            Err(error) => self.shared.trouble(1, || error.to_string()),
        }
    }

    /// Writes a line behind a note of what is missing before it.
    fn write(&mut self, text: &str, at: Duration) {
        // A disk that does not take the note takes the line behind it no more, and that is told.
        if let Some(note) = self.missed.note()
            && note.to_json_line().is_ok_and(|note| self.writer.line(&note).is_ok())
        {
            self.missed = Missed::default();
        }
        match self.writer.line(text) {
            Ok(()) => {
                let recording = &mut self.shared.state().recording;
                recording.lines += 1;
                recording.bytes = recording.bytes.saturating_add(text.len() as u64);
            }
            Err(error) => {
                let why = words(&error);
                self.missed.add(at, &why);
                self.shared.trouble(1, || why);
            }
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
