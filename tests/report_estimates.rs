//! What `fanscope report` says of other budgets, quorums and hedges, of probe rounds and of rounds that take turns: the
//! real binary on made-up recordings.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/recordings.rs"]
mod recordings;

use recordings::{
    Folder, NAMES, call, fanscope, page, page_round, recording, refused, report, report_json, round, session,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// When `stock` answers in round `no`: evenly spread from 110 ms to 410 ms, so that 0.3 of the rounds are in by 200 ms.
fn stock(no: u64) -> f64 {
    f64::from(u32::try_from(no * 37 % 100).unwrap()) * 3.0 + 110.0
}

/// Rounds of which `stock` is often late; of every `probe`th it is known when it came.
fn probed(rounds: u64, probe: u64) -> String {
    let mut text = session(&NAMES, "2026-02-03T04:05:06Z") + "\n";
    for no in 1..=rounds {
        let step = f64::from(u32::try_from(no % 20).unwrap());
        let came = stock(no);
        let stock = if came <= 200.0 { (came, None) } else { (200.0, Some("deadline")) };
        let calls = [
            call(NAMES[0], 40.0 + step, None),
            call(NAMES[1], 80.0 + step, None),
            call(NAMES[2], stock.0, stock.1),
            call(NAMES[3], 30.0 + step, None),
        ];
        let mut line = round(no, &calls);
        let watched = probe > 0 && no.is_multiple_of(probe);
        if watched {
            (line["probe"], line["watched_ms"]) = (true.into(), 1000.into());
        }
        writeln!(text, "{line}").unwrap();
        if watched && stock.1.is_some() {
            let late =
                json!({"type": "late", "round": no, "endpoint": NAMES[2], "outcome": "ok", "end_ms": came});
            writeln!(text, "{late}").unwrap();
        }
    }
    text
}

fn row(all: &Value, ms: f64) -> &Value {
    all["budget"].as_array().unwrap().iter().find(|row| row["budget_ms"].as_f64() == Some(ms)).unwrap()
}

fn pair(value: &Value) -> (f64, f64) {
    (value[0].as_f64().unwrap(), value[1].as_f64().unwrap())
}

#[test]
fn w3_after_only_deadline_rounds_a_longer_budget_is_bounded_and_censored() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", probed(200, 0));
    let all = report_json(&[&file, "--at", "200ms,300ms"]);
    let (ran, longer) = (row(&all, 200.0), row(&all, 300.0));
    assert_eq!((&ran["status"], &longer["status"]), (&json!("exact"), &json!("bounded")));
    let share = ran["completeness"].as_f64().unwrap();
    let (lo, hi) = pair(&ran["completeness_interval"]);
    assert!(lo < share && share < hi && hi - lo < 0.1, "{ran}");
    assert_eq!((&longer["completeness"], &longer["missing"]), (&Value::Null, &Value::Null));
    let (at_least, at_most) = pair(&longer["completeness_bounds"]);
    assert!((at_least - share).abs() < 1e-9 && (at_most - 1.0).abs() < 1e-9, "{longer}");
    assert_eq!(all.get("probes"), None);
    let html = folder.path("page.html");
    let text = report(&[&file, "--at", "200ms,300ms", "--html", &html]);
    let said = "not observed: censored at 200 ms";
    assert!(text.contains(said) && !text.contains("watched to"), "{text}");
    assert!(page(&html).contains(said));
}

