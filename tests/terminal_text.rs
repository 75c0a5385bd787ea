//! Text of every kind from outside, through the real program and a real pseudo-terminal: nothing in it moves a
//! cursor, changes a colour, sets a title or turns a line round, and without a UTF-8 locale there are only 7 bits.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/pty.rs"]
mod pty;
#[path = "support/scan.rs"]
mod scan;

use fanscope::domain::text;
use pty::Terminal;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// As UTF-8: sequences of 7 and 8 bits, a title, bidirectional controls, joiners, separators, a heap of marks.
const EVIL: &str = "A\x1b[31m\x1b]0;owned\x07\u{9b}2J\u{9d}0;x\u{9c}\x08\0\u{202e}txt\u{202c}\u{2066}\u{200f}\u{2028}\u{ad}\
                    \u{feff}👩\u{200d}👧❤\u{fe0f}🇩🇪👍🏽שלום日本e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}Z";

/// Names that a profile may have.
const NAMES: [&str; 6] = [
    "שלום-العربية",
    "日本語サービス",
    "🇩🇪👍🏽-eu",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}e",
    "\u{e000}-private",
    "plain",
];

fn head(status: &[u8], headers: &[u8], body: &[u8]) -> Vec<u8> {
    let length = format!("content-length: {}\r\n\r\n", body.len());
    [b"HTTP/1.1 ", status, b"\r\n", headers, length.as_bytes(), body].concat()
}

/// What the answers of the hostile server are.
fn answers() -> [Vec<u8>; NAMES.len()] {
    let endless: Vec<u8> = EVIL.bytes().cycle().take(10_000).collect();
    let invalid = [b"\xff\xfe\x9b31m\x80".as_slice(), EVIL.as_bytes(), b"\xf0\x9f"].concat();
    // A header and a reason may hold every byte from 0x80 up, and so C1 in UTF-8 and all the rest.
    let obscure = "\u{9b}31m\u{202e}\u{2066}\u{90}q\u{9c}日\u{200b}".as_bytes();
    let headers = [b"x-a: ".as_slice(), obscure, b"\x9b\xff\r\nretry-after: ", obscure, b"\r\n"].concat();
    [
        head(&[b"503 ".as_slice(), obscure].concat(), &headers, &endless),
        head(b"500 Oh", b"content-type: text/plain\r\n", &invalid),
        [b"\x1b[31m".as_slice(), EVIL.as_bytes(), b"\r\n\r\n"].concat(),
        head(b"302 Found", &[b"location: http://".as_slice(), obscure, b"/\r\n"].concat(), b""),
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".as_slice(), EVIL.as_bytes(), b"\r\n"]
            .concat(),
        head(b"200 OK", b"", EVIL.as_bytes()),
    ]
}

/// Answers the n-th path with the n-th answer, for as long as the test runs.
fn hostile_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let answers = answers();
        for stream in listener.incoming().filter_map(Result::ok) {
            let mut stream = stream;
            let (mut seen, mut bytes) = (Vec::new(), [0; 1024]);
            while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut bytes) {
                    Ok(n @ 1..) => seen.extend_from_slice(&bytes[..n]),
                    _ => break,
                }
            }
            let path = seen.get(5).map_or(0, |digit| usize::from(digit.saturating_sub(b'0')));
            // A client that has had enough is as good.
            drop(stream.write_all(answers.get(path).map_or(b"", Vec::as_slice)));
        }
    });
    address
}

