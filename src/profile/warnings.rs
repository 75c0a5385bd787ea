//! What is allowed but probably not meant.

use super::durations::show;
use super::guards::{MAX_RPS, capped};
use super::hosts::{host, urls};
use super::secrets::redact_url;
use super::source::visible;
use super::types::{Endpoint, Profile, Target, Tls};
use crate::domain::guards::Route;
use crate::domain::{HedgeContract, HedgeSettings, Mode};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use url::{Position, Url};

/// Names that a warning lists before it says how many more there are.
const LISTED: usize = 3;

/// What `check` warns of, a line each.
#[must_use]
pub fn warnings(profile: &Profile) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(clamped(profile));
    found.extend(useless_probe(profile));
    found.extend(late_timeouts(profile));
    found.extend(insecure(profile));
    found.extend(useless_tls(profile));
    found.extend(rewritten(profile));
    found.extend(rates(profile));
    found.extend(uncapped(profile));
    found.extend(differing(profile));
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

/// W7: only what is cut at the budget is watched, and not past 10 s.
fn useless_probe(profile: &Profile) -> Option<String> {
    let settings = &profile.settings;
    let why = if settings.probe <= 0.0 {
        return None;
    } else if settings.mode.ignores_budget() {
        format!("{} cuts nothing at the budget", settings.mode)
    } else if settings.watch() <= settings.effective_budget().0 {
        format!("nothing is watched for longer than {}", show(settings.watch()))
    } else {
        return None;
    };
    Some(format!("probe has no effect: {why}"))
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

/// Whether the endpoint's servers may be anybody: `insecure` where there may be TLS.
#[must_use]
pub fn is_unverified(endpoint: &Endpoint, profile: &Profile) -> bool {
    endpoint.tls.insecure
        && (endpoint.follow > 0 || urls(endpoint, profile).iter().any(|u| u.scheme() == "https"))
}

/// TLS settings for a plain connection.
fn useless_tls(profile: &Profile) -> Option<String> {
    let plain = |e: &Endpoint| urls(e, profile).iter().all(|u| u.scheme() == "http");
    let names = names(profile, |e| e.tls != Tls::default() && plain(e))?;
    Some(format!("`tls` has no effect on http:// URLs: {names}"))
}

/// H21: what is percent-encoded goes out byte for byte, and some of what is not is rewritten first.
fn rewritten(profile: &Profile) -> Vec<String> {
    let row = profile.rows.as_ref().and_then(|r| r.rows.first()).map_or(&[] as &[String], Vec::as_slice);
    let mut found = Vec::new();
    for endpoint in &profile.endpoints {
        let Target::Urls(templates) = &endpoint.target else { continue };
        for written in templates.iter().map(|template| template.fill(1, row)) {
            let Ok(url) = Url::parse(&written) else { continue };
            let sent = &url[Position::BeforePath..Position::AfterQuery];
            let (asked, fragment) = target_of(&written);
            let mut changes = Vec::new();
            // An empty path is the same as `/`.
            if asked != sent && format!("/{asked}") != sent {
                let (asked, sent) = (visible(&redact_url(asked)), visible(&redact_url(sent)));
                changes.push(format!(
                    "{asked} goes out as {sent}: `.` and `..` are resolved; what no URL holds, and `'` in a query, is encoded"
                ));
            }
            if fragment {
                changes.push("what follows `#` is never sent".to_owned());
            }
            found.extend(changes.iter().map(|change| format!("{}: {change}", visible(&endpoint.name))));
        }
    }
    found
}

/// Path and query of a URL as they are written, and whether a fragment follows.
fn target_of(url: &str) -> (&str, bool) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (rest, fragment) = rest.split_once('#').map_or((rest, false), |(rest, _)| (rest, true));
    (rest.find(['/', '?', '\\']).and_then(|at| rest.get(at..)).unwrap_or_default(), fragment)
}

