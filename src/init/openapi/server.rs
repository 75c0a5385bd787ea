//! The server of an operation: its own, its path's or the document's, unless the command line names one.

use super::{InitError, scalar};
use crate::init::vault::unmarked;
use serde_json::Value;

pub(super) fn of(
    doc: &Value,
    item: &Value,
    operation: &Value,
    asked: Option<&str>,
) -> Result<String, InitError> {
    if let Some(asked) = asked {
        crate::profile::from_urls(&[asked.to_owned()], &[]).map_err(InitError::Urls)?;
        return Ok(unmarked(asked));
    }
    let first =
        |of: &'_ Value| of.get("servers").and_then(Value::as_array).and_then(|all| all.first()).cloned();
    let Some(server) = first(operation).or_else(|| first(item)).or_else(|| first(doc)) else {
        return Err(InitError::new("this description names no server; add --server https://..."));
    };
    let url = server.get("url").and_then(Value::as_str).unwrap_or_default();
    let mut url = unmarked(url);
    let variables = server.get("variables").and_then(Value::as_object);
    for (name, variable) in variables.into_iter().flatten() {
        if let Some(value) = variable.get("default").and_then(scalar) {
            url = url.replace(&format!("{{{name}}}"), &unmarked(&value));
        }
    }
    let absolute =
        url.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http")) && url.contains("://");
    if absolute && !url.contains(['{', '}']) {
        return Ok(url);
    }
    Err(InitError::new("the server of this description is no whole URL; add --server https://..."))
}
