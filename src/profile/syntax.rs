//! TOML syntax: from text to tree, and its errors in the words of someone who did not write a parser.

use super::error::{Problem, Problems};
use super::source::{Source, Span, visible};
use std::collections::HashSet;
use toml::Spanned;
use toml::de::{DeTable, Error};

/// Syntax errors that are told; recovering from one tends to invent others.
const TOLD: usize = 5;

/// A parsed document.
pub(crate) struct Document<'a> {
    pub root: Spanned<DeTable<'a>>,
    /// Whether the tree is whole enough for its values to be checked.
    pub usable: bool,
    /// Lines with a syntax error, whose values are not to be trusted.
    pub broken: HashSet<usize>,
}

/// Parses the text; its syntax errors go to `problems`.
pub(crate) fn parse<'a>(source: &Source<'a>, problems: &mut Problems) -> Document<'a> {
    let (root, mut errors) = DeTable::parse_recoverable(source.text());
    errors.sort_by_key(|e| e.span().map_or(0, |s| s.start));
    let mut broken = HashSet::new();
    let usable = errors.iter().all(is_local);
    // A table that is there twice brings its keys along: those are no faults of their own.
    let mut twice = None;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let line = source.line_of(span.start.min(source.text().len()));
        if broken.len() < TOLD && error.message().starts_with("duplicate key") {
            let header = last_header(source, line);
            if twice.is_some() && header == twice {
                continue;
            }
            twice = header.filter(|&h| h == line);
        }
        if broken.insert(line) && broken.len() <= TOLD {
            problems.push(problem(source, &error, &span, line));
        }
    }
    Document { root, usable, broken }
}

/// Whether the parser's tree is right but for the value at the error.
fn is_local(error: &Error) -> bool {
    ["duplicate key", "string values must be quoted", "invalid boolean"]
        .iter()
        .any(|m| error.message().starts_with(m))
}

fn problem(source: &Source<'_>, error: &Error, span: &Span, line: usize) -> Problem {
    let bounds = source.line_span(line);
    let text = source.written(&bounds);
    let message = error.message();
    if message.starts_with("duplicate key") {
        return duplicate(source, span, line);
    }
    if let Some((message, help)) = common_mistake(text, message) {
        return Problem::at(span, message).help(help);
    }
    // "x, expected y": the expectation reads better on a line of its own.
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let problem = Problem::at(span, format!("not valid TOML: {}", visible(what)));
    problem.help_if((!expected.is_empty()).then(|| format!("expected {expected}")))
}

