//! What the command line changes in a profile. What the flags change is held to the same ranges as what a file
//! says: budget, period, quorum, fixed hedge delays, and no hedging of what may not be sent twice (R30). The keys
//! of the dashboard keep to the ranges by themselves, and run such endpoints unhedged instead.

use super::types::Profile;
use crate::domain::{Ab, Arm, HedgeDelay, Mode, Settings, Variant};
use std::time::Duration;

/// Flags that were given; `None` leaves the profile's value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// `--budget`
    pub budget: Option<Duration>,
    /// `--mode`
    pub mode: Option<Mode>,
    /// `--quorum`
    pub quorum: Option<usize>,
    /// `--hedge-delay`
    pub hedge_delay: Option<HedgeDelay>,
    /// `--every`
    pub every: Option<Duration>,
    /// `--probe`: a share, 0 to 1.
    pub probe: Option<f64>,
    /// `--ab`
    pub ab: Option<Ab>,
    /// `--seed`
    pub seed: Option<u64>,
    /// `--insecure`: every endpoint accepts any certificate.
    pub insecure: bool,
}

impl Overrides {
    /// Puts the flags into the profile.
    ///
    /// # Errors
    /// What contradicts itself then: one sentence each, saying what to do.
    pub fn apply(&self, profile: &mut Profile) -> Result<(), Vec<String>> {
        let settings = &mut profile.settings;
        settings.budget = self.budget.unwrap_or(settings.budget);
        settings.mode = self.mode.unwrap_or(settings.mode);
        settings.quorum = self.quorum.or(settings.quorum);
        settings.hedge.delay = self.hedge_delay.unwrap_or(settings.hedge.delay);
        settings.every = self.every.unwrap_or(settings.every);
        settings.probe = self.probe.unwrap_or(settings.probe);
        settings.ab = self.ab.or(settings.ab);
        profile.seed = self.seed.unwrap_or(profile.seed);
        for endpoint in &mut profile.endpoints {
            endpoint.tls.insecure |= self.insecure;
        }
        let mut found = super::contradictions(profile);
        if found.is_empty() {
            found.extend(self.ab.and_then(|ab| without_effect(ab, &profile.settings)));
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

/// What is wrong with variants that give the same rounds.
fn without_effect(ab: Ab, settings: &Settings) -> Option<String> {
    let mode = settings.mode;
    let why = match ab.a {
        Variant::Quorum(_) if mode != Mode::Quorum => "add -m quorum",
        Variant::Hedge(_) if mode != Mode::Hedge => "add -m hedge",
        Variant::Budget(_) if mode.ignores_budget() => "its rounds are not cut at the budget",
        Variant::Budget(_) => {
            let [a, b] = [Arm::A, Arm::B].map(|arm| settings.of_arm(arm).effective_budget().0);
            return (a == b).then(|| {
                format!("--ab: both budgets are held to {} by request_budget", super::durations::show(a))
            });
        }
        _ => return None,
    };
    Some(format!("--ab: {} has no effect in {} mode: {why}", ab.a.key(), mode.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shops() -> Profile {
        super::super::load("shops", &|_| None).expect("the built-in profile loads")
    }

    #[test]
    fn flags_beat_the_profile_and_what_was_not_given_stays() {
        let mut profile = shops();
        let flags = Overrides {
            budget: Some(Duration::from_millis(80)),
            mode: Some(Mode::Quorum),
            quorum: Some(3),
            seed: Some(7),
            insecure: true,
            ..Overrides::default()
        };
        assert_eq!(flags.apply(&mut profile), Ok(()));
        assert_eq!((profile.settings.budget.as_millis(), profile.settings.mode), (80, Mode::Quorum));
        assert_eq!((profile.settings.quorum, profile.seed), (Some(3), 7));
        assert_eq!(profile.settings.every, shops().settings.every);
        assert!(profile.endpoints.iter().all(|e| e.tls.insecure));
    }

    #[test]
    fn r20_r24_flags_that_contradict_the_profile_are_refused_together() {
        let flags = Overrides {
            quorum: Some(9),
            hedge_delay: Some(HedgeDelay::Fixed(Duration::from_millis(200))),
            budget: Some(Duration::ZERO),
            ..Overrides::default()
        };
        let found = flags.apply(&mut shops()).expect_err("three contradictions");
        assert_eq!(found.len(), 3, "{found:?}");
    }

    fn with_ab(text: &str, budget: Option<u64>, profile: &mut Profile) -> Result<(), Vec<String>> {
        let ab = Some(super::super::variants::parse(text).expect("two variants"));
        let budget = budget.map(Duration::from_millis);
        Overrides { budget, ab, ..Overrides::default() }.apply(profile)
    }

    #[test]
    fn w9_each_variant_has_to_stand_by_itself() {
        let refused = |text: &str, budget, parts: &[&str]| {
            let found = with_ab(text, budget, &mut shops()).expect_err(text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(parts.iter().all(|part| found[0].contains(part)), "{found:?}");
        };
        refused("quorum=3,9", None, &["--ab: ", "quorum 9", "8 optional"]);
        refused("quorum=0,3", None, &["--ab: ", "quorum 0"]);
        refused("budget=0.5ms,20ms", None, &["--ab: ", "at least 1ms"]);
        refused("hedge=p95,200ms", None, &["--ab: ", "200ms is not below the budget of 200ms"]);
        for (text, budget) in [
            ("quorum=3,8", None),
            ("hedge=p95,199ms", None),
            ("hedge=p95,250ms", Some(300)),
            ("mode=hedge,deadline", None),
            // The budget that is replaced in both is none.
            ("budget=150ms,250ms", Some(0)),
        ] {
            let mut profile = shops();
            let mode = Mode::parse(text.split('=').next().expect("a key"));
            profile.settings.mode = mode.unwrap_or(profile.settings.mode);
            assert_eq!(with_ab(text, budget, &mut profile), Ok(()), "{text}");
            assert!(profile.settings.ab.is_some());
            let (key, values) = text.split_once('=').expect("a key");
            let told = format!("in turn {key} {}", values.replace(',', " and "));
            let explained = super::super::explain(&profile).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(explained.contains(&told), "{explained}");
        }
    }

    #[test]
    fn w9_variants_that_give_the_same_rounds_are_refused() {
        for (text, mode, says) in [
            ("quorum=3,5", Mode::Deadline, "quorum has no effect in deadline mode: add -m quorum"),
            ("hedge=0ms,p50", Mode::Quorum, "hedge has no effect in quorum mode: add -m hedge"),
            ("budget=150ms,250ms", Mode::WaitAll, "budget has no effect in wait-all mode"),
            ("budget=11s,12s", Mode::Deadline, "both budgets are held to 9.995s by request_budget"),
        ] {
            let mut profile = shops();
            profile.settings.mode = mode;
            let found = with_ab(text, None, &mut profile).expect_err(text);
            assert!(found.len() == 1 && found[0].contains(says), "{found:?}");
        }
    }

    #[test]
    fn w9_a_delay_is_measured_against_the_budget_of_its_variant() {
        let text = "[hedge]\ndelay = '60ms'\n[[endpoint]]\nname = 'a'\nsimulate = {}\n";
        let parse =
            || super::super::parse("p", text, std::path::Path::new("."), &|_| None).expect("a profile");
        assert_eq!(with_ab("budget=61ms,200ms", None, &mut parse()), Ok(()));
        let found = with_ab("budget=60ms,200ms", None, &mut parse()).expect_err("never sent in one of them");
        assert!(found.len() == 1 && found[0].starts_with("--ab: a hedge delay of 60ms"), "{found:?}");
        let found = with_ab("budget=50ms,60ms", None, &mut parse()).expect_err("never sent");
        assert_eq!(found.len(), 2, "each names its budget: {found:?}");
        // What is wrong with both is said once, and not of them.
        let ab = Some(super::super::variants::parse("quorum=1,9").expect("two variants"));
        let every = Some(Duration::from_micros(1));
        let found =
            Overrides { every, ab, ..Overrides::default() }.apply(&mut shops()).expect_err("two faults");
        assert!(
            found.len() == 2 && found[0].starts_with("every: ") && found[1].starts_with("--ab: "),
            "{found:?}"
        );
    }

    #[test]
    fn w9_r30_a_variant_that_would_hedge_what_may_not_be_sent_twice_is_refused() {
        let text = "[[endpoint]]\nname = 'orders'\nurl = 'http://a'\nmethod = 'POST'\n";
        let mut profile =
            super::super::parse("p", text, std::path::Path::new("."), &|_| None).expect("a profile");
        let found = with_ab("mode=deadline,hedge", None, &mut profile).expect_err("a POST");
        assert!(found[0].starts_with("--ab: \"orders\" would be hedged"), "{found:?}");
        let text = format!("{text}required = true\n");
        let mut profile =
            super::super::parse("p", &text, std::path::Path::new("."), &|_| None).expect("a profile");
        let found = with_ab("mode=deadline,quorum", None, &mut profile).expect_err("nobody to count");
        assert!(found[0].starts_with("--ab: quorum: every endpoint is required"), "{found:?}");
    }

    proptest! {
        /// The same periods are refused as in a file.
        #[test]
        fn r38_a_period_is_none_or_at_least_1_ms(nanos in prop_oneof![0_u64..3, 0_u64..2_000_000]) {
            let every = Duration::from_nanos(nanos);
            let flags = Overrides { every: Some(every), ..Overrides::default() };
            let found = flags.apply(&mut shops());
            let text = format!("[round]\nevery = '{nanos}ns'\n[[endpoint]]\nname = 'a'\nsimulate = {{}}\n");
            let file = super::super::parse("p", &text, std::path::Path::new("."), &|_| None);
            prop_assert_eq!(found.is_ok(), nanos == 0 || nanos >= 1_000_000);
            prop_assert_eq!(found.is_ok(), file.is_ok());
            if let Err(found) = found {
                prop_assert_eq!(found.len(), 1);
                prop_assert!(found[0].contains("at least 1ms") && found[0].contains("\"0ms\""), "{}", found[0]);
            }
        }
    }

    /// What a file in that mode would be refused for, a flag is too, endpoint by endpoint.
    #[test]
    fn r30_hedging_by_flag_is_refused_like_hedging_by_file() {
        let cases = [
            ("method = 'POST'", false),
            ("method = 'put'", false),
            ("method = 'POST'\nidempotent = true", true),
            ("method = 'POST'\nhedge = false", true),
            ("method = 'POST'\nhedge = { max = 0 }", true),
            ("method = 'HEAD'", true),
            ("", true),
        ];
        for (own, fine) in cases {
            let text = |mode: &str| {
                format!("[round]\nmode = '{mode}'\n[[endpoint]]\nname = 'orders'\nurl = 'http://a'\n{own}\n")
            };
            let parse = |mode| super::super::parse("p", &text(mode), std::path::Path::new("."), &|_| None);
            assert_eq!(parse("hedge").is_ok(), fine, "{own}");
            for mode in Mode::ALL {
                let flags = Overrides { mode: Some(*mode), ..Overrides::default() };
                let found = flags.apply(&mut parse("deadline").expect("no hedge, no harm"));
                assert_eq!(found.is_ok(), fine || *mode != Mode::Hedge, "{own} in {mode}: {found:?}");
                if let Err(found) = found {
                    assert!(found[0].contains("\"orders\" would be hedged"), "{found:?}");
                    assert!(found[0].contains("`idempotent = true`"), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn r24_a_smaller_budget_is_measured_against_every_hedge() {
        let text = "[[endpoint]]\nname = 'a'\nsimulate = {}\nhedge = { delay = '50ms' }\n";
        let parse =
            || super::super::parse("p", text, std::path::Path::new("."), &|_| None).expect("a profile");
        let budget = |ms| Overrides { budget: Some(Duration::from_millis(ms)), ..Overrides::default() };
        assert_eq!(budget(51).apply(&mut parse()), Ok(()));
        let found = budget(50).apply(&mut parse()).expect_err("no hedge would ever be sent");
        assert!(found.len() == 1 && found[0].starts_with("a: a hedge delay of 50ms"), "{found:?}");
    }
}
