//! Composes the rooms: a profile becomes a running engine and one stream of events.

mod choose;
#[cfg(debug_assertions)]
mod planted;
mod signals;

pub use choose::{Choice, ChoiceError, choose};
pub use signals::{Signal, Signals, die_by};

use crate::domain::{CallSpec, Event};
use crate::engine::transport::AttemptRequest;
use crate::engine::{Command, Engine, EngineConfig, spawn};
use crate::http::{HttpTransport, SimulatedUrls};
use crate::profile::Profile;
use crate::simulate::{Faults, Fleet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Why a session can't start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The embedded upstreams can't be started.
    #[error("cannot start the embedded upstreams")]
    Upstreams(#[source] std::io::Error),
    /// The engine's thread can't be started.
    #[error("cannot start the engine")]
    Engine(#[source] std::io::Error),
}

/// A profile being observed. Dropping it ends the engine and the embedded upstreams.
#[derive(Debug)]
pub struct Session {
    /// What is observed.
    pub profile: Arc<Profile>,
    engine: Engine,
    /// The upstreams of simulated endpoints; they end with the session.
    fleet: Fleet,
}

impl Session {
    /// Starts observing. Ends by itself after `rounds` completed rounds.
    ///
    /// # Errors
    /// When a thread or a socket can't be had.
    pub fn start(profile: Profile, rounds: Option<u64>) -> Result<Self, SessionError> {
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
            rounds,
        };
        let for_engine = Arc::clone(&profile);
        let transport = move || HttpTransport::new(for_engine, Some(simulated));
        #[cfg(debug_assertions)]
        let transport = || transport().map(planted::Planted);
        let engine = spawn(config, transport).map_err(SessionError::Engine)?;
        Ok(Self { profile, engine, fleet })
    }

    /// The next event; `None` once the engine has ended.
    pub async fn next(&mut self) -> Option<Event> {
        self.engine.events.recv().await
    }

    /// An event that is already there.
    pub fn ready(&mut self) -> Option<Event> {
        self.engine.events.try_recv().ok()
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

    /// Asks the engine to abandon what runs, and waits for its last events, at most `patience`. Returns the
    /// events that came.
    pub async fn quit(&mut self, patience: Duration) -> Vec<Event> {
        let mut last = Vec::new();
        // A full or closed channel is no obstacle: the engine also ends when the session is dropped.
        drop(self.engine.commands.try_send(Command::Quit));
        let ended = async {
            while let Some(event) = self.engine.events.recv().await {
                last.push(event);
            }
        };
        // Out of patience, the engine is abandoned; its thread ends with the process.
        drop(tokio::time::timeout(patience, ended).await);
        last
    }
}
