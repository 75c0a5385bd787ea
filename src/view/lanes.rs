//! The lanes: a row per call on one time axis, hedges under their call, what came of it at the right.

use super::axis::Axis;
use super::bar::{self, EndMark};
use super::ctx::Ctx;
use super::hills;
use super::layout::Columns;
use super::text::{Pen, cut, cut_middle};
use super::theme::Tone;
use crate::app::{Bar, Fate, Lane, LaneState, Outline};
use crate::domain::numbers;
use crate::domain::{EndpointId, FaultSwitch, Outcome, Phase, Reason};
use crate::stats::Quantile;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// All lanes, scrolled so that the selected one is in sight.
pub struct Lanes<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where their columns are.
    pub columns: Columns,
    /// Their axis.
    pub axis: &'a Axis,
    /// Rows of a lane: its bar, and hills above it.
    pub rows: u16,
}

/// A lane and the rows it takes.
struct Placed {
    index: usize,
    lane: Option<Lane>,
    /// Its bar's row.
    y: u16,
}

impl Widget for &Lanes<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (placed, hidden) = self.place(area);
        let mut pen = Pen::new(buf);
        let bottom = placed.iter().map(|p| p.y + p.more_rows() + 1).max().unwrap_or(area.y);
        self.grid(area.y, bottom.min(area.bottom()), &mut pen);
        let marks: Vec<(u16, EndMark)> = placed.iter().flat_map(|p| self.lane(p, &mut pen)).collect();
        for line in &self.axis.lines {
            let style = self.ctx.line_style(line);
            let glyph = if line.leads { self.ctx.glyphs.line } else { self.ctx.glyphs.other_line };
            for y in area.y..bottom.min(area.bottom()) {
                pen.cell(line.x, y, glyph, style);
            }
        }
        for (y, mark) in marks {
            bar::draw_mark(self.ctx, &mut pen, self.axis, y, mark);
        }
        if placed.is_empty() {
            let words = "no lane has this in its name or its reasons";
            pen.put(self.columns.name, area.y, area.right(), words, self.ctx.theme.dim());
        }
        if !hidden.is_empty() {
            self.more(&hidden, area, &mut pen);
        }
    }
}

impl Placed {
    /// Rows below its bar's.
    fn more_rows(&self) -> u16 {
        rows_of(self.lane.as_ref().map_or(1, |lane| lane.bars.len()))
    }
}

/// Rows of so many bars, but for the first.
fn rows_of(bars: usize) -> u16 {
    u16::try_from(bars.saturating_sub(1)).unwrap_or(u16::MAX)
}

