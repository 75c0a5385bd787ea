//! Hedges by endpoint over the chosen window, what they cost, and how much of the load budget they take (R28,
//! R31).

mod meter;

use super::ctx::Ctx;
use super::hint::Words;
use super::text::{Pen, Row, width};
use super::theme::Tone;
use crate::app::Shown;
use crate::domain::numbers;
use crate::domain::{Mode, Suppression};
use crate::stats::HedgeRow;
use meter::Load;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use std::time::Duration;

/// The hedges panel.
pub struct Hedges<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Columns of the lanes' names, which the table follows.
    pub name_width: u16,
}

/// Columns after the numbers, on the screen. The last two need room.
struct Grid {
    name: u16,
    name_width: u16,
    delay: u16,
    sent: u16,
    won: u16,
    wasted: u16,
    suppressed: Option<u16>,
    missing: Option<u16>,
}

/// Columns of delay, sent, won and wasted.
const NUMBERS: u16 = 30;

/// Columns of the suppressed: a number and its cause.
const SUPPRESSED: u16 = 11;

/// Columns of the missing.
const MISSING: u16 = 9;

impl Grid {
    fn of(area: Rect, name_width: u16) -> Self {
        let mut free = area.width.saturating_sub(3 + 9 + NUMBERS);
        let mut take = |columns: u16| {
            let fits = free >= columns;
            free -= if fits { columns } else { 0 };
            fits.then_some(columns)
        };
        let (suppressed, missing) = (take(SUPPRESSED), take(MISSING));
        let name_width = name_width.clamp(9, 9 + free);
        // Long causes get what the names leave.
        let suppressed = suppressed.map(|w| w + (free + 9 - name_width).min(9));
        let name = area.x + 3;
        let delay = name + name_width + 9;
        let (sent, won, wasted) = (delay + 7, delay + 13, delay + 21);
        let after = |end: u16, columns: Option<u16>| columns.map(|w| end + w);
        let suppressed = after(wasted, suppressed);
        let missing = after(suppressed.unwrap_or(wasted), missing);
        Self { name, name_width, delay, sent, won, wasted, suppressed, missing }
    }
}

impl Widget for &Hedges<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let mut pen = Pen::new(buf);
        let (rounds, rows) = (ctx.app.stats().totals(ctx.app.window).rounds, self.rows());
        let load = Load::of(ctx);
        // The load has rows of its own where there is room for them, else it stands in the title.
        let foot = if area.height >= 9 { 2 } else { 0 };
        let mut right = Vec::new();
        if foot == 0 && rounds > 0 && !rows.is_empty() {
            right.push(ctx.dim("extra load "));
            right.extend(load.words());
            right.push(ctx.dim(format!(" {} ", ctx.glyphs.dot)));
        }
        right.push(ctx.dim(ctx.window_words(rounds)));
        let first = Row { x: area.x, y: area.y, width: area.width };
        pen.title(first, &[ctx.bold("Hedges", Tone::Plain)], (ctx.glyphs.rule, theme.dim()), &right);
        let grid = Grid::of(area, self.name_width);
        let y = area.y + 1;
        if rounds == 0 || rows.is_empty() {
            let words = match ctx.app.mode() {
                _ if rounds == 0 => self.ctx.nothing_counted().to_owned(),
                mode => format!("no hedges in {mode} rounds"),
            };
            pen.put(grid.name, y, area.right(), &words, theme.dim());
            return;
        }
        self.heads(&grid, y, &mut pen);
        let body = Rect { y: y + 1, height: area.height.saturating_sub(2 + foot), ..area };
        let next = self.table(&rows, &grid, body, &mut pen);
        if foot > 0 {
            // A free row sets the meter apart where the table leaves one.
            let y = (next + 1).min(area.bottom().saturating_sub(foot));
            load.meter(Rect { y, height: foot, ..area }, &mut pen);
        }
    }
}

