//! `fanscope run`: rounds without a terminal, one line of JSON each or a summary for people.

use super::output::Output;
use super::text;
use crate::domain::Event;
use crate::profile::Profile;
use crate::recording::{Line, Scribe};
use crate::session::{Plan, Session, SessionError, Signal, Signals};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
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
    /// A signal ended it; the summary was still written, unless nobody took it.
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
    /// A runtime, a thread or a signal handler could not be had.
    #[error("cannot start")]
    Start(#[source] io::Error),
}

/// How long an end by a signal waits for the engine's last events, and then for the reader of the output.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs `rounds` rounds and writes the result to `out`. Serves metrics where that is asked for, and says on standard
/// error at which address.
///
/// # Errors
/// When the session can't start or the output can't be written; a reader that went away is no error.
pub fn run(
    profile: Profile,
    rounds: u64,
    form: Form,
    metrics: Option<SocketAddr>,
    out: impl Write + Send + 'static,
) -> Result<Ended, RunError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RunError::Start)?;
    let ended = runtime.block_on(async {
        // Caught before the engine starts, so that no signal finds a round without an end.
        let mut signals = Signals::catch().map_err(RunError::Start)?;
        let mut session = Session::start(profile, Plan { rounds: Some(rounds), warmup: 0 })?;
        if let Some(address) = metrics {
            let address = session.serve_metrics(address)?;
            // A notice that nobody can read is no reason not to run.
            let _ = writeln!(io::stderr(), "fanscope: metrics at http://{address}/metrics");
        }
        let mut printer = Printer::new(&session, form, Output::start(out).map_err(RunError::Start)?);
        let signal = observe(&mut session, &mut printer, &mut signals).await?;
        let done = printer.scribe.fold().rounds();
        match signal {
            None if done < rounds => Err(RunError::Stopped(done)),
            None => printer.end().await.map(|()| Ended::Completed),
            Some(signal) => {
                for event in session.quit(PATIENCE).await {
                    printer.event(event)?;
                }
                // A reader that does not take the summary in time does not hold up the end.
                drop(tokio::time::timeout(PATIENCE, printer.end()).await);
                Ok(Ended::Signal(signal))
            }
        }
    });
    match ended {
        Err(RunError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Ended::ClosedPipe),
        other => other,
    }
}

/// Prints what happens until the engine has ended or a signal comes. While the reader of the output is behind, no
/// event is taken, and then no round starts.
async fn observe(
    session: &mut Session,
    printer: &mut Printer,
    signals: &mut Signals,
) -> Result<Option<Signal>, RunError> {
    printer.begin()?;
    loop {
        let behind = printer.output.is_behind();
        tokio::select! {
            signal = signals.next() => return Ok(Some(signal)),
            written = printer.output.catch_up(), if behind => written.map_err(RunError::Output)?,
            event = session.next(), if !behind => match event {
                Some(event) => printer.event(event)?,
                None => return Ok(None),
            },
        }
    }
}

/// Turns events into text.
struct Printer {
    output: Output,
    form: Form,
    profile: Arc<Profile>,
    scribe: Scribe,
}

impl Printer {
    fn new(session: &Session, form: Form, output: Output) -> Self {
        Self { output, form, profile: Arc::clone(&session.profile), scribe: session.scribe() }
    }

    fn begin(&mut self) -> Result<(), RunError> {
        let line = self.scribe.first();
        self.line(&line)
    }

    fn event(&mut self, event: Event) -> Result<(), RunError> {
        if let Event::Failed(why) = event {
            return Err(RunError::Engine(why));
        }
        self.scribe.event(&event).map_or(Ok(()), |line| self.line(&line))
    }

    /// Writes the summary and waits until all is out.
    async fn end(mut self) -> Result<(), RunError> {
        let summary = self.scribe.fold().summary(Vec::new());
        if self.form == Form::Text {
            self.output.push(text::summary(&self.profile, &summary));
        }
        self.line(&Line::summary(summary))?;
        self.output.finish().await.map_err(RunError::Output)
    }

    fn line(&mut self, line: &Line) -> Result<(), RunError> {
        if self.form == Form::Json {
            let text = line.to_json_line().map_err(|e| RunError::Output(e.into()))?;
            self.output.push(text);
        }
        Ok(())
    }
}