impl Lanes<'_> {
    /// The endpoint whose lane stands in this row.
    pub(super) fn at(&self, area: Rect, y: u16) -> Option<usize> {
        let holds = |p: &&Placed| {
            let first = (p.y + 1).saturating_sub(self.rows);
            (first..=p.y + p.more_rows()).contains(&y)
        };
        self.place(area).0.iter().find(holds).map(|p| p.index)
    }

    /// The lanes that fit, and the states of those that don't; only the former are looked at closely.
    fn place(&self, area: Rect) -> (Vec<Placed>, Vec<Option<LaneState>>) {
        let app = self.ctx.app;
        let indices = app.lineup.lanes();
        let outlines: Vec<Option<Outline>> = indices.iter().map(|&i| app.outline(i)).collect();
        let selected = indices.iter().position(|&i| i == app.selected).unwrap_or(0);
        let rows_of = |o: &Option<Outline>| self.rows.saturating_add(o.map_or(0, |o| rows_of(o.bars)));
        let rows: Vec<u16> = outlines.iter().map(rows_of).collect();
        let all: u32 = rows.iter().map(|&r| u32::from(r)).sum();
        let fits = all <= u32::from(area.height);
        // One row says what is not in sight.
        let room = if fits { area.height } else { area.height.saturating_sub(1) };
        let range = if fits { 0..rows.len() } else { window(&rows, selected, room) };
        let (mut placed, mut hidden, mut y) = (Vec::new(), Vec::new(), area.y);
        for (place, ((&index, outline), rows)) in indices.iter().zip(outlines).zip(&rows).enumerate() {
            if range.contains(&place) {
                placed.push(Placed { index, lane: app.lane(index), y: y + self.rows - 1 });
                y = y.saturating_add(*rows);
            } else {
                hidden.push(outline.map(|o| o.state));
            }
        }
        (placed, hidden)
    }

    fn grid(&self, top: u16, bottom: u16, pen: &mut Pen<'_>) {
        let style = self.ctx.theme.dim();
        for &(_, x) in &self.axis.grid {
            for y in top..bottom {
                pen.cell(x, y, self.ctx.glyphs.grid, style);
            }
        }
    }

    /// Draws a lane without its lines; returns the marks at the ends of its bars.
    fn lane(&self, placed: &Placed, pen: &mut Pen<'_>) -> Vec<(u16, EndMark)> {
        let (ctx, y) = (self.ctx, placed.y);
        let low = self.rows == 1;
        let above = if low { 1 } else { self.rows - 1 };
        hills::draw(ctx, pen, self.axis, EndpointId(placed.index), if low { y } else { y - 1 }, above);
        self.name(placed, pen);
        self.quantiles(placed.index, y, pen);
        let Some(lane) = &placed.lane else { return Vec::new() };
        if let Some(x) = lane.hedge_delay.filter(|d| !d.is_zero()).and_then(|d| self.axis.column(d)) {
            for y in y + 1 - self.rows..=y {
                pen.cell(x, y, ctx.glyphs.delay, ctx.theme.tone(Tone::Hedge));
            }
        }
        let mut marks = Vec::new();
        for (bar, y) in lane.bars.iter().zip(y..) {
            marks.extend(bar::draw(ctx, pen, self.axis, y, bar, low).map(|mark| (y, mark)));
        }
        self.result(placed.index, lane, y, pen);
        for (bar, y) in lane.bars.iter().zip(y..).skip(1) {
            self.hedge(placed.index, bar, y, pen);
        }
        marks
    }

    fn name(&self, placed: &Placed, pen: &mut Pen<'_>) {
        let (ctx, y, columns) = (self.ctx, placed.y, &self.columns);
        let Some(endpoint) = ctx.app.endpoints.get(placed.index) else { return };
        let selected = ctx.app.selected == placed.index;
        let left = columns.name.saturating_sub(4);
        if selected {
            pen.cell(left, y, ctx.glyphs.selected, ctx.theme.bold(Tone::Plain));
        }
        if let Some(lane) = &placed.lane {
            let (glyph, tone) = ctx.state_glyph(lane.state);
            pen.cell(left + 2, y, glyph, ctx.theme.tone(tone));
        }
        if ctx.app.faults.get(placed.index).is_some_and(|&f| f != FaultSwitch::AsWritten) {
            pen.cell(left + 1, y, "x", ctx.theme.bold(Tone::Plain));
        }
        let style = if selected { ctx.theme.bold(Tone::Plain) } else { ctx.theme.tone(Tone::Plain) };
        let end = columns.name + columns.name_width;
        pen.put(
            columns.name,
            y,
            end,
            &cut_middle(&endpoint.name, columns.name_width, ctx.glyphs.ellipsis),
            style,
        );
        let replica = placed.lane.as_ref().and_then(|l| l.bars.first()).map_or(0, |b| b.replica);
        let tag = tag(replica, endpoint.replicas, endpoint.required);
        pen.put_right(end + 1 + columns.tag_width, y, &tag, ctx.theme.dim());
    }

    /// Time, outcome and connection of a call; with hedges, of its primary attempt.
    fn result(&self, index: usize, lane: &Lane, y: u16, pen: &mut Pen<'_>) {
        let primary = lane.bars.first();
        if lane.bars.len() > 1
            && let Some(bar) = primary
            && bar.fate != Fate::Running
        {
            self.attempt_result(bar, y, pen);
            return;
        }
        let ctx = self.ctx;
        let (_, tone) = ctx.state_glyph(lane.state);
        let loud = !matches!(lane.state, LaneState::Ok | LaneState::NotNeeded | LaneState::GivenUp(_))
            && lane.state != LaneState::Error(Reason::SiblingFailed);
        // A required call in a deadline round has the request budget for its limit, and is not late before it.
        let overdue = ctx.app.round_settings().mode.ignores_budget() && lane.is_late(ctx.app.round_budget());
        let censored = matches!(lane.state, LaneState::Cut(..) | LaneState::GivenUp(_));
        self.time(ctx.end(index, lane), censored, (tone, loud), y, pen);
        let words = match lane.state {
            LaneState::Ok => {
                // The word `late` is what a narrow screen has room for.
                let narrow = overdue && columns_are_narrow(&self.columns);
                let answer = ctx.dim(answer_words(if narrow { None } else { lane.status }));
                let mark = overdue.then(|| ctx.bold(format!(" {} late", ctx.glyphs.dot), Tone::Cut));
                [Some(answer), mark].into_iter().flatten().collect()
            }
            LaneState::NotNeeded => vec![ctx.dim("not needed")],
            LaneState::GivenUp(_) => vec![ctx.dim("given up")],
            LaneState::Running(phase) => vec![ctx.bold(phase.as_str(), Tone::Running)],
            LaneState::Cut(reason, phase) => {
                let words = ctx.came(index).unwrap_or_else(|| cut_words(ctx, lane, reason, phase));
                vec![ctx.bold(words, Tone::Cut)]
            }
            LaneState::Error(reason) => {
                let style = if loud { ctx.theme.bold(Tone::Error) } else { ctx.theme.tone(Tone::Error) };
                vec![Span::styled(reason.label(lane.status), style)]
            }
        };
        self.outcome(&words, primary.and_then(|b| b.reused), y, pen);
    }

    /// A hedge's row: what it is, and what came of it.
    fn hedge(&self, index: usize, bar: &Bar, y: u16, pen: &mut Pen<'_>) {
        let (ctx, columns) = (self.ctx, &self.columns);
        let end = columns.name + columns.name_width;
        let word = if bar.hedge { "hedge" } else { "again" };
        let air = if columns.name_width > 6 { " " } else { "" };
        let name = format!("{}{air}{word}", ctx.glyphs.branch);
        pen.put(columns.name, y, end, &name, ctx.theme.tone(Tone::Hedge));
        if let Some(endpoint) = ctx.app.endpoints.get(index) {
            let tag = tag(bar.replica, endpoint.replicas, false);
            pen.put(end + 1, y, end + 1 + columns.tag_width, &tag, ctx.theme.dim());
        }
        self.attempt_result(bar, y, pen);
    }

    /// Time, outcome and connection of one attempt among several.
    fn attempt_result(&self, bar: &Bar, y: u16, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let tone = Ctx::fate_tone(bar.fate);
        let loud = !matches!(bar.fate, Fate::Ok | Fate::Won) && tone != Tone::Dim;
        self.time(bar.end.saturating_sub(bar.start), bar.fate == Fate::Cut, (tone, loud), y, pen);
        let phase = bar.segments.last().map_or(Phase::Queued, |s| s.0);
        let words = match bar.fate {
            Fate::Ok | Fate::Won => ctx.dim(answer_words(bar.status)),
            Fate::Lost | Fate::NotNeeded | Fate::Stopped => ctx.dim("cancelled"),
            Fate::Running => ctx.bold(phase.as_str(), Tone::Running),
            Fate::Cut => ctx.bold(format!("cut {} {phase}", ctx.glyphs.dot), Tone::Cut),
            Fate::Failed(reason) => ctx.bold(reason.label(bar.status), Tone::Error),
        };
        self.outcome(&[words], bar.reused, y, pen);
    }

    fn time(
        &self,
        time: std::time::Duration,
        censored: bool,
        (tone, loud): (Tone, bool),
        y: u16,
        pen: &mut Pen<'_>,
    ) {
        let theme = self.ctx.theme;
        let (number, unit) = numbers::measured(time);
        let (strong, weak) = match (loud, tone) {
            (true, tone) => (theme.bold(tone), theme.bold(tone)),
            (false, Tone::Dim) => (theme.dim(), theme.dim()),
            (false, Tone::Error) => (theme.tone(tone), theme.tone(tone)),
            (false, _) => (theme.tone(Tone::Plain), theme.dim()),
        };
        let number = if censored { format!(">{number}") } else { number };
        let start = pen.put_right(self.columns.time_end, y, unit, weak);
        pen.put_right(start.saturating_sub(1), y, &number, strong);
        if loud {
            // One run of style: the gap would otherwise break it.
            pen.put(start.saturating_sub(1), y, start, " ", strong);
        }
    }

    /// The outcome's words, and the connection where they leave room for it.
    fn outcome(&self, words: &[Span<'_>], reused: Option<bool>, y: u16, pen: &mut Pen<'_>) {
        let Some((x, room)) = self.columns.outcome else { return };
        let length = super::text::spans_width(words);
        let conn = self.columns.conn.filter(|_| length <= room);
        // A long reason runs on over the connection's column rather than be cut.
        let limit = self.columns.conn.map_or(x + room, |c| if length > room { c + 5 } else { c });
        if let ([word], None) = (words, self.columns.conn)
            && length > room
        {
            let last = word.content.rsplit(['_', ' ']).next().unwrap_or_default();
            pen.put(x, y, limit, &cut(last, room, self.ctx.glyphs.ellipsis), word.style);
        } else {
            pen.spans(x, y, limit, words);
        }
        match (conn, reused) {
            (Some(x), Some(true)) => drop(pen.put(x, y, x + 6, "reused", self.ctx.theme.dim())),
            (Some(x), Some(false)) => drop(pen.put(x, y, x + 6, "new", self.ctx.theme.tone(Tone::Plain))),
            _ => {}
        }
    }

    fn quantiles(&self, index: usize, y: u16, pen: &mut Pen<'_>) {
        let Some((p50, high)) = self.columns.quantiles else { return };
        let dim = self.ctx.theme.dim();
        for (end, q) in [(p50, 0.5), (high, self.ctx.high_quantile().0)] {
            let text = match self.ctx.app.stats().quantile(EndpointId(index), q) {
                Quantile::At(time) => numbers::measured(time).0,
                Quantile::Above(time) => format!(">{}", numbers::measured(time).0),
                Quantile::None => self.ctx.glyphs.none.to_owned(),
            };
            pen.put_right(end, y, &text, dim);
        }
    }

    /// `+12 more, 3 missing`.
    fn more(&self, hidden: &[Option<LaneState>], area: Rect, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let missing = hidden.iter().flatten().filter(|s| s.is_missing()).count();
        let (x, y, end) = (self.columns.name, area.bottom().saturating_sub(1), area.right());
        let mut words = vec![ctx.dim(format!("+{} more", hidden.len()))];
        if missing > 0 {
            words.extend([ctx.dim(", "), ctx.bold(format!("{missing} missing"), Tone::Plain)]);
        }
        pen.spans(x, y, end, &words);
    }
}

