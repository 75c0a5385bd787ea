//! A report as one JSON object. Times are milliseconds, shares 0 to 1 and unrounded; what is not known is null.
//!
//! - `schema`, `fanscope`, `profile`, `settings`: of the first recording; `k`: the answers asked about;
//! - `files`: one per recording, with the settings that it began with (`joined`: other ones that joined recordings in
//!   it began with), its own figures, notes and `changes` of settings; `left_out` says what was cut off its end;
//! - `rounds`: `n` that count, `warmup` and `aborted` that were left out, `complete` in which nothing was missing;
//! - `summary`: the figures of all rounds, as the last line of a recording has them;
//! - `budget`: a row for each budget asked about. `status` is `exact` (a recount of all rounds), `estimated`, `thin`,
//!   `bounded` or `not_observed`; `n` are the rounds behind it, `left_out` those that say nothing exact about it
//!   ([`crate::whatif::recount`]). Where there is no figure, `completeness_bounds` is what it is at least and at most;
//! - `endpoints`: calls, quantiles of the time to an answer with their grade, and the curve behind them with a row
//!   at every event, cumulative. `blame` counts the rounds in which the endpoint was the last to answer, or cut;
//!   `complete_without` is the share of rounds in which nothing else was missing;
//! - `quorum`: the k asked about, with a row at every event; `hedge`: a row for each delay (`null`: no hedge), and
//!   what was really seen; `advice`: sentences; `ab`: two variants that rounds had in turn;
//! - `probes`: how far past their start rounds were watched; `sampled`: where rounds are very many, how many of them
//!   estimates rest on (what is `exact` rests on all);
//! - `worst`: the worst rounds; `hints`: what to do.
//!
//! Intervals (`lo_ms`, `hi_ms`, `completeness_interval`) are those of 95 %; an end that the data do not reach is null.

use super::collect::{Collected, FilePart, Happening};
use super::estimates::Budget;
use crate::domain::{EndpointId, HedgeDelay, Reason, Settings};
use crate::recording::{
    AbSummary, EndpointLine, LateTotal, Line, Millis, Ordered, SCHEMA, SettingsBody, SummaryLine,
};
use crate::whatif::hedge::HedgeStatus;
use crate::whatif::outlook::Status;
use crate::whatif::quantile::{Quantile, Trust};
use crate::whatif::spread::{Band, Level};
use crate::whatif::survival::Row;
use serde::Serialize;
use std::time::Duration;

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
    quorum: QuorumLine,
    hedge: Vec<HedgeLine>,
    advice: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ab: Option<&'a AbSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probes: Option<Probes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<Sampled>,
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
    completeness_interval: Option<[f64; 2]>,
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
struct QuorumLine {
    k: usize,
    n: usize,
    by_budget: Option<f64>,
    by_budget_interval: Option<[f64; 2]>,
    status: &'static str,
    independent: Option<f64>,
    correlated: bool,
    p50_ms: Option<Millis>,
    p90_ms: Option<Millis>,
    p99_ms: Option<Millis>,
    curve: Vec<QuorumPoint>,
}

#[derive(Serialize)]
struct QuorumPoint {
    t_ms: Millis,
    at_risk: usize,
    met: f64,
    impossible: f64,
    pending: f64,
    independent: f64,
}

#[derive(Serialize)]
struct HedgeLine {
    delay_ms: Option<Millis>,
    delay: Option<String>,
    extra_load: f64,
    ok_by_budget: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok_by_budget_interval: Option<[f64; 2]>,
    p99_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_interval_ms: Option<[Option<Millis>; 2]>,
    /// Where fewer than 20 calls are behind any of the figures.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thin: bool,
    status: &'static str,
}

#[derive(Serialize)]
struct Probes {
    rounds: u64,
    watched_ms: Millis,
    late: LateTotal,
}

