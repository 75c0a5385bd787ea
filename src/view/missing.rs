//! Missing calls by endpoint and reason over the chosen window: counts, shares and a sparkline each.

use super::ctx::Ctx;
use super::layout::Size;
use super::text::{Pen, Row, cut};
use super::theme::Tone;
use crate::domain::Mode;
use crate::domain::numbers;
use crate::stats::{Bucket, MissingRow, Totals};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The missing table, or its two worst rows in one line.
pub struct Missing<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// How much is shown.
    pub size: Size,
    /// Columns of the lanes' names, which the table follows.
    pub name_width: u16,
}

/// Columns of the table, on the screen.
struct Grid {
    glyph: u16,
    name: u16,
    reason: u16,
    count_end: u16,
    share_end: u16,
    spark: u16,
    end: u16,
}

impl Grid {
    fn of(area: Rect, name_width: u16) -> Self {
        let x = area.x;
        let reason = x + 4 + name_width.clamp(9, area.width.saturating_sub(59).max(9));
        // Long reasons get their room where the sparkline does not need it.
        let reason_width = if area.width >= 76 { 20 } else { 16 };
        let count_end = reason + reason_width + 6;
        let share_end = count_end + 8;
        Self {
            glyph: x + 1,
            name: x + 3,
            reason,
            count_end,
            share_end,
            spark: share_end + 3,
            end: area.right(),
        }
    }
}

impl Widget for &Missing<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let mut pen = Pen::new(buf);
        let rows = self.ctx.app.missing_rows();
        let totals = self.ctx.app.stats().totals(self.ctx.app.window);
        if self.size == Size::Small {
            self.line(rows, area, &mut pen);
        } else {
            self.table(rows, &totals, area, &mut pen);
        }
    }
}

