//! The settings in force and those asked for. A change takes effect with the next round; until that round
//! has started, both are known.

use crate::domain::numbers::{self, millis};
use crate::domain::{Ab, Event, FaultSwitch, Mode, Settings, Variant};
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

    /// A round started with these. Where two variants take turns, what they vary is not what holds: it would be
    /// another with every round.
    fn started(&mut self, with: &Arc<Settings>) {
        let same = |known: &Arc<Settings>| with.ab.is_some() && steady(known) == steady(with);
        if same(&self.wanted) {
            self.live = Arc::clone(&self.wanted);
        } else if !same(&self.live) {
            self.live = Arc::clone(with);
        }
    }
}

/// The same settings for both of two variants that take turns: with what they vary as the first has it.
#[must_use]
pub(super) fn steady(settings: &Settings) -> Settings {
    settings.of_round(1).0
}

/// What a variant varies, as these settings have it.
fn own(variant: Variant, settings: &Settings, optional: usize) -> Variant {
    match variant {
        Variant::Mode(_) => Variant::Mode(settings.mode),
        Variant::Budget(_) => Variant::Budget(settings.budget),
        Variant::Quorum(_) => Variant::Quorum(settings.quorum_of(optional)),
        Variant::Hedge(_) => Variant::Hedge(settings.hedge.delay),
    }
}

/// Ends that two variants take turns where what they vary was set by hand: what is asked for last holds. Returns
/// what they were.
pub(super) fn by_hand(from: &Settings, to: &mut Settings, optional: usize) -> Option<Ab> {
    let set = |ab: &Ab| own(ab.a, from, optional) != own(ab.a, to, optional);
    let over = to.ab.filter(|ab| set(ab));
    if over.is_some() {
        to.ab = None;
    }
    over
}

/// Two variants: `budget 150 | 250 ms`.
#[must_use]
pub fn ab_words(ab: Ab) -> String {
    format!("{} {}", ab.a.key(), ab_pair(ab))
}

/// The same without what they vary: `150 | 250 ms`.
#[must_use]
pub fn ab_pair(ab: Ab) -> String {
    let (a, b) = (variant_words(ab.a), variant_words(ab.b));
    // The unit once is enough.
    let first = if b.ends_with(" ms") { a.strip_suffix(" ms").unwrap_or(&a) } else { &a };
    format!("{first} | {b}")
}

/// One variant: `150 ms`, `quorum`, `3`, `p95`.
#[must_use]
pub fn variant_words(variant: Variant) -> String {
    match variant {
        Variant::Mode(mode) => mode.to_string(),
        Variant::Budget(budget) => numbers::setting_ms(budget),
        Variant::Quorum(k) => k.to_string(),
        Variant::Hedge(delay) => numbers::delay(delay),
    }
}

/// A share of rounds, as a setting: `5 %`.
fn share(share: f64) -> String {
    numbers::short_share(share)
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

    /// What differs, with k only between quorum rounds and the delay only between hedge rounds. Two variants that
    /// take turns are one thing, and no change from round to round.
    #[must_use]
    pub fn between(from: &Settings, to: &Settings, optional: usize) -> Vec<Self> {
        let (from, to) = (&steady(from), &steady(to));
        let mut out = Vec::new();
        // What is varied says more than its base.
        let varied = |key: &str| [from.ab, to.ab].iter().flatten().any(|ab| ab.a.key() == key);
        let mut add = |key: &str, from: String, to: String| {
            if from != to && !varied(key) {
                let what = if key == "quorum" { "k" } else { key };
                let what = if key == "hedge" { "delay" } else { what }.to_owned();
                out.push(Self::Value { what, from, to });
            }
        };
        add("mode", from.mode.to_string(), to.mode.to_string());
        add("budget", millis(from.budget), millis(to.budget));
        add("every", millis(from.every), millis(to.every));
        let both = |mode| from.mode == mode && to.mode == mode;
        if both(Mode::Quorum) {
            add("quorum", from.quorum_of(optional).to_string(), to.quorum_of(optional).to_string());
        }
        if both(Mode::Hedge) {
            add("hedge", from.hedge.delay.to_string(), to.hedge.delay.to_string());
        }
        let probe = |s: &Settings| share(s.probe);
        if probe(from) != probe(to) {
            // The unit once is enough: `2 → 5 %`.
            add("probe", probe(from).replace(" %", ""), probe(to));
        }
        if let Some(ab) = to.ab.or(from.ab).filter(|_| from.ab != to.ab) {
            let words = |s: &Settings| s.ab.map_or_else(|| variant_words(own(ab.a, s, optional)), ab_words);
            add("A/B", words(from), words(to));
        }
        out
    }
}
