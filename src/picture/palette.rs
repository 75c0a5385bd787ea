//! Colours of a picture: what a terminal would make of a cell's style.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use std::fmt;

/// A colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// As CSS and SVG write it.
impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl Rgb {
    /// This colour where it covers so many hundredths of the other.
    fn over(self, ground: Self, percent: u16) -> Self {
        let mix = |a: u8, b: u8| {
            let sum = u16::from(a) * percent + u16::from(b) * 100_u16.saturating_sub(percent);
            u8::try_from((sum + 50) / 100).unwrap_or(u8::MAX)
        };
        Self(mix(self.0, ground.0), mix(self.1, ground.1), mix(self.2, ground.2))
    }
}

/// A terminal's colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// Behind everything.
    pub background: Rgb,
    /// Of ordinary text.
    pub foreground: Rgb,
    /// The sixteen: black, red, green, yellow, blue, magenta, cyan, white, and the same brighter.
    pub ansi: [Rgb; 16],
}

/// How much of its colour dim text keeps, in hundredths.
const DIM: u16 = 58;

/// The steps of the 6x6x6 cube of indexed colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What a cell is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inks {
    /// Its symbol.
    pub text: Rgb,
    /// Its ground, where that is not the picture's.
    pub background: Option<Rgb>,
    ground: Rgb,
}

impl Inks {
    /// The symbol's colour where it covers only so many hundredths of the cell.
    pub(super) fn shade(&self, percent: u16) -> Rgb {
        self.text.over(self.ground, percent)
    }
}

impl Palette {
    /// Light on dark.
    pub const DARK: Self = Self {
        background: Rgb(0x12, 0x14, 0x17),
        foreground: Rgb(0xd8, 0xd8, 0xd8),
        ansi: [
            Rgb(0x12, 0x14, 0x17),
            Rgb(0xe0, 0x52, 0x5a),
            Rgb(0x5f, 0xb8, 0x65),
            Rgb(0xd9, 0xa4, 0x41),
            Rgb(0x5b, 0x8d, 0xd9),
            Rgb(0xb0, 0x72, 0xd6),
            Rgb(0x3f, 0xb3, 0xb8),
            Rgb(0xd8, 0xd8, 0xd8),
            Rgb(0x6c, 0x6d, 0x6f),
            Rgb(0xee, 0x7a, 0x80),
            Rgb(0x86, 0xd0, 0x8b),
            Rgb(0xe8, 0xc0, 0x70),
            Rgb(0x85, 0xab, 0xe6),
            Rgb(0xc8, 0x98, 0xe4),
            Rgb(0x6f, 0xcc, 0xd0),
            Rgb(0xff, 0xff, 0xff),
        ],
    };

    /// Dark on light.
    pub const LIGHT: Self = Self {
        background: Rgb(0xfb, 0xfb, 0xfa),
        foreground: Rgb(0x24, 0x29, 0x2e),
        ansi: [
            Rgb(0x24, 0x29, 0x2e),
            Rgb(0xb8, 0x1f, 0x2d),
            Rgb(0x1f, 0x7a, 0x34),
            Rgb(0x8a, 0x61, 0x00),
            Rgb(0x1f, 0x56, 0xa8),
            Rgb(0x7b, 0x36, 0xa8),
            Rgb(0x0f, 0x70, 0x78),
            Rgb(0xe4, 0xe5, 0xe5),
            Rgb(0x7e, 0x81, 0x84),
            Rgb(0xd2, 0x3c, 0x4a),
            Rgb(0x2c, 0x97, 0x46),
            Rgb(0xa8, 0x7a, 0x0c),
            Rgb(0x35, 0x70, 0xc6),
            Rgb(0x96, 0x52, 0xc2),
            Rgb(0x20, 0x8b, 0x94),
            Rgb(0xfb, 0xfb, 0xfa),
        ],
    };

    /// The same on another ground, with text of another colour.
    #[must_use]
    pub fn on(self, ground: Color, text: Color) -> Self {
        let (background, foreground) =
            (self.colour(ground, self.background), self.colour(text, self.foreground));
        Self { background, foreground, ..self }
    }

