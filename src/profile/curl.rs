//! A call as a curl command that somebody else can run: quoted for a shell, and without a secret. What the profile
//! takes from the environment stands as the variable, any other secret as [`SECRET`].

use super::redact::spans;
use super::secrets::{is_secret_header, spans_in_line, url_spans};
use super::shell::{Bit, word};
use super::types::{Endpoint, HttpChoice, Piece, Profile, Proxy, Target, Template};
use crate::domain::{EndpointId, RoundNo, Settings};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// What stands in the place of a secret that the profile writes out.
pub const SECRET: &str = "REDACTED";

/// Which call is to be a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurlCall {
    /// Whose.
    pub endpoint: EndpointId,
    /// To which of its URLs.
    pub replica: usize,
    /// In which round: the holes of its templates are filled for that.
    pub round: RoundNo,
}

/// The call as a curl command, with the limit that it has under these settings. `embedded` is where it goes where its
/// upstream is an embedded one.
///
/// # Errors
/// Why there is no such command, in words that repeat no value.
pub fn curl(
    profile: &Profile,
    settings: &Settings,
    call: &CurlCall,
    embedded: Option<String>,
) -> Result<String, &'static str> {
    let endpoint = profile.endpoints.get(call.endpoint.index()).ok_or("there is no such endpoint")?;
    let row = profile.row(call.round.0);
    let fill = |template: &Template| Filled::of(template, call.round.0, row);
    let url = match (&endpoint.target, embedded) {
        (Target::Urls(urls), _) => fill(urls.get(call.replica).ok_or("there is no such replica")?)?,
        (Target::Simulated(_), url) => Filled::plain(&url.ok_or("its upstream is not there")?)?,
    };
    let body = fill(&endpoint.body)?;
    let mut words: Vec<Vec<Bit>> = vec![vec![Bit::text("curl")], vec![Bit::text("-sS")]];
    let mut add = |option: &str, value: Vec<Bit>| words.extend([vec![Bit::text(option)], value]);
    match endpoint.method.as_str() {
        "HEAD" if body.text.is_empty() => words.push(vec![Bit::text("-I")]),
        "GET" if body.text.is_empty() => words.push(vec![Bit::text("-i")]),
        method => add("-iX", vec![Bit::text(method)]),
    }
    for (name, value) in &endpoint.headers {
        words.extend([vec![Bit::text("-H")], header(name, &fill(value)?)]);
    }
    words.extend(sent_body(endpoint, &body));
    let limit = limit(endpoint, settings).as_secs_f64();
    words.extend([vec![Bit::text("--max-time")], vec![Bit::text(limit.to_string())]]);
    words.extend(connection(endpoint, &url.text));
    // Brackets and braces are the URL's own.
    words.extend([vec![Bit::text("-g")], hide(&url, &secret_parts(&url.text))]);
    Ok(words.iter().map(|bits| word(bits)).collect::<Vec<_>>().join(" "))
}

/// How long the call may take.
fn limit(endpoint: &Endpoint, settings: &Settings) -> Duration {
    let whole = endpoint.required || settings.mode.ignores_budget();
    let round = if whole { settings.request_budget } else { settings.effective_budget().0 };
    endpoint.timeout.map_or(round, |timeout| timeout.min(round))
}

fn header(name: &str, value: &Filled) -> Vec<Bit> {
    if value.text.is_empty() {
        // With a colon curl would send no such header.
        return vec![Bit::text(format!("{name};"))];
    }
    let mut secret = spans(&value.text);
    if is_secret_header(name) {
        let scheme = value.text.split_once(' ').filter(|(scheme, _)| is_scheme(scheme));
        let from = scheme.map_or(0, |(scheme, _)| scheme.len() + 1);
        secret.push(from..value.text.len());
    }
    let mut bits = vec![Bit::text(format!("{name}: "))];
    bits.extend(hide(value, &secret));
    bits
}

/// Words before credentials that say what kind they are.
fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "digest", "token", "apikey"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The body, and no header that curl would send for it and we do not.
fn sent_body(endpoint: &Endpoint, body: &Filled) -> Vec<Vec<Bit>> {
    let expected = matches!(endpoint.method.as_str(), "POST" | "PUT" | "PATCH");
    if body.text.is_empty() && !expected {
        return Vec::new();
    }
    let mut words = Vec::new();
    if !endpoint.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        words.extend([vec![Bit::text("-H")], vec![Bit::text("content-type:")]]);
    }
    let mut secret = spans(&body.text);
    secret.extend(spans_in_line(&body.text, false));
    words.extend([vec![Bit::text("--data-raw")], hide(body, &secret)]);
    words
}

