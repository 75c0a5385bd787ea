//! Stopped and continued: the terminal goes to the shell and comes back, and rounds are not blamed for it.
//!
//! A stop halts the whole process, the engine and its clock of deadlines included. So rounds are paused first, and
//! those under way get a moment to end. One that does not is frozen with the process: when it goes on, its
//! deadline is long past, and whatever it then says was our doing. It is shown as aborted from the stop on and
//! counted nowhere, like a round that is given up by quitting. The engine itself still learns from such a round: its
//! estimate of a hedge delay sees censored calls, its breakers calls that the deadline cut. A stop from outside that
//! can't be caught (SIGSTOP) gives no moment at all; its missed starts are skipped starts, as for any other time in
//! which the process could not run.

use super::job::is_foreground;
use super::run::{Leave, Loop};
use super::surface::Surface;
use crate::app::Pace;
use crate::domain::{AttemptOutcome, Call, EndedBy, Event, Outcome, Reason, Round, RoundNo};
use crate::engine::Command;
use crossterm::event::Event as Input;
use futures_util::{FutureExt, Stream};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long a stop waits for rounds under way.
const MOMENT: Duration = Duration::from_millis(100);

/// After going on in the background: when every signal of before has been heard.
const SETTLED: Duration = Duration::from_millis(250);

/// What has to be known to tell rounds that were frozen with the process from others.
#[derive(Debug, Default)]
pub(super) struct Freeze {
    /// When the process was last seen running; all times from the session's start.
    awake: Duration,
    /// Whether a stop is being prepared.
    stopping: bool,
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
    fn stopped_at(&mut self, since: Duration) {
        for frozen in self.under_way.values_mut() {
            frozen.get_or_insert(since);
        }
    }

    /// An event as the app is to have it.
    pub(super) fn pass(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Paused(paused) => {
                self.paused = paused;
                // Paused for a stop is not paused by a key.
                (!self.stopping).then_some(event)
            }
            Event::RoundStarted(ref started) => {
                self.under_way.insert(started.round, None);
                Some(event)
            }
            Event::RoundPublished(round) => {
                Some(Event::RoundPublished(self.given_up(&round).map_or(round, Arc::new)))
            }
            Event::RoundSettled { round, vitals } => {
                let given_up = self.given_up(&round);
                self.under_way.remove(&round.no);
                Some(match given_up {
                    // Only published: shown, but not counted.
                    Some(frozen) => Event::RoundPublished(Arc::new(frozen)),
                    None => Event::RoundSettled { round, vitals },
                })
            }
            _ => Some(event),
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

    fn is_quiet(&self) -> bool {
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

impl<S, I> Loop<'_, S, I>
where
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    /// Stops the process, with the terminal given back, until it is continued in the foreground.
    pub(super) async fn suspend(&mut self) -> Option<Leave> {
        self.freeze.stopping = true;
        self.command(Command::Pause(true));
        let left = tokio::time::timeout(MOMENT, self.quiet()).await.ok().flatten();
        if left.is_some() {
            return left;
        }
        self.freeze.stopped_at(self.session.elapsed());
        self.surface.give_back();
        self.job.stop().await;
        self.come_back().await
    }

    /// Continued after a stop that could not be caught: a shell may have had the terminal meanwhile.
    pub(super) async fn continued(&mut self) -> Option<Leave> {
        self.freeze.stopped_at(self.freeze.awake);
        self.come_back().await
    }

    /// Takes in what the engine says until it is paused and no round is under way.
    async fn quiet(&mut self) -> Option<Leave> {
        while !self.freeze.is_quiet() {
            let event = self.session.next().await;
            // An engine that has ended is as quiet as can be.
            let ended = event.is_none();
            if let Some(left) = self.events(event) {
                return Some(left);
            }
            if ended {
                break;
            }
        }
        None
    }

    /// Takes the terminal again. In the background it is the shell's: touching it there would stop the process
    /// in the midst of it, and then a signal that ends it would not be heard.
    async fn come_back(&mut self) -> Option<Leave> {
        loop {
            if let Some(signal) = self.signals.next().now_or_never() {
                return Some(Leave::Signal(signal));
            }
            if is_foreground() {
                break;
            }
            // A signal that was sent before the one to go on may be heard after it, and must not be slept through.
            if let Ok(signal) = tokio::time::timeout(SETTLED, self.signals.next()).await {
                return Some(Leave::Signal(signal));
            }
            if !is_foreground() {
                self.job.stop_again().await;
            }
        }
        if self.surface.take_again().is_err() {
            return Some(Leave::Gone);
        }
        let left = self.measure();
        if std::mem::take(&mut self.freeze.stopping) && self.app.pace == Pace::Live {
            self.command(Command::Pause(false));
        }
        left
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
        let Some(Event::RoundPublished(shown)) = freeze.pass(settled(&round)) else {
            panic!("counted");
        };
        assert_eq!(shown.ended_by, EndedBy::Aborted);
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
        assert_eq!(freeze.pass(settled(&before)), Some(settled(&before)));
        freeze.pass(started(&after));
        assert_eq!(freeze.pass(settled(&after)), Some(settled(&after)));
    }

    #[test]
    fn a_pause_for_a_stop_is_no_pause_of_the_apps_and_rounds_that_run_are_waited_for() {
        let (mut freeze, round) = (Freeze { stopping: true, ..Freeze::default() }, round(1));
        freeze.pass(started(&round));
        assert_eq!(freeze.pass(Event::Paused(true)), None);
        assert!(!freeze.is_quiet());
        freeze.pass(settled(&round));
        assert!(freeze.is_quiet());
        freeze.stopping = false;
        assert_eq!(freeze.pass(Event::Paused(false)), Some(Event::Paused(false)));
        assert!(!freeze.is_quiet());
    }
}
