//! Reads just enough Rust to see which paths a file names.

/// A path that a file names.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    /// Where it ends, from 1.
    pub line: usize,
    /// Whether it starts at this crate's root, which is then left out of `segments`.
    pub of_crate: bool,
    /// Its words; a glob is `*`.
    pub segments: Vec<String>,
}

#[derive(Debug, Clone)]
struct Token {
    text: String,
    line: usize,
}

impl Token {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Macros that write to the standard streams, with their lines.
pub fn printing(text: &str) -> Vec<(usize, String)> {
    let tokens = tokens(text);
    let calls = tokens.windows(2).filter(|pair| pair[1].text == "!");
    let names = ["println", "print", "eprintln", "eprint", "dbg"];
    calls.filter(|p| names.contains(&p[0].text.as_str())).map(|p| (p[0].line, p[0].text.clone())).collect()
}

/// Every path of two or more words, and every one that is imported. `depth` is how many modules the file lies
/// below the crate's root, so that `super` can be followed.
pub fn paths(text: &str, depth: usize) -> Vec<Path> {
    let mut reader = Reader { tokens: tokens(text), at: 0, found: Vec::new() };
    let mut inner: Vec<usize> = Vec::new();
    let mut braces = 0;
    while let Some(token) = reader.peek(0).cloned() {
        let before = reader.at.checked_sub(1).and_then(|i| reader.tokens.get(i)).map(|t| t.text.clone());
        match token.text.as_str() {
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                if inner.last() == Some(&braces) {
                    inner.pop();
                }
            }
            "mod" if reader.is(2, "{") => inner.push(braces),
            "use" if !reader.is(1, "<") => {
                reader.at += 1;
                reader.tree(&mut Vec::new(), depth + inner.len());
                continue;
            }
            _ if token.is_word() && !matches!(before.as_deref(), Some("." | "mod")) => {
                reader.expression(depth + inner.len());
                continue;
            }
            _ => {}
        }
        reader.at += 1;
    }
    reader.found
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    found: Vec<Path>,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn is(&self, ahead: usize, text: &str) -> bool {
        self.peek(ahead).is_some_and(|t| t.text == text)
    }

    /// A path in code: words joined by `::`.
    fn expression(&mut self, depth: usize) {
        let mut words = Vec::new();
        let mut line = 0;
        while let Some(token) = self.peek(0).filter(|t| t.is_word()) {
            line = token.line;
            words.push(token.text.clone());
            self.at += 1;
            if !self.is(0, "::") || !self.peek(1).is_some_and(Token::is_word) {
                break;
            }
            self.at += 1;
        }
        if words.len() > 1 {
            self.found.extend(resolve(&words, line, depth));
        }
    }

    /// What follows `use`, or a branch of it; `prefix` are the words before.
    fn tree(&mut self, prefix: &mut Vec<String>, depth: usize) {
        let length = prefix.len();
        while let Some(token) = self.peek(0).cloned() {
            match token.text.as_str() {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while self.peek(0).is_some() && !self.is(0, "}") {
                        self.tree(prefix, depth);
                        if self.is(0, ",") {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    break;
                }
                word if word == "*" || (token.is_word() && word != "as") => {
                    prefix.push(token.text.clone());
                    self.at += 1;
                    if !self.is(0, "::") {
                        let path: Vec<_> = prefix.iter().filter(|w| *w != "self").cloned().collect();
                        self.found.extend(resolve(&path, token.line, depth));
                    }
                }
                "as" => self.at += 2,
                "," | "}" => break,
                // The end, or nothing that this reader knows.
                _ => {
                    self.at += 1;
                    break;
                }
            }
        }
        prefix.truncate(length);
    }
}

/// The path with its start found: this crate's root, or whatever its first word names.
fn resolve(words: &[String], line: usize, depth: usize) -> Option<Path> {
    let supers = words.iter().take_while(|word| *word == "super").count();
    let (of_crate, skipped) = match words.first()?.as_str() {
        "crate" | "fanscope" => (true, 1),
        "super" if supers >= depth => (true, supers),
        // Within its own room, or below the file itself.
        "super" | "self" | "Self" => return None,
        _ => (false, 0),
    };
    let segments = words[skipped..].to_vec();
    (!segments.is_empty()).then_some(Path { line, of_crate, segments })
}

/// Words, `::` and single marks; comments, literals and lifetimes are left out.
fn tokens(text: &str) -> Vec<Token> {
    let mut scan = Scan { text: text.chars().collect(), at: 0, line: 1 };
    let mut found = Vec::new();
    while let Some(c) = scan.peek(0) {
        let line = scan.line;
        match c {
            '/' if scan.peek(1) == Some('/') => scan.skip_until(|c| c == '\n'),
            '/' if scan.peek(1) == Some('*') => scan.skip_block_comment(),
            '"' => scan.skip_string(),
            '\'' => scan.skip_quote(),
            c if c.is_alphabetic() || c == '_' => {
                let word = scan.word();
                let hashes = scan.count('#');
                let raw = matches!(word.as_str(), "r" | "br" | "cr");
                if raw && scan.peek(hashes) == Some('"') {
                    scan.skip_raw_string(hashes);
                } else if !(word == "r" && hashes == 1) {
                    found.push(Token { text: word, line });
                }
            }
            c if c.is_ascii_digit() => {
                scan.word();
            }
            ':' if scan.peek(1) == Some(':') => {
                scan.skip(2);
                found.push(Token { text: "::".to_owned(), line });
            }
            c => {
                scan.skip(1);
                if !c.is_whitespace() {
                    found.push(Token { text: c.to_string(), line });
                }
            }
        }
    }
    found
}

struct Scan {
    text: Vec<char>,
    at: usize,
    line: usize,
}

impl Scan {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.line += usize::from(self.peek(0) == Some('\n'));
            self.at += 1;
        }
    }

    fn skip_until(&mut self, end: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(|c| !end(c)) {
            self.skip(1);
        }
    }

    fn count(&self, mark: char) -> usize {
        self.text.iter().skip(self.at).take_while(|c| **c == mark).count()
    }

    fn word(&mut self) -> String {
        let from = self.at;
        self.skip_until(|c| !c.is_alphanumeric() && c != '_');
        self.text[from..self.at].iter().collect()
    }

    fn skip_block_comment(&mut self) {
        let mut open = 0;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('*')) => open += 1,
                ('*', Some('/')) => open -= 1,
                _ => {
                    self.skip(1);
                    continue;
                }
            }
            self.skip(2);
            if open == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.skip(1);
        while let Some(c) = self.peek(0) {
            self.skip(if c == '\\' { 2 } else { 1 });
            if c == '"' {
                return;
            }
        }
    }

    fn skip_raw_string(&mut self, hashes: usize) {
        self.skip(hashes + 1);
        while self.peek(0).is_some() {
            self.skip_until(|c| c == '"');
            self.skip(1);
            if self.count('#') >= hashes {
                return self.skip(hashes);
            }
        }
    }

    /// A character, or the mark of a lifetime.
    fn skip_quote(&mut self) {
        if self.peek(1) == Some('\\') {
            self.skip(3);
            self.skip_until(|c| c == '\'');
            self.skip(1);
        } else {
            self.skip(if self.peek(2) == Some('\'') { 3 } else { 1 });
        }
    }
}
