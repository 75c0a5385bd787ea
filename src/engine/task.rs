//! One attempt as a future that waits for its permit, stamps its own start and end, survives its own panic and
//! can be cancelled.

use super::clock::Clock;
use super::limits::Limits;
use super::limits::breaker::Ticket;
use super::limits::guards::{Entry, Pass};
use super::limits::permits::Place;
use super::limits::rate::Toll;
use super::transport::{AttemptFuture, AttemptRequest, Failure, Seen, Trace, Transport, Watch};
use crate::domain::Reason;
use std::any::Any;
use std::cell::{Cell, Ref, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::time::Instant;

/// The engine's end of an attempt.
#[derive(Clone)]
pub(super) struct Handle {
    shared: Rc<Shared>,
    replica: usize,
}

#[derive(Default)]
struct Shared {
    cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    trace: RefCell<Option<Trace>>,
    /// When it left the queue and went out.
    sent: Cell<Option<Instant>>,
    ticket: Cell<Option<Ticket>>,
    /// What its round knows of it, where it goes on without its round.
    seen: RefCell<Option<Seen>>,
}

impl Handle {
    /// Has the attempt dropped when its future is next polled, which this asks for.
    pub(super) fn cancel(&self) {
        self.shared.cancelled.set(true);
        self.deal_with();
        if let Some(waker) = self.shared.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Its end was dealt with: nothing but who works for it holds its permit from now on.
    pub(super) fn deal_with(&self) {
        if let Some(trace) = self.trace() {
            trace.deal_with();
        }
    }

    /// What is known of the attempt; `None` before its first poll.
    pub(super) fn trace(&self) -> Option<Ref<'_, Trace>> {
        Ref::filter_map(self.shared.trace.borrow(), Option::as_ref).ok()
    }

    /// For its round it ends now, whatever may still come of it.
    pub(super) fn part(&self, end: Instant) {
        let seen = self.trace().map(|trace| {
            trace.hush();
            trace.seen(end)
        });
        *self.shared.seen.borrow_mut() = seen;
    }

    /// What was seen of it until `end`, or until its round parted with it; `None` before its first poll.
    pub(super) fn seen(&self, end: Instant) -> Option<Seen> {
        let parted = self.shared.seen.borrow().clone();
        parted.or_else(|| self.trace().map(|trace| trace.seen(end)))
    }

    /// Which URL it goes to.
    pub(super) const fn replica(&self) -> usize {
        self.replica
    }

    /// When it went out; `None` while it queues for a permit, and for good where it never got one.
    pub(super) fn sent(&self) -> Option<Instant> {
        self.shared.sent.get()
    }

    /// The breaker's ticket, once, where it has one.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        self.shared.ticket.take()
    }

    /// Whether something of a dropped attempt is still alive: whoever works for it holds its trace.
    pub(super) fn lingers(&self) -> bool {
        self.trace().is_some_and(|t| t.is_shared())
    }
}

/// An attempt under way. Resolves to its end and result, or to `None` once it was cancelled.
pub(super) struct AttemptTask<C> {
    clock: C,
    transport: Rc<dyn Transport>,
    request: AttemptRequest,
    epoch: Instant,
    watch: Option<Watch>,
    state: State,
    shared: Rc<Shared>,
    limits: Rc<RefCell<Limits>>,
    /// What it pays into the load budget when it goes out (R28).
    pays_in: Option<f64>,
}

/// How far an attempt is.
enum State {
    /// It has all it needs.
    Free(Pass),
    /// It queues for a permit.
    Queued(Queue),
    /// It is on the wire.
    Sent(AttemptFuture),
    /// Nothing may come any more.
    Over,
}

/// A place in the queue and what happens at its end.
struct Queue {
    place: Place,
    toll: Option<Toll>,
    /// From then on the call's time is over and nothing is sent.
    until: Instant,
}

/// What came of an attempt.
pub(super) struct Ended {
    pub(super) request: AttemptRequest,
    /// `None`: it was cancelled.
    pub(super) end: Option<(Instant, Result<(), Failure>)>,
}

/// What an attempt has of its engine and its round.
pub(super) struct Surroundings<'a, C> {
    pub(super) clock: &'a C,
    pub(super) transport: &'a Rc<dyn Transport>,
    pub(super) limits: &'a Rc<RefCell<Limits>>,
    pub(super) epoch: Instant,
    /// The call's limit.
    pub(super) until: Instant,
    /// What a primary of the call pays into its load budget.
    pub(super) pays_in: Option<f64>,
}

