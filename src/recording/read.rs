//! Reads a record line by line: checks what each line says and turns it back into the domain's own types.
//!
//! What was cut at its end is read up to the cut, and what was left out is told. Everything else that is not as it
//! should be is an error with the number of its line. Text comes out free of control characters.

use super::back::{Held, Names};
use super::line::{Line, SessionLine};
use super::summary::SummaryLine;
use crate::domain::{Late, Round, RoundNo, Settings, text};
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::time::Duration;

/// The longest line that is read: a round of thousands of calls stays far below.
const LONGEST: u64 = 64 << 20;

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// What was asked for. Where recordings were joined, another one begins.
    Session(Arc<SessionLine>),
    /// What holds from the next round on; when, from the session's start.
    Settings(Duration, Arc<Settings>),
    /// A round, and the planned starts that did not happen until then.
    Round(Box<Round>, u64),
    /// What became of a straggler of this probe round.
    Late(RoundNo, Late),
    /// What somebody had to say; when, from the session's start.
    Note(Duration, String),
    /// Everything together, as the writer counted it.
    Summary(Box<SummaryLine>),
}

/// Why a record can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading failed.
    #[error("cannot read it")]
    Io(#[from] io::Error),
    /// There is nothing in it.
    #[error("it is empty: a recording has a line for its session and one for each round")]
    Empty,
    /// It ends within its first line.
    #[error("it ends within its first line, so nothing of it can be shown")]
    Cut,
    /// It is something else.
    #[error("line 1: this is no recording: {0}")]
    NotARecording(String),
    /// A later version wrote it.
    #[error(
        "line {line}: it has schema {schema}, and this fanscope reads up to {}; a newer fanscope can read it",
        super::SCHEMA
    )]
    Newer {
        /// Where.
        line: u64,
        /// Which.
        schema: u32,
    },
    /// A line is not as it should be.
    #[error("line {line}: {why}")]
    Line {
        /// Which, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// What the lines so far have said that later ones are read by. Small, so that it can be kept for a place in the
/// middle of a record.
#[derive(Debug, Clone, Default)]
pub struct Context {
    session: Option<Arc<SessionLine>>,
    names: Arc<Names>,
    held: Held,
}

impl Context {
    /// The session that was read last.
    #[must_use]
    pub fn session(&self) -> Option<&Arc<SessionLine>> {
        self.session.as_ref()
    }

    /// The settings that hold.
    #[must_use]
    pub fn settings(&self) -> &Arc<Settings> {
        &self.held.settings
    }

    /// Takes in the line with this number; `None` for one of another version, which says nothing here.
    ///
    /// # Errors
    /// When it is no line of a record, or contradicts those before it.
    pub fn read(&mut self, number: u64, text: &str) -> Result<Option<Record>, ReadError> {
        let wrong = |why: String| ReadError::Line { line: number, why };
        let line = match Line::parse(text).map_err(|error| (newer(text), error)) {
            Ok(line) => line,
            Err((Some(schema), _)) => return Err(ReadError::Newer { line: number, schema }),
            Err((None, error)) if self.session.is_none() => {
                return Err(ReadError::NotARecording(guess(text, &error)));
            }
            Err((None, error)) => return Err(wrong(plain(&error))),
        };
        if self.session.is_none() && !matches!(line, Line::Session(_)) {
            let why = "it does not begin with the line of its session".to_owned();
            return Err(ReadError::NotARecording(why));
        }
        match line {
            Line::Session(line) => {
                if line.schema > super::SCHEMA {
                    return Err(ReadError::Newer { line: number, schema: line.schema });
                }
                self.begin(line).map(Some).map_err(wrong)
            }
            Line::Settings(line) => {
                self.held = Held::new(line.settings.settings().map_err(wrong)?);
                Ok(Some(Record::Settings(line.at_ms.into(), Arc::clone(&self.held.settings))))
            }
            Line::Round(line) => {
                let skipped = line.skipped;
                let round = line.into_round(&self.names, &self.held).map_err(wrong)?;
                Ok(Some(Record::Round(Box::new(round), skipped)))
            }
            Line::Late(line) => {
                let (round, late) = line.late(&self.names).map_err(wrong)?;
                Ok(Some(Record::Late(round, late)))
            }
            Line::Note(line) => Ok(Some(Record::Note(line.at_ms.into(), text::clean(&line.text)))),
            Line::Summary(line) => Ok(Some(Record::Summary(Box::new(line)))),
            Line::Unknown => Ok(None),
        }
    }

    fn begin(&mut self, mut line: SessionLine) -> Result<Record, String> {
        line.profile = text::clean(&line.profile);
        line.started = text::clean(&line.started);
        line.fanscope = text::clean(&line.fanscope);
        line.endpoints.iter_mut().for_each(|e| e.name = text::clean(&e.name));
        let names: Vec<String> = line.endpoints.iter().map(|e| e.name.clone()).collect();
        if self.session.is_some() && names != self.names.names {
            return Err("another recording begins here, of other endpoints".to_owned());
        }
        let required = line.endpoints.iter().map(|e| e.required).collect();
        self.names = Arc::new(Names { names, required });
        self.held = Held::new(line.settings.settings()?);
        let line = Arc::new(line);
        self.session = Some(Arc::clone(&line));
        Ok(Record::Session(line))
    }
}

/// A record's lines, one after the other.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    context: Context,
    buffer: Vec<u8>,
    line: u64,
    /// Bytes of the lines that were read whole.
    offset: u64,
    left_out: Option<String>,
    over: bool,
}

