//! `[round]`: what a round is asked to do.

use super::values::{choice, share, time};
use crate::domain::{HedgeSettings, Mode, Settings};
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Layer};
use crate::profile::source::Span;
use crate::profile::types::{Profile, Resolver};
use std::time::Duration;
use toml::de::DeValue;

/// Longest wait for cancelled attempts.
const MAX_GRACE: Duration = Duration::from_secs(10);

/// Shortest period that is not back to back.
const MIN_PERIOD: Duration = Duration::from_millis(1);

/// Most rounds at once.
const MAX_OVERLAP: u64 = 64;

/// The table's values, with the places that later checks point at.
pub(super) struct Round {
    pub settings: Settings,
    /// The budget, unless what is written is none: then nothing is measured against it.
    pub budget: Option<Duration>,
    pub mode_span: Option<Span>,
    pub quorum_span: Option<Span>,
    pub max_rps: Option<f64>,
    pub resolver: Resolver,
    pub seed: u64,
    pub what_if_rounds: usize,
}

impl Round {
    pub(super) fn read(cx: &mut Context<'_>, layer: &Layer<'_>) -> Self {
        let usual = Settings::default();
        let modes: Vec<(&str, Mode)> = Mode::ALL.iter().map(|&m| (m.as_str(), m)).collect();
        let span = |key: &str| layer.field(key).map(|f| f.span);
        let written = budget(cx, layer);
        Self {
            budget: written.or_else(|| layer.field("budget").is_none().then_some(usual.budget)),
            settings: Settings {
                mode: choice(cx, layer, "mode", &modes).unwrap_or(usual.mode),
                budget: written.unwrap_or(usual.budget),
                request_budget: request_budget(cx, layer).unwrap_or(usual.request_budget),
                every: every(cx, layer).unwrap_or(usual.every),
                quorum: quorum(cx, layer),
                quorum_fail_fast: layer.flag(cx, "quorum_fail_fast").unwrap_or(usual.quorum_fail_fast),
                hedge: HedgeSettings::default(),
                grace: grace(cx, layer).unwrap_or(usual.grace),
                spin: layer.flag(cx, "spin").unwrap_or(usual.spin),
                max_overlap: overlap(cx, layer).unwrap_or(usual.max_overlap),
                probe: share(cx, layer, "probe").unwrap_or(usual.probe),
                ab: None,
            },
            mode_span: span("mode"),
            quorum_span: span("quorum"),
            max_rps: max_rps(cx, layer),
            resolver: choice(
                cx,
                layer,
                "resolver",
                &[("async", Resolver::Async), ("system", Resolver::System)],
            )
            .unwrap_or_default(),
            seed: layer.whole(cx, "seed", 0..=u64::MAX).unwrap_or(0),
            what_if_rounds: what_if_rounds(cx, layer).unwrap_or(Profile::WHAT_IF_ROUNDS),
        }
    }
}

/// What is wrong with a budget (C05).
pub(super) fn budget_complaint(budget: Duration) -> Option<Complaint> {
    (budget < Settings::MIN_BUDGET).then(|| {
        Complaint::new("a budget must be at least 1ms", "in less, nothing can be asked and answered")
    })
}

fn budget(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Duration> {
    let (budget, span) = time(cx, layer, "budget")?;
    cx.check_key("budget", &span, budget_complaint(budget).map_or(Ok(budget), Err))
}

fn request_budget(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Duration> {
    let (budget, span) = time(cx, layer, "request_budget")?;
    if budget > Settings::RESERVE {
        return Some(budget);
    }
    let what = "`request_budget` must be more than the 5ms that are kept back from it";
    cx.report(Problem::at(&span, what).help("write for example \"500ms\""));
    None
}

fn every(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Duration> {
    let (every, span) = time(cx, layer, "every")?;
    cx.check(&span, every_complaint(every).map_or(Ok(every), Err))
}

/// What is wrong with a period. Zero is back to back.
pub(super) fn every_complaint(every: Duration) -> Option<Complaint> {
    (!every.is_zero() && every < MIN_PERIOD).then(|| {
        Complaint::new("`every` must be at least 1ms", "\"0ms\" starts each round when the last one ended")
    })
}

fn quorum(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<usize> {
    layer.whole(cx, "quorum", 1..=u64::from(u32::MAX)).and_then(|k| usize::try_from(k).ok())
}

fn grace(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Duration> {
    let (grace, span) = time(cx, layer, "grace")?;
    if grace <= MAX_GRACE {
        return Some(grace);
    }
    cx.report(Problem::at(&span, "`grace` is longer than 10s").help("write for example \"50ms\""));
    None
}

fn overlap(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<usize> {
    layer.whole(cx, "max_overlap", 1..=MAX_OVERLAP).and_then(|n| usize::try_from(n).ok())
}

fn what_if_rounds(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<usize> {
    layer.whole(cx, "what_if_rounds", 10..=100_000).and_then(|n| usize::try_from(n).ok())
}

fn max_rps(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<f64> {
    let field = layer.field("max_rps")?;
    let number = match field.value {
        DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok(),
        DeValue::Float(n) => n.as_str().parse::<f64>().ok(),
        _ => None,
    };
    let number = number.filter(|n| *n > 0.0 && n.is_finite());
    if number.is_none() {
        cx.report(
            Problem::at(&field.span, "`max_rps` must be a number above 0")
                .help("write for example `max_rps = 50`: attempts a second, host and port"),
        );
    }
    number
}
