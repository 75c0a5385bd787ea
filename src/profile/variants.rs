//! `--ab KEY=A,B`: two variants that rounds have in turn (W9), as people write them.

use super::error::Complaint;
use super::nearest::{list, nearest};
use super::source::visible;
use super::{durations, quantities};
use crate::domain::{Ab, Mode, Variant};

const EXAMPLE: &str = "write for example budget=150ms,250ms";

/// What else a key is called.
const ALIASES: [(&str, &str); 3] = [("hedge-delay", "hedge"), ("hedge_delay", "hedge"), ("k", "quorum")];

/// Reads two variants of one key: `budget=150ms,250ms`, `quorum=3,5`, `hedge=p95,50ms`, `mode=deadline,quorum`.
/// Whether they fit the profile is another question.
///
/// # Errors
/// Where it is not one known key and two different values of its kind.
pub fn parse(text: &str) -> Result<Ab, Complaint> {
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let key = known(key.trim())?;
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    let [a, b] = match values.as_slice() {
        [""] => return Err(Complaint::new(format!("`{key}` has no values"), EXAMPLE)),
        &[one] => {
            let what = format!("`{}` is one value, and two are set against each other", visible(one));
            return Err(Complaint::new(what, EXAMPLE));
        }
        &[a, b] => [variant(key, a)?, variant(key, b)?],
        more => {
            return Err(Complaint::new(
                format!("{} values, and rounds have two in turn", more.len()),
                EXAMPLE,
            ));
        }
    };
    if a == b {
        let what = format!("both are {key} {}", a.value());
        return Err(Complaint::new(what, "two different values are set against each other"));
    }
    Ok(Ab { a, b })
}

fn known(key: &str) -> Result<&'static str, Complaint> {
    let names = || Variant::KEYS.into_iter().chain(ALIASES.map(|(alias, _)| alias));
    let meant = |key: &str| {
        let alias = ALIASES.into_iter().find(|(alias, _)| *alias == key);
        alias.map(|(_, meant)| meant).or_else(|| Variant::KEYS.into_iter().find(|known| *known == key))
    };
    meant(key).ok_or_else(|| {
        if key.is_empty() {
            return Complaint::new("there is no key", EXAMPLE);
        }
        let what = format!("`{}` can't be varied", visible(key));
        match nearest(key, names()) {
            Some(close) => Complaint::new(what, format!("did you mean `{close}`?")),
            None => Complaint::new(what, format!("rounds can differ in {}", list(&Variant::KEYS))),
        }
    })
}

fn variant(key: &str, value: &str) -> Result<Variant, Complaint> {
    match key {
        "budget" => durations::parse(value).map(Variant::Budget),
        "hedge" => quantities::hedge_delay(value).map(Variant::Hedge),
        "quorum" => value.parse().map(Variant::Quorum).map_err(|_| {
            Complaint::new(
                format!("`{}` is not a number of answers", visible(value)),
                "write for example quorum=3,5",
            )
        }),
        _ => Mode::parse(value).map(Variant::Mode).ok_or_else(|| {
            let modes: Vec<&str> = Mode::ALL.iter().map(|mode| mode.as_str()).collect();
            let help = match nearest(value, modes.iter().copied()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("the modes are {}", list(&modes)),
            };
            Complaint::new(format!("`{}` is not a mode", visible(value)), help)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::HedgeDelay;
    use std::time::Duration;

    #[test]
    fn w9_two_variants_of_one_key() {
        let ms = Duration::from_millis;
        let cases = [
            ("budget=150ms,250ms", Variant::Budget(ms(150)), Variant::Budget(ms(250))),
            (" budget = 0.1s , 250ms ", Variant::Budget(ms(100)), Variant::Budget(ms(250))),
            ("quorum=3,5", Variant::Quorum(3), Variant::Quorum(5)),
            ("k=3,5", Variant::Quorum(3), Variant::Quorum(5)),
            (
                "hedge=p95,50ms",
                Variant::Hedge(HedgeDelay::Percentile(0.95)),
                Variant::Hedge(HedgeDelay::Fixed(ms(50))),
            ),
            (
                "hedge-delay=0ms,50ms",
                Variant::Hedge(HedgeDelay::Fixed(ms(0))),
                Variant::Hedge(HedgeDelay::Fixed(ms(50))),
            ),
            ("mode=deadline,wait-all", Variant::Mode(Mode::Deadline), Variant::Mode(Mode::WaitAll)),
        ];
        for (text, a, b) in cases {
            assert_eq!(parse(text), Ok(Ab { a, b }), "{text}");
        }
    }

    #[test]
    fn w9_what_is_wrong_is_said_with_what_to_write() {
        let cases = [
            ("", "there is no key"),
            ("budget", "`budget` has no values"),
            ("budget=", "`budget` has no values"),
            ("budgt=1ms,2ms", "did you mean `budget`?"),
            ("hedge-dely=1ms,2ms", "did you mean `hedge-delay`?"),
            ("every=1s,2s", "rounds can differ in mode, budget, quorum or hedge"),
            ("budget=150ms", "one value"),
            ("budget=1ms,2ms,3ms", "3 values"),
            ("budget=150ms,0.15s", "both are budget 150ms"),
            ("mode=hedge,hedge", "both are mode hedge"),
            ("budget=150,250", "`150` has no unit"),
            ("budget=150ms,", "this time is empty"),
            ("budget=p95,50ms", "not a time"),
            ("hedge=95,50ms", "\"95ms\" for a time or \"p95\""),
            ("quorum=three,5", "`three` is not a number"),
            ("quorum=-1,5", "`-1` is not a number"),
            ("mode=deadlin,hedge", "did you mean `deadline`?"),
            ("mode=x,hedge", "the modes are deadline,"),
        ];
        for (text, says) in cases {
            let complaint = parse(text).expect_err(text).to_string();
            assert!(complaint.contains(says), "{text}: {complaint}");
            assert!(!complaint.chars().any(char::is_control));
        }
        assert!(!parse("budget=\u{1b}[31m,2ms").unwrap_err().to_string().contains('\u{1b}'));
    }
}
