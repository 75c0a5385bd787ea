//! Runs one round: carries out what [`policy`](super::policy) orders, publishes the result, cleans up.

mod approach;
mod door;
mod flight;
mod record;
mod verdict;
mod watch;

pub use watch::Stragglers;

use super::clock::Clock;
use super::gaps::{GAP, Gaps};
use super::limits::Limits;
use super::limits::guards::{Entry, Pass, Tolls};
use super::policy::{CallPlan, Done, Order, Policy, RoundPlan};
use super::probe::Probe;
use super::sink::Sink;
use super::task::{AttemptTask, Handle, Surroundings};
use super::transport::{AttemptRequest, Transport};
use crate::domain::event::{AttemptStep, RoundStarted};
use crate::domain::{
    Arm, AttemptKind, AttemptOutcome, EndedBy, EndpointId, Event, Phase, Round, RoundNo, Settings,
    Suppression,
};
use door::Door;
use flight::{Flight, Woke};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use watch::Watched;

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
    /// When the process did not run.
    pub gaps: Gaps,
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
    /// Whether its stragglers are watched (W7).
    pub probe: Option<Probe>,
    /// Whose turn it is, where two variants take turns (W9).
    pub arm: Option<Arm>,
}

/// Runs a round to its end and clean-up. The clock starts here, before any call is built (R6). `None`: nobody listens
/// any more.
pub async fn run<C: Clock + Unpin>(
    shared: &Shared<C>,
    limits: &Rc<RefCell<Limits>>,
    brief: Brief,
) -> Option<Over<C>> {
    let announce = shared.sink.reserve().await?;
    let runner = Runner::new(shared, limits, brief);
    announce.send(Event::RoundStarted(runner.started()));
    // Its own budget of polls would make tokio report ready sockets as pending.
    Some(tokio::task::unconstrained(runner.run()).await)
}

/// A round that is over.
pub struct Over<C: Clock> {
    /// The round with everything known after its clean-up.
    pub round: Arc<Round>,
    /// What is watched of it, where anything is.
    pub stragglers: Option<Stragglers<C>>,
}

struct Runner<'a, C: Clock> {
    shared: &'a Shared<C>,
    limits: &'a Rc<RefCell<Limits>>,
    brief: Brief,
    policy: Policy,
    flight: Flight<C>,
    /// What is watched, in a probe round.
    watched: Option<Watched>,
    orders: Vec<Order>,
    /// What the gate handed out for orders that are not carried out yet, in their order.
    entries: VecDeque<(EndpointId, Entry)>,
    /// Calls whose primary queues for a permit.
    waiting: Vec<EndpointId>,
    /// The attempts that ended in the last step.
    ended: Vec<(EndpointId, usize)>,
    /// When it is to wake up for cutting calls.
    cuts: Option<Duration>,
    /// How late it woke up for that at worst.
    late: Duration,
    /// How long the machine had slept at its start.
    slept: Duration,
    /// As far as it had come when the process stopped running, where it did.
    broken_off: Option<Duration>,
}

impl<'a, C: Clock + Unpin> Runner<'a, C> {
    fn new(shared: &'a Shared<C>, limits: &'a Rc<RefCell<Limits>>, mut brief: Brief) -> Self {
        let calls = brief.plan.calls.len();
        Self {
            policy: Policy::new(brief.plan.clone()),
            flight: Flight::new(&shared.clock, shared.epoch, calls),
            watched: brief.probe.take().map(Watched::new),
            orders: Vec::with_capacity(calls),
            entries: VecDeque::with_capacity(calls),
            waiting: Vec::new(),
            ended: Vec::with_capacity(calls),
            cuts: None,
            late: Duration::ZERO,
            slept: shared.gaps.slept(&shared.clock),
            broken_off: None,
            shared,
            limits,
            brief,
        }
    }

    fn started(&self) -> RoundStarted {
        RoundStarted {
            round: self.brief.no,
            at: self.flight.start().saturating_duration_since(self.shared.epoch),
            start_lag: self.flight.start().saturating_duration_since(self.brief.planned),
            settings: Arc::clone(&self.brief.settings),
            budget: self.brief.plan.budget,
            hedge_delays: self.brief.plan.calls.iter().map(CallPlan::hedge_delay).collect(),
            warming: self.brief.plan.calls.iter().filter(|c| warming(c)).count(),
        }
    }

