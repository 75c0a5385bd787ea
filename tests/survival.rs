//! The estimator against worked examples with right answers (`tests/vectors.json`, times in ms).

use fanscope::whatif::survival::{Curve, Grade, Observation, Observed, Row};
use serde_json::Value;
use std::time::Duration;

const TOLERANCE: f64 = 1e-6;

fn millis(value: &Value) -> Duration {
    Duration::from_secs_f64(value.as_f64().expect("a time") / 1e3)
}

fn observed(code: &Value) -> Observed {
    match code.as_u64() {
        Some(1) => Observed::Ok,
        Some(2) => Observed::Error,
        Some(0) => Observed::Censored,
        _ => panic!("unknown code {code}"),
    }
}

/// Input comes as pairs or as two columns.
fn observations(input: &Value) -> Vec<Observation> {
    let pairs: Vec<(&Value, &Value)> = if let Some(obs) = input["obs"].as_array() {
        obs.iter().map(|pair| (&pair[0], &pair[1])).collect()
    } else {
        let column = |name: &str| input[name].as_array().expect("a column").iter();
        column("times").zip(column("event")).collect()
    };
    pairs.into_iter().map(|(t, code)| Observation { time: millis(t), what: observed(code) }).collect()
}

fn ok_at(curve: &Curve, t: Duration) -> f64 {
    curve.at(t).map_or(0.0, |row| row.ok)
}

fn close(name: &str, key: &str, got: f64, want: &Value) {
    let want = want.as_f64().unwrap_or_else(|| panic!("{name}: {key} is no number"));
    assert!((got - want).abs() < TOLERANCE, "{name}: {key} is {got}, expected {want}");
}

fn rows(name: &str, curve: &Curve, want: &[Value]) {
    assert_eq!(curve.rows().len(), want.len(), "{name}: rows");
    for (row, want) in curve.rows().iter().zip(want) {
        assert_eq!(row.time, millis(&want["t"]), "{name}");
        assert_eq!(Some(row.at_risk as u64), want["at_risk"].as_u64(), "{name} at {:?}", row.time);
        close(name, "S", row.pending, &want["S"]);
        if want.get("F_ok").is_some() {
            close(name, "F_ok", row.ok, &want["F_ok"]);
            close(name, "F_err", row.error, &want["F_err"]);
        }
    }
}

/// Checks one expected field; false where the field is held elsewhere.
fn check(name: &str, curve: &Curve, seen: &[Observation], key: &str, want: &Value) -> bool {
    let quantile = |q: f64| {
        let want = want.as_f64().map(|_| millis(want));
        assert_eq!(curve.quantile_ok(q), want, "{name}: {key}");
    };
    let time = |prefix: &str| {
        key.strip_prefix(prefix)
            .map(|t| millis(&Value::from(t.replace('_', ".").parse::<f64>().expect("a time"))))
    };
    match key {
        "curve" => rows(name, curve, want.as_array().expect("rows")),
        "median" => quantile(0.5),
        "p75" => quantile(0.75),
        "p80" => quantile(0.8),
        "p95" | "raw_p95" => quantile(0.95),
        "p95_status" => {
            assert_eq!(want, "not_observed_censored_at_200", "{name}");
            assert_eq!(curve.horizon(), Some(Duration::from_millis(200)), "{name}");
            assert!(!curve.unreachable_ok(0.95), "{name}");
        }
        "p95_grade" => {
            assert_eq!(want, "none", "{name}");
            assert_eq!(curve.row_ok(0.95).map(Row::grade), Some(Grade::None), "{name}");
        }
        "at_risk_after_200" => {
            let next = curve.rows().iter().find(|row| row.time > Duration::from_millis(200));
            assert_eq!(next.map(|row| row.at_risk as u64), want.as_u64(), "{name}");
        }
        "naive_1_minus_KM_errors_censored_at_80" => {
            let blind: Vec<_> = seen
                .iter()
                .map(|o| match o.what {
                    Observed::Error => Observation { what: Observed::Censored, ..*o },
                    _ => *o,
                })
                .collect();
            close(name, key, ok_at(&Curve::of(&blind), Duration::from_millis(80)), want);
        }
        _ => {
            if let Some(t) = time("F_ok_at_") {
                close(name, key, ok_at(curve, t), want);
            } else if let Some(t) = time("S_at_") {
                close(name, key, curve.at(t).map_or(1.0, |row| row.pending), want);
            } else {
                return false;
            }
        }
    }
    true
}

#[test]
fn w2_worked_examples() {
    let file: Value = serde_json::from_str(include_str!("vectors.json")).expect("vectors");
    // In `whatif_vectors.rs`, and what a call comes to in `round_vectors.rs`.
    let elsewhere = [
        "greenwood_var_at_30",
        "loglog95_at_30",
        "wilson95_ok_by_150",
        "outcomes",
        "wrong_if_censored_at_nominal_200",
    ];
    let (mut vectors, mut fields) = (0, 0);
    for vector in file["vectors"].as_array().expect("a list") {
        if !matches!(vector["kind"].as_str(), Some("km" | "aj")) {
            continue;
        }
        let name = vector["name"].as_str().expect("a name");
        let seen = observations(&vector["input"]);
        let curve = Curve::of(&seen);
        for (key, want) in vector["expected"].as_object().expect("fields") {
            if check(name, &curve, &seen, key, want) {
                fields += 1;
            } else {
                assert!(elsewhere.contains(&key.as_str()), "{name}: {key} is not checked");
            }
        }
        vectors += 1;
    }
    assert_eq!(vectors, 6);
    assert!(fields >= 15, "only {fields} fields were checked");
}

#[test]
fn w3_beyond_the_horizon_there_are_only_bounds() {
    let file: Value = serde_json::from_str(include_str!("vectors.json")).expect("vectors");
    let vectors = file["vectors"].as_array().expect("a list");
    let vector = vectors.iter().find(|v| v["kind"] == "bounds").expect("the vector");
    let curve = Curve::of(&observations(&vector["input"]));
    let want = &vector["expected"];
    let (at, beyond) = (millis(&vector["input"]["horizon"]), millis(&vector["input"]["ask"]));
    assert_eq!(curve.horizon(), Some(at));
    close("bounds", "F_ok_at_200", curve.ok_bounds(at).0, &want["F_ok_at_200"]);
    close("bounds", "F_ok_at_200", curve.ok_bounds(at).1, &want["F_ok_at_200"]);
    close("bounds", "low", curve.ok_bounds(beyond).0, &want["ok_by_300_bounds"][0]);
    close("bounds", "high", curve.ok_bounds(beyond).1, &want["ok_by_300_bounds"][1]);
}
