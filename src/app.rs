//! The screen's state and its transitions, Elm style: [`update`] takes a [`Message`], changes the [`App`] and
//! says what is to be done outside.
//!
//! Knows no terminal, no runtime, no engine and no clock: time comes in with each message.

mod about;
pub mod actions;
mod config;
mod copied;
pub mod detail;
mod events;
pub mod glossary;
pub mod help;
mod key;
pub mod keymap;
mod keys;
pub mod lane;
mod lineup;
pub mod live;
mod look;
mod notice;
mod page;
pub mod palette;
mod panel;
mod picture;
mod replay;
mod starting;
pub mod story;
mod summary;
mod tables;
pub mod target;
mod theme;
pub mod tradeoff;
mod tune;
mod typing;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use actions::{Action, Kind};
pub use config::{Change, Config, ab_pair, ab_words, variant_words};
pub use copied::{Copied, Wanted};
pub use detail::{AnswerLine, DetailPage, FactLine, Part};
pub use help::HelpPage;
pub use key::{Key, KeyCode, NoKey};
pub use keymap::{Keymap, KeymapFault};
pub use lane::{Bar, Fate, Lane, LaneState, Outline};
pub use lineup::{Lineup, Sort};
pub use live::LiveRound;
pub use notice::{Notice, Recording};
pub use page::Page;
pub use panel::Panel;
pub use picture::{Mark, Picture};
pub use replay::{Recorded, Scene};
pub use summary::summary;
pub use target::{Gesture, Target};
pub use theme::{ColorChoice, ThemeName};
pub use tradeoff::Asking;

use crate::domain::{
    CallSpec, EndpointId, Event, FaultSwitch, Playback, Round, RoundNo, Seek, Settings, Speed,
};
use crate::stats::Window;
use crate::whatif::outlook::Outlook;
use palette::Palette;
use std::sync::Arc;
use std::time::Duration;
use story::Story;
use tradeoff::Tradeoff;
use typing::TypedLine;

/// What the screen has to know of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of the profile")]
pub struct EndpointInfo {
    /// Its name, free of control characters.
    pub name: String,
    /// Whether its failure fails the round.
    pub required: bool,
    /// How many URLs it has; with more than one they are shown as a, b, c, …
    pub replicas: usize,
    /// Whether its upstreams are embedded, so that they can be made to fail.
    pub simulated: bool,
    /// Whether it has a circuit breaker.
    pub breaker: bool,
    /// Whether any certificate is accepted from it.
    pub unverified: bool,
    /// The request that goes to each of its URLs, in their order, with secrets redacted: `GET https://…`. Empty
    /// where it is not known.
    pub requests: Vec<String>,
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
    /// Which colours.
    pub theme: ThemeName,
}

/// What an [`App`] is built from.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The profile's name.
    pub profile: String,
    /// Its endpoints, in profile order.
    pub endpoints: Vec<EndpointInfo>,
    /// What the engine knows of each.
    pub specs: Vec<CallSpec>,
    /// Different hosts and ports among them.
    pub hosts: usize,
    /// What the first round will be asked to do.
    pub settings: Settings,
    /// Rounds that the estimators look at, at most.
    pub what_if_rounds: usize,
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
    /// At the keyboard while something is typed.
    Typed(Key),
    /// The first line of what was pasted, free of control characters.
    Pasted(String),
    /// With the mouse.
    Pointed(Gesture, Target),
    /// Time passed; the time from the session's start.
    Tick(Duration),
    /// A recording has come so far.
    Played(Playback),
    /// A recording goes on at another place, where this is what was before; the round to be looked at, where one was
    /// asked for.
    Jumped(Box<Scene>, Option<RoundNo>),
    /// A recording was played quickly up to where it was to go; the round that was asked for.
    Arrived(Option<RoundNo>),
    /// The terminal has another size.
    Resized(u16, u16),
    /// The engine stopped for this reason.
    Failed(String),
    /// Whether the session is recorded, and how well.
    Recording(Recording),
    /// What other budgets, quorums and hedges would have given.
    Outlook(Box<Outlook>),
    /// There is something to be read.
    Read(Page),
    /// A call is on the clipboard as a command.
    Copied(Copied),
    /// Something to be said for a moment.
    Notice(Notice),
    /// What is said for a moment has been said long enough.
    NoticeOver,
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
    /// A recording goes on somewhere else.
    Seek(Seek),
    /// A recording is played at another speed.
    Speed(Speed),
    /// An embedded upstream behaves like this from its next attempt on.
    Fault(EndpointId, FaultSwitch),
    /// Somebody has this to say.
    Note(String),
    /// Begin a recording, or end the one that goes on.
    Record,
    /// Write the picture and its round to files.
    Export,
    /// Read the profile once more.
    Reload,
    /// A call as a command on the clipboard.
    Copy(Wanted),
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
    /// The selected endpoint's call, from this line on.
    Detail(usize),
    /// What another budget, quorum or hedge would have given.
    Tradeoff,
    /// A text.
    Page {
        /// From this line on.
        top: usize,
        /// What is behind it.
        behind: Behind,
    },
    /// The keys.
    Help {
        /// From this line on.
        top: usize,
        /// What is behind it.
        behind: Behind,
    },
}

