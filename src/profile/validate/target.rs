//! Where calls go: exactly one of `url`, `replicas` and `simulate`.

use super::simulate;
use super::values::items;
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Field, Layer, template_of};
use crate::profile::nearest::{list, nearest};
use crate::profile::secrets::redact_url;
use crate::profile::source::{Span, visible};
use crate::profile::types::{Target, Template};
use toml::de::DeValue;
use url::Url;

/// The keys that say where calls go.
pub(super) const KEYS: [&str; 3] = ["url", "replicas", "simulate"];

/// Most replicas of an endpoint.
const MAX_REPLICAS: usize = 64;

/// Reads the target. One of the endpoint's own replaces the default's, whichever key that uses.
pub(super) fn read<'a>(cx: &mut Context<'a>, layer: &Layer<'a>) -> Option<Target> {
    let (mut own, mut inherited) = (Vec::new(), Vec::new());
    for key in KEYS {
        let on = |f: &Field<'_>| !matches!(f.value, DeValue::Boolean(false));
        own.extend(layer.own_field(key).filter(on));
        inherited.extend(layer.field(key).filter(|f| on(f) && f.inherited));
    }
    let fields = if own.is_empty() { inherited } else { own };
    match fields.as_slice() {
        [] => {
            cx.report(
                Problem::at(&layer.span(), format!("{} has nowhere to go", layer.label))
                    .help("add url = \"https://…\", or replicas = [\"…\", \"…\"], or [endpoint.simulate]"),
            );
            None
        }
        [only] if only.key == "simulate" => simulate::read(cx, layer, only).map(Target::Simulated),
        [only] if only.key == "url" => url(cx, only).map(|url| Target::Urls(vec![url])),
        [only] => replicas(cx, only).map(Target::Urls),
        [first, second, ..] => {
            let what = format!("`{}` and `{}` exclude each other", first.key, second.key);
            let help = match (first.key.as_str(), second.key.as_str()) {
                ("url", "replicas") => "put every URL into `replicas` and drop `url`",
                _ => "keep the one you want to call",
            };
            cx.report(Problem::at(&second.key_span, what).other(&first.key_span, "the other").help(help));
            None
        }
    }
}

fn url(cx: &mut Context<'_>, field: &Field<'_>) -> Option<Template> {
    if matches!(field.value, DeValue::Array(_)) {
        cx.report(Problem::at(&field.span, "`url` takes one URL").help("write `replicas = […]` for several"));
        return None;
    }
    one_url(cx, &field.key, field.value, &field.span)
}

/// R5: an endpoint has at least one replica.
fn replicas(cx: &mut Context<'_>, field: &Field<'_>) -> Option<Vec<Template>> {
    let DeValue::Array(list) = field.value else {
        let what = "`replicas` must be a list of URLs";
        cx.report(Problem::at(&field.span, what).help("write replicas = [\"https://…\"], or `url` for one"));
        return None;
    };
    if list.is_empty() || list.len() > MAX_REPLICAS {
        let what = match list.len() {
            0 => "`replicas` is empty".to_owned(),
            n => format!("{n} replicas are more than the {MAX_REPLICAS} of an endpoint"),
        };
        cx.report(Problem::at(&field.span, what).help("name at least one URL, or drop the endpoint"));
        return None;
    }
    items(field).into_iter().map(|(value, span)| one_url(cx, "replicas", value, &span)).collect()
}

fn one_url(cx: &mut Context<'_>, key: &str, value: &DeValue<'_>, span: &Span) -> Option<Template> {
    let template =
        template_of(cx, key, value, span, &format!("{key} with text such as \"https://a.example/\""))?;
    if cx.rows_failed {
        return Some(template);
    }
    let row = cx.rows.as_ref().and_then(|r| r.rows.first()).cloned().unwrap_or_default();
    let filled = template.fill(1, &row);
    let as_written = value.as_str() == Some(filled.as_str());
    let checked = check_url(&filled).map_err(|c| {
        let becomes = if as_written { String::new() } else { format!(" (it becomes {})", show(&filled)) };
        Complaint { message: format!("`{key}`: {}{becomes}", c.message), ..c }
    });
    cx.check(span, checked).map(|()| template)
}

fn show(url: &str) -> String {
    visible(&redact_url(url))
}

