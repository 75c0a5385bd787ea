//! Parses, dispatches and turns the result into an exit code.

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use fanscope::cli::{Check, Cli, CliCommand, Format, Look, Observe, Replay, Report, Run};
use fanscope::domain::text;
use fanscope::headless::{self, Ended, Form, Gates, ReportError, ReportPlan, RunError, Task, Verdict, Voice};
use fanscope::profile::redact::redact;
use fanscope::profile::secrets::redact_url;
use fanscope::profile::{self, Profile};
use fanscope::session::replay::Recording;
use fanscope::session::{self, Choice, Signal};
use fanscope::tui::{self, Beside, TuiError};
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Usage, profile or environment: something the user has to change.
const USAGE: u8 = 2;

/// A gate does not hold.
const GATE_FAILED: u8 = 1;

/// A gate had no data, and none failed.
const NO_DATA: u8 = 3;

/// A fault of the program itself (`EX_SOFTWARE`).
const INTERNAL: u8 = 70;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version go to standard output, everything else to standard error; clap knows which.
        Err(asked) => {
            let asked = harmless(asked);
            return if explain(&asked).is_ok() {
                ExitCode::from(u8::try_from(asked.exit_code()).unwrap_or(USAGE))
            } else {
                ExitCode::from(USAGE)
            };
        }
    };
    match cli.command {
        None => dashboard(&cli.observe, &cli.look),
        Some(CliCommand::Run(run)) => rounds(&run),
        Some(CliCommand::Demo(demo)) => story(&demo.look),
        Some(CliCommand::Replay(replay)) => play(&replay),
        Some(CliCommand::Check(check)) => check_profiles(&check),
        Some(CliCommand::Report(report)) => report_recordings(report),
    }
}

