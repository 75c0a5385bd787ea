//! What must never be shown: userinfo, credentials in headers, and values whose key says that they are
//! secret. Errs on the side of hiding.

use std::ops::Range;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// Parts of a key that make its value secret.
const WORDS: [&str; 13] = [
    "token",
    "secret",
    "key",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "auth",
    "sig",
    "credential",
    "jwt",
    "csrf",
    "xsrf",
];

/// Short words that make it so where they stand alone in a key: `pass`, `x-pass`, `user_pin`.
const ALONE: [&str; 4] = ["pass", "pin", "otp", "sid"];

/// Headers that carry credentials whatever their name contains.
const HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Whether a header's value must never be shown.
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    HEADERS.contains(&name.as_str()) || is_secret_key(&name)
}

/// Whether the value under this key (of a query, a form, a table) must never be shown.
#[must_use]
pub fn is_secret_key(key: &str) -> bool {
    let key = percent_decoded(key).to_ascii_lowercase();
    let alone = || key.split(|c: char| !c.is_alphanumeric()).any(|part| ALONE.contains(&part));
    WORDS.iter().any(|word| key.contains(word)) || HEADERS.contains(&key.as_str()) || alone()
}

/// The URL with its userinfo and its secret query values replaced by [`MASK`].
///
/// Works on the text alone, so that it also protects what is not a valid URL.
#[must_use]
pub fn redact_url(url: &str) -> String {
    replace(url, &url_spans(url), MASK)
}

/// The secret parts of a URL, in order.
pub(super) fn url_spans(url: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<_> = userinfo(url, 0).into_iter().collect();
    let from = spans.first().map_or(0, |s| s.end);
    let query = url.get(from..).and_then(|rest| rest.find(['?', '#'])).map_or(url.len(), |at| from + at);
    spans.extend(query_values(url, query));
    spans
}

/// The text with the mask for each span. Spans are sorted by their start; those that overlap share one mask.
pub(super) fn replace(text: &str, spans: &[Range<usize>], mask: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut masked = false;
    for span in spans {
        if !masked || span.start >= at {
            out.push_str(text.get(at..span.start).unwrap_or_default());
            out.push_str(mask);
        }
        masked = true;
        at = at.max(span.end);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// The message with a value hidden in it, even where the value was cut: from its beginning to the quote
/// behind it. Values too short to be told from words are left alone.
pub(super) fn hide_value(message: &str, value: &str) -> String {
    let head: String = value.trim().chars().take(8).collect();
    if head.chars().count() < 4 {
        return message.to_owned();
    }
    let mut out = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(&head) {
        out.push_str(rest.get(..at).unwrap_or_default());
        out.push_str(MASK);
        rest = rest.get(at + head.len()..).unwrap_or_default();
        let end = rest.find(['`', '"', ')']).unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// User and password of the URL that starts at `from`. A password that was not percent-encoded may hold
/// any character: where the authority makes no sense, everything to the last `@` is taken.
fn userinfo(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    // Also `http:/me:pw@host` and `http:\\\\me:pw@host`: what is mistyped is no less secret.
    let scheme = rest.find("://").or_else(|| rest.find(":/")).or_else(|| rest.find(":\\"));
    let rest = rest.get(scheme.map_or(0, |at| at + 1)..)?.trim_start_matches(['/', '\\']);
    let start = text.len() - rest.len();
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if let Some(at) = authority.rfind('@') {
        return Some(start..start + at);
    }
    let odd_port = authority
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.starts_with('[') && !port.bytes().all(|b| b.is_ascii_digit()));
    let at = rest.rfind('@').filter(|_| odd_port)?;
    Some(start..start + at)
}

/// Values of secret keys in the query or fragment that starts at `from`.
pub(super) fn query_values(text: &str, from: usize) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = from;
    for part in text.get(from..).unwrap_or_default().split(['?', '&', '#', ';']) {
        if let Some((key, value)) = part.split_once('=')
            && is_secret_key(key)
            && !value.is_empty()
        {
            let at = start + key.len() + 1;
            spans.push(at..at + value.len());
        }
        start += part.len() + 1;
    }
    spans
}

/// Secret parts of a line of a profile, whether or not it parses.
pub(super) fn spans_in_line(line: &str, in_tls: bool) -> Vec<Range<usize>> {
    let mut spans = url_credentials(line);
    spans.extend(keyed_values(line, in_tls));
    spans.sort_by_key(|s| s.start);
    spans
}

/// Userinfo of everything on the line that looks like a URL with one: `user` and `password` on their own,
/// a variable left as it is.
fn url_credentials(line: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    for token in line.split(['"', '\'', '`']) {
        let looks = token.contains('@') && token.contains(':');
        if let Some(span) = userinfo(token, 0).filter(|_| looks) {
            let info = token.get(span.clone()).unwrap_or_default();
            let mut at = start + span.start;
            for part in split_outside_braces(info) {
                if !is_variable(part) && !part.is_empty() {
                    spans.push(at..at + part.len());
                }
                at += part.len() + 1;
            }
        }
        start += token.len() + 1;
    }
    spans
}

/// `a:b` in two, but `${A:-b}` in one.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        c == ':' && depth <= 0
    })
    .collect()
}

