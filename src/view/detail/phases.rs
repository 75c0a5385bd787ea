//! The phases of one attempt, a row each: the time in it, its stretch on the axis, and what is to be said of it.

use super::attempts::{Places, time};
use crate::app::{Bar, Fate, Lane};
use crate::domain::{Phase, numbers};
use crate::view::axis::Axis;
use crate::view::bar::{self, EndMark};
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, cut, width};
use crate::view::theme::Tone;
use ratatui::text::Span;
use std::cmp::Reverse;
use std::time::Duration;

/// The phases of an attempt; of one without others their sum below.
pub struct Phases<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The attempt's call.
    pub lane: &'a Lane,
    /// The attempt.
    pub bar: &'a Bar,
    /// Where the columns are.
    pub places: &'a Places,
    /// Whether the call has no other attempt. If it has, the attempt has a row of its own above, which says how
    /// long it took and how it ended.
    pub alone: bool,
}

impl Phases<'_> {
    /// Rows that they take, without the sum.
    pub const ROWS: u16 = 6;

    /// Draws them from the row `top` on; returns the marks at the ends of the bars.
    pub fn draw(&self, axis: &Axis, top: u16, pen: &mut Pen<'_>) -> Vec<(u16, EndMark)> {
        let (ctx, bar, theme, places) = (self.ctx, self.bar, self.ctx.theme, self.places);
        let label = places.label + if self.alone { 0 } else { 2 };
        let dialled = bar.segments.iter().map(|s| s.0).find(|p| (Phase::Dns..=Phase::Tls).contains(p));
        let last = bar.segments.last().map_or(Phase::Queued, |s| s.0);
        for (&phase, y) in Phase::ALL.iter().zip(top..) {
            let took = self.took(phase);
            let tone = if took.is_some() { Tone::Plain } else { Tone::Dim };
            pen.put(label, y, places.axis, phase.as_str(), theme.tone(tone));
            let number_end = places.time_end.saturating_sub(3);
            match took {
                Some(time) => {
                    let text = numbers::fine_ms(time);
                    let number = text.strip_suffix(" ms").unwrap_or(&text);
                    pen.put_right(number_end, y, number, theme.tone(Tone::Plain));
                    pen.put_right(places.time_end, y, "ms", theme.dim());
                }
                None => drop(pen.put_right(number_end, y, ctx.glyphs.none, theme.dim())),
            }
            let words = match (phase, bar.reused) {
                _ if phase == last && bar.fate == Fate::Running => Some(ctx.tone("running", Tone::Running)),
                _ if phase == last && self.alone => {
                    Some(note(ctx, self.lane, bar, (true, places.note_room())))
                }
                _ if phase as usize == last as usize + 1 && self.is_short() => Some(ctx.dim("not reached")),
                (Phase::Dns, Some(true)) => Some(ctx.dim("connection reused")),
                (Phase::Waiting, _) => self.server(),
                (_, Some(false)) if Some(phase) == dialled => Some(ctx.dim("new connection")),
                _ => None,
            };
            if let (Some(words), Some(x)) = (words, places.note) {
                pen.spans(x, y, places.end, &[words]);
            }
        }
        if self.alone {
            let y = top.saturating_add(Self::ROWS);
            pen.put(label, y, places.axis, "total", theme.dim());
            // The call's: from the round's start, as its lane has it.
            let (number, style) = time(ctx, bar, ctx.end(ctx.app.selected, self.lane));
            pen.put_right(places.time_end, y, &number, style);
        }
        self.stretches(axis, top, pen)
    }

    /// What the server says that it took, beside how long it was waited for; the longest first, as many as fit.
    fn server(&self) -> Option<Span<'static>> {
        let ctx = self.ctx;
        let attempt = ctx.app.detail_call()?.attempts.get(self.lane.decisive())?;
        let mut metrics: Vec<(Duration, &str)> =
            attempt.server_timing.iter().filter_map(|m| Some((m.took?, &*m.name))).collect();
        metrics.sort_by_key(|metric| Reverse(metric.0));
        let room = self.places.note_room();
        let mut words = String::new();
        for (took, name) in metrics {
            let lead = if words.is_empty() { "server: " } else { ", " };
            let longer = format!("{words}{lead}{name} {}", numbers::fine_ms(took));
            // A number that is cut is another number.
            if width(&longer) > room && !words.is_empty() {
                break;
            }
            words = longer;
        }
        (!words.is_empty()).then(|| ctx.dim(cut(&words, room, ctx.glyphs.ellipsis)))
    }

    /// Time in a phase, where the attempt had it.
    fn took(&self, phase: Phase) -> Option<Duration> {
        let own = self.bar.segments.iter().filter(|s| s.0 == phase).map(|s| s.1);
        own.reduce(Duration::saturating_add)
    }

    /// Whether it ended before its last phase was over.
    fn is_short(&self) -> bool {
        !matches!(self.bar.fate, Fate::Ok | Fate::Won | Fate::Running)
    }

    /// Each phase where it was on the axis. Only the last has an end mark.
    fn stretches(&self, axis: &Axis, top: u16, pen: &mut Pen<'_>) -> Vec<(u16, EndMark)> {
        let (ctx, bar) = (self.ctx, self.bar);
        let (mut start, mut marks) = (bar.start, Vec::new());
        let count = bar.segments.len();
        for (index, &(phase, time)) in bar.segments.iter().enumerate() {
            let end = start.saturating_add(time);
            let y = top.saturating_add(phase as u16);
            let stretch = Bar { start, end, segments: vec![(phase, time)], ..bar.clone() };
            // Who won says the attempt's own row.
            let marked = matches!(bar.fate, Fate::Cut | Fate::Failed(_));
            if index + 1 == count && marked {
                marks.extend(bar::draw(ctx, pen, axis, y, &stretch, false).map(|mark| (y, mark)));
            } else {
                bar::thick(ctx, pen, axis, y, &stretch, false);
            }
            start = end;
        }
        marks
    }
}

