//! Which panel stands where. What goes first when room is short is a table in [`Size::of`] and the fixed costs
//! in [`Regions::of`]; everything that is left belongs to the lanes.

use crate::app::App;
use crate::domain::Mode;
use ratatui::layout::Rect;

/// The least terminal that the screen works in.
pub const LEAST: (u16, u16) = (40, 10);

/// How much is shown, from verdicts and lanes only to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Verdict, lanes, keys.
    Min,
    /// One line each for header, missing, hint and history.
    Small,
    /// The missing table and three strips.
    Medium,
    /// Heads, legend, titles and room between panels.
    Full,
}

/// Rows that everything but the lanes takes in [`Size::Full`].
const FULL_ROWS: u16 = 24;

impl Size {
    fn of(area: Rect, lanes: u16) -> Self {
        // Full costs more rows; it has to leave the lanes the two rows each that it is for.
        let full = FULL_ROWS + (lanes.saturating_mul(2)).clamp(4, 16);
        match (area.width, area.height) {
            (w, h) if w >= WIDE && h >= full => Self::Full,
            (w, h) if w >= 80 && h >= 24 => Self::Medium,
            (w, h) if w >= 60 && h >= 16 => Self::Small,
            _ => Self::Min,
        }
    }
}

/// Most rows that are kept for hedges; what needs more takes it from the lanes' hills, and then scrolls.
const MOST_HEDGE_ROWS: u16 = 12;

/// Rows that the hedges of a round may need.
fn hedge_rows(app: &App) -> u16 {
    let settings = app.round_settings();
    if settings.mode != Mode::Hedge {
        return 0;
    }
    app.endpoints.iter().fold(0, |rows, e| rows.saturating_add(settings.hedge.max_for(e.replicas).into()))
}

/// Width from which lanes have all their columns and a second panel stands beside the missing table.
pub const WIDE: u16 = 110;

/// Rows of the screen. Absent panels are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regions {
    /// How much is shown.
    pub size: Size,
    /// The whole screen.
    pub area: Rect,
    /// Profile, mode and its numbers.
    pub header: Option<u16>,
    /// The instrument's own numbers.
    pub honesty: Option<u16>,
    /// The round and its verdict.
    pub verdict: u16,
    /// Times and column heads.
    pub axis: Option<u16>,
    /// One lane per call.
    pub lanes: Rect,
    /// Rows of a lane: its bar, and hills above it where there are more than one.
    pub lane_rows: u16,
    /// What the phases look like.
    pub legend: Option<u16>,
    /// Missing calls by reason: a table, or one line.
    pub missing: Option<Rect>,
    /// Totals by window.
    pub totals: Option<Rect>,
    /// What to do.
    pub hint: Option<u16>,
    /// The latest rounds.
    pub history: Option<Rect>,
    /// Keys.
    pub footer: u16,
}

/// Hands out rows from the top.
struct Rows {
    area: Rect,
    next: u16,
}

impl Rows {
    fn take(&mut self, rows: u16) -> Rect {
        let y = self.next.min(self.area.bottom());
        let height = rows.min(self.area.bottom() - y);
        self.next = y + height;
        Rect { y, height, ..self.area }
    }

    fn row(&mut self) -> u16 {
        self.take(1).y
    }
}

impl Regions {
    /// The regions of a screen, or `None` if it is too small.
    #[must_use]
    pub fn of(app: &App, area: Rect) -> Option<Self> {
        if area.width < LEAST.0 || area.height < LEAST.1 {
            return None;
        }
        let lanes = u16::try_from(app.endpoints.len()).unwrap_or(u16::MAX);
        let size = Size::of(area, lanes);
        // Rows under their call come and go with hedges; room for them keeps the panels still.
        let hedges = hedge_rows(app).min(MOST_HEDGE_ROWS);
        Some(match size {
            Size::Full => Self::full(area, lanes, hedges),
            Size::Medium => Self::medium(area, lanes, hedges),
            Size::Small => Self::small(area, lanes, hedges),
            Size::Min => Self::min(area, lanes, hedges),
        })
    }

    fn blank(size: Size, area: Rect) -> Self {
        Self {
            size,
            area,
            header: None,
            honesty: None,
            verdict: area.y,
            axis: None,
            lanes: Rect { height: 0, ..area },
            lane_rows: 1,
            legend: None,
            missing: None,
            totals: None,
            hint: None,
            history: None,
            footer: area.bottom().saturating_sub(1),
        }
    }

