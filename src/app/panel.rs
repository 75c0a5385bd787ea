//! The panels of the lower half: all that the app has of each of them.

/// What stands beside the history in the lower half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// Missing calls by reason.
    Missing,
    /// Hedges and what they cost.
    Hedges,
    /// What other budgets would have given.
    WhatIf,
    /// All calls by window.
    Calls,
    /// Who holds the round up.
    Blame,
}

impl Panel {
    /// Every panel, in the order in which a key goes through them.
    pub const ALL: [Self; 5] = [Self::Missing, Self::Hedges, Self::WhatIf, Self::Calls, Self::Blame];

    /// What it shows, in one or two sentences for the help.
    pub(super) const fn about(self) -> &'static str {
        match self {
            Self::Missing => {
                "The panel below counts calls without an answer, by endpoint and reason, over the chosen \
                 window; its bars are the time behind. The most frequent stands first."
            }
            Self::Hedges => {
                "The panel below counts second attempts: how many were sent, won and were wasted, and \
                 what load they cost. Hedges beyond the load budget are held back."
            }
            Self::WhatIf => {
                "The panel below says how many calls other budgets would have answered, from the rounds \
                 that were seen. A click opens all of it."
            }
            Self::Calls => "The panel below counts what became of all calls, over each window.",
            Self::Blame => {
                "The panel below says who held rounds up: whose answer came last, and how much earlier \
                 rounds would have ended without it."
            }
        }
    }
}
