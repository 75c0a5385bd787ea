//! The trade-off, over the whole screen: what another budget, quorum or hedge would have given, as plots beside tables
//! where there is room, and in sentences. One file a part.

mod arms;
mod curve;
mod hedge;
mod lines;
mod parts;
mod quorum;
mod table;

pub use curve::Curve;
pub use parts::Parts;

use super::ctx::Ctx;
use super::footer::Footer;
use super::header::Header;
use super::layout::Regions;
use super::plot::Plot;
use super::text::{Pen, Row, cut, spans_width};
use super::theme::Tone;
use crate::domain::numbers;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The trade-off.
pub struct Tradeoff<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// The dashboard's rows, of which the keys are kept.
    pub regions: Regions,
}

impl Widget for &Tradeoff<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let ctx = self.ctx;
        let parts = Parts::of(ctx, area);
        if let Some(size) = parts.header {
            let honesty = (parts.head > 1).then_some(area.y + 1);
            let regions = Regions { size, header: Some(area.y), honesty, ..self.regions };
            Header { ctx, regions }.render(area, buf);
        }
        Footer { ctx }.render(Rect { y: self.regions.footer, height: 1, ..area }, buf);
        let mut pen = Pen::new(buf);
        self.title(parts.title, &mut pen);
        let Some(outlook) = ctx.outlook() else {
            let words = cut(ctx.no_outlook(), area.width.saturating_sub(4), ctx.glyphs.ellipsis);
            pen.put(area.x + 3, parts.title.y + 2, area.right(), &words, ctx.theme.dim());
            return;
        };
        lines::reading(ctx, outlook, parts.reading, &mut pen);
        if let Some(area) = parts.curve {
            Curve { ctx, outlook, area }.draw(true, &mut pen);
        }
        if let Some(area) = parts.table {
            table::Table { ctx, outlook }.draw(area, &mut pen);
        }
        lines::round(ctx, outlook, parts.round, &mut pen);
        if let Some(area) = parts.quorum {
            quorum::QuorumPart { ctx, study: &outlook.quorum, budget: outlook.budget }.draw(area, &mut pen);
        }
        if let (Some(area), Some(study)) = (parts.hedge, &outlook.hedge) {
            let (budget, cut) = (outlook.budget, hedge::is_cut(outlook));
            hedge::HedgePart { ctx, study, budget, cut }.draw(area, &mut pen);
        }
        if let (Some(area), Some(arms)) = (parts.arms, &outlook.arms) {
            arms::draw(ctx, arms, area, &mut pen);
        }
        lines::advice(ctx, outlook, parts.advice, parts.titled, &mut pen);
        lines::censored(ctx, outlook, parts.censored, &mut pen);
    }
}

impl Tradeoff<'_> {
    fn title(&self, row: Rect, pen: &mut Pen<'_>) {
        let ctx = self.ctx;
        let (x, width) = (row.x + 1, row.width.saturating_sub(2));
        let words = match (ctx.app.cuts_at_budget(), width >= 70) {
            (true, true) => "What if the budget were different",
            (true, false) => "What if",
            (false, true) => "What if: answered if cut at the budget",
            (false, false) => "Answered if cut at the budget",
        };
        let title = [ctx.bold(words, Tone::Plain)];
        let dot = ctx.glyphs.dot;
        let mut rights = Vec::new();
        if let Some(outlook) = ctx.outlook() {
            rights.push(vec![ctx.dim(ctx.outlook_rounds())]);
            let calls = numbers::counted(outlook.calls, "call", "calls");
            let probes = numbers::counted(outlook.probes, "probe round", "probe rounds");
            let rounds = ctx.outlook_rounds();
            rights.insert(0, vec![ctx.dim(format!("{rounds} {dot} {probes}"))]);
            rights.insert(
                0,
                vec![ctx.dim(format!("{rounds} {dot} {calls} {dot} {probes} watched past the deadline"))],
            );
        }
        let room = width.saturating_sub(spans_width(&title) + 3);
        let right: Vec<Span<'_>> = rights.into_iter().find(|r| spans_width(r) <= room).unwrap_or_default();
        pen.title(Row { x, y: row.y, width }, &title, (ctx.glyphs.rule, ctx.theme.dim()), &right);
    }
}

/// The budget that stands in this cell of the curve or of the table.
pub fn budget_at(ctx: &Ctx<'_>, area: Rect, at: Position) -> Option<std::time::Duration> {
    let (parts, outlook) = (Parts::of(ctx, area), ctx.outlook()?);
    if let Some(area) = parts.table.filter(|table| table.contains(at)) {
        return table::Table { ctx, outlook }.at(area, at.y);
    }
    let plot: Plot = Curve { ctx, outlook, area: parts.curve? }.plot()?;
    let inside = plot.area.contains(at);
    inside.then(|| std::time::Duration::try_from_secs_f64(plot.value(at.x) / 1e3).unwrap_or_default())
}

impl Ctx<'_> {
    /// Two shares as one: `93.2–94.3`.
    fn between(&self, (low, high): (f64, f64)) -> String {
        let bare = |share: f64| numbers::share_percent(share).replace(" %", "").replace("100.0", "100");
        format!("{}{}{}", bare(low), self.glyphs.to, bare(high))
    }

    /// A share that may not be known.
    fn share(&self, share: Option<f64>) -> String {
        share.map_or_else(|| self.glyphs.none.to_owned(), numbers::share_percent)
    }
}
