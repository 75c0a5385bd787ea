//! `[hedge]` and an endpoint's own `hedge`.

use super::keys;
use super::round::Round;
use super::values::{number, share, text_of, wrong_shape};
use crate::domain::{HedgeContract, HedgeDelay, HedgeSettings, Mode};
use crate::profile::durations::{self, show};
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Layer};
use crate::profile::quantities;
use crate::profile::source::visible;
use crate::profile::types::Endpoint;
use std::time::Duration;
use toml::de::DeValue;

/// The table's values over those it inherits.
pub(super) fn settings(
    cx: &mut Context<'_>,
    layer: &Layer<'_>,
    base: HedgeSettings,
    budget: Option<Duration>,
) -> HedgeSettings {
    let delay = delay(cx, layer);
    let max = layer.whole(cx, "max", 0..=u64::from(HedgeSettings::MAX)).and_then(|n| u8::try_from(n).ok());
    let settings = HedgeSettings {
        delay: delay.unwrap_or(base.delay),
        max: max.or(base.max),
        load_budget: share(cx, layer, "load_budget").unwrap_or(base.load_budget),
        on_error: layer.flag(cx, "on_error").unwrap_or(base.on_error),
    };
    if let (Some(field), Some(budget)) = (layer.field("delay"), budget) {
        cx.check(&field.span, delay_beyond(&settings, budget).map_or(Ok(()), Err));
    }
    settings
}

fn delay(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<HedgeDelay> {
    let field = layer.field("delay")?;
    let parsed = match number(field.value) {
        Some(number) if number.starts_with('-') => Err(durations::no_unit(number)),
        Some(number) => quantities::hedge_delay(number),
        None => quantities::hedge_delay(&text_of(cx, &field, r#"delay = "p95" or delay = "50ms""#)?),
    };
    cx.check_key("delay", &field.span, parsed)
}

/// R24: a fixed delay must be below the budget.
pub(super) fn delay_beyond(hedge: &HedgeSettings, budget: Duration) -> Option<Complaint> {
    let HedgeDelay::Fixed(delay) = hedge.delay else { return None };
    (delay >= budget).then(|| {
        Complaint::new(
            format!("a hedge delay of {} is not below the budget of {}", show(delay), show(budget)),
            "no hedge would ever be sent: shorten the delay, or raise the budget",
        )
    })
}

/// An endpoint's own say: a table, `false` for never, `true` for back to what the mode says.
pub(super) fn contract(cx: &mut Context<'_>, layer: &Layer<'_>, round: &Round) -> HedgeContract {
    let Some(field) = layer.field("hedge") else { return HedgeContract::ByMode };
    match field.value {
        DeValue::Boolean(false) => HedgeContract::Off,
        DeValue::Boolean(true) => HedgeContract::ByMode,
        DeValue::Table(_) => {
            let Some(table) = layer.sub(cx, "hedge", "") else { return HedgeContract::ByMode };
            table.check_keys(cx, keys::HEDGE);
            HedgeContract::Own(settings(cx, &table, round.settings.hedge, round.budget))
        }
        other => {
            let example = r#"`hedge = { delay = "p95" }` or `hedge = false`"#;
            cx.check::<()>(&field.span, Err(wrong_shape("hedge", other, "a table, true or false", example)));
            HedgeContract::ByMode
        }
    }
}

/// R30: what may not be sent twice may not be hedged, by itself or by the round's mode.
pub(super) fn not_repeatable(endpoint: &Endpoint, mode: Mode) -> Option<Complaint> {
    let why = match endpoint.hedge {
        _ if endpoint.repeatable() => return None,
        HedgeContract::Own(own) if own.max != Some(0) => "has a `hedge`",
        HedgeContract::ByMode if mode == Mode::Hedge => "would be hedged",
        _ => return None,
    };
    let (name, method) = (visible(&endpoint.name), visible(&endpoint.method));
    Some(Complaint::new(
        format!("\"{name}\" {why}, but a {method} may not be sent twice"),
        "write `idempotent = true` if a second one does no harm, or `hedge = false` to send it once",
    ))
}

/// R30, with the lines that matter.
pub(super) fn check_repeatable(cx: &mut Context<'_>, layer: &Layer<'_>, endpoint: &Endpoint, round: &Round) {
    let Some(complaint) = not_repeatable(endpoint, round.settings.mode) else { return };
    let cause = match endpoint.hedge {
        HedgeContract::Own(_) => layer.field("hedge").map(|f| (f.key_span, "its hedge")),
        _ => round.mode_span.clone().map(|s| (s, "the mode")),
    };
    let span = layer.field("method").map_or_else(|| layer.span(), |f| f.span);
    let mut problem = Problem::at(&span, complaint.message).help_if(complaint.help);
    if let Some((cause, name)) = cause {
        problem = problem.other(&cause, name);
    }
    cx.report(problem);
}
