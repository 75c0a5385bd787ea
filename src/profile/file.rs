//! A profile's TOML as a tree with places, and typed looks into it.
//!
//! A [`Layer`] is a table laid over the table of defaults that it inherits from: a key is looked up in the
//! first, then in the second, so that every key can be overridden, also back to its opposite. Knows which
//! shapes values have, not what they mean.

use super::error::{Complaint, Problem, Problems};
use super::expand::{self, Columns, Scope};
use super::nearest::nearest;
use super::source::{Source, Span, visible};
use super::types::{Rows, Template};
use super::validate::keys;
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// What every check may look at, and where it leaves its findings.
pub(super) struct Context<'a> {
    pub source: &'a Source<'a>,
    pub env: &'a dyn Fn(&str) -> Option<String>,
    pub base_dir: &'a Path,
    /// The rows file, once it is read.
    pub rows: Option<Rows>,
    /// Whether there is one that could not be read.
    pub rows_failed: bool,
    pub problems: Problems,
    /// Values of variables whose name says that they are secret.
    pub env_secrets: Vec<String>,
    /// Lines whose syntax is broken: what is found there was made up by the parser's recovery.
    pub broken: HashSet<usize>,
}

impl Context<'_> {
    pub(super) fn report(&mut self, problem: Problem) {
        let problem = problem.without(&self.env_secrets);
        if problem.start().is_none_or(|start| !self.broken.contains(&self.source.line_of(start))) {
            self.problems.push(problem);
        }
    }

    /// Passes a value on, or reports what is wrong with it at its place.
    pub(super) fn check<T>(&mut self, span: &Span, result: Result<T, Complaint>) -> Option<T> {
        result.map_err(|c| self.report(Problem::at(span, c.message).help_if(c.help))).ok()
    }

    /// As [`Self::check`], the message led by the key.
    pub(super) fn check_key<T>(&mut self, key: &str, span: &Span, result: Result<T, Complaint>) -> Option<T> {
        self.check(span, result.map_err(|c| Complaint { message: format!("`{key}`: {}", c.message), ..c }))
    }
}

/// A table with its place.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub table: &'a DeTable<'a>,
    pub span: Span,
}

/// A key's value with its places.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    pub key: String,
    pub key_span: Span,
    pub value: &'a DeValue<'a>,
    pub span: Span,
    /// Whether it comes from the defaults.
    pub inherited: bool,
}

/// A text value, its environment variables expanded.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub value: String,
    pub span: Span,
}

/// A table over the defaults that it inherits from.
#[derive(Debug, Clone)]
pub(super) struct Layer<'a> {
    pub own: Option<Node<'a>>,
    pub base: Option<Node<'a>>,
    /// How messages call it: `[round]`, `[[endpoint]] "shop-0"`.
    pub label: String,
}

impl<'a> Layer<'a> {
    pub(super) fn new(own: Option<Node<'a>>, label: impl Into<String>) -> Self {
        Self { own, base: None, label: label.into() }
    }

    /// The place of the table itself.
    pub(super) fn span(&self) -> Span {
        self.own.as_ref().or(self.base.as_ref()).map_or(0..0, |n| n.span.clone())
    }

    /// The key's value, its own before an inherited one.
    pub(super) fn field(&self, key: &str) -> Option<Field<'a>> {
        self.own_field(key).or_else(|| find(self.base.as_ref(), key, true))
    }

    /// The key's value where the table itself has it.
    pub(super) fn own_field(&self, key: &str) -> Option<Field<'a>> {
        find(self.own.as_ref(), key, false)
    }

    /// Whether the key is switched off with `false`.
    pub(super) fn is_off(&self, key: &str) -> bool {
        self.field(key).is_some_and(|f| matches!(f.value, DeValue::Boolean(false)))
    }

    /// Fields in the order of the file, inherited ones first.
    pub(super) fn fields(&self) -> Vec<Field<'a>> {
        [(self.base.as_ref(), true), (self.own.as_ref(), false)]
            .into_iter()
            .flat_map(|(node, inherited)| fields(node, inherited))
            .collect()
    }

    /// Reports the table's own keys that are none of `known`.
    pub(super) fn check_keys(&self, cx: &mut Context<'_>, known: &[&str]) {
        for field in fields(self.own.as_ref(), false) {
            if !known.contains(&field.key.as_str()) && !cx.problems.is_full() {
                cx.report(unknown_key(&field, &self.label, known));
            }
        }
    }

    /// A text with its environment variables expanded. Values that vary with the round are refused.
    pub(super) fn text(&self, cx: &mut Context<'_>, key: &str, example: &str) -> Option<Text> {
        let (template, span) = self.template(cx, key, example)?;
        fixed(cx, key, &template, span)
    }

    /// A text that may vary with the round.
    pub(super) fn template(
        &self,
        cx: &mut Context<'_>,
        key: &str,
        example: &str,
    ) -> Option<(Template, Span)> {
        let field = self.field(key)?;
        template_of(cx, key, field.value, &field.span, example).map(|t| (t, field.span))
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, cx: &mut Context<'_>, key: &str) -> Option<bool> {
        let field = self.field(key)?;
        if let DeValue::Boolean(flag) = field.value {
            return Some(*flag);
        }
        let help = match field.value.as_str() {
            Some("true" | "yes" | "on") => "write `true`, without quotes",
            Some("false" | "no" | "off") => "write `false`, without quotes",
            _ => "write `true` or `false`",
        };
        cx.report(Problem::at(&field.span, format!("`{key}` must be true or false")).help(help));
        None
    }

    /// A whole number within a range.
    pub(super) fn whole(
        &self,
        cx: &mut Context<'_>,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let field = self.field(key)?;
        let DeValue::Integer(integer) = field.value else {
            let number = field.value.as_str().is_some_and(|s| s.parse::<u64>().is_ok());
            let help = if number { "write the number without quotes" } else { "write for example 2" };
            cx.report(Problem::at(&field.span, format!("`{key}` must be a whole number")).help(help));
            return None;
        };
        let value = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        let value = value.and_then(|v| u64::try_from(v).ok()).filter(|v| range.contains(v));
        if value.is_none() {
            let (low, high) = (range.start(), range.end());
            let bounds = if *high >= u64::from(u32::MAX) {
                format!("at least {low}")
            } else {
                format!("from {low} to {high}")
            };
            cx.report(Problem::at(&field.span, format!("`{key}` must be {bounds}")));
        }
        value
    }

    /// A nested table over the nested table of the defaults. `None` where neither has it or it is off.
    pub(super) fn sub(&self, cx: &mut Context<'_>, key: &str, example: &str) -> Option<Layer<'a>> {
        if self.is_off(key) {
            return None;
        }
        let own = self.own_field(key).and_then(|f| node(cx, &f, example));
        let base = find(self.base.as_ref(), key, true)
            .filter(|f| !matches!(f.value, DeValue::Boolean(_)))
            .and_then(|f| node(cx, &f, example));
        (own.is_some() || base.is_some()).then(|| Layer { own, base, label: format!("`{key}`") })
    }
}

