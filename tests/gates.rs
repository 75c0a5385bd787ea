//! `fanscope run` with gates, by time, with a warm-up, a baseline and a bar: what a script and a person see of it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[cfg(unix)]
#[path = "support/pty.rs"]
mod pty;
#[path = "support/upstream.rs"]
#[allow(dead_code, reason = "each test binary uses its own part")]
mod upstream;

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use upstream::{Manner, Upstream, refusing};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.arg("run").args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, standard output, standard error.
fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Four quick rounds of the built-in profile, in which one upstream refuses.
fn shops(more: &[&str]) -> (Option<i32>, String, String) {
    run(&[&["shops", "-n", "4", "--every", "0ms", "-b", "100ms", "--seed", "7"], more].concat())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rounds(text: &str) -> Vec<Value> {
    lines(text).into_iter().filter(|line| line["type"] == "round").collect()
}

fn summary(text: &str) -> Value {
    let last = lines(text).pop().unwrap();
    assert_eq!(last["type"], "summary");
    last
}

fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn the_exit_code_says_how_the_gates_came_out() {
    for (gates, code, says) in [
        (&["p99<=10s"][..], 0, "✓ passed   p99<=10s  p99 "),
        (&["completeness>=0.99"], 1, " below 0.99\n"),
        (&["missing.*.connect_refused==0"], 1, "missing.*.connect_refused 4, 4 above 0\n"),
        // Four calls are too few for a number.
        (&["p99.shop-0<=10s"], 3, "? no data  p99.shop-0<=10s  "),
        (&["p99.shop-0<=10s", "p99<=10s"], 3, "✓ passed   p99<=10s"),
        (&["p99.shop-0<=10s", "rounds==5"], 1, "✗ FAILED   rounds==5        rounds 4, 1 below 5\n"),
        (&[], 0, "4 rounds"),
    ] {
        let args: Vec<&str> = gates.iter().flat_map(|gate| ["--gate", gate]).collect();
        let (got, out, err) = shops(&args);
        assert_eq!(got, Some(code), "{gates:?}: {out}{err}");
        assert!(out.contains(says), "{gates:?}: {out}");
        assert!(err.is_empty(), "no bar and no notice where standard error is no terminal: {err}");
    }
}

#[test]
fn gates_stand_in_the_summary_with_their_values() {
    let (code, out, _) = shops(&[
        "--gate",
        "rounds==4",
        "--gate",
        "completeness >= 99%",
        "--gate",
        "p50.shop-0<1h",
        "--format",
        "json",
    ]);
    let gates = &summary(&out)["gates"];
    assert_eq!(code, Some(1), "{gates}");
    assert_eq!(gates[0], serde_json::json!({"gate": "rounds==4", "passed": true, "value": 4.0}));
    assert_eq!((&gates[1]["gate"], &gates[1]["passed"]), (&"completeness >= 99%".into(), &false.into()));
    assert_eq!(gates[1]["value"], summary(&out)["completeness"]);
    assert_eq!(gates[2], serde_json::json!({"gate": "p50.shop-0<1h", "passed": null, "value": null}));
}

#[test]
fn a_wrong_gate_is_told_before_anything_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (code, out, err) =
        run(&[&url, "-n", "1", "--gate", "missing.nobody.deadline==0", "--gate", "p99<=250"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("--gate, column 9: there is no endpoint `nobody`"), "{err}");
    assert!(err.contains("  | p99<=250\n  |      ^^^\n"), "both are told, with a mark: {err}");
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);

    let (code, _, err) = shops(&["--gate", "missing.shp-3.deadline==0"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("did you mean `shop-3`?"), "{err}");
    let (code, _, err) = shops(&["--gate", "partial<=baseline"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--baseline FILE"), "{err}");
}

#[test]
fn the_long_help_says_how_gates_are_written() {
    let (_, long, _) = run(&["--help"]);
    let (_, short, _) = run(&["-h"]);
    for word in ["completeness>=0.98", "missing.*.REASON", "baseline-1%", "Exit code"] {
        assert!(long.contains(word), "{word}: {long}");
        assert!(!short.contains(word) || word == "completeness>=0.98", "{word}: {short}");
    }
}

#[test]
fn after_the_time_no_round_starts_and_those_that_run_are_completed() {
    let hanging = Upstream::start(Manner::Hang);
    // The second start would be due in an hour; the first round outlasts the time.
    let args = [&hanging.url(), "-b", "300ms", "--every", "1h", "--for", "50ms", "--format", "json"];
    let (code, out, _) = run(&args);
    let rounds = rounds(&out);
    assert_eq!((code, rounds.len()), (Some(0), 1), "{out}");
    assert_eq!(rounds[0]["ended_by"], "deadline");
    assert_eq!(summary(&out)["rounds"], 1);

    // With a number of rounds, whichever comes first.
    let (_socket, refused) = refusing();
    let (code, out, _) = run(&[&refused, "--every", "0ms", "--for", "1h", "-n", "2", "--format", "json"]);
    assert_eq!((code, self::rounds(&out).len()), (Some(0), 2));
    let (_, out, _) = run(&[&refused, "--every", "1h", "--for", "50ms", "-n", "2", "--format", "json"]);
    assert_eq!(self::rounds(&out).len(), 1);
    for (time, says) in [("0ms", "no time"), ("5", "unit")] {
        let (code, _, err) = run(&[&refused, "--for", time]);
        assert!(code == Some(2) && err.contains(says), "{err}");
    }
}

#[test]
fn rounds_that_warm_up_are_marked_and_count_nowhere() {
    let (_socket, refused) = refusing();
    let more = ["--every", "0ms", "--warmup", "2", "--gate", "missing==3", "--format", "json"];
    let (code, out, err) = run(&[&[refused.as_str(), "-n", "3"], &more[..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let warm: Vec<bool> = rounds(&out).iter().map(|round| round["warmup"] == true).collect();
    assert_eq!(warm, [true, true, false, false, false]);
    assert_eq!(summary(&out)["rounds"], 3);
    // The time is that of the rounds that count.
    let args = ["--every", "300ms", "--warmup", "2", "--for", "100ms", "--format", "json"];
    let (_, out, _) = run(&[&[refused.as_str()], &args[..]].concat());
    assert_eq!((rounds(&out).len(), &summary(&out)["rounds"]), (3, &1.into()), "{out}");
}

#[test]
fn a_baseline_is_a_recording_of_an_earlier_run() {
    let (_, out, _) = shops(&["--format", "json"]);
    let (_dir, old) = file("old.ndjson", &out);
    let against = |gates: &[&str]| {
        let gates = gates.iter().flat_map(|gate| ["--gate", gate]);
        shops(&["--baseline", &old].into_iter().chain(gates).collect::<Vec<_>>())
    };
    let (code, out, err) = against(&["rounds==baseline", "completeness>=baseline-100%", "p99<=baseline*100"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, _) = against(&["rounds>=baseline+1"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("rounds 4, 1 below 5 (by the baseline)"), "{out}");
    // What the baseline had no data for is no data here.
    assert_eq!(against(&["p99.shop-0<=baseline"]).0, Some(3));

    let (_dir, cut) = file("cut.ndjson", old_rounds(&old).trim_end().get(..3000).unwrap());
    let (code, _, err) = shops(&["--baseline", &cut, "--gate", "rounds>=baseline"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("cut.ndjson") && err.contains("left out"), "a cut end is told: {err}");

    let (_dir, profile) = file("page.toml", "name = \"page\"\n");
    for (name, says) in
        [(profile.as_str(), "profile"), ("/nowhere/old.ndjson", "No such file"), ("/", "directory")]
    {
        let (code, out, err) = shops(&["--baseline", name, "--gate", "partial<=baseline"]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(says) && err.contains(name), "{err}");
    }
    assert_eq!(shops(&["--baseline", &old]).0, Some(2), "without a gate it has no use");
}

fn old_rounds(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A run without end whose first round is over.
fn endless(args: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
    let more = ["shops", "-n", "1000000", "-b", "100ms", "--every", "0ms", "--format", "json"];
    let mut child = command(&[&more[..], args].concat()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    while !out.next().unwrap().contains("\"type\":\"round\"") {}
    (child, out)
}

#[cfg(unix)]
#[test]
fn gates_are_judged_also_when_a_signal_ends_the_run() {
    use std::os::unix::process::ExitStatusExt;
    let (mut child, out) = endless(&["--gate", "completeness>=0.99"]);
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let summary: Value = serde_json::from_str(&out.last().unwrap()).unwrap();
    assert_eq!(summary["gates"][0]["passed"], false, "{summary}");
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly_and_gates_are_judged() {
    for (gate, code) in [("completeness>=0.99", 1), ("p99<=10s", 0)] {
        let (mut child, out) = endless(&["--gate", gate]);
        drop(out);
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(code), ""), "{gate}");
    }
}

#[cfg(unix)]
mod on_a_terminal {
    use super::*;
    use pty::Terminal;

    #[test]
    fn a_bar_shows_how_far_the_run_is_and_is_gone_at_the_end() {
        let mut terminal = Terminal::start(
            100,
            30,
            &["run", "shops", "-n", "1000000", "-b", "100ms", "--every", "0ms"],
            &[],
        );
        terminal.wait("a bar with rounds", |screen| {
            let text = screen.contents();
            text.contains("/1000000 rounds  answered ") && text.contains("[ ")
        });
        terminal.signal("INT");
        let (_, text) = terminal.end();
        assert!(text.trim_start().starts_with("shops  deadline 100ms  "), "{text}");
        assert!(!text.contains("/1000000 rounds"), "{text}");
    }

    #[test]
    fn trouble_with_a_recording_stands_on_a_line_of_its_own_above_the_bar() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("gone");
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("r.ndjson");
        let record = file.to_str().unwrap();
        let args = ["run", "shops", "-n", "1000000", "-b", "100ms", "--every", "0ms", "--record", record];
        let terminal = Terminal::start(200, 30, &args, &[]);
        terminal.wait_text("/1000000 rounds  answered ");
        std::fs::remove_dir_all(folder).unwrap();
        terminal.wait("a notice and then the bar", |screen| {
            let rows: Vec<String> = screen.rows(0, 200).collect();
            let said = rows.iter().position(|row| row.starts_with("fanscope: recording to "));
            said.and_then(|row| rows.get(row + 1)).is_some_and(|row| row.starts_with('['))
        });
        let shown = terminal.text();
        assert_eq!(shown.matches("/1000000 rounds").count(), 1, "{shown}");
        assert!(shown.lines().any(|line| line.ends_with("r.ndjson: the file was deleted")), "{shown}");
    }

    #[test]
    fn the_bar_never_gets_into_the_output() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out.ndjson");
        let run = "exec \"$FANSCOPE\" run shops -n 1000000 -b 100ms --every 0ms --format json";
        let mut terminal = Terminal::shell(100, 30, &format!("{run} > {}", file.display()));
        terminal.wait_text("/1000000 rounds  answered ");
        terminal.signal("TERM");
        let (_, text) = terminal.end();
        assert_eq!(text.trim(), "", "nothing but the bar was there, and it is gone");
        assert!(summary(&std::fs::read_to_string(file).unwrap())["rounds"].as_u64() > Some(0));
    }

    #[test]
    fn lines_on_the_same_terminal_have_no_bar_among_them() {
        let terminal = Terminal::start(
            100,
            30,
            &["run", "shops", "-n", "1000000", "-b", "100ms", "--every", "0ms", "--format", "json"],
            &[],
        );
        terminal.wait_text("\"type\":\"round\"");
        assert!(!terminal.text().contains("/1000000"), "{}", terminal.text());
    }
}

#[test]
fn with_ascii_nothing_else_is_printed() {
    let args = [
        "shops",
        "-n",
        "3",
        "--every",
        "0ms",
        "--gate",
        "rounds>=3",
        "--gate",
        "completeness>=0.99",
        "--ascii",
    ];
    let (code, out, _) = run(&args);
    assert_eq!(code, Some(1));
    assert!(out.is_ascii() && out.contains("+ passed") && out.contains("x FAILED"), "{out}");
    let (_, out, _) = run(&args[..args.len() - 1]);
    assert!(out.contains('✗'), "{out}");
}
