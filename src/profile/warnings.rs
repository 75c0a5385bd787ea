//! What is allowed but probably not meant.

use super::durations::show;
use super::source::visible;
use super::types::{Endpoint, Profile, Target, Tls};
use crate::domain::{HedgeContract, HedgeSettings, Mode};
use std::collections::BTreeMap;
use url::{Host, Url};

/// Attempts a second, host and port, where the profile says nothing (R39).
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

/// R39: rounds that would be skipped because their host gets no more than so many attempts a second.
fn rates(profile: &Profile) -> Vec<String> {
    let limit = profile.max_rps.unwrap_or(MAX_RPS);
    let period = profile.settings.every.as_secs_f64();
    let per_round = attempts_per_host(profile);
    let busy = per_round.iter().filter_map(|(host, &attempts)| {
        if period == 0.0 {
            return Some(format!("{host}: rounds without a pause are held to {limit} attempts/s (max_rps)"));
        }
        let rate = f64::from(attempts) / period;
        (rate > limit).then(|| {
            format!(
                "{host}: {attempts} attempts a round every {} are {rate:.0}/s, above {limit}/s (max_rps): \
                 rounds will be skipped",
                show(profile.settings.every)
            )
        })
    });
    busy.collect()
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

/// Host and port that are dialled, and whether that is this machine.
fn host(endpoint: &Endpoint, url: &Url) -> (String, bool) {
    if let Some((host, port)) = &endpoint.connect_to {
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        return (format!("{bracketed}:{port}"), Host::parse(&bracketed).is_ok_and(|h| is_loopback(&h)));
    }
    let loopback = url.host().is_some_and(|h| is_loopback(&h.to_owned()));
    let port = url.port_or_known_default().unwrap_or_default();
    (format!("{}:{port}", url.host_str().unwrap_or_default()), loopback)
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// The endpoint's URLs as the first round has them.
fn urls(endpoint: &Endpoint, profile: &Profile) -> Vec<Url> {
    let Target::Urls(urls) = &endpoint.target else { return Vec::new() };
    let row = profile.rows.as_ref().and_then(|r| r.rows.first()).map_or(&[] as &[String], Vec::as_slice);
    urls.iter().filter_map(|url| Url::parse(&url.fill(1, row)).ok()).collect()
}

/// R36: real upstreams without a limit of their own.
fn uncapped(profile: &Profile) -> Option<String> {
    let names = names(profile, |e| e.concurrency.is_none() && matches!(e.target, Target::Urls(_)))?;
    Some(format!("uncapped: no `concurrency` is written for {names}"))
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
