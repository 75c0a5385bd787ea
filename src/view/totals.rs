//! All calls by window: where they went, and what share was answered.

use super::ctx::Ctx;
use super::text::{Pen, Row};
use super::theme::Tone;
use crate::domain::numbers;
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

/// Columns after the number of each window, from the panel's left edge.
const ENDS: [u16; 4] = [19, 28, 37, 46];

impl Widget for &TotalsPanel<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let mut pen = Pen::new(buf);
        let totals = Window::ALL.map(|w| ctx.app.stats().totals(w));
        let rounds = totals.last().map_or(0, |t| t.rounds);
        let words = format!("{rounds} {}", if rounds == 1 { "round" } else { "rounds" });
        let first = Row { x: area.x, y: area.y, width: area.width };
        pen.title(
            first,
            &[ctx.bold("Calls", Tone::Plain)],
            (ctx.glyphs.rule, theme.dim()),
            &[ctx.dim(words)],
        );
        let mut ys = (area.y + 1)..area.bottom();
        if area.height > 6
            && let Some(y) = ys.next()
        {
            for (window, end) in Window::ALL.iter().zip(ENDS) {
                let label = if *window == Window::Start { "start" } else { window.label() };
                pen.put_right(area.x + end, y, label, theme.dim());
            }
        }
        if rounds == 0 {
            return;
        }
        let plain = theme.tone(Tone::Plain);
        let mut row =
            |glyph: &str, word: &str, tone: Tone, style: Style, value: &dyn Fn(&Totals) -> String| {
                let Some(y) = ys.next() else { return };
                pen.put(area.x + 1, y, area.right(), glyph, theme.tone(tone));
                pen.put(area.x + 3, y, area.right(), word, theme.tone(tone));
                for (totals, end) in totals.iter().zip(ENDS) {
                    let text = value(totals);
                    let zero = text == ctx.glyphs.dot;
                    pen.put_right(area.x + end, y, &text, if zero { theme.dim() } else { style });
                }
            };
        let count = |n: u64| if n == 0 { ctx.glyphs.dot.to_owned() } else { n.to_string() };
        row(ctx.glyphs.ok, "ok", Tone::Ok, plain, &|t| count(t.ok));
        row(ctx.glyphs.cut, "cut", Tone::Cut, theme.tone(Tone::Cut), &|t| count(t.cut));
        row(ctx.glyphs.error, "error", Tone::Error, theme.tone(Tone::Error), &|t| count(t.error));
        row(ctx.glyphs.not_needed, "not needed", Tone::Dim, theme.dim(), &|t| count(t.not_needed));
        row(" ", "all calls", Tone::Dim, theme.dim(), &|t| count(t.calls()));
        row(" ", "answered", Tone::Dim, theme.bold(Tone::Plain), &|t| {
            numbers::percent(t.ok, t.calls(), ctx.glyphs.none)
        });
    }
}
