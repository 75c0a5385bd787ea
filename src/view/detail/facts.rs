//! What is known of the call beside its times: names faint, values plain; then the errors' own words.

use crate::app::{DetailPage, FactLine};
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, cut, width};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The facts, in lines.
pub struct Facts<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The lines.
    pub lines: &'a [FactLine],
    /// Whether the margins are wide.
    pub whole: bool,
}

impl Widget for &Facts<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (x, sides) = DetailPage::margins(self.whole);
        let end = area.x.saturating_add(x + area.width.saturating_sub(sides));
        let mut pen = Pen::new(buf);
        for (line, y) in self.lines.iter().zip(area.y..area.bottom()) {
            let groups: Vec<Vec<Span<'_>>> = line
                .iter()
                .map(|f| {
                    let gap = if f.name.is_empty() { "" } else { " " };
                    let name = format!("{}{gap}", f.name);
                    let room = end.saturating_sub(area.x + x + width(&name));
                    let value = cut(&f.value, room, self.ctx.glyphs.ellipsis);
                    vec![self.ctx.dim(name), Ctx::plain(value)]
                })
                .collect();
            pen.groups(area.x + x, y, end, &groups);
        }
    }
}

/// The errors' own words, in lines.
pub struct Words<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The lines.
    pub lines: &'a [String],
    /// Whether the margins are wide.
    pub whole: bool,
}

impl Widget for &Words<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (ctx, (x, sides)) = (self.ctx, DetailPage::margins(self.whole));
        let mut pen = Pen::new(buf);
        for (line, y) in self.lines.iter().zip(area.y..area.bottom()) {
            let text = cut(line, area.width.saturating_sub(sides), ctx.glyphs.ellipsis);
            pen.put(area.x + x, y, area.right(), &text, ctx.theme.tone(Tone::Plain));
        }
    }
}
