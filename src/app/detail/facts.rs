//! What is known of a call beside its times: names and values in lines, and the errors' own words.

use crate::app::{App, Bar, Lane};
use crate::domain::numbers;
use crate::domain::text::width;
use crate::domain::{Attempt, Call, Late, Outcome, Phase, Reason, ServerTiming};
use unicode_segmentation::UnicodeSegmentation;

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is; empty where that is what the fact before it is.
    pub name: &'static str,
    /// How it is.
    pub value: String,
}

/// Facts in one line.
pub type FactLine = Vec<Fact>;

/// Columns between two facts of a line.
pub const APART: u16 = 3;

/// Lines of an error's own words.
const WORD_LINES: usize = 2;

/// Lines of a fact that is wider than one.
const FACT_LINES: usize = 8;

fn fact(name: &'static str, value: impl Into<String>) -> Fact {
    Fact { name, value: value.into() }
}

/// The facts of the attempt that decided, then those of the call, in lines of at most `room` columns. Where
/// phases have no rows of their own they come first.
pub(super) fn lines(app: &App, lane: &Lane, whole: bool, room: u16) -> Vec<FactLine> {
    let decisive = lane.decisive();
    let Some(bar) = lane.bars.get(decisive) else { return Vec::new() };
    let call = app.detail_call();
    let mut facts = Vec::new();
    if !whole {
        facts.extend(bar.segments.iter().map(|&(phase, time)| fact(phase.as_str(), numbers::ms(time))));
    }
    let mut server = Vec::new();
    match call.map(|call| call.attempts.get(decisive)) {
        Some(Some(attempt)) => {
            of_attempt(attempt, &mut facts);
            server = of_server(attempt);
        }
        Some(None) => facts.push(fact("nothing", "was sent")),
        None => of_bar(bar, &mut facts),
    }
    if let Some(call) = call {
        of_call(call, &mut facts);
        facts.extend(app.detail_late().map(|late| came(&late)));
    }
    let mut lines = flowed(facts, room);
    lines.extend(flowed(server, room));
    lines
}

fn of_attempt(attempt: &Attempt, facts: &mut Vec<Fact>) {
    if let Some(remote) = attempt.remote {
        facts.push(fact("remote", remote.to_string()));
    }
    let kept = attempt.reused.map(kept);
    match (attempt.http, kept) {
        (Some(http), Some(kept)) => facts.push(fact("http", format!("{http}, {kept}"))),
        (Some(http), None) => facts.push(fact("http", http.as_str())),
        (None, Some(kept)) => facts.push(fact("connection", kept)),
        (None, None) => {}
    }
    let sent = matches!(attempt.phase, Phase::Waiting | Phase::Body);
    match attempt.status {
        Some(status) => facts.push(fact("status", status.to_string())),
        None if sent => facts.push(fact("status", "none")),
        None => {}
    }
    if sent {
        facts.push(fact("bytes", bytes(attempt)));
    }
    if let Some(trace) = attempt.trace_id {
        facts.push(fact("trace", trace.to_string()));
    }
}

/// Decoded, and as they came where that differs.
fn bytes(attempt: &Attempt) -> String {
    let Attempt { bytes, wire_bytes, .. } = attempt;
    if bytes == wire_bytes { bytes.to_string() } else { format!("{bytes}, {wire_bytes} on the wire") }
}

/// What the server says of its own time; only the first names what it is.
fn of_server(attempt: &Attempt) -> Vec<Fact> {
    let name = |index| if index == 0 { "server timing" } else { "" };
    let value = |metric: &ServerTiming| {
        let took = metric.took.map(|took| format!(" {}", numbers::fine_ms(took)));
        let words = metric.description.as_ref().map(|words| format!(" ({words})"));
        format!("{}{}{}", metric.name, took.unwrap_or_default(), words.unwrap_or_default())
    };
    attempt.server_timing.iter().enumerate().map(|(i, metric)| fact(name(i), value(metric))).collect()
}

fn of_bar(bar: &Bar, facts: &mut Vec<Fact>) {
    facts.extend(bar.reused.map(|reused| fact("connection", kept(reused))));
    facts.extend(bar.status.map(|status| fact("status", status.to_string())));
}

fn of_call(call: &Call, facts: &mut Vec<Fact>) {
    if let Some(by) = call.late_by {
        facts.push(fact("answer came", format!("{} late", numbers::ms(by))));
    }
    if let Some(delay) = call.hedge_delay.filter(|d| !d.is_zero()) {
        facts.push(fact("hedge delay", numbers::ms(delay)));
    }
    if call.hedges.suppressed.total() > 0 {
        let causes: Vec<&str> = call.hedges.suppressed.iter().map(|(cause, _)| cause.as_str()).collect();
        facts.push(fact("hedge held back", causes.join(", ")));
    }
}

/// What became of a call that was watched past its round's end (W7).
fn came(late: &Late) -> Fact {
    let end = numbers::ms(late.end);
    match late.outcome {
        Outcome::Ok => fact("watched", format!("came at {end}")),
        Outcome::Missing(reason) if reason.is_cut() || reason == Reason::Aborted => {
            fact("watched", format!("still pending at {end}"))
        }
        Outcome::Missing(reason) => fact("watched", format!("{reason} at {end}")),
        Outcome::NotNeeded => fact("watched", format!("given up at {end}")),
    }
}

