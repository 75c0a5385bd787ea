//! The panels of the lower half: all that the screen has of each of them, but its widget.

use super::ctx::Ctx;
use super::hint::Words;
use super::layout::Size;
use super::{blame, hedges, missing, totals, whatif};
use crate::app::{App, Panel};
use crate::domain::Mode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Rows of all calls by window: title, heads and six rows.
pub const CALLS_ROWS: u16 = 8;

/// Rows of the curve of budgets: title, plot and axis, so that the grid has three parts.
const WHATIF_ROWS: u16 = 9;

/// Draws it.
pub fn draw(ctx: &Ctx<'_>, panel: Panel, (size, name_width): (Size, u16), area: Rect, buf: &mut Buffer) {
    match panel {
        Panel::Missing => missing::Missing { ctx, size, name_width }.render(area, buf),
        Panel::Hedges => hedges::Hedges { ctx, name_width }.render(area, buf),
        Panel::WhatIf => whatif::WhatIfPanel { ctx }.render(area, buf),
        Panel::Calls => totals::TotalsPanel { ctx }.render(area, buf),
        Panel::Blame => blame::BlamePanel { ctx }.render(area, buf),
    }
}

/// Rows that it has use for, its title among them.
pub fn rows(app: &App, panel: Panel) -> u16 {
    let endpoints = u16::try_from(app.endpoints.len()).unwrap_or(u16::MAX);
    let more = match panel {
        // Heads and the total; in quorum rounds also where the other calls went.
        Panel::Missing if app.mode() == Mode::Quorum => 5,
        Panel::Missing => 3,
        // Heads, the total, and below a free row the load in two.
        Panel::Hedges => 6,
        // Heads, and below a free row all as they are.
        Panel::Blame => 4,
        Panel::WhatIf => return WHATIF_ROWS,
        Panel::Calls => return CALLS_ROWS,
    };
    endpoints.saturating_add(more).min(1000)
}

/// What it advises, to stand under it.
pub fn advice(ctx: &Ctx<'_>, panel: Panel) -> Option<Words> {
    match panel {
        Panel::Hedges => hedges::advice(ctx),
        Panel::WhatIf => whatif::advice(ctx),
        Panel::Blame => blame::advice(ctx),
        Panel::Missing | Panel::Calls => None,
    }
}
