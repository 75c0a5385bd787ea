//! Budgets and what they would have given, a row each: over the whole curve, with the one that holds and the one that
//! is looked at among them.

use crate::domain::numbers;
use crate::view::ctx::Ctx;
use crate::view::text::Pen;
use crate::view::theme::Tone;
use crate::whatif::budget::BudgetPoint;
use crate::whatif::outlook::{Outlook, Status};
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::time::Duration;

/// The table.
pub struct Table<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// What is shown.
    pub outlook: &'a Outlook,
}

/// Width from which calls at risk have a column of their own.
const WIDE: u16 = 38;

/// Columns after the numbers.
struct Grid {
    budget: u16,
    answered: u16,
    interval: u16,
    risk: Option<u16>,
}

impl Grid {
    fn of(area: Rect) -> Self {
        // What is more than is needed goes between the columns.
        let more = (area.width.saturating_sub(WIDE) / 3).min(3);
        let budget = area.x + 9;
        let answered = budget + 9 + more;
        let interval = answered + 11 + more;
        Self { budget, answered, interval, risk: (area.width >= WIDE).then_some(interval + 9 + more) }
    }
}

impl Table<'_> {
    /// Heads, then budgets.
    pub fn draw(&self, area: Rect, pen: &mut Pen<'_>) {
        let dim = self.ctx.theme.dim();
        if area.is_empty() {
            return;
        }
        let grid = Grid::of(area);
        let budget = if self.ctx.app.cuts_at_budget() { "budget" } else { "cut at" };
        for (end, head) in [(grid.budget, budget), (grid.answered, "answered"), (grid.interval, "interval")] {
            pen.put_right(end, area.y, head, dim);
        }
        if let Some(end) = grid.risk {
            pen.put_right(end, area.y, "at risk", dim);
        }
        for (&place, y) in self.rows(area).iter().zip(area.y + 1..area.bottom()) {
            if let Some(point) = self.outlook.budgets.points.get(place) {
                self.row(place, point, &grid, (area, y), pen);
            }
        }
    }

    /// The budget in this row of the screen.
    pub fn at(&self, area: Rect, y: u16) -> Option<Duration> {
        let row = usize::from(y.checked_sub(area.y + 1)?);
        let place = *self.rows(area).get(row)?;
        self.outlook.budgets.points.get(place).map(|point| point.budget)
    }

    /// Places of the points that have a row: as many as fit, evenly over the curve.
    fn rows(&self, area: Rect) -> Vec<usize> {
        let points = &self.outlook.budgets.points;
        let room = usize::from(area.height.saturating_sub(1));
        let held = points.iter().position(|point| point.budget == self.outlook.budget);
        let always = [held, self.ctx.app.marker()];
        let chosen = |step: usize| -> Vec<usize> {
            // Counted from the one that holds, so that it is one of them.
            let rest = held.unwrap_or(0) % step;
            (0..points.len()).filter(|&i| i % step == rest || always.contains(&Some(i))).collect()
        };
        let mut rows =
            (1..=points.len().max(1)).map(chosen).find(|rows| rows.len() <= room).unwrap_or_default();
        if rows.is_empty() {
            rows = always.into_iter().flatten().take(room).collect();
            rows.sort_unstable();
            rows.dedup();
        }
        rows
    }

    fn row(&self, place: usize, point: &BudgetPoint, grid: &Grid, (area, y): (Rect, u16), pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let holds = point.budget == self.outlook.budget;
        let marked = ctx.app.marker() == Some(place);
        let thin = !matches!(point.status, Status::Exact | Status::Estimated);
        let style: Style = match (holds, marked, thin) {
            (true, ..) => ctx.budget_style(),
            (_, true, _) => theme.bold(Tone::Plain),
            (_, _, true) => theme.dim(),
            _ => theme.tone(Tone::Plain),
        };
        if holds {
            pen.cell(area.x, y, ctx.glyphs.line, ctx.budget_style());
        }
        if marked {
            pen.put(area.x + u16::from(holds), y, grid.budget, ctx.glyphs.arrow, theme.bold(Tone::Plain));
        }
        pen.put_right(grid.budget, y, &numbers::setting_ms(point.budget), style);
        let (answered, interval) = self.words(point);
        pen.put_right(grid.answered, y, &answered, style);
        pen.put_right(grid.interval, y, &interval, theme.dim());
        if let Some(end) = grid.risk {
            let risk = match point.status {
                Status::Exact => ctx.glyphs.dot.to_owned(),
                Status::Thin => format!("thin {}", point.at_risk),
                Status::Bounded => "censored".to_owned(),
                Status::Estimated | Status::NotObserved => point.at_risk.to_string(),
            };
            pen.put_right(end, y, &risk, theme.dim());
        }
    }

    /// The share that answers, and how sure that is.
    fn words(&self, point: &BudgetPoint) -> (String, String) {
        let ctx = self.ctx;
        let interval = point.interval.map_or_else(String::new, |i| ctx.between(i));
        match (point.status, point.completeness, point.bounds) {
            (Status::Exact, share, _) => (ctx.share(share), "exact".to_owned()),
            (Status::Estimated | Status::Thin, share, _) => (ctx.share(share), interval),
            (_, None, Some(bounds)) => (ctx.glyphs.none.to_owned(), ctx.between(bounds)),
            (Status::Bounded, share, _) => (ctx.share(share), interval),
            (Status::NotObserved, ..) => (ctx.glyphs.none.to_owned(), "no number".to_owned()),
        }
    }
}