const fn kept(reused: bool) -> &'static str {
    if reused { "reused" } else { "new" }
}

/// The facts in lines that are as full as fits. What is wider than a line goes on in the next one; the view cuts
/// what is left over.
fn flowed(facts: Vec<Fact>, room: u16) -> Vec<FactLine> {
    let mut lines: Vec<FactLine> = Vec::new();
    let mut used = 0_u16;
    for fact in facts.into_iter().flat_map(|fact| broken(fact, room)) {
        let width = label(&fact).saturating_add(width(&fact.value));
        let after = used.saturating_add(APART).saturating_add(width);
        match lines.last_mut() {
            Some(line) if after <= room => {
                used = after;
                line.push(fact);
            }
            _ => {
                used = width;
                lines.push(vec![fact]);
            }
        }
    }
    lines
}

/// Columns of a fact's name and of the gap behind it.
fn label(fact: &Fact) -> u16 {
    width(fact.name).saturating_add(u16::from(!fact.name.is_empty()))
}

/// A fact in pieces that fit a line; only the first is named. Where there is no room behind its name it is whole.
fn broken(fact: Fact, room: u16) -> Vec<Fact> {
    let before = label(&fact);
    if before >= room || before.saturating_add(width(&fact.value)) <= room {
        return vec![fact];
    }
    let whole = format!("{} {}", fact.name, fact.value);
    let pieces = wrapped(whole.trim_start(), room, FACT_LINES).into_iter().enumerate();
    let piece = |(index, piece): (usize, String)| match piece.strip_prefix(fact.name) {
        Some(value) if index == 0 => self::fact(fact.name, value.trim_start()),
        _ => self::fact("", piece),
    };
    pieces.map(piece).collect()
}

/// The own words of every attempt's error (R27), each in at most two lines.
pub(super) fn words(app: &App, lane: &Lane, room: u16) -> Vec<String> {
    let Some(call) = app.detail_call() else { return Vec::new() };
    let several = lane.bars.len() > 1;
    let details = call.attempts.iter().enumerate().filter_map(|(i, a)| Some((i, a.detail.as_deref()?)));
    details
        .flat_map(|(index, detail)| {
            let whose = if several { format!("attempt {}: ", index + 1) } else { String::new() };
            wrapped(&(whose + detail), room, WORD_LINES)
        })
        .collect()
}

/// A text in at most so many lines of `room` columns, broken at spaces where there are any. The last line takes what is
/// left, however much.
fn wrapped(text: &str, room: u16, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let fits = |line: &String, piece: &str| width(line).saturating_add(width(piece.trim_end())) <= room;
        let last = lines.len() >= most;
        match lines.last_mut() {
            Some(line) if last || fits(line, word) => line.push_str(word),
            _ if width(word.trim_end()) <= room => lines.push(word.to_owned()),
            _ => {
                for grapheme in word.graphemes(true) {
                    let last = lines.len() >= most;
                    match lines.last_mut() {
                        Some(line) if last || fits(line, grapheme) => line.push_str(grapheme),
                        _ => lines.push(grapheme.to_owned()),
                    }
                }
            }
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, room: u16) -> Vec<String> {
        super::wrapped(text, room, WORD_LINES)
    }

    #[test]
    fn words_are_broken_at_spaces_and_the_last_line_takes_the_rest() {
        assert_eq!(wrapped("connection refused (os error 111)", 40), ["connection refused (os error 111)"]);
        assert_eq!(
            wrapped("connection refused (os error 111)", 22),
            ["connection refused (os", "error 111)"]
        );
        assert_eq!(wrapped("one two three four five", 8), ["one two", "three four five"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efghij"]);
        assert_eq!(wrapped("日本語の店舗", 5), ["日本", "語の店舗"]);
        assert_eq!(wrapped("", 5), [""; 0]);
    }

    #[test]
    fn facts_stand_in_lines_that_fit() {
        let facts = || vec![fact("status", "200"), fact("bytes", "17"), fact("http", "1.1")];
        let lengths = |room| flowed(facts(), room).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(80), [3]);
        assert_eq!(lengths(21), [2, 1]);
        assert_eq!(lengths(20), [1, 2]);
        assert_eq!(lengths(0), [1, 1, 1], "what fits nowhere still has its line");
        let wide = flowed(vec![fact("server timing", "render 1.0 ms (all templates)"), fact("", "db")], 27);
        let shown =
            wide.iter().map(|line| line.iter().map(|f| (f.name, f.value.as_str())).collect::<Vec<_>>());
        let (first, more) =
            (vec![("server timing", "render 1.0 ms")], vec![("", "(all templates)"), ("", "db")]);
        assert_eq!(shown.collect::<Vec<_>>(), [first, more]);
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_only_the_last_line_is_too_long(text in "[a-zé日 :.]{0,60}", room in 2_u16..30) {
            let lines = wrapped(&text, room);
            prop_assert!(lines.len() <= WORD_LINES);
            for line in lines.iter().rev().skip(1) {
                prop_assert!(width(line) <= room, "{:?}", lines);
            }
            let bare = |t: &str| t.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&text));
        }
    }
}