impl Hedges<'_> {
    /// Every endpoint in hedge rounds; else those that are hedged by a contract of their own.
    fn rows(&self) -> Vec<HedgeRow> {
        let app = self.ctx.app;
        let all = app.mode() == Mode::Hedge;
        let shown = |row: &&HedgeRow| all || row.sent + row.suppressed() > 0 || self.delay(row).is_some();
        self.ctx.hedges().iter().filter(shown).copied().collect()
    }

    /// The delay of its call in the round on the lanes.
    fn delay(&self, row: &HedgeRow) -> Option<Duration> {
        let index = row.endpoint.index();
        match self.ctx.app.shown() {
            Shown::Waiting => None,
            Shown::Running(live) => live.started.hedge_delays.get(index).copied().flatten(),
            Shown::Over(round) => round.calls.get(index).and_then(|c| c.hedge_delay),
        }
    }

    fn heads(&self, grid: &Grid, y: u16, pen: &mut Pen<'_>) {
        let dim = self.ctx.theme.dim();
        pen.put(grid.name, y, grid.delay, "endpoint", dim);
        let heads = [(grid.delay, "delay"), (grid.sent, "sent"), (grid.won, "won"), (grid.wasted, "wasted")];
        for (end, head) in heads {
            pen.put_right(end, y, head, dim);
        }
        for (end, head) in [(grid.suppressed, "suppressed"), (grid.missing, "missing")] {
            end.map(|end| pen.put_right(end, y, head, dim));
        }
    }

    /// The rows that fit, around the selected endpoint, and their sum; returns the row after it.
    fn table(&self, rows: &[HedgeRow], grid: &Grid, area: Rect, pen: &mut Pen<'_>) -> u16 {
        let ctx = self.ctx;
        let room = usize::from(area.height.saturating_sub(1));
        let selected = rows.iter().position(|r| r.endpoint.index() == ctx.app.selected).unwrap_or(0);
        let from = (selected + 1).saturating_sub(room).min(rows.len().saturating_sub(room));
        let mut y = area.y;
        for row in rows.iter().skip(from).take(room) {
            let name = ctx.name(row.endpoint, grid.name_width);
            pen.put(grid.name, y, grid.delay, &name, ctx.theme.tone(Tone::Plain));
            match self.delay(row) {
                Some(Duration::ZERO) => pen.put_right(grid.delay, y, "race", ctx.theme.tone(Tone::Hedge)),
                Some(delay) => pen.put_right(grid.delay, y, &numbers::ms(delay), ctx.theme.tone(Tone::Hedge)),
                None => pen.put_right(grid.delay, y, ctx.glyphs.none, ctx.theme.dim()),
            };
            self.counts(row, grid, y, false, pen);
            y += 1;
        }
        if y < area.bottom()
            && let Some(sum) = rows.iter().copied().reduce(|sum, row| sum.plus(&row))
        {
            let hidden = rows.len().saturating_sub(room);
            let all = format!("all{}", numbers::and_more(hidden));
            pen.put(grid.name, y, grid.delay, &all, ctx.theme.dim());
            self.counts(&sum, grid, y, true, pen);
            y += 1;
        }
        y
    }

    fn counts(&self, row: &HedgeRow, grid: &Grid, y: u16, sum: bool, pen: &mut Pen<'_>) {
        let (theme, dot) = (self.ctx.theme, self.ctx.glyphs.dot);
        let style = |tone| if sum { theme.bold(tone) } else { theme.tone(tone) };
        let mut number = |end: u16, count: u64, style: Style| {
            let text = if count > 0 || sum { count.to_string() } else { dot.to_owned() };
            pen.put_right(end, y, &text, if count > 0 || sum { style } else { theme.dim() });
        };
        number(grid.sent, row.sent, style(Tone::Plain));
        number(grid.won, row.won, if sum { style(Tone::Plain) } else { theme.bold(Tone::Hedge) });
        number(grid.wasted, row.wasted(), style(if sum { Tone::Plain } else { Tone::Dim }));
        if let Some(end) = grid.missing {
            let tone = match row {
                _ if sum => Tone::Plain,
                row if row.error > row.cut => Tone::Error,
                _ => Tone::Cut,
            };
            number(end, row.missing(), style(tone));
        }
        let Some(end) = grid.suppressed else { return };
        // `6 budget`; with other causes besides, how many of them: `6, 4 budget`.
        let held = row.suppressed();
        let cause = row.main_cause().map(|(cause, n)| match n {
            n if n == held => format!(" {cause}"),
            n => format!(", {n} {cause}"),
        });
        let room = end.saturating_sub(grid.wasted + 1);
        match cause.filter(|cause| width(&held.to_string()) + width(cause) <= room) {
            Some(cause) => {
                let spans = [Span::styled(held.to_string(), style(Tone::Plain)), self.ctx.dim(cause)];
                pen.spans_right(end, y, &spans);
            }
            None => number(end, held, style(Tone::Plain)),
        }
    }
}

/// What to do where hedges that were due were held back, the long form first.
pub fn advice(ctx: &Ctx<'_>) -> Option<Words> {
    let sum = ctx.hedges().iter().copied().reduce(|sum, row| sum.plus(&row))?;
    let (cause, held) = sum.main_cause()?;
    let due = sum.sent + sum.suppressed();
    // One in ten is worth a word, one or two are not; nor is what is over.
    let over = cause == Suppression::Warming && ctx.app.picture().warming == 0;
    if held < 3 || held * 10 < due || over {
        return None;
    }
    let (who, what) = match cause {
        Suppression::Budget => ("the load budget", "hedge later or raise it"),
        Suppression::Permit => ("a lack of permits", "raise concurrency"),
        Suppression::Breaker => ("an open breaker", "mend the replicas first"),
        Suppression::Warming => ("a lack of samples", "percentiles need 30 calls"),
        Suppression::Rate => ("the rate limit", "raise max_rps"),
        Suppression::NotIdempotent => {
            ("requests that may do harm twice", "mark them idempotent if they don't")
        }
    };
    let arrow = ctx.bold(format!("{} ", ctx.glyphs.arrow), Tone::Plain);
    let words = |middle: String| {
        vec![arrow.clone(), ctx.bold(who, Tone::Plain), Ctx::plain(middle), ctx.bold(what, Tone::Plain)]
    };
    Some([words(format!(" held back {held} of {due} hedges: ")), words(format!(" held {held} of {due}: "))])
}
