//! Values of the file, each with its line, and what is wrong with those that are not right.

use crate::profile::error::{Problem, Problems};
use crate::profile::nearest::{list, nearest};
use crate::profile::source::{Source, Span, visible};
use std::borrow::Cow;
use std::collections::HashSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// Its line, counted from 1.
    pub line: usize,
}

/// The file as it is read, and what was wrong so far.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) problems: Problems,
    /// Lines whose syntax is broken: what is found there was made up by the parser.
    pub(super) broken: HashSet<usize>,
}

impl Reader<'_> {
    pub(super) fn report(&mut self, problem: Problem) {
        if problem.start().is_none_or(|start| !self.broken.contains(&self.source.line_of(start))) {
            self.problems.push(problem);
        }
    }

    /// Counted from 1.
    pub(super) fn line(&self, span: &Span) -> usize {
        self.source.line_of(span.start) + 1
    }

    fn found<T>(&self, value: T, span: &Span) -> Found<T> {
        Found { value, line: self.line(span) }
    }

    /// One of some words.
    pub(super) fn word<T>(
        &mut self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        words: &[&'static str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Found<T>> {
        let span = value.span();
        let example = words.first().copied().unwrap_or_default();
        let Some(word) = value.get_ref().as_str() else {
            self.report(
                Problem::at(&span, format!("`{key}` must be text"))
                    .help(format!("write for example `{key} = \"{example}\"`")),
            );
            return None;
        };
        let read = parse(word);
        if read.is_none() {
            let problem = Problem::at(&span, format!("`{}` is no {key}", visible(word)));
            let meant = nearest(word, words.iter().copied()).map(|word| format!("did you mean `{word}`?"));
            self.report(problem.help_if(meant).help(format!("write {}", list(words))));
        }
        read.map(|read| self.found(read, &span))
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Found<bool>> {
        let read = value.get_ref().as_bool();
        if read.is_none() {
            self.report(Problem::at(&value.span(), format!("`{key}` must be true or false, without quotes")));
        }
        read.map(|read| self.found(read, &value.span()))
    }

    /// A number above 0.
    pub(super) fn rate(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Found<f64>> {
        let read = match value.get_ref() {
            DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok(),
            DeValue::Float(n) => n.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let read = read.filter(|n| *n > 0.0 && n.is_finite());
        if read.is_none() {
            self.report(
                Problem::at(&value.span(), format!("`{key}` must be a number above 0"))
                    .help(format!("write for example `{key} = 20`: attempts a second, host and port")),
            );
        }
        read.map(|read| self.found(read, &value.span()))
    }

    /// A table's entries.
    pub(super) fn table<'t, 'v>(
        &mut self,
        key: &str,
        value: &'t Spanned<DeValue<'v>>,
    ) -> Option<&'t DeTable<'v>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.report(
                Problem::at(&value.span(), format!("`{key}` must be a table"))
                    .help(format!("write `[{key}]` on a line of its own, and its keys below")),
            );
        }
        table
    }

    /// A key that is none of those that are known; `home` says where it belongs, where it belongs elsewhere.
    pub(super) fn unknown(
        &mut self,
        key: &Spanned<Cow<'_, str>>,
        what: &str,
        known: &[&str],
        home: Option<String>,
    ) {
        let word = key.get_ref();
        let problem = Problem::at(&key.span(), format!("`{}` is no {what}", visible(word)));
        let help = home
            .or_else(|| nearest(word, known.iter().copied()).map(|near| format!("did you mean `{near}`?")));
        // A list of fifty actions would hide what is wrong.
        let all = if known.len() > 12 {
            "`fanscope --print-config` lists them all".to_owned()
        } else {
            format!("known here: {}", known.join(", "))
        };
        self.report(problem.help(help.unwrap_or(all)));
    }
}
