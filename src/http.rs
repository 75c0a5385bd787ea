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

use crate::domain::Reason;
use crate::engine::transport::{AttemptFuture, AttemptRequest, Failure, Trace, Transport};
use crate::profile::{Endpoint, Profile, Resolver, Target};
use client::Clients;
use dns::NameService;
use evidence::Pages;
use request::{Asked, TraceIds};
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
        let inner = Inner { profile, simulated, clients: Clients::new(names), ids, pages };
        inner.warm_up()?;
        Ok(Self(Rc::new(inner)))
    }
}

impl Transport for HttpTransport {
    fn can_build(&self, request: AttemptRequest) -> bool {
        self.0.ask(request).is_ok_and(|(endpoint, asked)| asked.wire(endpoint).is_ok())
    }

    fn attempt(&self, request: AttemptRequest, trace: Trace) -> AttemptFuture {
        let inner = Rc::clone(&self.0);
        Box::pin(async move {
            let (endpoint, asked) =
                inner.ask(request).map_err(|words| Failure::new(Reason::InvalidRequest, words))?;
            let (pages, id) = (inner.pages.clone(), request.endpoint);
            let keep = move |raw: evidence::Raw, asked: &Asked| raw.evidence(asked, &pages, id);
            attempt::run(&inner.clients, endpoint, asked, &trace, keep).await
        })
    }
}

impl Inner {
    /// Makes the clients that the first round needs, which are always kept room for.
    fn warm_up(&self) -> Result<(), HttpError> {
        for endpoint in &self.profile.endpoints {
            let row = self.row(1);
            let urls = match &endpoint.target {
                Target::Urls(urls) => urls.iter().map(|url| url.fill(1, row)).collect(),
                Target::Simulated(_) => vec!["http://127.0.0.1/".to_owned()],
            };
            for url in urls {
                let Some(key) = request::key_of(endpoint, &url, row, &self.ids, &self.clients.environment)
                else {
                    continue;
                };
                self.clients.get(&key).map_err(|problem| HttpError::Endpoint {
                    endpoint: endpoint.name.clone(),
                    problem: crate::domain::text::clean(&problem),
                })?;
            }
        }
        self.clients.bound();
        Ok(())
    }

    /// The request of an attempt, or what is wrong with it.
    fn ask(&self, request: AttemptRequest) -> Result<(&Endpoint, Asked), String> {
        let endpoint = self.profile.endpoints.get(request.endpoint.index()).ok_or("no such endpoint")?;
        let round = request.round.0;
        let row = self.row(round);
        let url = match (&endpoint.target, &self.simulated) {
            (Target::Urls(urls), _) => urls.get(request.replica).ok_or("no such replica")?.fill(round, row),
            (Target::Simulated(_), Some(urls)) => urls(request),
            (Target::Simulated(_), None) => return Err("no embedded upstreams are running".to_owned()),
        };
        let asked = Asked::new(endpoint, &url, round, row, &self.ids, &self.clients.environment)?;
        Ok((endpoint, asked))
    }

    /// The round's row of the table; rounds beyond its end start over.
    fn row(&self, round: u64) -> &[String] {
        let Some(rows) = self.profile.rows.as_ref().filter(|r| !r.rows.is_empty()) else { return &[] };
        let count = rows.rows.len() as u64;
        let index = usize::try_from(round.saturating_sub(1) % count).unwrap_or_default();
        rows.rows.get(index).map_or(&[], Vec::as_slice)
    }
}
