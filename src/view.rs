//! Widgets: `&App` to cells. One file a panel; [`draw`] puts them together.
//!
//! Drawing never mutates and never blocks, and works for every size from 0x0 up: below 40x10 one line says what
//! is needed. Knows no terminal library but ratatui, and no clock: the app's time is the only one.

mod axis;
mod bar;
mod blame;
mod caption;
mod ctx;
mod detail;
mod footer;
mod glyphs;
mod header;
mod hedges;
mod help;
mod hills;
mod hint;
mod history;
mod honesty;
mod lanes;
mod layout;
mod legend;
mod limit;
mod missing;
mod over;
mod page;
mod panel;
mod plot;
mod scale;
mod scrubber;
mod target;
mod text;
mod theme;
mod totals;
mod tradeoff;
mod verdict;
mod whatif;

#[cfg(test)]
pub(crate) mod tests;

pub use layout::LEAST;
pub use target::{target, word};

use crate::app::{App, Screen};
use axis::Axis;
use ctx::Ctx;
use layout::{Columns, Regions};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::widgets::Widget;
use text::Pen;
use theme::{Theme, Tone};

/// The whole screen.
#[derive(Debug, Clone, Copy)]
pub struct Dashboard<'a>(pub &'a App);

impl Widget for &Dashboard<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        self.panels(area, buf);
        over::draw(self.0, area, buf);
        if self.0.options.ascii {
            // Our own words have 7 bits already; names and what was answered need not.
            text::keep_seven_bits(area, buf);
        }
        theme(self.0).paint(area, buf);
    }
}

impl Dashboard<'_> {
    fn panels(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let ctx = Ctx::new(self.0);
        let Some(regions) = Regions::of(ctx.app, area) else {
            too_small(&ctx, area, &mut Pen::new(buf));
            return;
        };
        if let Screen::Help { top, .. } = ctx.app.screen {
            help::Help { ctx: &ctx, regions, top }.render(area, buf);
            return;
        }
        if let Screen::Page { top, .. } = ctx.app.screen {
            page::Reading { ctx: &ctx, regions, top }.render(area, buf);
            return;
        }
        if let Screen::Detail(top) = ctx.app.screen {
            detail::Detail { ctx: &ctx, regions, top }.render(area, buf);
            return;
        }
        if ctx.app.screen == Screen::Tradeoff {
            tradeoff::Tradeoff { ctx: &ctx, regions }.render(area, buf);
            return;
        }
        let columns = Columns::of(ctx.app, area);
        let axis = Axis::of(ctx.app, &columns);
        header::Header { ctx: &ctx, regions }.render(area, buf);
        verdict::Verdict { ctx: &ctx, regions }.render(area, buf);
        lanes::Lanes { ctx: &ctx, columns, axis: &axis, rows: regions.lane_rows }.render(regions.lanes, buf);
        axis::TimeAxis { ctx: &ctx, columns, axis: &axis }.render(row(area, regions.axis), buf);
        legend::Legend { ctx: &ctx, columns }.render(row(area, regions.legend), buf);
        for (panel, area) in regions.panels.iter() {
            panel::draw(&ctx, panel, (regions.size, columns.name_width), area, buf);
        }
        hint::HintLine { ctx: &ctx, regions }.render(row(area, regions.hint), buf);
        history::HistoryPanel { ctx: &ctx }.render(regions.history.unwrap_or_default(), buf);
        caption::Caption { ctx: &ctx }.render(regions.caption.unwrap_or_default(), buf);
        scrubber::Scrubber { ctx: &ctx, regions }.render(row(area, regions.scrubber), buf);
        footer::Footer { ctx: &ctx }.render(row(area, Some(regions.footer)), buf);
    }
}

/// The theme of a screen.
const fn theme(app: &App) -> Theme {
    Theme::new(app.options.theme, app.options.colour)
}

/// The colours behind everything and of ordinary text, where the theme paints its own.
#[must_use]
pub fn ground(app: &App) -> Option<(Color, Color)> {
    theme(app).ground()
}

/// Draws the whole screen.
pub fn draw(app: &App, frame: &mut Frame) {
    let area = frame.area();
    frame.render_widget(&Dashboard(app), area);
}

/// A row as an area; an absent one is empty.
fn row(area: Rect, y: Option<u16>) -> Rect {
    y.map_or(Rect::default(), |y| Rect { y, height: 1, ..area })
}

fn too_small(ctx: &Ctx<'_>, area: Rect, pen: &mut Pen<'_>) {
    let (w, h) = LEAST;
    let needs = format!("fanscope needs {w}x{h}, this is {}x{}", area.width, area.height);
    // The numbers matter most: where the sentence does not fit they stand alone.
    let shorter = [needs, format!("needs {w}x{h}"), format!("{w}x{h}")];
    let text = shorter.into_iter().find(|text| text::width(text) <= area.width).unwrap_or_default();
    pen.put(area.x, area.y, area.right(), &text, ctx.theme.bold(Tone::Plain));
}