/// R39: hosts that would get more attempts a second than their limit, so that rounds are skipped or the hedges of
/// a race suppressed.
fn rates(profile: &Profile) -> Vec<String> {
    let limit = profile.max_rps.unwrap_or(MAX_RPS);
    let every = profile.settings.every;
    let text = |(host, load): (&String, &Load)| {
        // The calls of a round start together: one that is wider than the limit needs a pause before it.
        if f64::from(load.primaries) > limit.max(1.0) {
            let pause =
                Duration::try_from_secs_f64(f64::from(load.primaries) / limit).unwrap_or(Duration::MAX);
            let pause = Duration::from_millis(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
            return (pause > every).then(|| {
                format!(
                    "{host}: {} attempts in one round are above {limit}/s: a round goes out at most every {}, \
                     the others are skipped",
                    load.primaries,
                    show(pause)
                )
            });
        }
        if every.is_zero() {
            return Some(format!("{host}: rounds without a pause, held to {limit} attempts/s"));
        }
        let rate = |attempts: u32| f64::from(attempts) / every.as_secs_f64();
        let (attempts, then) = match load.primaries {
            primaries if rate(primaries) > limit => (primaries, "rounds are skipped"),
            _ => (load.all, "hedges of the race are suppressed"),
        };
        (rate(attempts) > limit).then(|| {
            let (rate, every) = (rate(attempts), show(every));
            format!(
                "{host}: {attempts} attempts a round every {every} are {rate:.0}/s, above {limit}/s: {then}"
            )
        })
    };
    loads(profile).iter().filter_map(text).collect()
}

/// R36: endpoints of one dependency that each say something else of its permits.
fn differing(profile: &Profile) -> Vec<String> {
    let guards = profile.guards();
    let mut sharing: BTreeMap<usize, Vec<&Endpoint>> =
        capped(profile, &guards).into_iter().map(|d| (d, Vec::new())).collect();
    for (endpoint, routes) in profile.endpoints.iter().zip(&guards.routes) {
        for dependency in routes.iter().map(|r| r.dependency).collect::<BTreeSet<_>>() {
            sharing.entry(dependency).and_modify(|all| all.push(endpoint));
        }
    }
    let told = |of: &Vec<&Endpoint>| {
        let written: BTreeSet<u32> = of.iter().filter_map(|e| e.concurrency).collect();
        let smallest = written.first().filter(|_| written.len() > 1)?;
        let names = listed(&of.iter().map(|e| visible(&e.name)).collect::<Vec<_>>());
        Some(format!(
            "{names} share their permits and differ in `concurrency`: the smallest holds, {smallest}"
        ))
    };
    sharing.values().filter_map(told).collect()
}

/// Attempts of a plain round to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Load {
    /// First attempts.
    pub(super) primaries: u32,
    /// With the hedges of a race, which start at once too.
    pub(super) all: u32,
}

/// What a plain round sends by host and port, without loopback and embedded upstreams.
pub(super) fn loads(profile: &Profile) -> BTreeMap<String, Load> {
    let mut hosts: BTreeMap<String, Load> = BTreeMap::new();
    for endpoint in &profile.endpoints {
        let urls = urls(endpoint, profile);
        // The primary goes to the first replica; in a race the next ones are asked at once.
        let first = 1 + usize::from(race(profile, endpoint).map_or(0, |hedge| hedge.max_for(urls.len())));
        for (attempt, url) in urls.iter().cycle().take(if urls.is_empty() { 0 } else { first }).enumerate() {
            let (host, loopback) = host(endpoint, url);
            if !loopback {
                let load = hosts.entry(host).or_default();
                load.primaries += u32::from(attempt == 0);
                load.all += 1;
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

/// R36: real upstreams with as many permits as rounds can need.
fn uncapped(profile: &Profile) -> Option<String> {
    let guards = profile.guards();
    let capped = capped(profile, &guards);
    let open = |routes: &Vec<Route>| routes.iter().any(|r| !capped.contains(&r.dependency));
    let real = |e: &Endpoint| matches!(e.target, Target::Urls(_));
    let names: Vec<String> = profile
        .endpoints
        .iter()
        .zip(&guards.routes)
        .filter(|(e, routes)| real(e) && open(routes))
        .map(|(e, _)| visible(&e.name))
        .collect();
    let names = some_of(&names, profile)?;
    Some(format!("uncapped: no `concurrency` limits the attempts in flight to {names}"))
}

/// The names of the endpoints that a warning is about.
fn names(profile: &Profile, which: impl Fn(&Endpoint) -> bool) -> Option<String> {
    let names: Vec<String> =
        profile.endpoints.iter().filter(|e| which(e)).map(|e| visible(&e.name)).collect();
    some_of(&names, profile)
}

fn some_of(names: &[String], profile: &Profile) -> Option<String> {
    match names.len() {
        0 => None,
        n if n == profile.endpoints.len() && n > LISTED => Some(format!("all {n} endpoints")),
        _ => Some(listed(names)),
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED { format!("{shown} and {} more", names.len() - LISTED) } else { shown }
}
