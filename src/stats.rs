//! Folds settled rounds into rolling counters, quantiles and hints.
//!
//! Only [`Round`]s that settled come in, so a lost live event never changes a number here, and the time comes
//! in with them (`at + took`): this room knows no clock, no terminal and no runtime. Memory is bounded by the
//! number of endpoints, never by the number of rounds.

mod blame;
mod endpoint;
mod hedges;
mod hint;
mod history;
mod missing;
mod pulse;
mod quantile;
mod tally;

pub use blame::{Blame, BlameRow};
pub use endpoint::EndpointTotals;
pub use hedges::{HedgeCost, HedgeRow};
pub use hint::{Hint, Remedy};
pub use history::{History, RoundMark};
pub use missing::{Bucket, MissingRow};
pub use pulse::Pulse;
pub use quantile::Quantile;
pub use tally::Window;

use crate::domain::event::{SkipCause, Vitals};
use crate::domain::{Call, EndpointId, Outcome, Reason, Round};
use blame::BlameTally;
use hedges::{CostTally, HedgeTally};
use hint::Recent;
use missing::ReasonTally;
use quantile::Samples;
use std::collections::BTreeMap;
use std::time::Duration;
use tally::Tally;

/// Calls and rounds of a window. `ok + cut + error + not_needed` are all its calls, always (R41).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Rounds.
    pub rounds: u64,
    /// Rounds with a partial result (R40).
    pub partial: u64,
    /// Rounds that failed (R34).
    pub failed: u64,
    /// Calls with an answer.
    pub ok: u64,
    /// Calls cut at a time limit.
    pub cut: u64,
    /// Calls missing for any other reason.
    pub error: u64,
    /// Calls cancelled because enough had answered.
    pub not_needed: u64,
}

impl Totals {
    /// All calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.ok + self.missing() + self.not_needed
    }

    /// Calls that are missing: cut or error.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.cut + self.error
    }
}

/// What one endpoint did.
#[derive(Debug, Clone, PartialEq, Default)]
struct PerEndpoint {
    ok: Tally,
    not_needed: Tally,
    missing: BTreeMap<Reason, ReasonTally>,
    samples: Samples,
    recent: Recent,
    hedges: HedgeTally,
    blame: BlameTally,
}

impl PerEndpoint {
    fn calls(&self, head: u64, window: Window) -> u64 {
        let missing: u64 = self.missing.values().map(|m| m.count.sum(head, window)).sum();
        self.ok.sum(head, window) + self.not_needed.sum(head, window) + missing
    }

    fn fold(&mut self, round: &Round, call: &Call, second: u64) {
        match call.outcome {
            Outcome::Ok => self.ok.add(second),
            Outcome::NotNeeded => self.not_needed.add(second),
            Outcome::Missing(reason) => self.missing.entry(reason).or_default().add(second, call.status),
        }
        self.samples.fold(round, call);
        // What our own lateness cut is no pattern of the endpoint's.
        if !round.is_misjudged(call) {
            self.recent.push(call.outcome);
        }
        self.hedges.fold(call, second);
    }
}

/// Everything the screen counts, folded from settled rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    endpoints: Vec<PerEndpoint>,
    rounds: Tally,
    partial: Tally,
    failed: Tally,
    /// Calls of all endpoints together, so that totals cost the same for 5 and for 500.
    ok: Tally,
    cut: Tally,
    error: Tally,
    not_needed: Tally,
    /// Rounds in which nothing was missing.
    complete: Tally,
    /// Rounds that waited for a quorum, and those of them that met it.
    quorum: Tally,
    met: Tally,
    cost: CostTally,
    /// End of the newest round seen: where every window ends.
    now: Duration,
    pulse: Pulse,
    history: History,
}

impl Stats {
    /// Nothing counted yet, for this many endpoints.
    #[must_use]
    pub fn new(endpoints: usize) -> Self {
        Self {
            endpoints: vec![PerEndpoint::default(); endpoints],
            rounds: Tally::default(),
            partial: Tally::default(),
            failed: Tally::default(),
            ok: Tally::default(),
            cut: Tally::default(),
            error: Tally::default(),
            not_needed: Tally::default(),
            complete: Tally::default(),
            quorum: Tally::default(),
            met: Tally::default(),
            cost: CostTally::default(),
            now: Duration::ZERO,
            pulse: Pulse::default(),
            history: History::default(),
        }
    }

