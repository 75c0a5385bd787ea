//! A settled round, its calls and their attempts. Times are from the round's start unless a field says
//! otherwise.

use super::ab::Arm;
use super::evidence::{Answer, ServerTiming, TraceId};
use super::ids::{EndpointId, RoundNo};
use super::reason::{Phase, Reason, words};
use super::settings::Settings;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Answered within its limit.
    Ok,
    /// Not answered, and it mattered.
    Missing(Reason),
    /// Cancelled because enough had answered. Never counted as missing.
    NotNeeded,
}

impl Outcome {
    /// `ok`, `missing` or `not_needed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing(_) => "missing",
            Self::NotNeeded => "not_needed",
        }
    }

    /// Why it is missing, if it is.
    #[must_use]
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Missing(reason) => Some(reason),
            _ => None,
        }
    }
}

words! {
    /// What ended the round.
    EndedBy {
        /// Every call had settled.
        AllSettled = "all_settled",
        /// The budget ran out.
        Deadline = "deadline",
        /// The k-th answer arrived.
        Quorum = "quorum",
        /// The quorum could no longer be met.
        QuorumImpossible = "quorum_impossible",
        /// A required call failed.
        RequiredFailed = "required_failed",
        /// A call failed in fail-fast mode.
        FailedFast = "failed_fast",
        /// The request budget ran out.
        RequestDeadline = "request_deadline",
        /// Abandoned by quit or by a stop.
        Aborted = "aborted",
    }
}

words! {
    /// Why an attempt was made.
    AttemptKind {
        /// The first attempt of its call.
        Primary = "primary",
        /// A further one beside it.
        Hedge = "hedge",
    }
}

words! {
    /// How an attempt came out.
    AttemptOutcome {
        /// A whole, accepted answer.
        Ok = "ok",
        /// It failed; the reason stands beside it.
        Failed = "failed",
        /// We cancelled it.
        Cancelled = "cancelled",
    }
}

words! {
    /// HTTP version of an answer.
    HttpVersion {
        /// HTTP/0.9 or 1.0.
        Http10 = "1.0",
        /// HTTP/1.1.
        Http11 = "1.1",
        /// HTTP/2.
        Http2 = "2",
    }
}

words! {
    /// Why a hedge that was due was not sent (R28).
    Suppression {
        /// The load budget had no token.
        Budget = "budget",
        /// No free permit.
        Permit = "permit",
        /// The breaker was open.
        Breaker = "breaker",
        /// Under 30 samples for the percentile.
        Warming = "warming",
        /// The attempt rate was at its limit.
        Rate = "rate",
        /// A second request might do harm.
        NotIdempotent = "not_idempotent",
    }
}

/// Time spent in each phase; `None` where the attempt had no such phase. They sum to the attempt's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases([Option<Duration>; 6]);

impl Phases {
    /// Time spent in this phase.
    #[must_use]
    pub fn get(&self, phase: Phase) -> Option<Duration> {
        self.0[phase as usize]
    }

    /// Adds time to a phase.
    pub fn add(&mut self, phase: Phase, time: Duration) {
        let slot = &mut self.0[phase as usize];
        *slot = Some(slot.unwrap_or_default().saturating_add(time));
    }

    /// The same, broken off after this time.
    #[must_use]
    pub fn within(&self, mut length: Duration) -> Self {
        let mut cut = Self::default();
        for (phase, time) in self.iter() {
            let time = time.min(length);
            cut.add(phase, time);
            length -= time;
            if length.is_zero() {
                break;
            }
        }
        cut
    }

    /// The phases that occurred, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, Duration)> + '_ {
        Phase::ALL.iter().filter_map(|&p| self.get(p).map(|d| (p, d)))
    }
}

