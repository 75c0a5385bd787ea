//! The instrument's own numbers: how late it was, what it skipped, what it sent.

use crate::domain::Round;
use crate::domain::event::{SkipCause, Vitals};
use std::collections::VecDeque;
use std::time::Duration;

/// Rounds over which recent numbers are taken.
const RECENT: usize = 20;

/// Rounds over which the attempt rate is taken, at most; and never over more than [`RATE_SPAN`].
const RATED: usize = 64;

/// The longest time over which the attempt rate is taken.
const RATE_SPAN: Duration = Duration::from_secs(10);

/// Rounds whose length is kept.
const TOOK: usize = 1024;

/// Self-honesty: what the instrument says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pulse {
    lags: VecDeque<Duration>,
    overshoots: VecDeque<Duration>,
    /// How long the latest rounds took, and the longest of all.
    took: VecDeque<Duration>,
    longest: Duration,
    /// Start and attempts of the latest rounds.
    starts: VecDeque<(Duration, u64)>,
    reused: usize,
    new: usize,
    /// Rounds that woke up too late, and how late the last of them was.
    overruns: u64,
    overrun: Option<Duration>,
    vitals: Vitals,
    /// Why the last start was skipped.
    cause: Option<SkipCause>,
    /// The engine's totals at the last reset.
    base: Vitals,
}

impl Pulse {
    /// The same engine, with counting begun anew.
    pub(super) fn restarted(&self) -> Self {
        Self { vitals: self.vitals, base: self.vitals, ..Self::default() }
    }

    pub(super) fn skip(&mut self, total: u64, cause: SkipCause) {
        self.vitals.skipped = self.vitals.skipped.max(total);
        self.cause = Some(cause);
    }

    /// The engine's totals, of which a skipped start may have been told before.
    pub(super) fn hear(&mut self, vitals: Vitals) {
        let skipped = self.vitals.skipped.max(vitals.skipped);
        self.vitals = Vitals { skipped, ..vitals };
    }

    pub(super) fn fold(&mut self, round: &Round, vitals: Vitals) {
        self.hear(vitals);
        keep(&mut self.lags, round.start_lag, RECENT);
        if let Some(overshoot) = round.overshoot() {
            keep(&mut self.overshoots, overshoot, RECENT);
        }
        if let Some(overrun) = round.overrun {
            self.overruns = self.overruns.saturating_add(1);
            self.overrun = Some(overrun);
        }
        keep(&mut self.took, round.took, TOOK);
        self.longest = self.longest.max(round.took);
        let attempts: usize = round.calls.iter().map(|c| c.attempts.len()).sum();
        keep(&mut self.starts, (round.at, attempts as u64), RATED);
        let conns = |reused| {
            round.calls.iter().flat_map(|c| &c.attempts).filter(|a| a.reused == Some(reused)).count()
        };
        self.reused = conns(true);
        self.new = conns(false);
    }

    /// How late rounds started against the plan: the median of the last 20.
    #[must_use]
    pub fn start_lag(&self) -> Option<Duration> {
        median(&self.lags)
    }

    /// How far past their limit rounds were published: the median of the last 20 that a limit ended.
    #[must_use]
    pub fn overshoot(&self) -> Option<Duration> {
        median(&self.overshoots)
    }

    /// Rounds whose own timers woke them too late to judge what they cut, and by how much in the last of them.
    #[must_use]
    pub fn overruns(&self) -> (u64, Option<Duration>) {
        (self.overruns, self.overrun)
    }

    /// How long rounds took: the nearest rank `percent` of the last 1024.
    #[must_use]
    pub fn took(&self, percent: usize) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.took.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    /// How long the longest round took, of all.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// Attempts per second over the last rounds; `None` before the second round.
    #[must_use]
    pub fn attempts_per_second(&self) -> Option<f64> {
        let newest = self.starts.iter().map(|s| s.0).max()?;
        let within = self.starts.iter().filter(|s| newest.saturating_sub(s.0) <= RATE_SPAN);
        let oldest = within.clone().map(|s| s.0).min()?;
        // The newest round's attempts belong to the time after it.
        let attempts: u64 = within.filter(|s| s.0 < newest).map(|s| s.1).sum();
        let span = newest.saturating_sub(oldest).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "attempts of at most RATED rounds")]
        let rate = attempts as f64 / span;
        (span > 0.0).then_some(rate)
    }

    /// Calls that are watched past their round's end, when the last round settled (W7).
    #[must_use]
    pub const fn watched(&self) -> usize {
        self.vitals.watched
    }

    /// Attempts of the last round over a kept connection.
    #[must_use]
    pub const fn reused(&self) -> usize {
        self.reused
    }

    /// Attempts of the last round that had to dial.
    #[must_use]
    pub const fn dialled(&self) -> usize {
        self.new
    }

    /// Why the last planned start was skipped, if one was since the last reset.
    #[must_use]
    pub fn skip_cause(&self) -> Option<SkipCause> {
        self.cause.filter(|_| self.skipped() > 0)
    }

    /// Dependencies whose breaker is not closed.
    #[must_use]
    pub const fn open_breakers(&self) -> usize {
        self.vitals.open_breakers
    }

    /// Hosts that asked for a pause which is not over.
    #[must_use]
    pub const fn backing_off(&self) -> usize {
        self.vitals.backing_off
    }

    /// Planned starts that did not happen.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.vitals.skipped.saturating_sub(self.base.skipped)
    }

    /// Attempts that were still alive after their grace.
    #[must_use]
    pub const fn lingering(&self) -> u64 {
        self.vitals.lingering.saturating_sub(self.base.lingering)
    }

    /// Live events that were dropped because the screen was slow.
    #[must_use]
    pub const fn lost_events(&self) -> u64 {
        self.vitals.lost_events.saturating_sub(self.base.lost_events)
    }
}

fn keep<T>(ring: &mut VecDeque<T>, value: T, most: usize) {
    if ring.len() == most {
        ring.pop_front();
    }
    ring.push_back(value);
}

fn median(values: &VecDeque<Duration>) -> Option<Duration> {
    let mut sorted: Vec<Duration> = values.iter().copied().collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}