fn find<'a>(node: Option<&Node<'a>>, key: &str, inherited: bool) -> Option<Field<'a>> {
    let (k, v) = node?.table.get_key_value(key)?;
    Some(Field { key: key.to_owned(), key_span: k.span(), value: v.get_ref(), span: v.span(), inherited })
}

fn fields<'a>(node: Option<&Node<'a>>, inherited: bool) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = node
        .into_iter()
        .flat_map(|n| n.table.iter())
        .map(|(k, v)| Field {
            key: k.get_ref().to_string(),
            key_span: k.span(),
            value: v.get_ref(),
            span: v.span(),
            inherited,
        })
        .collect();
    fields.sort_by_key(|f| f.key_span.start);
    fields
}

/// The field as a table.
pub(super) fn node<'a>(cx: &mut Context<'_>, field: &Field<'a>, example: &str) -> Option<Node<'a>> {
    if let DeValue::Table(table) = field.value {
        return Some(Node { table, span: field.span.clone() });
    }
    cx.report(
        Problem::at(&field.span, format!("`{}` must be a table", field.key)).help(format!("write {example}")),
    );
    None
}

/// The text of a value that may vary with the round.
pub(super) fn template_of(
    cx: &mut Context<'_>,
    key: &str,
    value: &DeValue<'_>,
    span: &Span,
    example: &str,
) -> Option<Template> {
    let DeValue::String(text) = value else {
        let what = format!("`{key}` must be text, not {}", kind(value));
        cx.report(Problem::at(span, what).help(format!("write {example}")));
        return None;
    };
    let secret = RefCell::new(Vec::new());
    let expanded = expand::expand(text, &Scope { env: cx.env, columns: columns(cx), secret: &secret });
    for value in secret.into_inner() {
        if !cx.env_secrets.contains(&value) {
            cx.env_secrets.push(value);
        }
    }
    match expanded {
        Ok(template) => Some(template),
        Err(faults) => {
            for (range, complaint) in faults {
                let at = within(cx.source, span, text, &range);
                cx.report(Problem::at(&at, complaint.message).help_if(complaint.help));
            }
            None
        }
    }
}

fn columns<'c>(cx: &'c Context<'_>) -> Columns<'c> {
    match &cx.rows {
        Some(rows) => Columns::Known(&rows.columns),
        None if cx.rows_failed => Columns::Unreadable,
        None => Columns::None,
    }
}

/// The text of a template that must not vary with the round.
pub(super) fn fixed(cx: &mut Context<'_>, key: &str, template: &Template, span: Span) -> Option<Text> {
    if !template.is_fixed() {
        cx.report(
            Problem::at(&span, format!("`{key}` cannot vary with the round"))
                .help("`${round}` and `${rows.NAME}` work in url, replicas, header values and body"),
        );
        return None;
    }
    Some(Text { value: template.fill(0, &[]), span })
}

/// The place of a part of a text, or of the whole text where escapes make that unclear.
pub(super) fn within(source: &Source<'_>, span: &Span, text: &str, part: &std::ops::Range<usize>) -> Span {
    match source.written(span).find(text).filter(|_| !text.is_empty()) {
        Some(at) => span.start + at + part.start..span.start + at + part.end,
        None => span.clone(),
    }
}

/// What a value is, in the words of a message.
pub(super) fn kind(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => "text".to_owned(),
        DeValue::Integer(n) => format!("the number {}", visible(n.as_str())),
        DeValue::Float(n) => format!("the number {}", visible(n.as_str())),
        DeValue::Boolean(b) => format!("{b}"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn unknown_key(field: &Field<'_>, label: &str, known: &[&str]) -> Problem {
    let key = visible(&field.key);
    let problem = Problem::at(&field.key_span, format!("unknown key `{key}` in {label}"));
    if let Some(close) = nearest(&field.key, known.iter().copied()) {
        return problem.help(format!("did you mean `{close}`?"));
    }
    if let Some(meant) = keys::synonym(&field.key).filter(|m| known.contains(m)) {
        return problem.help(format!("did you mean `{meant}`?"));
    }
    if let Some(home) = keys::home(&field.key) {
        return problem.help(format!("`{key}` belongs in {home}"));
    }
    problem.help(format!("the keys here are {}", known.join(", ")))
}
