//! Metrics: rounds of the real runner become series, the series become text, and the dashboard asks for series
//! that there are.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

#[path = "support/exposition.rs"]
mod exposition;

use exposition::Scrape;
use fanscope::domain::event::{RoundStarted, SkipCause, Vitals};
use fanscope::domain::{
    EndedBy, EndpointId, Event, Mode, Outcome, Reason, Round, RoundNo, Settings, Suppression,
};
use fanscope::metrics::{Format, HEDGE_RESULTS, Metrics};
use fanscope::recording::SummaryFold;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use support::{FakeNet, Play, call, hedge, ms, plan, play};

const NAMES: [&str; 4] = ["fast", "slow", "broken", "hangs"];

fn names() -> Vec<String> {
    NAMES.map(str::to_owned).into()
}

fn metrics() -> Metrics {
    Metrics::new("shop", &names(), &Settings::default())
}

fn scrape(metrics: &Metrics) -> Scrape {
    let text = |format| metrics.exposition().text(format).unwrap();
    let (open, plain) = (text(Format::OpenMetrics), text(Format::Prometheus));
    assert!(open.ends_with("# EOF\n") && !plain.contains("# EOF"));
    let (open, plain) = (Scrape::of(&open), Scrape::of(&plain));
    assert_eq!(open.shapes(), plain.shapes(), "the same series in both formats");
    open
}

/// One answers at once, one at 150 ms, one fails, one never answers.
fn net() -> FakeNet {
    FakeNet::new(vec![
        vec![Play::ok(10)],
        vec![Play::ok(150), Play::ok(20)],
        vec![Play::fail(5, Reason::HttpStatus)],
        vec![Play::Hang],
    ])
}

async fn round(mode: Mode) -> Arc<Round> {
    let hedged = (mode == Mode::Hedge).then(|| hedge(50, 1, false)).flatten();
    let mut plan = plan(mode, 200, vec![call(hedged); NAMES.len()]);
    plan.k = (mode == Mode::Quorum).then_some(1);
    plan.request_budget = ms(1000);
    play(net(), plan).await
}

