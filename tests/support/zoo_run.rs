//! Runs the real binary on a zoo and compares what it says of every call with what it has to say.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![expect(clippy::unwrap_used, reason = "a helper of tests: a surprise here is a failed test")]

use super::zoo::Zoo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a run on a zoo came to.
pub struct Run {
    pub rounds: Vec<Value>,
    pub summary: Value,
    /// Processor time of the whole process.
    pub cpu: Duration,
    pub took: Duration,
}

/// Runs `fanscope run` on all servers. `round` are lines of the profile, `flags` come last.
pub fn run(zoo: &Zoo, round: &str, flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zoo.toml");
    std::fs::write(&path, zoo.profile(round)).unwrap();
    let began = std::time::Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", path.to_str().unwrap(), "--format", "json"])
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    // Its output is closed and nobody has waited for it yet: what it has used can still be read.
    let cpu = cpu(child.id());
    assert!(child.wait().unwrap().success());
    let took = began.elapsed();
    zoo.closed().unwrap_or_else(|open| panic!("still open after the end: {open}"));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = lines.last().filter(|line| line["type"] == "summary").unwrap().clone();
    let rounds: Vec<Value> = lines.into_iter().filter(|line| line["type"] == "round").collect();
    rounds.iter().for_each(sums);
    Run { rounds, summary, cpu, took }
}

/// Processor time of a process so far; nothing where the system does not tell.
pub fn cpu(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// R1, R13, R31: every call once, nothing left alive, no hedge that is neither won nor wasted.
pub fn sums(round: &Value) {
    let calls = calls(round);
    let count = |of: &str| calls.iter().filter(|call| call["outcome"] == of).count();
    assert_eq!(round["answered"], count("ok"));
    assert_eq!(round["missing"].as_object().unwrap().len(), count("missing"));
    assert_eq!(round["not_needed"].as_array().unwrap().len(), count("not_needed"));
    assert_eq!(count("ok") + count("missing") + count("not_needed"), calls.len());
    assert!(round.get("lingering").is_none(), "{round}");
    for call in calls {
        let hedges = &call["hedges"];
        let of = |key: &str| hedges[key].as_u64().unwrap_or_default();
        assert_eq!(of("sent"), of("won") + of("wasted"), "{call}");
        for attempt in call["attempts"].as_array().unwrap() {
            phases(attempt);
        }
    }
}

/// Phases are never negative, sum to their attempt, and one that was not reached is null (H33).
fn phases(attempt: &Value) {
    let phases = attempt["phases"].as_object().unwrap();
    let times: Vec<f64> = phases.values().filter_map(Value::as_f64).collect();
    assert!(times.iter().all(|t| *t >= 0.0), "{attempt}");
    let time = attempt["end_ms"].as_f64().unwrap() - attempt["start_ms"].as_f64().unwrap();
    // Each is rounded to a microsecond.
    assert!((times.iter().sum::<f64>() - time).abs() < 0.01, "{attempt}");
    if attempt["reused"] == true && attempt["outcome"] == "ok" {
        assert!(["dns", "connect", "tls"].iter().all(|phase| phases[*phase].is_null()), "{attempt}");
    }
}

/// The calls of a round.
pub fn calls(round: &Value) -> &Vec<Value> {
    round["calls"].as_array().unwrap()
}

/// What is said of a call: `reason/phase/status`, `ok/status`, or `not_needed`.
pub fn said(call: &Value) -> String {
    let parts = match call["outcome"].as_str().unwrap() {
        "ok" => vec![Some("ok"), None],
        "missing" => vec![call["reason"].as_str(), call["phase"].as_str()],
        other => vec![Some(other), None],
    };
    let status = call["status"].as_u64().map(|status| status.to_string());
    let parts = parts
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .chain(status.filter(|_| call["outcome"] != "not_needed"));
    parts.collect::<Vec<_>>().join("/")
}

/// Expected and seen, endpoint by endpoint.
#[derive(Default)]
pub struct Table {
    text: String,
    wrong: usize,
}

impl Table {
    /// Compares each call of the rounds; `besides` may be said of a call too.
    pub fn of(zoo: &Zoo, rounds: &[Value], besides: &[&str]) -> Self {
        let mut table = Self::default();
        for cage in &zoo.cages {
            for endpoint in cage.endpoints() {
                let of = |round| calls(round).iter().find(|call| call["endpoint"] == endpoint).unwrap();
                let calls: Vec<&Value> = rounds.iter().map(of).collect();
                table.row(&endpoint, cage.animal.expected, besides, &calls);
                for call in calls {
                    // A kept connection has what comes first behind it.
                    let kept = call["attempts"].as_array().unwrap().iter().any(|a| a["reused"] == true);
                    if !kept || cage.animal.first.is_empty() {
                        table.time(&endpoint, cage.animal.not_before, call);
                    }
                    table.words(&endpoint, cage.animal.says, call);
                }
            }
        }
        table
    }

    fn row(&mut self, endpoint: &str, expected: &[&str], besides: &[&str], calls: &[&Value]) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for call in calls {
            *seen.entry(said(call)).or_default() += 1;
        }
        let right = |said: &String| expected.contains(&said.as_str()) || besides.contains(&said.as_str());
        let wrong = !seen.keys().all(right);
        self.wrong += usize::from(wrong);
        let mark = if wrong { "WRONG" } else { "" };
        let seen: Vec<_> = seen.iter().map(|(said, n)| format!("{said} x{n}")).collect();
        let _ =
            writeln!(self.text, "{mark:<6}{endpoint:<26}{:<44}{}", expected.join(" or "), seen.join(", "));
    }

    fn time(&mut self, endpoint: &str, not_before: Duration, call: &Value) {
        let end = call["end_ms"].as_f64().unwrap();
        if call["outcome"] == "ok" && end < not_before.as_secs_f64() * 1e3 {
            self.wrong += 1;
            let _ = writeln!(self.text, "WRONG {endpoint}: {end} ms, that is before {not_before:?}");
        }
    }

    fn words(&mut self, endpoint: &str, says: &str, call: &Value) {
        let failed = |attempt: &&Value| attempt["outcome"] == "failed";
        for attempt in call["attempts"].as_array().unwrap().iter().filter(failed) {
            let detail = attempt["detail"].as_str().unwrap_or_default();
            // Only what was reused can have been closed while it was idle.
            let stale = detail.contains("stale") && attempt["reused"] != true;
            if detail.is_empty() || !detail.contains(says) || stale {
                self.wrong += 1;
                let reused = &attempt["reused"];
                let _ = writeln!(self.text, "WRONG {endpoint}: {detail:?} (reused: {reused}), not {says:?}");
            }
        }
    }

    /// Fails with the whole table where anything is wrong.
    #[track_caller]
    pub fn check(&self) {
        assert_eq!(self.wrong, 0, "\n{}", self.text);
    }
}

/// How long after their budget the rounds were over that ended at it, in milliseconds; never before it (R12).
pub fn overshoot(rounds: &[Value]) -> Vec<f64> {
    let cut = rounds.iter().filter(|round| round["ended_by"] == "deadline");
    let mut late: Vec<f64> =
        cut.map(|round| round["took_ms"].as_f64().unwrap() - round["budget_ms"].as_f64().unwrap()).collect();
    late.sort_by(f64::total_cmp);
    assert!(late.iter().all(|ms| *ms >= 0.0), "{late:?}");
    late
}
