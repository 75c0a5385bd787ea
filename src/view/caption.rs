//! The caption of a chapter of the story, above the keys.

use super::ctx::Ctx;
use super::text::{Pen, cut};
use super::theme::{Theme, Tone};
use crate::app::story::CHAPTERS;
use crate::domain::text::wrapped;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Rows that a caption has.
pub const ROWS: u16 = 2;

/// What the chapter says.
pub struct Caption<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

impl Widget for &Caption<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let ctx = self.ctx;
        let Some((at, chapter, changed)) = ctx.app.chapter().filter(|_| !area.is_empty()) else { return };
        let number = format!("{}/{}", at + 1, CHAPTERS.len());
        let says =
            if changed { "Its settings were changed by key; turn the page to go on." } else { chapter.says };
        let said = format!("{number} {}: {says}", chapter.title);
        let room = area.width.saturating_sub(2).max(1);
        let mut lines = wrapped(&said, room);
        let most = usize::from(area.height);
        if lines.len() > most {
            // The rest of it is cut on the last row.
            let rest = lines.split_off(most.saturating_sub(1)).join(" ");
            lines.push(cut(&format!("{rest} "), room, ctx.glyphs.ellipsis));
        }
        let mut pen = Pen::new(buf);
        for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
            pen.put(area.x + 1, y, area.right(), line, ctx.theme.bold(Tone::Plain));
        }
        pen.put(area.x + 1, area.y, area.right(), &number, Theme::reversed());
    }
}
