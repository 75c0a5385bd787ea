//! A circuit breaker (R37): a dependency that mostly fails is left alone for a while, then tried again with one
//! attempt at a time.
//!
//! Pure; times are from the session's start. What counts as a failure is decided elsewhere.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

/// When a breaker opens and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Results that are looked at, the latest.
    pub window: usize,
    /// Fewer results open nothing.
    pub least: usize,
    /// Percentage of failures from which on it opens.
    pub failure_percent: usize,
    /// How long it stays open the first time; it doubles with each probe that fails.
    pub open: Duration,
    /// The longest that it stays open.
    pub longest: Duration,
    /// Successful probes in a row that close it.
    pub successes: u32,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            window: 20,
            least: 10,
            failure_percent: 50,
            open: Duration::from_secs(5),
            longest: Duration::from_secs(60),
            successes: 2,
        }
    }
}

/// What it does at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Lets everything through and counts.
    Closed,
    /// Lets nothing through until then.
    Open {
        /// The end of the pause.
        until: Duration,
    },
    /// Lets one probe through at a time.
    HalfOpen {
        /// Whether a probe is out.
        probing: bool,
        /// Probes in a row that succeeded.
        succeeded: u32,
    },
}

/// What a result says of the dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It answers.
    Success,
    /// It fails.
    Failure,
    /// Nothing: the end was of our own making.
    Ignored,
}

/// An attempt that was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Of which state it is; results from before a trip say nothing about what came after.
    generation: u64,
}

/// The breaker of a dependency.
#[derive(Debug, Clone)]
pub struct Breaker {
    rule: Rule,
    state: State,
    generation: u64,
    /// Latest results while closed: whether each was a failure.
    results: VecDeque<bool>,
    pause: Duration,
}

impl Breaker {
    /// A closed one.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        let results = VecDeque::with_capacity(rule.window);
        Self { rule, state: State::Closed, generation: 0, results, pause: rule.open }
    }

    /// What it does. A pause that is over is seen when the next attempt asks.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether an attempt would be let through.
    #[must_use]
    pub fn admits(&self, now: Duration) -> bool {
        match self.state {
            State::Closed => true,
            State::Open { until } => now >= until,
            State::HalfOpen { probing, .. } => !probing,
        }
    }

    /// Lets an attempt through, or not. Its result is to be settled.
    pub fn admit(&mut self, now: Duration) -> Option<Admission> {
        if !self.admits(now) {
            return None;
        }
        match &mut self.state {
            State::Closed => {}
            State::Open { .. } => self.state = State::HalfOpen { probing: true, succeeded: 0 },
            State::HalfOpen { probing, .. } => *probing = true,
        }
        Some(Admission { generation: self.generation })
    }

    /// Takes the result of an attempt in. False where it is stale: let through before a trip.
    pub fn settle(&mut self, admission: Admission, class: Class, now: Duration) -> bool {
        if admission.generation != self.generation {
            return false;
        }
        match (&mut self.state, class) {
            (State::Closed, Class::Ignored) | (State::Open { .. }, _) => {}
            (State::Closed, _) => self.count(class == Class::Failure, now),
            (State::HalfOpen { .. }, Class::Failure) => {
                self.pause = self.pause.saturating_mul(2).min(self.rule.longest);
                self.open(now);
            }
            (State::HalfOpen { probing, .. }, Class::Ignored) => *probing = false,
            (State::HalfOpen { probing, succeeded }, Class::Success) => {
                *probing = false;
                *succeeded += 1;
                if *succeeded >= self.rule.successes {
                    self.close();
                }
            }
        }
        true
    }

    fn count(&mut self, failure: bool, now: Duration) {
        if self.results.len() >= self.rule.window {
            self.results.pop_front();
        }
        self.results.push_back(failure);
        let failures = self.results.iter().filter(|failed| **failed).count();
        let share_reached = failures * 100 >= self.rule.failure_percent * self.results.len();
        if self.results.len() >= self.rule.least && share_reached {
            self.open(now);
        }
    }

    fn open(&mut self, now: Duration) {
        self.generation += 1;
        self.results.clear();
        self.state = State::Open { until: now.saturating_add(self.pause) };
    }

    fn close(&mut self) {
        self.generation += 1;
        self.pause = self.rule.open;
        self.state = State::Closed;
    }
}

/// An admission that settles itself: dropped without a result, it was ignored and gives its probe back.
#[derive(Debug)]
pub struct Ticket {
    breaker: Rc<RefCell<Breaker>>,
    admission: Option<Admission>,
}

impl Ticket {
    /// Asks to be let through.
    #[must_use]
    pub fn ask(breaker: &Rc<RefCell<Breaker>>, now: Duration) -> Option<Self> {
        let admission = Some(breaker.borrow_mut().admit(now)?);
        Some(Self { breaker: Rc::clone(breaker), admission })
    }

