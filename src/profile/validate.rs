//! From a file's tree to a [`Profile`]: one small function per check, all findings collected.
//!
//! A check that fails reports and goes on with a harmless value, so that the rest of the file is checked
//! too; the profile is only handed out when nothing was reported.

mod connection;
mod endpoint;
mod hedge;
pub(super) mod keys;
mod request;
mod round;
mod rows;
mod simulate;
mod target;
mod values;

pub(super) use request::{header_name, header_value};
pub(super) use target::check_url;

use super::error::{Problem, Problems, ProfileErrors};
use super::file::{Context, Field, Layer, Node, node};
use super::source::{Source, Span, visible};
use super::types::{Endpoint, Profile};
use super::{secrets, syntax};
use crate::domain::text::clean;
use crate::domain::{HedgeContract, Mode, Settings};
use round::Round;
use std::collections::HashMap;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Most endpoints of a profile: each is a lane and at least one socket.
pub const MAX_ENDPOINTS: usize = 5000;

/// Checks a file's text.
pub(super) fn profile(
    name: &str,
    text: &str,
    base_dir: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Profile, ProfileErrors> {
    let mut source = Source::file(name, text);
    let mut problems = Problems::default();
    let document = syntax::parse(&source, &mut problems);
    let root = document.root.get_ref();
    source.hide(secret_spans(root));
    if text.trim().is_empty() {
        problems.push(
            Problem::whole("the file is empty").help("`fanscope init -o FILE` writes one to start from"),
        );
        return Err(problems.render(&source));
    }
    if !document.usable {
        return Err(problems.render(&source));
    }
    let mut cx = Context {
        source: &source,
        env,
        base_dir,
        rows: None,
        rows_failed: false,
        env_secrets: Vec::new(),
        problems,
        broken: document.broken,
    };
    let profile = root_table(&mut cx, root, name);
    if cx.problems.is_empty() { Ok(profile) } else { Err(cx.problems.render(&source)) }
}

fn root_table<'a>(cx: &mut Context<'a>, root: &'a DeTable<'a>, file: &str) -> Profile {
    let root = Layer::new(Some(Node { table: root, span: 0..0 }), "the profile");
    root.check_keys(cx, keys::ROOT);
    let round = section(cx, &root, "round", keys::ROUND);
    let hedge = section(cx, &root, "hedge", keys::HEDGE);
    cx.rows = rows::read(cx, &round);
    let mut round = Round::read(cx, &round);
    round.settings.hedge = hedge::settings(cx, &hedge, round.settings.hedge, round.budget);
    let endpoints = endpoints(cx, &root, &round);
    let profile = Profile {
        name: profile_name(cx, &root, file),
        settings: round.settings.clone(),
        max_rps: round.max_rps,
        resolver: round.resolver,
        seed: round.seed,
        rows: cx.rows.clone(),
        what_if_rounds: round.what_if_rounds,
        endpoints,
    };
    check_quorum(cx, &round, &profile);
    profile
}

/// A table of the top level with its keys checked; empty where there is none.
fn section<'a>(cx: &mut Context<'a>, root: &Layer<'a>, key: &str, known: &[&str]) -> Layer<'a> {
    let own = root.field(key).and_then(|f| node(cx, &f, &format!("[{key}]")));
    let layer = Layer::new(own, format!("[{key}]"));
    layer.check_keys(cx, known);
    layer
}

fn profile_name(cx: &mut Context<'_>, root: &Layer<'_>, file: &str) -> String {
    match root.text(cx, "name", r#"name = "page""#) {
        Some(text) => endpoint::plain_name(cx, "name", &text).unwrap_or_default(),
        None => Path::new(file)
            .file_stem()
            .map_or_else(|| "profile".to_owned(), |s| visible(&s.to_string_lossy())),
    }
}