fn columns_are_narrow(columns: &Columns) -> bool {
    columns.outcome.is_none_or(|o| o.1 < 13)
}

fn answer_words(status: Option<u16>) -> String {
    status.map_or_else(|| "ok".to_owned(), |s| format!("ok {s}"))
}

fn cut_words(ctx: &Ctx<'_>, lane: &Lane, reason: Reason, phase: Phase) -> String {
    match (lane.late_by, reason) {
        (Some(by), _) => format!("{} late", numbers::ms(by)),
        (None, Reason::Throttled) => reason.as_str().to_owned(),
        (None, _) => format!("cut {} {phase}", ctx.glyphs.dot),
    }
}

impl Ctx<'_> {
    /// What became of a call that was cut and watched: `came at 340 ms`.
    fn came(&self, index: usize) -> Option<String> {
        let late = self.app.late(index)?;
        match late.outcome {
            Outcome::Ok => Some(format!("came at {}", numbers::ms(late.end))),
            Outcome::Missing(reason) if !reason.is_cut() && reason != Reason::Aborted => {
                Some(format!("{reason} at {}", numbers::ms(late.end)))
            }
            Outcome::Missing(_) | Outcome::NotNeeded => None,
        }
    }

    /// Glyph and tone of what is missing for this reason.
    pub(super) const fn reason_glyph(&self, reason: Reason) -> (&'static str, Tone) {
        match reason {
            reason if reason.is_cut() => (self.glyphs.cut, Tone::Cut),
            Reason::Aborted => (self.glyphs.not_needed, Tone::Dim),
            _ => (self.glyphs.error, Tone::Error),
        }
    }

    /// A call's glyph and tone.
    pub(super) const fn state_glyph(&self, state: LaneState) -> (&'static str, Tone) {
        match state {
            LaneState::Running(_) => (self.glyphs.running, Tone::Running),
            LaneState::Ok => (self.glyphs.ok, Tone::Ok),
            LaneState::Cut(..) => (self.glyphs.cut, Tone::Cut),
            LaneState::Error(_) => (self.glyphs.error, Tone::Error),
            LaneState::NotNeeded | LaneState::GivenUp(_) => (self.glyphs.not_needed, Tone::Dim),
        }
    }
}

