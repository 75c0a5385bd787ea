//! The budget curve and the history as SVG.

use super::svg::{Escaped, line, picture, rect, text, units};
use crate::domain::numbers;
use crate::headless::report::collect::{Collected, FilePart};
use crate::headless::report::words;
use crate::whatif::recount::{BudgetRow, Found};
use std::fmt::Write;
use std::time::Duration;

const WIDTH: f64 = 960.0;
/// The curve's own area: left, top, right, bottom.
const PLOT: [f64; 4] = [56.0, 34.0, 940.0, 250.0];
const CURVE_HEIGHT: f64 = 292.0;
/// Most columns of a history.
const COLUMNS: usize = 160;

/// Completeness against the budget, as far as it is known exactly. `None` without rows.
pub(super) fn budgets(all: &Collected, rows: &[BudgetRow]) -> Option<String> {
    let last = rows.last()?.budget.max(Duration::from_micros(1));
    let [left, top, right, bottom] = PLOT;
    let x = |budget: Duration| left + (right - left) * budget.as_secs_f64() / last.as_secs_f64();
    let y = |share: f64| bottom - (bottom - top) * share;
    let mut out = String::new();
    let known = rows.iter().filter(|row| row.found.is_some()).map(|row| row.budget).max();
    if known != Some(last) {
        let from = known.map_or(left, x);
        out += &rect("unseen", (from, top), (right - from, bottom - top));
        out += &text("quiet mid", (f64::midpoint(from, right), f64::midpoint(top, bottom)), "not observed");
    }
    for (share, name) in [(0.0, "0 %"), (0.25, ""), (0.5, "50 %"), (0.75, ""), (1.0, "100 %")] {
        out += &line("grid", (left, y(share)), (right, y(share)));
        out += &text("quiet end", (left - 8.0, y(share) + 4.0), name);
    }
    let steps = [
        ("line dots", (|f: &Found| f.all) as fn(&Found) -> f64),
        ("line dash", |f: &Found| f.at_least_k),
        ("line", |f: &Found| f.completeness),
    ];
    for (class, of) in steps {
        for run in rows.split(|row| row.found.is_none()).filter(|run| !run.is_empty()) {
            out += &step(class, run, of, &x, &y);
        }
    }
    for (row, found) in rows.iter().filter_map(|row| Some((row, row.found.as_ref()?))) {
        let _ = write!(
            out,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}: {} answered</title></circle>",
            x(row.budget),
            y(found.completeness),
            Escaped(&numbers::setting_ms(row.budget)),
            numbers::share_percent(found.completeness),
        );
    }
    let ran = all.settings.budget;
    if ran <= last {
        out += &line("deadline", (x(ran), top - 6.0), (x(ran), bottom));
        let name = format!("budget that ran {}", numbers::setting_ms(ran));
        out += &text("deadline-name mid", (x(ran).clamp(left + 100.0, right - 100.0), top - 12.0), &name);
    }
    out += &line("axis", (left, bottom), (right, bottom));
    for part in 0..=4_u32 {
        let at = last * part / 4;
        let class = if part == 4 { "quiet end" } else { "quiet mid" };
        out +=
            &text(class, (x(at), bottom + 17.0), &if part == 0 { "0".to_owned() } else { numbers::ms(at) });
    }
    out += &legend(all.k, bottom + 36.0);
    let about = "Steps are recounts of the rounds that ran; each row stands in the table below.";
    Some(picture("curve", (WIDTH, CURVE_HEIGHT), "Answered share by budget", about, &out))
}

fn step(
    class: &str,
    run: &[BudgetRow],
    of: fn(&Found) -> f64,
    x: &impl Fn(Duration) -> f64,
    y: &impl Fn(f64) -> f64,
) -> String {
    let mut path = String::new();
    for (row, found) in run.iter().filter_map(|row| Some((row, row.found.as_ref()?))) {
        // What a budget gives holds at least until the next one that was counted.
        let _ = if path.is_empty() {
            write!(path, "M{:.1} {:.1}", x(row.budget), y(of(found)))
        } else {
            write!(path, "H{:.1}V{:.1}", x(row.budget), y(of(found)))
        };
    }
    format!("<path class=\"{class}\" d=\"{path}\"/>")
}

fn legend(k: usize, y: f64) -> String {
    let mut out = String::new();
    let mut x = PLOT[0];
    for (class, words) in [
        ("line", "answered share of the calls".to_owned()),
        ("line dash", format!("rounds with at least {k} answers")),
        ("line dots", "rounds with all answers".to_owned()),
    ] {
        out += &line(class, (x, y - 4.0), (x + 34.0, y - 4.0));
        out += &text("quiet", (x + 42.0, y), &words);
        x += 300.0;
    }
    out
}

/// The rounds of a file over time: how many calls were cut and failed, and a green foot where the contract was kept.
pub(super) fn history(file: &FilePart, id: &str) -> String {
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
