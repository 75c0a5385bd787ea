//! What is wrong or odd with an answer's head.

use super::steps::{Animal, Step, answer, head, hello, ms, send};
use Step::{Close, Flood, Hang, Wait};

pub fn all() -> Vec<Animal> {
    [lengths(), sizes(), nonsense(), fields(), interim(), statuses(), redirects(), requests()].concat()
}

const PROTOCOL: &[&str] = &["protocol/waiting"];
const OK: &[&str] = &["ok/200"];

fn lengths() -> Vec<Animal> {
    let length = |name, lines: &str| Animal::new(name, PROTOCOL, [head(lines), send("hello"), Hang]);
    vec![
        length("length-twice", "content-length: 5\r\ncontent-length: 6\r\n").says("content-length"),
        length("length-garbage", "content-length: many\r\n").says("content-length"),
        length("length-negative", "content-length: -1\r\n"),
        length("length-plus", "content-length: +5\r\n"),
        length("length-overflow", "content-length: 99999999999999999999\r\n"),
        // RFC 9112: the coding counts, the length does not.
        Animal::new(
            "length-and-chunked",
            OK,
            [head("content-length: 99\r\ntransfer-encoding: chunked\r\n"), send("5\r\nhello\r\n0\r\n\r\n")],
        ),
    ]
}

fn sizes() -> Vec<Animal> {
    let line = |n: usize| format!("x-long: {}\r\n", "h".repeat(n));
    let many = "x-one-of-many: some words\r\n".repeat(2000);
    let begun = || send("HTTP/1.1 200 OK\r\n");
    vec![
        Animal::new("big-header", OK, [answer("200 OK", &line(16_000), "hello")]),
        Animal::new("huge-header", PROTOCOL, [answer("200 OK", &line(1_000_000), "hello"), Hang])
            .says("too large"),
        Animal::new("many-headers", PROTOCOL, [answer("200 OK", &many, "hello"), Hang]).says("too large"),
        Animal::new("endless-headers", PROTOCOL, [begun(), Flood(line(4000).into_bytes(), u64::MAX)])
            .says("too large"),
        Animal::new("endless-header-line", PROTOCOL, [begun(), Flood(vec![b'h'; 4000], u64::MAX)]),
    ]
}

