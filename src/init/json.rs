//! The scalars of a JSON text with the keys above them, each with its place: so that one can be replaced and all else
//! stays as it was written.

use std::ops::Range;

/// A string without its quotes, a number or a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Keys on the way to it, the outermost first.
    pub(super) keys: Vec<String>,
    pub(super) span: Range<usize>,
    pub(super) quoted: bool,
}

/// All scalars of a text that is JSON, in order. Of other texts it finds what it can.
pub(super) fn scalars(text: &str) -> Vec<Scalar> {
    let mut found = Vec::new();
    // For each level the key that is open there; none in a list.
    let mut keys: Vec<Option<String>> = Vec::new();
    let mut at = 0;
    let mut key_next = false;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let start = at;
        at += c.len_utf8();
        match c {
            '{' | '[' => {
                keys.push(None);
                key_next = c == '{';
            }
            '}' | ']' => {
                keys.pop();
                key_next = false;
            }
            ',' => key_next = keys.last().is_some_and(Option::is_some),
            '"' => {
                at = string_end(text, at);
                let span = start + 1..at;
                at = (at + 1).min(text.len());
                if key_next {
                    key_next = false;
                    if let Some(open) = keys.last_mut() {
                        *open = Some(unescaped(text.get(start..at).unwrap_or_default()));
                    }
                } else {
                    found.push(Scalar { keys: keys.iter().flatten().cloned().collect(), span, quoted: true });
                }
            }
            c if c == ':' || c.is_whitespace() => {}
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']');
                let rest = text.get(start..).unwrap_or_default();
                at = start + rest.find(ends).unwrap_or(rest.len());
                let keys = keys.iter().flatten().cloned().collect();
                found.push(Scalar { keys, span: start..at, quoted: false });
            }
        }
    }
    found
}

/// Where the string that begins here has its closing quote.
fn string_end(text: &str, start: usize) -> usize {
    let mut escaped = false;
    let end = text.get(start..).unwrap_or_default().find(|c| {
        let here = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        here
    });
    end.map_or(text.len(), |end| start + end)
}

fn unescaped(quoted: &str) -> String {
    serde_json::from_str(quoted).unwrap_or_else(|_| quoted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_is_found_with_its_keys() {
        let text = r#"{"a":{"b":"x\"y","c":[1,{"d":null}]}, "e":true, "f":[], "g":"é"}"#;
        let found: Vec<(String, &str)> =
            scalars(text).iter().map(|s| (s.keys.join("."), &text[s.span.clone()])).collect();
        let want = [("a.b", "x\\\"y"), ("a.c", "1"), ("a.c.d", "null"), ("e", "true"), ("g", "é")];
        assert_eq!(found, want.map(|(keys, value)| (keys.to_owned(), value)));
    }

    #[test]
    fn what_is_no_json_does_no_harm() {
        for text in ["", "{", "\"", "{\"a", "{\"a\":\"", "]]}", "[,\\", "{\"a\":\"\\"] {
            scalars(text);
        }
    }
}
