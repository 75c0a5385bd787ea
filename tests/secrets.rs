//! Secrets are planted in every place that can hold one, upstreams send everything back that they were sent, and
//! nothing that comes out of the program has any of it: screens, recordings, reports, metrics, errors, panics.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/killed.rs"]
mod killed;
#[path = "support/pty.rs"]
mod pty;

use killed::Killed;
use pty::Terminal;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// One for each place, so that a leak names its source. The last ones are how some of them look on the wire.
const SECRETS: [&str; 18] = [
    "u5er-name",
    "u5er-pa55",
    "qu3ry-t0ken",
    "qu3ry-s1g",
    "fr4gment-s3cret",
    "b34rer-value",
    "c00kie-jar",
    "h3ader-apikey",
    "h3ader-passw0rd",
    "b0dy-pa55word",
    "pr0xy-user",
    "pr0xy-pa55",
    "r0w-t0ken",
    "env-s3cret-value",
    "s3t-c00kie",
    "l0cation-t0ken",
    // Basic credentials of the URL and of the proxy.
    "dTVlci1uYW1l",
    "cHIweHktdXNlc",
];

#[track_caller]
fn assert_none(text: &str, of: &str) {
    let leaked: Vec<&&str> = SECRETS.iter().filter(|secret| text.contains(**secret)).collect();
    assert!(leaked.is_empty(), "{leaked:?} in {of}:\n{text}");
}

/// The planted endpoints.
const NAMES: [&str; 11] = [
    "echoes",
    "times",
    "babbles",
    "redirects",
    "breaks-off",
    "refused",
    "nowhere",
    "proxied",
    "tunnelled",
    "socks",
    "no-proxy",
];

/// What an upstream makes of a request.
type Manner = fn(&str) -> String;

fn flat(request: &str) -> String {
    request.replace(['\r', '\n'], " ")
}

/// Everything back: in the words of the status, in headers, in the body.
fn echoes(request: &str) -> String {
    let flat = flat(request);
    format!(
        "HTTP/1.1 500 {flat}\r\nx-echo: {flat}\r\nset-cookie: id=s3t-c00kie; Path=/\r\ncontent-length: {}\r\n\r\n{request}",
        request.len()
    )
}

/// An answer that is accepted, with timings that tell what was sent.
fn times(request: &str) -> String {
    let told = flat(request).replace(['"', '\\'], "");
    format!(
        "HTTP/1.1 200 OK\r\nserver-timing: db;dur=1;desc=\"{told}\", {told}\r\ncontent-length: 2\r\n\r\nok"
    )
}

/// No HTTP at all.
fn babbles(request: &str) -> String {
    format!("{request}\r\n\r\n{request}")
}

/// A redirect with credentials, which can't be followed.
fn redirects(request: &str) -> String {
    let path = request.split(' ').nth(1).unwrap_or("/");
    format!(
        "HTTP/1.1 302 Found\r\nlocation: http://u5er-pa55@127.0.0.1:1{path}&token=l0cation-t0ken\r\ncontent-length: 0\r\n\r\n"
    )
}

/// A head of headers that break off, in the middle of a secret.
fn breaks_off(request: &str) -> String {
    let flat = flat(request);
    let half = flat.find("b34rer-value").map_or(&*flat, |at| flat.get(..at + 8).unwrap_or_default());
    format!("HTTP/1.1 200 OK\r\ncontent-length: 9000\r\nx-echo: {half}\r\n\r\n{half}")
}

/// As an HTTP proxy that refuses, with everything that it was told.
fn refuses(request: &str) -> String {
    let flat = flat(request);
    let body = format!("{request}\r\nuser pr0xy-user with password pr0xy-pa55 is refused");
    format!(
        "HTTP/1.1 407 {flat}\r\nx-echo: {flat}\r\nx-refused: pr0xy-user:pr0xy-pa55\r\ncontent-length: {}\r\n\
        connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// An upstream; its port.
fn upstream(manner: Manner) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve(stream, manner));
        }
    });
    port
}