#[test]
fn w7_after_probe_rounds_it_is_estimated_as_far_as_they_saw() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", probed(600, 4));
    let html = folder.path("page.html");
    let args = [file.as_str(), "--at", "200ms,300ms,380ms,2s", "--html", &html];
    let all = report_json(&args);
    for ms in [300.0, 380.0] {
        let row = row(&all, ms);
        // What would have been seen had every round been watched.
        let late = (1..=600).filter(|&no| stock(no) > ms).count();
        let truth = 1.0 - f64::from(u32::try_from(late).unwrap()) / 2400.0;
        let (lo, hi) = pair(&row["completeness_interval"]);
        assert!(matches!(row["status"].as_str(), Some("estimated" | "thin")), "{row}");
        assert!((row["completeness"].as_f64().unwrap() - truth).abs() < 0.02, "{row} for {truth}");
        assert!(lo <= truth && truth <= hi, "{row} for {truth}");
    }
    assert_eq!(all["probes"]["rounds"], 150);
    assert_eq!(all["probes"]["watched_ms"], 1000);
    assert_eq!(all["probes"]["late"]["error"], 0);
    let late = (1..=600).filter(|&no: &u64| no.is_multiple_of(4) && stock(no) > 200.0).count();
    assert_eq!(all["probes"]["late"]["ok"], late);
    // What came late is an event of the endpoint's own curve.
    let curve = all["endpoints"][2]["curve"].as_array().unwrap();
    assert!(curve.last().unwrap()["t_ms"].as_f64().unwrap() > 380.0);
    let text = report(&[&file, "--at", "200ms,300ms,380ms,2s"]);
    assert!(text.contains("150 probe rounds") && text.contains("watched to 1000 ms"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(page(&html).contains("estimated"));
}

#[test]
fn w7_joined_recordings_do_not_mix_their_stragglers() {
    let folder = Folder::new();
    let one = probed(200, 2);
    let file = folder.write("one.ndjson", &one);
    let twice = folder.write("twice.ndjson", one.repeat(2));
    let both = [folder.write("a.ndjson", &one), folder.write("b.ndjson", &one)];
    let at = ["--at", "200ms,300ms"];
    let alone = report_json(&[&[file.as_str()][..], &at].concat());
    for files in [vec![twice.as_str()], both.iter().map(String::as_str).collect()] {
        let all = report_json(&[&files[..], &at].concat());
        let (got, want) = (row(&all, 300.0), row(&alone, 300.0));
        assert_eq!((&got["status"], &got["n"]), (&want["status"], &json!(400)));
        let share = |row: &Value| row["completeness"].as_f64().unwrap();
        assert!((share(got) - share(want)).abs() < 1e-9, "{got} and {want}");
        assert_eq!(all["probes"]["late"]["ok"], alone["probes"]["late"]["ok"].as_u64().unwrap() * 2);
    }
}

/// Rounds that have 150 ms and 250 ms in turn.
fn in_turn(rounds: u64) -> String {
    let ab = json!({"vary": "budget", "a": "150ms", "b": "250ms"});
    let mut first: Value = serde_json::from_str(&session(&NAMES, "2026-02-03T04:05:06Z")).unwrap();
    first["settings"]["ab"] = ab;
    let mut text = first.to_string() + "\n";
    for no in 1..=rounds {
        let (arm, budget) = if no % 2 == 1 { ("a", 150.0) } else { ("b", 250.0) };
        let came = stock(no);
        let stock = if came <= budget { (came, None) } else { (budget, Some("deadline")) };
        let calls = [
            call(NAMES[0], 40.0, None),
            call(NAMES[1], 80.0, None),
            call(NAMES[2], stock.0, stock.1),
            call(NAMES[3], 30.0, None),
        ];
        let mut line = round(no, &calls);
        (line["arm"], line["budget_ms"]) = (arm.into(), budget.into());
        writeln!(text, "{line}").unwrap();
    }
    text
}

#[test]
fn w9_rounds_that_take_turns_are_set_side_by_side() {
    let folder = Folder::new();
    let file = folder.write("turns.ndjson", in_turn(400));
    let html = folder.path("turns.html");
    let all = report_json(&[&file, "--html", &html]);
    let ab = &all["ab"];
    assert_eq!(
        (&ab["vary"], &ab["a"]["value"], &ab["b"]["rounds"]),
        (&json!("budget"), &json!("150ms"), &json!(200))
    );
    assert_eq!(ab, &all["summary"]["ab"]);
    let difference = &ab["difference"]["completeness"];
    assert_eq!(difference["clear"], true);
    let points = difference["value"].as_f64().unwrap() * 100.0;
    let said = format!("answered calls: 250ms is better by {points:.1} points");
    let text = report(&[&file]);
    assert!(text.contains(&said) && text.contains("budget, 150ms and 250ms in turn"), "{text}");
    assert!(page(&html).contains(&said.replace("answered calls", "Answered calls")));
    assert_eq!(all["files"][0]["changes"], json!([]), "a turn is no change of settings");
    let few = folder.write("few.ndjson", in_turn(2));
    assert!(report(&[&few]).contains("answered calls: no clear difference"));
    let one = folder.write("one.ndjson", in_turn(1));
    assert_eq!(report_json(&[&one]).get("ab"), None);
}

/// The lines of the budget table that are marked as what ran, in text; in the page the bold ones and the caption.
fn marked(args: &[&str], html: &str) -> (Vec<String>, Vec<String>, String) {
    let text = report(&[args, &["--force", "--html", html]].concat());
    let rows = text.lines().skip_while(|line| !line.contains("≥2"));
    let rows: Vec<&str> = rows.take_while(|line| !line.is_empty()).collect();
    let marks = rows.iter().filter_map(|line| line.strip_prefix('→')).map(|line| line.trim().to_owned());
    let text = page(html);
    let tree = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let tree = roxmltree::Document::parse_with_options(&text, tree).unwrap();
    let all = |name: &'static str| tree.descendants().filter(move |n| n.tag_name().name() == name);
    let words = |node: roxmltree::Node<'_, '_>| {
        node.descendants().filter_map(|n| n.text().filter(|_| n.is_text())).collect::<String>()
    };
    let table = all("table").find(|table| words(*table).contains("at least 2")).unwrap();
    let bold = table.descendants().filter(|n| n.attribute("class") == Some("ran"));
    let bold = bold.map(|row| words(row.first_element_child().unwrap())).collect();
    (marks.collect(), bold, words(table.first_element_child().unwrap()))
}

#[test]
fn r20_r32_r33_where_rounds_do_not_end_at_the_budget_no_budget_is_what_ran() {
    let folder = Folder::new();
    let html = folder.path("page.html");
    for (mode, cut) in
        [("deadline", true), ("hedge", true), ("quorum", false), ("wait-all", false), ("fail-fast", false)]
    {
        let text = probed(100, 0).replace(r#""mode":"deadline""#, &format!(r#""mode":"{mode}""#));
        let file = folder.write("page.ndjson", text);
        let (marks, bold, caption) = marked(&[&file], &html);
        assert_eq!(
            (marks.len(), bold.len()),
            (usize::from(cut), usize::from(cut)),
            "{mode}: {marks:?} {bold:?}"
        );
        assert!(!cut || marks[0].starts_with("200 ms") && bold[0] == "200 ms", "{mode}: {marks:?} {bold:?}");
        assert_eq!(caption.starts_with("If cut at the budget"), !cut, "{mode}: {caption}");
        assert_eq!(report(&[&file]).contains("if cut at answered"), !cut, "{mode}");
        let page = page(&html);
        let (curve, _) = page.split_once("quorum-t").unwrap();
        assert_eq!(curve.contains(">budget 200 ms<"), cut, "{mode}");
        assert_eq!(curve.contains("Answered share if cut at the budget"), !cut, "{mode}");
    }
}

#[test]
fn w9_two_budgets_in_turn_are_both_marked_and_the_third_is_not() {
    let folder = Folder::new();
    let html = folder.path("turns.html");
    let odd =
        |text: String| text.replace("150ms", "147ms").replace(r#""budget_ms":150.0"#, r#""budget_ms":147.0"#);
    let file = folder.write("turns.ndjson", odd(in_turn(400)));
    let (marks, bold, caption) = marked(&[&file], &html);
    assert_eq!(bold, ["147 ms", "250 ms"]);
    assert!(
        marks[0].starts_with("147 ms") && marks[1].starts_with("250 ms") && marks.len() == 2,
        "{marks:?}"
    );
    assert!(caption.contains("in turn"), "{caption}");
    let page = page(&html);
    assert!([147, 250].iter().all(|ms| page.contains(&format!(">budget {ms} ms<"))), "{page}");
    // Where not both modes end at the budget, it is what neither ran.
    let modes = in_turn(40).replace(r#""vary":"budget""#, r#""vary":"mode""#);
    let modes = modes.replace(r#""150ms""#, r#""deadline""#).replace(r#""250ms""#, r#""quorum""#);
    let file = folder.write("modes.ndjson", modes);
    assert_eq!(marked(&[&file], &html).0, Vec::<String>::new());
}

#[test]
fn w6_bounds_say_of_how_many_rounds() {
    let folder = Folder::new();
    let html = folder.path("page.html");
    let file = folder.write("page.ndjson", probed(3, 0));
    let text = report(&[&file, "--at", "300ms", "--html", &html]);
    assert!(text.contains(" %, n 3, not observed: censored at 200 ms"), "{text}");
    assert!(page(&html).contains("<td>3</td><td>"), "{text}");
}

#[test]
fn r28_r30_what_a_recording_says_of_hedges_and_endpoints_is_what_is_asked_about() {
    let folder = Folder::new();
    let changed = |change: &dyn Fn(&mut Value)| {
        let text = probed(400, 2);
        let (first, rest) = text.split_once('\n').unwrap();
        let mut first: Value = serde_json::from_str(first).unwrap();
        change(&mut first);
        folder.write("page.ndjson", format!("{first}\n{rest}"))
    };
    let said = |text: &str| text.contains("load budget 5 %");
    assert!(said(&report(&[&changed(&|_| ())])));
    let file = changed(&|first| first["settings"]["hedge"]["load_budget"] = json!(0.1));
    assert!(report(&[&file]).contains("load budget 10 %"));
    let each = |key: &'static str, value: Value| {
        changed(&|first| {
            for endpoint in first["endpoints"].as_array_mut().unwrap() {
                endpoint[key] = value.clone();
            }
        })
    };
    for (key, value) in [("repeatable", json!(false)), ("hedge", json!(false)), ("hedge", json!({"max": 0}))]
    {
        assert_eq!(report_json(&[&each(key, value.clone())])["hedge"], json!([]), "{key}: {value}");
    }
    assert_ne!(report_json(&[&each("hedge", json!(true))])["hedge"], json!([]));
    let wrong = refused(&[&each("hedge", json!({"delay": "soon"}))]);
    assert!(wrong.contains("`soon` is no hedge delay"), "{wrong}");
}

#[test]
fn r30_a_run_writes_down_what_may_be_sent_once_only_and_its_report_advises_no_hedge_of_it() {
    let folder = Folder::new();
    let rows = |method: &str| {
        let profile = format!(
            "[hedge]\nload_budget = \"10%\"\n[[endpoint]]\nname = \"a\"\nmethod = \"{method}\"\n\
             [[endpoint.simulate]]\nlatency = \"5ms\"\n"
        );
        let profile = folder.write("page.toml", profile);
        let run = fanscope(&["run", &profile, "-n", "20", "--every", "0ms", "--format", "json"], b"");
        assert!(run.status.success(), "{run:?}");
        let file = folder.write("page.ndjson", run.stdout);
        let rows = report_json(&[&file])["hedge"].as_array().unwrap().len();
        (rows > 0, report(&[&file]).contains("load budget 10 %"))
    };
    assert_eq!([rows("GET"), rows("POST")], [(true, true), (false, false)]);
}

/// Rounds in which all calls are slow together, in every fifth.
fn together(rounds: u64) -> String {
    let mut text = session(&NAMES, "2026-02-03T04:05:06Z") + "\n";
    for no in 1..=rounds {
        let step = f64::from(u32::try_from(no * 7 % 40).unwrap());
        let calls = NAMES.map(|name| {
            if no.is_multiple_of(5) {
                call(name, 200.0, Some("deadline"))
            } else {
                call(name, 40.0 + step, None)
            }
        });
        writeln!(text, "{}", round(no, &calls)).unwrap();
    }
    text
}

#[test]
fn w4_calls_that_are_slow_together_are_called_correlated() {
    let folder = Folder::new();
    let file = folder.write("together.ndjson", together(400));
    let html = folder.path("together.html");
    let all = report_json(&[&file, "--quorum", "2", "--html", &html]);
    let quorum = &all["quorum"];
    assert_eq!((&quorum["k"], &quorum["correlated"]), (&json!(2), &json!(true)));
    let by = |key: &str| quorum[key].as_f64().unwrap();
    // Eight of ten rounds have all; of independent calls two of four would nearly always be there.
    assert!((by("by_budget") - 0.8).abs() < 1e-9 && by("independent") > 0.95, "{quorum}");
    for point in quorum["curve"].as_array().unwrap() {
        let get = |key: &str| point[key].as_f64().unwrap();
        assert!((get("met") + get("impossible") + get("pending") - 1.0).abs() < 1e-9, "{point}");
    }
    assert!(by("p50_ms") < 90.0 && quorum["p99_ms"].is_null(), "{quorum}");
    let text = report(&[&file, "--quorum", "2"]);
    let line = text.lines().find(|line| line.contains("2 of 4") && line.contains("80.0 %")).unwrap();
    assert!(line.ends_with(" correlated"), "{text}");
    let text = page(&html);
    assert!(text.contains("id=\"quorum-t\"") && text.contains("correlated"));
}

#[test]
fn w5_hedges_are_modelled_and_called_so() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", probed(400, 2));
    let html = folder.path("page.html");
    let all = report_json(&[&file, "--html", &html]);
    let rows = all["hedge"].as_array().unwrap();
    assert_eq!(
        (&rows[0]["delay"], &rows[0]["delay_ms"], &rows[0]["extra_load"]),
        (&Value::Null, &Value::Null, &json!(0.0))
    );
    assert!(rows.len() > 3);
    for row in rows {
        let share = |key: &str| row[key].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share("ok_by_budget")) && share("extra_load") >= 0.0, "{row}");
        assert!(matches!(row["status"].as_str(), Some("model" | "extrapolated")), "{row}");
    }
    let text = report(&[&file]);
    assert!(text.contains("no hedge") && text.contains("model: assumes independence"), "{text}");
    assert!(page(&html).contains("assumes independence"));
    // A call that may be sent once only is not hedged.
    let once: Vec<String> = probed(40, 0)
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            for call in line["calls"].as_array_mut().into_iter().flatten() {
                call["hedges"] =
                    json!({"sent": 0, "won": 0, "wasted": 0, "suppressed": {"not_idempotent": 1}});
            }
            line.to_string()
        })
        .collect();
    let once = folder.write("once.ndjson", once.join("\n") + "\n");
    assert_eq!(report_json(&[&once])["hedge"], json!([]));
    assert!(!report(&[&once]).contains("no hedge"));
}

