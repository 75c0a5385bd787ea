//! A recording as one stream of events, as if it happened now: played, gone through, and read on while it grows.
//!
//! A thread reads it once and notes where everything stands; rounds are read again where they are needed, so
//! that a long recording takes little memory. What came of all rounds before a place is kept for some places: a
//! jump takes the nearest and tells what happened from there on. What that is, a [`Past`], is the affair of whoever
//! shows it.

mod agenda;
mod clock;
mod cursor;
mod entries;
mod index;
mod source;
mod steps;
#[cfg(test)]
mod tests;

pub use index::Past;
pub use source::{OpenError, Recording};

use crate::domain::{Event, PlayState, Playback, Round, RoundNo, Seek, Speed};
use crate::recording::ReadError;
use agenda::{Key, What};
use clock::Clock;
use cursor::{Cursor, Loaded};
use index::{Index, Indexer, fault, gap};
use source::Tail;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Rounds that are told before the place that was jumped to, so that there is something to look back at.
const BETWEEN: usize = 48;

/// What is left of a time without rounds when it is skipped.
const LEAD: Duration = Duration::from_secs(1);

/// How long something that passes is said.
const SAID: Duration = Duration::from_secs(4);

/// How far playing may fall behind before it takes its time.
const BEHIND: Duration = Duration::from_millis(250);

/// Something that a recording tells.
#[derive(Debug)]
pub enum Told<P> {
    /// It happened.
    Event(Event),
    /// Playing goes on at another place, with all that came before it; a round to be looked at, where it was asked
    /// for.
    Jumped(Box<P>, Option<RoundNo>),
    /// A place ahead has been reached with everything told; the round that was asked for.
    Arrived(Option<RoundNo>),
    /// Something else changed.
    News,
}

/// Whether it plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Playing,
    Paused,
    /// Until the next round has settled.
    OneRound,
}

/// A recording that is played.
#[derive(Debug)]
pub struct Replay<P> {
    index: Arc<Index<P>>,
    back: File,
    tail: Arc<Tail>,
    cursor: Cursor,
    /// What is to be told at once.
    told: VecDeque<Told<P>>,
    /// The round that was asked for last, until that it was reached is told.
    asked: Option<RoundNo>,
    clock: Clock,
    pace: Pace,
    /// Whether the process is about to be stopped.
    held: bool,
    /// How far time has come. It does not go back, except in a jump.
    shown: Duration,
    /// When the process was last seen running, and where the clock was.
    awake: (Instant, Duration),
    /// Why nothing can be read any more.
    fault: Option<String>,
    /// Something that passes, and until when it is said.
    said: Option<(String, Instant)>,
}

impl<P> Drop for Replay<P> {
    fn drop(&mut self) {
        self.tail.stop();
    }
}

