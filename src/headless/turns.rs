//! Two variants that rounds had in turn, in words: which is better, by how much, and how sure that is (W9).

use super::text::millis;
use crate::domain::numbers;
use crate::recording::{AbSummary, ArmSummary, DifferenceLine};
use std::fmt::Write;

/// What is compared: `budget, 150ms and 250ms in turn`.
pub(super) fn title(ab: &AbSummary) -> String {
    format!("{}, {} and {} in turn", ab.vary, ab.a.value, ab.b.value)
}

/// The heads of the table's columns.
pub(super) const HEADS: [&str; 7] = ["rounds", "answered", "95 %", "partial", "95 %", "p50", "p99"];

/// A row of the table: which variant, and the cells under [`HEADS`].
pub(super) fn rows(ab: &AbSummary) -> [(String, [String; 7]); 2] {
    let row = |letter: &str, arm: &ArmSummary| {
        let cells = [
            arm.rounds.to_string(),
            numbers::share_percent(arm.completeness),
            interval(arm.completeness_interval),
            numbers::share_percent(arm.partial),
            interval(arm.partial_interval),
            millis(Some(arm.p50_ms)),
            millis(Some(arm.p99_ms)),
        ];
        (format!("{letter} {}", arm.value), cells)
    };
    [row("a", &ab.a), row("b", &ab.b)]
}

/// An interval of shares in percent: `88.1–93.5`.
pub(super) fn interval([lo, hi]: [f64; 2]) -> String {
    format!("{:.1}–{:.1}", lo * 100.0, hi * 100.0)
}

/// Which is better, of answered calls and of partial rounds.
pub(super) fn verdicts(ab: &AbSummary) -> [String; 2] {
    let DifferenceLine { value, interval: [lo, hi], clear } = ab.difference.partial;
    // Fewer are better.
    let partial = DifferenceLine { value: -value, interval: [-hi, -lo], clear };
    [
        format!("answered calls: {}", verdict(ab, ab.difference.completeness)),
        format!("partial rounds: {}", verdict(ab, partial)),
    ]
}

/// A difference of which more is better for the second.
fn verdict(ab: &AbSummary, difference: DifferenceLine) -> String {
    let DifferenceLine { value, interval: [lo, hi], clear } = difference;
    let (better, value, lo, hi) =
        if value < 0.0 { (&ab.a.value, -value, -hi, -lo) } else { (&ab.b.value, value, lo, hi) };
    let points = |share: f64| format!("{:.1}", share * 100.0 + 0.0).replace("-0.0", "0.0");
    let by = format!("by {} points", points(value));
    let sure = format!("95 %: {} to {}", points(lo), points(hi));
    if clear {
        format!("{better} is better {by} ({sure})")
    } else if value > 0.0 {
        format!("no clear difference ({better} {by}, {sure})")
    } else {
        format!("no clear difference ({sure})")
    }
}

/// Table and verdicts in plain text of at most 80 columns.
pub(super) fn text(ab: &AbSummary) -> String {
    let mut out = String::new();
    let mut line = |name: &str, cells: [&str; 7]| {
        let [rounds, answered, of_answered, partial, of_partial, p50, p99] = cells;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{name:<11} {rounds:>6}  {answered:>8} {of_answered:>11}  {partial:>7} {of_partial:>11} {p50:>8} {p99:>8}"
        );
    };
    line("", HEADS);
    for (name, cells) in rows(ab) {
        line(&name, cells.each_ref().map(String::as_str));
    }
    for verdict in verdicts(ab) {
        let _ = writeln!(out, "{verdict}");
    }
    format!("{}\n{out}", title(ab))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Differences;
    use std::time::Duration;
    use unicode_width::UnicodeWidthStr;

    fn ab(completeness: DifferenceLine, partial: DifferenceLine) -> AbSummary {
        let arm = |value: &str, completeness, partial| ArmSummary {
            value: value.to_owned(),
            rounds: 60,
            completeness,
            completeness_interval: [completeness - 0.031, 1.0],
            partial,
            partial_interval: [0.0, 1.0],
            p50_ms: Duration::from_millis(150).into(),
            p99_ms: Duration::from_micros(12_345_600).into(),
        };
        AbSummary {
            vary: "budget".to_owned(),
            a: arm("150ms", 0.912, 0.417),
            b: arm("250ms", 0.975, 0.117),
            difference: Differences { completeness, partial },
        }
    }

    #[test]
    fn w9_it_is_said_which_is_better_and_by_how_much() {
        let difference =
            |value, lo, hi| DifferenceLine { value, interval: [lo, hi], clear: lo > 0.0 || hi < 0.0 };
        let text = text(&ab(difference(0.063, 0.031, 0.094), difference(-0.3, -0.45, -0.121)));
        assert!(text.starts_with("budget, 150ms and 250ms in turn\n"), "{text}");
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        assert!(text.contains("\na 150ms         60    91.2 %  88.1–100.0   41.7 %   0.0–100.0"), "{text}");
        assert!(text.ends_with(
            "answered calls: 250ms is better by 6.3 points (95 %: 3.1 to 9.4)\n\
             partial rounds: 250ms is better by 30.0 points (95 %: 12.1 to 45.0)\n"
        ));
        let said = verdicts(&ab(difference(-0.063, -0.094, -0.031), difference(0.001, -0.02, 0.022)));
        assert_eq!(
            said,
            [
                "answered calls: 150ms is better by 6.3 points (95 %: 3.1 to 9.4)",
                "partial rounds: no clear difference (150ms by 0.1 points, 95 %: -2.0 to 2.2)"
            ]
        );
        let none = verdicts(&ab(difference(0.0, -0.02, 0.0), difference(0.0, 0.0, 0.0)));
        assert_eq!(none[0], "answered calls: no clear difference (95 %: -2.0 to 0.0)");
        assert_eq!(none[1], "partial rounds: no clear difference (95 %: 0.0 to 0.0)");
    }
}
