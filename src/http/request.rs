//! From an endpoint and a round to a request: URL, headers, body, and the way to connect for it.
//!
//! Limits that come with the client: dot segments of a path (`/../`, also as `/%2E%2E/`) are resolved, and what
//! no URL holds and `'` in a query are percent-encoded before they go out, of which `check` warns; every other byte
//! is left as written.
//!
//! Must not know sockets or answers. Errors say which key is wrong and never repeat a value: values may be
//! secrets.

use super::classify::Via;
use super::client::ClientKey;
use super::environment::Environment;
use super::tls::TlsKey;
use crate::domain::TraceId;
use crate::profile::reach::reach;
use crate::profile::redact::{secrets_in_urls, secrets_in_values};
use crate::profile::secrets::{is_secret_header, is_secret_key};
use crate::profile::{Endpoint, HttpChoice, Proxy};
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use url::{Origin, Url};

/// A request as the profile means it, which may be sent again and again.
#[derive(Debug, Clone)]
pub(super) struct Meant {
    /// Method.
    method: Method,
    /// Where to, without userinfo.
    url: Url,
    /// Headers of the profile, and the encoding that is asked for.
    headers: HeaderMap,
    /// Body; empty means none.
    body: String,
    /// The URL of the proxy that it goes through.
    proxy: Option<String>,
    /// Whether this is still the endpoint's own scheme, host and port.
    home: bool,
    /// Whether each is sent under a trace of its own.
    traced: bool,
}

/// How a request goes out.
#[derive(Debug)]
struct Plan {
    /// How to connect for it.
    key: ClientKey,
    url: Url,
    headers: HeaderMap,
}

/// A request that can be sent again and again.
#[derive(Debug)]
pub(super) struct Ready {
    meant: Meant,
    plan: Result<Plan, String>,
}

/// A request of one attempt.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    ready: Arc<Ready>,
    parent: Option<Parent>,
}

/// A request ready for the wire.
pub(super) struct Wire<'a> {
    /// How to connect for it.
    pub(super) key: &'a ClientKey,
    /// The request.
    pub(super) request: reqwest::Request,
}

/// Room for the headers that the client and the trace add.
const ROOM: usize = 3;

