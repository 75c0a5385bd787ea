//! What a program wrote, checked byte by byte: a dashboard writes known sequences and plain text, and everything else
//! plain text only.

use fanscope::domain::text::is_hidden;

/// Private modes that the dashboard may set and take back.
const MODES: &[&str] = &["25", "1000", "1006", "1049", "2004", "2026"];

/// The sequence's parts after `ESC [` and what follows it, if it is one that the dashboard may send.
fn sequence(rest: &str) -> Result<&str, String> {
    let end = rest.find(|c: char| matches!(c, '@'..='~')).ok_or("half a sequence")?;
    let (inside, after) = rest.split_at(end);
    let numbers = |text: &str| text.split([';', ':']).all(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let known = match (inside.strip_prefix('?'), after.as_bytes().first()) {
        (Some(mode), Some(b'h' | b'l')) => MODES.contains(&mode),
        // Letters stay where they are put, whatever their direction.
        (None, Some(b'h' | b'l')) => inside == "8",
        (None, Some(b'm' | b'H' | b'J' | b'K' | b'C' | b'X')) => numbers(inside),
        _ => false,
    };
    if known { Ok(&after[1..]) } else { Err(format!("ESC [ {inside} {:?}", after.chars().next())) }
}

/// What is wrong with these bytes of a dashboard; nothing where they are safe.
pub fn fault(raw: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(raw) {
        Ok(text) => text,
        Err(error) => return Some(format!("no UTF-8 at {}", error.valid_up_to())),
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\x1b' => {
                match after.strip_prefix('[').ok_or_else(|| format!("{:?}", &rest[..2])).and_then(sequence) {
                    Ok(after) => after,
                    Err(what) => return Some(what),
                }
            }
            '\r' | '\n' => after,
            c if c.is_control() => return Some(format!("control character {c:?}")),
            c if is_hidden(c) => return Some(format!("hidden character {c:?}")),
            _ => after,
        };
    }
    None
}

/// What is wrong with these bytes, which are no dashboard's: any sequence is.
pub fn fault_in_text(raw: &[u8]) -> Option<String> {
    if raw.contains(&b'\x1b') { Some("a sequence".to_owned()) } else { fault(raw) }
}
