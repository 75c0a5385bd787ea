//! Attempts in flight at once to a dependency (R36): a counting semaphore, first come, first served.
//!
//! Tokio's hands a permit that comes back to the one who waits longest, and wakes it at once; one who is dropped
//! while it waits leaves the queue.

use super::courtesy::{Courtesy, Leave};
use std::future::{Future, pending};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of a dependency.
#[derive(Debug, Clone)]
pub struct Permits {
    semaphore: Arc<Semaphore>,
    /// Who gives way to those in the queue.
    courtesy: Rc<Courtesy>,
}

/// The right to be in flight. Comes back when it is dropped, wherever that is.
pub type Permit = OwnedSemaphorePermit;

/// A place in the queue, taken when it is first polled. Dropping it gives the place up.
pub struct Place {
    permit: Pin<Box<dyn Future<Output = Permit>>>,
    _waits: Rc<()>,
}

impl Permits {
    /// This many.
    #[must_use]
    pub fn new(permits: u32) -> Self {
        let permits = usize::try_from(permits).unwrap_or(Semaphore::MAX_PERMITS);
        let semaphore = Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Self { semaphore, courtesy: Rc::default() }
    }

    /// One, if one is free. None is free while anybody waits.
    #[must_use]
    pub fn take(&self) -> Option<Permit> {
        Arc::clone(&self.semaphore).try_acquire_owned().ok()
    }

    /// A place at the end of the queue. Somebody who gives way has to leave for it, if there is one.
    #[must_use]
    pub fn queue(&self) -> Place {
        self.place(self.courtesy.wait())
    }

    /// A place for one who does not wait for others: only where somebody gives way for it, who has to leave now.
    #[must_use]
    pub fn queue_for_guest(&self) -> Option<Place> {
        self.courtesy.one_leaves().then(|| self.place(Rc::default()))
    }

    fn place(&self, waits: Rc<()>) -> Place {
        let permits = Arc::clone(&self.semaphore);
        let permit = Box::pin(async move {
            match permits.acquire_owned().await {
                Ok(permit) => permit,
                // Only a closed semaphore refuses, and nobody closes this one.
                Err(_) => pending().await,
            }
        });
        Place { permit, _waits: waits }
    }

    /// Who holds one of these permits from now on gives way to those in the queue (W7).
    pub fn give_way(&self, leave: &Rc<Leave>) {
        self.courtesy.stay(leave);
    }

    /// Permits that nobody holds or is about to get.
    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.semaphore.available_permits()
    }
}

impl Place {
    /// Ready once it is this one's turn.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Permit> {
        self.permit.as_mut().poll(cx)
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn r36_permits_go_round_in_the_order_of_the_queue() {
        let mut cx = Context::from_waker(Waker::noop());
        let permits = Permits::new(1);
        let held = permits.take().unwrap();
        let (mut first, mut left, mut last) = (permits.queue(), permits.queue(), permits.queue());
        for place in [&mut first, &mut left, &mut last] {
            assert!(place.poll(&mut cx).is_pending());
        }
        drop(left);
        drop(held);
        assert!(permits.take().is_none(), "it belongs to the one who waits longest");
        assert!(last.poll(&mut cx).is_pending());
        let Poll::Ready(held) = first.poll(&mut cx) else { panic!("not its turn") };
        drop(held);
        let Poll::Ready(held) = last.poll(&mut cx) else { panic!("not its turn") };
        drop(held);
        assert_eq!(permits.free(), 1);
    }

    #[test]
    fn r36_one_who_leaves_with_a_permit_in_hand_passes_it_on() {
        let mut cx = Context::from_waker(Waker::noop());
        let permits = Permits::new(1);
        let held = permits.take();
        let (mut first, mut second) = (permits.queue(), permits.queue());
        assert!(first.poll(&mut cx).is_pending() && second.poll(&mut cx).is_pending());
        drop(held);
        drop(first);
        assert!(second.poll(&mut cx).is_ready());
    }
}
