//! A small HTTP upstream with plain threads and sockets: answers late, never, with another status, or is
//! not there at all; and sees when its clients leave.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How it treats every request.
#[derive(Debug, Clone, Copy)]
pub enum Manner {
    /// This status after this many milliseconds.
    Answer(u16, u64),
    /// Reads the request and never answers.
    Hang,
    /// Sends a head that announces a body, and never the body.
    HeadOnly,
    /// A body of this many bytes after this many milliseconds.
    Body(usize, u64),
}

/// What a client did on one of its connections, told when the connection ends.
#[derive(Debug, Clone, Copy)]
pub struct Visit {
    /// Requests that were answered.
    pub answered: usize,
    /// How long the client stayed after a request that was not answered, if there was one.
    pub left_after: Option<Duration>,
}

pub struct Upstream {
    pub addr: SocketAddr,
    visits: Receiver<Visit>,
}

impl Upstream {
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let addr = listener.local_addr().expect("an address");
        let (tell, visits) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let tell = tell.clone();
                std::thread::spawn(move || serve(stream, manner, &tell));
            }
        });
        Self { addr, visits }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.addr)
    }

    /// The next connection that ended. Fails the test when none ends for a long time.
    pub fn visit(&self) -> Visit {
        self.visits.recv_timeout(Duration::from_secs(20)).expect("a connection that nobody closed")
    }
}

/// A URL at which every connect is refused: bound, so that nobody else gets the port, and not listening.
pub fn refusing() -> (socket2::Socket, String) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    socket.bind(&any.into()).expect("a port");
    let addr = socket.local_addr().expect("an address").as_socket().expect("IPv4");
    (socket, format!("http://{addr}/"))
}

fn serve(mut stream: TcpStream, manner: Manner, tell: &Sender<Visit>) {
    let mut answered = 0;
    let mut left_after = None;
    while read_head(&mut stream) {
        let since = Instant::now();
        if !treat(&mut stream, manner) {
            left_after = Some(since.elapsed());
            break;
        }
        answered += 1;
    }
    // A test that is over listens no more.
    let _ = tell.send(Visit { answered, left_after });
}

/// Reads a request without a body; false at its end.
fn read_head(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Answers; false when the client left first.
fn treat(stream: &mut TcpStream, manner: Manner) -> bool {
    let (status, length, wait) = match manner {
        Manner::Answer(status, ms) => (status, 2, Some(ms)),
        Manner::Body(length, ms) => (200, length, Some(ms)),
        Manner::Hang | Manner::HeadOnly => (200, 2, None),
    };
    let wait = wait.map(Duration::from_millis);
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n");
    if matches!(manner, Manner::HeadOnly) && stream.write_all(head.as_bytes()).is_err() {
        return false;
    }
    // Waits for the time to answer, or for the client to leave, whichever is first.
    let mut byte = [0];
    let until = wait.map(|w| Instant::now() + w);
    loop {
        let left = until.map(|u| u.saturating_duration_since(Instant::now()));
        if left.is_some_and(|l| l.is_zero()) {
            break;
        }
        stream.set_read_timeout(left).expect("a timeout");
        match stream.read(&mut byte) {
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            // The end, or a request on top of one that is not answered yet.
            _ => return false,
        }
    }
    stream.set_read_timeout(None).expect("no timeout");
    stream.write_all(&[head.as_bytes(), &vec![b'x'; length]].concat()).is_ok()
}
