//! How long after an answer's last byte the end of its call is stamped: 64 lanes, over loopback. The upstream says in
//! a header when it is about to write the answer, all of it in one write, so the times are a little too long: they
//! hold the system calls on both sides, the way between and the waking up. Beside them the same from bare sockets in
//! the same kind of runtime, which is what no client can go below, and from a bare loop of the same HTTP library. Asserts nothing; fails only where it can't measure.
//!
//! `cargo bench --bench stamps -- [--rounds N]`

#[path = "support/client.rs"]
mod client;
#[path = "support/engine.rs"]
mod engine;
#[path = "support/peer.rs"]
mod peer;
#[path = "support/words.rs"]
mod words;

use engine::{ms, quantile};
use fanscope::domain::{Outcome, Round, Settings};
use fanscope::engine::clock::PreciseClock;
use futures_util::future::try_join_all;
use peer::{Peer, monotonic};
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::time::Instant;

type Measured<T> = Result<T, Box<dyn Error + Send + Sync>>;

const LANES: u64 = 64;

/// Rounds that are left out: their connections are new.
const WARMUP: usize = 3;

fn main() -> ExitCode {
    let done = if std::env::args().any(|word| word == peer::SERVE) {
        peer::serve().map_err(Into::into)
    } else {
        let n = words::number("stamps", "--rounds", 100).map_err(Into::into);
        n.and_then(|n| table(n, &mut io::stdout()))
    };
    words::exit("stamps", done)
}

fn table(rounds: u64, out: &mut impl Write) -> Measured<()> {
    let peer = Peer::start().map_err(|error| error.to_string())?;
    writeln!(out, "From the write of the last byte to the end's stamp, ms; {LANES} lanes over loopback")?;
    writeln!(out, "{:<34} {:<14} {:>7} {:>7} {:>7}   of", "", "", "p50", "p99", "most")?;
    let spread = |lane: u64| 20 + lane * 3 / 2;
    let burst = |_| 20;
    let kinds: [(&str, &dyn Fn(u64) -> u64); 2] =
        [("answers spread over 96 ms", &spread), ("all answers at the same moment", &burst)];
    for (what, after) in kinds {
        let urls: Vec<String> = (0..LANES).map(|lane| peer.url(&format!("/after/{}", after(lane)))).collect();
        let (barrier, client) = (Barrier::new(urls.len()), client::client()?);
        let rows = [
            ("bare sockets", bare(&urls, |url| lane(url, rounds, &barrier))?),
            ("bare reqwest", bare(&urls, |url| library(url, rounds, (&barrier, &client)))?),
            ("fanscope", fanscope(urls.clone(), rounds)?),
        ];
        for (who, late) in rows {
            let [p50, p99, most] = [50, 99, 100].map(|percent| ms(quantile(&late, percent)));
            writeln!(out, "{what:<34} {who:<14} {p50:>7} {p99:>7} {most:>7}   {}", late.len())?;
            out.flush()?;
        }
    }
    Ok(())
}

fn fanscope(urls: Vec<String>, rounds: u64) -> Measured<Vec<Duration>> {
    let budget = Duration::from_secs(1);
    let settings = Settings { budget, every: Duration::ZERO, ..Settings::default() };
    let ran = engine::run(PreciseClock, &engine::profile(urls), settings, rounds, Instant::now())?;
    let epoch = monotonic().saturating_sub(ran.epoch.elapsed());
    let mut late = Vec::new();
    for (round, _) in ran.rounds.iter().skip(WARMUP) {
        late.extend(of_round(round, epoch));
    }
    late.sort_unstable();
    if late.is_empty() { Err("no call was answered".into()) } else { Ok(late) }
}

fn of_round(round: &Round, epoch: Duration) -> impl Iterator<Item = Duration> {
    round.calls.iter().filter(|call| call.outcome == Outcome::Ok).filter_map(move |call| {
        let said = call.attempts.first()?.server_timing.first()?.description.as_ref()?;
        let sent = Duration::from_nanos(said.parse().ok()?);
        Some((epoch + round.at + call.end).saturating_sub(sent))
    })
}

/// All lanes on one thread; each round of a lane waits for all others.
fn bare<F>(urls: &[String], lane: impl Fn(String) -> F) -> Measured<Vec<Duration>>
where
    F: Future<Output = Measured<Vec<Duration>>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let lanes = runtime.block_on(async { try_join_all(urls.iter().cloned().map(lane)).await })?;
    let mut all: Vec<Duration> = lanes.into_iter().flat_map(|lane| lane.into_iter().skip(WARMUP)).collect();
    all.sort_unstable();
    Ok(all)
}

/// How long ago this was.
fn since(now: Duration, said: &str) -> Measured<Duration> {
    Ok(now.saturating_sub(Duration::from_nanos(said.parse()?)))
}

async fn library(
    url: String,
    rounds: u64,
    (barrier, client): (&Barrier, &reqwest::Client),
) -> Measured<Vec<Duration>> {
    let mut late = Vec::new();
    for _ in 0..rounds {
        barrier.wait().await;
        let response = client.get(&url).send().await?;
        let said = response.headers().get("server-timing").cloned().ok_or("no time in the answer")?;
        response.bytes().await?;
        late.push(since(monotonic(), said.to_str()?.split('"').nth(1).ok_or("no time in the answer")?)?);
    }
    Ok(late)
}

async fn lane(url: String, rounds: u64, barrier: &Barrier) -> Measured<Vec<Duration>> {
    let (host, path) = url.strip_prefix("http://").and_then(|url| url.split_once('/')).ok_or("no URL")?;
    let mut stream = TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    let mut late = Vec::new();
    for _ in 0..rounds {
        barrier.wait().await;
        stream.write_all(format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).await?;
        let mut answer = Vec::with_capacity(1024);
        while !answer.ends_with(b"\r\n\r\nok") {
            if stream.read_buf(&mut answer).await? == 0 {
                return Err("the upstream left".into());
            }
        }
        let now = monotonic();
        let said = std::str::from_utf8(&answer)?.split('"').nth(1).ok_or("no time in the answer")?;
        late.push(since(now, said)?);
    }
    Ok(late)
}
