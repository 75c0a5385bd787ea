use super::{Written, from_har, from_openapi, starter};
use crate::profile::{self, Profile, Target};
use serde_json::{Value, json};
use std::path::Path;

/// What the profile's own reader makes of it, with every variable set to `v`.
fn read(written: &Written) -> Profile {
    profile::parse("p", &written.text, Path::new("."), &|_| Some("v".to_owned()))
        .unwrap_or_else(|e| panic!("{e}"))
}

fn urls(written: &Written) -> Vec<String> {
    let url = |target: &Target| match target {
        Target::Urls(urls) => urls[0].fill(1, &[]),
        Target::Simulated(_) => panic!("no URL"),
    };
    read(written).endpoints.iter().map(|endpoint| url(&endpoint.target)).collect()
}

fn har(entries: &Value) -> Result<Written, String> {
    from_har(&json!({ "log": { "entries": entries } }).to_string()).map_err(|error| error.to_string())
}

fn entry(url: &str) -> Value {
    json!({ "time": 10, "request": { "method": "GET", "url": url, "headers": [] }, "response": { "status": 200 } })
}

#[test]
fn the_starter_needs_no_variable() {
    let written = starter().unwrap();
    let profile = profile::parse("p", &written.text, Path::new("."), &|_| None).unwrap();
    assert_eq!((profile.endpoints.len(), written.endpoints), (3, 3));
    assert_eq!(profile::warnings(&profile), [""; 0]);
}

#[test]
fn an_entry_becomes_an_endpoint_without_its_secrets() {
    let mut post = entry("https://a.example/login?session=s3cr3t-a");
    post["request"]["method"] = json!("POST");
    post["request"]["headers"] = json!([
        { "name": ":method", "value": "POST" }, { "name": "Connection", "value": "keep-alive" },
        { "name": "X-Auth", "value": "s3cr3t-b" }, { "name": "Accept", "value": "a" },
        { "name": "accept", "value": "b" }, { "name": "bad name", "value": "c" },
    ]);
    post["request"]["cookies"] = json!([{ "name": "sid", "value": "s3cr3t-c" }]);
    post["request"]["postData"] = json!({ "mimeType": "application/x-www-form-urlencoded", "params": [
        { "name": "user", "value": "a b" }, { "name": "password", "value": "s3cr3t-d" } ] });
    post["response"]["status"] = json!(302);
    post["time"] = json!(180);
    let written = har(&json!([post, entry("https://a.example/x"), entry("https://a.example/x")])).unwrap();
    insta::assert_snapshot!(written.text);
    assert!(!written.text.contains("s3cr3t"));
    let profile = read(&written);
    assert_eq!(profile.endpoints[0].body.fill(1, &[]), "user=a+b&password=v");
    assert!(profile.endpoints[0].expect.status.contains(302));
}

#[test]
fn entries_that_are_not_asked_over_http_are_skipped_and_said() {
    let mut parts = entry("https://a/");
    parts["request"]["postData"] = json!({ "mimeType": "multipart/form-data", "params": [] });
    let mut odd = entry("https://a/");
    odd["request"]["method"] = json!("CONNECT");
    let entries =
        json!([entry("data:x"), entry("data:y"), entry("ws://a"), parts, odd, {}, entry("https://a/")]);
    let written = har(&entries).unwrap();
    assert_eq!(urls(&written), ["https://a/"]);
    let notes = written.notes.join("\n");
    for says in ["skipped 2 of 7 entries: data:", "ws:", "several parts", "method", "no URL"] {
        assert!(notes.contains(says), "{notes}");
    }
    assert!(notes.lines().all(|note| written.text.contains(note)), "{}", written.text);
    assert!(har(&json!([entry("blob:x")])).unwrap_err().contains("blob: is not asked over HTTP"));
    assert!(har(&json!([])).unwrap_err().contains("no entries"));
    assert!(har(&json!(1)).unwrap_err().contains("no log.entries"));
}

#[test]
fn a_har_proposes_the_budget_that_nearly_all_entries_kept() {
    let mut entries = vec![entry("https://a/"); 40];
    entries[7]["time"] = json!(4300);
    let text = har(&json!(entries)).unwrap().text;
    assert!(text.contains("budget = \"50ms\""), "{text}");
    assert!(text.contains("# 95 of 100 entries took at most 10 ms, the slowest 4300 ms"), "{text}");
    assert!(text.contains("every = \"2s\""), "{text}");
}

#[test]
fn a_har_can_name_no_variable_of_ours() {
    let trick = har(&json!([entry("https://a/?x=\u{fdd0}HOME\u{fdd1}&y=${HOME}")])).unwrap();
    assert!(urls(&trick)[0].ends_with("&y=${HOME}"), "{}", trick.text);
    assert!(trick.variables.is_empty(), "{:?}", trick.variables);
}

