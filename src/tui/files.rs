//! Files that keys ask for: recordings, and pictures of the screen with their rounds. Nothing here overwrites a
//! file, and what goes wrong is said on the screen.

use super::run::Loop;
use super::source::Source;
use super::surface::Surface;
use crate::app::{App, Message, Notice, Recording};
use crate::domain::{Event, Round, RoundNo, numbers, text};
use crate::picture::{Caption, Palette, svg};
use crate::recording::{CreateError, Line, Writer};
use crate::session::Recording as Kept;
use crate::view::{self, Dashboard};
use crossterm::event::Event as Input;
use futures_util::Stream;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// Names that are tried before it is given up: `a`, `a-2`, `a-3`, …
const TRIES: u32 = 1000;

/// How long something is said where no key comes.
pub(super) const MOMENT: Duration = Duration::from_secs(6);

/// A picture where nobody has said how large the terminal is.
const USUAL: (u16, u16) = (120, 40);

/// Where files go, and what is still to be written.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// In which directory; empty: the current one.
    pub(super) folder: PathBuf,
    /// Rounds that run on a picture, and where they are to be written when they are over.
    awaited: Vec<(RoundNo, PathBuf)>,
    /// Pictures so far.
    pictures: Vec<PathBuf>,
}

impl Files {
    /// Rounds that are awaited will not come.
    pub(super) fn forget_rounds(&mut self) {
        self.awaited.clear();
    }

    /// What was exported, for the normal screen.
    pub(super) fn told(&self) -> impl Iterator<Item = String> {
        self.pictures.iter().map(|path| {
            let round = if path.with_extension("json").exists() { " and .json" } else { "" };
            format!("exported {}{round}", text::path(path))
        })
    }
}

/// What was recorded, for the normal screen.
pub(super) fn told(recordings: &[Kept]) -> impl Iterator<Item = String> {
    recordings.iter().map(|recording| {
        let (path, lines) = (text::path(&recording.path), numbers::counted(recording.lines, "line", "lines"));
        let fault = recording.fault().map_or_else(String::new, |fault| format!("; {fault}"));
        format!("recorded {path}, {lines}{fault}")
    })
}

/// How a recording came out, for a moment on the screen.
pub(super) fn recorded(recording: &Kept) -> Notice {
    let path = text::path(&recording.path);
    match recording.fault() {
        None => Notice::Done(format!("recorded to {path}")),
        Some(fault) => Notice::Failed(format!("recorded to {path}: {fault}")),
    }
}

/// A profile's name as a part of a file's.
fn file_name(profile: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    let name: String = profile.chars().take(60).map(plain).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "profile".to_owned() } else { name.to_owned() }
}

