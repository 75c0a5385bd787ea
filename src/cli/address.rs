//! The address of `--metrics`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reads `9184`, `:9184`, `localhost:9184`, `127.0.0.1:9184` or `[::1]:9184`. Without an IP address it is 127.0.0.1: only
/// who writes another one leaves loopback. Names are not looked up.
///
/// # Errors
/// When it is none of these; says what is expected.
pub(super) fn parse(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let loopback = || Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), number(port)?));
    text.parse().ok().or_else(loopback).ok_or_else(|| {
        "expected a port (9184, loopback only) or an IP address with one (0.0.0.0:9184, [::1]:9184)"
            .to_owned()
    })
}

fn number(port: &str) -> Option<u16> {
    // `u16` alone would take a sign.
    port.bytes().all(|b| b.is_ascii_digit()).then(|| port.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_ip_address_it_is_loopback() {
        for text in ["9184", ":9184", "localhost:9184", "127.0.0.1:9184"] {
            assert_eq!(parse(text).unwrap().to_string(), "127.0.0.1:9184", "{text}");
        }
        assert_eq!(parse("0").unwrap().to_string(), "127.0.0.1:0");
        for text in ["[::1]:9184", "0.0.0.0:80", "[::]:0", "192.0.2.7:65535"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let bad = [
            "",
            ":",
            "::",
            "::9184",
            "+9184",
            "-1",
            "65536",
            "host",
            "localhost",
            "localhost9184",
            "localhost::1",
            "127.0.0.1",
            "::1",
            "[::1]",
            "a.example:9184",
            "127.0.0.1:",
            "9184:",
            "http://127.0.0.1:9184",
            " 9184",
        ];
        for text in bad {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
