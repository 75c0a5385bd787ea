//! Whether gates hold, and by how much they do not. Nothing seen is neither: it passes nothing and fails nothing.

use super::{Amount, Bound, Change, Gate, Gates, Metric, Op};
use crate::domain::numbers;
use crate::domain::text::visible;
use crate::recording::{GateLine, SummaryFold};
use crate::whatif::survival::Grade;
use std::fmt::Write;
use std::time::Duration;

/// How all gates together came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All hold, or there are none.
    Passed,
    /// At least one does not hold.
    Failed,
    /// None fails, and at least one had no data.
    NoData,
}

/// A gate and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    /// For programs: times in milliseconds, shares unrounded.
    pub(crate) line: GateLine,
    /// For people: the value, and by how much it is off.
    pub(crate) told: String,
}

/// Judges each gate over the rounds.
pub(crate) fn judge(gates: &Gates, seen: &SummaryFold, baseline: Option<&SummaryFold>) -> Vec<Judged> {
    gates.0.iter().map(|gate| judge_one(gate, seen, baseline)).collect()
}

/// All of them together: one that failed beats one without data.
pub(crate) fn verdict(judged: &[Judged]) -> Verdict {
    let any = |passed| judged.iter().any(|j| j.line.passed == passed);
    match (any(Some(false)), any(None)) {
        (true, _) => Verdict::Failed,
        (false, true) => Verdict::NoData,
        (false, false) => Verdict::Passed,
    }
}

fn judge_one(gate: &Gate, seen: &SummaryFold, baseline: Option<&SummaryFold>) -> Judged {
    let line = |passed, value| GateLine { gate: gate.text.clone(), passed, value };
    let value = match measure(&gate.metric, seen) {
        Ok(value) => value,
        Err(why) => return Judged { line: line(None, None), told: why },
    };
    let (metric, unit) = (&gate.metric, Unit::of(gate));
    let bound = match bound(gate, baseline) {
        Ok(bound) => bound,
        Err(why) => {
            let told = format!("{metric} {}; the baseline has none: {why}", unit.show(value));
            return Judged { line: line(None, Some(value)), told };
        }
    };
    let holds = holds(gate.op, value, bound);
    let mut told = format!("{metric} {}", unit.show(value));
    let shown = unit.show_exactly(bound);
    // Writing to a String cannot fail.
    let _ = match (holds, near(value, bound)) {
        (true, _) => Ok(()),
        (false, true) => write!(told, ", equal to {shown}"),
        (false, false) if value < bound => {
            write!(told, ", {} below {shown}", unit.show_difference(bound - value))
        }
        (false, false) => write!(told, ", {} above {shown}", unit.show_difference(value - bound)),
    };
    if let Bound::Baseline(change) = gate.bound {
        let words = if change == Change::None { "the baseline" } else { "by the baseline" };
        let _ = if holds { write!(told, " ({shown} {words})") } else { write!(told, " ({words})") };
    }
    Judged { line: line(Some(holds), Some(value)), told }
}

fn holds(op: Op, value: f64, bound: f64) -> bool {
    let near = near(value, bound);
    match op {
        Op::AtLeast => value > bound || near,
        Op::AtMost => value < bound || near,
        Op::Equal => near,
        Op::Unequal => !near,
        Op::Above => value > bound && !near,
        Op::Below => value < bound && !near,
    }
}

/// Shares are sums of fractions: what differs by less than a round in a billion is equal.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

fn bound(gate: &Gate, baseline: Option<&SummaryFold>) -> Result<f64, String> {
    let change = match gate.bound {
        Bound::Fixed(amount) => return Ok(amount.value()),
        Bound::Baseline(change) => change,
    };
    let baseline = baseline.ok_or("there is no baseline")?;
    let value = measure(&gate.metric, baseline)?;
    Ok(match change {
        Change::None => value,
        Change::Less(amount) => value - amount.value(),
        Change::More(amount) => value + amount.value(),
        Change::Times(factor) => value * factor,
    })
}

