//! What a colour means, and nothing else: one meaning each. Only the terminal's colours 1 to 6, default, dim,
//! bold and reverse; never 8 to 15 (greys in Solarized), never a background.

use crate::app::Colour;
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

/// Tones to styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme(Colour);

impl Theme {
    /// The theme for a terminal. True colour has no refinements yet: the terminal's own colours are what its
    /// owner chose to read.
    #[must_use]
    pub const fn new(colour: Colour) -> Self {
        Self(colour)
    }

    /// A tone as it is.
    #[must_use]
    pub fn tone(self, tone: Tone) -> Style {
        let colour = match tone {
            Tone::Plain => return Style::new(),
            Tone::Dim => return Style::new().add_modifier(Modifier::DIM),
            Tone::Ok => Color::Green,
            Tone::Error => Color::Red,
            Tone::Cut => Color::Yellow,
            Tone::Running => Color::Cyan,
            Tone::Hedge => Color::Magenta,
        };
        if self.0 == Colour::Mono { Style::new() } else { Style::new().fg(colour) }
    }

    /// A tone to be read first.
    #[must_use]
    pub fn bold(self, tone: Tone) -> Style {
        self.tone(tone).remove_modifier(Modifier::DIM).add_modifier(Modifier::BOLD)
    }

    /// A tone in the background: the time before an answer.
    #[must_use]
    pub fn faint(self, tone: Tone) -> Style {
        self.tone(tone).add_modifier(Modifier::DIM)
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
}
