//! Lanes to look at: a server on loopback whose answers take their time as real ones do, or none, and profiles of it.
#![allow(dead_code, reason = "each bench uses its own part")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Made<T> = Result<T, Box<dyn Error>>;

/// Where the server listens; it lasts as long as this process.
#[derive(Debug, Clone)]
pub struct Lanes {
    address: std::net::SocketAddr,
}

/// How calls come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// After some 70 to 140 ms with a tail; of 16 lanes one hangs, and one answers 503 every other time.
    Usual,
    /// All at once.
    Now,
}

impl Lanes {
    pub fn start() -> Made<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                for seed in 0.. {
                    let Ok((stream, _)) = listener.accept().await else { return };
                    tokio::spawn(serve(stream, seed));
                }
            });
        });
        Ok(Self { address })
    }

    /// Writes a profile of so many lanes into this folder, with these lines in its table `[round]`.
    pub fn profile(&self, dir: &Path, lanes: usize, answers: Answers, round: &str) -> Made<PathBuf> {
        let mut text = format!("name = \"lanes\"\n[round]\n{round}\n");
        for lane in 0..lanes {
            let path = if answers == Answers::Usual { lane.to_string() } else { String::new() };
            writeln!(
                text,
                "[[endpoint]]\nname = \"svc-{lane:02}\"\nurl = \"http://{}/{path}\"",
                self.address
            )?;
        }
        let path = dir.join(format!("{lanes}-{answers:?}.toml"));
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

/// Answers one request after the other; whatever fails ends the connection, as the client sees.
async fn serve(mut stream: TcpStream, seed: u64) -> Option<()> {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    stream.set_nodelay(true).ok()?;
    let mut head = Vec::with_capacity(1024);
    loop {
        head.clear();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        let path = head.split(|&b| b == b' ').nth(1)?.get(1..)?;
        let mut status = "200 OK";
        if !path.is_empty() {
            let lane: u32 = std::str::from_utf8(path).ok()?.parse().ok()?;
            tokio::time::sleep(takes(lane, &mut dice)).await;
            if lane % 16 == 3 && dice.random_bool(0.5) {
                status = "503 Service Unavailable";
            }
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}

/// How long a lane takes.
fn takes(lane: u32, dice: &mut ChaCha8Rng) -> Duration {
    if lane % 16 == 7 {
        return Duration::from_secs(60);
    }
    let median = 0.07 * (1.0 + f64::from(lane % 8) / 7.0);
    let seconds = LogNormal::new(median.ln(), 0.5).map_or(median, |law| law.sample(dice));
    Duration::from_secs_f64(seconds.clamp(0.001, 2.0))
}
