//! The latest rounds, a column each: whether the contract was met, and how many calls were cut or failed.

use super::ctx::Ctx;
use super::text::{Pen, Row, cut, width};
use super::theme::{Theme, Tone};
use crate::app::{Change, Mark, Shown};
use crate::domain::{Mode, RoundNo, numbers};
use crate::stats::RoundMark;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use std::collections::BTreeSet;

/// The history: with five rows title, strips and marks; with fewer only strips.
pub struct HistoryPanel<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Columns of what somebody said, at most: other changes want to be read as well.
const NOTE: u16 = 24;

/// What a strip counts.
#[derive(Clone, Copy)]
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
        let (from, last) = columns(self.ctx, area, self.label_width());
        let (running, end) =
            (matches!(self.ctx.app.shown(), Shown::Running(_)), area.right().saturating_sub(1));
        let cursor = self.cursor();
        let rounds = self.in_sight(last.saturating_sub(from).into());
        let start = last.saturating_sub(u16::try_from(rounds.len()).unwrap_or(u16::MAX));
        let whole = area.height >= 5;
        // Without a row for marks the strip itself carries them.
        let marked = if whole { BTreeSet::new() } else { self.marked() };
        if whole {
            self.title(Row { x, y: area.y, width: end.saturating_sub(x) }, &rounds, &mut pen);
        }
        for (strip, y) in strips.iter().zip((area.y + u16::from(whole))..area.bottom()) {
            pen.put(x, y, from, strip.glyph, self.ctx.theme.tone(strip.tone));
            pen.put(x + 2, y, from, strip.label, self.ctx.theme.tone(strip.tone));
            for (mark, x) in rounds.iter().zip(start..) {
                let (symbol, style) = self.cell(strip, mark);
                let marked = strip.mark && strip.tone == Tone::Ok && marked.contains(&mark.no);
                let symbol = if marked { self.ctx.glyphs.mark } else { symbol };
                let here = cursor == Some(mark.no);
                pen.cell(x, y, symbol, if here { style.patch(Theme::reversed()) } else { style });
            }
            if running && strip.mark {
                pen.cell(last, y, self.ctx.glyphs.running, self.ctx.theme.tone(Tone::Running));
            }
        }
        if whole && !rounds.is_empty() {
            self.marks(&rounds, (from, start, last), area.bottom() - 1, &mut pen);
        }
    }
}

/// Columns of the strips: the first, and the one after the last settled round's.
fn columns(ctx: &Ctx<'_>, area: Rect, labels: u16) -> (u16, u16) {
    let running = matches!(ctx.app.shown(), Shown::Running(_));
    (area.x + 4 + labels, area.right().saturating_sub(1 + u16::from(running)))
}

