//! An upstream for benches: this program once more, as a child, so that what it costs is its own.
#![allow(dead_code, reason = "each bench uses its own part")]

use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The word that makes this program the upstream.
pub const SERVE: &str = "--serve";

/// The upstream. Ends with its owner.
pub struct Peer {
    child: Child,
    port: u16,
}

impl Peer {
    pub fn start() -> Result<Self, Box<dyn Error>> {
        let program = std::env::current_exe()?;
        let mut child =
            Command::new(program).arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Self { child, port: line.trim().parse()? })
    }

    /// Its URL with this path: `/ok` answers at once, `/hang` never, `/after/MS` after so long, saying when.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends by itself when its input is closed.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Is the upstream until the input ends. One thread, plain sockets, an answer in one write.
pub fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (over, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let end = io::stdin().read_to_end(&mut Vec::new());
        over.send(end.map(drop))
    });
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "{}", listener.local_addr()?.port())?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    // A client that leaves is what it is for.
                    let _ = answer(stream).await;
                });
            }
        });
        ended.await.unwrap_or(Ok(()))
    })
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = Vec::with_capacity(1024);
    loop {
        request.clear();
        while !request.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
        }
        let path = request.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
        if path == b"/ok" {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await?;
        } else if let Some(ms) = path.strip_prefix(b"/after/") {
            let ms = std::str::from_utf8(ms).ok().and_then(|ms| ms.parse().ok()).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(ms)).await;
            let sent = monotonic().as_nanos();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nserver-timing: sent;desc=\"{sent}\"\r\n\r\nok"
            );
            stream.write_all(head.as_bytes()).await?;
        } else {
            while stream.read(&mut [0; 1024]).await? > 0 {}
            return Ok(());
        }
    }
}

/// The clock that processes share, and that `Instant` reads.
pub fn monotonic() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}
