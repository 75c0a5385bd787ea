//! `fanscope report` as a script and a reader see it: the real binary on made-up and on real recordings.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/recordings.rs"]
mod recordings;

use recordings::{
    Folder, NAMES, call, fanscope, page, page_round, recording, refused, report, report_json, round, session,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn the_text_for_people() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", recording(&NAMES, 30));
    let shown = |text: String| text.replace(&file, "page.ndjson");
    insta::assert_snapshot!("text", shown(report(&[&file, "--at", "50ms,100ms,150ms,200ms,250ms,300ms"])));
    let ascii = shown(report(&[&file, "--ascii", "--at", "100ms,300ms"]));
    assert!(ascii.is_ascii(), "{ascii}");
    insta::assert_snapshot!("ascii", ascii);
}

#[test]
fn w3_the_json_answers_for_every_budget_asked_about() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", recording(&NAMES, 30));
    let all = report_json(&[&file, "--at", "250ms,200ms,60ms,200ms", "--quorum", "3"]);
    let rows = all["budget"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "ascending, none twice");
    let cut = 15;
    let (refused, answered) = (10, 120 - 15 - 10 - 1);
    let want = json!({"budget_ms": 200, "status": "exact", "n": 30, "left_out": 0,
        "completeness": f64::from(answered) / 120.0, "completeness_bounds": null,
        "completeness_interval": rows[1]["completeness_interval"], "all": 9.0 / 30.0,
        "at_least_k": rows[1]["at_least_k"], "missing": {"connect_refused": refused, "http_status": 1, "deadline": cut}});
    assert_eq!(rows[1], want);
    // Rounds with three answers or more: only those both cut and refused (or with the refused price) have fewer.
    assert_eq!(rows[1]["at_least_k"], json!(25.0 / 30.0));
    let errors = f64::from(refused + 1) / 120.0;
    let bounded = json!({"budget_ms": 250, "status": "bounded", "n": 30, "left_out": 30, "completeness": null,
        "completeness_interval": null, "completeness_bounds": [rows[1]["completeness"], 1.0 - errors], "all": null,
        "at_least_k": null, "missing": null});
    assert_eq!(rows[2], bounded);
    assert_eq!(all["k"], 3);
    assert_eq!(rows[0]["missing"]["connect_refused"], 10);
    let steps = report_json(&[&file]);
    let budgets: Vec<f64> =
        steps["budget"].as_array().unwrap().iter().map(|row| row["budget_ms"].as_f64().unwrap()).collect();
    assert_eq!(budgets, (1..=20).map(|i| f64::from(i) * 20.0).collect::<Vec<_>>());
}

