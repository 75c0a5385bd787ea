//! Which part of the trade-off stands where. What goes first when room is short: the plots of quorum and hedge, then
//! their tables, then the table of budgets beside the curve; on narrow screens, and where characters are 7-bit and there
//! is no room for both, the table stands for the curve.

use super::lines;
use crate::app::Kind;
use crate::view::ctx::Ctx;
use crate::view::layout::Size;
use ratatui::layout::Rect;

/// Columns of the table of budgets.
const TABLE: u16 = 38;

/// Columns between two parts.
const GAP: u16 = 3;

/// Width from which the table stands beside the curve.
const BESIDE: u16 = 80;

/// Width from which there is a curve at all.
const CURVE: u16 = 60;

/// Parts and their places. Absent ones are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// How much the header shows, where there is one.
    pub header: Option<Size>,
    /// Rows above the title.
    pub head: u16,
    /// The title.
    pub title: Rect,
    /// What is read at the marker.
    pub reading: Option<Rect>,
    /// The curve, with its labels and its axis.
    pub curve: Option<Rect>,
    /// The table of budgets.
    pub table: Option<Rect>,
    /// How long rounds take.
    pub round: Option<Rect>,
    /// The quorum part.
    pub quorum: Option<Rect>,
    /// The hedge part.
    pub hedge: Option<Rect>,
    /// Two variants.
    pub arms: Option<Rect>,
    /// What follows.
    pub advice: Option<Rect>,
    /// Whether it has a title.
    pub titled: bool,
    /// What a cut call means.
    pub censored: Option<Rect>,
}

/// Rows of a rectangle, taken from both its ends.
struct Rows(Rect);

impl Rows {
    fn top(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        let taken = Rect { height: rows, ..self.0 };
        self.0 = Rect { y: self.0.y + rows, height: self.0.height - rows, ..self.0 };
        taken
    }

    fn bottom(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        self.0.height -= rows;
        Rect { y: self.0.bottom(), height: rows, ..self.0 }
    }
}

impl Parts {
    /// The parts of a screen.
    #[must_use]
    pub fn of(ctx: &Ctx<'_>, area: Rect) -> Self {
        let (w, h) = (area.width, area.height);
        let (header, head) = match (w, h) {
            (80.., 34..) => (Some(Size::Medium), 3),
            (80.., 24..) => (Some(Size::Medium), 2),
            (60.., 16..) => (Some(Size::Small), 1),
            _ => (None, 0),
        };
        let mut rows = Rows(area);
        rows.bottom(1);
        rows.top(head);
        let title = rows.top(1);
        let mut parts = Self {
            header,
            head,
            title,
            reading: None,
            curve: None,
            table: None,
            round: None,
            quorum: None,
            hedge: None,
            arms: None,
            advice: None,
            titled: false,
            censored: None,
        };
        let Some(outlook) = ctx.outlook() else { return parts };
        // A blank row sets parts apart where there are rows to spare.
        let (air, tall) = (u16::from(h >= 34), h >= 24);
        rows.bottom(air);
        if tall && lines::is_censored(outlook) {
            parts.censored = Some(rows.bottom(lines::censored_rows(ctx, outlook, w)));
            rows.bottom(air);
        }
        let most = match h {
            34.. => 8,
            24.. => 4,
            14.. => 2,
            _ => 1,
        };
        let said = lines::advice_rows(ctx, outlook, w, most);
        if said > 0 {
            (parts.advice, parts.titled) = (Some(rows.bottom(said + u16::from(tall))), tall);
            rows.bottom(air);
        }
        if outlook.arms.is_some() && h >= 20 {
            parts.arms = Some(rows.bottom(4));
            rows.bottom(air);
        }
        parts.reading = Some(rows.top(1));
        parts.below(ctx, &mut rows, (w, h));
        parts.main(ctx, rows.0);
        // Where the curve fills its rows, how long rounds take stands with what is read.
        if tall && parts.table.is_some() && parts.curve.is_some() {
            parts.round = parts.table.as_mut().map(|table| {
                table.height = table.height.saturating_sub(1);
                Rect { y: table.bottom(), height: 1, ..*table }
            });
        }
        parts
    }

    /// Quorum and hedge beside each other, where there is room.
    fn below(&mut self, ctx: &Ctx<'_>, rows: &mut Rows, (w, h): (u16, u16)) {
        let Some(outlook) = ctx.outlook() else { return };
        let replay = u16::from(ctx.app.kind() == Kind::Replay);
        let wanted = match (w, h) {
            (110.., 50..) => (rows.0.height / 2).clamp(11, 18),
            (110.., 34..) => 11_u16.min(rows.0.height.saturating_sub(10 + replay)),
            (80.., 24..) => 6_u16.min(rows.0.height.saturating_sub(7)),
            _ => 0,
        };
        if wanted < 4 || outlook.quorum.rows.is_empty() && outlook.hedge.is_none() {
            return;
        }
        let area = rows.bottom(wanted);
        rows.bottom(u16::from(h >= 34));
        let inner = Rect { x: area.x + 1, width: w.saturating_sub(2), ..area };
        let left = (inner.width - GAP.min(inner.width)) / 2;
        match (outlook.quorum.rows.is_empty(), outlook.hedge.is_some()) {
            (false, true) => {
                self.quorum = Some(Rect { width: left, ..inner });
                let x = inner.x + left + GAP + 1;
                self.hedge = Some(Rect { x, width: inner.right().saturating_sub(x), ..inner });
            }
            (false, false) => self.quorum = Some(inner),
            (true, _) => self.hedge = Some(inner),
        }
    }

    /// The curve and its table.
    fn main(&mut self, ctx: &Ctx<'_>, area: Rect) {
        let w = area.width;
        let inner = Rect { x: area.x + 1, width: w.saturating_sub(2), ..area };
        let curve = w >= CURVE && area.height >= 5 && !(ctx.app.options.ascii && w < BESIDE);
        if !curve {
            self.table = Some(inner);
        } else if w >= BESIDE {
            let table = if w >= 160 { TABLE + 8 } else { TABLE };
            // At 80 columns the table gives up what the curve shows as well.
            let table = if w < 100 { TABLE - 8 } else { table };
            self.curve = Some(Rect { width: inner.width.saturating_sub(table + GAP), ..inner });
            self.table = Some(Rect { x: inner.right().saturating_sub(table), width: table, ..inner });
        } else {
            self.curve = Some(inner);
        }
    }
}