/// One HTTP request on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Which of the endpoint's URLs, from 0.
    pub replica: usize,
    /// Primary or hedge.
    pub kind: AttemptKind,
    /// When it started.
    pub start: Duration,
    /// When it ended.
    pub end: Duration,
    /// How it came out.
    pub outcome: AttemptOutcome,
    /// Why it failed; only with [`AttemptOutcome::Failed`].
    pub reason: Option<Reason>,
    /// The error's own words, cleaned and redacted. Never a key, never empty.
    pub detail: Option<String>,
    /// Status of the answer, once its head was here.
    pub status: Option<u16>,
    /// Body bytes received, after decoding.
    pub bytes: u64,
    /// Body bytes as they came, before decoding; without heads and the framing of HTTP and TLS.
    pub wire_bytes: u64,
    /// What the server says of its own time; empty where it says nothing.
    pub server_timing: Arc<[ServerTiming]>,
    /// Whether it went over a kept connection; `None` until a connection was had.
    pub reused: Option<bool>,
    /// HTTP version of the answer.
    pub http: Option<HttpVersion>,
    /// The address that answered.
    pub remote: Option<SocketAddr>,
    /// The phase in which it ended.
    pub phase: Phase,
    /// Time in each phase.
    pub phases: Phases,
    /// The trace that its `traceparent` names, where it has one; known before anything is sent.
    pub trace_id: Option<TraceId>,
    /// The answer that was not accepted; only with [`AttemptOutcome::Failed`], and where there was one.
    pub answer: Option<Arc<Answer>>,
}

/// Hedges that were due and not sent, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Suppressed([u32; 6]);

impl Suppressed {
    /// Counts one.
    pub fn add(&mut self, cause: Suppression) {
        self.add_many(cause, 1);
    }

    /// Counts so many.
    pub fn add_many(&mut self, cause: Suppression, count: u32) {
        self.0[cause as usize] = self.0[cause as usize].saturating_add(count);
    }

    /// The count for a cause.
    #[must_use]
    pub fn get(&self, cause: Suppression) -> u32 {
        self.0[cause as usize]
    }

    /// All causes together.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.0.iter().fold(0, |a, &b| a.saturating_add(b))
    }

    /// The causes that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (Suppression, u32)> + '_ {
        Suppression::ALL.iter().map(|&c| (c, self.get(c))).filter(|&(_, n)| n > 0)
    }
}

/// A call's hedges. `sent = won + wasted`, always (R31).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HedgeCounts {
    /// Hedges that went on the wire.
    pub sent: u32,
    /// Hedges whose success settled the call.
    pub won: u32,
    /// All others that were sent.
    pub wasted: u32,
    /// Hedges that were due and not sent.
    pub suppressed: Suppressed,
}

/// One endpoint's part of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Whose call.
    pub endpoint: EndpointId,
    /// How it came out.
    pub outcome: Outcome,
    /// When it settled.
    pub end: Duration,
    /// The phase reached, of its furthest attempt still running when it settled, or of the one that decided.
    pub phase: Phase,
    /// Status of the answer that decided, where there was one.
    pub status: Option<u16>,
    /// How long after its limit a value arrived that came before its cancellation (R17).
    pub late_by: Option<Duration>,
    /// Delay after which this call was to be hedged, frozen for the round.
    pub hedge_delay: Option<Duration>,
    /// Its hedges.
    pub hedges: HedgeCounts,
    /// The attempt that won, as an index into `attempts`.
    pub winner: Option<usize>,
    /// What went on the wire, the primary first. Empty where nothing was sent.
    pub attempts: Vec<Attempt>,
}

impl Call {
    /// The error's own words: of the first attempt that failed for the call's reason.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        let reason = self.outcome.reason()?;
        self.attempts.iter().find(|a| a.reason == Some(reason)).and_then(|a| a.detail.as_deref())
    }
}

/// What became of a call that its round did not wait for, and that was watched all the same (W7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// Whose call.
    pub endpoint: EndpointId,
    /// How it came out. Where nobody looked any longer it is missing: `deadline` once it had been watched for as long
    /// as was meant, `throttled` where it gave its permit to another call, `aborted` at the end of everything.
    pub outcome: Outcome,
    /// When, from its round's start.
    pub end: Duration,
}