    async fn run(mut self) -> Over<C> {
        let mut gap = None;
        let shared = self.shared;
        self.decide(|policy, door, orders| policy.begin(door, orders));
        while self.policy.over().is_none() {
            self.carry_out();
            self.make_evidence();
            let woke = self.wake().await;
            self.look_at_the_clock();
            match (self.broken_off, woke) {
                (Some(at), _) => {
                    gap = self.find_gap();
                    self.policy.abort(at, &mut self.orders);
                    break;
                }
                (None, Woke::Ended) => {}
                (None, Woke::Limit) => self.flight.drain_after_limit().await,
                (None, Woke::Abort) => {
                    let now = self.flight.elapsed();
                    self.policy.abort(now, &mut self.orders);
                    break;
                }
            }
            self.step();
        }
        let over = self.finish().await;
        // Only now: a reader that is behind must not keep what was given up in flight. Who listens no longer is found
        // out when the round is told.
        if let Some(gap) = gap {
            shared.sink.deliver(gap).await;
        }
        over
    }

    /// How late it woke up. Where the process did not run meanwhile, nothing that follows is believed.
    fn look_at_the_clock(&mut self) {
        let now = self.flight.elapsed();
        // A hedge that was late is late, and nothing was judged by it.
        self.late = self.late.max(now.saturating_sub(self.cuts.unwrap_or(now)));
        let late = self.flight.late();
        let asleep = self.shared.gaps.slept(&self.shared.clock).saturating_sub(self.slept);
        if late >= GAP || asleep >= GAP {
            self.broken_off = Some(now.saturating_sub(late));
        }
    }

    fn find_gap(&self) -> Option<Event> {
        let (shared, now) = (self.shared, self.flight.session_time());
        let begun = self.flight.start().saturating_duration_since(shared.epoch);
        let due = begun.saturating_add(self.broken_off.unwrap_or_default());
        shared.gaps.find(&shared.clock, due, now)
    }

    /// How late it woke up, where that was too late to judge what it cut.
    fn overrun(&self) -> Option<Duration> {
        let counts = self.broken_off.is_none() && self.late > Round::tolerance(self.brief.plan.budget);
        counts.then_some(self.late)
    }

