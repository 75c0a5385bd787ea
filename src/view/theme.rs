//! What a colour means, and nothing else: one meaning each, and no state by colour alone. The terminal's own theme
//! has its colours 1 to 6, default, dim, bold and reverse; never 8 to 15 (greys in Solarized), never a background.
//! Themes that paint have a ground and colours of their own, and no dim: terminals differ in what they make of it.

mod palettes;

use crate::app::{Colour, ThemeName};
use palettes::{Palette, Rgb};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// A meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// Secondary, not needed, lost.
    Dim,
    /// Answered; also the quorum line.
    Ok,
    /// An error.
    Error,
    /// The deadline and what it cut.
    Cut,
    /// Running.
    Running,
    /// Hedges.
    Hedge,
}

/// Where colours come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inks {
    /// There are none.
    None,
    /// The terminal's own: they are what its owner chose to read.
    Terminal,
    /// A palette's, exactly or as the nearest of the 256 that terminals number.
    Painted(&'static Palette, Depth),
}

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Any,
    Indexed,
}

/// Tones to styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme(Inks);

impl Theme {
    /// The theme of this name for a terminal.
    #[must_use]
    pub const fn new(name: ThemeName, colour: Colour) -> Self {
        let depth = match colour {
            Colour::Mono => return Self(Inks::None),
            Colour::Ansi16 => Depth::Indexed,
            Colour::TrueColor => Depth::Any,
        };
        let palette = match name {
            ThemeName::Mono => return Self(Inks::None),
            ThemeName::Terminal => return Self(Inks::Terminal),
            ThemeName::Dark => &palettes::DARK,
            ThemeName::Light => &palettes::LIGHT,
            ThemeName::HighContrast => &palettes::HIGH_CONTRAST,
            ThemeName::ColourBlindSafe => &palettes::COLOUR_BLIND_SAFE,
        };
        Self(Inks::Painted(palette, depth))
    }

    /// A tone as it is.
    #[must_use]
    pub fn tone(self, tone: Tone) -> Style {
        match self.0 {
            Inks::Painted(palette, depth) => Style::new().fg(depth.colour(palette.ink(tone))),
            Inks::Terminal => terminal(tone),
            Inks::None if tone == Tone::Dim => terminal(tone),
            Inks::None => Style::new(),
        }
    }

    /// A tone to be read first.
    #[must_use]
    pub fn bold(self, tone: Tone) -> Style {
        self.tone(tone).remove_modifier(Modifier::DIM).add_modifier(Modifier::BOLD)
    }

    /// A tone in the background: the time before an answer.
    #[must_use]
    pub fn faint(self, tone: Tone) -> Style {
        match self.0 {
            Inks::Painted(palette, depth) => Style::new().fg(depth.colour(palette.faint(tone))),
            _ => self.tone(tone).add_modifier(Modifier::DIM),
        }
    }

    /// Secondary text.
    #[must_use]
    pub fn dim(self) -> Style {
        self.tone(Tone::Dim)
    }

    /// Nothing but the terminal's own colours.
    #[must_use]
    pub fn blank() -> Style {
        Style::new()
    }

    /// A state that must not be overlooked.
    #[must_use]
    pub fn reversed() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What is behind everything and what ordinary text has, in themes that paint.
    #[must_use]
    pub fn ground(self) -> Option<(Color, Color)> {
        match self.0 {
            Inks::Painted(palette, depth) => {
                Some((depth.colour(palette.ground), depth.colour(palette.ink(Tone::Plain))))
            }
            Inks::Terminal | Inks::None => None,
        }
    }

    /// Paints the ground under what is drawn, in themes that paint.
    pub fn paint(self, area: Rect, buf: &mut Buffer) {
        let Some((ground, text)) = self.ground() else { return };
        for position in area.intersection(buf.area).positions() {
            let cell = &mut buf[position];
            if cell.bg == Color::Reset {
                cell.bg = ground;
            }
            if cell.fg == Color::Reset {
                cell.fg = text;
            }
        }
    }
}

/// A tone in the terminal's own colours.
fn terminal(tone: Tone) -> Style {
    let colour = match tone {
        Tone::Plain => return Style::new(),
        Tone::Dim => return Style::new().add_modifier(Modifier::DIM),
        Tone::Ok => Color::Green,
        Tone::Error => Color::Red,
        Tone::Cut => Color::Yellow,
        Tone::Running => Color::Cyan,
        Tone::Hedge => Color::Magenta,
    };
    Style::new().fg(colour)
}

impl Depth {
    fn colour(self, Rgb(r, g, b): Rgb) -> Color {
        match self {
            Self::Any => Color::Rgb(r, g, b),
            Self::Indexed => Color::Indexed(palettes::nearest(Rgb(r, g, b))),
        }
    }
}
