//! A report as one self-contained page: nothing is loaded from anywhere, no script runs, and everything that comes
//! from a recording is text. The page is well-formed XML and HTML at once. Readable in light and dark and on paper.

mod curves;
mod estimates;
mod history;
mod lanes;
mod svg;
mod tables;

use super::collect::Collected;
use super::words::{self, millis, percent};
use crate::domain::numbers;
use crate::headless::text::hedges;
use std::fmt::Write;
use svg::Escaped;

/// How it looks.
const STYLE: &str = include_str!("html/style.css");

/// Nothing may be loaded, sent or run, but for the style within the page and an empty icon.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// Recordings whose history is drawn.
const HISTORIES: usize = 12;

/// The page.
pub(super) fn html(all: &Collected) -> String {
    let profile = Escaped(&all.session.profile);
    let mut out = format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"referrer\" content=\"no-referrer\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n\
         <title>{profile}: fan-out report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    head(&mut out, all);
    out += "<main>\n";
    key_figures(&mut out, all);
    advice(&mut out, all);
    section(&mut out, "Endpoints", &tables::endpoints(all));
    section(&mut out, "Missing by reason", &tables::missing(all));
    section(&mut out, "What if", &estimates::what_if(all));
    section(&mut out, "In turn", &estimates::in_turn(all));
    section(&mut out, "The worst rounds", &worst(all));
    section(&mut out, "History", &history(all));
    section(&mut out, "Settings", &tables::settings(all));
    section(&mut out, "Recordings", &tables::files(all));
    let _ = write!(
        out,
        "</main>\n<footer><p>Written by fanscope {}. Cut calls are censored, not dropped: a quantile with “&gt;” is at \
         least that, “~” rests on fewer than 20 calls, “–” on fewer than 5 or can't be reached.</p></footer>\n\
         </body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

fn section(out: &mut String, title: &str, inner: &str) {
    if !inner.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(out, "<section>\n<h2>{title}</h2>\n{inner}</section>\n");
    }
}

fn head(out: &mut String, all: &Collected) {
    let rounds = numbers::counted(all.summary.rounds, "round", "rounds");
    let from = match all.files.as_slice() {
        [one] => format!("{rounds} in {}, {}, {}", words::clock(one.length), one.session.started, one.name),
        many => format!("{rounds} from {} recordings", many.len()),
    };
    let _ = write!(
        out,
        "<header>\n<h1>{}: fan-out report</h1>\n<p>{}</p>\n<p class=\"quiet\">{}</p>\n",
        Escaped(&all.session.profile),
        Escaped(&words::settings(&all.settings, all.optional)),
        Escaped(&from),
    );
    if let Some(differing) = words::differing(all) {
        let _ = writeln!(out, "<p class=\"notice\">{}</p>", Escaped(&differing));
    }
    for file in &all.files {
        if let Some(left_out) = &file.left_out {
            let said = format!("{}: {left_out}", file.name);
            let _ = writeln!(out, "<p class=\"notice\">{}</p>", Escaped(&said));
        }
    }
    *out += "</header>\n";
}

fn key_figures(out: &mut String, all: &Collected) {
    let summary = &all.summary;
    let (warmup, aborted) = all.not_counted();
    let mut figures = vec![
        ("answered", percent(summary.completeness)),
        ("partial rounds", percent(summary.partial)),
        ("failed rounds", summary.failed.to_string()),
        ("round p50", millis(summary.round.p50_ms)),
        ("round p90", millis(summary.round.p90_ms)),
        ("round p99", millis(summary.round.p99_ms)),
        ("skipped starts", summary.skipped.to_string()),
    ];
    figures.extend((warmup > 0).then(|| ("left out, warm-up", warmup.to_string())));
    figures.extend((aborted > 0).then(|| ("left out, given up", aborted.to_string())));
    *out += "<dl class=\"key\">\n";
    for (name, value) in figures {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(&value));
    }
    *out += "</dl>\n";
    if let Some(rounded) = words::rounded(summary) {
        let _ = writeln!(out, "<p class=\"quiet\">{}</p>", Escaped(&rounded));
    }
    if let Some(hedges) = hedges(&summary.hedges) {
        let _ = writeln!(out, "<p>{}</p>", Escaped(&hedges));
    }
}

fn advice(out: &mut String, all: &Collected) {
    let mut items = String::new();
    for file in &all.files {
        for hint in &file.hints {
            let _ = writeln!(items, "<li>{}</li>", Escaped(&words::hint(all, file, hint)));
        }
    }
    if !items.is_empty() {
        section(out, "What to do", &format!("<ul class=\"advice\">\n{items}</ul>\n"));
    }
}

fn worst(all: &Collected) -> String {
    let mut out = String::new();
    for (i, bad) in all.worst.iter().enumerate() {
        let round = &bad.round;
        let _ = write!(
            out,
            "<figure>\n<figcaption><strong>Round {}</strong> {}</figcaption>\n{}</figure>\n",
            round.no,
            Escaped(&words::worst(all, bad)),
            lanes::round(all, round, &format!("worst{i}")),
        );
    }
    if out.is_empty() {
        return out;
    }
    let legend = "<p class=\"quiet\">Bars by phase, the answer's body in full colour. \
                  ● answered, ✕ failed, ■ cut, ○ not needed or lost, ◆ a hedge that won.</p>\n";
    legend.to_owned() + &out
}

fn history(all: &Collected) -> String {
    let mut out = String::from(
        "<p class=\"quiet\">Share of the calls that are missing, over time: \
         <span class=\"swatch s-cut\"></span> cut, <span class=\"swatch s-error\"></span> for another reason. The foot is \
         <span class=\"swatch s-ok\"></span> where rounds kept their contract.</p>\n",
    );
    let none = out.len();
    let files: Vec<_> = all.files.iter().filter(|file| !file.history.columns.is_empty()).collect();
    for (i, file) in files.iter().take(HISTORIES).enumerate() {
        let caption = if all.files.len() > 1 {
            format!("<figcaption>{}</figcaption>\n", Escaped(&file.name))
        } else {
            String::new()
        };
        let _ = write!(out, "<figure>\n{caption}{}</figure>\n", history::of(file, &format!("history{i}")));
        out += &tables::happenings(all, file);
    }
    if let Some(more @ 1..) = files.len().checked_sub(HISTORIES) {
        let _ = writeln!(out, "<p class=\"quiet\">{more} more recordings</p>");
    }
    if out.len() == none { String::new() } else { out }
}
