//! Stopped and continued under a shell with job control: the terminal changes hands whole, and the rounds are
//! not blamed for the pause.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/pty.rs"]
mod pty;

use pty::{Terminal, is_plain};
use std::process::Command;
use tempfile::TempDir;

/// A folder in which `run` starts the program in the foreground, having left its number in `pid`.
fn folder(profile: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("p.toml"), profile).unwrap();
    let run = "echo $$ > \"$1/pid\"; exec \"$FANSCOPE\" \"$1/p.toml\"\n";
    std::fs::write(dir.path().join("run"), run).unwrap();
    dir
}

/// A shell that starts the program and then does this.
fn shell(dir: &TempDir, then: &str) -> Terminal {
    let dir = dir.path().to_str().unwrap();
    Terminal::shell(120, 40, &format!("sh {dir}/run {dir}; echo \"left $?\"; {then}"))
}

fn kill(dir: &TempDir, signal: &str) {
    let pid = std::fs::read_to_string(dir.path().join("pid")).unwrap();
    assert!(Command::new("kill").args(["-s", signal, pid.trim()]).status().unwrap().success());
}

fn answering(every: &str) -> String {
    let simulate = "simulate = { latency = \"10ms\" }";
    format!("name = \"n\"\n[round]\nevery = \"{every}\"\n[[endpoint]]\nname = \"a\"\n{simulate}\n")
}

fn wait_stopped(term: &Terminal, says: &str) {
    term.wait("a shell's terminal", |screen| screen.contents().contains(says) && is_plain(screen));
    assert!(term.has_old_modes());
}

fn wait_drawn(term: &Terminal, text: &str) {
    term.wait(text, |screen| screen.alternate_screen() && screen.contents().contains(text));
}

#[test]
fn ctrl_z_and_sigtstp_give_the_terminal_to_the_shell_and_fg_takes_it_again() {
    for from_outside in [false, true] {
        let dir = folder(&answering("1s"));
        let mut term = shell(&dir, "read go; sleep 3; fg; echo \"end $?\"");
        wait_drawn(&term, "Round 1");
        if from_outside {
            kill(&dir, "TSTP");
        } else {
            term.keys("\x1a");
        }
        // 128 + 20: by the real signal, as a shell knows it.
        wait_stopped(&term, "left 148");
        term.keys("\n");
        wait_drawn(&term, "live");
        wait_drawn(&term, "Round 2");
        // Starts that a deliberate stop left out are nobody's fault.
        assert!(term.text().contains("skipped 0"), "{}", term.text());
        term.keys("q");
        let (status, text) = term.end();
        assert!(status.success() && text.contains("end 0") && text.contains("fanscope n:"), "{text}");
    }
}

#[test]
fn who_paused_the_rounds_finds_them_paused_after_a_stop() {
    let dir = folder(&answering("50ms"));
    let mut term = shell(&dir, "read go; fg; echo \"end $?\"");
    wait_drawn(&term, "Round 1");
    term.keys(" ");
    wait_drawn(&term, "paused");
    term.keys("\x1a");
    wait_stopped(&term, "left 148");
    term.keys("\n");
    wait_drawn(&term, "paused");
    // Keys arrive in order: the picture after this one shows the pause that there was.
    term.keys("2");
    wait_drawn(&term, "quorum");
    assert!(term.text().contains("paused"), "{}", term.text());
    term.keys("q");
    assert!(term.end().1.contains("end 0"));
}

/// One round that is under way when the process is stopped, and past its deadline when it goes on.
fn frozen(stop: &str, then: &str) {
    let dir = folder(
        "name = \"n\"\n[round]\nbudget = \"4s\"\nevery = \"1h\"\n[[endpoint]]\nname = \"a\"\n\
         simulate = { latency = \"1h\" }\n",
    );
    let mut term = shell(&dir, "sleep 6; fg; echo \"end $?\"");
    wait_drawn(&term, "Round 1");
    kill(&dir, stop);
    wait_drawn(&term, then);
    // The time in which nothing ran is marked in the history.
    wait_drawn(&term, "gap ");
    term.keys("q");
    let (_, text) = term.end();
    assert!(text.contains(", 0 rounds") && text.contains("end 0"), "{text}");
}

#[test]
fn a_round_frozen_by_a_suspend_is_aborted_and_not_counted() {
    // Going on begins the schedule anew: with the next round, and with no other.
    frozen("TSTP", "Round 2");
}

#[test]
fn a_round_frozen_by_sigstop_is_aborted_and_not_counted() {
    frozen("STOP", "aborted after");
}

#[test]
fn after_sigstop_the_screen_is_whole_whatever_the_shell_did_to_it() {
    let dir = folder(&answering("200ms"));
    let then =
        "stty sane; printf '\\033[?1049l\\033[?25h\\033[?1000l'; echo bare; read go; fg; echo \"end $?\"";
    let mut term = shell(&dir, then);
    wait_drawn(&term, "Round 1");
    kill(&dir, "STOP");
    term.wait_text("bare");
    term.keys("\n");
    wait_drawn(&term, "Missing by reason");
    // A key without Enter is heard at once: raw mode is back.
    term.keys("4");
    wait_drawn(&term, "wait-all");
    term.wait("the cursor is hidden and the mouse asked for", |screen| {
        screen.hide_cursor() && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
    });
    term.keys("q");
    assert!(term.end().1.contains("end 0"));
}

#[test]
fn continued_in_the_background_it_stops_again_and_can_be_ended() {
    let dir = folder(&answering("200ms"));
    let jobs = dir.path().join("jobs").display().to_string();
    let until = |state| format!("until jobs > {jobs}; grep -q {state} {jobs}; do :; done");
    let then = format!(
        "bg; {}; echo again; kill -TERM %1; kill -CONT %1; {}; echo ended",
        until("Stopped"),
        until("Terminated"),
    );
    let mut term = shell(&dir, &then);
    wait_drawn(&term, "Round 1");
    term.keys("\x1a");
    wait_stopped(&term, "again");
    let (_, text) = term.end();
    assert!(text.contains("ended") && text.contains("fanscope n:"), "{text}");
    assert!(!text.contains("Missing by reason"), "nothing of the screen on the shell's:\n{text}");
}

#[test]
fn where_no_shell_could_continue_it_ctrl_z_stops_nothing() {
    let mut term = Terminal::start(120, 40, &[], &[]);
    wait_drawn(&term, "Round 1");
    term.keys("\x1a");
    term.keys("2");
    wait_drawn(&term, "quorum 5 of 8");
    wait_drawn(&term, "live");
    term.keys("q");
    assert!(term.end().0.success());
}