/// Whether the text is a single `${NAME}`, which shows nothing.
pub(super) fn is_variable(text: &str) -> bool {
    text.strip_prefix("${").and_then(|t| t.strip_suffix('}')).is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    })
}

/// Values behind secret keys: `token = "…"`, `token=…`, `"token": "…"`, `authorization = ["…"]`.
fn keyed_values(line: &str, in_tls: bool) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let tls_from = if in_tls { Some(0) } else { line.find("tls") };
    while let Some((word, end)) = next_word(line, at) {
        at = end;
        let tls = tls_from.is_some_and(|from| from <= word.start);
        let key = line.get(word.clone()).unwrap_or_default();
        if !is_secret_key(key) || (tls && key == "key") {
            continue;
        }
        if let Some(span) = value_after(line, end) {
            at = span.end.max(end);
            if !line.get(span.clone()).is_some_and(is_variable) && !span.is_empty() {
                spans.push(span);
            }
        }
    }
    spans
}

fn next_word(line: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '%');
    let rest = line.get(from..)?;
    let start = from + rest.find(in_word)?;
    let length = line.get(start..)?.find(|c| !in_word(c)).unwrap_or(line.len() - start);
    Some((start..start + length, start + length))
}

/// The value that `=` or `:` gives to the word which ends at `from`, also where the sign was forgotten before a quote.
fn value_after(line: &str, from: usize) -> Option<Range<usize>> {
    let skip = |from: usize, chars: &[char]| {
        line.get(from..).map_or(from, |rest| line.len() - rest.trim_start_matches(chars).len())
    };
    let separator = skip(from, &['"', '\'', '\\', ' ', '\t', ']']);
    let Some(sign) = line.get(separator..)?.chars().next().filter(|c| matches!(c, '=' | ':')) else {
        return unsigned(line, from..separator);
    };
    let open = skip(separator + 1, &[' ', '\t']);
    let spaced = open > separator + 1 || sign == ':';
    let rest = line.get(open..)?;
    let (start, end) = if rest.starts_with('[') {
        (open + 1, rest.rfind(']').map_or(line.len(), |at| open + at))
    } else if let Some(quote) =
        rest.trim_start_matches('\\').chars().next().filter(|c| matches!(c, '"' | '\''))
    {
        let escaped = rest.starts_with('\\');
        let start = skip(open, &['\\', quote]);
        (start, closing(line, start, quote, escaped))
    } else {
        let stops: &[char] = if spaced { &['"', '\''] } else { &['&', '#', '"', '\'', '}', ',', ';'] };
        (open, rest.find(stops).map_or(line.len(), |at| open + at))
    };
    Some(start..end.max(start))
}

/// The quoted value or the list that follows with nothing but this gap before it.
fn unsigned(line: &str, gap: Range<usize>) -> Option<Range<usize>> {
    let (start, between) = (gap.end, line.get(gap)?);
    if !between.contains([' ', '\t']) {
        return None;
    }
    if let Some(list) = line.get(start..)?.strip_prefix('[') {
        let start = start + 1;
        return Some(start..list.rfind(']').map_or(line.len(), |at| start + at));
    }
    let quote = between.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    Some(start..closing(line, start, quote, false))
}

