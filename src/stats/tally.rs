//! A counter with a memory of five minutes, in slots of a second.

/// How far back a count looks. A window ends with the newest settled round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Window {
    /// The last 10 seconds.
    TenSeconds,
    /// The last minute.
    Minute,
    /// The last 5 minutes.
    FiveMinutes,
    /// Since the start or the last reset.
    Start,
}

impl Window {
    /// Every window, the shortest first.
    pub const ALL: [Self; 4] = [Self::TenSeconds, Self::Minute, Self::FiveMinutes, Self::Start];

    /// Its length in seconds; `None` without a limit.
    #[must_use]
    pub const fn seconds(self) -> Option<u64> {
        match self {
            Self::TenSeconds => Some(10),
            Self::Minute => Some(60),
            Self::FiveMinutes => Some(SLOTS),
            Self::Start => None,
        }
    }

    /// The first second of a window whose last one is `head`; `None` without a limit.
    #[must_use]
    pub(super) fn first(self, head: u64) -> Option<u64> {
        self.seconds().map(|length| head.saturating_sub(length.saturating_sub(1)))
    }

    /// Its name where it is written down.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::TenSeconds => "10s",
            Self::Minute => "1m",
            Self::FiveMinutes => "5m",
            Self::Start => "start",
        }
    }

    /// The window of this name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.word() == word)
    }

    /// Its name over a panel.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::TenSeconds => "last 10 s",
            Self::Minute => "last 1 min",
            Self::FiveMinutes => "last 5 min",
            Self::Start => "since start",
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::TenSeconds => "in the last 10 seconds",
            Self::Minute => "in the last minute",
            Self::FiveMinutes => "in the last 5 minutes",
            Self::Start => "since the start",
        }
    }

    /// Where a sparkline of it begins; without a limit it shows the last five minutes.
    #[must_use]
    pub const fn ago(self) -> &'static str {
        match self {
            Self::TenSeconds => "10 s ago",
            Self::Minute => "60 s ago",
            Self::FiveMinutes | Self::Start => "5 min ago",
        }
    }

    /// Its name on screen.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::TenSeconds => "10 s",
            Self::Minute => "1 min",
            Self::FiveMinutes => "5 min",
            Self::Start => "since start",
        }
    }
}

/// Slots of a second that are kept.
const SLOTS: u64 = 300;

/// Counts per second for the last [`SLOTS`] seconds and in total.
///
/// Each tally clears its own old slots when it is added to, so seconds without an event cost nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tally {
    /// One per second, at `second % SLOTS`. Empty until something was counted.
    slots: Vec<u32>,
    /// The newest second that was added to.
    newest: u64,
    total: u64,
}

impl Tally {
    /// Counts one in this second.
    pub(super) fn add(&mut self, second: u64) {
        self.add_many(second, 1);
    }

    /// Counts so many in this second. What is older than every slot counts in the total only.
    pub(super) fn add_many(&mut self, second: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.total = self.total.saturating_add(count);
        if self.slots.is_empty() {
            self.slots = vec![0; usize::try_from(SLOTS).unwrap_or_default()];
            self.newest = second;
        }
        if second > self.newest {
            for stale in self.newest.saturating_add(1).max(second.saturating_sub(SLOTS - 1))..=second {
                if let Some(slot) = self.slots.get_mut(index(stale)) {
                    *slot = 0;
                }
            }
            self.newest = second;
        }
        if self.holds(second)
            && let Some(slot) = self.slots.get_mut(index(second))
        {
            *slot = slot.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    /// The count of a window that ends with the second `head`.
    pub(super) fn sum(&self, head: u64, window: Window) -> u64 {
        match window.first(head) {
            None => self.total,
            Some(first) => self.between(first, head),
        }
    }

    /// The count of the seconds `from..=to`.
    pub(super) fn between(&self, from: u64, to: u64) -> u64 {
        if self.slots.is_empty() {
            return 0;
        }
        let oldest = self.newest.saturating_sub(SLOTS - 1);
        (from.max(oldest)..=to.min(self.newest))
            .filter_map(|second| self.slots.get(index(second)))
            .map(|&count| u64::from(count))
            .sum()
    }

    fn holds(&self, second: u64) -> bool {
        second <= self.newest && second.saturating_add(SLOTS) > self.newest
    }
}

fn index(second: u64) -> usize {
    usize::try_from(second % SLOTS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A tally says the same as a list of every second that was counted.
        #[test]
        fn r41_a_tally_counts_like_a_list(
            steps in prop::collection::vec((0_u64..40, 0_u64..5), 0..200), back in 0_u64..20,
        ) {
            let (mut tally, mut list, mut now) = (Tally::default(), Vec::new(), 0_u64);
            for (i, (step, count)) in steps.iter().enumerate() {
                now += step;
                let second = if i % 5 == 4 { now.saturating_sub(back) } else { now };
                tally.add_many(second, *count);
                list.extend((0..*count).map(|_| second));
            }
            for window in Window::ALL {
                let from = window.seconds().map_or(0, |s| now.saturating_sub(s - 1));
                let expected = list.iter().filter(|&&s| s >= from).count() as u64;
                prop_assert_eq!(tally.sum(now, window), expected);
            }
        }
    }

    #[test]
    fn what_is_older_than_every_slot_counts_in_the_total_only() {
        let mut tally = Tally::default();
        tally.add(1000);
        tally.add(10);
        assert_eq!(tally.sum(1000, Window::FiveMinutes), 1);
        assert_eq!(tally.sum(1000, Window::Start), 2);
    }
}
