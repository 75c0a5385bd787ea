//! One attempt as a future that stamps its own start and end, survives its own panic and can be cancelled.

use super::clock::Clock;
use super::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport, Watch};
use crate::domain::Reason;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::time::Instant;

/// The engine's end of an attempt.
pub(super) struct Handle {
    shared: Rc<Shared>,
}

#[derive(Default)]
struct Shared {
    cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    trace: RefCell<Option<Trace>>,
}

impl Handle {
    /// Has the attempt dropped when its future is next polled, which this asks for.
    pub(super) fn cancel(&self) {
        self.shared.cancelled.set(true);
        if let Some(waker) = self.shared.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// What is known of the attempt; `None` before its first poll.
    pub(super) fn trace(&self) -> Option<Trace> {
        self.shared.trace.borrow().clone()
    }

    /// Whether something of a dropped attempt is still alive: whoever works for it holds its trace.
    pub(super) fn lingers(&self) -> bool {
        self.shared.trace.borrow().as_ref().is_some_and(Trace::is_shared)
    }
}

/// An attempt under way. Resolves to its end and result, or to `None` once it was cancelled.
pub(super) struct AttemptTask<C> {
    clock: C,
    transport: Rc<dyn Transport>,
    request: AttemptRequest,
    watch: Option<Watch>,
    inner: Option<AttemptFuture>,
    shared: Rc<Shared>,
}

/// What came of an attempt.
pub(super) struct Ended {
    pub(super) request: AttemptRequest,
    /// `None`: it was cancelled.
    pub(super) end: Option<(Instant, Result<(), Failure>)>,
}

impl<C: Clock> AttemptTask<C> {
    pub(super) fn new(
        clock: C,
        transport: Rc<dyn Transport>,
        request: AttemptRequest,
        watch: Watch,
    ) -> (Self, Handle) {
        let shared = Rc::new(Shared::default());
        let handle = Handle { shared: Rc::clone(&shared) };
        (Self { clock, transport, request, watch: Some(watch), inner: None, shared }, handle)
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Some(inner) = &mut self.inner else {
            let trace = Trace::new(self.clock.now(), self.watch.take());
            *self.shared.trace.borrow_mut() = Some(trace.clone());
            self.inner = Some(self.transport.attempt(self.request, trace));
            return self.poll_inner(cx);
        };
        inner.as_mut().poll(cx)
    }
}

impl<C: Clock + Unpin> Future for AttemptTask<C> {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ended> {
        let request = self.request;
        if self.shared.cancelled.get() {
            let inner = self.inner.take();
            quietly(|| drop(inner));
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
        let inner = self.inner.take();
        quietly(|| drop(inner));
        if result.is_err() {
            quietly(|| self.shared.trace.borrow().iter().for_each(Trace::make_answer));
        }
        Poll::Ready(Ended { request, end: Some((end, result)) })
    }
}

/// Does what is left to do for an attempt; a panic in it stays its own.
fn quietly(rest: impl FnOnce()) {
    // The panic's text has gone through the panic hook already, and the attempt has its outcome.
    catch_unwind(AssertUnwindSafe(rest)).unwrap_or(());
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "without a message".to_owned()))
}
