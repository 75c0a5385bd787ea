//! Text that came from outside, made safe to show.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// A line in lines of at most `columns`, broken between words where that can be; at least a grapheme on each. Nothing of
/// it is lost but the blanks where it is broken.
#[must_use]
pub fn wrapped(line: &str, columns: u16) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), line);
    while width(rest) > columns {
        let (mut used, mut full, mut blank) = (0_u16, rest.len(), None);
        for (at, grapheme) in rest.grapheme_indices(true) {
            used = used.saturating_add(width(grapheme));
            if at > 0 && used > columns {
                full = at;
                break;
            }
        }
        if let Some(head) = rest.get(..full) {
            // A blank right behind it is a place to break at as well.
            let next = rest.get(full..).is_some_and(|next| next.starts_with(' '));
            blank = if next {
                Some(full)
            } else {
                head.trim_start().rfind(' ').map(|at| full - head.trim_start().len() + at)
            };
        }
        let (head, tail) = rest.split_at(blank.unwrap_or(full));
        lines.push(head.trim_end().to_owned());
        rest = tail.trim_start_matches(' ');
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
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
/// zero-width marks, bidirectional controls, line separators, annotations, tags, fillers, and the joiners and
/// variation selectors of emoji, on whose width no two terminals agree. Line separators apart these are Unicode's
/// `Default_Ignorable_Code_Point`.
#[must_use]
pub const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a hidden character only chooses how the letter or emoji beside it is drawn, or stands for a letter that
/// is not written: variation selectors, fillers of Hangul, vowels of Khmer. Text of such a script may hold them.
#[must_use]
const fn is_shaping(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180d}'
            | '\u{180f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// The text without what only shapes it.
#[must_use]
pub fn unshaped(text: &str) -> String {
    text.chars().filter(|&c| !is_shaping(c)).collect()
}

/// Most marks on one letter that are shown: more write over the rows around it, and some terminals stall.
const MOST_MARKS: usize = 3;

/// Whether every byte of a text is a letter, a digit, a sign or a blank, and so a column, as those of most texts are.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

/// Text of which every terminal shows the same columns, however old its tables: nothing hidden and no control, no
/// skin tones (a modifier that a terminal does not know takes columns of its own), flags as their two letters,
/// and few marks on a letter. What is left is as wide as its characters are one by one.
#[must_use]
pub fn steady(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    // Latin letters and the signs that the screen is drawn with need no closer look.
    let sure = |c: char| match c {
        '\0'..='\u{2ff}' => !c.is_control() && c != '\u{ad}',
        c => matches!(c, '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}'),
    };
    if text.chars().all(sure) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut marks = MOST_MARKS;
    for c in text.chars() {
        let c = match c {
            c if c.is_control() || is_hidden(c) || matches!(c, '\u{1f3fb}'..='\u{1f3ff}') => continue,
            // What begins a text would stand on its neighbour.
            c if c.width() == Some(0) && marks == MOST_MARKS => continue,
            c if c.width() == Some(0) => {
                marks += 1;
                out.push(c);
                continue;
            }
            c => c,
        };
        marks = 0;
        let letter = u32::from(c).wrapping_sub(0x1_f1e6);
        out.push(if letter < 26 { char::from(b'A' + u8::try_from(letter).unwrap_or(0)) } else { c });
    }
    Cow::Owned(out)
}

/// Columns that a text takes once it is drawn. Graphemes are counted one by one, as cells hold them: some scripts
/// have ligatures that would make a whole text narrower than its parts.
#[must_use]
pub fn width(text: &str) -> u16 {
    let columns = if is_plain(text) {
        text.len()
    } else {
        steady(text).graphemes(true).map(UnicodeWidthStr::width).sum()
    };
    u16::try_from(columns).unwrap_or(u16::MAX)
}

/// Text in 7-bit characters, as wide as it was: our own signs as their nearest likeness, everything else as `?`.
#[must_use]
pub fn seven_bit(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut own) = (String::with_capacity(text.len()), [0; 1]);
    for c in text.chars() {
        out.push_str(match c {
            '…' => "~",
            '–' | '·' => "-",
            '≥' => ">=",
            '✓' => "+",
            '✗' => "x",
            '“' | '”' => "\"",
            '→' => ">",
            'µ' => "u",
            c if c.is_ascii() => c.encode_utf8(&mut own),
            // The widest takes three columns.
            c => "???".get(..c.width().unwrap_or(0)).unwrap_or("???"),
        });
    }
    Cow::Owned(out)
}

/// What is said on a terminal without a screen, line by line: nothing in it moves a cursor, and where the locale
/// knows no other characters it has 7 bits.
#[must_use]
pub fn spoken(text: &str, ascii: bool) -> String {
    let lines: Vec<String> = text.split('\n').map(|l| visible(l.strip_suffix('\r').unwrap_or(l))).collect();
    let text = lines.join("\n");
    if ascii { seven_bit(&text).into_owned() } else { text }
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
    fn what_is_said_keeps_its_lines_and_moves_no_cursor() {
        let text = "error: a\u{9b}31m\r\n  | é\u{202e}\x1b]0;x\x07 日✓\n";
        assert_eq!(spoken(text, false), "error: a\\x9b31m\n  | é\\u{202e}\\x1b]0;x\\x07 日✓\n");
        assert_eq!(spoken(text, true), "error: a\\x9b31m\n  | ?\\u{202e}\\x1b]0;x\\x07 ??+\n");
        assert_eq!(seven_bit("plain"), "plain");
        assert_eq!(seven_bit("e\u{301}…≥µ"), "e~>=u");
    }

    #[test]
    fn t11_what_terminals_disagree_on_is_shown_steadily() {
        assert_eq!(steady("shop-1 é"), "shop-1 é");
        assert_eq!(steady("👍🏽 🇩🇪 ❤\u{fe0f} 👩\u{200d}👧 1\u{fe0f}\u{20e3}"), "👍 DE ❤ 👩👧 1\u{20e3}");
        let marks = "\u{301}".repeat(200);
        assert_eq!(steady(&format!("{marks}a{marks}b")), format!("a{}b", "\u{301}".repeat(3)));
        assert_eq!(steady("a\u{9b}2J\x1b\u{202e}\u{ad}b"), "a2Jb");
        for c in '\0'..=char::MAX {
            let shown = steady(c.encode_utf8(&mut [0; 4])).into_owned();
            let bad = |c: char| c.is_control() || is_hidden(c);
            assert!(!shown.chars().any(bad), "{c:?}");
            assert!(seven_bit(&shown).is_ascii(), "{c:?}");
            let width: usize = shown.chars().filter_map(UnicodeWidthChar::width).sum();
            assert!(matches!(c, '…' | '≥') || seven_bit(&shown).len() == width, "{c:?}");
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
            assert!(is_hidden(c) || !is_shaping(c), "{c:?}");
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
