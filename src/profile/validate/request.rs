//! What is sent and what counts as an answer: method, headers, body, `expect`.

use super::keys;
use super::values::{items, size, text_of, text_or_off, wrong_shape};
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Field, Layer, template_of};
use crate::profile::nearest::nearest;
use crate::profile::quantities;
use crate::profile::source::{Span, visible};
use crate::profile::types::{Expect, Piece, StatusSet, Template};
use toml::de::DeValue;

/// Headers that follow from the request itself.
const OURS: [&str; 4] = ["content-length", "transfer-encoding", "connection", "upgrade"];

/// Most headers of a request.
const MAX_HEADERS: usize = 100;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The method in upper case.
pub(super) fn method(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<String> {
    let text = layer.text(cx, "method", r#"method = "GET""#)?;
    let method = text.value.to_ascii_uppercase();
    let valid = http::Method::from_bytes(method.as_bytes()).is_ok();
    if valid && !matches!(method.as_str(), "CONNECT" | "TRACE") {
        return Some(method);
    }
    let what = format!("`method`: \"{}\" is not a method that can be sent", visible(&text.value));
    let help = nearest(&method, METHODS)
        .map_or("write for example \"GET\"".to_owned(), |close| format!("did you mean \"{close}\"?"));
    cx.report(Problem::at(&text.span, what).help(help));
    None
}

/// The body, the same for each attempt.
pub(super) fn body(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Template> {
    if layer.is_off("body") {
        return None;
    }
    layer.template(cx, "body", r#"body = "…""#).map(|(template, _)| template)
}

/// Headers: the defaults' with those of the endpoint over them, by name without case (H30).
pub(super) fn headers(cx: &mut Context<'_>, layer: &Layer<'_>) -> Vec<(String, Template)> {
    let Some(table) = layer.sub(cx, "headers", r#"headers = { accept = "application/json" }"#) else {
        return Vec::new();
    };
    let fields = table.fields();
    if fields.len() > MAX_HEADERS {
        let what = format!("{} headers are more than the {MAX_HEADERS} of a request", fields.len());
        cx.report(Problem::at(&table.span(), what));
        return Vec::new();
    }
    check_spelled_once(cx, &fields);
    let overridden = |f: &Field<'_>| {
        f.inherited && fields.iter().any(|own| !own.inherited && own.key.eq_ignore_ascii_case(&f.key))
    };
    let mut headers = Vec::new();
    for field in fields.iter().filter(|f| !overridden(f)) {
        let name = field.key.as_str();
        if cx.check(&field.key_span, header_name(name)).is_none() {
            continue;
        }
        for value in header_values(cx, field) {
            headers.push((name.to_owned(), value));
        }
    }
    headers
}

/// Within one table, `Accept` and `accept` are the same header.
fn check_spelled_once(cx: &mut Context<'_>, fields: &[Field<'_>]) {
    for (i, field) in fields.iter().enumerate() {
        let same = |f: &&Field<'_>| f.inherited == field.inherited && f.key.eq_ignore_ascii_case(&field.key);
        if let Some(first) = fields.iter().take(i).find(same) {
            let what = format!("the header `{}` is there twice", visible(&field.key));
            cx.report(
                Problem::at(&field.key_span, what)
                    .other(&first.key_span, "the first one")
                    .help("names have no case; for a repeated header write a list: [\"a\", \"b\"]"),
            );
        }
    }
}

/// A header's values; `false` and an empty list take away an inherited one.
fn header_values(cx: &mut Context<'_>, field: &Field<'_>) -> Vec<Template> {
    if matches!(field.value, DeValue::Boolean(false)) {
        return Vec::new();
    }
    let key = visible(&field.key);
    let mut values = Vec::new();
    for (value, span) in items(field) {
        let example = format!("{key} = \"…\", or a list of texts for a repeated header");
        let Some(template) = template_of(cx, &key, value, &span, &example) else { continue };
        let bad = template.0.iter().find_map(|piece| match piece {
            Piece::Text(text) | Piece::Variable { value: text, .. } => header_value(text).err(),
            Piece::Round | Piece::Row(_) => None,
        });
        if cx.check_key(&key, &span, bad.map_or(Ok(()), Err)).is_some() {
            values.push(template);
        }
    }
    values
}

/// Whether a header may be sent under this name.
pub(in crate::profile) fn header_name(name: &str) -> Result<(), Complaint> {
    let shown = visible(name);
    if OURS.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
        let what = format!("the header `{shown}` is set by fanscope itself");
        return Err(Complaint::new(what, "drop it: a wrong one would break the request"));
    }
    http::HeaderName::from_bytes(name.as_bytes()).map(drop).map_err(|_| {
        let help = if name.trim_end().ends_with(':') {
            "write the name without the colon"
        } else {
            "names are letters, digits and -, without spaces"
        };
        Complaint::new(format!("`{shown}` is not the name of a header"), help)
    })
}

/// Whether a header may have this value; it is not repeated in the complaint, as it may be a secret.
pub(in crate::profile) fn header_value(value: &str) -> Result<(), Complaint> {
    http::HeaderValue::from_bytes(value.as_bytes()).map(drop).map_err(|_| {
        Complaint::new(
            "the value holds a line break or another control character",
            "a header is one line of text",
        )
    })
}

/// What counts as an answer.
pub(super) fn expect(cx: &mut Context<'_>, layer: &Layer<'_>) -> Expect {
    let usual = Expect::default();
    let Some(table) = layer.sub(cx, "expect", r#"expect = { status = "2xx" }"#) else { return usual };
    table.check_keys(cx, keys::EXPECT);
    Expect {
        status: status(cx, &table).unwrap_or(usual.status),
        body_contains: body_contains(cx, &table),
        max_body: max_body(cx, &table).unwrap_or(usual.max_body),
    }
}

fn body_contains(cx: &mut Context<'_>, table: &Layer<'_>) -> Option<String> {
    let text = text_or_off(cx, table, "body_contains", r#"body_contains = "price""#)?;
    Some(text.value).filter(|t| !t.is_empty())
}

fn max_body(cx: &mut Context<'_>, table: &Layer<'_>) -> Option<u64> {
    let bytes = size(cx, table, "max_body")?;
    if bytes == 0 {
        let span = table.field("max_body").map_or(0..0, |f| f.span);
        cx.report(Problem::at(&span, "`max_body` must be above 0").help("write for example \"16MiB\""));
    }
    Some(bytes)
}

fn status(cx: &mut Context<'_>, table: &Layer<'_>) -> Option<StatusSet> {
    let field = table.field("status")?;
    let mut ranges = Vec::new();
    let items = items(&field);
    if items.is_empty() {
        cx.report(
            Problem::at(&field.span, "`status` is an empty list").help("nothing would count as an answer"),
        );
    }
    for (value, span) in items {
        ranges.extend(one_status(cx, value, &span)?.0);
    }
    Some(StatusSet(ranges))
}

fn one_status(cx: &mut Context<'_>, value: &DeValue<'_>, span: &Span) -> Option<StatusSet> {
    let parsed = match value {
        DeValue::Integer(n) => quantities::statuses(n.as_str()),
        DeValue::String(_) => {
            let field = Field {
                key: "status".to_owned(),
                key_span: span.clone(),
                value,
                span: span.clone(),
                inherited: false,
            };
            quantities::statuses(&text_of(cx, &field, r#"status = "2xx""#)?)
        }
        other => Err(wrong_shape(
            "status",
            other,
            "a status, a range or a list of them",
            r#"status = ["2xx", 404]"#,
        )),
    };
    cx.check_key("status", span, parsed)
}
