//! What a hedge at each delay would give and cost: a table, and beside it answers against extra load where there is
//! room.

use crate::domain::{HedgeDelay, numbers};
use crate::view::ctx::Ctx;
use crate::view::plot::{Dots, LABELS, Plot, Range};
use crate::view::text::{Pen, Row, spans_width};
use crate::view::theme::Tone;
use crate::whatif::hedge::{HedgeRow, HedgeSeen, HedgeStatus, HedgeStudy};
use crate::whatif::outlook::Outlook;
use ratatui::layout::Rect;
use ratatui::text::Span;
use std::time::Duration;

/// The hedge part.
pub struct HedgePart<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// What is shown.
    pub study: &'a HedgeStudy,
    /// The budget that holds.
    pub budget: Duration,
    /// Whether calls that were cut, not errors, keep 99 % from being reached where they are not.
    pub cut: bool,
}

/// Whether more than 1 % of the calls were not seen to their end, and errors that were seen leave 99 % within reach.
pub fn is_cut(outlook: &Outlook) -> bool {
    let held = outlook.budgets.points.iter().find(|point| point.budget == outlook.budget);
    let errors = held.map_or(0, |point| {
        let errors = point.missing.iter().filter(|(reason, _)| !reason.is_cut());
        errors.map(|(_, count)| count.saturating_mul(outlook.rounds.max(1)) / point.n.max(1)).sum()
    });
    outlook.budgets.errors.is_none() && errors.saturating_mul(100) <= outlook.calls
}

/// Columns of the table.
const TABLE: u16 = 36;

/// Rows of the model that are shown in any case before intervals are.
const ROWS: usize = 3;

/// Columns after the numbers, from the table's first.
const ENDS: [u16; 4] = [9, 17, 26, 36];

