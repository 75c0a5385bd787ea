//! `fanscope run`: rounds without a terminal, one line of JSON each or a summary for people.

use super::gate::{self, Gates, Judged, Verdict};
use super::output::Output;
use super::progress::{Done, Goal, Progress};
use super::text as print;
use super::voice::say;
use crate::domain::{Event, text};
use crate::profile::Profile;
use crate::recording::{CreateError, GateLine, Line, Scribe, SummaryFold, Writer};
use crate::session::{Plan, Recording, Session, SessionError, Signal, Signals};
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A summary for people at the end.
    Text,
    /// The lines of a record, as they happen.
    Json,
}

/// What a run is to do, besides its profile.
#[derive(Debug, Clone)]
pub struct Task {
    /// Rounds to complete; `None`: as many as the time has room for.
    pub rounds: Option<u64>,
    /// For how long rounds are started, from the first that counts on; those that run are completed.
    pub time: Option<Duration>,
    /// Rounds before those that count.
    pub warmup: u64,
    /// What has to hold.
    pub gates: Gates,
    /// What gates may be compared with.
    pub baseline: Option<SummaryFold>,
    /// What is printed.
    pub form: Form,
    /// Whether what is printed for people has 7-bit characters only.
    pub ascii: bool,
    /// The file that every round is written to, and whether one that exists is overwritten.
    pub record: Option<(PathBuf, bool)>,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
}

/// How a run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All rounds were completed.
    Completed(Verdict),
    /// A signal ended it; the summary was still written, unless nobody took it.
    Signal(Signal),
    /// Nobody reads the output any more. The gates were judged over the rounds until then.
    ClosedPipe(Verdict),
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not start.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// There is nothing to record to.
    #[error(transparent)]
    Record(#[from] CreateError),
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

/// Runs rounds and writes the result to `out`. Serves metrics where that is asked for, and says on standard error at
/// which address; what goes wrong with a recording is said there, too, and ends nothing.
///
/// # Errors
/// When nothing can be recorded to the file, the session can't start or the output can't be written; a reader that
/// went away is no error.
pub fn run(profile: Profile, mut task: Task, out: impl Write + Send + 'static) -> Result<Ended, RunError> {
    let record = task.record.take().map(|(path, force)| Writer::create(&path, force)).transpose()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RunError::Start)?;
    runtime.block_on(async {
        // Caught before the engine starts, so that no signal finds a round without an end.
        let mut signals = Signals::catch().map_err(RunError::Start)?;
        let plan = Plan { rounds: task.rounds, warmup: task.warmup };
        let mut session = Session::start(profile, plan)?;
        if let Some(short) = session.short() {
            say(&format!("fanscope: {short}"), task.ascii);
        }
        if let Some(address) = task.metrics {
            let address = session.serve_metrics(address)?;
            say(&format!("fanscope: metrics at http://{address}/metrics"), task.ascii);
        }
        let mut printer = Printer::new(&session, task, Output::start(out).map_err(RunError::Start)?);
        // Last: what is in the file goes when everything else stands.
        if let Some(writer) = record {
            session.record(writer).map_err(RunError::Start)?;
        }
        let observed = observe(&mut session, &mut printer, &mut signals).await;
        if let Some(bar) = printer.bar.take() {
            bar.clear(PATIENCE).await;
        }
        match observed {
            Ok(None) => {
                let verdict = printer.end()?;
                complete(&mut session, printer, &mut signals, verdict).await
            }
            Ok(Some(signal)) => {
                for event in session.quit(PATIENCE).await {
                    printer.event(event)?;
                }
                printer.end()?;
                close_recording(&mut session, &printer);
                // A reader that does not take the summary in time does not hold up the end.
                drop(tokio::time::timeout(PATIENCE, printer.output.finish()).await);
                Ok(Ended::Signal(signal))
            }
            Err(error) => {
                close_recording(&mut session, &printer);
                closed(Err(error), gate::verdict(&printer.judge()))
            }
        }
    })
}

/// The end of a run that nothing hurries: everything is written, however long that takes, or a signal comes.
async fn complete(
    session: &mut Session,
    printer: Printer,
    signals: &mut Signals,
    verdict: Verdict,
) -> Result<Ended, RunError> {
    session.end_recording(printer.gate_lines());
    let ascii = printer.task.ascii;
    let written = async {
        let written = printer.output.finish().await.map_err(RunError::Output);
        session.recordings_closed().await;
        written
    };
    let ended = tokio::select! {
        written = written => closed(written, verdict),
        signal = signals.next() => Ok(Ended::Signal(signal)),
    };
    complain(&session.finish_recordings(), ascii);
    ended
}

/// Closes the recording with what came of the gates, and says what is wrong with it.
fn close_recording(session: &mut Session, printer: &Printer) {
    session.end_recording(printer.gate_lines());
    complain(&session.finish_recordings(), printer.task.ascii);
}

