//! A text over the whole screen: its title, its lines, and where one is in it.

use super::ctx::Ctx;
use super::footer::Footer;
use super::layout::Regions;
use super::text::{Pen, Row};
use super::theme::Tone;
use crate::app::Page;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The page that is read.
pub struct Reading<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where the footer is.
    pub regions: Regions,
    /// The first line shown.
    pub top: usize,
}

impl Widget for &Reading<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (ctx, page) = (self.ctx, self.ctx.app.page());
        let (lines, rows) = (page.lines(area.width), Page::rows(area.height));
        let top = self.top.min(lines.len().saturating_sub(rows));
        let mut pen = Pen::new(buf);
        let row = Row { x: area.x + 1, y: area.y, width: area.width.saturating_sub(2) };
        let last = (top + rows).min(lines.len());
        let place = if last - top < lines.len() {
            format!("{}-{last} of {}", top + 1, lines.len())
        } else {
            String::new()
        };
        let title = [ctx.bold(page.title.clone(), Tone::Plain)];
        pen.title(row, &title, (ctx.glyphs.rule, ctx.theme.dim()), &[ctx.dim(place)]);
        let first = area.y + 1 + u16::from(area.height >= 16);
        for (line, y) in lines.iter().skip(top).take(rows).zip(first..self.regions.footer) {
            // What a paragraph is about stands before its colon.
            let (word, rest) = line.split_once(": ").filter(|(w, _)| !w.contains(' ')).unwrap_or(("", line));
            let head = if word.is_empty() { String::new() } else { format!("{word}: ") };
            let spans = [ctx.bold(head, Tone::Plain), Ctx::plain(rest)];
            pen.spans(area.x + 1, y, area.right(), &spans);
        }
        Footer { ctx }.render(Rect { y: self.regions.footer, height: 1, ..area }, buf);
    }
}
