//! Files as text: never too much of one, and every way in which it is not text named as such.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Largest file that is read.
pub(crate) const LIMIT: u64 = 4 << 20;

/// Why a file could not be read as text.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// There is none.
    Missing,
    /// What is wrong, and what to do.
    Other(String, String),
}

/// Reads a UTF-8 file without its byte order mark.
pub(crate) fn read(path: &Path) -> Result<String, Unreadable> {
    decode(bytes(path)?)
}

fn bytes(path: &Path) -> Result<Vec<u8>, Unreadable> {
    if path.is_dir() {
        return Err(Unreadable::Other("is a directory".to_owned(), "name the file in it".to_owned()));
    }
    let mut bytes = Vec::new();
    // Pipes have no length: reading one byte more than allowed is the only way to know.
    let read = File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes));
    match read {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Unreadable::Missing),
        Err(e) if e.kind() == ErrorKind::PermissionDenied => Err(Unreadable::Other(
            "may not be read: permission denied".to_owned(),
            "check the file's owner and mode".to_owned(),
        )),
        Err(e) => Err(Unreadable::Other(format!("cannot be read: {e}"), String::new())),
        Ok(_) if bytes.len() as u64 > LIMIT => Err(Unreadable::Other(
            format!("is larger than {} MB, the most that is read", LIMIT >> 20),
            "is it the right file?".to_owned(),
        )),
        Ok(_) => Ok(bytes),
    }
}

fn decode(bytes: Vec<u8>) -> Result<String, Unreadable> {
    let save = || "save it as UTF-8".to_owned();
    if let Some(order) = utf16(&bytes) {
        return Err(Unreadable::Other(format!("is UTF-16 ({order}), not UTF-8"), save()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            let before = e.as_bytes().get(..at).unwrap_or_default();
            let line = before.split(|&b| b == b'\n').count();
            let byte = e.as_bytes().get(at).copied().unwrap_or_default();
            Err(Unreadable::Other(
                format!("is not UTF-8: byte 0x{byte:02x} in line {line} (byte {at} of the file)"),
                save(),
            ))
        }
    }
}

/// Byte order of UTF-16, by its mark or by the zero bytes of plain English text.
fn utf16(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] => Some("little endian"),
        [0xfe, 0xff, ..] => Some("big endian"),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some("little endian, without a mark"),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some("big endian, without a mark"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(bytes: &[u8]) -> String {
        match decode(bytes.to_vec()) {
            Err(Unreadable::Other(what, _)) => what,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn other_encodings_are_named() {
        assert!(complaint(b"\xff\xfen\0a\0").contains("UTF-16 (little endian)"));
        assert!(complaint(b"\xfe\xff\0n\0a").contains("UTF-16 (big endian)"));
        assert!(complaint(b"n\0a\0m\0").contains("UTF-16 (little endian, without a mark)"));
        assert!(complaint(b"a = 1\nb = \"\xe9\"").contains("byte 0xe9 in line 2 (byte 11"));
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()).unwrap(), "a");
        assert_eq!(decode(Vec::new()).unwrap(), "");
    }
}
