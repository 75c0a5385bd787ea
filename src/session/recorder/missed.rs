//! Lines that a recording lost, and the note that stands in their place.

use crate::domain::numbers;
use crate::recording::Line;
use std::time::Duration;

/// Lines lost one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Missed {
    lines: u64,
    /// The time that the first of them told of.
    at: Duration,
    /// Why that one was lost, in words.
    why: String,
}

impl Missed {
    /// One more, which told of this time.
    pub(super) fn add(&mut self, at: Duration, why: &str) {
        self.append(Self { lines: 1, at, why: why.to_owned() });
    }

    /// More of them, just behind.
    pub(super) fn append(&mut self, more: Self) {
        if self.lines == 0 {
            *self = more;
        } else {
            self.lines = self.lines.saturating_add(more.lines);
        }
    }

    /// What stands in their place, where there are any.
    pub(super) fn note(&self) -> Option<Line> {
        let lines = numbers::counted(self.lines, "line", "lines");
        (self.lines > 0).then(|| Line::note(self.at, &format!("{lines} lost here: {}", self.why)))
    }
}

/// The time of the session that a line tells of, where it tells of one.
pub(super) fn at(line: &Line) -> Option<Duration> {
    match line {
        Line::Settings(line) => Some(line.at_ms.into()),
        Line::Round(line) => Some(line.at_ms.into()),
        Line::Note(line) => Some(line.at_ms.into()),
        Line::Late(_) | Line::Session(_) | Line::Summary(_) | Line::Unknown => None,
    }
}