    /// Dim mixes toward the ground, reverse exchanges the two, in this order.
    pub(super) fn inks(&self, cell: &Cell) -> Inks {
        let ground = self.colour(cell.bg, self.background);
        let plain = self.colour(cell.fg, self.foreground);
        let dim = cell.modifier.contains(Modifier::DIM);
        let text = if dim { plain.over(ground, DIM) } else { plain };
        let reversed = cell.modifier.contains(Modifier::REVERSED);
        let (text, ground) = if reversed { (ground, text) } else { (text, ground) };
        // What is behind everything need not be drawn once more.
        let background = (ground != self.background).then_some(ground);
        Inks { text, background, ground }
    }

    fn colour(&self, colour: Color, default: Rgb) -> Rgb {
        match colour {
            Color::Reset => default,
            Color::Rgb(r, g, b) => Rgb(r, g, b),
            Color::Indexed(index) => self.indexed(index),
            Color::Black => self.ansi[0],
            Color::Red => self.ansi[1],
            Color::Green => self.ansi[2],
            Color::Yellow => self.ansi[3],
            Color::Blue => self.ansi[4],
            Color::Magenta => self.ansi[5],
            Color::Cyan => self.ansi[6],
            Color::Gray => self.ansi[7],
            Color::DarkGray => self.ansi[8],
            Color::LightRed => self.ansi[9],
            Color::LightGreen => self.ansi[10],
            Color::LightYellow => self.ansi[11],
            Color::LightBlue => self.ansi[12],
            Color::LightMagenta => self.ansi[13],
            Color::LightCyan => self.ansi[14],
            Color::White => self.ansi[15],
        }
    }

    /// One of xterm's 256: the sixteen, a cube, and 24 greys.
    fn indexed(&self, index: u8) -> Rgb {
        if let Some(colour) = self.ansi.get(usize::from(index)) {
            return *colour;
        }
        let Some(grey) = index.checked_sub(232) else {
            let step = |of: u8| CUBE[usize::from((index - 16) / of % 6)];
            return Rgb(step(36), step(6), step(1));
        };
        let level = 8 + 10 * grey;
        Rgb(level, level, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    fn inks(style: Style) -> (String, Option<String>) {
        let mut cell = Cell::new("x");
        cell.set_style(style);
        let inks = Palette::DARK.inks(&cell);
        (inks.text.to_string(), inks.background.map(|b| b.to_string()))
    }

    #[test]
    fn a_style_becomes_the_colours_a_terminal_would_show() {
        assert_eq!(inks(Style::new()), ("#d8d8d8".to_owned(), None));
        assert_eq!(inks(Style::new().fg(Color::Green)).0, "#5fb865");
        assert_eq!(inks(Style::new().fg(Color::Green).add_modifier(Modifier::DIM)).0, "#3f7344");
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        assert_eq!(inks(reversed), ("#121417".to_owned(), Some("#d8d8d8".to_owned())));
        assert_eq!(inks(reversed.bg(Color::Red)), ("#e0525a".to_owned(), Some("#d8d8d8".to_owned())));
        assert_eq!(inks(Style::new().bg(Color::Rgb(1, 2, 3))).1.as_deref(), Some("#010203"));
    }

    #[test]
    fn indexed_colours_are_those_of_xterm() {
        for (index, is) in [(9, "#ee7a80"), (16, "#000000"), (231, "#ffffff"), (208, "#ff8700")] {
            assert_eq!(inks(Style::new().fg(Color::Indexed(index))).0, is);
        }
        assert_eq!(inks(Style::new().fg(Color::Indexed(232))).0, "#080808");
        assert_eq!(inks(Style::new().fg(Color::Indexed(255))).0, "#eeeeee");
    }

    #[test]
    fn ordinary_and_dim_text_can_be_read_on_both_grounds() {
        /// Relative luminance by WCAG 2.
        fn luminance(c: Rgb) -> f64 {
            let channel = |v: u8| {
                let v = f64::from(v) / 255.0;
                if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(c.0) + 0.7152 * channel(c.1) + 0.0722 * channel(c.2)
        }
        let contrast = |a: Rgb, b: Rgb| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for palette in [Palette::DARK, Palette::LIGHT] {
            let dim = palette.foreground.over(palette.background, DIM);
            assert!(contrast(palette.foreground, palette.background) >= 7.0);
            assert!(contrast(dim, palette.background) >= 3.5, "{dim}");
            for colour in &palette.ansi[1..7] {
                assert!(contrast(*colour, palette.background) >= 4.5, "{colour}");
            }
        }
    }
}
