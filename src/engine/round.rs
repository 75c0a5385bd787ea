//! Runs one round: carries out what [`policy`](super::policy) orders, publishes the result, cleans up.

mod door;
mod record;
mod verdict;

use super::clock::{Clock, Timer};
use super::limits::Limits;
use super::limits::guards::{Entry, Pass, Tolls};
use super::policy::{CallPlan, Done, Order, Policy, RoundPlan};
use super::sink::Sink;
use super::task::{AttemptTask, Ended, Handle, Surroundings};
use super::transport::{AttemptRequest, Transport};
use crate::domain::event::{AttemptStep, RoundStarted};
use crate::domain::{
    AttemptKind, AttemptOutcome, EndpointId, Event, Phase, Round, RoundNo, Settings, Suppression,
};
use door::Door;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What every round of an engine shares.
pub struct Shared<C> {
    /// Time.
    pub clock: C,
    /// The network.
    pub transport: Rc<dyn Transport>,
    /// Where events go.
    pub sink: Sink,
    /// When the session started.
    pub epoch: Instant,
    /// Told when running rounds are to be abandoned.
    pub abort: Abort,
}

/// Tells running rounds, once and for good, that they are to be abandoned.
#[derive(Debug, Default)]
pub struct Abort {
    told: Cell<bool>,
    wake: Notify,
}

impl Abort {
    /// Has every running round abandoned.
    pub fn tell(&self) {
        self.told.set(true);
        self.wake.notify_waiters();
    }
}

/// What one round is to do.
#[derive(Debug)]
pub struct Brief {
    /// Its number.
    pub no: RoundNo,
    /// The settings it was planned from.
    pub settings: Arc<Settings>,
    /// The plan.
    pub plan: RoundPlan,
    /// When it was to start.
    pub planned: Instant,
    /// What its primaries have reserved of their hosts' rates.
    pub tolls: Tolls,
}

/// How often attempts that are cancelled but not gone are looked at, within the grace.
const LINGER_CHECK: Duration = Duration::from_millis(1);

/// Runs a round to its end and clean-up. The clock starts here, before any call is built (R6).
pub async fn run<C: Clock + Unpin>(
    shared: &Shared<C>,
    limits: &Rc<RefCell<Limits>>,
    brief: Brief,
) -> Option<Arc<Round>> {
    let announce = shared.sink.reserve().await?;
    let runner = Runner::new(shared, limits, brief);
    announce.send(Event::RoundStarted(runner.started()));
    // Its own budget of polls would make tokio report ready sockets as pending.
    Some(tokio::task::unconstrained(runner.run()).await)
}

struct Runner<'a, C: Clock> {
    shared: &'a Shared<C>,
    limits: &'a Rc<RefCell<Limits>>,
    brief: Brief,
    start: Instant,
    policy: Policy,
    timer: C::Timer,
    running: FuturesUnordered<AttemptTask<C>>,
    handles: Vec<Vec<Handle>>,
    done: Vec<Done>,
    orders: Vec<Order>,
    /// What the gate handed out for orders that are not carried out yet, in their order.
    entries: VecDeque<(EndpointId, Entry)>,
    /// Calls whose primary queues for a permit.
    waiting: Vec<EndpointId>,
    /// The attempts that ended in the last step.
    ended: Vec<(EndpointId, usize)>,
}

/// Why a round woke up.
enum Woke {
    Ended,
    Limit,
    Abort,
}

impl<'a, C: Clock + Unpin> Runner<'a, C> {
    fn new(shared: &'a Shared<C>, limits: &'a Rc<RefCell<Limits>>, brief: Brief) -> Self {
        let calls = brief.plan.calls.len();
        Self {
            timer: shared.clock.timer(),
            policy: Policy::new(brief.plan.clone()),
            running: FuturesUnordered::new(),
            handles: (0..calls).map(|_| Vec::with_capacity(1)).collect(),
            done: Vec::with_capacity(calls),
            orders: Vec::with_capacity(calls),
            entries: VecDeque::with_capacity(calls),
            waiting: Vec::new(),
            ended: Vec::with_capacity(calls),
            start: shared.clock.now(),
            shared,
            limits,
            brief,
        }
    }