/// What is wrong with a URL. Its text is sent as it is written, so nothing is normalised here.
///
/// # Errors
/// Where the scheme is missing or not http, the host is missing or wrong, or a control character is in it.
pub(in crate::profile) fn check_url(url: &str) -> Result<(), Complaint> {
    if url.trim().is_empty() {
        return Err(Complaint::new("the URL is empty", "write for example \"https://a.example/\""));
    }
    if url.chars().any(char::is_control) {
        return Err(Complaint::new(
            "the URL holds a control character",
            "write it percent-encoded: %0A for a line break, %09 for a tab",
        ));
    }
    if url.trim() != url {
        return Err(Complaint::new("the URL begins or ends with a space", "write it without"));
    }
    check_scheme(url)?;
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    if host.starts_with("::") {
        return Err(parse_complaint(url::ParseError::InvalidIpv6Address, url));
    }
    if host.is_empty() || host.starts_with(['/', '?', '#', '\\', ':', '@']) {
        return Err(Complaint::new("the URL has no host", "write for example \"https://a.example/\""));
    }
    let parsed = Url::parse(url).map_err(|e| parse_complaint(e, url))?;
    if parsed.host_str().is_none_or(str::is_empty) {
        return Err(Complaint::new("the URL has no host", "write for example \"https://a.example/\""));
    }
    if parsed.port() == Some(0) {
        return Err(Complaint::new("port 0 cannot be dialled", "ports go from 1 to 65535"));
    }
    Ok(())
}

/// H32: a URL without a scheme is the commonest mistake of all.
fn check_scheme(url: &str) -> Result<(), Complaint> {
    let known = ["http", "https"];
    let Some((scheme, rest)) = url.split_once("://") else {
        let (start, rest) = url.split_once(":/").or_else(|| url.split_once(":\\")).unwrap_or(("", url));
        let rest = rest.trim_start_matches(['/', '\\']);
        if known.contains(&start.to_ascii_lowercase().as_str()) {
            let what = format!("`{start}:` must be followed by `//`");
            return Err(Complaint::new(what, format!("write \"{}\"", show(&format!("{start}://{rest}")))));
        }
        let guess = if is_local(url) { "http" } else { "https" };
        let url = url.trim_start_matches('/');
        let full = format!("write \"{}\"", show(&format!("{guess}://{url}")));
        return Err(Complaint::new("the URL has no scheme", full));
    };
    let folded = scheme.to_ascii_lowercase();
    if known.contains(&folded.as_str()) {
        return Ok(());
    }
    let help = match (nearest(&folded, known), folded.as_str()) {
        (_, "") => format!("write \"{}\"", show(&format!("https://{rest}"))),
        (_, "ws" | "wss" | "grpc" | "ftp" | "file" | "unix" | "tcp" | "h2" | "h2c") => {
            format!("fanscope asks over {}", list(&known))
        }
        (Some(close), _) => format!("did you mean \"{}\"?", show(&format!("{close}://{rest}"))),
        (None, _) => format!("fanscope asks over {}", list(&known)),
    };
    Err(Complaint::new(format!("the scheme `{}` is not http or https", visible(scheme)), help))
}

fn is_local(url: &str) -> bool {
    let host = url.trim_start_matches('/');
    ["localhost", "127.", "[::1]", "0.0.0.0", "10.", "192.168."].iter().any(|local| host.starts_with(local))
}

fn parse_complaint(error: url::ParseError, url: &str) -> Complaint {
    use url::ParseError as E;
    let colons = url.split_once("://").is_some_and(|(_, rest)| {
        rest.split(['/', '?', '#']).next().is_some_and(|host| host.matches(':').count() > 2)
    });
    match error {
        E::InvalidPort if !url.contains('@') && !colons => Complaint::new(
            "the port is not a number from 1 to 65535",
            "write for example \"https://a.example:8443/\"",
        ),
        E::InvalidPort if colons => Complaint::new(
            "the host looks like an IPv6 address",
            "write it in brackets: \"http://[::1]:8080/\"",
        ),
        E::InvalidPort => Complaint::new(
            "the port is not a number from 1 to 65535",
            "a `:`, `/`, `?` or `#` in a password is written percent-encoded (%3A, %2F, %3F, %23)",
        ),
        E::InvalidIpv4Address => {
            Complaint::new("the host is not a valid IPv4 address", "write four numbers, 0 to 255")
        }
        E::InvalidIpv6Address => Complaint::new(
            "the host is not a valid IPv6 address",
            "write it in brackets: \"http://[::1]:8080/\"",
        ),
        E::InvalidDomainCharacter | E::IdnaError => Complaint::new(
            "the host holds a character that no host name has",
            "check the spelling of the host",
        ),
        other => {
            Complaint::new(format!("this is not a URL: {other}"), "write for example \"https://a.example/\"")
        }
    }
}