fn settled(round: &Arc<Round>, skipped: u64) -> Event {
    Event::RoundSettled { round: Arc::clone(round), vitals: Vitals { skipped, ..Vitals::default() } }
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

/// Sums that count something, exactly.
fn counts<const N: usize>(sums: [f64; N]) -> [String; N] {
    sums.map(|sum| sum.to_string())
}

#[track_caller]
fn same(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

#[tokio::test(start_paused = true)]
async fn r41_a_scrape_is_of_one_moment() {
    let mut metrics = metrics();
    let (exposition, round) = (metrics.exposition(), round(Mode::Deadline).await);
    let scraper = std::thread::spawn(move || {
        let scrapes = (0..30).map(|_| exposition.text(Format::Prometheus).unwrap());
        scrapes.collect::<Vec<_>>()
    });
    while !scraper.is_finished() {
        metrics.event(&settled(&round, 0));
    }
    for text in scraper.join().unwrap() {
        let scrape = Scrape::of(&text);
        let missing = scrape.sum("fanscope_missing_total", &[]);
        let calls = scrape.sum("fanscope_calls_total", &[("outcome", "missing")]);
        assert_eq!(missing.to_string(), calls.to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn r1_answered_missing_and_not_needed_sum_to_the_calls_in_every_mode() {
    let (mut metrics, mut fold) = (metrics(), SummaryFold::new(&names()));
    let mut rounds = Vec::new();
    for &mode in Mode::ALL {
        let round = round(mode).await;
        metrics.event(&settled(&round, 0));
        fold.push(&round);
        rounds.push(round);
    }
    let (seen, summary) = (scrape(&metrics), fold.summary(Vec::new()));
    let calls: usize = rounds.iter().map(|r| r.calls.len()).sum();
    let of = |outcome| seen.sum("fanscope_calls_total", &[("outcome", outcome)]);
    same(of("ok") + of("missing") + of("not_needed"), count(calls));
    same(seen.sum("fanscope_missing_total", &[]), of("missing"));
    assert!(of("ok") > 0.0 && of("missing") > 0.0 && of("not_needed") > 0.0, "all of them occurred");
    for endpoint in &summary.endpoints {
        let name = ("endpoint", endpoint.endpoint.as_str());
        let calls = |outcome| seen.sum("fanscope_calls_total", &[name, ("outcome", outcome)]);
        same(calls("ok"), count(usize::try_from(endpoint.ok).unwrap()));
        same(calls("not_needed"), count(usize::try_from(endpoint.not_needed).unwrap()));
        for &reason in Reason::ALL {
            let rounds = rounds.iter().flat_map(|r| &r.calls);
            let expected = rounds
                .filter(|c| NAMES[c.endpoint.index()] == name.1 && c.outcome == Outcome::Missing(reason))
                .count();
            same(seen.sum("fanscope_missing_total", &[name, ("reason", reason.as_str())]), count(expected));
        }
    }
    for round in &rounds {
        let labels = [("mode", round.settings.mode.as_str()), ("ended_by", round.ended_by.as_str())];
        same(seen.sum("fanscope_rounds_total", &labels), 1.0);
        let partial = seen.sum("fanscope_partial_rounds_total", &labels[..1]);
        same(partial, f64::from(u8::from(round.partial())));
    }
    same(seen.sum("fanscope_rounds_total", &[]), count(Mode::ALL.len()));
    same(seen.sum("fanscope_round_duration_seconds_count", &[]), count(Mode::ALL.len()));
    let took: f64 = rounds.iter().map(|r| r.took.as_secs_f64()).sum();
    same(seen.sum("fanscope_round_duration_seconds_sum", &[]), took);
}

#[tokio::test(start_paused = true)]
async fn r31_hedges_sent_are_won_and_wasted_and_the_others_are_suppressed() {
    let mut metrics = metrics();
    let round = round(Mode::Hedge).await;
    metrics.event(&settled(&round, 0));
    let mut held = (*round).clone();
    for call in &mut held.calls {
        call.hedges = fanscope::domain::HedgeCounts::default();
    }
    held.calls[0].hedges.suppressed.add(Suppression::Budget);
    held.calls[0].hedges.suppressed.add(Suppression::Permit);
    metrics.event(&settled(&Arc::new(held), 0));
    let seen = scrape(&metrics);
    let of = |name, result| seen.sum("fanscope_hedges_total", &[("endpoint", name), ("result", result)]);
    // The slow one is overtaken by its hedge, the hedge of the one that hangs wins nothing.
    assert_eq!(counts(HEDGE_RESULTS.map(|r| of("slow", r))), ["1", "0", "0"]);
    assert_eq!(counts(HEDGE_RESULTS.map(|r| of("hangs", r))), ["0", "1", "0"]);
    assert_eq!(counts(HEDGE_RESULTS.map(|r| of("fast", r))), ["0", "0", "2"]);
    let sent: u32 = round.calls.iter().map(|c| c.hedges.sent).sum();
    same(of("slow", "won") + of("hangs", "wasted"), f64::from(sent));
}

#[tokio::test(start_paused = true)]
async fn a_call_of_which_nothing_was_sent_has_no_duration() {
    let mut metrics = metrics();
    let mut round = (*round(Mode::Deadline).await).clone();
    round.calls[3].attempts.clear();
    round.calls[3].outcome = Outcome::Missing(Reason::BreakerOpen);
    metrics.event(&settled(&Arc::new(round), 0));
    let seen = scrape(&metrics);
    let of = |name| seen.sum("fanscope_call_duration_seconds_count", &[("endpoint", name)]);
    assert_eq!(counts(NAMES.map(of)), ["1", "1", "1", "0"]);
    same(seen.sum("fanscope_missing_total", &[("reason", "breaker_open")]), 1.0);
    let le = |le| {
        seen.sum(
            "fanscope_call_duration_seconds_bucket",
            &[("endpoint", "slow"), ("outcome", "ok"), ("le", le)],
        )
    };
    let found = counts(["0.1", "0.15", "+Inf"].map(le));
    assert_eq!(found, ["0", "1", "1"], "150 ms lie within the bound of 150 ms");
}

#[tokio::test(start_paused = true)]
async fn a_round_that_was_given_up_counts_as_a_round_and_nowhere_else() {
    let mut metrics = metrics();
    let mut round = (*round(Mode::Deadline).await).clone();
    round.ended_by = EndedBy::Aborted;
    metrics.event(&settled(&Arc::new(round), 0));
    let seen = scrape(&metrics);
    same(seen.sum("fanscope_rounds_total", &[("ended_by", "aborted")]), 1.0);
    for name in ["calls_total", "missing_total", "partial_rounds_total", "round_duration_seconds_count"] {
        same(seen.sum(&format!("fanscope_{name}"), &[]), 0.0);
    }
    same(seen.sum("fanscope_call_duration_seconds_count", &[]), 0.0);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_warms_up_is_counted_nowhere() {
    let mut metrics = metrics();
    let before = scrape(&metrics).samples;
    for ended_by in [EndedBy::Deadline, EndedBy::Aborted] {
        let round = Round { warmup: true, ended_by, ..(*round(Mode::Deadline).await).clone() };
        metrics.event(&settled(&Arc::new(round), 0));
    }
    let sorted = |mut samples: Vec<exposition::Sample>| {
        samples.sort_by(|a, b| (&a.name, &a.labels).cmp(&(&b.name, &b.labels)));
        samples
    };
    assert_eq!(sorted(scrape(&metrics).samples), sorted(before));
}

#[tokio::test(start_paused = true)]
async fn calls_are_in_flight_from_the_start_of_their_round_until_they_settle() {
    let mut metrics = metrics();
    let in_flight = |metrics: &Metrics| scrape(metrics).sum("fanscope_in_flight", &[]);
    let started = |no| {
        Event::RoundStarted(RoundStarted {
            round: RoundNo(no),
            at: Duration::ZERO,
            start_lag: Duration::ZERO,
            settings: Arc::default(),
            budget: ms(150),
            hedge_delays: vec![None; NAMES.len()],
            warming: 0,
        })
    };
    same(scrape(&metrics).sum("fanscope_budget_seconds", &[]), 0.2);
    metrics.event(&started(1));
    metrics.event(&started(2));
    same(in_flight(&metrics), 8.0);
    same(scrape(&metrics).sum("fanscope_budget_seconds", &[]), 0.15);
    let (at, outcome) = (ms(10), Outcome::Ok);
    metrics.event(&Event::CallSettled { round: RoundNo(1), call: EndpointId(0), at, outcome });
    same(in_flight(&metrics), 7.0);
    // The other live events of round 1 were dropped; its end knows better.
    let round = round(Mode::Deadline).await;
    metrics.event(&Event::RoundPublished(Arc::clone(&round)));
    same(in_flight(&metrics), 4.0);
    metrics.event(&settled(&round, 0));
    metrics.event(&Event::CallSettled { round: RoundNo(1), call: EndpointId(1), at, outcome });
    same(in_flight(&metrics), 4.0);
    metrics.event(&settled(&Arc::new(Round { no: RoundNo(2), ..(*round).clone() }), 0));
    same(in_flight(&metrics), 0.0);
}

#[tokio::test(start_paused = true)]
async fn r38_skipped_starts_are_counted_whichever_event_told() {
    let mut metrics = metrics();
    let skipped = |metrics: &Metrics| scrape(metrics).sum("fanscope_rounds_skipped_total", &[]);
    let round = round(Mode::Deadline).await;
    metrics.event(&Event::StartSkipped { at: ms(1), total: 2, cause: SkipCause::Overlap });
    same(skipped(&metrics), 2.0);
    metrics.event(&settled(&round, 2));
    same(skipped(&metrics), 2.0);
    metrics.event(&settled(&round, 5));
    metrics.event(&Event::StartSkipped { at: ms(2), total: 4, cause: SkipCause::Rate });
    same(skipped(&metrics), 5.0);
}

#[tokio::test(start_paused = true)]
async fn starts_skipped_during_the_warm_up_are_counted_where_the_summary_counts_them() {
    let (mut metrics, mut fold) = (metrics().after_warmup(2), SummaryFold::new(&names()));
    let skipped = |metrics: &Metrics| scrape(metrics).sum("fanscope_rounds_skipped_total", &[]);
    let counted = round(Mode::Deadline).await;
    let warm = Arc::new(Round { warmup: true, ..(*counted).clone() });
    for (round, total, so_far) in [(&warm, 1, 0.0), (&warm, 4, 0.0), (&counted, 6, 2.0), (&counted, 7, 3.0)] {
        metrics.event(&Event::StartSkipped { at: ms(1), total, cause: SkipCause::Overlap });
        same(skipped(&metrics), so_far);
        metrics.event(&settled(round, total));
        fold.skipped(total);
        fold.push(round);
        same(skipped(&metrics), so_far);
    }
    assert_eq!(skipped(&metrics).to_string(), fold.skipped_starts().to_string());
}

#[test]
fn names_and_labels_are_those_of_the_contract_and_all_series_exist_at_once() {
    let metrics = metrics();
    let seen = scrape(&metrics);
    let shape = |name: &str, labels: &[&str]| {
        let found = seen.shapes();
        assert_eq!(found.get(format!("fanscope_{name}").as_str()).unwrap(), labels, "{name}");
    };
    shape("missing_total", &["endpoint", "reason"]);
    shape("calls_total", &["endpoint", "outcome"]);
    shape("rounds_total", &["ended_by", "mode"]);
    shape("partial_rounds_total", &["mode"]);
    shape("hedges_total", &["endpoint", "result"]);
    shape("call_duration_seconds_bucket", &["endpoint", "le", "outcome"]);
    shape("call_duration_seconds_sum", &["endpoint", "outcome"]);
    shape("round_duration_seconds_bucket", &["le"]);
    shape("round_duration_seconds_count", &[]);
    shape("in_flight", &[]);
    shape("rounds_skipped_total", &[]);
    shape("budget_seconds", &[]);
    shape("build_info", &["profile", "version"]);
    same(seen.sum("fanscope_build_info", &[("profile", "shop")]), 1.0);
    // The documented bound: closed sets times endpoints, and a little for all of them together.
    let each = Reason::ALL.len() + 3 + HEDGE_RESULTS.len() + 3 * (19 + 3);
    let rounds = Mode::ALL.len() * (EndedBy::ALL.len() + 1) + (19 + 3);
    assert_eq!(seen.samples.len(), NAMES.len() * each + rounds + 4);
}

#[tokio::test(start_paused = true)]
async fn counting_makes_no_new_series() {
    let mut metrics = metrics();
    let before = scrape(&metrics).samples.len();
    for &mode in Mode::ALL {
        metrics.event(&settled(&round(mode).await, 0));
    }
    // An endpoint that the profile does not have is counted for nobody.
    let mut round = (*round(Mode::Deadline).await).clone();
    round.calls[0].endpoint = EndpointId(99);
    metrics.event(&settled(&Arc::new(round), 0));
    assert_eq!(scrape(&metrics).samples.len(), before);
}

#[test]
fn labels_are_escaped_and_come_back_as_they_were() {
    let odd = ["a\"b", "c\\d", "e\nf", "g}h{,i=\"j\"", "ünï—çode ✓", "\\n", "", "tab\tand\r"];
    let names = odd.map(str::to_owned);
    let metrics = Metrics::new("the \"shop\"\\\n", &names, &Settings::default());
    let seen = scrape(&metrics);
    let found: BTreeSet<&str> =
        seen.samples.iter().filter_map(|s| s.labels.get("endpoint")).map(String::as_str).collect();
    assert_eq!(found, BTreeSet::from(odd));
    same(seen.sum("fanscope_build_info", &[("profile", "the \"shop\"\\\n")]), 1.0);
}

#[test]
fn a_profile_without_endpoints_has_metrics_too() {
    let metrics = Metrics::new("empty", &[], &Settings::default());
    same(scrape(&metrics).sum("fanscope_in_flight", &[]), 0.0);
}

fn dashboard() -> Value {
    serde_json::from_str(include_str!("../assets/grafana-dashboard.json")).unwrap()
}

/// Panels with those of collapsed rows.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let top = dashboard["panels"].as_array().unwrap();
    top.iter().flat_map(|p| std::iter::once(p).chain(p["panels"].as_array().into_iter().flatten())).collect()
}

fn expressions(dashboard: &Value) -> Vec<&str> {
    let targets = panels(dashboard).into_iter().filter_map(|p| p["targets"].as_array()).flatten();
    targets.map(|t| t["expr"].as_str().expect("every target has an expr")).collect()
}

#[test]
fn the_dashboard_has_what_grafana_asks_for() {
    let dashboard = dashboard();
    assert_eq!(dashboard["title"], "fanscope");
    assert!(dashboard["uid"].as_str().is_some_and(|uid| !uid.is_empty() && uid.len() <= 40));
    assert!(dashboard["id"].is_null(), "an id belongs to the Grafana that it came from");
    assert!(dashboard["schemaVersion"].as_u64().unwrap() >= 36);
    assert!(dashboard["time"]["from"].is_string() && dashboard["time"]["to"].is_string());
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let variable = |name: &str| variables.iter().find(|v| v["name"] == name).unwrap();
    assert_eq!(
        (&variable("datasource")["type"], &variable("datasource")["query"]),
        (&"datasource".into(), &"prometheus".into())
    );
    for name in ["profile", "instance"] {
        let found = variable(name);
        assert_eq!((&found["type"], &found["datasource"]["uid"]), (&"query".into(), &"${datasource}".into()));
        assert!(found["query"]["query"].as_str().unwrap().starts_with("label_values(fanscope_build_info"));
    }
    let panels = panels(&dashboard);
    let ids: BTreeSet<u64> = panels.iter().map(|p| p["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "ids are unique");
    let mut taken = BTreeSet::new();
    for panel in &panels {
        let title = panel["title"].as_str().unwrap();
        assert!(!title.is_empty() && panel["type"].is_string());
        let cell = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        let (x, y, w, h) = (cell("x"), cell("y"), cell("w"), cell("h"));
        assert!(w > 0 && h > 0 && x + w <= 24, "{title} lies on the grid");
        let cells = (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y)));
        assert!(cells.into_iter().all(|cell| taken.insert(cell)), "{title} lies on another panel");
        if panel["type"] == "row" {
            continue;
        }
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        assert!(panel["description"].as_str().is_some_and(|d| !d.is_empty()), "{title} says what it shows");
        let targets = panel["targets"].as_array().unwrap();
        let refs: BTreeSet<&str> = targets.iter().map(|t| t["refId"].as_str().unwrap()).collect();
        assert!(!targets.is_empty() && refs.len() == targets.len(), "{title}");
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{title}");
    }
}

#[test]
fn the_dashboard_and_the_manual_name_only_series_and_labels_that_there_are() {
    let seen = scrape(&metrics());
    let shapes = seen.shapes();
    let dashboard = dashboard();
    let expressions = expressions(&dashboard);
    let mut used = BTreeSet::new();
    for expr in expressions {
        let names: Vec<&str> = words(expr).filter(|word| word.starts_with("fanscope_")).collect();
        for name in &names {
            assert!(shapes.contains_key(name), "{name} is no series: {expr}");
        }
        assert!(expr.contains("instance=~\"$instance\""), "follows the variable: {expr}");
        for label in expr.split("by (").skip(1).flat_map(|e| e.split(')').next().unwrap().split(", ")) {
            let known = names.iter().all(|name| shapes[name].contains(&label)) || label == "instance";
            assert!(known, "{label} is no label: {expr}");
        }
        used.extend(names);
    }
    // In prose a histogram may go by its family's name.
    let manual = include_str!("../docs/metrics.md");
    for name in words(manual).filter(|word| word.starts_with("fanscope_")) {
        assert!(shapes.contains_key(name) || seen.types.contains_key(name), "{name} is no series");
    }
    for name in shapes.keys().filter(|n| !n.ends_with("_sum") && !n.ends_with("_count")) {
        assert!(used.contains(name), "{name} is not shown");
        assert!(
            words(manual).any(|word| word == name.trim_end_matches("_bucket")),
            "{name} is not explained"
        );
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}
