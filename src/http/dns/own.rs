//! Our own resolver: it can be cancelled, and asks again once the system's configuration has changed.

use super::pair::Pair;
use super::{Lookup, LookupError};
use futures_util::FutureExt;
use futures_util::future::{Shared, WeakShared};
use hickory_resolver::Resolver;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use hickory_resolver::system_conf::read_system_conf;
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::UdpSocket;

/// How long "there is no such name" is believed at most. Zones ask for minutes or hours, and who looks on during
/// an outage must see its end.
const LONGEST_NO: Duration = Duration::from_secs(1);

/// Where the name servers stand.
pub(super) struct Source {
    /// Files that say so: read again once one of them has changed.
    files: Vec<PathBuf>,
    /// Reads them; `None` where they say nothing that can be used.
    read: Box<dyn Fn() -> Option<Read> + Send + Sync>,
    /// Who is asked where they named nobody.
    unnamed: SocketAddr,
}

impl Source {
    /// The system's configuration.
    pub(super) fn system() -> Self {
        let files = ["/etc/resolv.conf", "/etc/hosts"].map(PathBuf::from).to_vec();
        Self { files, read: Box::new(|| read_system_conf().ok()), unnamed: UNNAMED }
    }

    /// These servers.
    pub(super) fn servers(servers: &[SocketAddr]) -> Self {
        let config = with_servers(servers);
        let read = move || Some((config.clone(), ResolverOpts::default()));
        Self { files: Vec::new(), read: Box::new(read), unnamed: UNNAMED }
    }

    fn stamps(&self) -> Vec<Stamp> {
        self.files.iter().map(|file| file.metadata().ok()).collect()
    }
}

/// What the files say.
type Read = (ResolverConfig, ResolverOpts);

fn build((config, mut options): Read) -> Result<Pair, NetError> {
    set_options(&mut options);
    Pair::new(|strategy| {
        let mut builder = Resolver::builder_with_config(config.clone(), TokioRuntimeProvider::default());
        builder.options_mut().clone_from(&options);
        builder.options_mut().ip_strategy = strategy;
        builder.build()
    })
}

/// Who is asked where they say nothing: glibc asks this host then; so do we, and never a stranger.
const UNNAMED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 53);

/// Ends, with what is to be said, once this server that nobody named turns out not to run. The resolver would wait for
/// it in vain: it doesn't hear that a port is closed.
async fn refused(server: SocketAddr) -> LookupError {
    if knock(server).await.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
        return LookupError::new(format!(
            "no name server: /etc/resolv.conf names none, and {server} refuses"
        ));
    }
    std::future::pending().await
}

/// An empty datagram asks nothing, and a closed port refuses it at once.
async fn knock(server: SocketAddr) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    socket.connect(server).await?;
    socket.send(&[]).await?;
    socket.recv(&mut [0]).await.map(drop)
}

/// What a changed file is known by; `None` where there is none.
type Stamp = Option<Metadata>;

/// Whether nothing was written between the two.
fn same(before: &[Stamp], after: &[Stamp]) -> bool {
    let known = |stamp: &Stamp| stamp.as_ref().map(|file| (file.modified().ok(), file.len()));
    before.iter().map(known).eq(after.iter().map(known))
}

/// The resolver and its lookups under way.
pub(super) struct Own {
    source: Source,
    state: Mutex<State>,
}

struct State {
    stamps: Vec<Stamp>,
    resolver: Arc<Pair>,
    /// The server that is asked although nobody named it.
    unnamed: Option<SocketAddr>,
    running: HashMap<String, WeakShared<Lookup>>,
}

impl Own {
    pub(super) fn new(source: Source) -> Result<Self, NetError> {
        let stamps = source.stamps();
        let read = (source.read)();
        let unnamed = read.is_none().then_some(source.unnamed);
        let nobody = || (with_servers(&[source.unnamed]), ResolverOpts::default());
        let resolver = Arc::new(build(read.unwrap_or_else(nobody))?);
        Ok(Self { source, state: Mutex::new(State { stamps, resolver, unnamed, running: HashMap::new() }) })
    }

    /// The lookup of a name: the one under way, or a new one.
    pub(super) fn lookup(&self, name: &str) -> Shared<Lookup> {
        let mut state = self.state();
        self.reread(&mut state);
        // Held weakly: with its last caller the lookup is cancelled.
        if let Some(shared) = state.running.get(name).and_then(WeakShared::upgrade)
            && shared.peek().is_none()
        {
            return shared;
        }
        state.running.retain(|_, lookup| lookup.upgrade().is_some());
        let (resolver, unnamed) = (Arc::clone(&state.resolver), state.unnamed);
        // As it stands: hosts of URLs are in Punycode already, and underscores are for the name server to judge.
        let asked = Name::from_ascii(name).map_err(|e| LookupError::new(format!("no name for DNS: {e}")));
        let lookup = async move {
            let found = resolver.lookup(asked?);
            let Some(unnamed) = unnamed else { return found.await };
            tokio::select! {
                // Names of the hosts file are there at once.
                biased;
                found = found => found,
                error = refused(unnamed) => Err(error),
            }
        };
        let shared = lookup.boxed().shared();
        if let Some(weak) = shared.downgrade() {
            state.running.insert(name.to_owned(), weak);
        }
        shared
    }

