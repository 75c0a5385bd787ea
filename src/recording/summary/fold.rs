//! Folds settled rounds into a summary, in bounded memory. Times are exact to the microsecond, those above 71
//! minutes count as that; where there are too many different ones they are rounded, and the summary says by how much.
//!
//! Everything is folded as it would be written, so rounds read back from a record give the same summary.

use super::times::Times;
use super::turns::Turns;
use super::watch::{Learnt, Watch};
use super::{EndpointSummary, GateLine, HedgesTotal, RoundTimes, SummaryLine};
use crate::domain::{
    Call, Connected, EndpointId, Late, Outcome, Reason, Round, RoundNo, Suppressed, Suppression,
};
use crate::recording::line::name_of;
use crate::recording::units::{Millis, Ordered};
use crate::recording::{ReadError, Reader, Record};
use crate::whatif::quantile::Quantile;
use crate::whatif::survival::{Curve, Observation, Observed, Tied, fair};
use std::io::BufRead;
use std::time::Duration;

/// Folds settled rounds into a [`SummaryLine`].
#[derive(Debug, Clone)]
pub struct SummaryFold {
    names: Vec<String>,
    rounds: u64,
    failed: u64,
    partial: u64,
    skipped: u64,
    overruns: u64,
    /// Those of them while it warmed up.
    skipped_before: u64,
    /// Those of earlier sessions.
    skipped_earlier: u64,
    completeness: f64,
    took: Times<1>,
    endpoints: Vec<EndpointFold>,
    hedges: HedgesTotal,
    wasted: Duration,
    suppressed: [u64; Suppression::ALL.len()],
    watch: Watch,
    turns: Option<Turns>,
}

