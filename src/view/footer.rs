//! The keys that matter most, from the registry. `?` and `q` are always there.

use super::ctx::Ctx;
use super::text::{Pen, cut_middle, cut_start, width};
use super::theme::{Theme, Tone};
use crate::app::actions::{Action, Footer as Place, bindings};
use crate::app::{App, Kind, Notice, Screen};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use std::ops::Range;

/// The footer row.
pub struct Footer<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

/// Keys, and what they do.
struct Entry {
    /// Where in the text of all entries the keys stand.
    keys: Range<usize>,
    label: &'static str,
    rank: u8,
}

/// What stands in the footer. The keys of all entries are one text: a footer is drawn with every frame.
struct Entries {
    text: String,
    list: Vec<Entry>,
}

impl Entries {
    fn new() -> Self {
        Self { text: String::with_capacity(128), list: Vec::with_capacity(32) }
    }

    /// Adds keys, unless there are none.
    fn add(&mut self, label: &'static str, rank: u8, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let keys = start..self.text.len();
        if !keys.is_empty() {
            self.list.push(Entry { keys, label, rank });
        }
    }

    /// Keys and labels up to a rank.
    fn up_to(&self, most: u8) -> impl Iterator<Item = (&str, &'static str)> {
        let entries = self.list.iter().filter(move |entry| entry.rank <= most);
        entries.map(|entry| (self.text.get(entry.keys.clone()).unwrap_or_default(), entry.label))
    }

    /// Columns of entries up to a rank, with three of air behind each.
    fn length(&self, most: u8) -> u16 {
        self.up_to(most).map(|(keys, label)| width(keys) + 1 + width(label) + 3).sum()
    }

    /// Those up to the highest rank that fits.
    fn fitting(mut self, room: u16) -> Self {
        let ranks = self.list.iter().map(|entry| entry.rank);
        let most = ranks.filter(|&rank| self.length(rank) <= room).max().unwrap_or(0);
        self.list.retain(|entry| entry.rank <= most);
        self
    }
}

const fn place(rank: u8, actions: &'static [Action], label: &'static str) -> Place {
    Place { actions, label, rank }
}

/// The way back.
const BACK: Place = place(1, &[Action::Back], "back");

/// What the footer of the help shows besides.
const IN_HELP: [Place; 2] = [BACK, place(2, &[Action::Up, Action::Down], "scroll")];

/// What the footer of a call's detail shows besides.
const IN_DETAIL: [Place; 4] = [
    BACK,
    place(2, &[Action::Up, Action::Down], "other call"),
    place(3, &[Action::Earlier, Action::Later], "other round"),
    place(4, &[Action::Window], "window"),
];

/// What the footer of the trade-off shows besides.
const IN_TRADEOFF: [Place; 5] = [
    BACK,
    place(2, &[Action::BudgetDown, Action::BudgetUp], "move the marker"),
    place(3, &[Action::Detail], "use this budget"),
    place(4, &[Action::Probe], "probe"),
    place(5, &[Action::Window], "window"),
];

/// The same over a recording, which can't be told what to have done.
const IN_RECORDED_TRADEOFF: [Place; 3] = [
    BACK,
    place(2, &[Action::ShortBack, Action::ShortAhead], "move the marker"),
    place(5, &[Action::Window], "window"),
];

/// What stands behind both.
const EXPORT: Place = place(6, &[Action::Export], "export");

/// The keys that end what is typed. They are no actions: while text is typed, these keys are its own.
fn typing(dropped: &'static str) -> Entries {
    let mut entries = Entries::new();
    entries.add("keep", 0, |text| text.push_str("Enter"));
    entries.add(dropped, 0, |text| text.push_str("Esc"));
    entries
}

/// The keys of the palette, which are its own too.
fn choosing(ascii: bool) -> Entries {
    let mut entries = Entries::new();
    entries.add("go", 0, |text| text.push_str("Enter"));
    entries.add("leave", 0, |text| text.push_str("Esc"));
    entries.add("choose", 1, |text| text.push_str(if ascii { "Up Down" } else { "↑↓" }));
    entries
}

/// How to begin, until the first key. What can be broken only where something can.
const WELCOME: [Place; 5] = [
    place(0, &[Action::Help], "keys"),
    place(1, &[Action::Palette], "find"),
    place(2, &[Action::Tradeoff], "trade-off"),
    place(3, &[Action::Fault], "break one"),
    place(0, &[Action::Quit], "quit"),
];

