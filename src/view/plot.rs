//! A plot of shares over time: braille dots, or one dot a cell where characters are 7-bit; a grid, and its axes with
//! units. Knows no data: curves come in as points.

use super::ctx::Ctx;
use super::scale::Scale;
use super::text::{Pen, width};
use super::theme::Tone;
use crate::domain::numbers;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::time::Duration;

/// Columns before the plot that its shares take.
pub const LABELS: u16 = 6;

/// Steps between two lines of the grid that are round numbers.
const STEPS: [f64; 7] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25];

/// Shares from the bottom to the top, and how many parts the grid has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// At the bottom.
    pub low: f64,
    /// At the top.
    pub high: f64,
    /// Parts between the lines of the grid.
    pub parts: u16,
}

impl Range {
    /// From 0 to 100 %, in two parts.
    pub const WHOLE: Self = Self { low: 0.0, high: 1.0, parts: 2 };

    /// Rows of a plot that has so many at most, and parts of its grid: all of the same height, where that takes no more
    /// than two rows.
    #[must_use]
    pub fn fitting(rows: u16) -> (u16, u16) {
        let even = |parts: &[u16]| {
            let sizes = (0..=2).filter_map(|less| rows.checked_sub(less)).filter(|&rows| rows >= 5);
            let mut all = sizes.flat_map(|rows| parts.iter().map(move |&parts| (rows, parts)));
            all.find(|&(rows, parts)| (rows - 1) % parts == 0 && (2..=9).contains(&((rows - 1) / parts)))
        };
        let uneven = if rows >= 13 { (rows, 4) } else { (rows, 1) };
        even(&[3, 4, 5, 6]).or_else(|| even(&[2])).unwrap_or(uneven)
    }

    /// Up to 100 %, so far down that this share stands well above the bottom: what is missing from it to 100 % takes a
    /// little more than a quarter of the height.
    #[must_use]
    pub fn down_from(share: f64, parts: u16) -> Self {
        let missing = (1.0 - share).clamp(0.0, 1.0);
        let wanted = (missing * 3.5).max(f64::from(parts) * STEPS[0]);
        let step = STEPS.iter().find(|&&step| step * f64::from(parts) >= wanted - 1e-9);
        match step {
            Some(step) if step * f64::from(parts) <= 0.8 => {
                Self { low: 1.0 - step * f64::from(parts), high: 1.0, parts }
            }
            _ => Self { low: 0.0, high: 1.0, parts: if matches!(parts, 2 | 4 | 5) { parts } else { 2 } },
        }
    }

    /// Round numbers around these shares.
    #[must_use]
    pub fn around(least: f64, most: f64) -> Self {
        let step = STEPS.iter().copied().find(|step| step * 2.0 >= most - least).unwrap_or(0.5);
        let low = ((least / step).floor() * step).clamp(0.0, 1.0 - step * 2.0).max(0.0);
        let high = low + step * 2.0;
        if high + 1e-9 >= most {
            Self { low, high, parts: 2 }
        } else {
            Self { high: high + step, low, parts: 3 }
        }
    }
}

/// A rectangle of cells and what its edges stand for.
#[derive(Debug, Clone, Copy)]
pub struct Plot {
    /// The cells.
    pub area: Rect,
    /// What stands at the left and the right edge, in any unit.
    pub x: (f64, f64),
    /// What stands at the bottom and the top.
    pub y: Range,
}

impl Plot {
    /// How far a value is along the horizontal axis, 0 to 1; `None` beyond its ends.
    fn along(&self, x: f64) -> Option<f64> {
        let span = self.x.1 - self.x.0;
        let at = if span > 0.0 { (x - self.x.0) / span } else { 0.5 };
        (-1e-9..=1.0 + 1e-9).contains(&at).then(|| at.clamp(0.0, 1.0))
    }

    /// The column of a value; `None` beyond the plot.
    #[must_use]
    pub fn column(&self, x: f64) -> Option<u16> {
        let at = self.along(x)? * f64::from(self.area.width.checked_sub(1)?);
        Some(self.area.x.saturating_add(round(at)))
    }