#[test]
fn what_a_profile_can_not_hold_is_cut_and_said() {
    let entries: Vec<Value> =
        (0..profile::MAX_ENDPOINTS + 2).map(|n| entry(&format!("https://a/{n}"))).collect();
    let written = har(&json!(entries)).unwrap();
    assert_eq!(written.endpoints, profile::MAX_ENDPOINTS);
    assert_eq!(written.notes, ["left out: 2 requests beyond the 5000 of a profile"]);
    let mut large = entry("https://a/");
    large["request"]["postData"] = json!({ "text": format!("a={}", "b".repeat(5 << 20)) });
    assert!(har(&json!([large])).unwrap_err().contains("larger than 4 MB"));
}

fn api(mut doc: Value) -> Result<Written, String> {
    doc["openapi"] = json!("3.1.0");
    from_openapi(&doc.to_string(), None).map_err(|error| error.to_string())
}

#[test]
fn a_description_becomes_a_profile_with_its_examples() {
    let written = api(json!({
        "servers": [{ "url": "https://{env}.a.example/v1/", "variables": { "env": { "default": "test" } } }],
        "security": [{ "key": [] }],
        "paths": {
            "/items/{id}": {
                "parameters": [{ "$ref": "#/components/parameters/id" }],
                "get": { "deprecated": true, "parameters": [
                    { "name": "q", "in": "query", "required": true, "schema": { "enum": ["a b", "c"] } },
                    { "name": "page", "in": "query", "schema": { "default": 1 } },
                    { "name": "X-Lang", "in": "header", "required": true, "example": "en" },
                ] },
            },
            "/me": { "get": { "security": [{ "login": [] }] }, "post": {} },
            "/open": { "get": { "security": [] } },
            "/token": { "get": { "security": [{ "query": [] }] } },
            "/write": { "post": {} },
            "/lost/{id}": { "get": {} },
            "/found": { "get": { "parameters": [{ "name": "at", "in": "query", "required": true }] } },
        },
        "components": {
            "parameters": { "id": { "name": "id", "in": "path", "required": true, "schema": { "$ref": "#/components/schemas/id" } } },
            "schemas": { "id": { "type": "integer", "example": 42 } },
            "securitySchemes": {
                "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
                "query": { "type": "apiKey", "in": "query", "name": "k" },
                "login": { "type": "http", "scheme": "bearer" },
            },
        },
    }))
    .unwrap();
    insta::assert_snapshot!(written.text);
    assert_eq!(
        urls(&written),
        [
            "https://test.a.example/v1/items/42?q=a%20b",
            "https://test.a.example/v1/me",
            "https://test.a.example/v1/open",
            "https://test.a.example/v1/token?k=v",
        ]
    );
}

#[test]
fn a_description_that_can_not_be_asked_says_why() {
    let paths = json!({ "/x": { "get": {} } });
    for (doc, says) in [
        (json!({}), "no paths"),
        (json!({ "paths": {} }), "no paths"),
        (json!({ "paths": paths }), "--server"),
        (json!({ "paths": paths, "servers": [{ "url": "/v1" }] }), "--server"),
        (json!({ "paths": paths, "servers": [{ "url": "https://{a}.example" }] }), "--server"),
        (
            json!({ "paths": { "/x": { "post": {} } }, "servers": [{ "url": "https://a" }] }),
            "no path has a GET",
        ),
        (json!({ "paths": { "/{x}": { "get": {} } }, "servers": [{ "url": "https://a" }] }), "not described"),
        (
            json!({ "paths": { "/x": { "get": { "security": [{ "a": [] }] } } }, "servers": [{ "url": "https://a" }] }),
            "not described",
        ),
    ] {
        let error = api(doc.clone()).unwrap_err();
        assert!(error.contains(says), "{doc}: {error}");
    }
    for (text, says) in [
        ("openapi: 3.0.0", "YAML"),
        ("{\"openapi\"", "not JSON"),
        ("{\"swagger\":\"2.0\"}", "Swagger 2"),
        ("{\"openapi\":\"4\"}", "no OpenAPI 3"),
        ("[]", "no OpenAPI 3"),
    ] {
        let error = from_openapi(text, None).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let circle = json!({ "openapi": "3.0.0", "paths": { "/x": { "$ref": "#/paths/~1x" } } });
    assert!(from_openapi(&circle.to_string(), Some("https://a")).is_err());
    let wrong = from_openapi(&json!({ "openapi": "3.0.0", "paths": paths }).to_string(), Some("a.example"));
    assert!(wrong.unwrap_err().to_string().contains("no scheme"));
}
