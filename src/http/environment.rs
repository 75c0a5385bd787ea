//! `proxy = "env"`: which proxy the environment's variables name for a URL.
//!
//! The client could read them itself, but then `NO_PROXY=*` holds for names only and an entry with a port for
//! nothing. Must not know clients or endpoints; errors never repeat a value, it may hold a password.

use ipnet::IpNet;
use std::net::IpAddr;
use url::{Host, Url};

/// The proxies that the environment names.
#[derive(Debug, Default)]
pub(super) struct Environment {
    http: Option<String>,
    https: Option<String>,
    exceptions: Vec<Exception>,
}

/// An entry of `NO_PROXY`.
#[derive(Debug)]
struct Exception {
    whom: Whom,
    port: Option<u16>,
}

#[derive(Debug)]
enum Whom {
    Everybody,
    Network(IpNet),
    /// A name and all below it.
    Domain(String),
}

impl Environment {
    /// Of these variables; upper case comes before lower case, and what is empty is not there. `HTTP_PROXY` is left
    /// out in a CGI program, whose client could set it.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| {
            names
                .iter()
                .filter_map(|name| variable(name))
                .map(|v| v.trim().to_owned())
                .find(|v| !v.is_empty())
        };
        let all = first(&["ALL_PROXY", "all_proxy"]);
        let cgi = variable("REQUEST_METHOD").is_some();
        let names: &[&str] = if cgi { &["http_proxy"] } else { &["HTTP_PROXY", "http_proxy"] };
        let exceptions = first(&["NO_PROXY", "no_proxy"]).unwrap_or_default();
        Self {
            http: first(names).or_else(|| all.clone()),
            https: first(&["HTTPS_PROXY", "https_proxy"]).or(all),
            exceptions: exceptions.split([',', ' ']).filter_map(Exception::read).collect(),
        }
    }

    /// The proxy for a URL; `None` where it is dialled itself.
    pub(super) fn proxy(&self, url: &Url) -> Option<&str> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        let (host, port) = (url.host()?, url.port_or_known_default());
        let excepted = self.exceptions.iter().any(|e| e.holds(&host, port));
        proxy.as_deref().filter(|_| !excepted)
    }
}

impl Exception {
    fn read(entry: &str) -> Option<Self> {
        let entry = entry.trim();
        let network = |text: &str| {
            let text = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
            text.parse().ok().or_else(|| text.parse().map(|ip: IpAddr| IpNet::from(ip)).ok())
        };
        if let Some(network) = network(entry) {
            return Some(Self { whom: Whom::Network(network), port: None });
        }
        let (name, port) = match entry.rsplit_once(':').map(|(name, port)| (name, port.parse())) {
            Some((name, Ok(port))) => (name, Some(port)),
            _ => (entry, None),
        };
        let whom = match name {
            "" => return None,
            "*" => Whom::Everybody,
            name => match network(name) {
                Some(network) => Whom::Network(network),
                None => Whom::Domain(plain(name.trim_start_matches("*.").trim_start_matches('.'))),
            },
        };
        Some(Self { whom, port })
    }

    fn holds(&self, host: &Host<&str>, port: Option<u16>) -> bool {
        let whom = match (&self.whom, host) {
            (Whom::Everybody, _) => true,
            (Whom::Network(network), Host::Ipv4(ip)) => network.contains(&IpAddr::V4(*ip)),
            (Whom::Network(network), Host::Ipv6(ip)) => network.contains(&IpAddr::V6(*ip)),
            (Whom::Domain(domain), Host::Domain(name)) => {
                let name = plain(name);
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            _ => false,
        };
        whom && (self.port.is_none() || self.port == port)
    }
}

/// A name as it is compared: in lower case, without the dot of the root.
fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(none: &str, url: &str) -> bool {
        let variables = |name: &str| match name {
            "ALL_PROXY" => Some("http://proxy.example:3128".to_owned()),
            "NO_PROXY" => Some(none.to_owned()),
            _ => None,
        };
        Environment::read(variables).proxy(&Url::parse(url).expect("a URL")).is_none()
    }

    #[test]
    fn no_proxy_names_hosts_domains_addresses_networks_ports_and_everybody() {
        for (none, url) in [
            ("*", "http://a.example/"),
            ("*", "https://10.0.0.1/"),
            ("*", "http://[::1]/"),
            ("b,example", "http://a.example/"),
            (" .EXAMPLE , b", "http://a.example./"),
            ("*.example", "http://a.example/"),
            ("b a.example", "http://A.example/"),
            ("a.example:81", "http://a.example:81/"),
            ("a.example:80", "http://a.example/"),
            ("10.0.0.1", "http://10.0.0.1:9/"),
            ("10.0.0.1:9", "http://10.0.0.1:9/"),
            ("10.0.0.0/8", "https://10.1.2.3/"),
            ("::1", "http://[::1]/"),
            ("[::1]", "http://[::1]/"),
            ("[::1]:81", "http://[::1]:81/"),
            ("fd00::/8", "http://[fd00::5]/"),
        ] {
            assert!(direct(none, url), "{none} {url}");
        }
        for (none, url) in [
            ("", "http://a.example/"),
            (",,:81", "http://a.example:81/"),
            ("xample", "http://a.example/"),
            ("b.a.example", "http://a.example/"),
            ("a.example:81", "http://a.example/"),
            ("10.0.0.0/8", "http://11.0.0.1/"),
            ("10.0.0.0/99", "http://10.0.0.1/"),
            ("10.0.0.1", "http://[::1]/"),
        ] {
            assert!(!direct(none, url), "{none} {url}");
        }
    }

    #[test]
    fn what_is_empty_is_not_there() {
        let variables = |name: &str| match name {
            "HTTP_PROXY" | "NO_PROXY" => Some(" ".to_owned()),
            "http_proxy" => Some("proxy.example".to_owned()),
            _ => None,
        };
        let environment = Environment::read(variables);
        let proxy = |url| environment.proxy(&Url::parse(url).expect("a URL"));
        assert_eq!((proxy("http://a/"), proxy("https://a/")), (Some("proxy.example"), None));
    }
}
