//! Watches the dials of one request: which phase it is in, and whether the connection that answered is one
//! that this request opened.
//!
//! reqwest tells nothing of this. A task-local names the request that is being polled; a layer round the
//! connector and the resolver and TLS hooks find it there. The layer scopes the task-local again round the
//! dial itself, because a dial may go on in the background once another connection became free. Must not know
//! profiles or errors.

use crate::domain::Phase;
use crate::engine::transport::Trace;
use futures_util::future::{AbortHandle, abortable};
use hyper_util::client::legacy::connect::{Connection, HttpInfo};
use std::error::Error as StdError;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    static CURRENT: Arc<Dial>;
}

/// How far the newest dial of a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Stage {
    /// No dial was begun: a kept connection was there.
    #[default]
    None,
    /// Begun, nothing is known yet.
    Begun,
    /// Resolving.
    Dns,
    /// Connecting.
    Connect,
    /// In the TLS handshake.
    Tls,
    /// The connection is up.
    Up,
}

/// What became of a dial to the address that it was given first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was connected to, after this time.
    Connected(Duration),
    /// It was waited for, and another one was connected to.
    Passed,
    /// The dial was cut after it had waited this long.
    Cut(Duration),
}

/// Told the fate of the address that was given first.
type Tell = Box<dyn FnOnce(Fate) + Send>;

/// The dials of one request.
pub(super) struct Dial {
    trace: Trace,
    /// Whether an earlier request of the attempt, which was redirected, opened a connection.
    opened_before: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The head or an error is here: what a background dial still does is no part of the attempt.
    closed: bool,
    /// Whether `waiting` was reached without a dial.
    sent: bool,
    stage: Stage,
    /// Local addresses of the connections that this request opened.
    opened: Vec<SocketAddr>,
    /// Of several addresses the one that is tried first, and whom to tell what became of it.
    first: Option<(IpAddr, Tell)>,
    /// When the dial began to connect, until TCP is up.
    connecting: Option<Instant>,
    /// How long that took.
    connected: Option<Duration>,
    running: Vec<AbortHandle>,
}

/// A dial that takes so long to connect has waited for an address: the client turns to those of the other family
/// after 300 ms. One that refuses at once costs nothing, and is not worth another order.
const WAITED: Duration = Duration::from_millis(250);

impl State {
    /// TCP is up.
    fn connected(&mut self, at: Instant) {
        if let Some(since) = self.connecting.take() {
            self.connected = Some(at.saturating_duration_since(since));
        }
    }

    /// Tells that the dial got through to this address. Where that was quick, the address that was tried first is no
    /// worse than the others.
    fn tell(&mut self, address: IpAddr) {
        let (Some((first, tell)), Some(took)) = (self.first.take(), self.connected) else { return };
        if first == address {
            tell(Fate::Connected(took));
        } else if took >= WAITED {
            tell(Fate::Passed);
        }
    }
}

/// What is known of the connection once the request has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// How far the newest dial had come.
    pub(super) stage: Stage,
    /// Whether the request went over a connection that it didn't open.
    pub(super) reused: bool,
}

impl Dial {
    /// For one request of the attempt that this trace belongs to. `opened_before`: whether an earlier one, which was
    /// redirected, opened a connection.
    pub(super) fn new(trace: Trace, opened_before: bool) -> Arc<Self> {
        Arc::new(Self { trace, opened_before, state: Mutex::new(State::default()) })
    }

    /// Whether this request went over a kept connection. An attempt did when all its requests did.
    pub(super) fn reused(&self, reused: bool) {
        self.trace.reused(reused && !self.opened_before);
    }

    /// Polls `send` as this request. `busy` says whether a sibling's dial is what the request waits for
    /// (HTTP/2 shares one).
    pub(super) async fn send<T, E>(
        self: &Arc<Self>,
        send: impl Future<Output = Result<T, E>>,
        busy: impl Fn() -> bool,
    ) -> Result<T, E> {
        let mut send = pin!(send);
        let polled = std::future::poll_fn(|cx| {
            let polled = send.as_mut().poll(cx);
            // What failed without a dial of its own may never have been sent.
            if !matches!(polled, Poll::Ready(Err(_))) && !busy() {
                self.no_dial();
            }
            polled
        });
        CURRENT.scope(Arc::clone(self), polled).await
    }

