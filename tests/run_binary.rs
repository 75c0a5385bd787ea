//! `fanscope run` and `check` as a script sees them: the real binary, real sockets.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/upstream.rs"]
mod upstream;

use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use upstream::{Manner, Upstream, refusing};

fn fanscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fanscope")).args(args).stdin(Stdio::null()).output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn rounds(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    lines(output).into_iter().filter(|l| l["type"] == "round").collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn write(dir: &TempDir, name: &str, text: impl AsRef<[u8]>) -> String {
    let path: PathBuf = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn endpoint(name: &str, url: &str, more: &str) -> String {
    format!("[[endpoint]]\nname = \"{name}\"\nurl = \"{url}\"\n{more}\n")
}

/// Five answer well within the second that they have, one hangs, one refuses, one answers 503.
struct Shop {
    answering: Vec<Upstream>,
    hanging: Upstream,
    broken: Upstream,
    _refusing: socket2::Socket,
    dir: TempDir,
    profile: String,
}

fn shop() -> Shop {
    let answering: Vec<Upstream> =
        [10, 40, 80, 250, 400].map(|ms| Upstream::start(Manner::Answer(200, ms))).into();
    let hanging = Upstream::start(Manner::Hang);
    let broken = Upstream::start(Manner::Answer(503, 5));
    let (socket, refused) = refusing();
    let mut text = "name = \"shop\"\n[round]\nbudget = \"1s\"\nevery = \"1010ms\"\n".to_owned();
    for (i, upstream) in answering.iter().enumerate() {
        text += &endpoint(&format!("a{i}"), &upstream.url(), "");
    }
    text += &endpoint("hangs", &hanging.url(), "");
    text += &endpoint("refuses", &refused, "");
    text += &endpoint("broken", &broken.url(), "");
    let dir = tempfile::tempdir().unwrap();
    let profile = write(&dir, "shop.toml", text);
    Shop { answering, hanging, broken, _refusing: socket, dir, profile }
}

#[test]
fn r12_r13_r41_every_deadline_round_has_its_answers_its_reasons_and_closes_what_it_cut() {
    let shop = shop();
    let output = fanscope(&["run", &shop.profile, "-n", "4", "--format", "json"]);
    let rounds = rounds(&output);
    assert_eq!(rounds.len(), 4);
    for round in &rounds {
        assert!(round["took_ms"].as_f64().unwrap() >= 1000.0, "never before the budget");
        assert_eq!(round["ended_by"], "deadline");
        assert_eq!(round["answered"], 5);
        let missing = serde_json::json!({
            "hangs": "deadline", "refuses": "connect_refused", "broken": "http_status"
        });
        assert_eq!(round["missing"], missing);
        let call = |name: &str| round["calls"].as_array().unwrap().iter().find(|c| c["endpoint"] == name);
        assert_eq!(call("broken").unwrap()["status"], 503);
        assert_eq!(call("hangs").unwrap()["phase"], "waiting");
    }
    // Each cut connection was closed by us, and each hanging call had one of its own.
    for _ in 0..4 {
        assert!(shop.hanging.visit().left_after.is_some());
    }
    // Answered calls kept their connection for all rounds, and gave it back at the end.
    assert_eq!(shop.answering[0].visit().answered, 4);
    assert_eq!(shop.broken.visit().answered, 4);
    drop(shop.dir);
}

#[test]
fn r18_a_quorum_ends_at_its_third_success_and_the_rest_is_not_needed() {
    let shop = shop();
    let output = fanscope(&["run", &shop.profile, "-n", "4", "-m", "quorum", "-k", "3", "--format", "json"]);
    for round in rounds(&output) {
        assert_eq!((&round["ended_by"], &round["partial"]), (&"quorum".into(), &false.into()));
        assert_eq!(round["not_needed"], serde_json::json!(["a3", "a4", "hangs"]));
        let third = &round["calls"][2];
        assert_eq!(third["outcome"], "ok");
        assert!(round["took_ms"].as_f64() >= third["end_ms"].as_f64());
    }
    for _ in 0..4 {
        assert!(shop.hanging.visit().left_after.is_some());
        assert!(shop.answering[4].visit().left_after.is_some(), "a call that was not needed was cut");
    }
}

