//! The JSON schemas in `assets`: every printed line and every good profile is valid, and wrong ones are not.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

use fanscope::domain::{
    Ab, CallSpec, EndpointId, HedgeContract, HedgeDelay, HedgeSettings, Late, Mode, Outcome, Reason, RoundNo,
    Settings, Variant,
};
use fanscope::recording::{EndpointLine, Line};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn validator(name: &str) -> Validator {
    let text = std::fs::read_to_string(Path::new("assets").join(name)).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[track_caller]
fn hold(validator: &Validator, instance: &Value, what: &str) {
    let faults: Vec<String> =
        validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

#[test]
fn every_line_that_run_prints_is_valid() {
    let record = validator("record.schema.json");
    for args in [
        &["shops", "-n", "12", "--seed", "7"][..],
        &["page", "-n", "6"],
        &["replicas", "-m", "hedge", "--hedge-delay", "0ms", "-n", "6"],
        &["shops", "-m", "quorum", "-k", "8", "-n", "4"],
        &["shops", "-m", "fail-fast", "-n", "3"],
        &["shops", "-n", "3", "--warmup", "2", "--gate", "completeness>=0.99", "--gate", "p99.shop-0<=1s"],
    ] {
        let out = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .arg("run")
            .args(args)
            .args(["--every", "0ms", "--format", "json"])
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.lines().count() > 4, "{args:?}: {text}");
        for line in text.lines() {
            hold(&record, &serde_json::from_str(line).unwrap(), line);
        }
    }
}

#[test]
fn lines_that_only_the_dashboard_writes_are_valid() {
    let record = validator("record.schema.json");
    let at = Duration::from_micros(1_234_567);
    let own = HedgeSettings { load_budget: 0.5, on_error: false, ..HedgeSettings::default() };
    let spec = |name: &str, hedge| CallSpec {
        required: name == "a",
        timeout: Some(Duration::from_millis(150)),
        replicas: 2,
        repeatable: name == "a",
        hedge,
    };
    let hedges = [HedgeContract::Own(own), HedgeContract::Off];
    let endpoints =
        hedges.map(|hedge| ["a", "b"].map(|name| EndpointLine::of(name, &spec(name, hedge), true)));
    for endpoints in &endpoints {
        let text = Line::session("two", "", endpoints.to_vec(), &Settings::default()).to_json_line().unwrap();
        hold(&record, &serde_json::from_str(&text).unwrap(), &text);
    }
    let endpoints = endpoints.concat();
    let hedge =
        HedgeSettings { delay: HedgeDelay::parse("50ms").unwrap(), max: Some(1), ..Default::default() };
    let changed = Settings { mode: Mode::Quorum, quorum: Some(1), hedge, ..Settings::default() };
    let [a, b] = [150, 250].map(|ms| Variant::Budget(Duration::from_millis(ms)));
    let turns = Settings { probe: 0.05, ab: Some(Ab { a, b }), ..Settings::default() };
    for line in [
        Line::note(at, "shop-0: http_503"),
        Line::note(Duration::ZERO, ""),
        Line::settings(at, &changed, &endpoints),
        Line::settings(at, &Settings::default(), &[]),
        Line::settings(at, &turns, &endpoints),
    ] {
        let text = line.to_json_line().unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value["type"] == "note" || value["type"] == "settings", "{text}");
        hold(&record, &value, &text);
        let mut untimed = value.clone();
        untimed["at_ms"] = json!("soon");
        assert!(!record.is_valid(&untimed), "{untimed}");
    }
    assert!(!record.is_valid(&json!({"type": "note", "at_ms": 1})), "a note without words");
}

#[test]
fn w7_lines_of_stragglers_are_valid() {
    let record = validator("record.schema.json");
    let outcomes = [Outcome::Ok, Outcome::Missing(Reason::Deadline), Outcome::Missing(Reason::HttpStatus)];
    for outcome in outcomes {
        let late = Late { endpoint: EndpointId(0), outcome, end: Duration::from_micros(231_500) };
        let text = Line::late(RoundNo(7), &late, &["a".to_owned()]).to_json_line().unwrap();
        hold(&record, &serde_json::from_str(&text).unwrap(), &text);
    }
    let bored = json!({"type": "late", "round": 7, "endpoint": "a", "outcome": "bored", "end_ms": 1});
    assert!(!record.is_valid(&bored));
}

#[test]
fn a_line_that_is_none_is_not_valid() {
    let record = validator("record.schema.json");
    let round = json!({
        "type": "round", "round": 1, "at_ms": 0, "start_lag_ms": 0, "mode": "deadline", "budget_ms": 200,
        "ended_by": "deadline", "took_ms": 200.1, "ok": true, "partial": true, "cacheable": false, "answered": 0,
        "completeness": 0.0, "missing": {"a": "deadline"}, "not_needed": [], "calls": [],
    });
    hold(&record, &round, "the round");
    for (key, wrong) in [
        ("type", json!("rund")),
        ("mode", json!("quorm")),
        ("took_ms", json!(-1)),
        ("missing", json!({"a": "bored"})),
        ("ended_by", json!(null)),
        ("calls", json!([{"endpoint": "a"}])),
    ] {
        let mut changed = round.clone();
        changed[key] = wrong;
        assert!(!record.is_valid(&changed), "{changed}");
    }
}

/// A TOML file as JSON.
fn toml(path: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::to_value(toml::from_str::<toml::Table>(&text).ok()?).ok()
}

fn profiles(folder: &str) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    found.sort();
    found
}

#[test]
fn good_profiles_are_valid() {
    let profile = validator("profile.schema.json");
    let good = [profiles("profiles"), profiles("tests/good_profiles")].concat();
    assert!(good.len() >= 5);
    for path in good {
        hold(&profile, &toml(&path).unwrap(), &path.display().to_string());
    }
}

#[test]
fn profiles_of_the_wrong_shape_are_not_valid() {
    let profile = validator("profile.schema.json");
    for name in [
        "c01_key_in_the_wrong_table",
        "c01_typo",
        "c01_typo_in_nested_tables",
        "c03_durations",
        "c09_flags_of_the_wrong_type",
        "modes_and_words",
        "r05_no_endpoints",
        "r05_empty_replicas",
        "r05_plural_endpoints",
        "r20_quorum_zero",
        "tables_of_the_wrong_kind",
    ] {
        let path = Path::new("tests/bad_profiles").join(name).with_extension("toml");
        assert!(!profile.is_valid(&toml(&path).unwrap()), "{name}");
    }
}
