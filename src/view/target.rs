//! What stands at a cell, for the mouse.

use super::axis::Axis;
use super::ctx::Ctx;
use super::history::HistoryPanel;
use super::lanes::Lanes;
use super::layout::{Columns, Regions};
use super::{Dashboard, scrubber, tradeoff};
use crate::app::{App, Panel, Screen, Target, glossary};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::Widget;

/// The word at this cell, where it is one that can be explained: what is drawn there is read.
#[must_use]
pub fn word(app: &App, area: Rect, column: u16, row: u16) -> Target {
    let line = Rect { y: row, height: 1, ..area }.intersection(area);
    if !line.contains(Position::new(column, row)) {
        return Target::Elsewhere;
    }
    let mut buf = Buffer::empty(area);
    Dashboard(app).render(area, &mut buf);
    let letters: Vec<&str> = (line.left()..line.right()).map(|x| buf[(x, row)].symbol()).collect();
    let at = usize::from(column - line.x);
    let found = words_at(&letters, at).into_iter().find_map(|word| glossary::find(&word));
    found.map_or(Target::Elsewhere, Target::Word)
}

/// The word at a place, also with the one before or after it: `not needed`.
fn words_at(letters: &[&str], at: usize) -> Vec<String> {
    let inner = |i: usize| {
        letters.get(i).is_some_and(|l| l.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')))
    };
    let around = |at: usize| {
        let from = (0..=at).rev().take_while(|&i| inner(i)).last()?;
        let to = (at..letters.len()).take_while(|&i| inner(i)).last()?;
        Some((from, to))
    };
    let Some((from, to)) = around(at) else { return Vec::new() };
    let text = |from: usize, to: usize| letters.get(from..=to).map(<[&str]>::concat).unwrap_or_default();
    let after = around(to + 2).map(|(_, end)| text(from, end));
    let before = from.checked_sub(2).and_then(around).map(|(start, _)| text(start, to));
    after.into_iter().chain(before).chain([text(from, to)]).collect()
}

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
