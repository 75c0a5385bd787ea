//! `simulate`: embedded upstreams, their latency laws and faults.
//!
//! `latency` is one of `{ fixed = "20ms" }` (or just `"20ms"`), `{ uniform = ["10ms", "60ms"] }`,
//! `{ median = "45ms", p99 = "300ms" }`, `{ bimodal = { fast = …, slow = …, share = "10%" } }` with any law
//! as `fast` and `slow`, and `{ trace = ["5ms", …] }`; 10 ms where it is not written. `fail` strikes every
//! round where no `rate` is written.

use super::keys;
use super::values::{self, items, share, size, text_of, text_or_off, time, wrong_shape};
use crate::profile::durations;
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Field, Layer, Node, node};
use crate::profile::nearest::{list, nearest};
use crate::profile::source::{Span, visible};
use crate::profile::types::{Distribution, Fault, FaultKind, Simulation, Slow};
use std::time::Duration;
use toml::de::DeValue;

/// Body size where none is written.
const BODY: u64 = 300;

/// Largest body that an embedded upstream sends.
const MAX_BODY: u64 = 64 << 20;

/// Longest trace.
const MAX_TRACE: usize = 100_000;

/// Most laws within laws.
const MAX_DEPTH: usize = 4;

const LAWS: &str =
    r#"latency = "20ms", { median = "45ms", p99 = "300ms" }, { uniform = ["10ms", "60ms"] }, …"#;

/// Keys that an embedded upstream has no use for.
const REAL_ONLY: [&str; 3] = ["connect_to", "tls", "proxy"];

/// Reads the upstreams: one table, or several for replicas. A single default table lies under each.
pub(super) fn read<'a>(
    cx: &mut Context<'a>,
    layer: &Layer<'a>,
    field: &Field<'a>,
) -> Option<Vec<Simulation>> {
    let base = layer.base.as_ref().and_then(|b| b.table.get_key_value("simulate"));
    let base = base.filter(|_| !field.inherited).and_then(|(_, value)| match value.get_ref() {
        DeValue::Table(table) => Some(Node { table, span: value.span() }),
        _ => None,
    });
    let tables = items(field);
    if tables.is_empty() {
        cx.report(Problem::at(&field.span, "`simulate` is empty").help("write [endpoint.simulate]"));
        return None;
    }
    let mut simulations = Vec::new();
    for (value, span) in tables {
        let item = Field {
            key: "simulate".to_owned(),
            key_span: field.key_span.clone(),
            value,
            span,
            inherited: false,
        };
        let own = node(cx, &item, "[endpoint.simulate]")?;
        let table = Layer { own: Some(own), base: base.clone(), label: "`simulate`".to_owned() };
        simulations.push(one(cx, &table));
    }
    Some(simulations)
}

/// Reports own keys that would have no effect.
pub(super) fn check_unused(cx: &mut Context<'_>, layer: &Layer<'_>) {
    for key in REAL_ONLY {
        if let Some(field) = layer.own_field(key).filter(|f| !matches!(f.value, DeValue::Boolean(false))) {
            cx.report(
                Problem::at(&field.key_span, format!("`{key}` has no effect on a simulated endpoint"))
                    .help("drop it: the embedded upstream is reached over plain loopback"),
            );
        }
    }
}

fn one(cx: &mut Context<'_>, table: &Layer<'_>) -> Simulation {
    table.check_keys(cx, keys::SIMULATE);
    let body = size(cx, table, "body").unwrap_or(BODY);
    if let Some(field) = table.field("body").filter(|_| body > MAX_BODY) {
        cx.report(Problem::at(&field.span, "`body` is larger than 64MiB").help("write for example \"2KiB\""));
    }
    Simulation {
        latency: table.field("latency").and_then(|f| law(cx, &f, 0)).unwrap_or(Distribution::Fixed(DEFAULT)),
        fail: fail(cx, table),
        slow: slow(cx, table),
        body,
    }
}

/// Latency where none is written.
const DEFAULT: Duration = Duration::from_millis(10);

