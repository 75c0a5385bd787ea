//! A place in a recording: goes on from entry to entry and tells what happened. Pure: knows no file and no clock.

use super::agenda::{Agenda, Entry, Key, Step, What};
use super::entries::Entries;
use super::steps;
use crate::domain::event::Vitals;
use crate::domain::{Event, Round, Settings};
use crate::recording::ReadError;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Rounds that may stand in the recording before one that started earlier, where it is not known how many do.
const AHEAD: usize = 64;

/// A round as it was read, and the planned starts that did not happen until its end.
#[derive(Debug, Clone)]
pub(super) struct Loaded(pub(super) Arc<Round>, pub(super) u64);

/// What a place has to know of what was before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    /// The last that was told.
    pub(super) told: Key,
    /// The first entry of which something is still to be told.
    pub(super) from: usize,
    /// The first entry of which nothing was told, even if it is older.
    entered: usize,
    /// Attempts that outlived their grace so far.
    lingering: u64,
    /// The settings that were told last, and when.
    settings: Option<(Duration, Arc<Settings>)>,
}

/// A place in a recording.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    agenda: Agenda,
    /// Entries that are on the agenda or were.
    entered: usize,
    /// Of these, the ones of which nothing was told yet.
    ahead: usize,
    /// Rounds that have started and not settled.
    running: BTreeMap<usize, Loaded>,
    /// What was told before it was here, of the entries up to this one.
    before: (Key, usize),
    mark: Mark,
}

impl Cursor {
    /// At a place that was marked.
    pub(super) fn at(mark: Mark) -> Self {
        Self { entered: mark.from, before: (mark.told, mark.entered), mark, ..Self::default() }
    }

    /// This place.
    pub(super) fn mark(&self) -> Mark {
        let from = self.agenda.first().unwrap_or(self.entered);
        Mark { from, entered: self.entered, ..self.mark.clone() }
    }

    /// The settings that were told last.
    pub(super) fn settings(&self) -> Option<&Settings> {
        self.mark.settings.as_ref().map(|s| &*s.1)
    }

    /// Takes up entries as far ahead as it has to look: to the last that starts before the next thing is due.
    pub(super) fn look_ahead(&mut self, entries: &Entries) {
        while (self.wants() || self.has_earlier(entries))
            && let Some(entry) = entries.get(self.entered)
        {
            self.enter(entry);
        }
    }

    fn has_earlier(&self, entries: &Entries) -> bool {
        let earliest = entries.earliest(self.entered);
        self.agenda.due().zip(earliest).is_some_and(|(due, at)| at <= due.at)
    }

    /// Whether nothing is on the agenda that is older than what was told.
    pub(super) fn is_level(&self) -> bool {
        self.agenda.due().is_none_or(|due| due > self.mark.told)
    }

    /// The last instant of which something was told.
    pub(super) fn told(&self) -> Duration {
        self.mark.told.at
    }

    /// Whether it has to look further ahead.
    pub(super) fn wants(&self) -> bool {
        self.ahead < AHEAD
    }

    /// Takes up the next entry.
    pub(super) fn enter(&mut self, entry: &Entry) {
        let (told, until) = self.before;
        // Whatever is older and stands later is late, but told.
        let told = if self.entered < until { told } else { Key::default() };
        self.ahead += usize::from(self.agenda.enter(self.entered, entry, told));
        self.entered += 1;
    }

    /// Whether everything of these entries has been told.
    pub(super) fn is_through(&self, entries: &[Entry]) -> bool {
        self.agenda.due().is_none() && self.entered >= entries.len()
    }

    /// When the next thing is to be told.
    pub(super) fn due(&self) -> Option<Key> {
        self.agenda.due()
    }

    /// Tells the next thing; `load` reads the round of an entry, `live` says whether what happens within a round
    /// is worth telling.
    ///
    /// # Errors
    /// When a round can't be read.
    pub(super) fn step(
        &mut self,
        mut load: impl FnMut(usize) -> Result<Loaded, ReadError>,
        live: impl Fn(&Round) -> bool,
        mut tell: impl FnMut(Event),
    ) -> Result<(), ReadError> {
        let Some((key, step)) = self.agenda.pop() else { return Ok(()) };
        match step {
            Step::Say(_, entry) => {
                self.ahead = self.ahead.saturating_sub(1);
                self.say(&entry, &mut tell);
            }
            Step::Start(index) => {
                self.ahead = self.ahead.saturating_sub(1);
                let loaded = load(index)?;
                self.settings_of(&loaded.0, &mut tell);
                // One that is late does not bring back settings that hold no longer.
                let holds = |settings: &Settings| settings.takes_turns_with(&loaded.0.settings);
                if key > self.mark.told || self.settings().is_some_and(holds) {
                    tell(steps::started(&loaded.0));
                }
                self.run(index, loaded, live);
            }
            Step::Join(index) => {
                self.ahead = self.ahead.saturating_sub(1);
                let loaded = load(index)?;
                self.run(index, loaded, live);
            }
            Step::Live(event) => tell(event),
            Step::Settle(index) => {
                let Loaded(round, skipped) = match self.running.remove(&index) {
                    Some(loaded) => loaded,
                    None => load(index)?,
                };
                self.mark.lingering = self.mark.lingering.saturating_add(round.lingering as u64);
                let vitals = Vitals { skipped, lingering: self.mark.lingering, ..Vitals::default() };
                tell(Event::RoundPublished(Arc::clone(&round)));
                tell(Event::RoundSettled { round, vitals });
            }
        }
        self.mark.told = self.mark.told.max(key);
        Ok(())
    }

    fn say(&mut self, entry: &Entry, tell: &mut impl FnMut(Event)) {
        match &entry.what {
            What::Settings(settings) => {
                self.mark.settings = Some((entry.at, Arc::clone(settings)));
                tell(Event::SettingsChanged { at: entry.at, settings: Arc::clone(settings) });
            }
            What::Note(text) => tell(Event::Noted { at: entry.at, text: text.as_ref().to_owned() }),
            What::Late(late) => {
                let (round, late) = **late;
                tell(Event::Late { round, late });
            }
            What::Round(_) => {}
        }
    }

    /// A round may have other settings than the last that were told: then those lines are missing, and what the
    /// round says holds.
    fn settings_of(&mut self, round: &Round, tell: &mut impl FnMut(Event)) {
        let known = self.mark.settings.as_ref();
        if known.is_some_and(|(at, settings)| *at > round.at || settings.takes_turns_with(&round.settings)) {
            return;
        }
        self.mark.settings = Some((round.at, Arc::clone(&round.settings)));
        tell(Event::SettingsChanged { at: round.at, settings: Arc::clone(&round.settings) });
    }

    fn run(&mut self, index: usize, loaded: Loaded, live: impl Fn(&Round) -> bool) {
        let round = &loaded.0;
        if live(round) {
            for (nth, (at, event)) in (0..).zip(steps::within(round)) {
                self.agenda.live(round.at.saturating_add(at), round.no.0, nth, event);
            }
        }
        self.running.insert(index, loaded);
    }
}
