//! Name lookup: our own cancellable resolver, or the system's on a thread of its own.
//!
//! Either way at most one lookup per name is in flight; calls that ask meanwhile share it. Must not know
//! profiles or HTTP.

use super::dial;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::{Resolver, TokioResolver};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Where names are looked up.
pub(super) enum NameService {
    /// By our own resolver.
    Own { resolver: Arc<TokioResolver>, running: Mutex<HashMap<String, WeakShared<Lookup>>> },
    /// By the system's.
    System { running: Arc<Mutex<HashMap<String, Shared<Lookup>>>> },
}

type Lookup = BoxFuture<'static, Answer>;
type Answer = Result<Arc<[IpAddr]>, LookupError>;

/// A name that did not resolve.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{words}")]
pub(super) struct LookupError {
    words: String,
    /// Set where the fault lies with this machine.
    pub(super) os_error: Option<i32>,
}

impl LookupError {
    fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), os_error: None }
    }

    fn io(error: &io::Error) -> Self {
        Self { words: error.to_string(), os_error: error.raw_os_error() }
    }
}

impl NameService {
    /// Our own resolver with the system's configuration, or with these servers instead.
    pub(super) fn own(servers: Option<&[SocketAddr]>) -> Result<Self, NetError> {
        let provider = TokioRuntimeProvider::default();
        let builder = match servers {
            Some(servers) => Resolver::builder_with_config(with_servers(servers), provider),
            // glibc asks this host where the configuration can't be read; so do we, and never a stranger.
            None => Resolver::builder(provider.clone()).unwrap_or_else(|_| {
                let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 53));
                Resolver::builder_with_config(with_servers(&[local]), provider)
            }),
        };
        let mut builder = builder;
        set_options(builder.options_mut());
        Ok(Self::Own { resolver: Arc::new(builder.build()?), running: Mutex::default() })
    }

    /// The system's resolver.
    pub(super) fn system() -> Self {
        Self::System { running: Arc::default() }
    }

    /// Addresses of a name, best first; at least one.
    async fn lookup(&self, name: &str) -> Answer {
        if let Ok(ip) = name.trim_matches(['[', ']']).parse() {
            return Ok(Arc::new([ip]));
        }
        match self {
            Self::Own { resolver, running } => own_lookup(resolver, running, name).await,
            Self::System { running } => system_lookup(running, name).await,
        }
    }
}

fn set_options(options: &mut ResolverOpts) {
    options.use_hosts_file = ResolveHosts::Always;
}

fn with_servers(servers: &[SocketAddr]) -> ResolverConfig {
    let server = |address: &SocketAddr| {
        let mut server = NameServerConfig::udp_and_tcp(address.ip());
        for connection in &mut server.connections {
            connection.port = address.port();
        }
        server
    };
    ResolverConfig::from_name_servers(servers.iter().map(server).collect())
}

fn own_lookup(
    resolver: &Arc<TokioResolver>,
    running: &Mutex<HashMap<String, WeakShared<Lookup>>>,
    name: &str,
) -> Shared<Lookup> {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    // Held weakly: with its last caller the lookup is cancelled.
    if let Some(shared) = running.get(name).and_then(WeakShared::upgrade)
        && shared.peek().is_none()
    {
        return shared;
    }
    running.retain(|_, lookup| lookup.upgrade().is_some());
    let (resolver, asked) = (Arc::clone(resolver), name.to_owned());
    let lookup = async move {
        let found = resolver.lookup_ip(asked.as_str()).await.map_err(|e| own_error(&e))?;
        in_order(found.iter().collect())
    };
    let shared = lookup.boxed().shared();
    if let Some(weak) = shared.downgrade() {
        running.insert(name.to_owned(), weak);
    }
    shared
}

fn own_error(error: &NetError) -> LookupError {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) if none.response_code == ResponseCode::NXDomain => {
            LookupError::new("no such name (NXDOMAIN)")
        }
        NetError::Dns(DnsError::NoRecordsFound(none)) if none.response_code == ResponseCode::NoError => {
            LookupError::new("the name has no address")
        }
        NetError::Dns(DnsError::NoRecordsFound(none)) => {
            LookupError::new(format!("name server answered: {}", none.response_code))
        }
        NetError::Timeout => LookupError::new("no name server answered"),
        NetError::Io(io) => LookupError::io(io),
        other => LookupError::new(other.to_string()),
    }
}

fn system_lookup(running: &Arc<Mutex<HashMap<String, Shared<Lookup>>>>, name: &str) -> Shared<Lookup> {
    let mut table = running.lock().unwrap_or_else(PoisonError::into_inner);
    // Held until the thread is done, also when every caller is gone: getaddrinfo can't be stopped, and a
    // second thread would only queue up behind the first.
    if let Some(shared) = table.get(name) {
        return shared.clone();
    }
    let (tell, told) = oneshot::channel();
    let (asked, others) = (name.to_owned(), Arc::clone(running));
    let thread = std::thread::Builder::new().name("fanscope-dns".to_owned()).spawn(move || {
        let answer = (asked.as_str(), 0)
            .to_socket_addrs()
            .map_err(|e| LookupError::io(&e))
            .and_then(|found| in_system_order(found.map(|a| a.ip()).collect()));
        others.lock().unwrap_or_else(PoisonError::into_inner).remove(&asked);
        // Nobody listens where all callers were cut.
        let _ = tell.send(answer);
    });
    if let Err(error) = thread {
        return std::future::ready(Err(LookupError::io(&error))).boxed().shared();
    }
    let lookup = async { told.await.unwrap_or_else(|_| Err(LookupError::new("the lookup ended"))) };
    let shared = lookup.boxed().shared();
    table.insert(name.to_owned(), shared.clone());
    shared
}

fn in_system_order(mut found: Vec<IpAddr>) -> Answer {
    found.dedup();
    if found.is_empty() { Err(LookupError::new("the name has no address")) } else { Ok(found.into()) }
}

/// Orders as getaddrinfo would: addresses that this host has a route to first, IPv6 before IPv4 among them.
fn in_order(mut found: Vec<IpAddr>) -> Answer {
    found.sort_by_key(|ip| (!routed(*ip), ip.is_ipv4()));
    in_system_order(found)
}

/// Whether there is a route. Connecting a datagram socket asks the routing table and sends nothing.
fn routed(ip: IpAddr) -> bool {
    let any: IpAddr = if ip.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((ip, 9))).is_ok()
}

/// The resolver of one client: may look up another host than the URL's (`connect_to`).
pub(super) struct ClientResolver {
    pub(super) names: Arc<NameService>,
    /// The host to dial instead of any that is asked for.
    pub(super) dial: Option<String>,
}

impl Resolve for ClientResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = Arc::clone(&self.names);
        let host = self.dial.clone().unwrap_or_else(|| name.as_str().to_owned());
        Box::pin(async move {
            let literal = host.parse::<IpAddr>().is_ok();
            if !literal {
                dial::resolving();
            }
            let found = names.lookup(&host).await?;
            dial::resolved();
            // Port 0 is replaced by the URL's.
            let addresses: Vec<_> = found.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