impl HistoryPanel<'_> {
    /// The round that was gone back to.
    fn cursor(&self) -> Option<RoundNo> {
        self.ctx.app.rounds_back().and_then(|_| self.ctx.app.round_no())
    }

    /// The latest rounds that fit; where one was gone back to that is older, the rounds from it on.
    fn in_sight(&self, columns: usize) -> Vec<&RoundMark> {
        let history = self.ctx.app.stats().history();
        let before = |no: RoundNo| history.iter().take_while(|m| m.no < no).count();
        let newest = history.len().saturating_sub(columns);
        let first = self.cursor().map_or(newest, |no| before(no).min(newest));
        history.iter().skip(first).take(columns).collect()
    }

    /// The round in this column.
    pub(super) fn round_at(&self, area: Rect, x: u16) -> Option<RoundNo> {
        let (from, end) = columns(self.ctx, area, self.label_width());
        let rounds = self.in_sight(end.saturating_sub(from).into());
        let start = end.saturating_sub(u16::try_from(rounds.len()).unwrap_or(u16::MAX));
        rounds.get(usize::from(x.checked_sub(start)?)).map(|mark| mark.no)
    }

    fn label_width(&self) -> u16 {
        self.strips().iter().map(|s| width(s.label)).max().unwrap_or(0)
    }

    fn strips(&self) -> [Strip; 3] {
        let glyphs = self.ctx.glyphs;
        let mode = self.ctx.app.mode();
        let label = if mode == Mode::Quorum { "quorum met" } else { "complete" };
        let kept =
            Strip { glyph: glyphs.ok, label, tone: Tone::Ok, mark: true, count: |m| usize::from(m.kept) };
        let cut = Strip { glyph: glyphs.cut, label: "cut", tone: Tone::Cut, mark: false, count: |m| m.cut };
        let error =
            Strip { glyph: glyphs.error, label: "error", tone: Tone::Error, mark: false, count: |m| m.error };
        let missing = Strip { label: "missing", count: |m| m.cut + m.error, ..error };
        let late = Strip { label: "late", mark: true, count: |m| usize::from(m.late), ..cut };
        let won = Strip {
            glyph: glyphs.hedge,
            label: "hedge won",
            tone: Tone::Hedge,
            mark: false,
            count: |m| m.hedges_won as usize,
        };
        match mode {
            Mode::Hedge => [kept, won, missing],
            Mode::WaitAll | Mode::FailFast => [kept, late, error],
            Mode::Quorum => [kept, error, cut],
            Mode::Deadline => [kept, cut, error],
        }
    }

    /// Rounds from which on something was different.
    fn marked(&self) -> BTreeSet<RoundNo> {
        self.ctx.app.picture().marks.iter().map(|mark| mark.round).collect()
    }

    fn cell(&self, strip: &Strip, mark: &RoundMark) -> (&'static str, Style) {
        let (glyphs, theme) = (self.ctx.glyphs, self.ctx.theme);
        if !mark.counts {
            // Neither good nor bad: its place, and nothing to count.
            return (if strip.tone == Tone::Ok { glyphs.left_out } else { " " }, theme.dim());
        }
        let counts: &[&str] = if strip.mark { &[glyphs.kept] } else { glyphs.counts };
        match (strip.count)(mark).checked_sub(1) {
            Some(i) => {
                // What is missing without an error was cut.
                let tone = if strip.tone == Tone::Error && mark.error == 0 { Tone::Cut } else { strip.tone };
                (counts.get(i).or(counts.last()).copied().unwrap_or(glyphs.kept), theme.tone(tone))
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
        let partial = rounds.iter().filter(|m| m.counts && m.partial).count();
        let count = numbers::counted(rounds.len(), "round", "rounds");
        let left_out = match rounds.iter().filter(|m| !m.counts).count() {
            0 => String::new(),
            n => format!(" {} {n} not counted", ctx.glyphs.dot),
        };
        let words = format!("{count}, {span} s {} {partial} partial{left_out}", ctx.glyphs.dot);
        let title = [ctx.bold("History", Tone::Plain)];
        pen.title(row, &title, (ctx.glyphs.rule, ctx.theme.dim()), &[ctx.dim(words)]);
    }

    /// A mark in its column, with its words behind or before it where they fit into so many columns there.
    fn mark(&self, mark: &Mark, x: u16, (behind, before): (u16, u16), ruler: &mut Ruler, pen: &mut Pen<'_>) {
        let (sign, plain) = (self.ctx.glyphs.mark, Style::new());
        let words = mark.change.words(self.ctx.glyphs.arrow);
        let cut_to = |room: u16| cut(&words, room, self.ctx.glyphs.ellipsis);
        let (after, ahead) = (format!("{sign} {}", cut_to(behind)), format!("{} {sign}", cut_to(before)));
        let left = (x + 1).checked_sub(width(&ahead));
        let placed = behind > 0 && ruler.put(x, &after, plain, pen)
            || before > 0 && left.is_some_and(|x| ruler.put(x, &ahead, plain, pen))
            || ruler.put(x, sign, plain, pen);
        if !placed {
            // Two changes in neighbouring rounds: the sign alone touches nothing that could be read with it.
            ruler.squeeze(x, sign, pen);
        }
    }

    /// What was different from this round on, and what was said in it.
    fn changes_of(&self, no: RoundNo) -> String {
        let ctx = self.ctx;
        let marks = ctx.app.picture().marks.iter().filter(|mark| mark.round == no);
        let words: Vec<String> = marks.map(|mark| mark.change.words(ctx.glyphs.arrow)).collect();
        let dot = format!(" {} ", ctx.glyphs.dot);
        if words.is_empty() { String::new() } else { format!("{dot}{}", words.join(&dot)) }
    }

    /// Below the strips: where one has gone back to, what changed where, the first and the last number. What
    /// matters more is placed first; what would touch it is left out.
    fn marks(&self, rounds: &[&RoundMark], (from, start, end): (u16, u16, u16), y: u16, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let (Some(first), Some(newest)) = (rounds.first(), rounds.last()) else { return };
        let column = |no: RoundNo| {
            let at = rounds.iter().position(|m| m.no == no)?;
            Some(start.saturating_add(u16::try_from(at).unwrap_or(u16::MAX)))
        };
        let mut ruler = Ruler { y, from, end, taken: Vec::new() };
        if let Some((no, x)) = self.cursor().and_then(|no| Some((no, column(no)?))) {
            let changes = self.changes_of(no);
            let (sign, bold) = (ctx.glyphs.here, ctx.theme.bold(Tone::Plain));
            let here = format!("{sign} {no}");
            let (after, before) = (format!("{here}{changes}"), format!("{no}{changes} {sign}"));
            let left = (x + 1).saturating_sub(width(&before));
            let placed = ruler.put(x, &after, bold, pen) || ruler.put(left, &before, bold, pen);
            if !placed {
                ruler.put(x.min(end.saturating_sub(width(&here))), &here, bold, pen);
            }
        }
        // What somebody said comes first; then of changes the newest: it is the one that is looked for.
        let mut marks: Vec<(&Mark, u16)> =
            ctx.app.picture().marks.iter().filter_map(|mark| Some((mark, column(mark.round)?))).collect();
        let is_note = |mark: &Mark| matches!(mark.change, Change::Note(_));
        marks.sort_by_key(|(mark, _)| (!is_note(mark), std::cmp::Reverse(mark.round)));
        let notes: Vec<u16> = marks.iter().filter(|(mark, _)| is_note(mark)).map(|&(_, x)| x).collect();
        for (mark, x) in marks {
            let room = if is_note(mark) { note_room(x, &notes) } else { (u16::MAX, u16::MAX) };
            self.mark(mark, x, room, &mut ruler, pen);
        }
        let dim = ctx.theme.dim();
        ruler.put(start, &first.no.to_string(), dim, pen);
        if rounds.len() > 12 {
            let last = newest.no.to_string();
            ruler.put(end.saturating_sub(width(&last)), &last, dim, pen);
        }
    }
}

/// Columns for the words of a note behind and before its sign, so that no other note's sign is covered.
fn note_room(x: u16, notes: &[u16]) -> (u16, u16) {
    // Its own sign and a blank on the one side, two blanks on the other; a few letters say nothing.
    let room = |gap: u16| Some(gap.saturating_sub(4).min(NOTE)).filter(|&room| room >= 6).unwrap_or(0);
    let behind = notes.iter().filter(|&&other| other > x).map(|other| other - x).min();
    let before = notes.iter().filter(|&&other| other < x).map(|other| x - other).min();
    (room(behind.unwrap_or(u16::MAX)), room(before.unwrap_or(u16::MAX)))
}

/// A row in which nothing may touch what stands there already.
struct Ruler {
    y: u16,
    from: u16,
    end: u16,
    taken: Vec<(u16, u16)>,
}

impl Ruler {
    /// Writes a text if there is room for it, with two columns of air.
    fn put(&mut self, x: u16, text: &str, style: Style, pen: &mut Pen<'_>) -> bool {
        let to = x.saturating_add(width(text));
        let free = self.taken.iter().all(|&(a, b)| to.saturating_add(2) <= a || x >= b.saturating_add(2));
        let fits = free && x >= self.from && to <= self.end;
        if fits {
            pen.put(x, self.y, self.end, text, style);
            self.taken.push((x, to));
        }
        fits
    }

    /// Sets a sign in a column that is not taken.
    fn squeeze(&mut self, x: u16, sign: &str, pen: &mut Pen<'_>) {
        if self.taken.iter().all(|&(a, b)| x < a || x >= b) {
            pen.put(x, self.y, self.end, sign, Style::new());
            self.taken.push((x, x.saturating_add(1)));
        }
    }
}