#[derive(Debug, Clone, Default)]
struct EndpointFold {
    ok: u64,
    not_needed: u64,
    missing: [u64; Reason::ALL.len()],
    refused: OneStatus,
    connected: Connected,
    /// When its calls answered, failed or were cut: the kinds are [`Observed`]'s, in that order.
    seen: Times<3>,
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
            overruns: 0,
            skipped_before: 0,
            skipped_earlier: 0,
            completeness: 0.0,
            took: Times::default(),
            endpoints: vec![EndpointFold::default(); names.len()],
            hedges: HedgesTotal::default(),
            wasted: Duration::ZERO,
            suppressed: [0; Suppression::ALL.len()],
            watch: Watch::default(),
            turns: None,
        }
    }

    /// Adds a settled round, unless it does not count. Of one that warms up only its connections are remembered.
    pub fn push(&mut self, round: &Round) {
        if !round.counts() {
            if round.warmup {
                self.skipped_before = self.skipped;
                self.connect(round);
            }
            return;
        }
        self.rounds += 1;
        self.failed += u64::from(!round.ok);
        self.partial += u64::from(round.partial());
        self.overruns += u64::from(round.overrun.is_some());
        self.completeness += round.completeness();
        self.took.push(0, micros(round.took));
        self.watch.round(round);
        Turns::push(&mut self.turns, round, micros(round.took));
        for call in &round.calls {
            let index = call.endpoint.index();
            if index >= self.endpoints.len() {
                self.endpoints.resize_with(index + 1, EndpointFold::default);
            }
            if let Some(endpoint) = self.endpoints.get_mut(index) {
                endpoint.count(call);
                self.hedges.reconnects += endpoint.connected.reconnects(call);
                let seen = fair(round, call);
                if !self.watch.call(round, call, seen) {
                    endpoint.observe(seen);
                }
            }
            self.hedges.primaries += call.primaries();
            self.hedges.sent += u64::from(call.hedges.sent);
            self.hedges.won += u64::from(call.hedges.won);
            self.hedges.wasted += u64::from(call.hedges.wasted);
            for attempt in call.wasted_attempts() {
                let spent = Millis::from(attempt.end).since(attempt.start.into());
                self.wasted = self.wasted.saturating_add(spent.into());
            }
            self.suppress(&call.hedges.suppressed);
        }
        round.late.iter().for_each(|late| self.late(round.no, late));
        let given_up = self.watch.given_up(false);
        self.learn(given_up);
    }

    /// Adds what became of a straggler of a round that was added.
    pub fn late(&mut self, round: RoundNo, late: &Late) {
        let learnt = self.watch.late(round, late);
        self.learn(learnt);
    }

    fn learn(&mut self, learnt: impl IntoIterator<Item = Learnt>) {
        for (id, seen) in learnt {
            if let Some(endpoint) = self.endpoints.get_mut(id.index()) {
                endpoint.observe(Some(seen));
            }
        }
    }

    fn suppress(&mut self, suppressed: &Suppressed) {
        for (cause, count) in suppressed.iter() {
            self.suppressed[cause as usize] += u64::from(count);
        }
    }

    fn connect(&mut self, round: &Round) {
        for call in &round.calls {
            if let Some(endpoint) = self.endpoints.get_mut(call.endpoint.index()) {
                endpoint.connected.reconnects(call);
            }
        }
    }

    /// Planned starts that did not happen, in total so far; said before the round that it was known with.
    pub const fn skipped(&mut self, total: u64) {
        self.skipped = total;
    }

    /// Another session of the same endpoints begins: its skipped starts count anew, and it has no connections yet.
    pub fn begin(&mut self) {
        self.skipped_earlier = self.skipped_starts();
        (self.skipped, self.skipped_before) = (0, 0);
        self.endpoints.iter_mut().for_each(|endpoint| endpoint.connected = Connected::default());
        let given_up = self.watch.given_up(true);
        self.learn(given_up);
    }

    /// Folds a record from its beginning to its end.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn of_record<R: BufRead>(reader: &mut Reader<R>) -> Result<Self, ReadError> {
        let mut fold = Self::new(&[]);
        let mut begun = false;
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Session(session) if !begun => {
                    let names: Vec<String> = session.endpoints.iter().map(|e| e.name.clone()).collect();
                    fold = Self::new(&names);
                    begun = true;
                }
                Record::Session(_) => fold.begin(),
                Record::Round(round, skipped) => {
                    fold.skipped(skipped);
                    fold.push(&round);
                }
                Record::Late(round, late) => fold.late(round, &late),
                Record::Settings(..) | Record::Note(..) | Record::Summary(_) => {}
            }
        }
        Ok(fold)
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

    /// Share of the rounds that failed, 0 to 1.
    #[must_use]
    pub fn failed_share(&self) -> Option<f64> {
        ratio(self.failed, self.rounds)
    }

    /// Planned starts that did not happen, without those while it warmed up.
    #[must_use]
    pub const fn skipped_starts(&self) -> u64 {
        self.skipped_earlier.saturating_add(self.skipped.saturating_sub(self.skipped_before))
    }

    /// Nearest-rank quantile of the rounds' `took`, 0 < q < 1.
    #[must_use]
    pub fn took(&self, q: f64) -> Option<Duration> {
        self.took.nearest_rank(q).map(|micros| Duration::from_micros(micros.into()))
    }

    /// Hedges sent for each primary.
    #[must_use]
    pub fn extra_load(&self) -> Option<f64> {
        ratio(self.hedges.sent, self.hedges.primaries)
    }

    /// The endpoint of this name.
    #[must_use]
    pub fn endpoint(&self, name: &str) -> Option<EndpointId> {
        (0..self.endpoints.len()).map(EndpointId).find(|&id| name_of(&self.names, id) == name)
    }

    /// Calls that were missing: of one endpoint or of all, for one reason or for any.
    #[must_use]
    pub fn missing(&self, endpoint: Option<EndpointId>, reason: Option<Reason>) -> u64 {
        let folds = self.endpoints.iter().enumerate();
        let asked = folds.filter(|&(i, _)| endpoint.is_none_or(|id| id.index() == i)).map(|(_, fold)| fold);
        asked
            .map(|fold| match reason {
                Some(reason) => fold.missing[reason as usize],
                None => fold.missing.iter().sum(),
            })
            .sum()
    }

    /// Share of an endpoint's calls that answered, 0 to 1.
    #[must_use]
    pub fn ok_share(&self, endpoint: EndpointId) -> Option<f64> {
        let fold = self.endpoints.get(endpoint.index())?;
        ratio(fold.ok, fold.calls())
    }

    /// How long an endpoint takes, by its primary attempts and by what became of those that were watched past their
    /// round's end; of nothing where there is none such.
    #[must_use]
    pub fn curve(&self, endpoint: EndpointId) -> Curve {
        let fold = self.endpoints.get(endpoint.index());
        fold.map_or_else(Curve::default, |fold| fold.curve(self.watch.held(endpoint)))
    }

    /// Everything so far.
    #[must_use]
    pub fn summary(&self, gates: Vec<GateLine>) -> SummaryLine {
        let at = |q| self.took(q).map(Millis::from);
        let causes = Suppression::ALL.iter().map(|&cause| (cause, self.suppressed[cause as usize]));
        SummaryLine {
            rounds: self.rounds,
            failed: self.failed,
            skipped: self.skipped_starts(),
            overruns: self.overruns,
            partial: self.partial_share(),
            completeness: self.completeness(),
            round: RoundTimes { n: self.rounds, p50_ms: at(0.5), p90_ms: at(0.9), p99_ms: at(0.99) },
            endpoints: (self.endpoints.iter().enumerate())
                .map(|(i, endpoint)| {
                    endpoint.summary(name_of(&self.names, EndpointId(i)), &self.curve(EndpointId(i)))
                })
                .collect(),
            hedges: HedgesTotal {
                extra_load: self.extra_load(),
                wasted_ms: self.wasted.into(),
                suppressed: causes.filter(|&(_, count)| count > 0).collect(),
                ..self.hedges.clone()
            },
            probes: self.watch.probes,
            late: self.watch.total(),
            ab: self.turns.as_ref().and_then(Turns::summary).map(Box::new),
            gates,
            rounded_by: (self.took.rounded_by().into_iter())
                .chain(self.turns.as_ref().and_then(Turns::rounded_by))
                .chain(self.endpoints.iter().filter_map(|e| e.seen.rounded_by()))
                .reduce(f64::max),
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
        let kind = match what {
            Observed::Ok => 0,
            Observed::Error => 1,
            Observed::Censored => 2,
        };
        self.seen.push(kind, micros(time));
    }

    /// `cut`: when further calls were last seen pending.
    fn curve(&self, cut: impl Iterator<Item = Duration>) -> Curve {
        let count = |n| usize::try_from(n).unwrap_or(usize::MAX);
        let tied = |(time, [ok, error, cut]): (u32, [u64; 3])| Tied {
            time: Duration::from_micros(time.into()),
            ok: count(ok),
            error: count(error),
            censored: count(cut),
        };
        let mut all: Vec<Tied> = self.seen.counts().map(tied).collect();
        let seen = all.len();
        let cut = cut.map(|time| Duration::from_micros(micros(time).into()));
        all.extend(cut.map(|time| Tied { time, ok: 0, error: 0, censored: 1 }));
        if all.len() > seen {
            // Events of the same time stay before them.
            all.sort_by_key(|tied| tied.time);
        }
        Curve::of_tied(&all)
    }

    fn calls(&self) -> u64 {
        self.ok + self.not_needed + self.missing.iter().sum::<u64>()
    }

    fn summary(&self, endpoint: String, curve: &Curve) -> EndpointSummary {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| Quantile::of(curve, q));
        let ms = |quantile: Quantile| quantile.time.map(Millis::from);
        let missing = Reason::ALL.iter().map(|&reason| (reason, self.missing[reason as usize]));
        let missing: Ordered<_, _> = missing.filter(|&(_, count)| count > 0).collect();
        EndpointSummary {
            endpoint,
            n: self.calls(),
            ok: self.ok,
            missing,
            status: self.refused.get(),
            not_needed: self.not_needed,
            observed: curve.n() as u64,
            p50_ms: ms(p50),
            p95_ms: ms(p95),
            p99_ms: ms(p99),
            trusted: [p50, p95],
        }
    }
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
