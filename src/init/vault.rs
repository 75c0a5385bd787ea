//! Secrets on their way out of a text: each becomes a variable, and only its name goes on. Within texts a variable
//! is its name between two marks, which no real text holds; [`Vault::spelled`] writes it as a profile does.

use crate::profile::secrets::is_secret_key;
use std::collections::{HashMap, HashSet};

/// Before and behind the name of a variable: Unicode keeps these two free for a program's own use.
const MARKS: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Shorter secrets can't be told from words where they stand again.
const SHORTEST: usize = 8;

/// Longest name of a variable that is made from a key.
const LONGEST_NAME: usize = 40;

/// The variables of a profile, and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Vault {
    /// In the order of their finding.
    names: Vec<String>,
    known: HashSet<String>,
    /// Names of those made here, by their value.
    kept: HashMap<String, Vec<String>>,
    /// The last number that a name ends in.
    numbers: HashMap<String, usize>,
}

/// Long secrets by how they begin.
pub(super) type Index<'a> = HashMap<&'a [u8], Vec<(&'a str, &'a str)>>;

/// A part of a text.
pub(super) enum Part<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// The parts of a text that may hold variables.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(MARKS[0]) {
        let (name, behind) = behind.split_once(MARKS[1]).unwrap_or((behind, ""));
        parts.extend([Part::Text(before), Part::Variable(name)]);
        rest = behind;
    }
    parts.push(Part::Text(rest));
    parts
}

/// The text with something else for each of its parts.
pub(super) fn rewritten(text: &str, mut text_part: impl FnMut(&str) -> String) -> String {
    let part = |part| match part {
        Part::Text(text) => text_part(text),
        Part::Variable(name) => mark(name),
    };
    parts(text).into_iter().map(part).collect()
}

/// The text with a harmless value for each variable.
pub(super) fn filled(text: &str) -> String {
    let part = |part| match part {
        Part::Text(text) => text,
        Part::Variable(_) => PLACEHOLDER,
    };
    parts(text).into_iter().map(part).collect()
}

/// The text with the name of each variable.
pub(super) fn named(text: &str) -> String {
    text.replace(MARKS, "")
}

/// A value that passes wherever a variable may stand: in a host, a port, a path, a number.
pub(super) const PLACEHOLDER: &str = "1";

/// The text without what would pass for a variable of ours.
pub(super) fn unmarked(text: &str) -> String {
    text.replace(MARKS, "\u{fffd}")
}

fn mark(name: &str) -> String {
    format!("{}{name}{}", MARKS[0], MARKS[1])
}

impl Vault {
    /// A variable that the input names.
    pub(super) fn given(&mut self, name: &str) -> String {
        self.add(name.to_owned());
        mark(name)
    }

    /// Whether the name is new.
    fn add(&mut self, name: String) -> bool {
        let new = self.known.insert(name.clone());
        if new {
            self.names.push(name);
        }
        new
    }

    /// Puts a secret away; what stands in its place. `hint` is the key under which it was found.
    pub(super) fn keep(&mut self, hint: &str, secret: &str) -> String {
        rewritten(secret, |text| if text.is_empty() { String::new() } else { mark(&self.named(hint, text)) })
    }

    /// A variable for a secret that is not known yet; one for each hint.
    pub(super) fn asked(&mut self, hint: &str) -> String {
        let name = variable(hint);
        self.given(&name)
    }

    /// The name under which a secret is kept.
    fn named(&mut self, hint: &str, secret: &str) -> String {
        let base = variable(hint);
        let same = |name: &&String| name.starts_with(&base) || secret.len() >= SHORTEST;
        if let Some(name) = self.kept.get(secret).and_then(|names| names.iter().find(same)) {
            return name.clone();
        }
        let mut name = base.clone();
        while !self.add(name.clone()) {
            let number = self.numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            name = format!("{base}_{number}");
        }
        self.kept.entry(secret.to_owned()).or_default().push(name.clone());
        name
    }

