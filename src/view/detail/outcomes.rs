//! What became of the endpoint's calls, by window.

use crate::app::detail::MOST_REASONS;
use crate::domain::numbers;
use crate::stats::{EndpointTotals, MissingRow, Window};
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, Row, cut, width};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

/// The outcomes panel.
pub struct Outcomes<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Columns that the number of a window takes.
const NUMBER: u16 = 9;

/// Columns of the table at most: what belongs together does not stand apart.
const WIDEST: u16 = 60;

/// A count for each window.
type Counts = [u64; Window::ALL.len()];

/// The table while it is written.
struct Table<'p, 'b> {
    pen: &'p mut Pen<'b>,
    area: Rect,
    /// The next row.
    y: u16,
}

impl Widget for &Outcomes<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let totals = Window::ALL.map(|w| ctx.app.stats().endpoint_totals(ctx.selected(), w));
        let Some(start) = totals.last() else { return };
        let mut pen = Pen::new(buf);
        let row = Row { x: area.x, y: area.y, width: area.width };
        let calls = start.calls();
        let words = numbers::counted(calls, "call", "calls");
        let title = [ctx.bold("Outcomes", Tone::Plain)];
        pen.title(row, &title, (ctx.glyphs.rule, theme.dim()), &[ctx.dim(words)]);
        let mut table = Table { pen: &mut pen, area, y: area.y + 1 };
        let heads = Window::ALL.map(|w| if w == Window::Start { "start" } else { w.label() }.to_owned());
        self.row(&mut table, (" ", "", Tone::Dim), &heads, theme.dim());
        let plain = theme.tone(Tone::Plain);
        self.counts(&mut table, (ctx.glyphs.ok, "ok", Tone::Ok), counts(&totals, |t| t.ok), plain);
        self.reasons(&mut table, &totals, &start.missing);
        if start.not_needed > 0 {
            let head = (ctx.glyphs.not_needed, "not needed", Tone::Dim);
            self.counts(&mut table, head, counts(&totals, |t| t.not_needed), theme.dim());
        }
        let share = |t: &EndpointTotals| numbers::percent(t.missing(), t.calls(), ctx.glyphs.none);
        let shares = [0, 1, 2, 3].map(|i| totals.get(i).map_or_else(String::new, share));
        self.row(&mut table, (" ", "share missing", Tone::Dim), &shares, theme.bold(Tone::Plain));
        self.blame(&mut table);
    }
}

fn counts(totals: &[EndpointTotals; Window::ALL.len()], of: impl Fn(&EndpointTotals) -> u64) -> Counts {
    totals.each_ref().map(of)
}

impl Outcomes<'_> {
    /// The reasons since the start, the most frequent first; what is beyond the room is counted together.
    fn reasons(&self, table: &mut Table<'_, '_>, totals: &[EndpointTotals; 4], rows: &[MissingRow]) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let count = |t: &EndpointTotals, shown: &[MissingRow]| -> u64 {
            let own = t.missing.iter().filter(|r| shown.iter().any(|s| s.reason == r.reason));
            own.map(|r| r.count).sum()
        };
        let (shown, rest) = rows.split_at(rows.len().min(MOST_REASONS));
        for row in shown {
            let (glyph, tone) = ctx.reason_glyph(row.reason);
            let own = std::slice::from_ref(row);
            let counts = counts(totals, |t| count(t, own));
            self.counts(table, (glyph, &row.label(), tone), counts, theme.tone(tone));
        }
        if !rest.is_empty() {
            let word = format!("{} more", rest.len());
            self.counts(table, (" ", &word, Tone::Dim), counts(totals, |t| count(t, rest)), theme.dim());
        }
    }

    fn counts(&self, table: &mut Table<'_, '_>, head: (&str, &str, Tone), counts: Counts, style: Style) {
        let dot = self.ctx.glyphs.dot;
        let values = counts.map(|n| if n == 0 { dot.to_owned() } else { n.to_string() });
        self.row(table, head, &values, style);
    }

    /// How often it held a round of the chosen window up, and what the rounds would have been without it, or
    /// where they end at a quorum how many met it (W8).
    fn blame(&self, table: &mut Table<'_, '_>) {
        let (ctx, area) = (self.ctx, table.area);
        let blame = ctx.app.blame();
        let Some(row) = blame.rows.iter().find(|row| row.endpoint == ctx.selected()) else { return };
        if blame.rounds == 0 {
            return;
        }
        let share = |rounds: u64| numbers::percent(rounds, blame.rounds, ctx.glyphs.none);
        let (without, with) = (share(blame.complete + row.alone), share(blame.complete));
        let rounds = numbers::counted(blame.rounds, "round", "rounds");
        let instead = match (blame.quorum, row.alone) {
            (0, 0) => {
                [format!("complete with or without it {with}"), format!("complete without it {without}")]
            }
            (0, _) => [
                format!("complete without it {without} instead of {with}"),
                format!("complete without it {without}"),
            ],
            (quorum, _) => {
                let met = format!("quorum met in {} of {quorum}", blame.met);
                [format!("{met} {}", if quorum == 1 { "round" } else { "rounds" }), met]
            }
        };
        let lines = [
            [
                format!("last in {}, cut in {} of {rounds}", row.last, row.cut),
                format!("last in {}, cut in {}", row.last, row.cut),
            ],
            instead,
        ];
        let room = area.width.saturating_sub(4);
        for (forms, y) in lines.iter().zip(table.y..area.bottom()) {
            let words = forms.iter().find(|words| width(words) <= room).unwrap_or(&forms[1]);
            table.pen.put(area.x + 4, y, area.right(), words, ctx.theme.dim());
        }
    }

    /// Glyph, word and a number for each window; a zero is faint. Where room is short the middle windows go.
    fn row(
        &self,
        table: &mut Table<'_, '_>,
        (glyph, word, tone): (&str, &str, Tone),
        values: &[String; Window::ALL.len()],
        style: Style,
    ) {
        let (ctx, theme, area, y) = (self.ctx, self.ctx.theme, table.area, table.y);
        table.y += 1;
        if y >= area.bottom() {
            return;
        }
        let end = area.right().min(area.x + WIDEST);
        let shown: &[usize] = if area.width >= 54 { &[0, 1, 2, 3] } else { &[0, 3] };
        let numbers = NUMBER * u16::try_from(shown.len()).unwrap_or(u16::MAX);
        let word_room = end.saturating_sub(area.x + 4 + numbers);
        table.pen.put(area.x + 2, y, end, glyph, theme.tone(tone));
        table.pen.put(area.x + 4, y, end, &cut(word, word_room, ctx.glyphs.ellipsis), theme.tone(tone));
        for (&index, end) in shown.iter().rev().zip((0..).map(|i| end.saturating_sub(i * NUMBER))) {
            let Some(value) = values.get(index) else { continue };
            let style = if value == ctx.glyphs.dot { theme.dim() } else { style };
            table.pen.put_right(end, y, value, style);
        }
    }
}
