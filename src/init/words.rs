//! The words of a shell: quotes, escapes, continued lines and the ends of commands, as POSIX has them, with the
//! `$'…'` that browsers write. What only a shell could work out is refused.

use super::InitError;
use super::vault::Vault;
use std::iter::Peekable;
use std::str::Chars;

/// A command with the line on which it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) line: usize,
}

/// Commands, and whether something of them is only for a shell.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    /// Whether output goes to files.
    pub(super) redirected: bool,
}

/// Splits a text into commands. Variables go into the vault, by name.
///
/// # Errors
/// What has no end, and what only a shell could work out; with its line, and without the text itself.
pub(super) fn split(text: &str, vault: &mut Vault) -> Result<Script, InitError> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        line: 1,
        start: 1,
        vault,
        word: None,
        words: Vec::new(),
        target: false,
        script: Script::default(),
    };
    reader.all()?;
    Ok(reader.script)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    line: usize,
    /// Line on which the command begins.
    start: usize,
    vault: &'a mut Vault,
    word: Option<String>,
    words: Vec<String>,
    /// Whether the next word is the target of a redirection.
    target: bool,
    script: Script,
}

impl Reader<'_> {
    fn all(&mut self) -> Result<(), InitError> {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' | ';' => self.end_command()?,
                '&' => self.ampersand()?,
                '|' => {
                    self.chars.next_if(|c| matches!(c, '|' | '&'));
                    self.end_command()?;
                }
                '>' => self.redirection(),
                '<' => {
                    return Err(
                        self.refuse("`<` takes input from elsewhere", "write the body into the command")
                    );
                }
                '(' | ')' => {
                    return Err(
                        self.refuse("an unquoted parenthesis is for a shell", "put the word in quotes")
                    );
                }
                '#' if self.word.is_none() => while self.chars.next_if(|&c| c != '\n').is_some() {},
                '^' if matches!(self.chars.peek(), Some('"' | '\n' | '\r')) => {
                    return Err(self
                        .refuse("this is written for cmd.exe", "copy it anew, as \"Copy as cURL (bash)\""));
                }
                '\\' => self.escaped()?,
                '\'' => self.single()?,
                '"' => self.double()?,
                '$' => self.dollar(false)?,
                '`' => return Err(self.substitution()),
                c => self.push(c),
            }
        }
        self.end_command()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.chars.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn word(&mut self) -> &mut String {
        if self.word.is_none() && self.words.is_empty() {
            self.start = self.line;
        }
        self.word.get_or_insert_default()
    }

    fn push(&mut self, c: char) {
        self.word().push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.target)
        {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) -> Result<(), InitError> {
        self.end_word();
        if self.target {
            return Err(self.refuse("`>` names no file", "drop it"));
        }
        if !self.words.is_empty() {
            let words = std::mem::take(&mut self.words);
            self.script.commands.push(Command { words, line: self.start });
        }
        Ok(())
    }

    /// `&&` and `&` end a command; but `&` within a word is most likely a URL without quotes.
    fn ampersand(&mut self) -> Result<(), InitError> {
        match self.chars.peek() {
            Some('&') => {
                self.chars.next();
            }
            Some('>') => {
                self.chars.next();
                self.redirection();
                return Ok(());
            }
            Some(c) if !c.is_whitespace() => {
                return Err(self.refuse("an unquoted `&` ends a command", "put the URL in single quotes"));
            }
            _ => {}
        }
        self.end_command()
    }

    fn redirection(&mut self) {
        // `2>` is no word of its own.
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        while self.chars.next_if(|c| matches!(c, '>' | '|' | '&')).is_some() {}
        self.target = true;
        self.script.redirected = true;
    }

    fn escaped(&mut self) -> Result<(), InitError> {
        // Blanks that nobody sees are the commonest fault of what is copied from a page.
        let rest = self.chars.clone().find(|c| !matches!(c, ' ' | '\t' | '\r'));
        let blank = matches!(self.chars.peek(), Some(' ' | '\t'));
        if blank && matches!(rest, Some('\n') | None) {
            return Err(self.refuse("a blank behind the `\\` keeps the line from going on", "remove it"));
        }
        match self.next() {
            Some('\n') => {}
            Some('\r') if self.chars.peek() == Some(&'\n') => {
                self.next();
            }
            Some(c) => self.push(c),
            None => self.push('\\'),
        }
        Ok(())
    }

    fn single(&mut self) -> Result<(), InitError> {
        let begun = self.line;
        self.word();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.push(c),
                None => return Err(unclosed(begun, "single quote")),
            }
        }
    }

    fn double(&mut self) -> Result<(), InitError> {
        let begun = self.line;
        self.word();
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('`') => return Err(self.substitution()),
                Some('$') => self.dollar(true)?,
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                    None => return Err(unclosed(begun, "double quote")),
                },
                Some(c) => self.push(c),
                None => return Err(unclosed(begun, "double quote")),
            }
        }
    }

    /// What follows a dollar sign: a variable, a quote of its own, or nothing in particular.
    fn dollar(&mut self, quoted: bool) -> Result<(), InitError> {
        match self.chars.peek().copied() {
            Some('(') => Err(self.substitution()),
            Some('\'') if !quoted => {
                self.next();
                self.ansi()
            }
            Some('"') if !quoted => {
                self.next();
                self.double()
            }
            Some('{') => {
                self.next();
                let name = self.name();
                if name.is_empty() || self.next() != Some('}') {
                    return Err(self.refuse(
                        "`${…}` holds more than the name of a variable",
                        "write the value itself, or a plain ${NAME}",
                    ));
                }
                self.variable(&name);
                Ok(())
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                self.variable(&name);
                Ok(())
            }
            Some('0'..='9' | '@' | '*' | '?' | '$' | '!' | '#') => {
                Err(self.refuse("`$` before a digit or a sign is for a shell", "write the value itself"))
            }
            _ => {
                self.push('$');
                Ok(())
            }
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self
            .chars
            .next_if(|&c| c == '_' || c.is_ascii_alphabetic() || c.is_ascii_digit() && !name.is_empty())
        {
            name.push(c);
        }
        name
    }

    fn variable(&mut self, name: &str) {
        let mark = self.vault.given(name);
        self.word().push_str(&mark);
    }

    /// `$'…'`: escapes as in C, also of bytes.
    fn ansi(&mut self) -> Result<(), InitError> {
        let begun = self.line;
        let mut bytes = Vec::new();
        loop {
            let c = self.next().ok_or_else(|| unclosed(begun, "single quote"))?;
            let c = match c {
                '\'' => break,
                '\\' => self.next().ok_or_else(|| unclosed(begun, "single quote"))?,
                c => {
                    push_char(&mut bytes, c);
                    continue;
                }
            };
            match c {
                'a' => bytes.push(7),
                'b' => bytes.push(8),
                'e' | 'E' => bytes.push(27),
                'f' => bytes.push(12),
                'n' => bytes.push(b'\n'),
                'r' => bytes.push(b'\r'),
                't' => bytes.push(b'\t'),
                'v' => bytes.push(11),
                'x' => match self.code(16, 2, 0) {
                    Some(code) => bytes.push(low_byte(code)),
                    None => bytes.extend(b"\\x"),
                },
                '0'..='7' => {
                    let first = c.to_digit(8).unwrap_or(0);
                    bytes.push(low_byte(self.code(8, 2, first).unwrap_or(first)));
                }
                'u' | 'U' => {
                    let digits = if c == 'u' { 4 } else { 8 };
                    let code = self.code(16, digits, 0).and_then(char::from_u32);
                    let code = code.ok_or_else(|| self.refuse("`\\u` names no character", "write it out"))?;
                    push_char(&mut bytes, code);
                }
                '\\' | '\'' | '"' | '?' => push_char(&mut bytes, c),
                c => {
                    bytes.push(b'\\');
                    push_char(&mut bytes, c);
                }
            }
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            self.refuse("the bytes of a `$'…'` are not UTF-8", "profiles are text: write another value")
        })?;
        self.word().push_str(&super::vault::unmarked(&text));
        Ok(())
    }

    /// A number of at most so many digits behind a first part; `None` where there is no digit.
    fn code(&mut self, radix: u32, most: usize, first: u32) -> Option<u32> {
        let mut code = None;
        for _ in 0..most {
            let Some(digit) = self.chars.next_if(|c| c.is_digit(radix)) else { break };
            let so_far = code.unwrap_or(first);
            code = Some(so_far.wrapping_mul(radix).wrapping_add(digit.to_digit(radix).unwrap_or(0)));
        }
        code
    }

    fn substitution(&self) -> InitError {
        self.refuse("`$(…)` and backticks run a command", "write what they give, or ${NAME} for a variable")
    }

    fn refuse(&self, what: &str, help: &str) -> InitError {
        InitError::at(self.line, what, help)
    }
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn low_byte(number: u32) -> u8 {
    number.to_le_bytes()[0]
}