    /// Hands the result in.
    pub fn settle(mut self, class: Class, now: Duration) {
        self.hand_in(class, now);
    }

    fn hand_in(&mut self, class: Class, now: Duration) {
        if let Some(admission) = self.admission.take() {
            self.breaker.borrow_mut().settle(admission, class, now);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.hand_in(Class::Ignored, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn fail_ten_times(breaker: &mut Breaker, now: Duration) {
        for _ in 0..10 {
            run(breaker, now, Class::Failure);
        }
    }

    fn run(breaker: &mut Breaker, now: Duration, class: Class) -> bool {
        breaker.admit(now).is_some_and(|admission| breaker.settle(admission, class, now))
    }

    #[test]
    fn r37_ten_results_with_half_of_them_failures_open_it() {
        let mut breaker = Breaker::new(Rule::default());
        for _ in 0..9 {
            run(&mut breaker, S(0), Class::Failure);
        }
        assert_eq!(breaker.state(), State::Closed, "nine are too few");
        run(&mut breaker, S(1), Class::Success);
        assert_eq!(breaker.state(), State::Open { until: S(6) });

        let mut breaker = Breaker::new(Rule::default());
        for class in [Class::Success, Class::Success, Class::Failure].repeat(20) {
            run(&mut breaker, S(0), class);
        }
        assert_eq!(breaker.state(), State::Closed, "a third fails");
        for _ in 0..4 {
            run(&mut breaker, S(0), Class::Failure);
        }
        assert_ne!(breaker.state(), State::Closed, "only the last twenty count: 10 of 20");
    }

    #[test]
    fn r37_the_pause_doubles_to_a_minute_and_two_successes_end_it() {
        let mut breaker = Breaker::new(Rule::default());
        fail_ten_times(&mut breaker, S(0));
        let mut now = S(0);
        for pause in [5, 10, 20, 40, 60, 60] {
            assert!(!breaker.admits(now + Duration::from_millis(pause * 1000 - 1)));
            now += S(pause);
            assert!(run(&mut breaker, now, Class::Failure), "the probe goes out");
        }
        now += S(60);
        run(&mut breaker, now, Class::Success);
        assert_eq!(breaker.state(), State::HalfOpen { probing: false, succeeded: 1 });
        run(&mut breaker, now, Class::Success);
        assert_eq!(breaker.state(), State::Closed);
        fail_ten_times(&mut breaker, now);
        assert_eq!(breaker.state(), State::Open { until: now + S(5) }, "the pause starts over");
    }

    #[test]
    fn r37_a_dropped_ticket_gives_its_probe_back() {
        let rule = Rule { window: 1, least: 1, ..Rule::default() };
        let breaker = Rc::new(RefCell::new(Breaker::new(rule)));
        Ticket::ask(&breaker, S(0)).unwrap().settle(Class::Failure, S(0));
        let probe = Ticket::ask(&breaker, S(5)).unwrap();
        assert!(Ticket::ask(&breaker, S(5)).is_none(), "one at a time");
        drop(probe);
        Ticket::ask(&breaker, S(5)).unwrap().settle(Class::Success, S(6));
        assert_eq!(breaker.borrow().state(), State::HalfOpen { probing: false, succeeded: 1 });
    }

    proptest! {
        /// Whatever comes back, in whatever order and however late.
        #[test]
        fn r37_there_are_never_two_probes_and_a_pause_lets_nothing_through(
            steps in prop::collection::vec((0_u64..3000, any::<bool>(), any::<prop::sample::Index>(), 0_u8..6), 1..400),
        ) {
            let mut breaker = Breaker::new(Rule::default());
            let (mut now, mut out, mut probes) = (Duration::ZERO, Vec::new(), Vec::new());
            for (gap, ask, which, class) in steps {
                now += Duration::from_millis(gap);
                let before = breaker.state();
                if ask || out.is_empty() {
                    if let Some(admission) = breaker.admit(now) {
                        let probe = before != State::Closed;
                        let paused = matches!(before, State::Open { until } if now < until);
                        prop_assert!(!paused);
                        if probe {
                            // Probes of an earlier pause are stale; of this one there is no other out.
                            prop_assert!(!probes.contains(&admission.generation), "two probes");
                            probes.push(admission.generation);
                        }
                        out.push((admission, probe));
                    }
                } else {
                    let (admission, probe) = out.swap_remove(which.index(out.len()));
                    let class = match class { 0 => Class::Success, 1 => Class::Ignored, _ => Class::Failure };
                    let fresh = breaker.settle(admission, class, now);
                    if probe {
                        probes.retain(|g| *g != admission.generation);
                    }
                    if !fresh {
                        prop_assert_eq!(breaker.state(), before, "a stale result changed something");
                    }
                }
            }
        }
    }
}