#[test]
fn w6_w8_endpoints_have_graded_quantiles_a_curve_and_their_blame() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", recording(&NAMES, 30));
    let all = report_json(&[&file]);
    let endpoints = all["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.iter().map(|e| e["endpoint"].clone()).collect::<Vec<_>>(), NAMES);
    let stock = &endpoints[2];
    assert_eq!(
        (&stock["n"], &stock["ok"], &stock["missing"]),
        (&json!(30), &json!(15), &json!({"deadline": 15}))
    );
    let graded: Vec<(&Value, &str)> = stock["quantiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|q| (&q["ms"], q["grade"].as_str().unwrap()))
        .collect();
    assert_eq!(
        graded,
        [
            (&json!(169), "thin"),
            (&Value::Null, "censored"),
            (&Value::Null, "censored"),
            (&Value::Null, "censored")
        ]
    );
    assert_eq!(stock["blame"]["cut"], 15);
    // Nothing else is missing in the even rounds that are no multiple of three.
    let (complete, alone) = (9.0, 10.0);
    assert_eq!(all["rounds"]["complete"], 9);
    assert_eq!(stock["blame"]["complete_without"], json!((complete + alone) / 30.0));
    for endpoint in endpoints {
        let mut before = (0.0, 0.0);
        for row in endpoint["curve"].as_array().unwrap() {
            let get = |key: &str| row[key].as_f64().unwrap();
            assert!((get("ok") + get("error") + get("pending") - 1.0).abs() < 1e-9, "{row}");
            assert!(get("t_ms") > before.0 && get("ok") + get("error") > before.1, "{row}");
            before = (get("t_ms"), get("ok") + get("error"));
        }
        for q in endpoint["quantiles"].as_array().unwrap() {
            let [lo, ms, hi] = ["lo_ms", "ms", "hi_ms"].map(|key| q[key].as_f64());
            assert!(lo.is_none_or(|lo| ms.is_none_or(|ms| lo <= ms)), "{q}");
            assert!(hi.is_none_or(|hi| ms.is_some_and(|ms| ms <= hi)), "{q}");
            let nothing = matches!(q["grade"].as_str(), Some("none" | "unreachable"));
            assert!(!nothing || (lo, hi) == (None, None), "nothing is made up: {q}");
        }
    }
    assert_eq!(all["worst"][0]["missing"], json!({"stock": "deadline", "ads": "connect_refused"}));
}

#[test]
fn a_real_runs_own_summary_is_repeated_exactly() {
    let folder = Folder::new();
    for (name, args) in [
        ("deadline", &["shops", "-n", "12", "--every", "0ms", "-b", "90ms"][..]),
        (
            "hedge",
            &["replicas", "-n", "12", "--every", "0ms", "-m", "hedge", "--hedge-delay", "20ms", "-b", "90ms"],
        ),
        ("quorum", &["shops", "-n", "12", "--every", "0ms", "-m", "quorum", "-k", "3"]),
    ] {
        let run = fanscope(&[&["run", "--seed", "7", "--format", "json"], args].concat(), b"");
        assert!(run.status.success(), "{run:?}");
        let file = folder.write(name, &run.stdout);
        let text = String::from_utf8(run.stdout).unwrap();
        let mut summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&summary["type"], &summary["rounds"]), (&json!("summary"), &json!(12)));
        summary.as_object_mut().unwrap().remove("type");
        let all = report_json(&[&file]);
        assert_eq!(all["summary"], summary, "{name}");
        assert_eq!(all["files"][0]["summary"], summary, "{name}");
        if name == "deadline" {
            let ran = all["budget"].as_array().unwrap().iter().find(|row| row["budget_ms"] == 90).unwrap();
            assert_eq!(ran["completeness"], summary["completeness"]);
        }
    }
}

#[test]
fn r40_w6_shares_and_quantiles_of_endpoints_are_those_that_run_prints() {
    let folder = Folder::new();
    let file = folder.path("quorum.ndjson");
    let args = [
        "run", "shops", "-m", "quorum", "-k", "2", "-n", "10", "--every", "0ms", "--seed", "5", "--record",
        &file,
    ];
    let run = fanscope(&args, b"");
    assert!(run.status.success(), "{run:?}");
    // The share, the median and the 95th percentile of each endpoint, in its first row: that of the table of endpoints.
    let figures = |text: &str| -> Vec<Vec<String>> {
        let text = text.replace(" ms", "ms").replace(" %", "%");
        let row = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let name = words.first().filter(|name| name.starts_with("shop-"))?.clone();
            let share = words.iter().position(|word| word.ends_with('%'))?;
            Some([vec![name], words.get(share..share + 3)?.to_vec()].concat())
        };
        let mut seen = BTreeSet::new();
        text.lines().filter_map(row).filter(|row| seen.insert(row[0].clone())).collect()
    };
    let printed = String::from_utf8(run.stdout).unwrap();
    let all = report_json(&[&file]);
    let not_needed: u64 =
        all["endpoints"].as_array().unwrap().iter().map(|e| e["not_needed"].as_u64().unwrap()).sum();
    assert!(not_needed > 0, "or it shows nothing");
    let wanted = figures(&printed);
    assert_eq!(wanted.len(), 8, "{printed}");
    assert!(wanted.iter().flatten().any(|word| word.starts_with('~')), "ten calls are few: {printed}");
    assert_eq!(figures(&report(&[&file])), wanted);
}

