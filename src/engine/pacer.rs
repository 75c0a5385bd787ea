//! Starts rounds, whatever the earlier ones do: an open loop (R38).

use super::clock::{Clock, Timer};
use super::gaps::BEAT;
use super::limits::Limits;
use super::limits::guards::Tolls;
use super::probe::Probes;
use super::round::{self, Brief, Over, Shared, Stragglers};
use crate::domain::event::{SkipCause, Vitals};
use crate::domain::{Arm, EndedBy, Event, RoundNo, Settings};
use futures_util::future::{FutureExt, LocalBoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// What the session may ask of the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// These settings hold from the next round on.
    Apply(Settings),
    /// Start no more rounds, or start again. A running round goes on to its end.
    Pause(bool),
    /// Start one round now, also while paused; none once as many have started as were asked for.
    Step,
    /// Start no more rounds, and end when those that run have ended and nothing of them is watched any more.
    Finish,
    /// The process did not run in this time, as far as its owner knows; from the session's start.
    StoodStill {
        /// When it was stopped.
        since: Duration,
        /// When it went on.
        until: Duration,
    },
    /// Abandon what runs and end.
    Quit,
}

/// Rounds under way, each until its result has been delivered. A reader that is behind holds up a round that is
/// over and the next start, never a round that runs.
type Running<C> = FuturesUnordered<LocalBoxFuture<'static, Delivered<C>>>;

/// Rounds that are over and have calls which are still watched (W7), and what waits to be told. False once nobody
/// listens any more.
type Watching = FuturesUnordered<LocalBoxFuture<'static, bool>>;

/// What became of a round.
struct Delivered<C: Clock> {
    heard: Heard,
    /// Whether it was given up because the process did not run meanwhile.
    given_up: bool,
    stragglers: Option<Stragglers<C>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// It was heard of; something of it went out.
    Sent,
    /// It was heard of; every call was held back.
    HeldBack,
    /// Nobody listens any more.
    Unheard,
}

/// Without a period, the next round follows one in which nothing was sent after this time: it took none itself,
/// and as long as breakers or back-offs hold, rounds would follow one another without end.
const IDLE: Duration = Duration::from_millis(100);

/// Starts rounds until told to quit, or until `rounds` have completed and nothing of them is watched any more.
pub struct Pacer<C: Clock> {
    shared: Rc<Shared<C>>,
    limits: Rc<RefCell<Limits>>,
    settings: Arc<Settings>,
    running: Running<C>,
    watching: Watching,
    probes: Probes,
    timer: C::Timer,
    plan: Schedule,
    held: Option<Held>,
    /// When the timer fires.
    wakes: Option<Instant>,
    paused: bool,
    started: u64,
    completed: u64,
    rounds: Option<u64>,
    /// Whether no more rounds are to start, whatever becomes of those that run.
    finishing: bool,
    vitals: Rc<Cell<Vitals>>,
}

/// The planned starts: `origin + i x every`.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    next: Instant,
}

/// A start that waits a little for its hosts' rate: attempts of earlier rounds went out a moment after their own
/// starts, and a period that is just within the rate would otherwise miss it by as much.
#[derive(Debug, Clone, Copy)]
struct Held {
    planned: Instant,
    until: Instant,
}

/// The part of the period that a start may be held.
const HELD_SHARE: u32 = 10;

impl Schedule {
    /// Moves past `now`; returns the planned start that is due and how many before it were missed. Without a
    /// period there is no plan that a start could miss or lag behind.
    fn due(&mut self, now: Instant, every: Duration) -> (Instant, u64) {
        if every.is_zero() {
            self.next = now;
            return (now, 0);
        }
        let behind = now.saturating_duration_since(self.next).as_nanos();
        let whole = |nanos: u128| u64::try_from(nanos).unwrap_or(u64::MAX);
        let planned = now - Duration::from_nanos(whole(behind % every.as_nanos()));
        self.next = planned + every;
        (planned, whole(behind / every.as_nanos()))
    }
}

/// Without a period, the latest that a rate is asked again whether there is room.
const ASK_AGAIN: Duration = Duration::from_secs(60);

impl<C: Clock + Unpin> Pacer<C> {
    /// A pacer whose first round is due now. `seed` decides which rounds are probe rounds.
    #[must_use]
    pub fn new(
        shared: Shared<C>,
        limits: Limits,
        settings: Settings,
        rounds: Option<u64>,
        seed: u64,
    ) -> Self {
        Self {
            timer: shared.clock.timer(),
            plan: Schedule { next: shared.clock.now() },
            held: None,
            wakes: None,
            shared: Rc::new(shared),
            limits: Rc::new(RefCell::new(limits)),
            settings: Arc::new(settings),
            running: FuturesUnordered::new(),
            watching: FuturesUnordered::new(),
            probes: Probes::new(seed),
            paused: false,
            started: 0,
            completed: 0,
            rounds,
            finishing: false,
            vitals: Rc::default(),
        }
    }

