//! The README is run: every command in its order, in a folder and a home that have nothing else, and every profile and
//! configuration in it is read.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/pty.rs"]
mod pty;

use pty::Terminal;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What cargo is asked for is run by `.ci/run`, as it stands.
const CARGO: [&str; 3] = ["cargo run --release", "cargo test", "cargo install --path ."];

/// Commands that end by themselves; everything else is a screen.
const PLAIN: [&str; 6] = ["run", "check", "init", "report", "completions", "man"];

/// Long times of the README, and how long they take here.
const SHORTER: [(&str, &str); 2] = [("--for 30s", "--for 2s"), ("-n 50", "-n 8")];

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The blocks of a language, in their order.
fn blocks(language: &str) -> Vec<String> {
    let readme = fs::read_to_string("README.md").unwrap();
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        if line.strip_prefix("```") == Some(language) {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(block.join("\n"));
        }
    }
    assert!(!blocks.is_empty(), "no block of {language}");
    blocks
}

/// The commands, without what is said of them.
fn commands() -> Vec<String> {
    let all = blocks("sh").join("\n");
    let bare = |line: &str| line.split("  #").next().unwrap_or_default().trim().to_owned();
    all.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

/// A newcomer's machine: a folder that is the home as well, and a path with the program on it.
struct Newcomer {
    dir: tempfile::TempDir,
    path: String,
}

impl Newcomer {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fanscope"), bin.join("fanscope")).unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        Self { dir, path }
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).current_dir(self.dir.path()).env_clear();
        command.env("PATH", &self.path).env("HOME", self.dir.path()).env("LANG", "C.UTF-8");
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, line: &str) -> Output {
        self.shell(line).output().unwrap()
    }

    /// Runs a line that ends by itself: well, or with a verdict where there are gates.
    fn ends(&self, line: &str) {
        let out = self.run(line);
        let may: &[i32] = if line.contains("--gate") { &[0, 1, 3] } else { &[0] };
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.code().is_some_and(|code| may.contains(&code)),
            "{line}: {:?}\n{said}",
            out.status
        );
        let tells = !out.stdout.is_empty() || line.contains(" -o ") || line.contains(" > ");
        assert!(tells, "{line} told nothing");
    }

    /// Looks at a screen until there is something on it, and leaves it.
    fn looks(&self, line: &str) {
        let mut term = Terminal::line_in(self.dir.path(), &self.path, line);
        let shows = |screen: &vt100::Screen| {
            let text = screen.contents();
            text.contains("ound ") && text.contains("q quit")
        };
        term.wait(line, shows);
        term.keys("q");
        assert!(term.end().0.success(), "{line}");
    }

    /// Starts what serves metrics, asks it, and ends it.
    fn serves(&self, line: &str) {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let line = format!("exec {}", line.replace("9184", &free.to_string()));
        let mut child = self.shell(&line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        let answer = loop {
            assert!(Instant::now() < until, "{line} serves nothing");
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", free)) {
                let ask = "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
                stream.write_all(ask.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                break answer;
            }
            // The program listens a moment after its start; nothing else tells when.
            std::thread::yield_now();
        };
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("fanscope_"), "{line}: {answer}");
        let pid = child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .lines()
            .for_each(|l| said.push_str(&l.unwrap_or_default()));
        assert_eq!(child.wait().unwrap().code(), None, "{line} ends by the signal: {said}");
    }
}

/// Files that the README takes for granted.
fn given(newcomer: &Newcomer) {
    let dir = newcomer.dir.path();
    let har = r#"{"log": {"entries": [{"request": {"method": "GET", "url": "https://a.example/x"}}]}}"#;
    fs::write(dir.join("page.har"), har).unwrap();
    let api =
        r#"{"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], "paths": {"/x": {"get": {}}}}"#;
    fs::write(dir.join("api.json"), api).unwrap();
    newcomer.ends("fanscope init -o given.toml");
    for name in ["monday", "tuesday", "frankfurt", "new-york"] {
        newcomer.ends(&format!("fanscope run given.toml -n 12 --every 0ms --record {name}.ndjson"));
    }
}

#[test]
fn every_command_of_the_readme_does_what_it_is_there_for() {
    let newcomer = Newcomer::new();
    given(&newcomer);
    for command in commands() {
        if CARGO.contains(&command.as_str()) {
            continue;
        }
        let mut line = command.clone();
        for (long, short) in SHORTER {
            line = line.replace(long, short);
        }
        let last = line.rsplit("| ").next().unwrap_or_default().to_owned();
        let word = last.strip_prefix("fanscope").unwrap_or_else(|| panic!("who runs `{command}`?"));
        let first = word.split_whitespace().next().unwrap_or_default();
        if line.contains("--metrics") {
            newcomer.serves(&line);
        } else if PLAIN.contains(&first) || first == "--print-config" {
            newcomer.ends(&line);
        } else {
            newcomer.looks(&line);
        }
    }
    for written in ["page.toml", "urls.toml", "recorded.toml", "api.toml"] {
        newcomer.ends(&format!("fanscope check {written}"));
    }
    assert!(!newcomer.run("fanscope check copied.toml").status.success(), "its token is a variable");
    let copied = fs::read_to_string(newcomer.dir.path().join("copied.toml")).unwrap();
    assert!(!copied.contains("5f3a"), "{copied}");
}

#[test]
fn cargos_commands_of_the_readme_are_those_of_ci() {
    let ci = fs::read_to_string(".ci/run").unwrap_or_default();
    if ci.is_empty() {
        // A package has no CI.
        return;
    }
    let cargo: Vec<String> = commands().into_iter().filter(|line| line.starts_with("cargo")).collect();
    assert_eq!(cargo, CARGO);
    for part in ["cargo test --locked", "cargo run --locked --release", "cargo install --locked --path ."] {
        assert!(ci.contains(part), "CI does not run `{part}`");
    }
}

#[test]
fn every_profile_and_configuration_of_the_readme_is_valid() {
    let newcomer = Newcomer::new();
    for (place, block) in blocks("toml").iter().enumerate() {
        let name = format!("{place}.toml");
        fs::write(newcomer.dir.path().join(&name), block).unwrap();
        let line = if block.contains("[[endpoint]]") {
            format!("API_TOKEN=a fanscope check {name}")
        } else {
            format!("fanscope --config {name} --print-config")
        };
        newcomer.ends(&line);
    }
}

#[test]
fn every_file_that_the_readme_points_to_is_there() {
    let readme = fs::read_to_string("README.md").unwrap();
    let marks = ["](", "srcset=\"", "src=\""];
    let mut found = 0;
    for mark in marks {
        for rest in readme.split(mark).skip(1) {
            let target = rest.split([')', '"', '#']).next().unwrap_or_default();
            if !target.contains("://") && !target.is_empty() {
                found += 1;
                assert!(Path::new(target).exists(), "README.md points to {target}");
            }
        }
    }
    assert!(found >= 8, "only {found} were found");
}
