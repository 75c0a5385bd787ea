//! The listener: HTTP/1.1 on a thread and a runtime of its own, so that no client, however slow, holds up a round.
//!
//! A connection carries one request, whose head is to come within [`Limits::head`], and one answer, and lives for
//! [`Limits::patience`] at the most, whatever its client does; there are at most [`Limits::connections`] of them, and more wait in the kernel's queue. A scrape
//! every few seconds does not miss a kept connection, and nothing has to be guessed about idle ones.

use super::series::{Exposition, Format};
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

/// How long accepting rests after a failure that is not the client's, such as no file descriptors left.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// What one client, or many of them, may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at the same time.
    pub connections: usize,
    /// From accepting a connection to the end of its request's head.
    pub head: Duration,
    /// From accepting a connection to its end: reading the request, answering it, and the client taking the answer.
    pub patience: Duration,
}

impl Default for Limits {
    /// 16 connections of 10 s, which is as long as a Prometheus waits by default, and 2 s for a head: who only
    /// connects is not to keep a scrape waiting for so long.
    fn default() -> Self {
        Self { connections: 16, head: Duration::from_secs(2), patience: Duration::from_secs(10) }
    }
}

/// What is served at the moment.
type Served = Arc<Mutex<Exposition>>;

/// Serves the metrics until it is dropped, which closes every connection.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    served: Served,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Binds the address, where port 0 takes any free one, and starts serving.
    ///
    /// # Errors
    /// The address is taken or not of this host, or the thread could not be started.
    pub fn start(address: SocketAddr, exposition: Exposition, limits: Limits) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let served: Served = Arc::new(Mutex::new(exposition));
        let shown = Arc::clone(&served);
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            runtime.block_on(async move {
                tokio::spawn(accept(listener, shown, limits));
                // Nothing is ever sent: the other end going away is the message.
                let _ = stopped.await;
            });
        })?;
        Ok(Self { address, served, stop: Some(stop), thread: Some(thread) })
    }

    /// Serves these from the next request on.
    pub fn serve(&self, exposition: Exposition) {
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = exposition;
    }

    /// Where it listens, with the port it was given.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to say: a panic in there ended the serving, which is what was asked for.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, served: Served, limits: Limits) {
    let slots = Arc::new(Semaphore::new(limits.connections));
    // The semaphore is never closed.
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let exposition = served.lock().unwrap_or_else(PoisonError::into_inner).clone();
                tokio::spawn(async move {
                    // How it ended is the client's to see, not ours.
                    let _ = timeout(limits.patience, converse(stream, exposition, limits.head)).await;
                    drop(slot);
                });
            }
            Err(_) => sleep(ACCEPT_REST).await,
        }
    }
}

async fn converse(stream: TcpStream, exposition: Exposition, head: Duration) -> hyper::Result<()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(&request, &exposition);
        async move { Ok::<_, Infallible>(answer) }
    });
    let mut server = http1::Builder::new();
    server.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(head);
    server.serve_connection(TokioIo::new(stream), service).await
}

/// Where the metrics are, below the address.
const PATH: &str = "/metrics";

fn answer<B>(request: &Request<B>, exposition: &Exposition) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if path != PATH && path != "/" {
        return plain(StatusCode::NOT_FOUND, "nothing here; metrics are at /metrics\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    if path == "/" {
        return plain(StatusCode::OK, "fanscope: metrics are at /metrics\n");
    }
    let accepts = request.headers().get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let format = Format::accepted_by(&accepts.collect::<Vec<_>>().join(","));
    match exposition.text(format) {
        Ok(text) => typed(StatusCode::OK, text, format.content_type()),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written as text\n"),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    typed(status, text, "text/plain; charset=utf-8")
}

fn typed(status: StatusCode, text: impl Into<Bytes>, kind: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