#[derive(Serialize)]
struct Sampled {
    rounds: u64,
    of: u64,
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
        budget: all.estimates().budgets.iter().map(budget).collect(),
        endpoints: endpoints(all),
        quorum: quorum(all),
        hedge: hedges(all),
        advice: all.estimates().outlook.advice.iter().map(ToString::to_string).collect(),
        ab: all.summary.ab.as_deref(),
        probes: all.watched.map(|watched| Probes {
            rounds: all.summary.probes,
            watched_ms: watched.into(),
            late: all.summary.late.unwrap_or_default(),
        }),
        sampled: all.estimates().part.map(|(rounds, of)| Sampled { rounds, of }),
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

fn budget(Budget { point, row }: &Budget) -> BudgetLine {
    let exact = point.status == Status::Exact;
    BudgetLine {
        budget_ms: point.budget.into(),
        status: point.status.as_str(),
        n: point.n,
        left_out: row.left_out,
        completeness: point.completeness,
        completeness_interval: point.interval.map(Into::into),
        completeness_bounds: point.bounds.map(Into::into),
        all: point.all,
        at_least_k: point.at_least_k,
        missing: exact.then(|| point.missing.iter().copied().collect()),
    }
}

fn quorum(all: &Collected) -> QuorumLine {
    let row = all.estimates().quorum_in_full();
    let [p50_ms, p90_ms, p99_ms] = row.times.map(|read| read.time.map(Millis::from));
    let points = row.curve.iter().map(|point| QuorumPoint {
        t_ms: point.time.into(),
        at_risk: point.at_risk,
        met: point.met,
        impossible: point.impossible,
        pending: point.pending,
        independent: point.independent,
    });
    QuorumLine {
        k: all.k,
        n: row.n,
        by_budget: row.by_budget,
        by_budget_interval: row.interval.map(Into::into),
        status: row.status.as_str(),
        independent: row.independent,
        correlated: row.correlated,
        p50_ms,
        p90_ms,
        p99_ms,
        curve: points.collect(),
    }
}

/// The model's rows, and what was really seen; none where no call may be hedged.
fn hedges(all: &Collected) -> Vec<HedgeLine> {
    let Some(study) = &all.estimates().outlook.hedge else { return Vec::new() };
    let modelled = study.rows.iter().map(|row| HedgeLine {
        delay_ms: row.time.map(Millis::from),
        delay: row.delay.map(|delay| delay.to_string()),
        extra_load: row.extra_load,
        ok_by_budget: row.ok_by_budget,
        ok_by_budget_interval: None,
        p99_ms: row.p99.map(Millis::from),
        p99_interval_ms: None,
        thin: row.thin || row.p99_thin,
        status: row.status.as_str(),
    });
    let observed = study.observed.iter().map(|seen| HedgeLine {
        delay_ms: match seen.delay {
            HedgeDelay::Fixed(delay) => Some(delay.into()),
            HedgeDelay::Percentile(_) => None,
        },
        delay: Some(seen.delay.to_string()),
        extra_load: seen.extra_load,
        ok_by_budget: Some(seen.ok_by_budget),
        ok_by_budget_interval: Some(seen.interval.into()),
        p99_ms: seen.p99.map(Millis::from),
        p99_interval_ms: Some([seen.p99_interval.0, seen.p99_interval.1].map(|end| end.map(Millis::from))),
        thin: false,
        status: HedgeStatus::Observed.as_str(),
    });
    modelled.chain(observed).collect()
}

fn endpoints(all: &Collected) -> Vec<EndpointCalls<'_>> {
    let rows = all.summary.endpoints.iter().enumerate().map(|(i, own)| {
        let curve = all.fold.curve(EndpointId(i));
        let band = Band::of(&curve, Level::Ok);
        let quantiles = QUANTILES.iter().map(|&q| {
            let Quantile { time, trust, .. } = Quantile::of(&curve, q);
            // Where too many fail, or too few were seen, there is nothing to be sure of.
            let told = matches!(trust, Trust::Solid | Trust::Thin | Trust::Censored);
            let (lo, hi) = if told { band.quantile(q) } else { (None, None) };
            let ms = |time: Option<Duration>| time.map(Millis::from);
            QuantileLine { q, ms: ms(time), lo_ms: ms(lo), hi_ms: ms(hi), grade: trust.as_str() }
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
