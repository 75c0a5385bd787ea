//! The keys that matter most, from the registry. `?` and `q` are always there.

use super::ctx::Ctx;
use super::text::{Pen, cut_middle, cut_start, width};
use super::theme::{Theme, Tone};
use crate::app::actions::{Footer as Entry, bindings};
use crate::app::{Kind, Notice, Screen};
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

/// What the footer of the trade-off shows besides.
const IN_TRADEOFF: [Entry; 4] = [
    Entry { keys: "Esc", ascii: "Esc", label: "back", rank: 1 },
    Entry { keys: "←→", ascii: "- +", label: "move the marker", rank: 2 },
    Entry { keys: "w", ascii: "w", label: "window", rank: 5 },
    Entry { keys: "e", ascii: "e", label: "export", rank: 6 },
];

/// The same where rounds can be told what to do.
const IN_LIVE_TRADEOFF: [Entry; 2] = [
    Entry { keys: "Enter", ascii: "Enter", label: "use this budget", rank: 3 },
    Entry { keys: "p", ascii: "p", label: "probe", rank: 4 },
];

/// The footer while the filter is typed.
const FILTER: [Entry; 2] = [
    Entry { keys: "Enter", ascii: "Enter", label: "keep", rank: 0 },
    Entry { keys: "Esc", ascii: "Esc", label: "all lanes", rank: 0 },
];

/// The footer while a note is typed.
const NOTE: [Entry; 2] = [
    Entry { keys: "Enter", ascii: "Enter", label: "keep", rank: 0 },
    Entry { keys: "Esc", ascii: "Esc", label: "drop", rank: 0 },
];

/// The footer while the palette is open.
const PALETTE: [Entry; 3] = [
    Entry { keys: "Enter", ascii: "Enter", label: "go", rank: 0 },
    Entry { keys: "Esc", ascii: "Esc", label: "leave", rank: 0 },
    Entry { keys: "↑↓", ascii: "Up Down", label: "choose", rank: 1 },
];

/// How to begin, until the first key. What can be broken only where something can.
const WELCOME: [Entry; 5] = [
    Entry { keys: "?", ascii: "?", label: "keys", rank: 0 },
    Entry { keys: ":", ascii: ":", label: "find", rank: 1 },
    Entry { keys: "a", ascii: "a", label: "trade-off", rank: 2 },
    Entry { keys: "x", ascii: "x", label: "break one", rank: 3 },
    Entry { keys: "q", ascii: "q", label: "quit", rank: 0 },
];

/// The footer of a story begins with how its pages are turned.
const PAGES: [Entry; 2] = [
    Entry { keys: "Enter", ascii: "Enter", label: "next", rank: 0 },
    Entry { keys: "Backspace", ascii: "Backspace", label: "back", rank: 1 },
];

/// Columns of what is typed, at the least, where keys can make room for it.
const LEAST_TYPED: u16 = 8;

/// Columns that what is said needs, before there is room for keys beside it.
const NOTICE: u16 = 40;

impl Widget for &Footer<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let entries = self.entries();
        let room = area.width.saturating_add(1);
        // The highest rank up to which everything fits.
        let fits = |most: u8| self.length(entries.iter().filter(|e| e.rank <= most)) <= room;
        let most = entries.iter().map(|e| e.rank).filter(|&r| fits(r)).max().unwrap_or(0);
        let entries: Vec<&Entry> = entries.iter().filter(|e| e.rank <= most).collect();
        let mut pen = Pen::new(buf);
        let x = area.x.saturating_add(1);
        if let Some(note) = self.ctx.app.note() {
            self.typed("note ", note, area, &entries, &mut pen);
        } else if let Some(typed) = self.ctx.app.palette() {
            self.typed(":", typed, area, &entries, &mut pen);
        } else if self.ctx.app.is_typing() {
            let x = pen.spans(x, area.y, area.right(), &self.ctx.prompt()).saturating_add(3);
            self.keys(x, area, &entries, &mut pen);
        } else if let Some(notice @ (Notice::Done(text) | Notice::Failed(text))) = self.ctx.app.notice() {
            self.notice(text, matches!(notice, Notice::Failed(_)), area, &mut pen);
        } else {
            self.keys(x, area, &entries, &mut pen);
        }
    }
}

