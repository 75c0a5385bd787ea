//! `[[endpoint]]` over `[defaults]`: one upstream dependency.

use super::round::Round;
use super::values::{choice, text_or_off, time_or_off};
use super::{connection, hedge, request, simulate, target};
use crate::domain::text::unshaped;
use crate::profile::error::Problem;
use crate::profile::file::{Context, Layer, Text};
use crate::profile::source::is_unseen;
use crate::profile::types::{Endpoint, HttpChoice, Proxy, Target, Tls};
use std::time::Duration;

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;

/// Most permits of a dependency.
const MAX_CONCURRENCY: u64 = 100_000;

/// Reads and checks an endpoint.
pub(super) fn read<'a>(cx: &mut Context<'a>, layer: &Layer<'a>, round: &Round) -> Endpoint {
    let name = name(cx, layer);
    let target = target::read(cx, layer);
    let mut endpoint = keys(cx, layer, Endpoint::plain(name, target.unwrap_or(Target::Urls(Vec::new()))));
    endpoint.hedge = hedge::contract(cx, layer, round);
    hedge::check_repeatable(cx, layer, &endpoint, round);
    if matches!(endpoint.target, Target::Simulated(_)) {
        simulate::check_unused(cx, layer);
        // An inherited proxy or certificate is for real upstreams; the embedded ones are on loopback.
        endpoint.connect_to = None;
        endpoint.tls = Tls::default();
        endpoint.proxy = Proxy::None;
    } else {
        connection::check_reach(cx, layer, &endpoint);
    }
    endpoint
}

/// Checks the values of `[defaults]`, but for what only makes sense within an endpoint.
pub(super) fn check_defaults<'a>(cx: &mut Context<'a>, layer: &Layer<'a>, round: &Round) {
    if target::KEYS.iter().any(|key| layer.field(key).is_some()) {
        target::read(cx, layer);
    }
    hedge::contract(cx, layer, round);
    keys(cx, layer, Endpoint::plain(String::new(), Target::Urls(Vec::new())));
}

fn keys(cx: &mut Context<'_>, layer: &Layer<'_>, usual: Endpoint) -> Endpoint {
    Endpoint {
        method: request::method(cx, layer).unwrap_or(usual.method),
        headers: request::headers(cx, layer),
        body: request::body(cx, layer).unwrap_or(usual.body),
        required: layer.flag(cx, "required").unwrap_or(usual.required),
        timeout: timeout(cx, layer),
        expect: request::expect(cx, layer),
        concurrency: concurrency(cx, layer),
        dependency: dependency(cx, layer),
        breaker: layer.flag(cx, "breaker").unwrap_or(usual.breaker),
        idempotent: layer.flag(cx, "idempotent").unwrap_or(usual.idempotent),
        http: http(cx, layer).unwrap_or(usual.http),
        connect_to: connection::connect_to(cx, layer),
        tls: connection::tls(cx, layer),
        proxy: connection::proxy(cx, layer),
        follow: connection::follow(cx, layer),
        trace: layer.flag(cx, "trace").unwrap_or(usual.trace),
        ..usual
    }
}

fn name(cx: &mut Context<'_>, layer: &Layer<'_>) -> String {
    // Only its own: a default name is refused where it stands.
    if layer.own_field("name").is_none() {
        cx.report(
            Problem::at(&layer.span(), "this endpoint has no name").help("add for example name = \"shop-0\""),
        );
        return String::new();
    }
    let text = layer.text(cx, "name", r#"name = "shop-0""#);
    text.and_then(|text| plain_name(cx, "name", &text)).unwrap_or_default()
}

/// A name that can be shown: not empty, not endless, nothing in it that could reorder or hide what is around it.
/// What only chooses how a letter or an emoji is drawn is allowed and left out: no two terminals agree on it.
pub(super) fn plain_name(cx: &mut Context<'_>, key: &str, text: &Text) -> Option<String> {
    let name = unshaped(&text.value);
    let hidden = name.chars().find(|&c| is_unseen(c));
    let holds = hidden.map(|c| format!("holds U+{:04X}, a control or invisible character", u32::from(c)));
    let fault = if name.trim().is_empty() {
        ("is empty", "a name is what the lane, the counters and the metrics are called by")
    } else if let Some(holds) = &holds {
        let joined = hidden == Some('\u{200d}');
        let plain = "names are shown on screen and in metrics: write plain text";
        let emoji = "names are shown on screen and in metrics: write plain text, and emoji of one part";
        (holds.as_str(), if joined { emoji } else { plain })
    } else if name.trim() != name {
        ("begins or ends with a space", "write it without")
    } else if name.chars().count() > LONGEST_NAME {
        ("is longer than 100 characters", "choose a shorter one: it has to fit beside its lane")
    } else {
        return Some(name);
    };
    cx.report(Problem::at(&text.span, format!("`{key}` {}", fault.0)).help(fault.1));
    None
}

fn timeout(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Duration> {
    let (timeout, span) = time_or_off(cx, layer, "timeout")?;
    if timeout.is_zero() {
        cx.report(
            Problem::at(&span, "`timeout` must be above 0")
                .help("leave it out, or write `timeout = false`, for no timeout of its own"),
        );
        return None;
    }
    Some(timeout)
}

fn concurrency(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<u32> {
    if layer.is_off("concurrency") {
        return None;
    }
    layer.whole(cx, "concurrency", 1..=MAX_CONCURRENCY).and_then(|n| u32::try_from(n).ok())
}

fn dependency(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<String> {
    let text = text_or_off(cx, layer, "dependency", r#"dependency = "pricing-db""#)?;
    plain_name(cx, "dependency", &text)
}

fn http(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<HttpChoice> {
    let words = [("1.1", HttpChoice::Http11), ("2", HttpChoice::Http2), ("auto", HttpChoice::Auto)];
    choice(cx, layer, "http", &words)
}
