//! The attempts of the call on the lanes' time axis: a row each, and the phases of the one that decided.

use super::phases::{Phases, note};
use crate::app::{Bar, Fate, Lane};
use crate::domain::numbers;
use crate::view::axis::{Axis, TimeAxis};
use crate::view::bar::{self, EndMark};
use crate::view::ctx::Ctx;
use crate::view::lanes::tag;
use crate::view::layout::Columns;
use crate::view::text::Pen;
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use std::time::Duration;

/// The attempts.
pub struct Attempts<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The call.
    pub lane: &'a Lane,
    /// Whether there is room for the phases, a row each.
    pub whole: bool,
}

/// Columns of the attempts, on the screen.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// First column of what a row is.
    pub label: u16,
    /// The column after the time's unit.
    pub time_end: u16,
    /// First column of the axis.
    pub axis: u16,
    /// Columns of the axis.
    pub axis_width: u16,
    /// First column of the notes, where there is room.
    pub note: Option<u16>,
    /// The column after all.
    pub end: u16,
}

impl Places {
    fn of(area: Rect, whole: bool, lettered: bool) -> Self {
        let (x, end) = (area.x, area.right().saturating_sub(1));
        let letter = if lettered { 3 } else { 0 };
        let (label, time_end, axis, note, air) = match area.width {
            110.. if whole => (4, 21 + letter, 24 + letter, Some(30), 6 - letter),
            _ if whole => (4, 21 + letter, 24 + letter, Some(29), 1),
            60.. => (1, 21 + letter, 22 + letter, Some(16), 1),
            _ => (1, 12, 13, None, 0),
        };
        let note = note.map(|width| area.right().saturating_sub(width));
        let axis_end = note.map_or(end, |note| note.saturating_sub(air));
        let axis = x + axis;
        let axis_width = axis_end.saturating_sub(axis);
        Self { label: x + label, time_end: x + time_end, axis, axis_width, note, end }
    }

    /// Columns of the notes.
    pub fn note_room(&self) -> u16 {
        self.note.map_or(0, |x| self.end.saturating_sub(x))
    }
}

impl Widget for &Attempts<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, lane) = (self.ctx, self.lane);
        let replicas = ctx.app.endpoints.get(ctx.app.selected).map_or(1, |e| e.replicas);
        let places = Places::of(area, self.whole, replicas > 1);
        let columns = Columns {
            axis: places.axis,
            axis_width: places.axis_width,
            outcome: None,
            conn: None,
            quantiles: None,
            ..Columns::of(ctx.app, area)
        };
        let axis = Axis::of(ctx.app, &columns);
        TimeAxis { ctx, columns, axis: &axis }.render(Rect { height: 1, ..area }, buf);
        let mut pen = Pen::new(buf);
        // The sum has no bar.
        let alone = lane.bars.len() == 1;
        let bottom = area.bottom().saturating_sub(u16::from(self.whole && alone)).max(area.y + 1);
        for &(_, x) in &axis.grid {
            for y in area.y + 1..bottom {
                pen.cell(x, y, ctx.glyphs.grid, ctx.theme.dim());
            }
        }
        let marks = self.rows(&places, &axis, area, &mut pen);
        for line in &axis.lines {
            for y in area.y + 1..bottom {
                pen.cell(line.x, y, ctx.glyphs.line, ctx.line_style(line));
            }
        }
        for (y, mark) in marks {
            bar::draw_mark(ctx, &mut pen, &axis, y, mark);
        }
        if self.whole && alone {
            pen.put(places.label, area.y, places.axis, &self.head(0, replicas, ", "), ctx.theme.dim());
        }
    }
}

impl Attempts<'_> {
    /// Every row but the axis; returns the marks at the ends of the bars.
    fn rows(&self, places: &Places, axis: &Axis, area: Rect, pen: &mut Pen<'_>) -> Vec<(u16, EndMark)> {
        let (lane, decisive) = (self.lane, self.lane.decisive());
        let several = lane.bars.len() > 1;
        let mut marks = Vec::new();
        let mut y = area.y + 1;
        for (index, bar) in lane.bars.iter().enumerate() {
            if several || !self.whole {
                marks.extend(self.row(index, places, axis, y, pen).map(|mark| (y, mark)));
                y += 1;
            }
            if self.whole && index == decisive {
                let phases = Phases { ctx: self.ctx, lane, bar, places, alone: !several };
                marks.extend(phases.draw(axis, y, pen));
                y += Phases::ROWS;
            }
        }
        marks
    }

    /// An attempt in one row.
    fn row(&self, index: usize, places: &Places, axis: &Axis, y: u16, pen: &mut Pen<'_>) -> Option<EndMark> {
        let (ctx, lane) = (self.ctx, self.lane);
        let bar = lane.bars.get(index)?;
        let strong = index == lane.decisive();
        let style = if strong { ctx.theme.bold(Tone::Plain) } else { ctx.theme.tone(Tone::Plain) };
        let replicas = ctx.app.endpoints.get(ctx.app.selected).map_or(1, |e| e.replicas);
        let label = match places.note {
            Some(_) => self.head(index, replicas, " ").trim_start_matches("attempt ").to_owned(),
            None if self.unsent() => ctx.glyphs.none.to_owned(),
            None => format!("{}{}", index + 1, letter(bar.replica, replicas)),
        };
        // Alone it takes as long as its call, which begins with the round.
        let alone = lane.bars.len() == 1;
        let took = if alone { ctx.end(ctx.app.selected, lane) } else { bar.end.saturating_sub(bar.start) };
        let (number, loud) = time(ctx, bar, took);
        let start = pen.put_right(places.time_end, y, &number, loud);
        pen.put(places.label, y, start, &label, style);
        if let Some(x) = places.note {
            pen.spans(x, y, places.end, &[note(ctx, lane, bar, (self.whole, places.note_room()))]);
        }
        bar::draw(ctx, pen, axis, y, bar, !self.whole)
    }

    /// Whether the call came out without anything sent; its lane has a bar all the same.
    fn unsent(&self) -> bool {
        self.ctx.app.detail_call().is_some_and(|call| call.attempts.is_empty())
    }

    /// `attempt 1, primary`, and the letter of its URL where there are several.
    fn head(&self, index: usize, replicas: usize, apart: &str) -> String {
        let Some(bar) = self.lane.bars.get(index) else { return String::new() };
        if self.unsent() {
            return "no attempt".to_owned();
        }
        let kind = if bar.hedge { "hedge" } else { "primary" };
        format!("attempt {}{apart}{kind}{}", index + 1, letter(bar.replica, replicas))
    }
}

/// The letter of a URL where there are several, with a blank before it.
fn letter(replica: usize, replicas: usize) -> String {
    let letter = tag(replica, replicas, false);
    if letter.is_empty() { letter } else { format!(" {letter}") }
}

/// A time and its style, for an attempt that came out like this one: `>200 ms` where it was cut.
pub fn time(ctx: &Ctx<'_>, bar: &Bar, took: Duration) -> (String, Style) {
    let took = numbers::ms(took);
    let tone = Ctx::fate_tone(bar.fate);
    match bar.fate {
        Fate::Cut => (format!(">{took}"), ctx.theme.bold(tone)),
        Fate::Ok | Fate::Won => (took, ctx.theme.bold(Tone::Plain)),
        Fate::Lost | Fate::NotNeeded | Fate::Stopped => (took, ctx.theme.dim()),
        Fate::Running | Fate::Failed(_) => (took, ctx.theme.bold(tone)),
    }
}
