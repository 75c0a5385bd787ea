//! `fanscope init` as people use it: the real binary, its files, and what becomes of them.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const FANSCOPE: &str = env!("CARGO_BIN_EXE_fanscope");

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs it in a folder of its own, with this on standard input.
fn run(dir: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(FANSCOPE)
        .args(args)
        .current_dir(dir)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end before it has read anything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it says where it fails: exit code 2, and nothing on standard output.
#[track_caller]
fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Checks a profile with these variables set.
#[track_caller]
fn check(dir: &Path, text: &str) -> String {
    fs::write(dir.join("made.toml"), text).unwrap();
    let mut command = Command::new(FANSCOPE);
    command.args(["check", "made.toml"]).current_dir(dir);
    for name in text.lines().filter_map(|line| line.strip_prefix("#   export ")?.strip_suffix("=...")) {
        command.env(name, "set");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{text}\n{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_starter_passes_check_without_a_warning_and_runs_at_once() {
    let dir = dir();
    let made = run(dir.path(), &["init", "-o", "my.toml"], b"");
    assert!(made.status.success() && made.stdout.is_empty(), "{made:?}");
    let said = String::from_utf8(made.stderr).unwrap();
    assert_eq!(said, "wrote my.toml: 3 endpoints\n");
    let checked = stdout(&run(dir.path(), &["check", "my.toml"], b""));
    assert!(!checked.contains("warning"), "{checked}");
    let ran =
        stdout(&run(dir.path(), &["run", "my.toml", "-n", "2", "--every", "0ms", "--format", "json"], b""));
    assert_eq!(ran.matches("\"type\":\"round\"").count(), 2, "{ran}");
    assert_eq!(
        stdout(&run(dir.path(), &["init"], b"")),
        fs::read_to_string(dir.path().join("my.toml")).unwrap()
    );
}

#[test]
fn a_file_that_is_there_is_replaced_only_by_force_and_never_by_halves() {
    let dir = dir();
    let path = dir.path().join("my.toml");
    fs::write(&path, "mine").unwrap();
    let said = refusal(&run(dir.path(), &["init", "-o", "my.toml"], b""));
    assert_eq!(said, "fanscope: cannot write my.toml: it exists; --force replaces it\n");
    refusal(&run(dir.path(), &["init", "--curl", "-o", "my.toml", "--force"], b"curl 'https://a/"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert!(run(dir.path(), &["init", "-o", "my.toml", "--force"], b"").status.success());
    assert!(fs::read_to_string(&path).unwrap().contains("name = \"starter\""));
    let said = refusal(&run(dir.path(), &["init", "-o", "no/such/my.toml"], b""));
    assert!(said.contains("cannot write no/such/my.toml"), "{said}");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["my.toml"]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = dir();
    let path = dir.path().join("real.toml");
    fs::write(&path, "mine").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.toml", dir.path().join("my.toml")).unwrap();
    assert!(run(dir.path(), &["init", "-o", "my.toml", "--force"], b"").status.success());
    assert!(dir.path().join("my.toml").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&path).unwrap().contains("starter"));
}

#[test]
fn urls_become_a_profile_that_passes_check() {
    let dir = dir();
    let made =
        stdout(&run(dir.path(), &["init", "https://a.example/x?token=abcdefgh", "http://b.example"], b""));
    assert!(made.contains("#   export TOKEN=...") && !made.contains("abcdefgh"), "{made}");
    let checked = check(dir.path(), &made);
    assert!(checked.contains("a.example") && checked.contains("b.example"), "{checked}");
    for (args, says) in [
        (["init", "htp:/x"], "https"),
        (["init", "example.com"], "write \"https://example.com\""),
        (["init", "https://me:hunter22@a:b/"], "URL"),
        (["init", "--har=https://me:hunter22@a/"], "cannot read"),
        (["init", "--server=https://a/"], "--openapi"),
    ] {
        let said = refusal(&run(dir.path(), &args, b""));
        assert!(said.contains(says) && !said.contains("hunter22"), "{args:?}: {said}");
    }
}

#[test]
fn curl_commands_on_standard_input_become_a_profile_that_passes_check() {
    let dir = dir();
    let input = "curl 'https://a.example/x' -H 'Cookie: sid=abcdefgh' ;\ncurl -u me:hunter22 https://a.example/y -d '{\"a\":1}'\n";
    let made = run(dir.path(), &["init", "--curl", "-o", "my.toml"], input.as_bytes());
    let said = String::from_utf8(made.stderr).unwrap();
    assert_eq!(said, "wrote my.toml: 2 endpoints\nset before it is used: COOKIE, AUTH_USER, AUTH_PASSWORD\n");
    let text = fs::read_to_string(dir.path().join("my.toml")).unwrap();
    assert!(!text.contains("abcdefgh") && !text.contains("hunter22"), "{text}");
    check(dir.path(), &text);
}

#[test]
fn input_that_is_none_is_said_to_be() {
    let dir = dir();
    fs::write(dir.path().join("page.yaml"), "openapi: 3.0.0\npaths: {}\n").unwrap();
    for (args, input, says) in [
        (&["init", "--curl"][..], &b""[..], "cannot read standard input: it is empty"),
        (&["init", "--curl"], b" \n\n", "it is empty"),
        (&["init", "--curl"], b"hello", "no curl command"),
        (&["init", "--curl"], b"curl a\n\xff", "not UTF-8 from line 2 on"),
        (&["init", "--har", "-"], b"{}", "no log.entries"),
        (&["init", "--har", "-"], b"<html>", "not JSON"),
        (&["init", "--har", "none.har"], b"", "cannot read none.har"),
        (&["init", "--har", "."], b"", "cannot read ."),
        (&["init", "--openapi", "page.yaml"], b"", "YAML"),
        (&["init", "--openapi", "-"], b"{\"swagger\":\"2.0\"}", "OpenAPI 3"),
    ] {
        let said = refusal(&run(dir.path(), args, input));
        assert!(said.contains(says), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_har_and_a_description_become_profiles_that_pass_check() {
    let dir = dir();
    let har = r#"{"log":{"entries":[{"time":412.5,"request":{"method":"GET","url":"https://a.example/x",
        "headers":[{"name":":authority","value":"a.example"},{"name":"Cookie","value":"sid=abcdefgh"}]},
        "response":{"status":200}}]}}"#;
    let made = stdout(&run(dir.path(), &["init", "--har", "-"], har.as_bytes()));
    assert!(made.contains("budget = \"500ms\"") && !made.contains("abcdefgh"), "{made}");
    check(dir.path(), &made);
    let api = r#"{"openapi":"3.0.3","paths":{"/x":{"get":{}}}}"#;
    fs::write(dir.path().join("api.json"), api).unwrap();
    let args = ["init", "--openapi", "api.json", "--server", "https://a.example/v1/"];
    let made = stdout(&run(dir.path(), &args, b""));
    assert!(made.contains("url = \"https://a.example/v1/x\""), "{made}");
    check(dir.path(), &made);
}
