//! What stands at a cell, for the mouse.

use super::axis::Axis;
use super::ctx::Ctx;
use super::history::HistoryPanel;
use super::lanes::Lanes;
use super::layout::{Columns, Regions};
use super::{scrubber, tradeoff};
use crate::app::{App, Panel, Screen, Target};
use ratatui::layout::{Position, Rect};

/// What stands at this column and row of a screen that fills `area`.
#[must_use]
pub fn target(app: &App, area: Rect, column: u16, row: u16) -> Target {
    let (ctx, at) = (Ctx::new(app), Position::new(column, row));
    if app.screen == Screen::Tradeoff {
        let fits = Regions::of(app, area).is_some();
        let budget = tradeoff::budget_at(&ctx, area, at).filter(|_| fits);
        return budget.map_or(Target::Elsewhere, Target::Budget);
    }
    let Some(regions) = Regions::of(app, area).filter(|_| app.screen == Screen::Dashboard) else {
        return Target::Elsewhere;
    };
    if regions.lanes.contains(at) {
        let columns = Columns::of(app, area);
        let lanes = Lanes { ctx: &ctx, columns, axis: &Axis::of(app, &columns), rows: regions.lane_rows };
        return lanes.at(regions.lanes, row).map_or(Target::Elsewhere, Target::Lane);
    }
    if regions.panels.iter().any(|(panel, area)| panel == Panel::WhatIf && area.contains(at)) {
        return Target::WhatIf;
    }
    if let Some(history) = regions.history.filter(|h| h.contains(at)) {
        return HistoryPanel { ctx: &ctx }.round_at(history, column).map_or(Target::Elsewhere, Target::Round);
    }
    if regions.scrubber == Some(row) {
        let line = Rect { y: row, height: 1, ..area };
        return scrubber::part(&ctx, regions, line, column).map_or(Target::Elsewhere, Target::Scrubber);
    }
    Target::Elsewhere
}
