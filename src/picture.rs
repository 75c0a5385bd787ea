//! Pictures of a screen: a ratatui [`Buffer`] becomes a self-contained SVG, cell by cell.
//!
//! Blocks, lines and braille are drawn as shapes, so that bars have no seams and dots the same pitch in every
//! font; everything else is text in runs that begin at their own column. Knows ratatui's cells and nothing of the
//! app, the engine or a terminal.

mod palette;
mod shapes;
#[cfg(test)]
mod tests;

pub use palette::{Palette, Rgb};

use palette::Inks;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;
use shapes::{Area, Shape};
use std::collections::BTreeMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Size of a cell in the picture's own units, and where in it the text stands.
const CELL: (u32, u32) = (8, 16);
const BASELINE: u32 = 12;

/// A monospace font whose characters are 0.602 of its size wide then fills the cell.
const FONT_SIZE: &str = "13.3";
const FONTS: &str = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace";

/// Width of a cell in pixels where nothing scales the picture; twice that is its height.
const PIXELS: u32 = 10;

/// What a picture says to those who don't see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caption<'a> {
    /// In a few words.
    pub title: &'a str,
    /// In a sentence or two.
    pub description: &'a str,
}

/// A screen as SVG, with a margin of half a row. The same cells make the same text, byte by byte.
#[must_use]
pub fn svg(buffer: &Buffer, palette: &Palette, caption: Caption<'_>) -> String {
    let layers = Layers::of(buffer, palette);
    let size = |cells: u16, unit: u32| u32::from(cells).saturating_mul(unit);
    let (width, height) = (size(buffer.area.width, CELL.0), size(buffer.area.height, CELL.1));
    let margin = CELL.1 / 2;
    let (across, down) = (width.saturating_add(2 * margin), height.saturating_add(2 * margin));
    let pixels = |units: u32| units.saturating_mul(PIXELS) / CELL.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"-{margin} -{margin} {across} {down}\" role=\"img\" font-family=\"{FONTS}\" \
         font-size=\"{FONT_SIZE}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <path fill=\"{}\" d=\"M-{margin} -{margin}h{across}v{down}h-{across}z\"/>\n",
        pixels(across),
        pixels(down),
        escaped(caption.title),
        escaped(caption.description),
        palette.background,
    );
    layers.write(&mut out);
    out.push_str("</svg>\n");
    out
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ink {
    colour: Rgb,
    bold: bool,
    italic: bool,
}

/// Text of one look within a row.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    column: u32,
    row: u32,
    columns: u32,
    text: String,
}

/// A row of braille dots at an even pitch: its first dot in picture units, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Dots {
    y: u32,
    x: u32,
    count: u32,
}

/// What is drawn, from the back to the front; within a layer by colour.
#[derive(Debug, Default)]
struct Layers {
    backgrounds: BTreeMap<Rgb, Vec<Area>>,
    shapes: BTreeMap<Rgb, Vec<Area>>,
    dots: BTreeMap<Rgb, Vec<Dots>>,
    text: BTreeMap<Ink, Vec<Run>>,
    /// The run that is being written.
    pen: Option<(Ink, Run)>,
}

impl Layers {
    fn of(buffer: &Buffer, palette: &Palette) -> Self {
        let mut layers = Self::default();
        let columns = usize::from(buffer.area.width).max(1);
        for (row, cells) in (0..).zip(buffer.content.chunks(columns)) {
            layers.row(row, cells, palette);
        }
        layers
    }

    fn row(&mut self, row: u32, cells: &[Cell], palette: &Palette) {
        let mut column = 0;
        while let Some(cell) = usize::try_from(column).ok().and_then(|i| cells.get(i)) {
            let text = clean(cell.symbol());
            let columns = u32::try_from(text.width()).unwrap_or(1).max(1);
            let inks = palette.inks(cell);
            let place = Run { column, row, columns, text };
            self.grounds(&place, cell, &inks);
            if !cell.modifier.contains(Modifier::HIDDEN) {
                self.symbol(place, cell.modifier, &inks);
            }
            column += columns;
        }
        self.lift();
    }

    /// What lies behind and under a cell's symbol.
    fn grounds(&mut self, place: &Run, cell: &Cell, inks: &Inks) {
        let whole = Area::whole(place.columns).at(place.column, place.row);
        if let Some(background) = inks.background {
            self.backgrounds.entry(background).or_default().push(whole);
        }
        let lines = [(Modifier::UNDERLINED, shapes::UNDER), (Modifier::CROSSED_OUT, shapes::THROUGH)];
        for (_, y) in lines.into_iter().filter(|(modifier, _)| cell.modifier.contains(*modifier)) {
            let line = Area { y: whole.y + y, height: shapes::LIGHT, ..whole };
            self.shapes.entry(inks.text).or_default().push(line);
        }
    }

