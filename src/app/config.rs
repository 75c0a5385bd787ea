//! The settings in force and those asked for. A change takes effect with the next round; until that round
//! has started, both are known.

use crate::domain::numbers::millis;
use crate::domain::{Mode, Settings};
use std::sync::Arc;

/// What rounds are asked to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Config {
    /// Every round has these.
    Live(Arc<Settings>),
    /// A change was asked for and no round has started with it yet.
    Switching {
        /// What the last round had.
        from: Arc<Settings>,
        /// What the next is to have.
        to: Arc<Settings>,
    },
}

impl Config {
    /// What the last round had.
    #[must_use]
    pub fn live(&self) -> &Settings {
        match self {
            Self::Live(settings) | Self::Switching { from: settings, .. } => settings,
        }
    }

    /// What the next round is to have.
    #[must_use]
    pub fn wanted(&self) -> &Settings {
        match self {
            Self::Live(settings) | Self::Switching { to: settings, .. } => settings,
        }
    }

    fn live_arc(&self) -> Arc<Settings> {
        match self {
            Self::Live(settings) | Self::Switching { from: settings, .. } => Arc::clone(settings),
        }
    }

    /// A key asked for these.
    pub(super) fn ask(&mut self, to: Settings) {
        self.switch(Arc::new(to));
    }

    /// The engine says that these hold from the next round on. While a key's change is pending this is its
    /// echo, or that of a key before it.
    pub(super) fn announced(&mut self, to: Arc<Settings>) {
        if matches!(self, Self::Live(_)) {
            self.switch(to);
        }
    }

    fn switch(&mut self, to: Arc<Settings>) {
        let from = self.live_arc();
        *self = if *from == *to { Self::Live(from) } else { Self::Switching { from, to } };
    }

    /// A round started with these.
    pub(super) fn started(&mut self, with: &Arc<Settings>) {
        *self = match &*self {
            Self::Switching { to, .. } if **to != **with => {
                Self::Switching { from: Arc::clone(with), to: Arc::clone(to) }
            }
            _ => Self::Live(Arc::clone(with)),
        };
    }
}

/// One number that changed from a round to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub what: &'static str,
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

impl Change {
    /// What differs, with k only between quorum rounds and the delay only between hedge rounds.
    #[must_use]
    pub fn between(from: &Settings, to: &Settings, optional: usize) -> Vec<Self> {
        let mut out = Vec::new();
        let mut add = |what, from: String, to: String| {
            if from != to {
                out.push(Self { what, from, to });
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
