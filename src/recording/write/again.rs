//! Opens a file that is there already, whatever it is.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens what is there already, without waiting for somebody at the other end of a pipe.
#[cfg(unix)]
pub(super) fn open_again(path: &Path) -> io::Result<File> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    let mut options = OpenOptions::new();
    // A link may lead to where nothing is yet.
    options.write(true).create(true).truncate(false);
    if !std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
        return options.open(path);
    }
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let nobody = |error: io::Error| match rustix::io::Errno::from_io_error(&error) {
        Some(rustix::io::Errno::NXIO) => io::Error::other("nobody reads from this pipe"),
        _ => error,
    };
    let pipe = options.custom_flags(flags).open(path).map_err(nobody)?;
    // A reader that is slow is waited for, by the thread that writes.
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)?.difference(OFlags::NONBLOCK))?;
    Ok(pipe)
}

/// Opens what is there already.
#[cfg(not(unix))]
pub(super) fn open_again(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}
