//! What rounds put on the screen: the round on the lanes, the counts, the rounds kept to look back at. Events
//! change it; keys only choose which picture is looked at, the live one or a frozen copy.

use super::config::steady;
use super::live::LiveRound;
use super::tables::Tables;
use super::{Change, Shown};
use crate::domain::event::{RoundStarted, Vitals};
use crate::domain::{Attempt, EndpointId, Event, Late, Reason, Round, RoundNo, Settings};
use crate::stats::{Blame, Hint, MissingRow, Stats, Window};
use crate::whatif::seen::Sample;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Rounds that are kept whole, at most.
const KEPT_ROUNDS: usize = 600;

/// Calls in all rounds that are kept, at most; about 400 bytes each.
const KEPT_CALLS: usize = 16_000;

/// Calls in the newest rounds that keep what their answers said: of failed ones their beginning, of all what the
/// server says of its own time; up to some kilobytes each.
const KEPT_ANSWERS: usize = 2_000;

/// Rounds to estimate from that stay in a copy that is kept for long.
const KEPT_SAMPLE: usize = 100;

/// Changes that are remembered.
const MARKS: usize = 64;

/// The least time between two sortings of the missing table.
const RESORT: Duration = Duration::from_secs(1);

/// A change and the round that was the first to have it; a note and the round in which it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The round.
    pub round: RoundNo,
    /// What changed.
    pub change: Change,
}

/// What rounds put on the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub(crate) shown: Shown,
    pub(crate) stats: Stats,
    pub(crate) marks: VecDeque<Mark>,
    /// Calls of the latest round that are not hedged yet for want of samples.
    pub(crate) warming: usize,
    /// The latest rounds in order of their numbers.
    pub(crate) rounds: VecDeque<Arc<Round>>,
    /// What the estimators know of them and of more before.
    pub(crate) sample: Sample,
    /// Stragglers that were told of.
    pub(super) late: u64,
    endpoints: usize,
    /// The last round that started, and what it had.
    last: Option<RoundNo>,
    /// When that one started.
    since: Option<Duration>,
    settings: Option<Arc<Settings>>,
    pub(super) now: Duration,
    /// What changed since the last round started, besides settings.
    pending: Vec<Change>,
    /// The longest that a round took with the mode and budget that hold.
    longest: Duration,
    /// Places of the missing table's rows, and when they were given.
    order: (Duration, HashMap<(EndpointId, Reason), usize>),
    /// What was made of the counts.
    tables: Box<Tables>,
}

impl Picture {
    /// Nothing yet, for this many endpoints; the estimators look at this many rounds at most.
    #[must_use]
    pub fn new(endpoints: usize, rounds: usize) -> Self {
        Self {
            shown: Shown::Waiting,
            stats: Stats::new(endpoints),
            marks: VecDeque::new(),
            warming: 0,
            rounds: VecDeque::new(),
            sample: Sample::new(rounds),
            late: 0,
            endpoints,
            last: None,
            since: None,
            settings: None,
            now: Duration::ZERO,
            pending: Vec::new(),
            longest: Duration::ZERO,
            order: (Duration::ZERO, HashMap::new()),
            tables: Box::default(),
        }
    }

