//! What a recording says, in order of time: lines stand in the order in which rounds settled, and rounds may
//! overlap.

use crate::domain::{Event, Late, RoundNo, Settings};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

/// Something that a line of the recording says, without what can be read again. All times are from the start of
/// the recording.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// When it happened; for a round, when it started.
    pub(super) at: Duration,
    /// When it was over.
    pub(super) end: Duration,
    pub(super) what: What,
}

/// What a line is about.
#[derive(Debug, Clone)]
pub(super) enum What {
    Round(Line),
    Settings(Arc<Settings>),
    Note(Arc<str>),
    /// What became of a straggler of this round. Rare, and the others are to stay small.
    Late(Box<(RoundNo, Late)>),
}

/// Where a round stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// The round's number, unique in the whole recording.
    pub(super) no: u64,
    /// Bytes before it, and how many may be gone through to its end.
    pub(super) offset: u64,
    pub(super) length: u32,
    /// By which of the contexts it is to be read.
    pub(super) place: u32,
    /// The line's number, for complaints.
    pub(super) number: u64,
}

/// When something is to be told. Of things at one instant, what ends comes before what begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Key {
    pub(super) at: Duration,
    rank: u8,
    no: u64,
    nth: u32,
}

impl Key {
    /// Everything that happened until this instant is before it.
    pub(super) const fn after(at: Duration) -> Self {
        Self { at, rank: u8::MAX, no: 0, nth: 0 }
    }
}

/// Something to be told.
#[derive(Debug)]
pub(super) enum Step {
    /// What an entry without a round says.
    Say(usize, Entry),
    /// An entry's round starts.
    Start(usize),
    /// It had started before the place where playing was taken up.
    Join(usize),
    /// It moves on.
    Live(Event),
    /// It settles.
    Settle(usize),
}

#[derive(Debug)]
struct Item(Key, Step);

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

/// What is to be told next.
#[derive(Debug, Default)]
pub(super) struct Agenda(BinaryHeap<Reverse<Item>>);

impl Agenda {
    /// Takes up what an entry has to say after `told`; false if that is nothing.
    pub(super) fn enter(&mut self, index: usize, entry: &Entry, told: Key) -> bool {
        let key = |at, rank, no| Key { at, rank, no, nth: 0 };
        let What::Round(line) = &entry.what else {
            // A straggler is heard of when its round is known to be over.
            let rank = if matches!(entry.what, What::Late(_)) { 5 } else { 1 };
            let say = key(entry.at, rank, index as u64);
            if say > told {
                self.push(say, Step::Say(index, entry.clone()));
            }
            return say > told;
        };
        let (start, instant) = (key(entry.at, 3, line.no), entry.at == entry.end);
        let settle = key(entry.end, if instant { 4 } else { 2 }, line.no);
        if settle <= told {
            return false;
        }
        if start > told {
            self.push(start, Step::Start(index));
        } else {
            self.push(Key { nth: 1, ..start }, Step::Join(index));
        }
        self.push(settle, Step::Settle(index));
        true
    }

    /// Takes up something that happens to a round while it runs.
    pub(super) fn live(&mut self, at: Duration, no: u64, nth: u32, event: Event) {
        self.push(Key { at, rank: 3, no, nth: nth.saturating_add(2) }, Step::Live(event));
    }

    fn push(&mut self, key: Key, step: Step) {
        self.0.push(Reverse(Item(key, step)));
    }

    /// When the next thing is to be told.
    pub(super) fn due(&self) -> Option<Key> {
        self.0.peek().map(|item| item.0.0)
    }

    /// The next thing.
    pub(super) fn pop(&mut self) -> Option<(Key, Step)> {
        self.0.pop().map(|Reverse(Item(key, step))| (key, step))
    }

    /// The first entry of which something is still to be told.
    pub(super) fn first(&self) -> Option<usize> {
        let index = |item: &Reverse<Item>| match item.0.1 {
            Step::Say(index, _) | Step::Start(index) | Step::Join(index) | Step::Settle(index) => Some(index),
            Step::Live(_) => None,
        };
        self.0.iter().filter_map(index).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(no: u64, at: u64, end: u64) -> Entry {
        let line = Line { no, offset: 0, length: 0, place: 0, number: no };
        let ms = Duration::from_millis;
        Entry { at: ms(at), end: ms(end), what: What::Round(line) }
    }

    fn told(agenda: &mut Agenda) -> Vec<String> {
        let word = |(key, step): (Key, Step)| {
            let name = match step {
                Step::Say(i, _) => format!("say {i}"),
                Step::Start(i) => format!("start {i}"),
                Step::Join(i) => format!("join {i}"),
                Step::Settle(i) => format!("settle {i}"),
                Step::Live(_) => "live".to_owned(),
            };
            format!("{} {name}", key.at.as_millis())
        };
        std::iter::from_fn(|| agenda.pop().map(word)).collect()
    }

    #[test]
    fn overlapping_rounds_are_told_in_order_of_time_and_ends_before_beginnings() {
        let mut agenda = Agenda::default();
        let note =
            Entry { at: Duration::from_millis(200), end: Duration::ZERO, what: What::Note("x".into()) };
        // In the order of the file, which is that of settling.
        let entries = [round(2, 100, 150), round(1, 50, 200), note, round(3, 200, 200)];
        for (i, entry) in entries.iter().enumerate() {
            agenda.enter(i, entry, Key::default());
        }
        assert_eq!(agenda.first(), Some(0));
        assert_eq!(
            told(&mut agenda),
            [
                "50 start 1",
                "100 start 0",
                "150 settle 0",
                "200 say 2",
                "200 settle 1",
                "200 start 3",
                "200 settle 3"
            ]
        );
    }

    #[test]
    fn taken_up_in_the_middle_a_round_that_runs_is_joined_and_what_is_over_is_not_told_again() {
        let mut agenda = Agenda::default();
        let before = Key::after(Duration::from_millis(120));
        for (i, entry) in [round(1, 50, 100), round(2, 60, 300), round(3, 200, 250)].iter().enumerate() {
            agenda.enter(i, entry, before);
        }
        assert_eq!(agenda.first(), Some(1));
        assert_eq!(told(&mut agenda), ["60 join 1", "200 start 2", "250 settle 2", "300 settle 1"]);
    }
}
