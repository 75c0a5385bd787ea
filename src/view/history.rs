//! The latest rounds, a column each: whether the contract was met, and how many calls were cut or failed.

use super::ctx::Ctx;
use super::text::{Pen, Row, spans_width, width};
use super::theme::Tone;
use crate::app::Shown;
use crate::domain::Mode;
use crate::stats::RoundMark;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The history: with five rows title, strips and marks; with fewer only strips.
pub struct HistoryPanel<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// What a strip counts.
struct Strip {
    glyph: &'static str,
    label: &'static str,
    tone: Tone,
    /// Whether a column is a mark rather than a count.
    mark: bool,
    count: fn(&RoundMark) -> usize,
}

impl Widget for &HistoryPanel<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let mut pen = Pen::new(buf);
        let strips = self.strips();
        let x = area.x + 1;
        let labels = strips.iter().map(|s| width(s.label)).max().unwrap_or(0);
        let (from, end) = (x + labels + 3, area.right().saturating_sub(1));
        let running = matches!(self.ctx.app.shown(), Shown::Running(_));
        let last = end.saturating_sub(u16::from(running));
        let rounds: Vec<&RoundMark> =
            self.ctx.app.stats().history().last(usize::from(last.saturating_sub(from))).collect();
        let start = last.saturating_sub(u16::try_from(rounds.len()).unwrap_or(u16::MAX));
        let whole = area.height >= 5;
        if whole {
            self.title(Row { x, y: area.y, width: end.saturating_sub(x) }, &rounds, &mut pen);
        }
        for (strip, y) in strips.iter().zip((area.y + u16::from(whole))..area.bottom()) {
            pen.put(x, y, from, strip.glyph, self.ctx.theme.tone(strip.tone));
            pen.put(x + 2, y, from, strip.label, self.ctx.theme.tone(strip.tone));
            for (mark, x) in rounds.iter().zip(start..) {
                let (symbol, style) = self.cell(strip, mark);
                pen.cell(x, y, symbol, style);
            }
            if running && strip.mark {
                pen.cell(last, y, self.ctx.glyphs.running, self.ctx.theme.tone(Tone::Running));
            }
        }
        if whole && !rounds.is_empty() {
            self.marks(&rounds, (start, last), area.bottom() - 1, &mut pen);
        }
    }
}

impl HistoryPanel<'_> {
    fn strips(&self) -> [Strip; 3] {
        let glyphs = self.ctx.glyphs;
        let mode = self.ctx.app.round_settings().mode;
        let label = if mode == Mode::Quorum { "quorum met" } else { "complete" };
        let kept =
            Strip { glyph: glyphs.ok, label, tone: Tone::Ok, mark: true, count: |m| usize::from(m.kept) };
        let cut = Strip { glyph: glyphs.cut, label: "cut", tone: Tone::Cut, mark: false, count: |m| m.cut };
        let error =
            Strip { glyph: glyphs.error, label: "error", tone: Tone::Error, mark: false, count: |m| m.error };
        let won = Strip {
            glyph: glyphs.hedge,
            label: "hedge won",
            tone: Tone::Hedge,
            mark: false,
            count: |m| m.hedges_won as usize,
        };
        match mode {
            Mode::Hedge => [kept, won, cut],
            Mode::Quorum => [kept, error, cut],
            _ => [kept, cut, error],
        }
    }

    fn cell(&self, strip: &Strip, mark: &RoundMark) -> (&'static str, ratatui::style::Style) {
        let (glyphs, theme) = (self.ctx.glyphs, self.ctx.theme);
        let counts: &[&str] = if strip.mark { &[glyphs.kept] } else { glyphs.counts };
        match (strip.count)(mark).checked_sub(1) {
            Some(i) => {
                (counts.get(i).or(counts.last()).copied().unwrap_or(glyphs.kept), theme.tone(strip.tone))
            }
            None => (glyphs.nothing, theme.dim()),
        }
    }

    fn title(&self, row: Row, rounds: &[&RoundMark], pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let span = match (rounds.first(), rounds.last()) {
            (Some(a), Some(b)) => b.at.saturating_sub(a.at).as_secs(),
            _ => 0,
        };
        let partial = rounds.iter().filter(|m| m.partial).count();
        let word = if rounds.len() == 1 { "round" } else { "rounds" };
        let words = format!("{} {word}, {span} s {} {partial} partial", rounds.len(), ctx.glyphs.dot);
        let title = [ctx.bold("History", Tone::Plain)];
        pen.title(row, &title, (ctx.glyphs.rule, ctx.theme.dim()), &[ctx.dim(words)]);
    }

    /// First and last number, and what changed where between them.
    fn marks(&self, rounds: &[&RoundMark], (start, end): (u16, u16), y: u16, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let (Some(first), Some(newest)) = (rounds.first(), rounds.last()) else { return };
        let dim = ctx.theme.dim();
        let mut free = pen.put(start, y, end, &first.no.to_string(), dim).saturating_add(2);
        let mut limit = end;
        if rounds.len() > 12 {
            limit = pen.put_right(end, y, &newest.no.to_string(), dim).saturating_sub(2);
        }
        for mark in &ctx.app.picture().marks {
            let Some(at) = rounds.iter().position(|m| m.no == mark.round) else { continue };
            let x = start.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
            let (change, arrow) = (&mark.change, ctx.glyphs.arrow);
            let what = if change.what == "mode" { String::new() } else { format!("{} ", change.what) };
            let words = [
                ctx.tone(format!("{} ", ctx.glyphs.mark), Tone::Plain),
                Span::raw(format!("{what}{} {arrow} {}", change.from, change.to)),
            ];
            if x >= free && x.saturating_add(spans_width(&words)) <= limit {
                free = pen.spans(x, y, limit, &words).saturating_add(2);
            }
        }
    }
}