    /// Forgets every count. The engine's own totals go on from where they are.
    pub fn reset(&mut self) {
        let mut fresh = Self::new(self.endpoints.len());
        fresh.now = self.now;
        fresh.pulse = self.pulse.restarted();
        for (fresh, old) in fresh.endpoints.iter_mut().zip(&mut self.endpoints) {
            fresh.hedges.connected = std::mem::take(&mut old.hedges.connected);
        }
        *self = fresh;
    }

    /// Counts a settled round. Calls of endpoints that the profile does not have are left out.
    pub fn fold(&mut self, round: &Round, vitals: Vitals) {
        let end = round.at.saturating_add(round.took);
        self.now = self.now.max(end);
        let second = end.as_secs();
        self.rounds.add(second);
        if round.partial() {
            self.partial.add(second);
        }
        if !round.ok {
            self.failed.add(second);
        }
        for call in &round.calls {
            if let Some(endpoint) = self.endpoints.get_mut(call.endpoint.index()) {
                endpoint.fold(round, call, second);
                self.cost.fold(call, &mut endpoint.hedges.connected, second);
                match call.outcome {
                    Outcome::Ok => self.ok.add(second),
                    Outcome::NotNeeded => self.not_needed.add(second),
                    Outcome::Missing(reason) if reason.is_cut() => self.cut.add(second),
                    Outcome::Missing(_) => self.error.add(second),
                }
            }
        }
        if blame::fold(&mut self.endpoints, round, second) {
            self.complete.add(second);
        }
        if let Some(shortfall) = round.shortfall() {
            self.quorum.add(second);
            if shortfall == 0 {
                self.met.add(second);
            }
        }
        self.pulse.fold(round, vitals);
        self.history.push(round);
    }

    /// A round that does not count: it has its place in the history, what the engine says beside it holds all the
    /// same, and the rest is left out.
    pub fn leave_out(&mut self, round: &Round, vitals: Vitals) {
        self.pulse.hear(vitals);
        self.history.push(round);
    }

    /// A planned start was skipped; `total` since the engine's start. Told at once, for rounds that could tell it
    /// may be what is missing.
    pub fn skipped(&mut self, total: u64, cause: SkipCause) {
        self.pulse.skip(total, cause);
    }

    /// The second in which every window ends.
    fn head(&self) -> u64 {
        self.now.as_secs()
    }

    /// Whether what ended then, from the session's start, is within a window.
    #[must_use]
    pub fn holds(&self, window: Window, end: Duration) -> bool {
        window.first(self.head()).is_none_or(|first| end.as_secs() >= first)
    }

    /// When the newest round ended, from the session's start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Calls and rounds of a window.
    #[must_use]
    pub fn totals(&self, window: Window) -> Totals {
        let head = self.head();
        Totals {
            rounds: self.rounds.sum(head, window),
            partial: self.partial.sum(head, window),
            failed: self.failed.sum(head, window),
            ok: self.ok.sum(head, window),
            cut: self.cut.sum(head, window),
            error: self.error.sum(head, window),
            not_needed: self.not_needed.sum(head, window),
        }
    }

    /// Censored quantile of the time to an answer, over the endpoint's recent primary attempts.
    #[must_use]
    pub fn quantile(&self, endpoint: EndpointId, q: f64) -> Quantile {
        self.endpoints.get(endpoint.index()).map_or(Quantile::None, |e| e.samples.quantile(q))
    }

    /// How long the endpoint's calls took that answered within the last minute.
    pub fn completions(&self, endpoint: EndpointId) -> impl Iterator<Item = Duration> + '_ {
        let from = self.now.saturating_sub(Duration::from_secs(60));
        self.endpoints.get(endpoint.index()).into_iter().flat_map(move |e| e.samples.completions(from))
    }

    /// Hints for endpoints with one prevailing reason (R42), the most frequent first.
    #[must_use]
    pub fn hints(&self) -> Vec<Hint> {
        let mut hints: Vec<Hint> = self
            .endpoints
            .iter()
            .enumerate()
            .filter_map(|(index, e)| e.recent.hint(EndpointId(index)))
            .collect();
        hints.sort_by_key(|h| std::cmp::Reverse(h.count));
        hints
    }

    /// The instrument's own numbers.
    #[must_use]
    pub fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// The latest rounds, a mark each.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
