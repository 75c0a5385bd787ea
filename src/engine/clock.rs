//! Time behind a small trait: a precise timer in production, tokio's paused time in tests.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// Where the engine gets its time.
pub trait Clock: Clone + 'static {
    /// Its timer.
    type Timer: Timer;

    /// Now, monotonic.
    fn now(&self) -> Instant;

    /// A timer that is not armed.
    fn timer(&self) -> Self::Timer;

    /// How long before an instant that must be met its timers should fire, so that the last stretch can be waited for
    /// awake: about as long as they are late. Zero where that is of no use, as on paused time.
    fn lead(&self) -> Duration {
        Duration::ZERO
    }

    /// How long the machine has slept since it was started. [`Clock::now`] knows nothing of that time, nor do timers.
    fn slept(&self) -> Duration {
        Duration::ZERO
    }
}

/// One timer that can be armed again and again.
pub trait Timer {
    /// Fires once at this time, instead of whatever was armed before; `None` disarms.
    fn arm(&mut self, at: Option<Instant>);

    /// Ready once the armed time has come; then it is disarmed. Never early.
    fn poll_fired(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// Waits until the armed time.
pub async fn fired(timer: &mut impl Timer) {
    std::future::poll_fn(|cx| timer.poll_fired(cx)).await;
}

/// Tokio's own time, with its granularity of 1 ms. Follows the paused clock of tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioClock;

impl Clock for TokioClock {
    type Timer = TokioTimer;

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn timer(&self) -> TokioTimer {
        TokioTimer::default()
    }
}

/// Timer of [`TokioClock`].
#[derive(Debug, Default)]
pub struct TokioTimer(Option<Pin<Box<Sleep>>>);

impl Timer for TokioTimer {
    fn arm(&mut self, at: Option<Instant>) {
        match (&mut self.0, at) {
            (Some(sleep), Some(at)) if sleep.deadline() == at => {}
            (Some(sleep), Some(at)) => sleep.as_mut().reset(at),
            (slot, at) => *slot = at.map(|at| Box::pin(tokio::time::sleep_until(at))),
        }
    }

    fn poll_fired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(sleep) = &mut self.0 else { return Poll::Pending };
        sleep.as_mut().poll(cx).map(|()| self.0 = None)
    }
}

#[cfg(target_os = "linux")]
pub use precise::{PreciseClock, PreciseTimer};

/// Where there is no timerfd, tokio's own timer serves.
#[cfg(not(target_os = "linux"))]
pub type PreciseClock = TokioClock;

#[cfg(target_os = "linux")]
mod precise {
    //! timerfd: about ten times as precise as tokio's timer wheel.

    use super::{Clock, Timer, TokioTimer};
    use rustix::time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
        timerfd_create, timerfd_settime,
    };
    use std::os::fd::OwnedFd;
    use std::task::{Context, Poll, ready};
    use std::time::Duration;
    use tokio::io::unix::AsyncFd;
    use tokio::time::Instant;

    /// A sleeping processor of a virtual machine wakes up 0.15 ms late at the median, and hardly ever more than this;
    /// others wake up sooner.
    const LEAD: Duration = Duration::from_micros(250);

    /// Monotonic time with timers of microseconds.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct PreciseClock;

    impl Clock for PreciseClock {
        type Timer = PreciseTimer;

        fn now(&self) -> Instant {
            Instant::now()
        }

        fn timer(&self) -> PreciseTimer {
            PreciseTimer::new()
        }

        fn lead(&self) -> Duration {
            LEAD
        }

        /// `CLOCK_BOOTTIME` runs while the machine is suspended, `CLOCK_MONOTONIC` does not. Read in this order, it
        /// is never too much.
        fn slept(&self) -> Duration {
            let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
            let booted = read(ClockId::Boottime);
            booted.saturating_sub(read(ClockId::Monotonic))
        }
    }

    /// Timer of [`PreciseClock`]. Without a file descriptor to be had it falls back to tokio's timer: late
    /// by a millisecond, but never lost.
    #[derive(Debug)]
    pub struct PreciseTimer {
        fd: Option<AsyncFd<OwnedFd>>,
        fallback: TokioTimer,
        at: Option<Instant>,
    }

    impl PreciseTimer {
        fn new() -> Self {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags).ok();
            Self { fd: fd.and_then(Self::register), fallback: TokioTimer::default(), at: None }
        }

        #[expect(
            deprecated,
            reason = "its successor is unsafe, which this crate forbids; an OwnedFd keeps the I/O safety that it asks for"
        )]
        fn register(fd: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
            AsyncFd::with_interest(fd, tokio::io::Interest::READABLE).ok()
        }

        /// Sets the descriptor to fire after `left`; zero would disarm it, so at least a nanosecond.
        fn set(fd: &OwnedFd, left: Duration) -> rustix::io::Result<()> {
            let left = left.max(Duration::from_nanos(1));
            let value = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            let never = Timespec { tv_sec: 0, tv_nsec: 0 };
            let spec = Itimerspec { it_interval: never, it_value: value };
            timerfd_settime(fd, TimerfdTimerFlags::empty(), &spec).map(drop)
        }
    }

    impl Timer for PreciseTimer {
        fn arm(&mut self, at: Option<Instant>) {
            if self.at == at {
                return;
            }
            self.at = at;
            let (Some(fd), Some(at)) = (&self.fd, at) else {
                self.fallback.arm(at);
                return;
            };
            let left = at.saturating_duration_since(Instant::now());
            if Self::set(fd.get_ref(), left).is_err() {
                self.fd = None;
                self.fallback.arm(Some(at));
            }
        }

        fn poll_fired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
            let Some(at) = self.at else { return Poll::Pending };
            while Instant::now() < at {
                let Some(fd) = &self.fd else {
                    ready!(self.fallback.poll_fired(cx));
                    break;
                };
                let Ok(mut guard) = ready!(fd.poll_read_ready(cx)) else {
                    self.fd = None;
                    self.fallback.arm(Some(at));
                    continue;
                };
                // The count of expirations is of no interest; reading makes the descriptor quiet again.
                let mut count = [0; 8];
                let read = rustix::io::read(fd.get_ref(), &mut count);
                guard.clear_ready();
                drop(guard);
                // Fired for an earlier setting, or a hair early: set what is left.
                let left = at.saturating_duration_since(Instant::now());
                if read.is_ok() && !left.is_zero() && Self::set(fd.get_ref(), left).is_err() {
                    self.fd = None;
                    self.fallback.arm(Some(at));
                }
            }
            self.at = None;
            Poll::Ready(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn the_precise_timer_is_never_early_and_can_be_armed_again() {
        let clock = PreciseClock;
        let mut timer = clock.timer();
        let start = clock.now();
        timer.arm(Some(start + Duration::from_secs(3600)));
        timer.arm(Some(start + Duration::from_millis(3)));
        fired(&mut timer).await;
        assert!(clock.now() >= start + Duration::from_millis(3));
        timer.arm(Some(start)); // already past
        fired(&mut timer).await;
        timer.arm(Some(clock.now() + Duration::from_millis(1)));
        timer.arm(None);
        let quiet = tokio::time::timeout(Duration::from_millis(5), fired(&mut timer)).await;
        assert!(quiet.is_err(), "a disarmed timer fired");
    }
}
