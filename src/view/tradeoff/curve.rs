//! The share of answered calls against the budget: the curve, how sure it is, and where one is on it.

use crate::domain::numbers;
use crate::view::ctx::Ctx;
use crate::view::plot::{Dots, LABELS, Plot, Range, millis, upright};
use crate::view::text::{Pen, width};
use crate::view::theme::Tone;
use crate::whatif::budget::BudgetPoint;
use crate::whatif::outlook::{Outlook, Status};
use ratatui::layout::Rect;
use std::time::Duration;

/// The curve, its axes and its lines.
pub struct Curve<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// What is drawn.
    pub outlook: &'a Outlook,
    /// Everything: labels at the left, the axis in the last row.
    pub area: Rect,
}

/// What a stretch of the curve rests on, as its caption says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basis {
    Exact,
    Estimated,
    Thin,
    Bounded,
    Unseen,
}

impl Basis {
    const fn of(status: Status) -> Self {
        match status {
            Status::Exact => Self::Exact,
            Status::Estimated => Self::Estimated,
            Status::Thin => Self::Thin,
            Status::Bounded => Self::Bounded,
            Status::NotObserved => Self::Unseen,
        }
    }

    /// In two lines; with `probes`, rounds were watched past their end.
    const fn words(self, probes: bool) -> [&'static str; 2] {
        match self {
            Self::Exact => ["exact", "recounted"],
            Self::Estimated if probes => ["estimated", "from probes"],
            Self::Estimated => ["estimated", "some cut"],
            Self::Thin => ["thin", "n < 20"],
            Self::Bounded => ["censored", "at least, at most"],
            Self::Unseen => ["not", "observed"],
        }
    }

    /// In one.
    const fn word(self) -> &'static str {
        match self {
            Self::Unseen => "not observed",
            other => other.words(false)[0],
        }
    }
}

/// The stretches of the curve that rest on the same: from the first to the last budget of each.
fn stretches(points: &[BudgetPoint]) -> Vec<(Basis, Duration, Duration)> {
    let mut out: Vec<(Basis, Duration, Duration)> = Vec::new();
    for point in points {
        let basis = Basis::of(point.status);
        match out.last_mut() {
            Some((last, _, to)) if *last == basis => *to = point.budget,
            _ => out.push((basis, point.budget, point.budget)),
        }
    }
    out
}

