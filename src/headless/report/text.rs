//! A report for people: plain text that fits the terminal, most important first.

mod estimates;

use super::bars::Set;
use super::collect::Collected;
use super::lanes::lanes;
use super::missing::{self, Missing};
use super::words::{self, cut, fit, fit_name, millis, percent};
use crate::domain::text::seven_bit;
use crate::domain::{EndpointId, numbers};
use crate::headless::text::{hedges, ok_share};
use crate::whatif::quantile::Quantile;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// How it looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// 7-bit characters only.
    pub(super) ascii: bool,
    /// Columns.
    pub(super) width: usize,
}

/// Widest name that a table makes room for.
const MOST_NAME: usize = 24;
/// Widest bar.
const MOST_BAR: usize = 40;
/// Rounds that are shown with their lanes, and lanes of each.
const SHOWN: (usize, usize) = (3, 8);
/// Endpoints that a table has rows for.
const ROWS: usize = 16;
/// Notes and changes of settings that are shown of a file.
const HAPPENINGS: usize = 20;

/// Writes the report out.
pub(super) fn text(all: &Collected, look: Look) -> String {
    let page = Page { all, look, set: Set::of(look.ascii), names: names(all) };
    let mut out = String::new();
    page.head(&mut out);
    page.endpoints(&mut out);
    page.missing(&mut out);
    page.what_if(&mut out);
    page.worst(&mut out);
    page.advice(&mut out);
    page.files(&mut out);
    page.happenings(&mut out);
    let text = words::wrapped(&out, look.width).replace('\u{a0}', " ");
    if look.ascii { seven_bit(&text).into_owned() } else { text }
}

/// Column for names.
fn names(all: &Collected) -> usize {
    let widest = all.session.endpoints.iter().map(|e| e.name.width()).max().unwrap_or(0);
    widest.clamp("endpoint".len(), MOST_NAME)
}

struct Page<'a> {
    all: &'a Collected,
    look: Look,
    set: &'static Set,
    names: usize,
}

/// Writing to a String cannot fail.
macro_rules! line {
    ($out:expr) => { let _ = writeln!($out); };
    ($out:expr, $($arg:tt)*) => { let _ = writeln!($out, $($arg)*); };
}

