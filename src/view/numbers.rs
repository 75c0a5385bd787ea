//! Numbers as the screen writes them.

use crate::domain::HedgeDelay;
use std::time::Duration;

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A measured time and its unit: one decimal under 10 ms, else whole; seconds from 100 s on.
#[must_use]
pub fn measured(time: Duration) -> (String, &'static str) {
    let ms = millis(time);
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
    format!("{:.1} ms", millis(time))
}

/// A setting's number of milliseconds, as exact as it was written: `200`, `2.5`.
#[must_use]
pub fn setting(time: Duration) -> String {
    let micros = (millis(time) * 1e3).round() / 1e3;
    format!("{micros}")
}

/// A setting with its unit; whole seconds from 10 s on.
#[must_use]
pub fn setting_ms(time: Duration) -> String {
    if time >= Duration::from_secs(10) && time.subsec_nanos() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", setting(time))
    }
}

/// A hedge delay: `p95`, `50 ms`.
#[must_use]
pub fn delay(delay: HedgeDelay) -> String {
    match delay {
        HedgeDelay::Fixed(time) => setting_ms(time),
        HedgeDelay::Percentile(_) => delay.to_string(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}

/// A share in percent with one decimal: `41.7 %`; `none` where there is nothing to share.
#[must_use]
pub fn percent(part: u64, whole: u64, none: &str) -> String {
    if whole == 0 { none.to_owned() } else { format!("{:.1} %", share(part, whole)) }
}

/// A share in whole percent. Never 0 or 100 where that would say none or all and is not so.
#[must_use]
pub fn whole_percent(part: u64, whole: u64) -> String {
    let percent = share(part, whole);
    let honest = if part > 0 && part < whole { percent.clamp(1.0, 99.0) } else { percent };
    format!("{honest:.0} %")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn shares_never_round_to_all_or_none() {
        assert_eq!(percent(50, 120, "-"), "41.7 %");
        assert_eq!(percent(0, 0, "-"), "-");
        assert_eq!(whole_percent(499, 500), "99 %");
        assert_eq!(whole_percent(1, 500), "1 %");
        assert_eq!(whole_percent(0, 0), "0 %");
        assert_eq!(whole_percent(6, 8), "75 %");
    }
}
