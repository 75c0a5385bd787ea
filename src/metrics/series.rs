//! The series by name, and the text they are exposed as.
//!
//! Label values come from closed sets ([`Reason`], [`Outcome`], [`Mode`], [`EndedBy`], [`HEDGE_RESULTS`]) and from
//! the profile (its name and its endpoints' names); nothing that an upstream answers can make a new series.

use crate::domain::{EndedBy, Mode, Outcome, Reason};
use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Upper bounds of the histograms' buckets, in seconds: 1 ms to 10 s, closest where budgets usually lie. The same for
/// every fanscope, whatever its budget: only histograms with equal bounds can be added up over a fleet, or over a
/// change of the budget. What the default budget of 200 ms cuts ends a moment after it: between 0.2 and 0.21.
const BUCKETS: [f64; 19] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.21, 0.25, 0.3, 0.4, 0.5, 1.0, 2.5, 5.0,
    10.0,
];

/// Values of the label `result`: hedges that settled their call, hedges that were sent and did not, and hedges that
/// were due and not sent. Sent are the first two together (R31).
pub const HEDGE_RESULTS: [&str; 3] = ["won", "wasted", "suppressed"];

/// The outcomes of a call in the order of [`outcome_slot`]. The reason does not matter.
const OUTCOMES: [Outcome; 3] = [Outcome::Ok, Outcome::Missing(Reason::Deadline), Outcome::NotNeeded];

/// The place of an outcome in [`EndpointSeries::calls`] and [`EndpointSeries::durations`].
pub(super) const fn outcome_slot(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Missing(_) => 1,
        Outcome::NotNeeded => 2,
    }
}

/// The series of one endpoint.
#[derive(Debug)]
pub(super) struct EndpointSeries {
    /// By [`outcome_slot`].
    pub(super) calls: Vec<Counter>,
    /// By reason, in the order of [`Reason::ALL`].
    pub(super) missing: Vec<Counter>,
    /// In the order of [`HEDGE_RESULTS`].
    pub(super) hedges: Vec<Counter>,
    /// By [`outcome_slot`].
    pub(super) durations: Vec<Histogram>,
}

/// Every series there is. Cheap to change, from one place only.
#[derive(Debug)]
pub(super) struct Series {
    /// In profile order.
    pub(super) endpoints: Vec<EndpointSeries>,
    /// By mode, then by what ended it, in the order of the words.
    pub(super) rounds: Vec<Vec<Counter>>,
    /// By mode.
    pub(super) partial: Vec<Counter>,
    pub(super) round_duration: Histogram,
    pub(super) skipped: Counter,
    pub(super) in_flight: Gauge,
    pub(super) budget: Gauge<f64, AtomicU64>,
}

impl Series {
    /// All of them at 0.
    pub(super) fn new(profile: &str, endpoints: &[String]) -> (Self, Exposition) {
        let mut registry = Registry::with_prefix("fanscope");
        let registry_mut = &mut registry;
        let info = [("version", env!("CARGO_PKG_VERSION").to_owned()), ("profile", profile.to_owned())];
        registry_mut.register(
            "build",
            "The fanscope that answers and the profile it observes",
            Info::new(info),
        );
        let series = Self {
            rounds: rounds(registry_mut),
            partial: partial(registry_mut),
            round_duration: histogram(),
            skipped: Counter::default(),
            in_flight: Gauge::default(),
            budget: Gauge::default(),
            endpoints: by_endpoint(registry_mut, endpoints),
        };
        registry.register_with_unit(
            "round_duration",
            "From a round's start to the publishing of its result",
            Unit::Seconds,
            series.round_duration.clone(),
        );
        registry.register("rounds_skipped", "Planned starts that did not happen", series.skipped.clone());
        registry.register(
            "in_flight",
            "Calls of running rounds that have not settled",
            series.in_flight.clone(),
        );
        registry.register_with_unit(
            "budget",
            "The optional budget of the round that started last",
            Unit::Seconds,
            series.budget.clone(),
        );
        (series, Exposition { registry: Arc::new(registry), moment: Arc::default() })
    }
}

fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

fn rounds(registry: &mut Registry) -> Vec<Vec<Counter>> {
    let counts = Family::<_, Counter>::default();
    registry.register("rounds", "Settled rounds by mode and by what ended them", counts.clone());
    let of = |mode: Mode| {
        let label = |by: &EndedBy| [("mode", mode.as_str()), ("ended_by", by.as_str())];
        EndedBy::ALL.iter().map(|by| counts.get_or_create_owned(&label(by))).collect()
    };
    Mode::ALL.iter().map(|&mode| of(mode)).collect()
}

fn partial(registry: &mut Registry) -> Vec<Counter> {
    let counts = Family::<_, Counter>::default();
    registry.register(
        "partial_rounds",
        "Completed rounds with a missing call, in quorum mode with fewer answers than k",
        counts.clone(),
    );
    Mode::ALL.iter().map(|mode| counts.get_or_create_owned(&[("mode", mode.as_str())])).collect()
}

/// An endpoint and a word from a closed set.
type Labels = [(&'static str, Arc<str>); 2];

fn by_endpoint(registry: &mut Registry, endpoints: &[String]) -> Vec<EndpointSeries> {
    let calls = Family::<Labels, Counter>::default();
    let missing = Family::<Labels, Counter>::default();
    let hedges = Family::<Labels, Counter>::default();
    let durations = Family::<Labels, Histogram>::new_with_constructor(histogram);
    registry.register("calls", "Calls of completed rounds by outcome", calls.clone());
    registry.register("missing", "Calls without an answer that mattered, by reason", missing.clone());
    registry.register(
        "hedges",
        "Hedges: won and wasted were sent, suppressed were due and not",
        hedges.clone(),
    );
    registry.register_with_unit(
        "call_duration",
        "From a round's start to the end of a call of which something was sent; a call that was cut ends there",
        Unit::Seconds,
        durations.clone(),
    );
    let of = |name: &String| {
        let name = Arc::from(name.as_str());
        EndpointSeries {
            calls: row(&calls, &name, "outcome", OUTCOMES.iter().map(|o| o.as_str())),
            missing: row(&missing, &name, "reason", Reason::ALL.iter().map(|r| r.as_str())),
            hedges: row(&hedges, &name, "result", HEDGE_RESULTS.into_iter()),
            durations: row(&durations, &name, "outcome", OUTCOMES.iter().map(|o| o.as_str())),
        }
    };
    endpoints.iter().map(of).collect()
}

/// One metric for each word.
fn row<M: Clone>(
    family: &Family<Labels, M>,
    endpoint: &Arc<str>,
    label: &'static str,
    words: impl Iterator<Item = &'static str>,
) -> Vec<M> {
    let labels = |word| [("endpoint", Arc::clone(endpoint)), (label, Arc::from(word))];
    words.map(|word| family.get_or_create_owned(&labels(word))).collect()
}

/// A text in which the series can be exposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// Prometheus 0.0.4, for everyone who does not ask for the other.
    Prometheus,
}

impl Format {
    /// The best that an `Accept` header takes.
    #[must_use]
    pub fn accepted_by(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// Its media type.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
        }
    }
}

/// All series as text, at any moment and from any thread. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Exposition {
    registry: Arc<Registry>,
    /// Held while several series change together, and while they are written: a scrape is of one moment.
    moment: Arc<Mutex<()>>,
}

impl Exposition {
    /// What the series are now.
    ///
    /// # Errors
    /// When a metric can't be written as text; none of ours is such.
    pub fn text(&self, format: Format) -> Result<String, fmt::Error> {
        let mut out = String::new();
        let _moment = self.moment();
        match format {
            Format::OpenMetrics => text::encode(&mut out, &self.registry)?,
            Format::Prometheus => prometheus_text::encode(&mut out, &self.registry)?,
        }
        Ok(out)
    }

    /// Holds every series as it is.
    pub(super) fn moment(&self) -> MutexGuard<'_, ()> {
        // It guards no value that a panic could have left half done.
        self.moment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
