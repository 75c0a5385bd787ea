//! The way out for events: bounded, with room kept for what must never be lost.
//!
//! Waking the reader costs more than everything else about an event, so live ones go out together: with the next that
//! must arrive, or after a moment. They keep their order. Must not know who reads.

use crate::domain::Event;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// Places in the channel between the engine and its reader.
pub const CAPACITY: usize = 8192;

/// Places that live events leave free for those that must arrive.
const RESERVED: usize = 512;

/// How long a live event waits for others. No screen shows less.
const MOMENT: Duration = Duration::from_millis(1);

/// Live events that wait for a moment at most.
const BATCH: usize = 256;

/// Sends events to the reader.
#[derive(Debug, Clone)]
pub struct Sink(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    events: mpsc::Sender<Event>,
    lost: AtomicU64,
    batch: Mutex<Batch>,
}

/// Live events that were not sent yet.
#[derive(Debug, Default)]
struct Batch {
    events: Vec<Event>,
    /// Whether they will be when a moment is over.
    due: bool,
}

impl Shared {
    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush(&self) {
        let mut lost = 0;
        for event in self.batch().events.drain(..) {
            if self.events.capacity() <= RESERVED || self.events.try_send(event).is_err() {
                lost += 1;
            }
        }
        self.lost.fetch_add(lost, Ordering::Relaxed);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Room for an event that must arrive.
#[derive(Debug)]
pub struct Room<'a>(&'a Shared, mpsc::Permit<'a, Event>);

impl Room<'_> {
    /// Sends it.
    pub fn send(self, event: Event) {
        self.0.flush();
        self.1.send(event);
    }
}

impl Sink {
    /// A sink and its reading end.
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<Event>) {
        let (events, reader) = mpsc::channel(CAPACITY);
        let shared = Shared { events, lost: AtomicU64::new(0), batch: Mutex::default() };
        (Self(Arc::new(shared)), reader)
    }

    /// Sends an event that may be lost, within a moment: dropped and counted when the reader is behind. Never waits.
    pub fn live(&self, event: Event) {
        let (full, due) = {
            let mut batch = self.0.batch();
            batch.events.push(event);
            (batch.events.len() >= BATCH, std::mem::replace(&mut batch.due, true))
        };
        if full {
            self.0.flush();
        }
        if !due {
            self.flush_soon();
        }
    }

    fn flush_soon(&self) {
        let shared = Arc::clone(&self.0);
        let flush = move || {
            shared.batch().due = false;
            shared.flush();
        };
        let Ok(runtime) = Handle::try_current() else { return flush() };
        runtime.spawn(async move {
            tokio::time::sleep(MOMENT).await;
            flush();
        });
    }

    /// As [`Sink::live`], at once.
    pub fn live_now(&self, event: Event) {
        self.0.batch().events.push(event);
        self.0.flush();
    }

    /// Sends an event that must arrive, waiting for room. False once nobody reads any more.
    pub async fn deliver(&self, event: Event) -> bool {
        self.0.flush();
        self.0.events.send(event).await.is_ok()
    }

    /// Waits until an event that must arrive has room, so that sending it then takes no time.
    pub async fn reserve(&self) -> Option<Room<'_>> {
        self.0.events.reserve().await.ok().map(|permit| Room(&self.0, permit))
    }

    /// Events lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Event::Paused;
    use tokio::sync::mpsc::error::TryRecvError;

    #[tokio::test(start_paused = true)]
    async fn live_events_are_dropped_and_counted_and_leave_room_for_the_others() {
        let (sink, mut reader) = Sink::new();
        for _ in 0..CAPACITY {
            sink.live(Paused(true));
        }
        assert_eq!(sink.lost(), RESERVED as u64);
        for _ in 0..RESERVED {
            assert!(sink.deliver(Paused(false)).await);
        }
        let mut seen = 0;
        while reader.try_recv().is_ok() {
            seen += 1;
        }
        assert_eq!(seen, CAPACITY);
        drop(reader);
        assert!(!sink.deliver(Paused(true)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn live_events_go_out_together_in_their_order_and_soon() {
        let (sink, mut reader) = Sink::new();
        let mut next = || reader.try_recv();
        sink.live(Paused(true));
        sink.live(Paused(false));
        assert_eq!(next(), Err(TryRecvError::Empty));
        tokio::time::sleep(2 * MOMENT).await;
        assert_eq!((next(), next()), (Ok(Paused(true)), Ok(Paused(false))));
        // What must arrive, or is sent at once, takes along what stands before it.
        sink.live(Paused(true));
        assert!(sink.deliver(Paused(false)).await);
        assert_eq!((next(), next()), (Ok(Paused(true)), Ok(Paused(false))));
        let room = sink.reserve().await.unwrap();
        sink.live(Paused(true));
        room.send(Paused(false));
        assert_eq!((next(), next()), (Ok(Paused(true)), Ok(Paused(false))));
        sink.live(Paused(true));
        sink.live_now(Paused(false));
        assert_eq!((next(), next()), (Ok(Paused(true)), Ok(Paused(false))));
        // So does the end.
        sink.live(Paused(true));
        drop(sink);
        assert_eq!(next(), Err(TryRecvError::Empty), "its moment is not over");
        tokio::time::sleep(2 * MOMENT).await;
        assert_eq!((next(), next()), (Ok(Paused(true)), Err(TryRecvError::Disconnected)));
    }

    #[test]
    fn outside_a_runtime_live_events_go_out_at_once() {
        let (sink, mut reader) = Sink::new();
        sink.live(Paused(true));
        assert_eq!(reader.try_recv(), Ok(Paused(true)));
    }
}
