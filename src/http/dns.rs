//! Name lookup: our own cancellable resolver, or the system's on a thread of its own.
//!
//! Either way at most one lookup per name is in flight; calls that ask meanwhile share it. Must not know
//! profiles or HTTP.

mod order;
mod own;
mod pair;
mod system;

use super::{dial, ports};
use futures_util::future::BoxFuture;
use hickory_resolver::net::NetError;
use order::Shunned;
use own::{Own, Source};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use system::System;

/// Where names are looked up.
pub(super) struct NameService {
    resolver: Resolver,
    shunned: Shunned,
}

enum Resolver {
    /// Our own.
    Own(Own),
    /// The system's.
    System(System),
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

    /// Whether there was no port to ask from.
    pub(super) fn no_ports(&self) -> bool {
        self.os_error.map(io::Error::from_raw_os_error).as_ref().is_some_and(ports::is_for_want_of_ports)
    }

    /// The system's own error where no socket is to be had: a resolver that got none says that the name or its servers
    /// are at fault.
    fn or_ours(self) -> Self {
        match UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)) {
            Err(error) if self.os_error.is_none() => Self::io(&error),
            _ => self,
        }
    }
}

impl NameService {
    /// Our own resolver with the system's configuration, or with these servers instead.
    pub(super) fn own(servers: Option<&[SocketAddr]>) -> Result<Self, NetError> {
        let own = Own::new(servers.map_or_else(Source::system, Source::servers))?;
        Ok(Self { resolver: Resolver::Own(own), shunned: Shunned::default() })
    }

    /// The system's resolver.
    pub(super) fn system() -> Self {
        Self { resolver: Resolver::System(System::default()), shunned: Shunned::default() }
    }

    /// Addresses of a name, best first; at least one.
    async fn lookup(&self, name: &str) -> Answer {
        if let Ok(ip) = name.trim_matches(['[', ']']).parse() {
            return Ok(Arc::new([ip]));
        }
        match &self.resolver {
            Resolver::Own(own) => own.lookup(name).await,
            Resolver::System(system) => system.lookup(name).await,
        }
    }
}

/// Addresses without repetition, in their order; at least one.
fn some(mut found: Vec<IpAddr>) -> Answer {
    found.dedup();
    if found.is_empty() { Err(LookupError::new("the name has no address")) } else { Ok(found.into()) }
}

/// The resolver of one client: may look up another host than the URL's (`connect_to`).
pub(super) struct ClientResolver {
    pub(super) names: Arc<NameService>,
    /// The host and port to dial instead of any that is asked for; port 0 is the URL's.
    pub(super) dial: Option<(String, u16)>,
}

impl Resolve for ClientResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = Arc::clone(&self.names);
        let (host, port) = self.dial.clone().unwrap_or_else(|| (name.as_str().to_owned(), 0));
        Box::pin(async move {
            let literal = host.parse::<IpAddr>().is_ok();
            if !literal {
                dial::resolving();
            }
            let found = names.shunned.last(&names.lookup(&host).await?);
            if let [first, _, ..] = found[..] {
                let names = Arc::clone(&names);
                dial::several(first, Box::new(move |fate| names.shunned.tell(first, fate)));
            }
            dial::resolved();
            // Port 0, and any other where the URL has one of its own, is replaced by the URL's.
            let addresses: Vec<_> = found.iter().map(|ip| SocketAddr::new(*ip, port)).collect();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l03_a_question_that_found_its_port_taken_is_for_want_of_ports() {
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let again = UdpSocket::bind(taken.local_addr().expect("an address")).expect_err("it is taken");
        assert!(LookupError::io(&again).no_ports());
        assert!(!LookupError::new("no such name").or_ours().no_ports(), "there are ports");
    }
}
