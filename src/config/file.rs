//! The file: what it may hold, and what is wrong with what it does hold.

use super::reader::{Found, Reader};
use crate::app::actions::{BINDINGS, named};
use crate::app::{Action, ColorChoice, Key, Keymap, KeymapFault, NoKey, ThemeName};
use crate::profile::ProfileErrors;
use crate::profile::error::{Problem, Problems};
use crate::profile::nearest::nearest;
use crate::profile::source::{Source, Span, visible};
use crate::profile::syntax;
use crate::stats::Window;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys of the top level.
const ROOT: &[&str] = &["theme", "color", "ascii", "mouse", "window", "keys", "safety"];

/// Keys of `[safety]`.
const SAFETY: &[&str] = &["max_rps"];

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct File {
    /// Its name, safe to show.
    pub name: String,
    pub(super) theme: Option<Found<ThemeName>>,
    pub(super) color: Option<Found<ColorChoice>>,
    pub(super) ascii: Option<Found<bool>>,
    pub(super) mouse: Option<Found<bool>>,
    pub(super) window: Option<Found<Window>>,
    pub(super) max_rps: Option<Found<f64>>,
    pub(super) keymap: Keymap,
    /// The lines of actions with keys of their own, by name.
    pub(super) keys: BTreeMap<&'static str, usize>,
}

/// An action's keys as the file has them.
struct Bound {
    action: Action,
    span: Span,
    keys: Vec<Key>,
}

impl File {
    /// Reads the text of a file of this name.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileErrors> {
        let source = Source::file(name, text);
        let mut problems = Problems::default();
        let document = syntax::parse(&source, &mut problems);
        if !document.usable {
            return Err(problems.render(&source));
        }
        let mut reader = Reader { source: &source, problems, broken: document.broken };
        let mut file = Self { name: source.name().to_owned(), ..Self::default() };
        file.root(&mut reader, document.root.get_ref());
        if reader.problems.is_empty() { Ok(file) } else { Err(reader.problems.render(&source)) }
    }

    fn root(&mut self, reader: &mut Reader<'_>, root: &DeTable<'_>) {
        let themes = ThemeName::ALL.map(ThemeName::as_str);
        let choices = ColorChoice::ALL.map(ColorChoice::as_str);
        let windows = Window::ALL.map(Window::word);
        for (key, value) in root {
            match key.get_ref().as_ref() {
                "theme" => self.theme = reader.word("theme", value, &themes, ThemeName::parse),
                "color" => self.color = reader.word("color", value, &choices, ColorChoice::parse),
                "ascii" => self.ascii = reader.flag("ascii", value),
                "mouse" => self.mouse = reader.flag("mouse", value),
                "window" => self.window = reader.word("window", value, &windows, Window::parse),
                "keys" => self.keys(reader, value),
                "safety" => self.safety(reader, value),
                other => {
                    let home = match other {
                        "colour" => Some("it is written `color`".to_owned()),
                        _ if SAFETY.contains(&other) => Some("it belongs in [safety]".to_owned()),
                        _ if named(other).is_some() => Some("keys of actions belong in [keys]".to_owned()),
                        _ => None,
                    };
                    reader.unknown(key, "key of the configuration", ROOT, home);
                }
            }
        }
    }

    fn safety(&mut self, reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) {
        for (key, value) in reader.table("safety", value).into_iter().flatten() {
            match key.get_ref().as_ref() {
                "max_rps" => self.max_rps = reader.rate("max_rps", value),
                _ => reader.unknown(key, "key of [safety]", SAFETY, None),
            }
        }
    }

    fn keys(&mut self, reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) {
        let names: Vec<&str> = BINDINGS.iter().map(|binding| binding.name).collect();
        let (mut bound, mut wrong) = (BTreeMap::new(), Vec::new());
        for (key, value) in reader.table("keys", value).into_iter().flatten() {
            let Some(binding) = named(key.get_ref()) else {
                reader.unknown(key, "action", &names, None);
                continue;
            };
            let keys = key_words(reader, binding.name, value);
            match keys.and_then(|words| all_keys(reader, &words)) {
                Some(keys) => {
                    self.keys.insert(binding.name, reader.line(&value.span()));
                    bound.insert(binding.name, Bound { action: binding.action, span: value.span(), keys });
                }
                None => wrong.push(binding.name),
            }
        }
        match Keymap::with(bound.values().map(|b| (b.action, b.keys.clone())).collect()) {
            Ok(keymap) => self.keymap = keymap,
            Err(faults) => faults
                .iter()
                // What an action whose keys can't be read would share is not known.
                .filter(|f| !matches!(f, KeymapFault::Twice(_, _, other) if wrong.contains(other)))
                .for_each(|fault| reader.report(problem(fault, &bound))),
        }
    }
}