    /// Every variable's name.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// What [`scrubbed`] looks for.
    pub(super) fn index(&self) -> Index<'_> {
        let mut index = Index::new();
        for (secret, names) in &self.kept {
            if let (Some(start), Some(name)) = (secret.as_bytes().get(..SHORTEST), names.first()) {
                index.entry(start).or_default().push((secret, name));
            }
        }
        index
    }

    /// The text as a profile writes it: `${NAME}` for a variable, `$$` for a dollar sign. A name that is none of
    /// ours came in by a trick and is left out.
    pub(super) fn spelled(&self, text: &str) -> String {
        let part = |part| match part {
            Part::Text(text) => text.replace('$', "$$"),
            Part::Variable(name) if self.known.contains(name) => format!("${{{name}}}"),
            Part::Variable(_) => String::new(),
        };
        parts(text).into_iter().map(part).collect()
    }
}

/// The text with a variable wherever a secret stands once more, outside of its own place.
pub(super) fn scrubbed(index: &Index<'_>, text: &str) -> String {
    rewritten(text, |part| {
        let (mut out, mut from, mut at) = (String::new(), 0, 0);
        while let Some(start) = part.as_bytes().get(at..at + SHORTEST) {
            let rest = part.as_bytes().get(at..).unwrap_or_default();
            let here = index.get(start).into_iter().flatten();
            let found =
                here.filter(|(secret, _)| rest.starts_with(secret.as_bytes())).max_by_key(|(s, _)| s.len());
            let Some((secret, name)) = found else {
                at += 1;
                continue;
            };
            out += part.get(from..at).unwrap_or_default();
            out += &mark(name);
            at += secret.len();
            from = at;
        }
        out + part.get(from..).unwrap_or_default()
    })
}

/// The name of a variable for what stands under a key. It says of itself that it is secret, so that its value is
/// hidden wherever it could be shown.
fn variable(hint: &str) -> String {
    let mut name = String::new();
    for c in hint.chars().take(LONGEST_NAME) {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_uppercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    let digit = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    match name {
        "" => "SECRET".to_owned(),
        name if is_secret_key(name) => format!("{digit}{name}"),
        name => format!("{digit}{name}_SECRET"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_one_name_and_two_secrets_have_two() {
        let mut vault = Vault::default();
        let one = vault.keep("x-api-key", "abc");
        assert_eq!(vault.keep("x-api-key", "abc"), one);
        let two = vault.keep("x-api-key", "def");
        assert_eq!(vault.spelled(&format!("{one}/{two}")), "${X_API_KEY}/${X_API_KEY_2}");
        assert_eq!(vault.keep("x-api-key", ""), "");
    }

    #[test]
    fn names_are_those_of_variables_and_say_that_they_are_secret() {
        for (hint, name) in [
            ("token", "TOKEN"),
            ("sid", "SID"),
            ("cart", "CART_SECRET"),
            ("2fa[key]", "_2FA_KEY"),
            ("", "SECRET"),
            ("ключ", "SECRET"),
            ("a--b", "A_B_SECRET"),
        ] {
            assert_eq!(variable(hint), name);
            assert!(is_secret_key(name));
        }
    }

    #[test]
    fn a_name_that_the_input_uses_is_not_taken_for_another_value() {
        let mut vault = Vault::default();
        let theirs = vault.given("TOKEN");
        let ours = vault.keep("token", "abc");
        assert_eq!(vault.spelled(&format!("{theirs} {ours}")), "${TOKEN} ${TOKEN_2}");
    }

    #[test]
    fn what_is_there_twice_is_hidden_twice_and_dollar_signs_stay() {
        let mut vault = Vault::default();
        let token = vault.keep("token", "abcdefgh");
        vault.keep("pin", "1234");
        let text = scrubbed(&vault.index(), &format!("{token} 5$ é1234abcdefgh"));
        assert_eq!(vault.spelled(&text), "${TOKEN} 5$$ é1234${TOKEN}");
    }

    #[test]
    fn a_variable_that_came_in_as_text_is_no_variable() {
        assert_eq!(Vault::default().spelled("a\u{fdd0}HOME\u{fdd1}b"), "ab");
        assert_eq!(unmarked("a\u{fdd0}HOME\u{fdd1}"), "a\u{fffd}HOME\u{fffd}");
    }
}