impl Page<'_> {
    fn head(&self, out: &mut String) {
        let all = self.all;
        let summary = &all.summary;
        let rounds = numbers::counted(summary.rounds, "round", "rounds");
        line!(out, "{}  {}", all.session.profile, words::settings(&all.settings, all.optional));
        match all.files.as_slice() {
            [one] => {
                line!(out, "{rounds} in {}, {}  {}", words::clock(one.length), one.session.started, one.name);
            }
            many => {
                line!(out, "{rounds} from {} recordings", many.len());
            }
        }
        if let Some(differing) = words::differing(all) {
            line!(out, "{differing}");
        }
        line!(out);
        line!(
            out,
            "answered {}  partial {}  failed {}  skipped {}",
            percent(summary.completeness),
            percent(summary.partial),
            summary.failed,
            summary.skipped,
        );
        let round = &summary.round;
        let (p50, p90, p99) = (millis(round.p50_ms), millis(round.p90_ms), millis(round.p99_ms));
        line!(out, "a round took p50 {p50}  p90 {p90}  p99 {p99}");
        let (warmup, aborted) = all.not_counted();
        let left_out = [(warmup, "to warm up"), (aborted, "given up")];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let left_out: Vec<String> = left_out.map(|(count, why)| format!("{count} {why}")).collect();
        if !left_out.is_empty() {
            line!(out, "rounds left out: {}", left_out.join(", "));
        }
        if let Some(rounded) = words::rounded(summary) {
            line!(out, "{rounded}");
        }
        if let Some(hedges) = hedges(&summary.hedges) {
            line!(out, "{hedges}");
        }
    }

    /// What is left of a line for a bar beside so many columns of other things.
    fn bar(&self, others: usize) -> usize {
        self.look.width.saturating_sub(others).clamp(8, MOST_BAR)
    }

    fn endpoints(&self, out: &mut String) {
        let (name, bar) = (self.names, self.bar(self.names + 50));
        line!(out);
        line!(
            out,
            "{}  {}  {:>8}  {:>8}  {:>8}  {:>6}  {:>6}",
            fit("endpoint", name),
            fit("answered", bar),
            "",
            "p50",
            "p95",
            "last",
            "cut",
        );
        let mut read = Vec::new();
        let shown = self.shown_endpoints();
        for &i in &shown {
            let Some(own) = self.all.summary.endpoints.get(i) else { continue };
            let curve = self.all.fold.curve(EndpointId(i));
            let at = [0.5, 0.95].map(|q| Quantile::of(&curve, q));
            read.extend(at);
            let share = ok_share(own);
            let held = self.all.held.get(i).copied().unwrap_or_default();
            line!(
                out,
                "{}  {}  {:>8}  {:>8}  {:>8}  {:>6}  {:>6}",
                fit_name(&own.endpoint, name),
                self.set.bar(share.unwrap_or(0.0), bar),
                share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent),
                words::quantile(at[0]),
                words::quantile(at[1]),
                held.last,
                held.cut,
            );
        }
        if let Some(more @ 1..) = self.all.summary.endpoints.len().checked_sub(shown.len()) {
            line!(out, "{more} more, with fewer calls missing");
        }
        if let Some(legend) = words::legend(&read) {
            line!(out, "{legend}");
        }
    }

    /// Which endpoints have a row, in profile order: all, or those with the most calls missing.
    fn shown_endpoints(&self) -> Vec<usize> {
        let endpoints = &self.all.summary.endpoints;
        let mut shown: Vec<usize> = (0..endpoints.len()).collect();
        shown.sort_by_key(|&i| std::cmp::Reverse(endpoints.get(i).map_or(0, missing::total)));
        shown.truncate(ROWS);
        shown.sort_unstable();
        shown
    }

    fn missing(&self, out: &mut String) {
        let Some(Missing { reasons, rows }) = Missing::of(&self.all.summary.endpoints) else { return };
        // Reasons beyond the line's end stand together in a last column.
        let mut room = self.look.width.saturating_sub(self.names + 9 + "others".len() + 2);
        let fits = reasons.iter().take_while(|(reason, _)| {
            let needed = reason.as_str().len() + 2;
            let fits = needed <= room;
            room = room.saturating_sub(needed);
            fits
        });
        let columns = fits.count();
        let others = reasons.len() - columns;
        line!(out);
        let heads: String =
            reasons.iter().take(columns).flat_map(|(reason, _)| ["  ", reason.as_str()]).collect();
        let last = if others > 0 { "  others" } else { "" };
        line!(out, "{}  {:>7}{heads}{last}", fit("missing", self.names), "total");
        let more = rows.len().saturating_sub(ROWS);
        for (own, total) in rows.into_iter().take(ROWS) {
            let count = |reason| missing::count(own, reason);
            let cell = |n: u64, width: usize| format!("  {:>width$}", missing::shown(n));
            let cells: String =
                reasons.iter().take(columns).map(|&(r, _)| cell(count(r), r.as_str().len())).collect();
            let rest: u64 = reasons.iter().skip(columns).map(|&(r, _)| count(r)).sum();
            let rest = if others > 0 { cell(rest, "others".len()) } else { String::new() };
            line!(out, "{}  {total:>7}{cells}{rest}", fit_name(&own.endpoint, self.names));
        }
        if more > 0 {
            line!(out, "{more} more");
        }
    }

    fn worst(&self, out: &mut String) {
        for (i, bad) in self.all.worst.iter().enumerate() {
            let round = &bad.round;
            let detailed = i < SHOWN.0;
            if detailed || i == SHOWN.0 {
                line!(out);
            }
            if i == 0 {
                line!(out, "the worst rounds");
            }
            line!(out, "#{}  {}", round.no, words::worst(self.all, bad));
            if detailed {
                self.lanes(out, round);
            } else if round.missing() > 0 {
                line!(out, "   missing {}", words::missing(self.all, &round.calls));
            }
        }
    }

    fn lanes(&self, out: &mut String, round: &crate::domain::Round) {
        let lanes = lanes(round, SHOWN.1);
        let axis = self.look.width.saturating_sub(self.names + 34).clamp(16, 80);
        for lane in &lanes.rows {
            let name = if lane.hedge {
                format!("{} hedge", self.set.branch)
            } else {
                self.all.name(EndpointId(lane.endpoint)).to_owned()
            };
            let glyph = self.set.mark(lane.mark);
            let drawn = self.set.lane(&lanes, lane, axis);
            let row = format!(" {glyph} {} {drawn} {}", fit_name(&name, self.names), lane.result);
            line!(out, "{}", cut(&row, self.look.width));
        }
        if lanes.more > 0 {
            line!(out, "   {} more", lanes.more);
        }
    }

    fn advice(&self, out: &mut String) {
        for (i, (file, hint)) in
            self.all.files.iter().flat_map(|file| file.hints.iter().map(move |hint| (file, hint))).enumerate()
        {
            if i == 0 {
                line!(out);
            }
            line!(out, "{} {}", self.set.arrow, words::hint(self.all, file, hint));
        }
    }

    fn files(&self, out: &mut String) {
        if self.all.files.len() < 2 {
            return;
        }
        let widest = self.all.files.iter().map(|f| f.name.width()).max().unwrap_or(0);
        let name = widest.clamp("recording".len(), self.look.width.saturating_sub(64).clamp(9, MOST_NAME));
        line!(out);
        line!(
            out,
            "{}  {:<16}  {:>6}  {:>8}  {:>7}  {:>7}  worst",
            fit("recording", name),
            "started",
            "rounds",
            "answered",
            "p50",
            "p99",
        );
        for file in &self.all.files {
            let own = &file.summary;
            line!(
                out,
                "{}  {}  {:>6}  {:>8}  {:>7}  {:>7}  {}",
                fit_name(&file.name, name),
                file.session.started.get(..16).unwrap_or(&file.session.started),
                own.rounds,
                percent(own.completeness),
                millis(own.round.p50_ms),
                millis(own.round.p99_ms),
                missing::worst_endpoint(file).map_or(words::NONE, |e| &e.endpoint),
            );
        }
    }

    fn happenings(&self, out: &mut String) {
        for file in self.all.files.iter().filter(|f| !f.happenings.is_empty()) {
            line!(out);
            let of = if self.all.files.len() > 1 { format!(" in {}", file.name) } else { String::new() };
            line!(out, "notes and changes{of}");
            for (at, what) in file.happenings.iter().take(HAPPENINGS) {
                let (kind, said) = words::happening(what, self.all.optional);
                line!(out, "{:>12}  {kind:<8}  {said}", words::clock(*at));
            }
            let more = file.happenings.len().saturating_sub(HAPPENINGS) + file.more_happenings;
            if more > 0 {
                line!(out, "{:>12}  {more} more", "");
            }
        }
        for file in &self.all.files {
            if let Some(left_out) = &file.left_out {
                line!(out, "\n{}: {left_out}", file.name);
            }
        }
    }
}