fn nonsense() -> Vec<Animal> {
    let noise: Vec<u8> = (0..300_u32).map(|i| (i * 167 % 251) as u8 | 0x80).collect();
    let said = |name, bytes: &[u8]| Animal::new(name, PROTOCOL, [send(bytes), Hang]);
    vec![
        said("garbage", &noise),
        Animal::new("garbage-endless", PROTOCOL, [Flood(noise.repeat(20), u64::MAX)]),
        said("ssh-banner", b"SSH-2.0-OpenSSH_9.6\r\n").says("HTTP"),
        said("smtp-banner", b"220 mail.example ESMTP\r\n"),
        said("tls-alert", b"\x15\x03\x01\x00\x02\x02\x0a"),
        said("http2-preface", b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"),
        // Before it was asked anything.
        Animal::new("speaks-first", PROTOCOL, []).first([send("SSH-2.0-OpenSSH_9.6\r\n"), Hang]),
        said("bad-status-line", b"HTTP/1.1 abc what\r\n\r\n"),
        said("status-1000", b"HTTP/1.1 1000 X\r\ncontent-length: 0\r\n\r\n"),
        said("http-0.9", b"<html>hello</html>\n"),
        said("http-9.9", b"HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n"),
        Animal::new("http-1.0", OK, [send("HTTP/1.0 200 OK\r\n\r\nhello"), Close]),
    ]
}

fn fields() -> Vec<Animal> {
    let field = |name, expected, line: &[u8]| {
        let head = [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n", line, b"\r\n\r\nok"].concat();
        Animal::new(name, expected, [send(head)])
    };
    vec![
        field("lf-only-header", OK, b"x-one: 1\nx-two: 2"),
        field("non-utf8-header", OK, b"x-bad: caf\xe9 \xff"),
        field("escape-in-header", PROTOCOL, b"x-esc: \x1b[2J\x1b]0;title\x07"),
        field("nul-header", PROTOCOL, b"x-nul: a\0b"),
        field("folded-header", PROTOCOL, b"x-fold: one\r\n two"),
        field("no-colon-header", PROTOCOL, b"this is no header"),
        field("empty-name-header", PROTOCOL, b": value"),
        field("space-before-colon", PROTOCOL, b"x-a : b"),
        field(
            "server-timing",
            OK,
            b"server-timing: cache;desc=\"hit \\\"1\\\"\";dur=1.5\r\nserver-timing: db;dur=2, all;dur=3",
        ),
        field(
            "server-timing-bad",
            OK,
            b"server-timing: ;;dur=,=x\r\nserver-timing: a;dur=NaN, b;dur=-5, c;dur=1e999",
        ),
    ]
}

fn interim() -> Vec<Animal> {
    let hints = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n";
    let working = b"HTTP/1.1 102 Processing\r\n\r\n";
    vec![
        Animal::new("interim-100", OK, [send("HTTP/1.1 100 Continue\r\n\r\n"), hello()]),
        Animal::new("interim-103", OK, [send(hints), Wait(ms(100)), hello()]).not_before(ms(100)),
        Animal::new("interim-many", OK, [Flood(working.to_vec(), 20), hello()]),
        Animal::new("interim-only", &["deadline/waiting"], [send(hints), Hang]),
        Animal::new("interim-then-close", &["conn_closed/waiting"], [send(hints), Close]),
    ]
}

fn statuses() -> Vec<Animal> {
    let bare = |status: &str| send(format!("HTTP/1.1 {status}\r\n\r\n"));
    let refused = |name, expected, status| Animal::new(name, expected, [answer(status, "", "no")]);
    vec![
        Animal::new(
            "status-101",
            &["http_status/body/101"],
            [send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"), Hang],
        ),
        Animal::new("status-204", &["ok/204"], [bare("204 No Content")]),
        Animal::new("status-304", &["http_status/body/304"], [bare("304 Not Modified")]),
        refused("status-999", &["http_status/body/999"], "999 ").says("999"),
        refused("status-429", &["http_status/body/429"], "429 Too Many Requests"),
        refused("status-400", &["http_status/body/400"], "400 Bad Request"),
        refused("status-500", &["http_status/body/500"], "500 Internal Server Error"),
        // Its own kind of answer: held back for what the round's later attempts would send.
        Animal::new(
            "retry-after",
            &["http_status/body/503", "backing_off/queued"],
            [answer("503 Service Unavailable", "retry-after: 60\r\n", "later")],
        ),
        Animal::new(
            "status-and-drop",
            &["http_status/body/500"],
            [send("HTTP/1.1 500 X\r\ncontent-length: 100\r\n\r\nsorry"), Close],
        ),
    ]
}

fn redirects() -> Vec<Animal> {
    let to = |target: &str| answer("302 Found", &format!("location: {target}\r\n"), "moved");
    // Judged by its head.
    let refused: &[_] = &["redirect/waiting/302"];
    vec![
        Animal::new("redirect", &["http_status/body/302"], [to("/next")]),
        Animal::new("redirect-loop", refused, [to("/again")]).more("follow = 3").says("more than 3"),
        Animal::new("redirect-bad", refused, [to("http://[bad")]).more("follow = 3"),
        Animal::new("redirect-ftp", refused, [to("ftp://files.example/")]).more("follow = 3"),
        Animal::new("redirect-once", OK, [])
            .more("follow = 3")
            .turns(super::steps::By::Server, vec![vec![to("/next")], vec![hello()]]),
    ]
}

/// What servers do with a request that has a body, or that wants none back.
fn requests() -> Vec<Animal> {
    let post = |size: usize| format!("method = \"POST\"\nidempotent = true\nbody = \"{}\"", "b".repeat(size));
    vec![
        Animal::new("post", OK, [hello()]).more(post(10_000)),
        Animal::new(
            "early-answer",
            &["http_status/body/413"],
            [answer("413 Payload Too Large", "connection: close\r\n", "too much"), Hang],
        )
        .more(post(10_000))
        .leaves_the_body(),
        Animal::new("head", OK, [head("content-length: 1000\r\n")]).more("method = \"HEAD\""),
    ]
}
