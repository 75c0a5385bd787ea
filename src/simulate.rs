//! Embedded HTTP upstreams on loopback: real sockets, seeded latency laws and faults, on one thread of their
//! own. Knows nothing of the engine, nor of who calls.
//!
//! Every draw is a pure function of the seed and of what the URL says (endpoint, replica, round, attempt), so
//! the same seed gives the same latencies and faults in whatever order requests arrive. See [`draw`]. A switch
//! thrown meanwhile ([`Faults`]) stands in the URL too, so it holds for exactly the attempts that start under it.

mod answer;
pub mod draw;
mod faults;
mod serve;
mod wire;

pub use faults::Faults;

use crate::domain::{EndpointId, FaultSwitch};
use crate::profile::{Endpoint, FaultKind, HttpChoice, Simulation, Target};
use draw::Draw;
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// The upstreams of a profile's simulated endpoints. Dropping it stops their thread and closes every socket.
#[derive(Debug)]
pub struct Fleet {
    urls: Urls,
    open: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Bound and never listening: a connect is refused, and nobody else is given the port meanwhile. One serves
    /// all replicas that refuse, at whatever moment they are switched to it.
    _refusing: Option<Socket>,
}

/// Where the upstreams are. Cheap to clone; after its [`Fleet`] is gone the URLs lead nowhere.
#[derive(Debug, Clone)]
pub struct Urls(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// By endpoint, then replica; empty for an endpoint that is not simulated.
    upstreams: Vec<Vec<Arc<Upstream>>>,
    /// Where nobody listens, for attempts that are refused.
    refusing: u16,
    faults: Faults,
}

/// One simulated replica.
#[derive(Debug)]
struct Upstream {
    /// Its place, for round and attempt 0.
    place: Draw,
    name: String,
    simulation: Simulation,
    /// Whether it speaks HTTP/2 with prior knowledge instead of HTTP/1.1.
    http2: bool,
    /// Where it listens.
    port: u16,
}

impl Upstream {
    const fn draw(&self, round: u64, attempt: u64) -> Draw {
        Draw { round, attempt, ..self.place }
    }
}

const fn at(seed: u64, endpoint: usize, replica: usize) -> Draw {
    Draw { seed, endpoint, replica, round: 0, attempt: 0 }
}

/// Binds a port for a replica.
fn berth(endpoint: &Endpoint, simulation: &Simulation, place: Draw) -> io::Result<Berth> {
    let listener = TcpListener::bind(ANY_PORT)?;
    listener.set_nonblocking(true)?;
    let upstream = Upstream {
        place,
        name: endpoint.name.clone(),
        simulation: simulation.clone(),
        http2: endpoint.http == HttpChoice::Http2,
        port: listener.local_addr()?.port(),
    };
    Ok((listener, Arc::new(upstream)))
}

/// A replica with the socket it was given.
type Berth = (TcpListener, Arc<Upstream>);

impl Fleet {
    /// Binds a port for every simulated replica and starts serving. Endpoints with URLs of their own are
    /// passed over; where none is simulated no thread is started.
    ///
    /// # Errors
    /// A port could not be bound (most likely this process has no file descriptors left) or the thread could
    /// not be started.
    pub fn start(endpoints: &[Endpoint], seed: u64) -> io::Result<Self> {
        let mut berths = Vec::new();
        let mut upstreams = Vec::with_capacity(endpoints.len());
        for (index, endpoint) in endpoints.iter().enumerate() {
            let simulations = match &endpoint.target {
                Target::Simulated(simulations) => simulations.as_slice(),
                Target::Urls(_) => &[],
            };
            let mut replicas = Vec::with_capacity(simulations.len());
            for (replica, simulation) in simulations.iter().enumerate() {
                let (listener, upstream) =
                    berth(endpoint, simulation, at(seed, index, replica)).map_err(|e| {
                        io::Error::new(e.kind(), format!("embedded upstream of {}: {e}", endpoint.name))
                    })?;
                replicas.push(Arc::clone(&upstream));
                berths.push((listener, upstream));
            }
            upstreams.push(replicas);
        }
        let open = Arc::new(AtomicUsize::new(0));
        let faults = Faults::new(upstreams.iter().map(|replicas| !replicas.is_empty()));
        let table = |refusing| Urls(Arc::new(Table { upstreams, refusing, faults }));
        if berths.is_empty() {
            return Ok(Self { urls: table(0), open, stop: None, thread: None, _refusing: None });
        }
        let (refusing, port) = reserve()?;
        let (stop, stopped) = oneshot::channel();
        let thread = serve::spawn(berths, Arc::clone(&open), stopped)?;
        let (stop, thread) = (Some(stop), Some(thread));
        Ok(Self { urls: table(port), open, stop, thread, _refusing: Some(refusing) })
    }

    /// The URL of an attempt; see [`Urls::url`].
    #[must_use]
    pub fn url(&self, endpoint: EndpointId, replica: usize, round: u64, attempt: usize) -> String {
        self.urls.url(endpoint, replica, round, attempt)
    }

    /// A handle that answers for URLs without borrowing the fleet.
    #[must_use]
    pub fn urls(&self) -> Urls {
        self.urls.clone()
    }

    /// The switches over what the profile wrote.
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.urls.0.faults.clone()
    }

    /// Connections that are open right now.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to say: a panic in there ended the serving, which is what was asked for.
            let _ = thread.join();
        }
    }
}

impl Urls {
    /// The URL of an attempt. Round, attempt and what is switched stand in its query; for an attempt that is
    /// refused, its port is one where nobody listens. Empty, and so no valid URL, where there is no such
    /// upstream.
    #[must_use]
    pub fn url(&self, endpoint: EndpointId, replica: usize, round: u64, attempt: usize) -> String {
        let upstreams = self.0.upstreams.get(endpoint.index());
        let Some(upstream) = upstreams.and_then(|replicas| replicas.get(replica)) else {
            return String::new();
        };
        let switch = self.0.faults.of(endpoint, replica);
        let plan = draw::switched(&upstream.simulation, upstream.draw(round, attempt as u64), switch);
        let port = if plan.fault == Some(FaultKind::Refuse) { self.0.refusing } else { upstream.port };
        let url = format!("http://127.0.0.1:{port}/?round={round}&attempt={attempt}");
        if switch == FaultSwitch::AsWritten { url } else { format!("{url}&switch={switch}") }
    }
}

const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A port that is taken and where nobody listens. Being bound also keeps the kernel from choosing it as the
/// source port of a dial, which could then connect to itself.
fn reserve() -> io::Result<(Socket, u16)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&ANY_PORT.into())?;
    let address = socket.local_addr()?.as_socket();
    let port = address.map(|a| a.port()).ok_or_else(|| io::Error::other("a bound socket without a port"))?;
    Ok((socket, port))
}
