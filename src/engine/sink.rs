//! The way out for events: bounded, with room kept for what must never be lost.

use crate::domain::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;

/// Places in the channel between the engine and its reader.
pub const CAPACITY: usize = 8192;

/// Places that live events leave free for those that must arrive.
const RESERVED: usize = 512;

/// Sends events to the reader.
#[derive(Debug, Clone)]
pub struct Sink {
    events: mpsc::Sender<Event>,
    lost: Arc<AtomicU64>,
}

impl Sink {
    /// A sink and its reading end.
    #[must_use]
    pub fn new() -> (Self, mpsc::Receiver<Event>) {
        let (events, reader) = mpsc::channel(CAPACITY);
        (Self { events, lost: Arc::default() }, reader)
    }

    /// Sends an event that may be lost: dropped and counted when the reader is behind. Never waits.
    pub fn live(&self, event: Event) {
        if self.events.capacity() <= RESERVED || self.events.try_send(event).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends an event that must arrive, waiting for room. False once nobody reads any more.
    pub async fn deliver(&self, event: Event) -> bool {
        self.events.send(event).await.is_ok()
    }

    /// Waits until an event that must arrive has room, so that sending it then takes no time.
    pub async fn reserve(&self) -> Option<mpsc::Permit<'_, Event>> {
        self.events.reserve().await.ok()
    }

    /// Events lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn live_events_are_dropped_and_counted_and_leave_room_for_the_others() {
        let (sink, mut reader) = Sink::new();
        for _ in 0..CAPACITY {
            sink.live(Event::Paused(true));
        }
        assert_eq!(sink.lost(), RESERVED as u64);
        for _ in 0..RESERVED {
            assert!(sink.deliver(Event::Paused(false)).await);
        }
        let mut seen = 0;
        while reader.try_recv().is_ok() {
            seen += 1;
        }
        assert_eq!(seen, CAPACITY);
        drop(reader);
        assert!(!sink.deliver(Event::Paused(true)).await);
    }
}
