//! The thread on which the upstreams live: accepting, and answering by the plan.

use super::Upstream;
use super::answer::Answer;
use super::draw::{self, Plan};
use super::wire::{Doom, Wire};
use crate::domain::FaultSwitch;
use crate::profile::FaultKind;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// How long accepting rests after a failure that is not the peer's, such as no file descriptors left.
const ACCEPT_REST: Duration = Duration::from_millis(10);

/// Starts the thread. It ends as soon as the other end of `stopped` is gone, and everything it was doing is
/// dropped where it stands.
pub(super) fn spawn(
    berths: Vec<(std::net::TcpListener, Arc<Upstream>)>,
    open: Arc<AtomicUsize>,
    stopped: oneshot::Receiver<()>,
) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listening: Vec<_> = {
        let _inside = runtime.enter();
        let register = |(listener, upstream)| Ok((TcpListener::from_std(listener)?, upstream));
        berths.into_iter().map(register).collect::<io::Result<_>>()?
    };
    std::thread::Builder::new().name("upstreams".to_owned()).spawn(move || {
        runtime.block_on(async move {
            for (listener, upstream) in listening {
                tokio::spawn(accept(listener, upstream, Arc::clone(&open)));
            }
            // Nothing is ever sent: the other end going away is the message.
            let _ = stopped.await;
        });
    })
}

async fn accept(listener: TcpListener, upstream: Arc<Upstream>, open: Arc<AtomicUsize>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, Arc::clone(&upstream), Arc::clone(&open)));
            }
            Err(_) => sleep(ACCEPT_REST).await,
        }
    }
}

/// Serves a connection until either side has enough of it. How it ended is the client's to see, not ours.
async fn converse(stream: TcpStream, upstream: Arc<Upstream>, open: Arc<AtomicUsize>) {
    // Without it small answers could wait for an acknowledgement; where it fails they are merely slower.
    let _ = stream.set_nodelay(true);
    let doom = Doom::default();
    let io = TokioIo::new(Wire::new(stream, doom.clone(), open));
    let http2 = upstream.http2;
    let service = service_fn(move |request| respond(request, Arc::clone(&upstream), doom.clone()));
    let _ = if http2 {
        http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await
    } else {
        // A client that is gone ends the wait for its answer at once: `half_close` stays off.
        http1::Builder::new().header_read_timeout(None).serve_connection(io, service).await
    };
}

/// There is no answer: the connection (with HTTP/2 the stream) ends instead.
#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct Unanswered;

async fn respond(
    request: Request<Incoming>,
    upstream: Arc<Upstream>,
    doom: Doom,
) -> Result<Response<Answer>, Unanswered> {
    let query = request.uri().query().unwrap_or_default();
    let (round, attempt) = (number(query, "round"), number(query, "attempt"));
    let switch = value(query, "switch").and_then(FaultSwitch::parse).unwrap_or(FaultSwitch::AsWritten);
    let Plan { latency, fault } = draw::switched(&upstream.simulation, upstream.draw(round, attempt), switch);
    // The clock runs from the request's head, while its body may still be coming.
    let wait = (!latency.is_zero()).then(|| sleep(latency));
    let mut asked = request.into_body();
    while let Some(frame) = asked.frame().await {
        frame.map_err(|_| Unanswered)?;
    }
    if let Some(wait) = wait {
        wait.await;
    }
    let (name, size) = (&upstream.name, upstream.simulation.body);
    let (status, body) = match fault {
        None => (StatusCode::OK, Answer::whole(name, round, size)),
        Some(FaultKind::Status(code)) => {
            (StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Answer::empty())
        }
        Some(FaultKind::Truncate) => (StatusCode::OK, Answer::truncated(name, round, size)),
        Some(FaultKind::Drip) => (StatusCode::OK, Answer::dripping()),
        Some(FaultKind::Hang) => std::future::pending().await,
        // Who is refused is sent to another port; who comes here all the same gets the next best thing.
        Some(FaultKind::Reset | FaultKind::Refuse) => {
            doom.seal();
            return Err(Unanswered);
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A number of the query, 0 where it has none.
fn number(query: &str, key: &str) -> u64 {
    value(query, key).and_then(|v| v.parse().ok()).unwrap_or(0)
}

fn value<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}