#[test]
fn warm_up_rounds_and_those_given_up_are_left_out_and_told() {
    let folder = Folder::new();
    let mut text = recording(&NAMES, 4);
    let mut warm = page_round(5, &NAMES);
    warm["warmup"] = true.into();
    let mut aborted = page_round(6, &NAMES);
    aborted["ended_by"] = "aborted".into();
    writeln!(text, "{warm}\n{aborted}").unwrap();
    let file = folder.write("warm.ndjson", &text);
    let all = report_json(&[&file]);
    assert_eq!(all["rounds"], json!({"n": 4, "warmup": 1, "aborted": 1, "complete": 1}));
    assert_eq!((&all["endpoints"][0]["n"], &all["budget"][9]["n"]), (&json!(4), &json!(4)));
    assert!(report(&[&file]).contains("rounds left out: 1 to warm up, 1 given up"));
}

#[test]
fn several_recordings_are_one_observation_and_shown_by_themselves() {
    let folder = Folder::new();
    let one = folder.write("berlin.ndjson", recording(&NAMES, 30));
    let other = folder.write("tokyo.ndjson", recording(&NAMES, 10).replace("T04:05", "T06:07"));
    let all = report_json(&[&one, &other]);
    assert_eq!((&all["rounds"]["n"], &all["summary"]["skipped"]), (&json!(40), &json!(4)));
    let files = all["files"].as_array().unwrap();
    let of =
        |i: usize| (files[i]["summary"]["rounds"].as_u64().unwrap(), files[i]["started"].as_str().unwrap());
    assert_eq!([of(0), of(1)], [(30, "2026-02-03T04:05:06Z"), (10, "2026-02-03T06:07:06Z")]);
    let text = report(&[&one, &other]);
    assert!(text.contains("40 rounds from 2 recordings"), "{text}");
    assert!(text.lines().any(|line| line.contains("2026-02-03T06:07      10")), "{text}");
    let fewer = folder.write("other.ndjson", recording(&["catalog", "price", "stock", "banner"], 3));
    let said = refused(&[&one, &fewer]);
    for part in [
        "other.ndjson is a recording of other endpoints than",
        "berlin.ndjson",
        "has no `ads`",
        "also has `banner`",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(refused(&[&one, &one]).contains("berlin.ndjson is given twice"));
    std::fs::create_dir(folder.path("sub")).unwrap();
    let again = folder.path("sub/../berlin.ndjson");
    assert!(refused(&[&one, &other, &again]).contains("sub/../berlin.ndjson is the same file as"));
    assert!(refused(&["-", "-"]).contains("standard input is given twice"));
    assert!(refused(&["--compare", "-", "-"]).contains("standard input is given twice"));
}

#[test]
fn joined_recordings_follow_one_another() {
    let folder = Folder::new();
    let one = recording(&NAMES, 12);
    let changed = |budget: u64| {
        let settings = json!({"mode": "deadline", "budget_ms": budget, "request_budget_ms": 1000, "quorum": 2,
            "every_ms": 500, "hedge": {"delay": "p95"}});
        json!({"type": "settings", "at_ms": 0, "settings": settings}).to_string() + "\n"
    };
    let file = folder.write("twice.ndjson", one.clone() + &changed(150) + &one + &changed(200));
    let all = report_json(&[&file]);
    // A round ends at 6000 + 200.5 ms, and there the second session begins.
    let part = &all["files"][0];
    assert_eq!(all["rounds"]["n"], 24);
    assert_eq!(part["length_ms"], 2.0 * 6200.5);
    assert_eq!(
        part["notes"].as_array().unwrap().iter().map(|n| n["at_ms"].clone()).collect::<Vec<_>>(),
        [5200.0, 11400.5]
    );
    // With its session the first settings hold again, so that saying them once more is no change.
    assert_eq!(part["changes"].as_array().unwrap().len(), 1, "{part}");
    let mut ats: Vec<f64> =
        all["worst"].as_array().unwrap().iter().map(|w| w["at_ms"].as_f64().unwrap()).collect();
    ats.sort_by(f64::total_cmp);
    assert_eq!(ats[2..], [6000.0, 9200.5, 12200.5]);
    let page_of = folder.path("twice.html");
    let text = report(&[&file, "--html", &page_of]);
    assert!(text.contains("24 rounds in 12.4 s") && !text.contains("settings differ"), "{text}");
    page(&page_of);
}

#[test]
fn recordings_under_other_settings_are_told() {
    let folder = Folder::new();
    let plain = recording(&NAMES, 12);
    let other = plain.replace("\"budget_ms\":200,\"every", "\"budget_ms\":150,\"every").replace("p95", "p90");
    assert_ne!(plain, other);
    let (one, two) = (folder.write("one.ndjson", &plain), folder.write("two.ndjson", &other));
    let html = folder.path("both.html");
    let text = report(&[&one, &two, "--html", &html]);
    let said = format!("settings differ: {two} budget 150ms, hedge after p90");
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&text).contains(&said), "{text}");
    assert!(page(&html).contains(&said));
    let all = report_json(&[&one, &two]);
    let budgets: Vec<&Value> =
        all["files"].as_array().unwrap().iter().map(|f| &f["settings"]["budget_ms"]).collect();
    assert_eq!(budgets, [200, 150]);
    let joined = folder.write("joined.ndjson", plain + &other);
    assert!(flat(&report(&[&joined])).contains("joined.ndjson (joined) budget 150ms, hedge after p90"));
    assert_eq!(report_json(&[&joined])["files"][0]["joined"][0]["budget_ms"], 150);
    let compared = report_json(&["--compare", &one, &two]);
    assert_eq!(
        (&compared["old"]["settings"]["budget_ms"], &compared["new"]["settings"]["hedge"]["delay"]),
        (&json!(200), &json!("p90"))
    );
}

