//! What every panel needs: the state, the theme, the glyphs, and pieces of text with a meaning.

use super::glyphs::Glyphs;
use super::text::cut_middle;
use super::theme::{Theme, Tone};
use crate::app::App;
use crate::domain::{EndpointId, numbers};
use crate::stats::HedgeRow;
use ratatui::text::Span;
use std::cell::OnceCell;

/// What every panel needs: the state and how it is to look. It holds for one frame.
pub struct Ctx<'a> {
    /// The state.
    pub app: &'a App,
    /// Tones to styles.
    pub theme: Theme,
    /// The set of glyphs.
    pub glyphs: &'static Glyphs,
    hedges: OnceCell<Vec<HedgeRow>>,
}

impl<'a> Ctx<'a> {
    /// How this app is to be drawn.
    #[must_use]
    pub fn new(app: &'a App) -> Self {
        Self { app, theme: super::theme(app), glyphs: Glyphs::of(app.options.ascii), hedges: OnceCell::new() }
    }

    /// Hedges of the chosen window, counted once a frame for their panel and the advice under it.
    #[must_use]
    pub fn hedges(&self) -> &[HedgeRow] {
        self.hedges.get_or_init(|| self.app.stats().hedges(self.app.window))
    }

    /// Ordinary text.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Span<'static> {
        Span::raw(text.into())
    }

    /// Secondary text.
    #[must_use]
    pub fn dim(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.theme.dim())
    }

    /// Text with a meaning.
    #[must_use]
    pub fn tone(&self, text: impl Into<String>, tone: Tone) -> Span<'static> {
        Span::styled(text.into(), self.theme.tone(tone))
    }

    /// Text with a meaning, to be read first.
    #[must_use]
    pub fn bold(&self, text: impl Into<String>, tone: Tone) -> Span<'static> {
        Span::styled(text.into(), self.theme.bold(tone))
    }

    /// The chosen window and how many rounds are in it: `last 1 min · 120 rounds`.
    #[must_use]
    pub fn window_words(&self, rounds: u64) -> String {
        let rounds = numbers::counted(rounds, "round", "rounds");
        format!("{} {} {rounds}", self.app.window.title(), self.glyphs.dot)
    }

    /// Why there is nothing to count.
    #[must_use]
    pub fn nothing_counted(&self) -> &'static str {
        if self.app.stats().history().is_empty() { "no round has settled yet" } else { "no round counts yet" }
    }

    /// An endpoint's name within so many columns, cut in its middle.
    #[must_use]
    pub fn name(&self, id: EndpointId, most: u16) -> String {
        cut_middle(self.endpoint(id), most, self.glyphs.ellipsis)
    }

    /// An endpoint's name.
    #[must_use]
    pub fn endpoint(&self, id: EndpointId) -> &str {
        self.app.endpoints.get(id.index()).map_or("?", |e| e.name.as_str())
    }
}
