//! Plays the steps.

use super::certs::Certs;
use super::steps::{Animal, By, Cert, Door, Step};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::server::TlsStream;

/// What is known of a server while it runs.
pub struct Keeper {
    animal: Arc<Animal>,
    certs: Arc<Certs>,
    slots: Arc<Semaphore>,
    queued: AtomicUsize,
    pub open: AtomicUsize,
    pub accepted: AtomicUsize,
    pub requests: AtomicUsize,
}

impl Keeper {
    pub fn new(animal: Arc<Animal>, certs: Arc<Certs>) -> Self {
        let slots = animal.turns.iter().flatten().find_map(|step| match step {
            Step::Work(slots, _) | Step::Shed(slots, _) => Some(*slots),
            _ => None,
        });
        Self {
            animal,
            certs,
            slots: Arc::new(Semaphore::new(slots.unwrap_or(1))),
            queued: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        }
    }
}

/// Serves what connects, for ever.
pub async fn listen(listener: TcpListener, keeper: Arc<Keeper>) {
    while let Ok((stream, _)) = listener.accept().await {
        keeper.accepted.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(connection(stream, Open::new(&keeper)));
        if let Door::Slow(every) = keeper.animal.door {
            tokio::time::sleep(every).await;
        }
    }
}

/// Counts a connection for as long as it lives.
struct Open(Arc<Keeper>);

impl Open {
    fn new(keeper: &Arc<Keeper>) -> Self {
        keeper.open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(keeper))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn connection(stream: TcpStream, open: Open) {
    let keeper = &open.0;
    let animal = &keeper.animal;
    let _ = stream.set_nodelay(true);
    let Ok(Some(mut wire)) = play(Wire::Plain(stream), keeper, &animal.first).await else { return };
    let mut held = Vec::new();
    for asked in 0.. {
        if !read_request(&mut wire, &mut held, animal.reads_body).await {
            return;
        }
        let of_server = keeper.requests.fetch_add(1, Ordering::SeqCst);
        let turn = if animal.by == By::Server { of_server } else { asked };
        let steps = &animal.turns[turn % animal.turns.len()];
        match play(wire, keeper, steps).await {
            Ok(Some(on)) => wire = on,
            // Over, or the client left.
            _ => return,
        }
    }
}

/// Plays steps; `None` when they ended the connection.
async fn play(mut wire: Wire, keeper: &Keeper, steps: &[Step]) -> io::Result<Option<Wire>> {
    let mut slot: Option<OwnedSemaphorePermit> = None;
    for step in steps {
        match step {
            Step::Send(bytes) => wire.write_all(bytes).await?,
            Step::Flood(bytes, times) => {
                for _ in 0..*times {
                    wire.write_all(bytes).await?;
                }
            }
            Step::Drip(bytes, pause) => drip(&mut wire, bytes, *pause).await?,
            Step::Wait(time) => tokio::time::sleep(*time).await,
            Step::Work(_, time) => {
                let (slots, time) = (Arc::clone(&keeper.slots), *time);
                let work = tokio::spawn(async move {
                    let _slot = slots.acquire_owned().await;
                    tokio::time::sleep(time).await;
                });
                tokio::select! {
                    _ = work => {}
                    () = wire.drain() => return Ok(None),
                }
            }
            Step::Shed(_, queue) => {
                slot = keeper.shed(*queue).await;
                if slot.is_none() {
                    let busy = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
                    wire.write_all(busy).await?;
                    break;
                }
            }
            Step::Tls(cert) => wire = wire.shake_hands(&keeper.certs, *cert).await?,
            Step::Hang => {
                wire.drain().await;
                return Ok(None);
            }
            Step::Close => {
                wire.shutdown().await?;
                wire.drain().await;
                return Ok(None);
            }
            Step::Drop => return Ok(None),
            Step::Reset => {
                socket2::SockRef::from(wire.tcp()).set_linger(Some(Duration::ZERO))?;
                return Ok(None);
            }
        }
        wire.flush().await?;
    }
    drop(slot);
    Ok(Some(wire))
}

impl Keeper {
    /// A slot, after a wait in a queue of this length; `None` where it is full.
    async fn shed(&self, queue: usize) -> Option<OwnedSemaphorePermit> {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Some(slot);
        }
        if self.queued.fetch_add(1, Ordering::SeqCst) >= queue {
            self.queued.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        self.queued.fetch_sub(1, Ordering::SeqCst);
        slot
    }
}

async fn drip(wire: &mut Wire, bytes: &[u8], pause: Duration) -> io::Result<()> {
    for byte in bytes {
        wire.write_all(&[*byte]).await?;
        wire.flush().await?;
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

/// Reads a request; false when the client left. `held` keeps what came too early.
async fn read_request(wire: &mut Wire, held: &mut Vec<u8>, with_body: bool) -> bool {
    let end = loop {
        if let Some(at) = held.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        if !read_more(wire, held).await {
            return false;
        }
    };
    let lines = String::from_utf8_lossy(&held[..end]).to_ascii_lowercase();
    let length = lines.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let body: usize = if with_body { length.unwrap_or_default() } else { 0 };
    while held.len() < end + body {
        if !read_more(wire, held).await {
            return false;
        }
    }
    held.drain(..end + body);
    true
}

async fn read_more(wire: &mut Wire, held: &mut Vec<u8>) -> bool {
    wire.read_buf(held).await.is_ok_and(|n| n > 0)
}

/// A connection, in the clear or not.
enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Wire {
    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }

    async fn shake_hands(self, certs: &Certs, cert: Cert) -> io::Result<Self> {
        let Self::Plain(stream) = self else { return Ok(self) };
        let acceptor = tokio_rustls::TlsAcceptor::from(certs.server(cert));
        Ok(Self::Tls(Box::new(acceptor.accept(stream).await?)))
    }

    /// Reads until the client leaves.
    async fn drain(&mut self) {
        let mut bytes = [0; 4096];
        while self.read(&mut bytes).await.is_ok_and(|n| n > 0) {}
    }

    fn inner(self: Pin<&mut Self>) -> Pin<&mut (dyn Both + Unpin)> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream),
            Self::Tls(stream) => Pin::new(&mut **stream),
        }
    }
}

trait Both: AsyncRead + AsyncWrite {}
impl<T: AsyncRead + AsyncWrite> Both for T {}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }
}
