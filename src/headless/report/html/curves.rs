//! Curves over time as SVG: what other budgets would give, and when the k-th answer is there.

use super::svg::{Escaped, line, picture, rect, text};
use crate::domain::numbers;
use crate::headless::report::collect::Collected;
use crate::headless::report::words;
use crate::whatif::budget::BudgetPoint;
use crate::whatif::outlook::Status;
use crate::whatif::quorum::QuorumPoint;
use crate::whatif::survival::Grade;
use std::fmt::Write;
use std::time::Duration;

const WIDTH: f64 = 960.0;
/// The curve's own area: left, top, right, bottom.
const PLOT: [f64; 4] = [56.0, 34.0, 940.0, 250.0];
const HEIGHT: f64 = 292.0;

/// A share of a budget's row, where it is known.
type Share = fn(&BudgetPoint) -> Option<f64>;

/// Shares over time.
struct Plot {
    last: Duration,
}

impl Plot {
    fn x(&self, time: Duration) -> f64 {
        let [left, _, right, _] = PLOT;
        let part = time.as_secs_f64() / self.last.max(Duration::from_micros(1)).as_secs_f64();
        left + (right - left) * part.min(1.0)
    }

    fn y(share: f64) -> f64 {
        let [_, top, _, bottom] = PLOT;
        bottom - (bottom - top) * share.clamp(0.0, 1.0)
    }

    /// Grid, axes and their names, and these budgets.
    fn frame(&self, budgets: &[Duration]) -> String {
        let [left, top, right, bottom] = PLOT;
        let mut out = String::new();
        for (share, name) in [(0.0, "0 %"), (0.25, ""), (0.5, "50 %"), (0.75, ""), (1.0, "100 %")] {
            out += &line("grid", (left, Self::y(share)), (right, Self::y(share)));
            out += &text("quiet end", (left - 8.0, Self::y(share) + 4.0), name);
        }
        for (i, &budget) in budgets.iter().enumerate().filter(|(_, budget)| **budget <= self.last) {
            let x = self.x(budget);
            // The names of two stand on either side, so that they can be as close as they like.
            let (class, beside) = match (budgets.len(), i) {
                (0 | 1, _) => ("deadline-name mid", 0.0),
                (_, 0) => ("deadline-name end", -4.0),
                _ => ("deadline-name", 4.0),
            };
            out += &line("deadline", (x, top - 6.0), (x, bottom));
            let name = format!("budget {}", numbers::setting_ms(budget));
            out += &text(class, (x.clamp(left + 100.0, right - 100.0) + beside, top - 12.0), &name);
        }
        out += &line("axis", (left, bottom), (right, bottom));
        for part in 0..=4_u32 {
            let at = self.last.saturating_mul(part) / 4;
            let class = if part == 4 { "quiet end" } else { "quiet mid" };
            let name = if part == 0 { "0".to_owned() } else { numbers::ms(at) };
            out += &text(class, (self.x(at), bottom + 17.0), &name);
        }
        out
    }

    /// A share that holds from each time until the next.
    fn steps(&self, class: &str, points: impl IntoIterator<Item = (Duration, f64)>) -> String {
        let path = self.path(points);
        if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"M{path}\"/>") }
    }

    fn path(&self, points: impl IntoIterator<Item = (Duration, f64)>) -> String {
        let mut path = String::new();
        for (time, share) in points {
            let (x, y) = (self.x(time), Self::y(share));
            // Writing to a String cannot fail.
            let _ =
                if path.is_empty() { write!(path, "{x:.1} {y:.1}") } else { write!(path, "H{x:.1}V{y:.1}") };
        }
        path
    }

    /// The area between the two shares of each time.
    fn area(&self, class: &str, points: &[(Duration, (f64, f64))]) -> String {
        let upper = self.path(points.iter().map(|&(time, (_, hi))| (time, hi)));
        // Back along the lower edge: there a share holds until the time before.
        let mut lower = String::new();
        for &(time, (lo, _)) in points.iter().rev() {
            let (x, y) = (self.x(time), Self::y(lo));
            let _ = if lower.is_empty() { write!(lower, "V{y:.1}") } else { write!(lower, "V{y:.1}H{x:.1}") };
        }
        if points.is_empty() { upper } else { format!("<path class=\"{class}\" d=\"M{upper}{lower}Z\"/>") }
    }
}

fn legend(entries: &[(&str, String)]) -> String {
    let y = PLOT[3] + 36.0;
    let mut out = String::new();
    let mut x = PLOT[0];
    for (class, words) in entries {
        out += &line(class, (x, y - 4.0), (x + 30.0, y - 4.0));
        out += &text("quiet", (x + 36.0, y), words);
        x += 222.0;
    }
    out
}

