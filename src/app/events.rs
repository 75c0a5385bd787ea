//! What the engine's events do to the screen's state.

use super::{App, Change, Health, MARKS, Mark, Pace, REACHES, RESORT, Shown, push};
use crate::app::live::LiveRound;
use crate::domain::event::{RoundStarted, Vitals};
use crate::domain::{Event, Round, RoundNo};
use crate::stats::Window;
use std::sync::Arc;

impl App {
    pub(super) fn engine(&mut self, event: Event) {
        match event {
            Event::RoundStarted(started) => self.started(started),
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
            Event::RoundSettled { round, vitals } => self.settled(&round, vitals),
            Event::StartSkipped { .. } => {}
            Event::SettingsChanged { settings, .. } => self.config.announced(settings),
            Event::Failed(why) => self.fail(&why),
            Event::Paused(paused) => self.pace = if paused { Pace::Paused } else { Pace::Live },
        }
    }

    /// The engine stopped; what was seen stays on the screen.
    pub(super) fn fail(&mut self, why: &str) {
        self.health = Health::Failed(crate::domain::text::clean(why));
    }

    fn running(&mut self, round: RoundNo) -> Option<&mut LiveRound> {
        match &mut self.shown {
            Shown::Running(live) if live.started.round == round => Some(live),
            _ => None,
        }
    }

    /// Rounds may overlap. The one on the lanes stays until it is over, and then until the next starts:
    /// whoever always showed the newest would never see one reach its deadline.
    fn started(&mut self, started: RoundStarted) {
        let before = self.config.live();
        let comparable = before.mode == started.settings.mode && before.budget == started.settings.budget;
        if !comparable {
            self.reaches.clear();
        }
        // Before the first round there is nothing that a mark could divide.
        if self.shown != Shown::Waiting {
            for change in Change::between(before, &started.settings, self.optional()) {
                push(&mut self.marks, Mark { round: started.round, change }, MARKS);
            }
        }
        self.config.started(&started.settings);
        self.warming = started.warming;
        if !matches!(self.shown, Shown::Running(_)) {
            self.shown = Shown::Running(LiveRound::new(started, self.endpoints.len()));
        }
    }

    fn settled(&mut self, round: &Arc<Round>, vitals: Vitals) {
        self.stats.fold(round, vitals);
        let live = self.config.live();
        if round.settings.mode == live.mode && round.settings.budget == live.budget {
            push(&mut self.reaches, round.took, REACHES);
        }
        let now = self.stats.now();
        if self.order.1.is_empty() || now.saturating_sub(self.order.0) >= RESORT {
            let rows = self.stats.missing(Window::Minute).into_iter().enumerate();
            self.order = (now, rows.map(|(place, row)| ((row.endpoint, row.reason), place)).collect());
        }
        if self.round_no() == Some(round.no) {
            self.shown = Shown::Over(Arc::clone(round));
        }
    }
}