    /// How long the round on the lanes runs or took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        match &self.shown {
            Shown::Waiting => Duration::ZERO,
            Shown::Running(live) => live.elapsed(self.now),
            Shown::Over(round) => round.took,
        }
    }

    /// The number of the round on the lanes.
    #[must_use]
    pub fn round_no(&self) -> Option<RoundNo> {
        match &self.shown {
            Shown::Waiting => None,
            Shown::Running(live) => Some(live.started.round),
            Shown::Over(round) => Some(round.no),
        }
    }

    /// How far calls have ever reached with the mode and budget that hold, and in the round on the lanes.
    #[must_use]
    pub fn reach(&self) -> Duration {
        self.longest.max(self.elapsed())
    }

    /// The missing table of a window, in an order that changes at most once a second.
    #[must_use]
    pub fn missing_rows(&self, window: Window) -> &[MissingRow] {
        self.tables.missing(window, || {
            let mut rows = self.stats.missing(window);
            rows.sort_by_cached_key(|row| {
                self.order.1.get(&(row.endpoint, row.reason)).copied().unwrap_or(usize::MAX)
            });
            rows
        })
    }

    /// Who held the rounds of a window up.
    #[must_use]
    pub fn blame(&self, window: Window) -> &Blame {
        self.tables.blame(window, &self.stats)
    }

    /// What to do about endpoints, the most frequent first, whatever the profile already has.
    pub(super) fn hints(&self) -> &[Hint] {
        self.tables.hints(&self.stats)
    }

    /// By how many numbers the newest settled round is after this one.
    #[must_use]
    pub fn rounds_after(&self, no: RoundNo) -> u64 {
        self.rounds.back().map_or(0, |newest| newest.no.0.saturating_sub(no.0))
    }

    /// Time passed. Messages may be handled late; the screen's time never goes back.
    pub(super) fn tick(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    /// Puts another of the kept rounds on the lanes. False if there is none that way.
    pub(super) fn go(&mut self, back: bool) -> bool {
        let here = self.round_no().unwrap_or(RoundNo(u64::MAX));
        let next = if back {
            self.rounds.iter().rev().find(|r| r.no < here)
        } else {
            self.rounds.iter().find(|r| r.no > here)
        };
        let next = next.map(Arc::clone);
        let found = next.is_some();
        if let Some(round) = next {
            self.shown = Shown::Over(round);
        }
        found
    }

    /// Whether this round is kept.
    pub(super) fn keeps(&self, no: RoundNo) -> bool {
        self.rounds.iter().any(|r| r.no == no)
    }

    /// Puts this round on the lanes, if it is kept.
    pub(super) fn go_to(&mut self, no: RoundNo) {
        if let Some(round) = self.rounds.iter().find(|r| r.no == no) {
            self.shown = Shown::Over(Arc::clone(round));
        }
    }

    /// Something besides the settings is different from the next round on. Several changes of one thing before
    /// that are one.
    pub(super) fn change(&mut self, change: Change) {
        let joined = self.pending.iter_mut().find_map(|before| Some((before.joined(&change)?, before)));
        if let Some((joined, before)) = joined {
            *before = joined;
        } else if self.pending.len() < MARKS {
            self.pending.push(change);
        }
        self.pending.retain(|change| !change.is_none());
    }

    /// A note belongs to the round that ran or was the last one at its time.
    fn note(&mut self, at: Duration, said: String) {
        let last = self.last.filter(|no| no.0 > 1);
        let before = last.filter(|_| self.since.is_some_and(|since| at < since)).map(|no| RoundNo(no.0 - 1));
        match before.or(self.last) {
            Some(round) => self.mark(round, Change::Note(said)),
            None => self.change(Change::Note(said)),
        }
    }

    fn mark(&mut self, round: RoundNo, change: Change) {
        self.marks.push_back(Mark { round, change });
        self.marks.drain(..self.marks.len().saturating_sub(MARKS));
    }

    /// Forgets the counts, not the rounds.
    pub(super) fn reset(&mut self) {
        self.stats.reset();
        self.marks.clear();
        self.longest = Duration::ZERO;
        self.sample.clear();
        self.order.1.clear();
        self.tables.forget();
    }

    /// Forgets the rounds that can be looked back at, and most of what is estimated from.
    pub(super) fn forget_rounds(&mut self) {
        self.rounds.clear();
        self.sample.keep_last(KEPT_SAMPLE);
    }

    /// Gives the missing table's rows their places by the counts of this window.
    pub(super) fn sort_missing(&mut self, window: Window) {
        let rows = self.stats.missing(window).into_iter().enumerate();
        let places = rows.map(|(place, row)| ((row.endpoint, row.reason), place)).collect();
        self.order = (self.stats.now(), places);
        self.tables.forget();
    }

    /// Takes in what happened to rounds; of each, so many calls are `optional`.
    pub(super) fn engine(&mut self, event: Event, optional: impl FnOnce() -> usize, window: Window) {
        match event {
            Event::RoundStarted(started) => self.started(started, optional()),
            Event::Attempt { round, call, attempt, at, step } => {
                if let Some(live) = self.running(round) {
                    live.step(call, attempt, at, &step);
                }
            }
            Event::CallSettled { round, call, at, outcome } => {
                if let Some(live) = self.running(round) {
                    live.settle(call, at, outcome);
                }
            }
            Event::RoundPublished(round) => {
                if self.running(round.no).is_some() {
                    self.shown = Shown::Over(round);
                }
            }
            Event::RoundSettled { round, vitals } => self.settled(round, vitals, window),
            Event::StartSkipped { total, cause, .. } => self.stats.skipped(total, cause),
            Event::Noted { at, text } => self.note(at, text),
            Event::Late { round, late } => self.late(round, late),
            Event::SettingsChanged { .. } | Event::Failed(_) | Event::Paused(_) => {}
        }
    }

    fn running(&mut self, round: RoundNo) -> Option<&mut LiveRound> {
        match &mut self.shown {
            Shown::Running(live) if live.started.round == round => Some(live),
            _ => None,
        }
    }

    /// Rounds may overlap. The one on the lanes stays until it is over, and then until the next starts:
    /// whoever always showed the newest would never see one reach its deadline.
    fn started(&mut self, started: RoundStarted, optional: usize) {
        let settings = Arc::clone(&started.settings);
        if let Some(before) = self.settings.replace(Arc::clone(&settings)) {
            if !comparable(&before, &settings) {
                self.longest = Duration::ZERO;
            }
            self.pending.extend(Change::between(&before, &settings, optional));
        }
        let round = started.round;
        if self.last < Some(round) {
            (self.last, self.since) = (Some(round), Some(started.at));
        }
        for change in std::mem::take(&mut self.pending) {
            self.mark(round, change);
        }
        self.warming = started.warming;
        if !matches!(self.shown, Shown::Running(_)) {
            self.shown = Shown::Running(LiveRound::new(started, self.endpoints));
        }
    }

    /// What became of a straggler, for whoever looks at its round.
    fn late(&mut self, no: RoundNo, late: Late) {
        self.late += 1;
        self.sample.late(no, late);
        let kept = self.rounds.iter_mut().rev().find(|round| round.no == no);
        let shown = match &mut self.shown {
            Shown::Over(round) if round.no == no => Some(round),
            _ => None,
        };
        for round in kept.into_iter().chain(shown) {
            Arc::make_mut(round).late.push(late);
        }
    }

    fn settled(&mut self, round: Arc<Round>, vitals: Vitals, window: Window) {
        self.tables.forget();
        if round.counts() {
            self.stats.fold(&round, vitals);
            if self.settings.as_ref().is_some_and(|s| comparable(s, &round.settings)) {
                self.longest = self.longest.max(round.took);
            }
        } else {
            self.stats.leave_out(&round, vitals);
        }
        let due = self.stats.now().saturating_sub(self.order.0) >= RESORT;
        if self.order.1.is_empty() || due {
            self.sort_missing(window);
        }
        // Where nothing runs on the lanes, the newest that is over does not stay unseen.
        let shows = match &self.shown {
            Shown::Waiting => false,
            Shown::Running(live) => live.started.round == round.no,
            Shown::Over(shown) => shown.no < round.no,
        };
        if shows {
            self.shown = Shown::Over(Arc::clone(&round));
        }
        self.sample.push(&round);
        // Rounds that overlap may settle out of order.
        let place = self.rounds.iter().rev().take_while(|r| r.no > round.no).count();
        let calls = round.calls.len().max(1);
        let most = (KEPT_CALLS / calls).clamp(1, KEPT_ROUNDS);
        self.rounds.insert(self.rounds.len() - place, round);
        while self.rounds.len() > most {
            self.rounds.pop_front();
        }
        let answers = (KEPT_ANSWERS / calls).max(1);
        let old = self.rounds.len().checked_sub(answers + 1);
        if let Some(round) = old.and_then(|place| self.rounds.get_mut(place)) {
            forget_answers(round);
        }
    }
}

/// Drops what answers said; everything else of the round stays.
fn forget_answers(round: &mut Arc<Round>) {
    let says = |a: &Attempt| a.answer.is_some() || !a.server_timing.is_empty();
    if round.calls.iter().flat_map(|c| &c.attempts).any(says) {
        for attempt in Arc::make_mut(round).calls.iter_mut().flat_map(|c| &mut c.attempts) {
            attempt.answer = None;
            attempt.server_timing = Arc::default();
        }
    }
}

/// Whether times of rounds with these settings can stand on one axis.
fn comparable(a: &Settings, b: &Settings) -> bool {
    let (a, b) = (steady(a), steady(b));
    a.mode == b.mode && a.budget == b.budget
}
