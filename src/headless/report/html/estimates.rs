//! The part of the page about what other budgets, quorums and hedges would give.

use super::curves;
use super::svg::Escaped;
use super::tables::{cell, row, said, table};
use crate::domain::numbers;
use crate::headless::report::collect::Collected;
use crate::headless::report::words::{self, BudgetLine};
use crate::headless::turns;
use std::fmt::Write;

/// The whole part; empty where nothing was asked about.
pub(super) fn what_if(all: &Collected) -> String {
    let mut out = advice(all);
    let mut note =
        "Exact rows are recounts of the rounds that ran, as far as every call was watched.".to_owned();
    if let Some(based_on) = words::based_on(all) {
        let _ = write!(note, " Estimates are made {based_on}.");
    }
    let _ = writeln!(out, "<p class=\"quiet\">{}</p>", Escaped(&note));
    if let Some(curve) = curves::budgets(all) {
        let _ = write!(out, "<figure>\n{curve}</figure>\n");
    }
    out += &budgets(all);
    for line in [words::out_by(all), words::watched(all)].into_iter().flatten() {
        let _ = writeln!(out, "<p>{}</p>", Escaped(&sentence(&line)));
    }
    let quorums = quorums(all);
    if !quorums.is_empty() {
        let curve =
            curves::quorum(all).map(|curve| format!("<figure>\n{curve}</figure>\n")).unwrap_or_default();
        let _ = write!(out, "<h3>Quorum</h3>\n{curve}{quorums}");
    }
    let hedges = hedges(all);
    if !hedges.is_empty() {
        let _ = write!(out, "<h3>Hedges</h3>\n{hedges}");
    }
    out
}

/// The line with a capital letter and a full stop.
fn sentence(line: &str) -> String {
    let mut chars = line.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn advice(all: &Collected) -> String {
    let mut out = String::new();
    for sentence in &all.estimates().outlook.advice {
        let _ = writeln!(out, "<li>{}</li>", Escaped(&sentence.to_string()));
    }
    if out.is_empty() { out } else { format!("<ul class=\"advice\">\n{out}</ul>\n") }
}

/// A row for each budget.
fn budgets(all: &Collected) -> String {
    let share =
        |share: Option<f64>| cell(&share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent));
    let ran = words::ran(all);
    let mut rows = String::new();
    for line in words::budget_lines(all) {
        rows += &match line {
            BudgetLine::Known(point, completeness) => {
                let class = if ran.contains(&point.budget) { "ran" } else { "" };
                let missing = point.missing.iter().map(|(reason, count)| format!("{reason} {count}"));
                let cells = [
                    cell(&point.n.to_string()),
                    cell(&numbers::share_percent(completeness)),
                    cell(&words::interval(point.interval)),
                    share(point.at_least_k),
                    share(point.all),
                    said(words::status(point.status)),
                    said(&missing.collect::<Vec<_>>().join(", ")),
                ];
                row(class, &numbers::setting_ms(point.budget), &cells)
            }
            BudgetLine::Unknown { from, to, bounds, why } => {
                let none = || cell(words::NONE);
                let (n, within) = bounds.map_or_else(
                    || (none(), none()),
                    |known| (cell(&known.n.to_string()), cell(&known.within)),
                );
                let cells = [n, within, none(), none(), none(), said(""), said(&why)];
                row("", &words::stretch(from, to), &cells)
            }
        };
    }
    let enough = format!("at least {}", all.k);
    let heads = [words::budget_head(all), "rounds", "answered", "95 %", &enough, "all", "status", "missing"];
    let caption = match ran.as_slice() {
        [] => "If cut at the budget; rounds that ran did not end there, or not only there.",
        [_] => "By budget; bold is the one that ran.",
        _ => "By budget; bold are those that ran in turn.",
    };
    table(caption, &heads, &rows)
}

/// A row for each k.
fn quorums(all: &Collected) -> String {
    let mut rows = String::new();
    for of in &all.estimates().outlook.quorum.rows {
        let share =
            |share: Option<f64>| cell(&share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent));
        let [p50, p90, p99] = of.times.map(|read| cell(&words::quantile(read)));
        let cells = [
            share(of.by_budget),
            cell(&words::interval(of.interval)),
            share(of.independent),
            p50,
            p90,
            p99,
            said(if of.correlated { "correlated" } else { "" }),
        ];
        rows +=
            &row(if of.k == all.k { "ran" } else { "" }, &format!("{} of {}", of.k, all.optional), &cells);
    }
    let by = format!("by {}", numbers::setting_ms(all.estimates().outlook.budget));
    let caption = "When so many optional calls have answered, over whole rounds, and what independent calls would give. \
                   Where the two differ by more than chance, calls are correlated.";
    table(caption, &["quorum", &by, "95 %", "independent", "p50", "p90", "p99", "what"], &rows)
}

/// A row for each delay.
fn hedges(all: &Collected) -> String {
    let mut rows = String::new();
    for of in words::hedges(all) {
        let cells = [
            cell(&of.extra_load),
            cell(&of.ok_by_budget),
            cell(&of.interval),
            cell(&of.p99),
            said(of.status),
        ];
        rows += &row(if of.best { "ran" } else { "" }, &of.delay, &cells);
    }
    let by = format!("by {}", numbers::setting_ms(all.estimates().outlook.budget));
    let basis = words::hedge_basis(all).map(|basis| sentence(&basis)).unwrap_or_default();
    let caption = format!("Bold is the earliest within the load budget. {basis}");
    table(&caption, &["hedge after", "extra load", &by, "95 %", "p99", "status"], &rows)
}

/// Two variants that rounds had in turn.
pub(super) fn in_turn(all: &Collected) -> String {
    let Some(ab) = &all.summary.ab else { return String::new() };
    let rows = turns::rows(ab).map(|(name, cells)| row("", &name, &cells.map(|text| cell(&text))));
    let heads: Vec<&str> = std::iter::once("variant").chain(turns::HEADS).collect();
    let mut out = table(&sentence(&turns::title(ab)), &heads, &rows.concat());
    for verdict in turns::verdicts(ab) {
        let _ = writeln!(out, "<p>{}</p>", Escaped(&sentence(&verdict)));
    }
    out
}