#[test]
fn r24_r29_a_race_returns_the_fast_replica_and_closes_the_loser() {
    let (slow, fast) = (Upstream::start(Manner::Hang), Upstream::start(Manner::Answer(200, 20)));
    let dir = tempfile::tempdir().unwrap();
    let text = format!("[[endpoint]]\nname = \"r\"\nreplicas = [\"{}\", \"{}\"]\n", slow.url(), fast.url());
    let profile = write(&dir, "race.toml", text);
    let output =
        fanscope(&["run", &profile, "-m", "hedge", "--hedge-delay", "0ms", "-n", "1", "--format", "json"]);
    let round = &rounds(&output)[0];
    let call = &round["calls"][0];
    assert_eq!((&call["outcome"], &call["hedges"]["won"]), (&"ok".into(), &1.into()));
    assert_eq!(call["attempts"][0]["outcome"], "cancelled");
    assert_eq!(call["attempts"][1]["outcome"], "ok");
    assert!(slow.visit().left_after.is_some());

    let output =
        fanscope(&["run", "replicas", "-m", "hedge", "--hedge-delay", "0ms", "-n", "2", "--format", "json"]);
    for round in rounds(&output) {
        assert_eq!(round["missing"], serde_json::json!({}), "one replica of each is fast");
    }
}

#[test]
fn r29_a_win_is_a_whole_body_and_cancelling_the_loser_never_cuts_it() {
    // One sends its head at once and never the rest of its body, the other everything a little later.
    let (early, whole) = (Upstream::start(Manner::HeadOnly), Upstream::start(Manner::Body(500_000, 30)));
    let dir = tempfile::tempdir().unwrap();
    let text = format!("[[endpoint]]\nname = \"r\"\nreplicas = [\"{}\", \"{}\"]\n", early.url(), whole.url());
    let profile = write(&dir, "race.toml", format!("[round]\nbudget = \"5s\"\n{text}"));
    let output =
        fanscope(&["run", &profile, "-m", "hedge", "--hedge-delay", "0ms", "-n", "1", "--format", "json"]);
    let call = &rounds(&output)[0]["calls"][0];
    assert_eq!((&call["outcome"], &call["hedges"]["won"]), (&"ok".into(), &1.into()));
    assert_eq!(call["attempts"][0]["outcome"], "cancelled");
    assert_eq!(call["attempts"][0]["status"], 200, "its head had come");
    assert_eq!(call["attempts"][1]["bytes"], 500_000);
}

#[test]
fn r34_a_required_failure_fails_the_round_when_it_happens() {
    let (hang, broken) = (Upstream::start(Manner::Hang), Upstream::start(Manner::Answer(500, 10)));
    let dir = tempfile::tempdir().unwrap();
    let text = endpoint("user", &broken.url(), "required = true") + &endpoint("ads", &hang.url(), "");
    let profile = write(&dir, "page.toml", format!("[round]\nbudget = \"5s\"\n{text}"));
    let round = &rounds(&fanscope(&["run", &profile, "-n", "1", "--format", "json"]))[0];
    assert_eq!((&round["ok"], &round["ended_by"]), (&false.into(), &"required_failed".into()));
    assert_eq!(round["failed"][0]["endpoint"], "user");
    assert_eq!(round["missing"], serde_json::json!({ "user": "http_status", "ads": "sibling_failed" }));
    assert!(hang.visit().left_after.is_some());
}

#[test]
fn r34_all_optional_calls_down_is_ok_empty_and_partial() {
    let (_socket, refused) = refusing();
    let dir = tempfile::tempdir().unwrap();
    let profile = write(&dir, "down.toml", endpoint("a", &refused, "") + &endpoint("b", &refused, ""));
    let round = &rounds(&fanscope(&["run", &profile, "-n", "1", "--format", "json"]))[0];
    assert_eq!(
        (&round["ok"], &round["partial"], &round["answered"]),
        (&true.into(), &true.into(), &0.into())
    );
    assert_eq!(round["ended_by"], "all_settled");
}

#[test]
fn the_lines_come_in_order_and_the_sums_equal_the_calls() {
    let output = fanscope(&["run", "-n", "3", "--every", "0ms", "--seed", "7", "--format", "json"]);
    let all = lines(&output);
    let kinds: Vec<&str> = all.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "settings", "round", "round", "round", "summary"]);
    assert_eq!((&all[0]["profile"], &all[0]["schema"]), (&"shops".into(), &1.into()));
    assert!(output.stderr.is_empty(), "{}", stderr(&output));
    for endpoint in all[5]["endpoints"].as_array().unwrap() {
        let missing: u64 =
            endpoint["missing"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
        let sum = endpoint["ok"].as_u64().unwrap() + missing + endpoint["not_needed"].as_u64().unwrap();
        assert_eq!((endpoint["n"].as_u64(), sum), (Some(3), 3));
    }
}

