//! What an attempt leaves to look at: the trace it was sent under, and the answer that made it fail.

use super::text::{clean, cut};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The trace id of a W3C trace context: 16 bytes, not all of them zero. Shown as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

impl TraceId {
    /// The trace id of a `traceparent` header; `None` where that is none by the W3C recommendation.
    #[must_use]
    pub fn of_traceparent(header: &str) -> Option<Self> {
        let mut fields = header.trim().split('-');
        let (version, trace, parent, flags) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let hex = |text: &str, digits: usize| {
            text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        // Versions after 00 may append fields; ff is not a version.
        let extended = fields.next().is_some();
        let shaped = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
        if !shaped || version == "ff" || (version == "00" && extended) {
            return None;
        }
        Self::of_hex(trace)
    }

    /// The id with these 32 hexadecimal digits.
    #[must_use]
    pub fn of_hex(digits: &str) -> Option<Self> {
        let all = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        u128::from_str_radix(digits, 16).ok().filter(|_| all).and_then(Self::of_bits)
    }

    /// The id with these bits, the first digit's first.
    #[must_use]
    pub const fn of_bits(bits: u128) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits.to_be_bytes())) }
    }
}

impl Serialize for TraceId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let digits = Cow::<'de, str>::deserialize(from)?;
        Self::of_hex(&digits)
            .ok_or_else(|| D::Error::custom("a trace id has 32 hexadecimal digits, not all 0"))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// An answer that was not accepted, safe to show as it is: without secrets, with control characters made
/// visible (`\x1b`), bytes that are no UTF-8 replaced.
///
/// Rounds are kept by the hundred, so it is bounded: at most [`Answer::MAX_HEADERS`] headers, names and values
/// cut, and the first [`Answer::MAX_BODY`] bytes of the body. An ordinary error page costs 1 to 3 kB, the most
/// that fits into the bounds 20 kB (32 full headers, and a body of control characters only). Equal pages that
/// follow each other share one body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Version, status and its usual words: `HTTP/1.1 503 Service Unavailable`.
    pub status_line: String,
    /// Names, lower case, and values in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// How many more headers there were.
    pub headers_left_off: usize,
    /// The beginning of the body after decoding. `\n` is the only control character in it and ends a line.
    pub body: Arc<str>,
    /// Whether the body had more than is kept, was broken off, or was not read at all.
    pub body_truncated: bool,
}

impl Answer {
    /// Most headers that are kept.
    pub const MAX_HEADERS: usize = 32;
    /// Most bytes of a header's name that are kept.
    pub const MAX_NAME: usize = 64;
    /// Most bytes of a header's value that are kept.
    pub const MAX_VALUE: usize = 256;
    /// Most bytes of a body that are kept, as they were received.
    pub const MAX_BODY: usize = 2048;
}

/// A metric of a `Server-Timing` header: what a server says of its own time, safe to show like [`Answer`].
///
/// Every answer may have some, so they are bounded: at most [`ServerTiming::MOST`] of an answer, names and
/// descriptions cut; 3 kB where all bounds are met, mostly 100 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTiming {
    /// Its name, never empty.
    pub name: Box<str>,
    /// The time that it stands for, at most [`ServerTiming::LONGEST`]; where it has one.
    pub took: Option<Duration>,
    /// What it is, where that is said.
    pub description: Option<Box<str>>,
}

impl ServerTiming {
    /// Most metrics that are kept of an answer.
    pub const MOST: usize = 16;
    /// Most bytes of a name that are kept.
    pub const MAX_NAME: usize = 48;
    /// Most bytes of a description that are kept.
    pub const MAX_DESCRIPTION: usize = 96;
    /// The longest time that is believed: no request takes days.
    pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    /// A metric of what came from outside: cleaned and cut, and without a time that can't be. `None` where nothing is
    /// left of its name.
    #[must_use]
    pub fn new(name: &str, took: Option<Duration>, description: Option<&str>) -> Option<Self> {
        let short = |text: &str, most| {
            let text = cut(clean(text), most);
            (!text.is_empty()).then(|| text.into_boxed_str())
        };
        Some(Self {
            name: short(name, Self::MAX_NAME)?,
            took: took.filter(|took| *took <= Self::LONGEST),
            description: description.and_then(|text| short(text, Self::MAX_DESCRIPTION)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_id_is_read_from_what_was_sent() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let read = |header: &str| TraceId::of_traceparent(header).map(|id| id.to_string());
        assert_eq!(read(&format!("00-{id}-00f067aa0ba902b7-01")).as_deref(), Some(id));
        assert_eq!(read(&format!("cc-{id}-00f067aa0ba902b7-01-later")).as_deref(), Some(id));
        let small = format!("00-{:032x}-00f067aa0ba902b7-00", 1);
        assert_eq!(read(&small), Some(format!("{:032x}", 1)));
        for none in [
            String::new(),
            id.to_owned(),
            format!("00-{id}-00f067aa0ba902b7-01-later"),
            format!("ff-{id}-00f067aa0ba902b7-01"),
            format!("00-{id}-00f067aa0ba902b7-1"),
            format!("00-{}-00f067aa0ba902b7-01", id.to_uppercase()),
            format!("00-{:032x}-00f067aa0ba902b7-01", 0),
            format!("00-+{}-00f067aa0ba902b7-01", &id[1..]),
        ] {
            assert_eq!(read(&none), None, "{none}");
        }
    }
}
