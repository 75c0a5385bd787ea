//! Too few file descriptors, as a user meets them: the real binary under a real limit.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/killed.rs"]
mod killed;
#[path = "support/pty.rs"]
mod pty;

use killed::Killed;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_fanscope");

/// Runs fanscope under a limit that a shell sets: `-n 40`, or `-Sn 40` for one that may be raised.
fn limited(limit: &str, args: &str) -> Output {
    let script = format!("ulimit {limit} && exec {BINARY} {args}");
    Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap()
}

fn lines(output: &Output, kind: &str) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).filter(|l| l["type"] == kind).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How often a reason stands in a round.
fn count(round: &Value, reason: &str) -> usize {
    round["missing"].as_object().unwrap().values().filter(|r| *r == reason).count()
}

#[test]
fn l01_too_few_are_said_at_the_start_and_calls_beyond_them_are_ours() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.ndjson");
    let args = format!("run shops -n 4 --every 100ms --format json --record {}", file.display());
    let output = limited("-n 40", &args);
    assert!(output.status.success(), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("may be needed and the limit is 40"), "{said}");
    assert!(said.contains("`ulimit -n") && said.contains("max_overlap"), "{said}");
    let rounds = lines(&output, "round");
    assert_eq!((rounds.len(), lines(&output, "summary").len()), (4, 1));
    let ours: usize = rounds.iter().map(|round| count(round, "local_fd_limit")).sum();
    assert!(ours > 0, "{rounds:?}");
    for call in rounds.iter().flat_map(|r| r["calls"].as_array().unwrap()) {
        if call["reason"] == "local_fd_limit" {
            let detail = call["attempts"][0]["detail"].as_str().unwrap();
            assert!(detail.contains("Too many open files"), "{call}");
        }
    }
    // What was recorded is whole.
    let recorded = std::fs::read_to_string(file).unwrap();
    assert!(recorded.lines().last().unwrap().starts_with(r#"{"type":"summary""#), "{recorded}");
}

#[test]
fn l01_a_limit_that_may_be_raised_is_raised() {
    let output = limited("-Sn 40", "run shops -n 4 --every 100ms --format json");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "");
    assert!(lines(&output, "round").iter().all(|round| count(round, "local_fd_limit") == 0));
}

#[test]
fn l01_where_nothing_can_start_it_is_said_why_and_what_to_do() {
    for limit in ["-n 12", "-n 20", "-n 24"] {
        let output = limited(limit, "run shops -n 1");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = stderr(&output);
        assert!(said.contains("Too many open files") && said.contains("`ulimit -n"), "{limit}: {said}");
    }
}

#[test]
fn l01_check_warns_where_the_hard_limit_is_too_low() {
    let warned = |limit: &str| {
        let output = limited(limit, "check shops");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.contains("file descriptors may be needed and the limit is 64")
    };
    assert!(warned("-n 64"));
    assert!(!warned("-Sn 64"), "it would be raised");
}

#[test]
fn l01_the_dashboard_says_it_and_goes_on() {
    let mut term =
        pty::Terminal::shell(120, 40, &format!("ulimit -n 44 && exec {BINARY} shops --every 100ms"));
    term.wait_text("descriptors 44 of ");
    term.wait_text("local_fd_limit");
    term.wait_text("Round 5");
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success() && text.contains("local_fd_limit"), "{text}");
}

/// Sets how many descriptors a running process may have. What it has open stays so.
fn allow(process: u32, descriptors: u64) {
    let pid = Pid::from_raw(process.try_into().unwrap());
    let maximum = rustix::process::getrlimit(Resource::Nofile).maximum;
    prlimit(pid, Resource::Nofile, Rlimit { current: Some(descriptors), maximum }).unwrap();
}

#[test]
fn l01_descriptors_that_come_back_are_used_again_by_calls_and_by_metrics() {
    let child = Command::new(BINARY)
        .args(["run", "shops", "-n", "100000", "--every", "50ms", "--format", "json"])
        .args(["--metrics", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Killed(child);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut notice = String::new();
    said.read_line(&mut notice).unwrap();
    let address = notice.trim().strip_prefix("fanscope: metrics at http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap().to_owned();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |what: &str, shows: &dyn Fn(&Value) -> bool| {
        for line in out.by_ref() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if line["type"] == "round" && shows(&line) {
                return;
            }
        }
        panic!("it ended before {what}");
    };
    until("answers", &|round| round["answered"].as_u64() > Some(3));
    allow(child.id(), 4);
    until("a shortage", &|round| count(round, "local_fd_limit") > 0);
    // The kernel takes the connection; nobody can accept it yet.
    let mut scrape = TcpStream::connect(&address).unwrap();
    scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    until("more of it", &|round| count(round, "local_fd_limit") > 0);
    allow(child.id(), 512);
    until("recovery", &|round| count(round, "local_fd_limit") == 0 && round["answered"].as_u64() > Some(3));
    let mut answer = String::new();
    scrape.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("local_fd_limit"), "{answer}");
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), Signal::INT).unwrap();
    drop(out);
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}
