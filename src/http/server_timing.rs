//! The `Server-Timing` of an answer, from its head and from what came behind its body (W3C Server Timing, with
//! RFC 9110's tokens and quoted strings).
//!
//! As in browsers what can't be read is left out and the rest kept: a server's metrics are a help, never a fault.

use crate::domain::ServerTiming;
use crate::profile::redact::redact;
use reqwest::header::{HeaderMap, HeaderValue};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "server-timing";

/// The metrics in the order in which they came, without what `secrets` gives: an upstream may send back what it
/// was sent.
pub(super) fn read<'a>(
    parts: impl IntoIterator<Item = &'a HeaderMap>,
    secrets: impl FnOnce() -> Vec<String>,
) -> Arc<[ServerTiming]> {
    let values: Vec<&HeaderValue> = parts.into_iter().flat_map(|headers| headers.get_all(NAME)).collect();
    if values.is_empty() {
        return Arc::default();
    }
    let secrets = secrets();
    let safe = |text: &str| redact(text, &secrets, false);
    let texts: Vec<Cow<'_, str>> = values.iter().map(|v| String::from_utf8_lossy(v.as_bytes())).collect();
    let found = texts.iter().flat_map(|text| split(text, ',')).filter_map(|metric| {
        let mut parts = split(metric, ';');
        let name = token(parts.next()?);
        let (mut took, mut description) = (None, None);
        for part in parts {
            let Some((key, value)) = part.split_once('=') else { continue };
            // Of equal keys the first holds.
            match key.trim().to_ascii_lowercase().as_str() {
                "dur" if took.is_none() => took = Some(text_of(value)),
                "desc" if description.is_none() => description = Some(text_of(value)),
                _ => {}
            }
        }
        let took = took.flatten().and_then(|text| millis(&text));
        let description = description.flatten().map(|text| safe(&text));
        ServerTiming::new(&safe(name), took, description.as_deref())
    });
    found.take(ServerTiming::MOST).collect()
}

/// A number of milliseconds, where it can be a time.
fn millis(text: &str) -> Option<Duration> {
    text.parse::<f64>().ok().and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok())
}

/// The parts between separators that stand outside quotes.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = text.char_indices().find(|&(_, c)| {
            let literal = std::mem::take(&mut escaped);
            escaped = quoted && c == '\\' && !literal;
            quoted ^= c == '"' && !literal;
            c == separator && !quoted
        });
        rest = end.and_then(|(at, _)| text.get(at + separator.len_utf8()..));
        text.get(..end.map_or(text.len(), |(at, _)| at))
    })
}

/// The token that a text begins with, which may be empty.
fn token(text: &str) -> &str {
    let text = text.trim_start();
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    text.get(..text.find(|c| !is_token(c)).unwrap_or(text.len())).unwrap_or_default()
}

/// A parameter's value, a token or a quoted string; `None` where the quotes don't end.
fn text_of(value: &str) -> Option<String> {
    let value = value.trim_start();
    let Some(quoted) = value.strip_prefix('"') else { return Some(token(value).to_owned()) };
    let mut text = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `name`, `name 1.5 ms`, `name (words)`, of the metrics of these headers.
    fn seen(values: &[&[u8]], secrets: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(NAME, HeaderValue::from_bytes(value).unwrap());
        }
        let found = read([&headers], || secrets.iter().map(|&s| s.to_owned()).collect());
        let words = |metric: &ServerTiming| {
            let took = metric.took.map(|t| format!(" {} ms", crate::domain::numbers::millis(t)));
            let words = metric.description.as_ref().map(|d| format!(" ({d})"));
            format!("{}{}{}", metric.name, took.unwrap_or_default(), words.unwrap_or_default())
        };
        found.iter().map(words).collect()
    }

    fn of(value: &str) -> Vec<String> {
        seen(&[value.as_bytes()], &[])
    }

    #[test]
    fn metrics_have_a_name_a_time_and_words() {
        assert_eq!(of("miss, db;dur=53, app;dur=47.2"), ["miss", "db 53 ms", "app 47.2 ms"]);
        assert_eq!(
            of("cache;desc=\"Cache Read\";dur=23.2 , cdn ; DUR = \"1.5\" ; Desc=edge"),
            ["cache 23.2 ms (Cache Read)", "cdn 1.5 ms (edge)"]
        );
        assert_eq!(seen(&[b"a;dur=1", b"", b"b"], &[]), ["a 1 ms", "b"]);
        assert_eq!(of("a;dur=1;dur=2;desc=x;desc=y;other=z"), ["a 1 ms (x)"]);
        assert_eq!(of("a;dur=0, b;dur=1e3, c;dur=.5"), ["a 0 ms", "b 1000 ms", "c 0.5 ms"]);
    }

    #[test]
    fn quotes_hide_separators_and_escapes_are_undone() {
        assert_eq!(of(r#"a;desc="x, y; z=\"1\" \\ ";dur=2, b"#), [r#"a 2 ms (x, y; z="1" \)"#, "b"]);
        // Without an end they take what is left, and are no words.
        assert_eq!(of(r#"a;dur=1;desc="open, b;dur=2"#), ["a 1 ms"]);
        assert_eq!(of(r#"a;desc="open\"#), ["a"]);
    }

    #[test]
    fn rubbish_is_left_out() {
        for nothing in ["", ",", ";;dur=,=x", "=", "\"a\";dur=1", ";dur=5", " , ,", "ä;dur=1"] {
            assert_eq!(of(nothing), [""; 0], "{nothing}");
        }
        for no_time in ["NaN", "-5", "1e999", "inf", "", "x", "\"\"", "86400001", "0x10"] {
            assert_eq!(of(&format!("a;dur={no_time}")).first().map(String::as_str), Some("a"), "{no_time}");
        }
        assert_eq!(of("a b c;dur=1;;=;desc"), ["a 1 ms"]);
        assert_eq!(of("a;desc=\"\""), ["a"]);
    }

    #[test]
    fn it_is_bounded_and_safe_to_show() {
        let many: Vec<String> = (0..100).map(|i| format!("m{i};dur={i}")).collect();
        assert_eq!(of(&many.join(",")).len(), ServerTiming::MOST);
        let long = of(&format!("{};desc=\"{}\"", "n".repeat(1000), "d".repeat(1000)));
        assert_eq!(long[0].len(), ServerTiming::MAX_NAME + ServerTiming::MAX_DESCRIPTION + " ()".len());
        let hostile = seen(&[b"a;desc=\"x\t\xffy\xe2\x80\xaez\xc2\x9b2J\""], &[]);
        assert_eq!(hostile, ["a (x \u{fffd}yz 2J)"]);
        // What was sent may come back, escaped or as a name, and where it is cut.
        let echoed = seen(
            &[b"hunter2;desc=\"hun\\ter2\"", &[b"a;desc=", [b'x'; 92].as_slice(), b"hunter2"].concat()],
            &["hunter2"],
        );
        assert!(echoed.iter().all(|m| !m.contains("hunt")), "{echoed:?}");
    }

    proptest! {
        #[test]
        fn any_header_gives_at_most_so_many_and_no_control_characters(value in "[ -~]{0,200}") {
            for metric in of(&value) {
                prop_assert!(!metric.is_empty() && !metric.contains(char::is_control));
            }
        }
    }
}
