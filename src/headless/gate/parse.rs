//! Reads a gate. Every error says what was expected, marks where, and names the nearest word that there is.

use super::metric::is_bare;
use super::value::bound;
use super::words::metric;
use super::{Gate, Op};
use crate::domain::text::visible;
use std::ops::Range;

/// What is wrong with a gate, and where in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// In bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: Vec<String>,
}

impl Fault {
    pub(super) fn new(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { span: span.clone(), message: message.into(), help: Vec::new() }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub(super) fn maybe(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }
}

/// What there is to measure against.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The endpoints' names.
    pub endpoints: &'a [String],
    /// Whether there is a baseline.
    pub baseline: bool,
}

/// Reads a gate such as `missing.shop-3.deadline==0`.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(text: &str, known: Known<'_>) -> Result<Gate, Fault> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.space();
    let parts = cursor.parts()?;
    cursor.space();
    let metric_end = cursor.at;
    let metric = metric(&parts, known.endpoints)?;
    let op = cursor.op(text.get(..metric_end).unwrap_or_default().trim())?;
    cursor.space();
    let span = cursor.at..text.trim_end().len().max(cursor.at);
    let bound = bound(&text[span.clone()], &span, metric.kind(), op, known.baseline)?;
    Ok(Gate { text: text.trim().to_owned(), metric, op, bound })
}

/// A part of a metric, between its dots.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Without its quotes.
    pub(super) word: String,
    pub(super) quoted: bool,
    /// With them, in bytes.
    pub(super) span: Range<usize>,
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> (&'a str, Range<usize>) {
        let rest = self.rest();
        let taken = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let span = self.at..self.at + taken;
        self.at = span.end;
        (rest.get(..taken).unwrap_or_default(), span)
    }

    fn space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// A metric's parts; the first one at least.
    fn parts(&mut self) -> Result<Vec<Part>, Fault> {
        let mut parts = vec![self.part("a metric such as completeness, p99 or missing.ENDPOINT")?];
        while self.rest().starts_with('.') {
            self.at += 1;
            parts.push(self.part("a name after the dot")?);
        }
        Ok(parts)
    }

    fn part(&mut self, wanted: &str) -> Result<Part, Fault> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let star = self.rest().starts_with('*');
        let (word, span) = if star {
            self.at += 1;
            ("*", self.at - 1..self.at)
        } else {
            self.take_while(is_bare)
        };
        if word.is_empty() {
            let found = match self.rest().chars().next() {
                Some(c) => format!("found `{}`", visible(c.encode_utf8(&mut [0; 4]))),
                None => "found the end".to_owned(),
            };
            let len = self.rest().chars().next().map_or(0, char::len_utf8);
            let fault = Fault::new(&(self.at..self.at + len), format!("expected {wanted}, {found}"));
            return Err(
                fault.help("for example 'completeness>=0.98' or 'p99<=250ms'; --help has the whole list")
            );
        }
        Ok(Part { word: word.to_owned(), quoted: false, span })
    }

    fn quoted(&mut self) -> Result<Part, Fault> {
        let start = self.at;
        let mut word = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + at + 1;
                    return Ok(Part { word, quoted: true, span: start..self.at });
                }
                '\\' => word.extend(chars.next().map(|(_, escaped)| escaped)),
                c => word.push(c),
            }
        }
        Err(Fault::new(&(start..self.text.len()), "this quote is not closed")
            .help("write a second \" behind the name"))
    }

    fn op(&mut self, metric: &str) -> Result<Op, Fault> {
        let (word, span) = self.take_while(|c| matches!(c, '<' | '>' | '=' | '!' | '≥' | '≤' | '≠' | '~'));
        if let Some(op) = Op::ALL.into_iter().find(|op| op.as_str() == word) {
            return Ok(op);
        }
        let meant = match word {
            "" if self.rest().is_empty() => {
                return Err(Fault::new(
                    &span,
                    format!("expected an operator after `{}`, found the end", visible(metric)),
                )
                .help("for example >=0.98; the operators are >= <= > < == !=")
                .help("a shell takes > and < for its own unless the expression stands in quotes"));
            }
            "" => {
                let next = self.rest().chars().next().unwrap_or(' ');
                let shown = visible(next.encode_utf8(&mut [0; 4]));
                return Err(Fault::new(
                    &(span.start..span.start + next.len_utf8()),
                    format!("expected an operator, found `{shown}`"),
                )
                .help("the operators are >= <= > < == !=")
                .help(
                    "names with characters other than letters, digits and - _ / : @ stand in double quotes",
                ));
            }
            "=" | "===" => "==",
            "=>" | "≥" => ">=",
            "=<" | "≤" => "<=",
            "<>" | "≠" | "!" => "!=",
            _ => "",
        };
        let fault = Fault::new(&span, format!("`{}` is no operator", visible(word)));
        Err(if meant.is_empty() {
            fault.help("the operators are >= <= > < == !=")
        } else {
            fault.help(format!("write `{meant}`"))
        })
    }
}
