//! `--record` with the real binary: what is in the file, what is never overwritten, and what becomes of it when
//! the program or the disk ends too early.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/pty.rs"]
mod pty;

use fanscope::domain::Round;
use fanscope::recording::{Reader, Record, SummaryLine, open};
use pty::Terminal;
use rustix::fs::OFlags;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PACKED: [&str; 3] = ["r.ndjson", "r.ndjson.gz", "r.zst"];

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn command(args: &[&str], record: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(args).arg("--record").arg(record).stdin(Stdio::null());
    command
}

fn fanscope(args: &[&str], record: &Path) -> Output {
    command(args, record).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a recording holds.
struct Held {
    rounds: Vec<Round>,
    summary: Option<SummaryLine>,
    left_out: Option<String>,
}

/// Reads a recording; `None` where it does not even have a first line yet.
fn held(path: &Path) -> Option<Held> {
    let mut reader = Reader::new(open(path).ok()?);
    let mut held = Held { rounds: Vec::new(), summary: None, left_out: None };
    loop {
        match reader.next_record() {
            Ok(Some(Record::Round(round, _))) => held.rounds.push(*round),
            Ok(Some(Record::Summary(summary))) => held.summary = Some(*summary),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) if held.rounds.is_empty() => {
                drop(error);
                return None;
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    held.left_out = reader.left_out().map(str::to_owned);
    Some(held)
}

/// Waits until a recording holds this.
fn wait(path: &Path, holds: impl Fn(&Held) -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !held(path).is_some_and(|held| holds(&held)) {
        assert!(Instant::now() < until, "{} stays as it is", path.display());
        std::thread::yield_now();
    }
}

#[test]
fn s7_a_recording_is_what_run_prints_in_every_format() {
    let dir = dir();
    for name in PACKED {
        let path = dir.path().join(name);
        let args = ["run", "shops", "-n", "5", "--warmup", "2", "--every", "20ms", "--format", "json"];
        let args = [args.as_slice(), &["--gate", "completeness>=0.01"]].concat();
        let output = fanscope(&args, &path);
        assert!(output.status.success(), "{}", stderr(&output));
        let mut recorded = Vec::new();
        open(&path).unwrap().read_to_end(&mut recorded).unwrap();
        assert_eq!(recorded, output.stdout, "{name}");
        let held = held(&path).unwrap();
        assert_eq!((held.rounds.len(), held.left_out), (7, None), "{name}");
        let summary = held.summary.unwrap();
        assert_eq!((summary.rounds, summary.gates[0].passed), (5, Some(true)));
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn what_cannot_be_recorded_to_is_said_before_anything_is_sent() {
    let (dir, listener) = (dir(), TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let there = dir.path().join("there.ndjson");
    fs::write(&there, "somebody's work\n").unwrap();
    let nowhere = dir.path().join("no/where.ndjson");
    for (path, says) in [(&there, "--force"), (&nowhere, "there is no directory")] {
        let output = fanscope(&["run", &url, "-n", "1"], path);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(says) && output.stdout.is_empty(), "{output:?}");
        let mut term = Terminal::start(80, 24, &[&url, "--record", path.to_str().unwrap()], &[]);
        let (status, text) = term.end();
        assert_eq!(status.exit_code(), 2, "{text}");
        assert!(text.contains("cannot record to "), "{text}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing was sent");
    assert_eq!(fs::read_to_string(&there).unwrap(), "somebody's work\n");
    let output = fanscope(&["run", "shops", "-n", "1", "--force"], &there);
    assert!(output.status.success());
    assert_eq!(held(&there).unwrap().rounds.len(), 1);
}

#[test]
fn force_overwrites_nothing_where_nothing_runs() {
    let (dir, taken) = (dir(), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = taken.local_addr().unwrap().to_string();
    for name in PACKED {
        let path = dir.path().join(name);
        fs::write(&path, "an earlier recording\n").unwrap();
        let output = fanscope(&["run", "shops", "-n", "1", "--force", "--metrics", &address], &path);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let record = path.to_str().unwrap();
        let args = ["shops", "--record", record, "--force", "--metrics", &address];
        assert_eq!(Terminal::start(80, 24, &args, &[]).end().0.exit_code(), 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), "an earlier recording\n", "{name}");
    }
}

#[test]
fn a_session_that_cannot_start_leaves_no_file_in_the_way_of_the_next() {
    let dir = dir();
    let path = dir.path().join("r.ndjson");
    let output = fanscope(&["run", "nowhere.toml"], &path);
    assert_eq!(output.status.code(), Some(2));
    assert!(!path.exists());
}

/// Lines are printed and queued for the file in one go, and packed ones reach it when nothing more waits.
#[test]
fn s7_kill_9_loses_the_last_line_at_most() {
    let dir = dir();
    for name in PACKED {
        let path = dir.path().join(name);
        let args = ["run", "shops", "-n", "1000000", "-b", "20ms", "--every", "0ms", "--format", "json"];
        let mut child = command(&args, &path).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while printed.lines().count() < 12 {
            assert!(out.read_line(&mut printed).unwrap() > 0, "{name}: ended too early");
        }
        // SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        out.read_to_string(&mut printed).unwrap();
        let mut recorded = Vec::new();
        // Packed bytes without an end are an error behind everything that can be read.
        let whole = open(&path).unwrap().read_to_end(&mut recorded);
        assert!(whole.is_ok() || name != "r.ndjson", "{name}: {whole:?}");
        let recorded = String::from_utf8(recorded).unwrap();
        let (short, long) = match printed.len().cmp(&recorded.len()) {
            Ordering::Less => (&printed, &recorded),
            _ => (&recorded, &printed),
        };
        assert!(long.starts_with(short.as_str()) && !short.is_empty(), "{name}:\n{printed}\n{recorded}");
        let (lines, of) = (recorded.lines().count(), printed.lines().count());
        // One that is not through the queue yet, and one that is cut.
        assert!(name != "r.ndjson" || lines + 2 >= of, "{name}: {lines} of {of}");
        assert!(held(&path).is_some_and(|held| held.summary.is_none()), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_ends_no_round() {
    let output = fanscope(&["run", "shops", "-n", "3", "--every", "20ms", "--force"], Path::new("/dev/full"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("3 rounds"));
    let said = stderr(&output);
    let trouble = "fanscope: recording to /dev/full: No space left on device, ";
    // When it happened, unless it was over by then, and at the end with all that it cost.
    assert!(said.lines().all(|line| line.starts_with(trouble)), "{said}");
    // The session, three rounds, the summary; settings stand in the first of them as well.
    assert_eq!(said.lines().last(), Some(format!("{trouble}6 lines lost").as_str()), "{said}");
}

/// A pipe whose reader dawdles stands for a slow disk: it takes longer to end than anybody who waits would give it.
#[test]
fn a_run_that_is_complete_waits_for_its_recording_and_a_signal_ends_that() {
    for interrupted in [false, true] {
        let dir = dir();
        let path = dir.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // More than a pipe holds.
        let args = ["run", "shops", "-n", "60", "-b", "5ms", "--every", "0ms", "--force"];
        // There before its writer, which it waits for only when it reads.
        let at_once = OFlags::RDONLY | OFlags::NONBLOCK;
        let mut pipe = fs::File::from(rustix::fs::open(&path, at_once, rustix::fs::Mode::empty()).unwrap());
        rustix::fs::fcntl_setfl(&pipe, OFlags::RDONLY).unwrap();
        let mut child = command(&args, &path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The result is out: all rounds are over, and it waits for its recording alone.
        let out = BufReader::new(child.stdout.as_mut().unwrap());
        assert!(out.lines().map_while(Result::ok).any(|line| line.contains("60 rounds")));
        let pid = child.id().to_string();
        if interrupted {
            assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.signal(), Some(2), "{output:?}");
            assert!(stderr(&output).contains("the disk did not take its end in time"), "{output:?}");
            continue;
        }
        // Longer than the second that is given where somebody waits.
        std::thread::sleep(Duration::from_millis(1500));
        assert!(child.try_wait().unwrap().is_none(), "it gave its recording up");
        let mut recorded = String::new();
        pipe.read_to_string(&mut recorded).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(recorded.lines().last().unwrap().starts_with("{\"type\":\"summary\""), "{recorded}");
    }
}

#[test]
fn a_directory_that_vanishes_is_said_and_ends_no_round() {
    let dir = dir();
    let path = dir.path().join("gone/r.ndjson");
    fs::create_dir(dir.path().join("gone")).unwrap();
    let args = ["run", "shops", "-n", "20", "--every", "50ms"];
    let child = command(&args, &path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait(&path, |held| !held.rounds.is_empty());
    fs::remove_dir_all(dir.path().join("gone")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("20 rounds"));
    assert!(stderr(&output).contains("gone/r.ndjson: the file was deleted"), "{}", stderr(&output));
}

#[test]
fn an_interrupted_run_has_its_summary() {
    let dir = dir();
    for name in PACKED {
        let path = dir.path().join(name);
        let args = ["run", "shops", "-n", "100000", "--every", "50ms"];
        let mut child = command(&args, &path).stdout(Stdio::null()).spawn().unwrap();
        wait(&path, |held| held.rounds.len() >= 2);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
        assert!(!child.wait().unwrap().success());
        let held = held(&path).unwrap();
        assert_eq!(held.left_out, None, "{name}");
        let counted = held.rounds.iter().filter(|round| round.counts()).count();
        assert_eq!(held.summary.unwrap().rounds, counted as u64, "{name}");
    }
}

fn start(path: &Path, env: &[(&str, &str)]) -> Terminal {
    Terminal::start(100, 30, &["shops", "--warmup", "2", "--record", path.to_str().unwrap()], env)
}

#[test]
fn s8_the_dashboard_records_warms_up_and_names_its_file_at_the_end() {
    let dir = dir();
    for (name, signal) in [("q.ndjson", None), ("term.gz", Some("TERM")), ("hup.zst", Some("HUP"))] {
        let path = dir.path().join(name);
        let mut term = start(&path, &[]);
        term.wait_text("◉ rec");
        term.wait_text("warming up 2 of 2");
        term.wait_text("2 rounds");
        match signal {
            None => term.keys("q"),
            Some(signal) => term.signal(signal),
        }
        let (_, text) = term.end();
        assert!(text.contains("recorded ") && text.replace('\n', "").contains(name), "{text}");
        let held = held(&path).unwrap();
        assert_eq!(held.left_out, None, "{name}");
        assert!(held.rounds.iter().all(|round| round.warmup == (round.no.0 <= 2)), "{name}");
        let counted = held.rounds.iter().filter(|round| round.counts()).count();
        assert_eq!(held.summary.unwrap().rounds, counted as u64, "{name}");
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_of_the_screen_closes_the_recording() {
    let dir = dir();
    let path = dir.path().join("r.gz");
    let (status, text) = start(&path, &[("FANSCOPE_TEST_PANIC", "draw")]).end();
    assert!(!status.success() && text.contains("planted panic"), "{text}");
    let mut unpacked = String::new();
    open(&path).unwrap().read_to_string(&mut unpacked).unwrap();
    assert!(unpacked.contains("\"type\":\"summary\""), "{unpacked}");
}

/// Sends every request back: as headers and body of a 500, as garbage, or as where to go next.
fn echo(manner: fn(&str) -> String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = vec![0; 8192];
            let mut read = 0;
            // Head and body come in one piece or two.
            while !request[..read].windows(9).any(|w| w == b"end=of-it") {
                match stream.read(&mut request[read..]) {
                    Ok(n @ 1..) => read += n,
                    _ => break,
                }
            }
            let text = String::from_utf8_lossy(&request[..read]).into_owned();
            let _ = stream.write_all(manner(&text).as_bytes());
        }
    });
    port
}

#[test]
fn s6_secrets_are_in_no_recording_whatever_a_server_sends_back() {
    const SECRETS: [&str; 5] = ["u5er-pa55", "qu3ry-t0ken", "h3ad3r-key", "c00kie-jar", "b0dy-pa55word"];
    let manners: [fn(&str) -> String; 3] = [
        |request| {
            let flat = request.replace(['\r', '\n'], " ");
            format!(
                "HTTP/1.1 500 {flat}\r\nx-echo: {flat}\r\ncontent-length: {}\r\n\r\n{request}",
                request.len()
            )
        },
        |request| format!("{request}\r\n\r\n{request}"),
        |request| {
            let path = request.split(' ').nth(1).unwrap_or("/");
            format!(
                "HTTP/1.1 302 Found\r\nlocation: http://u5er-pa55@127.0.0.1:1{path}\r\ncontent-length: 0\r\n\r\n"
            )
        },
    ];
    let mut profile = "name = \"echoes\"\n[defaults]\nmethod = \"POST\"\n".to_owned();
    profile += "body = \"password=b0dy-pa55word&end=of-it\"\nfollow = 2\nidempotent = true\n";
    profile += "headers = { authorization = \"Bearer h3ad3r-key\", cookie = \"session=c00kie-jar\" }\n";
    let ports = manners.map(echo);
    // The last one has nobody at it, or whoever is there knows nothing of this.
    for (i, port) in ports.into_iter().chain([1]).enumerate() {
        let url = format!("http://user:u5er-pa55@127.0.0.1:{port}/p?token=qu3ry-t0ken&plain=yes");
        writeln!(profile, "[[endpoint]]\nname = \"e{i}\"\nurl = \"{url}\"").unwrap();
    }
    let dir = dir();
    let (file, path): (PathBuf, PathBuf) = (dir.path().join("p.toml"), dir.path().join("r.ndjson"));
    fs::write(&file, profile).unwrap();
    let output = fanscope(&["run", file.to_str().unwrap(), "-n", "2", "--every", "0ms"], &path);
    assert!(output.status.success(), "{}", stderr(&output));
    let recorded = fs::read_to_string(&path).unwrap();
    let held = held(&path).unwrap();
    assert_eq!((held.rounds.len(), held.rounds[0].calls.len()), (2, 4));
    assert!(
        held.rounds[0].calls.iter().all(|call| call.outcome.reason().is_some()),
        "all have an error to tell"
    );
    for secret in SECRETS {
        assert!(!recorded.contains(secret), "{secret} is in:\n{recorded}");
        assert!(!stderr(&output).contains(secret));
    }
}
