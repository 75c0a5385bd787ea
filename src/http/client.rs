//! One reqwest client per distinct way to connect, shared by all endpoints that connect that way.
//!
//! Everything reqwest would do on its own is off: retries, redirects, time limits, proxies of the
//! environment. Must not know rounds, requests or errors.

use super::dial::WatchLayer;
use super::dns::{ClientResolver, NameService};
use super::tls::{self, TlsKey};
use crate::profile::{HttpChoice, Proxy};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long an idle connection is kept. Many servers close theirs after 5 s (Node, Apache), and a request
/// that meets the close fails; the usual period of 500 ms stays well within it.
const IDLE: Duration = Duration::from_secs(4);

/// What makes one client differ from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ClientKey {
    http: HttpChoice,
    proxy: Proxy,
    /// `None` where no connection of the client uses TLS.
    tls: Option<TlsKey>,
    /// The host to dial instead of the URL's.
    dial: Option<String>,
}

impl ClientKey {
    /// A key. `http` and `proxy` are the endpoint's.
    pub(super) fn new(http: HttpChoice, proxy: &Proxy, tls: Option<TlsKey>, dial: Option<String>) -> Self {
        Self { http, proxy: proxy.clone(), tls, dial }
    }
}

/// A client and the dials it has under way.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) reqwest: reqwest::Client,
    watch: WatchLayer,
    http2: bool,
}

impl Client {
    /// Whether a request that isn't dialling waits for a sibling's dial: HTTP/2 shares one.
    pub(super) fn shares_a_dial(&self) -> bool {
        self.http2 && self.watch.dialling() > 0
    }

    /// Whether the client speaks HTTP/2 only.
    pub(super) fn http2(&self) -> bool {
        self.http2
    }
}

/// The clients made so far.
pub(super) struct Clients {
    names: Arc<NameService>,
    made: Mutex<HashMap<ClientKey, Client>>,
}

impl Clients {
    /// None yet.
    pub(super) fn new(names: NameService) -> Self {
        Self { names: Arc::new(names), made: Mutex::default() }
    }

    /// The client for a key. The error names the profile's key and holds no secret.
    pub(super) fn get(&self, key: &ClientKey) -> Result<Client, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(key) {
            return Ok(client.clone());
        }
        let client = self.build(key)?;
        made.insert(key.clone(), client.clone());
        Ok(client)
    }

    fn build(&self, key: &ClientKey) -> Result<Client, String> {
        let http = key.http;
        let tls = key.tls.as_ref().map_or_else(|| tls::unused(http), |tls| tls::config(tls, http))?;
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
            Proxy::None => builder.no_proxy(),
            Proxy::Env => builder,
            Proxy::Url(url) => {
                let proxy = reqwest::Proxy::all(url.as_str()).map_err(|_| "proxy: not a proxy URL")?;
                builder.no_proxy().proxy(proxy)
            }
        };
        builder = match http {
            HttpChoice::Http11 => builder.http1_only(),
            HttpChoice::Http2 => builder.http2_prior_knowledge(),
            HttpChoice::Auto => builder,
        };
        let reqwest = builder.build().map_err(|e| format!("http client: {}", e.without_url()))?;
        Ok(Client { reqwest, watch, http2: http == HttpChoice::Http2 })
    }
}
