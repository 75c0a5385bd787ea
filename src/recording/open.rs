//! Opens a record for reading, whatever packs it: the first bytes say whether it is gzip or zstd.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// Opens a file, or standard input where the path is `-`.
///
/// # Errors
/// When it can't be opened or its first bytes can't be read.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        return unpacked(io::stdin());
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    unpacked(file)
}

/// Unpacks what is packed.
///
/// # Errors
/// When the first bytes can't be read.
pub fn unpacked(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut magic = [0; 4];
    let mut have = 0;
    while have < magic.len() {
        match input.read(&mut magic[have..]) {
            Ok(0) => break,
            Ok(read) => have += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let whole = Cursor::new(magic).take(have as u64).chain(input);
    let whole = BufReader::with_capacity(BUFFER, whole);
    Ok(match Packing::of(&magic) {
        Some(Packing::Gzip) => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole))),
        Some(Packing::Zstd) => {
            Box::new(BufReader::with_capacity(BUFFER, Zstd(zstd::Decoder::with_buffer(whole)?)))
        }
        None => Box::new(whole),
    })
}

/// zstd, whose complaints about what it unpacks are told from those of the disk by their kind, as gzip's are.
struct Zstd<R>(R);

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let own = |e: &io::Error| e.kind() == io::ErrorKind::Other && e.raw_os_error().is_none();
        let read = self.0.read(buffer);
        read.map_err(|e| if own(&e) { io::Error::new(io::ErrorKind::InvalidData, e) } else { e })
    }
}

/// What packs a record.
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Whether a file that begins with these bytes is packed.
#[must_use]
pub fn is_packed(start: &[u8]) -> bool {
    Packing::of(start).is_some()
}
