//! The calls that the chart of rounds shows, one for each round.

use crate::app::{LaneState, Shown};
use crate::domain::{Call, Outcome, Reason, Round, RoundNo};
use crate::view::ctx::Ctx;
use crate::view::limit::Limit;
use crate::view::theme::Tone;
use std::time::Duration;

/// A call in the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dot {
    /// Whose call.
    pub round: RoundNo,
    /// When its round started.
    pub at: Duration,
    /// Where it stands.
    pub time: Duration,
    /// How it came out.
    pub kind: Kind,
}

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answered.
    Ok,
    /// Cut at a time limit.
    Cut,
    /// Missing for another reason.
    Error,
    /// Not needed.
    NotNeeded,
    /// Given up with its round.
    GivenUp,
    /// Not over.
    Running,
}

impl Kind {
    /// All that a legend can explain.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Cut, Self::Error, Self::NotNeeded, Self::GivenUp];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "answered",
            Self::Cut => "cut",
            Self::Error => "error",
            Self::NotNeeded => "not needed",
            Self::GivenUp => "given up",
            Self::Running => "running",
        }
    }

    /// Its glyph and tone.
    pub const fn sign(self, ctx: &Ctx<'_>) -> (&'static str, Tone) {
        match self {
            Self::Ok => (ctx.glyphs.ok, Tone::Ok),
            Self::Cut => (ctx.glyphs.cut, Tone::Cut),
            Self::Error => (ctx.glyphs.error, Tone::Error),
            Self::NotNeeded | Self::GivenUp => (ctx.glyphs.not_needed, Tone::Dim),
            Self::Running => (ctx.glyphs.running, Tone::Running),
        }
    }
}

impl Dot {
    fn of(round: &Round, call: &Call, required: bool) -> Self {
        let (kind, time) = match call.outcome {
            Outcome::Ok => (Kind::Ok, call.end),
            Outcome::NotNeeded => (Kind::NotNeeded, call.end),
            Outcome::Missing(reason) if reason.is_cut() => {
                (Kind::Cut, Limit::of((reason, call.end), required, &round.settings, round.budget).1)
            }
            Outcome::Missing(Reason::Aborted) => (Kind::GivenUp, call.end),
            Outcome::Missing(_) => (Kind::Error, call.end),
        };
        Self { round: round.no, at: round.at, time, kind }
    }

    /// The calls of the kept rounds, as many as fit, with the round on the lanes among them.
    pub fn all(ctx: &Ctx<'_>, most: usize) -> Vec<Self> {
        let app = ctx.app;
        let id = ctx.selected();
        let required = app.endpoints.get(id.index()).is_some_and(|e| e.required);
        let own = |round: &Round| round.calls.get(id.index()).map(|call| Dot::of(round, call, required));
        let rounds = &app.picture().rounds;
        let mut dots: Vec<Dot> = rounds.iter().filter_map(|r| own(r)).collect();
        let shown = match app.shown() {
            Shown::Waiting => None,
            Shown::Running(live) => app.lane(id.index()).map(|lane| Dot {
                round: live.started.round,
                at: live.started.at,
                time: ctx.end(id.index(), &lane),
                kind: match lane.state {
                    LaneState::Running(_) => Kind::Running,
                    LaneState::Ok => Kind::Ok,
                    LaneState::Cut(..) => Kind::Cut,
                    LaneState::Error(_) => Kind::Error,
                    LaneState::NotNeeded => Kind::NotNeeded,
                    LaneState::GivenUp(_) => Kind::GivenUp,
                },
            }),
            Shown::Over(round) => own(round),
        };
        // The one on the lanes may not be among the settled yet.
        if let Some(dot) = shown
            && let Err(place) = dots.binary_search_by_key(&dot.round, |d| d.round)
        {
            dots.insert(place, dot);
        }
        let here = app.round_no().and_then(|no| dots.iter().position(|d| d.round == no));
        let last = dots.len().saturating_sub(most);
        // Looked back at further than fits, it stands in the middle.
        let from = here.map_or(last, |here| if here < last { here.saturating_sub(most / 2) } else { last });
        dots.drain(..from);
        dots.truncate(most);
        dots
    }
}
