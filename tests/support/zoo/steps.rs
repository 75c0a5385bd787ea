//! The little language in which servers are described.

use std::time::Duration;

/// What a server does next. A step that ends the connection is the last.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes this often; `u64::MAX` never ends.
    Flood(Vec<u8>, u64),
    /// Sends these bytes one by one, with this pause after each.
    Drip(Vec<u8>, Duration),
    /// Does nothing for a while.
    Wait(Duration),
    /// Works in one of so many slots, which it may have to wait for; to the end also when the client leaves.
    Work(usize, Duration),
    /// Takes one of so many slots until the end of the turn, after a wait in a queue of this length: who finds it full
    /// gets a 503.
    Shed(usize, usize),
    /// Shakes hands with this certificate.
    Tls(Cert),
    /// Says nothing more, for ever: ends when the client leaves.
    Hang,
    /// Sends a FIN, and goes on reading until the client leaves: a half-close, or the end.
    Close,
    /// Closes at once; where the client has sent what was not read this is a reset.
    Drop,
    /// Sends a RST.
    Reset,
}

/// The certificates of TLS servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cert {
    Good,
    /// A good one, and nothing newer than TLS 1.2.
    Old,
    SelfSigned,
    Expired,
    NotYetValid,
    WrongHost,
    UntrustedAuthority,
    /// A good one, from a server that wants one from its client too.
    Mutual,
}

/// How a server's port is.
#[derive(Debug, Clone, Copy)]
pub enum Door {
    Open,
    /// Accepts a connection at most this often.
    Slow(Duration),
    /// Refuses.
    Shut,
    /// Drops what wants to connect.
    Full,
}

/// Whose count decides which turn a request gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Server,
    Connection,
}

/// A server, and what has to be said of it.
#[derive(Debug, Clone)]
pub struct Animal {
    pub name: &'static str,
    /// What a call may come to, as `reason/phase/status` or `ok/status`: the first is the rule, others are races.
    pub expected: &'static [&'static str],
    pub door: Door,
    pub https: bool,
    pub path: &'static str,
    /// Further keys of its endpoint.
    pub more: String,
    /// How many endpoints call it in a round.
    pub callers: usize,
    /// Before any request is read.
    pub first: Vec<Step>,
    /// After a request was read, in turn.
    pub turns: Vec<Vec<Step>>,
    pub by: By,
    /// Whether a request's body is read before its turn begins.
    pub reads_body: bool,
    /// No call settles sooner than this.
    pub not_before: Duration,
    /// What the failed attempt's own words have to hold.
    pub says: &'static str,
}

impl Animal {
    /// One that does these steps with each request, and is asked by one endpoint.
    pub fn new(name: &'static str, expected: &'static [&'static str], steps: impl Into<Vec<Step>>) -> Self {
        Self {
            name,
            expected,
            door: Door::Open,
            https: false,
            path: "/",
            more: String::new(),
            callers: 1,
            first: Vec::new(),
            turns: vec![steps.into()],
            by: By::Server,
            reads_body: true,
            not_before: Duration::ZERO,
            says: "",
        }
    }

    pub fn door(self, door: Door) -> Self {
        Self { door, ..self }
    }

    pub fn https(self, first: impl Into<Vec<Step>>) -> Self {
        Self { https: true, first: first.into(), ..self }
    }

    pub fn first(self, first: impl Into<Vec<Step>>) -> Self {
        Self { first: first.into(), ..self }
    }

    pub fn turns(self, by: By, turns: Vec<Vec<Step>>) -> Self {
        Self { turns, by, ..self }
    }

    pub fn more(self, more: impl Into<String>) -> Self {
        Self { more: more.into(), ..self }
    }

    pub fn callers(self, callers: usize) -> Self {
        Self { callers, ..self }
    }

    pub fn not_before(self, not_before: Duration) -> Self {
        Self { not_before, ..self }
    }

    pub fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    pub fn leaves_the_body(self) -> Self {
        Self { reads_body: false, ..self }
    }
}

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn send(bytes: impl Into<Vec<u8>>) -> Step {
    Step::Send(bytes.into())
}

/// What lets the client read what was sent before a RST overtakes it.
pub const A_MOMENT: Step = Step::Wait(ms(30));

/// An answer with these header lines, each ending in CRLF, and this body.
pub fn answer(status: &str, lines: &str, body: impl AsRef<[u8]>) -> Step {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{lines}\r\n", body.len());
    send([head.as_bytes(), body].concat())
}

pub fn hello() -> Step {
    answer("200 OK", "", "hello")
}

/// A head with these lines, each ending in CRLF, and nothing of a body.
pub fn head(lines: &str) -> Step {
    send(format!("HTTP/1.1 200 OK\r\n{lines}\r\n"))
}

/// Half of a body of a thousand bytes.
pub fn half() -> Step {
    send(format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}", "x".repeat(500)))
}
