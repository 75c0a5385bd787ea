//! Characters that are drawn as shapes: blocks, lines and braille.

use super::{CELL, Dots};
use std::fmt;

/// A rectangle, in half units of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Area {
    pub y: u32,
    pub x: u32,
    pub height: u32,
    pub width: u32,
}

/// A cell in half units.
const WIDE: u32 = 2 * CELL.0;
const HIGH: u32 = 2 * CELL.1;

/// Thickness of a light and a heavy line, in half units.
pub(super) const LIGHT: u32 = 2;
const HEAVY: u32 = 4;

/// Where a line under text, and one through it, begins; in half units.
pub(super) const UNDER: u32 = 28;
pub(super) const THROUGH: u32 = 16;

/// From one braille dot to the next, in units of the picture.
pub(super) const PITCH: u32 = 4;

/// How a character is drawn that is no text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Not at all.
    Blank,
    /// As these rectangles.
    Areas(Vec<Area>),
    /// As a whole cell that its colour covers by so many hundredths.
    Shade(u16),
    /// As braille dots, by the low byte of its code point.
    Braille(u8),
}

const fn area(x: u32, y: u32, width: u32, height: u32) -> Area {
    Area { y, x, height, width }
}

impl Area {
    /// A cell of this many columns.
    pub(super) const fn whole(columns: u32) -> Self {
        area(0, 0, WIDE * columns, HIGH)
    }

    /// A part of a cell, in its place.
    pub(super) const fn at(self, column: u32, row: u32) -> Self {
        Self { x: self.x + column * WIDE, y: self.y + row * HIGH, ..self }
    }
}

/// A part of a path.
impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (Half(self.width), Half(self.height));
        write!(f, "M{} {}h{width}v{height}h-{width}z", Half(self.x), Half(self.y))
    }
}

/// A number of half units.
struct Half(u32);

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = if self.0 % 2 == 1 { ".5" } else { "" };
        write!(f, "{}{half}", self.0 / 2)
    }
}

/// The shape of a character; `None` where it is text.
pub(super) fn of(c: char) -> Option<Shape> {
    let code = u32::from(c);
    let areas = match c {
        ' ' | '\u{a0}' | '\u{2800}' => return Some(Shape::Blank),
        '░' => return Some(Shape::Shade(25)),
        '▒' => return Some(Shape::Shade(50)),
        '▓' => return Some(Shape::Shade(75)),
        '\u{2801}'..='\u{28ff}' => return Some(Shape::Braille(code.to_le_bytes()[0])),
        '▀' => vec![area(0, 0, WIDE, HIGH / 2)],
        // Lower eighths, 1 to 8, and left eighths, 7 to 1, in the order of their code points.
        '▁'..='█' => {
            let height = HIGH / 8 * (code - 0x2580);
            vec![area(0, HIGH - height, WIDE, height)]
        }
        '▉'..='▏' => vec![area(0, 0, WIDE / 8 * (0x2590 - code), HIGH)],
        '▐' => vec![area(WIDE / 2, 0, WIDE / 2, HIGH)],
        _ => return lines(c).map(Shape::Areas),
    };
    Some(Shape::Areas(areas))
}

/// Lines through the middle of their cells.
fn lines(c: char) -> Option<Vec<Area>> {
    let middle = |whole: u32, line: u32| (whole - line) / 2;
    let upright = |line: u32, y: u32, height: u32| area(middle(WIDE, line), y, line, height);
    let level = |line: u32, x: u32, width: u32| area(x, middle(HIGH, line), width, line);
    Some(match c {
        '─' => vec![level(LIGHT, 0, WIDE)],
        '━' => vec![level(HEAVY, 0, WIDE)],
        '╸' => vec![level(HEAVY, 0, WIDE / 2)],
        '│' => vec![upright(LIGHT, 0, HIGH)],
        '┃' => vec![upright(HEAVY, 0, HIGH)],
        '┫' => vec![upright(HEAVY, 0, HIGH), level(HEAVY, 0, middle(WIDE, HEAVY))],
        '└' => {
            let corner = middle(HIGH, LIGHT) + LIGHT;
            let right = middle(WIDE, LIGHT) + LIGHT;
            vec![upright(LIGHT, 0, corner), level(LIGHT, right, WIDE - right)]
        }
        '┊' => (0..4).map(|i| upright(LIGHT, 2 + 8 * i, 4)).collect(),
        '╎' => (0..2).map(|i| upright(LIGHT, 3 + 16 * i, 10)).collect(),
        _ => return None,
    })
}

/// Column and row of each bit of a braille pattern.
const BITS: [(u32, u32); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];

/// The dots of a braille pattern in its place.
pub(super) fn dots(pattern: u8, column: u32, row: u32) -> impl Iterator<Item = Dots> {
    let set = BITS.into_iter().enumerate().filter(move |(bit, _)| pattern & (1 << bit) != 0);
    set.map(move |(_, (across, down))| Dots {
        x: column * CELL.0 + PITCH / 2 + across * PITCH,
        y: row * CELL.1 + PITCH / 2 + down * PITCH,
        count: 1,
    })
}

/// Dots side by side as rows of dots.
pub(super) fn joined(mut dots: Vec<Dots>) -> Vec<Dots> {
    dots.sort_unstable();
    dots.dedup_by(|next, row| {
        let follows = next.y == row.y && next.x == row.x + row.count * PITCH;
        row.count += if follows { next.count } else { 0 };
        follows
    });
    dots
}

/// Rectangles that touch along a whole side as one: first side by side, then on top of each other.
pub(super) fn merged(mut areas: Vec<Area>) -> Vec<Area> {
    areas.sort_unstable();
    areas.dedup_by(|next, last| {
        let follows = (next.y, next.height) == (last.y, last.height) && next.x == last.x + last.width;
        last.width += if follows { next.width } else { 0 };
        follows
    });
    areas.sort_unstable_by_key(|a| (a.x, a.width, a.y));
    areas.dedup_by(|next, last| {
        let follows = (next.x, next.width) == (last.x, last.width) && next.y == last.y + last.height;
        last.height += if follows { next.height } else { 0 };
        follows
    });
    areas
}
