//! Which panel stands where. What goes first when room is short is a table in [`Size::of`] and the fixed costs
//! in [`Regions::of`]; what is left is dealt out by [`Share::of`]. Only the mode, the panel asked for, the
//! endpoints and the terminal's size count here: while rounds go by nothing moves.

mod columns;
mod panels;

pub use columns::Columns;
pub use panels::Placed;

use super::caption::ROWS;
use crate::app::{App, Kind, Panel};
use crate::domain::Mode;
use panels::Board;
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
    /// One panel, or two on a wide screen, and three strips.
    Medium,
    /// Heads, legend, titles and room between panels.
    Full,
}

/// Rows of [`Size::Full`] that are neither lanes nor panels.
const FULL_ROWS: u16 = 15;

/// Rows of panels in [`Size::Full`], at the least; the last one sets them apart from the hint.
const FULL_PANELS: u16 = 9;

/// Rows of [`Size::Medium`] that are neither lanes nor panels.
const MEDIUM_ROWS: u16 = 10;

/// Rows of panels in [`Size::Medium`], at the least.
const MEDIUM_PANELS: u16 = 6;

/// Width and height from which three panels stand beside each other and hills are two rows high.
const TALL: (u16, u16) = (160, 50);

impl Size {
    fn of(area: Rect, lanes: u16) -> Self {
        // Full costs more rows; it has to leave the lanes the two rows each that it is for.
        let full = FULL_ROWS + FULL_PANELS + (lanes.saturating_mul(2)).clamp(4, 16);
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

/// Rows that hedges of a round take: likely, and at most. Rows under their call come and go; room for them keeps
/// the panels still. In a race all are sent always; else few are late at once, as the load budget has it.
fn hedge_rows(app: &App, lanes: u16) -> (u16, u16) {
    let settings = app.round_settings();
    if app.mode() != Mode::Hedge {
        return (0, 0);
    }
    let most =
        app.endpoints.iter().fold(0_u16, |n, e| n.saturating_add(settings.hedge.max_for(e.replicas).into()));
    let most = most.min(MOST_HEDGE_ROWS);
    // With a hedge for every second call allowed, all may well come together.
    let many = settings.hedge.delay.is_race() || settings.hedge.load_budget >= 0.5;
    (if many { most } else { most.min(lanes.div_ceil(2)) }, most)
}

/// Width from which lanes have all their columns and a second panel stands beside the first.
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
    /// The panels of the lower half, from left to right.
    pub panels: Placed,
    /// What to do.
    pub hint: Option<u16>,
    /// The latest rounds.
    pub history: Option<Rect>,
    /// How far a recording has come.
    pub scrubber: Option<u16>,
    /// What a chapter of the story says.
    pub caption: Option<Rect>,
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

/// Lanes of a screen and what they want.
#[derive(Debug, Clone, Copy)]
struct Lanes {
    count: u16,
    /// Rows that hedges are likely to take besides.
    likely: u16,
    /// Rows that they take at most.
    hedges: u16,
}

impl Lanes {
    /// Rows of a lane, 1 to `most`, that leave so many to the hedges.
    fn rows(self, room: u16, hedges: u16, most: u16) -> u16 {
        (room.saturating_sub(hedges) / self.count.max(1)).clamp(1, most)
    }

    /// Rows of all lanes with so many each and with hedges, within the room there is.
    fn height(self, room: u16, rows: u16, hedges: u16) -> u16 {
        self.count.saturating_mul(rows).saturating_add(hedges).min(room)
    }
}

/// Rows of a lane at the most, on a terminal that has nothing else to do with them; all but one are its hill's.
const MOST_LANE_ROWS: u16 = 8;

/// Rows dealt out between lanes and panels.
#[derive(Debug, Clone, Copy)]
struct Share {
    lane_rows: u16,
    lanes: u16,
    panels: u16,
    spare: u16,
}

impl Share {
    /// First comes a hill for each bar (two rows of it on a tall screen) beside the least panels, or a third of
    /// the room, then panels as long as what they show,
    /// then room for all hedges, then higher hills.
    fn of(room: u16, lanes: Lanes, least: u16, wanted: u16, tall: bool) -> Self {
        let wanted = wanted.max(least);
        let least = least.max(wanted.min(room / 3));
        let (beside, hills) = (room.saturating_sub(least), if tall { 3 } else { 2 });
        let first = lanes.height(beside, lanes.rows(beside, lanes.likely, hills), lanes.likely);
        let panels = room.saturating_sub(first).min(wanted);
        let rest = room - panels;
        let lane_rows =
            lanes.rows(rest, lanes.likely, hills).max(lanes.rows(rest, lanes.hedges, MOST_LANE_ROWS));
        let lanes = lanes.height(rest, lane_rows, lanes.hedges);
        Self { lane_rows, lanes, panels, spare: rest - lanes }
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
        let (likely, hedges) = hedge_rows(app, lanes);
        let lanes = Lanes { count: lanes, likely, hedges };
        // A recording has one row more at the bottom, for which it gives up one that is blank.
        let replay = app.kind() == Kind::Replay;
        let within = Rect { height: area.height - u16::from(replay), ..area };
        let regions = match size {
            Size::Full => Self::full(app, within, lanes),
            Size::Medium => Self::medium(app, within, lanes),
            Size::Small => Self::small(within, lanes, (u16::from(!replay), told(app))),
            Size::Min => Self::min(within, lanes, told(app)),
        };
        let footer = area.bottom() - 1;
        Some(Self { area, footer, scrubber: replay.then(|| footer - 1), ..regions })
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
            panels: Placed::default(),
            hint: None,
            history: None,
            caption: None,
            scrubber: None,
            footer: area.bottom().saturating_sub(1),
        }
    }

    fn full(app: &App, area: Rect, lanes: Lanes) -> Self {
        let tall = area.width >= TALL.0 && area.height >= TALL.1;
        let board = Board::of(app, inset(area).width, if tall { 3 } else { 2 }, 1);
        let air = u16::from(app.kind() == Kind::Live);
        let room = area.height.saturating_sub(FULL_ROWS - 1 + air);
        let share = Share::of(room, lanes, FULL_PANELS, board.wanted(), tall);
        // Spare rows set the parts of the screen apart; what is more lengthens the panels.
        let gap = |nth: u16| u16::from(share.spare > nth);
        let (before_history, before_legend, before_footer, after_legend) = (gap(0), gap(1), gap(2), gap(3));
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Full, area);
        regions.header = Some(rows.row());
        regions.honesty = Some(rows.row());
        rows.take(air);
        regions.verdict = rows.row();
        regions.axis = Some(rows.row());
        regions.lane_rows = share.lane_rows;
        regions.lanes = rows.take(share.lanes);
        rows.take(before_legend);
        regions.legend = Some(rows.row());
        rows.take(1 + after_legend);
        regions.panels = board.place(inset(rows.take(share.panels + share.spare.saturating_sub(4))));
        regions.hint = Some(rows.row());
        rows.take(1 + before_history);
        regions.history = Some(rows.take(5 - told(app)));
        regions.caption = Some(rows.take(told(app)));
        rows.take(before_footer);
        regions
    }

