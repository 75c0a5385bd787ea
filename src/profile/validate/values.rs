//! Values that many keys share: times, shares, sizes, words of a closed set.

use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Field, Layer, kind, template_of};
use crate::profile::nearest::{list, nearest};
use crate::profile::source::{Span, visible};
use crate::profile::{durations, file, quantities};
use std::time::Duration;
use toml::de::DeValue;

/// A time with its place.
pub(super) fn time(cx: &mut Context<'_>, layer: &Layer<'_>, key: &str) -> Option<(Duration, Span)> {
    let field = layer.field(key)?;
    let parsed = match number(field.value) {
        Some(number) => Err(durations::no_unit(number)),
        None => durations::parse(&text_of(cx, &field, &format!(r#"{key} = "200ms""#))?),
    };
    cx.check_key(key, &field.span, parsed).map(|time| (time, field.span))
}

/// A time that may be switched off with `false`.
pub(super) fn time_or_off(cx: &mut Context<'_>, layer: &Layer<'_>, key: &str) -> Option<(Duration, Span)> {
    if layer.is_off(key) { None } else { time(cx, layer, key) }
}

/// A share from 0 to 1.
pub(super) fn share(cx: &mut Context<'_>, layer: &Layer<'_>, key: &str) -> Option<f64> {
    let field = layer.field(key)?;
    let parsed = match number(field.value) {
        Some(number) => Err(quantities::no_percent(number)),
        None => quantities::percent(&text_of(cx, &field, &format!(r#"{key} = "5%""#))?),
    };
    cx.check_key(key, &field.span, parsed)
}

/// A size in bytes.
pub(super) fn size(cx: &mut Context<'_>, layer: &Layer<'_>, key: &str) -> Option<u64> {
    let field = layer.field(key)?;
    let parsed = match number(field.value) {
        Some(number) => quantities::size(number),
        None => quantities::size(&text_of(cx, &field, &format!(r#"{key} = "16MiB""#))?),
    };
    cx.check_key(key, &field.span, parsed)
}

/// A text that may be switched off with `false`.
pub(super) fn text_or_off(
    cx: &mut Context<'_>,
    layer: &Layer<'_>,
    key: &str,
    example: &str,
) -> Option<file::Text> {
    if layer.is_off(key) { None } else { layer.text(cx, key, example) }
}

/// One of a closed set of words.
pub(super) fn choice<T: Copy>(
    cx: &mut Context<'_>,
    layer: &Layer<'_>,
    key: &str,
    words: &[(&str, T)],
) -> Option<T> {
    let field = layer.field(key)?;
    let known: Vec<&str> = words.iter().map(|w| w.0).collect();
    let digits = number(field.value).filter(|n| known.contains(n));
    let example = format!("{key} = \"{}\"", digits.or(known.first().copied()).unwrap_or_default());
    let word = text_of(cx, &field, &example)?;
    if let Some((_, value)) = words.iter().find(|(w, _)| *w == word.trim()) {
        return Some(*value);
    }
    let help = if let Some(close) = nearest(&word, known.iter().copied()) {
        format!("did you mean \"{close}\"?")
    } else {
        let quoted: Vec<String> = known.iter().map(|w| format!("\"{w}\"")).collect();
        format!("write {}", list(&quoted.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    cx.report(Problem::at(&field.span, format!("`{key}`: there is no \"{}\"", visible(&word))).help(help));
    None
}

/// The text of a field, expanded, not varying with the round.
pub(super) fn text_of(cx: &mut Context<'_>, field: &Field<'_>, example: &str) -> Option<String> {
    let template = template_of(cx, &field.key, field.value, &field.span, example)?;
    file::fixed(cx, &field.key, &template, field.span.clone()).map(|t| t.value)
}

/// A number's digits, for keys that want a unit with it.
pub(super) fn number<'v>(value: &'v DeValue<'_>) -> Option<&'v str> {
    match value {
        DeValue::Integer(n) => Some(n.as_str()),
        DeValue::Float(n) => Some(n.as_str()),
        _ => None,
    }
}

/// The items of a list, or the value itself as the only one.
pub(super) fn items<'v, 'i>(field: &Field<'v>) -> Vec<(&'v DeValue<'v>, Span)>
where
    'i: 'v,
{
    match field.value {
        DeValue::Array(items) => items.iter().map(|v| (v.get_ref(), v.span())).collect(),
        value => vec![(value, field.span.clone())],
    }
}

/// The complaint about a value of the wrong shape.
pub(super) fn wrong_shape(key: &str, value: &DeValue<'_>, wanted: &str, example: &str) -> Complaint {
    Complaint::new(format!("`{key}` must be {wanted}, not {}", kind(value)), format!("write {example}"))
}