impl Meant {
    /// Fills the endpoint's templates for a round.
    fn new(
        endpoint: &Endpoint,
        url: &str,
        round: u64,
        row: &[String],
        environment: &Environment,
    ) -> Result<Self, String> {
        let mut url = Url::parse(url).map_err(|e| format!("url: {e}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("url: neither http nor https".to_owned());
        }
        let method = Method::from_bytes(endpoint.method.as_bytes()).map_err(|e| format!("method: {e}"))?;
        let mut headers = HeaderMap::with_capacity(endpoint.headers.len() + ROOM);
        for (name, value) in &endpoint.headers {
            let parsed = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("header {name:?}: not a header name"))?;
            let value = HeaderValue::from_str(&value.fill(round, row))
                .map_err(|_| format!("header {name:?}: its value has bytes that no header may have"))?;
            headers.append(parsed, value);
        }
        if let Some(credentials) = take_userinfo(&mut url) {
            headers.entry(header::AUTHORIZATION).or_insert(credentials);
        }
        // A part of an encoded body can't be decoded.
        if !headers.contains_key(header::RANGE) {
            headers.entry(header::ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
        }
        let proxy = proxy_for(&url, endpoint, environment);
        let traced = endpoint.trace && !headers.contains_key(TRACEPARENT);
        let body = endpoint.body.fill(round, row);
        Ok(Self { method, url, headers, body, proxy, home: true, traced })
    }

    /// With everything that connecting needs.
    fn plan(&self, endpoint: &Endpoint) -> Result<Plan, String> {
        let mut headers = self.headers.clone();
        let host = headers.get(header::HOST).map(|host| host.to_str().map_err(|_| "header host: not a host"));
        let reach = reach(endpoint, &self.url, host.transpose()?, self.home)?;
        if reach.http != HttpChoice::Http11 {
            // It is the URL's authority now.
            headers.remove(header::HOST);
        } else if let Some(host) = &reach.host {
            let host = HeaderValue::from_str(host).map_err(|_| "url: its host can't be sent as a header")?;
            headers.insert(header::HOST, host);
        }
        if self.body.is_empty() && matches!(self.method, Method::POST | Method::PUT | Method::PATCH) {
            // RFC 9110, 8.6: a method that has a meaning for a body says so when there is none. Servers ask for it (411).
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let tls = TlsKey {
            ca: endpoint.tls.ca.clone(),
            // Our certificate is a credential too.
            identity: endpoint.tls.cert.clone().zip(endpoint.tls.key.clone()).filter(|_| self.home),
            insecure: endpoint.tls.insecure,
            verify_as: reach.verify_as,
        };
        // A proxy may be reached by TLS.
        let tls = (reach.url.scheme() == "https" || self.proxy.is_some()).then_some(tls);
        let key = ClientKey::new(reach.http, self.proxy.clone(), tls, reach.dial, &reach.url);
        Ok(Plan { key, url: reach.url, headers })
    }
}

impl Ready {
    /// The endpoint's request in a round.
    pub(super) fn new(
        endpoint: &Endpoint,
        url: &str,
        round: u64,
        row: &[String],
        environment: &Environment,
    ) -> Result<Arc<Self>, String> {
        Meant::new(endpoint, url, round, row, environment).map(|meant| Self::of(meant, endpoint))
    }

    fn of(meant: Meant, endpoint: &Endpoint) -> Arc<Self> {
        let plan = meant.plan(endpoint);
        Arc::new(Self { meant, plan })
    }

    /// How to connect for it, where it can be sent at all.
    pub(super) fn key(&self) -> Option<&ClientKey> {
        self.plan.as_ref().ok().map(|plan| &plan.key)
    }
}

impl Asked {
    /// One more of these, under a trace of its own.
    pub(super) fn new(ready: Arc<Ready>, ids: &TraceIds) -> Self {
        let parent = ready.meant.traced.then(|| ids.parent()).flatten();
        Self { ready, parent }
    }

    /// The request that a redirect asks for, without credentials once scheme, host or port differ.
    /// `None` where the answer is no redirect; the error says why it can't be followed.
    pub(super) fn redirected(
        &self,
        status: StatusCode,
        location: Option<&HeaderValue>,
        (endpoint, environment): (&Endpoint, &Environment),
    ) -> Option<Result<Self, &'static str>> {
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = location?;
        let asked = &self.ready.meant;
        let target = std::str::from_utf8(location.as_bytes()).ok().and_then(|l| asked.url.join(l).ok());
        let Some(mut url) = target else {
            return Some(Err("redirected to something that is no URL"));
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Some(Err("redirected to neither http nor https"));
        }
        take_userinfo(&mut url);
        let proxy = proxy_for(&url, endpoint, environment);
        let mut next = Meant { url, proxy, ..asked.clone() };
        let becomes_get = match status.as_u16() {
            303 => next.method != Method::HEAD,
            301 | 302 => next.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            next.method = Method::GET;
            next.body.clear();
            for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
                next.headers.remove(name);
            }
        }
        if origin(&next.url) != origin(&asked.url) {
            next.home = false;
            let names: Vec<_> = next.headers.keys().filter(|n| stays_home(n)).cloned().collect();
            for name in names {
                next.headers.remove(name);
            }
        }
        let ready = Ready::of(next, endpoint);
        Some(Ok(Self { ready, parent: self.parent.clone() }))
    }

    /// The proxy that it goes through.
    pub(super) fn via(&self) -> Option<Via> {
        let meant = &self.ready.meant;
        meant.proxy.as_deref().and_then(|proxy| Via::new(proxy, &meant.url))
    }

    /// The trace that it is sent under.
    pub(super) fn trace_id(&self) -> Option<TraceId> {
        let own =
            || self.ready.meant.headers.get(TRACEPARENT)?.to_str().ok().and_then(TraceId::of_traceparent);
        self.parent.as_ref().map_or_else(own, |parent| Some(parent.id))
    }

    /// Every secret in it, with its parts: what an upstream, or the proxy, might send back.
    pub(super) fn secrets(&self) -> Vec<String> {
        let meant = &self.ready.meant;
        let url = meant.url.as_str();
        let mut found: Vec<String> = secrets_in_urls(url).map(str::to_owned).collect();
        let pairs = meant.url.query_pairs().filter(|(key, _)| is_secret_key(key));
        found.extend(pairs.map(|(_, value)| value.into_owned()));
        found.extend(secrets_in_values(&meant.body).map(str::to_owned));
        for (name, value) in &meant.headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            if is_secret_header(name.as_str()) {
                found.extend(parts(&value));
            } else {
                found.extend(secrets_in_urls(&value).map(str::to_owned));
            }
        }
        found.extend(meant.proxy.iter().flat_map(|proxy| secrets_of_proxy(proxy)));
        found
    }

    /// The request with everything that connecting needs.
    pub(super) fn wire(&self) -> Result<Wire<'_>, String> {
        let Ready { meant, plan } = &*self.ready;
        let plan = plan.as_ref().map_err(Clone::clone)?;
        let mut request = reqwest::Request::new(meant.method.clone(), plan.url.clone());
        // A clone has no room for more, and would be copied once again.
        let mut headers = HeaderMap::with_capacity(plan.headers.len() + ROOM);
        for (name, value) in &plan.headers {
            headers.append(name.clone(), value.clone());
        }
        if let Some(parent) = &self.parent {
            headers.insert(TRACEPARENT, parent.header.clone());
        }
        *request.headers_mut() = headers;
        if !meant.body.is_empty() {
            *request.body_mut() = Some(meant.body.clone().into());
        }
        Ok(Wire { key: &plan.key, request })
    }
}