fn unclosed(line: usize, what: &str) -> InitError {
    InitError::at(line, &format!("a {what} is never closed"), "copy the whole command")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let mut vault = Vault::default();
        let script = split(text, &mut vault).unwrap();
        let spelled = |words: Vec<String>| words.iter().map(|word| vault.spelled(word)).collect();
        script.commands.into_iter().map(|command| spelled(command.words)).collect()
    }

    #[track_caller]
    fn refused(text: &str, says: &str) {
        let error = split(text, &mut Vault::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }

    #[test]
    fn quotes_and_escapes_are_those_of_a_posix_shell() {
        for (text, word) in [
            (r"a\ b", "a b"),
            (r"'a\b'", r"a\b"),
            (r#""a\"b\\c\d""#, r#"a"b\c\d"#),
            (r"'it'\''s'", "it's"),
            ("a'b'\"c\"", "abc"),
            ("a\\\nb", "ab"),
            ("a\\\r\nb", "ab"),
            ("''", ""),
            (r"$'a\'b\n\x41\u00e9\U0001F600\101\\'", "a'b\nAé😀A\\"),
            (r"$'\u0021\xc3\xa9'", "!é"),
            ("a#b", "a#b"),
            ("5$", "5$$"),
            ("\"$\"", "$$"),
        ] {
            assert_eq!(words(text), [[word]], "{text:?}");
        }
    }

    #[test]
    fn variables_stay_variables_and_only_where_a_shell_would_see_them() {
        assert_eq!(
            words("\"a${B_1}c$D-\" $E '$F ${G}' \\$H"),
            [["a${B_1}c${D}-", "${E}", "$$F $${G}", "$$H"]]
        );
    }

    #[test]
    fn every_end_of_a_command_begins_the_next() {
        let five = words("a 1;b 2&&c 3 || d 4\n\n# none\ne 5 & \nf | g");
        let firsts: Vec<&str> = five.iter().map(|words| words[0].as_str()).collect();
        assert_eq!(firsts, ["a", "b", "c", "d", "e", "f", "g"]);
    }

    #[test]
    fn a_redirection_takes_its_file_and_nothing_else() {
        for text in ["a >f b", "a 2>&1 b", "a 2>/dev/null b", "a &>f b", "a >> f b", "a >| f b"] {
            assert_eq!(words(text), [["a", "b"]], "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_can_work_out_is_refused_with_its_line() {
        refused("a\nb $(c)", "line 2");
        refused("a `b`", "run a command");
        refused("a \"`b`\"", "run a command");
        refused("a <<X", "`<`");
        refused("a http://h/?b=1&c=2", "single quotes");
        refused("(a)", "quotes");
        refused("a ${b:-c}", "name of a variable");
        refused("a $1", "digit");
        refused("a >", "names no file");
        refused("curl ^\"http://h^\"", "cmd.exe");
        refused("a $'\\xff'", "UTF-8");
        refused("a \\ \n-b", "line 1: a blank");
    }

    #[test]
    fn what_is_never_closed_is_said_with_the_line_of_its_beginning() {
        for text in ["\n'a\nb", "\n\"a\nb", "\n$'a\nb", "\n\"a\\"] {
            refused(text, "line 2");
            refused(text, "never closed");
        }
    }
}
