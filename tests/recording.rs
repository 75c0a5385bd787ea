//! The record: worked lines, then any round at all.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

use fanscope::domain::event::Vitals;
use fanscope::domain::{
    Ab, Arm, Attempt, AttemptKind, AttemptOutcome, Call, CallSpec, EndedBy, EndpointId, Event, HedgeContract,
    HedgeCounts, HedgeDelay, HedgeSettings, HttpVersion, Late, Mode, Outcome, Phase, Phases, Reason, Round,
    RoundNo, ServerTiming, Settings, Suppressed, Suppression, Variant,
};
use fanscope::recording::{
    Context, EndpointLine, GateLine, Line, Reader, Record, Scribe, SummaryFold, SummaryLine,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("shop-{i}")).collect()
}

fn spec(required: bool, replicas: usize) -> CallSpec {
    CallSpec { required, timeout: None, replicas, repeatable: true, hedge: HedgeContract::ByMode }
}

fn attempt(end: Duration, outcome: AttemptOutcome, reason: Option<Reason>) -> Attempt {
    let mut phases = Phases::default();
    phases.add(Phase::Queued, us(100));
    phases.add(Phase::Waiting, end.saturating_sub(us(100)));
    Attempt {
        replica: 0,
        kind: AttemptKind::Primary,
        start: Duration::ZERO,
        end,
        outcome,
        reason,
        detail: reason.map(|r| format!("{r}\nin its own words")),
        status: None,
        bytes: 0,
        wire_bytes: 0,
        server_timing: std::sync::Arc::default(),
        reused: None,
        http: None,
        remote: None,
        phase: Phase::Waiting,
        phases,
        trace_id: None,
        answer: None,
    }
}

fn call(endpoint: usize, outcome: Outcome, end: Duration, attempts: Vec<Attempt>) -> Call {
    Call {
        endpoint: EndpointId(endpoint),
        outcome,
        end,
        phase: Phase::Waiting,
        status: None,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: None,
        attempts,
    }
}

/// Two answers, one refusal, one cut at the deadline.
fn example() -> Round {
    let ok = |i, end| call(i, Outcome::Ok, end, vec![attempt(end, AttemptOutcome::Ok, None)]);
    let refused = Some(Reason::ConnectRefused);
    let missing = Outcome::Missing(Reason::ConnectRefused);
    Round {
        no: RoundNo(1),
        at: us(1_500),
        start_lag: us(12),
        settings: Arc::new(Settings::default()),
        budget: us(200_000),
        clamped: false,
        k: None,
        ended_by: EndedBy::Deadline,
        took: us(200_600),
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: None,
        arm: None,
        late: Vec::new(),
        answered_optional: 2,
        failed: Vec::new(),
        calls: vec![
            ok(0, us(43_210)),
            call(1, missing, us(900), vec![attempt(us(900), AttemptOutcome::Failed, refused)]),
            ok(2, us(51_000)),
            call(
                3,
                Outcome::Missing(Reason::Deadline),
                us(200_100),
                vec![attempt(us(200_100), AttemptOutcome::Cancelled, None)],
            ),
        ],
    }
}