/// A latency law: a time, or a table with exactly one law.
fn law(cx: &mut Context<'_>, field: &Field<'_>, depth: usize) -> Option<Distribution> {
    if depth > MAX_DEPTH {
        cx.report(
            Problem::at(&field.span, "laws within laws within laws").help("a bimodal of two laws will do"),
        );
        return None;
    }
    if !matches!(field.value, DeValue::Table(_)) {
        return single(cx, field);
    }
    let own = node(cx, field, LAWS)?;
    let table = Layer::new(Some(own), format!("`{}`", field.key));
    table.check_keys(cx, keys::LATENCY);
    let given = |key: &str| table.field(key);
    let laws: Vec<&str> = ["fixed", "uniform", "median", "bimodal", "trace"]
        .into_iter()
        .filter(|key| given(key).is_some())
        .collect();
    match laws.as_slice() {
        ["fixed"] => time(cx, &table, "fixed").map(|(t, _)| Distribution::Fixed(t)),
        ["uniform"] => uniform(cx, &given("uniform")?),
        ["median"] => log_normal(cx, &table),
        ["bimodal"] => bimodal(cx, &given("bimodal")?, depth),
        ["trace"] => trace(cx, &given("trace")?),
        [] => {
            let what = match given("p99") {
                Some(_) => "`p99` needs `median` beside it",
                None => "this latency says nothing",
            };
            cx.report(Problem::at(&field.span, what).help(format!("write {LAWS}")));
            None
        }
        several => {
            let what = format!("{} exclude each other", several.join(" and "));
            cx.report(Problem::at(&field.span, what).help("a latency follows one law"));
            None
        }
    }
}

fn single(cx: &mut Context<'_>, field: &Field<'_>) -> Option<Distribution> {
    let parsed = match field.value {
        DeValue::String(_) => durations::parse(&text_of(cx, field, LAWS)?),
        value => match values::number(value) {
            Some(number) => Err(durations::no_unit(number)),
            None => Err(wrong_shape(&field.key, value, "a time or a table", LAWS)),
        },
    };
    cx.check_key(&field.key, &field.span, parsed).map(Distribution::Fixed)
}

fn times(cx: &mut Context<'_>, field: &Field<'_>) -> Option<Vec<Duration>> {
    items(field)
        .into_iter()
        .map(|(value, span)| {
            let item = Field { value, span, ..field.clone() };
            match single(cx, &item) {
                Some(Distribution::Fixed(time)) => Some(time),
                _ => None,
            }
        })
        .collect()
}

fn uniform(cx: &mut Context<'_>, field: &Field<'_>) -> Option<Distribution> {
    let times = times(cx, field)?;
    if let [low, high] = times.as_slice()
        && low <= high
    {
        return Some(Distribution::Uniform(*low, *high));
    }
    cx.report(
        Problem::at(&field.span, "`uniform` takes two times, the shorter first")
            .help("write uniform = [\"10ms\", \"60ms\"]"),
    );
    None
}

fn log_normal(cx: &mut Context<'_>, table: &Layer<'_>) -> Option<Distribution> {
    let (median, span) = time(cx, table, "median")?;
    if table.field("p99").is_none() {
        cx.report(
            Problem::at(&span, "`median` needs `p99` beside it")
                .help("write { median = \"45ms\", p99 = \"300ms\" }, or { fixed = \"45ms\" }"),
        );
        return None;
    }
    let (p99, p99_span) = time(cx, table, "p99")?;
    if median.is_zero() {
        cx.report(
            Problem::at(&span, "`median` must be above 0").help("write { fixed = \"0ms\" } for no latency"),
        );
        return None;
    }
    if p99 <= median {
        cx.report(
            Problem::at(&p99_span, "`p99` must be above `median`")
                .help("99 of 100 answers are faster than `p99`"),
        );
        return None;
    }
    Some(Distribution::LogNormal { median, p99 })
}