impl<R: BufRead> Reader<R> {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(input: R) -> Self {
        let (context, buffer) = (Context::default(), Vec::new());
        Self { input, context, buffer, line: 0, offset: 0, left_out: None, over: false }
    }

    /// What the lines so far have said.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// The number of the line that was read last, from 1.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of the lines read so far.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// What was left out at a cut end, in words.
    #[must_use]
    pub fn left_out(&self) -> Option<&str> {
        self.left_out.as_deref()
    }

    /// The next line that says something; `None` at the end, also at one that was cut.
    ///
    /// # Errors
    /// See [`ReadError`]. After one there is nothing more to read.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        while !self.over {
            let whole = self.fill()?;
            if self.buffer.is_empty() {
                break;
            }
            let read = self.take_in();
            match read {
                Ok(None) => {}
                Ok(Some(record)) => return Ok(Some(record)),
                // The writer was stopped within it.
                Err(_) if !whole && self.context.session.is_some() => {
                    let bytes = self.buffer.len();
                    self.left_out = Some(format!("line {} is cut: {bytes} bytes left out", self.line));
                    break;
                }
                Err(ReadError::NotARecording(_)) if !whole && begins_a_session(&self.buffer) => {
                    self.over = true;
                    return Err(ReadError::Cut);
                }
                Err(error) => {
                    self.over = true;
                    return Err(error);
                }
            }
        }
        self.over = true;
        if self.context.session.is_none() { Err(ReadError::Empty) } else { Ok(None) }
    }

    /// Reads a line into the buffer; whether it is whole.
    fn fill(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut self.buffer);
        match read {
            Ok(_) => {}
            // A compressed file that was cut, or has something else at its end: what could be unpacked of its
            // last line is no line.
            Err(error) if is_of_packing(&error) => {
                if self.context.session.is_none() {
                    self.over = true;
                    return Err(match error.kind() {
                        io::ErrorKind::UnexpectedEof => ReadError::Cut,
                        _ => ReadError::NotARecording(format!("it can't be unpacked: {error}")),
                    });
                }
                let (unpacked, line) = (self.buffer.len(), self.line);
                self.left_out = Some(match unpacked {
                    0 => format!("the compressed file is cut or damaged after line {line}"),
                    _ => format!(
                        "the compressed file is cut or damaged: {unpacked} bytes after line {line} left out"
                    ),
                });
                self.buffer.clear();
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        self.line += u64::from(!self.buffer.is_empty());
        let whole = self.buffer.ends_with(b"\n");
        if !whole && self.buffer.len() as u64 == LONGEST {
            self.over = true;
            return Err(match self.line {
                1 => ReadError::NotARecording("it has no lines".to_owned()),
                line => ReadError::Line { line, why: "it has no end within 64 MiB".to_owned() },
            });
        }
        Ok(whole)
    }

    /// Makes a record of the buffer.
    fn take_in(&mut self) -> Result<Option<Record>, ReadError> {
        let bytes = self.buffer.strip_prefix("\u{feff}".as_bytes()).filter(|_| self.line == 1);
        let bytes = bytes.unwrap_or(&self.buffer);
        let number = self.line;
        let record = match std::str::from_utf8(bytes) {
            Ok(text) if text.trim().is_empty() => Ok(None),
            Ok(text) => self.context.read(number, text.trim_end()),
            Err(_) if self.context.session.is_none() => Err(ReadError::NotARecording(binary(bytes))),
            Err(_) => Err(ReadError::Line { line: number, why: "it is not UTF-8".to_owned() }),
        }?;
        self.offset += self.buffer.len() as u64;
        Ok(record)
    }
}

/// Whether an error is about what was to be unpacked, not about reading it.
fn is_of_packing(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | InvalidData | InvalidInput)
}

/// Whether this may be the beginning of a record's first line.
fn begins_a_session(bytes: &[u8]) -> bool {
    const START: &[u8] = br#"{"type":"session""#;
    bytes.starts_with(START) || START.starts_with(bytes)
}

/// The schema of a session that a later version wrote, whatever else has changed in its line.
fn newer(text: &str) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Session {
        r#type: String,
        schema: u32,
    }
    let session: Session = serde_json::from_str(text).ok()?;
    (session.r#type == "session" && session.schema > super::SCHEMA).then_some(session.schema)
}

/// What a first line is that is no line of a record.
fn guess(text: &str, error: &serde_json::Error) -> String {
    let text = text.trim_start();
    let toml = text.starts_with(['#', '[']) || text.split_once('=').is_some_and(|(key, _)| is_key(key));
    if text.starts_with('{') {
        return format!("{}; a recording is written by --record or by run --format json", plain(error));
    }
    if toml {
        return "it looks like a profile; `fanscope run PROFILE --record FILE` makes a recording of it"
            .to_owned();
    }
    "its lines are not JSON; a recording is written by --record or by run --format json".to_owned()
}

fn is_key(key: &str) -> bool {
    let key = key.trim();
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn binary(bytes: &[u8]) -> String {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let what = if utf16 { "it is UTF-16, save it as UTF-8" } else { "it is binary" };
    what.to_owned()
}

/// A parser's complaint without the line that it counts itself, which is always 1.
fn plain(error: &serde_json::Error) -> String {
    let text = text::clean(&error.to_string());
    match text.rsplit_once(" at line ") {
        Some((why, _)) if error.column() > 0 => format!("{why} (column {})", error.column()),
        _ => text,
    }
}
