//! A fault of the engine itself, outside of every call: it is said, and what was recorded is whole. Planted, and so in
//! debug builds only.
#![cfg(all(unix, debug_assertions))]
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/pty.rs"]
mod pty;

use pty::Terminal;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const PLANTED: (&str, &str) = ("FANSCOPE_TEST_PANIC", "engine");

/// Two calls of which one has to wait for the other's permit: there the fault is planted.
fn dir() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let one = |name| {
        format!(
            "[[endpoint]]\nname = \"{name}\"\ndependency = \"d\"\nconcurrency = 1\n\
             simulate = {{ latency = \"20ms\" }}\n"
        )
    };
    let path = dir.path().join("p.toml");
    std::fs::write(&path, one("a") + &one("b")).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

/// Whether the recording has its first and its last line.
fn is_whole(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    let ends = (text.lines().next().unwrap(), text.lines().last().unwrap());
    ends.0.contains("\"type\":\"session\"") && ends.1.contains("\"type\":\"summary\"")
}

#[test]
fn r07_a_run_whose_engine_fails_says_so_by_its_exit_code_and_closes_its_recording() {
    let (dir, profile) = dir();
    let record = dir.path().join("r.ndjson");
    for form in ["text", "json"] {
        let output = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(["run", &profile, "-n", "3", "--format", form, "--force", "--metrics", "127.0.0.1:0"])
            .args(["--record", record.to_str().unwrap()])
            .env(PLANTED.0, PLANTED.1)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(70), "{said}");
        assert!(said.contains("planted panic") && said.contains("a fault of fanscope itself"), "{said}");
        assert!(is_whole(&record));
    }
}

#[test]
fn r07_a_dashboard_whose_engine_fails_says_so_stays_and_closes_its_recording() {
    let (dir, profile) = dir();
    let record = dir.path().join("r.ndjson");
    let args = [&profile, "--record", record.to_str().unwrap()];
    let mut term = Terminal::start(120, 40, &args, &[PLANTED]);
    term.wait_text("the engine stopped: a fault of fanscope");
    // Keys that ask the engine for something ask nobody, and nothing breaks.
    term.keys("2 s+4");
    term.wait_text("wait-all");
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{text}");
    assert!(is_whole(&record));
}