fn profile(dir: &Path) -> PathBuf {
    let server = hostile_server();
    let mut text = "name = \"プロファイル-שלום\"\n[round]\nevery = \"100ms\"\n".to_owned();
    for (i, name) in NAMES.iter().enumerate() {
        writeln!(text, "[[endpoint]]\nname = \"{name}\"\nurl = \"http://{server}/{i}?q=%1b%5b31m\"").unwrap();
    }
    let path = dir.join("evil.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// The dashboard's last words are no frame: the whole of what was written is looked at.
fn assert_safe(term: &Terminal, what: &str) {
    if let Some(fault) = scan::fault(&term.raw()) {
        panic!("{what}: {fault}\n{}", term.text());
    }
}

/// How a name is shown.
fn shown(name: &str, ascii: bool) -> String {
    let steady = text::steady(name);
    if ascii { text::seven_bit(&steady).into_owned() } else { steady.into_owned() }
}

/// Walks through the detail of the lanes with these names and through every panel, with text typed and pasted where
/// there is a place for it.
fn walk(term: &mut Terminal, names: &[String], live: bool) {
    // A round that has settled, which holds still.
    if live {
        term.keys("f,");
        term.wait_text("frozen");
    }
    term.keys("\x1b[H\r");
    let mut details = String::new();
    for name in names {
        // Until the last part is there each page says which of the rows it shows.
        let title = |page: &str| {
            let starts = |line: &&str| line.starts_with(&format!(" {name} in round "));
            let title = page.lines().find(starts)?.trim_end().to_owned();
            let place = title.rsplit_once(" of ").is_some_and(|(_, rows)| rows.parse::<u16>().is_ok());
            (place || page.contains("p99")).then_some(title)
        };
        term.wait(name, |screen| title(&screen.contents()).is_some());
        loop {
            let page = term.text();
            details += &page;
            if page.contains("p99") {
                break;
            }
            term.keys("\x1b[6~");
            let before = title(&page);
            term.wait("the next page", |screen| {
                let next = title(&screen.contents());
                next.is_some() && next != before
            });
        }
        term.keys("\x1b[B");
    }
    if live {
        assert!(details.contains("\\u{202e}"), "nothing hostile was shown:\n{details}");
        term.keys("f");
        term.wait("the live round", |screen| !screen.contents().contains("frozen"));
    }
    term.keys("\x1b");
    term.wait("the dashboard", |screen| !screen.contents().contains("Esc back"));
    term.keys("a");
    term.wait_text("Esc back");
    term.keys("\x1b");
    term.wait("the dashboard", |screen| !screen.contents().contains("Esc back"));
    for panel in ["Hedges", "What if ", "Calls", "Who holds the round up", "Missing by reason"] {
        term.keys("\t");
        term.wait_line(panel);
    }
    for (key, shows) in [("/", "all lanes"), ("n", "drop")] {
        if key == "n" && !live {
            continue;
        }
        term.keys(key);
        term.wait_text(shows);
        term.keys(&format!("\x1b[200~{}\x1b[201~", EVIL.replace('\x1b', "\x18").replace('\0', "")));
        term.keys("日\u{202e}é");
        term.wait_text("txt");
        term.keys("\r");
        term.wait("the line is kept", |screen| !screen.contents().contains(shows));
        if key == "/" {
            term.keys("/\x15\r");
            term.wait("all lanes", |screen| !screen.contents().contains("filter A"));
        }
    }
    term.keys("?");
    term.wait_text("Keys and signs");
    term.keys("\x1b");
    term.wait("the help is gone", |screen| !screen.contents().contains("Keys and signs"));
}

#[test]
fn hostile_answers_names_and_pastes_write_nothing_but_cells() {
    let dir = tempfile::tempdir().unwrap();
    let path = profile(dir.path());
    for (size, env) in [((120, 40), vec![]), ((80, 24), vec![("LC_ALL", "C")])] {
        let mut term = Terminal::start(size.0, size.1, &[path.to_str().unwrap()], &env);
        term.wait_text("503");
        walk(&mut term, &NAMES.map(|name| shown(name, !env.is_empty())), true);
        term.keys("q");
        let (status, text) = term.end();
        assert!(status.success(), "{status:?}: {text}");
        assert_safe(&term, "live");
        if !env.is_empty() {
            assert!(term.raw().is_ascii(), "7 bits without a UTF-8 locale: {text}");
        }
    }
}

/// A recording whose names, errors and notes hold everything.
fn evil_recording(dir: &Path) -> PathBuf {
    let plain = "[[endpoint]]\nname = \"alpha\"\nurl = \"http://127.0.0.1:1/\"\n[[endpoint]]\nname = \"beta\"\nsimulate = { latency = \"1ms\" }\n";
    let path = dir.join("plain.toml");
    std::fs::write(&path, format!("name = \"gamma\"\n[round]\nevery = \"20ms\"\n{plain}")).unwrap();
    let run = said(&["run", path.to_str().unwrap(), "-n", "5", "--format", "json"], &[]);
    let evil = serde_json::to_string(EVIL).unwrap();
    let mut text = String::from_utf8(run.stdout).unwrap();
    for name in ["\"alpha\"", "\"gamma\""] {
        assert!(text.contains(name), "{text}");
        text = text.replace(name, &evil);
    }
    assert!(text.contains("\"detail\":\""), "{text}");
    text = text.replace("\"detail\":\"", &format!("\"detail\":\"{}", evil.trim_matches('"')));
    let note = format!("{{\"type\":\"note\",\"at_ms\":99999,\"text\":{evil}}}\n");
    let end = text.trim_end().rfind('\n').unwrap() + 1;
    text.insert_str(end, &note);
    let path = dir.join("evil.ndjson");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_hostile_recording_is_played_and_reported_as_plain_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = evil_recording(dir.path());
    let path = path.to_str().unwrap();
    let mut term = Terminal::start(120, 40, &["replay", path], &[]);
    term.wait_text("Round 5");
    walk(&mut term, &[shown(&text::clean(EVIL), false), "beta".to_owned()], false);
    term.keys("q");
    assert!(term.end().0.success());
    assert_safe(&term, "replay");
    let html = dir.path().join("page.html");
    let report = said(&["report", path, "--html", html.to_str().unwrap()], &[]);
    assert!(report.status.success(), "{report:?}");
    for text in [&report.stdout, &report.stderr, &std::fs::read(html).unwrap()] {
        assert_eq!(scan::fault_in_text(text), None, "{}", String::from_utf8_lossy(text).escape_debug());
    }
    let report = said(&["report", path], &[("LC_ALL", "POSIX")]);
    let shown = String::from_utf8_lossy(&report.stdout);
    assert!(report.status.success() && report.stdout.is_ascii(), "{shown}");
    assert_eq!(scan::fault_in_text(&report.stdout), None, "{}", shown.escape_debug());
}

/// Both outputs of the program with these arguments.
fn said(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanscope"));
    command.args(args).env_clear().env("LANG", "C.UTF-8").envs(env.iter().copied()).stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn arguments_and_file_names_are_repeated_without_what_moves_a_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let evil = EVIL.replace('\0', "");
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let wrong = file(
        &format!("{evil}.toml"),
        &format!("bad = 1\n\"{}\" = 2\n[[endpoint]]\nname = \"{}\"\n", "\\u009b\\u202e", "\\u001b"),
    );
    let none = format!("{}/no{evil}", dir.path().display());
    let good = file("good.toml", "[[endpoint]]\nname = \"名\"\nsimulate = { latency = \"1ms\" }\n");
    let (flag, url, header) =
        (format!("--{evil}"), format!("http://127.0.0.1:1/{evil}"), format!("{evil}: x"));
    let gate = format!("p50<={evil}");
    for args in [
        vec![flag.as_str()],
        vec![evil.as_str(), evil.as_str()],
        vec!["run", "-n", &evil],
        vec!["run", "--for", &evil],
        vec!["run", "-b", &evil],
        vec!["run", "--mode", &evil],
        vec!["run", "--format", &evil],
        vec!["run", "--metrics", &evil],
        vec!["run", "--gate", &evil, "shops"],
        vec!["run", "--gate", &gate, "shops"],
        vec!["run", &url, "-n", "1"],
        vec!["run", "-H", &header, "http://127.0.0.1:1/", "-n", "1"],
        vec!["run", &wrong],
        vec!["run", &good, "-n", "1", "--record", &none],
        vec!["run", &good, "-n", "1", "--baseline", &none],
        vec!["check", &wrong, &none, &good],
        vec!["report", &none],
        vec!["report", &wrong],
        vec!["report", "--at", &evil, &none],
        vec!["report", "--compare", &none],
        vec!["replay", &none],
        vec!["replay", "--speed", &evil, &none],
        vec![&none],
        vec!["check", "--list"],
        vec!["--help"],
        vec!["run", "--help"],
    ] {
        for (locale, seven) in [("C.UTF-8", false), ("C", true)] {
            let output = said(&args, &[("LC_ALL", locale)]);
            let all = [output.stdout, output.stderr].concat();
            assert!(!all.is_empty(), "{args:?}");
            let shown = String::from_utf8_lossy(&all);
            assert_eq!(scan::fault_in_text(&all), None, "{args:?}: {}", shown.escape_debug());
            assert!(!seven || all.is_ascii(), "{args:?}: {}", String::from_utf8_lossy(&all));
        }
    }
}

#[test]
fn without_a_utf8_locale_everything_has_7_bits() {
    let dir = tempfile::tempdir().unwrap();
    let path = profile(dir.path());
    let path = path.to_str().unwrap();
    for locale in
        [("LC_ALL", "C"), ("LC_ALL", "en_US.ISO-8859-1"), ("LC_CTYPE", "POSIX"), ("LANG", "de_DE@euro")]
    {
        for args in [vec!["run", path, "-n", "2", "--gate", "completeness>=0"], vec!["check", path]] {
            let output = said(&args, &[locale]);
            assert!(output.status.success(), "{output:?}");
            let all = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8_lossy(&all);
            assert_eq!(scan::fault_in_text(&all), None, "{locale:?} {args:?}: {}", shown.escape_debug());
            assert!(all.is_ascii(), "{locale:?} {args:?}: {shown}");
        }
    }
}

#[test]
fn t25_every_kind_of_terminal_gets_16_colours_until_it_says_that_it_has_more() {
    let terms = [
        "linux",
        "vt100",
        "xterm",
        "xterm-16color",
        "xterm-256color",
        "screen",
        "screen-256color",
        "tmux-256color",
        "",
        "what-is-this",
    ];
    std::thread::scope(|scope| {
        for term in terms {
            scope.spawn(move || {
                let mut shown =
                    Terminal::start(80, 24, &["page"], &[("TERM", term), ("COLUMNS", "7"), ("LINES", "3")]);
                shown.wait_text("Round 1");
                // The terminal's own size counts, not what a variable says.
                shown.wait_text("deadline 200 ms");
                shown.keys("?");
                shown.wait_text("Keys and signs");
                shown.keys("\x1b");
                shown.wait("the help is gone", |screen| !screen.contents().contains("Keys and signs"));
                shown.keys("q");
                assert!(shown.end().0.success(), "{term}");
                assert_safe(&shown, term);
                let raw = String::from_utf8(shown.raw()).unwrap();
                assert!(!raw.contains("8;2;"), "{term} has no true colour");
                for colour in raw.split("8;5;").skip(1) {
                    let number: String = colour.chars().take_while(char::is_ascii_digit).collect();
                    assert!(number.parse::<u8>().unwrap() < 16, "{term}: colour {number}");
                }
            });
        }
    });
}