fn serve(mut stream: TcpStream, manner: Manner) {
    let mut request = Vec::new();
    let mut piece = [0; 8192];
    // Head and body come in one piece or more; a CONNECT has no body.
    while !request.windows(9).any(|w| w == b"end=of-it") && !request.starts_with(b"CONNECT ") {
        match stream.read(&mut piece) {
            Ok(n @ 1..) => request.extend_from_slice(&piece[..n]),
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    // Who was cut listens no more.
    let _ = stream.write_all(manner(&text).as_bytes());
}

/// A profile with a secret in each place, and its directory.
fn planted() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("rows.csv"), "sku,t\n1,r0w-t0ken\n2,r0w-t0ken\n").unwrap();
    let mut profile =
        "name = \"planted\"\n[round]\nrows = \"rows.csv\"\nbudget = \"2s\"\nevery = \"100ms\"\n\
        [defaults]\nmethod = \"POST\"\nidempotent = true\n\
        body = '{\"sku\": \"${rows.sku}\", \"password\": \"b0dy-pa55word\", \"end\": \"end=of-it\"}'\n\
        [defaults.headers]\nauthorization = \"Bearer b34rer-value\"\ncookie = \"session=c00kie-jar; x=y\"\n\
        x-api-key = \"h3ader-apikey\"\nx-password = [\"h3ader-passw0rd\"]\nx-token = \"${PLANTED}\"\n"
            .to_owned();
    let manners: [Manner; 5] = [echoes, times, babbles, redirects, breaks_off];
    let query = "sku=${rows.sku}&token=qu3ry-t0ken&x-sig=qu3ry-s1g&secret=${rows.t}&pass%77ord=${PLANTED}#key=fr4gment-s3cret";
    for (name, manner) in NAMES.into_iter().zip(manners) {
        let port = upstream(manner);
        let follow = if name == "redirects" { 0 } else { 2 };
        write!(profile, "[[endpoint]]\nname = \"{name}\"\nfollow = {follow}\n").unwrap();
        writeln!(profile, "url = \"http://u5er-name:u5er-pa55@127.0.0.1:{port}/p?{query}\"").unwrap();
    }
    // Nobody there, a name that does not exist, a URL that can't be built, and proxies that refuse.
    let (proxy, echo) = (upstream(refuses), upstream(echoes));
    let others = [
        ("refused", "http://u5er-name:u5er-pa55@127.0.0.1:1", String::new()),
        ("nowhere", "http://u5er-name:u5er-pa55@nowhere.invalid.", String::new()),
        (
            "proxied",
            "http://u5er-name:u5er-pa55@shop.invalid",
            format!("http://pr0xy-user:pr0xy-pa55@127.0.0.1:{proxy}"),
        ),
        (
            "tunnelled",
            "https://u5er-name:u5er-pa55@shop.invalid",
            format!("http://pr0xy-user:pr0xy-pa55@127.0.0.1:{proxy}"),
        ),
        (
            "socks",
            "http://u5er-name:u5er-pa55@shop.invalid",
            format!("socks5://pr0xy-user:pr0xy-pa55@127.0.0.1:{echo}"),
        ),
        (
            "no-proxy",
            "http://u5er-name:u5er-pa55@shop.invalid",
            "http://pr0xy-user:pr0xy-pa55@127.0.0.1:1".to_owned(),
        ),
    ];
    for (name, url, proxy) in others {
        write!(profile, "[[endpoint]]\nname = \"{name}\"\nurl = \"{url}/p?{query}\"\n").unwrap();
        if !proxy.is_empty() {
            writeln!(profile, "proxy = \"{proxy}\"").unwrap();
        }
    }
    let path = dir.path().join("planted.toml");
    fs::write(&path, profile).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

/// Whatever asks for more words than usual is set, too: nothing is to heed it.
const ENV: [(&str, &str); 4] =
    [("PLANTED", "env-s3cret-value"), ("RUST_LOG", "trace"), ("RUST_BACKTRACE", "full"), ("LANG", "C.UTF-8")];

fn fanscope(args: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(args).envs(ENV).env("SSLKEYLOGFILE", dir.join("keys.log")).stdin(Stdio::null());
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn assert_no_file_leaks(dir: &Path, but: &[&str]) {
    for entry in fs::read_dir(dir).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && !but.contains(&&*name) {
            assert_none(&String::from_utf8_lossy(&fs::read(&path).unwrap()), &name);
        }
    }
}

#[test]
fn s6_what_a_run_prints_records_and_reports_has_no_secret() {
    let (dir, profile) = planted();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (record, page) = (place("r.ndjson"), place("page.html"));
    for mode in ["deadline", "quorum", "hedge", "wait-all", "fail-fast"] {
        let run = ["run", &profile, "-m", mode, "-n", "2", "--every", "0ms"];
        let (text, record) = (fanscope(&run, dir.path()), place(&format!("{mode}.ndjson")));
        assert!(text.status.success(), "{}", said(&text));
        assert_none(&said(&text), mode);
        let json = fanscope(&[&run[..], &["--format", "json", "--record", &record]].concat(), dir.path());
        assert_none(&said(&json), "its lines");
    }
    let gates = ["--gate", "completeness>=1", "--gate", "missing.echoes.http_status==0"];
    let run = ["run", &profile, "-n", "3", "--probe", "100%", "--record", &record];
    assert_none(&said(&fanscope(&[&run[..], &gates].concat(), dir.path())), "gates");
    let recorded = fs::read_to_string(&record).unwrap();
    // They were sent, and there is much to tell of them.
    for reason in ["http_status", "protocol", "body_truncated", "connect_refused", "connect_failed", "dns"] {
        assert!(recorded.contains(&format!("\"reason\":\"{reason}\"")), "no {reason} in:\n{recorded}");
    }
    for form in ["text", "json"] {
        let report = fanscope(&["report", &record, "--format", form, "--html", &page, "--force"], dir.path());
        assert!(report.status.success(), "{}", said(&report));
        assert_none(&said(&report), form);
        let compare = ["report", "--compare", &place("deadline.ndjson"), &record, "--format", form];
        assert_none(&said(&fanscope(&compare, dir.path())), "a comparison");
    }
    assert_none(&said(&fanscope(&["check", &profile], dir.path())), "check");
    assert_no_file_leaks(dir.path(), &["planted.toml", "rows.csv"]);
    assert!(!dir.path().join("keys.log").exists(), "no keys of TLS are written down");
}

#[test]
fn s6_what_is_said_of_bad_input_has_no_secret() {
    let (dir, profile) = planted();
    let whole = fs::read_to_string(&profile).unwrap();
    // The file cut anywhere, with rubbish at each line's end, with each quote left out: whatever it is called.
    let lines: Vec<&str> = whole.lines().collect();
    let bad = dir.path().join("bad.toml");
    let mut broken: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let with = |text: &str| {
            let mut lines = lines.clone();
            lines[at] = text;
            lines.join("\n")
        };
        broken.push(with(&format!("{line} rubbish")));
        broken.push(with(&line.replacen('"', "", 1)));
        broken.push(with(&line.replacen('=', "", 1)));
        broken.push(with(&line.replace("url", "urll").replace("proxy", "prxy").replace("headers", "header")));
        broken.push(with(&line.replace("http://", "htp://").replace("127.0.0.1", "127.0.0.1:x")));
    }
    for text in broken {
        fs::write(&bad, &text).unwrap();
        let output = fanscope(&["check", bad.to_str().unwrap()], dir.path());
        assert_none(&said(&output), "what is said of a broken profile");
    }
    let url = "http://u5er-name:u5er-pa55@127.0.0.1:1/?token=qu3ry-t0ken";
    let header = ["-H", "Authorization: Bearer b34rer-value", "-H", "x-api-key: h3ader-apikey"];
    for args in [
        vec!["run", url, "-n", "1"],
        vec!["run", url, "-n", "1", "-k", "9", "-m", "quorum"],
        vec!["check", url],
        vec!["run", "htp://u5er-name:u5er-pa55@h/?token=qu3ry-t0ken"],
        vec!["run", "u5er-name:u5er-pa55@h/?token=qu3ry-t0ken"],
        vec!["run", "http://u5er-name:u5er-pa55@h:port/?token=qu3ry-t0ken"],
        vec!["run", "--metrics", url, "shops"],
        vec!["report", url],
        vec!["replay", url],
        vec![url],
        vec!["run", "shops", "-n", "1", "-H", "Authorization Bearer b34rer-value"],
        vec!["run", "shops", "-n", "1", "-H", "x-api-key: h3ader-apikey\nb"],
        vec!["run", "shops", "-n", "1", "--header=cookie: c00kie-jar\u{7f}"],
        vec!["run", url, "-n", "1", "--no-such-flag", "-H", "x-token: h3ader-apikey"],
    ] {
        for more in [&[][..], &header[..]] {
            let output = fanscope(&[&args[..], more].concat(), dir.path());
            assert_none(&said(&output), &format!("{args:?}"));
        }
    }
}

