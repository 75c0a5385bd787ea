//! What other budgets, quorums and hedges would have given: what is asked of the estimators, what they answered, and
//! the budget that is looked at among the answers. Knows no worker: whoever runs the loop asks and brings the answer.

use super::{Action, App, Effect, Kind, Picture, Screen};
use crate::domain::{RoundNo, Settings};
use crate::stats::Window;
use crate::whatif::budget::BudgetPoint;
use crate::whatif::outlook::{Outlook, Question};
use crate::whatif::seen::Seen;
use std::sync::Arc;
use std::time::Duration;

/// What a question is about. As long as it stays the same, so does the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// How many rounds are kept, the first and the last.
    rounds: (usize, Option<RoundNo>, Option<RoundNo>),
    /// Of which those within this are looked at; it moves with the last one.
    window: Window,
    /// Stragglers that were told of.
    late: u64,
    /// What the next round is to have.
    settings: Settings,
}

/// The answers, and where one is among them.
#[derive(Debug, Clone)]
pub(super) struct Tradeoff {
    /// The latest answers.
    outlook: Option<Outlook>,
    /// The budget that is looked at; `None`: the one that holds.
    marker: Option<Duration>,
    /// Over which rounds. Its own: what other budgets would have given takes more rounds than the counts of a minute.
    window: Window,
}

impl Default for Tradeoff {
    fn default() -> Self {
        Self { outlook: None, marker: None, window: Window::Start }
    }
}

impl Tradeoff {
    pub(super) fn answered(&mut self, outlook: Outlook) {
        self.outlook = Some(outlook);
    }
}

impl App {
    /// What would be asked now.
    #[must_use]
    pub fn asking(&self) -> Asking {
        let picture = self.picture();
        let rounds = picture.sample.rounds();
        let no = |seen: Option<&Arc<Seen>>| seen.map(|seen| seen.no);
        Asking {
            rounds: (rounds.len(), no(rounds.front()), no(rounds.back())),
            window: self.tradeoff.window,
            late: picture.late,
            settings: self.wanted().clone(),
        }
    }

    /// The question itself, about the rounds of the picture that is looked at.
    #[must_use]
    pub fn question(&self) -> Question {
        Question {
            rounds: self.asked_rounds().map(Arc::clone).collect(),
            now: self.picture().now,
            settings: self.wanted().clone(),
            names: self.names(),
            specs: self.specs.clone(),
        }
    }

    /// Whether the rounds that are asked for end at their budget. Else the curve of budgets is what they would give
    /// if they were cut there, and none of its points is what they do.
    #[must_use]
    pub fn cuts_at_budget(&self) -> bool {
        self.wanted().end_at_budget()
    }

    /// The rounds of the window that are kept, the oldest first.
    fn asked_rounds(&self) -> impl Iterator<Item = &Arc<Seen>> {
        let Picture { sample, stats, .. } = self.picture();
        let window = self.tradeoff.window;
        sample.rounds().iter().filter(move |seen| stats.holds(window, seen.at.saturating_add(seen.took)))
    }

    /// The latest answers; `None` before the first.
    #[must_use]
    pub fn outlook(&self) -> Option<&Outlook> {
        self.tradeoff.outlook.as_ref()
    }

    /// Over which rounds they are: `last 1 min`, `since start`, or `last` where the window has more rounds than
    /// are kept.
    #[must_use]
    pub fn outlook_window(&self) -> &'static str {
        let window = self.tradeoff.window;
        let kept = self.asked_rounds().count() as u64;
        if self.stats().totals(window).rounds > kept { "last" } else { window.title() }
    }

    /// The budget that is looked at, as a place among the points of the curve; `None` where there are none.
    #[must_use]
    pub fn marker(&self) -> Option<usize> {
        let outlook = self.outlook()?;
        let wanted = self.tradeoff.marker.unwrap_or(outlook.budget);
        let points = outlook.budgets.points.iter().enumerate();
        points.min_by_key(|(_, point)| point.budget.abs_diff(wanted)).map(|(place, _)| place)
    }

    /// The point of the curve that is looked at.
    #[must_use]
    pub fn marked(&self) -> Option<&BudgetPoint> {
        self.outlook()?.budgets.points.get(self.marker()?)
    }

    /// Goes to the trade-off, or back from it.
    pub(super) fn toggle_tradeoff(&mut self) {
        self.tradeoff.marker = None;
        self.screen = if self.screen == Screen::Tradeoff { Screen::Dashboard } else { Screen::Tradeoff };
    }

    /// An action that is another one in the trade-off; `None` for those that are the same everywhere.
    pub(super) fn in_tradeoff(&mut self, action: Action) -> Option<Vec<Effect>> {
        if self.screen != Screen::Tradeoff {
            return None;
        }
        match action {
            Action::BudgetDown | Action::ShortBack | Action::MarkerDown => self.mark_by(-1),
            Action::BudgetUp | Action::ShortAhead | Action::MarkerUp => self.mark_by(1),
            Action::First => self.mark_by(isize::MIN),
            Action::Last => self.mark_by(isize::MAX),
            Action::Detail => return Some(self.use_marked()),
            Action::Window => self.tradeoff.window = next(self.tradeoff.window),
            // There are no lanes and no panels to choose from.
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::Panel => {}
            _ => return None,
        }
        Some(Vec::new())
    }

    fn mark_by(&mut self, steps: isize) {
        let Some(here) = self.marker() else { return };
        let points = self.outlook().map_or(&[][..], |outlook| &outlook.budgets.points);
        let to = here.saturating_add_signed(steps).min(points.len().saturating_sub(1));
        self.tradeoff.marker = points.get(to).map(|point| point.budget);
    }

    /// Looks at this budget, or at the nearest one that there is.
    pub(super) fn mark(&mut self, budget: Duration) {
        self.tradeoff.marker = Some(budget);
    }

    /// Makes the budget that is looked at the one that holds. It may not be longer than the request budget allows.
    fn use_marked(&mut self) -> Vec<Effect> {
        let Some(budget) = self.marked().map(|point| point.budget) else { return Vec::new() };
        if self.kind() == Kind::Replay {
            return Vec::new();
        }
        self.change(|s, _| s.budget = budget.clamp(Settings::MIN_BUDGET, s.most_budget()))
    }
}

/// The window after this one.
pub(super) fn next(window: Window) -> Window {
    let place = Window::ALL.iter().position(|&w| w == window).unwrap_or(0);
    Window::ALL[(place + 1) % Window::ALL.len()]
}
