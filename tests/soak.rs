//! Twenty minutes of every fault of plain HTTP at the fastest period, with a recording and metrics: nothing grows,
//! nothing lingers, every sum holds. Prints what it measured.
//!
//! ```text
//! cargo test --release --test soak -- --ignored --nocapture
//! ```
//!
//! `FANSCOPE_SOAK_MINUTES` sets another length, of six minutes at least.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "what it measured is to be read")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/killed.rs"]
mod killed;
#[path = "support/zoo.rs"]
mod zoo;
#[path = "support/zoo_run.rs"]
mod zoo_run;

use killed::Killed;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zoo::Zoo;
use zoo_run::{calls, cpu, sums};

/// What the process had of the machine at a time.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Duration,
    resident_kb: u64,
    descriptors: u64,
    threads: u64,
}

/// A number behind a word of `/proc/PID/status`.
fn status(text: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(word))?.split_whitespace().next()?.parse().ok()
}

fn sample(process: u32, since: Instant) -> Option<Sample> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64;
    Some(Sample {
        at: since.elapsed(),
        resident_kb: status(&text, "VmRSS:")?,
        descriptors,
        threads: status(&text, "Threads:")?,
    })
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The median of what samples of a span of time say.
fn over(samples: &[Sample], from: Duration, to: Duration, of: impl Fn(&Sample) -> u64) -> u64 {
    median(samples.iter().filter(|s| s.at >= from && s.at < to).map(of).collect())
}

/// What the rounds came to.
#[derive(Debug, Default)]
struct Seen {
    rounds: u64,
    calls: u64,
    by_reason: BTreeMap<String, u64>,
    /// Milliseconds past the budget.
    overshoot: Vec<f64>,
}

impl Seen {
    /// Checks and counts a round.
    fn take(&mut self, round: &Value) {
        self.rounds += 1;
        assert_eq!(round["round"], self.rounds, "a round is lost");
        sums(round);
        self.calls += calls(round).len() as u64;
        *self.by_reason.entry("ok".to_owned()).or_default() += round["answered"].as_u64().unwrap();
        for reason in round["missing"].as_object().unwrap().values() {
            *self.by_reason.entry(reason.as_str().unwrap().to_owned()).or_default() += 1;
        }
        let past = round["took_ms"].as_f64().unwrap() - round["budget_ms"].as_f64().unwrap();
        assert!(past >= 0.0, "before the budget: {round}");
        self.overshoot.push(past);
    }

    /// The summary says the same.
    fn compare(&self, summary: &Value) {
        assert_eq!(summary["rounds"], self.rounds);
        let mut by_reason: BTreeMap<String, u64> = BTreeMap::new();
        for endpoint in summary["endpoints"].as_array().unwrap() {
            *by_reason.entry("ok".to_owned()).or_default() += endpoint["ok"].as_u64().unwrap();
            for (reason, count) in endpoint["missing"].as_object().unwrap() {
                *by_reason.entry(reason.clone()).or_default() += count.as_u64().unwrap();
            }
        }
        assert_eq!(by_reason, self.by_reason);
    }
}

/// Takes samples until the process ends.
fn watch(child: &Child, over: &Arc<AtomicBool>) -> std::thread::JoinHandle<Vec<Sample>> {
    let (process, over, since) = (child.id(), Arc::clone(over), Instant::now());
    std::thread::spawn(move || {
        let mut samples = Vec::new();
        while !over.load(Ordering::Relaxed) {
            samples.extend(sample(process, since));
            std::thread::sleep(Duration::from_millis(500));
        }
        samples
    })
}

#[test]
#[ignore = "takes twenty minutes"]
fn r1_r13_r14_nothing_grows_and_nothing_lingers() {
    let minutes: u64 =
        std::env::var("FANSCOPE_SOAK_MINUTES").map_or(20, |text| text.parse().expect("minutes")).max(6);
    let zoo = Zoo::start(zoo::plain());
    let folder = tempfile::tempdir().unwrap();
    let (profile, record) = (folder.path().join("zoo.toml"), folder.path().join("soak.ndjson.zst"));
    let round = "budget = \"100ms\"\nevery = \"0ms\"\n[defaults]\nexpect = { max_body = \"1MiB\" }";
    fs::write(&profile, zoo.profile(round)).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", profile.to_str().unwrap(), "--format", "json", "--for", &format!("{}s", minutes * 60)])
        .args(["--metrics", "0", "--record", record.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = Killed(child);
    let over_now = Arc::new(AtomicBool::new(false));
    let samples = watch(&child, &over_now);
    let (mut seen, mut summary, mut used) = (Seen::default(), Value::Null, Duration::ZERO);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match line["type"].as_str() {
            Some("round") => seen.take(&line),
            Some("summary") => {
                used = cpu(child.id());
                summary = line;
            }
            _ => {}
        }
    }
    assert!(child.wait().unwrap().success());
    over_now.store(true, Ordering::Relaxed);
    let samples = samples.join().unwrap();
    zoo.closed().unwrap_or_else(|open| panic!("still open after the end: {open}"));
    seen.compare(&summary);
    let at = |of: fn(&Sample) -> u64, until: u64| {
        over(&samples, Duration::from_secs(until - 30), Duration::from_secs(until), of)
    };
    // What a summary remembers of an endpoint's times has a bound, which is reached within the first minutes.
    let between = |of| (at(of, 300), at(of, 60 * minutes));
    let (memory, descriptors) = (between(|s| s.resident_kb), between(|s| s.descriptors));
    let threads = between(|s| s.threads);
    seen.overshoot.sort_unstable_by(f64::total_cmp);
    let quantile = |percent: usize| seen.overshoot[(seen.overshoot.len() - 1) * percent / 100];
    println!("{minutes} min, {} rounds, {} calls, {:?}", seen.rounds, seen.calls, seen.by_reason);
    println!("overshoot p50 {:.2} ms, p99 {:.2} ms", quantile(50), quantile(99));
    let series: Vec<u64> = (1..=minutes).map(|minute| at(|s| s.resident_kb, 60 * minute)).collect();
    println!("resident at the end of each minute: {series:?} kB");
    println!("descriptors {descriptors:?}, threads {threads:?}, processor {used:.1?}");
    println!("recording {} kB", fs::metadata(&record).unwrap().len() / 1024);
    // Half a megabyte for whatever a heap does, and a twentieth.
    assert!(memory.1 <= memory.0 + memory.0 / 20 + 512, "memory grows: {memory:?} kB");
    assert!(descriptors.1 <= descriptors.0 + 8, "descriptors grow: {descriptors:?}");
    assert!(threads.1 <= threads.0, "threads grow: {threads:?}");
}