/// The end, where a reader that went away is one too.
fn closed(written: Result<(), RunError>, verdict: Verdict) -> Result<Ended, RunError> {
    match written {
        Ok(()) => Ok(Ended::Completed(verdict)),
        Err(RunError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Ended::ClosedPipe(verdict))
        }
        Err(error) => Err(error),
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
    let (news, mut told) = (session.recording_news(), false);
    let Task { rounds, time, warmup, .. } = printer.task;
    let (mut until, mut finishes) = (None, false);
    loop {
        let behind = printer.output.is_behind();
        tokio::select! {
            signal = signals.next() => return Ok(Some(signal)),
            // Once: what all of it cost is said at the end.
            () = news.notified(), if !told => {
                for fault in session.recording().iter().filter_map(fault) {
                    printer.notice(&fault);
                }
                told = true;
            }
            written = printer.output.catch_up(), if behind => written.map_err(RunError::Output)?,
            () = reached(until), if !finishes => {
                session.finish();
                finishes = true;
            }
            event = session.next(), if !behind => {
                let Some(event) = event else {
                    let done = printer.scribe.fold().rounds();
                    let all = finishes || rounds.is_some_and(|rounds| done >= rounds);
                    return if all { Ok(None) } else { Err(RunError::Stopped(done)) };
                };
                if printer.done.since.is_none() && begins(&event, warmup) {
                    printer.done.since = Some(Instant::now());
                    until = time.map(|time| tokio::time::Instant::now() + time);
                }
                printer.event(event)?;
            }
        }
    }
}

/// Whether the time begins with this, which is that of the rounds that count.
const fn begins(event: &Event, warmup: u64) -> bool {
    matches!(event, Event::RoundStarted(started) if started.round.0 > warmup)
}

/// What is wrong with a recording, if anything is.
fn fault(recording: &Recording) -> Option<String> {
    let path = text::path(&recording.path);
    recording.fault().map(|fault| format!("fanscope: recording to {path}: {fault}"))
}

/// Says what is wrong with recordings, where there is no bar.
fn complain(recordings: &[Recording], ascii: bool) {
    recordings.iter().filter_map(fault).for_each(|fault| say(&fault, ascii));
}

/// That instant; never where there is none.
async fn reached(until: Option<tokio::time::Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Turns events into text.
struct Printer {
    output: Output,
    task: Task,
    profile: Arc<Profile>,
    scribe: Scribe,
    done: Done,
    bar: Option<Progress>,
}

impl Printer {
    fn new(session: &Session, task: Task, output: Output) -> Self {
        let goal = Goal { rounds: task.rounds, time: task.time, warmup: task.warmup };
        // Lines on the same terminal would run into it.
        let room = task.form == Form::Text || !io::stdout().is_terminal();
        let bar = if room { Progress::start(goal) } else { None };
        let (profile, scribe) = (Arc::clone(&session.profile), session.scribe());
        Self { output, task, profile, scribe, done: Done::default(), bar }
    }

    fn begin(&mut self) -> Result<(), RunError> {
        let line = self.scribe.first();
        self.line(&line)
    }

    fn event(&mut self, event: Event) -> Result<(), RunError> {
        if let Event::Failed(why) = event {
            return Err(RunError::Engine(why));
        }
        if let Event::Noted { text, .. } = &event {
            self.notice(&format!("fanscope: {text}"));
        }
        let line = self.scribe.event(&event);
        if let Event::RoundSettled { round, .. } = &event {
            self.progress(round.warmup);
        }
        line.map_or(Ok(()), |line| self.line(&line))
    }

    fn progress(&mut self, warmup: bool) {
        let fold = self.scribe.fold();
        self.done.warmup += u64::from(warmup);
        (self.done.rounds, self.done.completeness) = (fold.rounds(), fold.completeness());
        if let Some(bar) = &self.bar {
            bar.tell(self.done);
        }
    }

    /// Says something on standard error, where the bar may be.
    fn notice(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.say(text::spoken(line, self.task.ascii)),
            None => say(line, self.task.ascii),
        }
    }

    fn gate_lines(&self) -> Vec<GateLine> {
        self.judge().into_iter().map(|judged| judged.line).collect()
    }

    fn judge(&self) -> Vec<Judged> {
        gate::judge(&self.task.gates, self.scribe.fold(), self.task.baseline.as_ref())
    }

    /// Puts the summary behind the rest, and says how the gates came out.
    fn end(&mut self) -> Result<Verdict, RunError> {
        let judged = self.judge();
        let verdict = gate::verdict(&judged);
        if self.task.form == Form::Text {
            let summary = self.scribe.fold().summary(Vec::new());
            let mut said = print::summary(&self.profile, &summary);
            if !judged.is_empty() {
                said.push('\n');
                said.push_str(&gate::table(&judged));
            }
            self.output.push(if self.task.ascii { text::seven_bit(&said).into_owned() } else { said });
            return Ok(verdict);
        }
        let line = self.scribe.last(judged.into_iter().map(|j| j.line).collect());
        self.line(&line)?;
        Ok(verdict)
    }

    fn line(&mut self, line: &Line) -> Result<(), RunError> {
        if self.task.form == Form::Json {
            let text = line.to_json_line().map_err(|e| RunError::Output(e.into()))?;
            self.output.push(text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::RoundStarted;
    use crate::domain::{RoundNo, Settings};

    #[test]
    fn the_time_begins_with_the_first_round_that_counts_also_without_a_warm_up() {
        let started = |no| {
            Event::RoundStarted(RoundStarted {
                round: RoundNo(no),
                at: Duration::ZERO,
                start_lag: Duration::ZERO,
                settings: Arc::default(),
                budget: Duration::ZERO,
                hedge_delays: Vec::new(),
                warming: 0,
            })
        };
        // The first event of every session, before any round.
        let settings = Event::SettingsChanged { at: Duration::ZERO, settings: Arc::new(Settings::default()) };
        for (event, warmup, expected) in [
            (&settings, 0, false),
            (&started(1), 0, true),
            (&started(2), 2, false),
            (&started(3), 2, true),
            (&started(4), 2, true),
        ] {
            assert_eq!(begins(event, warmup), expected, "{event:?} after {warmup}");
        }
    }
}
