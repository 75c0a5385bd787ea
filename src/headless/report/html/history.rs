//! The history as SVG.

use super::svg::{line, picture, rect, text, units};
use crate::domain::numbers;
use crate::headless::report::collect::FilePart;
use crate::headless::report::words;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
/// Most columns of a history.
const COLUMNS: usize = 160;

/// The rounds of a file over time: how many calls were cut and failed, and a green foot where the contract was kept.
pub(super) fn of(file: &FilePart, id: &str) -> String {
    const LEFT: f64 = 56.0;
    const RIGHT: f64 = 940.0;
    const TOP: f64 = 8.0;
    const FOOT: f64 = 78.0;
    let history = file.history.within(COLUMNS);
    let step = (RIGHT - LEFT) / units(history.columns.len().max(1));
    let gap = if step > 4.0 { 1.0 } else { 0.0 };
    let share = |part: u64, whole: u64| {
        #[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
        let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        share
    };
    let mut out = String::new();
    for (share, name) in [(0.0, "0 %"), (0.5, ""), (1.0, "100 %")] {
        let y = FOOT - (FOOT - TOP) * share;
        out += &line("grid", (LEFT, y), (RIGHT, y));
        out += &text("quiet end", (LEFT - 8.0, y + 4.0), name);
    }
    for (i, column) in history.columns.iter().enumerate().filter(|(_, c)| c.rounds > 0) {
        let x = LEFT + units(i) * step;
        let cut = (FOOT - TOP) * share(column.cut, column.calls);
        let error = (FOOT - TOP) * share(column.error, column.calls);
        let kept = share(column.kept, column.rounds);
        let missing = numbers::share_percent(share(column.cut + column.error, column.calls));
        let at = words::clock(history.width.saturating_mul(u32::try_from(i).unwrap_or(u32::MAX)));
        let _ = write!(
            out,
            "<g><title>at {at}: {}, {missing} of the calls missing ({} cut, {} errors)</title>",
            numbers::counted(column.rounds, "round", "rounds"),
            column.cut,
            column.error,
        );
        out += &rect("s-cut", (x, FOOT - cut), (step - gap, cut));
        out += &rect("s-error", (x, FOOT - cut - error), (step - gap, error));
        out += &rect("bar-rest", (x, FOOT + 3.0), (step - gap, 5.0));
        out += &rect("s-ok", (x, FOOT + 3.0), ((step - gap) * kept, 5.0));
        out += "</g>";
    }
    let length = history.length().as_secs_f64().max(1e-9);
    for (i, (at, _)) in file.happenings.iter().enumerate() {
        let x = LEFT + (RIGHT - LEFT) * (at.as_secs_f64() / length).min(1.0);
        let _ = write!(out, "<path class=\"dot\" d=\"M{x:.1} {:.1}l4 7h-8z\"/>", FOOT + 10.0);
        if file.happenings.len() <= 40 {
            out += &text("quiet mid", (x, FOOT + 29.0), &(i + 1).to_string());
        }
    }
    let y = if file.happenings.is_empty() { FOOT + 24.0 } else { FOOT + 44.0 };
    out += &text("quiet", (LEFT, y), "0 s");
    out += &text("quiet end", (RIGHT, y), &words::clock(history.length()));
    let title = format!("History of {}", file.name);
    let about = "Missing calls over time: cut below, errors above; the foot is green where rounds kept their contract. \
                 Numbered marks are notes and changes of settings.";
    picture(id, (WIDTH, y + 8.0), &title, about, &out)
}
