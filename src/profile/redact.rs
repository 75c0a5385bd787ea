//! Text that an upstream sent, without the secrets that it was sent or that stand in its URLs. Knows only text.

use super::secrets::{is_secret_key, query_values, replace, spans_in_line, url_spans};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::ops::Range;

/// What stands in the place of a secret within text that is shown as it came.
pub const REDACTED: &str = "<redacted>";

/// Shorter values can't be told from words.
const SHORTEST: usize = 4;

/// What a query leaves as it is.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The text with [`REDACTED`] for each known secret of at least 4 bytes, also where it is escaped for HTML, JSON
/// or a URL, for userinfo and values of secret keys in its URLs, and for values behind secret keys, as in
/// `"token": "…"`. `cut` says that the text may end within a
/// secret: then what it begins with is hidden too.
#[must_use]
pub fn redact(text: &str, known: &[String], cut: bool) -> String {
    let mut spans = spans(text);
    for secret in known.iter().filter(|s| s.len() >= SHORTEST) {
        for secret in spellings(secret) {
            spans.extend(text.match_indices(&secret).map(|(at, found)| at..at + found.len()));
            spans.extend(beginning_at_end(text, &secret).filter(|_| cut));
        }
    }
    spans.sort_by_key(|span| span.start);
    replace(text, &spans, REDACTED)
}

/// Userinfo and values of secret keys in the URLs of a text, and values behind secret keys in its JSON.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = spans_in_urls(text);
    spans.extend(spans_in_json(text));
    spans
}

/// Userinfo and values of secret keys in the URLs of a text.
pub fn secrets_in_urls(text: &str) -> impl Iterator<Item = &str> {
    spans_in_urls(text).into_iter().filter_map(|span| text.get(span))
}

/// Values of secret keys in a text of keys and values: a form, JSON.
pub fn secrets_in_values(text: &str) -> impl Iterator<Item = &str> {
    spans_in_line(text, false).into_iter().filter_map(|span| text.get(span))
}

/// Where the secrets of a text stand: userinfo and values of secret keys in its URLs, in JSON, in a form and in whatever
/// else has keys and values. In order; they may overlap.
#[must_use]
pub fn secret_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = spans_in_urls(text);
    spans.extend(spans_in_json(text));
    spans.extend(spans_in_line(text, false));
    spans.sort_by_key(|span| span.start);
    spans
}

fn spans_in_urls(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')');
    for word in text.split_inclusive(ends) {
        let url = word.trim_end_matches(ends);
        let found = match url.find('?') {
            _ if url.contains("://") => url_spans(url),
            Some(query) => query_values(url, query),
            None => Vec::new(),
        };
        spans.extend(found.into_iter().map(|span| start + span.start..start + span.end));
        start += word.len();
    }
    spans
}

/// Values behind secret keys in JSON, or in what looks like it: `"token": "…"`, `"api_key":17`.
fn spans_in_json(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for (open, _) in text.match_indices('"') {
        let Some((key, rest)) = text.get(open + 1..).and_then(|rest| rest.split_once('"')) else { break };
        let Some(value) = rest.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
        if !is_secret_key(key) {
            continue;
        }
        let (value, ends): (&str, fn(char) -> bool) = match value.strip_prefix('"') {
            Some(quoted) => (quoted, |c| c == '"'),
            None => (value, |c| c.is_whitespace() || matches!(c, ',' | '}' | ']')),
        };
        let mut escaped = false;
        let length = value.find(|c| {
            let here = !escaped && ends(c);
            escaped = c == '\\' && !escaped;
            here
        });
        let start = text.len() - value.len();
        let span = start..start + length.unwrap_or(value.len());
        spans.extend(Some(span).filter(|span| !span.is_empty()));
    }
    spans
}

/// The secret as it is and as it looks when it is escaped.
fn spellings(secret: &str) -> Vec<String> {
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let json = serde_json::Value::from(secret).to_string();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let slashes = json.replace('/', "\\/");
    let mut all = vec![secret.to_owned(), html, json, slashes];
    all.push(utf8_percent_encode(secret, UNRESERVED).to_string());
    all.dedup();
    all
}

/// The end of the text, where it is the beginning of the secret.
fn beginning_at_end(text: &str, secret: &str) -> Option<Range<usize>> {
    let lengths = (SHORTEST..secret.len()).rev();
    let found = lengths.filter_map(|n| secret.get(..n)).find(|beginning| text.ends_with(beginning))?;
    Some(text.len() - found.len()..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str, known: &[&str], cut: bool) -> String {
        redact(text, &known.iter().map(|&s| s.to_owned()).collect::<Vec<_>>(), cut)
    }

    #[test]
    fn known_secrets_go_also_where_they_touch_overlap_or_are_escaped() {
        assert_eq!(hidden("hunter2hunter2, hunter", &["hunter2"], false), "<redacted><redacted>, hunter");
        assert_eq!(hidden("Bearer abcdef", &["abcdef", "Bearer abcdef"], false), "<redacted>");
        assert_eq!(hidden("redacted? abc", &["redacted", "abc"], false), "<redacted>? abc");
        let odd = "a&b\"c/d e";
        for written in [odd, "a&amp;b&quot;c/d e", r#"a&b\"c/d e"#, r#"a&b\"c\/d e"#, "a%26b%22c%2Fd%20e"] {
            assert_eq!(hidden(&format!("<{written}>"), &[odd], false), "<<redacted>>", "{written}");
        }
    }

    #[test]
    fn a_text_that_ends_within_a_secret_hides_its_beginning() {
        assert_eq!(hidden("you sent hunt", &["hunter2"], true), "you sent <redacted>");
        assert_eq!(hidden("you sent hunt", &["hunter2"], false), "you sent hunt");
        assert_eq!(hidden("you sent hun", &["hunter2"], true), "you sent hun");
        assert_eq!(hidden("caf", &["café au lait"], true), "caf");
        assert_eq!(hidden("", &["hunter2", ""], true), "");
    }

    #[test]
    fn urls_lose_their_secrets_wherever_they_stand() {
        let cases = [
            ("/login?token=abc&to=/a@b", "/login?token=<redacted>&to=/a@b"),
            ("<https://h/?sig=x>; rel=next", "<https://h/?sig=<redacted>>; rel=next"),
            (
                "<a href=\"/cb?a=1&amp;token=x\">me@h.example</a>",
                "<a href=\"/cb?a=1&amp;token=<redacted>\">me@h.example</a>",
            ),
            ("see http://me:pw@h/x", "see http://<redacted>@h/x"),
            (r#"{"user":"me","password":"p\"w","n":1}"#, r#"{"user":"me","password":"<redacted>","n":1}"#),
            (r#"{"api_key" : 17, "token": "cut of"#, r#"{"api_key" : <redacted>, "token": "<redacted>"#),
            (r#"{"tokens":null,"token":""}"#, r#"{"tokens":<redacted>,"token":""}"#),
            ("0;url=https://h/?a=b", "0;url=https://h/?a=b"),
            ("", ""),
        ];
        for (text, shown) in cases {
            assert_eq!(hidden(text, &[], false), shown);
        }
        let text = "https://me:pw@h/?token=abc /x?key=d";
        assert_eq!(secrets_in_urls(text).collect::<Vec<_>>(), ["me:pw", "abc", "d"]);
        assert_eq!(secrets_in_values("user=me&password=pw&x=1").collect::<Vec<_>>(), ["pw"]);
    }
}
