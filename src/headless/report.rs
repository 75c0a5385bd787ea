//! `fanscope report`: what recordings show, as text, as JSON or as a page. Each file is read once, in bounded memory.
//! Knows nothing of terminals but their width, and nothing of a session that runs.

mod bars;
mod collect;
mod compare;
mod error;
mod estimates;
mod history;
mod html;
mod json;
mod lanes;
mod missing;
mod sample;
mod text;
mod words;
mod worst;

pub use error::ReportError;

use super::run::Form;
use collect::{Collected, Question};
use compare::Compared;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::Look;

/// What is to be reported, and how.
#[derive(Debug, Clone)]
pub struct ReportPlan {
    /// Recordings; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Whether the two of them are compared, the older first.
    pub compare: bool,
    /// Budgets to recount; by default steps up to twice the one that ran.
    pub at: Vec<Duration>,
    /// Answers that are enough; by default as the recording says.
    pub quorum: Option<usize>,
    /// What is printed.
    pub form: Form,
    /// Where a page is written.
    pub html: Option<PathBuf>,
    /// Whether it may replace a file.
    pub force: bool,
    /// Whether the text has 7-bit characters only.
    pub ascii: bool,
}

/// Columns of a text that goes to no terminal, and most of one that does.
const COLUMNS: usize = 80;
const MOST_COLUMNS: usize = 140;

/// Reads the recordings and writes the report to `out`; what was left out at a cut end is told to `notices`.
///
/// # Errors
/// When a recording can't be read or the result can't be written. A reader of `out` that went away is
/// [`ReportError::Output`] of [`io::ErrorKind::BrokenPipe`].
pub fn report(plan: &ReportPlan, out: &mut dyn Write, notices: &mut dyn Write) -> Result<(), ReportError> {
    let question = Question { at: plan.at.clone(), quorum: plan.quorum };
    let look = Look { ascii: plan.ascii, width: columns() };
    collect::each_once(&plan.files)?;
    let text = if plan.compare {
        let [old, new] = plan.files.as_slice() else { return Err(ReportError::NotTwo(plan.files.len())) };
        let old = Collected::read(std::slice::from_ref(old), &question)?;
        let new = Collected::read(std::slice::from_ref(new), &question)?;
        tell(&old, notices);
        tell(&new, notices);
        let compared = Compared::of(&old, &new);
        match plan.form {
            Form::Text => compared.text(look.width, look.ascii),
            Form::Json => compared.json().map_err(|e| ReportError::Output(e.into()))?,
        }
    } else {
        // A page that may not be written is said before a gigabyte is read.
        if let Some(page) = &plan.html {
            free(page, plan)?;
        }
        let all = Collected::read(&plan.files, &question)?;
        tell(&all, notices);
        if let Some(page) = &plan.html {
            write(page, plan.force, &html::html(&all))?;
        }
        match plan.form {
            Form::Text => text::text(&all, look),
            Form::Json => json::json(&all).map_err(|e| ReportError::Output(e.into()))?,
        }
    };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(ReportError::Output)
}

/// Says what was left out at the end of a file that was cut.
fn tell(all: &Collected, notices: &mut dyn Write) {
    for file in &all.files {
        if let Some(left_out) = &file.left_out {
            // The report itself says it too.
            let _ = writeln!(notices, "fanscope: {}: {left_out}", file.name);
        }
    }
}

fn free(page: &Path, plan: &ReportPlan) -> Result<(), ReportError> {
    let Ok(place) = fs::canonicalize(page) else { return Ok(()) };
    if plan.files.iter().any(|file| fs::canonicalize(file).is_ok_and(|file| file == place)) {
        return Err(ReportError::Recording(page.to_owned()));
    }
    if plan.force { Ok(()) } else { Err(ReportError::Exists(page.to_owned())) }
}

/// Writes the page in one go; never over a file that came into being meanwhile.
fn write(page: &Path, force: bool, text: &str) -> Result<(), ReportError> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(!force).create(force).truncate(force);
    let written = options.open(page).and_then(|mut file: File| file.write_all(text.as_bytes()));
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => ReportError::Exists(page.to_owned()),
        _ => ReportError::Page { file: page.to_owned(), source },
    })
}

/// How wide the text may be.
fn columns() -> usize {
    terminal().map_or(COLUMNS, |columns| columns.clamp(COLUMNS / 2, MOST_COLUMNS))
}

#[cfg(unix)]
fn terminal() -> Option<usize> {
    use std::io::IsTerminal;
    let out = io::stdout();
    let size = if out.is_terminal() { rustix::termios::tcgetwinsize(&out).ok() } else { None };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(not(unix))]
fn terminal() -> Option<usize> {
    None
}
