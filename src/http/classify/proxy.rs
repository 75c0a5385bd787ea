//! What went wrong between us and a proxy. The client's own errors for that can't be named, so they are known by
//! their words; a test holds each of them against a proxy that fails so. Must not know requests.

use super::{Link, chain, words};

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
        let refused = |words: &str| Some(Fault { refused: true, words: format!("proxy: {words}") });
        if let Some(socks) = said.strip_prefix("SOCKS error: ") {
            return match socks {
                "failed to create underlying connection" => {
                    Some(Fault { refused: false, words: "proxy: can't connect to it".to_owned() })
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
            _ => Some(Fault { refused: false, words: format!("proxy: {}", words(link)) }),
        }
    })
}
