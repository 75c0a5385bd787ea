//! Metrics over the wire: the listener against clients that behave and clients that do not, and the real binary.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/exposition.rs"]
mod exposition;
#[path = "support/killed.rs"]
mod killed;
#[path = "support/pty.rs"]
mod pty;

use exposition::Scrape;
use fanscope::domain::Settings;
use fanscope::metrics::{Limits, Listener, Metrics};
use killed::Killed;
use pty::Terminal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

const ANY: &str = "127.0.0.1:0";

fn start(limits: Limits) -> Listener {
    let names: Vec<String> = (0..64).map(|i| format!("shop-{i}")).collect();
    let exposition = Metrics::new("shops", &names, &Settings::default()).exposition();
    Listener::start(ANY.parse().unwrap(), exposition, limits).unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // Only so that a fault ends as a failure and not as a test that hangs.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        lines.filter_map(|l| l.split_once(": ")).find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
    }
}

/// Whether the other side closes, and says nothing before.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 64]) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

/// Everything until the other side closes.
fn answer(stream: &mut TcpStream) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    answer(&mut stream)
}

fn get(address: SocketAddr, path: &str, more: &str) -> Answer {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n"))
}

fn scrape(address: SocketAddr) -> Scrape {
    let answer = get(address, "/metrics", "");
    assert_eq!(answer.status, 200);
    Scrape::of(&answer.body)
}

