//! Words that every form of a report shares.

mod whatif;

pub(super) use whatif::{
    BudgetLine, based_on, budget_head, budget_lines, hedge_basis, hedges, interval, out_by, quorums, ran,
    status, stretch, watched,
};

use super::collect::{Collected, FilePart, Happening};
use super::worst::Bad;
use crate::domain::{Call, EndpointId, Outcome, Reason, Settings, numbers};
use crate::headless::text::contract;
use crate::profile::durations;
use crate::stats::Hint;
use crate::whatif::shares::Share;
use std::sync::Arc;
use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) use crate::headless::text::{NONE, legend, millis, percent, quantile, rounded};

/// A time of the session: `5.5 s`, `12 min 3 s`, `2 h 5 min`.
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}.{} s", time.subsec_millis() / 100),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// The contract and the period: `quorum 3 of 8 by 200ms, a round every 500ms`.
pub(super) fn settings(settings: &Settings, optional: usize) -> String {
    let every = if settings.every.is_zero() {
        "one round after the other".to_owned()
    } else {
        format!("a round every {}", durations::show(settings.every))
    };
    let held = format!("{}, {every}", contract(settings, optional));
    let parts: Vec<String> = [Some(held), probe(settings), turns(settings)].into_iter().flatten().collect();
    parts.join(", ")
}

/// How many rounds are probe rounds, where any are: `5 % probe rounds`.
pub(super) fn probe(settings: &Settings) -> Option<String> {
    (settings.probe > 0.0).then(|| format!("{} probe rounds", numbers::short_share(settings.probe)))
}

/// What rounds have in turn, where they do: `budget 150ms and 250ms in turn`.
pub(super) fn turns(settings: &Settings) -> Option<String> {
    let ab = settings.ab?;
    Some(format!("{} {} and {} in turn", ab.a.key(), ab.a.value(), ab.b.value()))
}

/// Recordings of which [`differing`] says how their settings differ.
const DIFFERING: usize = 3;

/// How recordings, or parts of one that were joined, began under other settings than the first: `settings differ:
/// tokyo.ndjson budget 150ms, hedge after p90`. `None` where all began alike.
pub(super) fn differing(all: &Collected) -> Option<String> {
    let began = all.files.iter().flat_map(|file| {
        let settings = std::iter::once(&file.settings).chain(&file.joined);
        settings.enumerate().map(move |(i, settings)| (file, i > 0, settings))
    });
    let said = |(file, joined, settings): (&FilePart, bool, &Arc<Settings>)| {
        let differs = changed(&all.settings, settings, all.optional);
        let place = if joined { " (joined)" } else { "" };
        (!differs.is_empty()).then(|| format!("{}{place} {}", file.name, differs.join(", ")))
    };
    let mut parts: Vec<String> = began.filter_map(said).collect();
    if let Some(more @ 1..) = parts.len().checked_sub(DIFFERING) {
        parts.truncate(DIFFERING);
        parts.push(format!("{more} more"));
    }
    (!parts.is_empty()).then(|| format!("settings differ: {}", parts.join("; ")))
}

/// What of a contract is another one in the second settings.
fn changed(first: &Settings, other: &Settings, optional: usize) -> Vec<String> {
    let mut changed = Vec::new();
    if other.mode != first.mode {
        changed.push(other.mode.to_string());
    }
    if other.budget != first.budget {
        changed.push(format!("budget {}", durations::show(other.budget)));
    }
    if other.quorum_of(optional) != first.quorum_of(optional) {
        changed.push(format!("k {}", other.quorum_of(optional)));
    }
    if other.hedge.delay != first.hedge.delay || other.hedge.max != first.hedge.max {
        changed.push(format!("hedge {}", hedge(other)));
    }
    if (other.probe - first.probe).abs() > f64::EPSILON {
        changed.push(probe(other).unwrap_or_else(|| "no probe rounds".to_owned()));
    }
    if other.ab != first.ab {
        changed.push(turns(other).unwrap_or_else(|| "nothing in turn".to_owned()));
    }
    changed
}

/// How calls are hedged: `after p95`, `after 50ms, at most 2`.
pub(super) fn hedge(settings: &Settings) -> String {
    let most = settings.hedge.max.map(|max| format!(", at most {max}")).unwrap_or_default();
    format!("after {}{most}", settings.hedge.delay)
}

/// What happened, in a word and at length.
pub(super) fn happening(what: &Happening, optional: usize) -> (&'static str, String) {
    match what {
        Happening::Note(text) => ("note", text.clone()),
        Happening::Settings(changed) => ("settings", settings(changed, optional)),
    }
}

/// What to do about an endpoint: `shop-3 refused 15 of the last 20 calls: add a circuit breaker`.
pub(super) fn hint(all: &Collected, file: &FilePart, hint: &Hint) -> String {
    let place = if all.files.len() > 1 { format!(" ({})", file.name) } else { String::new() };
    format!(
        "{}{place} {} {}: {}",
        all.name(hint.endpoint),
        hint.verb(),
        hint.often(false),
        hint.remedy.words(false)
    )
}

/// How a call came out: `43 ms`, `>200 ms, cut at deadline · waiting`, `0.9 ms, connect_refused`.
pub(super) fn outcome(call: &Call) -> String {
    let end = numbers::ms(call.end);
    match call.outcome {
        Outcome::Ok => end,
        Outcome::NotNeeded => "not needed".to_owned(),
        Outcome::Missing(reason) if reason.is_cut() => {
            let late = call.late_by.map(|by| format!(", {} late", numbers::fine_ms(by))).unwrap_or_default();
            match reason {
                Reason::Throttled => format!(">{end}, throttled"),
                _ => format!(">{end}, {reason} · {}{late}", call.phase),
            }
        }
        Outcome::Missing(reason) => format!("{end}, {}", reason.label(call.status)),
    }
}

