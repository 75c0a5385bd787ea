//! `fanscope run`: rounds without a terminal, one line of JSON each or a summary for people.

use super::text;
use crate::domain::Event;
use crate::profile::Profile;
use crate::recording::{Line, SummaryFold};
use crate::session::{Session, SessionError, Signal, Signals};
use std::io::{self, Write};
use std::time::Duration;

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A summary for people at the end.
    Text,
    /// The lines of a record, as they happen.
    Json,
}

/// How a run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All rounds were completed.
    Completed,
    /// A signal ended it; the summary was still written.
    Signal(Signal),
    /// Nobody reads the output any more.
    ClosedPipe,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not start.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The engine could not start.
    #[error("{0}")]
    Engine(String),
    /// The engine ended before its rounds were completed.
    #[error("the engine stopped after {0} rounds; this is a fault of fanscope itself")]
    Stopped(u64),
    /// The output could not be written.
    #[error("cannot write the result")]
    Output(#[source] io::Error),
    /// A runtime or a signal handler could not be had.
    #[error("cannot start")]
    Start(#[source] io::Error),
}

/// How long quitting waits for the engine's last events.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs `rounds` rounds and writes the result to `out`.
///
/// # Errors
/// When the session can't start or the output can't be written; a reader that went away is no error.
pub fn run(profile: Profile, rounds: u64, form: Form, out: &mut dyn Write) -> Result<Ended, RunError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RunError::Start)?;
    runtime.block_on(async {
        // Caught before the engine starts, so that no signal finds a round without an end.
        let signals = Signals::catch().map_err(RunError::Start)?;
        let session = Session::start(profile, Some(rounds))?;
        Runner { printer: Printer::new(&session, form, out), session, signals, rounds }.run().await
    })
}

struct Runner<'a> {
    session: Session,
    signals: Signals,
    printer: Printer<'a>,
    rounds: u64,
}

impl Runner<'_> {
    async fn run(mut self) -> Result<Ended, RunError> {
        match self.observe().await {
            Err(RunError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Ended::ClosedPipe)
            }
            other => other,
        }
    }

    async fn observe(&mut self) -> Result<Ended, RunError> {
        self.printer.begin()?;
        loop {
            tokio::select! {
                event = self.session.next() => match event {
                    Some(event) => self.printer.event(event)?,
                    None => break,
                },
                signal = self.signals.next() => {
                    for event in self.session.quit(PATIENCE).await {
                        self.printer.event(event)?;
                    }
                    self.printer.end()?;
                    return Ok(Ended::Signal(signal));
                }
            }
        }
        self.printer.end()?;
        let done = self.printer.fold.rounds();
        if done < self.rounds { Err(RunError::Stopped(done)) } else { Ok(Ended::Completed) }
    }
}

/// Writes what happens.
struct Printer<'a> {
    out: &'a mut dyn Write,
    form: Form,
    profile: std::sync::Arc<Profile>,
    names: Vec<String>,
    fold: SummaryFold,
}

impl<'a> Printer<'a> {
    fn new(session: &Session, form: Form, out: &'a mut dyn Write) -> Self {
        let names = session.names();
        let profile = std::sync::Arc::clone(&session.profile);
        Self { out, form, profile, fold: SummaryFold::new(&names), names }
    }

    fn begin(&mut self) -> Result<(), RunError> {
        // Wall time is a label only, cut to milliseconds.
        let now = jiff::Timestamp::now().round(jiff::Unit::Millisecond).unwrap_or_default().to_string();
        let (profile, specs) = (&self.profile, self.profile.call_specs());
        let line = Line::session(&profile.name, &now, &self.names, &specs, &profile.settings);
        self.line(&line)
    }

    fn event(&mut self, event: Event) -> Result<(), RunError> {
        match event {
            Event::RoundSettled { round, vitals } => {
                self.fold.push(&round);
                self.fold.skipped(vitals.skipped);
                self.line(&Line::round(&round, &self.names))
            }
            Event::SettingsChanged { at, settings } => {
                let specs = self.profile.call_specs();
                self.line(&Line::settings(at, &settings, &specs))
            }
            Event::Failed(why) => Err(RunError::Engine(why)),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), RunError> {
        let summary = self.fold.summary(Vec::new());
        if self.form == Form::Text {
            let text = text::summary(&self.profile, &summary);
            self.out.write_all(text.as_bytes()).map_err(RunError::Output)?;
        }
        self.line(&Line::summary(summary))?;
        self.out.flush().map_err(RunError::Output)
    }

    fn line(&mut self, line: &Line) -> Result<(), RunError> {
        if self.form == Form::Text {
            return Ok(());
        }
        let text = line.to_json_line().map_err(|e| RunError::Output(e.into()))?;
        self.out.write_all(text.as_bytes()).map_err(RunError::Output)
    }
}
