//! Which lanes are shown and in which order: the filter and the sorting.

use super::EndpointInfo;
use super::Key;
use super::typing::{Typed, TypedLine};
use crate::domain::EndpointId;
use crate::stats::{Quantile, Stats, Window};
use std::cmp::Reverse;
use std::time::Duration;

/// By what lanes are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// As the profile lists them.
    #[default]
    Profile,
    /// The most missing calls of the window first.
    Missing,
    /// The longest median first; those without one last.
    Slowest,
    /// By name.
    Name,
}

impl Sort {
    const ALL: [Self; 4] = [Self::Profile, Self::Missing, Self::Slowest, Self::Name];

    /// Its name on screen.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Missing => "most missing",
            Self::Slowest => "slowest",
            Self::Name => "name",
        }
    }

    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|&s| s == self).unwrap_or(0);
        Self::ALL[(place + 1) % Self::ALL.len()]
    }

    /// Whether the order can change from round to round.
    const fn moves(self) -> bool {
        matches!(self, Self::Missing | Self::Slowest)
    }
}

/// Longest filter that can be typed, in characters.
const LONGEST: usize = 40;

/// The least time between two sortings by something that rounds change.
const REARRANGE: Duration = Duration::from_secs(1);

/// The lanes in sight, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineup {
    filter: TypedLine,
    typing: bool,
    sort: Sort,
    lanes: Vec<usize>,
    arranged: Duration,
}

impl Lineup {
    pub(super) fn new(endpoints: usize) -> Self {
        Self {
            filter: TypedLine::new(LONGEST),
            typing: false,
            sort: Sort::Profile,
            lanes: (0..endpoints).collect(),
            arranged: Duration::ZERO,
        }
    }

    /// Indices of the endpoints whose lanes are shown, the topmost first.
    #[must_use]
    pub fn lanes(&self) -> &[usize] {
        &self.lanes
    }

    /// What a name or a reason of a shown lane has to contain; empty: everything is shown.
    #[must_use]
    pub fn filter(&self) -> &str {
        self.filter.text()
    }

    /// Whether the filter is being typed.
    #[must_use]
    pub const fn is_typing(&self) -> bool {
        self.typing
    }

    /// By what lanes are sorted.
    #[must_use]
    pub const fn sort(&self) -> Sort {
        self.sort
    }

    /// The lane `by` places below this endpoint's, or above for negative ones; the nearest there is.
    pub(super) fn neighbour(&self, endpoint: usize, by: isize) -> Option<usize> {
        let here = self.lanes.iter().position(|&l| l == endpoint).unwrap_or(0);
        let last = self.lanes.len().checked_sub(1)?;
        self.lanes.get(here.saturating_add_signed(by).min(last)).copied()
    }

    pub(super) fn start_typing(&mut self) {
        self.typing = true;
    }

    /// The filter stays as it is typed.
    pub(super) fn keep(&mut self) {
        self.typing = false;
    }

    /// Takes back the filter.
    pub(super) fn clear(&mut self) {
        self.filter.clear();
        self.typing = false;
    }

    pub(super) fn sort_by_next(&mut self) {
        self.sort = self.sort.next();
    }

    /// A key while the filter is being typed.
    pub(super) fn typed(&mut self, key: Key) {
        match self.filter.typed(key) {
            Typed::GoesOn => {}
            Typed::Kept => self.keep(),
            Typed::Dropped => self.clear(),
        }
    }

    /// Pasted text is typed.
    pub(super) fn pasted(&mut self, text: &str) {
        self.filter.pasted(text);
    }

    /// Whether a round may have changed the order, and enough time passed since it was last looked at.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        (self.sort.moves() || !self.filter().is_empty()) && now.saturating_sub(self.arranged) >= REARRANGE
    }

    /// Chooses and orders the lanes anew.
    pub(super) fn arrange(&mut self, endpoints: &[EndpointInfo], stats: &Stats, window: Window) {
        let missing = stats.missing(window);
        let wanted = self.filter().to_lowercase();
        // Each row of the table is looked at once, however many lanes there are.
        let mut missed = vec![(0_u64, false); endpoints.len()];
        for row in &missing {
            if let Some((count, named)) = missed.get_mut(row.endpoint.index()) {
                *count = count.saturating_add(row.count);
                *named = *named || (!wanted.is_empty() && row.label().contains(&wanted));
            }
        }
        let shown = |(index, endpoint): (usize, &EndpointInfo)| {
            let named = || missed[index].1 || endpoint.name.to_lowercase().contains(&wanted);
            (wanted.is_empty() || named()).then_some(index)
        };
        self.lanes = endpoints.iter().enumerate().filter_map(shown).collect();
        self.arranged = stats.now();
        match self.sort {
            Sort::Profile => {}
            Sort::Name => {
                self.lanes.sort_by_cached_key(|&i| endpoints.get(i).map(|e| e.name.to_lowercase()));
            }
            Sort::Missing => self.lanes.sort_by_key(|&index| Reverse(missed[index].0)),
            Sort::Slowest => self.lanes.sort_by_cached_key(|&index| {
                Reverse(match stats.quantile(EndpointId(index), 0.5) {
                    Quantile::At(time) => (1, time),
                    Quantile::Above(time) => (2, time),
                    Quantile::None => (0, Duration::ZERO),
                })
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::KeyCode;

    #[test]
    fn the_filter_takes_what_is_typed_and_never_more_than_fits() {
        let mut lineup = Lineup::new(3);
        lineup.start_typing();
        for c in "ad\u{1b}s".chars() {
            lineup.typed(Key::char(c));
        }
        assert_eq!(lineup.filter(), "ads");
        lineup.typed(Key::plain(KeyCode::Backspace));
        lineup.pasted("x\u{7}y");
        assert_eq!(lineup.filter(), "adxy");
        lineup.typed(Key::plain(KeyCode::Enter));
        assert_eq!((lineup.filter(), lineup.is_typing()), ("adxy", false), "Enter keeps it");
        lineup.start_typing();
        lineup.pasted(&"long".repeat(40));
        assert_eq!(lineup.filter().chars().count(), LONGEST);
        lineup.typed(Key::plain(KeyCode::Esc));
        assert_eq!((lineup.filter(), lineup.is_typing()), ("", false), "Esc takes it back");
    }
}