#[cfg(debug_assertions)]
#[test]
fn s6_a_panic_tells_no_secret() {
    let (dir, profile) = planted();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(["run", &profile, "-n", "1", "--format", "json"]).envs(ENV);
    let output = command.env("FANSCOPE_TEST_PANIC", "call").stdin(Stdio::null()).output().unwrap();
    assert!(said(&output).contains("internal"), "{}", said(&output));
    assert_none(&said(&output), "a panic of a call");
    let env = [&ENV[..], &[("FANSCOPE_TEST_PANIC", "draw")]].concat();
    let mut term = Terminal::start(120, 40, &[&profile], &env);
    let (_, text) = term.end();
    assert!(text.contains("panic"), "{text}");
    assert_none(&text, "a panic of the screen");
    drop(dir);
}

#[test]
fn s6_metrics_have_no_secret() {
    let (dir, profile) = planted();
    let args = ["run", &profile, "-n", "1000000", "--metrics", "127.0.0.1:0"];
    let run = Command::new(env!("CARGO_BIN_EXE_fanscope"))
        .args(args)
        .envs(ENV)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut run = Killed(run);
    let mut told = String::new();
    let mut errors = run.stderr.take().unwrap();
    let mut piece = [0; 256];
    while !told.contains("/metrics") {
        let n = errors.read(&mut piece).unwrap();
        assert!(n > 0, "{told}");
        told += &String::from_utf8_lossy(&piece[..n]);
    }
    let address = told.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let mut text = String::new();
    while !text.contains("reason=\"http_status\"} 1") {
        std::thread::sleep(Duration::from_millis(20));
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        text.clear();
        stream.read_to_string(&mut text).unwrap();
        assert!(run.try_wait().unwrap().is_none(), "it ended too early: {text}");
    }
    drop(run);
    assert_none(&text, "metrics");
    assert_none(&told, "notices");
    drop(dir);
}