impl Footer<'_> {
    fn entries(&self) -> Vec<Entry> {
        let app = self.ctx.app;
        let all = bindings(app.kind()).filter_map(|b| b.footer);
        match app.screen {
            _ if app.note().is_some() => NOTE.to_vec(),
            _ if app.palette().is_some() => PALETTE.to_vec(),
            Screen::Dashboard if app.is_typing() => FILTER.to_vec(),
            Screen::Dashboard if app.chapter().is_some() => {
                let other = |e: &Entry| e.label != "detail";
                PAGES.into_iter().chain(all.filter(other)).collect()
            }
            Screen::Dashboard if app.is_fresh() => {
                let can = |e: &Entry| e.keys != "x" || app.can_break();
                WELCOME.into_iter().filter(can).collect()
            }
            Screen::Dashboard => all.collect(),
            Screen::Detail(_) => IN_DETAIL.into_iter().chain(all.filter(|e| e.rank == 0)).collect(),
            Screen::Tradeoff => {
                let mut entries = IN_TRADEOFF.to_vec();
                if app.kind() == Kind::Live {
                    entries.splice(2..2, IN_LIVE_TRADEOFF);
                }
                entries.into_iter().chain(all.filter(|e| e.rank == 0)).collect()
            }
            Screen::Help { .. } | Screen::Page { .. } => {
                IN_HELP.into_iter().chain(all.filter(|e| e.rank == 0)).collect()
            }
        }
    }

    fn name(&self, entry: &Entry) -> &'static str {
        if self.ctx.app.options.ascii { entry.ascii } else { entry.keys }
    }

    /// Columns of entries, with three of air behind each.
    fn length<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> u16 {
        entries.map(|e| width(self.name(e)) + 1 + width(e.label) + 3).sum()
    }

    fn keys(&self, mut x: u16, area: Rect, entries: &[&Entry], pen: &mut Pen<'_>) {
        let theme = self.ctx.theme;
        for entry in entries {
            x = pen.put(x, area.y, area.right(), self.name(entry), theme.bold(Tone::Plain)).saturating_add(1);
            x = pen.put(x, area.y, area.right(), entry.label, theme.dim()).saturating_add(3);
        }
    }

    /// What is typed, behind what it is: its end, where the cursor is.
    fn typed(&self, what: &str, text: &str, area: Rect, entries: &[&Entry], pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let x = pen.put(area.x.saturating_add(1), area.y, area.right(), what, ctx.theme.dim());
        let room = area.right().saturating_sub(x);
        let beside = |entries: &[&Entry]| room.saturating_sub(self.length(entries.iter().copied()) + 2);
        // What is typed matters more than how the list is walked along.
        let always: Vec<&Entry> = entries.iter().copied().filter(|e| e.rank == 0).collect();
        let entries = if beside(entries) < LEAST_TYPED { &always } else { entries };
        let most = beside(entries);
        let typed = [
            ctx.bold(cut_start(text, most, ctx.glyphs.ellipsis), Tone::Plain),
            Span::styled(" ", Theme::reversed()),
        ];
        let x = pen.spans(x, area.y, area.right(), &typed).saturating_add(3);
        self.keys(x, area, entries, pen);
    }

    /// What is said for a moment; the keys that are always there stay where there is room.
    fn notice(&self, text: &str, failed: bool, area: Rect, pen: &mut Pen<'_>) {
        let always: Vec<&Entry> =
            bindings(self.ctx.app.kind()).filter_map(|b| b.footer.as_ref()).filter(|e| e.rank == 0).collect();
        let keys = self.length(always.iter().copied());
        let room = area.width.saturating_sub(2);
        let (x, end) = (area.x.saturating_add(1), area.right().saturating_sub(1));
        let beside = room >= keys + NOTICE;
        let most = if beside { room - keys } else { room };
        let theme = self.ctx.theme;
        let style = if failed { theme.bold(Tone::Error) } else { theme.tone(Tone::Plain) };
        // The end of a path says most.
        pen.put(x, area.y, end, &cut_middle(text, most, self.ctx.glyphs.ellipsis), style);
        if beside {
            self.keys(end.saturating_add(3).saturating_sub(keys), area, &always, pen);
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
