//! The loop: events and keys in, frames and commands out.

use super::advisor::{Advisor, Heard};
use super::files::{Files, MOMENT};
use super::job::{Asked, Job};
use super::keymap;
use super::reload::{Read, Reload};
use super::source::Source;
use super::surface::Surface;
use crate::app::{App, Effect, Message, Notice, summary, update};
use crate::domain::Event;
use crate::session::{Signal, Signals};
use crate::whatif::outlook::Question;
use crossterm::event::Event as Input;
use futures_util::{Stream, StreamExt};
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// From one frame to the next at the most: 30 a second.
const SLOT: Duration = Duration::from_millis(33);

/// The same while something is typed.
const KEY_SLOT: Duration = Duration::from_millis(8);

/// The same on a terminal that is slow to take a frame, and while something is typed there.
const SLOWEST: Duration = Duration::from_millis(250);
const SLOWEST_KEY: Duration = Duration::from_millis(100);

/// Events taken in before the screen is looked at again.
const BATCH: usize = 256;

/// Why the loop ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leave {
    /// By a key.
    Quit,
    /// By a signal.
    Signal(Signal),
    /// The terminal is gone.
    Gone,
    /// The engine could not start.
    Failed(String),
}

/// What the time of the next frame depends on.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// When the last frame was drawn.
    drawn: Option<Instant>,
    /// Whether something was typed since.
    typed: bool,
}

impl Slot {
    /// When the next frame may be drawn; at once where there was none. Behind what a slow terminal has not taken yet it
    /// would only wait.
    fn begin(self, surface: &impl Surface) -> Option<Instant> {
        let (least, most) = if self.typed { (KEY_SLOT, SLOWEST_KEY) } else { (SLOT, SLOWEST) };
        let (earliest, latest) = (self.drawn? + least, self.drawn? + most);
        Some(surface.taken_at().map_or(earliest, |at| Instant::from_std(at).clamp(earliest, latest)))
    }
}

/// What the loop woke up for.
enum Woke {
    Signal(Signal),
    Job(Asked),
    Input(Option<io::Result<Input>>),
    Told(Option<Message>),
    Recorder,
    Advisor(Heard),
    Reloaded(Read),
    Said,
    Slot,
}

/// The production loop, over any surface and any source of keys, so that tests can type into it.
pub(super) struct Loop<'a, X, S, I> {
    pub(super) app: App,
    pub(super) source: &'a mut X,
    pub(super) surface: S,
    input: I,
    pub(super) signals: Signals,
    pub(super) job: Job,
    pub(super) files: Files,
    pub(super) advisor: Advisor,
    pub(super) reload: Reload,
    /// Until when the app says something for a moment.
    pub(super) hush: Option<Instant>,
    /// Whether a stop of the process is being prepared.
    pub(super) stopping: bool,
    /// Whether something changed since the last frame.
    dirty: bool,
    slot: Slot,
    /// Whether the engine sends nothing any more.
    pub(super) silent: bool,
}

