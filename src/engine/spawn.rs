//! The engine's own thread.

use super::clock::{Clock, PreciseClock};
use super::gaps::Gaps;
use super::limits::Limits;
use super::pacer::{Command, Pacer};
use super::round::{Abort, Shared};
use super::sink::Sink;
use super::transport::Transport;
use crate::domain::{CallSpec, Event, Guards, Settings};
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Name of the engine's thread; a panic in a call happens on it and is the call's own.
pub const THREAD_NAME: &str = "fanscope-engine";

/// What an engine runs.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineConfig {
    /// One per endpoint.
    pub calls: Vec<CallSpec>,
    /// What holds them back.
    pub guards: Guards,
    /// Where it starts.
    pub settings: Settings,
    /// Ends by itself after this many completed rounds, once nothing of them is watched any more.
    pub rounds: Option<u64>,
    /// Decides which rounds are probe rounds (W7).
    pub seed: u64,
}

/// A running engine. Dropping it ends it.
#[derive(Debug)]
pub struct Engine {
    /// What happens. Closed once the engine has ended.
    pub events: mpsc::Receiver<Event>,
    /// What it is asked.
    pub commands: mpsc::Sender<Command>,
    /// The session's start: every session-relative time counts from here.
    pub epoch: Instant,
    /// Its thread.
    pub thread: JoinHandle<()>,
}

/// Starts an engine on a thread of its own. `transport` is built there, inside the engine's runtime; if that
/// fails the event [`Event::Failed`] says why and the engine ends.
///
/// # Errors
/// When the thread can't be started.
pub fn spawn<T, E>(
    config: EngineConfig,
    transport: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> std::io::Result<Engine>
where
    T: Transport + 'static,
    E: std::error::Error,
{
    let (sink, events) = Sink::new();
    let (commands, orders) = mpsc::channel(64);
    let epoch = Instant::now();
    let thread = std::thread::Builder::new()
        .name(THREAD_NAME.to_owned())
        .spawn(move || run(config, transport, sink, orders, epoch))?;
    Ok(Engine { events, commands, epoch, thread })
}

fn run<T, E>(
    config: EngineConfig,
    transport: impl FnOnce() -> Result<T, E>,
    sink: Sink,
    orders: mpsc::Receiver<Command>,
    epoch: Instant,
) where
    T: Transport + 'static,
    E: std::error::Error,
{
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            sink.live(Event::Failed(format!("cannot start the engine's runtime: {error}")));
            return;
        }
    };
    runtime.block_on(async {
        let transport: Rc<dyn Transport> = match transport() {
            Ok(transport) => Rc::new(transport),
            Err(error) => {
                sink.deliver(Event::Failed(chain(&error))).await;
                return;
            }
        };
        let clock = PreciseClock;
        let (epoch, abort, gaps) = (epoch.min(clock.now()), Abort::default(), Gaps::new(&clock));
        let shared = Shared { clock, transport, sink, epoch, abort, gaps };
        let limits = Limits::new(config.calls, &config.guards);
        Pacer::new(shared, limits, config.settings, config.rounds, config.seed).run(orders).await;
    });
    // Whatever still blocks, a name lookup for instance, is abandoned.
    runtime.shutdown_timeout(Duration::ZERO);
}

/// An error and its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