impl<C: Clock> AttemptTask<C> {
    pub(super) fn new(
        around: &Surroundings<'_, C>,
        request: AttemptRequest,
        entry: Entry,
        watch: Watch,
    ) -> (Self, Handle) {
        let shared = Rc::new(Shared::default());
        let handle = Handle { shared: Rc::clone(&shared), replica: request.replica };
        let state = match entry {
            Entry::Free(pass) => State::Free(pass),
            Entry::Queued(place, toll) => State::Queued(Queue { place, toll, until: around.until }),
        };
        let (clock, transport) = (around.clock.clone(), Rc::clone(around.transport));
        let (epoch, watch, limits) = (around.epoch, Some(watch), Rc::clone(around.limits));
        let pays_in = around.pays_in.filter(|_| request.attempt == 0);
        (Self { clock, transport, request, epoch, watch, state, shared, limits, pays_in }, handle)
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        if let State::Sent(inner) = &mut self.state {
            return inner.as_mut().poll(cx);
        }
        let now = self.clock.now();
        let at = now.saturating_duration_since(self.epoch);
        if self.shared.trace.borrow().is_none() {
            *self.shared.trace.borrow_mut() = Some(Trace::new(now, self.watch.take()));
        }
        let pass = match &mut self.state {
            State::Free(pass) => std::mem::take(pass),
            State::Queued(queue) => {
                let late = now >= queue.until;
                let entered = ready!(queue.poll(&self.limits, self.request, at, cx));
                // The place is used up. A permit that comes when the call's time is over goes on to the next.
                self.state = State::Over;
                match entered {
                    _ if late => return Poll::Pending,
                    Ok(pass) => pass,
                    Err(reason) => return Poll::Ready(Err(refused(reason))),
                }
            }
            State::Sent(_) | State::Over => return Poll::Pending,
        };
        self.send(pass, now);
        self.poll_inner(cx)
    }

    fn send(&mut self, pass: Pass, now: Instant) {
        self.state = State::Over;
        self.shared.sent.set(Some(now));
        self.shared.ticket.set(pass.ticket);
        if let Some(toll) = pass.toll {
            toll.sent(now.saturating_duration_since(self.epoch));
        }
        if let Some(share) = self.pays_in {
            self.limits.borrow_mut().pay_in(self.request.endpoint, share);
        }
        let Some(trace) = self.shared.trace.borrow().clone() else { return };
        if let Some(permit) = pass.permit {
            trace.keep(permit);
        }
        self.state = State::Sent(self.transport.attempt(self.request, trace));
    }
}

impl<C> AttemptTask<C> {
    /// Drops what is under way; a panic in its drop stays its own.
    fn end_inner(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Over);
        // The panic's text has gone through the panic hook already, and the attempt has its outcome.
        catch_unwind(AssertUnwindSafe(|| drop(state))).unwrap_or(());
    }
}

impl Queue {
    fn poll(
        &mut self,
        limits: &RefCell<Limits>,
        request: AttemptRequest,
        now: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Pass, Reason>> {
        let permit = ready!(self.place.poll(cx));
        let ticket = limits.borrow().guards.enter(request.endpoint, request.replica, now);
        let pass = |ticket| Pass { permit: Some(permit), ticket, toll: self.toll.take() };
        Poll::Ready(ticket.map(pass))
    }
}

/// What a call says that was held back after its wait; nothing was sent.
fn refused(reason: Reason) -> Failure {
    let words = match reason {
        Reason::BreakerOpen => "the breaker opened while it waited",
        _ => "its host asked for a pause while it waited",
    };
    Failure::new(reason, words)
}

impl<C: Clock + Unpin> Future for AttemptTask<C> {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let request = self.request;
        if self.shared.cancelled.get() {
            self.end_inner();
            return Poll::Ready(Ended { request, end: None });
        }
        // A call whose code panics is missing; the round goes on (R3).
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_inner(cx)));
        let result = match polled {
            Ok(Poll::Pending) => {
                *self.shared.waker.borrow_mut() = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Ok(Poll::Ready(result)) => result,
            Err(panic) => Err(Failure::new(Reason::Internal, panic_text(panic.as_ref()))),
        };
        let end = self.clock.now();
        self.end_inner();
        Poll::Ready(Ended { request, end: Some((end, result)) })
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "without a message".to_owned()))
}
