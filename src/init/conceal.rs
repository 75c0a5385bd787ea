//! Where secrets stand in what is sent: in URLs, headers and bodies. Each is put into the vault where it was found, so
//! that what is around it stays as it was. Errs on the side of hiding.

use super::json;
use super::vault::{Vault, filled};
use crate::profile::redact::secret_spans;
use crate::profile::secrets::is_secret_header;
use percent_encoding::percent_decode_str;
use serde::de::IgnoredAny;
use std::ops::Range;
use url::Url;

/// A part of a key that makes its value secret, beyond those that are never shown.
const WORD: &str = "session";

/// How well-known tokens begin, whatever the key before them.
const TOKENS: [&str; 10] =
    ["ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sk-", "sk_live_", "AKIA", "AIza"];

/// Shortest of such tokens.
const SHORTEST_TOKEN: usize = 16;

/// Shortest text that can look drawn at random.
const SHORTEST_RANDOM: usize = 24;

/// A URL without its fragment, which is never sent.
pub(super) fn url(vault: &mut Vault, url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let mut out = format!("{scheme}://");
    let host = match authority.rsplit_once('@') {
        Some((info, host)) => {
            let (user, password) = info.split_once(':').unwrap_or((info, ""));
            out += &vault.keep("auth user", user);
            if !password.is_empty() {
                out.push(':');
                out += &vault.keep("auth password", password);
            }
            out.push('@');
            host
        }
        None => authority,
    };
    out += host;
    for (i, segment) in path.split('/').enumerate() {
        out += if i > 0 { "/" } else { "" };
        out += &pairs(vault, segment, ';', None);
    }
    if let Some(query) = query {
        out.push('?');
        out += &pairs(vault, query, '&', None);
    }
    out
}

/// Pairs of keys and values, as in a query or a form. `bare` names what is put away for having no key.
pub(super) fn pairs(vault: &mut Vault, text: &str, between: char, bare: Option<&str>) -> String {
    let parts: Vec<String> = text.split(between).map(|part| pair(vault, part, bare)).collect();
    parts.join(between.encode_utf8(&mut [0; 4]))
}

fn pair(vault: &mut Vault, part: &str, bare: Option<&str>) -> String {
    // What ends in `=` and has no other is more likely to be base64 than a key.
    let value = part.split_once('=').filter(|(_, value)| bare.is_none() || value.bytes().any(|b| b != b'='));
    match (value, bare) {
        (Some((key, value)), _) if is_secret(key, value) => {
            format!("{key}={}", vault.keep(&decoded(key), value))
        }
        (None, None) if is_token(&decoded(part)) => vault.keep("token", part),
        (None, Some(name)) if part.bytes().any(|b| b != b'=') => vault.keep(name, part),
        _ => part.to_owned(),
    }
}

/// Whether a value is secret for its key, for how it looks, or for what it holds.
fn is_secret(key: &str, value: &str) -> bool {
    let plain = decoded(value);
    is_secret_key(&decoded(key)) || is_token(&plain) || is_random(value) || !secret_spans(&plain).is_empty()
}

fn is_secret_key(key: &str) -> bool {
    is_secret_header(key) || key.to_ascii_lowercase().contains(WORD)
}

/// Whether a text is a token by its look: a JWT, one that says whose it is, or one that only a machine could make.
fn is_token(text: &str) -> bool {
    let known = TOKENS.iter().any(|start| text.starts_with(start)) || text.starts_with("eyJ");
    let scheme =
        ["bearer ", "basic "].iter().any(|s| text.get(..s.len()).is_some_and(|t| t.eq_ignore_ascii_case(s)));
    scheme || known && text.len() >= SHORTEST_TOKEN || is_random(text)
}

/// Whether a text looks drawn at random: long, of letters in both cases and digits, and no word of several parts.
fn is_random(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    text.len() >= SHORTEST_RANDOM
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_+/=:".contains(&b))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().replace('+', " ")
}

/// A header's value.
pub(super) fn header(vault: &mut Vault, name: &str, value: &str) -> String {
    let folded = name.to_ascii_lowercase();
    if folded == "cookie" && filled(value) != value {
        // With variables in it already, its names stay what they are.
        let cookie = |cookie: &str| match cookie.split_once('=') {
            Some((name, value)) => format!("{name}={}", vault.keep("cookie", value)),
            None => vault.keep("cookie", cookie),
        };
        return value.split(';').map(cookie).collect::<Vec<_>>().join(";");
    }
    if is_secret_key(name) || is_token(value) {
        return match value.split_once(' ') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => {
                format!("{scheme} {}", vault.keep("bearer token", rest))
            }
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("basic") => {
                format!("{scheme} {}", vault.keep("basic auth", rest))
            }
            _ => vault.keep(&folded, value),
        };
    }
    if folded == "user-agent" && !is_product(value) {
        return vault.keep("user agent", value);
    }
    if value.starts_with("http") && Url::parse(&filled(value)).is_ok_and(|url| url.has_host()) {
        return url(vault, value);
    }
    text(vault, &folded, value)
}

