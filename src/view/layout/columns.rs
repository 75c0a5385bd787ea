//! Where the columns of the lanes are, for a screen's width and the names it has to show.

use super::WIDE;
use crate::app::App;
use ratatui::layout::Rect;

/// Columns of the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// First column of the names.
    pub name: u16,
    /// Columns of a name.
    pub name_width: u16,
    /// Columns of the tag behind it (replica, required), 0 where no lane has one.
    pub tag_width: u16,
    /// First column of the time axis.
    pub axis: u16,
    /// Columns of the axis.
    pub axis_width: u16,
    /// The column after the time.
    pub time_end: u16,
    /// First column and width of the outcome, where there is room.
    pub outcome: Option<(u16, u16)>,
    /// First column of the connection, where there is room.
    pub conn: Option<u16>,
    /// The columns after the two quantiles, where there is room.
    pub quantiles: Option<(u16, u16)>,
}

impl Columns {
    /// The columns of a screen this wide.
    #[must_use]
    pub fn of(app: &App, area: Rect) -> Self {
        let tag_width = app
            .endpoints
            .iter()
            .map(|e| super::super::lanes::tag_width(e.replicas, e.required))
            .max()
            .unwrap_or(0);
        let tags = if tag_width > 0 { tag_width + 1 } else { 0 };
        let (least, most) = match area.width {
            w if w >= 80 => (9, w / 6),
            _ => (8, 10),
        };
        let longest = app.endpoints.iter().map(|e| super::super::text::width(&e.name)).max().unwrap_or(0);
        let block = longest.saturating_add(tags).clamp(least, most.max(least));
        let name = area.x + 4;
        let axis = name + block + 1;
        let mut columns = Self {
            name,
            name_width: block.saturating_sub(tags),
            tag_width,
            axis,
            axis_width: 0,
            time_end: 0,
            outcome: None,
            conn: None,
            quantiles: None,
        };
        let right = area.right();
        match area.width {
            w if w >= WIDE => {
                columns.quantiles = Some((right.saturating_sub(8), right.saturating_sub(2)));
                columns.conn = Some(right.saturating_sub(19));
                columns.outcome = Some((right.saturating_sub(33), 13));
                columns.time_end = right.saturating_sub(35);
            }
            w if w >= 80 => {
                columns.outcome = Some((right.saturating_sub(19), 18));
                columns.time_end = right.saturating_sub(21);
            }
            w if w >= 60 => {
                columns.outcome = Some((right.saturating_sub(13), 12));
                columns.time_end = right.saturating_sub(15);
            }
            _ => columns.time_end = right.saturating_sub(3),
        }
        let gap = u16::from(area.width >= 80);
        columns.axis_width = columns.time_end.saturating_sub(8 + gap).saturating_sub(axis);
        columns
    }

    /// The column after the axis.
    #[must_use]
    pub const fn axis_end(&self) -> u16 {
        self.axis.saturating_add(self.axis_width)
    }
}
