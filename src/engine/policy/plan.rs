//! A round's plan: the settings, resolved for each call.

use crate::domain::{Mode, Suppression};
use std::time::Duration;

/// What a round is to do. Frozen before it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundPlan {
    /// The contract.
    pub mode: Mode,
    /// Limit of the optional calls.
    pub budget: Duration,
    /// Limit of everything else.
    pub request_budget: Duration,
    /// k, in quorum mode.
    pub k: Option<usize>,
    /// Whether an impossible quorum ends the round (R21).
    pub quorum_fail_fast: bool,
    /// The calls in profile order.
    pub calls: Vec<CallPlan>,
}

impl RoundPlan {
    /// Whether this call is cut at the budget, not at the request budget (R8).
    #[must_use]
    pub fn cut_at_budget(&self, index: usize) -> bool {
        !self.mode.ignores_budget() && !self.calls.get(index).is_some_and(|c| c.required)
    }

    /// The instant up to which an end counts.
    #[must_use]
    pub fn limit_of(&self, index: usize) -> Duration {
        if self.cut_at_budget(index) { self.budget } else { self.request_budget }
    }

    /// As [`RoundPlan::limit_of`], or the call's own timeout where that comes first.
    #[must_use]
    pub fn own_limit_of(&self, index: usize) -> Duration {
        let limit = self.limit_of(index);
        self.calls.get(index).and_then(|c| c.timeout).map_or(limit, |timeout| timeout.min(limit))
    }

    /// How many calls are optional.
    #[must_use]
    pub fn optional(&self) -> usize {
        self.calls.len() - self.required()
    }

    /// How many calls are required.
    #[must_use]
    pub fn required(&self) -> usize {
        self.calls.iter().filter(|c| c.required).count()
    }
}

/// What one call is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPlan {
    /// Whether its failure fails the round.
    pub required: bool,
    /// Its own limit.
    pub timeout: Option<Duration>,
    /// URLs to choose from, at least 1.
    pub replicas: usize,
    /// How it is hedged, if it is.
    pub hedge: Option<HedgePlan>,
}

impl CallPlan {
    /// After what time it is hedged; `None` also where every hedge is suppressed.
    #[must_use]
    pub fn hedge_delay(&self) -> Option<Duration> {
        self.hedge.filter(|h| h.suppressed.is_none()).map(|h| h.delay)
    }
}

/// How one call is hedged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HedgePlan {
    /// From one attempt to the next. Zero: all at once.
    pub delay: Duration,
    /// Hedges beside the primary.
    pub max: u8,
    /// Whether a retryable failure starts the next one at once.
    pub on_error: bool,
    /// Hedges per primary: what a primary that goes out pays into the endpoint's load budget (R28).
    pub load_budget: f64,
    /// Set where every hedge of this call is suppressed; `delay` then says when they would have been due.
    pub suppressed: Option<Suppression>,
}
