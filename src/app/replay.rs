//! A recording on the screen: what comes of its events, how far it has come, and keys that live rounds don't have.

use super::{Action, App, Config, Effect, Pace, Picture, Setup, Shown, optional};
use crate::domain::{Event, PlayState, Playback, RoundNo, Seek, Speed};
use crate::stats::Window;
use std::time::Duration;

/// Everything that events of a session make of the screen. Whoever goes through a recording keeps copies of it, and
/// the screen takes one over to be at that place.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub(super) picture: Picture,
    pub(super) config: Config,
    optional: usize,
}

impl Scene {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        Self {
            picture: Picture::new(setup.endpoints.len(), setup.what_if_rounds),
            config: Config::new(setup.settings.clone()),
            optional: optional(&setup.endpoints),
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self, event: Event) {
        self.config.take(&event);
        // The order of the missing table is made anew for the window that is looked at.
        let optional = self.optional;
        self.picture.engine(event, || optional, Window::Start);
    }

    /// Forgets the rounds that can be looked back at, not what came of them, and all but the latest to estimate from.
    pub fn forget_rounds(&mut self) {
        self.picture.forget_rounds();
    }
}

/// The recording that is on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Wall time of its start, as it says.
    pub started: String,
    /// How far it has come.
    pub playback: Playback,
    /// Whether a round was asked for that the player has not come to yet.
    pub(super) going: bool,
}

/// How far the short way goes.
const SHORT: Duration = Duration::from_secs(10);

/// How far the long way goes.
const LONG: Duration = Duration::from_secs(60);

impl App {
    /// A screen for a recording, whose first line says when it was started.
    #[must_use]
    pub fn of_recording(setup: Setup, started: String, speed: Speed) -> Self {
        let playback = Playback { speed, ..Playback::default() };
        Self { recorded: Some(Recorded { started, playback, going: false }), ..Self::new(setup) }
    }

    /// The recording on the screen, where it is one.
    #[must_use]
    pub const fn recorded(&self) -> Option<&Recorded> {
        self.recorded.as_ref()
    }

    /// How far it has come.
    #[must_use]
    pub fn playback(&self) -> Option<&Playback> {
        self.recorded.as_ref().map(|recorded| &recorded.playback)
    }

    /// Whether time goes by in a recording, so that where it is moves.
    pub(super) fn is_playing(&self) -> bool {
        let moves = |p: &Playback| p.state == PlayState::Playing || p.indexed.is_some();
        self.playback().is_some_and(moves)
    }

    pub(super) fn played(&mut self, playback: Playback) {
        self.live.tick(playback.position);
        if let Some(recorded) = &mut self.recorded {
            recorded.playback = playback;
        }
    }

    /// Is at another place of the recording.
    pub(super) fn jumped(&mut self, scene: Scene, round: Option<RoundNo>) {
        (self.live, self.config) = (scene.picture, scene.config);
        self.live.sort_missing(self.window);
        self.arrived(round);
    }

    /// Shows what is there, or the round that was asked for.
    pub(super) fn arrived(&mut self, round: Option<RoundNo>) {
        let going = self.recorded.as_mut().is_some_and(|recorded| std::mem::take(&mut recorded.going));
        if let Some(round) = round {
            self.live.go_to(round);
        }
        // Where there is no such round, what is looked at stays.
        if !going || round.is_some() {
            self.thaw();
        }
    }

    /// An action that a recording has of its own; `None` for one that is the same for live rounds.
    pub(super) fn replay(&mut self, action: Action) -> Option<Vec<Effect>> {
        let speed = self.playback()?.speed;
        Some(match action {
            Action::Slower => self.speed(speed.slower()),
            Action::Faster => self.speed(speed.faster()),
            Action::ShortBack => self.seek(Seek::Back(SHORT)),
            Action::ShortAhead => self.seek(Seek::Ahead(SHORT)),
            Action::LongBack => self.seek(Seek::Back(LONG)),
            Action::LongAhead => self.seek(Seek::Ahead(LONG)),
            Action::Tenth(tenth) => self.seek(Seek::Part(u16::from(tenth.min(10)) * 100)),
            Action::Earlier => self.scrub_back(),
            Action::Later => self.scrub_ahead(),
            _ => return None,
        })
    }

    fn speed(&mut self, speed: Speed) -> Vec<Effect> {
        if let Some(recorded) = &mut self.recorded {
            recorded.playback.speed = speed;
        }
        vec![Effect::Speed(speed)]
    }

    /// Goes somewhere; what was frozen belongs to another place.
    pub(super) fn seek(&mut self, to: Seek) -> Vec<Effect> {
        self.thaw();
        vec![Effect::Seek(to)]
    }

    /// What is looked at round by round does not run away meanwhile.
    fn halted(&mut self) -> Vec<Effect> {
        if self.pace == Pace::Live { self.pause() } else { Vec::new() }
    }

    /// A round back: of those that are kept, or, before them, where the player finds it.
    fn scrub_back(&mut self) -> Vec<Effect> {
        let mut effects = self.halted();
        let here = self.round_no();
        let going = self.is_going();
        if !going {
            self.earlier();
        }
        if let Some(no) = here.filter(|_| going || self.round_no() == here) {
            effects.push(self.go_to_round(Seek::Before(no)));
        }
        effects
    }

    /// A round ahead: of those that were gone back over, or the next one that the player finds.
    fn scrub_ahead(&mut self) -> Vec<Effect> {
        let mut effects = self.halted();
        let here = self.round_no();
        if !self.is_going() {
            self.later();
            // One that overlaps the one on the lanes may have settled already.
            let over = self.frozen.is_none() && matches!(self.live.shown, Shown::Over(_));
            if self.round_no() != here || (over && self.live.go(false)) {
                return effects;
            }
        }
        effects.push(self.go_to_round(Seek::After(here.unwrap_or(RoundNo(0)))));
        effects
    }

    /// Whether the player is on its way to a round; others are counted from that one, and the player does.
    fn is_going(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.going)
    }

    /// Goes to a round. What is on the screen stays until the player is there.
    fn go_to_round(&mut self, to: Seek) -> Effect {
        if let Some(recorded) = &mut self.recorded {
            recorded.going = true;
        }
        Effect::Seek(to)
    }
}