    fn symbol(&mut self, symbol: Run, modifier: Modifier, inks: &Inks) {
        let mut chars = symbol.text.chars();
        let (column, row) = (symbol.column, symbol.row);
        match chars.next().filter(|_| chars.next().is_none()).and_then(shapes::of) {
            Some(Shape::Blank) => return,
            Some(Shape::Areas(areas)) => {
                let placed = areas.iter().map(|area| area.at(column, row));
                self.shapes.entry(inks.text).or_default().extend(placed);
            }
            Some(Shape::Shade(percent)) => {
                let area = Area::whole(1).at(column, row);
                self.shapes.entry(inks.shade(percent)).or_default().push(area);
            }
            Some(Shape::Braille(dots)) => {
                self.dots.entry(inks.text).or_default().extend(shapes::dots(dots, column, row));
            }
            None => {
                let (bold, italic) = (modifier.contains(Modifier::BOLD), modifier.contains(Modifier::ITALIC));
                self.letters(symbol, Ink { colour: inks.text, bold, italic });
                return;
            }
        }
        self.lift();
    }

    /// Joins a symbol to the run before it where that looks the same in any font.
    fn letters(&mut self, new: Run, ink: Ink) {
        if new.text.trim().is_empty() {
            return;
        }
        if let Some((last, run)) = self.pen.as_mut() {
            let gap = new.column.saturating_sub(run.column + run.columns);
            if *last == ink && gap <= 1 && is_plain(&run.text) && is_plain(&new.text) {
                run.text.push_str(if gap == 1 { " " } else { "" });
                run.text.push_str(&new.text);
                run.columns += gap + new.columns;
                return;
            }
        }
        self.lift();
        self.pen = Some((ink, new));
    }

    /// Ends the run that is being written.
    fn lift(&mut self) {
        if let Some((ink, run)) = self.pen.take() {
            self.text.entry(ink).or_default().push(run);
        }
    }

    fn write(self, out: &mut String) {
        for (colour, areas) in self.backgrounds.into_iter().chain(self.shapes) {
            let path: String = shapes::merged(areas).iter().map(ToString::to_string).collect();
            put(out, format_args!("<path fill=\"{colour}\" d=\"{path}\"/>\n"));
        }
        for (colour, dots) in self.dots {
            // A dash of no length with a round cap is a dot; where the line ends a little later, its last is too.
            let line = |d: &Dots| format!("M{} {}h{}.1", d.x, d.y, d.count.saturating_sub(1) * shapes::PITCH);
            let path: String = shapes::joined(dots).iter().map(line).collect();
            let pitch = shapes::PITCH;
            put(
                out,
                format_args!(
                    "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.6\" stroke-linecap=\"round\" \
                     stroke-dasharray=\"0 {pitch}\" d=\"{path}\"/>\n"
                ),
            );
        }
        for (ink, runs) in self.text {
            let bold = if ink.bold { " font-weight=\"bold\"" } else { "" };
            let italic = if ink.italic { " font-style=\"italic\"" } else { "" };
            put(out, format_args!("<g fill=\"{}\"{bold}{italic}>\n", ink.colour));
            for run in runs {
                run.write(out);
            }
            out.push_str("</g>\n");
        }
    }
}

impl Run {
    fn write(&self, out: &mut String) {
        let (x, y) = (self.column * CELL.0, self.row * CELL.1 + BASELINE);
        put(out, format_args!("<text x=\"{x}\" y=\"{y}\""));
        // One character needs no stretching: it has no neighbour to keep its distance from.
        if self.columns > 1 {
            put(out, format_args!(" textLength=\"{}\"", self.columns * CELL.0));
        }
        put(out, format_args!(">{}</text>\n", escaped(&self.text)));
    }
}

/// Whether every font of the list has these characters in the width of a cell; what it lacks comes from another
/// font, and would push its neighbours.
fn is_plain(text: &str) -> bool {
    text.is_ascii()
}

/// Without what XML 1.0 can't hold: control characters and the two that are no characters.
fn clean(text: &str) -> String {
    let held = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(held).collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Adds to the text.
fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = out.write_fmt(what);
}
