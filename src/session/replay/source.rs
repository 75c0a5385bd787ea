//! Where a recording comes from. What can't be gone back in, a pipe or a packed file, is kept unpacked in a
//! temporary file that has no name any more; a plain file is read on for as long as it grows.

use crate::domain::text;
use crate::recording::{ReadError, Reader, Record, SessionLine, is_packed, unpacked};
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// From one look at a file's size to the next.
const POLL: Duration = Duration::from_millis(100);

/// A file that was written to so lately is likely to be written to again.
const LATELY: Duration = Duration::from_secs(10);

/// A line without an end is one that was cut, once nothing came for so many looks.
const CUT_AFTER: u64 = 20;

/// Why a recording can't be shown.
#[derive(Debug, thiserror::Error)]
#[error("{name}")]
pub struct OpenError {
    /// Which.
    pub name: String,
    /// Why.
    pub source: ReadError,
}

/// A recording whose first line has been read.
#[expect(missing_debug_implementations, reason = "an input of any kind has none")]
pub struct Recording {
    /// Its first line.
    pub session: Arc<SessionLine>,
    pub(super) reader: Reader<Box<dyn BufRead + Send>>,
    /// The same bytes, to be read anywhere.
    pub(super) back: File,
    pub(super) tail: Arc<Tail>,
}

/// What is known of the end of a source. The thread that reads it says so here.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Bytes of the source, as far as that is known, and those that were read. Packed ones, where it is packed.
    total: AtomicU64,
    read: AtomicU64,
    /// Whether an end is waited at for more.
    waits: AtomicBool,
    /// Whether that is being done.
    waiting: AtomicBool,
    /// Whether more is to be expected.
    alive: AtomicBool,
    /// Bytes of a last line that has no end.
    cut: AtomicU64,
    /// Whether nobody wants to know any more.
    stop: AtomicBool,
    /// Whether something of this changed, besides what was read.
    news: AtomicBool,
    /// There is more, or there are news.
    pub(super) more: Notify,
}

impl Tail {
    /// The percentage that was read, where the whole is known.
    pub(super) fn percent(&self) -> Option<u8> {
        let (read, total) = (self.read.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let percent = read.saturating_mul(100).checked_div(total)?;
        Some(u8::try_from(percent.min(99)).unwrap_or(99))
    }

    /// Whether everything there is was read, and the file may grow.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether more is to be expected.
    pub(super) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }

    /// Bytes of a last line that seems to have been cut.
    pub(super) fn cut(&self) -> Option<u64> {
        Some(self.cut.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
    }

    /// Says that something changed.
    pub(super) fn tell(&self) {
        self.news.store(true, Ordering::Relaxed);
        self.more.notify_one();
    }

    /// Whether something changed since this was asked last.
    pub(super) fn has_news(&self) -> bool {
        self.news.swap(false, Ordering::Relaxed)
    }

    /// Ends the reading.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Recording {
    /// Opens a file, or standard input where the path is `-`, and reads the first line.
    ///
    /// # Errors
    /// When it can't be read, or is no recording.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let stdin = path == Path::new("-");
        Self::begin(path, stdin).map_err(|source| OpenError { name: text::source(path), source })
    }

    fn begin(path: &Path, stdin: bool) -> Result<Self, ReadError> {
        let tail = Arc::new(Tail::default());
        let (input, back) = if stdin { of_pipe(io::stdin(), &tail)? } else { of_file(path, &tail)? };
        let mut reader = Reader::new(input);
        let Some(Record::Session(session)) = reader.next_record()? else {
            let why = "it does not begin with the line of its session".to_owned();
            return Err(ReadError::NotARecording(why));
        };
        // From now on an end may not be the last.
        tail.waits.store(true, Ordering::Relaxed);
        Ok(Self { session, reader, back, tail })
    }
}

/// What a recording is read from, and the same bytes to be read anywhere.
type Source = (Box<dyn BufRead + Send>, File);

