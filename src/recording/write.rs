//! A file that a record is written to: opened without harm to what is there, packed by its extension, whole lines
//! only. Writes when it is told to and in the thread that tells it; knows no clock and no queue.

mod again;

use crate::domain::text;
use again::open_again;
use flate2::write::GzEncoder;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Why a record can't be begun.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Somebody else's file, perhaps.
    #[error("cannot record to {}: it exists; --force overwrites it", text::path(.0))]
    Exists(PathBuf),
    /// There is nowhere to put it.
    #[error("cannot record to {}: there is no directory {}", text::path(.0), text::path(.1))]
    NoDirectory(PathBuf, PathBuf),
    /// Anything else.
    #[error("cannot record to {}", text::path(.0))]
    Io(PathBuf, #[source] io::Error),
}

/// A path without anything that could move a cursor.
/// What packs the lines.
enum Packer {
    Plain,
    Gzip(Box<GzEncoder<File>>),
    Zstd(Box<zstd::Encoder<'static, File>>),
}

/// The packer of zstd shows nothing of itself.
impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Gzip(_) => "Gzip",
            Self::Zstd(_) => "Zstd",
        })
    }
}

impl Packer {
    /// The packer that a path's extension names.
    fn of(path: &Path, file: &File) -> io::Result<Self> {
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        Ok(match extension.as_deref() {
            Some("gz") => {
                Self::Gzip(Box::new(GzEncoder::new(file.try_clone()?, flate2::Compression::default())))
            }
            Some("zst") => Self::Zstd(Box::new(zstd::Encoder::new(file.try_clone()?, 0)?)),
            _ => Self::Plain,
        })
    }
}

/// A record's file, open for writing.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    /// Begun with the first line: until then a file that was there is what it was.
    packer: Option<Packer>,
    /// Whether there was no such file before.
    new: bool,
    /// Whether there are lines that a flush has not put into the file yet.
    unflushed: bool,
    /// Bytes of the lines that were written whole, before packing.
    bytes: u64,
    /// Whether nothing can follow what was written: it may end within a line.
    broken: bool,
}

impl Writer {
    /// Creates the file. One that exists is left alone, or by `force` overwritten from the first line on: what comes
    /// to nothing empties no file. `.gz` and `.zst` are packed.
    ///
    /// # Errors
    /// See [`CreateError`].
    pub fn create(path: &Path, force: bool) -> Result<Self, CreateError> {
        let failed = |error: io::Error| match (error.kind(), path.parent()) {
            (io::ErrorKind::AlreadyExists, _) if path.is_dir() => {
                CreateError::Io(path.to_owned(), io::ErrorKind::IsADirectory.into())
            }
            (io::ErrorKind::AlreadyExists, _) => CreateError::Exists(path.to_owned()),
            (io::ErrorKind::NotFound, Some(parent)) if !parent.as_os_str().is_empty() => {
                CreateError::NoDirectory(path.to_owned(), parent.to_owned())
            }
            _ => CreateError::Io(path.to_owned(), error),
        };
        if path == Path::new("-") {
            let why = "standard output is no file; `run --format json` prints the same there";
            return Err(CreateError::Io(path.to_owned(), io::Error::other(why)));
        }
        let (file, new) = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(error) if force && error.kind() == io::ErrorKind::AlreadyExists => {
                (open_again(path).map_err(failed)?, false)
            }
            Err(error) => return Err(failed(error)),
        };
        let path = path.to_owned();
        Ok(Self { path, file, packer: None, new, unflushed: false, bytes: 0, broken: false })
    }

    /// Where it was created.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line with its line break.
    ///
    /// # Errors
    /// Nothing of the line is in the file then, or nothing will follow it any more.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier line was cut"));
        }
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(begin(&self.path, &self.file)?),
        };
        let written = match packer {
            Packer::Plain => self.file.write_all(line.as_bytes()),
            Packer::Gzip(packer) => packer.write_all(line.as_bytes()),
            Packer::Zstd(packer) => packer.write_all(line.as_bytes()),
        };
        match written {
            Ok(()) => {
                self.unflushed = true;
                self.bytes = self.bytes.saturating_add(line.len() as u64);
                Ok(())
            }
            Err(error) => {
                self.broken = !self.take_back();
                Err(error)
            }
        }
    }

    /// Takes back what there is of a line that was not written whole. False where that cannot be done: within
    /// packed bytes there is no way back, and neither is there in what is no file.
    fn take_back(&mut self) -> bool {
        matches!(self.packer, Some(Packer::Plain))
            && self.file.set_len(self.bytes).is_ok()
            && self.file.seek(SeekFrom::Start(self.bytes)).is_ok()
    }

    /// Has everything written so far readable in the file, also what is packed. Where nothing was written since the
    /// last time nothing is done: a flushed packer adds to the file each time.
    ///
    /// # Errors
    /// When it can't be written. What is packed may end within a line then, and nothing follows it.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.broken || !self.unflushed {
            return Ok(());
        }
        let flushed = match &mut self.packer {
            None => Ok(()),
            Some(Packer::Plain) => self.file.flush(),
            Some(Packer::Gzip(packer)) => packer.flush(),
            Some(Packer::Zstd(packer)) => packer.flush(),
        };
        self.unflushed = false;
        self.broken |= flushed.is_err();
        flushed
    }

    /// What became of the file behind the path meanwhile, where it is not there any more: a deleted file takes
    /// every byte and keeps none.
    #[must_use]
    pub fn lost(&mut self) -> Option<&'static str> {
        let lost = lost(&self.path, &self.file);
        // What is still somewhere, if only under another name, is worth writing to.
        self.broken |= lost == Some(DELETED);
        lost
    }

    /// Writes the packer's end.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(mut self) -> io::Result<()> {
        if self.broken {
            return Ok(());
        }
        match &mut self.packer {
            None | Some(Packer::Plain) => Ok(()),
            Some(Packer::Gzip(packer)) => packer.try_finish(),
            Some(Packer::Zstd(packer)) => packer.do_finish(),
        }
    }
}

