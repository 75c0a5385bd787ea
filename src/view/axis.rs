//! The time axis: its length, the lines that stand on it, and its labels.

use super::ctx::Ctx;
use super::layout::Columns;
use super::scale::Scale;
use super::text::{Pen, width};
use super::theme::Tone;
use crate::app::{App, Shown};
use crate::domain::numbers;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use std::time::Duration;

/// What a line through all lanes stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The k-th answer.
    Quorum,
    /// The deadline of this round.
    Deadline,
    /// The budget where it does not cut.
    Budget,
    /// The outer limit.
    Request,
}

/// A line through all lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// What it stands for.
    pub kind: LineKind,
    /// When.
    pub at: Duration,
    /// Its column on the screen.
    pub x: u16,
    /// Whether it is what ended or will end the round, and is to be read first.
    pub leads: bool,
}

/// The axis of the round on the lanes.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Times to cells.
    pub scale: Scale,
    /// Its first column.
    pub x: u16,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Grid lines: when and where.
    pub grid: Vec<(Duration, u16)>,
}

/// Up to how many budgets the request budget may be for both to stand on one axis: the part that most calls
/// end in has to stay readable.
const BOTH: u32 = 4;

impl Axis {
    /// The axis runs from 0 to 1.2 x budget, so its deadline line moves only with the budget. Of two budgets that take
    /// turns it is the larger.
    ///
    /// Where calls may run past the budget (wait-all, fail-fast, required calls) it runs to 1.2 x the request
    /// budget, so that both limits stand on it, unless that is more than [`BOTH`] budgets. Then it is doubled
    /// until all calls since the mode or the budget changed fit: steps are few, and it never shrinks again.
    #[must_use]
    pub fn of(app: &App, columns: &Columns) -> Self {
        let budget = app.round_budget();
        let request = app.round_settings().request_budget;
        let longest = app.longest_budget();
        let mut length = longest;
        if app.may_pass_budget() {
            while length.saturating_mul(6) / 5 < app.reach() && length < request {
                length = length.saturating_mul(2).max(Duration::from_millis(1));
            }
            let both = request <= longest.saturating_mul(BOTH);
            length = if both { request.max(longest) } else { length.min(request) };
        }
        let scale = Scale::new(columns.axis_width, length.saturating_mul(6) / 5);
        let mut axis = Self { scale, x: columns.axis, lines: Vec::new(), grid: Vec::new() };
        axis.add_lines(app, budget, request);
        let step = Scale::step(length);
        let marks = (1_u32..=64).map(|i| step.saturating_mul(i)).filter_map(|t| Some((t, axis.column(t)?)));
        axis.grid = marks.filter(|&(t, x)| t != budget && axis.lines.iter().all(|l| l.x != x)).collect();
        axis
    }

    fn add_lines(&mut self, app: &App, budget: Duration, request: Duration) {
        let cuts = !app.round_settings().mode.ignores_budget();
        let quorum = match app.shown() {
            Shown::Over(round) => round.quorum_at,
            _ => None,
        };
        let mut wanted = vec![(
            if cuts { LineKind::Deadline } else { LineKind::Budget },
            budget,
            quorum.is_none() && cuts,
        )];
        if app.may_pass_budget() && request != budget {
            wanted.push((LineKind::Request, request, !cuts));
        }
        wanted.extend(quorum.map(|at| (LineKind::Quorum, at, true)));
        self.lines = wanted
            .into_iter()
            .filter_map(|(kind, at, leads)| Some(Line { kind, at, x: self.column(at)?, leads }))
            .collect();
    }

    /// The column of an instant on the screen.
    #[must_use]
    pub fn column(&self, at: Duration) -> Option<u16> {
        self.scale.column(at).map(|c| self.x.saturating_add(c))
    }

    /// Whether a line stands in this column.
    #[must_use]
    pub fn line_at(&self, x: u16) -> bool {
        self.lines.iter().any(|l| l.x == x)
    }
}

impl Ctx<'_> {
    /// How a line looks.
    pub(super) fn line_style(&self, line: &Line) -> Style {
        let tone = if line.kind == LineKind::Quorum { Tone::Ok } else { Tone::Cut };
        if line.leads { self.theme.bold(tone) } else { self.theme.tone(tone) }
    }
}