/// How an attempt ended, in a few words; `long` where there is room for more, as many columns as `room`.
pub fn note(ctx: &Ctx<'_>, lane: &Lane, bar: &Bar, (long, room): (bool, u16)) -> Span<'static> {
    let phase = bar.segments.last().map_or(Phase::Queued, |s| s.0);
    match bar.fate {
        Fate::Running => ctx.tone(phase.as_str(), Tone::Running),
        Fate::Ok | Fate::Won => {
            let status = bar.status.map_or_else(String::new, |s| format!(" {s}"));
            let won = if bar.fate == Fate::Won { ", won" } else { "" };
            ctx.tone(format!("ok{status}{won}"), Tone::Ok)
        }
        Fate::Failed(reason) => ctx.bold(reason.label(bar.status), Tone::Error),
        Fate::Cut if long => ctx.dim(cut_words(ctx, lane, phase, room)),
        Fate::Cut => ctx.tone(format!("cut {} {phase}", ctx.glyphs.dot), Tone::Cut),
        Fate::Lost if long => ctx.dim("cancelled, another answered"),
        Fate::NotNeeded if long => ctx.dim("cancelled, enough answered"),
        Fate::Stopped if long => ctx.dim("cancelled with its round"),
        Fate::Lost | Fate::NotNeeded | Fate::Stopped => ctx.dim("cancelled"),
    }
}

/// What had not come when the limit did.
fn cut_words(ctx: &Ctx<'_>, lane: &Lane, phase: Phase, room: u16) -> String {
    let what = match phase {
        Phase::Queued => "not sent",
        Phase::Dns => "no address",
        Phase::Connect => "no connection",
        Phase::Tls => "no handshake",
        Phase::Waiting => "no byte",
        Phase::Body => "not whole",
    };
    let limit = ctx.limit(ctx.app.selected, lane).map(|(limit, _)| format!("{what} {}", limit.before()));
    // The title names the limit too.
    limit.filter(|words| width(words) <= room).unwrap_or_else(|| format!("{what} in time"))
}
