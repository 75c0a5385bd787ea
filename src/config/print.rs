//! What holds, as a file that reads back to the same.

use super::settings::{Held, Origin, Settings};
use crate::app::actions::{BINDINGS, Binding};
use std::fmt::Write;

/// Columns of a line before what is said of it.
const LINE: usize = 34;

impl Settings {
    /// Everything that holds as the text of a configuration file, each line with where it comes from.
    #[must_use]
    pub fn print(&self) -> String {
        let mut out = String::from("# The configuration of fanscope as it holds.\n");
        let file = self.file.as_deref().unwrap_or("none");
        put(&mut out, format_args!("# File: {file}\n\n"));
        let text = |word: &str| quoted(word);
        line(&mut out, "theme", &text(self.theme.value.as_str()), self.theme.from);
        line(&mut out, "color", &text(self.color.value.as_str()), self.color.from);
        line(&mut out, "ascii", &self.ascii.value.to_string(), self.ascii.from);
        line(&mut out, "mouse", &self.mouse.value.to_string(), self.mouse.from);
        line(&mut out, "window", &text(self.window.value.word()), self.window.from);
        out.push_str(
            "\n# The most attempts a second, host and port, whatever a profile asks for.\n[safety]\n",
        );
        match self.max_rps {
            Held { value: Some(rate), from } => line(&mut out, "max_rps", &rate.to_string(), from),
            Held { value: None, .. } => out.push_str("# max_rps = 50\n"),
        }
        out.push_str("\n# What each action does stands in the help of the dashboard.\n[keys]\n");
        for binding in BINDINGS {
            let from = self.keys.get(binding.name).map_or(Origin::Default, |line| Origin::Line(*line));
            line(&mut out, binding.name, &self.key_words(binding), from);
        }
        out
    }

    fn key_words(&self, binding: &Binding) -> String {
        match self.keymap.keys(binding) {
            [one] => quoted(&one.to_string()),
            keys => {
                let words: Vec<String> = keys.iter().map(|key| quoted(&key.to_string())).collect();
                format!("[{}]", words.join(", "))
            }
        }
    }
}

fn line(out: &mut String, key: &str, value: &str, from: Origin) {
    let set = format!("{key} = {value}");
    put(out, format_args!("{set:<LINE$} # {from}\n"));
}

/// As a basic string of TOML. No word here holds a control character.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = out.write_fmt(what);
}