    /// The value of a column.
    #[must_use]
    pub fn value(&self, column: u16) -> f64 {
        let at = f64::from(column.saturating_sub(self.area.x)) / f64::from(self.area.width.max(2) - 1);
        self.x.0 + at.clamp(0.0, 1.0) * (self.x.1 - self.x.0)
    }

    /// How many rows a share is below the top, as a number of rows; `None` beyond the plot.
    fn below_top(&self, share: f64) -> Option<f64> {
        let (rows, span) = (self.area.height.checked_sub(1)?, self.y.high - self.y.low);
        let at = if span > 0.0 { (self.y.high - share) / span } else { 0.0 };
        (-1e-6..=1.0 + 1e-6).contains(&at).then(|| at.clamp(0.0, 1.0) * f64::from(rows))
    }

    /// The row of a share; `None` beyond the plot.
    #[must_use]
    pub fn row(&self, share: f64) -> Option<u16> {
        self.below_top(share).map(|rows| self.area.y.saturating_add(round(rows)))
    }

    /// The share of a line of the grid, the first at the top.
    fn line(&self, part: u16) -> f64 {
        self.y.high - (self.y.high - self.y.low) * f64::from(part) / f64::from(self.y.parts.max(1))
    }

    /// Whether no line of the grid is in this row.
    #[must_use]
    pub fn is_open(&self, y: u16) -> bool {
        (0..=self.y.parts).all(|part| self.row(self.line(part)) != Some(y))
    }

    /// The grid and the shares at its left; the unit stands at the top.
    pub fn shares(&self, ctx: &Ctx<'_>, pen: &mut Pen<'_>) {
        let (area, dim) = (self.area, ctx.theme.dim());
        for part in 0..=self.y.parts {
            let share = self.line(part);
            let Some(y) = self.row(share) else { continue };
            for x in (area.x..area.right()).step_by(2) {
                pen.cell(x, y, ctx.glyphs.point, dim);
            }
            let number = numbers::short_share(share).replace(" %", "");
            let end = area.x.saturating_sub(LABELS - 4);
            // Whole numbers end in one column, and what is behind a point stands behind it.
            let whole = number.split('.').next().map_or(0, width);
            pen.put(end.saturating_sub(1 + whole), y, area.x, &number, dim);
            if part == 0 {
                pen.put(end, y, area.x, "%", dim);
            }
        }
    }

    /// Times below the plot, with the unit once. What is `loud` is written first and in its style.
    pub fn times(&self, ctx: &Ctx<'_>, loud: Option<(Duration, Style)>, pen: &mut Pen<'_>) {
        let (area, y) = (self.area, self.area.bottom());
        let mut taken: Vec<(u16, u16)> = Vec::new();
        let mut write = |at: Duration, text: &str, style: Style, pen: &mut Pen<'_>| {
            let Some(x) = self.column(millis(at)) else { return false };
            let from = x.saturating_sub(width(text) / 2).max(area.x.saturating_sub(2));
            let to = from.saturating_add(width(text));
            let free = to <= area.right().saturating_add(2)
                && taken.iter().all(|&(a, b)| to + 1 < a || from > b + 1);
            if free {
                taken.push((from, to));
                pen.put(from, y, to, text, style);
            }
            free
        };
        if let Some((at, style)) = loud {
            write(at, &numbers::setting_ms(at), style, pen);
        }
        let (from, to) = (self.x.0.max(0.0), self.x.1.max(0.0));
        let step = step(from, to, area.width);
        let first = from / step;
        let marks =
            (0_u32..64).map(|i| (first.ceil() + f64::from(i)) * step).take_while(|&at| at <= to + 1e-6);
        let dim = ctx.theme.dim();
        let mut unit = loud.is_some();
        for at in marks {
            let at = Duration::try_from_secs_f64(at / 1e3).unwrap_or_default();
            let text = if unit { numbers::millis(at) } else { numbers::setting_ms(at) };
            unit |= write(at, &text, dim, pen);
        }
    }
}