/// Where the quoted text that starts at `start` ends.
fn closing(line: &str, start: usize, quote: char, escaped: bool) -> usize {
    let mut backslash = false;
    for (at, c) in line.get(start..).unwrap_or_default().char_indices() {
        match c {
            '\\' => backslash = !backslash || quote == '\'',
            c if c == quote && (backslash == escaped || quote == '\'') => {
                return start + at - usize::from(escaped && backslash);
            }
            _ => backslash = false,
        }
    }
    line.len()
}

/// `%74oken` is `token` to the server.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let code = code.filter(|_| byte == b'%');
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_are_secret_where_they_stand_alone() {
        for secret in ["pass", "x-pass", "user_pin", "PIN", "otp", "sid", "connect.sid", "pwd", "db%5Fpass"] {
            assert!(is_secret_key(secret), "{secret}");
        }
        for open in ["passenger", "compass", "spin", "pinned", "side", "sku", "page"] {
            assert!(!is_secret_key(open), "{open}");
        }
        let shown = redact_url("https://a.example/?pwd=hunter2x&pass=hunter2x&page=2");
        assert_eq!(shown, format!("https://a.example/?pwd={MASK}&pass={MASK}&page=2"));
    }

    #[test]
    fn urls_lose_credentials_and_secret_values() {
        let cases = [
            ("https://a.example/x?q=1", "https://a.example/x?q=1"),
            ("https://me:pw@a.example/", "https://***@a.example/"),
            ("https://a.example/@me?at=b@c", "https://a.example/@me?at=b@c"),
            ("https://a/?Token=abc&q=1&api_KEY=x#sig=y", "https://a/?Token=***&q=1&api_KEY=***#sig=***"),
            ("https://a/?%74oken=abc", "https://a/?%74oken=***"),
            ("https://me:p/w?x@a.example/", "https://***@a.example/"),
            ("me:pw@a.example", "***@a.example"),
            ("http:/me:pw@a.example", "http:/***@a.example"),
            ("https://[::1]:80/@x", "https://[::1]:80/@x"),
            ("", ""),
        ];
        for (url, shown) in cases {
            assert_eq!(redact_url(url), shown, "{url}");
        }
    }

    #[test]
    fn headers_with_credentials_are_known() {
        for name in ["Authorization", "COOKIE", "Set-Cookie", "Proxy-Authorization", "X-Api-Key", "x-token"] {
            assert!(is_secret_header(name), "{name}");
        }
        assert!(!is_secret_header("accept"));
    }

    #[test]
    fn lines_are_masked_even_where_they_do_not_parse() {
        let cases = [
            (r#"url = "https://me:pw@h/?token=abc&q=1""#, r#"url = "https://***:***@h/?token=***&q=1""#),
            (r#"url = "https://me:${PW}@h/""#, r#"url = "https://***:${PW}@h/""#),
            (r#"url = "https://${U}:${P:-pw}@h/""#, r#"url = "https://${U}:***@h/""#),
            (
                r#"headers = { Authorization = "Bearer abc", b = "c" }"#,
                r#"headers = { Authorization = "***", b = "c" }"#,
            ),
            (r#"cookie = ["a=b", "c=d"]"#, "cookie = [***]"),
            ("x-api-key = abc def", "x-api-key = ***"),
            (r#""x-api-key" = 'abc"#, r#""x-api-key" = '***"#),
            (
                r#"body = "{\"password\": \"p w\", \"a\": 1}""#,
                r#"body = "{\"password\": \"***\", \"a\": 1}""#,
            ),
            (r#"body = "user=me&password=pw&x=1""#, r#"body = "user=me&password=***&x=1""#),
            ("Authorization: Bearer a,b", "Authorization: ***"),
            (r#"authorization "Bearer abc", a = 1"#, r#"authorization "***", a = 1"#),
            (r#"cookie ["a=b", "c"] # d"#, "cookie [***] # d"),
            (r#""x-api-key"  'abc' # d"#, r#""x-api-key"  '***' # d"#),
            (r#"tls = { cert = "me.pem", key = "me.key" }"#, r#"tls = { cert = "me.pem", key = "me.key" }"#),
            (r#"authorization = "${TOKEN}""#, r#"authorization = "${TOKEN}""#),
            (r#"budget = "200ms""#, r#"budget = "200ms""#),
        ];
        for (line, shown) in cases {
            assert_eq!(replace(line, &spans_in_line(line, false), MASK), shown, "{line}");
        }
        assert!(spans_in_line(r#"key = "me.key""#, true).is_empty());
    }
}
