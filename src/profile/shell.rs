//! Words of a command line, quoted so that a shell takes them as they are and runs nothing that stands in them.
//! Holds for POSIX shells and for fish, which reads a backslash within quotes differently: so none stands there.

use crate::domain::text::is_hidden;
use std::fmt::Write;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bit {
    /// Text as it is; never holds a NUL, which no command line can.
    Text(String),
    /// A variable of the shell, by its name.
    Variable(String),
}

impl Bit {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// What needs no quotes.
fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '%' | '+' | ',')
}

/// What a terminal could take for a key, or what hides text, when the command is pasted.
fn is_odd(c: char) -> bool {
    c.is_control() && c != '\n' || is_hidden(c)
}

/// One word of a command line.
pub(super) fn word(bits: &[Bit]) -> String {
    let bare = |bit: &Bit| matches!(bit, Bit::Text(text) if text.chars().all(is_bare));
    let plain: String =
        bits.iter().filter_map(|bit| if let Bit::Text(t) = bit { Some(&**t) } else { None }).collect();
    if !plain.is_empty() && bits.iter().all(bare) {
        return plain;
    }
    let mut word = Word::default();
    for bit in bits {
        match bit {
            Bit::Text(text) => text.chars().for_each(|c| word.push(c)),
            Bit::Variable(name) => {
                word.state(State::Bare);
                // Writing to a string can't fail.
                let _ = write!(word.out, "\"${{{name}}}\"");
            }
        }
    }
    word.state(State::Bare);
    if word.out.is_empty() { "''".to_owned() } else { word.out }
}

/// What the characters that come next stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Bare,
    Quoted,
    Printed,
}

#[derive(Debug, Default)]
struct Word {
    out: String,
    state: State,
}

impl Word {
    fn state(&mut self, to: State) {
        if self.state == to {
            return;
        }
        self.out.push_str(match self.state {
            State::Bare => "",
            State::Quoted => "'",
            State::Printed => "')\"",
        });
        self.out.push_str(match to {
            State::Bare => "",
            State::Quoted => "'",
            State::Printed => "\"$(printf '",
        });
        self.state = to;
    }

    fn push(&mut self, c: char) {
        if is_odd(c) {
            self.state(State::Printed);
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(self.out, "\\{byte:03o}");
            }
        } else if matches!(c, '\'' | '\\') {
            self.state(State::Bare);
            self.out.extend(['\\', c]);
        } else {
            self.state(State::Quoted);
            self.out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        word(&[Bit::text(text)])
    }

    #[test]
    fn words_are_quoted_where_they_need_it() {
        assert_eq!(text("application/json"), "application/json");
        assert_eq!(text(""), "''");
        assert_eq!(text("a b"), "'a b'");
        assert_eq!(text("it's \\ $HOME"), r"'it'\''s '\\' $HOME'");
        assert_eq!(text("a\x1b\tb"), r#"'a'"$(printf '\033\011')"'b'"#);
        let bits = [Bit::text("Bearer "), Bit::Variable("TOKEN".to_owned()), Bit::text("x")];
        assert_eq!(word(&bits), r#"'Bearer '"${TOKEN}"'x'"#);
    }
}