/// What is behind the help or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// The dashboard.
    Dashboard,
    /// A call's detail.
    Detail,
    /// The trade-off.
    Tradeoff,
}

impl Behind {
    /// The screen to go back to.
    const fn screen(self) -> Screen {
        match self {
            Self::Dashboard => Screen::Dashboard,
            Self::Detail => Screen::Detail(0),
            Self::Tradeoff => Screen::Tradeoff,
        }
    }
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

/// Lanes that a page key moves over.
const PAGE: isize = 10;

/// The screen's state.
#[derive(Debug, Clone)]
pub struct App {
    pub(crate) profile: String,
    pub(crate) endpoints: Vec<EndpointInfo>,
    specs: Vec<CallSpec>,
    pub(crate) hosts: usize,
    pub(crate) options: Options,
    pub(crate) keymap: Keymap,
    pub(crate) config: Config,
    pub(crate) pace: Pace,
    pub(crate) health: Health,
    pub(crate) screen: Screen,
    pub(crate) selected: usize,
    pub(crate) window: Window,
    pub(crate) lineup: Lineup,
    /// The panel that was asked for; `None`: the one that suits the mode.
    panel: Option<Panel>,
    /// What is played, where it is a recording.
    recorded: Option<Recorded>,
    /// What embedded upstreams are switched to, by endpoint.
    pub(crate) faults: Vec<FaultSwitch>,
    /// What rounds put on the screen.
    live: Picture,
    /// What is looked at instead, where the picture is frozen.
    frozen: Option<Box<Picture>>,
    /// What other budgets would have given, and where one is among them.
    tradeoff: Tradeoff,
    /// What is being typed as a note.
    note: Option<TypedLine>,
    pub(crate) recording: Recording,
    /// What was copied last.
    copied: Option<Copied>,
    /// What there is to be read, or was.
    page: Page,
    palette: Option<Palette>,
    /// The story that is told.
    story: Option<Box<Story>>,
    /// Whether nobody has typed anything yet.
    fresh: bool,
    /// What is said for a moment, and until when.
    notice: Option<Notice>,
    /// First rounds, which are left out of every statistic.
    warmup: u64,
    /// File descriptors that there may be, and that rounds may need, where those are more.
    pub(crate) descriptors: Option<(u64, u64)>,
    size: (u16, u16),
}

impl App {
    /// A screen that waits for its first round.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            live: Picture::new(setup.endpoints.len(), setup.what_if_rounds),
            lineup: Lineup::new(setup.endpoints.len()),
            faults: vec![FaultSwitch::AsWritten; setup.endpoints.len()],
            profile: setup.profile,
            endpoints: setup.endpoints,
            specs: setup.specs,
            hosts: setup.hosts,
            options: setup.options,
            keymap: Keymap::default(),
            config: Config::new(setup.settings),
            pace: Pace::Live,
            health: Health::Running,
            screen: Screen::Dashboard,
            selected: 0,
            window: Window::Minute,
            panel: None,
            recorded: None,
            frozen: None,
            tradeoff: Tradeoff::default(),
            note: None,
            recording: Recording::Off,
            copied: None,
            page: Page::default(),
            palette: None,
            story: None,
            fresh: false,
            notice: None,
            warmup: 0,
            descriptors: None,
            size: (0, 0),
        }
    }

    /// What kind of session is on the screen.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        if self.recorded.is_some() { Kind::Replay } else { Kind::Live }
    }

    /// How many calls are optional: the n of a quorum.
    #[must_use]
    pub fn optional(&self) -> usize {
        optional(&self.endpoints)
    }

    /// The settings that the next round is to have.
    #[must_use]
    pub fn wanted(&self) -> &Settings {
        self.config.wanted()
    }

    /// The terminal's size as last told, columns and rows.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        self.size
    }
}

/// How many of these have optional calls.
fn optional(endpoints: &[EndpointInfo]) -> usize {
    endpoints.iter().filter(|e| !e.required).count()
}

/// Takes a message in and says what is to be done outside.
pub fn update(app: &mut App, message: Message) -> Vec<Effect> {
    app.heard(&message);
    app.touched(&message);
    match message {
        Message::Engine(event) => app.engine(event),
        Message::Action(action) => return app.act(action),
        Message::Typed(key) => return app.typed(key),
        Message::Pasted(text) => app.pasted(&text),
        Message::Pointed(gesture, target) => return app.pointed(gesture, target),
        Message::Tick(now) => app.live.tick(now),
        Message::Played(playback) => app.played(playback),
        Message::Jumped(scene, round) => app.jumped(*scene, round),
        Message::Arrived(round) => app.arrived(round),
        Message::Resized(width, height) => app.size = (width, height),
        Message::Failed(why) => app.fail(&why),
        Message::Recording(recording) => app.recording = recording,
        Message::Outlook(outlook) => app.tradeoff.answered(*outlook),
        Message::Read(page) => app.read(page),
        Message::Copied(copied) => app.copied = Some(copied),
        Message::Notice(notice) => app.notice = Some(notice),
        Message::NoticeOver => {}
    }
    Vec::new()
}