/// What is said of wrong arguments, which repeats them: without secrets and without anything that moves a cursor.
fn harmless(mut said: clap::Error) -> clap::Error {
    let shown = |given: &String| text::visible(&redact_url(given));
    let repeated: Vec<(ContextKind, ContextValue)> = said
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(given) => Some((kind, ContextValue::String(shown(given)))),
            ContextValue::Strings(given) => {
                Some((kind, ContextValue::Strings(given.iter().map(shown).collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in repeated {
        said.insert(kind, value);
    }
    said
}

fn choice(observe: &Observe) -> Choice {
    Choice {
        targets: observe.targets.clone(),
        headers: observe.headers.clone(),
        overrides: observe.overrides(),
    }
}

/// What to record to, and whether what is there may be overwritten.
fn record(observe: &Observe) -> Option<(PathBuf, bool)> {
    observe.record.clone().map(|path| (path, observe.force))
}

fn dashboard(observe: &Observe, look: &Look) -> ExitCode {
    // A wrong profile is said before the terminal is touched.
    let choice = choice(observe);
    let profile = match session::choose(&choice) {
        Ok(profile) => profile,
        Err(error) => return complain(&error),
    };
    let (record, choice) = (record(observe), Some(choice));
    let beside = Beside { warmup: observe.warmup, record, metrics: observe.metrics, choice, story: false };
    left(tui::run(profile, (look.color, look.ascii), beside))
}

fn story(look: &Look) -> ExitCode {
    match profile::built_in("demo") {
        Ok(profile) => {
            let beside = Beside { story: true, ..Beside::default() };
            left(tui::run(profile, (look.color, look.ascii), beside))
        }
        Err(error) => complain(&error),
    }
}

/// The dashboard was left.
fn left(how: Result<Option<Signal>, TuiError>) -> ExitCode {
    match how {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(signal)) => die(signal),
        Err(error) => complain(&error),
    }
}

fn rounds(run: &Run) -> ExitCode {
    let profile = match session::choose(&choice(&run.observe)) {
        Ok(profile) => profile,
        Err(error) => return complain(&error),
    };
    let task = match task(run, &profile) {
        Ok(task) => task,
        Err(error) => return complain(&*error),
    };
    match headless::run(profile, task, io::stdout()) {
        Ok(Ended::Completed(verdict) | Ended::ClosedPipe(verdict)) => match verdict {
            Verdict::Passed => ExitCode::SUCCESS,
            Verdict::Failed => ExitCode::from(GATE_FAILED),
            Verdict::NoData => ExitCode::from(NO_DATA),
        },
        Ok(Ended::Signal(signal)) => die(signal),
        Err(error @ RunError::Stopped(_)) => {
            complain(&error);
            ExitCode::from(INTERNAL)
        }
        Err(error) => complain(&error),
    }
}

/// What the run is to do; gates and their baseline are read before anything is sent.
fn task(run: &Run, profile: &Profile) -> Result<Task, Box<dyn Error>> {
    let file = run.baseline.as_deref();
    let baseline = file.map(|file| headless::baseline(file, &mut voice(io::stderr()))).transpose()?;
    let names: Vec<String> = profile.endpoints.iter().map(|e| e.name.clone()).collect();
    Ok(Task {
        rounds: run.goal(),
        time: run.time,
        warmup: run.observe.warmup,
        gates: Gates::parse(&run.gates, &names, baseline.is_some())?,
        baseline,
        form: form(run.format),
        ascii: speaks_ascii(run.ascii),
        record: record(&run.observe),
        metrics: run.observe.metrics,
    })
}

fn play(replay: &Replay) -> ExitCode {
    // A file that is no recording is said before the terminal is touched.
    let recording = match Recording::open(&replay.file) {
        Ok(recording) => recording,
        Err(error) => return complain(&error),
    };
    match tui::replay(recording, replay.speed, (replay.look.color, replay.look.ascii)) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(signal)) => die(signal),
        Err(error) => complain(&error),
    }
}

fn check_profiles(check: &Check) -> ExitCode {
    let (out, errors) = (&mut voice(io::stdout().lock()), &mut voice(io::stderr().lock()));
    let listed = if check.list { headless::list(out) } else { Ok(()) };
    match listed.and_then(|()| headless::check(&check.profiles, out, errors)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(USAGE),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

/// What people are told, in the characters that their locale knows.
fn voice<W: Write>(out: W) -> Voice<W> {
    Voice::new(out, speaks_ascii(false))
}

/// Prints what clap has to say. It repeats arguments as they are: one that could move the cursor, or that the
/// locale can't show, costs it its colours.
fn explain(asked: &clap::Error) -> io::Result<()> {
    let (plain, ascii) = (asked.render().to_string(), speaks_ascii(false));
    let said = text::spoken(&plain, ascii);
    if said == plain {
        asked.print()
    } else if asked.use_stderr() {
        io::stderr().write_all(said.as_bytes())
    } else {
        io::stdout().write_all(said.as_bytes())
    }
}

/// Whether text is to have 7-bit characters only: where that was asked for, or the locale knows no others.
fn speaks_ascii(asked: bool) -> bool {
    asked || !text::speaks_utf8(&|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
}

fn report_recordings(report: Report) -> ExitCode {
    let ascii = speaks_ascii(report.ascii);
    let plan = ReportPlan {
        files: report.files,
        compare: report.compare,
        at: report.at,
        quorum: report.quorum,
        form: form(report.format),
        html: report.html,
        force: report.force,
        ascii,
    };
    match headless::report(&plan, &mut io::stdout().lock(), &mut voice(io::stderr().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ReportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

const fn form(format: Format) -> Form {
    match format {
        Format::Text => Form::Text,
        Format::Json => Form::Json,
    }
}

/// Ends by the signal that ended the work.
fn die(signal: Signal) -> ExitCode {
    // Coming back means that the signal could not be had: then its number says it.
    if session::die_by(signal).is_err() {
        return ExitCode::from(u8::try_from(128 + signal.0).unwrap_or(u8::MAX));
    }
    ExitCode::SUCCESS
}

/// Prints an error with its causes on standard error.
fn complain(error: &dyn Error) -> ExitCode {
    let mut text = format!("fanscope: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    // A URL may have been given where a file is wanted.
    headless::say(&redact(&text, &[], false), speaks_ascii(false));
    ExitCode::from(USAGE)
}
