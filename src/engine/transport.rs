//! The only seam between the engine and the network.

use super::limits::permits::Permit;
use crate::domain::{Answer, EndpointId, HttpVersion, Phase, Phases, Reason, RoundNo, ServerTiming, TraceId};
use std::future::Future;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Carries attempts to the network.
///
/// One attempt is one request on the wire. The returned future resolves when the answer's last body byte
/// has arrived and every check on it is done, or when the attempt has failed. Dropping the future cancels
/// the attempt; nothing of it may go on after that, except closing the connection. It must never retry, never
/// follow a time limit of its own, and report what it sees through the [`Trace`] while it happens.
pub trait Transport {
    /// Starts an attempt. Must not block; a request that can't be built is a future that fails with
    /// [`Reason::InvalidRequest`].
    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture;

    /// Whether the request can be built at all. Asked only where a call is about to be held back: one that can't
    /// be sent is not said to wait (R4), but fails by itself.
    fn can_build(&self, _request: AttemptRequest) -> bool {
        true
    }
}

/// An attempt under way. Polled on the engine's thread only.
pub type AttemptFuture = Pin<Box<dyn Future<Output = Result<(), Failure>>>>;

/// Which attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptRequest {
    /// The round.
    pub round: RoundNo,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Which of its URLs, from 0.
    pub replica: usize,
    /// The attempt within its call; 0 is the primary.
    pub attempt: usize,
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The classified reason.
    pub reason: Reason,
    /// The error's own words, cleaned and redacted. Never empty.
    pub detail: String,
    /// The answer's status, where there was one.
    pub status: Option<u16>,
    /// The Retry-After of a 429 or 503 that was not accepted; the host is held by [`Trace::retry_after`].
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure without an answer.
    #[must_use]
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        let detail = crate::domain::text::clean(&detail.into());
        let detail = if detail.is_empty() { reason.as_str().to_owned() } else { detail };
        Self { reason, detail, status: None, retry_after: None }
    }

    /// Whether another attempt may help (R25): faults of the network and of the answer, 429, and 5xx
    /// without a Retry-After.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match (self.reason, self.status) {
            (Reason::HttpStatus, Some(429)) => true,
            (Reason::HttpStatus, Some(500..=599)) => self.retry_after.is_none(),
            (reason, _) => reason.is_transport_fault(),
        }
    }
}

/// What is known of an attempt so far. Filled by the transport, read by the engine at any time, also after
/// the attempt was cancelled. Cheap to clone; clones share one record.
///
/// The first one is the engine's end and only looks on. Its clones are with those who work for the attempt: the
/// attempt is gone when the last of them is. Its permit comes back then, and not before the engine has dealt with
/// its end: what an answer says about a host must be known before the next one in the queue is sent there (R36).
pub struct Trace {
    shared: Arc<Shared>,
    works: bool,
}

struct Shared {
    started: Instant,
    watch: Option<Watch>,
    /// Whether nobody is to be told of phases any more.
    hushed: AtomicBool,
    facts: Mutex<Facts>,
    hold: Mutex<Hold>,
    workers: AtomicUsize,
}

/// What keeps a permit from coming back, besides the workers.
#[derive(Debug, Default)]
struct Hold {
    permit: Option<Permit>,
    dealt_with: bool,
}

/// Told of each phase as it is reached.
pub type Watch = Box<dyn Fn(Phase, Instant) + Send + Sync>;

/// Makes the evidence of an answer.
type MakeAnswer = Box<dyn FnOnce() -> Answer + Send>;

#[derive(Default)]
struct Facts {
    marks: Vec<(Phase, Instant)>,
    remote: Option<SocketAddr>,
    reused: Option<bool>,
    http: Option<HttpVersion>,
    status: Option<u16>,
    bytes: u64,
    wire_bytes: u64,
    server_timing: Arc<[ServerTiming]>,
    trace_id: Option<TraceId>,
    retry_after: Option<Duration>,
    /// Evidence that is still to be made.
    to_make: Option<MakeAnswer>,
    answer: Option<Arc<Answer>>,
}

impl Facts {
    fn make_answer(&mut self) {
        if let Some(make) = self.to_make.take() {
            // A panic in it costs nothing but the evidence; its text has gone through the panic hook already.
            self.answer = catch_unwind(AssertUnwindSafe(make)).ok().map(Arc::new);
        }
    }
}

/// The facts of an ended attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Address that answered.
    pub remote: Option<SocketAddr>,
    /// Whether over a kept connection.
    pub reused: Option<bool>,
    /// Version of the answer.
    pub http: Option<HttpVersion>,
    /// Status of the answer.
    pub status: Option<u16>,
    /// Body bytes received, after decoding.
    pub bytes: u64,
    /// Body bytes as they came, before decoding.
    pub wire_bytes: u64,
    /// What the server says of its own time.
    pub server_timing: Arc<[ServerTiming]>,
    /// Phase reached.
    pub phase: Phase,
    /// Time in each phase; sums to the attempt's length.
    pub phases: Phases,
    /// Trace it was sent under.
    pub trace_id: Option<TraceId>,
    /// The answer, where it was not accepted.
    pub answer: Option<Arc<Answer>>,
}

impl Trace {
    /// A trace of an attempt that starts now, in phase `queued`.
    #[must_use]
    pub fn new(started: Instant, watch: Option<Watch>) -> Self {
        let facts = Mutex::new(Facts { marks: Vec::with_capacity(5), ..Facts::default() });
        let (hold, workers) = (Mutex::default(), AtomicUsize::new(0));
        let hushed = AtomicBool::new(false);
        Self { shared: Arc::new(Shared { started, watch, hushed, facts, hold, workers }), works: false }
    }

