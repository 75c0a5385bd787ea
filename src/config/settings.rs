//! What holds, and where it comes from.

use super::file::File;
use super::reader::Found;
use crate::app::{ColorChoice, Keymap, ThemeName};
use crate::domain::text;
use crate::stats::Window;
use std::collections::BTreeMap;
use std::fmt;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// This line of the file.
    Line(usize),
    /// This variable of the environment.
    Variable(&'static str),
    /// This flag.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("by default"),
            Self::Line(line) => write!(f, "line {line} of the file"),
            Self::Variable(name) => write!(f, "{name} in the environment"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A value that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub from: Origin,
}

impl<T> Held<T> {
    const fn new(value: T, from: Origin) -> Self {
        Self { value, from }
    }

    fn found(found: Found<T>) -> Self {
        Self::new(found.value, Origin::Line(found.line))
    }

    fn or_default(found: Option<Found<T>>, usual: T) -> Self {
        found.map_or(Self::new(usual, Origin::Default), Self::found)
    }
}

/// What flags say; silent where they were not given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--theme`
    pub theme: Option<ThemeName>,
    /// `--color`
    pub color: Option<ColorChoice>,
    /// `--ascii`
    pub ascii: bool,
    /// `--no-mouse`
    pub no_mouse: bool,
}

/// What holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The file that was read, safe to show.
    pub file: Option<String>,
    /// The theme at the start.
    pub theme: Held<ThemeName>,
    /// Whether in colour.
    pub color: Held<ColorChoice>,
    /// Whether with 7-bit characters only.
    pub ascii: Held<bool>,
    /// Whether the mouse is listened to.
    pub mouse: Held<bool>,
    /// The window of the counts at the start.
    pub window: Held<Window>,
    /// The most attempts a second, host and port, that a profile may ask for.
    pub max_rps: Held<Option<f64>>,
    /// The keys.
    pub keymap: Keymap,
    /// Lines of the actions whose keys the file has.
    pub(super) keys: BTreeMap<&'static str, usize>,
}

impl Settings {
    /// Flags over the environment over the file.
    #[must_use]
    pub fn resolve(flags: Flags, env: &dyn Fn(&str) -> Option<String>, file: Option<File>) -> Self {
        let file = file.unwrap_or_default();
        let theme = match flags.theme {
            Some(theme) => Held::new(theme, Origin::Flag("--theme")),
            None => Held::or_default(file.theme, ThemeName::default()),
        };
        let mouse = if flags.no_mouse {
            Held::new(false, Origin::Flag("--no-mouse"))
        } else {
            Held::or_default(file.mouse, true)
        };
        let max_rps = file.max_rps.map(|Found { value, line }| Found { value: Some(value), line });
        Self {
            theme,
            color: color(flags, env, file.color),
            ascii: ascii(flags, env, file.ascii),
            mouse,
            window: Held::or_default(file.window, Window::Minute),
            max_rps: Held::or_default(max_rps, None),
            keymap: file.keymap,
            keys: file.keys,
            file: Some(file.name).filter(|name| !name.is_empty()),
        }
    }
}

fn color(
    flags: Flags,
    env: &dyn Fn(&str) -> Option<String>,
    file: Option<Found<ColorChoice>>,
) -> Held<ColorChoice> {
    if let Some(choice) = flags.color {
        return Held::new(choice, Origin::Flag("--color"));
    }
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return Held::new(ColorChoice::Always, Origin::Variable("CLICOLOR_FORCE"));
    }
    if set("NO_COLOR").is_some() {
        return Held::new(ColorChoice::Never, Origin::Variable("NO_COLOR"));
    }
    Held::or_default(file, ColorChoice::Auto)
}

/// A locale without UTF-8 beats a file that is not for this terminal alone.
fn ascii(flags: Flags, env: &dyn Fn(&str) -> Option<String>, file: Option<Found<bool>>) -> Held<bool> {
    if flags.ascii {
        return Held::new(true, Origin::Flag("--ascii"));
    }
    if !text::speaks_utf8(&|name| env(name).filter(|value| !value.is_empty())) {
        return Held::new(true, Origin::Variable("a locale without UTF-8"));
    }
    Held::or_default(file, false)
}
