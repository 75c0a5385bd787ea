//! What lies over the lower rows of the screen: the palette with what it offers, or a word explained.

use super::ctx::Ctx;
use super::layout::Regions;
use super::text::{Pen, Row, cut, width};
use super::theme::{Theme, Tone};
use crate::app::palette::Offer;
use crate::app::{App, Key, Notice};
use crate::domain::text::wrapped;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Rows of offers at once, at the most.
const OFFERS: usize = 10;

/// Columns of an offer's key.
const KEY: u16 = 13;

/// Draws what lies over the screen, where something does.
pub fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    let ctx = Ctx::new(app);
    let Some(regions) = Regions::of(app, area) else { return };
    let over = Over { ctx: &ctx, area, footer: regions.footer };
    let mut pen = Pen::new(buf);
    if app.palette().is_some() {
        over.offers(&mut pen);
    } else if let Some(Notice::Explained(said)) = app.notice() {
        over.explained(said, &mut pen);
    }
}

struct Over<'a> {
    ctx: &'a Ctx<'a>,
    area: Rect,
    /// What lies over the screen ends above this row.
    footer: u16,
}

impl Over<'_> {
    /// Clears so many rows above the footer, below a title where there is room. Returns the first of them.
    fn clear(&self, rows: usize, title: &str, right: &str, pen: &mut Pen<'_>) -> u16 {
        let (ctx, area) = (self.ctx, self.area);
        let most = self.footer.saturating_sub(area.y);
        let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(most);
        let first = self.footer - rows;
        for y in first.saturating_sub(1).max(area.y)..self.footer {
            pen.fill(area.x, area.right(), y, " ", Theme::blank());
        }
        if first > area.y {
            let row = Row { x: area.x + 1, y: first - 1, width: area.width.saturating_sub(2) };
            let title = [ctx.bold(title.to_owned(), Tone::Plain)];
            pen.title(row, &title, (ctx.glyphs.rule, ctx.theme.dim()), &[ctx.dim(right.to_owned())]);
        }
        first
    }

    fn offers(&self, pen: &mut Pen<'_>) {
        let (ctx, area) = (self.ctx, self.area);
        let (offers, chosen) = ctx.app.offered();
        let room = usize::from(self.footer.saturating_sub(area.y + 1)).min(OFFERS);
        let rows = offers.len().clamp(1, room.max(1));
        let place =
            if offers.is_empty() { String::new() } else { format!("{} of {}", chosen + 1, offers.len()) };
        let top = self.clear(rows, "Find", &place, pen);
        if offers.is_empty() {
            pen.put(area.x + 2, top, area.right(), "no such action and no such word", ctx.theme.dim());
        }
        // The chosen one stays in sight.
        let from = (chosen + 1).saturating_sub(rows);
        for ((place, offer), y) in offers.iter().enumerate().skip(from).take(rows).zip(top..self.footer) {
            let (key, label) = self.words(offer);
            let base = if place == chosen { Theme::reversed() } else { Theme::blank() };
            pen.fill(area.x + 1, area.right().saturating_sub(1), y, " ", base);
            pen.put(area.x + 2, y, area.right(), &key, base.patch(ctx.theme.bold(Tone::Plain)));
            let end = area.right().saturating_sub(1);
            let label = cut(&label, end.saturating_sub(area.x + 2 + KEY), ctx.glyphs.ellipsis);
            pen.put(area.x + 2 + KEY, y, end, &label, base);
        }
    }

    fn words(&self, offer: &Offer) -> (String, String) {
        match offer {
            Offer::Do(binding) => {
                let app = self.ctx.app;
                let name = |key: &Key| if app.options.ascii { key.ascii() } else { key.to_string() };
                let keys: Vec<String> = app.keymap.keys(binding).iter().map(name).collect();
                // As many as fit whole.
                let all = (1..=keys.len()).rev().map(|n| keys[..n].join(" ")).find(|k| width(k) < KEY);
                (all.unwrap_or_default(), binding.help.to_owned())
            }
            Offer::Explain(_, entry) => ("what is".to_owned(), entry.word.to_owned()),
        }
    }

    fn explained(&self, said: &str, pen: &mut Pen<'_>) {
        let (ctx, area) = (self.ctx, self.area);
        let (word, meaning) = said.split_once(": ").unwrap_or(("", said));
        let lines = wrapped(meaning, area.width.saturating_sub(2).max(1));
        let top = self.clear(lines.len(), word, "", pen);
        for (line, y) in lines.iter().zip(top..self.footer) {
            pen.put(area.x + 1, y, area.right(), line, ctx.theme.tone(Tone::Plain));
        }
    }
}
