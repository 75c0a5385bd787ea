//! Why there is no report.

use crate::domain::text;
use crate::recording::ReadError;
use std::io;
use std::path::PathBuf;

/// Why a report can't be made. Each names the file that it is about, its source says the rest.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file can't be opened.
    #[error("{file}: cannot open it")]
    Open {
        /// Which.
        file: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{file}")]
    Read {
        /// Which.
        file: String,
        /// Why, with the number of the line.
        #[source]
        source: ReadError,
    },
    /// No file is named.
    #[error("there is no recording to report")]
    Nothing,
    /// A file stands there twice and would be counted twice.
    #[error("{0} is given twice")]
    Twice(String),
    /// Two names of one file, which would be counted twice.
    #[error("{other} is the same file as {first}")]
    Same {
        /// The name that stands first.
        first: String,
        /// The other one.
        other: String,
    },
    /// Two recordings that can't be one observation.
    #[error(
        "{other} is a recording of other endpoints than {first}: {difference}; recordings of one profile are \
         reported together"
    )]
    Endpoints {
        /// The first file.
        first: String,
        /// The one that differs.
        other: String,
        /// How.
        difference: String,
    },
    /// A quorum that no round can meet.
    #[error("--quorum {k}: it is 1 to {optional}, the number of optional endpoints in {file}")]
    Quorum {
        /// What was asked for.
        k: usize,
        /// What there is.
        optional: usize,
        /// Where.
        file: String,
    },
    /// A comparison of more or fewer than two.
    #[error("--compare takes two recordings, OLD and NEW, and here are {0}")]
    NotTwo(usize),
    /// The page would replace a file.
    #[error("{} is there already; --force writes over it", text::path(.0))]
    Exists(PathBuf),
    /// The page would replace a recording that it is about.
    #[error("--html {}: this is one of the recordings", text::path(.0))]
    Recording(PathBuf),
    /// The page can't be written.
    #[error("cannot write {}", text::path(.file))]
    Page {
        /// Where.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The result can't be written.
    #[error("cannot write the report")]
    Output(#[source] io::Error),
}