    /// Has the policy decide something, with a gate to ask.
    fn decide(&mut self, decision: impl FnOnce(&mut Policy, &mut Door<'_>, &mut Vec<Order>)) {
        let mut door = Door {
            limits: self.limits.borrow_mut(),
            entries: &mut self.entries,
            tolls: &mut self.brief.tolls,
            transport: &*self.shared.transport,
            round: self.brief.no,
            now: self.flight.session_time(),
        };
        decision(&mut self.policy, &mut door, &mut self.orders);
    }

    fn step(&mut self) {
        let now = self.flight.elapsed();
        self.let_in();
        self.look_after_watched();
        self.ended.clear();
        self.ended.extend(self.flight.done.iter().map(|d| (d.call, d.attempt)));
        for done in &self.flight.done {
            self.tell_end(done);
            self.flight.heed(self.limits, done.call, done.attempt);
            // From here on a hedge may have its permit; who queues for it is not polled before the orders of this
            // step are carried out.
            if let Some(handle) = self.flight.handle(done.call, done.attempt) {
                handle.deal_with();
            }
        }
        let mut done = std::mem::take(&mut self.flight.done);
        self.decide(|policy, door, orders| policy.step(now, &mut done, door, orders));
        self.flight.done = done;
        self.ended.iter().for_each(|&(call, attempt)| self.settle_ticket(call, attempt));
    }

    /// Takes what is no longer the round's out of what has ended.
    fn look_after_watched(&mut self) {
        if let Some(watched) = &mut self.watched {
            watched.look(&mut self.flight, self.limits);
        }
    }

    /// Makes the evidence of what ended, now that all of it has its stamp and what follows from it is under way.
    fn make_evidence(&self) {
        let ended = self.ended.iter().filter_map(|&(call, attempt)| self.flight.handle(call, attempt));
        ended.filter_map(Handle::trace).for_each(|trace| trace.make_answer());
    }

    /// Tells the policy which primaries have left the queue.
    fn let_in(&mut self) {
        let (policy, flight) = (&mut self.policy, &self.flight);
        self.waiting.retain(|&call| {
            let waits = flight.handle(call, 0).is_some_and(|h| h.sent().is_none());
            if !waits {
                policy.admitted(call);
            }
            waits
        });
    }

    /// R37: what came of an attempt, for its breaker.
    fn settle_ticket(&self, call: EndpointId, attempt: usize) {
        let handle = self.flight.handle(call, attempt);
        let Some((ticket, sent)) = handle.and_then(|h| h.ticket().zip(h.sent())) else { return };
        let sent = sent.saturating_duration_since(self.flight.start());
        let state = &self.policy.calls()[call.index()];
        let (budget, start) = (self.brief.plan.budget, self.flight.start());
        let held_up = self.overrun().and(state.limit()).zip(handle).is_some_and(|(limit, handle)| {
            let attempt = state.attempts().get(attempt).and_then(|slot| record::attempt(slot, handle, start));
            attempt.is_some_and(|attempt| attempt.is_held_up(limit, budget))
        });
        let class = verdict::class(state, attempt, sent, budget, held_up);
        ticket.settle(class, self.flight.session_time());
    }

    /// Waits until an attempt ended, a limit came or the round is to be abandoned.
    async fn wake(&mut self) -> Woke {
        let watched = self.watched.as_ref();
        let ends = [self.policy.next_wake(), watched.and_then(Watched::next_wake)];
        let due = ends.into_iter().flatten().min();
        self.cuts = self.policy.next_cut();
        let exact = self.cuts.filter(|_| self.brief.settings.spin);
        self.flight.wake(due, exact, &self.shared.abort, || watched.is_some_and(Watched::any_left)).await
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
        let (round, start, sink) = (self.brief.no, self.flight.start(), self.shared.sink.clone());
        let request = AttemptRequest { round, endpoint: call, replica, attempt };
        let watch = Box::new(move |phase: Phase, at: Instant| {
            let at = at.saturating_duration_since(start);
            sink.live(Event::Attempt { round, call, attempt, at, step: AttemptStep::Reached(phase) });
        });
        let entry = self.entry(call);
        if attempt == 0 && matches!(entry, Entry::Queued(..)) {
            self.waiting.push(call);
        }
        let around = Surroundings {
            clock: &self.shared.clock,
            transport: &self.shared.transport,
            limits: self.limits,
            epoch: self.shared.epoch,
            until: start + self.brief.plan.own_limit_of(call.index()),
            pays_in: self.policy.calls()[call.index()].plan().hedge.map(|h| h.load_budget),
        };
        let (task, handle) = AttemptTask::new(&around, request, entry, watch);
        self.flight.add(call, attempt, task, handle);
        let kind = if attempt == 0 { AttemptKind::Primary } else { AttemptKind::Hedge };
        self.tell(call, attempt, self.flight.elapsed(), AttemptStep::Started { replica, kind });
    }

    /// Cancels an attempt. Of a probe round, one that the deadline cut goes on all the same; for its round it is
    /// cancelled.
    fn cancel(&mut self, call: EndpointId, attempt: usize) {
        let Some(handle) = self.flight.handle(call, attempt) else { return };
        self.flight.heed(self.limits, call, attempt);
        let state = &self.policy.calls()[call.index()];
        let keep = |w: &mut Watched| w.keep((call, attempt), state, &self.flight, self.limits);
        if !self.watched.as_mut().is_some_and(keep) {
            handle.cancel();
        }
        let reused = handle.trace().and_then(|t| t.answered().1);
        let outcome = AttemptOutcome::Cancelled;
        let step = AttemptStep::Ended { outcome, reason: None, status: None, reused };
        self.tell(call, attempt, self.flight.elapsed(), step);
        self.settle_ticket(call, attempt);
    }

    fn tell_end(&self, done: &Done) {
        let trace = self.flight.handle(done.call, done.attempt).and_then(Handle::trace);
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

    /// R13: publish first, then cancel what is unfinished and give it `grace` to be gone. Stragglers of a probe round
    /// are handed on, unless the round has failed or was abandoned.
    async fn finish(mut self) -> Over<C> {
        let mut round = record::record(&self);
        round.took = self.broken_off.unwrap_or_else(|| self.flight.elapsed());
        let published = Arc::new(round);
        self.shared.sink.live_now(Event::RoundPublished(Arc::clone(&published)));

        // Who still queues starts nothing now, whoever gives a permit back.
        for &call in &self.waiting {
            self.flight.handle(call, 0).into_iter().for_each(Handle::cancel);
        }
        // R17: what came between the limit and its cancellation is late, not lost.
        self.flight.drain_now().await;
        self.look_after_watched();
        let late = !self.flight.done.is_empty();
        self.step();
        self.carry_out();
        let given_up =
            matches!(published.ended_by, EndedBy::RequiredFailed | EndedBy::FailedFast | EndedBy::Aborted);
        if let Some(watched) = self.watched.as_mut().filter(|_| given_up) {
            watched.look(&mut self.flight, self.limits);
            watched.abort(&self.flight, self.limits);
        }
        let watched = self.watched.as_ref();
        let kept = |call, attempt| watched.is_some_and(|w| w.keeps(call, attempt));
        let lingering = self.flight.clean_up(self.brief.settings.grace, kept).await;
        let round = if !late && lingering == 0 {
            published
        } else {
            Arc::new(Round { took: published.took, lingering, ..record::record(&self) })
        };
        let (no, grace) = (self.brief.no, self.brief.settings.grace);
        let watched = self.watched.filter(Watched::has_any);
        let stragglers = watched.map(|watched| Stragglers {
            round: no,
            grace,
            slept: self.slept,
            flight: self.flight,
            watched,
        });
        Over { round, stragglers }
    }
}

/// Whether the call is not hedged yet for want of samples (R24).
fn warming(call: &CallPlan) -> bool {
    call.hedge.is_some_and(|h| h.suppressed == Some(Suppression::Warming))
}
