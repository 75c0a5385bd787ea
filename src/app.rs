//! The screen's state and its transitions, Elm style: [`update`] takes a [`Message`], changes the [`App`] and
//! says what is to be done outside.
//!
//! Knows no terminal, no runtime, no engine and no clock: time comes in with each message.

pub mod actions;
mod config;
mod events;
pub mod help;
mod keys;
pub mod lane;
pub mod live;
pub mod pointer;
mod summary;
mod tune;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use actions::{Action, Key, KeyCode};
pub use config::{Change, Config};
pub use help::HelpPage;
pub use lane::{Bar, Fate, Lane, LaneState};
pub use live::LiveRound;
pub use pointer::{Pointer, PointerKind};
pub use summary::summary;

use crate::domain::{EndpointId, Event, Reason, Round, RoundNo, Settings};
use crate::stats::{MissingRow, Stats, Window};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// What the screen has to know of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointInfo {
    /// Its name, free of control characters.
    pub name: String,
    /// Whether its failure fails the round.
    pub required: bool,
    /// How many URLs it has; with more than one they are shown as a, b, c, …
    pub replicas: usize,
}

/// How much colour the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    /// None: glyphs, bold and dim alone.
    Mono,
    /// The terminal's own sixteen.
    #[default]
    Ansi16,
    /// Any.
    TrueColor,
}

/// How the screen is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// 7-bit characters only.
    pub ascii: bool,
    /// How much colour.
    pub colour: Colour,
}

/// What an [`App`] is built from.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The profile's name.
    pub profile: String,
    /// Its endpoints, in profile order.
    pub endpoints: Vec<EndpointInfo>,
    /// Different hosts and ports among them.
    pub hosts: usize,
    /// What the first round will be asked to do.
    pub settings: Settings,
    /// How the screen is to look.
    pub options: Options,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// In the engine.
    Engine(Event),
    /// At the keyboard.
    Action(Action),
    /// A key typed into text, while [`App::is_typing`].
    Typed(Key),
    /// Text pasted in one piece, free of control characters and line breaks.
    Pasted(String),
    /// With the mouse.
    Pointer(Pointer),
    /// Time passed; the time from the session's start.
    Tick(Duration),
    /// The terminal has another size.
    Resized(u16, u16),
    /// The engine stopped for this reason.
    Failed(String),
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Rounds from the next one on have these settings.
    Apply(Settings),
    /// Rounds stop starting, or start again.
    Pause(bool),
    /// One round, also while paused.
    Step,
    /// Leave.
    Quit,
    /// Paint everything anew.
    Redraw,
    /// Give the terminal back to the shell, until it continues the program.
    Suspend,
}

/// Whether rounds start by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// They do.
    Live,
    /// They wait for a key.
    Paused,
}

/// Whether the engine is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It is.
    Running,
    /// It stopped for this reason.
    Failed(String),
}

/// What fills the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The dashboard.
    Dashboard,
    /// The keys, from this line on.
    Help(usize),
}

/// The round on the lanes.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// No round has started yet.
    Waiting,
    /// One that runs.
    Running(LiveRound),
    /// One that is over. It stays until the next starts.
    Over(Arc<Round>),
}

/// A change of settings and the round that was the first to have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The round.
    pub round: RoundNo,
    /// What changed.
    pub change: Change,
}

/// Lanes that a page key moves over.
const PAGE: usize = 10;

/// Changes of settings that are remembered.
const MARKS: usize = 64;

/// Rounds over which the axis remembers how far calls reached.
const REACHES: usize = 20;

/// The least time between two sortings of the missing table.
const RESORT: Duration = Duration::from_secs(1);

/// The screen's state.
#[derive(Debug, Clone)]
pub struct App {
    pub(crate) profile: String,
    pub(crate) endpoints: Vec<EndpointInfo>,
    pub(crate) hosts: usize,
    pub(crate) options: Options,
    pub(crate) config: Config,
    pub(crate) pace: Pace,
    pub(crate) health: Health,
    pub(crate) screen: Screen,
    pub(crate) shown: Shown,
    pub(crate) selected: usize,
    pub(crate) stats: Stats,
    pub(crate) marks: VecDeque<Mark>,
    /// Calls of the latest round that are not hedged yet for want of samples.
    pub(crate) warming: usize,
    size: (u16, u16),
    now: Duration,
    /// How long the last rounds took, where they may run past the budget.
    reaches: VecDeque<Duration>,
    /// Places of the missing table's rows, and when they were given.
    order: (Duration, HashMap<(EndpointId, Reason), usize>),
}