/// The metric's value: shares of 1, counts, milliseconds; or why there is none.
fn measure(metric: &Metric, seen: &SummaryFold) -> Result<f64, String> {
    // The number of rounds is known also where there was none; everything else rests on them.
    if seen.rounds() == 0 && *metric != Metric::Rounds {
        return Err("no round was completed".to_owned());
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of rounds and calls, far below 2^53")]
    let count = |n: u64| Ok(n as f64);
    let find = |name: &str| {
        let id = seen.endpoint(name);
        id.ok_or_else(|| format!("it has no endpoint {}", visible(name)))
    };
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let nothing = || "nothing was seen of it".to_owned();
    match metric {
        Metric::Completeness => seen.completeness().ok_or_else(nothing),
        Metric::Partial => seen.partial_share().ok_or_else(nothing),
        Metric::Failed => seen.failed_share().ok_or_else(nothing),
        Metric::Skipped => count(seen.skipped_starts()),
        Metric::Rounds => count(seen.rounds()),
        Metric::Missing { endpoint, reason } => {
            let endpoint = endpoint.as_deref().map(find).transpose()?;
            count(seen.missing(endpoint, *reason))
        }
        Metric::Ok(name) => seen.ok_share(find(name)?).ok_or_else(nothing),
        Metric::Took(percentile) => seen.took(percentile.share()).map(ms).ok_or_else(nothing),
        Metric::Latency(percentile, name) => {
            let q = percentile.share();
            let curve = seen.curve(find(name)?);
            match curve.row_ok(q) {
                Some(row) if row.grade() != Grade::None => Ok(ms(row.time)),
                Some(row) => {
                    let calls = numbers::counted(row.at_risk, "call was", "calls were");
                    Err(format!("only {calls} pending there, which is too few"))
                }
                None if curve.n() == 0 => Err(nothing()),
                None if curve.unreachable_ok(q) => {
                    let failed = curve.rows().last().map_or(0.0, |row| row.error);
                    Err(format!("out of reach: {} failed", numbers::share_percent(failed)))
                }
                None => {
                    let cut = curve.pending_until().or(curve.horizon()).unwrap_or_default();
                    Err(format!("not reached: too many were cut, the first at {}", numbers::ms(cut)))
                }
            }
        }
        Metric::ExtraLoad => seen.extra_load().ok_or_else(|| "no request was sent".to_owned()),
    }
}

/// How a gate's numbers are told: as its bound is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Fraction,
    Percent,
    Count,
    Time,
}

impl Unit {
    fn of(gate: &Gate) -> Self {
        let amount = match gate.bound {
            Bound::Fixed(amount) | Bound::Baseline(Change::Less(amount) | Change::More(amount)) => {
                Some(amount)
            }
            Bound::Baseline(Change::None | Change::Times(_)) => None,
        };
        match (gate.metric.kind(), amount) {
            (super::metric::Kind::Count, _) => Self::Count,
            (super::metric::Kind::Time, _) => Self::Time,
            (super::metric::Kind::Share { .. }, Some(Amount::Percent(_))) => Self::Percent,
            (super::metric::Kind::Share { .. }, _) => Self::Fraction,
        }
    }

    fn show(self, value: f64) -> String {
        self.with_decimals(value, if self == Self::Percent { 2 } else { 4 })
    }

    /// A bound, with all that was written.
    fn show_exactly(self, bound: f64) -> String {
        self.with_decimals(bound, 9)
    }

    fn with_decimals(self, value: f64, most: usize) -> String {
        match self {
            Self::Fraction | Self::Count => decimals(value, most),
            Self::Percent => format!("{} %", decimals(value * 100.0, most)),
            Self::Time => format!("{} ms", decimals(value, most)),
        }
    }

    fn show_difference(self, difference: f64) -> String {
        match self {
            Self::Percent => format!("{} points", decimals(difference * 100.0, 2)),
            _ => self.show(difference),
        }
    }
}

/// With at most so many decimals; with as many as it takes to tell it from zero where it is not.
fn decimals(value: f64, most: usize) -> String {
    let mut digits = most;
    while digits < 12 && value != 0.0 && value.abs() < 0.5 / 10_f64.powi(i32::try_from(digits).unwrap_or(0)) {
        digits += 1;
    }
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_owned()
}

/// A line for each gate: a sign and a word for how it came out, the gate, the value.
pub(crate) fn table(judged: &[Judged]) -> String {
    let gates: Vec<String> = judged.iter().map(|j| visible(&j.line.gate)).collect();
    let width = gates.iter().map(|gate| gate.chars().count()).max().unwrap_or(0).min(48);
    let mut out = String::new();
    for (gate, Judged { line, told }) in gates.iter().zip(judged) {
        let how = match line.passed {
            Some(true) => "✓ passed ",
            Some(false) => "✗ FAILED ",
            None => "? no data",
        };
        let _ = writeln!(out, "{how}  {gate:<width$}  {told}");
    }
    out
}
