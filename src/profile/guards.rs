//! What holds a profile's calls back: which endpoints share a dependency or a host, and how much each allows.

use super::hosts::{host, replica_urls};
use super::types::{Endpoint, Profile, Target};
use crate::domain::guards::{DependencySpec, Guards, HostSpec, Route};
use crate::domain::{HedgeContract, HedgeDelay, HedgeSettings};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Attempts a second, host and port, where the profile says nothing (R39).
pub(super) const MAX_RPS: f64 = 50.0;

/// What is dialled for a replica. Ports of embedded upstreams change, so those are known by their place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Dialled {
    Host(String),
    Place(usize, usize),
}

/// What shares permits and a breaker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Dependency {
    Named(String),
    Dialled(Dialled),
}

/// Gives each new key the next number.
struct Numbers<K>(BTreeMap<K, usize>);

impl<K: Ord> Numbers<K> {
    fn of(&mut self, key: K) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }
}

impl Profile {
    /// Has no host asked more often than this, in attempts a second. Returns what the profile itself asks for, where
    /// that is more.
    pub fn hold_to(&mut self, ceiling: f64) -> Option<f64> {
        let asked = self.max_rps;
        self.max_rps = Some(asked.unwrap_or(MAX_RPS).min(ceiling));
        asked.filter(|asked| *asked > ceiling)
    }

    /// The guards before every replica of every endpoint. Hosts are those of the first round.
    #[must_use]
    pub fn guards(&self) -> Guards {
        let mut guards = Guards::default();
        let (mut hosts, mut dependencies) = (Numbers(BTreeMap::new()), Numbers(BTreeMap::new()));
        // Per dependency: the smallest `concurrency` that is written, and what plain rounds need.
        let mut permits: Vec<(Option<u32>, u32)> = Vec::new();
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            let mut routes = Vec::new();
            for (dialled, free) in dialled(self, index, endpoint) {
                let host = hosts.of(dialled.clone());
                if host == guards.hosts.len() {
                    let max_rps = (!free).then(|| self.max_rps.unwrap_or(MAX_RPS));
                    guards.hosts.push(HostSpec { max_rps });
                }
                let key = endpoint.dependency.clone().map_or(Dependency::Dialled(dialled), Dependency::Named);
                let dependency = dependencies.of(key);
                if dependency == permits.len() {
                    permits.push((None, 0));
                }
                let (written, needed) = &mut permits[dependency];
                // Once for each endpoint, however many of its replicas are of this dependency.
                if !routes.iter().any(|r: &Route| r.dependency == dependency) {
                    *written = [*written, endpoint.concurrency].into_iter().flatten().min();
                    *needed = needed.saturating_add(plain_need(self, endpoint));
                }
                routes.push(Route { dependency, host, breaker: endpoint.breaker });
            }
            guards.routes.push(routes);
        }
        let spec =
            |(written, needed): (Option<u32>, u32)| DependencySpec { permits: written.unwrap_or(needed) };
        guards.dependencies = permits.into_iter().map(spec).collect();
        guards
    }
}

/// The dependencies whose permits somebody wrote, by index.
pub(super) fn capped(profile: &Profile, guards: &Guards) -> BTreeSet<usize> {
    let written = profile.endpoints.iter().zip(&guards.routes).filter(|(e, _)| e.concurrency.is_some());
    written.flat_map(|(_, routes)| routes.iter().map(|r| r.dependency)).collect()
}

/// What is dialled for each replica, and whether that is free of the rate: this machine.
fn dialled(profile: &Profile, index: usize, endpoint: &Endpoint) -> Vec<(Dialled, bool)> {
    let place = |replica| (Dialled::Place(index, replica), true);
    match &endpoint.target {
        Target::Simulated(replicas) => (0..replicas.len()).map(place).collect(),
        Target::Urls(_) => {
            let urls = replica_urls(endpoint, profile);
            let of = |(replica, url): (usize, Option<url::Url>)| match url.map(|url| host(endpoint, &url)) {
                Some((host, loopback)) => (Dialled::Host(host), loopback),
                // Never dialled.
                None => place(replica),
            };
            urls.enumerate().map(of).collect()
        }
    }
}