/// The words of an action's keys, with their places.
fn key_words<'a>(
    reader: &mut Reader<'_>,
    action: &str,
    value: &'a Spanned<DeValue<'_>>,
) -> Option<Vec<(&'a str, Span)>> {
    let word = |value: &'a Spanned<DeValue<'_>>| Some((value.get_ref().as_str()?, value.span()));
    let words = match value.get_ref() {
        DeValue::Array(array) => array.iter().map(word).collect(),
        _ => word(value).map(|word| vec![word]),
    };
    if words.is_none() {
        reader.report(
            Problem::at(&value.span(), format!("`{action}` must be a key or a list of keys, in quotes"))
                .help(format!("write for example `{action} = \"g\"` or `{action} = [\"g\", \"ctrl-g\"]`")),
        );
    }
    words
}

/// The keys of these words; `None` where one is wrong.
fn all_keys(reader: &mut Reader<'_>, words: &[(&str, Span)]) -> Option<Vec<Key>> {
    let mut keys: Option<Vec<Key>> = Some(Vec::new());
    for (word, span) in words {
        let key = Key::parse(word);
        let again = matches!((&key, &keys), (Ok(key), Some(keys)) if keys.contains(key));
        match (key, &mut keys) {
            _ if again => {
                reader.report(Problem::at(span, format!("`{}` is there twice", visible(word))));
            }
            (Ok(key), Some(keys)) => keys.push(key),
            (Ok(_), None) => {}
            (Err(why), _) => {
                reader.report(no_key(word, span, &why));
                keys = None;
            }
        }
    }
    keys
}

fn no_key(word: &str, span: &Span, why: &NoKey) -> Problem {
    let problem = Problem::at(span, format!("`{}` {why}", visible(word)));
    match why {
        NoKey::Twin(twin) => problem.help(format!("write `{twin}`, or take another key")),
        NoKey::NoCtrl => problem.help("Ctrl goes with a letter, an arrow or a page key"),
        NoKey::Unknown => {
            let meant = nearest(word, Key::words()).map(|near| format!("did you mean `{near}`?"));
            let words: Vec<&str> = Key::words().collect();
            problem.help_if(meant).help(format!(
                "a key is one character as it is typed, or a word: {}; with ctrl- before a letter",
                words.join(", ")
            ))
        }
    }
}

fn problem(fault: &KeymapFault, bound: &BTreeMap<&'static str, Bound>) -> Problem {
    let span_of = |action: &str| bound.get(action).map(|bound| bound.span.clone());
    let action = fault.action();
    let problem = match span_of(action) {
        Some(span) => Problem::at(&span, fault.to_string()),
        None => Problem::whole(fault.to_string()),
    };
    match fault {
        KeymapFault::Twice(_, _, other) => match span_of(other) {
            Some(span) => problem.other(&span, "the other one").help("give one of them another key"),
            None => problem.help(format!(
                "`{other}` has it by default: give `{other}` another key, or none with `{other} = []`"
            )),
        },
        KeymapFault::Needed(_) => problem.help(format!("write for example `{action} = \"ctrl-x\"`")),
        KeymapFault::Taken(_) | KeymapFault::TooMany(_) => problem.help("take another key"),
    }
}