/// How it is reached.
fn connection(endpoint: &Endpoint, url: &str) -> Vec<Vec<Bit>> {
    let tls = url.starts_with("https:");
    let mut words = Vec::new();
    let mut flag = |flag: &str| words.push(vec![Bit::text(flag)]);
    match endpoint.http {
        HttpChoice::Http11 if tls => flag("--http1.1"),
        HttpChoice::Http2 if tls => flag("--http2"),
        HttpChoice::Http2 => flag("--http2-prior-knowledge"),
        HttpChoice::Http11 | HttpChoice::Auto => {}
    }
    if endpoint.tls.insecure {
        flag("-k");
    }
    let mut add = |option: &str, value: Vec<Bit>| words.extend([vec![Bit::text(option)], value]);
    if let Some((host, port)) = &endpoint.connect_to {
        let host =
            if host.contains(':') { format!("[{}]", host.trim_matches(['[', ']'])) } else { host.clone() };
        add("--connect-to", vec![Bit::text(format!("::{host}:{port}"))]);
    }
    let tls = &endpoint.tls;
    for (option, file) in [("--cacert", &tls.ca), ("--cert", &tls.cert), ("--key", &tls.key)] {
        if let Some(file) = file {
            add(option, vec![Bit::text(path(file))]);
        }
    }
    if let Proxy::Url(url) = &endpoint.proxy
        && let Ok(url) = Filled::plain(url)
    {
        add("--proxy", hide(&url, &secret_parts(&url.text)));
    }
    if endpoint.follow > 0 {
        add("-L", vec![Bit::text("--max-redirs")]);
        words.push(vec![Bit::text(endpoint.follow.to_string())]);
    }
    words
}

/// A file's path; one that holds a NUL can't be.
fn path(file: &Path) -> String {
    file.to_string_lossy().replace('\0', "")
}

/// Userinfo, without the colon in it, and values of secret keys.
fn secret_parts(url: &str) -> Vec<Range<usize>> {
    let parts = |span: Range<usize>| {
        let info = url.get(span.clone()).unwrap_or_default();
        let whole = url.get(span.end..).is_none_or(|rest| !rest.starts_with('@'));
        match info.split_once(':').filter(|_| !whole) {
            Some((user, _)) => [span.start..span.start + user.len(), span.start + user.len() + 1..span.end],
            None => [span.clone(), span.end..span.end],
        }
    };
    url_spans(url).into_iter().flat_map(parts).collect()
}

/// A template filled for a round.
struct Filled {
    /// The text, with a NUL for each variable.
    text: String,
    /// The variables, in their order.
    variables: Vec<String>,
}

/// What no command line can hold.
const NUL: &str = "it holds a NUL byte, which no command line can";

impl Filled {
    fn plain(text: &str) -> Result<Self, &'static str> {
        if text.contains('\0') { Err(NUL) } else { Ok(Self { text: text.to_owned(), variables: Vec::new() }) }
    }

    fn of(template: &Template, round: u64, row: &[String]) -> Result<Self, &'static str> {
        let mut filled = Self { text: String::new(), variables: Vec::new() };
        for piece in &template.0 {
            match piece {
                Piece::Variable { name, .. } => {
                    filled.text.push('\0');
                    filled.variables.push(name.clone());
                }
                other => {
                    let text = Template(vec![other.clone()]).fill(round, row);
                    filled.text.push_str(&Self::plain(&text)?.text);
                }
            }
        }
        Ok(filled)
    }
}

/// The text with its variables, and with [`SECRET`] for the rest of what is secret.
fn hide(filled: &Filled, secret: &[Range<usize>]) -> Vec<Bit> {
    let mut names = filled.variables.iter();
    let (mut bits, mut text, mut masked) = (Vec::new(), String::new(), false);
    for (at, c) in filled.text.char_indices() {
        let is_secret = secret.iter().any(|span| span.contains(&at));
        if c == '\0' {
            if !text.is_empty() {
                bits.push(Bit::Text(std::mem::take(&mut text)));
            }
            bits.extend(names.next().map(|name| Bit::Variable(name.clone())));
            masked = false;
        } else if !is_secret {
            text.push(c);
            masked = false;
        } else if !masked {
            text.push_str(SECRET);
            masked = true;
        }
    }
    if !text.is_empty() {
        bits.push(Bit::Text(text));
    }
    bits
}

#[cfg(test)]
mod tests;