#[test]
fn who_asks_for_openmetrics_gets_it_and_everyone_else_the_older_text() {
    let listener = start(Limits::default());
    let accept =
        "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n";
    let open = get(listener.address(), "/metrics", accept);
    assert_eq!(open.status, 200);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(open.header("content-type"), Some(kind));
    assert!(open.body.ends_with("# EOF\n"));
    for more in ["", "Accept: */*\r\n", "Accept: text/html, text/plain\r\n"] {
        let plain = get(listener.address(), "/metrics", more);
        assert_eq!(plain.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        assert_eq!(Scrape::of(&plain.body).shapes(), Scrape::of(&open.body).shapes());
    }
    assert_eq!(get(listener.address(), "/metrics?x=1", "").status, 200);
}

#[test]
fn other_paths_and_methods_are_refused_and_the_root_points_the_way() {
    let listener = start(Limits::default());
    let address = listener.address();
    let root = get(address, "/", "");
    assert_eq!((root.status, root.body.as_str()), (200, "fanscope: metrics are at /metrics\n"));
    for path in ["/metrics/", "/favicon.ico", "/-/ready", "//metrics"] {
        assert_eq!(get(address, path, "").status, 404, "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
        let refused =
            ask(address, &format!("{method} /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let head = ask(address, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(ask(address, "nonsense\r\n\r\n").status, 400);
    assert_eq!(get(address, "/metrics", "").status, 200, "all of that did no harm");
}

#[test]
fn a_connection_carries_one_answer_and_says_so() {
    let listener = start(Limits::default());
    let twice = "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n".repeat(2);
    let answer = ask(listener.address(), &twice);
    assert_eq!(answer.header("connection"), Some("close"));
    assert_eq!(answer.body, "fanscope: metrics are at /metrics\n", "one answer, then the end");
}

#[test]
fn a_client_that_dawdles_holds_up_nobody_and_is_served_when_it_asks() {
    // Its time is not to run out on a machine that is busy.
    let long = Duration::from_secs(3600);
    let listener = start(Limits { head: long, patience: long, ..Limits::default() });
    let mut slow = connect(listener.address());
    slow.write_all(b"GET /metrics HT").unwrap();
    let unread = {
        let mut unread = connect(listener.address());
        unread.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        unread
    };
    for _ in 0..3 {
        assert!(scrape(listener.address()).samples.len() > 64 * 90);
    }
    slow.write_all(b"TP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert_eq!(answer(&mut slow).status, 200);
    drop(unread);
}

#[test]
fn at_its_limits_a_client_that_never_finishes_is_cut_and_the_next_one_served() {
    let listener =
        start(Limits { connections: 1, patience: Duration::from_millis(200), ..Limits::default() });
    let mut slow = connect(listener.address());
    slow.write_all(b"GET /metrics HT").unwrap();
    // It takes the only place there is; the other is accepted when it was cut.
    let mut next = connect(listener.address());
    next.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(is_closed(&mut slow), "cut without an answer");
    assert_eq!(answer(&mut next).status, 200);
}

#[test]
fn clients_that_only_connect_keep_a_scrape_waiting_for_a_head_at_the_most() {
    let patience = Duration::from_secs(3600);
    let listener = start(Limits { connections: 2, head: Duration::from_millis(100), patience });
    let mut idle = [connect(listener.address()), connect(listener.address())];
    scrape(listener.address());
    assert!(idle.iter_mut().all(is_closed));
}

#[test]
fn dropped_it_closes_its_connections_and_gives_the_port_back() {
    let listener = start(Limits::default());
    let address = listener.address();
    assert_eq!(address.ip().to_string(), "127.0.0.1");
    let mut idle = connect(address);
    scrape(address);
    drop(listener);
    assert!(is_closed(&mut idle));
    TcpListener::bind(address).expect("the port is free again");
}

#[test]
fn a_taken_address_is_an_error() {
    let taken = TcpListener::bind(ANY).unwrap();
    let exposition = Metrics::new("shops", &[], &Settings::default()).exposition();
    let error = Listener::start(taken.local_addr().unwrap(), exposition, Limits::default()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}

/// A `fanscope run` that serves metrics.
struct Running {
    child: Killed,
    address: SocketAddr,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(["run", "--format", "json", "--metrics", "0"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = Killed(child);
        let mut notice = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut notice).unwrap();
        let url = notice.strip_prefix("fanscope: metrics at http://").unwrap();
        let address = url.strip_suffix("/metrics\n").unwrap().parse().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, address, lines }
    }

    fn interrupt(&self) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &process]).status().unwrap().success());
    }

    /// The next line of this type.
    fn line(&mut self, kind: &str) -> Value {
        let mut lines = self.lines.by_ref().map(|l| serde_json::from_str::<Value>(&l.unwrap()).unwrap());
        lines.find(|line| line["type"] == kind).expect("such a line")
    }
}

/// A count; what is none is a failure.
fn whole(sum: f64) -> u64 {
    format!("{sum}").parse().expect("a whole number")
}

#[test]
fn run_serves_what_its_lines_say_while_rounds_run() {
    let mut run = Running::start(&["shops", "--seed", "7", "--every", "20ms", "-n", "1000000"]);
    let (mut rounds, mut answered, mut missing, mut calls) = (0_u32, 0, 0, 0);
    for _ in 0..20 {
        let line = run.line("round");
        rounds += 1;
        answered += line["answered"].as_u64().unwrap();
        missing += line["missing"].as_object().unwrap().len() as u64;
        calls += line["calls"].as_array().unwrap().len() as u64;
    }
    let seen = scrape(run.address);
    let of = |name: &str, labels: &[(&str, &str)]| whole(seen.sum(&format!("fanscope_{name}"), labels));
    // It has gone on since, and never counted less than its lines had said by then.
    assert!(of("rounds_total", &[]) >= rounds.into());
    assert!(of("calls_total", &[("outcome", "ok")]) >= answered);
    assert!(of("missing_total", &[]) >= missing && missing > 0);
    assert!(of("calls_total", &[]) >= calls);
    assert_eq!(of("build_info", &[("profile", "shops")]), 1);
}

/// Answers so many requests over kept connections, then never again; every answer says that it was called.
fn gate(answers: u32) -> SocketAddr {
    let listener = TcpListener::bind(ANY).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut left = answers;
        // The one that gets no answer stays open until its client leaves.
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut heads = BufReader::new(stream.try_clone().unwrap()).lines();
            while let Some(Ok(line)) = heads.next() {
                if line.is_empty() && left > 0 {
                    left -= 1;
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                }
            }
        }
    });
    address
}