/// The footer of a story begins with how its pages are turned.
const PAGES: [Place; 2] = [place(0, &[Action::Detail], "next"), place(1, &[Action::PageUp], "back")];

/// Columns of what is typed, at the least, where keys can make room for it.
const LEAST_TYPED: u16 = 8;

/// Columns that what is said needs, before there is room for keys beside it.
const NOTICE: u16 = 40;

impl Widget for &Footer<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let entries = self.entries().fitting(area.width.saturating_add(1));
        let mut pen = Pen::new(buf);
        let x = area.x.saturating_add(1);
        if let Some(note) = self.ctx.app.note() {
            self.typed("note ", note, area, entries, &mut pen);
        } else if let Some(typed) = self.ctx.app.palette() {
            self.typed(":", typed, area, entries, &mut pen);
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
    fn entries(&self) -> Entries {
        let app = self.ctx.app;
        match app.screen {
            _ if app.note().is_some() => typing("drop"),
            _ if app.palette().is_some() => choosing(app.options.ascii),
            Screen::Dashboard if app.is_typing() => typing("all lanes"),
            Screen::Dashboard if app.chapter().is_some() => {
                let all = bindings(app.kind()).filter_map(|b| b.footer);
                let turns = if app.chapter().is_some_and(|(at, ..)| at == 0) { &PAGES[..1] } else { &PAGES };
                self.named(turns.iter().copied().chain(all.filter(|place| place.label != "detail")))
            }
            Screen::Dashboard if app.is_fresh() => {
                let can = |place: &Place| place.actions != [Action::Fault] || app.can_break();
                self.named(WELCOME.into_iter().filter(can))
            }
            Screen::Dashboard => self.named(bindings(app.kind()).filter_map(|b| b.footer)),
            Screen::Detail(_) => self.besides(&IN_DETAIL),
            Screen::Tradeoff if app.kind() == Kind::Live => {
                self.besides(&[&IN_TRADEOFF[..], &[EXPORT]].concat())
            }
            Screen::Tradeoff => self.besides(&[&IN_RECORDED_TRADEOFF[..], &[EXPORT]].concat()),
            Screen::Help { .. } | Screen::Page { .. } => self.besides(&IN_HELP),
        }
    }

    /// These, and what is always there.
    fn besides(&self, places: &[Place]) -> Entries {
        self.named(places.iter().copied().chain(self.always()))
    }

    fn always(&self) -> impl Iterator<Item = Place> {
        bindings(self.ctx.app.kind()).filter_map(|b| b.footer).filter(|place| place.rank == 0)
    }

    /// With the keys that hold; without those that have none.
    fn named(&self, places: impl Iterator<Item = Place>) -> Entries {
        let App { keymap, options, .. } = self.ctx.app;
        let mut entries = Entries::new();
        for Place { actions, label, rank } in places {
            entries.add(label, rank, |text| keymap.write_first(actions, options.ascii, text));
        }
        entries
    }

    fn keys(&self, mut x: u16, area: Rect, entries: &Entries, pen: &mut Pen<'_>) {
        let theme = self.ctx.theme;
        for (keys, label) in entries.up_to(u8::MAX) {
            x = pen.put(x, area.y, area.right(), keys, theme.bold(Tone::Plain)).saturating_add(1);
            x = pen.put(x, area.y, area.right(), label, theme.dim()).saturating_add(3);
        }
    }

    /// What is typed, behind what it is: its end, where the cursor is.
    fn typed(&self, what: &str, text: &str, area: Rect, mut entries: Entries, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let x = pen.put(area.x.saturating_add(1), area.y, area.right(), what, ctx.theme.dim());
        let room = area.right().saturating_sub(x);
        let beside = |entries: &Entries| room.saturating_sub(entries.length(u8::MAX) + 2);
        // What is typed matters more than how the list is walked along.
        if beside(&entries) < LEAST_TYPED {
            entries.list.retain(|entry| entry.rank == 0);
        }
        let most = beside(&entries);
        let typed = [
            ctx.bold(cut_start(text, most, ctx.glyphs.ellipsis), Tone::Plain),
            Span::styled(" ", Theme::reversed()),
        ];
        let x = pen.spans(x, area.y, area.right(), &typed).saturating_add(3);
        self.keys(x, area, &entries, pen);
    }

    /// What is said for a moment; the keys that are always there stay where there is room.
    fn notice(&self, text: &str, failed: bool, area: Rect, pen: &mut Pen<'_>) {
        let always = self.named(self.always());
        let keys = always.length(u8::MAX);
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
