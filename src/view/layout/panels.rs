//! Which panels stand beside each other in the lower half, how wide they are, and how many rows they have use
//! for.

use crate::app::{App, Panel};
use crate::domain::Mode;
use crate::view::panel::{self, CALLS_ROWS};
use ratatui::layout::Rect;

/// Panels on the screen at once, at the most.
const MOST: usize = 4;

/// Columns between two panels.
const GAP: u16 = 4;

/// Columns of a panel that is not the first, at the least.
const LEAST_WIDTH: u16 = 46;

/// Columns below which the missing table does not stand as a second panel.
const MISSING_WIDTH: u16 = 60;

/// Panels and their places, from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Placed([Option<(Panel, Rect)>; MOST]);

impl Placed {
    /// A single panel.
    pub fn one(panel: Panel, area: Rect) -> Self {
        let mut placed = Self::default();
        placed.add(panel, area);
        placed
    }

    fn add(&mut self, panel: Panel, area: Rect) {
        if let Some(free) = self.0.iter_mut().find(|place| place.is_none()) {
            *free = Some((panel, area));
        }
    }

    /// Every panel and its place.
    pub fn iter(&self) -> impl Iterator<Item = (Panel, Rect)> + '_ {
        self.0.iter().flatten().copied()
    }

    /// Those that stand beside each other, without what is below them.
    pub fn columns(&self) -> impl Iterator<Item = (Panel, Rect)> + '_ {
        let top = self.iter().map(|(_, area)| area.y).min();
        self.iter().filter(move |(_, area)| Some(area.y) == top)
    }
}

/// The panels of a screen before it is known how high they are.
#[derive(Debug)]
pub struct Board {
    /// From left to right: panel, width, rows it has use for.
    columns: Vec<(Panel, u16, u16)>,
    /// The column under which all calls by window may stand, where they have none of their own.
    below: Option<usize>,
    /// Rows below a table.
    air: u16,
}

impl Board {
    /// Up to `most` panels in this width, with so many rows kept free below each.
    pub fn of(app: &App, width: u16, most: usize, air: u16) -> Self {
        let widths = widths(width, most);
        // A panel of the second rank that is too narrow for the missing table is too narrow in any column.
        let wide = widths.get(1).is_none_or(|&second| second >= MISSING_WIDTH);
        let columns = order(app, wide).zip(widths).map(|(panel, width)| {
            let rows = panel::rows(app, panel);
            // The meter under the hedges needs no air.
            (panel, width, if panel == Panel::Hedges { rows } else { rows + air })
        });
        let columns: Vec<_> = columns.collect();
        let shortest = columns.iter().enumerate().min_by_key(|(_, c)| c.2).map(|(i, _)| i);
        let below = shortest.filter(|_| columns.iter().all(|c| c.0 != Panel::Calls));
        Self { columns, below, air }
    }

    /// Rows that the panels have use for.
    pub fn wanted(&self) -> u16 {
        let below = self.below.and_then(|i| self.columns.get(i)).map_or(0, |c| c.2 + CALLS_ROWS + self.air);
        self.columns.iter().map(|c| c.2).max().unwrap_or(0).max(below)
    }

    /// The panels in this area.
    pub fn place(&self, area: Rect) -> Placed {
        let mut placed = Placed::default();
        let (mut x, mut under) = (area.x, None);
        for (i, &(panel, width, rows)) in self.columns.iter().enumerate() {
            let column = Rect { x, width, ..area };
            x = x.saturating_add(width + GAP);
            let mut height = area.height;
            if self.below == Some(i) && height >= rows + CALLS_ROWS + self.air {
                under = Some(Rect { y: area.y + rows, height: CALLS_ROWS, ..column });
                height = rows;
            }
            let air = if panel == Panel::Hedges { 0 } else { self.air };
            placed.add(panel, Rect { height: height.saturating_sub(air), ..column });
        }
        if let Some(area) = under {
            placed.add(Panel::Calls, area);
        }
        placed
    }
}

/// Panels in the order in which they are given room: the one asked for, or the mode's own, then what goes with
/// the mode. Where it is not `wide`, the missing table stands only at the left.
fn order(app: &App, wide: bool) -> impl Iterator<Item = Panel> {
    let first = app.panel();
    let rest: &[Panel] = match app.mode() {
        Mode::Hedge if wide => &[Panel::Hedges, Panel::Missing, Panel::WhatIf, Panel::Blame],
        Mode::Hedge => &[Panel::Hedges, Panel::WhatIf, Panel::Blame],
        _ => &[Panel::Missing, Panel::WhatIf, Panel::Blame, Panel::Calls],
    };
    let fits = move |panel: Panel| panel != first && (wide || panel != Panel::Missing);
    std::iter::once(first).chain(rest.iter().copied().filter(move |&panel| fits(panel)))
}

/// Columns of the panels, the first being the widest.
fn widths(width: u16, most: usize) -> Vec<u16> {
    let right = match most {
        0 | 1 => return vec![width],
        2 => (width.saturating_sub(GAP) * 2 / 5).max(LEAST_WIDTH),
        _ => (width.saturating_sub(2 * GAP + 66) / 2).clamp(LEAST_WIDTH, 70),
    };
    let others = most - 1;
    let taken = u16::try_from(others).unwrap_or(u16::MAX).saturating_mul(right + GAP);
    std::iter::once(width.saturating_sub(taken)).chain(std::iter::repeat_n(right, others)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Options;
    use crate::view::tests::scenes;

    fn names(app: &App, width: u16, most: usize) -> Vec<Panel> {
        Board::of(app, width, most, 1).columns.iter().map(|c| c.0).collect()
    }

    #[test]
    fn the_mode_chooses_the_panels_and_their_order() {
        let (hedge, cut) = (scenes::hedge(Options::default()), scenes::cut(Options::default()));
        assert_eq!(names(&cut, 118, 2), [Panel::Missing, Panel::WhatIf]);
        assert_eq!(names(&cut, 198, 3), [Panel::Missing, Panel::WhatIf, Panel::Blame]);
        assert_eq!(names(&hedge, 118, 2), [Panel::Hedges, Panel::WhatIf]);
        assert_eq!(names(&hedge, 198, 3), [Panel::Hedges, Panel::Missing, Panel::WhatIf]);
        assert_eq!(names(&hedge, 78, 1), [Panel::Hedges]);
    }

    #[test]
    fn the_panel_asked_for_comes_first_and_none_comes_twice() {
        let mut app = scenes::hedge(Options::default());
        for _ in Panel::ALL {
            crate::app::update(&mut app, crate::app::Message::Action(crate::app::Action::Panel));
            for (width, most) in [(78, 1), (118, 2), (158, 3), (248, 3)] {
                let panels = names(&app, width, most);
                assert_eq!((panels[0], panels.len()), (app.panel(), most));
                let placed = Board::of(&app, width, most, 1).place(Rect::new(1, 5, width, 40));
                let all: Vec<Panel> = placed.iter().map(|p| p.0).collect();
                assert!(all.iter().enumerate().all(|(i, p)| !all[..i].contains(p)), "{all:?}");
                assert!(placed.iter().all(|(_, a)| a.right() <= 1 + width && a.bottom() <= 45));
            }
        }
    }

    #[test]
    fn two_panels_are_68_and_46_wide_and_three_share_what_is_left() {
        assert_eq!(widths(118, 2), [68, 46]);
        assert_eq!(widths(158, 3), [58, 46, 46]);
        assert_eq!(widths(198, 3), [66, 62, 62]);
        assert_eq!(widths(248, 3), [100, 70, 70]);
        assert_eq!(widths(78, 1), [78]);
    }
}
