//! Parses, dispatches and turns the result into an exit code.

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use fanscope::cli::{
    self, Check, Cli, CliCommand, Configure, Demo, Format, Init, Look, Observe, Replay, Report, Run,
};
use fanscope::config::{self, Flags, Settings};
use fanscope::domain::text;
use fanscope::headless::{
    self, Ended, Form, Gates, InitFailure, InitSource, ReportError, ReportPlan, RunError, Task, Verdict,
    Voice,
};
use fanscope::profile::nearest::nearest;
use fanscope::profile::redact::redact;
use fanscope::profile::secrets::redact_url;
use fanscope::profile::{self, Profile, ProfileErrors};
use fanscope::session::replay::Recording;
use fanscope::session::{self, Choice, ChoiceError, Signal};
use fanscope::tui::{self, Beside, TuiError};
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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
            let told = explain(&asked).is_ok();
            if asked.use_stderr() {
                out_of_order();
            }
            let code = u8::try_from(asked.exit_code()).unwrap_or(USAGE);
            return ExitCode::from(if told { code } else { USAGE });
        }
    };
    match cli.command {
        None => dashboard(&cli.observe, &cli.look, &cli.configure),
        Some(CliCommand::Run(run)) => rounds(&run),
        Some(CliCommand::Demo(demo)) => story(&demo),
        Some(CliCommand::Replay(replay)) => play(&replay),
        Some(CliCommand::Check(check)) => check_profiles(&check),
        Some(CliCommand::Report(report)) => report_recordings(report),
        Some(CliCommand::Completions(asked)) => print(|out| cli::papers::completions(asked.shell, out)),
        Some(CliCommand::Man(asked)) => man(asked.command.as_deref()),
        Some(CliCommand::Init(init)) => write_profile(init),
    }
}

