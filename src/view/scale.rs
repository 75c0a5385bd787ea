//! Time to columns, in eighths of a cell. Integers throughout, so that a call that ends at the deadline ends
//! in the deadline's cell.

use std::time::Duration;

/// A time axis: from 0 at the left edge of its first cell to `span` at the right edge of its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    width: u16,
    span: Duration,
}

/// The cells that a bar covers, from the axis' first cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cells {
    /// Its first cell.
    pub first: u16,
    /// The cell after its last full one.
    pub full_end: u16,
    /// Eighths of the cell `full_end` that it covers, 0 to 7.
    pub eighths: u8,
}

impl Cells {
    /// The cell after the last one touched.
    #[must_use]
    pub const fn end(self) -> u16 {
        if self.eighths > 0 { self.full_end.saturating_add(1) } else { self.full_end }
    }
}

impl Scale {
    /// An axis of this many cells and this length; a length of zero counts as the shortest there is.
    #[must_use]
    pub fn new(width: u16, span: Duration) -> Self {
        Self { width, span: span.max(Duration::from_nanos(1)) }
    }

    /// Its length.
    #[must_use]
    pub const fn span(self) -> Duration {
        self.span
    }

    /// Its cells.
    #[must_use]
    pub const fn width(self) -> u16 {
        self.width
    }

    /// Eighths of a cell from the left edge, at most the whole axis.
    #[must_use]
    pub fn eighths(self, time: Duration) -> u32 {
        let all = u64::from(self.width) * 8;
        let (time, span) = (time.as_nanos(), self.span.as_nanos());
        // Half the numbers are a fraction of the work; they hold a day.
        let small = |n: u128| u64::try_from(n).ok();
        let at = match (small(time).and_then(|time| time.checked_mul(all)), small(span)) {
            (Some(time), Some(span)) => time / span,
            _ => small(time.saturating_mul(u128::from(all)) / span).unwrap_or(u64::MAX),
        };
        u32::try_from(at.min(all)).unwrap_or(u32::MAX)
    }

    /// The cell of an instant; `None` beyond the axis.
    #[must_use]
    pub fn column(self, time: Duration) -> Option<u16> {
        let column = u16::try_from(self.eighths(time) / 8).ok()?;
        (column < self.width).then_some(column)
    }

    /// The cells of a bar. It starts with the whole cell of its start and is at least an eighth long.
    #[must_use]
    pub fn cells(self, start: Duration, end: Duration) -> Cells {
        let last = u32::from(self.width.saturating_sub(1));
        let first = (self.eighths(start) / 8).min(last);
        let end = self.eighths(end).max(first * 8 + 1).min(u32::from(self.width) * 8);
        let column = |c: u32| u16::try_from(c).unwrap_or(u16::MAX);
        Cells {
            first: column(first),
            full_end: column(end / 8),
            eighths: u8::try_from(end % 8).unwrap_or_default(),
        }
    }

    /// The distance of grid lines: of 1, 2, 2.5 and 5 with zeros, the largest that puts four or more into
    /// `length`.
    #[must_use]
    pub fn step(length: Duration) -> Duration {
        let quarter = (length.as_nanos() / 4).max(1);
        let mut power = 1_u128;
        while power.saturating_mul(10) <= quarter {
            power = power.saturating_mul(10);
        }
        let tenths = [50, 25, 20, 10].into_iter().find(|t| power.saturating_mul(*t) / 10 <= quarter);
        let nanos = power.saturating_mul(tenths.unwrap_or(10)) / 10;
        Duration::from_nanos(u64::try_from(nanos.max(1)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_deadline_of_200_ms_stands_at_five_sixths_of_the_axis() {
        for (axis, width, column) in [(14, 62, 65), (14, 36, 44), (13, 24, 33), (13, 16, 26), (14, 142, 132)]
        {
            assert_eq!(Scale::new(width, ms(240)).column(ms(200)), Some(column - axis), "width {width}");
        }
    }

    #[test]
    fn grid_steps_are_round_numbers() {
        let steps = [10, 100, 200, 250, 400, 1000, 10_000].map(|b| Scale::step(ms(b)));
        assert_eq!(steps.map(|s| s.as_micros()), [2500, 25_000, 50_000, 50_000, 100_000, 250_000, 2_500_000]);
        assert!(Scale::step(Duration::ZERO) > Duration::ZERO);
    }

    proptest! {
        #[test]
        fn columns_never_go_back_and_never_leave_the_axis(
            width in 0_u16..300, span in 0_u64..u64::MAX, a in 0_u64..u64::MAX, b in 0_u64..u64::MAX,
        ) {
            let scale = Scale::new(width, Duration::from_nanos(span));
            let (a, b) = (Duration::from_nanos(a.min(b)), Duration::from_nanos(a.max(b)));
            prop_assert!(scale.eighths(a) <= scale.eighths(b));
            prop_assert!(scale.eighths(b) <= u32::from(width) * 8);
            prop_assert!(scale.column(b).is_none_or(|c| c < width));
            let cells = scale.cells(a, b);
            prop_assert!(cells.eighths < 8 && cells.end() <= width.max(cells.first));
            prop_assert!(width == 0 || cells.end() > cells.first, "a bar is never invisible");
        }

        #[test]
        fn an_answer_before_the_deadline_never_ends_behind_its_line(width in 1_u16..300, end in 0_u64..200_000) {
            let scale = Scale::new(width, ms(240));
            let line = scale.column(ms(200)).unwrap();
            prop_assert!(scale.cells(Duration::ZERO, Duration::from_micros(end)).full_end <= line);
        }
    }
}
