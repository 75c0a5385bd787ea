//! Made-up recordings, and what the real binary reports of them.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub fn fanscope(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(args)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments reads nothing.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

pub fn report(args: &[&str]) -> String {
    let output = fanscope(&[&["report"], args].concat(), b"");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub fn report_json(args: &[&str]) -> Value {
    serde_json::from_str(&report(&[args, &["--format", "json"]].concat())).unwrap()
}

/// What is said of arguments or a file that are refused, with exit code 2.
pub fn refused(args: &[&str]) -> String {
    let output = fanscope(&[&["report"], args].concat(), b"");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

pub const NAMES: [&str; 4] = ["catalog", "price", "stock", "ads"];

pub fn session(names: &[&str], started: &str) -> String {
    let endpoints: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "required": false, "replicas": 1})).collect();
    json!({"type": "session", "schema": 1, "fanscope": "0.1.0", "profile": "page", "started": started,
        "endpoints": endpoints, "settings": {"mode": "deadline", "budget_ms": 200, "request_budget_ms": 1000,
        "quorum": 2, "every_ms": 500, "hedge": {"delay": "p95"}}})
    .to_string()
}

/// A call: a time and, where it is missing, why.
pub fn call(name: &str, end: f64, reason: Option<&str>) -> Value {
    let (outcome, attempt) = match reason {
        None => ("ok", "ok"),
        Some("deadline") => ("missing", "cancelled"),
        Some(_) => ("missing", "failed"),
    };
    let phases = json!({"queued": 1, "connect": 3, "waiting": end - 9.0, "body": 5});
    let mut attempt = json!({"replica": 0, "kind": "primary", "start_ms": 0, "end_ms": end, "outcome": attempt,
        "reused": true, "phases": phases});
    let mut call = json!({"endpoint": name, "outcome": outcome, "phase": "waiting", "end_ms": end});
    if let Some(reason) = reason {
        call["reason"] = reason.into();
        if reason != "deadline" {
            attempt["reason"] = reason.into();
        }
        if reason == "http_status" {
            call["status"] = 503.into();
        }
    }
    call["attempts"] = json!([attempt]);
    call
}

pub fn round(no: u64, calls: &[Value]) -> Value {
    let missing = calls.iter().filter(|call| call["outcome"] == "missing").count();
    let took = calls.iter().map(|call| call["end_ms"].as_f64().unwrap()).fold(0.0, f64::max) + 0.5;
    json!({"type": "round", "round": no, "at_ms": no * 500, "mode": "deadline", "budget_ms": 200,
        "ended_by": if took > 200.0 { "deadline" } else { "all_settled" }, "took_ms": took, "ok": true,
        "partial": missing > 0, "skipped": 2, "calls": calls})
}

/// Round `no` of a page: `stock` is cut in every second round, `ads` refuses in every third.
pub fn page_round(no: u64, names: &[&str]) -> Value {
    let step = f64::from(u32::try_from(no % 20).unwrap());
    let stock = if no.is_multiple_of(2) { (200.0, Some("deadline")) } else { (150.0 + step, None) };
    let ads = if no.is_multiple_of(3) { (12.0, Some("connect_refused")) } else { (30.0 + step, None) };
    let calls = [
        call(names[0], 40.0 + step, None),
        call(names[1], 80.0 + step, (no == 7).then_some("http_status")),
        call(names[2], stock.0, stock.1),
        call(names[3], ads.0, ads.1),
    ];
    round(no, &calls)
}

pub fn recording(names: &[&str], rounds: u64) -> String {
    let mut text = session(names, "2026-02-03T04:05:06Z") + "\n";
    for no in 1..=rounds {
        if no == 11 {
            text += &(json!({"type": "note", "at_ms": 5200, "text": "deployed 1.2"}).to_string() + "\n");
        }
        writeln!(text, "{}", page_round(no, names)).unwrap();
    }
    text
}

/// The page as XML, after checks that hold for every page.
pub fn page(path: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let tree = roxmltree::Document::parse_with_options(&text, options).unwrap();
    let root = tree.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("lang")), ("html", Some("en")));
    let all = || root.descendants().filter(roxmltree::Node::is_element);
    let policy = all().find(|n| n.attribute("http-equiv") == Some("Content-Security-Policy")).unwrap();
    assert!(policy.attribute("content").unwrap().starts_with("default-src 'none'"));
    let mut ids = BTreeSet::new();
    for node in all() {
        let name = node.tag_name().name();
        assert!(
            !["script", "img", "iframe", "object", "embed", "form", "base", "use", "image"].contains(&name)
        );
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"), "{name} {}", attribute.name());
            if matches!(attribute.name(), "href" | "src" | "action" | "data") {
                assert_eq!(attribute.value(), "data:,", "nothing is loaded");
            }
        }
        assert!(name != "th" || node.attribute("scope").is_some());
        assert!(
            name != "table"
                || node
                    .first_element_child()
                    .unwrap()
                    .has_tag_name(("http://www.w3.org/1999/xhtml", "caption"))
        );
        if let Some(id) = node.attribute("id") {
            assert!(ids.insert(id.to_owned()), "{id} twice");
        }
        if name == "svg" && node.attribute("aria-hidden").is_none() {
            let kinds: Vec<_> = node.children().take(2).map(|n| n.tag_name().name().to_owned()).collect();
            assert_eq!(
                (node.attribute("role"), kinds),
                (Some("img"), vec!["title".to_owned(), "desc".to_owned()])
            );
        }
    }
    assert!(!text.contains("NaN") && !text.contains("inf\"") && !text.contains("url("), "{path}");
    text
}
