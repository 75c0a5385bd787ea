//! Numbers as people read them, the same on the screen and in print. What programs read is written elsewhere.

use super::settings::HedgeDelay;
use std::fmt::Display;
use std::time::Duration;

/// The time as milliseconds without a unit, exact to the microsecond and no longer than that takes: `200`,
/// `2.5`, `0.001`. Only zero is written as `0`.
#[must_use]
pub fn millis(time: Duration) -> String {
    let micros = (time.as_nanos().saturating_add(500) / 1000).max(u128::from(!time.is_zero()));
    let (whole, rest) = (micros / 1000, micros % 1000);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:03}").trim_end_matches('0').to_owned()
}

fn float(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A measured time and its unit: one decimal under 10 ms, else whole; seconds from 100 s on.
#[must_use]
pub fn measured(time: Duration) -> (String, &'static str) {
    let ms = float(time);
    if ms < 9.95 {
        (format!("{ms:.1}"), "ms")
    } else if ms < 99_999.5 {
        (format!("{ms:.0}"), "ms")
    } else {
        (format!("{:.0}", ms / 1e3), "s")
    }
}

/// A measured time in one word.
#[must_use]
pub fn ms(time: Duration) -> String {
    let (number, unit) = measured(time);
    format!("{number} {unit}")
}

/// A measured time with one decimal, to show by how much a limit was passed.
#[must_use]
pub fn fine_ms(time: Duration) -> String {
    format!("{:.1} ms", float(time))
}

/// A setting with its unit; whole seconds from 10 s on.
#[must_use]
pub fn setting_ms(time: Duration) -> String {
    if time >= Duration::from_secs(10) && time.subsec_nanos() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", millis(time))
    }
}

/// A length of time in whole seconds: `42 s`, `3 min 5 s`, `2 h 0 min`.
#[must_use]
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A hedge delay: `p95`, `50 ms`, `0 ms, a race`.
#[must_use]
pub fn delay(delay: HedgeDelay) -> String {
    match delay {
        HedgeDelay::Fixed(Duration::ZERO) => "0 ms, a race".to_owned(),
        HedgeDelay::Fixed(time) => setting_ms(time),
        HedgeDelay::Percentile(_) => delay.to_string(),
    }
}

/// The word for so many: `one` of exactly one.
#[must_use]
pub fn plural<'w, N: PartialEq + From<u8> + Copy>(n: N, one: &'w str, many: &'w str) -> &'w str {
    if n == N::from(1) { one } else { many }
}

/// A count and its word: `1 round`, `0 rounds`.
#[must_use]
pub fn counted<N: PartialEq + From<u8> + Copy + Display>(n: N, one: &str, many: &str) -> String {
    format!("{n} {}", plural(n, one, many))
}

/// What is left off behind a list: `, 2 more rows`; nothing where nothing is.
#[must_use]
pub fn and_more(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!(", {}", counted(rows, "more row", "more rows")) }
}

/// A share of 0 to 1 in percent with one decimal: `41.7 %`.
#[must_use]
pub fn share_percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A share in percent with one decimal: `41.7 %`; `none` where there is nothing to share.
#[must_use]
pub fn percent(part: u64, whole: u64, none: &str) -> String {
    if whole == 0 { none.to_owned() } else { share_percent(share(part, whole)) }
}

/// A share in percent, as short as is exact: `75 %`, `62.5 %`; one decimal at most.
#[must_use]
pub fn short_percent(part: u64, whole: u64) -> String {
    short_share(share(part, whole))
}

/// A share of 0 to 1 in percent, without a decimal where it has none: `5 %`, `2.5 %`.
#[must_use]
pub fn short_share(share: f64) -> String {
    share_percent(share).replace(".0 %", " %")
}

/// A share in whole percent. Never 0 or 100 where that would say none or all and is not so.
#[must_use]
pub fn whole_percent(part: u64, whole: u64) -> String {
    let percent = share(part, whole) * 100.0;
    let honest = if part > 0 && part < whole { percent.clamp(1.0, 99.0) } else { percent };
    format!("{honest:.0} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_have_one_decimal_under_10_ms() {
        let us = Duration::from_micros;
        assert_eq!(ms(us(2_140)), "2.1 ms");
        assert_eq!(ms(us(9_960)), "10 ms");
        assert_eq!(ms(us(199_600)), "200 ms");
        assert_eq!(ms(Duration::from_secs(99)), "99000 ms");
        assert_eq!(ms(Duration::from_secs(120)), "120 s");
        assert_eq!(fine_ms(us(200_600)), "200.6 ms");
        assert_eq!(setting_ms(us(2_500)), "2.5 ms");
        assert_eq!(setting_ms(us(200_000)), "200 ms");
        assert_eq!(setting_ms(Duration::from_secs(10)), "10 s");
    }

    #[test]
    fn one_of_a_kind_has_a_word_of_its_own() {
        let rounds = |n: u64| counted(n, "round", "rounds");
        assert_eq!([0, 1, 2, 21].map(rounds), ["0 rounds", "1 round", "2 rounds", "21 rounds"]);
        assert_eq!([0, 1, 2].map(and_more), ["", ", 1 more row", ", 2 more rows"]);
    }

    #[test]
    fn shares_never_round_to_all_or_none() {
        assert_eq!(percent(50, 120, "-"), "41.7 %");
        assert_eq!(percent(0, 0, "-"), "-");
        assert_eq!(whole_percent(499, 500), "99 %");
        assert_eq!(whole_percent(1, 500), "1 %");
        assert_eq!(whole_percent(0, 0), "0 %");
        assert_eq!(whole_percent(6, 8), "75 %");
    }

    #[test]
    fn a_setting_has_no_more_digits_than_it_needs() {
        let us = Duration::from_micros;
        assert_eq!(
            [0, 1, 10, 4_100, 2_500, 200_000, 9_999_000].map(|n| millis(us(n))),
            ["0", "0.001", "0.01", "4.1", "2.5", "200", "9999"]
        );
        assert_eq!(millis(Duration::from_nanos(1)), "0.001", "what is not zero never reads as zero");
        assert_eq!(millis(Duration::from_nanos(1_499)), "0.001");
        assert_eq!(millis(Duration::MAX).split_once('.').map(|p| p.1), None, "no overflow at the end");
    }

    proptest! {
        /// What is shown and what was measured differ by half of the last digit at most, and 10.0 is never shown.
        #[test]
        fn a_measured_time_is_rounded_and_keeps_its_form(micros in 0_u64..99_000_000) {
            let (text, unit) = measured(Duration::from_micros(micros));
            let shown: f64 = text.parse().unwrap();
            let decimals = text.contains('.');
            prop_assert_eq!((unit, decimals), ("ms", shown < 10.0));
            let off = (shown - float(Duration::from_micros(micros))).abs();
            prop_assert!(off <= if decimals { 0.0501 } else { 0.501 }, "{} for {} us", text, micros);
        }

        /// Every step of 0.001 ms: what is written names that step, without a tail.
        #[test]
        fn every_microsecond_is_written_exactly(micros in 0_u64..=9_999_000) {
            let text = millis(Duration::from_micros(micros));
            let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
            prop_assert!(rest.len() <= 3 && !rest.ends_with('0'), "{}", text);
            prop_assert_eq!(format!("{whole}{rest:0<3}").parse::<u64>().unwrap(), micros);
        }
    }
}
