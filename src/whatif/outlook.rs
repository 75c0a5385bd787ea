//! What another budget, quorum or hedge delay would have given, from some hundred rounds: the answers together, as a
//! screen or a report shows them. Pure: rounds and a time come in, numbers go out.

use super::advice;
use super::advice::Sentence;
use super::arms::Arms;
use super::budget::BudgetCurve;
use super::hedge::HedgeStudy;
use super::quantile::Quantile;
use super::quorum::QuorumStudy;
use super::seen::Seen;
use super::survival::{Curve, Observation, Observed};
use crate::domain::{CallSpec, Settings};
use std::sync::Arc;
use std::time::Duration;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The rounds, the oldest first.
    pub rounds: Vec<Arc<Seen>>,
    /// The time of the session at which it is asked: stragglers that are still watched were pending until now.
    pub now: Duration,
    /// What the next round is to have; budgets are looked at around its own.
    pub settings: Settings,
    /// The endpoints' names, free of control characters, in profile order.
    pub names: Vec<String>,
    /// What the engine knows of each.
    pub specs: Vec<CallSpec>,
}

/// The answers. Everything is empty where there are no rounds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outlook {
    /// Rounds that were looked at.
    pub rounds: u64,
    /// Their calls.
    pub calls: u64,
    /// Rounds among them that were watched past their end.
    pub probes: u64,
    /// The budget that holds.
    pub budget: Duration,
    /// What each budget would have given.
    pub budgets: BudgetCurve,
    /// p50, p90 and p99 of the time until every call of a round had come out, whatever the budget.
    pub round: [Quantile; 3],
    /// What each k would have given.
    pub quorum: QuorumStudy,
    /// What hedges would give; `None` where no call may be hedged.
    pub hedge: Option<HedgeStudy>,
    /// Two variants side by side, where rounds took turns (W9).
    pub arms: Option<Arms>,
    /// What follows, the most useful first.
    pub advice: Vec<Sentence>,
}

/// How far a number may be trusted, and where it comes from (W3, W6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// Recounted from whole rounds.
    Exact,
    /// Estimated from calls of which some were cut, at least 20 of them at risk.
    Estimated,
    /// The same with 5 to 19 at risk.
    Thin,
    /// Only what it is at least and at most.
    Bounded,
    /// Nothing is known.
    #[default]
    NotObserved,
}

impl Status {
    /// Its stable spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Estimated => "estimated",
            Self::Thin => "thin",
            Self::Bounded => "bounded",
            Self::NotObserved => "not_observed",
        }
    }
}

/// What the next minute is, in seconds.
const MINUTE: f64 = 60.0;

impl Question {
    /// Looks at the rounds.
    #[must_use]
    pub fn answer(&self) -> Outlook {
        let mut outlook = Outlook {
            rounds: self.rounds.len() as u64,
            calls: self.rounds.iter().map(|r| r.calls.len() as u64).sum(),
            probes: self.rounds.iter().filter(|r| r.probe.is_some()).count() as u64,
            budget: self.settings.effective_budget().0,
            budgets: BudgetCurve::of(self),
            round: self.round(),
            arms: Arms::of(self),
            quorum: QuorumStudy::of(self),
            hedge: HedgeStudy::of(self),
            ..Outlook::default()
        };
        outlook.advice = advice::advise(self, &outlook);
        outlook
    }

    /// Rounds of the next minute, at least 1: by the period, and without one by the pace that was seen.
    pub(super) fn rounds_a_minute(&self) -> f64 {
        let period = if self.settings.every.is_zero() { self.pace() } else { Some(self.settings.every) };
        let period = period.filter(|period| !period.is_zero());
        period.map_or(1.0, |period| (MINUTE / period.as_secs_f64()).max(1.0))
    }

    /// From one start to the next, on average.
    fn pace(&self) -> Option<Duration> {
        let starts = || self.rounds.iter().map(|round| round.at);
        let between = u32::try_from(self.rounds.len()).ok()?.checked_sub(1)?;
        starts().max()?.saturating_sub(starts().min()?).checked_div(between)
    }

    /// p50, p90 and p99 of the time until every call of a round had come out, answered or not. A round of which a
    /// call was cut was pending when the first was.
    fn round(&self) -> [Quantile; 3] {
        let seen: Vec<Observation> = self.rounds.iter().filter_map(|round| self.out(round)).collect();
        let curve = Curve::of(&seen);
        [0.5, 0.9, 0.99].map(|q| Quantile::of(&curve, q))
    }

    fn out(&self, round: &Seen) -> Option<Observation> {
        // Where nothing was sent, that was known at once.
        let unsent = |time| Observation { time, what: Observed::Error };
        let calls = || round.calls.iter().map(|call| round.whole(call, self.now).unwrap_or(unsent(call.end)));
        let cut = calls().filter(|call| call.what == Observed::Censored).map(|call| call.time).min();
        let all = || calls().map(|call| call.time).max();
        let out = all().map(|time| Observation { time, what: Observed::Ok });
        cut.map(|time| Observation { time, what: Observed::Censored }).or(out)
    }
}