fn bimodal(cx: &mut Context<'_>, field: &Field<'_>, depth: usize) -> Option<Distribution> {
    let example = r#"bimodal = { fast = "20ms", slow = "250ms", share = "10%" }"#;
    let own = node(cx, field, example)?;
    let table = Layer::new(Some(own), "`bimodal`");
    table.check_keys(cx, keys::BIMODAL);
    let lacks: Vec<&str> = keys::BIMODAL.iter().copied().filter(|key| table.field(key).is_none()).collect();
    if !lacks.is_empty() {
        let what = format!("`bimodal` lacks {}", lacks.join(", "));
        cx.report(Problem::at(&field.span, what).help(format!("write {example}; `share` is that of `slow`")));
        return None;
    }
    let fast = law(cx, &table.field("fast")?, depth + 1);
    let slow = law(cx, &table.field("slow")?, depth + 1);
    let slow_share = share(cx, &table, "share")?;
    Some(Distribution::Bimodal { fast: Box::new(fast?), slow: Box::new(slow?), slow_share })
}

fn trace(cx: &mut Context<'_>, field: &Field<'_>) -> Option<Distribution> {
    let times = times(cx, field)?;
    if times.is_empty() || times.len() > MAX_TRACE {
        cx.report(
            Problem::at(&field.span, format!("`trace` takes 1 to {MAX_TRACE} times"))
                .help("write trace = [\"5ms\", \"80ms\"]; they are taken in turn, over and over"),
        );
        return None;
    }
    Some(Distribution::Trace(times))
}

fn fail(cx: &mut Context<'_>, simulate: &Layer<'_>) -> Option<Fault> {
    let table = simulate.sub(cx, "fail", r#"fail = { rate = "5%", as = "503" }"#)?;
    table.check_keys(cx, keys::FAIL);
    let rate = share(cx, &table, "rate").unwrap_or(1.0);
    if table.field("as").is_none() {
        cx.report(Problem::at(&table.span(), "`fail` lacks `as`").help(format!("add as = {}", kinds())));
        return None;
    }
    Some(Fault { rate, kind: fault_kind(cx, &table)? })
}

const WORDS: [(&str, FaultKind); 5] = [
    ("reset", FaultKind::Reset),
    ("refuse", FaultKind::Refuse),
    ("hang", FaultKind::Hang),
    ("drip", FaultKind::Drip),
    ("truncate", FaultKind::Truncate),
];

fn kinds() -> String {
    let words = WORDS.map(|(word, _)| format!("\"{word}\""));
    let mut all = vec!["\"503\" (or another 5xx)"];
    all.extend(words.iter().map(String::as_str));
    list(&all)
}

fn fault_kind(cx: &mut Context<'_>, table: &Layer<'_>) -> Option<FaultKind> {
    let field = table.field("as")?;
    let word = match values::number(field.value) {
        Some(number) => number.to_owned(),
        None => text_of(cx, &field, "as = \"503\"")?,
    };
    let status = word.parse::<u16>().ok().filter(|s| (500..=599).contains(s));
    let named = WORDS.iter().find(|(w, _)| *w == word).map(|(_, kind)| *kind);
    if let Some(kind) = status.map(FaultKind::Status).or(named) {
        return Some(kind);
    }
    let what = format!("`as`: there is no fault \"{}\"", visible(&word));
    let help = match nearest(&word, WORDS.map(|(w, _)| w)) {
        Some(close) => format!("did you mean \"{close}\"?"),
        None => format!("write {}", kinds()),
    };
    cx.report(Problem::at(&field.span, what).help(help));
    None
}

fn slow(cx: &mut Context<'_>, simulate: &Layer<'_>) -> Option<Slow> {
    let example = r#"slow = { rate = "10%", add = "200ms" }"#;
    let table = simulate.sub(cx, "slow", example)?;
    table.check_keys(cx, keys::SLOW);
    let lacks = |cx: &mut Context<'_>, key: &str, span: &Span| {
        cx.check::<()>(
            span,
            Err(Complaint::new(format!("`slow` lacks `{key}`"), format!("write {example}"))),
        );
    };
    for key in ["rate", "add"] {
        if table.field(key).is_none() {
            lacks(cx, key, &table.span());
        }
    }
    let rate = share(cx, &table, "rate")?;
    let (add, _) = time(cx, &table, "add")?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a million, 0 to 1"
    )]
    let rate_ppm = (rate * 1e6).round() as u32;
    let group =
        text_or_off(cx, &table, "group", r#"group = "db""#).map(|t| t.value).filter(|g| !g.is_empty());
    Some(Slow { rate_ppm, add, group })
}