/// Times and column heads.
pub struct TimeAxis<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where the lanes' columns are.
    pub columns: Columns,
    /// The axis.
    pub axis: &'a Axis,
}

/// Least columns between the labels of grid lines.
const LABEL_STEP: u16 = 12;

impl Widget for &TimeAxis<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let mut pen = Pen::new(buf);
        let (dim, y) = (self.ctx.theme.dim(), area.y);
        // Columns that are taken, with a little air around them.
        let mut taken: Vec<(u16, u16)> = Vec::new();
        for line in &self.axis.lines {
            self.line_label(line, y, &mut taken, &mut pen);
        }
        let mut label = |x: u16, text: &str, air: u16| {
            let (from, to) = (x, x.saturating_add(width(text)));
            let free =
                taken.iter().all(|&(a, b)| to + air <= a || from >= b + air) && to <= self.columns.axis_end();
            if free {
                taken.push((from, to));
                pen.put(x, y, to, text, dim);
            }
        };
        label(self.axis.x, "0 ms", 1);
        let mut last = self.axis.x;
        for &(at, x) in &self.axis.grid {
            if x >= last.saturating_add(LABEL_STEP) {
                label(x, &numbers::millis(at), 2);
                last = x;
            }
        }
        self.heads(y, &mut pen);
    }
}

impl TimeAxis<'_> {
    /// A line's name and time, over the line; shifted to the left of what is there, or shortened.
    fn line_label(&self, line: &Line, y: u16, taken: &mut Vec<(u16, u16)>, pen: &mut Pen<'_>) {
        let time = numbers::setting_ms(line.at);
        let wide = self.columns.axis_width >= 50;
        let k = self.ctx.app.round_settings().quorum_of(self.ctx.app.optional());
        let long = match line.kind {
            LineKind::Quorum => format!("quorum {k} at {}", numbers::ms(line.at)),
            LineKind::Deadline => format!("deadline {time}"),
            LineKind::Budget => format!("budget {time}"),
            LineKind::Request => format!("request {time}"),
        };
        let short = match line.kind {
            LineKind::Quorum => format!("{}{}", numbers::ms(line.at), self.ctx.glyphs.down),
            _ => format!("{time}{}", self.ctx.glyphs.down),
        };
        // A label touches its line, or it would name another: over it, beside it, or in short.
        let end = self.columns.axis_end();
        let over = line.x.saturating_sub(width(&long) / 2).min(end.saturating_sub(width(&long)));
        let before = |text: &str| (line.x + 1).saturating_sub(width(text));
        let after = format!("{}{time}", self.ctx.glyphs.down);
        let mut places = vec![(before(&short), short.clone()), (line.x, after)];
        if wide {
            places.splice(
                0..0,
                [(over.max(self.axis.x), long.clone()), (before(&long), long.clone()), (line.x, long)],
            );
        }
        let fits = |(x, text): &(u16, String)| {
            let to = x.saturating_add(width(text));
            let touches = *x <= line.x && line.x <= to;
            *x >= self.axis.x && to <= end && touches && taken.iter().all(|&(a, b)| to < a || *x > b)
        };
        if let Some((x, text)) = places.into_iter().find(fits) {
            let to = pen.put(x, y, end, &text, self.ctx.line_style(line));
            taken.push((x, to));
        }
    }

    fn heads(&self, y: u16, pen: &mut Pen<'_>) {
        let dim = self.ctx.theme.dim();
        if let Some((x, width)) = self.columns.outcome.filter(|o| o.1 > 12) {
            pen.put(x, y, x + width, "outcome", dim);
        }
        if let Some(x) = self.columns.conn {
            pen.put(x, y, x + 7, "conn", dim);
        }
        if let Some((p50, high)) = self.columns.quantiles {
            pen.put_right(p50, y, "p50", dim);
            pen.put_right(high, y, self.ctx.high_quantile().1, dim);
        }
    }
}

impl Ctx<'_> {
    /// The high quantile beside the median: in hedge rounds the tail that hedges are for.
    pub(super) fn high_quantile(&self) -> (f64, &'static str) {
        match self.app.mode() {
            crate::domain::Mode::Hedge => (0.99, "p99"),
            _ => (0.95, "p95"),
        }
    }
}
