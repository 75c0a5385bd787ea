//! How many file descriptors observing a profile may take.

use super::types::{Profile, Target};

/// What the program itself has open beside its connections: standard streams, four runtimes with a poller and a waker
/// each, signals, a recording and metrics with their clients, files that are read.
const OWN: u64 = 56;

/// Rounds that may be watched past their end at once (W7), each with a timer.
const PROBES: u64 = 8;

/// File descriptors that rounds of a profile may need at once, by what runs when everything is slow: a connection for
/// every attempt that may be in flight (R36: endpoints, times the attempts of each, times the rounds that overlap),
/// a socket for each name that is looked up, a timer for each round. An embedded upstream has the other end of each
/// connection, and a listener.
#[must_use]
pub fn descriptors(profile: &Profile) -> u64 {
    let guards = profile.guards();
    // Who shares a dependency shares its permits; what is embedded shares none unless that is asked for.
    let permits = guards.dependencies.iter().map(|d| u64::from(d.permits)).fold(0, u64::saturating_add);
    let simulated = |target: &Target| matches!(target, Target::Simulated(_));
    let embedded = profile.endpoints.iter().zip(&guards.routes).filter(|(e, _)| simulated(&e.target));
    let listeners: u64 = embedded.clone().map(|(_, routes)| routes.len() as u64).sum();
    let mut theirs: Vec<usize> = embedded.flat_map(|(_, r)| r.iter().map(|r| r.dependency)).collect();
    theirs.sort_unstable();
    theirs.dedup();
    let ends = theirs.iter().filter_map(|&d| guards.dependencies.get(d)).map(|d| u64::from(d.permits));
    let ends = ends.fold(0, u64::saturating_add);
    let lookups = profile.endpoints.iter().filter(|e| !simulated(&e.target)).count() as u64;
    let rounds = (profile.settings.max_overlap as u64).saturating_add(PROBES);
    [permits, ends, listeners, lookups, rounds].into_iter().fold(OWN, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn need(text: &str) -> u64 {
        let profile = crate::profile::parse("p", text, Path::new("."), &|_| None).expect("a profile");
        descriptors(&profile) - OWN - PROBES
    }

    #[test]
    fn l01_every_attempt_that_may_be_in_flight_has_its_descriptor() {
        let real =
            "[[endpoint]]\nname = 'a'\nurl = 'http://a/'\n[[endpoint]]\nname = 'b'\nurl = 'http://b/'\n";
        // Two endpoints, a primary and a hedge each, in four rounds; two names; four timers.
        assert_eq!(need(real), 2 * 2 * 4 + 2 + 4);
        assert_eq!(need(&format!("[round]\nmax_overlap = 1\n{real}")), 2 * 2 + 2 + 1);
        // What is never in flight needs nothing.
        let few = "[[endpoint]]\nname = 'a'\nurl = 'http://a/'\nconcurrency = 3\n";
        assert_eq!(need(few), 3 + 1 + 4);
    }

    #[test]
    fn l01_an_embedded_upstream_has_both_ends_and_listens() {
        let one = "[[endpoint]]\nname = 'a'\nhedge = false\nsimulate = {}\n";
        assert_eq!(need(one), 4 + 4 + 1 + 4);
        let two = "[[endpoint]]\nname = 'a'\nhedge = false\n[[endpoint.simulate]]\n[[endpoint.simulate]]\n";
        assert_eq!(need(two), 2 * (4 + 4) + 2 + 4, "either replica may get every attempt");
    }

    #[test]
    fn l01_thousands_of_endpoints_overflow_nothing() {
        let one = |i| {
            format!(
                "[[endpoint]]
name = 'e{i}'
url = 'http://h{i}/'
"
            )
        };
        let text = (0..300).map(one).collect::<Vec<_>>().concat();
        assert_eq!(need(&format!("[round]\nmax_overlap = 64\n{text}")), 300 * 2 * 64 + 300 + 64);
    }
}
