//! Goes through a recording once, on a thread of its own, and notes where everything stands. At every so many
//! rounds it keeps what has come of them, so that any place is near to one where everything is known.

use super::agenda::{Entry, Line, What};
use super::cursor::{Cursor, Loaded, Mark};
use super::entries::Entries;
use super::source::{Recording, Tail};
use crate::domain::{Event, Late, Round, RoundNo, Settings};
use crate::recording::{Context, ReadError, Reader, Record};
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What comes of events. A copy of it stands for all that were taken in.
pub trait Past: Clone + Send + 'static {
    /// Takes in what happened.
    fn take(&mut self, event: Event);

    /// Drops what a copy that is kept for long can do without.
    fn slim(&mut self);
}

/// Rounds from one checkpoint to the next, at first.
const SPACING: usize = 32;

/// Checkpoints that are kept at most. With one more, every other one goes.
const MOST: usize = 64;

/// Probe rounds of which stragglers may still be told, at most: so many never run at once.
const PROBES: usize = 64;

/// Endpoints in all checkpoints, at most; about 40 kB each.
const MOST_ENDPOINTS: usize = 4096;

/// By what lines are read, and how times and numbers of a recording that was joined to another go on from those
/// before.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    context: Context,
    shift: Duration,
    numbers: u64,
}

impl Place {
    fn shifted(&self, at: Duration) -> Duration {
        at.saturating_add(self.shift)
    }

    /// A round's number in the whole recording.
    const fn number(&self, no: RoundNo) -> RoundNo {
        RoundNo(no.0.saturating_add(self.numbers))
    }

    /// The round that a line tells of.
    fn loaded(&self, mut round: Round, skipped: u64) -> Loaded {
        round.at = self.shifted(round.at);
        round.no = self.number(round.no);
        Loaded(Arc::new(round), skipped)
    }

    /// Reads a round again.
    pub(super) fn read(&self, line: u64, text: &str) -> Result<Loaded, ReadError> {
        match self.context.clone().read(line, text)? {
            Some(Record::Round(round, skipped)) => Ok(self.loaded(*round, skipped)),
            _ => Err(ReadError::Line { line, why: "it was a round when it was read first".to_owned() }),
        }
    }
}

/// What had come of everything before a place.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint<P> {
    pub(super) mark: Mark,
    pub(super) past: P,
}

/// What is known of a recording so far.
#[derive(Debug)]
pub(super) struct Known<P> {
    pub(super) entries: Entries,
    pub(super) places: Vec<Place>,
    /// In order of time. The first is the beginning.
    checkpoints: Vec<Checkpoint<P>>,
    /// When the last thing was over.
    pub(super) length: Duration,
    /// Whether it has its last line.
    pub(super) complete: bool,
    /// Whether there is nothing more to read, and what was left out or is wrong there.
    pub(super) over: bool,
    pub(super) left_out: Option<String>,
    pub(super) fault: Option<String>,
}

impl<P: Past> Known<P> {
    /// The checkpoint from which to go on to this instant, with some rounds between, to be looked at.
    pub(super) fn checkpoint(&self, to: Duration, between: usize) -> Option<Checkpoint<P>> {
        let reached = self.reached(to).saturating_sub(between);
        let near = |c: &&Checkpoint<P>| c.mark.told.at <= to && c.mark.from <= reached;
        self.checkpoints.iter().rfind(near).or(self.checkpoints.first()).cloned()
    }

    /// About how many entries are over by this instant. They stand nearly in that order.
    pub(super) fn reached(&self, at: Duration) -> usize {
        self.entries.partition_point(|entry| entry.end <= at)
    }

    /// Every round with its number, when it ended.
    pub(super) fn rounds(&self) -> impl Iterator<Item = (u64, Duration)> + '_ {
        self.entries.iter().filter_map(|entry| match entry.what {
            What::Round(line) => Some((line.no, entry.end)),
            _ => None,
        })
    }
}

/// What is known of a recording, for the thread that reads it and the one that plays it.
#[derive(Debug)]
pub(super) struct Index<P> {
    known: Mutex<Known<P>>,
}

impl<P: Past> Index<P> {
    /// Nothing is known but the beginning.
    pub(super) fn new(past: P) -> Self {
        let known = Known {
            entries: Entries::default(),
            places: Vec::new(),
            checkpoints: vec![Checkpoint { mark: Mark::default(), past }],
            length: Duration::ZERO,
            complete: false,
            over: false,
            left_out: None,
            fault: None,
        };
        Self { known: Mutex::new(known) }
    }

    /// What is known. Nobody panics while they change it.
    pub(super) fn known(&self) -> MutexGuard<'_, Known<P>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Goes through a recording.
pub(super) struct Indexer<P> {
    index: Arc<Index<P>>,
    reader: Reader<Box<dyn BufRead + Send>>,
    tail: Arc<Tail>,
    place: Place,
    /// The highest number of a round so far, and the end of everything.
    highest: u64,
    length: Duration,
    /// The latest probe rounds: when each started and ended.
    probes: BTreeMap<RoundNo, (Duration, Duration)>,
    /// Rounds that are to be told, by their entries.
    rounds: HashMap<usize, Loaded>,
    cursor: Cursor,
    past: P,
    spacing: usize,
    /// Rounds told since the last checkpoint.
    since: usize,
    most: usize,
}

impl<P: Past> Indexer<P> {
    pub(super) fn new(index: Arc<Index<P>>, recording: Recording, past: P) -> Self {
        let Recording { session, reader, tail, .. } = recording;
        let place = Place { context: reader.context().clone(), ..Place::default() };
        index.known().places.push(place.clone());
        Self {
            index,
            reader,
            tail,
            place,
            highest: 0,
            length: Duration::ZERO,
            probes: BTreeMap::new(),
            rounds: HashMap::new(),
            cursor: Cursor::default(),
            past,
            spacing: SPACING,
            since: 0,
            most: (MOST_ENDPOINTS / session.endpoints.len().max(1)).clamp(8, MOST),
        }
    }

