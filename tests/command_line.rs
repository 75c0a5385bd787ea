//! The command line as it is met: help, suggestions, completions, man pages.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn fanscope(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(args).env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn what_is_mistyped_is_an_error_that_names_what_was_meant() {
    for (args, meant) in [
        (&["rnu"][..], "did you mean the command `fanscope run`?"),
        (&["chekc", "a.toml"], "did you mean the command `fanscope check`?"),
        (&["shopz"], "did you mean the built-in `shops`?"),
        (&["--budgte", "1s"], "'--budget'"),
        (&["-m", "quorm"], "'quorum'"),
        (&["run", "--formt", "json"], "'--format'"),
        (&["completions", "bsh"], "'bash'"),
        (&["man", "rnu"], "did you mean `run`?"),
        (&["--theme", "light", "demo"], "options go after the command: fanscope demo"),
        (&["-b", "100ms", "run", "shops", "-n", "2"], "options go after the command: fanscope run"),
        (&["--theme", "light", "replay", "r.ndjson"], "options go after the command: fanscope replay"),
    ] {
        let out = fanscope(args);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(meant), "{args:?}: {said}");
        assert!(out.stdout.is_empty(), "{args:?} wrote to standard output");
    }
}

#[test]
fn a_profile_that_exists_and_is_wrong_is_not_taken_for_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rnu");
    std::fs::write(&path, "name = 7").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    let out = command.current_dir(dir.path()).arg("rnu").stdin(Stdio::null()).output().unwrap();
    let said = text(&out.stderr);
    assert!(said.contains("name") && !said.contains("did you mean the command"), "{said}");
}

#[test]
fn every_command_has_a_short_help_and_one_that_says_more() {
    let all = text(&fanscope(&["--help"]).stdout);
    let commands: Vec<&str> = all
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 6, "{all}");
    for command in std::iter::once(None).chain(commands.into_iter().map(Some)) {
        let with = |flag| fanscope(&command.into_iter().chain([flag]).collect::<Vec<_>>());
        let (short, long) = (with("-h"), with("--help"));
        assert!(short.status.success() && short.stderr.is_empty(), "{command:?}");
        let (short, long) = (text(&short.stdout), text(&long.stdout));
        assert!(short.contains("Examples:") && long.contains("Examples:"), "{command:?}:\n{long}");
        assert!(long.lines().count() >= short.lines().count(), "{command:?}");
    }
}

#[test]
fn the_shell_itself_takes_its_completions() {
    let script = fanscope(&["completions", "bash"]).stdout;
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(&script).unwrap();
    assert!(bash.wait().unwrap().success());
    let ask =
        "COMP_WORDS=(fanscope run -m q); COMP_CWORD=3; _fanscope fanscope q -m; echo \"${COMPREPLY[*]}\"";
    let out = Command::new("bash").arg("-c").arg(format!("{}\n{ask}", text(&script))).output().unwrap();
    assert_eq!(text(&out.stdout).trim(), "quorum", "{}", text(&out.stderr));
}

#[test]
fn who_stops_reading_completions_or_a_page_has_read_enough() {
    for args in [&["completions", "zsh"][..], &["man", "run"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success() && out.stderr.is_empty(), "{args:?}: {}", text(&out.stderr));
    }
}
