//! Whatever is on the screen, and whatever the network does not do: a signal ends the program by that signal, with the
//! terminal as it was. A terminal that nobody reads holds up no round.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/full.rs"]
mod full;
#[path = "support/pty.rs"]
mod pty;

use pty::{Stalled, Terminal};
use std::fmt::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What is on the screen, the keys that lead there, and what it says then.
const PLACES: [(&str, &str, &str); 9] = [
    ("the dashboard", "", "Round 1"),
    ("the help", "?", "Keys and signs"),
    ("the detail", "\r", "Esc back"),
    ("the filter", "/ab", "all lanes"),
    ("a note", "nab", "drop"),
    ("the trade-off", "a", "Esc back"),
    ("another panel", "\t\t\t", "Calls \u{2500}"),
    ("a pause", " ", "paused"),
    ("a frozen picture", "f", "frozen"),
];

const SIGNALS: [(&str, &str); 4] =
    [("TERM", "Terminated"), ("HUP", "Hangup"), ("INT", "Interrupt"), ("QUIT", "Quit")];

/// Calls that hang for hours: in a connect, in a handshake, before an answer.
fn hung(dir: &Path, silent: SocketAddr, full: SocketAddr) -> PathBuf {
    let urls = [format!("http://{silent}/"), format!("https://{silent}/"), format!("http://{full}/")];
    let mut text = "[round]\nbudget = \"2h\"\nrequest_budget = \"3h\"\n".to_owned();
    for (name, url) in ["silent", "tls", "full"].iter().zip(urls) {
        writeln!(text, "[[endpoint]]\nname = \"{name}\"\nurl = \"{url}\"").unwrap();
    }
    let path = dir.join("hung.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// Ends a program that shows this by each signal, and by Ctrl-C.
fn ends(place: (&str, &str, &str), args: &[&str]) {
    for (signal, says) in SIGNALS.into_iter().map(|(signal, says)| (Some(signal), says)).chain([(None, "")]) {
        let mut term = Terminal::start(100, 30, args, &[]);
        term.wait("a drawn screen", |screen| {
            screen.alternate_screen() && screen.contents().contains("Round 1")
        });
        term.keys(place.1);
        term.wait_text(place.2);
        match signal {
            Some(signal) => term.signal(signal),
            None => term.keys("\x03"),
        }
        // The calls take hours, and this waits for much less. It also checks modes, screen, cursor, mouse and paste.
        let (status, text) = term.end();
        let by_itself = match signal {
            Some(_) => status.signal().is_some_and(|s| s.contains(says)),
            None => status.success(),
        };
        assert!(by_itself, "{} in {}: {status:?}\n{text}", signal.unwrap_or("Ctrl-C"), place.0);
        assert!(text.starts_with("fanscope "), "{} in {}: {text}", signal.unwrap_or("Ctrl-C"), place.0);
    }
}

#[test]
fn t15_t21_every_signal_on_every_screen_with_a_hung_network_gives_the_terminal_back() {
    let dir = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (full, _queue) = full::full(([127, 0, 0, 1], 0).into());
    let path = hung(dir.path(), silent.local_addr().unwrap(), full);
    let path = path.to_str().unwrap();
    std::thread::scope(|scope| {
        for place in PLACES {
            scope.spawn(move || ends(place, &[path]));
        }
    });
}

#[test]
fn t15_every_signal_on_every_screen_of_a_replay_gives_the_terminal_back() {
    let dir = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(["run", "shops", "-n", "1", "--format", "json"])
        .output()
        .unwrap();
    let path = dir.path().join("one.ndjson");
    std::fs::write(&path, run.stdout).unwrap();
    let path = path.to_str().unwrap();
    std::thread::scope(|scope| {
        // A recording has no notes; a pause of one that is over says nothing new.
        for place in PLACES.into_iter().filter(|place| !matches!(place.0, "a note" | "a pause")) {
            scope.spawn(move || ends(place, &["replay", path]));
        }
    });
}

/// Rounds in a recording that is being written.
fn rounds(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().matches("\"type\":\"round\"").count()
}

#[test]
fn a_terminal_that_nobody_reads_holds_up_no_round_and_keys_work_when_it_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kept.ndjson");
    let args = ["page", "--every", "20ms", "-b", "15ms", "--record", path.to_str().unwrap()];
    let mut term = Stalled::start(250, 80, &args, "Round 2");
    // What is painted from here on is far more than a terminal keeps for its reader.
    for _ in 0..20 {
        term.keys("\x0c");
    }
    let (before, until) = (rounds(&path), Instant::now() + Duration::from_secs(30));
    while rounds(&path) < before + 60 {
        assert!(Instant::now() < until, "rounds stand still: {} of {before} + 60", rounds(&path));
        std::thread::sleep(Duration::from_millis(20));
    }
    term.keys("2");
    term.read_until("quorum");
    term.keys("q");
    let (status, _) = term.end();
    assert!(status.success(), "{status:?}");
}
