//! What actions do to the screen's state, and what they ask of the world outside.

use super::tune::{self, Way};
use super::{Action, App, Effect, PAGE, Pace, Screen, actions};
use crate::domain::{Mode, Settings};

/// Columns of a line of the help.
const HELP_COLUMN: u16 = 39;

/// Lines of the help that explain signs rather than keys.
const HELP_SIGNS: usize = 9;

impl App {
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        if let Screen::Help(top) = self.screen {
            match action {
                Action::Back | Action::Help => self.screen = Screen::Dashboard,
                Action::Up => self.screen = Screen::Help(top.saturating_sub(1)),
                Action::Down => self.screen = Screen::Help((top + 1).min(self.help_end())),
                Action::Quit => return vec![Effect::Quit],
                Action::Redraw => return vec![Effect::Redraw],
                _ => {}
            }
            return Vec::new();
        }
        match action {
            Action::Mode(mode) => return self.change(|s, optional| set_mode(s, mode, optional)),
            Action::NextMode => return self.change(|s, n| s.mode = tune::next_mode(s.mode, n)),
            Action::BudgetDown => return self.change(|s, _| tune::budget(s, Way::Down)),
            Action::BudgetUp => return self.change(|s, _| tune::budget(s, Way::Up)),
            Action::NumberDown => return self.change(|s, n| own_number(s, n, Way::Down)),
            Action::NumberUp => return self.change(|s, n| own_number(s, n, Way::Up)),
            Action::PeriodDown => return self.change(|s, _| tune::period(s, Way::Down)),
            Action::PeriodUp => return self.change(|s, _| tune::period(s, Way::Up)),
            Action::Pause => return self.pause(),
            Action::Step => return self.step(),
            Action::Up => self.select(self.selected.saturating_sub(1)),
            Action::Down => self.select(self.selected.saturating_add(1)),
            Action::PageUp => self.select(self.selected.saturating_sub(PAGE)),
            Action::PageDown => self.select(self.selected.saturating_add(PAGE)),
            Action::First => self.select(0),
            Action::Last => self.select(usize::MAX),
            Action::Help => self.screen = Screen::Help(0),
            Action::Back => {}
            Action::Reset => self.reset(),
            Action::Redraw => return vec![Effect::Redraw],
            Action::Quit => return vec![Effect::Quit],
        }
        Vec::new()
    }

    /// Where scrolling the help ends: about with its last line in sight. The view has the exact place.
    fn help_end(&self) -> usize {
        let (width, height) = self.size;
        let in_sight = usize::from(height.saturating_sub(4)) * usize::from((width / HELP_COLUMN).max(1));
        (actions::BINDINGS.len() + HELP_SIGNS).saturating_sub(in_sight)
    }

    /// Changes the settings of the rounds to come. Builds on what is already pending.
    fn change(&mut self, change: impl FnOnce(&mut Settings, usize)) -> Vec<Effect> {
        let (optional, mut to) = (self.optional(), self.wanted().clone());
        change(&mut to, optional);
        if to == *self.wanted() {
            return Vec::new();
        }
        tune::settle(&mut to, optional);
        self.config.ask(to.clone());
        vec![Effect::Apply(to)]
    }

    fn pause(&mut self) -> Vec<Effect> {
        let pause = self.pace == Pace::Live;
        self.pace = if pause { Pace::Paused } else { Pace::Live };
        vec![Effect::Pause(pause)]
    }

    fn step(&mut self) -> Vec<Effect> {
        let mut effects = if self.pace == Pace::Live { self.pause() } else { Vec::new() };
        effects.push(Effect::Step);
        effects
    }

    fn select(&mut self, index: usize) {
        self.selected = index.min(self.endpoints.len().saturating_sub(1));
    }

    fn reset(&mut self) {
        self.stats.reset();
        self.marks.clear();
        self.reaches.clear();
        self.order.1.clear();
    }
}

fn set_mode(settings: &mut Settings, mode: Mode, optional: usize) {
    if tune::allowed(mode, optional) {
        settings.mode = mode;
    }
}

fn own_number(settings: &mut Settings, optional: usize, way: Way) {
    match settings.mode {
        Mode::Quorum => tune::quorum(settings, optional, way),
        Mode::Hedge => tune::hedge_delay(settings, way),
        Mode::Deadline | Mode::WaitAll | Mode::FailFast => {}
    }
}
