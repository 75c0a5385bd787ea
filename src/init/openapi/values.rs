//! Examples of an `OpenAPI` description, and the references on the way to them.

use serde_json::Value;

/// Most references that are followed one after the other.
const MOST_REFERENCES: usize = 16;

/// What a `$ref` within the document leads to; the value itself where it is none or leads nowhere.
pub(super) fn resolved<'v>(doc: &'v Value, value: &'v Value) -> &'v Value {
    let mut value = value;
    for _ in 0..MOST_REFERENCES {
        let target = value.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
        match target.and_then(|pointer| doc.pointer(pointer)) {
            Some(target) => value = target,
            None => break,
        }
    }
    value
}

/// A value for a parameter: its example, or what its schema names as example, default or first choice.
pub(super) fn example(doc: &Value, parameter: &Value) -> Option<String> {
    let content = parameter.get("content").and_then(Value::as_object).and_then(|all| all.values().next());
    [Some(parameter), content].into_iter().flatten().find_map(|holder| {
        let named = holder.get("examples").and_then(Value::as_object).and_then(|all| all.values().next());
        let named = named.and_then(|example| resolved(doc, example).get("value"));
        let schema = holder.get("schema").map(|schema| resolved(doc, schema));
        let first = |key: &str| schema?.get(key)?.as_array()?.first();
        let of_schema = |key: &str| schema?.get(key);
        let found = [
            holder.get("example"),
            named,
            of_schema("example"),
            first("examples"),
            of_schema("const"),
            of_schema("default"),
            first("enum"),
            of_items(doc, schema),
        ];
        found.into_iter().flatten().find_map(scalar)
    })
}

/// The example of a list's items: one of them is a list too.
fn of_items<'v>(doc: &'v Value, schema: Option<&'v Value>) -> Option<&'v Value> {
    let items = resolved(doc, schema?.get("items")?);
    items
        .get("example")
        .or_else(|| items.get("default"))
        .or_else(|| items.get("enum").and_then(Value::as_array).and_then(|all| all.first()))
}

/// A value as it stands in a URL; a list as its parts with commas.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Array(all) => {
            let all: Vec<String> = all.iter().filter(|item| !item.is_array()).filter_map(scalar).collect();
            (!all.is_empty()).then(|| all.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
    .filter(|text| !text.is_empty())
}
