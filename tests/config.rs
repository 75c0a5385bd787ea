//! The configuration file through the real binary: where it is looked for, what beats what, and that every fault is
//! told before the terminal is touched.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/pty.rs"]
mod pty;

use pty::Terminal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a configuration of this text.
struct Place {
    dir: TempDir,
    file: PathBuf,
}

impl Place {
    fn of(text: impl AsRef<[u8]>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fanscope").join("config.toml");
        fs::create_dir(dir.path().join("fanscope")).unwrap();
        fs::write(&file, text).unwrap();
        Self { dir, file }
    }

    fn file(&self) -> &str {
        self.file.to_str().unwrap()
    }

    fn dir(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
}

/// Runs fanscope without a terminal in an environment of these variables alone.
fn fanscope(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(args).env_clear().env("LANG", "C.UTF-8").envs(env.iter().copied());
    command.output().unwrap()
}

fn printed(args: &[&str], env: &[(&str, &str)]) -> String {
    let args: Vec<&str> = args.iter().chain(&["--print-config"]).copied().collect();
    let output = fanscope(&args, env);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What is said of arguments that are refused with exit code 2 and nothing on standard output.
fn refused(args: &[&str], env: &[(&str, &str)]) -> String {
    let output = fanscope(args, env);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[track_caller]
fn has(text: &str, line: &str) {
    let squeezed: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(squeezed.iter().any(|found| found == line), "{line} is missing in\n{text}");
}

#[test]
fn every_fault_of_the_file_is_told_with_what_was_meant_before_the_terminal_is_touched() {
    let place = Place::of("theme = \"ligth\"\nmuose = false\n[keys]\nprobe = \"w\"\nqiut = \"Q\"\n");
    let mut term = Terminal::start(100, 40, &["--config", place.file()], &[]);
    let (status, text) = term.end();
    assert_eq!(status.exit_code(), 2, "{text}");
    assert!(!term.raw().windows(2).any(|pair| pair == b"\x1b["), "the terminal was touched");
    let text = text.replace('\n', " ");
    for part in [
        "config.toml:1:9: `ligth` is no theme",
        "did you mean `light`?",
        "`muose` is no key of the configuration",
        "did you mean `mouse`?",
        "`w` would be the key of both `probe` and `window`",
        "`qiut` is no action",
        "did you mean `quit`?",
        "4 errors in",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn what_can_not_be_read_as_text_is_told_as_such() {
    let latin = Place::of(b"theme = \"d\xe4rk\"");
    let env = [("FANSCOPE_CONFIG", latin.file())];
    for args in [&[][..], &["run", "-n", "1"], &["check", "shops"], &["report", "none.ndjson"]] {
        let said = refused(args, &env);
        assert!(said.contains("is not UTF-8: byte 0xe4 in line 1"), "{args:?}: {said}");
    }
    assert!(refused(&["--config", latin.dir()], &[]).contains("is a directory"));
    let hidden = Place::of("");
    fs::set_permissions(&hidden.file, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads it all the same.
    if fs::read(&hidden.file).is_err() {
        assert!(refused(&["--config", hidden.file()], &[]).contains("permission denied"));
    }
}

#[test]
fn a_file_that_is_named_has_to_be_there_and_one_at_the_usual_place_need_not() {
    let said = refused(&["--config", "/nowhere/c.toml", "--print-config"], &[]);
    assert!(said.contains("/nowhere/c.toml: there is no such file\n  = --config names it"), "{said}");
    let said = refused(&["--print-config"], &[("FANSCOPE_CONFIG", "/nowhere/c.toml")]);
    assert!(said.contains("FANSCOPE_CONFIG names it"), "{said}");
    for env in [("HOME", "/nowhere"), ("HOME", "/dev/null"), ("XDG_CONFIG_HOME", "/nowhere")] {
        has(&printed(&[], &[env]), "# File: none");
    }
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_which_beats_what_is_usual() {
    let (here, there) = (Place::of("theme = 'dark'\ncolor = 'always'\n"), Place::of("theme = 'light'\n"));
    let home = [("XDG_CONFIG_HOME", here.dir())];
    has(&printed(&[], &home), "theme = \"dark\" # line 1 of the file");
    has(&printed(&[], &home), "mouse = true # by default");
    has(&printed(&["--no-mouse"], &home), "mouse = false # --no-mouse");
    has(&printed(&["--theme", "mono"], &home), "theme = \"mono\" # --theme");
    let env = [home[0], ("NO_COLOR", "1"), ("FANSCOPE_CONFIG", there.file())];
    has(&printed(&[], &env), "theme = \"light\" # line 1 of the file");
    has(&printed(&[], &env), "color = \"never\" # NO_COLOR in the environment");
    has(&printed(&["--config", here.file()], &env), "theme = \"dark\" # line 1 of the file");
    has(&printed(&["--color", "auto"], &env), "color = \"auto\" # --color");
    has(&printed(&[], &[home[0], ("FANSCOPE_CONFIG", "")]), "theme = \"terminal\" # by default");
    // What is printed is a configuration that holds the same.
    let again = Place::of(printed(&["--no-mouse"], &env));
    let once_more = printed(&["--config", again.file()], &[]);
    let values = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.split_once(" # ").map(|line| line.0.trim().to_owned())).collect()
    };
    assert_eq!(values(&once_more), values(&fs::read_to_string(&again.file).unwrap()));
}

#[test]
fn a_wrong_theme_on_the_command_line_is_told_with_those_there_are() {
    let said = refused(&["--theme", "ligth"], &[]);
    assert!(said.contains("light") && said.contains("colour-blind-safe"), "{said}");
}

#[test]
fn the_dashboard_has_the_keys_of_the_file_and_shows_them() {
    let place = Place::of("theme = 'dark'\n[keys]\nhelp = 'H'\nquit = 'Q'\nprobe = []\n");
    let env = [("FANSCOPE_CONFIG", place.file()), ("COLORTERM", "truecolor")];
    let mut term = Terminal::start(120, 40, &["page"], &env);
    term.wait_text("Round 1");
    // How to begin, and after the first key all that there is.
    term.wait_text("H keys");
    term.keys("j");
    term.wait_text("H help   Q quit");
    term.wait("a ground", |screen| {
        screen.cell(0, 0).is_some_and(|cell| matches!(cell.bgcolor(), vt100::Color::Rgb(..)))
    });
    term.keys("q?H");
    term.wait_text("Keys and signs");
    term.wait_text("no key    watch some rounds to the end");
    term.keys("t");
    term.wait_text("theme light");
    term.keys("Q");
    let (status, _) = term.end();
    assert!(status.success());
    // Ctrl-C needs no key of its own.
    let mut term = Terminal::start(120, 40, &["page"], &env);
    term.wait_text("Round 1");
    term.keys("\x03");
    assert!(term.end().0.success());
}

#[test]
fn without_the_mouse_its_reports_are_never_switched_on() {
    let place = Place::of("mouse = false");
    let from_file = [("FANSCOPE_CONFIG", place.file())];
    for (args, env) in [(&["--no-mouse"][..], &[][..]), (&[][..], &from_file[..])] {
        let mut term = Terminal::start(100, 30, args, env);
        term.wait_text("Round 1");
        term.wait("the paste mode, which is switched after the mouse", vt100::Screen::bracketed_paste);
        term.keys("q");
        assert!(term.end().0.success());
        let raw = term.raw();
        for mode in [&b"\x1b[?1000"[..], b"\x1b[?1002", b"\x1b[?1003", b"\x1b[?1006"] {
            assert!(!raw.windows(mode.len()).any(|bytes| bytes == mode), "{}", String::from_utf8_lossy(mode));
        }
    }
}

#[test]
fn no_profile_asks_for_more_than_the_ceiling() {
    let place = Place::of("[safety]\nmax_rps = 5\n");
    let profile = place.dir.path().join("p.toml");
    let text = "[round]\nmax_rps = 40\n[[endpoint]]\nname = 'a'\nurl = 'http://a.example/'\n";
    fs::write(&profile, text).unwrap();
    let args = ["check", profile.to_str().unwrap()];
    let shown = |env: &[(&str, &str)]| {
        let output = fanscope(&args, env);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(shown(&[]).contains("at most 40 attempts/s"), "{}", shown(&[]));
    let held = shown(&[("FANSCOPE_CONFIG", place.file())]);
    assert!(held.contains("at most 5 attempts/s"), "{held}");
    assert!(
        held.contains("allows 5 attempts a second to a host, the profile asks for 40: 5 holds"),
        "{held}"
    );
}

#[test]
fn a_run_heeds_the_characters_of_the_file() {
    let place = Place::of("ascii = true\ntheme = 'dark'\n");
    let run = |env: &[(&str, &str)]| fanscope(&["run", "page", "-n", "2"], env).stdout;
    assert!(run(&[("FANSCOPE_CONFIG", place.file())]).is_ascii());
    assert!(!run(&[]).is_ascii(), "the test can't fail where the summary has 7 bits anyway");
}