impl Curve<'_> {
    /// Where the curve is; `None` where there is no room or nothing to draw.
    #[must_use]
    pub fn plot(&self) -> Option<Plot> {
        let points = &self.outlook.budgets.points;
        let (first, last) = (points.first()?.budget, points.last()?.budget);
        let (rows, parts) = Range::fitting(self.area.height.checked_sub(1).filter(|&rows| rows >= 2)?);
        let cells = Rect {
            x: self.area.x.saturating_add(LABELS),
            width: self.area.width.checked_sub(LABELS + 1).filter(|&w| w >= 8)?,
            height: rows,
            ..self.area
        };
        let y = Range::down_from(self.held(), parts);
        Some(Plot { area: cells, x: (millis(first), millis(last)), y })
    }

    /// The share at the budget that holds, as far as it is known; else the greatest that is.
    fn held(&self) -> f64 {
        let points = &self.outlook.budgets.points;
        let here = points.iter().find(|point| point.budget == self.outlook.budget);
        let known = |p: &BudgetPoint| p.completeness.or_else(|| p.bounds.map(|b| b.0));
        here.and_then(known).or_else(|| points.iter().filter_map(known).reduce(f64::max)).unwrap_or(0.5)
    }

    /// Draws it; with `whole`, also what its stretches rest on, its ceiling, and where one is.
    pub fn draw(&self, whole: bool, pen: &mut Pen<'_>) {
        let Some(plot) = self.plot() else { return };
        let (ctx, outlook) = (self.ctx, self.outlook);
        plot.shares(ctx, pen);
        let all = self.dots(&plot, pen);
        let glyphs = ctx.glyphs;
        let marked = ctx.app.marked().filter(|point| whole && point.budget != outlook.budget);
        if let Some(x) = marked.and_then(|point| plot.column(millis(point.budget))) {
            let style = ctx.theme.bold(Tone::Plain);
            upright(&plot, x, &all, (glyphs.other_line, glyphs.cross[1]), style, pen);
        }
        self.knee(&plot, &all, pen);
        if whole {
            self.captions(&plot, &all, pen);
            self.ceiling(&plot, &all, pen);
        }
        if let Some(x) = plot.column(millis(outlook.budget)) {
            upright(&plot, x, &all, (glyphs.line, glyphs.cross[0]), ctx.budget_style(), pen);
        }
        plot.times(ctx, Some((outlook.budget, ctx.budget_style())), pen);
    }

    /// The band, and the line over it; returns where the line is.
    fn dots(&self, plot: &Plot, pen: &mut Pen<'_>) -> Dots {
        let (ctx, ascii) = (self.ctx, self.ctx.app.options.ascii);
        let dots = || Dots::new(*plot, ascii);
        let (mut band, mut solid, mut thin, mut all) = (dots(), dots(), dots(), dots());
        let points = &self.outlook.budgets.points;
        for pair in points.windows(2) {
            let [a, b] = pair else { continue };
            let ends = |of: &dyn Fn(&BudgetPoint) -> Option<f64>| {
                Some([(millis(a.budget), of(a)?), (millis(b.budget), of(b)?)])
            };
            if let Some(line) = ends(&|p| p.completeness) {
                let dashed = Basis::of(b.status) != Basis::Exact && Basis::of(b.status) != Basis::Estimated;
                if dashed {
                    thin.line(&line, true);
                } else {
                    solid.line(&line, false);
                }
                all.line(&line, dashed);
            }
            if b.status == Status::Exact {
                continue;
            }
            for line in [ends(&|p| Some(sure(p)?.0)), ends(&|p| Some(sure(p)?.1))].into_iter().flatten() {
                band.line(&line, b.status == Status::Bounded);
            }
        }
        if let [only] = &points[..]
            && let Some(share) = only.completeness
        {
            solid.line(&[(millis(only.budget), share)], false);
        }
        let (dim, [dot, faint]) = (ctx.theme.dim(), ctx.glyphs.plotted);
        band.draw(faint, dim, pen);
        thin.draw(dot, dim, pen);
        solid.draw(dot, ctx.theme.tone(Tone::Plain), pen);
        all
    }

    /// What each stretch rests on, at the bottom, and where it begins: in two rows between lines of the grid, or in
    /// one.
    fn captions(&self, plot: &Plot, dots: &Dots, pen: &mut Pen<'_>) {
        let (ctx, dim, area) = (self.ctx, self.ctx.theme.dim(), plot.area);
        let stretches = stretches(&self.outlook.budgets.points);
        let open = |y: &u16| plot.is_open(*y);
        let Some(last) = (area.y..area.bottom()).rev().find(open).filter(|_| area.height >= 6) else {
            return;
        };
        let two = last > area.y && open(&(last - 1));
        let rows = if two { last - 1..=last } else { last..=last };
        let held = plot.column(millis(self.outlook.budget));
        let mut from = area.x;
        for &(basis, _, to) in &stretches {
            // A stretch begins where the one before it ends.
            let (first, to) = (from, plot.column(millis(to)).unwrap_or(area.right()));
            if first > area.x && Some(first) != held {
                rows.clone().for_each(|y| pen.cell(first, y, ctx.glyphs.other_line, dim));
            }
            from = to;
            let words = if two { basis.words(self.outlook.probes > 0) } else { [basis.word(), ""] };
            let (x, columns) = (first + 2, words.map(width).into_iter().max().unwrap_or(0));
            let end = if to + 1 >= area.right() { area.right() } else { to };
            if x + columns <= end && rows.clone().all(|y| dots.is_free(x, x + columns, y)) {
                for (y, words) in rows.clone().zip(words) {
                    pen.put(x, y, area.right(), words, dim);
                }
            }
        }
    }

    /// What no budget can buy, in the room under the curve.
    fn ceiling(&self, plot: &Plot, dots: &Dots, pen: &mut Pen<'_>) {
        let Some(errors) = self.outlook.budgets.errors.filter(|&e| e >= 0.0005) else { return };
        let (area, dim) = (plot.area, self.ctx.theme.dim());
        let words = [
            format!(
                "ceiling {}: {} are errors,",
                numbers::share_percent(1.0 - errors),
                numbers::share_percent(errors)
            ),
            "no budget can buy those".to_owned(),
        ];
        let held = plot.column(millis(self.outlook.budget)).unwrap_or(area.x);
        let x = held + 3;
        let end = x + width(&words[0]);
        let last = area.bottom().saturating_sub(5);
        let fits = |&y: &u16| [y, y + 1].iter().all(|&y| dots.is_free(x, end, y) && plot.is_open(y));
        if let Some(y) = (area.y + 3..last).find(fits).filter(|_| end <= area.right()) {
            for (words, y) in words.iter().zip(y..) {
                pen.put(x, y, area.right(), words, dim);
            }
        }
    }

    /// A mark under the knee, with its name where there is room.
    fn knee(&self, plot: &Plot, dots: &Dots, pen: &mut Pen<'_>) {
        let Some(x) = self.outlook.budgets.knee.and_then(|knee| plot.column(millis(knee))) else { return };
        let (ctx, y) = (self.ctx, plot.area.bottom() - 1);
        pen.cell(x, y, ctx.glyphs.mark, ctx.theme.tone(Tone::Plain));
        let (from, to) = (x + 2, x + 6);
        let held = plot.column(millis(self.outlook.budget));
        if to < plot.area.right()
            && dots.is_free(from, to, y)
            && held.is_none_or(|held| held < x || held > to)
        {
            pen.put(from, y, to, "knee", ctx.theme.dim());
        }
    }
}

/// Within what a point is: its interval, else its bounds.
fn sure(point: &BudgetPoint) -> Option<(f64, f64)> {
    point.interval.or(point.bounds)
}
