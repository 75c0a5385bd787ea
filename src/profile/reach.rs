//! Whom a request reaches and under which names: the host that is dialled, the name for TLS and the authority
//! that the request bears are three things, and each may be set apart. Must not know clients.
//!
//! The HTTP client takes all three from one URL. HTTP/1.1 can say another authority in its `Host` header. HTTP/2
//! says it in `:authority`, which is always the URL's, and many servers refuse a `Host` beside it that differs; so
//! there the URL keeps the authority, and the few combinations that it can't express are refused.

use super::types::{Endpoint, HttpChoice, Proxy};
use std::net::IpAddr;
use url::Url;

/// How a request reaches its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The URL that the client is given.
    pub url: Url,
    /// Host and port to dial where they aren't the URL's. Its host is a name then, and looked up as this one.
    pub dial: Option<(String, u16)>,
    /// The address to verify where the URL's host isn't it. No name is sent for TLS then.
    pub verify_as: Option<String>,
    /// The `Host` header, where the URL doesn't say it.
    pub host: Option<String>,
    /// The version that can be spoken there.
    pub http: HttpChoice,
}

/// How a request to `url` reaches its server. `host` is the `Host` header that the profile sets. What the endpoint
/// says of addresses and names holds for its own origin only: `home` is false where a redirect left it.
///
/// # Errors
/// Where the client can't keep apart what the endpoint sets apart; says which keys.
pub fn reach(endpoint: &Endpoint, url: &Url, host: Option<&str>, home: bool) -> Result<Reach, String> {
    let https = url.scheme() == "https";
    let own = bare(url.host_str().unwrap_or_default()).to_owned();
    let port = url.port_or_known_default().unwrap_or_default();
    let connect_to = endpoint.connect_to.as_ref().filter(|_| home);
    let sni = endpoint.tls.sni.as_deref().filter(|s| home && https && !s.is_empty());
    // Most requests set nothing apart, and theirs are made anew for each attempt: the URL says all.
    if connect_to.is_none() && sni.is_none() && endpoint.http == HttpChoice::Http11 {
        return Ok(Reach { url: url.clone(), dial: None, verify_as: None, host: None, http: endpoint.http });
    }
    let dialled =
        connect_to.map_or_else(|| (own.clone(), port), |(host, port)| (bare(host).to_owned(), *port));
    let named = sni.map_or(own.as_str(), bare).to_owned();
    let wanted = Wanted { dialled, named, https, proxied: endpoint.proxy != Proxy::None };
    match endpoint.http {
        // Whether HTTP/2 is spoken is agreed upon within TLS.
        HttpChoice::Auto if !https => wanted.beside(url, host, HttpChoice::Http11),
        HttpChoice::Http11 => wanted.beside(url, host, HttpChoice::Http11),
        http => wanted.within(url, host, http),
    }
}

/// What is asked for.
struct Wanted {
    dialled: (String, u16),
    /// The name for TLS.
    named: String,
    https: bool,
    proxied: bool,
}

impl Wanted {
    /// HTTP/1.1: the URL's host is the name for TLS, its port the dialled one, the authority stands beside it.
    fn beside(self, asked: &Url, host: Option<&str>, http: HttpChoice) -> Result<Reach, String> {
        let mut url = asked.clone();
        set_port(&mut url, self.dialled.1)?;
        let mut reach = Reach { url, dial: None, verify_as: None, host: None, http };
        if !self.https || same_host(&self.named, &self.dialled.0) {
            set_host(&mut reach.url, &self.dialled.0)?;
        } else if self.proxied {
            return Err(
                "connect_to, tls.sni: a name for TLS apart from the dialled host can't be used through \
                        a proxy"
                    .to_owned(),
            );
        } else if is_address(&self.named) {
            // An address is never looked up, so it can't stand in the URL for another host.
            set_host(&mut reach.url, &self.dialled.0)?;
            reach.verify_as = Some(self.named);
        } else {
            set_host(&mut reach.url, &self.named)?;
            reach.dial = Some(self.dialled);
        }
        if host.is_none() && reach.url.origin() != asked.origin() {
            reach.host = Some(authority(asked));
        }
        Ok(reach)
    }

    /// HTTP/2: the URL's host and port are the authority.
    fn within(self, asked: &Url, host: Option<&str>, http: HttpChoice) -> Result<Reach, String> {
        let mut url = asked.clone();
        if let Some(host) = host {
            set_authority(&mut url, host)?;
        }
        let bears = bare(url.host_str().unwrap_or_default()).to_owned();
        let mut reach = Reach { url, dial: None, verify_as: None, host: None, http };
        let (to, port) = &self.dialled;
        if self.https && !same_host(&bears, &self.named) {
            if !is_address(&self.named) || self.proxied {
                return Err(only("the name for TLS (tls.sni, or the URL's host) must be the Host header's"));
            }
            reach.verify_as = Some(self.named);
        }
        if same_host(&bears, to) && reach.url.port_or_known_default() == Some(*port) {
            return Ok(reach);
        }
        let fault = match reach.url.port() {
            _ if self.proxied => {
                "connect_to, or another host in the Host header, can't be used through a proxy"
            }
            _ if is_address(&bears) => "an address as the authority is the one that is dialled",
            Some(own) if own != *port => {
                "the authority's port is the one that is dialled, unless it has none"
            }
            _ => {
                reach.dial = Some(self.dialled);
                return Ok(reach);
            }
        };
        Err(only(fault))
    }
}

fn only(fault: &str) -> String {
    format!("over HTTP/2 {fault}; `http = \"1.1\"` can")
}

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