/// Says that options go after the command, where one stands before it: it was not taken for a command then. Whether
/// that was so.
fn out_of_order() -> bool {
    let mut args = std::env::args_os().skip(1).filter_map(|arg| arg.into_string().ok());
    let is_option = |arg: &String| arg.starts_with('-') && arg.len() > 1;
    if !args.next().as_ref().is_some_and(is_option) {
        return false;
    }
    let commands = cli::papers::commands();
    let Some(command) = args.find(|arg| commands.contains(arg) && !Path::new(arg).exists()) else {
        return false;
    };
    headless::say(&format!("  = options go after the command: fanscope {command} ..."), speaks_ascii());
    true
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

/// What is configured, under the flags and the environment.
fn configured(configure: &Configure, flags: Flags) -> Result<Settings, ProfileErrors> {
    let file = config::load(configure.config.as_deref(), &|name| std::env::var_os(name))?;
    Ok(Settings::resolve(flags, &|name| std::env::var(name).ok(), file))
}

/// The same for what has no screen, which has nothing of it but the characters and the ceiling.
fn configured_plainly(configure: &Configure, ascii: bool) -> Result<Settings, ProfileErrors> {
    configured(configure, Flags { ascii, ..Flags::default() })
}

fn flags(look: &Look) -> Flags {
    Flags { theme: look.theme, color: look.color, ascii: look.ascii, no_mouse: look.no_mouse }
}

/// The chosen profile, held to what the configuration allows, and what there is to say of that.
fn chosen(observe: &Observe, settings: &Settings) -> Result<(Profile, Option<String>), ChoiceError> {
    let mut profile = session::choose(&choice(observe))?;
    let held = settings.max_rps.value.and_then(|most| session::hold(&mut profile, most));
    Ok((profile, held))
}

fn print_config(settings: &Settings) -> ExitCode {
    print(|out| Voice::new(out, settings.ascii.value).write_all(settings.print().as_bytes()))
}

fn dashboard(observe: &Observe, look: &Look, configure: &Configure) -> ExitCode {
    // What is wrong with the configuration or the profile is said before the terminal is touched.
    let settings = match configured(configure, flags(look)) {
        Ok(settings) => settings,
        Err(errors) => return complain(&errors),
    };
    if look.print_config {
        return print_config(&settings);
    }
    if observe.targets.first().is_some_and(|word| cli::papers::commands().contains(word)) && out_of_order() {
        return ExitCode::from(USAGE);
    }
    let (profile, said) = match chosen(observe, &settings) {
        Ok(chosen) => chosen,
        Err(error) => {
            let code = complain(&error);
            if let Some(command) = meant(&observe.targets) {
                let said = format!("  = did you mean the command `fanscope {command}`?");
                headless::say(&said, settings.ascii.value);
            }
            return code;
        }
    };
    let beside = Beside {
        warmup: observe.warmup,
        record: record(observe),
        metrics: observe.metrics,
        said,
        story: false,
        choice: Some(choice(observe)),
    };
    left(tui::run(profile, &settings, beside))
}

fn story(demo: &Demo) -> ExitCode {
    let settings = match configured(&demo.configure, flags(&demo.look)) {
        Ok(settings) => settings,
        Err(errors) => return complain(&errors),
    };
    match profile::built_in("demo") {
        Ok(profile) => left(tui::run(profile, &settings, Beside { story: true, ..Beside::default() })),
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

/// The command that was meant where a profile was looked for.
fn meant(targets: &[String]) -> Option<String> {
    let word = targets.first().filter(|word| !Path::new(word).exists())?;
    close_command(word)
}

/// The command that a word most likely was to be.
fn close_command(word: &str) -> Option<String> {
    let commands = cli::papers::commands();
    nearest(word, commands.iter().map(String::as_str)).map(str::to_owned)
}

fn rounds(run: &Run) -> ExitCode {
    let settings = match configured_plainly(&run.configure, run.ascii) {
        Ok(settings) => settings,
        Err(errors) => return complain(&errors),
    };
    let ascii = settings.ascii.value;
    let (profile, said) = match chosen(&run.observe, &settings) {
        Ok(chosen) => chosen,
        Err(error) => return complain(&error),
    };
    if let Some(said) = said {
        headless::say(&format!("fanscope: {said}"), ascii);
    }
    let task = match task(run, &profile, ascii) {
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
fn task(run: &Run, profile: &Profile, ascii: bool) -> Result<Task, Box<dyn Error>> {
    let file = run.baseline.as_deref();
    let baseline =
        file.map(|file| headless::baseline(file, &mut Voice::new(io::stderr(), ascii))).transpose()?;
    let names: Vec<String> = profile.endpoints.iter().map(|e| e.name.clone()).collect();
    Ok(Task {
        rounds: run.goal(),
        time: run.time,
        warmup: run.observe.warmup,
        gates: Gates::parse(&run.gates, &names, baseline.is_some())?,
        baseline,
        form: form(run.format),
        ascii,
        record: record(&run.observe),
        metrics: run.observe.metrics,
    })
}

fn play(replay: &Replay) -> ExitCode {
    let settings = match configured(&replay.configure, flags(&replay.look)) {
        Ok(settings) => settings,
        Err(errors) => return complain(&errors),
    };
    if replay.look.print_config {
        return print_config(&settings);
    }
    // A file that is no recording is said before the terminal is touched.
    let recording = match Recording::open(&replay.file) {
        Ok(recording) => recording,
        Err(error) => return complain(&error),
    };
    match tui::replay(recording, replay.speed, &settings) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(signal)) => die(signal),
        Err(error) => complain(&error),
    }
}

/// Prints something on standard output; who stops reading has read enough.
fn print(write: impl FnOnce(&mut io::StdoutLock) -> io::Result<()>) -> ExitCode {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

fn man(command: Option<&str>) -> ExitCode {
    let known = cli::papers::commands();
    match command.filter(|asked| !known.iter().any(|name| name == asked)) {
        None => print(|out| cli::papers::man(command, out).map(drop)),
        Some(unknown) => {
            let close = close_command(unknown);
            let close = close.map_or_else(String::new, |close| format!(" did you mean `{close}`?"));
            let all = known.join(", ");
            complain(&*Box::<dyn Error>::from(format!(
                "there is no command `{unknown}`;{close} the commands are {all}"
            )))
        }
    }
}

fn check_profiles(check: &Check) -> ExitCode {
    let settings = match configured_plainly(&check.configure, false) {
        Ok(settings) => settings,
        Err(errors) => return complain(&errors),
    };
    let (ascii, max_rps) = (settings.ascii.value, settings.max_rps.value);
    let (out, errors) =
        (&mut Voice::new(io::stdout().lock(), ascii), &mut Voice::new(io::stderr().lock(), ascii));
    let listed = if check.list { headless::list(out) } else { Ok(()) };
    match listed.and_then(|()| headless::check(&check.profiles, max_rps, out, errors)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(USAGE),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

/// Prints what clap has to say. It repeats arguments as they are: one that could move the cursor, or that the
/// locale can't show, costs it its colours.
fn explain(asked: &clap::Error) -> io::Result<()> {
    let (plain, ascii) = (asked.render().to_string(), speaks_ascii());
    let said = text::spoken(&plain, ascii);
    if said == plain {
        asked.print()
    } else if asked.use_stderr() {
        io::stderr().write_all(said.as_bytes())
    } else {
        io::stdout().write_all(said.as_bytes())
    }
}

/// Whether text is to have 7-bit characters only, as far as the locale says: of what is said before the configuration
/// is known, or of itself.
fn speaks_ascii() -> bool {
    !text::speaks_utf8(&|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
}

fn report_recordings(report: Report) -> ExitCode {
    let ascii = match configured_plainly(&report.configure, report.ascii) {
        Ok(settings) => settings.ascii.value,
        Err(errors) => return complain(&errors),
    };
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
    match headless::report(&plan, &mut io::stdout().lock(), &mut Voice::new(io::stderr().lock(), ascii)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ReportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

fn write_profile(init: Init) -> ExitCode {
    let source = match (init.curl, init.har, init.openapi) {
        (true, ..) => InitSource::Curl,
        (_, Some(file), _) => InitSource::Har(file),
        (.., Some(file)) => InitSource::Openapi(file, init.server),
        _ if init.urls.is_empty() => InitSource::Starter,
        _ => InitSource::Urls(init.urls),
    };
    let (out, notices) = (&mut io::stdout().lock(), &mut Voice::new(io::stderr().lock(), speaks_ascii()));
    match headless::init(&source, init.output.as_deref(), init.force, out, notices) {
        Ok(()) => ExitCode::SUCCESS,
        Err(InitFailure::Stdout(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
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
    headless::say(&redact(&text, &[], false), speaks_ascii());
    ExitCode::from(USAGE)
}