/// The distance of two labels, so that they have room.
fn step(from: f64, to: f64, width: u16) -> f64 {
    let span = Duration::try_from_secs_f64((to - from).max(0.0) / 1e3).unwrap_or_default();
    let step = millis(Scale::step(span));
    let room = f64::from(width.max(1)) * step / (to - from).max(1e-9);
    // A label and air around it take 6 columns.
    if room >= 6.0 { step } else { step * 2.0 }.max(1e-6)
}

/// A time in milliseconds.
#[must_use]
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn round(value: f64) -> u16 {
    value.round().clamp(0.0, f64::from(u16::MAX)) as u16
}

/// Dots of a plot, two by four in a cell; one a cell where characters are 7-bit.
pub struct Dots {
    plot: Plot,
    ascii: bool,
    cells: Vec<u8>,
}

/// Bits of a braille cell's left and right column, from above.
const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

impl Dots {
    /// None yet.
    #[must_use]
    pub fn new(plot: Plot, ascii: bool) -> Self {
        let size = usize::from(plot.area.width) * usize::from(plot.area.height);
        Self { plot, ascii, cells: vec![0; size] }
    }

    /// Columns of dots.
    fn columns(&self) -> u16 {
        self.plot.area.width.saturating_mul(if self.ascii { 1 } else { 2 })
    }

    /// A dot at this column of dots, at this share.
    fn dot(&mut self, column: u16, share: f64) {
        let Some(below) = self.plot.below_top(share) else { return };
        let (per_column, per_row) = if self.ascii { (1, 1.0) } else { (2, 4.0) };
        // A share on a line of the grid is in the middle of its row.
        let middle = (per_row - 1.0) / 2.0;
        let last = f64::from(self.plot.area.height) * per_row - 1.0;
        let row = round((below * per_row + middle - 1e-6).clamp(0.0, last.max(0.0)));
        let (cell_x, cell_y) = (column / per_column, if self.ascii { row } else { row / 4 });
        let place = usize::from(cell_y) * usize::from(self.plot.area.width) + usize::from(cell_x);
        let bit = BITS[usize::from(column % per_column)][usize::from(row % 4)];
        if cell_x < self.plot.area.width
            && let Some(cell) = self.cells.get_mut(place)
        {
            *cell |= bit;
        }
    }

    /// A line from point to point; `dashed` with every other pair of dots left out.
    pub fn line(&mut self, points: &[(f64, f64)], dashed: bool) {
        for pair in points.windows(2) {
            if let [a, b] = *pair {
                self.segment(a, b, dashed);
            }
        }
        if let [(x, share)] = *points
            && let Some(at) = self.plot.along(x)
        {
            self.dot(round(at * f64::from(self.columns().saturating_sub(1))), share);
        }
    }