    fn full(area: Rect, lanes: u16, hedges: u16) -> Self {
        let (lane_rows, wanted) = lane_rows(lanes, hedges, area.height.saturating_sub(FULL_ROWS));
        let spare = area.height.saturating_sub(FULL_ROWS + wanted);
        // Spare rows first set the panels apart, then make the tables longer, then go to the lanes.
        let gap = u16::from(spare >= 2);
        let tables = spare.saturating_sub(2 * gap).min(4);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Full, area);
        regions.header = Some(rows.row());
        regions.honesty = Some(rows.row());
        rows.take(1);
        regions.verdict = rows.row();
        regions.axis = Some(rows.row());
        regions.lane_rows = lane_rows;
        regions.lanes = rows.take(wanted + spare - 2 * gap - tables);
        rows.take(gap);
        regions.legend = Some(rows.row());
        rows.take(1);
        let panels = rows.take(8 + tables);
        let (left, right) = side_by_side(panels);
        regions.missing = Some(left);
        regions.totals = Some(right);
        rows.take(1);
        regions.hint = Some(rows.row());
        rows.take(1 + gap);
        regions.history = Some(rows.take(5));
        regions
    }

    fn medium(area: Rect, lanes: u16, hedges: u16) -> Self {
        let room = area.height.saturating_sub(16);
        let (lane_rows, wanted) = lane_rows(lanes, hedges, room);
        let tables = room.saturating_sub(wanted).min(8);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Medium, area);
        regions.header = Some(rows.row());
        regions.honesty = Some(rows.row());
        regions.verdict = rows.row();
        regions.axis = Some(rows.row());
        regions.lane_rows = lane_rows;
        regions.lanes = rows.take(room - tables);
        rows.take(1);
        let panels = rows.take(6 + tables);
        if area.width >= WIDE {
            let (left, right) = side_by_side(panels);
            (regions.missing, regions.totals) = (Some(left), Some(right));
        } else {
            regions.missing = Some(inset(panels));
        }
        regions.hint = Some(rows.row());
        regions.history = Some(rows.take(3));
        regions
    }

    fn small(area: Rect, lanes: u16, hedges: u16) -> Self {
        let room = area.height.saturating_sub(8);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Small, area);
        regions.header = Some(rows.row());
        regions.verdict = rows.row();
        regions.axis = Some(rows.row());
        (regions.lane_rows, _) = lane_rows(lanes, hedges, room);
        regions.lanes = rows.take(room);
        rows.take(1);
        regions.missing = Some(inset(rows.take(1)));
        regions.hint = Some(rows.row());
        regions.history = Some(rows.take(1));
        regions
    }

    fn min(area: Rect, lanes: u16, hedges: u16) -> Self {
        let room = area.height.saturating_sub(2);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Min, area);
        regions.verdict = rows.row();
        // An axis where no lane pays for it.
        let axis = room > lanes.saturating_add(hedges);
        regions.axis = axis.then(|| rows.row());
        let room = room - u16::from(axis);
        (regions.lane_rows, _) = lane_rows(lanes, hedges, room);
        regions.lanes = rows.take(room);
        regions
    }
}

/// Rows of a lane, 1 to 4, and of all lanes, within the room there is.
fn lane_rows(lanes: u16, hedges: u16, room: u16) -> (u16, u16) {
    let rows = (room.saturating_sub(hedges) / lanes.max(1)).clamp(1, 4);
    (rows, lanes.saturating_mul(rows).saturating_add(hedges).min(room))
}

/// The panel within the screen's margins.
fn inset(panel: Rect) -> Rect {
    Rect { x: panel.x.saturating_add(1), width: panel.width.saturating_sub(2), ..panel }
}

/// The missing table at the left, a panel of 46 columns or a few more beside it, 4 between.
fn side_by_side(panels: Rect) -> (Rect, Rect) {
    let panels = inset(panels);
    let left = panels.width.saturating_sub(50).min(108);
    let x = panels.x + left + 4;
    (Rect { width: left, ..panels }, Rect { x, width: panels.right().saturating_sub(x).min(60), ..panels })
}

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
        let tag_width =
            app.endpoints.iter().map(|e| super::lanes::tag_width(e.replicas, e.required)).max().unwrap_or(0);
        let tags = if tag_width > 0 { tag_width + 1 } else { 0 };
        let (least, most) = match area.width {
            w if w >= 80 => (9, w / 6),
            _ => (8, 10),
        };
        let longest = app.endpoints.iter().map(|e| super::text::width(&e.name)).max().unwrap_or(0);
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
