//! Events become counts.
//!
//! Only [`Event::RoundSettled`] feeds totals, so each round counts once and a dropped event costs nothing. What counts
//! is what the summary of a run counts ([`Round::counts`]); a round that was given up is in `fanscope_rounds_total`
//! besides, where `ended_by` tells it from the others.

use super::series::{EndpointSeries, Exposition, Series, outcome_slot};
use crate::domain::{Call, Event, Round, RoundNo, Settings};
use std::collections::BTreeMap;

/// The counts of a session. Feeding it waits at most for a scrape to be written, which is of one moment.
#[derive(Debug)]
pub struct Metrics {
    series: Series,
    exposition: Exposition,
    /// Calls that have not settled, by running round.
    running: BTreeMap<RoundNo, usize>,
    /// Rounds that warm up and have not settled.
    warming: u64,
    /// Starts that were skipped while it warmed up.
    skipped_before: u64,
}

impl Metrics {
    /// Nothing counted yet; `endpoints` are the names in profile order.
    #[must_use]
    pub fn new(profile: &str, endpoints: &[String], settings: &Settings) -> Self {
        let (series, exposition) = Series::new(profile, endpoints);
        series.budget.set(settings.effective_budget().0.as_secs_f64());
        Self { series, exposition, running: BTreeMap::new(), warming: 0, skipped_before: 0 }
    }

    /// The first rounds of the session warm up, this many.
    #[must_use]
    pub const fn after_warmup(mut self, rounds: u64) -> Self {
        self.warming = rounds;
        self
    }

    /// The same series, to be read elsewhere.
    #[must_use]
    pub fn exposition(&self) -> Exposition {
        self.exposition.clone()
    }

    /// Counts what happened. Warm-up rounds are in flight like any other, and counted nowhere else; neither are
    /// starts that were skipped until the last of them had settled.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::RoundStarted(started) => {
                self.series.budget.set(started.budget.as_secs_f64());
                self.running.insert(started.round, self.series.endpoints.len());
            }
            Event::CallSettled { round, .. } => {
                if let Some(left) = self.running.get_mut(round) {
                    *left = left.saturating_sub(1);
                }
            }
            Event::RoundPublished(round) => {
                self.running.remove(&round.no);
            }
            Event::RoundSettled { round, vitals } => {
                self.running.remove(&round.no);
                self.skipped(vitals.skipped);
                self.warming = self.warming.saturating_sub(u64::from(round.warmup));
                self.settled(round);
            }
            Event::StartSkipped { total, .. } => self.skipped(*total),
            Event::Attempt { .. }
            | Event::Late { .. }
            | Event::SettingsChanged { .. }
            | Event::Noted { .. }
            | Event::Paused(_)
            | Event::Failed(_) => {
                return;
            }
        }
        let calls: usize = self.running.values().sum();
        self.series.in_flight.set(i64::try_from(calls).unwrap_or(i64::MAX));
    }

    /// Raises the counter to the total, which may have been heard of before.
    fn skipped(&mut self, total: u64) {
        if self.warming > 0 {
            self.skipped_before = self.skipped_before.max(total);
        }
        let counter = &self.series.skipped;
        counter.inc_by(total.saturating_sub(self.skipped_before).saturating_sub(counter.get()));
    }

    fn settled(&self, round: &Round) {
        let _moment = self.exposition.moment();
        if round.warmup {
            return;
        }
        let series = &self.series;
        let mode = round.settings.mode as usize;
        if let Some(count) = series.rounds.get(mode).and_then(|row| row.get(round.ended_by as usize)) {
            count.inc();
        }
        if !round.counts() {
            return;
        }
        if let Some(partial) = series.partial.get(mode).filter(|_| round.partial()) {
            partial.inc();
        }
        series.round_duration.observe(round.took.as_secs_f64());
        for call in &round.calls {
            if let Some(endpoint) = series.endpoints.get(call.endpoint.index()) {
                endpoint.count(call);
            }
        }
    }
}

impl EndpointSeries {
    fn count(&self, call: &Call) {
        let slot = outcome_slot(call.outcome);
        if let Some(calls) = self.calls.get(slot) {
            calls.inc();
        }
        if let Some(missing) = call.outcome.reason().and_then(|reason| self.missing.get(reason as usize)) {
            missing.inc();
        }
        let hedges = [call.hedges.won, call.hedges.wasted, call.hedges.suppressed.total()];
        for (counter, count) in self.hedges.iter().zip(hedges) {
            counter.inc_by(count.into());
        }
        // Where nothing was sent there is no time to speak of, and counting it as 0 would flatter the endpoint.
        if let Some(duration) = self.durations.get(slot).filter(|_| !call.attempts.is_empty()) {
            duration.observe(call.end.as_secs_f64());
        }
    }
}
