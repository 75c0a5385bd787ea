//! The terminal: guard, keymap, run loop. The only room that knows crossterm.
//!
//! Threads meet here: the engine sends events, crossterm's reader sends keys, a writer puts finished frames on the
//! terminal, and one waits for the signal that stops the process. The loop in between never waits for any of
//! them, so a slow terminal drops frames and holds up neither a round nor a key.

mod advisor;
mod copy;
mod files;
mod guard;
mod input;
mod job;
mod keymap;
mod lean;
mod look;
mod reload;
mod rest;
mod run;
mod source;
mod surface;
mod suspend;
#[cfg(test)]
mod tests;

use crate::app::{App, EndpointInfo, Message, Notice, Options, Scene, Setup, update};
use crate::config::Settings;
use crate::domain::{EndpointId, Speed, text};
use crate::profile::{self, Profile};
use crate::recording::{CreateError, EndpointLine, SessionLine, Writer};
use crate::session::replay::{Recording, Replay};
use crate::session::{Choice, Plan, Session, SessionError, Shortage, Signal, Signals};
use crate::whatif::seen;
use guard::Guard;
use job::Job;
use reload::Reload;
use run::{Leave, Loop};
use source::Source;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use surface::Tty;

/// Why the dashboard could not run, or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Standard input or output is no terminal.
    #[error("the dashboard needs a terminal; without one use {0}")]
    NoTerminal(&'static str),
    /// The terminal can place no cursor, so there is nothing to draw on.
    #[error("the dashboard can't draw on TERM=dumb; set TERM to what the terminal is, or use {0}")]
    DumbTerminal(&'static str),
    /// The terminal refused.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// There is nothing to record to.
    #[error(transparent)]
    Record(#[from] CreateError),
    /// The session could not start.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// No thread can be had that records.
    #[error("cannot record")]
    Recorder(#[source] io::Error),
    /// The recording can't be played.
    #[error("cannot play the recording")]
    Recording(#[source] io::Error),
    /// The engine stopped.
    #[error("{0}")]
    Engine(String),
}

/// What observes without a terminal.
const RUN: &str = "`fanscope run`, which prints its result";

/// What reads a recording without a terminal.
const REPORT: &str = "`fanscope report`, which prints a summary";

/// What happens beside the dashboard.
#[derive(Debug, Default)]
pub struct Beside {
    /// First rounds, which are left out of every statistic.
    pub warmup: u64,
    /// The file that every round is written to, and whether one that exists is overwritten.
    pub record: Option<(PathBuf, bool)>,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// What is to be said at the start.
    pub said: Option<String>,
    /// Whether the story of the budget is told; the profile is `demo` then.
    pub story: bool,
    /// What the profile was chosen by, where it can be read again.
    pub choice: Option<Choice>,
}

/// Shows the dashboard until it is left, as the configuration has it. Returns the signal that ended it, if one did; the terminal is restored by then.
///
/// # Errors
/// When there is no terminal, nothing can be recorded to the file or served at the address, or the session can't
/// start.
pub fn run(profile: Profile, settings: &Settings, beside: Beside) -> Result<Option<Signal>, TuiError> {
    if !io::stdin().is_terminal() {
        return Err(TuiError::NoTerminal(RUN));
    }
    show(settings, RUN, async |options, duties| {
        let record = beside.record.map(|(path, force)| Writer::create(&path, force)).transpose()?;
        let app = App::new(setup(&profile, options));
        let mut app = liked(app, settings).warming(beside.warmup).welcoming();
        if beside.story {
            app = app.telling();
        }
        let plan = Plan { rounds: None, warmup: beside.warmup };
        let mut session = Session::start(profile, plan)?;
        if let Some(Shortage { need, limit }) = session.short() {
            app = app.short_of_descriptors(limit, need);
        }
        if let Some(said) = beside.said {
            update(&mut app, Message::Notice(Notice::Done(said)));
        }
        if let Some(address) = beside.metrics {
            let address = session.serve_metrics(address)?;
            let said = Notice::Done(format!("metrics at http://{address}/metrics"));
            update(&mut app, Message::Notice(said));
        }
        if let Some(writer) = record {
            session.record(writer).map_err(TuiError::Recorder)?;
        }
        let reload = beside.choice.map_or_else(Reload::default, |choice| Reload::of(choice, plan));
        stage(app, &mut session, (duties, reload)).await
    })
}

/// Shows a recording on the dashboard until it is left, as [`run`] does. Keys come from the terminal even where
/// the recording comes from standard input.
///
/// # Errors
/// When there is no terminal to draw on.
pub fn replay(recording: Recording, speed: Speed, settings: &Settings) -> Result<Option<Signal>, TuiError> {
    show(settings, REPORT, async |options, duties| {
        let (setup, started) = (recorded(&recording.session, options), recording.session.started.clone());
        let mut replay = Replay::start(recording, speed, Scene::new(&setup)).map_err(TuiError::Recording)?;
        let app = liked(App::of_recording(setup, started, speed), settings).welcoming();
        stage(app, &mut replay, (duties, Reload::default())).await
    })
}

/// A screen as somebody likes it.
fn liked(app: App, settings: &Settings) -> App {
    app.with_keys(settings.keymap.clone()).over(settings.window.value)
}

/// Runs what is shown on the terminal, with everything around it.
fn show(
    settings: &Settings,
    instead: &'static str,
    shown: impl AsyncFnOnce(Options, (Signals, Job)) -> Result<Leave, TuiError>,
) -> Result<Option<Signal>, TuiError> {
    if !io::stdout().is_terminal() {
        return Err(TuiError::NoTerminal(instead));
    }
    let env = |name: &str| std::env::var(name).ok();
    if env("TERM").is_some_and(|term| term == "dumb") {
        return Err(TuiError::DumbTerminal(instead));
    }
    let options = look::options(settings, &env);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(TuiError::Terminal)?;
    let left = runtime.block_on(async {
        guard::watch();
        guard::listen_to_mouse(settings.mouse.value);
        // Before every other thread, which is to leave SIGTSTP alone as well.
        let job = Job::take().map_err(TuiError::Terminal)?;
        let signals = Signals::catch().map_err(TuiError::Terminal)?;
        shown(options, (signals, job)).await
    });
    // A reader that still waits for a key must not hold up the end.
    runtime.shutdown_background();
    guard::report_background_panics();
    match left? {
        Leave::Quit | Leave::Gone => Ok(None),
        Leave::Signal(signal) => Ok(Some(signal)),
        Leave::Failed(why) => Err(TuiError::Engine(why)),
    }
}

/// Takes the terminal for as long as the loop runs, and leaves the last words on it.
async fn stage(
    app: App,
    source: &mut impl Source,
    (duties, reload): ((Signals, Job), Reload),
) -> Result<Leave, TuiError> {
    let ascii = app.options.ascii;
    let guard = Guard::enter().map_err(TuiError::Terminal)?;
    let surface = Tty::new().map_err(TuiError::Terminal)?;
    let input = input::start().map_err(TuiError::Terminal)?;
    let mut looped = Loop::new(app, source, surface, input, duties);
    looped.reload = reload;
    let (left, mut last_words) = looped.run().await;
    drop(guard);
    last_words.extend(source.quit().await);
    // To a terminal that is gone, or in trouble of its own, nothing needs to be said.
    if matches!(left, Leave::Quit | Leave::Signal(_)) {
        let last_words: Vec<String> = last_words.iter().map(|line| text::spoken(line, ascii)).collect();
        drop(surface::say(&last_words));
    }
    Ok(left)
}

/// What the screen's state for a profile is built from.
#[must_use]
pub fn setup(profile: &Profile, options: Options) -> Setup {
    let request = |index, replica| profile::request_line(profile, EndpointId(index), replica);
    let endpoint = |(index, e): (usize, &crate::profile::Endpoint)| EndpointInfo {
        name: e.name.clone(),
        required: e.required,
        replicas: e.replicas(),
        simulated: matches!(e.target, crate::profile::Target::Simulated(_)),
        breaker: e.breaker,
        unverified: profile::is_unverified(e, profile),
        requests: (0..e.replicas()).map(|replica| request(index, replica)).collect(),
    };
    Setup {
        profile: profile.name.clone(),
        endpoints: profile.endpoints.iter().enumerate().map(endpoint).collect(),
        specs: profile.call_specs(),
        hosts: profile::hosts(profile),
        settings: profile.settings.clone(),
        what_if_rounds: profile.what_if_rounds,
        options,
    }
}

/// What the screen's state for a recording is built from. It says nothing of hosts, requests and
/// certificates.
#[must_use]
pub fn recorded(session: &SessionLine, options: Options) -> Setup {
    let endpoint = |e: &EndpointLine| EndpointInfo {
        name: e.name.clone(),
        required: e.required,
        replicas: e.replicas.max(1),
        simulated: false,
        breaker: e.breaker,
        unverified: false,
        requests: Vec::new(),
    };
    Setup {
        profile: session.profile.clone(),
        endpoints: session.endpoints.iter().map(endpoint).collect(),
        specs: session.endpoints.iter().map(EndpointLine::spec).collect(),
        hosts: 0,
        // What can't be read is refused before.
        settings: session.settings.settings().unwrap_or_default(),
        what_if_rounds: seen::ROUNDS,
        options,
    }
}
