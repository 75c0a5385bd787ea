//! What actions do to the screen's state, and what they ask of the world outside.

use super::tune::{self, Way};
use super::{Action, App, Effect, HelpPage, PAGE, Pace, Screen};
use crate::domain::{Mode, Settings};

impl App {
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        if let Screen::Help(top) = self.screen {
            return self.scroll(top, action);
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
            Action::Suspend => return vec![Effect::Suspend],
            Action::Quit => return vec![Effect::Quit],
        }
        Vec::new()
    }

    /// A key while the help is on the screen.
    fn scroll(&mut self, top: usize, action: Action) -> Vec<Effect> {
        let page = HelpPage::of(self.size.0, self.size.1);
        // The terminal may have grown since the last key.
        let (end, rows) = (page.end(), page.rows);
        let top = top.min(end);
        let to = match action {
            Action::Up => top.saturating_sub(1),
            Action::Down => top + 1,
            Action::PageUp => top.saturating_sub(rows),
            Action::PageDown => top + rows,
            Action::First => 0,
            Action::Last => end,
            Action::Back | Action::Help => {
                self.screen = Screen::Dashboard;
                return Vec::new();
            }
            Action::Quit => return vec![Effect::Quit],
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            _ => top,
        };
        self.screen = Screen::Help(to.min(end));
        Vec::new()
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
