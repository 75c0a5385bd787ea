//! What is said on a terminal without a screen passes through here: whatever is in it, no cursor moves, no colour
//! changes, and where the locale knows only 7-bit characters there are no others.

use crate::domain::text;
use std::io::{self, Write};

/// Writes whole lines, made safe to show. What has no end yet waits for it, or for [`Write::flush`].
#[derive(Debug)]
pub struct Voice<W: Write> {
    out: W,
    ascii: bool,
    line: Vec<u8>,
}

impl<W: Write> Voice<W> {
    /// Speaks to this, where `ascii` in 7-bit characters only.
    pub const fn new(out: W, ascii: bool) -> Self {
        Self { out, ascii, line: Vec::new() }
    }

    fn say(&mut self, to: usize) -> io::Result<()> {
        let said: Vec<u8> = self.line.drain(..to).collect();
        self.out.write_all(text::spoken(&String::from_utf8_lossy(&said), self.ascii).as_bytes())
    }
}

impl<W: Write> Write for Voice<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|&byte| byte == b'\n') {
            self.say(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.say(self.line.len())?;
        self.out.flush()
    }
}

/// Says one line on standard error.
pub fn say(line: &str, ascii: bool) {
    // Where standard error is gone there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", text::spoken(line, ascii));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_between_two_writes_is_said_whole() {
        let mut said = Vec::new();
        let mut voice = Voice::new(&mut said, false);
        for byte in "é\u{9b}2J\n日".bytes() {
            voice.write_all(&[byte]).unwrap();
        }
        voice.flush().unwrap();
        assert_eq!(String::from_utf8(said).unwrap(), "é\\x9b2J\n日");
    }
}