#[test]
fn the_advice_stands_in_every_form() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", probed(600, 4));
    let html = folder.path("page.html");
    let all = report_json(&[&file, "--html", &html]);
    let advice: Vec<&str> =
        all["advice"].as_array().unwrap().iter().map(|said| said.as_str().unwrap()).collect();
    assert!(!advice.is_empty());
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, page) = (flat(&report(&[&file])), flat(&page(&html)));
    for said in advice {
        assert!(text.contains(said), "{said}\nin {text}");
        assert!(page.contains(&said.replace('\'', "&#39;").replace('>', "&gt;")), "{said}");
    }
}

#[test]
fn bad_questions_have_clear_answers() {
    let folder = Folder::new();
    let file = folder.write("page.ndjson", recording(&NAMES, 30));
    for (at, says) in [("50", "unit"), ("soon", "soon"), ("-5ms", "-5ms"), ("", "value"), ("50ms,", "unit")] {
        let said = refused(&[&file, &format!("--at={at}")]);
        assert!(said.contains("--at") && said.contains(says), "{at:?}: {said}");
    }
    assert!(refused(&[&file, "--quorum", "0"]).contains("--quorum 0: it is 1 to 4"));
    assert!(refused(&[&file, "--quorum", "5"]).contains("--quorum 5: it is 1 to 4"));
    assert!(refused(&[&folder.write("empty.ndjson", "")]).contains("it is empty"));
}

