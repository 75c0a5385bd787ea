//! One reqwest client per distinct way to connect, shared by all endpoints that connect that way.
//!
//! Everything reqwest would do on its own is off: retries, redirects, time limits, proxies of the
//! environment. Must not know rounds, requests or errors.

use super::dial::WatchLayer;
use super::dns::{ClientResolver, NameService};
use super::environment::Environment;
use super::tls::{self, TlsKey};
use crate::profile::HttpChoice;
use lru::LruCache;
use rustls::ClientConfig;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::Url;

/// How long an idle connection is kept. Many servers close theirs after 5 s (Node, Apache), and a request
/// that meets the close fails; the usual period of 500 ms stays well within it.
const IDLE: Duration = Duration::from_secs(4);

/// Clients, and TLS configurations, that are kept beyond those of the first round: an origin may change with every
/// round or redirect, and a client of shared connections has but one.
const SPARE: usize = 512;

/// What makes one client differ from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ClientKey {
    http: HttpChoice,
    /// The URL of the proxy.
    proxy: Option<String>,
    /// `None` where no connection of the client uses TLS.
    tls: Option<TlsKey>,
    /// Host and port to dial instead of the URL's.
    dial: Option<(String, u16)>,
    /// The only origin that is asked, where connections are shared: so that one can be given up alone.
    origin: Option<String>,
}

impl ClientKey {
    /// A key. `url` is the one that the client will be given.
    pub(super) fn new(
        http: HttpChoice,
        proxy: Option<String>,
        tls: Option<TlsKey>,
        dial: Option<(String, u16)>,
        url: &Url,
    ) -> Self {
        let origin = (http != HttpChoice::Http11).then(|| url.origin().ascii_serialization());
        Self { http, proxy, tls, dial, origin }
    }
}

/// Requests that may be given up on a connection that is shared before another one is dialled. Each tells the
/// server to reset its stream, and servers end connections that do so too often, with all that is in flight on
/// them: some after 128 a second, 200 within 30 s or 500 in all.
const MOST_GIVEN_UP: usize = 100;

/// A client and the dials it has under way.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) reqwest: reqwest::Client,
    watch: WatchLayer,
    http2: bool,
    /// Whether it has brought an answer.
    answered: Arc<AtomicBool>,
    /// Requests that were given up, where connections may be shared.
    given_up: Option<Arc<AtomicUsize>>,
}

/// A request under way. Dropped before its end it counts as given up.
pub(super) struct Sent(Option<Arc<AtomicUsize>>);

