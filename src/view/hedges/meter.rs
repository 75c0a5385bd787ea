//! How much of the load budget hedges take, and what they cost (R28, R31).

use crate::domain::{Mode, numbers};
use crate::stats::HedgeCost;
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, spans_width, width};
use crate::view::theme::Tone;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// The extra load of the chosen window.
pub struct Load<'a> {
    ctx: &'a Ctx<'a>,
    cost: HedgeCost,
    limit: Limit,
}

/// What keeps the load down.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// The load budget of hedge rounds, as a share.
    Budget(f64),
    /// A race has none.
    Race,
    /// In other modes only what endpoints bring of their own.
    Own,
}

impl<'a> Load<'a> {
    /// The load of the chosen window against what limits the round on the lanes.
    pub fn of(ctx: &'a Ctx<'a>) -> Self {
        let settings = ctx.app.round_settings();
        let limit = match settings.mode {
            Mode::Hedge if settings.hedge.delay.is_race() => Limit::Race,
            Mode::Hedge => Limit::Budget(settings.hedge.load_budget),
            _ => Limit::Own,
        };
        Self { ctx, cost: ctx.app.stats().hedge_cost(ctx.app.window), limit }
    }

    /// `5.0 % of 5 % budget`.
    pub fn words(&self) -> Vec<Span<'static>> {
        let none = || self.ctx.glyphs.none.to_owned();
        let share = self.cost.extra_load().map_or_else(none, numbers::share_percent);
        let limit = match self.limit {
            Limit::Budget(budget) => format!(" of {} budget", numbers::short_share(budget)),
            Limit::Race => ", race: not limited".to_owned(),
            Limit::Own => String::new(),
        };
        vec![self.ctx.bold(share, Tone::Hedge), self.ctx.dim(limit)]
    }

    /// The load against its budget, and in the row below what it cost.
    pub fn meter(&self, area: Rect, pen: &mut Pen<'_>) {
        let (ctx, theme, words) = (self.ctx, self.ctx.theme, self.words());
        let label = pen.put(area.x + 3, area.y, area.right(), "extra load", theme.dim());
        let x = label.saturating_add(2);
        let bar = area.right().saturating_sub(x + 2 + spans_width(&words)).min(60);
        let mut after = x;
        if bar >= 8
            && let Limit::Budget(budget) = self.limit
        {
            let (filled, mark) = fill(self.cost.extra_load().unwrap_or_default(), budget, bar);
            let [full, rest] = ctx.glyphs.meter;
            pen.fill(x, x + filled, area.y, full, theme.tone(Tone::Hedge));
            pen.fill(x + filled, x + bar, area.y, rest, theme.dim());
            pen.cell(x + mark, area.y, ctx.glyphs.line, theme.bold(Tone::Plain));
            after = x + bar + 2;
        }
        pen.spans(after, area.y, area.right(), &words);
        // Under the meter where there is room for large numbers too.
        let x = if area.width >= 78 { x } else { area.x + 3 };
        self.costs(x, area.right(), area.y + 1, pen);
    }

    /// `30 hedges / 600 primaries · 412 ms wasted · 3 reconnects`; what does not fit is left out whole.
    fn costs(&self, x: u16, end: u16, y: u16, pen: &mut Pen<'_>) {
        let (cost, dot, dim) = (&self.cost, self.ctx.glyphs.dot, self.ctx.theme.dim());
        let primaries = numbers::counted(cost.primaries, "primary", "primaries");
        let words = [
            format!("{} / {primaries}", numbers::counted(cost.sent, "hedge", "hedges")),
            format!(" {dot} {} wasted", numbers::ms(cost.wasted)),
            format!(" {dot} {}", numbers::counted(cost.reconnects, "reconnect", "reconnects")),
        ];
        let mut x = x;
        for words in &words {
            if width(words) > end.saturating_sub(x) {
                return;
            }
            x = pen.put(x, y, end, words, dim);
        }
    }
}

/// Cells of a meter that the load fills, and the one in which its budget is marked: at 26 of 32, so that there
/// is room to pass it.
fn fill(load: f64, budget: f64, width: u16) -> (u16, u16) {
    let mark = (f64::from(width) * 26.0 / 32.0).floor();
    let filled = if load <= 0.0 { 0.0 } else { (load / budget * mark).min(f64::from(width)) };
    // A division by a budget of nothing is full; what was sent is never nothing.
    let filled = if load > 0.0 { filled.max(1.0) } else { filled };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the meter's width")]
    let cells = |n: f64| n.round() as u16;
    (cells(filled), cells(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r28_a_load_at_its_budget_reaches_the_mark_and_a_higher_one_passes_it() {
        assert_eq!(fill(0.05, 0.05, 32), (26, 26));
        assert_eq!(fill(0.025, 0.05, 32), (13, 26));
        assert_eq!(fill(0.06, 0.05, 32), (31, 26));
        assert_eq!(fill(4.0, 0.05, 32), (32, 26));
        assert_eq!(fill(0.0, 0.05, 32), (0, 26));
        assert_eq!(fill(0.0001, 0.05, 32), (1, 26), "something is not nothing");
    }

    #[test]
    fn r28_without_a_budget_any_load_is_too_much() {
        assert_eq!(fill(0.01, 0.0, 32).0, 32);
        assert_eq!(fill(0.0, 0.0, 32).0, 0);
    }

    #[test]
    fn a_budget_has_no_more_decimals_than_it_needs() {
        assert_eq!([0.05, 0.025, 1.0, 0.0].map(numbers::short_share), ["5 %", "2.5 %", "100 %", "0 %"]);
    }

    proptest! {
        #[test]
        fn a_meter_keeps_within_its_width(load in 0.0..5.0_f64, budget in 0.0..2.0_f64, width in 8_u16..=60) {
            let (filled, mark) = fill(load, budget, width);
            prop_assert!(filled <= width && mark < width);
            prop_assert_eq!(filled == 0, load <= 0.0);
        }
    }
}