/// R36: as many permits as an endpoint needs so that plain rounds don't queue, whatever mode a key chooses.
fn plain_need(profile: &Profile, endpoint: &Endpoint) -> u32 {
    // A delay of nothing may be chosen by key too, and a race asks every replica.
    let by_mode = HedgeSettings { delay: HedgeDelay::Fixed(Duration::ZERO), ..profile.settings.hedge };
    let hedges = match endpoint.hedge {
        _ if !endpoint.repeatable() => 0,
        HedgeContract::Off => 0,
        HedgeContract::Own(own) => own.max_for(endpoint.replicas()),
        HedgeContract::ByMode => by_mode.max_for(endpoint.replicas()),
    };
    let overlap = u32::try_from(profile.settings.max_overlap.max(1)).unwrap_or(u32::MAX);
    overlap.saturating_mul(1 + u32::from(hedges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn guards(round: &str, endpoints: &[&str]) -> Guards {
        let one = |(i, text): (usize, &&str)| format!("[[endpoint]]\nname = 'e{i}'\n{text}\n");
        let text: String = endpoints.iter().enumerate().map(one).collect();
        let text = format!("[round]\n{round}\n{text}");
        crate::profile::parse("p", &text, Path::new("."), &|_| None).expect("a profile").guards()
    }

    fn routes(guards: &Guards, of: fn(&Route) -> usize) -> Vec<Vec<usize>> {
        guards.routes.iter().map(|r| r.iter().map(of).collect()).collect()
    }

    #[test]
    fn r36_a_dependency_is_what_is_dialled_or_the_name_that_is_shared() {
        let found = guards(
            "",
            &[
                "url = 'http://a/x'",
                "replicas = ['http://A:80/y', 'http://b/']",
                "url = 'http://c/'\nconnect_to = 'b:80'",
                "url = 'http://d/'\ndependency = 'db'",
                "url = 'http://e/'\ndependency = 'db'",
                "simulate = {}\ndependency = 'db'",
                "[[endpoint.simulate]]\n[[endpoint.simulate]]",
            ],
        );
        let (dependencies, hosts) = (routes(&found, |r| r.dependency), routes(&found, |r| r.host));
        assert_eq!(dependencies[..3], [vec![0], vec![0, 1], vec![1]]);
        assert_eq!(dependencies[3..6], [vec![2], vec![2], vec![2]]);
        assert_eq!(dependencies[6], [3, 4], "each simulated replica is one of its own");
        assert_eq!(hosts, [vec![0], vec![0, 1], vec![1], vec![2], vec![3], vec![4], vec![5, 6]]);
        assert_eq!((found.dependencies.len(), found.hosts.len()), (5, 7));
    }

    #[test]
    fn r36_plain_rounds_do_not_queue_and_the_smallest_concurrency_holds() {
        let permits = |round: &str, endpoints: &[&str]| -> Vec<u32> {
            guards(round, endpoints).dependencies.iter().map(|d| d.permits).collect()
        };
        let a = "url = 'http://a/'";
        assert_eq!(permits("", &[a, a, a]), [3 * 4 * 2]);
        assert_eq!(permits("max_overlap = 2", &[&format!("{a}\nhedge = false"), a]), [2 + 2 * 2]);
        assert_eq!(permits("", &["replicas = ['http://a/', 'http://a/2', 'http://a/3']"]), [4 * 3]);
        assert_eq!(permits("", &[&format!("{a}\nmethod = 'POST'")]), [4]);
        let limited = |n: u32| format!("{a}\nconcurrency = {n}");
        assert_eq!(permits("", &[&limited(7), a, &limited(3)]), [3]);
    }

    #[test]
    fn r39_real_hosts_have_a_rate_and_this_machine_is_free() {
        let local = ["url = 'http://127.0.0.1:1/'", "simulate = {}", "url = 'http://a/'"];
        let rates = |round: &str| guards(round, &local).hosts.iter().map(|h| h.max_rps).collect::<Vec<_>>();
        assert_eq!(rates(""), [None, None, Some(50.0)]);
        assert_eq!(rates("max_rps = 7.5"), [None, None, Some(7.5)]);
    }

    #[test]
    fn a_ceiling_lowers_what_is_asked_for_and_raises_nothing() {
        let held = |asked: Option<f64>, ceiling| {
            let mut profile = Profile { max_rps: asked, ..Profile::plain(String::new(), Vec::new()) };
            let told = profile.hold_to(ceiling);
            (profile.max_rps, told)
        };
        assert_eq!(held(Some(100.0), 20.0), (Some(20.0), Some(100.0)));
        assert_eq!(held(Some(10.0), 20.0), (Some(10.0), None));
        assert_eq!(held(None, 20.0), (Some(20.0), None), "what is usual is nobody's wish");
        assert_eq!(held(None, 200.0), (Some(50.0), None));
    }
}