    fn started(&self) -> RoundStarted {
        RoundStarted {
            round: self.brief.no,
            at: self.start.saturating_duration_since(self.shared.epoch),
            start_lag: self.start.saturating_duration_since(self.brief.planned),
            settings: Arc::clone(&self.brief.settings),
            budget: self.brief.plan.budget,
            hedge_delays: self.brief.plan.calls.iter().map(CallPlan::hedge_delay).collect(),
            warming: self.brief.plan.calls.iter().filter(|c| warming(c)).count(),
        }
    }

    async fn run(mut self) -> Arc<Round> {
        self.decide(|policy, door, orders| policy.begin(door, orders));
        while self.policy.over().is_none() {
            self.carry_out();
            self.make_evidence();
            match self.wake().await {
                Woke::Ended => {}
                Woke::Limit => self.drain_after_limit().await,
                Woke::Abort => {
                    let now = self.elapsed();
                    self.policy.abort(now, &mut self.orders);
                    break;
                }
            }
            self.step();
        }
        self.finish().await
    }

    fn elapsed(&self) -> Duration {
        self.shared.clock.now().saturating_duration_since(self.start)
    }

    /// Has the policy decide something, with a gate to ask.
    fn decide(&mut self, decision: impl FnOnce(&mut Policy, &mut Door<'_>, &mut Vec<Order>)) {
        let mut door = Door {
            limits: self.limits.borrow_mut(),
            entries: &mut self.entries,
            tolls: &mut self.brief.tolls,
            transport: &*self.shared.transport,
            round: self.brief.no,
            now: self.shared.clock.now().saturating_duration_since(self.shared.epoch),
        };
        decision(&mut self.policy, &mut door, &mut self.orders);
    }

    fn step(&mut self) {
        let now = self.elapsed();
        self.let_in();
        self.ended.clear();
        self.ended.extend(self.done.iter().map(|d| (d.call, d.attempt)));
        for done in &self.done {
            self.tell_end(done);
            self.heed(done.call, done.attempt);
            // From here on a hedge may have its permit; who queues for it is not polled before the orders of this
            // step are carried out.
            if let Some(handle) = self.handles[done.call.index()].get(done.attempt) {
                handle.deal_with();
            }
        }
        let mut done = std::mem::take(&mut self.done);
        self.decide(|policy, door, orders| policy.step(now, &mut done, door, orders));
        self.done = done;
        self.ended.iter().for_each(|&(call, attempt)| self.settle_ticket(call, attempt));
    }

    /// Makes the evidence of what ended, now that all of it has its stamp and what follows from it is under way.
    fn make_evidence(&self) {
        let ended = self.ended.iter().filter_map(|&(call, attempt)| self.handles[call.index()].get(attempt));
        ended.filter_map(Handle::trace).for_each(|trace| trace.make_answer());
    }

    /// Tells the policy which primaries have left the queue.
    fn let_in(&mut self) {
        let (policy, handles) = (&mut self.policy, &self.handles);
        self.waiting.retain(|&call| {
            let waits = handles[call.index()].first().is_some_and(|h| h.sent().is_none());
            if !waits {
                policy.admitted(call);
            }
            waits
        });
    }

    /// R39: an answer that asks for a pause gets it, before anything else is sent there.
    fn heed(&self, call: EndpointId, attempt: usize) {
        let trace = self.handles[call.index()].get(attempt).and_then(Handle::trace);
        let Some(wait) = trace.and_then(|t| t.take_retry_after()) else { return };
        if let Some(slot) = self.policy.calls()[call.index()].attempts().get(attempt) {
            let now = self.shared.clock.now().saturating_duration_since(self.shared.epoch);
            self.limits.borrow_mut().guards.hold(call, slot.replica, wait, now);
        }
    }

    /// R37: what came of an attempt, for its breaker.
    fn settle_ticket(&self, call: EndpointId, attempt: usize) {
        let handle = self.handles[call.index()].get(attempt);
        let Some((ticket, sent)) = handle.and_then(|h| h.ticket().zip(h.sent())) else { return };
        let sent = sent.saturating_duration_since(self.start);
        let state = &self.policy.calls()[call.index()];
        let class = verdict::class(state, attempt, sent, self.brief.plan.budget);
        ticket.settle(class, self.shared.clock.now().saturating_duration_since(self.shared.epoch));
    }

    /// Waits until an attempt ended, a limit came or the round is to be abandoned; takes everything that is
    /// ready by then.
    async fn wake(&mut self) -> Woke {
        let at = self.policy.next_wake().map(|d| self.start + d);
        self.timer.arm(at);
        let (shared, running, done, timer) =
            (self.shared, &mut self.running, &mut self.done, &mut self.timer);
        let start = self.start;
        let mut aborted = pin!(shared.abort.wake.notified());
        poll_fn(|cx| {
            drain(running, done, start, cx);
            if timer.poll_fired(cx).is_ready() {
                Poll::Ready(Woke::Limit)
            } else if !done.is_empty() {
                Poll::Ready(Woke::Ended)
            } else if shared.abort.told.get() || aborted.as_mut().poll(cx).is_ready() {
                Poll::Ready(Woke::Abort)
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// R9: at a limit, first let the runtime deliver what the sockets hold, then take all of it.
    async fn drain_after_limit(&mut self) {
        tokio::task::yield_now().await;
        self.drain_now().await;
    }

    async fn drain_now(&mut self) {
        let (running, done, start) = (&mut self.running, &mut self.done, self.start);
        poll_fn(|cx| {
            drain(running, done, start, cx);
            Poll::Ready(())
        })
        .await;
    }

    fn carry_out(&mut self) {
        let orders = std::mem::take(&mut self.orders);
        for &order in &orders {
            match order {
                Order::Start { call, attempt, replica } => self.start(call, attempt, replica),
                Order::Cancel { call, attempt } => self.cancel(call, attempt),
                Order::Settled { call } => {
                    let state = &self.policy.calls()[call.index()];
                    if let (Some(outcome), Some(at)) = (state.outcome(), state.settled_at()) {
                        let round = self.brief.no;
                        self.shared.sink.live(Event::CallSettled { round, call, at, outcome });
                    }
                }
            }
        }
        self.orders = orders;
        self.orders.clear();
        // What was taken back again.
        self.entries.clear();
    }

    /// What the gate handed out for this order; whatever stands before it was taken back.
    fn entry(&mut self, call: EndpointId) -> Entry {
        while let Some((of, entry)) = self.entries.pop_front() {
            if of == call {
                return entry;
            }
        }
        Entry::Free(Pass::default())
    }

    fn start(&mut self, call: EndpointId, attempt: usize, replica: usize) {
        let (round, start, sink) = (self.brief.no, self.start, self.shared.sink.clone());
        let request = AttemptRequest { round, endpoint: call, replica, attempt };
        let watch = Box::new(move |phase: Phase, at: Instant| {
            let at = at.saturating_duration_since(start);
            sink.live(Event::Attempt { round, call, attempt, at, step: AttemptStep::Reached(phase) });
        });
        let entry = self.entry(call);
        if matches!(entry, Entry::Queued(..)) {
            self.waiting.push(call);
        }
        let around = Surroundings {
            clock: &self.shared.clock,
            transport: &self.shared.transport,
            limits: self.limits,
            epoch: self.shared.epoch,
            until: self.start + self.brief.plan.own_limit_of(call.index()),
            pays_in: self.policy.calls()[call.index()].plan().hedge.map(|h| h.load_budget),
        };
        let (task, handle) = AttemptTask::new(&around, request, entry, watch);
        self.running.push(task);
        let handles = &mut self.handles[call.index()];
        // A primary that is sent elsewhere takes its own place again.
        match handles.get_mut(attempt) {
            Some(place) => *place = handle,
            None => handles.push(handle),
        }
        let kind = if attempt == 0 { AttemptKind::Primary } else { AttemptKind::Hedge };
        self.tell(call, attempt, self.elapsed(), AttemptStep::Started { replica, kind });
    }

    fn cancel(&self, call: EndpointId, attempt: usize) {
        if let Some(handle) = self.handles[call.index()].get(attempt) {
            self.heed(call, attempt);
            handle.cancel();
            let reused = handle.trace().and_then(|t| t.answered().1);
            let outcome = AttemptOutcome::Cancelled;
            let step = AttemptStep::Ended { outcome, reason: None, status: None, reused };
            self.tell(call, attempt, self.elapsed(), step);
            self.settle_ticket(call, attempt);
        }
    }

    fn tell_end(&self, done: &Done) {
        let trace = self.handles[done.call.index()].get(done.attempt).and_then(Handle::trace);
        let (status, reused) = trace.map(|t| t.answered()).unwrap_or_default();
        let failure = done.result.as_ref().err();
        let step = AttemptStep::Ended {
            outcome: if failure.is_none() { AttemptOutcome::Ok } else { AttemptOutcome::Failed },
            reason: failure.map(|f| f.reason),
            status: failure.and_then(|f| f.status).or(status),
            reused,
        };
        self.tell(done.call, done.attempt, done.end, step);
    }

    fn tell(&self, call: EndpointId, attempt: usize, at: Duration, step: AttemptStep) {
        let round = self.brief.no;
        self.shared.sink.live(Event::Attempt { round, call, attempt, at, step });
    }

    /// R13: publish first, then cancel what is unfinished and give it `grace` to be gone.
    async fn finish(mut self) -> Arc<Round> {
        let mut round = record::record(&self);
        round.took = self.elapsed();
        let published = Arc::new(round);
        self.shared.sink.live(Event::RoundPublished(Arc::clone(&published)));

        // Who still queues starts nothing now, whoever gives a permit back.
        for call in &self.waiting {
            self.handles[call.index()].first().into_iter().for_each(Handle::cancel);
        }
        // R17: what came between the limit and its cancellation is late, not lost.
        self.drain_now().await;
        let late = !self.done.is_empty();
        self.step();
        self.carry_out();
        let lingering = self.clean_up().await;
        if !late && lingering == 0 {
            return published;
        }
        Arc::new(Round { took: published.took, lingering, ..record::record(&self) })
    }

    /// Waits until everything that was cancelled is gone, at most `grace`; returns what is still alive.
    async fn clean_up(&mut self) -> usize {
        let until = self.shared.clock.now() + self.brief.settings.grace;
        let cancelled = !self.running.is_empty();
        self.drain_now().await;
        if cancelled {
            let_others_run().await;
        }
        loop {
            self.drain_now().await;
            let alive = self.handles.iter().flatten().filter(|h| h.lingers()).count();
            let now = self.shared.clock.now();
            if (alive == 0 && self.running.is_empty()) || now >= until {
                return alive.max(self.running.len());
            }
            self.timer.arm(Some(until.min(now + LINGER_CHECK)));
            super::clock::fired(&mut self.timer).await;
        }
    }
}

/// Whether the call is not hedged yet for want of samples (R24).
fn warming(call: &CallPlan) -> bool {
    call.hedge.is_some_and(|h| h.suppressed == Some(Suppression::Warming))
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

/// Takes every attempt that has ended, until nothing is ready.
fn drain<C: Clock + Unpin>(
    running: &mut FuturesUnordered<AttemptTask<C>>,
    done: &mut Vec<Done>,
    start: Instant,
    cx: &mut Context<'_>,
) {
    while let Poll::Ready(Some(Ended { request, end })) = running.poll_next_unpin(cx) {
        if let Some((end, result)) = end {
            let end = end.saturating_duration_since(start);
            done.push(Done { call: request.endpoint, attempt: request.attempt, end, result });
        }
    }
}