fn endpoints<'a>(cx: &mut Context<'a>, root: &Layer<'a>, round: &Round) -> Vec<Endpoint> {
    let defaults = defaults(cx, root, round);
    let nodes = endpoint_nodes(cx, root);
    let mut names = HashMap::new();
    let mut endpoints = Vec::with_capacity(nodes.len());
    for (i, own) in nodes.into_iter().enumerate() {
        let label = match own.table.get("name").and_then(|v| v.get_ref().as_str()) {
            Some(name) => format!("[[endpoint]] \"{}\"", visible(name)),
            None => format!("[[endpoint]] number {}", i + 1),
        };
        let layer = Layer { own: Some(own), base: defaults.clone(), label };
        layer.check_keys(cx, keys::ENDPOINT);
        let endpoint = endpoint::read(cx, &layer, round);
        check_unique(cx, &layer, &endpoint, &mut names);
        endpoints.push(endpoint);
    }
    endpoints
}

/// The table of defaults, checked on its own so that its faults show even where every endpoint overrides it.
fn defaults<'a>(cx: &mut Context<'a>, root: &Layer<'a>, round: &Round) -> Option<Node<'a>> {
    let own = root.field("defaults").and_then(|f| node(cx, &f, "[defaults]"))?;
    let layer = Layer::new(Some(own), "[defaults]");
    if let Some(name) = layer.own_field("name") {
        cx.report(
            Problem::at(&name.key_span, "`name` cannot be a default: each endpoint has its own")
                .help("move it to its [[endpoint]]"),
        );
    }
    layer.check_keys(cx, keys::ENDPOINT);
    endpoint::check_defaults(cx, &layer, round);
    layer.own
}

fn endpoint_nodes<'a>(cx: &mut Context<'a>, root: &Layer<'a>) -> Vec<Node<'a>> {
    let Some(field) = root.field("endpoint") else {
        // A mistyped `[[endpoints]]` is reported as an unknown key already.
        if cx.problems.is_empty() {
            cx.report(no_endpoints(Problem::whole("the profile has no endpoints")));
        }
        return Vec::new();
    };
    let DeValue::Array(items) = field.value else {
        let what = "`endpoint` must be a list of tables";
        cx.report(Problem::at(&field.key_span, what).help("write `[[endpoint]]`, in two brackets"));
        return Vec::new();
    };
    if items.is_empty() {
        cx.report(no_endpoints(Problem::at(&field.span, "the profile has no endpoints")));
    }
    if items.len() > MAX_ENDPOINTS {
        let what = format!("{} endpoints are more than fanscope takes", items.len());
        cx.report(Problem::at(&field.span, what).help(format!("the most is {MAX_ENDPOINTS}")));
        return Vec::new();
    }
    let fields = items.iter().map(|item| Field {
        key: "endpoint".to_owned(),
        key_span: item.span(),
        value: item.get_ref(),
        span: item.span(),
        inherited: false,
    });
    fields.filter_map(|f| node(cx, &f, "[[endpoint]]")).collect()
}

fn no_endpoints(problem: Problem) -> Problem {
    problem.help("add at least one: [[endpoint]], then a line name = \"…\" and a line url = \"https://…\"")
}

/// C10: two endpoints of one name would share their counters.
fn check_unique(
    cx: &mut Context<'_>,
    layer: &Layer<'_>,
    endpoint: &Endpoint,
    names: &mut HashMap<String, Span>,
) {
    let Some(field) = layer.own_field("name").filter(|_| !endpoint.name.is_empty()) else { return };
    // As a recording has it, where two that differ in their blanks only would be one.
    let name = clean(&endpoint.name);
    if let Some(first) = names.get(&name) {
        let line = cx.source.line_of(first.start) + 1;
        let what =
            format!("the name \"{}\" is taken by the endpoint of line {line}", visible(&endpoint.name));
        cx.report(
            Problem::at(&field.span, what)
                .other(first, "the first one")
                .help("names must differ: give this one another"),
        );
    } else {
        names.insert(name, field.span);
    }
}

