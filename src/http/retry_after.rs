//! The Retry-After of a 429 or 503: seconds, or a date.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap, HeaderName};
use std::time::Duration;

/// How long the answer asks us to stay away. A date in the past is zero.
pub(super) fn read(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
        // More digits than a number holds means: very long.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let until = date(text)?;
    // By the server's own clock where it tells the time: ours may differ.
    let sent = header_text(headers, &header::DATE).and_then(date).unwrap_or_else(Timestamp::now);
    Some(Duration::try_from(until.duration_since(sent)).unwrap_or_default())
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(status: u16, headers: &[(HeaderName, &str)]) -> Option<Duration> {
        let headers = headers.iter().map(|(n, v)| (n.clone(), v.parse().unwrap())).collect();
        read(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn r39_seconds_and_dates_are_understood() {
        let seconds = Duration::from_secs;
        assert_eq!(asked(503, &[(header::RETRY_AFTER, "7")]), Some(seconds(7)));
        assert_eq!(asked(429, &[(header::RETRY_AFTER, "0")]), Some(seconds(0)));
        let date = (header::DATE, "Wed, 21 Oct 2015 07:28:00 GMT");
        let later = (header::RETRY_AFTER, "Wed, 21 Oct 2015 07:29:30 GMT");
        assert_eq!(asked(503, &[date, later.clone()]), Some(seconds(90)));
        // Long past by our own clock.
        assert_eq!(asked(503, std::slice::from_ref(&later)), Some(seconds(0)));
        assert_eq!(asked(500, &[later]), None);
        assert_eq!(asked(503, &[(header::RETRY_AFTER, "soon")]), None);
        assert_eq!(asked(503, &[(header::RETRY_AFTER, "")]), None);
        assert!(asked(503, &[(header::RETRY_AFTER, "99999999999999999999999")]).is_some());
    }
}
