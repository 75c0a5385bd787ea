//! When the k-th answer is there, for some k: curves over time where there is room, and a table.

use crate::domain::numbers;
use crate::view::ctx::Ctx;
use crate::view::plot::{Dots, LABELS, Plot, Range, millis, upright};
use crate::view::text::{Pen, Row, width};
use crate::view::theme::Tone;
use crate::whatif::outlook::Status;
use crate::whatif::quorum::{QuorumRow, QuorumStudy};
use ratatui::layout::Rect;
use std::time::Duration;

/// The quorum part.
pub struct QuorumPart<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// What is shown.
    pub study: &'a QuorumStudy,
    /// The budget that holds.
    pub budget: Duration,
}

/// Columns of the table.
const TABLE: u16 = 21;

/// Columns of the intervals, behind the shares.
const INTERVAL: u16 = 11;

/// Columns of the words at the end of a row, where there is no row below for them.
const WORDS: u16 = 15;

/// Columns of the smallest plot beside the table.
const PLOT: u16 = 26;

/// Curves at the most: more can't be told apart.
const CURVES: usize = 5;

impl QuorumPart<'_> {
    /// Title, curves, table.
    pub fn draw(&self, area: Rect, pen: &mut Pen<'_>) {
        let (ctx, dim) = (self.ctx, self.ctx.theme.dim());
        if area.is_empty() {
            return;
        }
        let row = Row { x: area.x, y: area.y, width: area.width };
        let words = "rounds with k answers, by time";
        let n = self.counted();
        let forms = [format!("{words} {} {n}", ctx.glyphs.dot), n, String::new()];
        let right = forms.into_iter().find(|words| width(words) + 9 <= area.width).unwrap_or_default();
        pen.title(row, &[ctx.bold("Quorum", Tone::Plain)], (ctx.glyphs.rule, dim), &[ctx.dim(right)]);
        let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let plots = area.height >= 9 && area.width >= TABLE + PLOT;
        let table = match plots {
            true if area.width >= TABLE + INTERVAL + PLOT => TABLE + INTERVAL,
            true => TABLE,
            false => below.width.min(TABLE + INTERVAL + WORDS),
        };
        if plots {
            self.curves(Rect { width: below.width - table - 2, ..below }, pen);
        }
        self.table(Rect { x: below.right().saturating_sub(table), width: table, ..below }, plots, pen);
    }

    /// Rounds that the rows rest on: `n 301`, or from the fewest to the most, where some were not decided for each k.
    fn counted(&self) -> String {
        let n = || self.study.rows.iter().map(|row| row.n);
        match (n().min().unwrap_or(0), n().max().unwrap_or(0)) {
            (least, most) if least == most => format!("n {most}"),
            (least, most) => format!("n {least}{}{most}", self.ctx.glyphs.to),
        }
    }

    /// The rows that are shown: the one that holds, then those that ask for most.
    fn shown(&self, most: usize) -> Vec<&QuorumRow> {
        let rows = &self.study.rows;
        let mut shown: Vec<&QuorumRow> = rows.iter().filter(|row| row.k == self.study.k).collect();
        let rest = rows.iter().rev().filter(|row| row.k != self.study.k);
        shown.extend(rest);
        shown.truncate(most);
        shown.sort_by_key(|row| row.k);
        shown
    }

    fn curves(&self, area: Rect, pen: &mut Pen<'_>) {
        let (ctx, glyphs) = (self.ctx, self.ctx.glyphs);
        let cells = Rect {
            x: area.x + LABELS,
            width: area.width.saturating_sub(LABELS + 1),
            height: area.height.saturating_sub(1),
            ..area
        };
        let shown = self.shown(CURVES);
        let end = millis(self.budget) * 1.2;
        let plot = Plot { area: cells, x: (0.0, end), y: Range::WHOLE };
        plot.shares(ctx, pen);
        let mut all = Dots::new(plot, ctx.app.options.ascii);
        let mut labels = Vec::new();
        for (i, row) in shown.iter().enumerate() {
            let mut points = steps(row, end);
            // Up to the budget nothing more came.
            let (held, last) = (millis(self.budget), points.last().copied());
            let more = last.filter(|last| last.0 < held && row.by_budget.is_some());
            points.extend(more.map(|last| (held, last.1)));
            let mut dots = Dots::new(plot, ctx.app.options.ascii);
            dots.line(&points, false);
            all.line(&points, false);
            // Neighbours differ in strength; the one that holds is plain.
            let faint = row.k != self.study.k && i % 2 == 1;
            dots.draw(
                glyphs.plotted[0],
                if faint { ctx.theme.dim() } else { ctx.theme.tone(Tone::Plain) },
                pen,
            );
            let half = points.iter().find(|p| p.1 >= 0.5).or(points.last());
            labels.extend(
                half.and_then(|&(x, share)| Some((plot.column(x)?, plot.row(share.min(0.5))?, row.k))),
            );
        }
        if let Some(x) = plot.column(millis(self.budget)) {
            upright(&plot, x, &all, (glyphs.line, glyphs.line), ctx.budget_style(), pen);
        }
        let mut taken: Vec<(u16, u16)> = Vec::new();
        for (x, y, k) in labels {
            let text = k.to_string();
            let end = x + width(&text);
            if taken.iter().all(|&(at, row)| row != y || x > at) && end <= cells.right() {
                pen.put(x, y, end, &text, ctx.theme.bold(Tone::Plain));
                taken.push((end, y));
            }
        }
        plot.times(ctx, Some((self.budget, ctx.budget_style())), pen);
    }

    fn table(&self, area: Rect, plots: bool, pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let mut room = usize::from(area.height.saturating_sub(1));
        let correlated: Vec<usize> =
            self.study.rows.iter().filter(|row| row.correlated).map(|row| row.k).collect();
        // One row says for which k.
        room = room.saturating_sub(usize::from(plots && !correlated.is_empty()));
        let words = if plots { 0 } else { WORDS };
        let wide = area.width >= TABLE + INTERVAL + words;
        let value = area.x + 12;
        let interval = value + if wide { INTERVAL } else { 0 };
        let independent = interval + 9;
        pen.put_right(value, area.y, &format!("by {}", numbers::setting_ms(self.budget)), theme.dim());
        if wide {
            pen.put_right(interval, area.y, "interval", theme.dim());
        }
        pen.put_right(independent, area.y, "indep.", theme.dim());
        let mut y = area.y + 1;
        for row in self.shown(room) {
            let holds = row.k == self.study.k;
            let thin = row.status != Status::Exact && row.status != Status::Estimated;
            let style = match (holds, thin) {
                (true, _) => theme.bold(Tone::Plain),
                (_, true) => theme.dim(),
                _ => theme.tone(Tone::Plain),
            };
            if row.k < 100 {
                pen.put(area.x + 1, y, value, &format!("k {}", row.k), style);
            } else {
                // Never up to the share: the two would be read as one number.
                pen.put_right(area.x + 4, y, &row.k.to_string(), style);
            }
            pen.put_right(value, y, &ctx.share(row.by_budget), style);
            if let Some(within) = row.interval.filter(|_| wide) {
                pen.put_right(interval, y, &ctx.between(within), theme.dim());
            }
            pen.put_right(independent, y, &ctx.share(row.independent), theme.dim());
            if !plots && row.correlated {
                pen.put(independent + 2, y, area.right(), "correlated", theme.bold(Tone::Plain));
            } else if !plots && row.status == Status::Thin {
                pen.put(independent + 2, y, area.right(), "thin", theme.dim());
            }
            y += 1;
        }
        if plots && !correlated.is_empty() {
            let which = format!(": k {}", stretches(&correlated, ctx.glyphs.to));
            let fits = width(&which) + 11 <= area.width;
            let spans =
                [ctx.bold("correlated", Tone::Plain), ctx.dim(if fits { which } else { String::new() })];
            pen.spans(area.x + 1, y, area.right(), &spans);
        }
    }
}

/// Ascending numbers in short: `1 3–5`.
fn stretches(numbers: &[usize], to: &str) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for &n in numbers {
        match out.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => out.push((n, n)),
        }
    }
    let words = out.into_iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}{to}{b}") });
    words.collect::<Vec<_>>().join(" ")
}

/// The curve of a k as a stair, up to this time.
fn steps(row: &QuorumRow, end: f64) -> Vec<(f64, f64)> {
    let mut out = vec![(0.0, 0.0)];
    let mut share = 0.0;
    for point in &row.curve {
        let at = millis(point.time);
        if at > end {
            break;
        }
        // A stair of many small steps is drawn as the line through them.
        out.push((at, point.met.max(share)));
        share = point.met.max(share);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_one_stretch() {
        assert_eq!(stretches(&[1, 3, 4, 5, 8], "-"), "1 3-5 8");
        assert_eq!(stretches(&[2, 3], "-"), "2-3");
        assert_eq!(stretches(&[], "-"), "");
    }
}
