//! Turns the engine's events into the lines of a record, and counts what its summary will say.

use super::line::{EndpointLine, Line};
use super::round::RoundLine;
use super::summary::{GateLine, SummaryFold};
use crate::domain::{Event, Settings};
use std::sync::Arc;

/// Writes a session down from where it begins, in words of a record; what becomes of them is the caller's affair.
#[derive(Debug, Clone)]
pub struct Scribe {
    profile: String,
    started: String,
    endpoints: Vec<EndpointLine>,
    names: Vec<String>,
    settings: Arc<Settings>,
    fold: SummaryFold,
    /// Starts that were skipped before it began.
    skipped_before: u64,
}

impl Scribe {
    /// Nothing has happened yet. `started` is wall time as RFC 3339; the endpoints stand in profile order.
    #[must_use]
    pub fn new(profile: &str, started: &str, endpoints: Vec<EndpointLine>, settings: Arc<Settings>) -> Self {
        let names: Vec<String> = endpoints.iter().map(|e| e.name.clone()).collect();
        let fold = SummaryFold::new(&names);
        let (profile, started) = (profile.to_owned(), started.to_owned());
        Self { profile, started, endpoints, names, settings, fold, skipped_before: 0 }
    }

    /// Begins in the middle of a session, of which this many starts were skipped before: they are not its own.
    #[must_use]
    pub const fn after_skipped(mut self, starts: u64) -> Self {
        self.skipped_before = starts;
        self
    }

    /// The first line.
    #[must_use]
    pub fn first(&self) -> Line {
        Line::session(&self.profile, &self.started, self.endpoints.clone(), &self.settings)
    }

    /// The line of an event, where it has one.
    pub fn event(&mut self, event: &Event) -> Option<Line> {
        match event {
            Event::RoundSettled { round, vitals } => {
                let skipped = vitals.skipped.saturating_sub(self.skipped_before);
                self.fold.skipped(skipped);
                self.fold.push(round);
                let mut line = RoundLine::of(round, &self.names);
                line.skipped = skipped;
                Some(Line::Round(line))
            }
            Event::Late { round, late } => {
                self.fold.late(*round, late);
                Some(Line::late(*round, late, &self.names))
            }
            Event::SettingsChanged { at, settings } => {
                self.settings = Arc::clone(settings);
                Some(Line::settings(*at, settings, &self.endpoints))
            }
            Event::Noted { at, text } => Some(Line::note(*at, text)),
            _ => None,
        }
    }

    /// What was counted so far.
    #[must_use]
    pub const fn fold(&self) -> &SummaryFold {
        &self.fold
    }

    /// The last line.
    #[must_use]
    pub fn last(&self, gates: Vec<GateLine>) -> Line {
        Line::summary(self.fold.summary(gates))
    }
}
