//! All calls by window: where they went, and what share was answered.

use super::ctx::Ctx;
use super::text::{Pen, Row};
use super::theme::Tone;
use crate::domain::{Mode, numbers};
use crate::stats::{Totals, Window};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

/// The totals panel.
pub struct TotalsPanel<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Columns of a window's number, within a panel of so many columns.
fn step(width: u16) -> u16 {
    (width.saturating_sub(10) / 4).clamp(9, 14)
}

impl Widget for &TotalsPanel<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let mut pen = Pen::new(buf);
        let totals = Window::ALL.map(|w| ctx.app.stats().totals(w));
        let rounds = totals.last().map_or(0, |t| t.rounds);
        let words = numbers::counted(rounds, "round", "rounds");
        let first = Row { x: area.x, y: area.y, width: area.width };
        let title = [ctx.bold("Calls", Tone::Plain)];
        pen.title(first, &title, (ctx.glyphs.rule, theme.dim()), &[ctx.dim(words)]);
        let step = step(area.width);
        let ends = (1..).map(|i| area.x + 10 + i * step);
        let mut ys = (area.y + 1)..area.bottom();
        if let Some(y) = ys.next() {
            for (window, end) in Window::ALL.into_iter().zip(ends.clone()) {
                let label = if window == Window::Start && step < 13 { "start" } else { window.label() };
                pen.put_right(end, y, label, self.style(window, Tone::Dim));
            }
        }
        if rounds == 0 {
            return;
        }
        let room = ys.len();
        let mut row =
            |glyph: &str, word: &str, tone: Tone, number: Tone, value: &dyn Fn(&Totals) -> String| {
                let Some(y) = ys.next() else { return };
                pen.put(area.x + 1, y, area.right(), glyph, theme.tone(tone));
                pen.put(area.x + 3, y, area.right(), word, theme.tone(tone));
                for ((totals, window), end) in totals.iter().zip(Window::ALL).zip(ends.clone()) {
                    let text = value(totals);
                    let zero = text == ctx.glyphs.dot;
                    pen.put_right(end, y, &text, if zero { theme.dim() } else { self.style(window, number) });
                }
            };
        let count = |n: u64| if n == 0 { ctx.glyphs.dot.to_owned() } else { n.to_string() };
        row(ctx.glyphs.ok, "ok", Tone::Ok, Tone::Plain, &|t| count(t.ok));
        row(ctx.glyphs.cut, "cut", Tone::Cut, Tone::Cut, &|t| count(t.cut));
        row(ctx.glyphs.error, "error", Tone::Error, Tone::Error, &|t| count(t.error));
        // Where not all rows fit the sum goes first, and then what says least in this mode.
        if room >= 5 || ctx.app.mode() == Mode::Quorum {
            row(ctx.glyphs.not_needed, "not needed", Tone::Dim, Tone::Dim, &|t| count(t.not_needed));
        }
        if room >= 6 {
            row(" ", "all calls", Tone::Dim, Tone::Dim, &|t| count(t.calls()));
        }
        row(" ", "answered", Tone::Dim, Tone::Plain, &|t| numbers::percent(t.ok, t.calls(), ctx.glyphs.none));
    }
}

impl TotalsPanel<'_> {
    /// The chosen window is read first.
    fn style(&self, window: Window, tone: Tone) -> Style {
        let theme = self.ctx.theme;
        if window == self.ctx.app.window { theme.bold(tone) } else { theme.tone(tone) }
    }
}