    /// Until there is nothing more, or nobody wants to know.
    pub(super) fn run(mut self) {
        while !self.tail.is_stopped() {
            let before = self.reader.offset();
            let read = self.reader.next_record().and_then(|record| match record {
                Some(record) => self.take(record, before).map(|()| true),
                None => Ok(false),
            });
            let over = match read {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(fault(&error)),
            };
            return self.end(over);
        }
    }

    fn end(&self, fault: Option<String>) {
        let mut known = self.index.known();
        known.over = true;
        known.left_out = self.reader.left_out().map(str::to_owned);
        known.fault = fault;
        drop(known);
        self.tail.tell();
    }

    fn take(&mut self, record: Record, before: u64) -> Result<(), ReadError> {
        let entry = match record {
            Record::Round(round, skipped) => {
                let loaded = self.place.loaded(*round, skipped);
                Some(self.round(loaded, before))
            }
            Record::Settings(at, settings) => {
                self.moved();
                Some(instant(self.place.shifted(at), What::Settings(settings)))
            }
            Record::Note(at, text) => Some(instant(self.place.shifted(at), What::Note(text.into()))),
            Record::Session(session) => {
                // Another recording goes on where the last one ended.
                self.place.shift = self.length.saturating_add(Duration::from_secs(1));
                self.place.numbers = self.highest;
                self.moved();
                let said = format!("another recording, of {}", session.started);
                let begun = instant(self.place.shift, What::Note(said.into()));
                let settings = Arc::clone(self.reader.context().settings());
                self.publish(begun)?;
                Some(instant(self.place.shift, What::Settings(settings)))
            }
            Record::Late(round, late) => match self.late(round, late) {
                Some(entry) => Some(entry),
                // Of a round whose line was lost.
                None => return Ok(()),
            },
            Record::Summary(_) => None,
        };
        if let Some(entry) = entry {
            return self.publish(entry);
        }
        self.index.known().complete = true;
        self.tail.tell();
        Ok(())
    }

    /// A round whose line begins after so many bytes, perhaps with lines before it that say nothing.
    fn round(&mut self, loaded: Loaded, before: u64) -> Entry {
        let (index, places) = {
            let known = self.index.known();
            (known.entries.len(), known.places.len())
        };
        let round = &loaded.0;
        let line = Line {
            no: round.no.0,
            offset: before,
            length: u32::try_from(self.reader.offset().saturating_sub(before)).unwrap_or(u32::MAX),
            place: u32::try_from(places.saturating_sub(1)).unwrap_or(u32::MAX),
            number: self.reader.line(),
        };
        self.highest = self.highest.max(line.no);
        let end = round.at.saturating_add(round.took);
        if round.probe.is_some() {
            self.probes.insert(round.no, (round.at, end));
            if self.probes.len() > PROBES {
                self.probes.pop_first();
            }
        }
        let entry = Entry { at: round.at, end, what: What::Round(line) };
        self.rounds.insert(index, loaded);
        entry
    }

    /// What became of a straggler, told no sooner than that its round is over.
    fn late(&self, round: RoundNo, late: Late) -> Option<Entry> {
        let round = self.place.number(round);
        let &(at, end) = self.probes.get(&round)?;
        Some(instant(at.saturating_add(late.end).max(end), What::Late(Box::new((round, late)))))
    }

    /// From here on lines are read by something else.
    fn moved(&mut self) {
        self.place.context = self.reader.context().clone();
        self.index.known().places.push(self.place.clone());
    }

    /// Lets an entry be known, and folds what is told by it.
    fn publish(&mut self, entry: Entry) -> Result<(), ReadError> {
        self.length = self.length.max(entry.end);
        self.cursor.enter(&entry);
        let mut known = self.index.known();
        known.length = self.length;
        known.complete = false;
        known.entries.push(entry);
        drop(known);
        self.tail.more.notify_one();
        while !self.cursor.wants() {
            let (rounds, past, since) = (&mut self.rounds, &mut self.past, &mut self.since);
            let load = |index| {
                let gone = || ReadError::Line { line: 0, why: "a round was told twice".to_owned() };
                rounds.remove(&index).ok_or_else(gone)
            };
            self.cursor.step(
                load,
                |_| false,
                |event| {
                    *since += usize::from(matches!(event, Event::RoundSettled { .. }));
                    past.take(event);
                },
            )?;
            if self.since >= self.spacing && self.cursor.is_level() {
                self.keep();
            }
        }
        Ok(())
    }

    /// Keeps what has come of everything so far.
    fn keep(&mut self) {
        self.since = 0;
        self.past.slim();
        let checkpoint = Checkpoint { mark: self.cursor.mark(), past: self.past.clone() };
        let mut known = self.index.known();
        known.checkpoints.push(checkpoint);
        if known.checkpoints.len() > self.most {
            let mut place = 0;
            known.checkpoints.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.spacing = self.spacing.saturating_mul(2);
        }
    }
}

fn instant(at: Duration, what: What) -> Entry {
    Entry { at, end: at, what }
}

/// An error with its cause.
pub(super) fn fault(error: &ReadError) -> String {
    match error {
        ReadError::Io(cause) => cause.to_string(),
        _ => error.to_string(),
    }
}

/// What rounds of these settings leave between them, and a good deal more.
pub(super) fn gap(settings: Option<&Settings>) -> Duration {
    let every = settings.map_or(Duration::ZERO, |settings| settings.every);
    every.saturating_mul(3).max(Duration::from_secs(5))
}
