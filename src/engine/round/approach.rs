//! Waits for an instant, and for one that calls are cut at as closely as can be: the timer fires a little before, and
//! the last stretch is waited for awake, with a turn of the runtime between looks at the clock, so that sockets and
//! calls go on. A processor that sleeps until the instant itself wakes up some 0.1 ms after it.
//!
//! What that costs is bounded: [`Clock::lead`] for each instant, [`SHARE`] of the time to it, and [`MOST`] a round.
//! Must not know what the instants are for.

use crate::engine::clock::{Clock, Timer};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;

/// Most of a round's time that is waited for awake, in all its approaches together.
const MOST: Duration = Duration::from_millis(1);

/// Awake for at most this part of the time from the round's start to the instant.
const SHARE: u32 = 10;

/// A timer that can come closer to its time than timers do.
pub(super) struct Approach<C: Clock> {
    clock: C,
    timer: C::Timer,
    at: Instant,
    /// How long before its time the timer fires.
    lead: Duration,
    /// Whether it has, and the rest is waited for awake.
    awake: bool,
    /// What was waited for awake so far.
    spent: Duration,
}

impl<C: Clock> Approach<C> {
    /// Not armed yet.
    pub(super) fn new(clock: &C) -> Self {
        let (timer, at, clock) = (clock.timer(), clock.now(), clock.clone());
        Self { clock, timer, at, lead: Duration::ZERO, awake: false, spent: Duration::ZERO }
    }

    /// Waits for this instant, instead of whatever was waited for before. Where it must be met as closely as can be,
    /// `exact` says how long after the round's start it is.
    pub(super) fn arm(&mut self, at: Instant, exact: Option<Duration>) {
        if self.awake && self.at == at && exact.is_some() {
            return;
        }
        (self.at, self.awake) = (at, false);
        let lead = exact.map_or(Duration::ZERO, |after| self.clock.lead().min(after / SHARE));
        self.lead = lead.min(MOST.saturating_sub(self.spent));
        self.timer.arm(Some(at.checked_sub(self.lead).unwrap_or(at)));
    }

    /// Ready once the instant has come; then nothing is waited for any more. Never early.
    pub(super) fn poll_come(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.awake {
            ready!(self.timer.poll_fired(cx));
            if self.lead.is_zero() {
                return Poll::Ready(());
            }
            self.awake = true;
            self.spent += self.at.saturating_duration_since(self.clock.now());
        }
        if self.clock.now() < self.at {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.awake = false;
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::task::{ArcWake, waker};
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const LEAD: Duration = us(250);

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// A clock that is set by hand, and timers that fire by it.
    #[derive(Clone)]
    struct Hand(Rc<Cell<Instant>>);

    impl Clock for Hand {
        type Timer = HandTimer;

        fn now(&self) -> Instant {
            self.0.get()
        }

        fn timer(&self) -> HandTimer {
            HandTimer(self.clone(), None)
        }

        fn lead(&self) -> Duration {
            LEAD
        }
    }

    struct HandTimer(Hand, Option<Instant>);

    impl Timer for HandTimer {
        fn arm(&mut self, at: Option<Instant>) {
            self.1 = at;
        }

        fn poll_fired(&mut self, _: &mut Context<'_>) -> Poll<()> {
            if self.1.is_none_or(|at| self.0.now() < at) {
                return Poll::Pending;
            }
            self.1 = None;
            Poll::Ready(())
        }
    }

    /// Counts how often somebody asks for another turn.
    #[derive(Default)]
    struct Turns(AtomicUsize);

    impl ArcWake for Turns {
        fn wake_by_ref(turns: &Arc<Self>) {
            turns.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Bench {
        start: Instant,
        hand: Hand,
        approach: Approach<Hand>,
        turns: Arc<Turns>,
    }

    impl Bench {
        fn new() -> Self {
            let start = Instant::now();
            let hand = Hand(Rc::new(Cell::new(start)));
            Self { start, approach: Approach::new(&hand), hand, turns: Arc::default() }
        }

        /// Arms it for so long after the start.
        fn arm(&mut self, after: Duration, exact: bool) {
            self.approach.arm(self.start + after, exact.then_some(after));
        }

        /// At this time: whether the instant has come, and whether another turn was asked for.
        fn at(&mut self, time: Duration) -> (bool, bool) {
            self.hand.0.set(self.start + time);
            let before = self.turns.0.load(Ordering::Relaxed);
            let waker = waker(Arc::clone(&self.turns));
            let come = self.approach.poll_come(&mut Context::from_waker(&waker)).is_ready();
            (come, self.turns.0.load(Ordering::Relaxed) > before)
        }
    }

    const ASLEEP: (bool, bool) = (false, false);
    const AWAKE: (bool, bool) = (false, true);
    const COME: (bool, bool) = (true, false);

    #[test]
    fn r12_the_last_stretch_before_a_cut_is_waited_for_awake_and_never_too_short() {
        let mut bench = Bench::new();
        bench.arm(us(200_000), true);
        assert_eq!(bench.at(us(199_749)), ASLEEP);
        assert_eq!(bench.at(us(199_750)), AWAKE);
        assert_eq!(bench.at(us(199_999)), AWAKE);
        // A call that ended meanwhile changes nothing.
        bench.arm(us(200_000), true);
        assert_eq!(bench.at(us(199_999)), AWAKE);
        assert_eq!(bench.at(us(200_000)), COME);
        assert_eq!(bench.at(us(200_001)), ASLEEP, "it comes once");
        // A timer that fires late leaves nothing to wait for.
        bench.arm(us(300_000), true);
        assert_eq!(bench.at(us(300_150)), COME);
    }

    #[test]
    fn nothing_but_a_cut_is_waited_for_awake() {
        let mut bench = Bench::new();
        bench.arm(us(200_000), false);
        assert_eq!(bench.at(us(199_999)), ASLEEP);
        assert_eq!(bench.at(us(200_000)), COME);
        // Whatever is armed instead ends being awake.
        bench.arm(us(300_000), true);
        assert_eq!(bench.at(us(299_800)), AWAKE);
        bench.arm(us(299_900), false);
        assert_eq!(bench.at(us(299_899)), ASLEEP);
        assert_eq!(bench.at(us(299_900)), COME);
    }

    #[test]
    fn being_awake_is_bounded_by_a_share_of_the_time_and_a_sum_for_the_round() {
        let mut bench = Bench::new();
        bench.arm(us(1000), true);
        assert_eq!(bench.at(us(899)), ASLEEP);
        assert_eq!(bench.at(us(900)), AWAKE);
        assert_eq!(bench.at(us(1000)), COME);
        // 100 us are spent, and 900 are left: three times the whole lead and one that is shorter.
        let mut awake = us(100);
        for after in (1..=10).map(|i| us(10_000 * i)) {
            bench.arm(after, true);
            let first =
                (1..=250).rev().map(us).find(|&before| bench.at(after.saturating_sub(before)) == AWAKE);
            awake += first.unwrap_or_default();
            assert_eq!(bench.at(after), COME);
        }
        assert_eq!(awake, MOST);
    }
}