/// Whether a text begins as the name of a program does: `Mozilla/5.0 (…)`.
fn is_product(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    first.split_once('/').is_some_and(|(name, version)| {
        name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-')
            && version.starts_with(|c: char| c.is_ascii_digit())
            && version.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// A text of whatever shape, such as a header's value or a string in JSON.
fn text(vault: &mut Vault, name: &str, text: &str) -> String {
    let spans = secret_spans(text);
    let plain = decoded(text);
    if is_token(text) || spans.is_empty() && plain != text && !secret_spans(&plain).is_empty() {
        return vault.keep(name, text);
    }
    let found = spans.into_iter().map(|span| (key_before(text, span.start), span)).collect();
    replaced(vault, text, found)
}

/// The text with what stands in these places put away. Places that overlap are one.
fn replaced(vault: &mut Vault, text: &str, found: Vec<(String, Range<usize>)>) -> String {
    let mut merged: Vec<(String, Range<usize>)> = Vec::new();
    for (key, span) in found {
        match merged.last_mut() {
            Some((_, last)) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push((key, span)),
        }
    }
    let mut out = String::new();
    let mut at = 0;
    for (key, span) in merged {
        // What closes a quotation around it is not its own.
        let secret = text.get(span.clone()).unwrap_or_default().trim_end_matches(['>', '"', '\'', ')', ' ']);
        let span = span.start..span.start + secret.len();
        out += text.get(at..span.start).unwrap_or_default();
        out += &vault.keep(&key, secret);
        at = span.end;
    }
    out + text.get(at..).unwrap_or_default()
}

/// The key to which the value at this place belongs.
fn key_before(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    if before.ends_with("://") {
        return "auth".to_owned();
    }
    let before = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let start = before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
    before.get(start.map_or(0, |at| at + 1)..).unwrap_or_default().to_owned()
}

/// A body. One that is neither JSON nor a form can't be told from a secret and is put away whole.
pub(super) fn body(vault: &mut Vault, kind: Option<&str>, body: &str) -> String {
    if is_json(body) {
        return json_body(vault, body);
    }
    let form = kind.is_none_or(|kind| kind.to_ascii_lowercase().contains("form-urlencoded"));
    if form && !body.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return pairs(vault, body, '&', Some("body secret"));
    }
    vault.keep("body secret", body)
}

fn is_json(body: &str) -> bool {
    body.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(&filled(body)).is_ok()
}

fn json_body(vault: &mut Vault, body: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for scalar in json::scalars(body) {
        let written = body.get(scalar.span.clone()).unwrap_or_default();
        out += body.get(at..scalar.span.start).unwrap_or_default();
        at = scalar.span.end;
        let secret = scalar.keys.iter().rev().find(|key| is_secret_key(key));
        out += &match secret {
            Some(_) if matches!(written, "true" | "false" | "null") => written.to_owned(),
            Some(key) => vault.keep(key, written),
            None if scalar.quoted => string(vault, scalar.keys.last().map_or("body", |key| key), written),
            None => written.to_owned(),
        };
    }
    out + body.get(at..).unwrap_or_default()
}

/// A string within JSON, which may hold JSON of its own.
fn string(vault: &mut Vault, name: &str, written: &str) -> String {
    let inner: String = serde_json::from_str(&format!("\"{written}\"")).unwrap_or_default();
    if !is_json(&inner) {
        return text(vault, name, written);
    }
    let quoted = serde_json::Value::from(json_body(vault, &inner)).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> String {
        let mut vault = Vault::default();
        let hidden = url(&mut vault, text);
        vault.spelled(&hidden)
    }

    fn headers(name: &str, value: &str) -> String {
        let mut vault = Vault::default();
        let hidden = header(&mut vault, name, value);
        vault.spelled(&hidden)
    }

    fn bodies(kind: &str, text: &str) -> String {
        let mut vault = Vault::default();
        let hidden = body(&mut vault, Some(kind).filter(|kind| !kind.is_empty()), text);
        vault.spelled(&hidden)
    }

    #[test]
    fn secrets_of_a_url_become_variables_and_the_rest_stays_as_it_is() {
        for (given, hidden) in [
            ("https://h/a%2Fb?q=1&n", "https://h/a%2Fb?q=1&n"),
            ("https://me:pw@h:1/x", "https://${AUTH_USER}:${AUTH_PASSWORD}@h:1/x"),
            ("https://me@h", "https://${AUTH_USER}@h"),
            ("https://h/?a=1&api_key=abc/d;e&b=2", "https://h/?a=1&api_key=${API_KEY}&b=2"),
            ("https://h/?%74oken=abc", "https://h/?%74oken=${TOKEN}"),
            ("https://h/a;token=abc;b=1/c", "https://h/a;token=${TOKEN};b=1/c"),
            ("https://h/?jsessionid=abc", "https://h/?jsessionid=${JSESSIONID_SECRET}"),
            ("https://h/?next=https%3A%2F%2Fi%2F%3Ftoken%3Dabc&a", "https://h/?next=${NEXT_SECRET}&a"),
            ("https://h/?u=eyJhbGciOiJI.eyJzdWIi.c2ln", "https://h/?u=${U_SECRET}"),
            ("https://h/bot12345:AAbbCCdd11-22eeFFgg33/me", "https://h/${TOKEN}/me"),
            (
                "https://h/0192f3a4-5b6c-7d8e-9f00-112233445566",
                "https://h/0192f3a4-5b6c-7d8e-9f00-112233445566",
            ),
            ("https://h/?code=Zz0Yy1Xx2Ww3Vv4Uu5Tt6Ss7", "https://h/?code=${CODE_SECRET}"),
            ("https://h/#access_token=abc", "https://h/"),
            ("https://h/?price=5$", "https://h/?price=5$$"),
        ] {
            assert_eq!(urls(given), hidden, "{given}");
        }
    }

    #[test]
    fn headers_with_credentials_become_variables() {
        for (name, value, hidden) in [
            ("Authorization", "Bearer abc", "Bearer ${BEARER_TOKEN}"),
            ("authorization", "basic YTpi", "basic ${BASIC_AUTH}"),
            ("authorization", "AWS4 Credential=a, Signature=b", "${AUTHORIZATION}"),
            ("Cookie", "a=b; c=d", "${COOKIE}"),
            ("X-Api-Key", "abc", "${X_API_KEY}"),
            ("X-Csrf", "abc", "${X_CSRF}"),
            ("X-Any", "ghp_0123456789abcdef", "${X_ANY_SECRET}"),
            (
                "Referer",
                "https://me:pw@h/?token=abc&a=1",
                "https://${AUTH_USER}:${AUTH_PASSWORD}@h/?token=${TOKEN}&a=1",
            ),
            ("Referer", "https://me:p/w@h/", "https://${AUTH}@h/"),
            ("Link", "<https://h/?sig=abc>; rel=a", "<https://h/?sig=${SIG}>; rel=a"),
            ("X-Back", "a https%3A%2F%2Fh%2F%3Ftoken%3Dabc", "${X_BACK_SECRET}"),
            ("User-Agent", "Mozilla/5.0 (X11) Gecko", "Mozilla/5.0 (X11) Gecko"),
            ("User-Agent", "YWJj/ZGVm", "${USER_AGENT_SECRET}"),
            ("Accept", "text/html, */*;q=0.8", "text/html, */*;q=0.8"),
        ] {
            assert_eq!(headers(name, value), hidden, "{name}: {value}");
        }
    }

    #[test]
    fn fields_of_bodies_become_variables_and_json_stays_json() {
        for (kind, given, hidden) in [
            ("", "user=me&password=p%26w&a=1", "user=me&password=${PASSWORD}&a=1"),
            ("", "abcdef", "${BODY_SECRET}"),
            ("", "a=1&abcdef==", "a=1&${BODY_SECRET}"),
            ("text/plain", "a=1", "${BODY_SECRET}"),
            ("", "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb", "${BODY_SECRET}"),
            (
                "application/json",
                r#"{"a": 1, "token" : "x\"y", "b": [true]}"#,
                r#"{"a": 1, "token" : "${TOKEN}", "b": [true]}"#,
            ),
            (
                "",
                r#"{"secret":{"a":"b","c":[1,null]},"d":"e"}"#,
                r#"{"secret":{"a":"${SECRET}","c":[${SECRET_2},null]},"d":"e"}"#,
            ),
            ("", r#"{"t\u006fken":"abc"}"#, r#"{"t\u006fken":"${TOKEN}"}"#),
            ("", r#"{"inner":"{\"password\":\"abc\"}"}"#, r#"{"inner":"{\"password\":\"${PASSWORD}\"}"}"#),
            ("", r#"{"u":"https://h/?token=abc"}"#, r#"{"u":"https://h/?token=${TOKEN}"}"#),
            ("application/json", "{broken", "${BODY_SECRET}"),
        ] {
            assert_eq!(bodies(kind, given), hidden, "{given}");
        }
    }
}
