//! What the screen looks at: the live picture or a frozen one, and the round on its lanes.

use super::typing::TypedLine;
use super::{App, Health, Kind, Lane, Outline, Panel, Picture, Shown};
use crate::domain::{Arm, Mode, Round, RoundNo, Settings, Variant};
use crate::stats::{Blame, Hint, MissingRow, Remedy, Stats};
use std::sync::Arc;
use std::time::Duration;

impl App {
    /// The profile's name.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// The endpoints' names, in profile order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.endpoints.iter().map(|endpoint| endpoint.name.clone()).collect()
    }

    /// The picture that is looked at.
    #[must_use]
    pub fn picture(&self) -> &Picture {
        self.frozen.as_deref().unwrap_or(&self.live)
    }

    /// How many rounds have settled since the one on the lanes, where the picture is frozen.
    #[must_use]
    pub fn rounds_back(&self) -> Option<u64> {
        let frozen = self.frozen.as_deref()?;
        Some(frozen.round_no().map_or(0, |no| self.live.rounds_after(no)))
    }

    /// The counts that are shown.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.picture().stats
    }

    /// What to do about endpoints (R42), the most frequent first. Nobody is told to add what is there.
    pub fn hints(&self) -> impl Iterator<Item = &Hint> {
        self.advised(self.picture())
    }

    /// The hints of this picture that the profile does not already follow.
    pub(super) fn advised<'a>(&'a self, picture: &'a Picture) -> impl Iterator<Item = &'a Hint> {
        let breaker = |hint: &Hint| self.endpoints.get(hint.endpoint.index()).is_some_and(|e| e.breaker);
        picture.hints().iter().filter(move |hint| hint.remedy != Remedy::AddBreaker || !breaker(hint))
    }

    /// The round on the lanes.
    #[must_use]
    pub fn shown(&self) -> &Shown {
        &self.picture().shown
    }

    /// Its number.
    #[must_use]
    pub fn round_no(&self) -> Option<RoundNo> {
        self.picture().round_no()
    }

    /// How long it runs or took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.picture().elapsed()
    }

    /// How far calls have ever reached with the mode and budget that hold, and in the round on the lanes.
    #[must_use]
    pub fn reach(&self) -> Duration {
        self.picture().reach()
    }

    /// The missing table of the chosen window, in an order that changes at most once a second.
    #[must_use]
    pub fn missing_rows(&self) -> &[MissingRow] {
        self.picture().missing_rows(self.window)
    }

    /// Who held the rounds of the chosen window up.
    #[must_use]
    pub fn blame(&self) -> &Blame {
        self.picture().blame(self.window)
    }

    /// Whether something on screen moves with time alone, so that frames are worth drawing.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        // In a recording time goes by also between rounds, and does not while one stands still.
        let moves = match self.kind() {
            Kind::Live => self.frozen.is_none() && matches!(self.live.shown, Shown::Running(_)),
            Kind::Replay => self.is_playing(),
        };
        moves && self.health == Health::Running
    }

    /// Whether keys are text at the moment.
    #[must_use]
    pub const fn is_typing(&self) -> bool {
        self.lineup.is_typing() || self.note.is_some() || self.palette.is_some()
    }

    /// The note that is being typed.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_ref().map(TypedLine::text)
    }

    /// The round on the lanes, where it is over.
    #[must_use]
    pub fn round(&self) -> Option<&Arc<Round>> {
        if let Shown::Over(round) = self.shown() { Some(round) } else { None }
    }

    /// That the round on the lanes only warms up: its number, and how many do where that is known.
    #[must_use]
    pub fn warming_up(&self) -> Option<(RoundNo, Option<u64>)> {
        let no = self.round_no()?;
        if no.0 <= self.warmup {
            return Some((no, Some(self.warmup)));
        }
        self.round().filter(|round| round.warmup).map(|_| (no, None))
    }

    /// The settings of the round on the lanes; before the first, those it will have.
    #[must_use]
    pub fn round_settings(&self) -> &Settings {
        match self.shown() {
            Shown::Waiting => self.config.live(),
            Shown::Running(live) => &live.started.settings,
            Shown::Over(round) => &round.settings,
        }
    }

    /// The optional budget of the round on the lanes.
    #[must_use]
    pub fn round_budget(&self) -> Duration {
        match self.shown() {
            Shown::Waiting => self.config.live().effective_budget().0,
            Shown::Running(live) => live.started.budget,
            Shown::Over(round) => round.budget,
        }
    }

    /// The mode that the screen is laid out for. Where rounds of two modes take turns it is one for both: nothing
    /// moves from round to round.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let settings = self.round_settings();
        match settings.ab.map(|ab| [ab.a, ab.b]) {
            Some([Variant::Mode(a), Variant::Mode(b)]) => {
                if b == Mode::Hedge {
                    b
                } else {
                    a
                }
            }
            _ => settings.mode,
        }
    }

    /// The budget that the time axis is made for: of two that take turns, the larger.
    #[must_use]
    pub fn longest_budget(&self) -> Duration {
        let settings = self.round_settings();
        let arms = [1, 2].map(|no| settings.of_round(no).0.effective_budget().0);
        let arms = arms.into_iter().filter(|_| settings.ab.is_some());
        arms.fold(self.round_budget(), Duration::max)
    }

    /// Whose turn the round on the lanes is, where two variants take turns, and what it has.
    #[must_use]
    pub fn turn(&self) -> Option<(Arm, Variant)> {
        let ab = self.round_settings().ab?;
        let arm = match self.shown() {
            Shown::Over(round) => round.arm,
            Shown::Running(_) | Shown::Waiting => None,
        };
        let arm = arm.or_else(|| self.round_no().map(|no| Arm::of(no.0)))?;
        Some((arm, *ab.of(arm)))
    }

    /// An endpoint's call as its lane shows it; `None` before the first round.
    #[must_use]
    pub fn lane(&self, index: usize) -> Option<Lane> {
        match self.shown() {
            Shown::Waiting => None,
            Shown::Over(round) => round.calls.get(index).map(Lane::of_call),
            Shown::Running(live) => {
                // A call that the budget will cut never shows more than the budget, however late the news.
                let cut = !live.started.settings.mode.ignores_budget() && !self.is_required(index);
                let elapsed = self.elapsed();
                Lane::of_live(live, index, if cut { elapsed.min(live.started.budget) } else { elapsed })
            }
        }
    }

    /// What its lane comes to, for one that is not in sight; `None` before the first round.
    #[must_use]
    pub fn outline(&self, index: usize) -> Option<Outline> {
        match self.shown() {
            Shown::Waiting => None,
            Shown::Over(round) => round.calls.get(index).map(Outline::of_call),
            Shown::Running(live) => live.calls.get(index).map(Outline::of_live),
        }
    }

    fn is_required(&self, index: usize) -> bool {
        self.endpoints.get(index).is_some_and(|e| e.required)
    }

    /// Whether calls of the round on the lanes may run past its budget.
    #[must_use]
    pub fn may_pass_budget(&self) -> bool {
        let settings = self.round_settings();
        let passes = |no| settings.of_round(no).0.mode.ignores_budget();
        passes(1) || passes(2) || self.endpoints.iter().any(|e| e.required)
    }

    /// The panel to show where there is room for one: the one asked for, else the one that suits the mode.
    #[must_use]
    pub fn panel(&self) -> Panel {
        self.panel.unwrap_or(match self.mode() {
            Mode::Hedge => Panel::Hedges,
            _ => Panel::Missing,
        })
    }
}
