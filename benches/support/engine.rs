//! The engine as `engine::spawn` runs it, with a clock of one's choice, and what it costs.
#![allow(dead_code, reason = "each bench uses its own part")]

use fanscope::domain::{Event, Round, Settings};
use fanscope::engine::clock::Clock;
use fanscope::engine::gaps::Gaps;
use fanscope::engine::limits::Limits;
use fanscope::engine::pacer::Pacer;
use fanscope::engine::round::{Abort, Shared};
use fanscope::engine::sink::Sink;
use fanscope::engine::transport::Transport;
use fanscope::http::HttpTransport;
use fanscope::profile::{Endpoint, Profile, Target, Template};
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// What came of some rounds.
pub struct Ran {
    pub epoch: Instant,
    /// Each round as it was published, and when somebody else had it, from the session's start.
    pub rounds: Vec<(Arc<Round>, Duration)>,
    /// CPU time of the engine's thread, without what came before the first round.
    pub cpu: Duration,
}

/// A profile with one endpoint for each URL.
pub fn profile(urls: impl IntoIterator<Item = String>) -> Arc<Profile> {
    let endpoint = |(i, url): (usize, String)| {
        Endpoint::plain(format!("lane-{i}"), Target::Urls(vec![Template::fixed(&url)]))
    };
    Arc::new(Profile::plain("bench".to_owned(), urls.into_iter().enumerate().map(endpoint).collect()))
}

/// Runs so many rounds; the first starts at `begin`, or as soon as it can where that is past.
pub fn run<C: Clock + Unpin + Send>(
    clock: C,
    profile: &Arc<Profile>,
    settings: Settings,
    rounds: u64,
    begin: Instant,
) -> Result<Ran, Box<dyn Error + Send + Sync>> {
    let (sink, mut events) = Sink::new();
    let (_commands, orders) = mpsc::channel(1);
    let profile = Arc::clone(profile);
    let engine = thread::Builder::new().name(fanscope::engine::THREAD_NAME.to_owned());
    let engine = engine.spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let limits = Limits::new(profile.call_specs(), &profile.guards());
            let transport: Rc<dyn Transport> = Rc::new(HttpTransport::new(profile, None)?);
            tokio::time::sleep_until(begin).await;
            let (epoch, abort, gaps) = (clock.now(), Abort::default(), Gaps::new(&clock));
            let shared = Shared { clock, transport, sink, epoch, abort, gaps };
            let before = cpu(ClockId::ThreadCPUTime);
            Pacer::new(shared, limits, settings, Some(rounds), 0).run(orders).await;
            Ok::<_, Box<dyn Error + Send + Sync>>((epoch, cpu(ClockId::ThreadCPUTime).saturating_sub(before)))
        })
    })?;
    let mut published = Vec::new();
    while let Some(event) = events.blocking_recv() {
        if let Event::RoundPublished(round) = event {
            published.push((round, Instant::now()));
        }
    }
    let (epoch, cpu) = engine.join().map_err(|_| "the engine panicked")??;
    let rounds = published.into_iter().map(|(round, at)| (round, at.saturating_duration_since(epoch)));
    Ok(Ran { epoch, rounds: rounds.collect(), cpu })
}

/// CPU time of this thread or process.
pub fn cpu(of: ClockId) -> Duration {
    Duration::try_from(clock_gettime(of)).unwrap_or_default()
}

/// The quantile of ascending values, nearest rank.
pub fn quantile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
}

pub fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

pub fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
