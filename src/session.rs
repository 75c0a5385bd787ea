//! Composes the rooms: a profile becomes a running engine and one stream of events.

mod choose;
mod descriptors;
mod freeze;
#[cfg(debug_assertions)]
mod planted;
mod recorder;
mod reload;
pub mod replay;
mod signals;

pub use choose::{Choice, ChoiceError, choose, hold};
pub use descriptors::{Shortage, would_be_short};
pub use recorder::Recording;
pub use signals::{Signal, Signals, die_by};

use crate::domain::event::Vitals;
use crate::domain::{CallSpec, EndpointId, Event, FaultSwitch, Settings, text};
use crate::engine::transport::AttemptRequest;
use crate::engine::{Command, Engine, EngineConfig, spawn};
use crate::http::{HttpTransport, SimulatedUrls};
use crate::metrics::{Limits, Listener, Metrics};
use crate::profile::{self, CurlCall, Profile};
use crate::recording::{EndpointLine, GateLine, Line, Scribe, Writer};
use crate::simulate::{Faults, Fleet};
use freeze::Freeze;
use recorder::Recordings;
use std::collections::VecDeque;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// Why a session can't start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There are too few file descriptors for it.
    #[error("{error}: {}; {short}", .error.source().map_or_else(String::new, ToString::to_string))]
    Descriptors {
        /// What could not be had.
        error: Box<SessionError>,
        /// By how many they are too few.
        short: Shortage,
    },
    /// The embedded upstreams can't be started.
    #[error("cannot start the embedded upstreams")]
    Upstreams(#[source] io::Error),
    /// The engine's thread can't be started.
    #[error("cannot start the engine")]
    Engine(#[source] io::Error),
    /// The address for the metrics is taken or not of this host.
    #[error("cannot serve metrics at {address}")]
    Metrics {
        /// What was asked for.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
}

/// How much is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Plan {
    /// Rounds to complete after those that warm up; `None`: until it is ended.
    pub rounds: Option<u64>,
    /// First rounds, which are left out of every statistic.
    pub warmup: u64,
}

/// A profile being observed. Dropping it ends the engine and the embedded upstreams.
#[derive(Debug)]
pub struct Session {
    /// What is observed.
    pub profile: Arc<Profile>,
    engine: Engine,
    /// The upstreams of simulated endpoints; they end with the session.
    fleet: Fleet,
    plan: Plan,
    /// What holds from the next round on.
    settings: Arc<Settings>,
    /// Rounds that a stop of the process holds or held.
    freeze: Freeze,
    /// What happened outside the engine and is still to be told.
    outside: VecDeque<Event>,
    /// When it began, as RFC 3339.
    started: String,
    /// Planned starts that were skipped so far.
    skipped: u64,
    /// File descriptors that rounds may be short of.
    short: Option<Shortage>,
    /// When it was stopped, where nobody has said since that it goes on.
    stopped: Option<Duration>,
    /// What is written down of it.
    recordings: Recordings,
    /// What a Prometheus is served, where somebody wants it.
    metrics: Option<(Metrics, Listener)>,
}

impl Session {
    /// Starts observing. Ends by itself when the planned rounds are completed and nothing of them is watched any more.
    /// Raises the process's limit on file descriptors where that is needed and allowed.
    ///
    /// # Errors
    /// When a thread or a socket can't be had.
    pub fn start(profile: Profile, plan: Plan) -> Result<Self, SessionError> {
        let short = descriptors::raise(&profile);
        match (Self::begin(profile, plan), short) {
            (Ok(session), short) => Ok(Self { short, ..session }),
            (Err(error), Some(short)) => Err(SessionError::Descriptors { error: error.into(), short }),
            (Err(error), None) => Err(error),
        }
    }

    fn begin(profile: Profile, plan: Plan) -> Result<Self, SessionError> {
        let profile = Arc::new(profile);
        let fleet = Fleet::start(&profile.endpoints, profile.seed).map_err(SessionError::Upstreams)?;
        let urls = fleet.urls();
        let simulated: SimulatedUrls = Arc::new(move |request: AttemptRequest| {
            urls.url(request.endpoint, request.replica, request.round.0, request.attempt)
        });
        let config = EngineConfig {
            calls: profile.call_specs(),
            guards: profile.guards(),
            settings: profile.settings.clone(),
            rounds: plan.rounds.map(|rounds| rounds.saturating_add(plan.warmup)),
            seed: profile.seed,
        };
        let for_engine = Arc::clone(&profile);
        let transport = move || HttpTransport::new(for_engine, Some(simulated));
        #[cfg(debug_assertions)]
        let transport = || transport().map(planted::Planted);
        let engine = spawn(config, transport).map_err(SessionError::Engine)?;
        let settings = Arc::new(profile.settings.clone());
        Ok(Self {
            profile,
            engine,
            fleet,
            plan,
            settings,
            freeze: Freeze::default(),
            outside: VecDeque::new(),
            // Wall time is a label only, cut to milliseconds.
            started: jiff::Timestamp::now().round(jiff::Unit::Millisecond).unwrap_or_default().to_string(),
            skipped: 0,
            short: None,
            stopped: None,
            recordings: Recordings::default(),
            metrics: None,
        })
    }

    /// The next event; `None` once the engine has ended.
    pub async fn next(&mut self) -> Option<Event> {
        let event = match self.outside.pop_front() {
            Some(event) => event,
            None => self.engine.events.recv().await?,
        };
        Some(self.pass(event))
    }

    /// An event that is already there.
    pub fn ready(&mut self) -> Option<Event> {
        let event = self.outside.pop_front().or_else(|| self.engine.events.try_recv().ok())?;
        Some(self.pass(event))
    }

    /// An event as everybody is to see it.
    fn pass(&mut self, event: Event) -> Event {
        let mut event = self.freeze.pass(event);
        if let (Event::Failed(why), Some(short)) = (&mut event, self.short) {
            *why = format!("{why}; {short}");
        }
        if let Event::SettingsChanged { settings, .. } = &event {
            self.settings = Arc::clone(settings);
        }
        if let Event::StartSkipped { total: skipped, .. }
        | Event::RoundSettled { vitals: Vitals { skipped, .. }, .. } = &event
        {
            self.skipped = self.skipped.max(*skipped);
        }
        if let Event::RoundPublished(round) | Event::RoundSettled { round, .. } = &mut event
            && round.no.0 <= self.plan.warmup
        {
            Arc::make_mut(round).warmup = true;
        }
        if let Some(recorder) = self.recordings.now() {
            recorder.event(&event);
        }
        if let Some((metrics, _)) = &mut self.metrics {
            metrics.event(&event);
        }
        event
    }

    /// Somebody has something to say, which becomes an event of this moment.
    pub fn note(&mut self, said: &str) {
        self.outside.push_back(Event::Noted { at: self.elapsed(), text: text::clean(said) });
    }

    /// The process runs. Said often, it tells when a stop that nobody announced began.
    pub fn is_awake(&mut self) {
        self.freeze.awake_at(self.engine.epoch.elapsed());
    }

    /// File descriptors that rounds may be short of, where they may.
    #[must_use]
    pub const fn short(&self) -> Option<Shortage> {
        self.short
    }

    /// The process is about to be stopped: rounds under way are given up, as far as they have come.
    pub fn stops(&mut self) {
        let now = self.engine.epoch.elapsed();
        self.freeze.stopped_at(now);
        self.stopped = Some(now);
    }

    /// The process goes on after [`Session::stops`]; the engine tells how long it stood still, where that was long and
    /// it has not found out by itself.
    pub fn goes_on(&mut self) {
        if let Some(since) = self.stopped.take() {
            let until = self.engine.epoch.elapsed();
            // There is room for it unless the engine has ended or does nothing any more.
            drop(self.engine.commands.try_send(Command::StoodStill { since, until }));
        }
    }

    /// The process was stopped since it was last said to be awake.
    pub fn was_stopped(&mut self) {
        self.freeze.stopped_at(self.freeze.awake());
    }

    /// Whether the engine is paused and no round is under way, as far as its events have been taken.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.freeze.is_quiet()
    }

    /// Somebody to write the session down from now on.
    #[must_use]
    pub fn scribe(&self) -> Scribe {
        let profile = &self.profile;
        let endpoints = profile.endpoints.iter().zip(profile.call_specs());
        let endpoints = endpoints.map(|(e, spec)| EndpointLine::of(&e.name, &spec, e.breaker)).collect();
        Scribe::new(&profile.name, &self.started, endpoints, Arc::clone(&self.settings))
            .after_skipped(self.skipped)
    }

    /// Writes down from now on what happens, instead of where it was written to until now.
    ///
    /// # Errors
    /// When no thread can be had for it.
    pub fn record(&mut self, to: Writer) -> io::Result<()> {
        let (scribe, epoch) = (self.scribe(), self.engine.epoch.into());
        self.recordings.begin(to, scribe, epoch)
    }

    /// Ends the recording that goes on, with its summary and what had to hold. Does not wait for the disk. How it
    /// stood until then, where there is one.
    pub fn end_recording(&mut self, gates: Vec<GateLine>) -> Option<Recording> {
        self.recordings.end(gates)
    }

    /// How the recording stands that goes on.
    #[must_use]
    pub fn recording(&self) -> Option<Recording> {
        self.recordings.state()
    }

    /// Recordings that were ended, are not closed as they should be, and were well until they were ended. Each once.
    pub fn trouble_of_ended_recordings(&mut self) -> Vec<Recording> {
        self.recordings.trouble()
    }

    /// Waits until the files of all recordings that were ended are closed, however long the disk takes.
    pub async fn recordings_closed(&self) {
        self.recordings.closed().await;
    }

    /// Told when a recording got into trouble.
    #[must_use]
    pub fn recording_news(&self) -> Arc<Notify> {
        self.recordings.news()
    }

    /// Ends the recording that goes on and waits until every file is closed, a second at most where a disk hangs.
    /// All recordings of the session that were not asked for before, the first one first.
    pub fn finish_recordings(&mut self) -> Vec<Recording> {
        self.recordings.finish()
    }

    /// Serves metrics of what happens from now on, until the session is dropped. Returns where; port 0 takes any
    /// that is free.
    ///
    /// # Errors
    /// When it can't listen there.
    pub fn serve_metrics(&mut self, address: SocketAddr) -> Result<SocketAddr, SessionError> {
        let metrics = self.counts();
        let listener = Listener::start(address, metrics.exposition(), Limits::default())
            .map_err(|source| SessionError::Metrics { address, source })?;
        let address = listener.address();
        self.metrics = Some((metrics, listener));
        Ok(address)
    }

    /// Counts of what happens from now on.
    fn counts(&self) -> Metrics {
        Metrics::new(&self.profile.name, &self.names(), &self.settings).after_warmup(self.plan.warmup)
    }

    /// A way to give the engine commands.
    #[must_use]
    pub fn commands(&self) -> mpsc::Sender<Command> {
        self.engine.commands.clone()
    }

    /// The switches over simulated endpoints, which hold from the next attempt on. An endpoint that is not
    /// simulated has none.
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.fleet.faults()
    }

    /// Switches a simulated endpoint and has the recording say so; false for one that is not simulated.
    pub fn switch(&mut self, endpoint: EndpointId, to: FaultSwitch) -> bool {
        let (simulated, at) = (self.fleet.faults().set(endpoint, to), self.elapsed());
        let name = self.profile.endpoints.get(endpoint.index()).map(|e| e.name.as_str());
        if let (true, Some(name), Some(recorder)) = (simulated, name, self.recordings.now()) {
            recorder.line(&Line::note(at, &format!("{name}: {to}")));
        }
        simulated
    }

    /// A call as a curl command, without secrets.
    ///
    /// # Errors
    /// Why there is none, in words that repeat no value.
    pub fn curl(&self, call: &CurlCall) -> Result<String, &'static str> {
        let url = self.fleet.url(call.endpoint, call.replica, call.round.0, 0);
        profile::curl(&self.profile, &self.settings, call, Some(url).filter(|url| !url.is_empty()))
    }

    /// Time since the session's start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.engine.epoch.elapsed()
    }

    /// The endpoints' names, in profile order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.profile.endpoints.iter().map(|e| e.name.clone()).collect()
    }

    /// What the engine knows of the endpoints.
    #[must_use]
    pub fn specs(&self) -> Vec<CallSpec> {
        self.profile.call_specs()
    }

    /// Asks the engine to start no more rounds and to end when those that run have ended and nothing of them is
    /// watched any more.
    pub fn finish(&mut self) {
        // There is room for it unless the engine has ended or is about to, by an earlier command.
        drop(self.engine.commands.try_send(Command::Finish));
    }

    /// Asks the engine to abandon what runs, and waits for its last events, at most `patience`. Returns the
    /// events that came.
    pub async fn quit(&mut self, patience: Duration) -> Vec<Event> {
        let mut last = Vec::new();
        // A full or closed channel is no obstacle: the engine also ends when the session is dropped.
        drop(self.engine.commands.try_send(Command::Quit));
        let ended = async {
            while let Some(event) = self.next().await {
                last.push(event);
            }
        };
        // Out of patience, the engine is abandoned; its thread ends with the process.
        drop(tokio::time::timeout(patience, ended).await);
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use crate::domain::event::SkipCause;
    use crate::stats::fixture as fx;

    #[test]
    fn a_recording_that_begins_later_is_told_what_was_skipped_before() {
        let profile = profile::load("shops", &|_| None).unwrap();
        let mut session = Session::start(profile, Plan { rounds: Some(0), warmup: 0 }).unwrap();
        session.pass(Event::StartSkipped { at: Duration::ZERO, total: 7, cause: SkipCause::Overlap });
        let round = Arc::new(fx::round(9, fx::at(9), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL));
        let settled = |skipped| Event::RoundSettled {
            round: Arc::clone(&round),
            vitals: Vitals { skipped, ..Vitals::default() },
        };
        let skipped = |session: &Session| match session.scribe().event(&settled(10)) {
            Some(Line::Round(line)) => line.skipped,
            other => panic!("{other:?}"),
        };
        assert_eq!(skipped(&session), 3);
        session.pass(settled(9));
        assert_eq!(skipped(&session), 1);
    }

    #[test]
    fn a_moment_between_a_stop_and_going_on_is_no_gap() {
        let profile = profile::load("shops", &|_| None).unwrap();
        let mut session = Session::start(profile, Plan { rounds: Some(0), warmup: 0 }).unwrap();
        session.stops();
        session.goes_on();
        session.note("said");
        let noted = std::iter::from_fn(|| session.ready()).find_map(|event| match event {
            Event::Noted { text, .. } => Some(text),
            _ => None,
        });
        assert_eq!(noted.as_deref(), Some("said"));
    }
}
