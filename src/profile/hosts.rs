//! Whom a profile asks: the hosts and ports that are dialled.

use super::types::{Endpoint, Profile, Target};
use std::collections::BTreeSet;
use url::{Host, Url};

/// How many different hosts and ports the first round may dial: where `connect_to` says so instead of the URL's,
/// with the scheme's port where none is written. Every simulated replica is one of its own.
#[must_use]
pub fn hosts(profile: &Profile) -> usize {
    let mut simulated = 0_usize;
    let mut seen = BTreeSet::new();
    for endpoint in &profile.endpoints {
        match &endpoint.target {
            Target::Simulated(replicas) => simulated = simulated.saturating_add(replicas.len()),
            Target::Urls(_) => seen.extend(urls(endpoint, profile).iter().map(|url| host(endpoint, url).0)),
        }
    }
    simulated.saturating_add(seen.len())
}

/// Host and port that are dialled, and whether that is this machine.
pub(super) fn host(endpoint: &Endpoint, url: &Url) -> (String, bool) {
    if let Some((host, port)) = &endpoint.connect_to {
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        return (format!("{bracketed}:{port}"), Host::parse(&bracketed).is_ok_and(|h| is_loopback(&h)));
    }
    let loopback = url.host().is_some_and(|h| is_loopback(&h.to_owned()));
    let port = url.port_or_known_default().unwrap_or_default();
    (format!("{}:{port}", url.host_str().unwrap_or_default()), loopback)
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// The endpoint's URLs as the first round has them.
pub(super) fn urls(endpoint: &Endpoint, profile: &Profile) -> Vec<Url> {
    replica_urls(endpoint, profile).flatten().collect()
}

/// The URL of each replica as the first round has it; `None` where that is none. Nothing where it is simulated.
pub(super) fn replica_urls(endpoint: &Endpoint, profile: &Profile) -> impl Iterator<Item = Option<Url>> {
    let urls = match &endpoint.target {
        Target::Urls(urls) => urls.as_slice(),
        Target::Simulated(_) => &[],
    };
    let row = profile.rows.as_ref().and_then(|r| r.rows.first()).map_or(&[] as &[String], Vec::as_slice);
    urls.iter().map(|url| Url::parse(&url.fill(1, row)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn count(endpoints: &[&str]) -> usize {
        let one = |(i, text): (usize, &&str)| format!("[[endpoint]]\nname = 'e{i}'\n{text}\n");
        let text: String = endpoints.iter().enumerate().map(one).collect();
        hosts(&crate::profile::parse("p", &text, Path::new("."), &|_| None).expect("a profile"))
    }

    #[test]
    fn a_host_is_what_is_dialled() {
        assert_eq!(count(&["url = 'http://a/x'", "url = 'http://A:80/y?q=1#z'"]), 1, "the scheme's port");
        assert_eq!(count(&["url = 'http://a'", "url = 'https://a'"]), 2, "80 and 443");
        assert_eq!(count(&["url = 'http://me:pw@a'", "url = 'http://a?x=@b'"]), 1, "no userinfo");
        assert_eq!(count(&["replicas = ['http://a', 'http://b', 'http://a/2']"]), 2);
        assert_eq!(
            count(&["url = 'http://a'\nconnect_to = 'c:1'", "url = 'http://b'\nconnect_to = 'c:1'"]),
            1
        );
        assert_eq!(count(&["url = 'http://a:1'\nconnect_to = '[::1]:1'", "url = 'http://[::1]:1/'"]), 1);
        assert_eq!(count(&["url = 'http://a/${round}'", "url = 'http://a/${round}/b'"]), 1, "holes");
        assert_eq!(
            count(&["simulate = {}", "[[endpoint.simulate]]\n[[endpoint.simulate]]", "url = 'http://a'"]),
            4
        );
    }
}
