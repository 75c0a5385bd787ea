//! A report as one JSON object. Times are milliseconds, shares 0 to 1 and unrounded; what is not known is null.
//!
//! - `schema`, `fanscope`, `profile`, `settings`: of the first recording; `k`: the answers asked about;
//! - `files`: one per recording, with the settings that it began with (`joined`: other ones that joined recordings in
//!   it began with), its own figures, notes and `changes` of settings; `left_out` says what was cut off its end;
//! - `rounds`: `n` that count, `warmup` and `aborted` that were left out, `complete` in which nothing was missing;
//! - `summary`: the figures of all rounds, as the last line of a recording has them;
//! - `budget`: a row for each budget asked about. `status` is `exact` or `not_observed`; `left_out` are rounds that
//!   say nothing about it ([`crate::whatif::recount`]);
//! - `endpoints`: calls, quantiles of the time to an answer with their grade, and the curve behind them with a row
//!   at every event, cumulative. `blame` counts the rounds in which the endpoint was the last to answer, or cut;
//!   `complete_without` is the share of rounds in which nothing else was missing;
//! - `worst`: the worst rounds; `hints`: what to do.
//!
//! Intervals and bounds (`lo_ms`, `hi_ms`, `completeness_bounds`) are null as long as nothing estimates them.

use super::collect::{Collected, FilePart, Happening};
use crate::domain::{EndpointId, Reason, Settings};
use crate::recording::{EndpointLine, Line, Millis, Ordered, SCHEMA, SettingsBody, SummaryLine};
use crate::whatif::quantile::Quantile;
use crate::whatif::recount::BudgetRow;
use crate::whatif::survival::Row;
use serde::Serialize;

/// Quantiles that are told.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    fanscope: &'static str,
    profile: &'a str,
    settings: &'a SettingsBody,
    k: usize,
    files: Vec<FileLine<'a>>,
    rounds: Rounds,
    summary: &'a SummaryLine,
    budget: Vec<BudgetLine>,
    endpoints: Vec<EndpointCalls<'a>>,
    worst: Vec<WorstRound<'a>>,
    hints: Vec<HintLine<'a>>,
}

#[derive(Serialize)]
struct FileLine<'a> {
    file: &'a str,
    profile: &'a str,
    started: &'a str,
    settings: &'a SettingsBody,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joined: Vec<SettingsBody>,
    length_ms: Millis,
    warmup: u64,
    aborted: u64,
    summary: &'a SummaryLine,
    notes: Vec<Note<'a>>,
    changes: Vec<Changed>,
    more_happenings: usize,
    left_out: Option<&'a str>,
}

#[derive(Serialize)]
struct Note<'a> {
    at_ms: Millis,
    text: &'a str,
}

#[derive(Serialize)]
struct Changed {
    at_ms: Millis,
    settings: Option<SettingsBody>,
}

#[derive(Serialize)]
struct Rounds {
    n: u64,
    warmup: u64,
    aborted: u64,
    complete: u64,
}

#[derive(Serialize)]
struct BudgetLine {
    budget_ms: Millis,
    status: &'static str,
    n: u64,
    left_out: u64,
    completeness: Option<f64>,
    completeness_bounds: Option<[f64; 2]>,
    all: Option<f64>,
    at_least_k: Option<f64>,
    missing: Option<Ordered<Reason, u64>>,
}

#[derive(Serialize)]
struct EndpointCalls<'a> {
    endpoint: &'a str,
    required: bool,
    n: u64,
    ok: u64,
    not_needed: u64,
    missing: &'a Ordered<Reason, u64>,
    observed: u64,
    quantiles: Vec<QuantileLine>,
    curve: Vec<CurveRow>,
    blame: BlameLine,
}

#[derive(Serialize)]
struct QuantileLine {
    q: f64,
    ms: Option<Millis>,
    lo_ms: Option<Millis>,
    hi_ms: Option<Millis>,
    grade: &'static str,
}

#[derive(Serialize)]
struct CurveRow {
    t_ms: Millis,
    at_risk: usize,
    ok: f64,
    error: f64,
    pending: f64,
}

#[derive(Serialize)]
struct BlameLine {
    last: u64,
    cut: u64,
    complete_without: Option<f64>,
}

#[derive(Serialize)]
struct WorstRound<'a> {
    file: &'a str,
    round: u64,
    at_ms: Millis,
    took_ms: Millis,
    ok: bool,
    partial: bool,
    answered: usize,
    calls: usize,
    missing: Ordered<&'a str, Reason>,
}

#[derive(Serialize)]
struct HintLine<'a> {
    file: &'a str,
    endpoint: &'a str,
    reason: Reason,
    count: usize,
    of: usize,
    remedy: &'static str,
}