/// Every panel and page, with the detail of each lane.
#[test]
fn s6_no_screen_has_a_secret() {
    let (dir, profile) = planted();
    let record = dir.path().join("live.ndjson").to_str().unwrap().to_owned();
    // High enough for a detail to be read without scrolling.
    let mut term = Terminal::start_in(dir.path(), 160, 120, &[&profile, "--record", &record], &ENV);
    term.wait_text("Round 3");
    let mut seen = String::new();
    let mut look = |term: &Terminal| {
        let text = term.text();
        assert_none(&text, "a screen");
        seen += &text;
    };
    term.keys("?");
    term.wait_text("Keys and signs");
    look(&term);
    term.keys("?");
    term.wait("the help is gone", |screen| !screen.contents().contains("Keys and signs"));
    term.keys("a");
    term.wait_text("What if the budget");
    look(&term);
    term.keys("a");
    term.wait_text("History");
    for panel in ["Hedges", "What if ", "Calls", "Who holds the round up", "Missing by reason"] {
        term.keys("\t");
        term.wait_line(panel);
        look(&term);
    }
    // A picture of the screen, and the round on it.
    term.keys("e");
    // A round that has settled holds still.
    term.keys("f,");
    term.wait_text("frozen");
    term.keys("\x1b[H\r");
    for lane in NAMES {
        term.wait_text(&format!("{lane} in round"));
        look(&term);
        term.keys("j");
    }
    term.keys("q");
    let (status, text) = term.end();
    assert!(status.success(), "{status:?}");
    assert_none(&text, "last words");
    assert!(text.contains("exported") && text.contains("recorded"), "{text}");
    assert!(seen.matches("<redacted>").count() > 10, "nothing was hidden, so nothing was shown:\n{seen}");
    assert_no_file_leaks(dir.path(), &["planted.toml", "rows.csv"]);
}
