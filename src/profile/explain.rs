//! A profile in plain words, for `fanscope check`: 80 columns, no colour, no secret.

use super::durations::show;
use super::guards::capped;
use super::quantities::{show_percent, show_size};
use super::redact::redact;
use super::secrets::redact_url;
use super::source::visible;
use super::types::{
    Distribution, Endpoint, Expect, Fault, FaultKind, HttpChoice, Piece, Profile, Proxy, Resolver, Rows,
    Simulation, Slow, StatusSet, Target, Template, Tls,
};
use super::warnings::{hedging, loads, warnings};
use crate::domain::guards::Route;
use crate::domain::{Ab, EndpointId, Guards, HedgeContract, HedgeSettings, Mode};
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// Width that the text is wrapped to.
const COLUMNS: usize = 79;

/// Explains the profile: what is asked, of whom, how often, and what may not be meant.
#[must_use]
pub fn explain(profile: &Profile) -> String {
    let mut out = String::new();
    paragraph(&mut out, "", 2, &round(profile));
    let required = profile.endpoints.iter().filter(|e| e.required).count();
    let split = match required {
        0 => String::new(),
        n => format!(": {n} required, {} optional", profile.optional()),
    };
    out.extend(["\n", counted(profile.endpoints.len(), "endpoint").as_str(), split.as_str(), "\n"]);
    let width = profile.endpoints.iter().map(|e| visible(&e.name).width()).max().unwrap_or(0).min(24);
    let guards = profile.guards();
    let capped = capped(profile, &guards);
    for (endpoint, routes) in profile.endpoints.iter().zip(&guards.routes) {
        let name = visible(&endpoint.name);
        let pad = " ".repeat(width.saturating_sub(name.width()));
        let mut phrases = self::endpoint(profile, endpoint);
        phrases.extend(guarded(endpoint, routes, &guards, &capped));
        paragraph(&mut out, &format!("  {name}{pad}  "), width + 4, &phrases);
    }
    out.push('\n');
    paragraph(&mut out, "Load: ", 6, &load(profile));
    out.extend(warnings(profile).iter().map(|text| warning(text)));
    out
}

/// A warning as it stands below an explanation.
#[must_use]
pub fn warning(text: &str) -> String {
    let mut out = String::new();
    paragraph(&mut out, "warning: ", 9, &words(text));
    out
}