/// `NAME-20260203-040506`, in UTC like every time of a recording.
fn stamped(profile: &str) -> String {
    format!("{}-{}", file_name(profile), jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"))
}

/// Does something with the first of the names `stem`, `stem-2`, … that is free; `None` from it says it is not.
fn first_free<T, E>(stem: &str, mut make: impl FnMut(&str) -> Option<Result<T, E>>) -> Option<Result<T, E>> {
    let names = (1..=TRIES).map(|n| if n == 1 { stem.to_owned() } else { format!("{stem}-{n}") });
    names.into_iter().find_map(|name| make(&name))
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// The screen as it is, as SVG.
fn picture(app: &App) -> String {
    let (width, height) = match app.size() {
        (0, _) | (_, 0) => USUAL,
        size => size,
    };
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    Dashboard(app).render(buffer.area, &mut buffer);
    let now = jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default();
    let title = format!("fanscope: profile {}, {now}", app.profile());
    let description = format!(
        "The dashboard of fanscope {} in a terminal of {width} columns and {height} rows: a round of calls as \
         bars against the deadline, what was missing and why, and the rounds before.",
        env!("CARGO_PKG_VERSION")
    );
    let palette = match view::ground(app) {
        Some((ground, text)) => Palette::DARK.on(ground, text),
        None => Palette::DARK,
    };
    svg(&buffer, &palette, Caption { title: &title, description: &description })
}

/// The round's line of a record.
fn write_round(app: &App, round: &Round, path: &Path) -> io::Result<()> {
    write_new(path, &Line::round(round, &app.names()).to_json_line()?)
}

impl<X, S, I> Loop<'_, X, S, I>
where
    X: Source,
    S: Surface,
    I: Stream<Item = io::Result<Input>> + Unpin,
{
    /// Says something for a moment.
    pub(super) fn say(&mut self, notice: Notice) {
        self.hush = Some(Instant::now() + MOMENT);
        self.tell(Message::Notice(notice));
    }

    /// Begins a recording under a name of its own, or ends the one that goes on.
    pub(super) fn record(&mut self) {
        let notice = if let Some(recording) = self.source.end_recording() {
            recorded(&recording)
        } else {
            match self.begin_recording() {
                Ok(path) => Notice::Done(format!("recording to {}", text::path(&path))),
                Err(why) => Notice::Failed(why),
            }
        };
        self.look_at_recording();
        self.say(notice);
    }

    fn begin_recording(&mut self) -> Result<PathBuf, String> {
        let stem = stamped(self.app.profile());
        let folder = self.files.folder.clone();
        let created =
            first_free(&stem, |name| match Writer::create(&folder.join(format!("{name}.ndjson")), false) {
                Err(CreateError::Exists(_)) => None,
                created => Some(created),
            });
        let writer =
            created.unwrap_or_else(|| Err(CreateError::Exists(folder.join(&stem)))).map_err(words)?;
        let path = writer.path().to_owned();
        self.source.record(writer).map_err(words)?;
        Ok(path)
    }

    /// Tells the app how the recording stands. Trouble is also said once, for screens without room for its reason.
    pub(super) fn look_at_recording(&mut self) {
        let now = match self.source.recording().map(|recording| recording.fault()) {
            None => Recording::Off,
            Some(None) => Recording::On,
            Some(Some(fault)) => Recording::Faulty(fault),
        };
        let trouble = match &now {
            Recording::Faulty(why) if !matches!(self.app.recording, Recording::Faulty(_)) => {
                Some(why.clone())
            }
            _ => None,
        };
        self.tell(Message::Recording(now));
        if let Some(why) = trouble {
            self.say(Notice::Failed(format!("recording: {why}")));
        }
        for recording in self.source.trouble_of_ended_recordings() {
            self.say(recorded(&recording));
        }
    }

    /// Writes the picture, and the round on it; one that runs is written when it is over.
    pub(super) fn export(&mut self) {
        let stem = format!("fanscope-{}", stamped(self.app.profile()));
        let (folder, drawn) = (self.files.folder.clone(), picture(&self.app));
        let written = first_free(&stem, |name| {
            let (picture, data) = (folder.join(format!("{name}.svg")), folder.join(format!("{name}.json")));
            if data.exists() {
                return None;
            }
            match write_new(&picture, &drawn) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                written => Some(written.map(|()| (picture, data))),
            }
        });
        let written = written.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()));
        let notice = match written {
            Ok((picture, data)) => self.export_round(&picture, data),
            Err(error) => Notice::Failed(format!("cannot write {stem}.svg: {}", words(error))),
        };
        self.say(notice);
    }

    fn export_round(&mut self, picture: &Path, data: PathBuf) -> Notice {
        self.files.pictures.push(picture.to_owned());
        let drawn = format!("exported {}", text::path(picture));
        let (done, path) = (format!("{drawn} and .json"), text::path(&data));
        match (self.app.round().cloned(), self.app.round_no()) {
            (Some(round), _) => match write_round(&self.app, &round, &data) {
                Ok(()) => Notice::Done(done),
                Err(error) => Notice::Failed(format!("cannot write {path}: {}", words(error))),
            },
            (None, Some(no)) => {
                // In a recording it may never be told to its end.
                self.files.awaited.push((no, data));
                Notice::Done(drawn)
            }
            (None, None) => Notice::Done(drawn),
        }
    }

    /// Writes a round down that was running when its picture was taken.
    pub(super) fn awaited(&mut self, message: &Message) {
        let Message::Engine(Event::RoundSettled { round, .. }) = message else { return };
        let due = self.files.awaited.extract_if(.., |(no, _)| *no == round.no);
        for (_, path) in due.collect::<Vec<_>>() {
            self.say(match write_round(&self.app, round, &path) {
                Ok(()) => Notice::Done(format!("exported {}", text::path(&path))),
                Err(error) => Notice::Failed(format!("cannot write {}: {}", text::path(&path), words(error))),
            });
        }
    }
}

/// An error and what caused it.
fn words(error: impl std::error::Error) -> String {
    let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
    text::clean(&format!("{error}{cause}"))
}
