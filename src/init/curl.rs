//! `curl` command lines as requests. An option that says something of the request is translated, refused, or named in
//! a comment; a value is written only where it is known what it is.

mod asked;
mod options;
mod place;

use super::words::{Command, split};
use super::{Draft, InitError, draft};
use crate::domain::numbers::counted;
use asked::Asked;
use options::Known;

/// Reads the commands of a text into the draft.
///
/// # Errors
/// What a shell could not read, an option that curl does not have, what a profile can't send; without values.
pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), InitError> {
    let script = split(text, &mut draft.vault)?;
    let mut others = 0_u64;
    for command in &script.commands {
        if let Some(arguments) = arguments(command) {
            one(command.line, arguments, draft)?;
        } else {
            torn(command)?;
            others += 1;
        }
    }
    if draft.requests.is_empty() {
        return Err(InitError::new(
            "there is no curl command in the input; in a browser's network panel choose \"Copy as cURL (bash)\" and \
             give that to `fanscope init --curl`",
        ));
    }
    if others > 0 {
        draft.notes.push(format!("left out: {}, not curl", counted(others, "command", "commands")));
    }
    if script.redirected {
        draft.notes.push("redirections of curl's output are left out".to_owned());
    }
    Ok(())
}

/// What begins with an option or a URL is the rest of a command that was torn apart.
fn torn(command: &Command) -> Result<(), InitError> {
    let first = command.words.first().map_or("", String::as_str);
    if !first.starts_with('-') && !first.contains("://") {
        return Ok(());
    }
    let what = "this belongs to the command before it";
    Err(InitError::at(command.line, what, "end the line before it with a backslash, or join the two"))
}

/// The arguments of a command that is curl: behind a prompt, variables that are set for it, and its path.
fn arguments(command: &Command) -> Option<&[String]> {
    let assigns = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    let words = command.words.as_slice();
    let first = words.iter().position(|word| !matches!(word.as_str(), "$" | "%") && !assigns(word))?;
    let program = words.get(first)?.rsplit(['/', '\\']).next().unwrap_or_default();
    let curl = program == "curl" || program.eq_ignore_ascii_case("curl.exe");
    if curl { words.get(first + 1..) } else { None }
}

fn one(line: usize, arguments: &[String], draft: &mut Draft) -> Result<(), InitError> {
    let mut asked = Asked::default();
    gather(arguments, &mut asked)
        .map_err(|why| InitError::new(&format!("the curl command of line {line}: {why}")))?;
    let which = format!("the curl command of line {line}");
    for request in asked.requests().map_err(|why| draft::unfit(&which, &why))? {
        draft.add(request).map_err(|why| draft::unfit(&which, why))?;
    }
    Ok(())
}

/// Reads arguments as curl does. Errors name options, never values.
fn gather(arguments: &[String], asked: &mut Asked) -> Result<(), String> {
    let mut words = arguments.iter();
    let mut only_urls = false;
    while let Some(word) = words.next() {
        if only_urls || !word.starts_with('-') || word == "-" {
            asked.url(word)?;
        } else if word == "--" {
            only_urls = true;
        } else if let Some(name) = word.strip_prefix("--") {
            let (name, attached) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
            long(name, attached, &mut words, asked)?;
        } else {
            letters(word, &mut words, asked)?;
        }
    }
    Ok(())
}

type Words<'a> = std::slice::Iter<'a, String>;

fn long(name: &str, attached: Option<&str>, words: &mut Words<'_>, asked: &mut Asked) -> Result<(), String> {
    if name.starts_with("expand-") {
        return Err("it uses curl's own variables (--expand-...); write their values, or ${NAME}".to_owned());
    }
    if let Some(off) = name.strip_prefix("no-")
        && options::long(off).is_some_and(|known| !known.valued)
    {
        return Ok(());
    }
    let Some(known) = options::long(name) else { return Err(unknown(name)) };
    match (known.valued, attached) {
        (true, Some(value)) => asked.option(known.name, value),
        (true, None) => asked.option(known.name, next(known, words)?),
        (false, None) => asked.option(known.name, ""),
        (false, Some(_)) => Err(format!("--{} takes no value", known.name)),
    }
}

/// Letters behind one dash: flags, and at the end perhaps one with its value.
fn letters(word: &str, words: &mut Words<'_>, asked: &mut Asked) -> Result<(), String> {
    for (at, letter) in word.char_indices().skip(1) {
        let Some(known) = options::short(letter) else {
            return Err(
                "it has a one-letter option that curl does not have; put what is no option in quotes"
                    .to_owned(),
            );
        };
        if known.valued {
            let rest = word.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
            let value = rest.map_or_else(|| next(known, words), Ok)?;
            return asked.option(known.name, value);
        }
        asked.option(known.name, "")?;
    }
    Ok(())
}

fn next<'a>(known: Known, words: &mut Words<'a>) -> Result<&'a str, String> {
    words.next().map(String::as_str).ok_or_else(|| format!("--{} lacks its value", known.name))
}

/// An unknown option is repeated only where it is close to a known one: else it may be anything.
fn unknown(name: &str) -> String {
    match options::meant(name) {
        Some(close) => format!("it has an option that curl does not have; did you mean --{close}?"),
        None => "it has an option that curl does not have; see `curl --help all`".to_owned(),
    }
}

#[cfg(test)]
mod tests;
