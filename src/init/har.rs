//! HAR, the network log that browsers save: one entry, one endpoint.

use super::draft::{Draft, Request};
use super::{InitError, vault::unmarked};
use serde_json::Value;
use std::time::Duration;
use url::form_urlencoded;

/// Budgets that are proposed: the next above what nearly all entries took.
const BUDGETS: [u64; 12] = [50, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000];

/// Reads the entries of a HAR into the draft.
///
/// # Errors
/// Where it is none, or none of its entries can be asked.
pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), InitError> {
    let har: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        InitError::new(&format!(
            "this is no HAR: it is not JSON from line {line}, column {column} on; save it anew from the browser's network \
             panel"
        ))
    })?;
    let Some(entries) = har.pointer("/log/entries").and_then(Value::as_array) else {
        return Err(InitError::new(
            "this is JSON, but no HAR: it has no log.entries; save one from the browser's network panel",
        ));
    };
    if entries.is_empty() {
        return Err(InitError::new(
            "this HAR has no entries; reload the page while the network panel records",
        ));
    }
    let mut skipped: Vec<(String, usize)> = Vec::new();
    let mut times = Vec::new();
    for entry in entries {
        let added = request(entry).and_then(|request| draft.add(request).map_err(str::to_owned));
        match added {
            Ok(()) => times.extend(entry.get("time").and_then(Value::as_f64).filter(|time| *time > 0.0)),
            Err(why) => match skipped.iter_mut().find(|(known, _)| *known == why) {
                Some((_, times)) => *times += 1,
                None => skipped.push((why, 1)),
            },
        }
    }
    let skipped = skipped
        .into_iter()
        .map(|(why, times)| format!("skipped {times} of {} entries: {why}", entries.len()));
    if draft.requests.is_empty() {
        let why: Vec<String> = skipped.collect();
        return Err(InitError::new(&format!("this HAR has no entry that can be asked; {}", why.join("; "))));
    }
    draft.notes.extend(skipped);
    draft.budget = budget(times);
    Ok(())
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// Names and values of a list of them.
fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let pair = |item: &Value| {
        Some((unmarked(text(item, "/name")?), unmarked(text(item, "/value").unwrap_or_default())))
    };
    value.and_then(Value::as_array).into_iter().flatten().filter_map(pair).collect()
}

fn request(entry: &Value) -> Result<Request, String> {
    let url = text(entry, "/request/url").ok_or("they have no URL")?;
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    match scheme.as_str() {
        "http" | "https" => {}
        "data" | "blob" | "ws" | "wss" | "file" | "about" | "chrome-extension" | "moz-extension" => {
            return Err(format!("{scheme}: is not asked over HTTP"));
        }
        _ => return Err("their URLs do not begin with http:// or https://".to_owned()),
    }
    let method = text(entry, "/request/method").unwrap_or("GET").to_ascii_uppercase();
    let mut headers = pairs(entry.pointer("/request/headers"));
    let cookies = pairs(entry.pointer("/request/cookies"));
    if !cookies.is_empty() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
        let cookies: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        headers.push(("cookie".to_owned(), cookies.join("; ")));
    }
    let body = match entry.pointer("/request/postData").filter(|data| !data.is_null()) {
        Some(data) => body(data, &mut headers)?,
        None => None,
    };
    let status =
        entry.pointer("/response/status").and_then(Value::as_u64).and_then(|s| u16::try_from(s).ok());
    let mut request = Request { method, url: unmarked(url), headers, body, ..Request::default() };
    match status {
        Some(304) | None => {}
        Some(status @ 300..=399) => {
            request.status = Some(status);
            request.notes.push(format!("answered {status} when it was recorded; redirects are not followed"));
        }
        Some(status @ 400..=599) => request.notes.push(format!("answered {status} when it was recorded")),
        Some(0) => request.notes.push("had no answer when it was recorded".to_owned()),
        Some(_) => {}
    }
    Ok(request)
}

/// The body, as text or as the fields of a form.
fn body(data: &Value, headers: &mut Vec<(String, String)>) -> Result<Option<String>, String> {
    let kind = text(data, "/mimeType").unwrap_or_default();
    if text(data, "/encoding").is_some_and(|encoding| !encoding.is_empty()) {
        return Err("their bodies are not text".to_owned());
    }
    let written = text(data, "/text").filter(|text| !text.is_empty()).map(unmarked);
    let fields = pairs(data.get("params"));
    if written.is_none() && kind.to_ascii_lowercase().starts_with("multipart/") {
        return Err("their bodies have several parts, which a profile can't send".to_owned());
    }
    let form = || {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(&fields).finish()
    };
    let body = written.or_else(|| (!fields.is_empty()).then(form));
    let said = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if body.is_some() && !said && !kind.is_empty() {
        headers.push(("content-type".to_owned(), unmarked(kind)));
    }
    Ok(body)
}

/// The 95th percentile of what entries took, rounded up, and where it comes from.
fn budget(mut times: Vec<f64>) -> Option<(Duration, String)> {
    times.sort_by(f64::total_cmp);
    let slowest = *times.last()?;
    let p95 = *times.get((times.len() * 95).div_ceil(100).saturating_sub(1))?;
    #[expect(clippy::cast_precision_loss, reason = "small round numbers")]
    let budget = BUDGETS.into_iter().find(|&ms| p95 <= ms as f64).or(BUDGETS.last().copied())?;
    let why = format!("95 of 100 entries took at most {p95:.0} ms, the slowest {slowest:.0} ms");
    Some((Duration::from_millis(budget), why))
}