impl Missing<'_> {
    fn table(&self, rows: &[MissingRow], totals: &Totals, area: Rect, pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let right = ctx.window_words(totals.rounds);
        let title = ctx.bold("Missing by reason", Tone::Plain);
        let first = Row { x: area.x, y: area.y, width: area.width };
        pen.title(first, &[title], (ctx.glyphs.rule, theme.dim()), &[ctx.dim(right)]);
        let grid = Grid::of(area, self.name_width);
        let mut y = area.y + 1;
        if self.size == Size::Full {
            self.heads(&grid, y, theme.dim(), pen);
            y += 1;
        }
        if totals.rounds == 0 {
            pen.put(grid.name, y, grid.end, self.ctx.nothing_counted(), theme.dim());
            return;
        }
        if rows.is_empty() {
            let when = ctx.app.window.phrase();
            pen.put(grid.name, y, grid.end, &format!("nothing missing {when}"), theme.dim());
            y += 1;
        }
        // The last row is the total's.
        let room = usize::from(area.bottom().saturating_sub(y + 1));
        for row in rows.iter().take(room) {
            self.row(row, &grid, y, row == &rows[0], pen);
            y += 1;
        }
        let hidden = rows.len().saturating_sub(room);
        if !rows.is_empty() && y < area.bottom() {
            self.total(totals, hidden, &grid, y, pen);
            y += 1;
        }
        if ctx.app.mode() == Mode::Quorum {
            self.rest(totals, &grid, y..area.bottom(), pen);
        }
    }

    fn heads(&self, grid: &Grid, y: u16, dim: ratatui::style::Style, pen: &mut Pen<'_>) {
        pen.put(grid.name, y, grid.end, "endpoint", dim);
        pen.put(grid.reason, y, grid.end, "reason", dim);
        pen.put_right(grid.count_end, y, "count", dim);
        pen.put_right(grid.share_end, y, "share", dim);
        if grid.end > grid.spark + 12 {
            pen.put(grid.spark, y, grid.end, self.ctx.app.window.ago(), dim);
            pen.put_right(grid.end, y, "now", dim);
        }
    }

    fn row(&self, row: &MissingRow, grid: &Grid, y: u16, first: bool, pen: &mut Pen<'_>) {
        let (ctx, ellipsis) = (self.ctx, self.ctx.glyphs.ellipsis);
        let (glyph, tone) = ctx.reason_glyph(row.reason);
        let style = |tone| if first { ctx.theme.bold(tone) } else { ctx.theme.tone(tone) };
        pen.cell(grid.glyph, y, glyph, ctx.theme.tone(tone));
        let width = grid.reason.saturating_sub(grid.name + 1);
        pen.put(grid.name, y, grid.reason, &ctx.name(row.endpoint, width), style(Tone::Plain));
        let width = grid.count_end.saturating_sub(grid.reason + 6);
        pen.put(grid.reason, y, grid.count_end, &cut(&row.label(), width, ellipsis), style(tone));
        pen.put_right(grid.count_end, y, &row.count.to_string(), style(Tone::Plain));
        pen.put_right(grid.share_end, y, &numbers::percent(row.count, row.calls, "-"), style(Tone::Plain));
        let buckets = usize::from(grid.end.saturating_sub(grid.spark)).min(60);
        let spark = ctx.app.stats().spark(row.endpoint, row.reason, ctx.app.window, buckets);
        for (bucket, x) in spark.iter().zip(grid.spark..grid.end) {
            match self.level(*bucket) {
                Some(level) => pen.cell(x, y, level, ctx.theme.tone(tone)),
                None => pen.cell(x, y, ctx.glyphs.nothing, ctx.theme.dim()),
            }
        }
    }

    /// The share of the calls of a slice as a height: full is all of them, and one is never nothing.
    fn level(&self, bucket: Bucket) -> Option<&'static str> {
        let levels = self.ctx.glyphs.levels;
        let share = bucket.count.saturating_mul(levels.len() as u64).div_ceil(bucket.calls.max(1));
        usize::try_from(share).ok()?.checked_sub(1).and_then(|i| levels.get(i).or(levels.last())).copied()
    }

    fn total(&self, totals: &Totals, hidden: usize, grid: &Grid, y: u16, pen: &mut Pen<'_>) {
        let theme = self.ctx.theme;
        let more = numbers::and_more(hidden);
        let bold = theme.bold(Tone::Plain);
        pen.put(grid.name, y, grid.count_end, &format!("all missing{more}"), theme.dim());
        pen.put_right(grid.count_end, y, &totals.missing().to_string(), bold);
        pen.put_right(grid.share_end, y, &numbers::percent(totals.missing(), totals.calls(), "-"), bold);
        pen.put(grid.spark, y, grid.end, &format!("of {} calls", totals.calls()), theme.dim());
    }

    /// In quorum rounds most calls are neither missing nor answered; the table says where they went.
    fn rest(&self, totals: &Totals, grid: &Grid, mut rows: std::ops::Range<u16>, pen: &mut Pen<'_>) {
        let (ctx, dim) = (self.ctx, self.ctx.theme.dim());
        let mut row = |glyph, word, count: u64, tone, note: &str| {
            let Some(y) = rows.next() else { return };
            let style = ctx.theme.tone(if tone == Tone::Dim { Tone::Dim } else { Tone::Plain });
            pen.cell(grid.glyph, y, glyph, ctx.theme.tone(tone));
            pen.put(grid.name, y, grid.count_end, word, ctx.theme.tone(tone));
            pen.put_right(grid.count_end, y, &count.to_string(), style);
            pen.put_right(grid.share_end, y, &numbers::percent(count, totals.calls(), "-"), style);
            pen.put(grid.spark, y, grid.end, note, dim);
        };
        row(ctx.glyphs.not_needed, "not needed", totals.not_needed, Tone::Dim, "grey: never missing");
        row(ctx.glyphs.ok, "ok", totals.ok, Tone::Ok, "");
    }

    /// The two worst rows in one line.
    fn line(&self, rows: &[MissingRow], area: Rect, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        if rows.is_empty() {
            return;
        }
        let mut groups: Vec<Vec<Span<'_>>> = Vec::new();
        for row in rows.iter().take(2) {
            let (glyph, tone) = ctx.reason_glyph(row.reason);
            let share = numbers::whole_percent(row.count, row.calls);
            groups.push(vec![
                ctx.tone(format!("{glyph} "), tone),
                ctx.bold(ctx.name(row.endpoint, 12), Tone::Plain),
                ctx.tone(format!(" {} ", row.label()), tone),
                ctx.bold(share, Tone::Plain),
            ]);
        }
        let x = pen.put(area.x, area.y, area.right(), "missing ", ctx.theme.dim());
        pen.groups(x, area.y, area.right(), &groups);
    }
}