impl Sent {
    /// It came to its end.
    pub(super) fn ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let Some(given_up) = &self.0 {
            given_up.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Client {
    /// Whether a request that isn't dialling waits for a sibling's dial: HTTP/2 shares one.
    pub(super) fn shares_a_dial(&self) -> bool {
        self.http2 && self.watch.dialling() > 0
    }

    /// A request is about to be sent.
    pub(super) fn sending(&self) -> Sent {
        Sent(self.given_up.clone())
    }

    fn is_worn(&self) -> bool {
        self.given_up.as_ref().is_some_and(|given_up| given_up.load(Ordering::Relaxed) >= MOST_GIVEN_UP)
    }

    /// The head of an answer is here.
    pub(super) fn answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// Whether any request was answered.
    pub(super) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Whether the client speaks HTTP/2 only.
    pub(super) fn http2(&self) -> bool {
        self.http2
    }
}

/// The clients in use.
pub(super) struct Clients {
    /// What the environment says of proxies, as it was at the start.
    pub(super) environment: Environment,
    names: Arc<NameService>,
    made: Mutex<Made>,
}

/// Those used last of what was made. TLS configurations are kept apart, for the next client that needs one: no files
/// are read while rounds run, and sessions are resumed.
struct Made {
    clients: LruCache<ClientKey, Client>,
    tls: LruCache<(Option<TlsKey>, HttpChoice), ClientConfig>,
}

impl Made {
    fn tls(&mut self, key: &ClientKey) -> Result<ClientConfig, String> {
        let by = (key.tls.clone(), key.http);
        if let Some(tls) = self.tls.get(&by) {
            return Ok(tls.clone());
        }
        let tls = by.0.as_ref().map_or_else(|| tls::unused(by.1), |tls| tls::config(tls, by.1))?;
        self.tls.put(by, tls.clone());
        Ok(tls)
    }
}

impl Clients {
    /// None yet.
    pub(super) fn new(names: NameService) -> Self {
        let environment = Environment::read(|name| std::env::var(name).ok());
        let made = Made { clients: LruCache::unbounded(), tls: LruCache::unbounded() };
        Self { environment, names: Arc::new(names), made: Mutex::new(made) }
    }

    /// What was made so far is what each round needs: from now on only so many more are kept.
    pub(super) fn bound(&self) {
        let mut made = self.made();
        let more = |len: usize| NonZeroUsize::new(len.saturating_add(SPARE)).unwrap_or(NonZeroUsize::MIN);
        let (clients, tls) = (more(made.clients.len()), more(made.tls.len()));
        made.clients.resize(clients);
        made.tls.resize(tls);
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client for a key. The error names the profile's key and holds no secret.
    ///
    /// One that gave up too many requests is replaced, and of very many the one that was asked for longest ago is
    /// forgotten; what is still in flight keeps its own to its end.
    pub(super) fn get(&self, key: &ClientKey) -> Result<Client, String> {
        let mut made = self.made();
        if let Some(client) = made.clients.get(key).filter(|client| !client.is_worn()) {
            return Ok(client.clone());
        }
        let tls = made.tls(key)?;
        let client = self.build(key, tls)?;
        made.clients.put(key.clone(), client.clone());
        Ok(client)
    }

    fn build(&self, key: &ClientKey, tls: ClientConfig) -> Result<Client, String> {
        let watch = WatchLayer::default();
        let resolver = ClientResolver { names: Arc::clone(&self.names), dial: key.dial.clone() };
        let mut builder = reqwest::Client::builder()
            .retry(reqwest::retry::never())
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .user_agent(concat!("fanscope/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls)
            .dns_resolver(Arc::new(resolver))
            .connector_layer(watch.clone());
        builder = match &key.proxy {
            None => builder.no_proxy(),
            Some(url) => {
                let proxy = reqwest::Proxy::all(url.as_str()).map_err(|_| "proxy: not a proxy URL")?;
                builder.no_proxy().proxy(proxy)
            }
        };
        builder = match key.http {
            HttpChoice::Http11 => builder.http1_only(),
            HttpChoice::Http2 => builder.http2_prior_knowledge(),
            HttpChoice::Auto => builder,
        };
        let reqwest = builder.build().map_err(|e| format!("http client: {}", e.without_url()))?;
        let given_up = (key.http != HttpChoice::Http11).then(Arc::default);
        let http2 = key.http == HttpChoice::Http2;
        Ok(Client { reqwest, watch, http2, answered: Arc::default(), given_up })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ever_new_origins_neither_pile_up_clients_nor_read_files_again() {
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        let authority = rcgen::generate_simple_self_signed(vec!["shop.example".to_owned()]).unwrap();
        std::fs::write(&ca, authority.cert.pem()).unwrap();
        let clients = Clients::new(NameService::system());
        let get = |round: usize, http| {
            let url = Url::parse(&format!("https://h{round}.example/")).unwrap();
            let tls = TlsKey { ca: Some(ca.clone()), ..TlsKey::default() };
            clients.get(&ClientKey::new(http, None, Some(tls), None, &url)).map(|_| ())
        };
        for http in [HttpChoice::Http2, HttpChoice::Auto] {
            get(0, http).unwrap();
        }
        clients.bound();
        // As rounds run.
        std::fs::remove_file(&ca).unwrap();
        for round in 1..=SPARE {
            for http in [HttpChoice::Http2, HttpChoice::Auto] {
                assert_eq!(get(round, http), Ok(()), "{round}");
            }
        }
        let made = clients.made();
        assert_eq!((made.clients.len(), made.tls.len()), (2 + SPARE, 2));
    }
}