/// The report as one line of JSON.
///
/// # Errors
/// None that these types can cause.
pub(super) fn json(all: &Collected) -> serde_json::Result<String> {
    let (warmup, aborted) = all.not_counted();
    let report = Report {
        schema: SCHEMA,
        fanscope: env!("CARGO_PKG_VERSION"),
        profile: &all.session.profile,
        settings: &all.session.settings,
        k: all.k,
        files: all.files.iter().map(|part| file(part, &all.session.endpoints)).collect(),
        rounds: Rounds { n: all.summary.rounds, warmup, aborted, complete: all.complete },
        summary: &all.summary,
        budget: all.recount.rows().iter().map(budget).collect(),
        endpoints: endpoints(all),
        worst: worst(all),
        hints: hints(all),
    };
    let mut text = serde_json::to_string(&report)?;
    text.push('\n');
    Ok(text)
}

fn file<'a>(part: &'a FilePart, endpoints: &[EndpointLine]) -> FileLine<'a> {
    let notes = part.happenings.iter().filter_map(|(at, what)| match what {
        Happening::Note(text) => Some(Note { at_ms: (*at).into(), text }),
        Happening::Settings(_) => None,
    });
    let changes = part.happenings.iter().filter_map(|(at, what)| match what {
        Happening::Settings(changed) => {
            Some(Changed { at_ms: (*at).into(), settings: body(changed, endpoints) })
        }
        Happening::Note(_) => None,
    });
    FileLine {
        file: &part.name,
        profile: &part.session.profile,
        started: &part.session.started,
        settings: &part.session.settings,
        joined: part.joined.iter().filter_map(|settings| body(settings, endpoints)).collect(),
        length_ms: part.length.into(),
        warmup: part.warmup,
        aborted: part.aborted,
        summary: &part.summary,
        notes: notes.collect(),
        changes: changes.collect(),
        more_happenings: part.more_happenings,
        left_out: part.left_out.as_deref(),
    }
}

/// Settings as a recording's lines have them.
fn body(settings: &Settings, endpoints: &[EndpointLine]) -> Option<SettingsBody> {
    match Line::settings(std::time::Duration::ZERO, settings, endpoints) {
        Line::Settings(line) => Some(line.settings),
        _ => None,
    }
}

fn budget(row: &BudgetRow) -> BudgetLine {
    let found = row.found.as_ref();
    BudgetLine {
        budget_ms: row.budget.into(),
        status: if found.is_some() { "exact" } else { "not_observed" },
        n: row.n,
        left_out: row.left_out,
        completeness: found.map(|f| f.completeness),
        completeness_bounds: None,
        all: found.map(|f| f.all),
        at_least_k: found.map(|f| f.at_least_k),
        missing: found.map(|f| f.missing.iter().copied().collect()),
    }
}

fn endpoints(all: &Collected) -> Vec<EndpointCalls<'_>> {
    let rows = all.summary.endpoints.iter().enumerate().map(|(i, own)| {
        let curve = all.fold.curve(EndpointId(i));
        let quantiles = QUANTILES.iter().map(|&q| {
            let Quantile { time, trust, .. } = Quantile::of(&curve, q);
            QuantileLine { q, ms: time.map(Millis::from), lo_ms: None, hi_ms: None, grade: trust.as_str() }
        });
        let held = all.held.get(i).copied().unwrap_or_default();
        EndpointCalls {
            endpoint: &own.endpoint,
            required: all.session.endpoints.get(i).is_some_and(|e| e.required),
            n: own.n,
            ok: own.ok,
            not_needed: own.not_needed,
            missing: &own.missing,
            observed: own.observed,
            quantiles: quantiles.collect(),
            curve: curve.rows().iter().map(curve_row).collect(),
            blame: BlameLine { last: held.last, cut: held.cut, complete_without: all.complete_without(i) },
        }
    });
    rows.collect()
}

fn curve_row(row: &Row) -> CurveRow {
    let Row { time, at_risk, ok, error, pending } = *row;
    CurveRow { t_ms: time.into(), at_risk, ok, error, pending }
}

fn worst(all: &Collected) -> Vec<WorstRound<'_>> {
    let rounds = all.worst.iter().map(|bad| {
        let round = &bad.round;
        let missing = round.calls.iter().filter_map(|c| Some((all.name(c.endpoint), c.outcome.reason()?)));
        WorstRound {
            file: all.files.get(bad.file).map_or("", |f| f.name.as_str()),
            round: round.no.0,
            at_ms: round.at.into(),
            took_ms: round.took.into(),
            ok: round.ok,
            partial: round.partial(),
            answered: round.answered(),
            calls: round.calls.len(),
            missing: missing.collect(),
        }
    });
    rounds.collect()
}

fn hints(all: &Collected) -> Vec<HintLine<'_>> {
    let mut lines = Vec::new();
    for part in &all.files {
        lines.extend(part.hints.iter().map(|hint| HintLine {
            file: &part.name,
            endpoint: all.name(hint.endpoint),
            reason: hint.reason,
            count: hint.count,
            of: hint.of,
            remedy: hint.remedy.words(false),
        }));
    }
    lines
}
