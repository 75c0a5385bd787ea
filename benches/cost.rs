//! What a call costs: keep-alive rounds back to back over loopback, each started when the last has ended, at width 8,
//! 64 and 512. fanscope's engine against a bare loop of the same HTTP library with the same settings, and against the
//! same rounds in Python with asyncio and aiohttp; wrk and oha, which know no rounds, say what a request costs where
//! nothing is asked of it. The upstream is a process of its own. Takes turns and gives medians; asserts nothing and
//! fails only where it can't measure. What is not installed is named.
//!
//! `cargo bench --bench cost -- [--calls N]`, N for each width and turn.

#[path = "support/bare.rs"]
mod bare;
#[path = "support/client.rs"]
mod client;
#[path = "support/engine.rs"]
mod engine;
#[path = "support/peer.rs"]
mod peer;
#[path = "support/tools.rs"]
mod tools;
#[path = "support/words.rs"]
mod words;

use engine::{cpu, quantile, us};
use fanscope::domain::{Outcome, Settings};
use fanscope::engine::clock::PreciseClock;
use peer::Peer;
use rustix::time::ClockId;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

type Measured<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How often those take turns.
const TURNS: usize = 5;

/// What rounds of one kind came to.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    /// Median of a round.
    round: Duration,
    /// CPU time of a call: of the thread that calls.
    thread: Duration,
    /// Of its whole process.
    process: Duration,
}

fn main() -> ExitCode {
    let done = if std::env::args().any(|word| word == peer::SERVE) {
        peer::serve().map_err(Into::into)
    } else {
        let n = words::number("cost", "--calls", 20_000).map_err(Into::into);
        n.and_then(|n| table(n, &mut io::stdout()))
    };
    words::exit("cost", done)
}

fn table(calls: u64, out: &mut impl Write) -> Measured<()> {
    let peer = Peer::start().map_err(|error| error.to_string())?;
    let url = peer.url("/ok");
    let python = tools::python();
    writeln!(out, "Keep-alive rounds over loopback, us; CPU of a call by thread and by process")?;
    writeln!(
        out,
        "{:<6} {:<30} {:>12} {:>11} {:>12}",
        "width", "", "round, p50", "CPU, thread", "CPU, process"
    )?;
    for width in [8, 64, 512] {
        let rounds = calls / width + 1;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(fanscope(&url, width, rounds)?);
            theirs.push(bare::run(&url, width, rounds)?);
        }
        let mut ratios: Vec<f64> =
            ours.iter().zip(&theirs).map(|(ours, bare)| us(ours.thread) / us(bare.thread)).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let (ours, theirs) = (median(&ours), median(&theirs));
        line(out, width, "fanscope", ours)?;
        line(out, width, "a bare loop of reqwest", theirs)?;
        writeln!(
            out,
            "{width:<6} {:<30} {:>12} {:>11.2}",
            "  fanscope to the bare loop",
            "",
            ratios[TURNS / 2]
        )?;
        if width <= 64 {
            match &python {
                Some(python) => {
                    let theirs = tools::fanout(python, &url, width, rounds.min(2000))?;
                    line(out, width, "asyncio and aiohttp", theirs)?;
                    let (round, cpu) =
                        (us(ours.round) / us(theirs.round), us(ours.process) / us(theirs.process));
                    writeln!(
                        out,
                        "{width:<6} {:<30} {round:>12.2} {:>11} {cpu:>12.2}",
                        "  fanscope to that", ""
                    )?;
                }
                None => writeln!(out, "{width:<6} python3 with aiohttp is not installed: skipped")?,
            }
        }
        for tool in tools::LOADERS {
            match tool.run(&url, width)? {
                Some(each) => {
                    writeln!(out, "{width:<6} {:<30} {:>12} {:>11} {:>12.1}", tool.name, "", "", us(each))?;
                }
                None => writeln!(out, "{width:<6} {} is not installed: skipped", tool.name)?,
            }
        }
        out.flush()?;
    }
    Ok(())
}

fn line(out: &mut impl Write, width: u64, name: &str, cost: Cost) -> Measured<()> {
    let thread = if cost.thread.is_zero() { String::new() } else { format!("{:.1}", us(cost.thread)) };
    let (round, process) = (us(cost.round), us(cost.process));
    writeln!(out, "{width:<6} {name:<30} {round:>12.0} {thread:>11} {process:>12.1}")?;
    Ok(())
}

fn median(of: &[Cost]) -> Cost {
    let middle = |part: fn(&Cost) -> Duration| {
        let mut times: Vec<Duration> = of.iter().map(part).collect();
        times.sort_unstable();
        quantile(&times, 50)
    };
    Cost { round: middle(|c| c.round), thread: middle(|c| c.thread), process: middle(|c| c.process) }
}

fn fanscope(url: &str, width: u64, rounds: u64) -> Measured<Cost> {
    let settings = Settings { budget: Duration::from_secs(5), every: Duration::ZERO, ..Settings::default() };
    let profile = engine::profile((0..width).map(|_| url.to_owned()));
    let before = cpu(ClockId::ProcessCPUTime);
    let ran = engine::run(PreciseClock, &profile, settings, rounds, Instant::now())?;
    let process = cpu(ClockId::ProcessCPUTime).saturating_sub(before);
    let mut took: Vec<Duration> = ran.rounds.iter().map(|(round, _)| round.took).collect();
    took.sort_unstable();
    if ran.rounds.iter().any(|(round, _)| round.calls.iter().any(|call| call.outcome != Outcome::Ok)) {
        return Err("not every call was answered".into());
    }
    let each = |time: Duration| time.div_f64(calls(width, rounds));
    Ok(Cost { round: quantile(&took, 50), thread: each(ran.cpu), process: each(process) })
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn calls(width: u64, rounds: u64) -> f64 {
    (width * rounds) as f64
}