    /// Judges the connection that carried the request. `used` is `None` where nobody can tell, such as of one that
    /// was reset before its addresses were asked for: then it was one of its own, if any dial was begun.
    pub(super) fn end(&self, used: Option<&HttpInfo>) -> Ended {
        let (stage, mine) = {
            let mut state = self.state();
            state.closed = true;
            let mine = used.map_or(state.stage != Stage::None, |u| state.opened.contains(&u.local_addr()));
            (state.stage, mine)
        };
        if let Some(used) = used {
            self.trace.remote(used.remote_addr());
        }
        Ended { stage, reused: !mine }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request is under way; where no dial was begun it is on a kept connection.
    fn no_dial(&self) {
        {
            let mut state = self.state();
            if state.sent || state.stage != Stage::None {
                return;
            }
            state.sent = true;
        }
        self.reused(true);
        self.trace.reach(Phase::Waiting);
    }

    fn begin(&self, handle: AbortHandle) {
        let mut state = self.state();
        state.stage = Stage::Begun;
        state.running.push(handle);
    }

    /// Moves the dial on, unless it is already further or no longer matters.
    fn advance(&self, to: Stage, phase: Phase, at: Instant) {
        {
            let mut state = self.state();
            if state.closed || state.stage >= to {
                return;
            }
            state.stage = to;
            if to == Stage::Connect {
                state.connecting = Some(at);
            } else {
                state.connected(at);
            }
        }
        self.trace.reach_at(phase, at);
    }

    fn up(&self, info: Option<&HttpInfo>) {
        {
            let mut state = self.state();
            state.connected(Instant::now());
            if let Some(info) = info {
                state.opened.push(info.local_addr());
                state.tell(info.remote_addr().ip());
            }
            if state.closed {
                return;
            }
            state.stage = Stage::Up;
        }
        if let Some(info) = info {
            self.trace.remote(info.remote_addr());
        }
        self.reused(false);
        self.trace.reach(Phase::Waiting);
    }
}

/// Ends a request's dials with it: nothing outlives an attempt (R14).
pub(super) struct DialGuard(pub(super) Arc<Dial>);

impl Drop for DialGuard {
    fn drop(&mut self) {
        let (running, first, since) = {
            let mut state = self.0.state();
            // Cut while it waited for an address to answer.
            let cut = !state.closed && state.stage == Stage::Connect;
            let since = state.connecting.filter(|_| cut);
            (std::mem::take(&mut state.running), state.first.take(), since)
        };
        for handle in running {
            handle.abort();
        }
        if let (Some((_, tell)), Some(since)) = (first, since) {
            tell(Fate::Cut(since.elapsed()));
        }
    }
}

/// The resolver was asked.
pub(super) fn resolving() {
    mark(Stage::Dns, Phase::Dns);
}

/// The dial has several addresses to try, this one first.
pub(super) fn several(first: IpAddr, tell: Tell) {
    let _ = CURRENT.try_with(|dial| dial.state().first = Some((first, tell)));
}

/// The resolver answered.
pub(super) fn resolved() {
    mark(Stage::Connect, Phase::Connect);
}

/// TCP is up, the `ClientHello` is being made.
pub(super) fn handshaking() {
    mark(Stage::Tls, Phase::Tls);
}

fn mark(stage: Stage, phase: Phase) {
    // Absent when a connection is used outside any request, such as tickets read by an idle one.
    let _ = CURRENT.try_with(|dial| dial.advance(stage, phase, Instant::now()));
}

/// Puts [`Watched`] round reqwest's connector.
#[derive(Clone, Default)]
pub(super) struct WatchLayer {
    dialling: Arc<AtomicUsize>,
}

impl WatchLayer {
    /// Dials under way in the client that carries this layer.
    pub(super) fn dialling(&self) -> usize {
        self.dialling.load(Ordering::Relaxed)
    }
}

impl<S> Layer<S> for WatchLayer {
    type Service = Watched<S>;

    fn layer(&self, inner: S) -> Watched<S> {
        Watched { inner, dialling: Arc::clone(&self.dialling) }
    }
}

/// A connector whose dials are told to the request that began them.
#[derive(Clone)]
pub(super) struct Watched<S> {
    inner: S,
    dialling: Arc<AtomicUsize>,
}

type BoxError = Box<dyn StdError + Send + Sync>;

// Generic over the request, because reqwest's own types can't be named.
impl<S, R> Service<R> for Watched<S>
where
    S: Service<R, Error = BoxError>,
    S::Response: Connection + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connecting = self.inner.call(request);
        let Ok(dial) = CURRENT.try_with(Arc::clone) else {
            return Box::pin(connecting);
        };
        let counted = Counted::new(&self.dialling);
        let watched = CURRENT.scope(Arc::clone(&dial), watch(connecting, Arc::clone(&dial)));
        let (watched, handle) = abortable(watched);
        dial.begin(handle);
        Box::pin(async move {
            let result = watched.await.unwrap_or_else(|_| Err("the call is over".into()));
            drop(counted);
            result
        })
    }
}

/// Polls a dial and marks what the hooks inside can't see.
async fn watch<C: Connection>(
    connecting: impl Future<Output = Result<C, BoxError>>,
    dial: Arc<Dial>,
) -> Result<C, BoxError> {
    let mut connecting = pin!(connecting);
    let mut began = Some(Instant::now());
    let connection = std::future::poll_fn(|cx| {
        let polled = connecting.as_mut().poll(cx);
        // An address needs no resolver: what runs after the first poll is the connect.
        if let Some(at) = began.take()
            && dial.state().stage == Stage::Begun
        {
            dial.advance(Stage::Connect, Phase::Connect, at);
        }
        polled
    })
    .await?;
    let mut extras = http::Extensions::new();
    connection.connected().get_extras(&mut extras);
    dial.up(extras.get::<HttpInfo>());
    Ok(connection)
}

/// Counts a dial while it lives.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