#[test]
fn the_page_does_not_call_everything_that_was_not_cut_a_failure() {
    let folder = Folder::new();
    let text = recording(&NAMES, 12).replace("connect_refused", "breaker_open");
    let html = folder.path("a.html");
    report(&[&folder.write("a.ndjson", text), "--html", &html]);
    let text = page(&html);
    assert!(text.contains("breaker_open") && text.contains("everything else has its reason in the head"));
    assert!(!text.contains("everything else failed"));
}

#[test]
fn packed_and_piped_recordings_read_alike() {
    let folder = Folder::new();
    let text = recording(&NAMES, 12);
    let plain = folder.write("a.ndjson", &text);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = folder.write("a.ndjson.gz", gz.finish().unwrap());
    let zst = folder.write("a.ndjson.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    let want = report_json(&[&plain]);
    for file in [&gz, &zst] {
        assert_eq!(report_json(&[file])["endpoints"], want["endpoints"]);
    }
    let piped = fanscope(&["report", "-", "--format", "json"], text.as_bytes());
    let piped: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!((&piped["summary"], &piped["files"][0]["file"]), (&want["summary"], &json!("standard input")));
}

#[test]
fn what_was_left_out_at_a_cut_end_is_told() {
    let folder = Folder::new();
    let text = recording(&NAMES, 12);
    let file = folder.write("cut.ndjson", &text[..text.len() - 100]);
    let output = fanscope(&["report", &file, "--format", "json"], b"");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cut.ndjson: line 14 is cut"), "{said}");
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(all["files"][0]["left_out"].as_str().unwrap().starts_with("line 14 is cut"));
    assert_eq!(all["rounds"]["n"], 11);
    assert!(report(&[&file]).contains("line 14 is cut"));
}

#[test]
fn a_recording_without_rounds_has_no_numbers() {
    let folder = Folder::new();
    let file = folder.write("none.ndjson", session(&NAMES, "2026-02-03T04:05:06Z") + "\n");
    let text = report(&[&file, "--html", &folder.path("none.html")]);
    assert!(text.contains("answered no data  partial no data") && text.contains("no rounds"), "{text}");
    let all = report_json(&[&file]);
    assert_eq!(
        (&all["summary"]["completeness"], &all["budget"][0]["status"]),
        (&Value::Null, &json!("not_observed"))
    );
    let nobody = folder.write("nobody.ndjson", session(&[], "") + "\n");
    report(&[&nobody, "--html", &folder.path("nobody.html")]);
    report(&["--compare", &file, &nobody]);
    page(&folder.path("nobody.html"));
}

#[test]
fn what_is_no_recording_is_refused_with_its_name_and_line() {
    let folder = Folder::new();
    let good = session(&NAMES, "") + "\n";
    let newer = good.replace(r#""schema":1"#, r#""schema":9"#);
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("empty", Vec::new(), "it is empty"),
        ("text", b"hello\n".to_vec(), "line 1: this is no recording: its lines are not JSON"),
        ("binary", b"\x7fELF\xff\xfe\0\n".to_vec(), "line 1: this is no recording: it is binary"),
        (
            "profile",
            b"name = \"page\"\n[round]\n".to_vec(),
            "line 1: this is no recording: it looks like a profile",
        ),
        (
            "types",
            (good.clone() + "{\"type\":\"round\",\"round\":\"one\"}\n").into_bytes(),
            "line 2: invalid type",
        ),
        ("broken", (good.clone() + "{\"type\":\n{}\n").into_bytes(), "line 2: EOF while parsing"),
        ("newer", newer.into_bytes(), "line 1: it has schema 9"),
        (
            "other",
            (good.clone() + &page_round(1, &["x", "price", "stock", "ads"]).to_string() + "\n").into_bytes(),
            "line 2: its session has no endpoint `x`",
        ),
    ];
    for (name, bytes, says) in cases {
        let file = folder.write(name, bytes);
        let said = refused(&[&file]);
        assert!(said.starts_with(&format!("fanscope: {file}: {says}")), "{name}: {said}");
    }
    assert!(refused(&[&folder.path("nowhere")]).contains("nowhere: cannot open it: No such file"));
    assert!(refused(&[folder.0.path().to_str().unwrap()]).contains("cannot open it: it is a directory"));
    let file = folder.write("good", recording(&NAMES, 3));
    assert!(refused(&[&file, "--quorum", "5"]).contains("--quorum 5: it is 1 to 4"));
    assert!(refused(&[&file, "--at", "50"]).contains("unit"));
    assert!(refused(&["--compare", &file]).contains("takes two recordings, OLD and NEW, and here are 1"));
}

#[test]
fn no_number_is_too_large_or_too_small() {
    let folder = Folder::new();
    for (budget, end, at) in [(0.0, 0.0, 0.0), (1e15, 1e15, 1e17), (0.001, 1e15, 0.0), (200.0, 0.0, 1e17)] {
        let mut text =
            session(&NAMES, "").replace("\"budget_ms\":200", &format!("\"budget_ms\":{budget}")) + "\n";
        for no in [1, u64::MAX] {
            let calls = NAMES.map(|name| {
                json!({"endpoint": name, "outcome": "missing", "reason": "deadline", "end_ms": end, "late_by_ms": end,
                    "attempts": [{"kind": "primary", "start_ms": end, "end_ms": end, "outcome": "cancelled",
                        "phases": {"waiting": end, "body": end}}]})
            });
            let mut round = round(1, &calls);
            round["round"] = no.into();
            (round["at_ms"], round["budget_ms"]) = (at.into(), budget.into());
            writeln!(text, "{round}").unwrap();
        }
        let file = folder.write("far.ndjson", text);
        let html = folder.path("far.html");
        let said = report(&[&file, "--html", &html, "--force"]);
        assert!(said.contains("answered 0.0 %") && !said.contains("NaN") && !said.contains("inf "), "{said}");
        page(&html);
        assert_eq!(report_json(&[&file])["rounds"]["n"], 2);
        report(&["--compare", &file, &folder.write("twin.ndjson", std::fs::read(&file).unwrap())]);
    }
}

#[test]
fn the_page_stands_by_itself_and_nothing_in_it_is_markup_of_the_recordings() {
    let folder = Folder::new();
    let evil = ["<script>alert(1)</script>", "\"onload=\"x\" a='b", "&amp;]]>", "名前"];
    let text =
        recording(&evil, 30).replace("deployed 1.2", "</td><img src=x>").replace("\"page\"", "\"<b>p</b>\"");
    let file = folder.write("evil <&>.ndjson", text);
    let html = folder.path("evil.html");
    report(&[&file, "--html", &html]);
    let text = page(&html);
    let tree = roxmltree::Document::parse_with_options(
        &text,
        roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() },
    )
    .unwrap();
    let said: String = tree.descendants().filter(roxmltree::Node::is_text).filter_map(|n| n.text()).collect();
    for name in evil.iter().chain(&["</td><img src=x>", "<b>p</b>: fan-out report", "evil <&>.ndjson"]) {
        assert!(said.contains(name), "{name}");
    }
    for id in ["curve", "worst0", "worst4", "history0"] {
        assert!(text.contains(&format!("id=\"{id}-t\"")), "{id}");
    }
    assert!(said.contains("not observed"));
}