/// Which lanes to show, so that `selected` is among them and about in the middle.
fn window(rows: &[u16], selected: usize, room: u16) -> std::ops::Range<usize> {
    let selected = selected.min(rows.len().saturating_sub(1));
    let (mut from, mut to) = (selected, selected);
    let mut left = room;
    let take = |index: usize, left: &mut u16| -> bool {
        match rows.get(index) {
            Some(&r) if r <= *left => {
                *left -= r;
                true
            }
            _ => false,
        }
    };
    if take(to, &mut left) {
        to += 1;
    }
    loop {
        let down = take(to, &mut left);
        to += usize::from(down);
        let up = from.checked_sub(1).is_some_and(|i| take(i, &mut left));
        from -= usize::from(up);
        if !down && !up {
            return from..to;
        }
    }
}

/// The replica's letter where there are several, and `!` for a required call.
pub fn tag(replica: usize, replicas: usize, required: bool) -> String {
    let letter = (replicas > 1)
        .then(|| u8::try_from(replica).ok().filter(|r| *r < 26).map_or('z', |r| (b'a' + r) as char));
    letter.into_iter().chain(required.then_some('!')).collect()
}

/// Columns that the tag of such an endpoint takes.
pub fn tag_width(replicas: usize, required: bool) -> u16 {
    u16::from(replicas > 1) + u16::from(required)
}