fn origin(url: &Url) -> Origin {
    url.origin()
}

/// Whether a header is kept from another scheme, host or port. `Host` named the first one.
fn stays_home(name: &HeaderName) -> bool {
    *name == header::HOST || is_secret_header(name.as_str())
}

/// The URL of the proxy that a request to this URL goes through.
fn proxy_for(url: &Url, endpoint: &Endpoint, environment: &Environment) -> Option<String> {
    match &endpoint.proxy {
        Proxy::None => None,
        Proxy::Env => environment.proxy(url).map(str::to_owned),
        Proxy::Url(proxy) => Some(proxy.clone()),
    }
}

/// User and password of a proxy's URL: as they are written, as they are meant, and as the header that is sent.
fn secrets_of_proxy(proxy: &str) -> Vec<String> {
    // The environment's may have no scheme.
    let whole = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    let Ok(mut url) = Url::parse(&whole) else { return Vec::new() };
    let written = [url.username(), url.password().unwrap_or_default()].map(str::to_owned);
    let header = take_userinfo(&mut url);
    let mut found: Vec<String> = written.into_iter().filter(|written| !written.is_empty()).collect();
    found.extend(header.iter().flat_map(|header| parts(&String::from_utf8_lossy(header.as_bytes()))));
    found
}

/// Takes user and password out of a URL, as the header that they stand for.
fn take_userinfo(url: &mut Url) -> Option<HeaderValue> {
    let (user, password) = (url.username(), url.password());
    if user.is_empty() && password.is_none() {
        return None;
    }
    let mut credentials: Vec<u8> = percent_decode_str(user).collect();
    credentials.push(b':');
    credentials.extend(percent_decode_str(password.unwrap_or_default()));
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(credentials))).ok();
    if let Some(value) = &mut value {
        value.set_sensitive(true);
    }
    // Both only fail on URLs without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    value
}

/// A secret header's value, and what of it is a secret in itself: the token behind its scheme, user and password
/// of `Basic`, the values of cookies.
fn parts(value: &str) -> Vec<String> {
    let mut parts = vec![value.to_owned()];
    parts.extend(value.split(';').filter_map(|pair| pair.split_once('=')).map(|(_, v)| v.trim().to_owned()));
    if let Some((_, token)) = value.split_once(' ') {
        let token = token.trim();
        parts.push(token.to_owned());
        let credentials = STANDARD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        parts.extend(credentials.iter().flat_map(|c| c.split(':').chain([c.as_str()])).map(str::to_owned));
    }
    parts
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The context that a request is sent under.
#[derive(Debug, Clone)]
struct Parent {
    id: TraceId,
    header: HeaderValue,
}

/// Makes W3C trace contexts.
pub(super) struct TraceIds {
    // Keyed by the operating system's randomness: ids can't be guessed and don't repeat between runs.
    keyed: RandomState,
    next: AtomicU64,
}

impl TraceIds {
    pub(super) fn new() -> Self {
        Self { keyed: RandomState::new(), next: AtomicU64::new(0) }
    }

    fn id(&self) -> u64 {
        // All zeros are not a valid id.
        self.keyed.hash_one(self.next.fetch_add(1, Ordering::Relaxed)).max(1)
    }

    /// A context of version 00, sampled.
    fn parent(&self) -> Option<Parent> {
        let id = TraceId::of_bits(u128::from(self.id()) << 64 | u128::from(self.id()))?;
        let header = HeaderValue::try_from(format!("00-{id}-{:016x}-01", self.id())).ok()?;
        Some(Parent { id, header })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_credentials_of_a_proxy_are_secrets_however_they_are_written() {
        for proxy in
            ["http://pr0xy-user:p%40ss@p:3128", "pr0xy-user:p%40ss@p:3128", "socks5h://pr0xy-user:p%40ss@p:1"]
        {
            let found = secrets_of_proxy(proxy);
            for secret in
                ["pr0xy-user", "p%40ss", "p@ss", "pr0xy-user:p@ss", &STANDARD.encode("pr0xy-user:p@ss")]
            {
                assert!(found.iter().any(|f| f == secret), "{secret} of {proxy} is not in {found:?}");
            }
        }
        for plain in ["http://p:3128", "p:3128", "", "http://"] {
            assert!(secrets_of_proxy(plain).is_empty(), "{plain:?}");
        }
    }
}
