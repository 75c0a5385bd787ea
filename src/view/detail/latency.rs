//! How long the endpoint's answers take, cut calls taken for what they are: not over yet.

use crate::domain::numbers;
use crate::stats::Quantile;
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, Row};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The latency panel.
pub struct Latency<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Shares of calls, their names, and whether to read them first.
const SHARES: [(f64, &str, bool); 4] =
    [(0.5, "p50", true), (0.9, "p90", true), (0.95, "p95", false), (0.99, "p99", false)];

/// The column after the number, from the panel's left edge.
const NUMBER_END: u16 = 16;

/// The column of a word where there is no number, or only a bound.
const WORD: u16 = 20;

impl Widget for &Latency<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let mut pen = Pen::new(buf);
        let row = Row { x: area.x, y: area.y, width: area.width };
        let title = [ctx.bold("Latency", Tone::Plain)];
        pen.title(row, &title, (ctx.glyphs.rule, theme.dim()), &[ctx.dim("latest primary attempts")]);
        pen.put_right(area.x + NUMBER_END, area.y + 1, "ms", theme.dim());
        for ((share, name, first), y) in SHARES.into_iter().zip(area.y + 2..area.bottom()) {
            pen.put(area.x + 3, y, area.right(), name, theme.tone(Tone::Plain));
            let quantile = ctx.app.stats().quantile(ctx.selected(), share);
            let strong = if first { theme.bold(Tone::Plain) } else { theme.tone(Tone::Plain) };
            let (number, style, grade) = match quantile {
                Quantile::At(time) => (numbers::measured(time).0, strong, ""),
                Quantile::Above(time) => {
                    (format!(">{}", numbers::measured(time).0), theme.tone(Tone::Cut), "censored")
                }
                Quantile::None => (ctx.glyphs.none.to_owned(), theme.dim(), "not reached, or too few calls"),
            };
            pen.put_right(area.x + NUMBER_END, y, &number, style);
            pen.put(area.x + WORD, y, area.right(), grade, theme.dim());
        }
    }
}