    /// Runs until told to quit, until nobody listens, or until `rounds` have completed and none of their calls is
    /// watched any more.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let at = self.since_epoch();
        let settings = Arc::clone(&self.settings);
        if !self.shared.sink.deliver(Event::SettingsChanged { at, settings }).await {
            return;
        }
        while self.rounds.is_none_or(|n| self.completed < n) || !self.watching.is_empty() {
            self.arm();
            tokio::select! {
                biased;
                Some(delivered) = self.running.next(), if !self.running.is_empty() => {
                    if !self.ended(delivered) { break }
                }
                Some(heard) = self.watching.next(), if !self.watching.is_empty() => {
                    if !heard { break }
                }
                command = commands.recv() => {
                    if !self.obey(command) { break }
                }
                () = super::clock::fired(&mut self.timer) => {
                    if !self.tell_gap() { break }
                    if self.shared.clock.now() >= self.due() {
                        self.start_due();
                    }
                    // A period too short for this machine must not keep the runtime from its sockets.
                    tokio::task::yield_now().await;
                }
            }
        }
        self.abandon().await;
    }

    fn since_epoch(&self) -> Duration {
        self.shared.clock.now().saturating_duration_since(self.shared.epoch)
    }

    /// Whether as many rounds have started as are asked for.
    fn enough(&self) -> bool {
        self.rounds.is_some_and(|n| self.started >= n)
    }

    /// When the next start is to be looked at.
    fn due(&self) -> Instant {
        self.held.map_or(self.plan.next, |held| held.until)
    }

    /// Tells of a time in which the process did not run, where this start comes after one.
    fn tell_gap(&mut self) -> bool {
        let due = self.wakes.unwrap_or(self.due()).saturating_duration_since(self.shared.epoch);
        self.gap(due, self.since_epoch())
    }

    fn gap(&mut self, since: Duration, until: Duration) -> bool {
        let gap = self.shared.gaps.find(&self.shared.clock, since, until);
        gap.is_none_or(|gap| self.tell(gap))
    }

    /// Tells what must arrive. Where the reader is behind, rounds go on meanwhile; the order of what is told stays.
    fn tell(&mut self, event: Event) -> bool {
        let sink = self.shared.sink.clone();
        let mut told: LocalBoxFuture<'static, bool> = Box::pin(async move { sink.deliver(event).await });
        told.as_mut().now_or_never().unwrap_or_else(|| {
            self.watching.push(told);
            true
        })
    }

    /// Sets the timer for the next start, if there is to be one.
    fn arm(&mut self) {
        // Without a period the next round starts when the last has ended.
        let waits = self.settings.every.is_zero() && !self.running.is_empty();
        let beat = self.shared.clock.now() + BEAT;
        self.wakes = (!self.paused && !self.enough() && !waits).then_some(self.due().min(beat));
        self.timer.arm(self.wakes);
    }

    fn start_due(&mut self) {
        let now = self.shared.clock.now();
        if let Some(held) = self.held.take() {
            if now < self.plan.next {
                return self.start(held.planned);
            }
            // So late that the next start is due as well.
            self.skip(1, SkipCause::Missed);
        }
        let (planned, missed) = self.plan.due(now, self.settings.every);
        // Starts missed while the machine slept or was busy are skipped, never caught up.
        self.skip(missed, SkipCause::Missed);
        self.start(planned);
    }

    /// Counts starts that did not happen.
    fn skip(&mut self, starts: u64, cause: SkipCause) {
        if starts > 0 {
            let mut totals = self.vitals.get();
            totals.skipped = totals.skipped.saturating_add(starts);
            self.vitals.set(totals);
            let (at, total) = (self.since_epoch(), totals.skipped);
            self.shared.sink.live(Event::StartSkipped { at, total, cause });
        }
    }

    /// Starts a round, if there is room for it (R38) and its hosts may be asked that often (R39).
    fn start(&mut self, planned: Instant) {
        if self.running.len() >= self.settings.max_overlap {
            return self.skip(1, SkipCause::Overlap);
        }
        let now = self.since_epoch();
        let reserved = self.limits.borrow().reserve(now);
        match reserved {
            Ok(tolls) => self.launch(planned, tolls),
            Err(again) if self.may_hold(again.saturating_sub(now)) => {
                self.held = Some(Held { planned, until: self.shared.epoch + again });
            }
            Err(again) => {
                self.skip(1, SkipCause::Rate);
                // Without a period there is no next planned start: it is tried when there may be room.
                if self.settings.every.is_zero() {
                    self.plan.next = self.shared.epoch + again.min(now.saturating_add(ASK_AGAIN));
                }
            }
        }
    }

    /// Whether a start may be put off for so long.
    fn may_hold(&self, wait: Duration) -> bool {
        wait <= self.settings.every / HELD_SHARE && self.shared.clock.now() + wait < self.plan.next
    }

    fn launch(&mut self, planned: Instant, tolls: Tolls) {
        self.started += 1;
        let no = RoundNo(self.started);
        let (settings, arm) = self.settings_of(no);
        let plan = self.limits.borrow().plan(&settings);
        let probe = self.probes.toss(no, &settings);
        let brief = Brief { no, settings, plan, planned, tolls, probe, arm };
        let (shared, limits) = (Rc::clone(&self.shared), Rc::clone(&self.limits));
        let (vitals, probes) = (Rc::clone(&self.vitals), self.probes.clone());
        self.running.push(Box::pin(async move {
            let Some(over) = round::run(&shared, &limits, brief).await else {
                return Delivered { heard: Heard::Unheard, given_up: false, stragglers: None };
            };
            let Over { round, mut stragglers } = over;
            limits.borrow_mut().learn(&round);
            let mut totals = vitals.get();
            totals.lingering = totals.lingering.saturating_add(round.lingering as u64);
            totals.lost_events = shared.sink.lost();
            let now = shared.clock.now().saturating_duration_since(shared.epoch);
            totals.open_breakers = limits.borrow().guards.open_breakers();
            totals.backing_off = limits.borrow().guards.backing_off(now);
            totals.watched = probes.watched();
            vitals.set(totals);
            let sent = round.calls.iter().any(|c| !c.attempts.is_empty());
            let given_up = round.ended_by == EndedBy::Aborted;
            let told = shared.sink.deliver(Event::RoundSettled { round, vitals: totals });
            let told = match &mut stragglers {
                None => told.await,
                Some(stragglers) => stragglers.beside(&limits, told).await,
            };
            let heard = match (told, sent) {
                (false, _) => Heard::Unheard,
                (true, true) => Heard::Sent,
                (true, false) => Heard::HeldBack,
            };
            Delivered { heard, given_up, stragglers }
        }));
    }

    /// What a round is asked to do, and whose turn it is (W9).
    fn settings_of(&self, no: RoundNo) -> (Arc<Settings>, Option<Arm>) {
        if self.settings.ab.is_none() {
            return (Arc::clone(&self.settings), None);
        }
        let (settings, arm) = self.settings.of_round(no.0);
        (Arc::new(settings), arm)
    }

    /// A round is over. False where nobody listens any more.
    fn ended(&mut self, delivered: Delivered<C>) -> bool {
        if delivered.heard == Heard::Unheard {
            return false;
        }
        self.completed += 1;
        if delivered.given_up && !self.finishing {
            // Another one runs in its place; what else was planned meanwhile is not caught up.
            self.rounds = self.rounds.map(|rounds| rounds.saturating_add(1));
            self.plan.next = self.plan.next.max(self.shared.clock.now());
        }
        if self.settings.every.is_zero() {
            let pause = if delivered.heard == Heard::HeldBack { IDLE } else { Duration::ZERO };
            self.plan.next = self.shared.clock.now() + pause;
        }
        if let Some(stragglers) = delivered.stragglers {
            self.watch(stragglers);
        }
        true
    }

    fn watch(&mut self, stragglers: Stragglers<C>) {
        let (shared, limits) = (Rc::clone(&self.shared), Rc::clone(&self.limits));
        let vitals = Rc::clone(&self.vitals);
        self.watching.push(Box::pin(async move {
            let Some(lingering) = stragglers.watch(&shared, &limits).await else { return false };
            let mut totals = vitals.get();
            totals.lingering = totals.lingering.saturating_add(lingering as u64);
            vitals.set(totals);
            true
        }));
    }

    fn obey(&mut self, command: Option<Command>) -> bool {
        let now = self.shared.clock.now();
        match command {
            None | Some(Command::Quit) => return false,
            Some(Command::Apply(settings)) => {
                if settings.every != self.settings.every {
                    let last = self.plan.next.checked_sub(self.settings.every).unwrap_or(now);
                    self.plan.next = (last + settings.every).max(now);
                }
                self.settings = Arc::new(settings);
                let (at, settings) = (self.since_epoch(), Arc::clone(&self.settings));
                return self.tell(Event::SettingsChanged { at, settings });
            }
            Some(Command::Pause(paused)) => {
                if self.paused && !paused {
                    // Rounds that a stop froze end first: what comes after it is not to stand behind them.
                    let ends = if self.running.is_empty() { Duration::ZERO } else { self.settings.grace };
                    self.plan.next = now + ends;
                }
                self.held = None;
                self.paused = paused;
                return self.tell(Event::Paused(paused));
            }
            Some(Command::StoodStill { since, until }) => return self.gap(since, until),
            Some(Command::Step) if self.enough() => {}
            Some(Command::Step) => self.start(now),
            Some(Command::Finish) => (self.rounds, self.finishing) = (Some(self.started), true),
        }
        true
    }

    /// Abandons the rounds that run and what is watched, and reports each; bounded by their grace.
    async fn abandon(mut self) {
        self.finishing = true;
        self.shared.abort.tell();
        loop {
            let heard = tokio::select! {
                Some(delivered) = self.running.next() => self.ended(delivered),
                Some(heard) = self.watching.next() => heard,
                else => break,
            };
            if !heard {
                break;
            }
        }
    }
}
