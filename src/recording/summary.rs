//! The last line: everything together, folded round by round.
//!
//! The fold keeps four bytes per round and per call; every number is exact to the microsecond, times above 71
//! minutes count as that. Where nothing was seen there is no number.

use super::line::name_of;
use super::units::{Millis, Ordered};
use crate::domain::{Call, Connected, EndpointId, Outcome, Reason, Round, Suppressed, Suppression};
use crate::whatif::survival::{Curve, Grade, Observation, Observed, observation};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Everything together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SummaryLine {
    /// Completed rounds.
    pub rounds: u64,
    /// Those that failed (R34).
    pub failed: u64,
    /// Planned starts that did not happen (R38, R39).
    pub skipped: u64,
    /// Share of the rounds that were partial (R40); null without rounds.
    pub partial: Option<f64>,
    /// Mean completeness of the rounds; null without rounds.
    pub completeness: Option<f64>,
    /// How long the rounds took.
    pub round: RoundTimes,
    /// One per endpoint, in profile order.
    pub endpoints: Vec<EndpointSummary>,
    /// Hedges of all endpoints.
    pub hedges: HedgesTotal,
    /// What had to hold.
    pub gates: Vec<GateLine>,
}

/// Nearest-rank quantiles of the rounds' `took_ms`, null without rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RoundTimes {
    /// Rounds that they rest on.
    pub n: u64,
    /// Median.
    pub p50_ms: Option<Millis>,
    /// 90th percentile.
    pub p90_ms: Option<Millis>,
    /// 99th percentile.
    pub p99_ms: Option<Millis>,
}

/// An endpoint's share. `n = ok + sum of missing + not_needed`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EndpointSummary {
    /// Its name.
    pub endpoint: String,
    /// Its calls.
    pub n: u64,
    /// Answered.
    pub ok: u64,
    /// Not answered, by reason.
    pub missing: Ordered<Reason, u64>,
    /// The status of those missing for [`Reason::HttpStatus`], where all had the same. For people only: it is no
    /// part of the line, where the reason keeps its stable spelling.
    #[serde(skip)]
    pub status: Option<u16>,
    /// Cancelled because enough had answered.
    pub not_needed: u64,
    /// Calls that its quantiles rest on: those of which something was sent.
    pub observed: u64,
    /// Median time to an answer by the survival curve; null where it was not reached, or with fewer than 5 calls
    /// at risk there (W6).
    pub p50_ms: Option<Millis>,
    /// 95th percentile, likewise.
    pub p95_ms: Option<Millis>,
    /// 99th percentile, likewise.
    pub p99_ms: Option<Millis>,
}

/// Hedges of all calls, and what they cost (R31). `sent = won + wasted`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HedgesTotal {
    /// Primary attempts that were sent.
    pub primaries: u64,
    /// Hedges that were sent.
    pub sent: u64,
    /// Those that settled their call.
    pub won: u64,
    /// The others.
    pub wasted: u64,
    /// `sent / primaries`; null without primaries.
    pub extra_load: Option<f64>,
    /// Time spent for nothing, [`Call::wasted`] of all calls.
    pub wasted_ms: Millis,
    /// Connections dialled again, as [`Connected::reconnects`] counts them.
    pub reconnects: u64,
    /// Due and not sent, by cause.
    pub suppressed: Ordered<Suppression, u64>,
}

/// A condition on the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateLine {
    /// As it was written.
    pub gate: String,
    /// Whether it held; null where there was no data.
    pub passed: Option<bool>,
    /// What was compared; null where there was no data.
    pub value: Option<f64>,
}

/// Folds settled rounds into a [`SummaryLine`].
#[derive(Debug, Clone)]
pub struct SummaryFold {
    names: Vec<String>,
    rounds: u64,
    failed: u64,
    partial: u64,
    skipped: u64,
    completeness: f64,
    took: Vec<u32>,
    endpoints: Vec<EndpointFold>,
    hedges: HedgesTotal,
    wasted: Duration,
    suppressed: [u64; Suppression::ALL.len()],
}

#[derive(Debug, Clone, Default)]
struct EndpointFold {
    ok: u64,
    not_needed: u64,
    missing: [u64; Reason::ALL.len()],
    refused: OneStatus,
    connected: Connected,
    answered_at: Vec<u32>,
    failed_at: Vec<u32>,
    cut_at: Vec<u32>,
}

/// The status of refused answers, while there is only one.
#[derive(Debug, Clone, Copy, Default)]
enum OneStatus {
    #[default]
    None,
    One(u16),
    Mixed,
}

impl OneStatus {
    const fn add(&mut self, status: Option<u16>) {
        *self = match (*self, status) {
            (Self::None, Some(status)) => Self::One(status),
            (Self::One(before), Some(status)) if before == status => Self::One(before),
            _ => Self::Mixed,
        };
    }

    const fn get(self) -> Option<u16> {
        if let Self::One(status) = self { Some(status) } else { None }
    }
}

impl SummaryFold {
    /// Nothing yet; `names` are the endpoints in profile order.
    #[must_use]
    pub fn new(names: &[String]) -> Self {
        Self {
            names: names.to_vec(),
            rounds: 0,
            failed: 0,
            partial: 0,
            skipped: 0,
            completeness: 0.0,
            took: Vec::new(),
            endpoints: vec![EndpointFold::default(); names.len()],
            hedges: HedgesTotal::default(),
            wasted: Duration::ZERO,
            suppressed: [0; Suppression::ALL.len()],
        }
    }

