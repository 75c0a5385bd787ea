//! What the engine tells the rest of the program.
//!
//! The settled round is the only source of totals. Everything between two settled rounds is for drawing
//! and may be dropped when a reader is slow; [`Vitals::lost_events`] counts that.

use super::ids::{EndpointId, RoundNo};
use super::reason::{Phase, Reason};
use super::round::{AttemptKind, AttemptOutcome, Late, Outcome, Round};
use super::settings::Settings;
use std::sync::Arc;
use std::time::Duration;

/// Totals of the engine since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vitals {
    /// Planned starts that did not happen: no room (R38), too high a rate (R39), or missed while the machine
    /// slept or was busy. [`SkipCause`] tells one from another.
    pub skipped: u64,
    /// Live events dropped because a reader was slow.
    pub lost_events: u64,
    /// Attempts cancelled and not yet gone after their grace (R13), over all rounds.
    pub lingering: u64,
    /// Dependencies whose breaker is not closed, at this moment (R37).
    pub open_breakers: usize,
    /// Hosts that asked for a pause which is not over, at this moment (R39).
    pub backing_off: usize,
    /// Calls that are watched past their round's end, at this moment (W7).
    pub watched: usize,
}

/// Why a planned start did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipCause {
    /// The machine slept or was busy.
    Missed,
    /// As many rounds as may were still running (R38).
    Overlap,
    /// A host would have got more attempts than its rate (R39).
    Rate,
}

/// A round that has just begun.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundStarted {
    /// Its number.
    pub round: RoundNo,
    /// When, from the session's start.
    pub at: Duration,
    /// How late against the plan.
    pub start_lag: Duration,
    /// What it was asked to do.
    pub settings: Arc<Settings>,
    /// The optional budget that holds.
    pub budget: Duration,
    /// Per endpoint the delay after which it is hedged, where it is.
    pub hedge_delays: Vec<Option<Duration>>,
    /// Calls that would be hedged and are not yet, for want of samples (R24).
    pub warming: usize,
}

/// One step of an attempt. `at` is from the round's start.
#[derive(Debug, Clone, PartialEq)]
pub enum AttemptStep {
    /// It went out, or its call queues for a permit: then it is in phase `queued`, and where it never gets one it
    /// is no attempt of the settled round.
    Started {
        /// Which URL.
        replica: usize,
        /// Primary or hedge.
        kind: AttemptKind,
    },
    /// It entered a phase.
    Reached(Phase),
    /// It ended.
    Ended {
        /// How.
        outcome: AttemptOutcome,
        /// Why, where it failed.
        reason: Option<Reason>,
        /// The answer's status, where there was one.
        status: Option<u16>,
        /// Whether it used a kept connection.
        reused: Option<bool>,
    },
}

/// Something that happened in the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A round began. Never dropped.
    RoundStarted(RoundStarted),
    /// An attempt moved on. May be dropped.
    Attempt {
        /// The round.
        round: RoundNo,
        /// The call.
        call: EndpointId,
        /// The attempt within its call, 0 is the primary.
        attempt: usize,
        /// When, from the round's start.
        at: Duration,
        /// What happened.
        step: AttemptStep,
    },
    /// A call settled. May be dropped.
    CallSettled {
        /// The round.
        round: RoundNo,
        /// The call.
        call: EndpointId,
        /// When, from the round's start.
        at: Duration,
        /// How.
        outcome: Outcome,
    },
    /// The result of a round, sent before anything is cleaned up (R13). May be dropped.
    RoundPublished(Arc<Round>),
    /// The round with everything known after its clean-up. Never dropped.
    RoundSettled {
        /// The round.
        round: Arc<Round>,
        /// The engine's totals at this moment.
        vitals: Vitals,
    },
    /// A straggler of a probe round that has settled is over, or is not watched any longer (W7). Never dropped.
    Late {
        /// Its round.
        round: RoundNo,
        /// What became of it.
        late: Late,
    },
    /// A planned start was skipped. May be dropped; the total is in [`Vitals`].
    StartSkipped {
        /// When, from the session's start.
        at: Duration,
        /// Skipped since the start, for whatever cause.
        total: u64,
        /// Why this one.
        cause: SkipCause,
    },
    /// New settings hold from the next round on. Never dropped.
    SettingsChanged {
        /// When, from the session's start.
        at: Duration,
        /// The settings.
        settings: Arc<Settings>,
    },
    /// Somebody had something to say. Never dropped.
    Noted {
        /// When, from the session's start.
        at: Duration,
        /// Their words, free of control characters.
        text: String,
    },
    /// Rounds stopped or go on. Never dropped.
    Paused(bool),
    /// The engine could not start; it ends with this.
    Failed(String),
}