impl App {
    /// A screen that waits for its first round.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            stats: Stats::new(setup.endpoints.len()),
            profile: setup.profile,
            endpoints: setup.endpoints,
            hosts: setup.hosts,
            options: setup.options,
            config: Config::new(setup.settings),
            warming: 0,
            pace: Pace::Live,
            health: Health::Running,
            screen: Screen::Dashboard,
            shown: Shown::Waiting,
            selected: 0,
            marks: VecDeque::new(),
            size: (0, 0),
            now: Duration::ZERO,
            reaches: VecDeque::new(),
            order: (Duration::ZERO, HashMap::new()),
        }
    }

    /// Whether keys are text rather than actions.
    #[must_use]
    pub const fn is_typing(&self) -> bool {
        false
    }

    /// How many calls are optional: the n of a quorum.
    #[must_use]
    pub fn optional(&self) -> usize {
        self.endpoints.iter().filter(|e| !e.required).count()
    }

    /// The settings that the next round is to have.
    #[must_use]
    pub fn wanted(&self) -> &Settings {
        self.config.wanted()
    }

    /// Whether something on screen moves with time alone, so that frames are worth drawing.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        matches!(self.shown, Shown::Running(_)) && self.health == Health::Running
    }

    /// The settings of the round on the lanes; before the first, those it will have.
    #[must_use]
    pub fn round_settings(&self) -> &Settings {
        match &self.shown {
            Shown::Waiting => self.config.live(),
            Shown::Running(live) => &live.started.settings,
            Shown::Over(round) => &round.settings,
        }
    }

    /// The optional budget of the round on the lanes.
    #[must_use]
    pub fn round_budget(&self) -> Duration {
        match &self.shown {
            Shown::Waiting => self.config.live().effective_budget().0,
            Shown::Running(live) => live.started.budget,
            Shown::Over(round) => round.budget,
        }
    }

    /// Its number.
    #[must_use]
    pub fn round_no(&self) -> Option<RoundNo> {
        match &self.shown {
            Shown::Waiting => None,
            Shown::Running(live) => Some(live.started.round),
            Shown::Over(round) => Some(round.no),
        }
    }

    /// How long the round on the lanes runs or took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match &self.shown {
            Shown::Waiting => Duration::ZERO,
            Shown::Running(live) => live.elapsed(self.now),
            Shown::Over(round) => round.took,
        }
    }

    /// An endpoint's call as its lane shows it; `None` before the first round.
    #[must_use]
    pub fn lane(&self, index: usize) -> Option<Lane> {
        match &self.shown {
            Shown::Waiting => None,
            Shown::Over(round) => round.calls.get(index).map(Lane::of_call),
            Shown::Running(live) => {
                // A call that the budget will cut never shows more than the budget, however late the news.
                let cut = !live.started.settings.mode.ignores_budget() && !self.is_required(index);
                let elapsed = live.elapsed(self.now);
                Lane::of_live(live, index, if cut { elapsed.min(live.started.budget) } else { elapsed })
            }
        }
    }

    fn is_required(&self, index: usize) -> bool {
        self.endpoints.get(index).is_some_and(|e| e.required)
    }

    /// Whether calls of the round on the lanes may run past its budget.
    #[must_use]
    pub fn may_pass_budget(&self) -> bool {
        self.round_settings().mode.ignores_budget() || self.endpoints.iter().any(|e| e.required)
    }

    /// How far calls reached, in this round and the last ones with the same mode and budget.
    #[must_use]
    pub fn reach(&self) -> Duration {
        self.reaches.iter().copied().max().unwrap_or_default().max(self.elapsed())
    }

    /// The missing table of the last minute, in an order that changes at most once a second.
    #[must_use]
    pub fn missing_rows(&self) -> Vec<MissingRow> {
        let mut rows = self.stats.missing(Window::Minute);
        rows.sort_by_cached_key(|row| {
            self.order.1.get(&(row.endpoint, row.reason)).copied().unwrap_or(usize::MAX)
        });
        rows
    }

    /// The terminal's size as last told, columns and rows.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        self.size
    }
}

/// Takes a message in and says what is to be done outside.
pub fn update(app: &mut App, message: Message) -> Vec<Effect> {
    match message {
        Message::Engine(event) => app.engine(event),
        Message::Action(action) => return app.act(action),
        // Messages may be handled late; the screen's time never goes back.
        Message::Tick(now) => app.now = app.now.max(now),
        Message::Resized(width, height) => app.size = (width, height),
        Message::Failed(why) => app.fail(&why),
        // Nothing on the screen takes text or the mouse yet.
        Message::Typed(_) | Message::Pasted(_) | Message::Pointer(_) => {}
    }
    Vec::new()
}

fn push<T>(ring: &mut VecDeque<T>, value: T, most: usize) {
    if ring.len() >= most {
        ring.pop_front();
    }
    ring.push_back(value);
}