#[test]
fn a_page_never_replaces_a_file_unasked() {
    let folder = Folder::new();
    let file = folder.write("a.ndjson", recording(&NAMES, 3));
    let html = folder.write("a.html", "mine");
    assert!(refused(&[&file, "--html", &html]).contains("a.html is there already; --force writes over it"));
    assert_eq!(std::fs::read_to_string(&html).unwrap(), "mine");
    report(&[&file, "--html", &html, "--force"]);
    page(&html);
    assert!(refused(&[&file, "--html", &file, "--force"]).contains("one of the recordings"));
    assert!(
        std::fs::read_to_string(&file).unwrap().starts_with("{\"endpoints\""),
        "the recording is untouched"
    );
    let nowhere = folder.path("no/where.html");
    assert!(refused(&[&file, "--html", &nowhere]).contains("cannot write"));
    assert!(refused(&[&file, "--force"]).contains("--html"));
}

#[test]
fn two_recordings_side_by_side() {
    let folder = Folder::new();
    let old = folder.write("old.ndjson", recording(&NAMES, 60));
    let better =
        recording(&["catalog", "price", "stock", "banner"], 60).replace("connect_refused", "conn_reset");
    let better: Vec<String> = better
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if line["type"] == "round" {
                line["calls"][2] = call("stock", 120.0, None);
            }
            line.to_string()
        })
        .collect();
    let new = folder.write("new.ndjson", better.join("\n"));
    let all = report_json(&["--compare", &old, &new]);
    let shares = all["shares"].as_array().unwrap();
    let stock = shares.iter().find(|row| row["endpoint"] == "stock").unwrap();
    assert_eq!(
        (&stock["reason"], &stock["old"], &stock["new"]),
        (&json!("deadline"), &json!(0.5), &json!(0.0))
    );
    assert_eq!((&stock["difference"], &stock["clear"]), (&json!(-0.5), &json!(true)));
    assert!(stock["lo"].as_f64().unwrap() < -0.5 && stock["hi"].as_f64().unwrap() < 0.0);
    let price = shares.iter().find(|row| row["endpoint"] == "price").unwrap();
    assert_eq!((&price["difference"], &price["clear"]), (&json!(0.0), &json!(false)));
    let completeness = &shares[0];
    assert_eq!((&completeness["what"], &completeness["clear"]), (&json!("completeness"), &json!(true)));
    assert_eq!((&all["only_old"], &all["only_new"]), (&json!(["`ads`"]), &json!(["`banner`"])));
    let text = report(&["--compare", &old, &new]).replace(&old, "old.ndjson").replace(&new, "new.ndjson");
    insta::assert_snapshot!("compare", text);
}

#[test]
fn one_round_against_another_is_no_clear_difference() {
    let folder = Folder::new();
    for rounds in [1, 2] {
        let good: Vec<Value> =
            (1..=rounds).map(|no| round(no, &NAMES.map(|name| call(name, 40.0, None)))).collect();
        let bad: Vec<Value> = (1..=rounds)
            .map(|no| round(no, &NAMES.map(|name| call(name, 200.0, Some("deadline")))))
            .collect();
        let write = |name: &str, rounds: &[Value]| {
            let lines: Vec<String> = rounds.iter().map(Value::to_string).collect();
            folder.write(name, session(&NAMES, "") + "\n" + &lines.join("\n") + "\n")
        };
        let (old, new) = (write("old.ndjson", &good), write("new.ndjson", &bad));
        let all = report_json(&["--compare", &old, &new]);
        for row in all["shares"].as_array().unwrap() {
            assert_eq!(row["clear"], false, "{row}");
        }
        assert_eq!(all["shares"][0]["difference"], -1.0);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let file = folder.write("a.ndjson", recording(&NAMES, 30));
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["report", &file, "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
