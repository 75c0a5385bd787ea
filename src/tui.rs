//! The terminal: guard, keymap, run loop. The only room that knows crossterm.
//!
//! Threads meet here: the engine sends events, crossterm's reader sends keys, a writer puts finished frames on the
//! terminal, and one waits for the signal that stops the process. The loop in between never waits for any of
//! them, so a slow terminal drops frames and holds up neither a round nor a key.

mod files;
mod guard;
mod input;
mod job;
mod keymap;
mod look;
mod run;
mod surface;
mod suspend;
#[cfg(test)]
mod tests;

use crate::app::{App, EndpointInfo, Options, Setup};
use crate::cli::ColorChoice;
use crate::domain::EndpointId;
use crate::profile::{self, Profile};
use crate::recording::{CreateError, Writer};
use crate::session::{Plan, Session, SessionError, Signal, Signals};
use guard::Guard;
use job::Job;
use run::{Leave, Loop};
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use surface::Tty;

/// Why the dashboard could not run, or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Standard input or output is no terminal.
    #[error("the dashboard needs a terminal; without one use `fanscope run`, which prints its result")]
    NoTerminal,
    /// The terminal can place no cursor, so there is nothing to draw on.
    #[error("the dashboard can't draw on TERM=dumb; use `fanscope run`, or set TERM to what the terminal is")]
    DumbTerminal,
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
    /// The engine stopped.
    #[error("{0}")]
    Engine(String),
}

/// How long quitting waits for the engine. Together with everything else it stays below 100 ms.
const PATIENCE: Duration = Duration::from_millis(60);

/// What happens beside the dashboard.
#[derive(Debug, Default)]
pub struct Beside {
    /// First rounds, which are left out of every statistic.
    pub warmup: u64,
    /// The file that every round is written to, and whether one that exists is overwritten.
    pub record: Option<(PathBuf, bool)>,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
}

/// Shows the dashboard until it is left. `look` says how: whether in colour, and whether with 7-bit characters
/// only. Returns the signal that ended it, if one did; the terminal is restored by then.
///
/// # Errors
/// When there is no terminal, nothing can be recorded to the file or served at the address, or the session can't
/// start.
pub fn run(profile: Profile, look: (ColorChoice, bool), beside: Beside) -> Result<Option<Signal>, TuiError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(TuiError::NoTerminal);
    }
    let env = |name: &str| std::env::var(name).ok();
    if env("TERM").is_some_and(|term| term == "dumb") {
        return Err(TuiError::DumbTerminal);
    }
    let options = look::options(look.0, look.1, &env);
    let record = beside.record.map(|(path, force)| Writer::create(&path, force)).transpose()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(TuiError::Terminal)?;
    let left = runtime.block_on(async {
        // Before every other thread, which is to leave SIGTSTP alone as well.
        let job = Job::take().map_err(TuiError::Terminal)?;
        let signals = Signals::catch().map_err(TuiError::Terminal)?;
        let app = App::new(setup(&profile, options)).warming(beside.warmup);
        let mut session = Session::start(profile, Plan { rounds: None, warmup: beside.warmup })?;
        beside.metrics.map(|address| session.serve_metrics(address)).transpose()?;
        if let Some(writer) = record {
            session.record(writer).map_err(TuiError::Recorder)?;
        }
        let guard = Guard::enter().map_err(TuiError::Terminal)?;
        let surface = Tty::new().map_err(TuiError::Terminal)?;
        let input = input::start().map_err(TuiError::Terminal)?;
        let (left, mut last_words) = Loop::new(app, &mut session, surface, input, (signals, job)).run().await;
        drop(guard);
        session.quit(PATIENCE).await;
        last_words.extend(files::told(&session.finish_recordings()));
        // To a terminal that is gone, or in trouble of its own, nothing needs to be said.
        if matches!(left, Leave::Quit | Leave::Signal(_)) {
            drop(surface::say(&last_words));
        }
        Ok::<_, TuiError>(left)
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
        requests: (0..e.replicas()).map(|replica| request(index, replica)).collect(),
    };
    Setup {
        profile: profile.name.clone(),
        endpoints: profile.endpoints.iter().enumerate().map(endpoint).collect(),
        hosts: profile::hosts(profile),
        settings: profile.settings.clone(),
        options,
    }
}
