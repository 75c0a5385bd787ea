//! What another budget, quorum or hedge delay would have given, from some hundred rounds: the answers together, as a
//! screen or a report shows them. Pure: rounds and a time come in, numbers go out.

use super::advice::Sentence;
use super::arms::Arms;
use super::budget::BudgetCurve;
use super::hedge::HedgeStudy;
use super::quantile::Quantile;
use super::quorum::QuorumStudy;
use super::seen::Seen;
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

impl Question {
    /// Looks at the rounds.
    #[must_use]
    pub fn answer(&self) -> Outlook {
        Outlook {
            rounds: self.rounds.len() as u64,
            calls: self.rounds.iter().map(|r| r.calls.len() as u64).sum(),
            probes: self.rounds.iter().filter(|r| r.probe.is_some()).count() as u64,
            budget: self.settings.effective_budget().0,
            ..Outlook::default()
        }
    }
}
