//! What stands behind the operator: a value whose unit fits the metric, or the baseline's.

use super::metric::Kind;
use super::parse::Fault;
use super::{Amount, Bound, Change, Op};
use crate::domain::text::visible;
use crate::profile::durations;
use crate::profile::nearest::nearest;
use std::ops::Range;

const BASELINE: &str = "baseline";

/// Reads the value; `span` is where it stands.
///
/// # Errors
/// What was expected instead.
pub(super) fn bound(
    text: &str,
    span: &Range<usize>,
    kind: Kind,
    op: Op,
    baseline: bool,
) -> Result<Bound, Fault> {
    let example = kind.example();
    if text.is_empty() {
        return Err(Fault::new(span, format!("expected {example} after `{op}`, found the end")));
    }
    let Some(rest) = text.strip_prefix(BASELINE) else {
        let fixed = amount(text, span, kind).map(Bound::Fixed);
        let word: String = text.chars().take_while(|c| c.is_alphabetic()).collect();
        return match nearest(&word, [BASELINE]) {
            Some(_) => {
                fixed.map_err(|fault| Fault { help: vec![format!("did you mean `{BASELINE}`?")], ..fault })
            }
            None => fixed,
        };
    };
    let word = span.start..span.start + BASELINE.len();
    if !baseline {
        return Err(Fault::new(&word, "there is no baseline to compare with")
            .help("name a recording with --baseline FILE"));
    }
    let sign = word.end + (rest.len() - rest.trim_start().len());
    let mut chars = rest.trim_start().chars();
    let next = chars.next();
    let after = chars.as_str();
    let value = after.trim();
    let value_at = sign + next.map_or(0, char::len_utf8) + (after.len() - after.trim_start().len());
    let value_span = value_at..value_at + value.len();
    match next {
        None => Ok(Bound::Baseline(Change::None)),
        Some('-') => Ok(Bound::Baseline(Change::Less(amount(value, &value_span, kind)?))),
        Some('+') => Ok(Bound::Baseline(Change::More(amount(value, &value_span, kind)?))),
        Some('*') if matches!(kind, Kind::Share { .. }) => {
            Err(Fault::new(&(sign..sign + 1), "a share is not multiplied")
                .help("write by how much it may differ, such as baseline-1%"))
        }
        Some('*') => match number(value) {
            Some(factor) => Ok(Bound::Baseline(Change::Times(factor))),
            None => Err(Fault::new(&value_span, "expected a factor such as 1.1")),
        },
        Some(c) => {
            Err(Fault::new(&(sign..sign + c.len_utf8()), format!("expected - or + after `{BASELINE}`"))
                .help("for example baseline-1%, baseline+20ms or baseline*1.1"))
        }
    }
}

fn amount(text: &str, span: &Range<usize>, kind: Kind) -> Result<Amount, Fault> {
    let wrong = || {
        let found = if text.is_empty() { "the end".to_owned() } else { format!("`{}`", visible(text)) };
        Fault::new(span, format!("expected {}, found {found}", kind.example()))
    };
    match kind {
        Kind::Count => {
            let count = text.parse().ok().filter(|_| is_number(text));
            count.map(Amount::Count).ok_or_else(|| wrong().help("counts are whole numbers without a unit"))
        }
        Kind::Time => match durations::parse(text) {
            Ok(time) => Ok(Amount::Time(time)),
            Err(complaint) => Err(wrong().help(complaint.message).maybe(complaint.help)),
        },
        Kind::Share { most_percent } => {
            let percent = text.strip_suffix('%').map(|number| self::number(number.trim_end()));
            let (amount, most) = match percent {
                Some(percent) => (percent.map(Amount::Percent), f64::from(most_percent)),
                None => (number(text).map(Amount::Fraction), 1.0),
            };
            let amount = amount.ok_or_else(wrong)?;
            match amount {
                Amount::Fraction(value) if value > most => Err(wrong().help(format!(
                    "a share without a percent sign goes from 0 to 1: did you mean {value}%?"
                ))),
                Amount::Percent(value) if value > most => {
                    Err(wrong().help(format!("this goes up to {most}%")))
                }
                _ => Ok(amount),
            }
        }
    }
}

/// Digits, and perhaps a point and more digits: no sign, no exponent, no `inf`.
fn number(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let plain = text.len() <= 40 && is_number(whole) && is_number(decimals);
    text.parse().ok().filter(|_| plain)
}

/// Whether it is made of digits, one at least.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
