//! Calls of a probe round that are watched past its deadline (W7). Their round has been told without them; all that
//! may follow is one [`Late`] each, after it.

use super::flight::{Flight, Woke};
use super::{Abort, Shared};
use crate::domain::{EndpointId, Event, Late, Outcome, Reason, RoundNo};
use crate::engine::clock::Clock;
use crate::engine::gaps::GAP;
use crate::engine::limits::Limits;
use crate::engine::limits::courtesy::Leave;
use crate::engine::policy::{AttemptState, CallState, Done};
use crate::engine::probe::{Counted, Probe};
use crate::engine::task::Handle;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

/// The calls of a round that are watched, and those that were.
pub(super) struct Watched {
    probe: Probe,
    /// `None`: it is over.
    calls: BTreeMap<EndpointId, Option<Straggler>>,
    /// What became of those that are over, and was not told yet.
    over: VecDeque<Late>,
}

/// A call that is watched.
struct Straggler {
    /// Its attempts that run.
    attempts: Vec<Kept>,
    /// The first of its attempts, in their order, that failed (R27).
    failed: Option<(usize, Reason)>,
    exit: Rc<Exit>,
    _counted: Counted,
}

struct Kept {
    attempt: usize,
    /// Asked when its permit is wanted, for as long as it runs.
    _leave: Rc<Leave>,
}

/// The way out for a call whose permit is wanted.
#[derive(Default)]
struct Exit {
    handles: RefCell<Vec<Handle>>,
    taken: Cell<bool>,
}

impl Exit {
    /// Cancels the call's attempts; false where that was done before.
    fn take(&self) -> bool {
        let now = !self.taken.replace(true);
        if now {
            self.handles.borrow().iter().for_each(Handle::cancel);
        }
        now
    }

    fn add(&self, handle: &Handle) {
        if self.taken.get() {
            handle.cancel();
        }
        self.handles.borrow_mut().push(handle.clone());
    }
}

impl Straggler {
    fn new(state: &CallState, counted: Counted) -> Self {
        let mut attempts = state.attempts().iter().enumerate();
        let failed = attempts.find_map(|(i, slot)| match &slot.state {
            AttemptState::Ended(_, Err(failure)) => Some((i, failure.reason)),
            _ => None,
        });
        Self { attempts: Vec::with_capacity(1), failed, exit: Rc::default(), _counted: counted }
    }

    /// Its attempts that still ran have all failed since, if they have: why the call is missing.
    fn fails(&mut self, attempt: usize, reason: Reason) -> Option<Reason> {
        let first = self.failed.filter(|failed| failed.0 < attempt).unwrap_or((attempt, reason));
        self.failed = Some(first);
        self.attempts.is_empty().then_some(first.1)
    }
}

impl Watched {
    pub(super) fn new(probe: Probe) -> Self {
        Self { probe, calls: BTreeMap::new(), over: VecDeque::new() }
    }

    /// Until when calls are watched, from the round's start.
    pub(super) const fn until(&self) -> Duration {
        self.probe.until()
    }

    /// When there is nothing more to be seen of those that are watched, if there are any.
    pub(super) fn next_wake(&self) -> Option<Duration> {
        self.is_open().then_some(self.until())
    }

    fn is_open(&self) -> bool {
        self.calls.values().any(Option::is_some)
    }