    /// Another network has other name servers, and what was asked of the old ones is asked again. What can't be used
    /// leaves them in place.
    fn reread(&self, state: &mut State) {
        let stamps = self.source.stamps();
        if !same(&stamps, &state.stamps) {
            state.stamps = stamps;
            if let Some(resolver) = (self.source.read)().and_then(|read| build(read).ok()) {
                state.resolver = Arc::new(resolver);
                state.unnamed = None;
                state.running.clear();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn set_options(options: &mut ResolverOpts) {
    options.use_hosts_file = ResolveHosts::Always;
    options.negative_max_ttl = Some(LONGEST_NO);
    // `timeout:0` and `attempts:0` in a resolv.conf are 1 to glibc, too.
    options.timeout = options.timeout.max(Duration::from_secs(1));
    options.attempts = options.attempts.max(1);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::path::Path;

    /// A name server that says nothing, and a file that names it.
    fn name(file: &Path) -> UdpSocket {
        let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let text = server.local_addr().expect("an address").to_string();
        std::fs::write(file, text).expect("a file");
        server
    }

    #[tokio::test]
    async fn a_changed_configuration_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("resolv.conf");
        let read = {
            let file = file.clone();
            move || {
                let server = std::fs::read_to_string(&file).ok()?.parse().ok()?;
                Some((with_servers(&[server]), ResolverOpts::default()))
            }
        };
        let before = name(&file);
        let own = Own::new(Source { files: vec![file.clone()], read: Box::new(read), unnamed: UNNAMED })
            .expect("a resolver");
        // Until the server is asked for a name that begins like this.
        let hear = async |server: &UdpSocket, label: &str, mut lookup: Shared<Lookup>| {
            let server = server.try_clone().expect("a socket");
            server.set_nonblocking(true).expect("a socket");
            let server = tokio::net::UdpSocket::from_std(server).expect("a socket");
            let mut packet = [0; 512];
            loop {
                let size = tokio::select! {
                    _ = &mut lookup => panic!("nobody answers"),
                    size = server.recv(&mut packet) => size.expect("a question"),
                };
                if packet[..size].to_ascii_lowercase().windows(label.len()).any(|w| w == label.as_bytes()) {
                    break;
                }
            }
        };
        let ask = |label: &str| own.lookup(&format!("{label}.example."));
        let asked = async |server: &UdpSocket, label: &str| hear(server, label, ask(label)).await;
        asked(&before, "first").await;
        // While it is being written anew there is none.
        std::fs::remove_file(&file).expect("a file");
        asked(&before, "second").await;
        let kept = ask("third");
        hear(&before, "third", kept.clone()).await;
        assert!(kept.ptr_eq(&ask("third")));
        // The laptop is in another network now, and calls of the old one still wait.
        asked(&name(&file), "third").await;
    }

    #[tokio::test]
    async fn without_a_configuration_this_host_is_asked_and_it_is_said_where_it_runs_no_name_server() {
        assert_eq!(Source::system().unnamed, SocketAddr::from((Ipv4Addr::LOCALHOST, 53)));
        let own = |unnamed| {
            Own::new(Source { files: Vec::new(), read: Box::new(|| None), unnamed }).expect("a resolver")
        };
        let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("an address");
        // One that runs is waited for, also where it says nothing.
        let asked = tokio::time::timeout(Duration::from_millis(100), own(address).lookup("shop.example."));
        assert!(asked.await.is_err());
        drop(server);
        let error = own(address).lookup("shop.example.").await.expect_err("nobody is there");
        let words = format!("no name server: /etc/resolv.conf names none, and {address} refuses");
        assert_eq!(error.to_string(), words);
        let here = own(address).lookup("localhost").await.expect("needs no name server");
        assert!(here.iter().all(IpAddr::is_loopback));
    }

    #[test]
    fn a_no_is_believed_for_a_second_and_no_option_makes_lookups_end_at_once() {
        let mut options = ResolverOpts::default();
        (options.attempts, options.timeout) = (0, Duration::ZERO);
        set_options(&mut options);
        assert_eq!(options.negative_max_ttl, Some(Duration::from_secs(1)));
        assert_eq!((options.attempts, options.timeout), (1, Duration::from_secs(1)));
    }
}