impl<P: Past> Replay<P> {
    /// Starts playing, and the thread that goes through the whole recording.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn start(recording: Recording, speed: Speed, past: P) -> io::Result<Self> {
        let back = recording.back.try_clone()?;
        let tail = Arc::clone(&recording.tail);
        let index = Arc::new(Index::new(past.clone()));
        let indexer = Indexer::new(Arc::clone(&index), recording, past);
        std::thread::Builder::new().name("fanscope-index".to_owned()).spawn(|| indexer.run())?;
        Ok(Self {
            index,
            back,
            tail,
            cursor: Cursor::default(),
            told: VecDeque::new(),
            asked: None,
            clock: Clock::new(speed),
            pace: Pace::Playing,
            held: false,
            shown: Duration::ZERO,
            awake: (Instant::now(), Duration::ZERO),
            fault: None,
            said: None,
        })
    }

    /// What is told next, at its time. Waits for ever at the end.
    pub async fn next(&mut self) -> Told<P> {
        loop {
            if let Some(told) = self.ready() {
                return told;
            }
            let tail = Arc::clone(&self.tail);
            let due = self.cursor.due().and_then(|key| self.clock.when(key.at));
            match due {
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due) => {}
                    () = tail.more.notified() => {}
                },
                None => tail.more.notified().await,
            }
        }
    }

    /// Something that is to be told by now.
    pub fn ready(&mut self) -> Option<Told<P>> {
        loop {
            if let Some(told) = self.told.pop_front() {
                let there = |told: &Told<P>| matches!(told, Told::Jumped(..) | Told::Arrived(_));
                if there(&told) && !self.told.iter().any(there) {
                    self.asked = None;
                }
                return Some(told);
            }
            if self.tail.has_news() {
                return Some(Told::News);
            }
            let now = Instant::now();
            let length = {
                let known = self.index.known();
                // A round that is known only now may be older than what was told.
                self.shown = self.within(known.length).max(self.cursor.told());
                self.cursor.look_ahead(&known.entries);
                known.length
            };
            let due = self.cursor.due().filter(|_| self.fault.is_none());
            self.clock.run(due.is_some() && !self.held && self.pace != Pace::Paused, now);
            let Some(Key { at: due, .. }) = due else {
                // Time stands where everything has been told, until there is more.
                self.clock.set(self.clock.position(now).min(length).max(self.shown), now);
                return None;
            };
            self.skip(due, now);
            let position = self.clock.position(now);
            if due > position || !self.clock.runs() {
                return None;
            }
            let goes_on = due.max(self.shown);
            if position.saturating_sub(goes_on) > self.clock.speed.played(BEHIND) {
                self.clock.set(goes_on, now);
            }
            self.step(now);
        }
    }

    /// Goes over a long time without rounds.
    fn skip(&mut self, due: Duration, now: Instant) {
        let silence = due.saturating_sub(self.clock.position(now));
        if self.clock.runs() && silence > gap(self.cursor.settings()) {
            self.clock.set(due.saturating_sub(LEAD), now);
            let seconds = silence.saturating_sub(LEAD).as_secs();
            self.said = Some((format!("{seconds} s without rounds skipped"), now + SAID));
        }
    }

    /// Tells the next thing.
    fn step(&mut self, now: Instant) {
        // Also where a round is over at once: without its steps its lanes would say that it queues.
        let live = |_: &Round| true;
        let mut told = VecDeque::new();
        let done = self
            .cursor
            .step(load(&self.index, &mut self.back), live, |event| told.push_back(Told::Event(event)));
        self.told.append(&mut told);
        if let Err(error) = done {
            self.fail(&error);
        }
        let settled = |told: &Told<P>| matches!(told, Told::Event(Event::RoundSettled { .. }));
        if self.pace == Pace::OneRound && self.told.iter().any(settled) {
            self.pace = Pace::Paused;
            self.clock.run(false, now);
        }
    }

    fn fail(&mut self, error: &ReadError) {
        self.fault.get_or_insert_with(|| fault(error));
        self.told.push_back(Told::News);
    }

    /// Stops playing, or goes on.
    pub fn pause(&mut self, paused: bool) {
        self.pace = if paused { Pace::Paused } else { Pace::Playing };
        self.told.push_back(Told::Event(Event::Paused(paused)));
    }

    /// Plays until the next round has settled.
    pub fn step_round(&mut self) {
        self.pace = Pace::OneRound;
    }

    /// Plays faster or slower from now on.
    pub fn set_speed(&mut self, speed: Speed) {
        self.clock.set_speed(speed, Instant::now());
    }

    /// Stops time, or lets it go on, without anything being told.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
        if held {
            self.clock.run(false, Instant::now());
        }
    }

    /// The process runs. Said often, it tells where time stood when nobody said that it would be stopped.
    pub fn is_awake(&mut self) {
        let now = Instant::now();
        self.awake = (now, self.clock.position(now));
    }

    /// The process was stopped since it was last said to be awake: that time is none of the recording's.
    pub fn was_stopped(&mut self) {
        self.clock.set(self.awake.1.max(self.shown), Instant::now());
    }

    /// Where it is, from the recording's start. Never beyond what has been told.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.within(self.index.known().length)
    }

    fn within(&self, length: Duration) -> Duration {
        let position = self.clock.position(Instant::now());
        position.min(self.cursor.due().map_or(length, |due| due.at)).max(self.shown)
    }

    /// How far it has come, and what there is to say about the recording.
    #[must_use]
    pub fn playback(&self) -> Playback {
        let known = self.index.known();
        let waiting = self.tail.is_waiting() && !known.over;
        let told = self.told.is_empty() && self.cursor.is_through(&known.entries);
        let done = told || self.fault.is_some();
        let reading = !known.over && !waiting;
        let fault = self.fault.as_ref().or(known.fault.as_ref()).cloned();
        let alive = self.tail.is_alive() && !known.complete && !known.over && fault.is_none();
        let state = match (done, self.pace == Pace::Playing) {
            (true, true) if alive && (waiting || self.tail.percent().is_none()) => PlayState::Following,
            (true, _) if !reading => PlayState::End,
            (_, false) => PlayState::Paused,
            _ => PlayState::Playing,
        };
        let said = self.said.as_ref().filter(|said| Instant::now() < said.1).map(|said| said.0.clone());
        let cut = |bytes| format!("the last line is cut: {bytes} bytes left out");
        let left_out = known.left_out.clone().or_else(|| self.tail.cut().map(cut));
        Playback {
            position: self.within(known.length),
            length: known.length,
            speed: self.clock.speed,
            state,
            indexed: self.tail.percent().filter(|_| reading),
            notice: said.or(left_out),
            fault,
        }
    }

    /// Goes to another place. Where there is none, it stays where it is.
    pub fn seek(&mut self, to: Seek) {
        let now = Instant::now();
        let here = self.elapsed();
        let to = match (to, self.asked) {
            (Seek::Before(_), Some(asked)) => Seek::Before(asked),
            (Seek::After(_), Some(asked)) => Seek::After(asked),
            (to, _) => to,
        };
        // Only the last place is one to arrive at.
        self.told.retain(|told| !matches!(told, Told::Arrived(_)));
        let Some((to, round)) = self.place(to, here) else {
            self.told.push_back(Told::Arrived(self.asked));
            return;
        };
        self.asked = round;
        if self.pace == Pace::OneRound {
            self.pace = Pace::Paused;
        }
        // Elsewhere it may be readable.
        self.fault = None;
        let checkpoint = {
            let known = self.index.known();
            let near = known.checkpoint(to, BETWEEN);
            // A place ahead that is as near to here needs none.
            let (from, there) = (known.reached(here), known.reached(to));
            near.filter(|c| to < here || c.mark.from > from && there > from.saturating_add(BETWEEN))
        };
        self.clock.set(to, now);
        self.shown = to;
        match checkpoint {
            None => {
                let mut told = VecDeque::new();
                let done = self.go_on(to, |event| told.push_back(Told::Event(event)));
                self.told.append(&mut told);
                self.told.push_back(Told::Arrived(round));
                done
            }
            Some(index::Checkpoint { mark, mut past }) => {
                self.cursor = Cursor::at(mark);
                self.told.clear();
                let done = self.go_on(to, |event| past.take(event));
                self.told.push_back(Told::Jumped(Box::new(past), round));
                done
            }
        }
        .unwrap_or_else(|error| self.fail(&error));
    }

    /// Tells everything until this instant. Of rounds that are over by then, only that they were.
    fn go_on(&mut self, to: Duration, mut tell: impl FnMut(Event)) -> Result<(), ReadError> {
        let end = Key::after(to);
        loop {
            self.cursor.look_ahead(&self.index.known().entries);
            if self.cursor.due().is_none_or(|due| due > end) {
                return Ok(());
            }
            let live = |round: &Round| round.at.saturating_add(round.took) > to;
            self.cursor.step(load(&self.index, &mut self.back), live, &mut tell)?;
        }
    }

    /// The instant that is meant, and the round.
    fn place(&self, to: Seek, here: Duration) -> Option<(Duration, Option<RoundNo>)> {
        let known = self.index.known();
        let at = |at: Duration| Some((at.min(known.length), None));
        let round = |found: Option<(u64, Duration)>| found.map(|(no, end)| (end, Some(RoundNo(no))));
        match to {
            Seek::Back(by) => at(here.saturating_sub(by)),
            Seek::Ahead(by) => at(here.saturating_add(by).max(here)),
            Seek::Part(part) => at(known.length.mul_f64((f64::from(part) / 1000.0).clamp(0.0, 1.0))),
            Seek::Round(RoundNo(no)) => round(known.rounds().find(|r| r.0 == no)),
            Seek::Before(RoundNo(no)) => round(known.rounds().filter(|r| r.0 < no).max()),
            Seek::After(RoundNo(no)) => round(known.rounds().filter(|r| r.0 > no).min()),
        }
    }
}

/// Reads the round of an entry.
fn load<'a, P: Past>(
    index: &'a Index<P>,
    back: &'a mut File,
) -> impl FnMut(usize) -> Result<Loaded, ReadError> + 'a {
    move |entry| {
        let (line, place) = {
            let known = index.known();
            let line = known.entries.get(entry).and_then(|entry| match entry.what {
                What::Round(line) => Some(line),
                _ => None,
            });
            let place = line.and_then(|line| known.places.get(line.place as usize).cloned());
            line.zip(place).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?
        };
        let mut bytes = vec![0; line.length as usize];
        back.seek(SeekFrom::Start(line.offset))?;
        back.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("it became shorter after it was read first"),
            _ => error,
        })?;
        let text = String::from_utf8_lossy(&bytes);
        // Before it there may be lines that say nothing.
        place.read(line.number, text.trim_end().rsplit('\n').next().unwrap_or_default())
    }
}