/// What people write who think in other notations.
fn common_mistake(line: &str, message: &str) -> Option<(String, String)> {
    let tell = |message: &str, help: String| Some((message.to_owned(), help));
    let trimmed = line.trim();
    if trimmed.contains(['“', '”', '‘', '’']) {
        return tell("typographic quotes are not quotes in TOML", r#"use plain quotes: " or '"#.to_owned());
    }
    if trimmed.starts_with(['{', '}']) || trimmed == "---" {
        return tell(
            "this is not TOML",
            "write TOML: headers such as `[round]`, and lines of `key = value`".to_owned(),
        );
    }
    let unquoted_value = ["string values must be quoted", "invalid boolean", "missing value"];
    if unquoted_value.iter().any(|m| message.starts_with(m)) {
        return unquoted(trimmed);
    }
    if message.starts_with("key with no value")
        || (message.contains("unquoted key") && yaml_key(trimmed).is_some())
    {
        return Some(no_value(trimmed));
    }
    if message.contains("unquoted key") {
        return tell("this is not a key", "a key is letters, digits, - and _, or text in quotes".to_owned());
    }
    if message.starts_with("missing comma") {
        return tell(
            "a comma is missing here, or the end of the list or table before",
            "items are parted by commas; a list ends with ] and an inline table with }".to_owned(),
        );
    }
    if message.starts_with("unexpected key or value") {
        return tell(
            "there is something behind the value",
            "one `key = value` a line; a comment begins with #".to_owned(),
        );
    }
    if message.contains("escape") || message.contains("unicode") {
        return tell(
            "a backslash in double quotes begins an escape",
            r"write it twice (\\), or put the text in single quotes: 'C:\certs\ca.pem'".to_owned(),
        );
    }
    if message.starts_with("invalid basic string") || message.starts_with("invalid literal string") {
        return tell(
            "this text is not closed on its line, or holds a control character",
            "end it with the quote it began with; text over several lines goes in \"\"\"…\"\"\"".to_owned(),
        );
    }
    if message.starts_with("unclosed table") || message.starts_with("unclosed array of tables") {
        return tell(
            "this table header is not closed",
            "a header ends with the brackets that it begins with: `[round]`, `[[endpoint]]`".to_owned(),
        );
    }
    None
}

fn unquoted(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let message = |m: &str| Some(m.to_owned());
    let (message, help) = match value {
        "" => (message("this key has no value"), format!("write for example `{} = \"…\"`", visible(key))),
        "True" | "TRUE" | "yes" | "on" => {
            (message("true and false are written small"), "write `true`".to_owned())
        }
        "False" | "FALSE" | "no" | "off" => {
            (message("true and false are written small"), "write `false`".to_owned())
        }
        v if v.len() < 40 && !v.contains(['"', '\'', ',', '{', '[', '$', '@', ':']) => {
            (message("text must be in quotes"), format!("write {} = \"{}\"", visible(key), visible(v)))
        }
        _ => (message("text must be in quotes"), "put the value between \" and \"".to_owned()),
    };
    message.map(|m| (m, help))
}

fn no_value(line: &str) -> (String, String) {
    let help = match yaml_key(line) {
        Some(key) => format!("write `{} = …`: TOML takes `=`, not `:`", visible(key)),
        None => "write `key = value`, or begin a comment with #".to_owned(),
    };
    ("this is neither `key = value` nor a [table]".to_owned(), help)
}

/// The key of a line of YAML.
fn yaml_key(line: &str) -> Option<&str> {
    line.split_once(':').map(|(key, _)| key).filter(|key| !key.is_empty() && !key.contains(['=', '"', ' ']))
}

/// A key or table that is there already; the parser does not say where.
fn duplicate(source: &Source<'_>, span: &Span, line: usize) -> Problem {
    let name = source.written(span).trim_matches(['"', '\'']);
    let text = source.written(&source.line_span(line)).trim();
    let shown = visible(name);
    let first = if text.starts_with('[') {
        (0..line).find(|&l| header(source, l).is_some_and(|h| Some(h) == header(source, line)))
    } else {
        (0..line)
            .rev()
            .take_while(|&l| header(source, l).is_none())
            .filter(|&l| key(source, l) == Some(name))
            .last()
    };
    let problem = Problem::at(span, format!("`{shown}` is there twice"));
    let problem = match first {
        Some(first) => problem.other(&source.line_span(first), "the first one"),
        None => problem,
    };
    if text.starts_with("[endpoint]") || text.starts_with("[[endpoint.simulate]]") {
        return problem.help("each endpoint begins with `[[endpoint]]`, in two brackets");
    }
    problem.help("keep one of the two")
}

fn header<'a>(source: &Source<'a>, line: usize) -> Option<&'a str> {
    let text = source.written(&source.line_span(line)).trim();
    text.starts_with('[').then(|| text.split('#').next().unwrap_or_default().trim())
}

/// The line of the table header at or before a line.
fn last_header(source: &Source<'_>, line: usize) -> Option<usize> {
    (0..=line).rev().find(|&l| header(source, l).is_some())
}

fn key<'a>(source: &Source<'a>, line: usize) -> Option<&'a str> {
    let (key, _) = source.written(&source.line_span(line)).split_once('=')?;
    Some(key.trim().trim_matches(['"', '\'']))
}
