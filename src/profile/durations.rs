//! Times as people write them: always with a unit.

use super::error::Complaint;
use super::source::visible;
use jiff::fmt::friendly::SpanParser;
use std::time::Duration;

/// The longest time that a profile or a flag may ask for.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

const PARSER: SpanParser = SpanParser::new();
/// By how likely they are meant.
const UNITS: [&str; 6] = ["s", "ms", "us", "ns", "m", "h"];
const EXAMPLE: &str = r#"write a number with its unit, such as "200ms", "0.5s" or "1m""#;

/// Reads a time such as `200ms`, `0.5s`, `1m30s`.
///
/// # Errors
/// What is wrong and what to write instead: an empty text, a number without a unit, an unknown unit, a
/// negative time, one above [`LONGEST`].
pub fn parse(text: &str) -> Result<Duration, Complaint> {
    let word = text.trim();
    if word.is_empty() {
        return Err(Complaint::new("this time is empty", EXAMPLE));
    }
    if word.parse::<f64>().is_ok() {
        return Err(no_unit(word));
    }
    // The parser also takes clock times, whose unit one would have to guess.
    let parsed = if word.contains(':') { None } else { PARSER.parse_duration(word).ok() };
    let Some(parsed) = parsed else {
        return Err(unreadable(word));
    };
    if parsed.is_negative() {
        return Err(Complaint::new(
            format!("`{}` is negative", visible(word)),
            "times here are zero or more",
        ));
    }
    match Duration::try_from(parsed) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err(too_long(word)),
    }
}

/// The complaint about a number that lacks its unit.
pub(super) fn no_unit(number: &str) -> Complaint {
    let number = visible(number);
    if number.starts_with('-') {
        return Complaint::new(format!("`{number}` is negative and has no unit"), EXAMPLE);
    }
    Complaint::new(
        format!("`{number}` has no unit"),
        format!(r#"write "{number}ms" for milliseconds or "{number}s" for seconds"#),
    )
}

fn too_long(word: &str) -> Complaint {
    Complaint::new(
        format!("`{}` is too long", visible(word)),
        format!("the longest time that fanscope takes is {}", show(LONGEST)),
    )
}

fn unreadable(word: &str) -> Complaint {
    let shown = visible(word);
    let message = format!("`{shown}` is not a time");
    let digits = word.trim_start_matches('-').chars().take_while(|c| c.is_ascii_digit() || *c == '.').count();
    let (number, unit) = word.split_at_checked(digits).unwrap_or((word, ""));
    let unit = unit.trim();
    if digits > 18 {
        return too_long(word);
    }
    if digits > 0 && unit.chars().all(char::is_alphabetic) {
        let mut help = format!("`{}` is no unit; the units are ns, us, ms, s, m and h", visible(unit));
        let near = |u: &&&str| strsim::damerau_levenshtein(&unit.to_lowercase(), u) <= 1;
        if matches!(unit, "d" | "day" | "days" | "w" | "week" | "weeks") {
            return too_long(word);
        }
        if let Some(close) = UNITS.iter().find(near).filter(|_| (2..5).contains(&unit.len())) {
            help = format!(r#"{help}; did you mean "{number}{close}"?"#);
        }
        return Complaint::new(message, help);
    }
    Complaint::new(message, EXAMPLE)
}

/// A time as one would write it: `200ms`, `2.5ms`, `1.5s`, `2m`.
#[must_use]
pub fn show(time: Duration) -> String {
    let trimmed = |value: f64, unit: &str| {
        let text = format!("{value:.3}");
        format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
    };
    let seconds = time.as_secs();
    match time {
        Duration::ZERO => "0ms".to_owned(),
        t if t < Duration::from_micros(1) => format!("{}ns", t.as_nanos()),
        t if t < Duration::from_millis(1) => trimmed(t.as_secs_f64() * 1e6, "us"),
        t if t < Duration::from_secs(1) => trimmed(t.as_secs_f64() * 1e3, "ms"),
        t if t.subsec_nanos() == 0 && seconds.is_multiple_of(3600) => format!("{}h", seconds / 3600),
        t if t.subsec_nanos() == 0 && seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        t => trimmed(t.as_secs_f64(), "s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_their_unit() {
        let ms = |text| parse(text).unwrap().as_secs_f64() * 1e3;
        assert_eq!(parse("0ms"), Ok(Duration::ZERO));
        assert_eq!(parse("2.5ms"), Ok(Duration::from_micros(2500)));
        assert_eq!(parse("0.5s"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1m"), Ok(Duration::from_secs(60)));
        assert_eq!(parse(" 1m 30s "), Ok(Duration::from_secs(90)));
        assert_eq!(parse("250us"), parse("250µs"));
        assert!((ms("24h") - 86_400_000.0).abs() < f64::EPSILON);
    }

    #[test]
    fn c03_everything_else_is_an_error_with_a_way_out() {
        let complaint = |text| parse(text).unwrap_err().to_string();
        assert!(complaint("10ss").contains(r#"did you mean "10s"?"#), "{}", complaint("10ss"));
        assert!(complaint("200").contains(r#"write "200ms""#));
        assert!(complaint("-5ms").contains("negative"));
        assert!(complaint("5ms ago").contains("negative"));
        assert!(complaint("").contains("empty"));
        assert!(complaint("9999h").contains("longest"));
        assert!(complaint("99999999999999999999999999h").contains("longest"));
        assert!(complaint("1d").contains("longest"));
        for text in ["abc", "1:30", "ms", "NaN", "inf", "1e3ms", "P1D", "--1s", "１ms", "\u{1b}[2J", "5 ms 5"]
        {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn times_print_as_they_are_written() {
        for text in ["0ms", "7ns", "2.5us", "200ms", "2.5ms", "1.5s", "10s", "2m", "90s", "24h"] {
            let time = parse(text).unwrap();
            assert_eq!(parse(&show(time)), Ok(time), "{text}");
        }
        assert_eq!(show(Duration::from_millis(200)), "200ms");
        assert_eq!(show(Duration::from_secs(90)), "90s");
    }
}
