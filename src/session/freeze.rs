//! Stopped and continued: rounds are not blamed for it.
//!
//! A stop halts the whole process, the engine and its clock of deadlines included. A round that is under way then
//! is frozen with the process: when it goes on, its deadline is long past, and whatever it then says was our doing.
//! It is given up at the stop, like one that is abandoned by quitting, and counted nowhere. The engine itself
//! still learns from such a round: its estimate of a hedge delay sees censored calls, its breakers calls that the
//! deadline cut.

use crate::domain::{AttemptOutcome, Call, EndedBy, Event, Outcome, Reason, Round, RoundNo};
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
}

impl Freeze {
    /// The process runs.
    pub(super) fn awake_at(&mut self, now: Duration) {
        self.awake = now;
    }

    /// The process was stopped at this time.
    pub(super) fn stopped_at(&mut self, since: Duration) {
        for frozen in self.under_way.values_mut() {
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
                let given_up = self.given_up(&round);
                self.under_way.remove(&round.no);
                Event::RoundSettled { round: given_up.map_or(round, Arc::new), vitals }
            }
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