#[test]
fn counts_are_those_of_the_summary_with_whatever_names() {
    const ROUNDS: u32 = 10;
    // The round after those waits for the gate: nothing is being added, and interrupted it counts for nothing.
    let simulated = |name: &str, more: &str| {
        format!(
            "[[endpoint]]\nname = '{name}'\n[endpoint.simulate]\nlatency = {{ fixed = \"1ms\" }}\n{more}\n"
        )
    };
    let text = format!(
        "name = \"odd\"\n[round]\nmode = \"wait-all\"\nrequest_budget = \"1h\"\nevery = \"0ms\"\n{}{}\
         [[endpoint]]\nname = 'gate'\nurl = \"http://{}\"\n",
        simulated("the \"fast\" one", ""),
        simulated("back\\slash", "fail = { rate = \"50%\", as = \"503\" }"),
        gate(ROUNDS),
    );
    let dir = tempfile::tempdir().unwrap();
    let profile = dir.path().join("odd.toml");
    std::fs::write(&profile, text).unwrap();
    let mut run = Running::start(&[profile.to_str().unwrap(), "--seed", "7", "-n", "1000000"]);
    for _ in 0..ROUNDS {
        run.line("round");
    }
    let seen = scrape(run.address);
    run.interrupt();
    let summary = run.line("summary");
    let of = |name: &str, labels: &[(&str, &str)]| whole(seen.sum(&format!("fanscope_{name}"), labels));
    assert_eq!(summary["rounds"], ROUNDS);
    assert_eq!(of("rounds_total", &[("mode", "wait-all"), ("ended_by", "all_settled")]), u64::from(ROUNDS));
    let partial = summary["partial"].as_f64().unwrap() * f64::from(ROUNDS);
    assert_eq!(of("partial_rounds_total", &[]), whole(partial.round()));
    let endpoints = summary["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), 3);
    for endpoint in endpoints {
        let name = ("endpoint", endpoint["endpoint"].as_str().unwrap());
        assert_eq!(endpoint["n"], ROUNDS);
        assert_eq!(endpoint["ok"], of("calls_total", &[name, ("outcome", "ok")]));
        assert_eq!(endpoint["not_needed"], of("calls_total", &[name, ("outcome", "not_needed")]));
        let missing = endpoint["missing"].as_object().unwrap();
        for (reason, count) in missing {
            assert_eq!(*count, of("missing_total", &[name, ("reason", reason)]), "{name:?} {reason}");
        }
        let sum: u64 = missing.values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(sum, of("missing_total", &[name]), "and no other reason");
        assert_eq!(sum, of("calls_total", &[name, ("outcome", "missing")]));
        assert_eq!(of("call_duration_seconds_count", &[name]), u64::from(ROUNDS));
    }
    assert!(of("missing_total", &[("reason", "http_status")]) > 0, "some failed, as they were asked to");
}

#[test]
fn the_dashboard_serves_them_too() {
    let mut term = Terminal::start(120, 40, &["shops", "--metrics", ANY], &[]);
    term.wait_text("/metrics");
    let text = term.text();
    let (_, said) = text.split_once("metrics at http://").expect("where they are");
    let address = said.split_once("/metrics").unwrap().0.parse().unwrap();
    term.wait_text("Round 2");
    let seen = scrape(address);
    assert!(seen.sum("fanscope_rounds_total", &[]) >= 1.0);
    term.keys("q");
    assert!(term.end().0.success());
}

#[test]
fn a_taken_address_is_said_before_the_terminal_is_touched() {
    let taken = TcpListener::bind(ANY).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let says = format!("fanscope: cannot serve metrics at {address}: ");
    let mut term = Terminal::start(200, 24, &["shops", "--metrics", &address], &[]);
    let (status, text) = term.end();
    assert_eq!(status.exit_code(), 2);
    assert!(text.starts_with(&says), "{text}");
    assert_eq!(term.written(), text.trim_end().len() + "\r\n".len(), "nothing else was written");

    let run =
        Command::new(env!("CARGO_BIN_EXE_fanscope")).args(["run", "--metrics", &address]).output().unwrap();
    assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8(run.stderr).unwrap().starts_with(&says));
}
