//! All keys, from the registry, and what the glyphs mean.

use super::ctx::Ctx;
use super::footer::Footer;
use super::layout::Regions;
use super::text::{Pen, Row, cut_middle, spans_width, width};
use super::theme::Tone;
use crate::app::actions::{Binding, bindings};
use crate::app::{App, HelpPage, Kind};
use crate::domain::{Phase, PlayState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use std::borrow::Cow;

/// The help, over the whole screen.
pub struct Help<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where the header and the footer are.
    pub regions: Regions,
    /// The first line shown.
    pub top: usize,
}

/// A line of the help: a key or glyph, and what it means.
struct Line {
    sign: Vec<Span<'static>>,
    text: Cow<'static, str>,
}

/// Columns of its sign.
const SIGN: u16 = 10;

/// Most columns that keys have there; what they do is worth more.
const MOST_SIGN: u16 = 20;

impl Widget for &Help<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (ctx, theme) = (self.ctx, self.ctx.theme);
        let mut pen = Pen::new(buf);
        let title = [ctx.bold("Keys and signs", Tone::Plain)];
        let row = Row { x: area.x + 1, y: area.y, width: area.width.saturating_sub(2) };
        let page = HelpPage::of(ctx.app, area.width, area.height);
        // Where not everything is in sight, it says where one is.
        let first = self.top.min(page.end());
        let right = match page.end() {
            0 if ctx.app.kind() == Kind::Live => "rounds go on meanwhile".to_owned(),
            0 if ctx.app.playback().is_some_and(|p| p.state == PlayState::Playing) => {
                "it plays on meanwhile".to_owned()
            }
            0 => "it stands meanwhile".to_owned(),
            end => format!("{}-{} of {}", first + 1, first + page.in_sight(), end + page.in_sight()),
        };
        pen.title(row, &title, (ctx.glyphs.rule, theme.dim()), &[ctx.dim(right)]);
        let (top, rows, in_sight) = (area.y + 1 + page.air, page.rows, page.in_sight());
        let lines = self.lines(&page);
        for (i, line) in lines.iter().skip(first).take(in_sight).enumerate() {
            let column = u16::try_from(i / rows.max(1)).unwrap_or(u16::MAX);
            let x = area.x + 1 + column.saturating_mul(HelpPage::LINE);
            let y = top + u16::try_from(i % rows.max(1)).unwrap_or(u16::MAX);
            pen.spans(x, y, area.right(), &line.sign);
            let text = x + SIGN.max(spans_width(&line.sign) + 1);
            // A column never runs into the next.
            let end = area.right().min(x.saturating_add(HelpPage::LINE - 1));
            pen.put(text, y, end, &line.text, theme.tone(Tone::Plain));
        }
        let footer = Rect { y: self.regions.footer, height: 1, ..area };
        Footer { ctx }.render(footer, buf);
    }
}

impl Help<'_> {
    /// What the screen is, keys, then signs.
    fn lines(&self, page: &HelpPage) -> Vec<Line> {
        let said = |line: &String| Line { sign: vec![Ctx::plain(line.as_str())], text: Cow::Borrowed("") };
        let mut lines: Vec<Line> = page.about.iter().map(said).collect();
        lines.push(Line { sign: Vec::new(), text: Cow::Borrowed("") });
        lines.extend(self.keys());
        lines.resize_with(page.keys(), || Line { sign: Vec::new(), text: Cow::Borrowed("") });
        lines.extend(self.signs());
        lines
    }

    fn keys(&self) -> Vec<Line> {
        let App { keymap, options, .. } = self.ctx.app;
        let bold = self.ctx.theme.bold(Tone::Plain);
        let line = |b: &Binding| {
            let mut keys = String::new();
            keymap.write_all(b, options.ascii, &mut keys);
            // One key that fits says more than two that run into what they do.
            if width(&keys) >= SIGN {
                keys.clear();
                keymap.write_first(&[b.action], options.ascii, &mut keys);
            }
            let keys = cut_middle(&keys, MOST_SIGN, self.ctx.glyphs.ellipsis);
            let sign = if keys.is_empty() { self.ctx.dim("no key") } else { Span::styled(keys, bold) };
            Line { sign: vec![sign], text: b.help.into() }
        };
        bindings(self.ctx.app.kind()).map(line).collect()
    }

    fn signs(&self) -> [Line; HelpPage::SIGNS] {
        let (theme, glyphs) = (self.ctx.theme, self.ctx.glyphs);
        let sign = |glyph: &str, tone, text: &'static str| Line {
            sign: vec![Span::styled(glyph.to_owned(), theme.tone(tone))],
            text: text.into(),
        };
        // As the legend has them: only the body's time is the answer itself.
        let phases = |phases: &[Phase]| {
            let style = |p| if p == Phase::Body { theme.tone(Tone::Plain) } else { theme.dim() };
            let shade = |&p: &Phase| Span::styled(glyphs.phase(p, false), style(p));
            let names: Vec<&str> = phases.iter().map(|p| p.as_str()).collect();
            Line { sign: phases.iter().map(shade).collect(), text: names.join(", ").into() }
        };
        let (before, after) = Phase::ALL.split_at(Phase::ALL.len() / 2);
        [
            sign("a time", Tone::Plain, "from the round's start"),
            phases(before),
            phases(after),
            sign(glyphs.ok, Tone::Ok, "answered within its limit"),
            sign(glyphs.error, Tone::Error, "error, where it happened"),
            sign(glyphs.cut, Tone::Cut, "cut at a time limit"),
            sign(glyphs.not_needed, Tone::Dim, "not needed, or lost"),
            sign(glyphs.running, Tone::Running, "running"),
            sign(glyphs.hedge, Tone::Hedge, "hedge, or the winner"),
            sign(glyphs.line, Tone::Cut, "deadline; green: k-th answer"),
            sign(glyphs.delay, Tone::Hedge, "hedge delay"),
        ]
    }
}
