//! What a failed answer said.

use crate::app::{AnswerLine, DetailPage};
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, cut};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The answer, in lines.
pub struct AnswerPart<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The lines.
    pub lines: &'a [AnswerLine],
    /// Whether the margins are wide.
    pub whole: bool,
}

impl Widget for &AnswerPart<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (ctx, (x, sides)) = (self.ctx, DetailPage::margins(self.whole));
        let room = area.width.saturating_sub(sides);
        let mut pen = Pen::new(buf);
        for (line, y) in self.lines.iter().zip(area.y..area.bottom()) {
            let cut = |text: &str, taken: u16| cut(text, room.saturating_sub(taken), ctx.glyphs.ellipsis);
            let spans = match line {
                AnswerLine::Status(text) => vec![ctx.bold(cut(text, 0), Tone::Error)],
                AnswerLine::Header(name, value) => {
                    let name = ctx.dim(cut(&format!("{name}: "), 0));
                    let taken = crate::view::text::width(&name.content);
                    vec![name, Ctx::plain(cut(value, taken))]
                }
                AnswerLine::Body(text) => vec![Ctx::plain(text.as_str())],
                AnswerLine::Note(text) => vec![ctx.dim(cut(text, 0))],
            };
            pen.spans(area.x + x, y, area.right(), &spans);
        }
    }
}
