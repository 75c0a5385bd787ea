//! The schema in `assets/profile.schema.json` knows the same keys as the checks.

use super::validate::keys;
use serde_json::Value;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../assets/profile.schema.json")).expect("JSON")
}

/// The keys of the first table with these properties at or below a definition.
fn known(schema: &Value) -> Vec<String> {
    let table = schema
        .get("properties")
        .or_else(|| schema["anyOf"].as_array().into_iter().flatten().find_map(|one| one.get("properties")));
    table.and_then(Value::as_object).into_iter().flat_map(|t| t.keys().cloned()).collect()
}

#[test]
fn schema_and_checks_know_the_same_keys() {
    let schema = schema();
    let sorted = |keys: &[&str]| {
        let mut keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        keys.sort();
        keys
    };
    let mut root = known(&schema);
    root.sort();
    assert_eq!(root, sorted(keys::ROOT));
    let without_name: Vec<&str> = keys::ENDPOINT.iter().copied().filter(|&key| key != "name").collect();
    for (name, expected) in [
        ("round", keys::ROUND),
        ("hedge", keys::HEDGE),
        ("endpoint", keys::ENDPOINT),
        ("defaults", &without_name),
        ("expect", keys::EXPECT),
        ("tls", keys::TLS),
        ("simulate", keys::SIMULATE),
        ("fail", keys::FAIL),
        ("slow", keys::SLOW),
        ("latency", keys::LATENCY),
        ("bimodal", keys::BIMODAL),
    ] {
        let mut found = known(&schema["$defs"][name]);
        found.sort();
        assert_eq!(found, sorted(expected), "{name}");
    }
}
