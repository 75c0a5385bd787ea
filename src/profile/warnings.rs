//! What is allowed but probably not meant.

use super::durations::show;
use super::hosts::{host, urls};
use super::source::visible;
use super::types::{Endpoint, Profile, Target, Tls};
use crate::domain::{HedgeContract, HedgeSettings, Mode};
use std::collections::BTreeMap;

/// Attempts a second, host and port, from which on a warning is due where the profile says nothing (R39).
const MAX_RPS: f64 = 50.0;

/// Names that a warning lists before it says how many more there are.
const LISTED: usize = 3;

/// What `check` warns of, a line each.
#[must_use]
pub fn warnings(profile: &Profile) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(clamped(profile));
    found.extend(late_timeouts(profile));
    found.extend(insecure(profile));
    found.extend(useless_tls(profile));
    found.extend(rates(profile));
    found.extend(uncapped(profile));
    found.extend(not_applied(profile));
    found
}

/// R35: the request budget leaves less than the budget asks for.
fn clamped(profile: &Profile) -> Option<String> {
    let settings = &profile.settings;
    let (effective, clamped) = settings.effective_budget();
    (clamped && !settings.mode.ignores_budget()).then(|| {
        format!(
            "budget {} is clamped to {}: request_budget {} less a reserve of 5ms",
            show(settings.budget),
            show(effective),
            show(settings.request_budget)
        )
    })
}

/// A timeout that the round's own limit always comes before.
fn late_timeouts(profile: &Profile) -> Vec<String> {
    let settings = &profile.settings;
    let limit = |e: &Endpoint| {
        if e.required || settings.mode.ignores_budget() {
            ("request_budget", settings.request_budget)
        } else {
            ("budget", settings.effective_budget().0)
        }
    };
    let late = |e: &&Endpoint| e.timeout.is_some_and(|t| t >= limit(e).1);
    let text = |e: &Endpoint| {
        let (name, limit) = limit(e);
        let timeout = e.timeout.map(show).unwrap_or_default();
        format!(
            "{}: timeout {timeout} never strikes: the {name} of {} comes first",
            visible(&e.name),
            show(limit)
        )
    };
    profile.endpoints.iter().filter(late).map(text).collect()
}

fn insecure(profile: &Profile) -> Option<String> {
    let names = names(profile, |e| e.tls.insecure)?;
    Some(format!("insecure: any certificate is accepted from {names}"))
}

/// TLS settings for a plain connection.
fn useless_tls(profile: &Profile) -> Option<String> {
    let plain = |e: &Endpoint| urls(e, profile).iter().all(|u| u.scheme() == "http");
    let names = names(profile, |e| e.tls != Tls::default() && plain(e))?;
    Some(format!("`tls` has no effect on http:// URLs: {names}"))
}

/// R39: hosts that get more attempts a second than they should be asked to bear. Nothing holds them back yet.
fn rates(profile: &Profile) -> Vec<String> {
    let limit = profile.max_rps.unwrap_or(MAX_RPS);
    let period = profile.settings.every.as_secs_f64();
    let per_round = attempts_per_host(profile);
    let busy = per_round.iter().filter_map(|(host, &attempts)| {
        if period == 0.0 {
            return Some(format!(
                "{host}: rounds without a pause, and nothing holds back their attempts yet"
            ));
        }
        let rate = f64::from(attempts) / period;
        (rate > limit).then(|| {
            format!(
                "{host}: {attempts} attempts a round every {} are {rate:.0}/s, above {limit}/s, and nothing \
                 holds them back yet",
                show(profile.settings.every)
            )
        })
    });
    busy.collect()
}

/// Keys that are read and checked while nothing acts on them yet.
fn not_applied(profile: &Profile) -> Option<String> {
    let any = |set: fn(&Endpoint) -> bool| profile.endpoints.iter().any(set);
    let keys = [
        ("breaker", any(|e| e.breaker)),
        ("concurrency", any(|e| e.concurrency.is_some())),
        ("dependency", any(|e| e.dependency.is_some())),
        ("max_rps", profile.max_rps.is_some()),
        ("probe", profile.probe > 0.0),
    ];
    let set: Vec<&str> = keys.iter().filter(|key| key.1).map(|key| key.0).collect();
    (!set.is_empty()).then(|| format!("not applied yet: {}", set.join(", ")))
}

/// Attempts of a plain round by host and port, without loopback and embedded upstreams.
pub(super) fn attempts_per_host(profile: &Profile) -> BTreeMap<String, u32> {
    let mut hosts: BTreeMap<String, u32> = BTreeMap::new();
    for endpoint in &profile.endpoints {
        let urls = urls(endpoint, profile);
        // The primary goes to the first replica; in a race the next ones are asked at once.
        let first = 1 + usize::from(race(profile, endpoint).map_or(0, |hedge| hedge.max_for(urls.len())));
        for url in urls.iter().cycle().take(if urls.is_empty() { 0 } else { first }) {
            let host = host(endpoint, url);
            if !host.1 {
                *hosts.entry(host.0).or_default() += 1;
            }
        }
    }
    hosts
}

fn race(profile: &Profile, endpoint: &Endpoint) -> Option<HedgeSettings> {
    hedging(profile, endpoint).filter(|hedge| hedge.delay.is_race())
}

/// How an endpoint is hedged in the profile's mode.
pub(super) fn hedging(profile: &Profile, endpoint: &Endpoint) -> Option<HedgeSettings> {
    let settings = &profile.settings;
    match endpoint.hedge {
        _ if !endpoint.repeatable() || settings.mode.ignores_budget() => None,
        HedgeContract::Own(own) => Some(own),
        HedgeContract::ByMode if settings.mode == Mode::Hedge => Some(settings.hedge),
        _ => None,
    }
}

/// R36: real upstreams without a limit of their own. A limit that is written is named as not applied yet.
fn uncapped(profile: &Profile) -> Option<String> {
    let names = names(profile, |e| e.concurrency.is_none() && matches!(e.target, Target::Urls(_)))?;
    Some(format!("uncapped: nothing limits the attempts in flight to {names}"))
}

/// The names of the endpoints that a warning is about.
fn names(profile: &Profile, which: impl Fn(&Endpoint) -> bool) -> Option<String> {
    let names: Vec<String> =
        profile.endpoints.iter().filter(|e| which(e)).map(|e| visible(&e.name)).collect();
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        n if n == profile.endpoints.len() && n > LISTED => Some(format!("all {n} endpoints")),
        n if n > LISTED => Some(format!("{shown} and {} more", n - LISTED)),
        _ => Some(shown),
    }
}