fn value(line: &Line) -> Value {
    let text = line.to_json_line().unwrap();
    assert_eq!(text.find('\n'), Some(text.len() - 1), "one line");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_deadline_round_as_the_schema_writes_it() {
    let line = Line::round(&example(), &names(4));
    let got = value(&line);
    let phases =
        json!({"queued": 0.1, "dns": null, "connect": null, "tls": null, "waiting": 43.11, "body": null});
    assert_eq!(
        got["calls"][0],
        json!({
            "endpoint": "shop-0", "outcome": "ok", "phase": "waiting", "end_ms": 43.21,
            "attempts": [{
                "replica": 0, "kind": "primary", "start_ms": 0, "end_ms": 43.21, "outcome": "ok", "bytes": 0,
                "phases": phases,
            }],
        })
    );
    // An answer that came encoded, from a server that says what it did.
    let mut told = example();
    let attempt = &mut told.calls[0].attempts[0];
    (attempt.bytes, attempt.wire_bytes) = (12_300, 2_100);
    let metric = |name, took, words| ServerTiming::new(name, took, words).unwrap();
    attempt.server_timing =
        [metric("db", Some(us(47_200)), Some("SELECT")), metric("miss", None, None)].into();
    let told = value(&Line::round(&told, &names(4)));
    let attempt = &told["calls"][0]["attempts"][0];
    assert_eq!((&attempt["bytes"], &attempt["wire_bytes"]), (&json!(12_300), &json!(2_100)));
    assert_eq!(
        attempt["server_timing"],
        json!([{"name": "db", "dur_ms": 47.2, "desc": "SELECT"}, {"name": "miss"}])
    );
    assert_eq!(got["calls"][1]["reason"], "connect_refused");
    assert_eq!(got["calls"][1]["attempts"][0]["detail"], "connect_refused\nin its own words");
    let mut round = got;
    round.as_object_mut().unwrap().remove("calls");
    assert_eq!(
        round,
        json!({
            "type": "round", "round": 1, "at_ms": 1.5, "start_lag_ms": 0.012, "mode": "deadline", "budget_ms": 200,
            "ended_by": "deadline", "took_ms": 200.6, "ok": true, "partial": true, "cacheable": false,
            "answered": 2, "completeness": 0.5,
            "missing": {"shop-1": "connect_refused", "shop-3": "deadline"}, "not_needed": [],
        })
    );
    assert!(line.to_json_line().unwrap().starts_with(r#"{"type":"round","round":1,"at_ms":1.5,"#));
}

#[test]
fn a_quorum_round_has_its_own_fields() {
    let mut round = example();
    round.k = Some(3);
    round.settings = Arc::new(Settings { mode: Mode::Quorum, ..Settings::default() });
    round.quorum_impossible_at = Some(us(120_000));
    round.clamped = true;
    round.lingering = 1;
    let got = value(&Line::round(&round, &names(4)));
    assert_eq!((&got["k"], &got["shortfall"], &got["mode"]), (&json!(3), &json!(1), &json!("quorum")));
    assert_eq!((&got["quorum_impossible_at_ms"], &got["clamped"]), (&json!(120), &json!(true)));
    assert_eq!(got["lingering"], 1);
}

#[test]
fn r34_a_failed_round_lists_what_failed_it() {
    let mut round = example();
    round.ok = false;
    round.ended_by = EndedBy::RequiredFailed;
    round.failed = vec![EndpointId(1), EndpointId(3)];
    let got = value(&Line::round(&round, &names(4)));
    assert_eq!(
        got["failed"],
        json!([
            {"endpoint": "shop-1", "reason": "connect_refused", "detail": "connect_refused\nin its own words"},
            {"endpoint": "shop-3", "reason": "deadline", "detail": "deadline"},
        ])
    );
}

#[test]
fn r31_hedges_stand_on_calls_that_had_or_could_have_had_them() {
    let mut round = example();
    round.calls[0].hedges.suppressed.add(Suppression::Budget);
    round.calls[2].hedge_delay = Some(us(40_000));
    round.calls[2].hedges = HedgeCounts { sent: 1, won: 0, wasted: 1, suppressed: Suppressed::default() };
    let got = value(&Line::round(&round, &names(4)));
    let none = json!({"sent": 0, "won": 0, "wasted": 0, "suppressed": {"budget": 1}});
    assert_eq!(got["calls"][0]["hedges"], none);
    assert_eq!(got["calls"][2]["hedges"], json!({"sent": 1, "won": 0, "wasted": 1, "suppressed": {}}));
    assert_eq!(got["calls"][2]["hedge_delay_ms"], 40);
    assert_eq!(got["calls"][1].get("hedges"), None);
}

#[test]
fn session_and_settings_say_what_was_asked_for() {
    let specs = [spec(true, 1), spec(false, 2), spec(false, 1), spec(false, 1)];
    let settings = Settings::default();
    let body = json!({
        "mode": "deadline", "budget_ms": 200, "request_budget_ms": 10_000, "quorum": 2, "every_ms": 500,
        "hedge": {"delay": "p95"},
    });
    let endpoints = names(4).into_iter().zip(&specs).map(|(name, spec)| EndpointLine::of(&name, spec, false));
    let endpoints: Vec<_> = endpoints.collect();
    let line = Line::session("shops", "2026-02-03T04:05:06Z", endpoints.clone(), &settings);
    let got = value(&line);
    assert_eq!(
        (&got["type"], &got["schema"], &got["profile"]),
        (&json!("session"), &json!(1), &json!("shops"))
    );
    assert_eq!((&got["started"], &got["settings"]), (&json!("2026-02-03T04:05:06Z"), &body));
    assert_eq!(got["endpoints"][1], json!({"name": "shop-1", "required": false, "replicas": 2}));
    assert_eq!(got["endpoints"][0]["required"], true);
    assert_eq!(
        value(&Line::settings(us(7_000), &settings, &endpoints)),
        json!({"type": "settings", "at_ms": 7, "settings": body})
    );
}

#[test]
fn r28_r30_what_an_endpoint_and_hedges_are_asked_for_reads_back() {
    let hedge = HedgeSettings { load_budget: 0.1, on_error: false, ..HedgeSettings::default() };
    let own = HedgeSettings { delay: HedgeDelay::Fixed(us(20_000)), max: Some(2), ..hedge };
    let specs = [
        CallSpec { timeout: Some(us(150_000)), hedge: HedgeContract::Own(own), ..spec(false, 2) },
        CallSpec { repeatable: false, ..spec(false, 1) },
        CallSpec { hedge: HedgeContract::Off, ..spec(true, 1) },
        spec(false, 1),
    ];
    let endpoints = names(4).into_iter().zip(&specs).map(|(name, spec)| EndpointLine::of(&name, spec, false));
    let settings = Settings { hedge, quorum: Some(2), ..Settings::default() };
    let got = value(&Line::session("shops", "", endpoints.collect(), &settings));
    assert_eq!(got["settings"]["hedge"], json!({"delay": "p95", "load_budget": 0.1, "on_error": false}));
    let of = |i: usize, key: &str| got["endpoints"][i].get(key).cloned();
    let said = json!({"delay": "20ms", "max": 2, "load_budget": 0.1, "on_error": false});
    assert_eq!((of(0, "timeout_ms"), of(0, "hedge")), (Some(json!(150)), Some(said)));
    assert_eq!((of(1, "repeatable"), of(2, "hedge")), (Some(json!(false)), Some(json!(false))));
    assert_eq!([of(3, "timeout_ms"), of(3, "repeatable"), of(3, "hedge")], [None, None, None]);
    let Line::Session(back) = Line::parse(&got.to_string()).unwrap() else { panic!("a session") };
    assert_eq!(back.endpoints.iter().map(EndpointLine::spec).collect::<Vec<_>>(), specs);
    assert_eq!(back.settings.settings().unwrap(), settings);
}

fn turns(a: Variant, b: Variant) -> Settings {
    Settings { probe: 0.05, ab: Some(Ab { a, b }), ..Settings::default() }
}

#[test]
fn w7_w9_settings_say_what_is_probed_and_what_takes_turns() {
    let budgets = turns(Variant::Budget(us(150_000)), Variant::Budget(us(250_000)));
    let got = value(&Line::settings(us(0), &budgets, &[]));
    assert_eq!(got["settings"]["probe"], 0.05);
    assert_eq!(got["settings"]["ab"], json!({"vary": "budget", "a": "150ms", "b": "250ms"}));
    let Line::Settings(line) = Line::parse(&got.to_string()).unwrap() else { panic!("settings") };
    let read = line.settings.settings().unwrap();
    assert_eq!((read.probe, read.ab), (budgets.probe, budgets.ab));
    for (key, wrong, says) in [
        ("probe", json!(1.5), "1.5 is no share of rounds to probe"),
        ("probe", json!(-0.1), "-0.1 is no share of rounds to probe"),
        ("ab", json!({"vary": "budget", "a": "150", "b": "250ms"}), "`budget=150` is nothing to vary"),
        ("ab", json!({"vary": "moon\u{1b}", "a": "1", "b": "2"}), "`moon=1` is nothing to vary"),
    ] {
        let mut changed = got.clone();
        changed["settings"][key] = wrong;
        let Line::Settings(line) = Line::parse(&changed.to_string()).unwrap() else { panic!("settings") };
        assert_eq!(line.settings.settings().unwrap_err(), says);
    }
}

#[test]
fn w7_a_probe_round_and_its_stragglers_are_lines_that_read_back() {
    let late = |endpoint, outcome, end| Late { endpoint: EndpointId(endpoint), outcome, end: us(end) };
    let pending = late(1, Outcome::Missing(Reason::Deadline), 1_000_000);
    let lates = [late(3, Outcome::Ok, 231_500), pending];
    let probe = Round { probe: Some(us(1_000_000)), ..example() };
    let got = value(&Line::round(&probe, &names(4)));
    assert_eq!((&got["probe"], &got["watched_ms"]), (&json!(true), &json!(1000)));
    assert_eq!(
        value(&Line::late(RoundNo(1), &lates[0], &names(4))),
        json!({"type": "late", "round": 1, "endpoint": "shop-3", "outcome": "ok", "end_ms": 231.5})
    );
    let endpoints = names(4).iter().map(|name| EndpointLine::of(name, &spec(false, 1), false)).collect();
    let mut scribe = Scribe::new("any", "", endpoints, Arc::default());
    let mut text = scribe.first().to_json_line().unwrap();
    let mut write = |event: &Event| text += &scribe.event(event).unwrap().to_json_line().unwrap();
    write(&Event::RoundSettled { round: Arc::new(probe.clone()), vitals: Vitals::default() });
    for late in lates {
        write(&Event::Late { round: RoundNo(1), late });
    }
    let mut reader = Reader::new(text.as_bytes());
    let mut next = || reader.next_record().unwrap();
    assert!(matches!(next(), Some(Record::Session(_))));
    let Some(Record::Round(round, _)) = next() else { panic!("a round") };
    assert_eq!(round.probe, probe.probe);
    assert_eq!([next(), next()], lates.map(|late| Some(Record::Late(RoundNo(1), late))));
    // How long is not said by another writer: as long as the settings have it.
    let mut context = Context::default();
    context.read(1, text.lines().next().unwrap()).unwrap();
    let unsaid = text.lines().nth(1).unwrap().replace(r#","watched_ms":1000"#, "");
    let Ok(Some(Record::Round(round, _))) = context.read(2, &unsaid) else { panic!("a round") };
    assert_eq!(round.probe, Some(Settings::default().watch()));
}

#[test]
fn w7_the_summary_counts_stragglers_of_rounds_that_count() {
    let late = |reason: Option<Reason>| {
        let outcome = reason.map_or(Outcome::Ok, Outcome::Missing);
        Late { endpoint: EndpointId(3), outcome, end: us(400_000) }
    };
    let probe = |no, warmup| Round { no: RoundNo(no), warmup, probe: Some(us(1_000_000)), ..example() };
    let mut fold = SummaryFold::new(&names(4));
    fold.push(&example());
    assert_eq!((fold.summary(Vec::new()).probes, fold.summary(Vec::new()).late), (0, None));
    let became = [None, Some(Reason::HttpStatus), Some(Reason::Deadline), Some(Reason::Throttled), None];
    for (no, reason) in (2..).zip(became) {
        fold.push(&probe(no, false));
        fold.late(RoundNo(no), &late(reason));
        // Said twice, or of rounds that are in no figure.
        fold.late(RoundNo(no), &late(None));
        fold.late(RoundNo(1), &late(None));
    }
    fold.push(&probe(9, true));
    fold.late(RoundNo(9), &late(None));
    let got = value(&Line::summary(fold.summary(Vec::new())));
    assert_eq!((&got["probes"], &got["late"]), (&json!(5), &json!({"ok": 2, "error": 1, "censored": 2})));
    // Of another session a round has the same number.
    fold.push(&probe(10, false));
    fold.begin();
    fold.late(RoundNo(10), &late(None));
    assert_eq!(fold.summary(Vec::new()).late.unwrap().total(), 5);
}

#[test]
fn w7_what_came_late_is_in_the_curve_of_its_endpoint() {
    let mut fold = SummaryFold::new(&names(4));
    let probe = |no| Round { no: RoundNo(no), probe: Some(us(1_000_000)), ..example() };
    let late = |no, outcome| Late { endpoint: EndpointId(3), outcome, end: us(300_000 + no) };
    for no in 1..=60 {
        fold.push(&probe(no));
        let waiting = fold.summary(Vec::new()).endpoints.swap_remove(3);
        assert_eq!((waiting.observed, waiting.missing.0[0].1), (no, no), "cut is cut, late or not");
        let failed = no % 4 == 0;
        fold.late(
            RoundNo(no),
            &late(no, if failed { Outcome::Missing(Reason::HttpStatus) } else { Outcome::Ok }),
        );
    }
    let curve = fold.curve(EndpointId(3));
    assert_eq!((curve.n(), curve.horizon()), (60, Some(us(300_060))));
    let last = curve.rows().last().unwrap();
    assert!((last.ok - 0.75).abs() < 1e-9 && (last.error - 0.25).abs() < 1e-9, "{last:?}");
    assert!(fold.summary(Vec::new()).endpoints[3].p50_ms.is_some());
    // With hedges beside it the primary is not told apart: it was pending when it was cut.
    let mut hedged = probe(61);
    hedged.calls[3].hedges = HedgeCounts { sent: 1, won: 0, wasted: 1, suppressed: Suppressed::default() };
    fold.push(&hedged);
    fold.late(RoundNo(61), &late(61, Outcome::Ok));
    assert_eq!((fold.curve(EndpointId(3)).n(), fold.summary(Vec::new()).late.unwrap().ok), (61, 46));
    assert_eq!(fold.curve(EndpointId(3)).rows().last().unwrap().time, us(300_060));
    // Nothing more is told of rounds of a session that is over.
    fold.push(&probe(62));
    fold.begin();
    fold.late(RoundNo(62), &late(62, Outcome::Ok));
    assert_eq!(fold.curve(EndpointId(3)).n(), 62);
}

#[test]
fn w9_a_round_that_takes_turns_has_its_settings_back() {
    for (a, b) in [
        (Variant::Budget(us(150_000)), Variant::Budget(us(250_000))),
        (Variant::Mode(Mode::Deadline), Variant::Mode(Mode::Quorum)),
        (Variant::Quorum(1), Variant::Quorum(3)),
        (Variant::Hedge(HedgeDelay::Percentile(0.9)), Variant::Hedge(HedgeDelay::Fixed(us(40_000)))),
    ] {
        let base = Settings { mode: Mode::Hedge, quorum: Some(3), ..turns(a, b) };
        let endpoints: Vec<_> =
            names(4).iter().map(|name| EndpointLine::of(name, &spec(false, 1), false)).collect();
        let first = Line::session("any", "", endpoints, &base).to_json_line().unwrap();
        let mut context = Context::default();
        context.read(1, &first).unwrap();
        assert_eq!(**context.settings(), base);
        for no in 1..=2 {
            let (settings, arm) = base.of_round(no);
            let k = (settings.mode == Mode::Quorum).then_some(3);
            let round = Round {
                no: RoundNo(no),
                budget: settings.budget,
                settings: Arc::new(settings),
                arm,
                k,
                ..example()
            };
            let line = Line::round(&round, &names(4)).to_json_line().unwrap();
            let Ok(Some(Record::Round(back, _))) = context.read(2, &line) else { panic!("a round") };
            assert_eq!((&back.settings, back.arm), (&round.settings, round.arm), "{line}");
        }
    }
}

#[test]
fn w9_the_summary_sets_both_arms_side_by_side() {
    let base = turns(Variant::Budget(us(150_000)), Variant::Budget(us(250_000)));
    let mut fold = SummaryFold::new(&names(4));
    let push = |fold: &mut SummaryFold, base: &Settings, no: u64, answered: usize, took: u64| {
        let (settings, arm) = base.of_round(no);
        let mut round = Round { no: RoundNo(no), arm, took: us(took), ..example() };
        round.settings = Arc::new(settings);
        let ok = |i| call(i, Outcome::Ok, us(9_000), Vec::new());
        let cut = |i| call(i, Outcome::Missing(Reason::Deadline), us(150_000), Vec::new());
        round.calls = (0..4).map(|i| if i < answered { ok(i) } else { cut(i) }).collect();
        fold.push(&round);
    };
    push(&mut fold, &base, 1, 3, 150_100);
    assert_eq!(fold.summary(Vec::new()).ab, None, "one alone is no comparison");
    push(&mut fold, &base, 2, 4, 180_000);
    for no in 3..=100 {
        let (answered, took) = if no % 2 == 1 { (3, 150_000 + no) } else { (4, 180_000) };
        push(&mut fold, &base, no, answered, took);
    }
    // A round that has no turn is in neither.
    push(&mut fold, &Settings::default(), 101, 0, 1);
    let line = Line::summary(fold.summary(Vec::new()));
    let got = value(&line);
    let (ab, a, b) = (&got["ab"], &got["ab"]["a"], &got["ab"]["b"]);
    assert_eq!((&ab["vary"], &a["value"], &b["value"]), (&json!("budget"), &json!("150ms"), &json!("250ms")));
    assert_eq!((&a["rounds"], &a["completeness"], &a["partial"]), (&json!(50), &json!(0.75), &json!(1.0)));
    assert_eq!((&b["rounds"], &b["completeness"], &b["partial"]), (&json!(50), &json!(1.0), &json!(0.0)));
    assert_eq!((&a["p50_ms"], &b["p99_ms"]), (&json!(150.051), &json!(180)));
    let difference = &ab["difference"]["completeness"];
    assert_eq!((&difference["value"], &difference["clear"]), (&json!(0.25), &json!(true)));
    assert!(difference["interval"][0].as_f64().unwrap() > 0.0);
    let Line::Summary(back) = Line::parse(&line.to_json_line().unwrap()).unwrap() else {
        panic!("a summary")
    };
    assert_eq!(back.ab.unwrap().b.rounds, 50);
    // Others in their place begin anew.
    let other = turns(Variant::Budget(us(100_000)), Variant::Budget(us(250_000)));
    (102..=103).for_each(|no| push(&mut fold, &other, no, 4, 1));
    assert_eq!(fold.summary(Vec::new()).ab.unwrap().a.rounds, 1);
}

#[test]
fn readers_accept_what_is_absent_and_what_they_do_not_know() {
    assert_eq!(Line::parse(r#"{"type":"later","round":3,"endpoint":"a"}"#).unwrap(), Line::Unknown);
    assert!(Line::Unknown.to_json_line().is_err());
    let short =
        r#"{"type":"round","round":4,"mode":"wait-all","budget_ms":200.0,"ended_by":"all_settled","new":{}}"#;
    let Line::Round(round) = Line::parse(short).unwrap() else { panic!("a round") };
    assert_eq!((round.round, round.mode, round.calls.len()), (4, Mode::WaitAll, 0));
    let Line::Summary(summary) = Line::parse(r#"{"type":"summary"}"#).unwrap() else { panic!("a summary") };
    assert_eq!(summary, SummaryLine::default());
    // A cut line and a reason of nobody's are errors, not guesses.
    assert!(Line::parse(r#"{"type":"round","round":4,"mo"#).is_err());
    assert!(Line::parse(&short.replace("all_settled", "bored")).is_err());
}

#[test]
fn a_summary_of_nothing_has_no_numbers() {
    let got = value(&Line::summary(SummaryFold::new(&names(1)).summary(Vec::new())));
    let nothing = json!({
        "type": "summary", "rounds": 0, "failed": 0, "skipped": 0, "partial": null, "completeness": null,
        "round": {"n": 0, "p50_ms": null, "p90_ms": null, "p99_ms": null},
        "endpoints": [{
            "endpoint": "shop-0", "n": 0, "ok": 0, "missing": {}, "not_needed": 0, "observed": 0,
            "p50_ms": null, "p95_ms": null, "p99_ms": null,
        }],
        "hedges": {
            "primaries": 0, "sent": 0, "won": 0, "wasted": 0, "extra_load": null, "wasted_ms": 0, "reconnects": 0,
            "suppressed": {},
        },
        "gates": [],
    });
    assert_eq!(got, nothing);
}

#[test]
fn a_summary_counts_and_leaves_open_what_was_cut() {
    let mut fold = SummaryFold::new(&names(4));
    for i in 0..10 {
        let mut round = example();
        round.took = us(200_000 + i);
        fold.push(&round);
    }
    fold.skipped(2);
    let gate = GateLine { gate: "completeness>=0.98".to_owned(), passed: Some(false), value: Some(0.5) };
    let got = value(&Line::summary(fold.summary(vec![gate])));
    assert_eq!((&got["rounds"], &got["skipped"], &got["failed"]), (&json!(10), &json!(2), &json!(0)));
    assert_eq!((&got["partial"], &got["completeness"]), (&json!(1.0), &json!(0.5)));
    // Nearest rank of 10: the 5th, the 9th, the 10th.
    assert_eq!(got["round"], json!({"n": 10, "p50_ms": 200.004, "p90_ms": 200.008, "p99_ms": 200.009}));
    let [answered, refused, _, cut] = [0, 1, 2, 3].map(|i| &got["endpoints"][i]);
    assert_eq!(
        (&answered["ok"], &answered["p50_ms"], &answered["p99_ms"]),
        (&json!(10), &json!(43.21), &json!(43.21))
    );
    assert_eq!((&refused["missing"], &refused["p50_ms"]), (&json!({"connect_refused": 10}), &Value::Null));
    assert_eq!(
        (&cut["missing"], &cut["p50_ms"], &cut["observed"]),
        (&json!({"deadline": 10}), &Value::Null, &json!(10))
    );
    assert_eq!(got["hedges"]["primaries"], 40);
    assert_eq!(got["gates"], json!([{"gate": "completeness>=0.98", "passed": false, "value": 0.5}]));
}

/// A round of one call with these attempts, each with its replica, kind, times and connection.
fn hedged(winner: Option<usize>, attempts: &[(usize, AttemptKind, u64, u64, Option<bool>)]) -> Round {
    let made = attempts.iter().map(|&(replica, kind, start, end, reused)| Attempt {
        replica,
        kind,
        start: us(start * 1000),
        reused,
        ..attempt(us(end * 1000), AttemptOutcome::Ok, None)
    });
    let outcome = if winner.is_some() { Outcome::Ok } else { Outcome::Missing(Reason::Deadline) };
    let sent = u32::try_from(attempts.len() - 1).unwrap();
    let won = u32::from(winner.is_some_and(|w| w > 0));
    let hedges = HedgeCounts { sent, won, wasted: sent - won, suppressed: Suppressed::default() };
    let mut round = example();
    round.calls = vec![Call { winner, hedges, ..call(0, outcome, us(200_000), made.collect()) }];
    round
}

#[test]
fn r31_hedges_are_told_with_what_they_cost() {
    use AttemptKind::{Hedge, Primary};
    let rounds = [
        // The primary alone; its connection is the first.
        hedged(Some(0), &[(0, Primary, 0, 40, Some(false))]),
        // The primary lost: 90 ms for nothing. The hedge's replica is dialled for the first time.
        hedged(Some(1), &[(0, Primary, 0, 90, Some(true)), (1, Hedge, 50, 90, Some(false))]),
        // The hedge lost: 10 ms. The cancelled primary's connection had to be had anew.
        hedged(Some(0), &[(0, Primary, 0, 60, Some(false)), (1, Hedge, 50, 60, Some(true))]),
        // Nobody won: 150 ms of the hedge, which never had a connection.
        hedged(None, &[(0, Primary, 0, 200, Some(true)), (1, Hedge, 50, 200, None)]),
    ];
    let mut fold = SummaryFold::new(&names(1));
    for round in &rounds {
        fold.push(round);
    }
    let got = value(&Line::summary(fold.summary(Vec::new())));
    let want = json!({
        "primaries": 4, "sent": 3, "won": 1, "wasted": 2, "extra_load": 0.75, "wasted_ms": 250, "reconnects": 1,
        "suppressed": {},
    });
    assert_eq!(got["hedges"], want);
}

#[test]
fn rounds_that_do_not_count_are_in_no_figure() {
    let mut fold = SummaryFold::new(&names(4));
    // While it warmed up, three starts were skipped, and the first connection was made.
    fold.skipped(3);
    let first = hedged(Some(0), &[(0, AttemptKind::Primary, 0, 40, Some(false))]);
    fold.push(&Round { warmup: true, ..first.clone() });
    fold.push(&Round { ended_by: EndedBy::Aborted, ..example() });
    let nothing = fold.summary(Vec::new());
    assert_eq!((nothing.rounds, nothing.skipped, nothing.completeness), (0, 0, None));
    assert_eq!(nothing.endpoints[0].n, 0);
    fold.skipped(5);
    fold.push(&first);
    let one = fold.summary(Vec::new());
    assert_eq!((one.rounds, one.skipped, one.hedges.reconnects), (1, 2, 1));
}

#[test]
fn a_summary_of_very_many_rounds_says_that_its_times_are_rounded() {
    let mut fold = SummaryFold::new(&names(4));
    let mut round = example();
    for i in 0..65_537 {
        round.took = us(200_000 + i);
        fold.push(&round);
    }
    let got = fold.summary(Vec::new());
    let by = got.rounded_by.unwrap();
    assert_eq!(
        (got.rounds, got.endpoints[0].observed, got.endpoints[3].missing.0[0].1),
        (65_537, 65_537, 65_537)
    );
    assert!(by <= 1.0 / 1024.0, "{by}");
    let exact = 200_000 + 65_537 / 2;
    let read = got.round.p50_ms.unwrap().micros();
    assert!(read >= exact && (read - exact) * 1024 <= exact, "{read} µs");
}

#[test]
fn one_status_is_kept_and_mixed_ones_are_not() {
    let status = |statuses: &[Option<u16>]| {
        let mut fold = SummaryFold::new(&names(1));
        for &status in statuses {
            let mut round = example();
            round.calls =
                vec![Call { status, ..call(0, Outcome::Missing(Reason::HttpStatus), us(1000), vec![]) }];
            fold.push(&round);
            // Answers and other faults have statuses of their own.
            for outcome in [Outcome::Ok, Outcome::Missing(Reason::BodyTruncated)] {
                round.calls = vec![Call { status: Some(200), ..call(0, outcome, us(1000), vec![]) }];
                fold.push(&round);
            }
        }
        let summary = fold.summary(Vec::new());
        let json = value(&Line::summary(summary.clone()));
        assert_eq!(json["endpoints"][0]["missing"]["http_status"], statuses.len());
        assert_eq!(json["endpoints"][0].get("status"), None);
        summary.endpoints[0].status
    };
    assert_eq!(status(&[Some(503)]), Some(503));
    assert_eq!(status(&[Some(503); 3]), Some(503));
    assert_eq!(status(&[Some(503), Some(500), Some(503)]), None);
    assert_eq!(status(&[Some(503), None]), None);
}

#[test]
fn w6_too_few_at_risk_give_no_quantile() {
    let mut fold = SummaryFold::new(&names(4));
    for _ in 0..4 {
        fold.push(&example());
    }
    let got = fold.summary(Vec::new());
    assert_eq!((got.endpoints[0].ok, got.endpoints[0].p50_ms), (4, None));
    assert!(got.round.p50_ms.is_some());
}

fn any_of<T: Copy + std::fmt::Debug>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

/// Up to a day, in ns, so that rounding is at work.
fn any_time() -> impl Strategy<Value = Duration> {
    (0u64..86_400_000_000_000).prop_map(Duration::from_nanos)
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![Just(Outcome::Ok), Just(Outcome::NotNeeded), any_of(Reason::ALL).prop_map(Outcome::Missing)]
}

prop_compose! {
    fn any_metric()(
        name in "[a-z]{1,60}", took in prop::option::of(any_time()), words in prop::option::of("[a-z]{1,120}")
    ) -> ServerTiming {
        ServerTiming::new(&name, took, words.as_deref()).unwrap()
    }
}

prop_compose! {
    fn any_attempt()(
        kind in any_of(AttemptKind::ALL),
        outcome in any_of(AttemptOutcome::ALL),
        reason in prop::option::of(any_of(Reason::ALL)),
        http in prop::option::of(any_of(HttpVersion::ALL)),
        start in any_time(),
        spent in prop::collection::vec((any_of(Phase::ALL), any_time()), 0..8),
        // Quotes, line breaks, control characters and other scripts.
        detail in prop::option::of(any::<String>()),
        (status, bytes, wire_bytes, reused) in any::<(Option<u16>, u64, u64, Option<bool>)>(),
        server_timing in prop::collection::vec(any_metric(), 0..3),
        remote in any::<Option<(std::net::IpAddr, u16)>>(),
    ) -> Attempt {
        let mut phases = Phases::default();
        for &(phase, time) in &spent {
            phases.add(phase, time);
        }
        Attempt {
            replica: 1,
            kind,
            start,
            end: start + phases.iter().map(|p| p.1).sum::<Duration>(),
            outcome,
            reason,
            detail,
            status,
            bytes,
            wire_bytes,
            server_timing: server_timing.into(),
            reused,
            http,
            remote: remote.map(Into::into),
            phase: spent.last().map_or(Phase::Queued, |p| p.0),
            phases,
            trace_id: None,
            answer: None,
        }
    }
}

prop_compose! {
    fn any_call()(
        outcome in any_outcome(),
        end in any_time(),
        phase in any_of(Phase::ALL),
        status in any::<Option<u16>>(),
        late_by in prop::option::of(any_time()),
        hedge_delay in prop::option::of(any_time()),
        (won, wasted) in (0u32..3, 0u32..3),
        suppressed in prop::collection::vec(any_of(Suppression::ALL), 0..3),
        attempts in prop::collection::vec(any_attempt(), 0..4),
    ) -> Call {
        let mut causes = Suppressed::default();
        for cause in suppressed {
            causes.add(cause);
        }
        let hedges = HedgeCounts { sent: won + wasted, won, wasted, suppressed: causes };
        let answered = || attempts.iter().position(|a| a.outcome == AttemptOutcome::Ok);
        let winner = if outcome == Outcome::Ok { answered() } else { None };
        Call { status, phase, late_by, hedge_delay, hedges, winner, ..call(0, outcome, end, attempts) }
    }
}

prop_compose! {
    fn any_late()(endpoint in 0usize..6, outcome in any_outcome(), end in any_time()) -> Late {
        Late { endpoint: EndpointId(endpoint), outcome, end }
    }
}

/// The same, rounded as in a line.
fn rounded(late: Late) -> Late {
    Late { end: us(u64::try_from((late.end.as_nanos() + 500) / 1000).unwrap()), ..late }
}

prop_compose! {
    fn any_round()(
        calls in prop::collection::vec(any_call(), 0..6),
        mode in any_of(Mode::ALL),
        ended_by in any_of(EndedBy::ALL),
        (at, start_lag, budget, took) in (any_time(), any_time(), any_time(), any_time()),
        k in prop::option::of(1usize..9),
        (quorum_at, quorum_impossible_at) in (prop::option::of(any_time()), prop::option::of(any_time())),
        (ok, clamped, lingering, no, warmup) in any::<(bool, bool, u8, u64, bool)>(),
        failed in prop::collection::vec((0usize..9).prop_map(EndpointId), 0..3),
        (probe, arm) in (prop::option::of(any_time()), prop::option::of(any_of(Arm::ALL))),
        overrun in prop::option::of(any_time()),
    ) -> Round {
        let mut calls = calls;
        for (i, call) in calls.iter_mut().enumerate() {
            call.endpoint = EndpointId(i);
        }
        Round {
            no: RoundNo(no),
            at,
            start_lag,
            settings: Arc::new(Settings { mode, ..Settings::default() }),
            budget,
            clamped,
            k,
            ended_by,
            took,
            ok,
            quorum_impossible_at,
            quorum_at,
            overrun,
            lingering: lingering.into(),
            warmup,
            probe,
            arm,
            late: Vec::new(),
            answered_optional: calls.iter().filter(|c| c.outcome == Outcome::Ok).count(),
            failed,
            calls,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn r1_any_round_is_one_line_that_reads_back(round in any_round()) {
        let names = names(round.calls.len());
        let line = Line::round(&round, &names);
        let text = line.to_json_line().unwrap();
        prop_assert_eq!(text.matches('\n').count(), 1);
        let Line::Round(mut back) = Line::parse(&text).unwrap() else { panic!("a round") };
        let n = round.calls.len();
        prop_assert_eq!(back.answered + back.missing.0.len() + back.not_needed.len(), n);
        prop_assert_eq!(back.calls.len(), n);
        // A share may read back one step beside what was written.
        prop_assert!((back.completeness - round.completeness()).abs() < 1e-12);
        back.completeness = round.completeness();
        prop_assert_eq!(&Line::Round(back), &line);

        let json: Value = serde_json::from_str(&text).unwrap();
        for attempt in json["calls"].as_array().unwrap().iter().flat_map(|c| c["attempts"].as_array().unwrap()) {
            let phases = attempt["phases"].as_object().unwrap();
            prop_assert_eq!(phases.len(), 6);
            let sum: f64 = phases.values().filter_map(Value::as_f64).sum();
            let length = attempt["end_ms"].as_f64().unwrap() - attempt["start_ms"].as_f64().unwrap();
            prop_assert!((sum - length).abs() < 1e-4, "{} and {}", sum, length);
        }
    }

    #[test]
    fn a_round_that_was_read_is_the_one_that_was_written(round in any_round()) {
        let names = names(round.calls.len());
        let endpoints: Vec<_> = names.iter().map(|name| EndpointLine::of(name, &spec(false, 2), false)).collect();
        let first = Line::session("any", "", endpoints, &round.settings).to_json_line().unwrap();
        let mut context = Context::default();
        context.read(1, &first).unwrap();
        let text = Line::round(&round, &names).to_json_line().unwrap();
        let Ok(Some(Record::Round(back, 0))) = context.read(2, &text) else { panic!("a round") };
        prop_assert_eq!(back.answered_optional, round.answered());
        // Words from a file are made safe to show.
        let mut shown = round.clone();
        for attempt in shown.calls.iter_mut().flat_map(|c| &mut c.attempts) {
            attempt.detail = attempt.detail.take().map(|detail| fanscope::domain::text::clean(&detail));
        }
        prop_assert_eq!(Line::round(&back, &names), Line::round(&shown, &names));
        prop_assert_eq!(back.counts(), round.counts());
    }

    #[test]
    fn w7_any_straggler_is_one_line_that_reads_back(late in any_late(), no in any::<u64>()) {
        let endpoints = names(6).iter().map(|name| EndpointLine::of(name, &spec(false, 2), false)).collect();
        let first = Line::session("any", "", endpoints, &Settings::default()).to_json_line().unwrap();
        let mut context = Context::default();
        context.read(1, &first).unwrap();
        let text = Line::late(RoundNo(no), &late, &names(6)).to_json_line().unwrap();
        prop_assert_eq!(context.read(2, &text).unwrap(), Some(Record::Late(RoundNo(no), rounded(late))));
    }

    #[test]
    fn a_record_folds_to_the_summary_of_the_run(
        rounds in prop::collection::vec((any_round(), any::<u16>(), prop::collection::vec(any_late(), 0..4)), 0..8),
        twice in any::<bool>(),
    ) {
        let endpoints = names(6).iter().map(|name| EndpointLine::of(name, &spec(false, 2), false)).collect();
        let mut scribe = Scribe::new("any", "", endpoints, Arc::default());
        let mut text = scribe.first().to_json_line().unwrap();
        let mut skipped = 0;
        for (round, more, lates) in &rounds {
            skipped += u64::from(*more);
            let vitals = Vitals { skipped, ..Vitals::default() };
            let event = Event::RoundSettled { round: Arc::new(round.clone()), vitals };
            text += &scribe.event(&event).unwrap().to_json_line().unwrap();
            for &late in lates {
                text += &scribe.event(&Event::Late { round: round.no, late }).unwrap().to_json_line().unwrap();
            }
        }
        let live = scribe.fold().summary(Vec::new());
        let read = |text: &str| SummaryFold::of_record(&mut Reader::new(text.as_bytes())).unwrap().summary(Vec::new());
        prop_assert_eq!(&read(&text), &live);
        if twice {
            // Recordings that were joined are one observation.
            let joined = read(&text.repeat(2));
            prop_assert_eq!((joined.rounds, joined.skipped), (live.rounds * 2, live.skipped * 2));
            prop_assert_eq!(joined.hedges.reconnects, live.hedges.reconnects * 2);
            let total = |summary: &SummaryLine| summary.late.map_or(0, |late| late.total());
            prop_assert_eq!((joined.probes, total(&joined)), (live.probes * 2, total(&live) * 2));
        }
    }

    #[test]
    fn r41_sums_equal_the_calls(rounds in prop::collection::vec(any_round(), 0..6)) {
        let mut fold = SummaryFold::new(&names(2));
        for round in &rounds {
            fold.push(round);
        }
        let summary = fold.summary(Vec::new());
        let calls: usize = rounds.iter().filter(|r| r.counts()).map(|r| r.calls.len()).sum();
        let mut counted = 0;
        for endpoint in &summary.endpoints {
            let missing: u64 = endpoint.missing.0.iter().map(|m| m.1).sum();
            prop_assert_eq!(endpoint.ok + missing + endpoint.not_needed, endpoint.n);
            prop_assert!(endpoint.observed <= endpoint.n);
            counted += endpoint.n;
        }
        prop_assert_eq!(counted, calls as u64);
        prop_assert_eq!(summary.hedges.sent, summary.hedges.won + summary.hedges.wasted);
        let text = Line::summary(summary).to_json_line().unwrap();
        prop_assert!(Line::parse(&text).is_ok());
        prop_assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}
