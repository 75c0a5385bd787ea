//! `OpenAPI` 3 as JSON: each path that can be read with GET is an endpoint, its parameters filled from the examples of
//! the description.

mod server;
mod values;

use super::draft::{Draft, Request};
use super::{InitError, vault::unmarked};
use crate::domain::numbers::counted;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use values::{example, resolved, scalar};

/// What a value in a path or a query leaves as it is.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reads the paths of a description into the draft.
///
/// # Errors
/// Where it is none, names no server that can be asked, or has no path that can be.
pub(super) fn read(text: &str, server: Option<&str>, draft: &mut Draft) -> Result<(), InitError> {
    let doc = document(text)?;
    let Some(paths) = doc.get("paths").and_then(Value::as_object).filter(|paths| !paths.is_empty()) else {
        return Err(InitError::new("this description has no paths, so there is nothing to ask"));
    };
    let mut others = 0_u64;
    let mut skipped = Vec::new();
    for (path, item) in paths {
        let item = resolved(&doc, item);
        let Some(operation) = item.get("get") else {
            others += 1;
            continue;
        };
        let server = server::of(&doc, item, operation, server)?;
        let request = Get { doc: &doc, item, operation, draft: &mut *draft }.request(&server, path);
        let added = request.and_then(|request| draft.add(request).map_err(str::to_owned));
        if let Err(why) = added {
            skipped.push(format!("skipped {}: {why}", unmarked(path)));
        }
    }
    if draft.requests.is_empty() {
        let why = skipped.first().map_or("no path has a GET", String::as_str);
        let why = crate::domain::text::clean(why);
        return Err(InitError::new(&format!("this description has no path that can be asked; {why}")));
    }
    draft.notes.extend(skipped);
    if others > 0 {
        draft.notes.push(format!("left out: {} without GET", counted(others, "path", "paths")));
    }
    Ok(())
}

fn document(text: &str) -> Result<Value, InitError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let doc: Value = serde_json::from_str(text).map_err(|error| {
        let yaml = !text.starts_with(['{', '[']) && text.contains(':');
        InitError::new(&if yaml {
            "this looks like YAML; convert it to JSON, for example with `yq -o=json . FILE`".to_owned()
        } else {
            format!("this is not JSON from line {}, column {} on", error.line(), error.column())
        })
    })?;
    let version = doc.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if doc.get("swagger").is_some() {
        return Err(InitError::new(
            "this is Swagger 2; convert it to OpenAPI 3, for example at https://converter.swagger.io",
        ));
    }
    if !version.starts_with("3.") {
        return Err(InitError::new(
            "this is JSON, but no OpenAPI 3: it does not say `\"openapi\": \"3...\"`",
        ));
    }
    Ok(doc)
}

/// A GET with all that it inherits.
struct Get<'a> {
    doc: &'a Value,
    item: &'a Value,
    operation: &'a Value,
    draft: &'a mut Draft,
}

impl Get<'_> {
    fn request(mut self, server: &str, path: &str) -> Result<Request, String> {
        let mut filled = unmarked(path);
        let mut query = Vec::new();
        let mut headers = Vec::new();
        for parameter in self.parameters() {
            let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
            let (name, place) = (unmarked(text("name")), text("in"));
            let required = parameter.get("required").and_then(Value::as_bool).unwrap_or(false);
            if !required && place != "path" {
                continue;
            }
            let Some(value) = example(self.doc, parameter) else {
                return Err(format!("its {place} parameter `{name}` has no example"));
            };
            let value = unmarked(&value);
            match place {
                "path" => filled = filled.replace(&format!("{{{name}}}"), &encode(&value)),
                "query" => query.push(format!("{}={}", encode(&name), encode(&value))),
                "header" => headers.push((name, value)),
                "cookie" => headers.push(("cookie".to_owned(), format!("{name}={value}"))),
                _ => return Err("it has a parameter of an unknown place".to_owned()),
            }
        }
        if filled.contains(['{', '}']) {
            return Err("its path has a parameter that is not described".to_owned());
        }
        self.secure(&mut query, &mut headers)?;
        let deprecated = self.operation.get("deprecated").and_then(Value::as_bool) == Some(true);
        let notes = if deprecated { vec!["deprecated".to_owned()] } else { Vec::new() };
        let url = format!("{}{filled}", server.trim_end_matches('/'));
        Ok(Request { query, headers, notes, ..Request::get(url) })
    }

    /// Those of the path under those of the operation, which replace them by name and place.
    fn parameters(&self) -> Vec<&Value> {
        let mut all: Vec<&Value> = Vec::new();
        for of in [self.item, self.operation] {
            for parameter in of.get("parameters").and_then(Value::as_array).into_iter().flatten() {
                let parameter = resolved(self.doc, parameter);
                all.retain(|known| ["name", "in"].iter().any(|key| known.get(key) != parameter.get(key)));
                all.push(parameter);
            }
        }
        all
    }

    /// The first of the ways to authenticate that are described; its secrets are variables from the start.
    fn secure(&mut self, query: &mut Vec<String>, headers: &mut Vec<(String, String)>) -> Result<(), String> {
        let ways = self.operation.get("security").or_else(|| self.doc.get("security"));
        let Some(way) = ways.and_then(Value::as_array).and_then(|ways| ways.first()) else { return Ok(()) };
        for name in way.as_object().into_iter().flat_map(|way| way.keys()) {
            let scheme = self.doc.pointer("/components/securitySchemes").and_then(|all| all.get(name));
            let Some(scheme) = scheme.map(|scheme| resolved(self.doc, scheme)) else {
                return Err("it names a security scheme that is not described".to_owned());
            };
            let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
            let basic = text("scheme").eq_ignore_ascii_case("basic");
            let secret = self.draft.vault.asked(if basic { "basic auth" } else { name });
            let key = unmarked(text("name"));
            match (text("type"), text("in")) {
                ("apiKey", "query") => query.push(format!("{}={secret}", encode(&key))),
                ("apiKey", "cookie") => headers.push(("cookie".to_owned(), format!("{key}={secret}"))),
                ("apiKey", _) => headers.push((key, secret)),
                ("mutualTLS", _) => return Err("it wants a client certificate".to_owned()),
                _ => {
                    let scheme = if basic { "Basic" } else { "Bearer" };
                    headers.push(("authorization".to_owned(), format!("{scheme} {secret}")));
                }
            }
        }
        Ok(())
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}
