//! [`Transport`] over reqwest. The only room that knows an HTTP client.
//!
//! `request` turns an endpoint and a round into a request, `client` and `tls` hold the ways to connect, `dns`
//! finds addresses, `environment` the proxies that variables name, `dial` tells the phases, `attempt` runs it all,
//! `body` and `decode` take the body in, `server_timing` reads what the server says of its own time, `classify`
//! gives every error its reason once, `evidence` keeps what can be shown of an answer that was not accepted. Nothing
//! here retries, limits time or knows rounds.

mod attempt;
mod body;
mod classify;
mod client;
mod decode;
mod dial;
mod dns;
mod environment;
mod evidence;
mod ports;
mod request;
mod retry_after;
mod server_timing;
mod tls;

use crate::domain::{EndpointId, Reason, RoundNo};
use crate::engine::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport};
use crate::profile::{Endpoint, Profile, Resolver, Target};
use client::Clients;
use dns::NameService;
use evidence::Pages;
use request::{Asked, Ready, TraceIds};
use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// Gives the URL of an attempt whose endpoint is simulated.
pub type SimulatedUrls = Arc<dyn Fn(AttemptRequest) -> String + Send + Sync>;

/// Why there can be no transport for a profile.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// An endpoint's way to connect can't be set up.
    #[error("endpoint {endpoint}: {problem}")]
    Endpoint {
        /// Its name.
        endpoint: String,
        /// What is wrong with which key. Holds no secret.
        problem: String,
    },
    /// The resolver can't be set up.
    #[error("resolver: {0}")]
    Resolver(String),
}

/// Carries attempts over HTTP. Made and used on the engine's thread, within its runtime, which must have that thread
/// alone: hyper may lose an HTTP/2 request that is sent from one thread while another one ends the connection.
pub struct HttpTransport(Rc<Inner>);

struct Inner {
    profile: Arc<Profile>,
    simulated: Option<SimulatedUrls>,
    clients: Clients,
    /// Requests that are the same in every round, by endpoint and replica.
    ready: RefCell<HashMap<(EndpointId, usize), Arc<Ready>>>,
    ids: TraceIds,
    pages: Pages,
}

impl HttpTransport {
    /// A transport for the profile's endpoints. `simulated` gives the URLs of simulated ones.
    ///
    /// Reads certificate files and makes the clients that the first round needs, so that no attempt waits
    /// for it.
    ///
    /// # Errors
    ///
    /// Where certificate files, proxies or the resolver can't be used. A URL or header that can't be used
    /// is no error here but fails its own calls (R4).
    pub fn new(profile: Arc<Profile>, simulated: Option<SimulatedUrls>) -> Result<Self, HttpError> {
        Self::build(profile, simulated, None)
    }

    /// As [`HttpTransport::new`], asking these name servers instead of the system's where the profile's
    /// resolver is our own.
    ///
    /// # Errors
    ///
    /// As [`HttpTransport::new`].
    pub fn with_name_servers(
        profile: Arc<Profile>,
        simulated: Option<SimulatedUrls>,
        servers: &[SocketAddr],
    ) -> Result<Self, HttpError> {
        Self::build(profile, simulated, Some(servers))
    }

    fn build(
        profile: Arc<Profile>,
        simulated: Option<SimulatedUrls>,
        servers: Option<&[SocketAddr]>,
    ) -> Result<Self, HttpError> {
        let names = match profile.resolver {
            Resolver::Async => NameService::own(servers).map_err(|e| HttpError::Resolver(e.to_string()))?,
            Resolver::System => NameService::system(),
        };
        let (ids, pages) = (TraceIds::new(), Pages::default());
        let (clients, ready) = (Clients::new(names), RefCell::default());
        let inner = Inner { profile, simulated, clients, ready, ids, pages };
        inner.warm_up()?;
        Ok(Self(Rc::new(inner)))
    }
}

impl Transport for HttpTransport {
    fn can_build(&self, request: AttemptRequest) -> bool {
        self.0.ready(request).is_ok_and(|(_, ready)| ready.key().is_some())
    }

    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        let inner = Rc::clone(&self.0);
        Box::pin(async move {
            let (endpoint, ready) =
                inner.ready(request).map_err(|words| Failure::new(Reason::InvalidRequest, words))?;
            let asked = Asked::new(ready, &inner.ids);
            let (pages, id) = (inner.pages.clone(), request.endpoint);
            let keep = move |raw: evidence::Raw, asked: &Asked| raw.evidence(asked, &pages, id);
            attempt::run(&inner.clients, endpoint, asked, &trace, keep).await
        })
    }
}

impl Inner {
    /// Makes the clients that the first round needs, which are always kept room for.
    fn warm_up(&self) -> Result<(), HttpError> {
        let round = RoundNo(1);
        for (index, endpoint) in self.profile.endpoints.iter().enumerate() {
            let id = EndpointId(index);
            let first = |replica| AttemptRequest { round, endpoint: id, replica, attempt: 0 };
            let ready: Vec<_> = match &endpoint.target {
                Target::Urls(urls) => (0..urls.len()).map(|i| Ok(self.ready(first(i))?.1)).collect(),
                Target::Simulated(_) => vec![self.fill(endpoint, "http://127.0.0.1/", round.0)],
            };
            // What can't be used fails its own calls.
            for key in ready.iter().flatten().filter_map(|ready| ready.key()) {
                self.clients.get(key).map_err(|problem| HttpError::Endpoint {
                    endpoint: endpoint.name.clone(),
                    problem: crate::domain::text::clean(&problem),
                })?;
            }
        }
        self.clients.bound();
        Ok(())
    }

    /// The request of an attempt, or what is wrong with it.
    fn ready(&self, request: AttemptRequest) -> Result<(&Endpoint, Arc<Ready>), String> {
        let endpoint = self.profile.endpoints.get(request.endpoint.index()).ok_or("no such endpoint")?;
        let round = request.round.0;
        let template = match (&endpoint.target, &self.simulated) {
            (Target::Urls(urls), _) => urls.get(request.replica).ok_or("no such replica")?,
            (Target::Simulated(_), Some(urls)) => {
                return self.fill(endpoint, &urls(request), round).map(|ready| (endpoint, ready));
            }
            (Target::Simulated(_), None) => return Err("no embedded upstreams are running".to_owned()),
        };
        let which = (request.endpoint, request.replica);
        if let Some(ready) = self.ready.borrow().get(&which) {
            return Ok((endpoint, Arc::clone(ready)));
        }
        let ready = self.fill(endpoint, &template.fill(round, self.profile.row(round)), round)?;
        if template.is_fixed() && endpoint.has_fixed_content() {
            self.ready.borrow_mut().insert(which, Arc::clone(&ready));
        }
        Ok((endpoint, ready))
    }

    fn fill(&self, endpoint: &Endpoint, url: &str, round: u64) -> Result<Arc<Ready>, String> {
        Ready::new(endpoint, url, round, self.profile.row(round), &self.clients.environment)
    }
}