/// Makes room for the first line, and has it packed as the file's name says.
fn begin(path: &Path, file: &File) -> io::Result<Packer> {
    // A pipe or a device has no length that could be set.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Packer::of(path, file)
}

impl Drop for Writer {
    /// A file that was made for nothing goes again: a second try must not find it in its way.
    fn drop(&mut self) {
        if self.new && self.bytes == 0 && lost(&self.path, &self.file).is_none() {
            // What cannot be removed stays, empty.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The file has no name any more.
const DELETED: &str = "the file was deleted";

#[cfg(unix)]
fn lost(path: &Path, file: &File) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata().ok()?;
    match std::fs::metadata(path) {
        Ok(named) if (named.dev(), named.ino()) == (ours.dev(), ours.ino()) => None,
        _ if ours.nlink() == 0 => Some(DELETED),
        Ok(_) => Some("the file was moved, another one has its name"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("the file was moved"),
        // Nothing is known of it; the next write will tell.
        Err(_) => None,
    }
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn lost(_: &Path, _: &File) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use tempfile::TempDir;

    fn dir() -> TempDir {
        tempfile::tempdir().unwrap()
    }

    fn read(path: &Path) -> String {
        let mut text = String::new();
        super::super::open(path).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn standard_output_is_no_file() {
        let refused = Writer::create(Path::new("-"), true).unwrap_err();
        let why = std::error::Error::source(&refused).unwrap().to_string();
        assert!(why.contains("--format json"), "{why}");
        assert!(!Path::new("-").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_where_somebody_reads_and_waited_for_by_nobody() {
        let dir = dir();
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let refused = Writer::create(&path, true).unwrap_err();
        let why = std::error::Error::source(&refused).unwrap().to_string();
        assert_eq!(why, "nobody reads from this pipe");
        let reader = std::thread::spawn({
            let path = path.clone();
            move || std::fs::read_to_string(path).unwrap()
        });
        // The reader may not be there yet.
        let mut writer = std::iter::repeat_with(|| Writer::create(&path, true)).find_map(Result::ok).unwrap();
        writer.line("{}\n").unwrap();
        writer.finish().unwrap();
        assert_eq!(reader.join().unwrap(), "{}\n");
    }

    #[test]
    fn a_file_is_never_clobbered_without_force() {
        let dir = dir();
        let path = dir.path().join("r.ndjson");
        std::fs::write(&path, "somebody's work\n").unwrap();
        let refused = Writer::create(&path, false).unwrap_err().to_string();
        assert!(refused.contains("r.ndjson: it exists; --force"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody's work\n");
        let mut writer = Writer::create(&path, true).unwrap();
        writer.line("{}\n").unwrap();
        writer.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    }

    #[test]
    fn a_directory_that_is_not_there_or_in_the_way_is_named() {
        let dir = dir();
        let error = Writer::create(&dir.path().join("no/where.ndjson"), true).unwrap_err().to_string();
        assert!(error.contains("there is no directory") && error.ends_with("/no"), "{error}");
        let error = Writer::create(dir.path(), false).unwrap_err();
        assert!(matches!(&error, CreateError::Io(_, why) if why.kind() == io::ErrorKind::IsADirectory));
        let error = Writer::create(Path::new("bad\u{1b}[2J/r"), false).unwrap_err().to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
    }

    #[test]
    fn what_is_packed_can_be_read_after_each_flush_and_has_an_end() {
        for (name, magic) in [("a.gz", [0x1f, 0x8b]), ("b.ndjson.zst", [0x28, 0xb5]), ("c.GZ", [0x1f, 0x8b])]
        {
            let dir = dir();
            let path = dir.path().join(name);
            let mut writer = Writer::create(&path, false).unwrap();
            writer.line("{\"a\":1}\n").unwrap();
            writer.flush().unwrap();
            let raw = std::fs::read(&path).unwrap();
            assert_eq!(raw[..2], magic, "{name}");
            let mut first = [0; 8];
            super::super::open(&path).unwrap().read_exact(&mut first).unwrap();
            assert_eq!(&first, b"{\"a\":1}\n", "{name} is readable while it is written");
            writer.line("{\"b\":2}\n").unwrap();
            writer.finish().unwrap();
            assert_eq!(read(&path), "{\"a\":1}\n{\"b\":2}\n", "{name}");
        }
    }

    #[test]
    fn a_file_that_was_made_for_nothing_goes_again() {
        let dir = dir();
        for name in ["r.ndjson", "r.gz", "r.zst"] {
            let path = dir.path().join(name);
            drop(Writer::create(&path, false).unwrap());
            assert!(!path.exists(), "{name}");
        }
        let there = dir.path().join("there");
        std::fs::write(&there, "").unwrap();
        drop(Writer::create(&there, true).unwrap());
        assert!(there.exists(), "what was there before stays");
    }

    #[test]
    fn a_file_is_overwritten_by_the_first_line_and_by_nothing_before() {
        let dir = dir();
        for name in ["r.ndjson", "r.gz", "r.zst"] {
            let path = dir.path().join(name);
            std::fs::write(&path, "an earlier recording, longer than what comes\n").unwrap();
            let kept = || std::fs::read_to_string(&path).unwrap().starts_with("an earlier recording, longer");
            let mut idle = Writer::create(&path, true).unwrap();
            assert!(kept(), "{name}");
            idle.flush().unwrap();
            idle.finish().unwrap();
            drop(Writer::create(&path, true).unwrap());
            assert!(kept(), "{name}");
            let mut writer = Writer::create(&path, true).unwrap();
            writer.line("{}\n").unwrap();
            writer.finish().unwrap();
            assert_eq!(read(&path), "{}\n", "{name}");
        }
    }

    #[test]
    fn a_flush_without_a_new_line_adds_nothing() {
        let dir = dir();
        for name in ["r.ndjson", "r.gz", "r.zst"] {
            let path = dir.path().join(name);
            let mut writer = Writer::create(&path, false).unwrap();
            let length = || std::fs::metadata(&path).unwrap().len();
            writer.flush().unwrap();
            assert_eq!(length(), 0, "{name}");
            writer.line("{}\n").unwrap();
            writer.flush().unwrap();
            let flushed = length();
            for _ in 0..3 {
                writer.flush().unwrap();
            }
            assert_eq!(length(), flushed, "{name}");
            writer.line("{}\n").unwrap();
            writer.flush().unwrap();
            assert!(length() > flushed, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_deleted_file_takes_nothing_more_and_a_moved_one_does() {
        let dir = dir();
        let path = dir.path().join("r.ndjson");
        let mut writer = Writer::create(&path, false).unwrap();
        writer.line("1\n").unwrap();
        assert_eq!(writer.lost(), None);
        let moved = dir.path().join("moved");
        std::fs::rename(&path, &moved).unwrap();
        assert_eq!(writer.lost(), Some("the file was moved"));
        std::fs::write(&path, "another").unwrap();
        assert_eq!(writer.lost(), Some("the file was moved, another one has its name"));
        writer.line("2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&moved).unwrap(), "1\n2\n");
        std::fs::remove_file(&moved).unwrap();
        assert_eq!(writer.lost(), Some(DELETED));
        assert!(writer.line("3\n").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "another");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_in_every_format() {
        let dir = dir();
        for name in ["full", "full.gz", "full.zst"] {
            let path = dir.path().join(name);
            std::os::unix::fs::symlink("/dev/full", &path).unwrap();
            let mut writer = Writer::create(&path, true).unwrap();
            let error = writer.line("{}\n").and_then(|()| writer.flush()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{name}");
            assert!(writer.line("{}\n").is_err(), "{name}: nothing follows what may be cut");
        }
    }
}
