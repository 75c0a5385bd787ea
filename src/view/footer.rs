//! The keys that matter most, from the registry. `?` and `q` are always there.

use super::ctx::Ctx;
use super::text::{Pen, width};
use super::theme::{Theme, Tone};
use crate::app::Screen;
use crate::app::actions::{Footer as Entry, bindings};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The footer row.
pub struct Footer<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// What the footer of the help shows besides.
const IN_HELP: [Entry; 2] = [
    Entry { keys: "Esc", ascii: "Esc", label: "back", rank: 1 },
    Entry { keys: "↑↓", ascii: "j k", label: "scroll", rank: 2 },
];

/// What the footer of a call's detail shows besides.
const IN_DETAIL: [Entry; 4] = [
    Entry { keys: "Esc", ascii: "Esc", label: "back", rank: 1 },
    Entry { keys: "↑↓", ascii: "j k", label: "other call", rank: 2 },
    Entry { keys: ", .", ascii: ", .", label: "other round", rank: 3 },
    Entry { keys: "w", ascii: "w", label: "window", rank: 4 },
];

/// The footer while the filter is typed.
const TYPING: [Entry; 2] = [
    Entry { keys: "Enter", ascii: "Enter", label: "keep", rank: 0 },
    Entry { keys: "Esc", ascii: "Esc", label: "all lanes", rank: 0 },
];

impl Widget for &Footer<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let all = bindings(self.ctx.app.kind()).filter_map(|b| b.footer);
        let entries: Vec<Entry> = match self.ctx.app.screen {
            Screen::Dashboard if self.ctx.app.is_typing() => TYPING.to_vec(),
            Screen::Dashboard => all.collect(),
            Screen::Detail(_) => IN_DETAIL.into_iter().chain(all.filter(|e| e.rank == 0)).collect(),
            Screen::Help { .. } => IN_HELP.into_iter().chain(all.filter(|e| e.rank == 0)).collect(),
        };
        let keys = |e: &Entry| if self.ctx.app.options.ascii { e.ascii } else { e.keys };
        let length = |e: &Entry| width(keys(e)) + 1 + width(e.label) + 3;
        let room = area.width.saturating_add(1);
        // The highest rank up to which everything fits.
        let fits = |most: u8| entries.iter().filter(|e| e.rank <= most).map(length).sum::<u16>() <= room;
        let most = entries.iter().map(|e| e.rank).filter(|&r| fits(r)).max().unwrap_or(0);
        let mut pen = Pen::new(buf);
        let mut x = area.x.saturating_add(1);
        if self.ctx.app.is_typing() {
            x = pen.spans(x, area.y, area.right(), &self.ctx.prompt()).saturating_add(3);
        }
        for entry in entries.iter().filter(|e| e.rank <= most) {
            x = pen
                .put(x, area.y, area.right(), keys(entry), self.ctx.theme.bold(Tone::Plain))
                .saturating_add(1);
            x = pen.put(x, area.y, area.right(), entry.label, self.ctx.theme.dim()).saturating_add(3);
        }
    }
}

impl Ctx<'_> {
    /// The filter as it is typed, with a cursor behind it.
    fn prompt(&self) -> Vec<Span<'static>> {
        let lineup = &self.app.lineup;
        vec![
            self.dim("filter "),
            self.bold(lineup.filter().to_owned(), Tone::Plain),
            Span::styled(" ", Theme::reversed()),
            self.dim(format!("  {} of {} lanes", lineup.lanes().len(), self.app.endpoints.len())),
        ]
    }
}