fn set_host(url: &mut Url, host: &str) -> Result<(), String> {
    let done = match host.parse::<IpAddr>() {
        Ok(ip) => url.set_ip_host(ip).is_ok(),
        Err(_) => url.set_host(Some(host)).is_ok(),
    };
    if done { Ok(()) } else { Err("connect_to, tls.sni: not a host name".to_owned()) }
}

fn set_port(url: &mut Url, port: u16) -> Result<(), String> {
    url.set_port(Some(port)).map_err(|()| "connect_to: the port can't be used".to_owned())
}

/// Puts a `Host` header into a URL.
fn set_authority(url: &mut Url, host: &str) -> Result<(), String> {
    let fault = || "over HTTP/2 the Host header must be a host, with a port or without".to_owned();
    let plain = host.chars().all(|c| !c.is_whitespace() && !"/\\?#@".contains(c));
    let parsed =
        Url::parse(&format!("{}://{host}/", url.scheme())).ok().filter(|_| plain && !host.is_empty());
    let parsed = parsed.ok_or_else(fault)?;
    url.set_host(parsed.host_str()).map_err(|_| fault())?;
    url.set_port(parsed.port()).map_err(|()| fault())
}

/// A host without the brackets of IPv6.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
}

fn same_host(a: &str, b: &str) -> bool {
    match (a.parse::<IpAddr>(), b.parse::<IpAddr>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a.eq_ignore_ascii_case(b),
    }
}

/// Host and, where it isn't the scheme's own, port.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::types::Target;

    fn endpoint(http: HttpChoice, connect_to: Option<(&str, u16)>, sni: Option<&str>) -> Endpoint {
        let mut endpoint = Endpoint::plain("shop".to_owned(), Target::Urls(Vec::new()));
        endpoint.http = http;
        endpoint.connect_to = connect_to.map(|(host, port)| (host.to_owned(), port));
        endpoint.tls.sni = sni.map(str::to_owned);
        endpoint
    }

    fn go(endpoint: &Endpoint, url: &str, host: Option<&str>) -> Result<Reach, String> {
        reach(endpoint, &Url::parse(url).expect("a URL"), host, true)
    }

    #[test]
    fn h15_over_http2_the_url_keeps_the_authority() {
        let to = |url, connect_to, sni, host| {
            let reach = go(&endpoint(HttpChoice::Http2, connect_to, sni), url, host).expect("a way");
            let dial = reach.dial.map(|(host, port)| format!("{host} {port}")).unwrap_or_default();
            (reach.url.to_string(), dial, reach.verify_as.unwrap_or_default())
        };
        let plain = |url: &str, dial: &str| (url.to_owned(), dial.to_owned(), String::new());
        let there = Some(("10.0.0.7", 8443));
        assert_eq!(to("https://a.example/x", None, None, None), plain("https://a.example/x", ""));
        for url in ["https://a.example/x", "http://a.example/x"] {
            assert_eq!(to(url, there, None, None), plain(url, "10.0.0.7 8443"));
        }
        // The same port on both sides may be written.
        let url = "https://a.example:8443/";
        assert_eq!(to(url, there, None, None), plain(url, "10.0.0.7 8443"));
        // The Host header is the authority, and the URL's host is dialled.
        let url = "http://10.0.0.7:81/";
        assert_eq!(to(url, None, None, Some("b.example")), plain("http://b.example/", "10.0.0.7 81"));
        let url = "https://10.0.0.7/";
        assert_eq!(
            to(url, None, Some("b.example"), Some("B.example")),
            plain("https://b.example/", "10.0.0.7 443")
        );
        // An address as the name for TLS is verified and never sent.
        assert_eq!(
            to(url, None, None, Some("b.example")),
            ("https://b.example/".to_owned(), "10.0.0.7 443".to_owned(), "10.0.0.7".to_owned())
        );
    }

    #[test]
    fn h15_what_http2_cannot_keep_apart_is_refused() {
        for (connect_to, sni, url, host) in [
            (Some(("10.0.0.7", 8443)), None, "https://a.example:9443/", None),
            (Some(("10.0.0.7", 8443)), None, "http://10.0.0.8/", None),
            (None, Some("b.example"), "https://a.example/", None),
            (None, None, "https://a.example/", Some("b.example")),
            (None, None, "http://a.example:81/", Some("b.example:82")),
            (None, None, "http://a.example/", Some("b.example/x")),
            (None, None, "http://a.example/", Some("")),
        ] {
            for http in [HttpChoice::Http2, HttpChoice::Auto] {
                let went = go(&endpoint(http, connect_to, sni), url, host);
                // Without TLS nobody agrees on HTTP/2.
                let refused = http == HttpChoice::Http2 || url.starts_with("https");
                assert_eq!(went.is_err(), refused, "{http:?} {url} {went:?}");
                assert!(went.map_or_else(|e| e.starts_with("over HTTP/2"), |_| true));
            }
            assert!(go(&endpoint(HttpChoice::Http11, connect_to, sni), url, host).is_ok(), "{url}");
        }
        let mut proxied = endpoint(HttpChoice::Http2, Some(("10.0.0.7", 443)), None);
        proxied.proxy = Proxy::Env;
        assert!(go(&proxied, "https://a.example/", None).is_err());
        proxied.connect_to = None;
        assert!(go(&proxied, "https://a.example/", None).is_ok());
    }

    #[test]
    fn away_from_home_nothing_is_set_apart() {
        for http in [HttpChoice::Http2, HttpChoice::Http11] {
            let there = endpoint(http, Some(("10.0.0.7", 8443)), Some("b.example"));
            let url = Url::parse("https://c.example:1/").expect("a URL");
            let reach = reach(&there, &url, None, false).expect("a way");
            assert_eq!((reach.url, reach.dial, reach.verify_as, reach.host), (url, None, None, None));
        }
    }
}
