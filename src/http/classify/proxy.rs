//! What went wrong between us and a proxy. The client's own errors for that can't be named, so they are known by
//! their words; a test holds each of them against a proxy that fails so. Must not know requests.

use super::{Link, chain, words};
use crate::domain::Reason;
use url::Url;

/// The proxy between us and the upstream.
pub(in crate::http) struct Via {
    /// Host and port, and never its credentials.
    pub(super) address: String,
    /// Whether it is one of SOCKS, for which we may look up the upstream's name.
    socks: bool,
    /// Whether the upstream is reached by TLS.
    tls: bool,
}

impl Via {
    /// From the URL of a proxy, which may have no scheme, and that of the request.
    pub(in crate::http) fn new(proxy: &str, url: &Url) -> Option<Self> {
        let whole = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
        let proxy = Url::parse(&whole).ok()?;
        let port = proxy.port_or_known_default().unwrap_or(1080);
        Some(Self {
            address: format!("{}:{port}", proxy.host_str()?),
            socks: proxy.scheme().starts_with("socks"),
            tls: url.scheme() == "https",
        })
    }

    /// Whether a failure to connect is between us and the proxy.
    pub(super) fn is_to_blame(&self, error: Link<'_>, reason: Reason) -> bool {
        if fault(error).is_some() {
            return true;
        }
        match reason {
            Reason::Dns => !self.socks,
            // The upstream's handshake goes through the tunnel.
            Reason::Tls => !self.tls,
            Reason::ConnectRefused
            | Reason::ConnectUnreachable
            | Reason::ConnectFailed
            | Reason::ConnReset
            | Reason::ConnClosed => true,
            _ => false,
        }
    }
}

/// How far a proxy is to blame.
pub(super) struct Fault {
    /// Whether the proxy was reached and didn't do what it was asked for.
    pub(super) refused: bool,
    /// For the operator; never empty.
    pub(super) words: String,
}

/// The proxy's fault, where there is one.
pub(super) fn fault(error: Link<'_>) -> Option<Fault> {
    chain(error).find_map(|link| {
        let said = link.to_string();
        let refused = |words: &str| Some(Fault { refused: true, words: words.to_owned() });
        if let Some(socks) = said.strip_prefix("SOCKS error: ") {
            return match socks {
                "failed to create underlying connection" => {
                    Some(Fault { refused: false, words: "can't connect to it".to_owned() })
                }
                "io error during SOCKS handshake" => refused("it ended the connection"),
                other => refused(other),
            };
        }
        match said.strip_prefix("tunnel error: ")? {
            "proxy authorization required" => refused("407, authorization required"),
            "unsuccessful" => refused("it refused the tunnel, or what it answered is no HTTP"),
            "unexpected end of file" => refused("it closed without an answer to CONNECT"),
            "proxy response headers too long" => refused("its answer to CONNECT is too long"),
            // What is below says more.
            _ => Some(Fault { refused: false, words: words(link) }),
        }
    })
}