fn of_file(path: &Path, tail: &Arc<Tail>) -> io::Result<Source> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory"));
    }
    if !about.is_file() {
        return of_pipe(file, tail);
    }
    tail.total.store(about.len(), Ordering::Relaxed);
    let mut start = Vec::new();
    (&mut file).take(4).read_to_end(&mut start)?;
    file.rewind()?;
    let tail = Arc::clone(tail);
    if is_packed(&start) {
        return spooled(unpacked(Counted { input: file, tail })?);
    }
    let lately = about.modified().ok().and_then(|at| at.elapsed().ok());
    tail.alive.store(lately.is_some_and(|time| time < LATELY), Ordering::Relaxed);
    let back = File::open(path)?;
    let growing = Growing { path: path.to_owned(), about, file, tail, open_line: 0 };
    Ok((Box::new(BufReader::with_capacity(BUFFER, growing)), back))
}

/// There is no knowing how long it is; until its end it goes on.
fn of_pipe(input: impl Read + Send + 'static, tail: &Tail) -> io::Result<Source> {
    tail.alive.store(true, Ordering::Relaxed);
    spooled(unpacked(input)?)
}

/// Keeps what is read in a file that goes with the process.
fn spooled(input: Box<dyn BufRead + Send>) -> io::Result<Source> {
    let named = tempfile::NamedTempFile::new()?;
    let back = named.reopen()?;
    let (spool, name) = named.into_parts();
    name.close()?;
    Ok((Box::new(Tee { input, spool, failed: None }), back))
}

/// Writes down everything that is read from it.
struct Tee<R> {
    input: R,
    spool: File,
    failed: Option<io::Error>,
}

impl<R: BufRead> BufRead for Tee<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.input.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        // What is consumed is in the buffer already.
        let kept = self.input.fill_buf().map(|bytes| bytes.get(..amount).unwrap_or(bytes));
        if let Err(error) = kept.and_then(|bytes| self.spool.write_all(bytes)) {
            let why = format!("no room to keep it for going back: {error}");
            self.failed = Some(io::Error::new(error.kind(), why));
        }
        self.input.consume(amount);
    }
}

impl<R: BufRead> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

/// Counts what is read.
struct Counted<R> {
    input: R,
    tail: Arc<Tail>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.tail.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A file that is read on at its end.
struct Growing {
    path: PathBuf,
    /// What the file was when it was opened.
    about: Metadata,
    file: File,
    tail: Arc<Tail>,
    /// Bytes since the last end of a line.
    open_line: u64,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut looks = 0_u64;
        loop {
            let read = self.file.read(buffer)?;
            if read > 0 {
                self.took(buffer.get(..read).unwrap_or_default(), looks);
                return Ok(read);
            }
            if buffer.is_empty() || !self.tail.waits.load(Ordering::Relaxed) || self.tail.is_stopped() {
                return Ok(0);
            }
            if !self.tail.waiting.swap(true, Ordering::Relaxed) {
                self.tail.tell();
            }
            if looks == CUT_AFTER && self.open_line > 0 {
                self.tail.cut.store(self.open_line, Ordering::Relaxed);
                self.tail.tell();
            }
            std::thread::sleep(POLL);
            looks += 1;
            self.look()?;
        }
    }
}

impl Growing {
    fn took(&mut self, bytes: &[u8], looks: u64) {
        let tail = &self.tail;
        tail.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        tail.cut.store(0, Ordering::Relaxed);
        tail.waiting.store(false, Ordering::Relaxed);
        if looks > 0 {
            tail.alive.store(true, Ordering::Relaxed);
        }
        self.open_line = match bytes.iter().rposition(|&b| b == b'\n') {
            Some(end) => (bytes.len() - 1 - end) as u64,
            None => self.open_line.saturating_add(bytes.len() as u64),
        };
    }

    /// Whether it is still the same file, and no shorter.
    fn look(&self) -> io::Result<()> {
        if self.file.metadata()?.len() < self.tail.read.load(Ordering::Relaxed) {
            return Err(io::Error::other("it was truncated while it was read"));
        }
        match std::fs::metadata(&self.path) {
            Ok(now) if !is_same(&self.about, &now) => Err(io::Error::other("another file took its place")),
            // One that was removed may still be written to by whoever has it open.
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
