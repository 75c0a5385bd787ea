//! Text that came from outside, made safe to show.

use std::fmt::Write;
use std::path::Path;

/// The longest outside text that is kept, in characters.
pub const MAX_OUTSIDE_TEXT: usize = 300;

/// Replaces control characters (including C1, bidirectional overrides and line breaks) by spaces or
/// nothing, collapses the runs this leaves, and cuts at [`MAX_OUTSIDE_TEXT`] characters.
///
/// Nothing that passes through here can move a cursor, change a colour or break a line.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_OUTSIDE_TEXT));
    let mut count = 0;
    for c in text.chars() {
        if count == MAX_OUTSIDE_TEXT {
            out.push('…');
            break;
        }
        if c.is_control() || c.is_whitespace() {
            if out.is_empty() || out.ends_with(' ') {
                continue;
            }
            out.push(' ');
        } else if is_hidden(c) {
            continue;
        } else {
            out.push(c);
        }
        count += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Makes everything visible that could move a cursor, hide or reorder text: `\x1b`, `\u{202e}`. A tab becomes
/// four spaces. Nothing is lost and nothing is cut.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let code = u32::from(c);
        // Writing to a string can't fail.
        let _ = match c {
            '\t' => out.write_str("    "),
            c if c.is_control() => write!(out, "\\x{code:02x}"),
            c if is_hidden(c) => write!(out, "\\u{{{code:x}}}"),
            c => out.write_char(c),
        };
    }
    out
}

/// At most `most` bytes, the last of them an ellipsis where there was more.
#[must_use]
pub fn cut(mut text: String, most: usize) -> String {
    const MORE: char = '…';
    if text.len() > most {
        let room = most.saturating_sub(MORE.len_utf8());
        text.truncate((0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0));
        text.push(MORE);
        text.shrink_to_fit();
    }
    text
}

/// A path, safe to show: everything in it is visible.
#[must_use]
pub fn path(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// The same of what is read, where `-` is standard input.
#[must_use]
pub fn source(source: &Path) -> String {
    if source == Path::new("-") { "standard input".to_owned() } else { path(source) }
}

/// Whether a character shows nothing of its own and may change how the text around it is shown: soft hyphens,
/// zero-width marks, bidirectional controls, line separators, annotations, tags.
#[must_use]
pub const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The locale's character set, by the variables in the order of POSIX. Where none is set the terminal is
/// taken to be a current one. `set` gives a variable that is set and not empty.
#[must_use]
pub fn speaks_utf8(set: &dyn Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_none_or(|l| {
        let l = l.to_ascii_lowercase();
        l.contains("utf-8") || l.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character() {
        assert_eq!(cut("x".repeat(256), 256), "x".repeat(256));
        let cut_text = cut("é".repeat(200), 256);
        assert!(cut_text.len() <= 256 && cut_text.ends_with("é…"), "{cut_text}");
    }

    #[test]
    fn control_characters_never_pass() {
        assert_eq!(clean("a\x1b[31mred\x07\r\nb\u{9b}2J\u{202e}c"), "a [31mred b 2Jc");
        assert_eq!(clean("  \n "), "");
        assert_eq!(clean("a\u{ad}b\u{61c}c\u{180e}d\u{fff9}e\u{2028}f"), "abcde f");
        assert_eq!(clean(&"x".repeat(1000)).chars().count(), MAX_OUTSIDE_TEXT + 1);
    }

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        assert_eq!(visible("a\x1b[31m\u{9b}\r\n\tb\u{202e}ç"), "a\\x1b[31m\\x9b\\x0d\\x0a    b\\u{202e}ç");
        for c in ('\0'..=char::MAX).filter(|c| c.is_control() || is_hidden(*c)) {
            assert!(visible(&c.to_string()).bytes().all(|b| matches!(b, b' '..=b'~')), "{c:?}");
        }
    }

    #[test]
    fn a_path_is_safe_to_show() {
        assert_eq!(path(Path::new("a\u{1b}[2J/b")), "a\\x1b[2J/b");
        assert_eq!([source(Path::new("-")), source(Path::new("./-"))], ["standard input", "./-"]);
    }

    /// All of Unicode: what is hidden or controls never passes, all else that is no space does.
    #[test]
    fn every_character_passes_or_is_hidden() {
        for c in '\0'..=char::MAX {
            let cleaned = clean(&format!("x{c}x"));
            if c.is_control() || c.is_whitespace() {
                assert_eq!(cleaned, "x x", "{c:?}");
            } else if is_hidden(c) {
                assert_eq!(cleaned, "xx", "{c:?}");
            } else {
                assert_eq!(cleaned.chars().nth(1), Some(c));
            }
        }
    }
}