    /// Adds a settled round, unless it does not count.
    pub fn push(&mut self, round: &Round) {
        if !round.counts() {
            return;
        }
        self.rounds += 1;
        self.failed += u64::from(!round.ok);
        self.partial += u64::from(round.partial());
        self.completeness += round.completeness();
        self.took.push(micros(round.took));
        for call in &round.calls {
            let index = call.endpoint.index();
            if index >= self.endpoints.len() {
                self.endpoints.resize_with(index + 1, EndpointFold::default);
            }
            if let Some(endpoint) = self.endpoints.get_mut(index) {
                endpoint.count(call);
                self.hedges.reconnects += endpoint.connected.reconnects(call);
                endpoint.observe(observation(call));
            }
            self.hedges.primaries += call.primaries();
            self.hedges.sent += u64::from(call.hedges.sent);
            self.hedges.won += u64::from(call.hedges.won);
            self.hedges.wasted += u64::from(call.hedges.wasted);
            self.wasted = self.wasted.saturating_add(call.wasted());
            self.suppress(&call.hedges.suppressed);
        }
    }

    fn suppress(&mut self, suppressed: &Suppressed) {
        for (cause, count) in suppressed.iter() {
            self.suppressed[cause as usize] += u64::from(count);
        }
    }

    /// Planned starts that did not happen, in total so far.
    pub const fn skipped(&mut self, total: u64) {
        self.skipped = total;
    }

    /// Completed rounds.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Share of the rounds that were partial, 0 to 1.
    #[must_use]
    pub fn partial_share(&self) -> Option<f64> {
        ratio(self.partial, self.rounds)
    }

    /// Mean completeness of the rounds, 0 to 1.
    #[must_use]
    pub fn completeness(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
        let mean = |rounds: u64| self.completeness / rounds as f64;
        (self.rounds > 0).then(|| mean(self.rounds))
    }

    /// Everything so far.
    #[must_use]
    pub fn summary(&self, gates: Vec<GateLine>) -> SummaryLine {
        let mut took = self.took.clone();
        took.sort_unstable();
        let at = |q| nearest_rank(&took, q).map(Millis::from);
        let causes = Suppression::ALL.iter().map(|&cause| (cause, self.suppressed[cause as usize]));
        SummaryLine {
            rounds: self.rounds,
            failed: self.failed,
            skipped: self.skipped,
            partial: self.partial_share(),
            completeness: self.completeness(),
            round: RoundTimes { n: self.rounds, p50_ms: at(0.5), p90_ms: at(0.9), p99_ms: at(0.99) },
            endpoints: (self.endpoints.iter().enumerate())
                .map(|(i, endpoint)| endpoint.summary(name_of(&self.names, EndpointId(i))))
                .collect(),
            hedges: HedgesTotal {
                extra_load: ratio(self.hedges.sent, self.hedges.primaries),
                wasted_ms: self.wasted.into(),
                suppressed: causes.filter(|&(_, count)| count > 0).collect(),
                ..self.hedges.clone()
            },
            gates,
        }
    }
}

impl EndpointFold {
    const fn count(&mut self, call: &Call) {
        match call.outcome {
            Outcome::Ok => self.ok += 1,
            Outcome::Missing(reason) => {
                self.missing[reason as usize] += 1;
                if matches!(reason, Reason::HttpStatus) {
                    self.refused.add(call.status);
                }
            }
            Outcome::NotNeeded => self.not_needed += 1,
        }
    }

    fn observe(&mut self, seen: Option<Observation>) {
        let Some(Observation { time, what }) = seen else { return };
        match what {
            Observed::Ok => self.answered_at.push(micros(time)),
            Observed::Error => self.failed_at.push(micros(time)),
            Observed::Censored => self.cut_at.push(micros(time)),
        }
    }

    fn curve(&self) -> Curve {
        let seen = [
            (&self.answered_at, Observed::Ok),
            (&self.failed_at, Observed::Error),
            (&self.cut_at, Observed::Censored),
        ];
        let seen = seen.into_iter().flat_map(|(times, what)| times.iter().map(move |&t| (t, what)));
        let seen: Vec<_> =
            seen.map(|(t, what)| Observation { time: Duration::from_micros(t.into()), what }).collect();
        Curve::of(&seen)
    }

    fn summary(&self, endpoint: String) -> EndpointSummary {
        let curve = self.curve();
        let at = |q| {
            let row = curve.row_ok(q).filter(|row| row.grade() != Grade::None)?;
            Some(Millis::from(row.time))
        };
        let missing = Reason::ALL.iter().map(|&reason| (reason, self.missing[reason as usize]));
        let missing: Ordered<_, _> = missing.filter(|&(_, count)| count > 0).collect();
        EndpointSummary {
            endpoint,
            n: self.ok + self.not_needed + missing.0.iter().map(|m| m.1).sum::<u64>(),
            ok: self.ok,
            missing,
            status: self.refused.get(),
            not_needed: self.not_needed,
            observed: curve.n() as u64,
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
        }
    }
}

/// The smallest value with at least the share `q` of a sorted list at or below it.
fn nearest_rank(sorted: &[u32], q: f64) -> Option<Duration> {
    #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
    let rank = (q * sorted.len() as f64 - 1e-9).ceil().max(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, at most the length"
    )]
    let rank = rank as usize;
    let at = rank.min(sorted.len()).checked_sub(1)?;
    sorted.get(at).map(|&t| Duration::from_micros(t.into()))
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    (whole > 0).then(|| share(part, whole))
}

/// Microseconds, rounded as in a line.
fn micros(time: Duration) -> u32 {
    u32::try_from(Millis::from(time).micros()).unwrap_or(u32::MAX)
}