/// R20: k lies in 1..=optional calls.
fn check_quorum(cx: &mut Context<'_>, round: &Round, profile: &Profile) {
    let optional = profile.optional();
    // Without endpoints there is a better error already.
    if profile.endpoints.is_empty() {
        return;
    }
    if let (Some(k), Some(span)) = (round.settings.quorum, &round.quorum_span)
        && k > optional
    {
        let what = format!("`quorum` is {k}, but the profile has {optional} optional endpoints");
        let help = match optional {
            1 => "write 1, or make more endpoints optional".to_owned(),
            0 => "only optional calls count towards a quorum; all endpoints are required".to_owned(),
            n => format!("write a number from 1 to {n}"),
        };
        cx.report(Problem::at(span, what).help(help));
    } else if let (Mode::Quorum, 0, Some(span)) = (round.settings.mode, optional, &round.mode_span) {
        cx.report(
            Problem::at(span, "a quorum needs an optional endpoint, and all endpoints are required")
                .help("drop `required = true` somewhere, or choose the mode \"deadline\""),
        );
    }
}

/// What contradicts itself in a profile whose settings flags have changed: each as one readable line.
pub(super) fn contradictions(profile: &Profile) -> Vec<String> {
    if profile.settings.ab.is_none() {
        return contradictions_of(profile, &profile.settings);
    }
    // What one of the variants replaces is never run with, so nothing is said of it.
    let [a, b] = [1, 2].map(|round| contradictions_of(profile, &profile.settings.of_round(round).0));
    let mut found: Vec<String> = a.iter().filter(|c| b.contains(c)).cloned().collect();
    let own = a.into_iter().chain(b);
    let own: Vec<String> = own.filter(|c| !found.contains(c)).map(|c| format!("--ab: {c}")).collect();
    found.extend(own);
    found
}

fn contradictions_of(profile: &Profile, settings: &Settings) -> Vec<String> {
    let optional = profile.optional();
    let mut found = Vec::new();
    found.extend(round::budget_complaint(settings.budget).map(|c| format!("budget: {c}")));
    found.extend(round::every_complaint(settings.every).map(|c| format!("every: {c}")));
    found.extend(hedge::delay_beyond(&settings.hedge, settings.budget).map(|c| c.to_string()));
    for endpoint in &profile.endpoints {
        let name = visible(&endpoint.name);
        if let HedgeContract::Own(own) = endpoint.hedge {
            found.extend(hedge::delay_beyond(&own, settings.budget).map(|c| format!("{name}: {c}")));
        }
        found.extend(hedge::not_repeatable(endpoint, settings.mode).map(|c| c.to_string()));
    }
    if let Some(k) = settings.quorum
        && !(1..=optional).contains(&k)
    {
        found.push(format!(
            "quorum {k}: the profile has {optional} optional endpoints; k goes from 1 to that"
        ));
    } else if settings.mode == Mode::Quorum && optional == 0 {
        found.push("quorum: every endpoint is required, so there is none to count".to_owned());
    }
    found
}

/// Places of values that must never be shown.
fn secret_spans(table: &DeTable<'_>) -> Vec<Span> {
    let mut spans = Vec::new();
    collect_secrets(table, false, false, &mut spans);
    spans
}

fn collect_secrets(table: &DeTable<'_>, all: bool, tls: bool, spans: &mut Vec<Span>) {
    for (key, value) in table {
        let name: &str = key.get_ref();
        let secret = all || (secrets::is_secret_header(name) && !(tls && name == "key"));
        collect_secret_values(value, secret, name == "tls", spans);
    }
}

fn collect_secret_values(value: &toml::Spanned<DeValue<'_>>, secret: bool, tls: bool, spans: &mut Vec<Span>) {
    match value.get_ref() {
        DeValue::Table(table) => collect_secrets(table, secret, tls, spans),
        DeValue::Array(items) => items.iter().for_each(|v| collect_secret_values(v, secret, tls, spans)),
        DeValue::String(text) if secret && !secrets::is_variable(text) => {
            let span = value.span();
            spans.push((span.start + 1).min(span.end)..span.end.saturating_sub(1).max(span.start));
        }
        _ => {}
    }
}