    fn medium(app: &App, area: Rect, lanes: Lanes) -> Self {
        let board = Board::of(app, inset(area).width, if area.width >= WIDE { 2 } else { 1 }, 0);
        let air = u16::from(app.kind() == Kind::Live);
        let room = area.height.saturating_sub(MEDIUM_ROWS - 1 + air);
        let share = Share::of(room, lanes, MEDIUM_PANELS, board.wanted(), false);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Medium, area);
        regions.header = Some(rows.row());
        regions.honesty = Some(rows.row());
        regions.verdict = rows.row();
        regions.axis = Some(rows.row());
        regions.lane_rows = share.lane_rows;
        regions.lanes = rows.take(share.lanes);
        rows.take(air);
        regions.panels = board.place(inset(rows.take(share.panels + share.spare)));
        regions.hint = Some(rows.row());
        regions.history = Some(rows.take(3 - told(app)));
        regions.caption = Some(rows.take(told(app)));
        regions
    }

    fn small(area: Rect, lanes: Lanes, (air, told): (u16, u16)) -> Self {
        let room = area.height.saturating_sub(7 + air);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Small, area);
        regions.header = Some(rows.row());
        regions.verdict = rows.row();
        regions.axis = Some(rows.row());
        regions.lane_rows = lanes.rows(room, lanes.hedges, MOST_LANE_ROWS);
        regions.lanes = rows.take(room);
        rows.take(air);
        regions.panels = Placed::one(Panel::Missing, inset(rows.take(1)));
        if told == 0 {
            regions.hint = Some(rows.row());
            regions.history = Some(rows.take(1));
        }
        regions.caption = Some(rows.take(told));
        regions
    }

    fn min(area: Rect, lanes: Lanes, told: u16) -> Self {
        let room = area.height.saturating_sub(2 + told);
        let mut rows = Rows { area, next: area.y };
        let mut regions = Self::blank(Size::Min, area);
        regions.verdict = rows.row();
        // An axis where no lane pays for it.
        let axis = room > lanes.count.saturating_add(lanes.hedges);
        regions.axis = axis.then(|| rows.row());
        let room = room - u16::from(axis);
        regions.lane_rows = lanes.rows(room, lanes.hedges, MOST_LANE_ROWS);
        regions.lanes = rows.take(room);
        regions.caption = Some(rows.take(told));
        regions
    }
}

/// Rows of the caption of a chapter, where a story is told.
fn told(app: &App) -> u16 {
    if app.chapter().is_some() { ROWS } else { 0 }
}

/// The panel within the screen's margins.
fn inset(panel: Rect) -> Rect {
    Rect { x: panel.x.saturating_add(1), width: panel.width.saturating_sub(2), ..panel }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a lane, of all lanes, of the panels.
    fn share(room: u16, (lanes, likely, hedges): (u16, u16, u16), wanted: u16, tall: bool) -> [u16; 3] {
        let share = Share::of(room, Lanes { count: lanes, likely, hedges }, FULL_PANELS, wanted, tall);
        assert_eq!(share.lanes + share.panels + share.spare, room);
        [share.lane_rows, share.lanes, share.panels]
    }

    #[test]
    fn hills_come_before_long_tables_and_higher_hills_after_them() {
        assert_eq!(share(25, (8, 0, 0), 12, false), [2, 16, 9]);
        assert_eq!(share(35, (8, 0, 0), 13, true), [3, 24, 11]);
        assert_eq!(share(45, (8, 0, 0), 17, true), [3, 24, 17]);
        assert_eq!(share(45, (8, 0, 0), 12, true), [4, 32, 12]);
    }

    #[test]
    fn hedges_have_room_before_hills_grow() {
        assert_eq!(share(25, (5, 3, 5), 11, false), [2, 14, 11]);
        assert_eq!(share(25, (4, 4, 4), 10, false), [2, 12, 10]);
        assert_eq!(share(25, (8, 4, 8), 14, false), [1, 12, 13]);
    }

    #[test]
    fn lanes_that_scroll_leave_a_third_to_the_panels() {
        assert_eq!(share(45, (500, 0, 0), 504, true), [1, 30, 15]);
        assert_eq!(share(0, (0, 0, 0), 5, false), [1, 0, 0]);
    }
}