impl HedgePart<'_> {
    /// Title, plot, table.
    pub fn draw(&self, area: Rect, pen: &mut Pen<'_>) {
        let (ctx, dim) = (self.ctx, self.ctx.theme.dim());
        if area.is_empty() {
            return;
        }
        let title = [ctx.bold("Hedge", Tone::Plain)];
        let room = area.width.saturating_sub(spans_width(&title) + 3);
        let right = self.basis().into_iter().find(|words| crate::view::text::width(words) <= room);
        let right: Vec<Span<'_>> = right.map(|words| ctx.dim(words)).into_iter().collect();
        let row = Row { x: area.x, y: area.y, width: area.width };
        pen.title(row, &title, (ctx.glyphs.rule, dim), &right);
        let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let plots = area.height >= 9 && area.width >= TABLE + 20;
        if plots {
            self.plot(Rect { width: below.width - TABLE - 1, ..below }, pen);
        }
        let width = TABLE.min(below.width);
        self.table(Rect { x: below.right().saturating_sub(width), width, ..below }, pen);
    }

    /// What the figures rest on, the longest form first.
    fn basis(&self) -> [String; 3] {
        let (dot, real) = (self.ctx.glyphs.dot, self.study.real);
        let hedges = numbers::counted(real, "real hedge", "real hedges");
        let model = if self.study.observed.is_some() {
            "model beside what was seen"
        } else {
            "model: assumes independence"
        };
        [format!("{model} {dot} {hedges}"), model.to_owned(), "model".to_owned()]
    }

    /// Rows that fit, no hedge first; then from what costs least.
    fn table(&self, area: Rect, pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        if area.is_empty() {
            return;
        }
        let ends = ENDS.map(|end| area.x + end);
        for (end, head) in ends.into_iter().zip(["delay", "load", "ok", "p99"]) {
            pen.put_right(end, area.y, head, theme.dim());
        }
        // The last rows say what the load budget allows, what is beyond the data, and what was really seen.
        let mut ys = area.y + 1..area.bottom();
        let last = ys.next_back();
        if self.study.rows.iter().any(|row| row.status == HedgeStatus::Extrapolated)
            && let Some(y) = ys.next_back()
        {
            pen.put_right(ends[3], y, "faint: extrapolated", theme.dim());
        }
        let seen = self.study.observed;
        // Beside each of the other delays it is the only one with intervals.
        let within = seen.filter(|_| ys.len() > ROWS + 1).and_then(|seen| Some((seen, ys.next_back()?)));
        let seen = seen.and_then(|seen| Some((seen, ys.next_back()?)));
        for (row, y) in self.study.rows.iter().zip(ys) {
            self.row(row, ends, y, area, pen);
        }
        if let Some((seen, y)) = seen {
            let row = HedgeRow {
                delay: Some(seen.delay),
                time: None,
                extra_load: seen.extra_load,
                ok_by_budget: Some(seen.ok_by_budget),
                thin: false,
                p99: seen.p99,
                p99_thin: false,
                status: HedgeStatus::Observed,
            };
            self.row(&row, ends, y, area, pen);
        }
        if let Some((seen, y)) = within {
            self.within(&seen, ends, y, pen);
        }
        if let Some(y) = last {
            let best = self.study.best.map_or_else(|| "none".to_owned(), numbers::ms);
            let share = numbers::short_share(self.study.load_budget);
            let spans = [ctx.dim(format!("best within {share}: ")), ctx.bold(best, Tone::Plain)];
            pen.spans_right(ends[3], y, &spans);
        }
    }

    fn row(&self, row: &HedgeRow, ends: [u16; 4], y: u16, area: Rect, pen: &mut Pen<'_>) {
        let theme = self.ctx.theme;
        let beyond = row.status == HedgeStatus::Extrapolated;
        let seen = row.status == HedgeStatus::Observed;
        let best = row.time.is_some() && row.time == self.study.best;
        let style = |tone: Tone| match (beyond, seen || best) {
            (true, _) => theme.dim(),
            (_, true) => theme.bold(tone),
            _ => theme.tone(tone),
        };
        let (delay, tone) = match row.delay {
            None => ("none".to_owned(), Tone::Plain),
            Some(HedgeDelay::Fixed(Duration::ZERO)) => ("race".to_owned(), Tone::Hedge),
            Some(HedgeDelay::Fixed(time)) => (numbers::ms(time), Tone::Hedge),
            Some(delay) => (delay.to_string(), Tone::Hedge),
        };
        if seen {
            pen.put(
                area.x.saturating_sub(4).max(ends[0].saturating_sub(11)),
                y,
                ends[0],
                "seen",
                theme.dim(),
            );
        }
        pen.put_right(ends[0], y, &delay, style(tone));
        pen.put_right(ends[1], y, &numbers::share_percent(row.extra_load), style(Tone::Plain));
        let graded = |thin: bool| if thin { theme.dim() } else { style(Tone::Plain) };
        let ok = row
            .ok_by_budget
            .map_or_else(|| self.ctx.glyphs.none.to_owned(), |ok| format!("{:.2} %", ok * 100.0));
        pen.put_right(ends[2], y, &ok, graded(row.thin));
        let p99 = match row.p99 {
            Some(time) => numbers::ms(time),
            None if self.cut && row.ok_by_budget.is_some_and(|ok| ok < 0.99) => {
                format!(">{}", numbers::ms(self.budget))
            }
            None => self.ctx.glyphs.none.to_owned(),
        };
        pen.put_right(ends[3], y, &p99, graded(row.p99_thin));
    }

    /// Within what that is which was seen: shares in percent, times in milliseconds.
    fn within(&self, seen: &HedgeSeen, ends: [u16; 4], y: u16, pen: &mut Pen<'_>) {
        let (ctx, dim) = (self.ctx, self.ctx.theme.dim());
        pen.put_right(ends[0], y, "95 %", dim);
        pen.put_right(ends[2], y, &ctx.between(seen.interval), dim);
        let time = |time: Duration| numbers::ms(time).replace(" ms", "");
        let p99 = match seen.p99_interval {
            (Some(low), Some(high)) => format!("{}{}{}", time(low), ctx.glyphs.to, time(high)),
            (Some(low), None) => format!(">{}", time(low)),
            (None, Some(high)) => format!("<{}", time(high)),
            (None, None) => ctx.glyphs.none.to_owned(),
        };
        pen.put_right(ends[3], y, &p99, dim);
    }

    /// Answers against extra load.
    fn plot(&self, area: Rect, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let points = || self.study.rows.iter().filter(|row| row.status != HedgeStatus::Extrapolated);
        let points = || points().filter_map(|row| Some((row.extra_load, row.ok_by_budget?)));
        let shares = || points().map(|(_, ok)| ok);
        let (Some(least), Some(most)) = (shares().reduce(f64::min), shares().reduce(f64::max)) else {
            return;
        };
        let load = points().map(|(load, _)| load).fold(self.study.load_budget.max(0.01) * 1.5, f64::max);
        let cells = Rect {
            x: area.x + LABELS,
            width: area.width.saturating_sub(LABELS + 1),
            height: area.height.saturating_sub(1),
            ..area
        };
        let plot = Plot { area: cells, x: (0.0, load), y: Range::around(least, most) };
        plot.shares(ctx, pen);
        let mut dots = Dots::new(plot, ctx.app.options.ascii);
        let line: Vec<(f64, f64)> = points().collect();
        dots.line(&line, false);
        // Where the load budget ends.
        if let Some(x) = plot.column(self.study.load_budget) {
            for y in cells.y..cells.bottom() {
                pen.cell(x, y, ctx.glyphs.delay, ctx.theme.tone(Tone::Plain));
            }
            let label = numbers::short_share(self.study.load_budget);
            pen.put(x.saturating_sub(1), cells.bottom(), cells.right(), &label, ctx.theme.bold(Tone::Plain));
        }
        dots.draw(ctx.glyphs.plotted[0], ctx.theme.tone(Tone::Hedge), pen);
        let most = numbers::short_share(load);
        let most = if cells.width >= 24 { format!("{most} load") } else { most };
        pen.put_right(cells.right(), cells.bottom(), &most, ctx.theme.dim());
    }
}
