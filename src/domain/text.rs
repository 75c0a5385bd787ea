//! Text that came from outside, made safe to show.

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
        } else if is_invisible_control(c) {
            continue;
        } else {
            out.push(c);
        }
        count += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Format characters that change how the text around them is shown: bidirectional controls, zero-width
/// marks, tags.
const fn is_invisible_control(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_pass() {
        assert_eq!(clean("a\x1b[31mred\x07\r\nb\u{9b}2J\u{202e}c"), "a [31mred b 2Jc");
        assert_eq!(clean("  \n "), "");
        assert_eq!(clean(&"x".repeat(1000)).chars().count(), MAX_OUTSIDE_TEXT + 1);
    }
}
