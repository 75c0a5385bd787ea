//! How long after its deadline a round is published: 8 and 64 hanging calls over loopback, several budgets, idle and
//! on a busy machine; with the precise timer and its awake last stretch, without that, and with tokio's timer. Beside
//! them what a thread gets that only sleeps, or only waits for a timerfd. All five take turns within each period, so
//! that they see the same machine and stay out of each other's way. Asserts nothing; fails only where it can't measure.
//!
//! `cargo bench --bench deadline -- [--rounds N]`, N for budgets of 200 ms; the shorter ones get twice as many.

#[path = "support/engine.rs"]
mod engine;
#[path = "support/peer.rs"]
mod peer;
#[path = "support/words.rs"]
mod words;

use engine::{Ran, ms, quantile, us};
use fanscope::domain::Settings;
use fanscope::engine::clock::{PreciseClock, TokioClock};
use fanscope::profile::Profile;
use peer::Peer;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use tokio::time::Instant;

type Measured<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Rounds that are left out: connections, caches and the branch predictor are cold.
const WARMUP: usize = 3;

/// Those that take turns.
const TURNS: u32 = 5;

fn main() -> ExitCode {
    let done = if std::env::args().any(|word| word == peer::SERVE) {
        peer::serve().map_err(Into::into)
    } else {
        let n = words::number("deadline", "--rounds", 150).map_err(Into::into);
        n.and_then(|n| table(n, &mut io::stdout()))
    };
    words::exit("deadline", done)
}

fn table(rounds: u64, out: &mut impl Write) -> Measured<()> {
    let peer = Peer::start().map_err(|error| error.to_string())?;
    writeln!(out, "From the deadline to the published result, ms; hanging calls over loopback")?;
    writeln!(
        out,
        "{:<29} {:<18} {:>7} {:>7} {:>7}   {:>11}   {:>9}",
        "", "", "p50", "p99", "most", "read, p50", "CPU/round"
    )?;
    for busy in [false, true] {
        for calls in [8, 64] {
            for (budget, every, rounds) in [(5, 35, 2 * rounds), (20, 50, 2 * rounds), (200, 250, rounds)] {
                let settings = Settings {
                    budget: Duration::from_millis(budget),
                    every: Duration::from_millis(every),
                    ..Settings::default()
                };
                let profile = engine::profile((0..calls).map(|_| peer.url("/hang")));
                let over = AtomicBool::new(false);
                let rows = thread::scope(|scope| {
                    let cores = thread::available_parallelism().map_or(1, usize::from);
                    for _ in 0..if busy { cores } else { 0 } {
                        scope.spawn(|| {
                            while !over.load(Ordering::Relaxed) {
                                std::hint::spin_loop();
                            }
                        });
                    }
                    let rows = turns(&profile, &settings, rounds);
                    over.store(true, Ordering::Relaxed);
                    rows
                })?;
                let load = if busy { "busy" } else { "idle" };
                for (name, row) in rows {
                    let what = format!("{load}, {calls} calls, {budget} ms");
                    writeln!(out, "{what:<29} {name:<18} {row}")?;
                    out.flush()?;
                }
            }
        }
    }
    Ok(())
}

/// All five at once, each in its turn of the period.
fn turns(profile: &Arc<Profile>, settings: &Settings, rounds: u64) -> Measured<[(&'static str, String); 5]> {
    let begin = Instant::now() + Duration::from_millis(100);
    let turn = |n| begin + settings.every / TURNS * n;
    let spins = |spin| Settings { spin, ..settings.clone() };
    let due = |first: Instant| {
        (0..rounds).map(move |i| first + settings.every * u32::try_from(i).unwrap_or(0) + settings.budget)
    };
    thread::scope(|scope| {
        let sleep = scope.spawn(|| due(turn(0)).map(|at| late(at, asleep)).collect::<Measured<Vec<_>>>());
        let timerfd = scope.spawn(|| due(turn(1)).map(|at| late(at, waits)).collect::<Measured<Vec<_>>>());
        let tokio = scope.spawn(|| engine::run(TokioClock, profile, spins(true), rounds, turn(2)));
        let off = scope.spawn(|| engine::run(PreciseClock, profile, spins(false), rounds, turn(3)));
        let on = scope.spawn(|| engine::run(PreciseClock, profile, spins(true), rounds, turn(4)));
        Ok([
            ("a bare sleep", bare(joined(sleep)?)),
            ("a bare timerfd", bare(joined(timerfd)?)),
            ("tokio's timer", row(&joined(tokio)?)),
            ("spin off", row(&joined(off)?)),
            ("spin on", row(&joined(on)?)),
        ])
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, Measured<T>>) -> Measured<T> {
    thread.join().map_err(|_| "a thread panicked")?
}

/// How long after this instant somebody is back who waits for it.
fn late(at: Instant, wait: fn(Duration) -> Measured<()>) -> Measured<Duration> {
    wait(at.saturating_duration_since(Instant::now()))?;
    Ok(Instant::now().saturating_duration_since(at))
}

#[expect(clippy::unnecessary_wraps, reason = "one of two ways to wait")]
fn asleep(time: Duration) -> Measured<()> {
    thread::sleep(time);
    Ok(())
}

#[cfg(target_os = "linux")]
fn waits(time: Duration) -> Measured<()> {
    use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
    let fd = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let time = time.max(Duration::from_nanos(1));
    let value = Timespec { tv_sec: time.as_secs().try_into()?, tv_nsec: time.subsec_nanos().into() };
    let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
    rustix::time::timerfd_settime(&fd, TimerfdTimerFlags::empty(), &spec)?;
    rustix::io::read(&fd, &mut [0; 8])?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn waits(time: Duration) -> Measured<()> {
    asleep(time)
}

fn bare(late: Vec<Duration>) -> String {
    quantiles(late)
}

fn row(ran: &Ran) -> String {
    let seen = || ran.rounds.iter().skip(WARMUP);
    let published = seen().map(|(round, _)| round.took.saturating_sub(round.budget)).collect();
    let read = seen().map(|(round, at)| at.saturating_sub(round.at).saturating_sub(round.budget));
    let mut read: Vec<Duration> = read.collect();
    read.sort_unstable();
    let rounds = u32::try_from(ran.rounds.len()).unwrap_or(u32::MAX).max(1);
    format!("{}   {:>11}   {:>6.0} us", quantiles(published), ms(quantile(&read, 50)), us(ran.cpu / rounds))
}

fn quantiles(mut late: Vec<Duration>) -> String {
    late.sort_unstable();
    let [p50, p99, most] = [50, 99, 100].map(|percent| ms(quantile(&late, percent)));
    format!("{p50:>7} {p99:>7} {most:>7}")
}
