//! Who holds the round up: how often each endpoint was the last to answer or was cut, and how many rounds would
//! have been complete without it, or where rounds ended at a quorum how many met it (W8; the formulas stand at [`crate::stats::Blame`]).

use super::ctx::Ctx;
use super::hint::Words;
use super::text::{Pen, Row};
use super::theme::Tone;
use crate::domain::numbers;
use crate::stats::{Blame, BlameRow};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The blame panel.
pub struct BlamePanel<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Width from which heads and title have all their words.
const WIDE: u16 = 56;

/// Columns after the numbers, on the screen.
struct Grid {
    name: u16,
    last: u16,
    cut: u16,
    /// Where rounds end at a quorum, whether they would be complete is not the question.
    complete: Option<&'static str>,
    right: u16,
}

impl Grid {
    fn of(area: Rect, blame: &Blame) -> Self {
        let head = if area.width >= WIDE { "complete without it" } else { "complete without" };
        let complete = (blame.quorum == 0).then_some(head);
        let right = area.right();
        let cut = right.saturating_sub(complete.map_or(0, |head| super::text::width(head) + 3));
        Self { name: area.x + 3, last: cut.saturating_sub(6), cut, complete, right }
    }
}

impl Widget for &BlamePanel<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, dim) = (self.ctx, self.ctx.theme.dim());
        let mut pen = Pen::new(buf);
        let blame = ctx.app.blame();
        let title = ctx.bold("Who holds the round up", Tone::Plain);
        let first = Row { x: area.x, y: area.y, width: area.width };
        let window = match area.width {
            w if w >= WIDE => ctx.window_words(blame.rounds),
            _ => ctx.app.window.title().to_owned(),
        };
        pen.title(first, &[title], (ctx.glyphs.rule, dim), &[ctx.dim(window)]);
        let (grid, y) = (Grid::of(area, blame), area.y + 1);
        if blame.rounds == 0 {
            pen.put(grid.name, y, area.right(), self.ctx.nothing_counted(), dim);
            return;
        }
        pen.put(grid.name, y, grid.last, "endpoint", dim);
        let complete = grid.complete.map(|head| (grid.right, head));
        for (end, head) in [(grid.last, "last in"), (grid.cut, "cut")].into_iter().chain(complete) {
            pen.put_right(end, y, head, dim);
        }
        // The last row is that of all; a free one sets it apart where there is room.
        let room = usize::from(area.height.saturating_sub(3));
        for (row, y) in blame.rows.iter().take(room).zip(y + 1..) {
            self.row(blame, row, &grid, y, &mut pen);
        }
        let shown = u16::try_from(blame.rows.len().min(room)).unwrap_or(u16::MAX);
        let last = (y + 2).saturating_add(shown).min(area.bottom().saturating_sub(1));
        if last > y {
            self.all(blame, blame.rows.len().saturating_sub(room), &grid, last, &mut pen);
        }
    }
}

impl BlamePanel<'_> {
    fn row(&self, blame: &Blame, row: &BlameRow, grid: &Grid, y: u16, pen: &mut Pen<'_>) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let loud = blame.rows.first() == Some(row) && row.alone > 0 && grid.complete.is_some();
        let style = |tone| if loud { theme.bold(tone) } else { theme.tone(tone) };
        let width = grid.last.saturating_sub(grid.name + 8);
        let name = ctx.name(row.endpoint, width);
        pen.put(grid.name, y, grid.last, &name, style(Tone::Plain));
        for (end, count, tone) in [(grid.last, row.last, Tone::Plain), (grid.cut, row.cut, Tone::Cut)] {
            if count > 0 {
                pen.put_right(end, y, &count.to_string(), style(tone));
            } else {
                pen.put_right(end, y, ctx.glyphs.dot, theme.dim());
            }
        }
        if grid.complete.is_some() {
            let share = numbers::percent(blame.complete + row.alone, blame.rounds, ctx.glyphs.none);
            let tone = if row.alone > 0 { Tone::Plain } else { Tone::Dim };
            pen.put_right(grid.right, y, &share, style(tone));
        }
    }

    fn all(&self, blame: &Blame, hidden: usize, grid: &Grid, y: u16, pen: &mut Pen<'_>) {
        let more = numbers::and_more(hidden);
        let (words, part, whole) = match grid.complete {
            Some(_) => (format!("all {} as they are{more}", blame.rows.len()), blame.complete, blame.rounds),
            None => (format!("quorum met{more}"), blame.met, blame.quorum),
        };
        pen.put(grid.name, y, grid.right.saturating_sub(8), &words, self.ctx.theme.dim());
        let share = numbers::percent(part, whole, self.ctx.glyphs.none);
        pen.put_right(grid.right, y, &share, self.ctx.theme.bold(Tone::Plain));
    }
}

/// Rounds from which one endpoint can be named.
const NAMED_FROM: u64 = 20;

/// Which endpoint to see to: one without which at least a twentieth more of the rounds would be complete. None where
/// rounds end at a quorum.
pub fn advice(ctx: &Ctx<'_>) -> Option<Words> {
    let blame = ctx.app.blame();
    let enough = blame.rounds >= NAMED_FROM && blame.quorum == 0;
    let worst = blame.rows.first().filter(|r| enough && r.alone * 20 >= blame.rounds)?;
    let name = ctx.name(worst.endpoint, 20);
    let words = |words: &str| {
        vec![
            ctx.bold(format!("{} {name}", ctx.glyphs.arrow), Tone::Plain),
            Ctx::plain(format!(" is the one {words}")),
        ]
    };
    // More time helps only what was cut.
    let long = if worst.cut * 2 >= worst.alone { "to fix or to give more budget" } else { "to fix" };
    Some([words(long), words("to fix")])
}
