//! `--connect-to` and `--resolve`: where a connection goes instead.

use crate::init::vault::filled;
use url::{Host, Url};

/// A host and a port that are dialled elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The host of the URL; none is any.
    host: Option<String>,
    port: Option<u16>,
    to_host: Option<String>,
    to_port: Option<u16>,
}

/// `HOST1:PORT1:HOST2:PORT2`, each of which may be empty.
pub(super) fn connect_to(value: &str) -> Result<Place, String> {
    let fault = || "the value of --connect-to is not HOST1:PORT1:HOST2:PORT2".to_owned();
    let fields = fields(value);
    let [host, port, to_host, to_port] = fields.as_slice() else { return Err(fault()) };
    if !to_host.is_empty() && Host::parse(to_host).is_err() {
        return Err(fault());
    }
    Ok(Place {
        host: some(host),
        port: number(port).map_err(|()| fault())?,
        to_host: some(to_host),
        to_port: number(to_port).map_err(|()| fault())?,
    })
}

/// `HOST:PORT:ADDRESS`, of several addresses the first; one that is to be forgotten says nothing.
pub(super) fn resolve(value: &str) -> Result<Option<Place>, String> {
    let fault = || "the value of --resolve is not HOST:PORT:ADDRESS".to_owned();
    if value.starts_with('-') {
        return Ok(None);
    }
    let fields = fields(value.strip_prefix('+').unwrap_or(value));
    let [host, port, address @ ..] = fields.as_slice() else { return Err(fault()) };
    let address = address.join(":");
    let address = address.split(',').next().unwrap_or_default();
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let address: std::net::IpAddr = address.parse().map_err(|_| fault())?;
    let to_host = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
    let host = some(host).filter(|host| host != "*");
    Ok(Some(Place { host, port: number(port).map_err(|()| fault())?, to_host: Some(to_host), to_port: None }))
}

/// Where the first place that fits this URL leads, as `host:port`.
pub(super) fn of(places: &[Place], url: &str) -> Option<String> {
    let url = Url::parse(&filled(url)).ok()?;
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let fits = |place: &&Place| {
        place.host.as_deref().is_none_or(|h| h.eq_ignore_ascii_case(host))
            && place.port.is_none_or(|p| p == port)
    };
    let place = places.iter().find(fits)?;
    let to_host = place.to_host.as_deref().unwrap_or(host);
    let to_port = place.to_port.unwrap_or(port);
    // An address that is no other says nothing.
    (to_host != host || to_port != port).then(|| format!("{to_host}:{to_port}"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// A port, or none where nothing stands; an error where it is neither.
fn number(text: &str) -> Result<Option<u16>, ()> {
    if text.is_empty() { Ok(None) } else { text.parse().ok().filter(|&port| port > 0).map(Some).ok_or(()) }
}

/// What stands between colons that are not within brackets.
fn fields(text: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut within = false;
    for c in text.chars() {
        within = if within { c != ']' } else { c == '[' };
        match fields.last_mut() {
            Some(field) if c != ':' || within => field.push(c),
            _ => fields.push(String::new()),
        }
    }
    fields
}
