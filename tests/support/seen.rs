//! Made-up rounds for the estimators, straight from times and outcomes.

use fanscope::domain::{CallSpec, EndpointId, HedgeContract, Mode, Outcome, Reason, RoundNo, Settings};
use fanscope::whatif::outlook::Question;
use fanscope::whatif::seen::{Seen, SeenCall};
use fanscope::whatif::survival::{Observation, Observed};
use std::sync::Arc;
use std::time::Duration;

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A time of a worked example.
pub fn millis(n: f64) -> Duration {
    Duration::from_secs_f64(n / 1e3)
}

/// What a call of a made-up round did; `None`: nothing was sent.
pub type Made = Option<(Duration, Observed)>;

pub fn spec() -> CallSpec {
    CallSpec { required: false, timeout: None, replicas: 1, repeatable: true, hedge: HedgeContract::ByMode }
}

pub fn call(place: usize, made: Made) -> SeenCall {
    let seen = made.map(|(time, what)| Observation { time, what });
    let outcome = match made.map(|m| m.1) {
        Some(Observed::Ok) => Outcome::Ok,
        Some(Observed::Error) => Outcome::Missing(Reason::HttpStatus),
        Some(Observed::Censored) => Outcome::Missing(Reason::Deadline),
        None => Outcome::Missing(Reason::BreakerOpen),
    };
    SeenCall {
        endpoint: EndpointId(place),
        outcome,
        end: made.map(|m| m.0).unwrap_or_default(),
        hedge_delay: None,
        primary: seen,
        whole: seen,
        hedges: Box::new([]),
        late: None,
    }
}

pub fn round(no: u64, settings: &Arc<Settings>, calls: Vec<SeenCall>) -> Seen {
    Seen {
        no: RoundNo(no),
        at: ms(500 * no),
        took: settings.budget,
        settings: Arc::clone(settings),
        budget: settings.budget,
        k: None,
        partial: false,
        arm: None,
        probe: None,
        calls: calls.into(),
    }
}

/// Rounds with these calls, of optional endpoints; asked with this budget.
pub fn question(budget: Duration, rounds: &[Vec<Made>]) -> Question {
    let settings = Settings { budget, mode: Mode::Deadline, ..Settings::default() };
    let shared = Arc::new(settings.clone());
    let endpoints = rounds.iter().map(Vec::len).max().unwrap_or(0);
    let seen = (1..).zip(rounds).map(|(no, made)| {
        let mut seen = round(no, &shared, made.iter().enumerate().map(|(i, &m)| call(i, m)).collect());
        // It ran for as long as anything is seen of it, whatever is asked about.
        seen.budget = made.iter().flatten().map(|m| m.0).chain([budget]).max().unwrap_or(budget);
        Arc::new(seen)
    });
    Question {
        rounds: seen.collect(),
        now: Duration::from_secs(1_000_000),
        settings,
        names: (0..endpoints).map(|i| format!("shop-{i}")).collect(),
        specs: vec![spec(); endpoints],
    }
}