/// Words of a sentence, each of which may begin a line.
fn words(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// Writes phrases joined by commas, wrapped, with a hanging indent.
fn paragraph(out: &mut String, head: &str, indent: usize, phrases: &[String]) {
    let text = phrases.join(", ");
    let mut line = head.to_owned();
    let mut fresh = true;
    for word in text.split(' ') {
        if !fresh && line.width() + 1 + word.width() > COLUMNS {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(indent);
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn round(profile: &Profile) -> Vec<String> {
    let s = &profile.settings;
    let mut phrases = vec![format!("{}: {}", visible(&profile.name), mode(profile))];
    let drawn = if s.mode.ignores_budget() { " (drawn, not enforced)" } else { "" };
    phrases.push(format!("budget {}{drawn}", show(s.budget)));
    phrases.push(format!("request budget {}", show(s.request_budget)));
    phrases.push(if s.every.is_zero() {
        "each round when the last one ended".to_owned()
    } else {
        format!("a round every {}", show(s.every))
    });
    phrases.push(format!("at most {} at once", s.max_overlap));
    if profile.resolver == Resolver::System {
        phrases.push("names resolved by the system".to_owned());
    }
    if let Some(rows) = &profile.rows {
        phrases.push(format!(
            "{} taken in turn ({})",
            counted(rows.rows.len(), "row"),
            visible(&rows.columns.join(", "))
        ));
    }
    phrases.extend(in_turn(s.ab));
    if s.probe > 0.0 && !s.mode.ignores_budget() {
        phrases.push(format!(
            "stragglers of {} of the rounds watched to {}",
            show_percent(s.probe),
            show(s.watch())
        ));
    }
    if profile.what_if_rounds != Profile::WHAT_IF_ROUNDS {
        phrases.push(format!("what-if over the last {} rounds", profile.what_if_rounds));
    }
    phrases
}

/// Two variants that rounds have in turn (W9).
fn in_turn(ab: Option<Ab>) -> Option<String> {
    ab.map(|Ab { a, b }| format!("in turn {} {} and {}", a.key(), a.value(), b.value()))
}

fn mode(profile: &Profile) -> String {
    let s = &profile.settings;
    match s.mode {
        Mode::Quorum => {
            let n = profile.optional();
            let end = if s.quorum_fail_fast { ", ended once it cannot be met" } else { "" };
            format!("quorum {} of {n}{end}", s.quorum_of(n))
        }
        Mode::Hedge => format!("hedge {}", hedge(&s.hedge, None)),
        other => other.to_string(),
    }
}

fn hedge(hedge: &HedgeSettings, replicas: Option<usize>) -> String {
    let error = if hedge.on_error { ", at once on an error" } else { "" };
    let most = match (replicas, hedge.max) {
        (Some(n), _) => format!(", at most {}", hedge.max_for(n)),
        (None, Some(max)) => format!(", at most {max}"),
        (None, None) => String::new(),
    };
    if hedge.delay.is_race() {
        return format!("as a race{most}");
    }
    format!("after {}{most}{error}, load budget {}", hedge.delay, show_percent(hedge.load_budget))
}

fn endpoint(profile: &Profile, e: &Endpoint) -> Vec<String> {
    let mut phrases = vec![target(profile, e)];
    if e.required {
        phrases.push("required".to_owned());
    }
    phrases.extend(e.timeout.map(|t| format!("timeout {}", show(t))));
    match e.hedge {
        HedgeContract::ByMode => {}
        HedgeContract::Own(own) => phrases.push(format!("hedged {}", hedge(&own, Some(e.replicas())))),
        HedgeContract::Off => phrases.push("never hedged".to_owned()),
    }
    if !e.headers.is_empty() {
        phrases.push(counted(e.headers.len(), "header"));
    }
    if !e.body.0.is_empty() {
        phrases.push("with a body".to_owned());
    }
    if e.idempotent {
        phrases.push("idempotent".to_owned());
    }
    phrases.extend(expect(&e.expect));
    phrases.extend(connection(e));
    if !e.trace {
        phrases.push("no traceparent".to_owned());
    }
    phrases
}

/// What holds the endpoint's calls back (R36, R37, R39).
fn guarded(e: &Endpoint, routes: &[Route], guards: &Guards, capped: &BTreeSet<usize>) -> Vec<String> {
    let each = if e.dependency.is_none() && routes.len() > 1 { " for each host" } else { "" };
    let mut phrases = Vec::new();
    phrases.extend(e.dependency.as_ref().map(|name| format!("dependency {}", visible(name))));
    // Replicas may differ: one of them can be shared with an endpoint that says less.
    let written =
        |r: &Route| guards.dependencies.get(r.dependency).filter(|_| capped.contains(&r.dependency));
    let permits: BTreeSet<Option<u32>> = routes.iter().map(|r| written(r).map(|d| d.permits)).collect();
    let texts: Vec<String> = permits.iter().flatten().map(u32::to_string).collect();
    if !texts.is_empty() {
        let unit = if texts == ["1"] { "permit" } else { "permits" };
        phrases.push(format!("{} {unit}{each}", texts.join(" or ")));
    }
    if permits.contains(&None) && matches!(e.target, Target::Urls(_)) {
        phrases.push("uncapped".to_owned());
    }
    phrases.extend(e.breaker.then(|| format!("breaker{each}")));
    let rate = routes.iter().find_map(|r| guards.hosts.get(r.host)?.max_rps);
    phrases.extend(rate.map(|rate| format!("at most {rate} attempts/s{each}")));
    phrases
}

fn target(profile: &Profile, e: &Endpoint) -> String {
    let method = &e.method;
    match &e.target {
        Target::Urls(urls) => {
            let urls: Vec<String> = urls.iter().map(|url| url_text(url, profile.rows.as_ref())).collect();
            format!("{method} {}", urls.join(" | "))
        }
        Target::Simulated(sims) => {
            let sims: Vec<String> = sims.iter().map(simulation).collect();
            let method = if method == "GET" { String::new() } else { format!("{method} ") };
            format!("{method}simulated: {}", sims.join(" | "))
        }
    }
}

/// The URL as it is written, without its secrets.
fn url_text(url: &Template, rows: Option<&Rows>) -> String {
    plain(&redact_url(&written(url, rows)))
}

/// The template with its holes as they are written.
fn written(template: &Template, rows: Option<&Rows>) -> String {
    let pieces = template.0.iter().map(|piece| match piece {
        Piece::Text(text) | Piece::Variable { value: text, .. } => text.clone(),
        Piece::Round => "${round}".to_owned(),
        Piece::Row(i) => {
            format!("${{rows.{}}}", rows.and_then(|r| r.columns.get(*i)).map_or("", String::as_str))
        }
    });
    pieces.collect()
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// What an attempt on a replica sends, on one line: `GET https://a.example/?round=${round}&token=<redacted>`, or
/// `GET simulated upstream shop-0`, of several with their letter. Holes stand as they are written, secrets are
/// [`REDACTED`](super::redact::REDACTED). Empty where there is no such replica.
#[must_use]
pub fn request_line(profile: &Profile, endpoint: EndpointId, replica: usize) -> String {
    let Some(e) = profile.endpoints.get(endpoint.index()) else { return String::new() };
    let target = match &e.target {
        Target::Urls(urls) => {
            urls.get(replica).map(|url| plain(&redact(&written(url, profile.rows.as_ref()), &[], false)))
        }
        Target::Simulated(sims) => sims.get(replica).map(|_| {
            let letter = u8::try_from(replica).ok().filter(|r| *r < 26).map_or('z', |r| (b'a' + r) as char);
            let which = if sims.len() > 1 { format!(" {letter}") } else { String::new() };
            format!("simulated upstream {}{which}", visible(&e.name))
        }),
    };
    target.map(|target| format!("{} {target}", e.method)).unwrap_or_default()
}

fn simulation(sim: &Simulation) -> String {
    // Where no answer ever comes, its latency says nothing.
    if let Some(f) =
        sim.fail.filter(|f| f.rate >= 1.0 && matches!(f.kind, FaultKind::Refuse | FaultKind::Hang))
    {
        return fault(f);
    }
    let mut parts = vec![law(&sim.latency)];
    if let Some(Slow { rate_ppm, add, group }) = &sim.slow {
        let with = group.as_ref().map(|g| format!(" together with group {}", visible(g))).unwrap_or_default();
        parts.push(format!("{} are {} slower{with}", show_percent(f64::from(*rate_ppm) / 1e6), show(*add)));
    }
    parts.extend(sim.fail.map(fault));
    parts.join("; ")
}

fn law(law: &Distribution) -> String {
    match law {
        Distribution::Fixed(t) => show(*t),
        Distribution::Uniform(a, b) => format!("{} to {}", show(*a), show(*b)),
        Distribution::LogNormal { median, p99 } => format!("median {} and p99 {}", show(*median), show(*p99)),
        Distribution::Bimodal { fast, slow, slow_share } => {
            format!("{}; {} are of {}", self::law(fast), show_percent(*slow_share), self::law(slow))
        }
        Distribution::Trace(times) => format!("a trace of {}", counted(times.len(), "time")),
    }
}

fn fault(fault: Fault) -> String {
    let (one, many) = match fault.kind {
        FaultKind::Status(code) => return status_fault(fault.rate, code),
        FaultKind::Reset => ("always resets the connection", "reset the connection"),
        FaultKind::Refuse => ("always refuses to connect", "refuse to connect"),
        FaultKind::Hang => ("never answers", "never answer"),
        FaultKind::Drip => ("always drips its body", "drip their body"),
        FaultKind::Truncate => ("always cuts its body short", "cut their body short"),
    };
    if fault.rate >= 1.0 { one.to_owned() } else { format!("{} {many}", show_percent(fault.rate)) }
}

fn status_fault(rate: f64, code: u16) -> String {
    if rate >= 1.0 {
        format!("always answers {code}")
    } else {
        format!("{} answer {code}", show_percent(rate))
    }
}

fn expect(expect: &Expect) -> Vec<String> {
    let usual = Expect::default();
    let mut phrases = Vec::new();
    if expect.status != usual.status {
        phrases.push(format!("expects {}", statuses(&expect.status)));
    }
    phrases
        .extend(expect.body_contains.as_ref().map(|text| format!("body must contain \"{}\"", visible(text))));
    if expect.max_body != usual.max_body {
        phrases.push(format!("body up to {}", show_size(expect.max_body)));
    }
    phrases
}

fn statuses(set: &StatusSet) -> String {
    let one = |&(low, high): &(u16, u16)| match (low, high) {
        (a, b) if a == b => a.to_string(),
        (a, b) if a % 100 == 0 && b == a + 99 => format!("{}xx", a / 100),
        (a, b) => format!("{a}-{b}"),
    };
    set.0.iter().map(one).collect::<Vec<_>>().join(" or ")
}

fn connection(e: &Endpoint) -> Vec<String> {
    let mut phrases = Vec::new();
    match e.http {
        HttpChoice::Http11 => {}
        HttpChoice::Http2 => phrases.push("HTTP/2".to_owned()),
        HttpChoice::Auto => phrases.push("HTTP/2 where offered".to_owned()),
    }
    phrases.extend(e.connect_to.as_ref().map(|(host, port)| format!("dials {} port {port}", visible(host))));
    phrases.extend(tls(&e.tls));
    match &e.proxy {
        Proxy::None => {}
        Proxy::Env => phrases.push("proxy of the environment".to_owned()),
        Proxy::Url(url) => phrases.push(format!("proxy {}", visible(&redact_url(url)))),
    }
    if e.follow > 0 {
        phrases.push(format!("follows {}", counted(usize::try_from(e.follow).unwrap_or(0), "redirect")));
    }
    phrases
}

fn tls(tls: &Tls) -> Vec<String> {
    let mut phrases = Vec::new();
    let path = |p: &std::path::PathBuf| visible(&p.display().to_string());
    phrases.extend(tls.ca.as_ref().map(|p| format!("trusts {}", path(p))));
    phrases.extend(tls.cert.as_ref().map(|p| format!("shows {}", path(p))));
    phrases.extend(tls.sni.as_ref().map(|name| format!("asks for {}", visible(name))));
    if tls.insecure {
        phrases.push("any certificate accepted".to_owned());
    }
    phrases
}

/// What the profile sends, at the plan's pace.
fn load(profile: &Profile) -> Vec<String> {
    let calls = profile.endpoints.len();
    let hedges: usize = profile
        .endpoints
        .iter()
        .filter_map(|e| hedging(profile, e).map(|h| usize::from(h.max_for(e.replicas()))))
        .sum();
    let every = profile.settings.every;
    let mut phrases = vec![format!("{} a round", counted(calls, "call"))];
    if hedges > 0 {
        phrases.push(format!("up to {} with hedges", counted(calls + hedges, "attempt")));
    }
    let Some(per_second) = (!every.is_zero()).then(|| 1.0 / every.as_secs_f64()) else {
        phrases.push("as often as rounds end".to_owned());
        return phrases;
    };
    let rate = |n: usize| {
        #[expect(clippy::cast_precision_loss, reason = "counts of attempts, far below 2^52")]
        let rate = n as f64 * per_second;
        format!("{rate:.1}").trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    phrases.push(match hedges {
        0 => format!("{} attempts/s", rate(calls)),
        more => format!("{} to {} attempts/s", rate(calls), rate(calls + more)),
    });
    if let Some((host, load)) = loads(profile).into_iter().max_by_key(|(_, load)| load.all) {
        phrases.push(format!("most to {host} ({}/s)", rate(usize::try_from(load.all).unwrap_or(usize::MAX))));
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn s8_6_a_request_line_shows_holes_and_no_secret() {
        let piece = |text: &str| Piece::Text(text.to_owned());
        let mut shop = Endpoint::plain("shop".to_owned(), Target::Urls(Vec::new()));
        shop.target = Target::Urls(vec![
            Template(vec![piece("https://me:pw@a.example/"), Piece::Round, piece("?sku="), Piece::Row(0)]),
            Template(vec![piece("http://b.example/?token="), Piece::Row(0), piece("&q=a b\x1b")]),
        ]);
        "POST".clone_into(&mut shop.method);
        let law =
            Simulation { latency: Distribution::Fixed(Duration::ZERO), fail: None, slow: None, body: 0 };
        let simulated =
            |name: &str, n| Endpoint::plain(name.to_owned(), Target::Simulated(vec![law.clone(); n]));
        let mut profile =
            Profile::plain("p".to_owned(), vec![shop, simulated("one", 1), simulated("two", 2)]);
        profile.rows = Some(Rows { columns: vec!["sku".to_owned()], rows: vec![vec!["4".to_owned()]] });
        let line = |endpoint, replica| request_line(&profile, EndpointId(endpoint), replica);
        assert_eq!(line(0, 0), "POST https://<redacted>@a.example/${round}?sku=${rows.sku}");
        assert_eq!(line(0, 1), "POST http://b.example/?token=<redacted>&q=a b");
        assert_eq!(line(1, 0), "GET simulated upstream one");
        assert_eq!(line(2, 1), "GET simulated upstream two b");
        assert_eq!([line(0, 2), line(1, 1), line(3, 0)], ["", "", ""]);
    }
}