/// Completeness against the budget, with how sure it is. `None` without rounds.
pub(super) fn budgets(all: &Collected) -> Option<String> {
    let estimates = all.estimates();
    let asked = estimates.budgets.iter().map(|budget| &budget.point);
    let mut points: Vec<&BudgetPoint> = asked.clone().chain(&estimates.outlook.budgets.points).collect();
    points.sort_by_key(|point| point.budget);
    points.dedup_by_key(|point| point.budget);
    let plot = Plot { last: points.last()?.budget };
    if all.summary.rounds == 0 {
        return None;
    }
    let mut out = unknown(&plot, &points) + &plot.frame(&words::ran(all));
    for run in points.split(|point| point.interval.is_none()) {
        let band: Vec<_> = run.iter().filter_map(|p| Some((p.budget, p.interval?))).collect();
        out += &plot.area("band", &band);
    }
    let shares: [(&str, Share); 2] = [("line dots", |p| p.all), ("line dash", |p| p.at_least_k)];
    for (class, of) in shares {
        for run in points.split(|point| of(point).is_none()) {
            out += &plot.steps(class, run.iter().filter_map(|p| Some((p.budget, of(p)?))));
        }
    }
    for run in points.split(|point| point.completeness.is_none()) {
        out += &plot.steps("line", run.iter().filter_map(|p| Some((p.budget, p.completeness?))));
        // From the last budget that is exact on.
        let from = run.iter().position(|p| p.status != Status::Exact).map(|first| first.saturating_sub(1));
        let longer = from.and_then(|from| run.get(from..)).unwrap_or_default();
        out += &plot.steps("line estimate", longer.iter().filter_map(|p| Some((p.budget, p.completeness?))));
    }
    for (point, share) in asked.filter_map(|p| Some((p, p.completeness?))) {
        let _ = write!(
            out,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}: {} answered ({}, {})</title></circle>",
            plot.x(point.budget),
            Plot::y(share),
            Escaped(&numbers::setting_ms(point.budget)),
            numbers::share_percent(share),
            words::interval(point.interval),
            point.status.as_str(),
        );
    }
    out += &legend(&[
        ("line", "answered calls, 95 % band".to_owned()),
        ("line estimate", "the same, estimated".to_owned()),
        ("line dash", format!("at least {} answers", all.k)),
        ("line dots", "all answers".to_owned()),
    ]);
    let about = "Steps are recounts of the rounds that ran, and beyond them estimates; the rows are in the table below.";
    let title = if words::ran(all).is_empty() {
        "Answered share if cut at the budget"
    } else {
        "Answered share by budget"
    };
    Some(picture("curve", (WIDTH, HEIGHT), title, about, &out))
}

/// Budgets of which nothing but bounds is known.
fn unknown(plot: &Plot, points: &[&BudgetPoint]) -> String {
    let mut out = String::new();
    let known = points.iter().rposition(|point| point.completeness.is_some());
    // From the last that is known on.
    let beyond = points.get(known.map_or(0, |last| last + 1)..).unwrap_or_default();
    if !beyond.is_empty() {
        let [left, top, right, bottom] = PLOT;
        let from = known.and_then(|last| points.get(last)).map_or(left, |point| plot.x(point.budget));
        out += &rect("unseen", (from, top), (right - from, bottom - top));
        out += &text("quiet mid", (f64::midpoint(from, right), bottom - 12.0), "not observed");
    }
    for run in points.split(|point| point.bounds.is_none()) {
        let bounds: Vec<_> = run.iter().filter_map(|p| Some((p.budget, p.bounds?))).collect();
        out += &plot.area("bounds", &bounds);
    }
    out
}

/// When the answers that are enough were there, as far as enough rounds were seen. `None` without rounds.
pub(super) fn quorum(all: &Collected) -> Option<String> {
    let seen = |point: &&QuorumPoint| Grade::of(point.at_risk) != Grade::None;
    let points: Vec<&QuorumPoint> = all.estimates().quorum()?.curve.iter().take_while(seen).collect();
    let budget = all.estimates().outlook.budget;
    let plot = Plot { last: points.last()?.time.max(budget) };
    let steps = |class: &str, of: fn(&QuorumPoint) -> f64| {
        let start = (Duration::ZERO, 0.0);
        plot.steps(class, std::iter::once(start).chain(points.iter().map(|point| (point.time, of(point)))))
    };
    let mut out = plot.frame(&[budget]);
    out += &steps("line dots", |point| point.impossible);
    out += &steps("line dash", |point| point.independent);
    out += &steps("line", |point| point.met);
    out += &legend(&[
        ("line", format!("{} answers are there", all.k)),
        ("line dash", "if calls were independent".to_owned()),
        ("line dots", "out of reach, too many errors".to_owned()),
    ]);
    let title = format!("Share of the rounds with {} of {} answers", all.k, all.optional);
    let about = "Observed over whole rounds, beside what independent calls would give.";
    Some(picture("quorum", (WIDTH, HEIGHT), &title, about, &out))
}
