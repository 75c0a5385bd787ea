//! How far a recording has come: where it is, a bar, how long it is, and what there is to say about it.

use super::ctx::Ctx;
use super::layout::{Regions, Size};
use super::text::{Pen, cut, spans_width};
use super::theme::Tone;
use crate::domain::{PlayState, Playback};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use std::time::Duration;

/// The row above the keys.
pub struct Scrubber<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where.
    pub regions: Regions,
}

/// Columns of a bar that says anything.
const LEAST_BAR: u16 = 8;

impl Widget for &Scrubber<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let Some(playback) = self.ctx.app.playback().filter(|_| !area.is_empty()) else { return };
        let (ctx, end) = (self.ctx, area.right().saturating_sub(1));
        let mut pen = Pen::new(buf);
        let position = [ctx.bold(clock(playback.position, playback.length), Tone::Plain)];
        let x = pen.spans(area.x.saturating_add(1), area.y, end, &position).saturating_add(1);
        let length = vec![ctx.dim(clock(playback.length, playback.length))];
        let beside = self.beside(playback, end.saturating_sub(x).saturating_sub(spans_width(&length) + 2));
        let mut right = length;
        if !beside.is_empty() {
            right.push(Span::raw("  "));
            right.extend(beside);
        }
        let from = pen.spans_right(end, area.y, &right).saturating_sub(1);
        if from.saturating_sub(x) >= LEAST_BAR {
            bar(ctx, playback, (x, from, area.y), &mut pen);
        }
    }
}

impl Scrubber<'_> {
    /// What is wrong, what is to be said, or what stands nowhere else on a screen of this size. As much of it as
    /// leaves room for a bar, and of what is wrong as much as there is room for.
    fn beside(&self, playback: &Playback, room: u16) -> Vec<Span<'static>> {
        let (ctx, size) = (self.ctx, self.regions.size);
        let with_bar = room.saturating_sub(LEAST_BAR + 1);
        let cut = |text: &str, most| cut(text, most, ctx.glyphs.ellipsis);
        if let Some(fault) = &playback.fault {
            return vec![ctx.bold(cut(fault, room), Tone::Error)];
        }
        if let Some(notice) = &playback.notice {
            return vec![Ctx::plain(cut(notice, if size <= Size::Small { room } else { with_bar }))];
        }
        if let Some(percent) = playback.indexed {
            let words =
                if size <= Size::Small { format!("{percent} %") } else { format!("read {percent} %") };
            return vec![ctx.dim(words)];
        }
        match size {
            Size::Min => self.state(playback),
            Size::Small | Size::Medium => {
                let started = ctx.started().unwrap_or_default();
                if with_bar > 3 * LEAST_BAR { vec![ctx.dim(cut(&started, with_bar))] } else { Vec::new() }
            }
            Size::Full => Vec::new(),
        }
    }

    /// Where there is no header.
    fn state(&self, playback: &Playback) -> Vec<Span<'static>> {
        let word = match playback.state {
            PlayState::End => "end".to_owned(),
            PlayState::Following => "following".to_owned(),
            PlayState::Playing | PlayState::Paused => playback.speed.to_string(),
        };
        vec![self.ctx.bold(word, Tone::Plain)]
    }
}

/// Columns of the bar in a row of the scrubber, and the thousandth of the recording that this one stands for.
pub(super) fn part(ctx: &Ctx<'_>, regions: Regions, area: Rect, column: u16) -> Option<u16> {
    // What is on the screen is asked, so that the bar and the mouse agree whatever stands beside it.
    let mut buf = Buffer::empty(area);
    Scrubber { ctx, regions }.render(area, &mut buf);
    let of_bar = |x: &u16| {
        let symbol = buf.cell((*x, area.y)).map_or(" ", ratatui::buffer::Cell::symbol);
        ctx.glyphs.meter.contains(&symbol)
    };
    let columns: Vec<u16> = (area.left()..area.right()).filter(of_bar).collect();
    let place = columns.iter().position(|&x| x == column)?;
    u16::try_from(place * 1000 / columns.len().saturating_sub(1).max(1)).ok()
}

fn bar(ctx: &Ctx<'_>, playback: &Playback, (from, to, y): (u16, u16, u16), pen: &mut Pen<'_>) {
    let share = if playback.length.is_zero() {
        0.0
    } else {
        (playback.position.as_secs_f64() / playback.length.as_secs_f64()).clamp(0.0, 1.0)
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the columns")]
    let played = from + (f64::from(to.saturating_sub(from)) * share).round() as u16;
    pen.fill(from, played, y, ctx.glyphs.meter[0], ctx.theme.bold(Tone::Plain));
    pen.fill(played, to, y, ctx.glyphs.meter[1], ctx.theme.dim());
}

/// `0:12.4`, or without tenths `1:02:03` where the whole takes ten minutes and longer.
fn clock(time: Duration, whole: Duration) -> String {
    let (seconds, tenths) = (time.as_secs(), time.subsec_millis() / 100);
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match whole.as_secs() {
        0..600 => format!("{minutes}:{rest:02}.{tenths}"),
        600..3600 => format!("{minutes:02}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

impl Ctx<'_> {
    /// The wall time at which a recording was started: `2026-11-30 10:01:02`, as it says itself.
    pub(super) fn started(&self) -> Option<String> {
        let text = self.app.recorded()?.started.as_str();
        let seconds = text.get(..19).filter(|text| text.as_bytes()[10] == b'T');
        let zone = if text.ends_with('Z') { " UTC" } else { "" };
        let words = seconds.map(|text| format!("{}{zone}", text.replacen('T', " ", 1)));
        Some(words.unwrap_or_else(|| text.to_owned())).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_fine_as_the_whole_is_long() {
        let s = Duration::from_secs;
        assert_eq!(clock(Duration::from_millis(12_450), s(100)), "0:12.4");
        assert_eq!(clock(s(0), s(0)), "0:00.0");
        assert_eq!(clock(s(62), s(1200)), "01:02");
        assert_eq!(clock(s(62), s(7200)), "0:01:02");
        assert_eq!(clock(s(90_000), s(90_000)), "25:00:00");
    }
}
