//! How an endpoint is reached: address, TLS, proxy, redirects.

use super::keys;
use super::values::text_or_off;
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Layer, Text};
use crate::profile::nearest::nearest;
use crate::profile::reach::reach;
use crate::profile::reading::LIMIT;
use crate::profile::secrets::redact_url;
use crate::profile::source::{visible, visible_all};
use crate::profile::types::{Endpoint, Proxy, Target, Tls};
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::de::DeValue;
use url::{Host, Url};

const PROXY: &str = r#"write "none", "env", or a URL such as "http://proxy.example:3128""#;

const MAX_REDIRECTS: u64 = 20;

/// Host and port to dial instead of the URL's.
pub(super) fn connect_to(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<(String, u16)> {
    let text = text_or_off(cx, layer, "connect_to", r#"connect_to = "10.0.0.7:8443""#)?;
    cx.check_key("connect_to", &text.span, host_and_port(text.value.trim()))
}

fn host_and_port(text: &str) -> Result<(String, u16), Complaint> {
    const EXAMPLE: &str = r#"write "host:port", such as "10.0.0.7:8443" or "[::1]:8443""#;
    if text.contains("://") {
        return Err(Complaint::new("an address has no scheme", EXAMPLE));
    }
    let shown = visible(&redact_url(text));
    let Some((host, port)) = text.rsplit_once(':').filter(|_| !text.ends_with(']')) else {
        return Err(Complaint::new(format!("`{shown}` has no port"), EXAMPLE));
    };
    if host.contains(':') && !host.starts_with('[') {
        return Err(Complaint::new("an IPv6 address stands in brackets", EXAMPLE));
    }
    let port = port.parse::<u16>().ok().filter(|&p| p > 0 && port.bytes().all(|b| b.is_ascii_digit()));
    let Some(port) = port else {
        return Err(Complaint::new("the port is not a number from 1 to 65535", EXAMPLE));
    };
    plain_host(host)
        .map(|host| (host, port))
        .ok_or_else(|| Complaint::new(format!("`{}` is not a host", visible(&redact_url(host))), EXAMPLE))
}

/// A host as it is dialled: an IPv6 address without its brackets.
fn plain_host(host: &str) -> Option<String> {
    match Host::parse(host).ok()? {
        Host::Domain(name) => Some(name),
        Host::Ipv4(address) => Some(address.to_string()),
        Host::Ipv6(address) => Some(address.to_string()),
    }
}

/// TLS settings; the files are looked at now, so that a wrong path is no surprise later.
pub(super) fn tls(cx: &mut Context<'_>, layer: &Layer<'_>) -> Tls {
    let Some(table) = layer.sub(cx, "tls", r#"tls = { ca = "ca.pem" }"#) else { return Tls::default() };
    table.check_keys(cx, keys::TLS);
    let tls = Tls {
        ca: pem(cx, &table, "ca"),
        cert: pem(cx, &table, "cert"),
        key: pem(cx, &table, "key"),
        insecure: table.flag(cx, "insecure").unwrap_or(false),
        sni: sni(cx, &table),
    };
    check_pair(cx, &table);
    tls
}

fn check_pair(cx: &mut Context<'_>, table: &Layer<'_>) {
    let given = |key| table.field(key).filter(|_| !table.is_off(key));
    let (has, lacks) = match (given("cert"), given("key")) {
        (Some(cert), None) => (cert, "key"),
        (None, Some(key)) => (key, "cert"),
        _ => return,
    };
    let what = format!("`{}` needs `{lacks}` beside it", has.key);
    cx.report(Problem::at(&has.key_span, what).help(format!(
        "add {lacks} = \"me.{}\"; both may name one file",
        if lacks == "key" { "key" } else { "pem" }
    )));
}

fn pem(cx: &mut Context<'_>, table: &Layer<'_>, key: &str) -> Option<PathBuf> {
    let text = text_or_off(cx, table, key, &format!(r#"{key} = "{key}.pem""#))?;
    let path = cx.base_dir.join(&text.value);
    let fault = if text.value.is_empty() { Some("is empty".to_owned()) } else { file_fault(&path) };
    let Some(fault) = fault else { return Some(path) };
    let help = if fault.starts_with("is not PEM") {
        "PEM is text; `openssl x509 -inform der` makes it of a DER certificate"
    } else if text.value.starts_with('~') {
        "`~` is not expanded: write ${HOME}/…"
    } else {
        "paths count from the profile's folder"
    };
    let what = format!("`{key}`: \"{}\" {fault}", visible_all(&path.display().to_string()));
    cx.report(Problem::at(&text.span, what).help(help));
    None
}

/// Why a file cannot be used as a certificate or key.
fn file_fault(path: &Path) -> Option<String> {
    let Ok(metadata) = path.metadata() else { return Some("does not exist".to_owned()) };
    if !metadata.is_file() {
        return Some("is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    match std::fs::File::open(path).and_then(|f| f.take(LIMIT).read_to_end(&mut bytes)) {
        Err(e) => Some(format!("cannot be read: {e}")),
        Ok(_) if !bytes.windows(10).any(|w| w == b"-----BEGIN") => {
            Some("is not PEM: it holds no \"-----BEGIN\" line".to_owned())
        }
        Ok(_) => None,
    }
}

fn sni(cx: &mut Context<'_>, table: &Layer<'_>) -> Option<String> {
    let text = text_or_off(cx, table, "sni", r#"sni = "a.example""#)?;
    if text.value.is_empty() {
        return None;
    }
    if let Ok(Host::Domain(name)) = Host::parse(&text.value) {
        return Some(name);
    }
    let what = format!("`sni`: \"{}\" is not a host name", visible(&text.value));
    cx.report(
        Problem::at(&text.span, what).help("write a name without scheme and port, such as \"a.example\""),
    );
    None
}

/// H15: what the endpoint sets apart, and its version of HTTP can't keep apart. Told once, by the first round's URLs.
pub(super) fn check_reach(cx: &mut Context<'_>, layer: &Layer<'_>, endpoint: &Endpoint) {
    let Target::Urls(urls) = &endpoint.target else { return };
    let row = cx.rows.as_ref().and_then(|r| r.rows.first()).map_or(&[] as &[String], Vec::as_slice);
    let host = endpoint.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = host.map(|(_, value)| value.fill(1, row));
    let mut urls = urls.iter().filter_map(|url| Url::parse(&url.fill(1, row)).ok());
    let fault = urls.find_map(|url| reach(endpoint, &url, host.as_deref(), true).err());
    let Some(fault) = fault else { return };
    let key = ["http", "tls", "connect_to"].into_iter().find_map(|key| layer.field(key));
    cx.report(Problem::at(&key.map_or_else(|| layer.span(), |f| f.key_span), fault));
}

/// The proxy.
pub(super) fn proxy(cx: &mut Context<'_>, layer: &Layer<'_>) -> Proxy {
    let Some(text) = text_or_off(cx, layer, "proxy", r#"proxy = "none", "env" or a URL"#) else {
        return Proxy::None;
    };
    match text.value.as_str() {
        "none" => Proxy::None,
        "env" => Proxy::Env,
        _ => proxy_url(cx, &text),
    }
}

fn proxy_url(cx: &mut Context<'_>, text: &Text) -> Proxy {
    let known = ["http", "https", "socks5", "socks5h"];
    let complaint = match text.value.split_once("://") {
        None => match nearest(&text.value, ["none", "env"]) {
            Some(close) => Some(Complaint::new("this is no proxy", format!("did you mean \"{close}\"?"))),
            None => Some(Complaint::new("this is no proxy", PROXY)),
        },
        Some((scheme, _)) if !known.contains(&scheme) => Some(Complaint::new(
            format!("the scheme `{}` is not one of a proxy", visible(scheme)),
            "proxies are http, https, socks5 or socks5h",
        )),
        Some(_) => match Url::parse(&text.value) {
            Ok(url) if url.host_str().is_some_and(|h| !h.is_empty()) => None,
            Ok(_) => Some(Complaint::new("the URL has no host", PROXY)),
            Err(e) => Some(Complaint::new(format!("this is not a URL: {e}"), PROXY)),
        },
    };
    cx.check_key("proxy", &text.span, complaint.map_or(Ok(Proxy::Url(text.value.clone())), Err))
        .unwrap_or_default()
}

/// Redirects that are followed; `false` is none (C09).
pub(super) fn follow(cx: &mut Context<'_>, layer: &Layer<'_>) -> u32 {
    match layer.field("follow").map(|f| (f.value, f.span)) {
        None | Some((DeValue::Boolean(false), _)) => 0,
        Some((DeValue::Boolean(true), span)) => {
            let what = "`follow` is how many redirects are followed";
            cx.report(Problem::at(&span, what).help(format!("write a number from 1 to {MAX_REDIRECTS}")));
            0
        }
        Some(_) => {
            layer.whole(cx, "follow", 0..=MAX_REDIRECTS).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
        }
    }
}