/// A fan-out that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Its number.
    pub no: RoundNo,
    /// When it really started, from the session's start.
    pub at: Duration,
    /// How late that was against the plan (R38).
    pub start_lag: Duration,
    /// What it was asked to do.
    pub settings: Arc<Settings>,
    /// The optional budget that held (R35).
    pub budget: Duration,
    /// Whether `budget` is less than was asked for.
    pub clamped: bool,
    /// k, in quorum mode.
    pub k: Option<usize>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// From its start to publishing.
    pub took: Duration,
    /// False only when a required call failed, or in fail-fast (R34).
    pub ok: bool,
    /// The instant from which the quorum could not be met any more (R21).
    pub quorum_impossible_at: Option<Duration>,
    /// When the k-th answer arrived.
    pub quorum_at: Option<Duration>,
    /// How late our own timers woke it up, at worst, where that is more than [`Round::tolerance`]: this machine was
    /// busy or the process was stopped, and what the round cut says nothing of the upstreams.
    pub overrun: Option<Duration>,
    /// Attempts still alive `grace` after publishing (R13).
    pub lingering: usize,
    /// Whether it was asked to be left out of every statistic.
    pub warmup: bool,
    /// Until when its stragglers are watched past its end, from its start; `None`: they are cancelled (W7).
    pub probe: Option<Duration>,
    /// Whose turn it was, where two variants take turns (W9).
    pub arm: Option<Arm>,
    /// What became of its stragglers, as far as it is known; only in a probe round.
    pub late: Vec<Late>,
    /// Answers among the optional calls.
    pub answered_optional: usize,
    /// Calls whose failure failed the round.
    pub failed: Vec<EndpointId>,
    /// One per endpoint, in profile order.
    pub calls: Vec<Call>,
}

impl Round {
    /// Whether it stands in statistics: one that was given up says nothing of the upstreams, and one that only
    /// warms up is not asked.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.warmup && self.ended_by != EndedBy::Aborted
    }

    /// Calls with an answer.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.calls.iter().filter(|c| c.outcome == Outcome::Ok).count()
    }

    /// Calls without one that mattered.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.calls.iter().filter(|c| c.outcome.reason().is_some()).count()
    }

    /// Calls that were cancelled because enough had answered.
    #[must_use]
    pub fn not_needed(&self) -> usize {
        self.calls.iter().filter(|c| c.outcome == Outcome::NotNeeded).count()
    }

    /// Answered share of all calls, 0 to 1; 0 where there are none.
    #[must_use]
    pub fn completeness(&self) -> f64 {
        if self.calls.is_empty() {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
        let share = self.answered() as f64 / self.calls.len() as f64;
        share
    }

    /// R40: in quorum mode fewer than k optional answers, in every other mode any missing call.
    #[must_use]
    pub fn partial(&self) -> bool {
        self.shortfall().map_or_else(|| self.missing() > 0, |shortfall| shortfall > 0)
    }

    /// k less the optional answers, 0 where the quorum was met; `None` outside quorum mode (R22).
    #[must_use]
    pub fn shortfall(&self) -> Option<usize> {
        self.k.map(|k| k.saturating_sub(self.answered_optional))
    }

    /// R40: only a whole answer may be cached.
    #[must_use]
    pub fn cacheable(&self) -> bool {
        !self.calls.is_empty() && self.answered() == self.calls.len()
    }

    /// How far past its limit the round was published, where a time limit ended it (R12).
    #[must_use]
    pub fn overshoot(&self) -> Option<Duration> {
        let limit = match self.ended_by {
            EndedBy::Deadline => self.budget,
            EndedBy::RequestDeadline => self.settings.request_budget,
            _ => return None,
        };
        Some(self.took.saturating_sub(limit))
    }
}