/// Every form of a report, of which none has a number that is none.
fn every_form(folder: &Folder, file: &str) -> (Value, String) {
    let html = folder.path("any.html");
    let all = report_json(&[file, "--html", &html, "--force"]);
    let text = report(&[file]);
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    page(&html);
    let ascii = report(&[file, "--ascii"]);
    assert!(ascii.is_ascii(), "{ascii}");
    (all, text)
}

#[test]
fn one_round_or_none_that_counts_says_little_and_nothing_wrong() {
    let folder = Folder::new();
    let one =
        folder.write("one.ndjson", session(&NAMES, "") + "\n" + &page_round(2, &NAMES).to_string() + "\n");
    let (all, text) = every_form(&folder, &one);
    assert_eq!(all["quorum"]["correlated"], false);
    let ran = row(&all, 200.0);
    assert_eq!((&ran["status"], &ran["n"]), (&json!("exact"), &json!(1)));
    let (lo, hi) = pair(&ran["completeness_interval"]);
    assert!(lo <= 0.0 && hi >= 1.0, "one round says nothing of others: {ran}");
    assert!(text.contains("Only 1 round so far"), "{text}");
    let mut warm = page_round(1, &NAMES);
    warm["warmup"] = true.into();
    (warm["probe"], warm["watched_ms"]) = (true.into(), 1000.into());
    let late = json!({"type": "late", "round": 1, "endpoint": NAMES[2], "outcome": "ok", "end_ms": 300});
    let none = folder.write("none.ndjson", format!("{}\n{warm}\n{late}\n", session(&NAMES, "")));
    let (all, text) = every_form(&folder, &none);
    assert_eq!((&all["rounds"]["n"], &all["rounds"]["warmup"]), (&json!(0), &json!(1)));
    assert_eq!((&all["advice"], &all["quorum"]["curve"]), (&json!([]), &json!([])));
    assert_eq!(row(&all, 200.0)["status"], "not_observed");
    assert!(text.contains("no rounds"), "{text}");
    let nobody = folder.write("nobody.ndjson", session(&[], "") + "\n");
    every_form(&folder, &nobody);
    let unwatched = folder.write("late.ndjson", recording(&NAMES, 3) + &late.to_string() + "\n");
    let (all, _) = every_form(&folder, &unwatched);
    assert_eq!(all.get("probes"), None, "its round was not watched");
}

