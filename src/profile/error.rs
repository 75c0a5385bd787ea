//! What is wrong with a profile: every fault with its place, the line itself, and what to do about it.

use super::secrets;
use super::source::{Source, Span};
use std::collections::HashSet;
use std::fmt;

/// Errors that are shown; a file with more of them says how many there are.
const SHOWN: usize = 100;

/// Errors that are kept at all: no file needs more to be mended, and a hostile one could hold millions.
const KEPT: usize = 10_000;

/// All faults of one profile, in the order of the file. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileErrors {
    name: String,
    errors: Vec<ProfileError>,
    /// How many there are; `errors` holds the first of them.
    total: usize,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileError {
    /// Where, for faults that have a place.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: Vec<String>,
    /// Another place that matters, and why.
    pub other: Option<(Place, String)>,
}

/// A place in the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What stands instead of file, line and column where the text is an argument of the command line.
    pub label: Option<String>,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The line, ready to show.
    pub mark: Mark,
}

/// A line of the profile as it is shown: secrets masked, control characters visible, cut to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The line or the part of it around the fault.
    pub text: String,
    /// First marked cell, counted from 0.
    pub caret: usize,
    /// Marked cells, at least 1.
    pub length: usize,
}

impl ProfileErrors {
    /// A fault of the whole file.
    pub(crate) fn whole(name: &str, message: impl Into<String>, help: &[String]) -> Self {
        let error = ProfileError { place: None, message: message.into(), help: help.to_vec(), other: None };
        Self { name: super::source::visible_all(name), errors: vec![error], total: 1 }
    }

    /// The first hundred faults.
    #[must_use]
    pub fn errors(&self) -> &[ProfileError] {
        &self.errors
    }

    /// The file's name, safe to show.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn render(&self, error: &ProfileError) -> String {
        let Some(place) = &error.place else {
            let mut out = format!("{}: {}\n", self.name, error.message);
            error.help.iter().for_each(|help| out.extend(["  = ", help.as_str(), "\n"]));
            return out;
        };
        let last = error.other.as_ref().map_or(place.line, |(other, _)| place.line.max(other.line));
        let gutter = if place.label.is_some() { 1 } else { last.to_string().len() };
        let mut out = format!("{}: {}\n{:gutter$} |\n", self.label(place), error.message, "");
        let mut lines = vec![(place, "")];
        lines.extend(error.other.as_ref().map(|(other, why)| (other, why.as_str())));
        lines.sort_by_key(|(place, _)| place.line);
        out.extend(lines.iter().map(|(place, why)| shown_line(place, gutter, why)));
        out.extend(error.help.iter().map(|help| format!("{:gutter$} = {help}\n", "")));
        out
    }

    fn label(&self, place: &Place) -> String {
        match &place.label {
            Some(label) => label.clone(),
            None => format!("{}:{}:{}", self.name, place.line, place.column),
        }
    }
}

fn shown_line(place: &Place, gutter: usize, why: &str) -> String {
    let Mark { text, caret, length } = &place.mark;
    let number = if place.label.is_some() { String::new() } else { place.line.to_string() };
    let carets = "^".repeat(*length);
    let under = format!("{:gutter$} | {:caret$}{carets} {why}", "", "");
    format!("{}\n{}\n", format!("{number:>gutter$} | {text}").trim_end(), under.trim_end())
}

impl fmt::Display for ProfileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.errors.iter().map(|e| self.render(e)).collect();
        f.write_str(shown.join("\n").trim_end())?;
        match self.total {
            0 | 1 => Ok(()),
            n if n > SHOWN => write!(f, "\n\n{n} errors in {}; the first {SHOWN} are shown", self.name),
            n => write!(f, "\n\n{n} errors in {}", self.name),
        }
    }
}

impl std::error::Error for ProfileErrors {}

/// A fault before it is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    span: Option<Span>,
    message: String,
    help: Vec<String>,
    other: Option<(Span, String)>,
}

impl Problem {
    pub(crate) fn at(span: &Span, message: impl Into<String>) -> Self {
        Self { span: Some(span.clone()), message: message.into(), help: Vec::new(), other: None }
    }

    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { span: None, message: message.into(), help: Vec::new(), other: None }
    }

    /// The same without these values, which may have come into it from the environment.
    pub(crate) fn without(mut self, values: &[String]) -> Self {
        for value in values {
            self.message = secrets::hide_value(&self.message, value);
            for help in &mut self.help {
                *help = secrets::hide_value(help, value);
            }
        }
        self
    }

    /// Its first byte, for those that have a place.
    pub(crate) fn start(&self) -> Option<usize> {
        self.span.as_ref().map(|s| s.start)
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub(crate) fn help_if(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    pub(crate) fn other(mut self, span: &Span, why: impl Into<String>) -> Self {
        self.other = Some((span.clone(), why.into()));
        self
    }
}

/// Faults as they are found. A fault of a shared default is found once per endpoint and kept once.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
    seen: HashSet<(Option<usize>, String)>,
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if !self.is_full() && self.seen.insert((problem.start(), problem.message.clone())) {
            self.list.push(problem);
        }
    }

    /// Whether there is no point in looking for more.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= KEPT
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn render(mut self, source: &Source<'_>) -> ProfileErrors {
        self.list.sort_by_key(|p| p.start().unwrap_or(0));
        let total = self.list.len();
        let errors = self
            .list
            .into_iter()
            .take(SHOWN)
            .map(|p| ProfileError {
                place: p.span.map(|span| source.place(&span)),
                message: p.message,
                help: p.help,
                other: p.other.map(|(span, why)| (source.place(&span), why)),
            })
            .collect();
        ProfileErrors { name: source.name().to_owned(), errors, total }
    }
}

/// What is wrong with a single value, without a place yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Complaint {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()) }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Complaint {}
