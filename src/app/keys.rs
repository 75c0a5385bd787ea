//! What actions do to the screen's state, and what they ask of the world outside.

use super::actions::offers;
use super::config::{ab_words, by_hand};
use super::page::{Turned, turned};
use super::tradeoff;
use super::tune::{self, Way};
use super::typing::{Typed, TypedLine};
use super::{
    Action, App, Behind, DetailPage, Effect, Gesture, HelpPage, Key, KeyCode, Kind, Notice, PAGE, Pace,
    Panel, Screen, Shown, Target,
};
use crate::domain::{FaultSwitch, Mode, RoundNo, Seek, Settings, text};

/// Most characters of a note.
const LONGEST_NOTE: usize = 200;

/// Rows that a turn of the wheel scrolls.
const WHEEL: usize = 3;

impl App {
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        // The help is coloured, too.
        if action == Action::Theme {
            self.next_theme();
            return Vec::new();
        }
        if let Screen::Help { top, behind } = self.screen {
            return self.help(top, behind, action);
        }
        if let Screen::Page { top, behind } = self.screen {
            return self.in_page(top, behind, action);
        }
        if !offers(self.kind(), action) {
            return Vec::new();
        }
        if let Some(effects) = self.in_story(action) {
            return effects;
        }
        if let Some(effects) = self.in_tradeoff(action).or_else(|| self.replay(action)) {
            return effects;
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
            Action::Probe => return self.change(|s, _| s.probe = tune::next_probe(s.probe)),
            Action::Pause => return self.pause(),
            Action::Step => return self.step(),
            Action::Fault => return self.next_fault(),
            Action::Record => return vec![Effect::Record],
            Action::Export => return vec![Effect::Export],
            Action::Reload => return vec![Effect::Reload],
            Action::Copy => return self.copy(),
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::Quit => return vec![Effect::Quit],
            _ => self.look(action),
        }
        Vec::new()
    }

    /// Actions that change only what is looked at.
    fn look(&mut self, action: Action) {
        if let Screen::Detail(top) = self.screen
            && let Some(top) = DetailPage::of(self, self.size.0, self.size.1).scrolled(top, action)
        {
            self.read_on(top);
            return;
        }
        match action {
            Action::Up => self.select_by(-1),
            Action::Down => self.select_by(1),
            Action::PageUp => self.select_by(-PAGE),
            Action::PageDown => self.select_by(PAGE),
            Action::First => self.select_by(isize::MIN),
            Action::Last => self.select_by(isize::MAX),
            Action::Detail => self.open_detail(),
            Action::Tradeoff => self.toggle_tradeoff(),
            Action::Help => {
                self.screen = Screen::Help { top: 0, behind: self.behind() };
            }
            Action::Back => self.back(),
            Action::Reset => self.reset(),
            Action::Freeze if self.frozen.is_some() => self.thaw(),
            Action::Freeze => self.freeze(),
            Action::Earlier => self.earlier(),
            Action::Later => self.later(),
            Action::Window => self.next_window(),
            Action::Sort => {
                self.lineup.sort_by_next();
                self.arrange();
            }
            Action::Filter => self.filter(),
            Action::Glossary => self.open_glossary(),
            Action::Palette => self.open_palette(),
            Action::Note => self.note = Some(TypedLine::new(LONGEST_NOTE)),
            Action::Panel => self.next_panel(),
            _ => {}
        }
    }

    /// The selected call in detail, where there is one in sight.
    pub(super) fn open_detail(&mut self) {
        if !self.lineup.lanes().is_empty() {
            self.lineup.keep();
            self.screen = Screen::Detail(0);
        }
    }

    /// A key while the help is on the screen.
    fn help(&mut self, top: usize, behind: Behind, action: Action) -> Vec<Effect> {
        let page = HelpPage::of(self, self.size.0, self.size.1);
        match turned(top, (page.rows, page.end()), action, Action::Help) {
            Turned::To(top) => self.screen = Screen::Help { top, behind },
            Turned::Closed => self.screen = behind.screen(),
            Turned::Asks(effect) => return vec![effect],
        }
        Vec::new()
    }

    /// Out of the innermost thing that was gone into: the detail, the frozen picture, the filter.
    fn back(&mut self) {
        if self.screen != Screen::Dashboard {
            self.screen = Screen::Dashboard;
        } else if self.frozen.is_some() {
            self.thaw();
        } else if !self.lineup.filter().is_empty() {
            self.lineup.clear();
            self.arrange();
        }
    }

    fn freeze(&mut self) {
        self.frozen.get_or_insert_with(|| Box::new(self.live.clone()));
    }

    pub(super) fn thaw(&mut self) {
        self.frozen = None;
        self.arrange();
    }

    /// Freezes the picture, so that it stays while one looks at it, and goes a round back.
    pub(super) fn earlier(&mut self) {
        if self.live.rounds.is_empty() {
            return;
        }
        self.freeze();
        if let Some(frozen) = &mut self.frozen {
            frozen.go(true);
        }
    }

    /// Goes a round forward; past the newest, back to what is live.
    pub(super) fn later(&mut self) {
        if let Some(frozen) = &mut self.frozen
            && !frozen.go(false)
        {
            self.thaw();
        }
    }

    fn go_to(&mut self, no: RoundNo) -> Vec<Effect> {
        // The history is longer than what is kept whole; a recording has the rest.
        if !self.picture().keeps(no) {
            return if self.kind() == Kind::Replay { self.seek(Seek::Round(no)) } else { Vec::new() };
        }
        self.freeze();
        if let Some(frozen) = &mut self.frozen {
            frozen.go_to(no);
        }
        Vec::new()
    }

    fn next_window(&mut self) {
        self.window = tradeoff::next(self.window);
        self.live.sort_missing(self.window);
        if let Some(frozen) = &mut self.frozen {
            frozen.sort_missing(self.window);
        }
        self.arrange();
    }

    fn next_panel(&mut self) {
        let here = self.panel();
        let place = Panel::ALL.iter().position(|&p| p == here).unwrap_or(0);
        self.panel = Some(Panel::ALL[(place + 1) % Panel::ALL.len()]);
    }

    fn filter(&mut self) {
        self.screen = Screen::Dashboard;
        self.lineup.start_typing();
    }

    /// What is being typed is over: a note is dropped, a filter kept.
    pub(super) fn stop_typing(&mut self) {
        (self.note, self.palette) = (None, None);
        self.lineup.keep();
    }

    /// A key while something is typed. While it is the filter, arrows and page keys still move along the lanes.
    pub(super) fn typed(&mut self, key: Key) -> Vec<Effect> {
        if let Some(note) = &mut self.note {
            let (typed, said) = (note.typed(key), text::clean(note.text()));
            if typed != Typed::GoesOn {
                self.note = None;
            }
            let keeps = typed == Typed::Kept && !said.is_empty();
            return if keeps { vec![Effect::Note(said)] } else { Vec::new() };
        }
        if self.palette.is_some() {
            return self.in_palette(key);
        }
        match (key.code, self.keymap.action_for(self.kind(), key)) {
            (KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown, Some(action)) => {
                return self.act(action);
            }
            _ => self.lineup.typed(key),
        }
        self.arrange();
        Vec::new()
    }

    /// Pasted text is text where text is asked for, and nothing elsewhere: it holds no commands.
    pub(super) fn pasted(&mut self, text: &str) {
        if let Some(note) = &mut self.note {
            note.pasted(text);
        } else if self.pasted_into_palette(text) {
            // It has it.
        } else if self.is_typing() {
            self.lineup.pasted(text);
            self.arrange();
        }
    }

    /// The mouse: a click selects, a second one opens; the wheel moves along what it is over.
    pub(super) fn pointed(&mut self, gesture: Gesture, target: Target) -> Vec<Effect> {
        match (gesture, target) {
            (Gesture::Click, Target::Lane(index)) if self.selected == index => self.open_detail(),
            (Gesture::Click, Target::Lane(index)) => self.select(index),
            (Gesture::Click, Target::WhatIf) => return self.act(Action::Tradeoff),
            (Gesture::Click, Target::Budget(budget)) => self.mark(budget),
            (Gesture::Click, Target::Round(no)) => return self.go_to(no),
            (Gesture::WheelUp, Target::Round(_)) => return self.act(Action::Later),
            (Gesture::WheelDown, Target::Round(_)) => return self.act(Action::Earlier),
            (Gesture::WheelUp, _) => return self.wheel(Action::Up),
            (Gesture::WheelDown, _) => return self.wheel(Action::Down),
            (Gesture::Click, Target::Scrubber(part)) => return self.seek(Seek::Part(part)),
            (Gesture::Click | Gesture::Explain, Target::Word(place)) => return self.explain(place),
            (Gesture::Click, Target::Elsewhere) | (Gesture::Explain, _) => {}
        }
        Vec::new()
    }

    /// Along the lanes or the keys; in the detail of a call, along its rows.
    fn wheel(&mut self, action: Action) -> Vec<Effect> {
        let Screen::Detail(top) = self.screen else { return self.act(action) };
        let end = DetailPage::of(self, self.size.0, self.size.1).end();
        let top = top.min(end);
        let to = if action == Action::Up { top.saturating_sub(WHEEL) } else { top + WHEEL };
        self.read_on(to.min(end));
        Vec::new()
    }

    /// Scrolls the detail to this row. Who reads further down wants what is read to stay: the picture is frozen,
    /// with a round that is over.
    fn read_on(&mut self, top: usize) {
        if top > 0 && self.frozen.is_none() {
            self.freeze();
            if let Some(frozen) = self.frozen.as_mut().filter(|f| matches!(f.shown, Shown::Running(_))) {
                frozen.go(true);
            }
        }
        self.screen = Screen::Detail(top);
    }

    /// Chooses the lanes anew where a round may have changed them. Not behind the detail of a call: it would
    /// become that of another.
    pub(super) fn rearrange(&mut self) {
        if self.screen == Screen::Dashboard && self.lineup.is_due(self.live.stats.now()) {
            self.arrange();
        }
    }

    /// Chooses the lanes anew. Where the selected one is not among them any more, the one in its place is.
    fn arrange(&mut self) {
        let place = self.lineup.lanes().iter().position(|&lane| lane == self.selected).unwrap_or(0);
        let picture = self.frozen.as_deref().unwrap_or(&self.live);
        self.lineup.arrange(&self.endpoints, &picture.stats, self.window);
        let lanes = self.lineup.lanes();
        if !lanes.contains(&self.selected)
            && let Some(&near) = lanes.get(place).or(lanes.last())
        {
            self.selected = near;
        }
    }

    /// Changes the settings of the rounds to come. Builds on what is already pending.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Settings, usize)) -> Vec<Effect> {
        let (optional, mut to) = (self.optional(), self.wanted().clone());
        change(&mut to, optional);
        if to == *self.wanted() {
            return Vec::new();
        }
        tune::settle(&mut to, optional);
        if let Some(ab) = by_hand(self.wanted(), &mut to, optional) {
            self.notice = Some(Notice::Done(format!("A/B {} is over: set by key", ab_words(ab))));
        }
        self.config.ask(to.clone());
        vec![Effect::Apply(to)]
    }

    pub(super) fn pause(&mut self) -> Vec<Effect> {
        let pause = self.pace == Pace::Live;
        self.pace = if pause { Pace::Paused } else { Pace::Live };
        vec![Effect::Pause(pause)]
    }

    /// One round, which is then looked at.
    fn step(&mut self) -> Vec<Effect> {
        self.thaw();
        let mut effects = if self.pace == Pace::Live { self.pause() } else { Vec::new() };
        effects.push(Effect::Step);
        effects
    }

    /// Switches the selected endpoint to its next fault, where it is simulated.
    fn next_fault(&mut self) -> Vec<Effect> {
        let index = self.selected;
        let seen = self.lineup.lanes().contains(&index);
        if !seen || !self.endpoints.get(index).is_some_and(|e| e.simulated) {
            return Vec::new();
        }
        let Some(switch) = self.faults.get(index) else { return Vec::new() };
        let place = FaultSwitch::ALL.iter().position(|s| s == switch).unwrap_or(0);
        let to = FaultSwitch::ALL[(place + 1) % FaultSwitch::ALL.len()];
        self.set_fault(index, to)
    }

    fn select(&mut self, index: usize) {
        self.selected = index.min(self.endpoints.len().saturating_sub(1));
    }

    fn select_by(&mut self, lanes: isize) {
        if let Some(index) = self.lineup.neighbour(self.selected, lanes) {
            self.select(index);
        }
    }

    fn reset(&mut self) {
        self.frozen = None;
        self.live.reset();
        self.arrange();
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