    /// Whether anything was watched at all.
    pub(super) fn has_any(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether this attempt goes on.
    pub(super) fn keeps(&self, call: EndpointId, attempt: usize) -> bool {
        let straggler = self.calls.get(&call).and_then(Option::as_ref);
        straggler.is_some_and(|s| s.attempts.iter().any(|kept| kept.attempt == attempt))
    }

    /// Whether a call was asked for its permit since this was last looked at.
    pub(super) fn any_left(&self) -> bool {
        self.calls.values().flatten().any(|straggler| straggler.exit.taken.get())
    }

    /// Takes over an attempt that the deadline cut, instead of its being cancelled. False where it is none or where
    /// there is nothing to be seen of it.
    pub(super) fn keep<C: Clock + Unpin>(
        &mut self,
        (call, attempt): (EndpointId, usize),
        state: &CallState,
        flight: &Flight<C>,
        limits: &RefCell<Limits>,
    ) -> bool {
        let cut = state.outcome() == Some(Outcome::Missing(Reason::Deadline)) && state.late_by().is_none();
        let slot = state.attempts().get(attempt);
        let Some(AttemptState::Cancelled(at)) = slot.map(|slot| &slot.state) else { return false };
        let Some(handle) = flight.handle(call, attempt).filter(|handle| handle.sent().is_some()) else {
            return false;
        };
        if !cut || flight.elapsed() >= self.until() {
            return false;
        }
        handle.part(flight.start() + *at);
        let straggler = || Some(Straggler::new(state, self.probe.call()));
        let Some(straggler) = self.calls.entry(call).or_insert_with(straggler) else { return false };
        straggler.exit.add(handle);
        let exit = Rc::clone(&straggler.exit);
        let leave: Rc<Leave> = Rc::new(move || exit.take());
        // Where somebody waits for the permit already, it leaves at once.
        limits.borrow().guards.give_way(call, handle.replica(), &leave);
        straggler.attempts.push(Kept { attempt, _leave: leave });
        true
    }

    /// Takes what has ended of the calls that are or were watched, then what gave way, then what has been watched
    /// for long enough.
    pub(super) fn look<C: Clock + Unpin>(&mut self, flight: &mut Flight<C>, limits: &RefCell<Limits>) {
        if self.calls.is_empty() {
            return;
        }
        let now = flight.elapsed();
        let mut done: Vec<Done> = flight.done.extract_if(.., |d| self.calls.contains_key(&d.call)).collect();
        done.sort_by(Done::order);
        for done in done {
            self.ended(done, flight, limits);
        }
        self.close_all(Reason::Throttled, now, flight, limits, |straggler| straggler.exit.taken.get());
        if now >= self.until() {
            self.close_all(Reason::Deadline, self.until(), flight, limits, |_| true);
        }
    }

    fn ended<C: Clock + Unpin>(&mut self, done: Done, flight: &Flight<C>, limits: &RefCell<Limits>) {
        let Some(straggler) = self.calls.get_mut(&done.call).and_then(Option::as_mut) else { return };
        straggler.attempts.retain(|kept| kept.attempt != done.attempt);
        flight.heed(limits, done.call, done.attempt);
        flight.handle(done.call, done.attempt).into_iter().for_each(Handle::deal_with);
        let outcome = match done.result {
            Ok(()) => Some(Outcome::Ok),
            Err(failure) => straggler.fails(done.attempt, failure.reason).map(Outcome::Missing),
        };
        if let Some(outcome) = outcome {
            self.close(done.call, outcome, done.end, flight, limits);
        }
    }

    /// Watches none of these any longer.
    fn close_all<C: Clock + Unpin>(
        &mut self,
        reason: Reason,
        end: Duration,
        flight: &Flight<C>,
        limits: &RefCell<Limits>,
        which: impl Fn(&Straggler) -> bool,
    ) {
        let of_them = self.calls.iter().filter(|(_, s)| s.as_ref().is_some_and(&which));
        let calls: Vec<EndpointId> = of_them.map(|(&call, _)| call).collect();
        for call in calls {
            self.close(call, Outcome::Missing(reason), end, flight, limits);
        }
    }

    /// Watches nothing any longer: all of it is over for good, and nothing more is learnt of it.
    pub(super) fn abort<C: Clock + Unpin>(&mut self, flight: &Flight<C>, limits: &RefCell<Limits>) {
        self.close_all(Reason::Aborted, flight.elapsed(), flight, limits, |_| true);
    }

    fn close<C: Clock + Unpin>(
        &mut self,
        endpoint: EndpointId,
        outcome: Outcome,
        end: Duration,
        flight: &Flight<C>,
        limits: &RefCell<Limits>,
    ) {
        let Some(straggler) = self.calls.get_mut(&endpoint).and_then(Option::take) else { return };
        for kept in &straggler.attempts {
            flight.heed(limits, endpoint, kept.attempt);
            flight.handle(endpoint, kept.attempt).into_iter().for_each(Handle::cancel);
        }
        self.over.push_back(Late { endpoint, outcome, end });
    }
}

/// What is watched of a round that is over.
pub struct Stragglers<C: Clock> {
    pub(super) round: RoundNo,
    pub(super) grace: Duration,
    /// How long the machine had slept when the round started.
    pub(super) slept: Duration,
    pub(super) flight: Flight<C>,
    pub(super) watched: Watched,
}

impl<C: Clock + Unpin> Stragglers<C> {
    /// Has something else done while they are watched.
    pub async fn beside<T>(&mut self, limits: &RefCell<Limits>, other: impl Future<Output = T>) -> T {
        let watched = &mut self.watched;
        self.flight.beside(watched.until(), |flight| watched.look(flight, limits), other).await
    }

    /// Watches them to the end and tells what becomes of each. Returns what of them is still alive after its grace;
    /// `None` once nobody listens any more.
    pub async fn watch(self, shared: &Shared<C>, limits: &RefCell<Limits>) -> Option<usize> {
        // As in a round: its own budget of polls would make tokio report ready sockets as pending.
        tokio::task::unconstrained(self.run(shared, limits)).await
    }

    async fn run(mut self, shared: &Shared<C>, limits: &RefCell<Limits>) -> Option<usize> {
        loop {
            while let Some(late) = self.watched.over.pop_front() {
                let told = shared.sink.deliver(Event::Late { round: self.round, late });
                if !self.beside(limits, told).await {
                    return None;
                }
            }
            if !self.watched.is_open() {
                return Some(self.flight.clean_up(self.grace, |_, _| false).await);
            }
            let woke = self.wake(&shared.abort).await;
            match woke {
                // What comes after a time in which nothing ran is not believed.
                _ if self.slept_through(shared) => {
                    self.flight.done.clear();
                    self.watched.abort(&self.flight, limits);
                }
                Woke::Ended => {}
                Woke::Limit => self.flight.drain_after_limit().await,
                Woke::Abort => {
                    self.watched.look(&mut self.flight, limits);
                    self.watched.abort(&self.flight, limits);
                }
            }
            self.watched.look(&mut self.flight, limits);
        }
    }

    /// Whether the process did not run meanwhile.
    fn slept_through(&self, shared: &Shared<C>) -> bool {
        let asleep = shared.gaps.slept(&shared.clock).saturating_sub(self.slept);
        self.flight.late() >= GAP || asleep >= GAP
    }

    async fn wake(&mut self, abort: &Abort) -> Woke {
        let watched = &self.watched;
        self.flight.wake(watched.next_wake(), None, abort, || watched.any_left()).await
    }
}
