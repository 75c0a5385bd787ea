//! What the command line changes in a profile, checked as if it had stood there.

use super::types::Profile;
use crate::domain::{HedgeDelay, Mode};
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
        profile.seed = self.seed.unwrap_or(profile.seed);
        for endpoint in &mut profile.endpoints {
            endpoint.tls.insecure |= self.insecure;
        }
        let mut found = super::contradictions(profile);
        if profile.settings.mode == Mode::Quorum && profile.optional() == 0 {
            found.push("quorum: every endpoint is required, so there is none to count".to_owned());
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