impl<'a, X, S, I> Loop<'a, X, S, I>
where
    X: Source,
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    pub(super) fn new(
        app: App,
        source: &'a mut X,
        surface: S,
        input: I,
        (signals, job): (Signals, Job),
    ) -> Self {
        Self {
            app,
            source,
            surface,
            input,
            signals,
            job,
            files: Files::default(),
            advisor: Advisor::new(Question::answer),
            reload: Reload::default(),
            hush: None,
            stopping: false,
            dirty: true,
            slot: Slot::default(),
            silent: false,
        }
    }

    /// Runs until something ends it. Returns why, and what there is to say on the normal screen. What fails on
    /// the way out of the terminal is the terminal being gone.
    pub(super) async fn run(mut self) -> (Leave, Vec<String>) {
        let why = self.until_left().await;
        update(&mut self.app, self.source.time());
        (why, summary(&self.app).into_iter().chain(self.files.told()).collect())
    }

    async fn until_left(&mut self) -> Leave {
        self.measure();
        // What is said at the start is said for a moment, too.
        self.hush = moment(&self.app);
        self.look_at_recording();
        let news = self.source.recording_news();
        loop {
            if self.frame().is_err() {
                return Leave::Gone;
            }
            self.advisor.offer(&self.app);
            let wants_frame = self.dirty || self.app.is_moving();
            let woke = tokio::select! {
                biased;
                signal = self.signals.next() => Woke::Signal(signal),
                asked = self.job.next() => Woke::Job(asked),
                input = self.input.next() => Woke::Input(input),
                heard = self.advisor.next() => Woke::Advisor(heard),
                read = self.reload.next() => Woke::Reloaded(read),
                told = self.source.next(), if !self.silent => Woke::Told(told),
                () = news.notified() => Woke::Recorder,
                () = reached(self.hush) => Woke::Said,
                () = next_frame(self.slot, &self.surface), if wants_frame => Woke::Slot,
            };
            let left = match woke {
                Woke::Signal(signal) => Some(Leave::Signal(signal)),
                Woke::Job(Asked::Stop) => self.suspend().await,
                Woke::Job(Asked::Continued) => self.continued().await,
                Woke::Input(input) => self.input(input),
                Woke::Told(told) => self.told(told),
                Woke::Recorder => {
                    self.look_at_recording();
                    None
                }
                Woke::Advisor(heard) => self.heard(heard),
                Woke::Said => {
                    self.hush = None;
                    self.message(Message::NoticeOver)
                }
                Woke::Reloaded(read) => {
                    self.reloaded(read);
                    None
                }
                Woke::Slot => None,
            };
            if let Some(left) = left {
                return left;
            }
            self.source.is_awake();
        }
    }

    /// What came of a question.
    fn heard(&mut self, heard: Heard) -> Option<Leave> {
        match heard {
            Heard::Answer(outlook) => self.message(Message::Outlook(outlook)),
            Heard::Fault => {
                self.hush = Some(Instant::now() + MOMENT);
                self.message(Message::Notice(Notice::Failed(
                    "no more what-if: a fault of fanscope".to_owned(),
                )))
            }
            Heard::Free => None,
        }
    }

    /// Draws, if there is something to draw, its time has come and the last frame is out.
    fn frame(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let waits = || self.slot.begin(&self.surface).is_some_and(|begin| now < begin);
        if !(self.dirty || self.app.is_moving()) || !self.surface.ready() || waits() {
            return Ok(());
        }
        self.dirty = false;
        self.slot = Slot { drawn: Some(now), typed: false };
        #[cfg(debug_assertions)]
        plant_panic();
        update(&mut self.app, self.source.time());
        self.surface.draw(&self.app)
    }

    /// Tells the app how large the terminal is. A change in the background sends no signal.
    pub(super) fn measure(&mut self) -> Option<Leave> {
        let (width, height) = crossterm::terminal::size().ok()?;
        self.message(Message::Resized(width, height))
    }

    fn input(&mut self, input: Option<io::Result<Input>>) -> Option<Leave> {
        let input = match input {
            Some(Ok(input)) => input,
            Some(Err(error)) if !is_gone(&error) => {
                return Some(Leave::Failed(format!("cannot read the terminal: {error}")));
            }
            _ => return Some(Leave::Gone),
        };
        let message = keymap::heard(&self.app, input)?;
        // What was typed is answered at once, not in the next slot; a flood of it is not.
        self.slot.typed = true;
        let left = self.message(message);
        // What stood there before was over with the key: this is new.
        if self.app.notice().is_some() {
            self.hush = Some(Instant::now() + MOMENT);
        }
        left
    }

    pub(super) fn told(&mut self, first: Option<Message>) -> Option<Leave> {
        let Some(first) = first else {
            // What was seen stays on the screen; the reason stands in the verdict until someone leaves.
            self.silent = true;
            return self.message(Message::Failed("the engine stopped: a fault of fanscope".to_owned()));
        };
        let mut next = Some(first);
        for _ in 0..BATCH {
            match next {
                Some(Message::Engine(Event::Failed(why))) => return Some(Leave::Failed(why)),
                // Paused for a stop is not paused by a key.
                Some(Message::Engine(Event::Paused(_))) if self.stopping => {}
                Some(message) => {
                    self.awaited(&message);
                    if let Some(left) = self.message(message) {
                        return Some(left);
                    }
                }
                None => break,
            }
            next = self.source.ready();
        }
        None
    }

    /// Tells the app something of which nothing follows outside.
    pub(super) fn tell(&mut self, message: Message) {
        self.dirty = true;
        let effects = update(&mut self.app, message);
        debug_assert!(effects.is_empty(), "{effects:?}");
    }

    fn message(&mut self, message: Message) -> Option<Leave> {
        self.dirty = true;
        let said = self.app.notice().cloned();
        let effects = update(&mut self.app, message);
        // What the app says by itself is said for a moment, too.
        if self.app.notice() != said.as_ref() {
            self.hush = moment(&self.app);
        }
        for effect in effects {
            match effect {
                Effect::Quit => return Some(Leave::Quit),
                Effect::Redraw if self.surface.forget().is_err() => return Some(Leave::Gone),
                Effect::Redraw => {}
                Effect::Suspend => Job::ask(),
                Effect::Record => self.record(),
                Effect::Export => self.export(),
                Effect::Reload => self.reload(),
                Effect::Copy(wanted) => self.copy(wanted),
                effect => self.source.obey(effect),
            }
        }
        None
    }
}

/// Whether an error in reading keys says that there is no terminal any more.
fn is_gone(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    error.kind() == io::ErrorKind::BrokenPipe || (cfg!(unix) && error.raw_os_error() == Some(EIO))
}

/// When what the app says has been said long enough. An explanation is read for as long as it takes.
fn moment(app: &App) -> Option<Instant> {
    app.notice().filter(|notice| !matches!(notice, Notice::Explained(_))).map(|_| Instant::now() + MOMENT)
}

/// Waits for this time; for ever where there is none.
async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Waits until a frame may be drawn: the last one is out, and the time of the next has come.
async fn next_frame(slot: Slot, surface: &impl Surface) {
    surface.written().await;
    if let Some(begin) = slot.begin(surface) {
        tokio::time::sleep_until(begin).await;
    }
}

/// Panics where a test of the way out asks for it; not in release builds.
#[cfg(debug_assertions)]
fn plant_panic() {
    assert!(std::env::var_os("FANSCOPE_TEST_PANIC").is_none_or(|w| w != "draw"), "planted panic");
}
