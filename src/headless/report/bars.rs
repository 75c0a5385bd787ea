//! Bars made of characters.

use super::lanes::{Lane, Lanes, Mark};
use crate::domain::Phase;
use std::time::Duration;

/// Which characters there are.
#[derive(Debug)]
pub(super) struct Set {
    /// Left eighths of a cell, 1 to 8; a single one where there are no eighths.
    eighths: &'static [char],
    /// By phase, in the order of [`Phase::ALL`].
    phases: [char; 6],
    /// By mark: ok, error, cut, not needed, a hedge that won.
    marks: [char; 5],
    /// The deadline.
    line: char,
    /// The quorum.
    quorum: char,
    /// The bar of a call that was not needed.
    thin: char,
    /// Before a hedge.
    pub(super) branch: char,
    /// Before what to do, or before the budget that ran.
    pub(super) arrow: &'static str,
}

static UNICODE: Set = Set {
    eighths: &['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
    // There is no dim here: what waits is a line, so that the answer arriving stands out.
    phases: ['·', '░', '▒', '▓', '─', '█'],
    marks: ['●', '✕', '■', '○', '◆'],
    line: '┃',
    quorum: '│',
    thin: '━',
    branch: '└',
    arrow: "→",
};

static ASCII: Set = Set {
    eighths: &['#'],
    phases: ['_', '.', ':', '%', '=', '#'],
    marks: ['o', 'x', ']', '-', '*'],
    line: '|',
    quorum: '!',
    thin: '-',
    branch: '`',
    arrow: "->",
};

impl Set {
    /// The characters to draw with.
    pub(super) const fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }

    /// The glyph of a mark.
    pub(super) fn mark(&self, mark: Mark) -> char {
        self.marks[mark as usize]
    }

    /// A share of 0 to 1 as a bar in exactly so many columns. Never empty where there is something, never full where
    /// something is lacking.
    pub(super) fn bar(&self, share: f64, columns: usize) -> String {
        let steps = self.eighths.len();
        let whole = columns * steps;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a few hundred steps"
        )]
        let filled = (share.clamp(0.0, 1.0) * whole as f64).round() as usize;
        let least = usize::from(share > 0.0);
        let most = if share < 1.0 { whole.saturating_sub(1) } else { whole };
        let filled = filled.max(least).min(most);
        let mut bar: String =
            self.eighths.last().map_or_else(String::new, |full| String::from(*full).repeat(filled / steps));
        let tip = (filled % steps).checked_sub(1).and_then(|tip| self.eighths.get(tip));
        bar.extend(tip);
        let used = filled.div_ceil(steps);
        bar + &" ".repeat(columns - used)
    }

    /// A lane on its axis, in exactly so many columns.
    pub(super) fn lane(&self, lanes: &Lanes, lane: &Lane, columns: usize) -> String {
        let column = |time: Duration| place(time, lanes.axis, columns);
        let mut cells = vec![' '; columns];
        let mut put = |at: usize, c: char| {
            if let Some(cell) = cells.get_mut(at) {
                *cell = c;
            }
        };
        put(column(lanes.deadline), self.line);
        if let Some(quorum) = lanes.quorum {
            put(column(quorum), self.quorum);
        }
        let mut at = lane.start;
        for &(phase, time) in &lane.phases {
            let end = at.saturating_add(time);
            for cell in column(at)..column(end.min(lane.end)) {
                put(cell, self.phase(lane.mark, phase));
            }
            at = end;
        }
        put(column(lane.end), self.mark(lane.mark));
        cells.into_iter().collect()
    }

    fn phase(&self, mark: Mark, phase: Phase) -> char {
        if mark == Mark::NotNeeded { self.thin } else { self.phases[phase as usize] }
    }
}

/// The column in which a time stands.
fn place(time: Duration, axis: Duration, columns: usize) -> usize {
    let last = columns.saturating_sub(1) as u128;
    let at = time.as_nanos().saturating_mul(columns as u128) / axis.as_nanos().max(1);
    usize::try_from(at.min(last)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_bar_is_never_full_or_empty_where_that_is_not_so() {
        let bar = |share| Set::of(false).bar(share, 4);
        assert_eq!([0.0, 1.0, 0.5, 0.375].map(bar), ["    ", "████", "██  ", "█▌  "]);
        assert_eq!([0.000_01, 0.999_99].map(bar), ["▏   ", "███▉"]);
        let ascii = |share| Set::of(true).bar(share, 4);
        assert_eq!([0.0, 0.01, 0.5, 0.99, 1.0].map(ascii), ["    ", "#   ", "##  ", "### ", "####"]);
        assert_eq!(Set::of(false).bar(0.5, 0), "");
    }

    #[test]
    fn a_lane_has_its_width_whatever_its_times() {
        let ms = Duration::from_millis;
        let lane = |end, phases: &[(Phase, u64)], mark| Lane {
            endpoint: 0,
            hedge: false,
            start: ms(0),
            phases: phases.iter().map(|&(phase, time)| (phase, ms(time))).collect(),
            end: ms(end),
            mark,
            result: String::new(),
        };
        let lanes = Lanes { axis: ms(240), deadline: ms(200), quorum: None, rows: Vec::new(), more: 0 };
        let drawn = |lane: &Lane, ascii| Set::of(ascii).lane(&lanes, lane, 24);
        let body = lane(100, &[(Phase::Connect, 20), (Phase::Waiting, 50), (Phase::Body, 30)], Mark::Ok);
        assert_eq!(drawn(&body, false), "▒▒─────███●         ┃   ");
        assert_eq!(drawn(&body, true), "::=====###o         |   ");
        let cut = lane(200, &[(Phase::Waiting, 200)], Mark::Cut);
        assert_eq!(drawn(&cut, false), "────────────────────■   ");
        let far = lane(99_999, &[(Phase::Waiting, 99_999)], Mark::Error);
        assert_eq!(drawn(&far, true).width(), 24);
        assert_eq!(Set::of(true).lane(&lanes, &cut, 0), "");
    }
}
