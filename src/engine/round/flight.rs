//! The attempts of a round that are under way, and the engine's end of all it has had. Knows nothing of settings and
//! decides nothing.

use super::Abort;
use super::approach::Approach;
use crate::domain::EndpointId;
use crate::engine::clock::Clock;
use crate::engine::gaps::BEAT;
use crate::engine::limits::Limits;
use crate::engine::policy::Done;
use crate::engine::task::{AttemptTask, Ended, Handle};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// How often attempts that are cancelled but not gone are looked at, within the grace.
const LINGER_CHECK: Duration = Duration::from_millis(1);

/// What is in flight.
pub(super) struct Flight<C: Clock> {
    clock: C,
    epoch: Instant,
    start: Instant,
    timer: Approach<C>,
    running: FuturesUnordered<AttemptTask<C>>,
    handles: Vec<Vec<Handle>>,
    /// When whoever waits is to wake up, from the round's start.
    due: Duration,
    /// When it wakes up all the same. Kept until it is past: a timer that is set anew for each call costs a system call.
    beat: Duration,
    /// What has ended and was not looked at yet.
    pub(super) done: Vec<Done>,
}

/// Why somebody woke up.
pub(super) enum Woke {
    /// Something ended.
    Ended,
    /// The time has come.
    Limit,
    /// Everything is to be abandoned.
    Abort,
}

impl<C: Clock + Unpin> Flight<C> {
    /// Nothing yet of so many calls. The round's clock starts here.
    pub(super) fn new(clock: &C, epoch: Instant, calls: usize) -> Self {
        Self {
            start: clock.now(),
            timer: Approach::new(clock),
            clock: clock.clone(),
            epoch,
            running: FuturesUnordered::new(),
            handles: (0..calls).map(|_| Vec::with_capacity(1)).collect(),
            due: Duration::ZERO,
            beat: Duration::ZERO,
            done: Vec::with_capacity(calls),
        }
    }

    /// The round's start.
    pub(super) const fn start(&self) -> Instant {
        self.start
    }

    /// Time since the round's start.
    pub(super) fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.start)
    }

    /// Time since the session's start.
    pub(super) fn session_time(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.epoch)
    }

    /// How late it woke up.
    pub(super) fn late(&self) -> Duration {
        self.elapsed().saturating_sub(self.due)
    }

    /// Takes an attempt along.
    pub(super) fn add(&mut self, call: EndpointId, attempt: usize, task: AttemptTask<C>, handle: Handle) {
        self.running.push(task);
        let handles = &mut self.handles[call.index()];
        // A primary that is sent elsewhere takes its own place again.
        match handles.get_mut(attempt) {
            Some(place) => *place = handle,
            None => handles.push(handle),
        }
    }

    /// The engine's end of an attempt.
    pub(super) fn handle(&self, call: EndpointId, attempt: usize) -> Option<&Handle> {
        self.handles[call.index()].get(attempt)
    }

    /// Of all attempts, by call.
    pub(super) fn handles(&self) -> &[Vec<Handle>] {
        &self.handles
    }

    /// R39: an answer that asks for a pause gets it, before anything else is sent there.
    pub(super) fn heed(&self, limits: &RefCell<Limits>, call: EndpointId, attempt: usize) {
        let Some(handle) = self.handle(call, attempt) else { return };
        let Some(wait) = handle.trace().and_then(|t| t.take_retry_after()) else { return };
        limits.borrow_mut().guards.hold(call, handle.replica(), wait, self.session_time());
    }

    /// Waits until an attempt ended, the time came, something else did or all is to be abandoned, and not for long at
    /// once; takes everything that is ready by then. `exact` is the time that must be met as closely as can be.
    pub(super) async fn wake(
        &mut self,
        at: Option<Duration>,
        exact: Option<Duration>,
        abort: &Abort,
        other: impl Fn() -> bool,
    ) -> Woke {
        let now = self.elapsed();
        if self.beat <= now {
            self.beat = now.saturating_add(BEAT);
        }
        self.due = at.map_or(self.beat, |at| at.min(self.beat));
        let exact = exact.filter(|exact| *exact == self.due);
        self.timer.arm(self.start + self.due, exact);
        let mut aborted = pin!(abort.wake.notified());
        poll_fn(|cx| {
            self.drain(cx);
            if self.timer.poll_come(cx).is_ready() {
                Poll::Ready(Woke::Limit)
            } else if !self.done.is_empty() || other() {
                Poll::Ready(Woke::Ended)
            } else if abort.told.get() || aborted.as_mut().poll(cx).is_ready() {
                Poll::Ready(Woke::Abort)
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// Has something else done, and meanwhile takes what ends; `look` is asked after each look, and at this time.
    pub(super) async fn beside<T>(
        &mut self,
        at: Duration,
        mut look: impl FnMut(&mut Self),
        other: impl Future<Output = T>,
    ) -> T {
        self.timer.arm(self.start + at, None);
        let mut other = pin!(other);
        poll_fn(|cx| {
            self.drain(cx);
            // It only has to wake this up.
            let _ = self.timer.poll_come(cx);
            look(self);
            other.as_mut().poll(cx)
        })
        .await
    }

    /// R9: at a limit, first let the runtime deliver what the sockets hold, then take all of it.
    pub(super) async fn drain_after_limit(&mut self) {
        tokio::task::yield_now().await;
        self.drain_now().await;
    }

    pub(super) async fn drain_now(&mut self) {
        poll_fn(|cx| {
            self.drain(cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Takes every attempt that has ended, until nothing is ready.
    fn drain(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(Ended { request, end })) = self.running.poll_next_unpin(cx) {
            if let Some((end, result)) = end {
                let end = end.saturating_duration_since(self.start);
                self.done.push(Done { call: request.endpoint, attempt: request.attempt, end, result });
            }
        }
    }

    /// Waits until everything that was cancelled is gone, at most `grace`; returns what is still alive. Attempts that
    /// are kept go on.
    pub(super) async fn clean_up(
        &mut self,
        grace: Duration,
        kept: impl Fn(EndpointId, usize) -> bool,
    ) -> usize {
        let until = self.clock.now() + grace;
        let cancelled = !self.running.is_empty();
        self.drain_now().await;
        if cancelled {
            let_others_run().await;
        }
        loop {
            self.drain_now().await;
            let (alive, running) = self.alive(&kept);
            let now = self.clock.now();
            if (alive == 0 && running == 0) || now >= until {
                return alive.max(running);
            }
            self.timer.arm(until.min(now + LINGER_CHECK), None);
            poll_fn(|cx| {
                self.drain(cx);
                self.timer.poll_come(cx)
            })
            .await;
        }
    }

    /// Of the attempts that are not kept: those for which somebody still works, and those that were not dropped yet.
    fn alive(&self, kept: impl Fn(EndpointId, usize) -> bool) -> (usize, usize) {
        let (mut alive, mut staying) = (0, 0);
        for (call, handles) in self.handles.iter().enumerate() {
            for (attempt, handle) in handles.iter().enumerate() {
                if kept(EndpointId(call), attempt) {
                    staying += 1;
                } else if handle.lingers() {
                    alive += 1;
                }
            }
        }
        (alive, self.running.len().saturating_sub(staying))
    }
}

/// Waits until every task that could run has run twice: those that own the connections of dropped attempts
/// find out, and close them. Without it the next round could start before, and the one after that: where rounds
/// end fast enough, closing would never catch up with opening (R14).
async fn let_others_run() {
    for _ in 0..2 {
        // Tasks run in the order in which they woke up, so this one is behind all of them. It can't fail.
        drop(tokio::task::spawn(async {}).await);
    }
}