/// A round of the worst: `at 3.0 s: 2 of 4 answered in 200 ms, failed, tokyo.ndjson`.
pub(super) fn worst(all: &Collected, bad: &Bad) -> String {
    let round = &bad.round;
    let file = match all.files.as_slice() {
        [_] => String::new(),
        many => many.get(bad.file).map(|f| format!(", {}", f.name)).unwrap_or_default(),
    };
    format!(
        "at {}: {} of {} answered in {}{}{file}",
        clock(round.at),
        round.answered(),
        round.calls.len(),
        numbers::ms(round.took),
        if round.ok { "" } else { ", failed" },
    )
}

/// What is missing: `shop-3 deadline, shop-5 http_503`.
pub(super) fn missing(all: &Collected, calls: &[Call]) -> String {
    let missing = calls.iter().filter_map(|call| {
        Some(format!("{} {}", all.name(call.endpoint), call.outcome.reason()?.label(call.status)))
    });
    missing.collect::<Vec<_>>().join(", ")
}

impl Collected {
    /// An endpoint's name.
    pub(super) fn name(&self, endpoint: EndpointId) -> &str {
        self.session.endpoints.get(endpoint.index()).map_or("", |e| e.name.as_str())
    }

    /// Share of the rounds in which nothing was missing, or nothing but this endpoint's call (W8).
    pub(super) fn complete_without(&self, endpoint: usize) -> Option<f64> {
        let held = self.held.get(endpoint)?;
        Share::of(self.complete + held.alone, self.summary.rounds).map(|share| share.value)
    }
}

/// Lines in at most so many columns: longer ones go on in the next line, two columns to the right.
pub(super) fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line.trim_end();
        let indent = " ".repeat(rest.width() - rest.trim_start().width() + 2);
        let mut room = columns;
        while rest.width() > room {
            let fits = rest.get(..prefix(rest, room)).unwrap_or_default();
            let begins = rest.len() - rest.trim_start().len();
            // A space just beyond the end is as good.
            let ends = fits.len() + usize::from(rest[fits.len()..].starts_with(' '));
            let Some(space) = rest.get(begins..ends).and_then(|part| part.rfind(' ')) else { break };
            let (head, tail) = rest.split_at(begins + space);
            out.extend([head.trim_end(), "\n", indent.as_str()]);
            (rest, room) = (tail.trim_start(), columns.saturating_sub(indent.len()).max(1));
        }
        out.extend([rest, "\n"]);
    }
    out
}

/// Text in exactly so many columns: cut with an ellipsis, or filled up with spaces.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let short = cut(text, columns);
    let pad = columns.saturating_sub(short.width());
    short + &" ".repeat(pad)
}

/// Text in at most so many columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = text.get(..prefix(text, columns.saturating_sub(1))).unwrap_or_default().to_owned();
    short.truncate(short.trim_end().len());
    if columns > 0 { short + "…" } else { String::new() }
}

/// A name in at most so many columns: where it is longer, its middle is left out, for names of one kind often differ
/// at their ends.
pub(super) fn short(name: &str, columns: usize) -> String {
    if name.width() <= columns || columns < 3 {
        return cut(name, columns);
    }
    let tail = (columns - 1) / 2;
    let mut used = 0;
    let from = name.char_indices().rev().take_while(|(_, c)| {
        used += c.width().unwrap_or(0);
        used <= tail
    });
    let from = from.last().map_or(name.len(), |(at, _)| at);
    let head = name.get(..prefix(name, columns - 1 - tail)).unwrap_or_default();
    format!("{head}…{}", name.get(from..).unwrap_or_default())
}

/// A name in exactly so many columns.
pub(super) fn fit_name(name: &str, columns: usize) -> String {
    fit(&short(name, columns), columns)
}

/// How many bytes of the text stand in the first columns.
fn prefix(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let beyond = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > columns
    });
    beyond.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns() {
        assert_eq!([fit("abc", 5), fit("abcdef", 4), fit("名前です", 5)], ["abc  ", "abc…", "名前…"]);
        assert_eq!([cut("abc", 0), cut("abc", 3)], ["", "abc"]);
        assert_eq!(
            [short("service-12", 10), short("service-12", 6), short("service-12", 7)],
            ["service-12", "ser…12", "ser…-12"]
        );
        assert_eq!([short("名前です", 5), short("ab", 1), short("", 0)], ["名…す", "…", ""]);
    }

    #[test]
    fn long_lines_go_on_below() {
        assert_eq!(wrapped("one two three\n\n a  b", 7), "one two\n  three\n\n a  b\n");
        assert_eq!(wrapped("  one two three four", 9), "  one two\n    three\n    four\n");
        assert_eq!(wrapped("unbreakable", 4), "unbreakable\n", "what has no space stays whole");
        assert_eq!(wrapped("名前 です ね", 6), "名前\n  です\n  ね\n");
    }

    #[test]
    fn times_of_a_session_are_short() {
        let shown = |ms| clock(Duration::from_millis(ms));
        assert_eq!([shown(5_540), shown(723_000), shown(7_500_000)], ["5.5 s", "12 min 3 s", "2 h 5 min"]);
    }
}
