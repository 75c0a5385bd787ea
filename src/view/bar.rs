//! An attempt's bar: phases in shades, its end in eighths of a cell, and the mark of how it ended.

use super::axis::Axis;
use super::ctx::Ctx;
use super::text::{Pen, width};
use super::theme::Tone;
use crate::app::{Bar, Fate};
use crate::domain::Phase;
use ratatui::style::Style;

/// What stands at a bar's end. Drawn after the lines, so that no line hides where a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndMark {
    /// Its column.
    pub x: u16,
    /// Its glyph.
    pub glyph: &'static str,
    /// A word behind it, or nothing.
    pub word: &'static str,
    /// Its tone.
    pub tone: Tone,
    /// Whether it is to be read first.
    pub bold: bool,
}

impl Ctx<'_> {
    /// The tone of an attempt.
    pub(super) const fn fate_tone(fate: Fate) -> Tone {
        match fate {
            Fate::Running => Tone::Running,
            Fate::Ok | Fate::Won => Tone::Ok,
            Fate::Failed(_) => Tone::Error,
            Fate::Cut => Tone::Cut,
            Fate::Lost | Fate::NotNeeded | Fate::Stopped => Tone::Dim,
        }
    }
}

/// Draws the bar and says what stands at its end. `low`: rows touch, so its inside is a little lower.
pub fn draw(ctx: &Ctx<'_>, pen: &mut Pen<'_>, axis: &Axis, y: u16, bar: &Bar, low: bool) -> Option<EndMark> {
    let end = match bar.fate {
        Fate::Lost | Fate::NotNeeded | Fate::Stopped => thin(ctx, pen, axis, y, bar),
        Fate::Cut => cut(ctx, pen, axis, y, bar, low),
        Fate::Running | Fate::Ok | Fate::Won | Fate::Failed(_) => thick(ctx, pen, axis, y, bar, low),
    };
    let mark = |glyph, word, tone, bold| Some(EndMark { x: end, glyph, word, tone, bold });
    match bar.fate {
        Fate::Running | Fate::Ok | Fate::NotNeeded | Fate::Stopped => None,
        Fate::Failed(_) => mark(ctx.glyphs.error, "", Tone::Error, false),
        Fate::Cut => mark(ctx.glyphs.line_hit, "", Tone::Cut, true),
        Fate::Won => mark(ctx.glyphs.hedge, "won", if bar.hedge { Tone::Hedge } else { Tone::Ok }, true),
        Fate::Lost => mark(ctx.glyphs.not_needed, "lost", Tone::Dim, false),
    }
}

/// Writes an end mark.
pub fn draw_mark(ctx: &Ctx<'_>, pen: &mut Pen<'_>, axis: &Axis, y: u16, mark: EndMark) {
    let style = if mark.bold { ctx.theme.bold(mark.tone) } else { ctx.theme.tone(mark.tone) };
    let end = axis.x.saturating_add(axis.scale.width());
    if mark.word.is_empty() {
        if mark.x < end {
            pen.cell(mark.x, y, mark.glyph, style);
        }
        return;
    }
    // One cell of air, then glyph, air and word: behind a line rather than across it.
    let length = 2 + width(mark.word);
    let mut x = mark.x.saturating_add(1);
    if let Some(line) = axis.lines.iter().map(|l| l.x).filter(|&l| l >= x && l < x + length).max() {
        x = line + 2;
    }
    if x.saturating_add(length) <= end {
        pen.put(x, y, end, &format!("{} {}", mark.glyph, mark.word), style);
    }
}

/// A bar that was pending until the line and touches it, wherever its last event fell; returns the line's
/// column.
fn cut(ctx: &Ctx<'_>, pen: &mut Pen<'_>, axis: &Axis, y: u16, bar: &Bar, low: bool) -> u16 {
    let line = axis.lines.iter().filter(|l| l.at <= bar.end).max_by_key(|l| l.at);
    // The clean-up took a moment; the bar ends where the call was given up.
    let end = line.map_or(bar.end, |l| l.at);
    let bar = Bar { end, ..bar.clone() };
    let after = axis.x.saturating_add(axis.scale.cells(bar.start, end).full_end);
    thick(ctx, pen, axis, y, &bar, low);
    let line = line.map_or(after, |l| l.x);
    let phase = phase_at(axis, &bar, u32::MAX);
    pen.fill(after, line, y, ctx.glyphs.phase(phase, low), phase_style(ctx, phase, Tone::Cut));
    line
}

/// A line without phases; returns the column after it.
fn thin(ctx: &Ctx<'_>, pen: &mut Pen<'_>, axis: &Axis, y: u16, bar: &Bar) -> u16 {
    let cells = axis.scale.cells(bar.start, bar.end);
    let [full, half] = ctx.glyphs.thin;
    let style = ctx.theme.dim();
    pen.fill(axis.x + cells.first, axis.x.saturating_add(cells.full_end), y, full, style);
    if cells.eighths > 0 {
        pen.cell(
            axis.x.saturating_add(cells.full_end),
            y,
            if cells.eighths >= 4 { full } else { half },
            style,
        );
    }
    axis.x.saturating_add(cells.end())
}

/// A bar with phases; returns the column after it.
pub fn thick(ctx: &Ctx<'_>, pen: &mut Pen<'_>, axis: &Axis, y: u16, bar: &Bar, low: bool) -> u16 {
    let cells = axis.scale.cells(bar.start, bar.end);
    let tone = Ctx::fate_tone(bar.fate);
    let last = phase_at(axis, bar, u32::MAX);
    let single = cells.full_end == cells.first;
    // The tip of a failed call is bright: it is where to look.
    let failed = matches!(bar.fate, Fate::Failed(_));
    // Its last cell: a part where the set has parts, else a whole one or none.
    let part = match usize::from(cells.eighths).checked_sub(1) {
        Some(part) if !ctx.glyphs.eighths.is_empty() => ctx.glyphs.eighths.get(part).copied(),
        Some(part) if part >= 3 || single => Some(ctx.glyphs.phase(last, low)),
        _ => None,
    };
    for column in cells.first..cells.full_end {
        // However short the last phase was, the tip shows it: the answer arriving.
        let tip = part.is_none() && column + 1 == cells.full_end;
        let phase = if tip { last } else { phase_at(axis, bar, u32::from(column) * 8 + 4) };
        pen.cell(
            axis.x.saturating_add(column),
            y,
            ctx.glyphs.phase(phase, low),
            phase_style(ctx, phase, tone),
        );
    }
    let end = axis.x.saturating_add(cells.full_end);
    let Some(glyph) = part else { return end };
    pen.cell(
        end,
        y,
        glyph,
        if single || failed { ctx.theme.tone(tone) } else { phase_style(ctx, last, tone) },
    );
    end.saturating_add(1)
}

/// Time before an answer is faint, its arrival bright.
fn phase_style(ctx: &Ctx<'_>, phase: Phase, tone: Tone) -> Style {
    if phase == Phase::Body { ctx.theme.tone(tone) } else { ctx.theme.faint(tone) }
}

/// The phase that an eighth of the axis falls into.
fn phase_at(axis: &Axis, bar: &Bar, eighth: u32) -> Phase {
    let mut until = bar.start;
    for &(phase, time) in &bar.segments {
        until = until.saturating_add(time);
        if axis.scale.eighths(until) > eighth {
            return phase;
        }
    }
    bar.segments.last().map_or(Phase::Queued, |s| s.0)
}
