//! Shares, sizes, hedge delays and statuses as people write them.

use super::durations;
use super::error::Complaint;
use super::source::visible;
use super::types::StatusSet;
use crate::domain::HedgeDelay;

/// Reads a share such as `5%` as a number from 0 to 1.
///
/// # Errors
/// Where the percent sign is missing, or the share is not from 0 to 100 %.
pub fn percent(text: &str) -> Result<f64, Complaint> {
    let word = text.trim();
    let shown = visible(word);
    let Some(number) = word.strip_suffix('%') else {
        return Err(no_percent(word));
    };
    match plain_number(number.trim()) {
        Some(value) if value <= 100.0 => Ok(value / 100.0),
        Some(_) => Err(Complaint::new(format!("`{shown}` is more than 100%"), "shares go from 0% to 100%")),
        None if number.trim().starts_with('-') => {
            Err(Complaint::new(format!("`{shown}` is negative"), "shares go from 0% to 100%"))
        }
        None => {
            Err(Complaint::new(format!("`{shown}` is not a share"), r#"write a percentage such as "5%""#))
        }
    }
}

/// The complaint about a share without its percent sign; a fraction is taken for what it was meant to be.
pub(super) fn no_percent(word: &str) -> Complaint {
    let shown = visible(word);
    let example = match plain_number(word) {
        Some(value) if value > 0.0 && value < 1.0 => format!("{}%", (value * 1e6).round() / 1e4),
        Some(value) if value <= 100.0 => format!("{value}%"),
        _ => "5%".to_owned(),
    };
    if shown.is_empty() {
        return Complaint::new("this share is empty", format!(r#"write a percentage such as "{example}""#));
    }
    Complaint::new(format!("`{shown}` has no percent sign"), format!(r#"write "{example}""#))
}

/// Digits with at most one point: no sign, no exponent, no `inf`.
fn plain_number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|_| plain)
}

const SIZE_EXAMPLE: &str = r#"write a number with its unit, such as "64KiB" or "16MiB" (B, KiB, MiB, GiB)"#;

/// Largest size that a profile may ask for: 4 GiB.
const LARGEST: u64 = 4 << 30;

/// Reads a size such as `16MiB` in bytes.
///
/// # Errors
/// Where the unit is missing or unknown, or the size is above 4 GiB.
pub fn size(text: &str) -> Result<u64, Complaint> {
    let word = text.trim();
    let shown = visible(word);
    let digits = word.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, unit) = word.split_at_checked(digits).unwrap_or((word, ""));
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "" if digits > 0 => return Err(Complaint::new(format!("`{shown}` has no unit"), SIZE_EXAMPLE)),
        _ => return Err(Complaint::new(format!("`{shown}` is not a size"), SIZE_EXAMPLE)),
    };
    let Some(number) = plain_number(number) else {
        return Err(Complaint::new(format!("`{shown}` is not a size"), SIZE_EXAMPLE));
    };
    #[expect(clippy::cast_precision_loss, reason = "factors are exact, far below 2^52")]
    let bytes = number * factor as f64;
    #[expect(clippy::cast_precision_loss, reason = "4 GiB is exact")]
    if bytes > LARGEST as f64 {
        return Err(Complaint::new(format!("`{shown}` is too large"), "the largest size is 4GiB"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative and at most 4 GiB"
    )]
    let bytes = bytes.round() as u64;
    Ok(bytes)
}

/// A size as one would write it.
#[must_use]
pub fn show_size(bytes: u64) -> String {
    match bytes {
        b if b > 0 && b % (1 << 20) == 0 => format!("{}MiB", b >> 20),
        b if b > 0 && b % (1 << 10) == 0 => format!("{}KiB", b >> 10),
        b => format!("{b}B"),
    }
}

/// A share as one would write it.
#[must_use]
pub fn show_percent(share: f64) -> String {
    format!("{}%", (share * 1e6).round() / 1e4)
}

/// Reads a hedge delay: a time, or a percentile such as `p95` (R24).
///
/// # Errors
/// Where it is neither, or the percentile is not between 0 and 100.
pub fn hedge_delay(text: &str) -> Result<HedgeDelay, Complaint> {
    let word = text.trim();
    let shown = visible(word);
    let Some(number) = word.strip_prefix(['p', 'P']) else {
        return durations::parse(word).map(HedgeDelay::Fixed).map_err(|c| delay_complaint(word, c));
    };
    match plain_number(number) {
        Some(value) if value > 0.0 && value < 100.0 => Ok(HedgeDelay::Percentile(value / 100.0)),
        Some(_) => Err(Complaint::new(
            format!("`{shown}` is not a percentile between 0 and 100"),
            r#"write for example "p95" or "p99.9""#,
        )),
        None => Err(Complaint::new(
            format!("`{shown}` is neither a percentile nor a time"),
            r#"write for example "p95", "p99.9" or "50ms""#,
        )),
    }
}

/// `95` was as likely meant as a percentile as a time.
fn delay_complaint(word: &str, complaint: Complaint) -> Complaint {
    match plain_number(word) {
        Some(value) if value > 0.0 && value < 100.0 => Complaint::new(
            complaint.message,
            format!(r#"write "{word}ms" for a time or "p{word}" for a percentile"#),
        ),
        _ if word.starts_with(char::is_alphabetic) => Complaint::new(
            format!("`{}` is neither a percentile nor a time", visible(word)),
            r#"write for example "p95", "p99.9" or "50ms""#,
        ),
        _ => complaint,
    }
}

const STATUS_EXAMPLE: &str = r#"write for example "2xx", 204, "200-204" or ["2xx", 404]"#;

/// Reads accepted statuses: `2xx`, `200`, `200-204`, or several of them with commas.
///
/// # Errors
/// Where a part is none of these or not from 100 to 599.
pub fn statuses(text: &str) -> Result<StatusSet, Complaint> {
    text.split(',').map(|part| status_range(part.trim())).collect::<Result<_, _>>().map(StatusSet)
}

fn status_range(part: &str) -> Result<(u16, u16), Complaint> {
    let shown = visible(part);
    let code = |text: &str| {
        let digits = text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u16>().ok().filter(|code| digits && (100..=599).contains(code))
    };
    let class = part.strip_suffix("xx").or_else(|| part.strip_suffix("XX"));
    let range = if let Some(class) = class {
        class.parse::<u16>().ok().filter(|c| (1..=5).contains(c)).map(|c| (c * 100, c * 100 + 99))
    } else if let Some((low, high)) = part.split_once('-') {
        let (low, high) = (code(low.trim()), code(high.trim()));
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            return Err(Complaint::new(
                format!("the range `{shown}` is empty"),
                format!(r#"write "{high}-{low}""#),
            ));
        }
        low.zip(high)
    } else {
        code(part).map(|c| (c, c))
    };
    range.ok_or_else(|| Complaint::new(format!("`{shown}` is not a status from 100 to 599"), STATUS_EXAMPLE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent(" 0.5 % "), Ok(0.005));
        assert_eq!(percent("100%"), Ok(1.0));
        assert!(percent("0.05").unwrap_err().to_string().contains(r#"write "5%""#));
        assert!(percent("5").unwrap_err().to_string().contains(r#"write "5%""#));
        for text in ["", "%", "-1%", "101%", "inf%", "NaN%", "1e1%", "5%%"] {
            assert!(percent(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn sizes_carry_their_unit() {
        assert_eq!(size("16MiB"), Ok(16 << 20));
        assert_eq!(size("1.5 KiB"), Ok(1536));
        assert_eq!(size("2kB"), Ok(2000));
        assert_eq!(size("0B"), Ok(0));
        for text in ["", "16", "16M", "-1B", "99999GiB", "1e9B", "MiB", ".B"] {
            assert!(size(text).is_err(), "{text:?}");
        }
        assert_eq!([show_size(16 << 20), show_size(300), show_size(2048)], ["16MiB", "300B", "2KiB"]);
    }

    #[test]
    fn r24_delays_are_times_or_percentiles() {
        assert_eq!(hedge_delay("p95"), Ok(HedgeDelay::Percentile(0.95)));
        assert_eq!(hedge_delay("0ms"), Ok(HedgeDelay::Fixed(Duration::ZERO)));
        assert!(hedge_delay("95").unwrap_err().to_string().contains("\"p95\""));
        for text in ["p0", "p100", "p", "p95ms", "pNaN", "95%", "", "-1ms"] {
            assert!(hedge_delay(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn statuses_come_in_four_shapes() {
        assert_eq!(statuses("2xx, 404").unwrap().0, [(200, 299), (404, 404)]);
        assert_eq!(statuses("200-204").unwrap().0, [(200, 204)]);
        for text in ["", "6xx", "20", "99", "600", "204-200", "2xx,", "xx", "200-", "+20"] {
            assert!(statuses(text).is_err(), "{text:?}");
        }
    }
}
