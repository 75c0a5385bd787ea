//! The tables of the page.

use super::svg::Escaped;
use crate::domain::{EndpointId, numbers};
use crate::headless::report::collect::{Collected, FilePart};
use crate::headless::report::missing::{self, Missing, worst_endpoint};
use crate::headless::report::words::{self, millis, percent};
use crate::headless::text::ok_share;
use crate::profile::durations;
use crate::whatif::quantile::Quantile;
use std::fmt::Write;

/// Rows that fit on a page of paper.
const PAGE: usize = 24;

/// A table with a caption, column heads and rows of ready cells.
pub(super) fn table(caption: &str, heads: &[&str], rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut cells = String::new();
    for head in heads {
        let class = if is_words(head) { " class=\"words\"" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(cells, "<th scope=\"col\"{class}>{}</th>", Escaped(head));
    }
    // On paper a table that fits on a page stays whole.
    let short = if rows.matches("<tr").count() <= PAGE { " short" } else { "" };
    format!(
        "<div class=\"scroll{short}\">\n<table>\n<caption>{}</caption>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{rows}\
         </tbody>\n</table>\n</div>\n",
        Escaped(caption)
    )
}

/// Columns of words stand to the left.
fn is_words(head: &str) -> bool {
    matches!(
        head,
        "missing"
            | "status"
            | "worst endpoint"
            | "started"
            | "kind"
            | "what"
            | "profile"
            | "settings"
            | "file"
    )
}

/// A number, or what stands in its place.
pub(super) fn cell(text: &str) -> String {
    let class = if matches!(text, "0" | "–" | "·") { " class=\"none\"" } else { "" };
    format!("<td{class}>{}</td>", Escaped(text))
}

/// Words.
pub(super) fn said(text: &str) -> String {
    format!("<td class=\"words\">{}</td>", Escaped(text))
}

/// A row with its name and ready cells.
pub(super) fn row(class: &str, name: &str, cells: &[String]) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<tr{class}><th scope=\"row\">{}</th>{}</tr>\n", Escaped(name), cells.concat())
}

fn bar(share: f64) -> String {
    let width = (share * 100.0).clamp(0.0, 100.0);
    format!(
        "<td class=\"bar\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"bar-rest\" width=\"100\" height=\"8\"/><rect class=\"bar-ok\" width=\"{width:.2}\" height=\"8\"/>\
         </svg></td>"
    )
}

/// What each endpoint did.
pub(super) fn endpoints(all: &Collected) -> String {
    let mut rows = String::new();
    for (i, own) in all.summary.endpoints.iter().enumerate() {
        let curve = all.fold.curve(EndpointId(i));
        let at = |q| cell(&words::quantile(Quantile::of(&curve, q)));
        let share = ok_share(own);
        let held = all.held.get(i).copied().unwrap_or_default();
        let required = all.session.endpoints.get(i).is_some_and(|e| e.required);
        let name = if required { format!("{} (required)", own.endpoint) } else { own.endpoint.clone() };
        let cells = [
            bar(share.unwrap_or(0.0)),
            cell(&share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent)),
            at(0.5),
            at(0.95),
            at(0.99),
            cell(&held.last.to_string()),
            cell(&held.cut.to_string()),
            cell(&all.complete_without(i).map_or_else(|| words::NONE.to_owned(), numbers::share_percent)),
        ];
        rows += &row("", &name, &cells);
    }
    let heads = ["endpoint", "", "answered", "p50", "p95", "p99", "last in", "cut", "complete without it"];
    let caption = "Time to an answer by its first attempt; rounds in which it was the last to answer, or cut; and the \
                   share of rounds that nothing else kept from being complete.";
    table(caption, &heads, &rows)
}

/// Endpoints by reason.
pub(super) fn missing(all: &Collected) -> String {
    let Some(Missing { reasons, rows: most_first }) = Missing::of(&all.summary.endpoints) else {
        return "<p>Nothing is missing.</p>\n".to_owned();
    };
    let mut rows = String::new();
    for (own, total) in most_first {
        let mut cells = vec![cell(&total.to_string()), cell(&numbers::percent(total, own.n, words::NONE))];
        cells.extend(reasons.iter().map(|&(reason, _)| cell(&missing::shown(missing::count(own, reason)))));
        rows += &row("", &own.endpoint, &cells);
    }
    let mut heads = vec!["endpoint", "total", "of its calls"];
    heads.extend(reasons.iter().map(|(reason, _)| reason.as_str()));
    table(
        "Missing calls, most first. “deadline” was cut by the budget, everything else has its reason in the head.",
        &heads,
        &rows,
    )
}

/// Notes and changes of a file, numbered as in its history.
pub(super) fn happenings(all: &Collected, file: &FilePart) -> String {
    let mut rows = String::new();
    for (i, (at, what)) in file.happenings.iter().enumerate() {
        let (kind, text) = words::happening(what, all.optional);
        let cells = [cell(&words::clock(*at)), said(kind), said(&text)];
        rows += &row("", &(i + 1).to_string(), &cells);
    }
    let more =
        if file.more_happenings > 0 { format!(", {} more", file.more_happenings) } else { String::new() };
    table(&format!("Notes and changes of settings{more}"), &["mark", "at", "kind", "what"], &rows)
}

/// What the first round was asked to do.
pub(super) fn settings(all: &Collected) -> String {
    let settings = &all.settings;
    let required: Vec<&str> =
        all.session.endpoints.iter().filter(|e| e.required).map(|e| e.name.as_str()).collect();
    let pairs = [
        ("mode", settings.mode.to_string()),
        ("budget", durations::show(settings.budget)),
        ("request budget", durations::show(settings.request_budget)),
        ("a round every", durations::show(settings.every)),
        ("quorum", format!("{} of {}", settings.quorum_of(all.optional), all.optional)),
        ("hedge", words::hedge(settings)),
        ("probe rounds", numbers::short_share(settings.probe)),
        ("in turn", words::turns(settings).unwrap_or_else(|| "nothing".to_owned())),
        ("endpoints", all.session.endpoints.len().to_string()),
        ("required", if required.is_empty() { "none".to_owned() } else { required.join(", ") }),
    ];
    let rows: String = pairs.iter().map(|(name, value)| row("", name, &[said(value)])).collect();
    table("As the first recording began.", &["setting", "what"], &rows)
}

/// A row for each file.
pub(super) fn files(all: &Collected) -> String {
    let mut rows = String::new();
    for file in &all.files {
        let own = &file.summary;
        let cells = [
            said(&file.session.profile),
            said(&words::settings(&file.settings, all.optional)),
            said(&file.session.started),
            cell(&words::clock(file.length)),
            cell(&own.rounds.to_string()),
            cell(&percent(own.completeness)),
            cell(&percent(own.partial)),
            cell(&millis(own.round.p50_ms)),
            cell(&millis(own.round.p99_ms)),
            said(worst_endpoint(file).map_or(words::NONE, |e| &e.endpoint)),
        ];
        rows += &row("", &file.name, &cells);
    }
    let heads = [
        "recording",
        "profile",
        "settings",
        "started",
        "length",
        "rounds",
        "answered",
        "partial",
        "p50",
        "p99",
        "worst endpoint",
    ];
    table("Each recording by itself.", &heads, &rows)
}
