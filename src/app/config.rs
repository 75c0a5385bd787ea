//! The settings in force and those asked for. A change takes effect with the next round; until that round
//! has started, both are known.

use crate::domain::numbers::millis;
use crate::domain::{Event, FaultSwitch, Mode, Settings};
use std::sync::Arc;

/// What rounds are asked to do: what the last one had and what the next is to have.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    live: Arc<Settings>,
    wanted: Arc<Settings>,
    /// Whether the engine has yet to say that what was last asked for holds. Until then it says what keys
    /// before the last one asked for, and that is over.
    awaiting: bool,
}

impl Config {
    pub(super) fn new(settings: Settings) -> Self {
        let live = Arc::new(settings);
        Self { wanted: Arc::clone(&live), live, awaiting: false }
    }

    /// What the last round had.
    #[must_use]
    pub fn live(&self) -> &Settings {
        &self.live
    }

    /// What the next round is to have.
    #[must_use]
    pub fn wanted(&self) -> &Settings {
        &self.wanted
    }

    /// Whether a change waits for the next round.
    #[must_use]
    pub fn is_switching(&self) -> bool {
        self.live != self.wanted
    }

    /// Takes in what an event says of settings.
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::RoundStarted(started) => self.started(&started.settings),
            Event::SettingsChanged { settings, .. } => self.announced(Arc::clone(settings)),
            _ => {}
        }
    }

    /// A key asked for these.
    pub(super) fn ask(&mut self, to: Settings) {
        self.wanted = Arc::new(to);
        self.awaiting = true;
    }

    /// The engine says that these hold from the next round on.
    fn announced(&mut self, to: Arc<Settings>) {
        if self.awaiting {
            self.awaiting = self.wanted != to;
        } else {
            self.wanted = to;
        }
    }

    /// A round started with these.
    fn started(&mut self, with: &Arc<Settings>) {
        self.live = Arc::clone(with);
    }
}

/// Something that is different from a round on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A value.
    Value {
        /// Which.
        what: String,
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// Nothing that is known here, but somebody had this to say.
    Note(String),
}

impl Change {
    /// An embedded upstream was switched.
    pub(super) fn fault(endpoint: &str, from: FaultSwitch, to: FaultSwitch) -> Self {
        Self::Value { what: endpoint.to_owned(), from: from.to_string(), to: to.to_string() }
    }

    /// This change and then another of the same value, as one; `None` for two that have nothing in common.
    pub(super) fn joined(&self, next: &Self) -> Option<Self> {
        match (self, next) {
            (Self::Value { what, from, .. }, Self::Value { what: same, to, .. }) if what == same => {
                Some(Self::Value { what: what.clone(), from: from.clone(), to: to.clone() })
            }
            _ => None,
        }
    }

    /// Whether nothing is different after all.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Value { from, to, .. } if from == to)
    }

    /// In words: `budget 200 → 250`, `deadline → quorum`, or what somebody said.
    #[must_use]
    pub fn words(&self, arrow: &str) -> String {
        match self {
            Self::Value { what, from, to } if what == "mode" => format!("{from} {arrow} {to}"),
            Self::Value { what, from, to } => format!("{what} {from} {arrow} {to}"),
            Self::Note(said) => said.clone(),
        }
    }

    /// What differs, with k only between quorum rounds and the delay only between hedge rounds.
    #[must_use]
    pub fn between(from: &Settings, to: &Settings, optional: usize) -> Vec<Self> {
        let mut out = Vec::new();
        let mut add = |what: &str, from: String, to: String| {
            if from != to {
                out.push(Self::Value { what: what.to_owned(), from, to });
            }
        };
        add("mode", from.mode.to_string(), to.mode.to_string());
        add("budget", millis(from.budget), millis(to.budget));
        add("every", millis(from.every), millis(to.every));
        let both = |mode| from.mode == mode && to.mode == mode;
        if both(Mode::Quorum) {
            add("k", from.quorum_of(optional).to_string(), to.quorum_of(optional).to_string());
        }
        if both(Mode::Hedge) {
            add("delay", from.hedge.delay.to_string(), to.hedge.delay.to_string());
        }
        out
    }
}