#[test]
fn x01_json_is_never_coloured() {
    let forced = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", "-n", "2", "--every", "0ms", "--format", "json"])
        .envs([("CLICOLOR_FORCE", "1"), ("COLORTERM", "truecolor"), ("TERM", "xterm-256color")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(forced.status.success() && !forced.stdout.contains(&0x1b), "{forced:?}");
    assert_eq!(rounds(&forced).len(), 2);
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let faults = || {
        let args = ["-n", "4", "--every", "0ms", "-b", "450ms", "--seed", "10", "--format", "json"];
        let output = fanscope(&[&["run", "page"], args.as_slice()].concat());
        let of = |round: &Value| {
            let calls = round["calls"].as_array().unwrap().iter();
            // Only faults: whether a call just makes its time limit may differ from run to run.
            let limits = ["deadline", "timeout"];
            let faults = calls.filter(|c| c["reason"].as_str().is_some_and(|r| !limits.contains(&r)));
            faults.map(|c| (c["endpoint"].clone(), c["reason"].clone())).collect::<Vec<_>>()
        };
        rounds(&output).iter().map(of).collect::<Vec<_>>()
    };
    let first = faults();
    assert!(first.iter().any(|round| !round.is_empty()), "no fault to compare");
    assert_eq!(faults(), first);
}

#[test]
fn text_is_the_default_and_names_every_endpoint() {
    let output = fanscope(&["run", "-n", "2", "--every", "0ms"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("shops  deadline 200ms  2 rounds\n"), "{text}");
    assert!((0..8).all(|i| text.contains(&format!("shop-{i}"))), "{text}");
    assert!(text.contains("connect_refused 2"), "{text}");
    assert!(!text.contains('\u{1b}'), "no escape sequence in a file");
}

#[test]
fn r35_the_text_names_the_contract_that_held() {
    let first = |args: &[&str]| {
        let output = fanscope(&[&["run", "-n", "1", "--every", "0ms"], args].concat());
        String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(first(&["-m", "quorum", "-k", "1"]), "shops  quorum 1 of 8 by 200ms  1 round");
    let clamped = first(&["page", "-b", "2s"]);
    assert_eq!(clamped, "page  deadline 495ms (of 2s, held to request_budget 500ms)  1 round");
    assert!(first(&["replicas"]).starts_with("replicas  hedge after p95 by 200ms"));
}

#[test]
fn bad_input_gets_a_clear_message_and_exit_code_2() {
    let dir = tempfile::tempdir().unwrap();
    let utf16: Vec<u8> = "\u{feff}name = \"x\"".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let post = endpoint("a", "http://a.example/", "method = \"POST\"");
    let cases: Vec<(Vec<String>, &str)> = vec![
        (vec![dir.path().to_str().unwrap().into()], "directory"),
        (vec![write(&dir, "empty.toml", "")], "empty"),
        (vec![write(&dir, "utf16.toml", utf16)], "UTF-16"),
        (vec![write(&dir, "big.toml", "#".repeat(10 << 20))], "MB"),
        (vec![write(&dir, "typo.toml", "[round]\nbuget = \"1s\"\n")], "budget"),
        (vec![write(&dir, "hedged.toml", format!("[round]\nmode = \"hedge\"\n{post}"))], "idempotent"),
        (vec!["shosp".into()], "shops"),
        (vec!["127.0.0.1:9".into()], "http://127.0.0.1:9"),
        (vec!["ftp://a.example".into()], "http"),
        (vec!["http://a.example".into(), "b.example".into()], "b.example"),
        (vec!["-k".into(), "9".into()], "quorum"),
        (vec!["-b".into(), "0ms".into()], "budget"),
        (vec!["-b".into(), "200".into()], "unit"),
        (vec!["-n".into(), "0".into()], "0"),
        (vec!["-H".into(), "nonsense".into()], "header"),
        (vec!["--nonsense".into()], "--nonsense"),
    ];
    for (args, says) in cases {
        let mut all = vec!["run"];
        all.extend(args.iter().map(String::as_str));
        let output = fanscope(&all);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(!stderr(&output).contains("panicked"), "{args:?}: {}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = write(&dir, "mine.toml", "name = \"x\"");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything; then the file is simply a profile without endpoints.
    let output = fanscope(&["check", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mine.toml"), "{}", stderr(&output));
}

#[test]
fn without_a_terminal_the_dashboard_names_run() {
    let output = fanscope(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("fanscope run"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn check_explains_good_profiles_and_lists_the_built_in_ones() {
    let output = fanscope(&["check", "shops", "page", "replicas"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("shop-7"));
    let output = fanscope(&["check", "--list"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(["shops", "page", "replicas"].iter().all(|name| text.contains(name)), "{text}");
    assert_eq!(fanscope(&["check", "nowhere.toml"]).status.code(), Some(2));
    assert_eq!(fanscope(&["check"]).status.code(), Some(2));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", "-n", "100000", "--every", "0ms", "-b", "5ms", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_with_its_summary_and_by_itself() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(["run", "-n", "100000", "--format", "json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        // The first round is over: the signal handlers are long in place.
        while !out.next().unwrap().unwrap().contains("\"type\":\"round\"") {}
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
        let last = out.map_while(Result::ok).last().unwrap();
        assert!(last.contains("\"type\":\"summary\""), "{last}");
        assert_eq!(child.wait().unwrap().signal(), Some(number));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_whose_output_nobody_takes() {
    use std::os::unix::process::ExitStatusExt;
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", "page", "-n", "100000", "--every", "0ms", "-b", "5ms", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It writes, and from now on nobody reads: the pipe is full before long.
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 1024]).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    drop(out);
}

#[test]
fn a_round_that_a_signal_gave_up_is_in_no_statistic() {
    let (hang, dir) = (Upstream::start(Manner::Hang), tempfile::tempdir().unwrap());
    let text = "[round]\nbudget = \"1h\"\nrequest_budget = \"2h\"\n".to_owned();
    let profile = write(&dir, "hang.toml", text + &endpoint("h", &hang.url(), ""));
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", &profile, "-n", "5", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 64]).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&summary["type"], &summary["rounds"]), (&"summary".into(), &0.into()));
    assert_eq!(summary["completeness"], Value::Null, "no data, not zero and not NaN");
    child.wait().unwrap();
}

#[test]
fn secrets_of_the_profile_never_come_out() {
    let (_socket, refused) = refusing();
    let url = refused.replace("http://", "http://user:hunter2@") + "?token=hunter2";
    let dir = tempfile::tempdir().unwrap();
    let text = endpoint("a", &url, "headers = { authorization = \"Bearer hunter2\" }");
    let profile = write(&dir, "secret.toml", text);
    for args in [
        vec!["run", &profile, "-n", "1", "--format", "json"],
        vec!["run", &profile, "-n", "1"],
        vec!["check", &profile],
        vec!["run", &profile, "-k", "99"],
    ] {
        let output = fanscope(&args);
        let all = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(!all.contains("hunter2"), "{args:?}: {all}");
    }
    assert!(Path::new(&profile).exists());
}

#[test]
fn w7_a_run_ends_when_what_it_watches_is_over() {
    let slow = Upstream::start(Manner::Answer(200, 600));
    let dir = tempfile::tempdir().unwrap();
    let text = format!("[round]\nbudget = \"400ms\"\n{}", endpoint("slow", &slow.url(), ""));
    let profile = write(&dir, "slow.toml", text);
    let began = std::time::Instant::now();
    let output = fanscope(&["run", &profile, "-n", "1", "--probe", "100%", "--format", "json"]);
    let rounds = rounds(&output);
    assert_eq!((rounds.len(), &rounds[0]["ended_by"]), (1, &Value::from("deadline")));
    assert!(began.elapsed() >= std::time::Duration::from_millis(600), "it did not wait for the straggler");
}

#[test]
fn w9_variants_take_turns_and_what_is_wrong_with_them_is_said_with_the_flag() {
    let args = ["run", "shops", "--every", "0ms", "-n", "4", "--format", "json", "--ab", "budget=20ms,0.03s"];
    let budgets: Vec<f64> =
        rounds(&fanscope(&args)).iter().map(|r| r["budget_ms"].as_f64().unwrap()).collect();
    assert_eq!(budgets, [20.0, 30.0, 20.0, 30.0]);
    for (args, says) in [
        (["--ab", "budgt=1ms,2ms"], "did you mean `budget`?"),
        (["--ab", "budget=150ms"], "one value"),
        (["--ab", "budget=1ms,2ms,3ms"], "3 values"),
        (["--ab", "budget=2ms,2ms"], "both are budget 2ms"),
        (["--ab", "budget=150,250"], "no unit"),
        (["--ab", "quorum=3,99"], "quorum 99"),
        (["--ab", "hedge=p95,200ms"], "not below the budget"),
        (["--ab", "budget=0.1ms,2ms"], "at least 1ms"),
        (["--probe", "5"], "no percent sign"),
        (["--probe", "101%"], "more than 100%"),
    ] {
        let output = fanscope(&["run", "shops", args[0], args[1]]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(args[0]) && said.contains(says), "{args:?}: {said}");
    }
}
