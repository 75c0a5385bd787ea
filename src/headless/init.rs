//! `fanscope init`: where its input comes from, and where the profile goes.

use crate::domain::numbers::counted;
use crate::domain::text;
use crate::init::{self, InitError, Written};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Largest input: a HAR holds the answers too.
const LARGEST: u64 = 256 << 20;

/// Most variables and most notes that are said of a profile; it names them all itself.
const LISTED: usize = 8;

/// What a profile is made of.
#[derive(Debug)]
pub enum InitSource {
    /// Nothing: the starter.
    Starter,
    /// URLs.
    Urls(Vec<String>),
    /// `curl` commands on standard input.
    Curl,
    /// A HAR, `-` for standard input.
    Har(PathBuf),
    /// An `OpenAPI` description, `-` for standard input, and the server to ask instead.
    Openapi(PathBuf, Option<String>),
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum InitFailure {
    /// No profile can be made of it.
    #[error(transparent)]
    Init(#[from] InitError),
    /// The input can't be read.
    #[error("cannot read {0}: {1}")]
    Input(String, String),
    /// Somebody else's file, perhaps.
    #[error("cannot write {}: it exists; --force replaces it", text::path(.0))]
    Exists(PathBuf),
    /// The file can't be written.
    #[error("cannot write {}", text::path(.0))]
    Output(PathBuf, #[source] io::Error),
    /// Standard output can't be written.
    #[error("cannot write to standard output")]
    Stdout(#[source] io::Error),
}

/// Makes a profile and writes it to a file, whole or not at all, or to `out`. What happened is said to `notices`.
///
/// # Errors
/// See [`InitFailure`]. Nothing is written then.
pub fn init(
    source: &InitSource,
    output: Option<&Path>,
    force: bool,
    out: &mut dyn Write,
    notices: &mut dyn Write,
) -> Result<(), InitFailure> {
    let output = output.filter(|path| *path != Path::new("-"));
    // Said before anything is pasted.
    if let Some(path) = output.filter(|path| !force && path.symlink_metadata().is_ok()) {
        return Err(InitFailure::Exists(path.to_owned()));
    }
    let written = make(source, notices)?;
    let Some(path) = output else {
        return out
            .write_all(written.text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(InitFailure::Stdout);
    };
    write(path, force, &written.text)?;
    // Where standard error is gone there is nobody to tell.
    let _ = tell(path, &written, notices);
    Ok(())
}

fn make(source: &InitSource, notices: &mut dyn Write) -> Result<Written, InitFailure> {
    Ok(match source {
        InitSource::Starter => init::starter()?,
        InitSource::Urls(urls) => init::from_urls(urls)?,
        InitSource::Curl => {
            if io::IsTerminal::is_terminal(&io::stdin()) {
                let _ = writeln!(notices, "paste curl commands, then press Ctrl-D on a line of its own");
            }
            init::from_curl(&read(Path::new("-"))?)?
        }
        InitSource::Har(file) => init::from_har(&read(file)?)?,
        InitSource::Openapi(file, server) => init::from_openapi(&read(file)?, server.as_deref())?,
    })
}

/// The text of a file, or of standard input.
fn read(file: &Path) -> Result<String, InitFailure> {
    let failed = |why: String| InitFailure::Input(text::source(file), why);
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|open| open.take(LARGEST + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(format!("it is larger than {} MB, the most that is read", LARGEST >> 20)));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(failed("it is empty".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = before.split(|&byte| byte == b'\n').count();
        failed(format!("it is not UTF-8 from line {line} on; save it as UTF-8"))
    })
}

/// Writes aside and renames, so that nobody ever finds half a profile.
fn write(path: &Path, force: bool, text: &str) -> Result<(), InitFailure> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => InitFailure::Exists(path.to_owned()),
        _ => InitFailure::Output(path.to_owned(), error),
    };
    // A link leads to what is to be replaced; a device or a pipe can't be.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(&place).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return fs::write(&place, text).map_err(failed);
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut aside = aside(folder).map_err(failed)?;
    if let Some(before) = before {
        aside.as_file().set_permissions(before.permissions()).map_err(failed)?;
    }
    aside.write_all(text.as_bytes()).and_then(|()| aside.as_file().sync_all()).map_err(failed)?;
    let kept = if force { aside.persist(&place) } else { aside.persist_noclobber(&place) };
    kept.map(drop).map_err(|error| failed(error.error))
}

/// A file beside the one that is to be, as readable as any other.
#[cfg(unix)]
fn aside(folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    Builder::new().prefix(".fanscope-").permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn aside(folder: &Path) -> io::Result<NamedTempFile> {
    Builder::new().prefix(".fanscope-").tempfile_in(folder)
}

fn tell(path: &Path, written: &Written, notices: &mut dyn Write) -> io::Result<()> {
    let endpoints = counted(written.endpoints as u64, "endpoint", "endpoints");
    writeln!(notices, "wrote {}: {endpoints}", text::path(path))?;
    if !written.variables.is_empty() {
        let named: Vec<&str> = written.variables.iter().take(LISTED).map(String::as_str).collect();
        let more = written.variables.len() - named.len();
        let more = if more > 0 { format!(" and {more} more, named at its head") } else { String::new() };
        writeln!(notices, "set before it is used: {}{more}", named.join(", "))?;
    }
    for note in written.notes.iter().take(LISTED) {
        writeln!(notices, "{}", text::visible(note))?;
    }
    if written.notes.len() > LISTED {
        writeln!(notices, "and more, said at its head")?;
    }
    notices.flush()
}
