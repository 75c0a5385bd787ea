//! Times in which the process did not run: stopped, the machine asleep, or without a CPU for long.
//!
//! Nobody tells when such a time begins. It is found when it is over, by a timer that fires far too late, or by the
//! time that the machine says it slept, of which the engine's clock knows nothing. Whoever wakes up looks; what one
//! has told, another does not tell again.

use super::clock::Clock;
use crate::domain::{Event, numbers};
use std::cell::Cell;
use std::time::Duration;

/// From here on a time counts as one in which the process did not run. A machine that is merely busy wakes timers
/// some milliseconds late, a badly starved one some hundred.
pub(super) const GAP: Duration = Duration::from_secs(1);

/// The longest that somebody sleeps who could find a gap, also where nothing is due for long: a gap is told that much
/// too short at most.
pub(super) const BEAT: Duration = Duration::from_millis(250);

/// What the rounds of an engine know of such times together. Times are from the session's start.
#[derive(Debug, Default)]
pub struct Gaps {
    /// How long the machine has slept, by the highest reading: a process stopped within one reads too little.
    slept: Cell<Duration>,
    /// How much of that was told.
    slept_told: Cell<Duration>,
    /// Until when was told.
    told: Cell<Duration>,
}

impl Gaps {
    /// Nothing told yet; what the machine slept before is not ours to tell.
    #[must_use]
    pub fn new(clock: &impl Clock) -> Self {
        let slept = Cell::new(clock.slept());
        Self { slept_told: slept.clone(), slept, told: Cell::default() }
    }

    /// How long the machine has slept until now.
    pub(super) fn slept(&self, clock: &impl Clock) -> Duration {
        self.slept.set(self.slept.get().max(clock.slept()));
        self.slept.get()
    }

    /// The gap that ended at `now`, to be told, where there was one since the last: somebody was to wake up at `due`.
    #[must_use]
    pub(super) fn find(&self, clock: &impl Clock, due: Duration, now: Duration) -> Option<Event> {
        let at = due.max(self.told.get());
        let late = long(now.saturating_sub(at));
        let asleep = long(self.slept(clock).saturating_sub(self.slept_told.get()));
        let gap = late.saturating_add(asleep);
        if gap.is_zero() {
            return None;
        }
        self.told.set(now);
        self.slept_told.set(self.slept.get());
        Some(Event::Noted { at: at.min(now), text: format!("gap {}", numbers::span(rounded(gap))) })
    }
}

/// To the nearest second.
fn rounded(time: Duration) -> Duration {
    Duration::from_secs(time.saturating_add(Duration::from_millis(500)).as_secs())
}

/// That time, where it is long enough for a gap.
fn long(time: Duration) -> Duration {
    if time >= GAP { time } else { Duration::ZERO }
}
