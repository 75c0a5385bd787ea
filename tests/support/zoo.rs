//! A zoo of misbehaving upstreams on loopback, one server for each fault, described as data: a name, what the server
//! does step by step, and what has to be said of a call to it.
//!
//! [`Zoo::start`] opens the cages, [`Zoo::profile`] writes a profile of all of them, [`Zoo::open`] counts the
//! connections that a server still holds. Everything runs on one thread and ends with the `Zoo`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![expect(clippy::unwrap_used, reason = "a helper of tests: a surprise here is a failed test")]

#[path = "zoo/bodies.rs"]
pub mod bodies;
#[path = "zoo/certs.rs"]
mod certs;
#[path = "zoo/changes.rs"]
pub mod changes;
#[path = "full.rs"]
mod full;
#[path = "zoo/heads.rs"]
pub mod heads;
#[path = "zoo/places.rs"]
pub mod places;
#[path = "zoo/serve.rs"]
mod serve;
#[path = "zoo/steps.rs"]
pub mod steps;
#[path = "zoo/tls.rs"]
pub mod tls;

use certs::Certs;
use serve::Keeper;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use steps::{Animal, Door};
use tokio::sync::oneshot;

/// How long a server may take to see that its client has left.
const LEAVING: Duration = Duration::from_secs(20);

/// All faults of plain HTTP.
pub fn plain() -> Vec<Animal> {
    [places::all(), heads::all(), bodies::all()].concat()
}

/// One server of a zoo that runs.
pub struct Cage {
    pub animal: Arc<Animal>,
    pub url: String,
    keeper: Arc<Keeper>,
    /// What keeps a port refused or full.
    _held: Vec<socket2::Socket>,
}

/// Servers that run.
pub struct Zoo {
    pub cages: Vec<Cage>,
    certs: Arc<Certs>,
    thread: Option<(oneshot::Sender<()>, std::thread::JoinHandle<()>)>,
}

impl Zoo {
    /// Starts these servers.
    pub fn start(animals: Vec<Animal>) -> Self {
        let certs = Arc::new(Certs::new());
        let mut listening = Vec::new();
        let cages = animals.into_iter().map(|animal| Cage::start(animal, &certs, &mut listening)).collect();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                for (listener, keeper) in listening {
                    listener.set_nonblocking(true).unwrap();
                    tokio::spawn(serve::listen(tokio::net::TcpListener::from_std(listener).unwrap(), keeper));
                }
                let _ = stopped.await;
            });
        });
        Self { cages, certs, thread: Some((stop, thread)) }
    }

    /// The server of this name.
    pub fn cage(&self, name: &str) -> &Cage {
        self.cages.iter().find(|cage| cage.animal.name == name).unwrap()
    }

    /// Name and URL of each server, and what a call to it may come to: the first is the rule.
    pub fn list(&self) -> impl Iterator<Item = (&'static str, &str, &'static [&'static str])> {
        self.cages.iter().map(|cage| (cage.animal.name, cage.url.as_str(), cage.animal.expected))
    }

    /// A profile of all servers; `round` holds the lines of its `[round]` and of what stands outside its endpoints.
    pub fn profile(&self, round: &str) -> String {
        let mut text = format!("name = \"zoo\"\n[round]\n{round}\n");
        for cage in &self.cages {
            for endpoint in cage.endpoints() {
                let _ = write!(text, "[[endpoint]]\nname = \"{endpoint}\"\n{}", self.keys(cage));
            }
        }
        text
    }

    /// The keys of a server's endpoint, without its name.
    pub fn keys(&self, cage: &Cage) -> String {
        let mut text = format!("url = \"{}\"\n{}\n", cage.url, cage.animal.more);
        if cage.url.starts_with("https:") {
            // The certificate's name at one address: of two that fail, the last one would say why.
            let port =
                cage.url.rsplit(':').next().and_then(|rest| rest.split('/').next()).unwrap_or_default();
            let _ = writeln!(text, "connect_to = \"127.0.0.1:{port}\"");
            let _ = writeln!(text, "tls = {{ ca = \"{}\" }}", self.ca_file().display());
        }
        text
    }

    /// The certificate of the authority that the good servers' certificates are from.
    pub fn ca_file(&self) -> PathBuf {
        self.certs.ca_file()
    }

    /// Waits until no server holds a connection. Says which still do.
    pub fn closed(&self) -> Result<(), String> {
        let until = Instant::now() + LEAVING;
        loop {
            let open: Vec<_> = self.cages.iter().filter(|c| c.open() > 0).collect();
            if open.is_empty() {
                return Ok(());
            }
            if Instant::now() > until {
                let open: Vec<_> = open.iter().map(|c| format!("{}: {}", c.animal.name, c.open())).collect();
                return Err(open.join(", "));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Zoo {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

impl Cage {
    fn start(
        animal: Animal,
        certs: &Arc<Certs>,
        listening: &mut Vec<(std::net::TcpListener, Arc<Keeper>)>,
    ) -> Self {
        let animal = Arc::new(animal);
        let keeper = Arc::new(Keeper::new(Arc::clone(&animal), Arc::clone(certs)));
        let (address, held) = match animal.door {
            Door::Open | Door::Slow(_) => {
                let socket = bound();
                if !animal.reads_body {
                    // What is not read has no room to go.
                    socket.set_recv_buffer_size(4096).unwrap();
                }
                socket.listen(1024).unwrap();
                let address = address(&socket);
                listening.push((socket.into(), Arc::clone(&keeper)));
                (address, Vec::new())
            }
            Door::Shut => {
                let socket = bound();
                (address(&socket), vec![socket])
            }
            Door::Full => full::full(SocketAddr::from(([127, 0, 0, 1], 0))),
        };
        let scheme = if animal.https { "https" } else { "http" };
        let url = format!("{scheme}://localhost:{}{}", address.port(), animal.path);
        let url = if animal.https { url } else { url.replace("localhost", "127.0.0.1") };
        Self { animal, url, keeper, _held: held }
    }

    /// Names of the endpoints that call it.
    pub fn endpoints(&self) -> Vec<String> {
        match self.animal.callers {
            1 => vec![self.animal.name.to_owned()],
            n => (0..n).map(|i| format!("{}-{i}", self.animal.name)).collect(),
        }
    }

    /// Connections that it holds now.
    pub fn open(&self) -> usize {
        self.keeper.open.load(Ordering::SeqCst)
    }

    /// Connections that it has accepted.
    pub fn accepted(&self) -> usize {
        self.keeper.accepted.load(Ordering::SeqCst)
    }

    /// Requests that it has read.
    pub fn requests(&self) -> usize {
        self.keeper.requests.load(Ordering::SeqCst)
    }
}

/// A socket with a port of its own that does not listen: connects are refused.
fn bound() -> socket2::Socket {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket
}

fn address(socket: &socket2::Socket) -> SocketAddr {
    socket.local_addr().unwrap().as_socket().unwrap()
}
