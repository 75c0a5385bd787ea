//! Recordings on the dashboard, in a real pseudo-terminal.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/pty.rs"]
mod pty;

use pty::Terminal;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A recording of the built-in demo.
fn recording(dir: &Path, rounds: &str) -> PathBuf {
    let run = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", "shops", "-n", rounds, "--every", "250ms", "--format", "json"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let path = dir.join("shops.ndjson");
    fs::write(&path, run.stdout).unwrap();
    path
}

#[test]
fn a_recording_plays_jumps_and_leaves_the_terminal_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), "8");
    for (width, height) in [(120, 40), (80, 24)] {
        let mut term =
            Terminal::start(width, height, &["replay", path.to_str().unwrap(), "--speed", "2"], &[]);
        term.wait_text("replay 2x");
        term.wait_text("connect_refused");
        term.wait_text("Round 8");
        term.keys("0");
        term.keys(" ");
        term.wait_text("paused");
        term.keys("s");
        term.wait("a round", |screen| {
            screen.contents().contains("answered") || screen.contents().contains("quorum")
        });
        term.keys("q");
        let (status, text) = term.end();
        assert!(status.success(), "{status:?}");
        assert!(text.starts_with("fanscope replay shops: deadline 200 ms, "), "{text}");
    }
}

#[test]
fn the_smallest_screen_and_one_without_unicode_show_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), "5");
    let mut term = Terminal::start(40, 10, &["replay", path.to_str().unwrap(), "--ascii"], &[]);
    term.wait("the end of the bar", |screen| {
        screen.contents().lines().any(|line| line.contains("====") && line.ends_with("end"))
    });
    assert!(term.text().is_ascii(), "{}", term.text());
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn standard_input_is_the_recording_and_keys_come_from_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), "8");
    let script = format!("cat {} | $FANSCOPE replay -", path.display());
    let mut term = Terminal::shell(100, 30, &script);
    term.wait_text("Round 8");
    term.wait_text("end");
    term.keys("0");
    term.wait_text("playing");
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert!(text.contains("fanscope replay shops"), "{text}");
}

#[test]
fn a_recording_that_is_being_written_is_followed_and_a_cut_line_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(recording(dir.path(), "8")).unwrap();
    // The end of a round's line.
    let end = |no: u64| {
        let at = whole.find(&format!("\"round\":{no},")).unwrap();
        at + whole[at..].find('\n').unwrap() + 1
    };
    let path = dir.path().join("growing.ndjson");
    fs::write(&path, &whole[..end(3)]).unwrap();
    let mut term = Terminal::start(120, 40, &["replay", path.to_str().unwrap(), "--speed", "8"], &[]);
    term.wait_text("Round 3");
    term.wait_text("following");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&whole.as_bytes()[end(3)..end(6) + 100]).unwrap();
    term.wait_text("Round 6");
    term.wait_text("the last line is cut: 100 bytes left out");
    file.write_all(&whole.as_bytes()[end(6) + 100..]).unwrap();
    term.wait_text("Round 8");
    // With its last line it is complete.
    term.wait("the end", |screen| {
        screen.contents().contains(" end") && !screen.contents().contains("cut: 100")
    });
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn a_recording_with_a_broken_line_does_not_look_as_if_it_had_ended_there() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(recording(dir.path(), "4")).unwrap();
    let broken = whole.replacen("{\"type\":\"round\",\"round\":3,", "{\"type\":\"round\",\"round\":-3,", 1);
    assert_ne!(broken, whole);
    let line = 1 + broken.lines().position(|line| line.contains(":-3,")).unwrap();
    let path = dir.path().join("broken.ndjson");
    fs::write(&path, broken).unwrap();
    let mut term = Terminal::start(120, 40, &["replay", path.to_str().unwrap(), "--speed", "8"], &[]);
    term.wait_text("Round 2");
    term.wait_text("broken off");
    term.wait_text(&format!("line {line}: "));
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert!(text.contains(&format!("broken off, nothing after this was shown: line {line}: ")), "{text}");
}

#[test]
fn what_is_no_recording_is_refused_before_the_terminal_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let newer = br#"{"type":"session","schema":7,"settings":{"mode":"deadline","budget_ms":200}}"#;
    let cases = [
        (write("empty", b""), "it is empty"),
        (write("profile.toml", b"name = \"a\"\n"), "it looks like a profile"),
        (write("binary", b"\x00\xff\xfe\x80"), "it is binary"),
        (write("text", b"hello\n"), "its lines are not JSON"),
        (write("newer", newer), "line 1: it has schema 7"),
        (write("cut", b"{\"type\":\"session\",\"sche"), "it ends within its first line"),
        (dir.path().to_str().unwrap().to_owned(), "it is a directory"),
        (dir.path().join("none").to_str().unwrap().to_owned(), "No such file"),
    ];
    for (path, says) in cases {
        let run = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(["replay", &path])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(run.stderr).unwrap();
        assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0), "{path}: {text}");
        assert!(text.starts_with(&format!("fanscope: {path}: ")) && text.contains(says), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn without_a_terminal_it_names_what_works_without_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), "1");
    let run = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["replay", path.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8(run.stderr).unwrap().contains("fanscope report"));
    let run =
        Command::new(env!("CARGO_BIN_EXE_fanscope")).args(["replay", "x", "--speed", "3"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8(run.stderr).unwrap().contains("1/4x, 1/2x, 1x"));
}
