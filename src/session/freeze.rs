//! Stopped and continued: rounds are not blamed for it.
//!
//! A stop halts the whole process, the engine and its clock of deadlines included. A round that is under way then
//! is frozen with the process: when it goes on, its deadline is long past, and whatever it then says was our doing.
//! It is given up at the stop, like one that is abandoned by quitting, and counted nowhere. The engine itself
//! finds out where a timer of the round fires far too late, and learns nothing from it (`engine::gaps`). A straggler
//! that was watched at the stop is given up likewise.

use crate::domain::{
    AttemptOutcome, Call, EndedBy, EndpointId, Event, Late, Outcome, Reason, Round, RoundNo,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What has to be known to tell rounds that were frozen with the process from others.
#[derive(Debug, Default)]
pub(super) struct Freeze {
    /// When the process was last seen running; all times from the session's start.
    awake: Duration,
    /// Whether the engine is paused, as far as it has said.
    paused: bool,
    /// Rounds that have started and not settled, and when a stop froze them.
    under_way: BTreeMap<RoundNo, Option<Duration>>,
    /// Rounds that have settled and have calls which are still watched.
    watched: BTreeMap<RoundNo, Stragglers>,
}

/// Rounds with calls that are still watched, at most; an engine has fewer at once.
const WATCHED: usize = 64;

/// The calls of a round that are still watched.
#[derive(Debug)]
struct Stragglers {
    /// When the round started, from the session's start.
    at: Duration,
    /// Each with its cut, from the round's start.
    cut: Vec<(EndpointId, Duration)>,
    /// When a stop froze them, from the session's start.
    frozen: Option<Duration>,
}

impl Stragglers {
    fn of(round: &Round, frozen: Option<Duration>) -> Self {
        let cut = round.calls.iter().filter(|call| is_watched(call)).map(|call| (call.endpoint, call.end));
        Self { at: round.at, cut: cut.collect(), frozen }
    }

    /// What became of one of them, as it is to be told. It is watched no longer.
    fn settle(&mut self, late: Late) -> Late {
        let place = self.cut.iter().position(|(endpoint, _)| *endpoint == late.endpoint);
        let cut = place.map_or(Duration::ZERO, |place| self.cut.swap_remove(place).1);
        match self.frozen.map(|since| since.saturating_sub(self.at)) {
            // What came before the stop may be heard of only now.
            Some(since) if late.end > since => {
                Late { outcome: Outcome::Missing(Reason::Aborted), end: since.max(cut), ..late }
            }
            _ => late,
        }
    }
}

/// Whether a call of a probe round may be watched past it: cut with an attempt that still ran.
fn is_watched(call: &Call) -> bool {
    let given_up = [Reason::Deadline, Reason::Aborted].map(Outcome::Missing).contains(&call.outcome);
    given_up && call.attempts.iter().any(|attempt| attempt.outcome == AttemptOutcome::Cancelled)
}

impl Freeze {
    /// The process runs.
    pub(super) fn awake_at(&mut self, now: Duration) {
        self.awake = now;
    }

    /// The process was stopped at this time.
    pub(super) fn stopped_at(&mut self, since: Duration) {
        let watched = self.watched.values_mut().map(|stragglers| &mut stragglers.frozen);
        for frozen in self.under_way.values_mut().chain(watched) {
            frozen.get_or_insert(since);
        }
    }

    /// When the process was last seen running.
    pub(super) const fn awake(&self) -> Duration {
        self.awake
    }

    /// An event as it is to be told.
    pub(super) fn pass(&mut self, event: Event) -> Event {
        match event {
            Event::Paused(paused) => {
                self.paused = paused;
                event
            }
            Event::RoundStarted(ref started) => {
                self.under_way.insert(started.round, None);
                event
            }
            Event::RoundPublished(round) => {
                Event::RoundPublished(self.given_up(&round).map_or(round, Arc::new))
            }
            Event::RoundSettled { round, vitals } => {
                let told = self.given_up(&round).map_or(round, Arc::new);
                let frozen = self.under_way.remove(&told.no).flatten();
                self.watch(&told, frozen);
                Event::RoundSettled { round: told, vitals }
            }
            Event::Late { round, late } => Event::Late { round, late: self.late(round, late) },
            _ => event,
        }
    }

    /// A round that was under way when the process was stopped, as far as it had come.
    fn given_up(&self, round: &Round) -> Option<Round> {
        // One that ended just before may be heard of only now.
        let since = (*self.under_way.get(&round.no)?)?.saturating_sub(round.at);
        if since >= round.took {
            return None;
        }
        let before = |at: Option<Duration>| at.filter(|&at| at <= since);
        let mut frozen = Round {
            ended_by: EndedBy::Aborted,
            ok: true,
            failed: Vec::new(),
            took: since,
            quorum_at: before(round.quorum_at),
            quorum_impossible_at: before(round.quorum_impossible_at),
            ..round.clone()
        };
        for call in frozen.calls.iter_mut().filter(|call| call.end > since) {
            if call.outcome == Outcome::Ok {
                frozen.answered_optional = frozen.answered_optional.saturating_sub(1);
            }
            break_off(call, since);
        }
        Some(frozen)
    }

    fn watch(&mut self, round: &Round, frozen: Option<Duration>) {
        let stragglers = Stragglers::of(round, frozen);
        if round.probe.is_none() || stragglers.cut.is_empty() {
            return;
        }
        self.watched.insert(round.no, stragglers);
        while self.watched.len() > WATCHED {
            self.watched.pop_first();
        }
    }

    /// What became of a straggler: given up where a stop froze it while it was watched.
    fn late(&mut self, round: RoundNo, late: Late) -> Late {
        let Some(stragglers) = self.watched.get_mut(&round) else { return late };
        let told = stragglers.settle(late);
        if stragglers.cut.is_empty() {
            self.watched.remove(&round);
        }
        told
    }

    /// Whether no round runs and none will start.
    pub(super) fn is_quiet(&self) -> bool {
        self.paused && self.under_way.is_empty()
    }
}

/// What is left of a call of which nothing is believed after this instant.
fn break_off(call: &mut Call, since: Duration) {
    (call.outcome, call.status, call.end) = (Outcome::Missing(Reason::Aborted), None, since);
    (call.winner, call.late_by) = (None, None);
    call.attempts.retain(|attempt| attempt.start <= since);
    for attempt in call.attempts.iter_mut().filter(|attempt| attempt.end > since) {
        attempt.phases = attempt.phases.within(since.saturating_sub(attempt.start));
        (attempt.end, attempt.outcome) = (since, AttemptOutcome::Cancelled);
        (attempt.reason, attempt.detail, attempt.status, attempt.answer) = (None, None, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use crate::domain::event::{RoundStarted, Vitals};
    use crate::stats::fixture as fx;

    fn started(round: &Round) -> Event {
        Event::RoundStarted(RoundStarted {
            round: round.no,
            at: round.at,
            start_lag: round.start_lag,
            settings: Arc::clone(&round.settings),
            budget: round.budget,
            hedge_delays: Vec::new(),
            warming: 0,
        })
    }

    fn settled(round: &Round) -> Event {
        Event::RoundSettled { round: Arc::new(round.clone()), vitals: Vitals::default() }
    }

    /// A round with one answer at 40 ms and one call that the budget of 200 ms cuts.
    fn round(no: u64) -> Round {
        let fates = [fx::Fate::Answers(40.0), fx::Fate::Answers(900.0)];
        fx::round(no, fx::at(no), &Arc::new(fx::settings(Mode::Deadline)), &fates)
    }

    #[test]
    fn a_round_under_way_at_a_stop_is_shown_as_far_as_it_came_and_not_counted() {
        let (mut freeze, round) = (Freeze::default(), round(1));
        freeze.pass(started(&round));
        freeze.stopped_at(round.at + fx::ms(100.0));
        // A second stop before it has ended changes nothing.
        freeze.stopped_at(round.at + fx::ms(190.0));
        let Event::RoundSettled { round: shown, .. } = freeze.pass(settled(&round)) else {
            panic!("not settled");
        };
        assert_eq!(shown.ended_by, EndedBy::Aborted);
        assert!(!shown.counts());
        let outcomes: Vec<Outcome> = shown.calls.iter().map(|c| c.outcome).collect();
        assert_eq!(outcomes, [Outcome::Ok, Outcome::Missing(Reason::Aborted)]);
        assert_eq!(
            (shown.took, shown.calls[1].end),
            (fx::ms(100.0), fx::ms(100.0)),
            "nothing after the stop"
        );
        let cut = &shown.calls[1].attempts[0];
        assert_eq!((cut.end, cut.outcome), (fx::ms(100.0), AttemptOutcome::Cancelled));
        assert_eq!(cut.phases.iter().map(|p| p.1).sum::<Duration>(), fx::ms(100.0));
        assert_eq!(shown.answered() + shown.missing() + shown.not_needed(), shown.calls.len(), "R1");
    }

    #[test]
    fn rounds_before_and_after_a_stop_are_as_they_were() {
        let (mut freeze, before, after) = (Freeze::default(), round(1), round(2));
        freeze.pass(started(&before));
        // It had ended, and was not yet heard of.
        freeze.stopped_at(before.at + before.took);
        assert_eq!(freeze.pass(settled(&before)), settled(&before));
        freeze.pass(started(&after));
        assert_eq!(freeze.pass(settled(&after)), settled(&after));
    }

    /// A probe round like [`round`], with one more call that the budget cuts.
    fn probe_round(no: u64) -> Round {
        let fates = [fx::Fate::Answers(40.0), fx::Fate::Answers(900.0), fx::Fate::Answers(700.0)];
        let settings = Arc::new(fx::settings(Mode::Deadline));
        Round { probe: Some(fx::ms(1000.0)), ..fx::round(no, fx::at(no), &settings, &fates) }
    }

    fn late(freeze: &mut Freeze, no: u64, endpoint: usize, end: f64) -> (Outcome, Duration) {
        let late = Late { endpoint: EndpointId(endpoint), outcome: Outcome::Ok, end: fx::ms(end) };
        match freeze.pass(Event::Late { round: RoundNo(no), late }) {
            Event::Late { late, .. } if late.endpoint.index() == endpoint => (late.outcome, late.end),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn w7_a_straggler_that_a_stop_froze_is_given_up_at_the_stop() {
        let aborted = |end| (Outcome::Missing(Reason::Aborted), fx::ms(end));
        let (mut freeze, round) = (Freeze::default(), probe_round(1));
        freeze.pass(started(&round));
        freeze.pass(settled(&round));
        freeze.stopped_at(round.at + fx::ms(500.0));
        freeze.stopped_at(round.at + fx::ms(800.0));
        // What came before is heard of only now.
        assert_eq!(late(&mut freeze, 1, 2, 500.0), (Outcome::Ok, fx::ms(500.0)));
        assert_eq!(late(&mut freeze, 1, 1, 5900.0), aborted(500.0));
        assert!(freeze.watched.is_empty(), "nothing is kept of what is over");
        assert_eq!(late(&mut freeze, 1, 1, 5900.0), (Outcome::Ok, fx::ms(5900.0)), "nor touched again");

        // The stop came while the round ran, or when it had ended and was not heard of.
        for (stop, end) in [(100.0, 100.0), (250.0, 250.0)] {
            let (mut freeze, round) = (Freeze::default(), probe_round(2));
            freeze.pass(started(&round));
            freeze.stopped_at(round.at + fx::ms(stop));
            freeze.pass(settled(&round));
            assert_eq!(late(&mut freeze, 2, 1, 5900.0), aborted(end));
        }
        // Never before the cut, however the clocks stand.
        let (mut freeze, round) = (Freeze::default(), probe_round(3));
        freeze.pass(settled(&round));
        freeze.stopped_at(round.at + fx::ms(150.0));
        assert_eq!(late(&mut freeze, 3, 1, 5900.0), aborted(200.0));
    }

    #[test]
    fn w7_stragglers_before_and_after_a_stop_are_as_they_were_and_few_are_kept() {
        let (mut freeze, before, after) = (Freeze::default(), probe_round(1), probe_round(2));
        freeze.pass(settled(&before));
        assert_eq!(late(&mut freeze, 1, 1, 900.0), (Outcome::Ok, fx::ms(900.0)));
        freeze.stopped_at(after.at);
        freeze.pass(settled(&after));
        assert_eq!(late(&mut freeze, 2, 1, 900.0), (Outcome::Ok, fx::ms(900.0)));
        (3..1000).for_each(|no| drop(freeze.pass(settled(&probe_round(no)))));
        assert_eq!(freeze.watched.len(), WATCHED);
        freeze.pass(settled(&round(1000)));
        assert!(!freeze.watched.contains_key(&RoundNo(1000)), "it is no probe round");
    }

    #[test]
    fn it_is_quiet_when_paused_with_no_round_under_way() {
        let (mut freeze, round) = (Freeze::default(), round(1));
        freeze.pass(started(&round));
        freeze.pass(Event::Paused(true));
        assert!(!freeze.is_quiet());
        freeze.pass(settled(&round));
        assert!(freeze.is_quiet());
        freeze.pass(Event::Paused(false));
        assert!(!freeze.is_quiet());
    }
}
