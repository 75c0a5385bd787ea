//! The recording that gates are compared with.

use crate::domain::text;
use crate::recording::{self, ReadError, Reader, SummaryFold};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why there is no baseline.
#[derive(Debug, thiserror::Error)]
#[error("{}", text::path(.file))]
pub struct BaselineError {
    file: PathBuf,
    source: ReadError,
}

/// Folds a recording; what was cut off its end is said on `notices`.
///
/// # Errors
/// When it can't be opened or read.
pub fn baseline(file: &Path, notices: &mut dyn Write) -> Result<SummaryFold, BaselineError> {
    let fail = |source| BaselineError { file: file.to_owned(), source };
    let mut reader = Reader::new(recording::open(file).map_err(|error| fail(error.into()))?);
    let fold = SummaryFold::of_record(&mut reader).map_err(fail)?;
    if let Some(cut) = reader.left_out() {
        // Nothing can be said where standard error is gone.
        let _: io::Result<()> = writeln!(notices, "fanscope: {}: {cut}", text::path(file));
    }
    Ok(fold)
}
