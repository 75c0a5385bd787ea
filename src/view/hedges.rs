//! Hedges by endpoint over the chosen window, what they cost, and how much of the load budget they take (R28,
//! R31).

use super::ctx::Ctx;
use super::hint::Words;
use super::text::{Pen, Row, cut, spans_width, width};
use super::theme::Tone;
use crate::app::Shown;
use crate::domain::numbers;
use crate::domain::{Mode, Suppression};
use crate::stats::{HedgeCost, HedgeRow};
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
        let window = ctx.app.window;
        let (cost, rounds) = (ctx.app.stats().hedge_cost(window), ctx.app.stats().totals(window).rounds);
        let load = self.load(&cost);
        // The load has rows of its own where there is room for them, else it stands in the title.
        let foot = if area.height >= 9 { 2 } else { 0 };
        let mut right = Vec::new();
        if foot == 0 && rounds > 0 {
            right.push(ctx.dim("extra load "));
            right.extend(load.iter().cloned());
            right.push(ctx.dim(format!(" {} ", ctx.glyphs.dot)));
        }
        right.push(ctx.dim(ctx.window_words(rounds)));
        let first = Row { x: area.x, y: area.y, width: area.width };
        pen.title(first, &[ctx.bold("Hedges", Tone::Plain)], (ctx.glyphs.rule, theme.dim()), &right);
        let rows = self.rows();
        let grid = Grid::of(area, self.name_width);
        let y = area.y + 1;
        if rounds == 0 || rows.is_empty() {
            let words = match ctx.app.round_settings().mode {
                _ if rounds == 0 => "no round has settled yet".to_owned(),
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
            self.meter(&cost, &load, Rect { y, height: foot, ..area }, &mut pen);
        }
    }
}

impl Hedges<'_> {
    /// Every endpoint in hedge rounds; else those that are hedged by a contract of their own.
    fn rows(&self) -> Vec<HedgeRow> {
        let app = self.ctx.app;
        let all = app.round_settings().mode == Mode::Hedge;
        let mut rows = app.stats().hedges(app.window);
        rows.retain(|row| all || row.sent + row.suppressed() > 0 || self.delay(row).is_some());
        rows
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
            let name = cut(ctx.endpoint(row.endpoint), grid.name_width, ctx.glyphs.ellipsis);
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
            let all = if hidden == 0 { "all".to_owned() } else { format!("all, {hidden} more") };
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

    /// `5.0 % of 5 % budget`.
    fn load(&self, cost: &HedgeCost) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        let share = cost.extra_load().map_or_else(|| ctx.glyphs.none.to_owned(), numbers::share_percent);
        let limit = match self.budget() {
            Some(budget) => format!(" of {} budget", short_percent(budget)),
            None if self.is_race() => ", race: not limited".to_owned(),
            None => String::new(),
        };
        vec![ctx.bold(share, Tone::Hedge), ctx.dim(limit)]
    }

    fn is_race(&self) -> bool {
        let settings = self.ctx.app.round_settings();
        settings.mode == Mode::Hedge && settings.hedge.delay.is_race()
    }

    /// The load budget that holds for all; a race has none, and other modes only what endpoints bring.
    fn budget(&self) -> Option<f64> {
        let settings = self.ctx.app.round_settings();
        (settings.mode == Mode::Hedge && !self.is_race()).then_some(settings.hedge.load_budget)
    }

    /// The extra load against its budget, and below what it cost.
    fn meter(&self, cost: &HedgeCost, load: &[Span<'_>], area: Rect, pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let label = pen.put(area.x + 3, area.y, area.right(), "extra load", theme.dim());
        let x = label.saturating_add(2);
        let bar = area.right().saturating_sub(x + 2 + spans_width(load)).min(60);
        let mut after = x;
        if bar >= 8
            && let Some(budget) = self.budget()
        {
            let (filled, mark) = fill(cost.extra_load().unwrap_or_default(), budget, bar);
            let [full, rest] = ctx.glyphs.meter;
            pen.fill(x, x + filled, area.y, full, theme.tone(Tone::Hedge));
            pen.fill(x + filled, x + bar, area.y, rest, theme.dim());
            pen.cell(x + mark, area.y, ctx.glyphs.line, theme.bold(Tone::Plain));
            after = x + bar + 2;
        }
        pen.spans(after, area.y, area.right(), load);
        let dot = ctx.glyphs.dot;
        let words = [
            format!(
                "{} / {}",
                count(cost.sent, "hedge", "hedges"),
                count(cost.primaries, "primary", "primaries")
            ),
            format!(" {dot} {} wasted", numbers::ms(cost.wasted)),
            format!(" {dot} {}", count(cost.reconnects, "reconnect", "reconnects")),
        ];
        // Under the meter where there is room for large numbers too.
        let x = if area.width >= 78 { x } else { area.x + 3 };
        let end = area.right();
        words.iter().fold(x, |x, words| {
            // What does not fit is left out whole.
            if width(words) > end.saturating_sub(x) {
                end
            } else {
                pen.put(x, area.y + 1, end, words, theme.dim())
            }
        });
    }
}

fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Cells of a meter that the load fills, and the one in which its budget is marked: at 26 of 32, so that there
/// is room to pass it.
fn fill(load: f64, budget: f64, width: u16) -> (u16, u16) {
    let mark = (f64::from(width) * 26.0 / 32.0).floor();
    let filled = if load <= 0.0 { 0.0 } else { (load / budget * mark).min(f64::from(width)) };
    // A division by a budget of nothing is full; what was sent is never nothing.
    let filled = if load > 0.0 { filled.max(1.0) } else { filled };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the meter's width")]
    let cells = |n: f64| n.round() as u16;
    (cells(filled), cells(mark))
}

/// A setting as a percentage, without a decimal where it has none: `5 %`, `2.5 %`.
fn short_percent(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

/// What to do where hedges that were due were held back, the long form first.
pub fn advice(ctx: &Ctx<'_>) -> Option<Words> {
    let rows = ctx.app.stats().hedges(ctx.app.window);
    let sum = rows.iter().copied().reduce(|sum, row| sum.plus(&row))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r28_a_load_at_its_budget_reaches_the_mark_and_a_higher_one_passes_it() {
        assert_eq!(fill(0.05, 0.05, 32), (26, 26));
        assert_eq!(fill(0.025, 0.05, 32), (13, 26));
        assert_eq!(fill(0.06, 0.05, 32), (31, 26));
        assert_eq!(fill(4.0, 0.05, 32), (32, 26));
        assert_eq!(fill(0.0, 0.05, 32), (0, 26));
        assert_eq!(fill(0.0001, 0.05, 32), (1, 26), "something is not nothing");
    }

    #[test]
    fn r28_without_a_budget_any_load_is_too_much() {
        assert_eq!(fill(0.01, 0.0, 32).0, 32);
        assert_eq!(fill(0.0, 0.0, 32).0, 0);
    }

    #[test]
    fn a_budget_has_no_more_decimals_than_it_needs() {
        assert_eq!([0.05, 0.025, 1.0, 0.0].map(short_percent), ["5 %", "2.5 %", "100 %", "0 %"]);
    }

    proptest! {
        #[test]
        fn a_meter_keeps_within_its_width(load in 0.0..5.0_f64, budget in 0.0..2.0_f64, width in 8_u16..=60) {
            let (filled, mark) = fill(load, budget, width);
            prop_assert!(filled <= width && mark < width);
            prop_assert_eq!(filled == 0, load <= 0.0);
        }
    }
}
