//! What the lines of a recording say, in their order. Knows of each place whether something that starts earlier
//! stands later: a round's line is written when it has settled, and others may have come and gone meanwhile.

use super::agenda::Entry;
use std::ops::Deref;
use std::time::Duration;

/// Entries, in the order of their lines.
#[derive(Debug, Default)]
pub(super) struct Entries {
    all: Vec<Entry>,
    /// Those that start before everything that stands after them.
    early: Vec<usize>,
}

impl Entries {
    /// Adds the next.
    pub(super) fn push(&mut self, entry: Entry) {
        while self.early.pop_if(|&mut early| self.all.get(early).is_some_and(|e| e.at >= entry.at)).is_some()
        {
        }
        self.early.push(self.all.len());
        self.all.push(entry);
    }

    /// When the earliest starts of those from this one on.
    pub(super) fn earliest(&self, from: usize) -> Option<Duration> {
        let first = self.early.partition_point(|&early| early < from);
        self.early.get(first).and_then(|&early| self.all.get(early)).map(|entry| entry.at)
    }
}

impl Deref for Entries {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::replay::agenda::What;

    #[test]
    fn the_earliest_from_a_place_on_is_the_least_of_all_that_follow() {
        let starts = [5, 1, 9, 3, 3, 8, 2, 7, 7];
        let mut entries = Entries::default();
        for at in starts.map(Duration::from_secs) {
            entries.push(Entry { at, end: at, what: What::Note("x".into()) });
        }
        for from in 0..=starts.len() {
            let least = starts[from..].iter().min().copied().map(Duration::from_secs);
            assert_eq!(entries.earliest(from), least, "{from}");
        }
    }
}
