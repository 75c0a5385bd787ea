//! The endpoint's calls round by round: a column each, the newest at the right, time upward. An answer is a dot
//! at its time, a cut a square on the line of the budget that cut it.

use super::dots::{Dot, Kind};
use crate::domain::numbers;
use crate::view::axis::Axis;
use crate::view::ctx::Ctx;
use crate::view::layout::Columns;
use crate::view::scale::Scale;
use crate::view::text::{Pen, Row, spans_width, width};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use std::time::Duration;

/// The chart.
pub struct Rounds<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Columns of the times at the left.
const LABELS: u16 = 11;

/// Where times are: zero at the lowest row's bottom, the scale's length at the highest row's top.
#[derive(Debug, Clone, Copy)]
struct Grid {
    area: Rect,
    scale: Scale,
}

/// Steps of a dot within a row.
const STEPS: u32 = 3;

impl Grid {
    /// The row of an instant, and the step within it; what is beyond stands in the highest.
    fn place(&self, time: Duration) -> (u16, usize) {
        let most = u32::from(self.area.height).saturating_mul(8).saturating_sub(1);
        let eighths = self.scale.eighths(time).min(most);
        let row = u16::try_from(eighths / 8).unwrap_or(u16::MAX);
        let y = self.area.bottom().saturating_sub(1).saturating_sub(row);
        (y, usize::try_from(eighths % 8 * STEPS / 8).unwrap_or_default())
    }
}

impl Widget for &Rounds<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.width < LABELS + 4 || area.height < 4 {
            return;
        }
        let ctx = self.ctx;
        let (x, end) = (area.x + LABELS, area.right().saturating_sub(1));
        let dots = Dot::all(ctx, usize::from(end.saturating_sub(x)));
        let mut pen = Pen::new(buf);
        self.title(Row { x: area.x, y: area.y, width: area.width }, &dots, &mut pen);
        let plot = Rect { x, y: area.y + 1, width: end - x, height: area.height - 2 };
        let budget = ctx.app.round_budget();
        // As long as the axis of the bars.
        let span = Axis::of(ctx.app, &Columns::of(ctx.app, area)).scale.span();
        let grid = Grid { area: plot, scale: Scale::new(plot.height, span) };
        self.lines(&grid, budget, area.x, &mut pen);
        let start = end.saturating_sub(u16::try_from(dots.len()).unwrap_or(u16::MAX));
        for (dot, x) in dots.iter().zip(start..) {
            let (y, step) = grid.place(dot.time);
            let (glyph, tone) = dot.kind.sign(ctx);
            let glyph = if dot.kind == Kind::Ok { ctx.glyphs.dots[step] } else { glyph };
            pen.cell(x, y, glyph, ctx.theme.tone(tone));
        }
        self.feet(&dots, (start, end), area.bottom() - 1, &mut pen);
    }
}

impl Rounds<'_> {
    fn title(&self, row: Row, dots: &[Dot], pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let span = match (dots.first(), dots.last()) {
            (Some(a), Some(b)) => b.at.saturating_sub(a.at).as_secs(),
            _ => 0,
        };
        let right = [ctx.dim(format!("{}, {span} s", numbers::counted(dots.len(), "round", "rounds")))];
        let title = [ctx.bold("This call, round by round", Tone::Plain)];
        pen.title(row, &title, (ctx.glyphs.rule, ctx.theme.dim()), &right);
    }

    /// The budget's line, a faint one at half of it, and their times.
    fn lines(&self, grid: &Grid, budget: Duration, left: u16, pen: &mut Pen<'_>) {
        let (ctx, theme, area) = (self.ctx, self.ctx.theme, grid.area);
        let end = area.x.saturating_sub(2);
        let half = grid.place(budget / 2).0;
        let line = grid.place(budget).0;
        let bottom = area.bottom().saturating_sub(1);
        if half != line && half != bottom {
            for x in (area.x..area.right()).step_by(2) {
                pen.cell(x, half, ctx.glyphs.dot, theme.dim());
            }
            pen.put_right(end, half, &numbers::millis(budget / 2), theme.dim());
        }
        pen.put_right(end, bottom, "0", theme.dim());
        pen.fill(area.x, area.right(), line, ctx.glyphs.rule, theme.tone(Tone::Cut));
        let label = numbers::setting_ms(budget);
        let start = end.saturating_sub(width(&label)).max(left);
        pen.put(start, line, area.x, &label, theme.bold(Tone::Cut));
    }

    /// The first round, what the signs mean, and the round on the lanes under its column.
    fn feet(&self, dots: &[Dot], (start, end): (u16, u16), y: u16, pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let here = ctx.app.round_no().and_then(|no| dots.iter().position(|d| d.round == no));
        let (mut from, mut to) = (start, end);
        if let Some(index) = here {
            let x = start.saturating_add(u16::try_from(index).unwrap_or(u16::MAX));
            let no = dots.get(index).map_or_else(String::new, |d| d.round.to_string());
            let bold = theme.bold(Tone::Plain);
            pen.cell(x, y, ctx.glyphs.mark, bold);
            // The number stands where there is room for it.
            if x.saturating_sub(start) > width(&no) + 1 || index + 1 == dots.len() {
                to = pen.put_right(x.saturating_sub(1), y, &no, bold);
            } else {
                from = pen.put(x + 2, y, end, &no, bold);
            }
        }
        if let Some(first) = dots.first() {
            let text = first.round.to_string();
            if from == start && start.saturating_add(width(&text) + 2) <= to {
                from = pen.put(start, y, to, &text, theme.dim());
            }
        }
        let kinds = Kind::ALL.into_iter().filter(|k| dots.iter().any(|d| d.kind == *k));
        let mut spans: Vec<Span<'static>> = Vec::new();
        for kind in kinds {
            let (glyph, tone) = kind.sign(ctx);
            let gap = if spans.is_empty() { "" } else { "   " };
            spans.extend([Span::raw(gap), ctx.tone(glyph, tone), ctx.dim(format!(" {}", kind.word()))]);
        }
        let room = to.saturating_sub(from);
        let length = spans_width(&spans);
        if length + 4 <= room {
            pen.spans(from + (room - length) / 2, y, to, &spans);
        }
    }
}