#[test]
fn w7_w9_a_real_run_with_probe_rounds_and_turns_is_told_in_full() {
    let folder = Folder::new();
    let args = [
        "run",
        "shops",
        "--seed",
        "7",
        "-n",
        "24",
        "--every",
        "20ms",
        "--probe",
        "100%",
        "--ab",
        "budget=30ms,60ms",
    ];
    let run = fanscope(&[&args[..], &["--format", "json"]].concat(), b"");
    assert!(run.status.success(), "{run:?}");
    let file = folder.write("run.ndjson", &run.stdout);
    let lines: Vec<Value> = String::from_utf8(run.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["settings"]["ab"], json!({"vary": "budget", "a": "30ms", "b": "60ms"}));
    assert_eq!(lines[0]["settings"]["probe"], 1.0);
    let (mut known, mut changes): (Vec<&Value>, usize) = (Vec::new(), 0);
    for line in &lines {
        match line["type"].as_str() {
            Some("round") => known.push(line),
            Some("late") => {
                let round =
                    known.iter().find(|round| round["round"] == line["round"]).expect("its round is over");
                assert_eq!(round["probe"], true);
                assert_eq!(round["missing"][line["endpoint"].as_str().unwrap()], "deadline", "{line}");
                assert!(line["end_ms"].as_f64() > round["budget_ms"].as_f64(), "{line}");
            }
            Some("settings") => changes += 1,
            _ => {}
        }
    }
    assert!(changes <= 1, "a session may say once what holds, and a turn is no change");
    let turns =
        known.iter().map(|round| (round["arm"].as_str().unwrap(), round["budget_ms"].as_f64().unwrap()));
    assert!(turns.clone().all(|turn| turn == ("a", 30.0) || turn == ("b", 60.0)));
    let mut summary = lines.last().unwrap().clone();
    summary.as_object_mut().unwrap().remove("type");
    assert!(summary["probes"].as_u64() > Some(0) && summary["late"]["ok"].as_u64() > Some(0), "{summary}");
    let all = report_json(&[&file]);
    assert_eq!(all["summary"], summary);
    assert_eq!(all["ab"]["b"]["rounds"], 12);
    // The same in words, as `run` and as `report` have them.
    let run = fanscope(&args, b"");
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(
        text.contains("budget, 30ms and 60ms in turn\n") && text.contains("watched past the end: "),
        "{text}"
    );
    let text = report(&[&file]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("budget 30ms and 60ms in turn") && flat.contains("watched past the end: "),
        "{text}"
    );
}