    fn segment(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), dashed: bool) {
        let last = f64::from(self.columns().saturating_sub(1));
        let span = (self.plot.x.1 - self.plot.x.0).max(1e-9);
        let at = |x: f64| (x - self.plot.x.0) / span * last;
        let (from, to) = (round(at(x0)), round(at(x1).min(last)));
        if at(x1) < 0.0 || at(x0) > last {
            return;
        }
        let mut before: Option<f64> = None;
        for column in from..=to {
            if dashed && column % 4 >= 2 {
                before = None;
                continue;
            }
            let part = if x1 > x0 {
                ((f64::from(column) / last.max(1.0) * span + self.plot.x.0) - x0) / (x1 - x0)
            } else {
                1.0
            };
            let share = y0 + (y1 - y0) * part.clamp(0.0, 1.0);
            // A steep line has no gaps.
            self.upright(column, before.unwrap_or(share), share);
            before = Some(share);
        }
    }

    /// Dots one above the other.
    fn upright(&mut self, column: u16, from: f64, to: f64) {
        let rows = f64::from(self.plot.area.height) * if self.ascii { 1.0 } else { 4.0 };
        let step = ((self.plot.y.high - self.plot.y.low) / rows.max(1.0)).max(1e-6);
        let steps = round(((to - from).abs() / step).min(400.0));
        for i in 0..=steps {
            self.dot(column, to + (from - to) * f64::from(i) / f64::from(steps.max(1)) * 0.98);
        }
    }

    /// Whether there is no dot between these columns of cells in this row of the screen.
    #[must_use]
    pub fn is_free(&self, from: u16, to: u16, y: u16) -> bool {
        let area = self.plot.area;
        (from.max(area.x)..to.min(area.right())).all(|x| self.at(x, y) == 0)
    }

    fn at(&self, x: u16, y: u16) -> u8 {
        let area = self.plot.area;
        let inside = x >= area.x && x < area.right() && y >= area.y && y < area.bottom();
        let place = || usize::from(y - area.y) * usize::from(area.width) + usize::from(x - area.x);
        if inside { self.cells.get(place()).copied().unwrap_or(0) } else { 0 }
    }

    /// Writes the dots over what is there.
    pub fn draw(&self, symbol: &str, style: Style, pen: &mut Pen<'_>) {
        let area = self.plot.area;
        for y in area.y..area.bottom() {
            for x in area.x..area.right() {
                let bits = self.at(x, y);
                if bits != 0 {
                    let braille = char::from_u32(0x2800 | u32::from(bits)).unwrap_or(' ').to_string();
                    pen.cell(x, y, if self.ascii { symbol } else { &braille }, style);
                }
            }
        }
    }
}

/// A line from the top to the bottom of a plot; where dots cross it, so does it them.
pub fn upright(
    plot: &Plot,
    x: u16,
    dots: &Dots,
    (line, cross): (&str, &str),
    style: Style,
    pen: &mut Pen<'_>,
) {
    for y in plot.area.y..plot.area.bottom() {
        pen.cell(x, y, if dots.at(x, y) == 0 { line } else { cross }, style);
    }
}

impl Ctx<'_> {
    /// The style of the budget that holds.
    pub(super) fn budget_style(&self) -> Style {
        self.theme.bold(Tone::Cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_leaves_room_above_and_below() {
        let range = |share, parts| {
            let range = Range::down_from(share, parts);
            (round(range.low * 1000.0), range.parts)
        };
        assert_eq!(range(0.92, 3), (700, 3));
        assert_eq!(range(0.92, 4), (600, 4));
        assert_eq!(range(0.995, 3), (970, 3));
        assert_eq!(range(1.0, 3), (985, 3));
        assert_eq!(range(0.4, 4), (0, 4));
        assert_eq!(range(0.4, 3), (0, 2));
        assert_eq!(range(0.9, 1), (0, 2));
    }

    #[test]
    fn the_grid_is_even_where_that_takes_no_more_than_a_row() {
        let fitting: Vec<_> = (1..=14).map(Range::fitting).collect();
        assert_eq!(fitting[..4], [(1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(fitting[4..9], [(5, 2), (5, 2), (7, 3), (7, 3), (9, 4)]);
        assert_eq!(fitting[9..], [(10, 3), (11, 5), (11, 5), (13, 3), (13, 3)]);
        assert_eq!(Range::fitting(46), (46, 5));
    }

    #[test]
    fn a_share_on_a_line_of_the_grid_is_drawn_in_its_row() {
        let plot = Plot { area: Rect::new(2, 3, 10, 7), x: (0.0, 100.0), y: Range::down_from(0.92, 3) };
        assert_eq!(
            [1.0, 0.9, 0.8, 0.7, 0.6].map(|s| plot.row(s)),
            [Some(3), Some(5), Some(7), Some(9), None]
        );
        assert_eq!([0.0, 100.0, 101.0].map(|x| plot.column(x)), [Some(2), Some(11), None]);
        for ascii in [false, true] {
            let mut dots = Dots::new(plot, ascii);
            dots.line(&[(0.0, 0.9), (100.0, 0.9)], false);
            assert!(!dots.is_free(2, 12, 5) && dots.is_free(2, 12, 4) && dots.is_free(2, 12, 6));
        }
    }
}
