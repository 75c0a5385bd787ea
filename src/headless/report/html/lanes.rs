//! A round's lanes as SVG: bars by phase, end marks, the deadline through all of them.

use super::svg::{Escaped, line, picture, rect, text, units};
use crate::domain::{EndpointId, Round, numbers};
use crate::headless::report::collect::Collected;
use crate::headless::report::lanes::{Lane, Lanes, Mark, lanes};
use crate::headless::report::words::{self, cut, short};
use std::fmt::Write;
use std::time::Duration;

/// Most calls of a round that are drawn.
const MOST: usize = 24;
/// Where names end, where the axis is, and the whole picture.
const NAMES: f64 = 150.0;
const AXIS: (f64, f64) = (172.0, 700.0);
const WIDTH: f64 = 960.0;
/// Height of a row, and what stands above the first.
const ROW: f64 = 21.0;
const TOP: f64 = 24.0;
/// Characters that a name and a result have room for.
const NAME: usize = 20;
const RESULT: usize = 34;

/// The picture of a round. `id` is unique in its page.
pub(super) fn round(all: &Collected, round: &Round, id: &str) -> String {
    let lanes = lanes(round, MOST);
    let rows = units(lanes.rows.len());
    let bottom = TOP + rows * ROW;
    let x = |time: Duration| {
        AXIS.0 + (AXIS.1 - AXIS.0) * (time.as_secs_f64() / lanes.axis.as_secs_f64().max(1e-9)).min(1.0)
    };
    let mut out = axis(&lanes, bottom, &x);
    for (i, lane) in lanes.rows.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(out, "<g><title>{}</title>", Escaped(&spoken(all, lane)));
        out += &bar(all, lane, TOP + units(i) * ROW, &x);
        out += "</g>";
    }
    let mut height = bottom + 4.0;
    if lanes.more > 0 {
        out += &text("quiet", (AXIS.0, bottom + 14.0), &format!("{} more", lanes.more));
        height += 18.0;
    }
    let title = format!("Round {}: {} of {} answered", round.no, round.answered(), round.calls.len());
    let missing = words::missing(all, &round.calls);
    let about =
        if missing.is_empty() { "Nothing is missing.".to_owned() } else { format!("Missing: {missing}.") };
    picture(id, (WIDTH, height), &title, &about, &out)
}

fn axis(lanes: &Lanes, bottom: f64, x: &impl Fn(Duration) -> f64) -> String {
    let mut out = line("grid", (AXIS.0, TOP - 6.0), (AXIS.0, bottom));
    out += &text("quiet mid", (AXIS.0, 12.0), "0");
    for part in 1..4_u32 {
        let time = lanes.deadline * part / 4;
        out += &line("grid", (x(time), TOP - 6.0), (x(time), bottom));
    }
    let half = lanes.deadline / 2;
    if x(half) - AXIS.0 > 60.0 {
        out += &text("quiet mid", (x(half), 12.0), &numbers::setting_ms(half));
    }
    if let Some(quorum) = lanes.quorum {
        out += &line("quorum", (x(quorum), TOP - 6.0), (x(quorum), bottom));
    }
    out += &line("deadline", (x(lanes.deadline), TOP - 8.0), (x(lanes.deadline), bottom));
    let name = format!("budget {}", numbers::setting_ms(lanes.deadline));
    out + &text("deadline-name mid", (x(lanes.deadline), 12.0), &name)
}

fn bar(all: &Collected, lane: &Lane, top: f64, x: &impl Fn(Duration) -> f64) -> String {
    let middle = top + ROW / 2.0;
    let name =
        if lane.hedge { "└ hedge".to_owned() } else { short(all.name(EndpointId(lane.endpoint)), NAME) };
    let place = (NAMES, middle + 4.0);
    let mut out = text(if lane.hedge { "quiet end" } else { "end" }, place, &name);
    let class = match lane.mark {
        Mark::Ok => "s-ok",
        Mark::Error => "s-error",
        Mark::Cut => "s-cut",
        Mark::NotNeeded => "s-not-needed",
        Mark::Won => "s-won",
    };
    let mut at = lane.start;
    for &(phase, time) in &lane.phases {
        let end = at.saturating_add(time).min(lane.end);
        let (left, right) = (x(at), x(end));
        out += &if lane.mark == Mark::NotNeeded {
            rect(&format!("{class} thin"), (left, middle - 1.5), (right - left, 3.0))
        } else {
            rect(&format!("{class} p-{phase}"), (left, middle - 5.5), (right - left, 11.0))
        };
        at = at.saturating_add(time);
    }
    out += &mark(lane.mark, class, (x(lane.end), middle));
    let result = (AXIS.1 + 22.0, middle + 4.0);
    out + &text("", result, &cut(&lane.result, RESULT))
}

/// The end mark: its shape says as much as its colour.
fn mark(mark: Mark, class: &str, (x, y): (f64, f64)) -> String {
    match mark {
        Mark::Ok => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"),
        Mark::Cut => rect(class, (x - 5.0, y - 5.0), (10.0, 10.0)),
        Mark::NotNeeded => format!("<circle class=\"mark-ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        Mark::Error => {
            format!("<path class=\"mark-cross\" d=\"M{:.1} {:.1}l9 9m0 -9l-9 9\"/>", x - 4.5, y - 4.5)
        }
        Mark::Won => format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}l6 6l-6 6l-6 -6z\"/>", y - 6.0),
    }
}

/// A lane in words, for those who point at it or don't see it.
fn spoken(all: &Collected, lane: &Lane) -> String {
    let name = all.name(EndpointId(lane.endpoint));
    let whose = if lane.hedge { format!("hedge of {name}") } else { name.to_owned() };
    let phases = lane.spelled();
    let phases = if phases.is_empty() { phases } else { format!(" ({phases})") };
    format!("{whose}: {}{phases}", lane.result)
}
