//! A call in detail, over the whole screen: its attempts phase by phase, its rounds, its latency, what became
//! of it, and what to do. Which parts there are is the app's knowledge; one file a part draws them.
//!
//! The parts are drawn one below the other onto a sheet of their own, of which the rows in sight are copied.

mod answer;
mod attempts;
mod dots;
mod facts;
mod hint;
mod latency;
mod outcomes;
mod phases;
mod rounds;
mod title;

use super::ctx::Ctx;
use super::footer::Footer;
use super::header::Header;
use super::layout::{Regions, Size};
use super::text::{Pen, cut};
use crate::app::{DetailPage, Lane, Part};
use crate::domain::EndpointId;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The detail of the selected call.
pub struct Detail<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The dashboard's rows, of which header and keys are kept.
    pub regions: Regions,
    /// The first row of the parts in sight.
    pub top: usize,
}

impl Widget for &Detail<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let ctx = self.ctx;
        let page = DetailPage::of(ctx.app, area.width, area.height);
        let top = self.top.min(page.end());
        self.header(&page, area, buf);
        let row = Rect { y: area.y + page.head, height: 1, ..area };
        title::Title { ctx, page: &page, top }.render(row, buf);
        let sheet = self.sheet(&page, area.width);
        for (y, from) in (area.y + page.head + 1..self.regions.footer).zip(top..page.length()) {
            let from = u16::try_from(from).unwrap_or(u16::MAX);
            for x in 0..area.width {
                if let (Some(to), Some(cell)) = (buf.cell_mut((area.x + x, y)), sheet.cell((x, from))) {
                    *to = cell.clone();
                }
            }
        }
        Footer { ctx }.render(Rect { y: self.regions.footer, height: 1, ..area }, buf);
    }
}

impl Detail<'_> {
    fn header(&self, page: &DetailPage, area: Rect, buf: &mut Buffer) {
        let size = match page.head {
            0 => return,
            1 => Size::Small,
            _ => Size::Medium,
        };
        let honesty = (page.head > 1).then_some(area.y + 1);
        let regions = Regions { size, header: Some(area.y), honesty, ..self.regions };
        Header { ctx: self.ctx, regions }.render(area, buf);
    }

    /// All parts.
    fn sheet(&self, page: &DetailPage, width: u16) -> Buffer {
        let height = u16::try_from(page.length()).unwrap_or(u16::MAX);
        let mut sheet = Buffer::empty(Rect::new(0, 0, width, height));
        let lane = self.ctx.app.detail_lane();
        let mut y = 0_u16;
        for &(part, rows) in &page.parts {
            let area = Rect::new(0, y, width, rows).intersection(sheet.area);
            self.part(part, page, lane.as_ref(), area, &mut sheet);
            y = y.saturating_add(rows);
        }
        sheet
    }

    fn part(&self, part: Part, page: &DetailPage, lane: Option<&Lane>, area: Rect, buf: &mut Buffer) {
        let (ctx, whole) = (self.ctx, page.whole);
        let panel = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        match (part, lane) {
            (Part::Request, _) => self.request(whole, area, buf),
            (Part::Waiting, _) => self.waiting(whole, area, buf),
            (Part::Attempts, Some(lane)) => attempts::Attempts { ctx, lane, whole }.render(area, buf),
            (Part::Facts, _) => facts::Facts { ctx, lines: &page.facts, whole }.render(area, buf),
            (Part::Words, _) => facts::Words { ctx, lines: &page.words, whole }.render(area, buf),
            (Part::Answer, _) => answer::AnswerPart { ctx, lines: &page.answer, whole }.render(area, buf),
            (Part::Command, _) => answer::AnswerPart { ctx, lines: &page.command, whole }.render(area, buf),
            (Part::Rounds, _) => rounds::Rounds { ctx }.render(panel, buf),
            (Part::Latency, _) => latency::Latency { ctx }.render(panel, buf),
            (Part::Outcomes, _) => outcomes::Outcomes { ctx }.render(panel, buf),
            (Part::Numbers, _) => {
                let left = panel.width.saturating_sub(4) / 2;
                let x = panel.x + left + 4;
                latency::Latency { ctx }.render(Rect { width: left, ..panel }, buf);
                let right = Rect { x, width: panel.right().saturating_sub(x), ..panel };
                outcomes::Outcomes { ctx }.render(right, buf);
            }
            (Part::Hint, _) => hint::CallHint { ctx }.render(panel, buf),
            (Part::Blank, _) | (Part::Attempts, None) => {}
        }
    }

    /// The method faint, then the address.
    fn request(&self, whole: bool, area: Rect, buf: &mut Buffer) {
        let ctx = self.ctx;
        let Some(request) = ctx.app.request() else { return };
        let (x, sides) = DetailPage::margins(whole);
        let text = cut(request, area.width.saturating_sub(sides), ctx.glyphs.ellipsis);
        let (method, rest) = text.split_once(' ').unwrap_or(("", &text));
        let gap = if method.is_empty() { "" } else { " " };
        let spans = [ctx.dim(format!("{method}{gap}")), Ctx::plain(rest)];
        Pen::new(buf).spans(area.x + x, area.y, area.right(), &spans);
    }

    fn waiting(&self, whole: bool, area: Rect, buf: &mut Buffer) {
        let words = self.ctx.dim("no round has started yet");
        let x = area.x + DetailPage::margins(whole).0;
        Pen::new(buf).spans(x, area.y, area.right(), &[words]);
    }
}

impl Ctx<'_> {
    /// The selected endpoint.
    fn selected(&self) -> EndpointId {
        EndpointId(self.app.selected)
    }
}
