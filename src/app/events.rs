//! What the engine's events do to the screen's state.

use super::{App, Health, Pace, optional};
use crate::domain::Event;

impl App {
    pub(super) fn engine(&mut self, event: Event) {
        self.config.take(&event);
        match &event {
            Event::Failed(why) => self.fail(why),
            Event::Paused(paused) => self.pace = if *paused { Pace::Paused } else { Pace::Live },
            _ => {}
        }
        let settled = matches!(event, Event::RoundSettled { .. });
        let endpoints = &self.endpoints;
        self.live.engine(event, || optional(endpoints), self.window);
        if settled && self.frozen.is_none() {
            self.rearrange();
        }
    }

    /// The engine stopped; what was seen stays on the screen.
    pub(super) fn fail(&mut self, why: &str) {
        self.health = Health::Failed(crate::domain::text::clean(why));
    }
}
