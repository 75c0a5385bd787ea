//! The loop: events and keys in, frames and commands out.

use super::keymap;
use super::surface::Surface;
use crate::app::actions::action_for;
use crate::app::{App, Effect, Message, update};
use crate::domain::Event;
use crate::engine::Command;
use crate::session::{Session, Signal, Signals};
use crossterm::event::Event as Input;
use futures_util::{Stream, StreamExt};
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// From one frame to the next at the most: 30 a second.
const SLOT: Duration = Duration::from_millis(33);

/// The same on a terminal that is slow to take a frame.
const LONGEST_SLOT: Duration = Duration::from_millis(250);

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

/// The production loop, over any surface and any source of keys, so that tests can type into it.
pub(super) struct Loop<'a, S, I> {
    app: App,
    session: &'a mut Session,
    surface: S,
    input: I,
    signals: Signals,
    /// Whether something changed since the last frame.
    dirty: bool,
    /// When the next frame may be drawn.
    slot: Instant,
    /// Whether the engine sends nothing any more.
    silent: bool,
}

impl<'a, S, I> Loop<'a, S, I>
where
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    pub(super) fn new(app: App, session: &'a mut Session, surface: S, input: I, signals: Signals) -> Self {
        Self { app, session, surface, input, signals, dirty: true, slot: Instant::now(), silent: false }
    }

    /// Runs until something ends it. What fails on the way out of the terminal is the terminal being gone.
    pub(super) async fn run(mut self) -> Leave {
        loop {
            if self.frame().is_err() {
                return Leave::Gone;
            }
            let wants_frame = self.dirty || self.app.is_moving();
            let left = tokio::select! {
                biased;
                signal = self.signals.next() => Some(Leave::Signal(signal)),
                input = self.input.next() => self.input(input),
                event = self.session.next(), if !self.silent => self.events(event),
                () = tokio::time::sleep_until(self.slot), if wants_frame => None,
            };
            if let Some(left) = left {
                return left;
            }
        }
    }

    /// Draws, if there is something to draw, its time has come and the last frame is out.
    fn frame(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if !(self.dirty || self.app.is_moving()) || now < self.slot {
            return Ok(());
        }
        self.slot = now + SLOT.max(self.surface.last_write()).min(LONGEST_SLOT);
        if !self.surface.ready() {
            return Ok(());
        }
        self.dirty = false;
        #[cfg(debug_assertions)]
        plant_panic();
        update(&mut self.app, Message::Tick(self.session.elapsed()));
        self.surface.draw(&self.app)
    }

    fn input(&mut self, input: Option<io::Result<Input>>) -> Option<Leave> {
        let Some(Ok(input)) = input else { return Some(Leave::Gone) };
        match input {
            Input::Key(event) => {
                let action = keymap::key(event).and_then(action_for)?;
                // What was typed is answered at once, not in the next slot.
                self.slot = Instant::now();
                self.message(Message::Action(action))
            }
            Input::Resize(width, height) => {
                self.slot = Instant::now();
                self.message(Message::Resized(width, height))
            }
            _ => None,
        }
    }

    fn events(&mut self, first: Option<Event>) -> Option<Leave> {
        let Some(first) = first else {
            // What was seen stays on the screen; the reason stands in the verdict until someone leaves.
            self.silent = true;
            return self.message(Message::Failed("the engine stopped: a fault of fanscope".to_owned()));
        };
        let mut next = Some(first);
        for _ in 0..BATCH {
            match next {
                Some(Event::Failed(why)) => return Some(Leave::Failed(why)),
                Some(event) => {
                    if let Some(left) = self.message(Message::Engine(event)) {
                        return Some(left);
                    }
                }
                None => break,
            }
            next = self.session.ready();
        }
        None
    }

    fn message(&mut self, message: Message) -> Option<Leave> {
        self.dirty = true;
        for effect in update(&mut self.app, message) {
            let command = match effect {
                Effect::Quit => return Some(Leave::Quit),
                Effect::Redraw => {
                    if self.surface.forget().is_err() {
                        return Some(Leave::Gone);
                    }
                    continue;
                }
                Effect::Fault(endpoint, switch) => {
                    let simulated = self.session.faults().set(endpoint, switch);
                    debug_assert!(simulated, "the app offers no switch over endpoints that are real");
                    continue;
                }
                Effect::Apply(settings) => Command::Apply(settings),
                Effect::Pause(paused) => Command::Pause(paused),
                Effect::Step => Command::Step,
            };
            // An engine that is gone or stuck says so by its events.
            drop(self.session.commands().try_send(command));
        }
        None
    }
}

/// Panics where a test of the way out asks for it; not in release builds.
#[cfg(debug_assertions)]
fn plant_panic() {
    assert!(std::env::var_os("FANSCOPE_TEST_PANIC").is_none_or(|w| w != "draw"), "planted panic");
}