    /// Keeps a permit until the last worker of the attempt is gone and its end was dealt with.
    pub fn keep(&self, permit: Permit) {
        self.hold().permit = Some(permit);
    }

    /// The attempt's end was dealt with, or none is awaited any more.
    pub fn deal_with(&self) {
        let mut hold = self.hold();
        hold.dealt_with = true;
        let permit = if self.is_shared() { None } else { hold.permit.take() };
        drop(hold);
        drop(permit);
    }

    fn hold(&self) -> MutexGuard<'_, Hold> {
        self.shared.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.shared.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The attempt is in this phase from now on. Going back to an earlier phase is allowed (a second dial).
    pub fn reach(&self, phase: Phase) {
        self.reach_at(phase, Instant::now());
    }

    /// Tells nobody of later phases.
    pub(super) fn hush(&self) {
        self.shared.hushed.store(true, Ordering::Relaxed);
    }

    /// As [`Trace::reach`], for a moment just past.
    pub fn reach_at(&self, phase: Phase, at: Instant) {
        {
            let mut facts = self.facts();
            if facts.marks.last().map_or(Phase::Queued, |m| m.0) == phase {
                return;
            }
            let at = facts.marks.last().map_or(self.shared.started, |m| m.1).max(at);
            facts.marks.push((phase, at));
        }
        if let Some(watch) =
            self.shared.watch.as_ref().filter(|_| !self.shared.hushed.load(Ordering::Relaxed))
        {
            watch(phase, at);
        }
    }

    /// Forgets phases dns, connect and tls and counts their time as queued: the dial that this attempt
    /// began was not the connection that it used.
    pub fn forget_dial(&self) {
        self.facts().marks.retain(|m| !matches!(m.0, Phase::Dns | Phase::Connect | Phase::Tls));
    }

    /// The address that answers.
    pub fn remote(&self, remote: SocketAddr) {
        self.facts().remote = Some(remote);
    }

    /// Whether the connection had been used before.
    pub fn reused(&self, reused: bool) {
        self.facts().reused = Some(reused);
    }

    /// The answer's head: version and status.
    pub fn head(&self, http: HttpVersion, status: u16) {
        let mut facts = self.facts();
        facts.http = Some(http);
        facts.status = Some(status);
    }

    /// Body bytes received so far, after decoding.
    pub fn bytes(&self, total: u64) {
        self.facts().bytes = total;
    }

    /// Body bytes received so far, as they came.
    pub fn wire_bytes(&self, total: u64) {
        self.facts().wire_bytes = total;
    }

    /// What the server says of its own time, accepted or not; safe to show.
    pub fn server_timing(&self, metrics: Arc<[ServerTiming]>) {
        self.facts().server_timing = metrics;
    }

    /// The trace that the attempt is sent under.
    pub fn trace_id(&self, id: Option<TraceId>) {
        self.facts().trace_id = id;
    }

    /// The pause that a 429 or 503 asks for, whether or not the answer is accepted.
    pub fn retry_after(&self, wait: Option<Duration>) {
        self.facts().retry_after = wait;
    }

    /// The pause that was asked for, once.
    pub(super) fn take_retry_after(&self) -> Option<Duration> {
        self.facts().retry_after.take()
    }

    /// The answer was not accepted. `make` turns it into evidence once everything that ended at the same moment
    /// has its stamp, so that this takes no attempt's time.
    pub fn answer(&self, make: impl FnOnce() -> Answer + Send + 'static) {
        self.facts().to_make = Some(Box::new(make));
    }

    /// Makes the evidence that is still to be made.
    pub(super) fn make_answer(&self) {
        self.facts().make_answer();
    }

    /// Whether anyone still holds a clone of this trace, and so works for the attempt.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared.workers.load(Ordering::Acquire) > 0
    }

    /// Status and connection, where they are known yet.
    #[must_use]
    pub fn answered(&self) -> (Option<u16>, Option<bool>) {
        let facts = self.facts();
        (facts.status, facts.reused)
    }

    /// When the attempt started.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.shared.started
    }

    /// Everything seen until `end`, with the phases cut there.
    #[must_use]
    pub fn seen(&self, end: Instant) -> Seen {
        let mut facts = self.facts();
        facts.make_answer();
        let mut phases = Phases::default();
        let mut phase = Phase::Queued;
        let mut since = self.shared.started;
        for &(next, at) in facts.marks.iter().filter(|m| m.1 <= end) {
            let spent = at.saturating_duration_since(since);
            if phase != Phase::Queued || !spent.is_zero() {
                phases.add(phase, spent);
            }
            (phase, since) = (next, at);
        }
        phases.add(phase, end.saturating_duration_since(since));
        Seen {
            remote: facts.remote,
            reused: facts.reused,
            http: facts.http,
            status: facts.status,
            bytes: facts.bytes,
            wire_bytes: facts.wire_bytes,
            server_timing: Arc::clone(&facts.server_timing),
            phase,
            phases,
            trace_id: facts.trace_id,
            answer: facts.answer.clone(),
        }
    }
}

impl Clone for Trace {
    fn clone(&self) -> Self {
        self.shared.workers.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::clone(&self.shared), works: true }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if !self.works {
            self.deal_with();
        } else if self.shared.workers.fetch_sub(1, Ordering::AcqRel) == 1 {
            let mut hold = self.hold();
            let permit = if hold.dealt_with { hold.permit.take() } else { None };
            drop(hold);
            drop(permit);
        }
    }
}

#[cfg(test)]
mod tests;
