//! Attempts a second to one host and port (R39).
//!
//! A sliding window: with a limit of `r` a second, at most `floor(r)` attempts go out in any one second (under 1 a
//! second: one in `1/r` seconds). The calls of a round start together, so a round that is wider than that could
//! never run; it goes out alone, when its host has had nothing for as long as its attempts are worth at that
//! rate. What is planned and not sent yet counts as if it were sent at every moment until then.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

/// What was sent to a host of late. Times are from the session's start.
#[derive(Debug)]
pub struct Rate {
    per_second: f64,
    sent: VecDeque<Duration>,
    reserved: usize,
    /// How long what was sent matters.
    memory: Duration,
}

/// A rate that its reservations point back to.
pub type SharedRate = Rc<RefCell<Rate>>;

/// One attempt that may be sent. Dropped unsent, it counts no more.
#[derive(Debug)]
pub struct Toll {
    rate: SharedRate,
}

impl Rate {
    /// Nothing sent yet. `per_second` is above 0.
    #[must_use]
    pub fn new(per_second: f64) -> Self {
        let per_second = per_second.max(f64::MIN_POSITIVE);
        let mut rate = Self { per_second, sent: VecDeque::new(), reserved: 0, memory: Duration::ZERO };
        rate.memory = rate.window();
        rate
    }

    /// Most attempts in a window.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest number of its range"
    )]
    fn most(&self) -> usize {
        (self.per_second.floor() as usize).max(1)
    }

    fn window(&self) -> Duration {
        self.worth(1).max(Duration::from_secs(1))
    }

    /// The time that so many attempts take at this rate.
    fn worth(&self, attempts: usize) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "counts of attempts, far below 2^52")]
        let seconds = attempts as f64 / self.per_second;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Whether so many may go out together.
    ///
    /// # Errors
    /// When not: the earliest moment at which it is worth asking again.
    pub fn fits(&mut self, attempts: usize, now: Duration) -> Result<(), Duration> {
        let (most, wide) = (self.most(), attempts > self.most());
        let window = if wide { self.worth(attempts) } else { self.window() };
        self.memory = self.memory.max(window);
        while self.sent.front().is_some_and(|&at| at.saturating_add(self.memory) <= now) {
            self.sent.pop_front();
        }
        let gone = self.sent.partition_point(|&at| at.saturating_add(window) <= now);
        let taken = (self.sent.len() - gone).saturating_add(self.reserved);
        let most = most.max(attempts);
        let over = taken.saturating_add(attempts).saturating_sub(most);
        if over == 0 {
            return Ok(());
        }
        // Once the oldest of the window are out of it; what is only planned is known when it is sent.
        Err(self.sent.get(gone + over - 1).map_or(now, |&at| at).saturating_add(window))
    }

    fn send(&mut self, now: Duration) {
        // A clock that goes on never gives an earlier time; the order is what the window rests on.
        let last = self.sent.back().copied().unwrap_or_default();
        self.sent.push_back(now.max(last));
    }
}

impl Toll {
    /// Reserves one attempt, whether it fits or not.
    #[must_use]
    pub fn reserve(rate: &SharedRate) -> Self {
        rate.borrow_mut().reserved += 1;
        Self { rate: Rc::clone(rate) }
    }

    /// It is sent now: what was planned is over with the drop, what was sent counts instead.
    pub fn sent(self, now: Duration) {
        self.rate.borrow_mut().send(now);
    }

    /// Whether it was reserved here.
    #[must_use]
    pub fn is_of(&self, rate: &SharedRate) -> bool {
        Rc::ptr_eq(&self.rate, rate)
    }
}

impl Drop for Toll {
    fn drop(&mut self) {
        self.rate.borrow_mut().reserved -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Sends so many together if they fit.
    fn send(rate: &SharedRate, attempts: usize, at: u64) -> bool {
        let fits = rate.borrow_mut().fits(attempts, ms(at)).is_ok();
        for _ in 0..if fits { attempts } else { 0 } {
            Toll::reserve(rate).sent(ms(at));
        }
        fits
    }

    #[test]
    fn r39_what_fits_goes_and_one_second_later_there_is_room_again() {
        let rate = Rc::new(RefCell::new(Rate::new(50.0)));
        assert!(send(&rate, 30, 0) && send(&rate, 20, 400));
        assert_eq!(rate.borrow_mut().fits(1, ms(999)), Err(ms(1000)));
        assert_eq!(rate.borrow_mut().fits(31, ms(999)), Err(ms(1400)));
        assert!(send(&rate, 30, 1000) && !send(&rate, 1, 1399) && send(&rate, 20, 1400));
    }

    #[test]
    fn r39_what_is_planned_counts_until_it_is_sent_or_given_up() {
        let rate = Rc::new(RefCell::new(Rate::new(2.0)));
        let (queued, given_up) = (Toll::reserve(&rate), Toll::reserve(&rate));
        assert!(!send(&rate, 1, 5000), "a wait does not make room");
        drop(given_up);
        queued.sent(ms(5000));
        assert!(send(&rate, 1, 5100) && !send(&rate, 1, 5999) && send(&rate, 1, 6000));
    }

    #[test]
    fn r39_a_round_wider_than_the_limit_goes_out_alone_and_keeps_the_mean() {
        let rate = Rc::new(RefCell::new(Rate::new(50.0)));
        assert!(send(&rate, 100, 0) && !send(&rate, 100, 1999) && send(&rate, 100, 2000));
        let slow = Rc::new(RefCell::new(Rate::new(0.5)));
        assert!(send(&slow, 1, 0) && !send(&slow, 1, 1999) && send(&slow, 1, 2000));
        assert!(send(&slow, 3, 8000) && !send(&slow, 3, 13_999) && send(&slow, 3, 14_000));
    }

    proptest! {
        /// In no second more than the limit, and whoever is told a time to ask again is never told the past.
        #[test]
        fn r39_never_above_the_limit_in_any_second(
            limit in 1_usize..20,
            fraction in 0.0_f64..1.0,
            asks in prop::collection::vec((0_u64..400, 1_usize..20, 0_u64..300), 1..80),
        ) {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let rate = Rc::new(RefCell::new(Rate::new(limit as f64 + fraction)));
            let (mut now, mut sent) = (0, Vec::new());
            let mut planned: Vec<(u64, Toll)> = Vec::new();
            for (gap, attempts, wait) in asks {
                now += gap;
                for (_, toll) in planned.extract_if(.., |p| p.0 <= now) {
                    toll.sent(ms(now));
                    sent.push(now);
                }
                let attempts = attempts.min(limit);
                let fits = rate.borrow_mut().fits(attempts, ms(now));
                match fits {
                    Ok(()) => planned.extend((0..attempts).map(|_| (now + wait, Toll::reserve(&rate)))),
                    Err(again) => prop_assert!(again > ms(now)),
                }
            }
            for (i, at) in sent.iter().enumerate() {
                let second = sent[i..].iter().take_while(|t| **t < at + 1000).count();
                prop_assert!(second <= limit, "{} in the second from {}", second, at);
            }
        }
    }
}
