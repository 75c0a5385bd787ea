//! Where cost bends as rounds get wider: the release binary's `run --format json` with 1 to 2,000 calls a round against
//! a server on loopback in a process of its own, all over kept connections, one round after another; and how late
//! rounds end in which every call hangs. Prints two tables and asserts nothing about time; fails only where something
//! can't be measured.
//!
//! `cargo bench --bench scale -- [--calls N]`, N calls in all for each width.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    measure::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod measure {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use serde_json::Value;
    use std::error::Error;
    use std::fmt::Write as _;
    use std::fs;
    use std::io::{self, BufRead, BufReader, Write};
    use std::path::Path;
    use std::process::{Child, Command, ExitCode, Stdio};
    use std::time::{Duration, Instant};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    type Measured<T> = Result<T, Box<dyn Error>>;

    const WIDTHS: [u64; 5] = [1, 8, 64, 512, 2000];

    /// Rounds that are not counted: they dial, and buffers grow.
    const WARM: u64 = 3;

    /// Rounds of calls that hang.
    const HANGING: u64 = 40;

    /// The word by which the bench starts its own server.
    const SERVE: &str = "--serve";

    pub fn main() -> ExitCode {
        let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
        let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [SERVE] => serve(),
            [] => tables(40_000, &mut io::stdout()),
            // `cargo test` runs benches, too; it is to see that they work.
            ["--test"] => tables(100, &mut io::stdout()),
            ["--calls", n] => match n.parse() {
                Ok(calls) => tables(calls, &mut io::stdout()),
                Err(_) => Err("--calls: a number".into()),
            },
            _ => Err("usage: cargo bench --bench scale -- [--calls N]".into()),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Where standard error is gone the exit code still says it.
                let _ = writeln!(io::stderr(), "scale: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Answers every request but those for `/hang`, until its standard input ends. Says its address first.
    fn serve() -> Measured<()> {
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4()?;
            socket.bind(([127, 0, 0, 1], 0).into())?;
            let listener: TcpListener = socket.listen(4096)?;
            let mut out = io::stdout();
            writeln!(out, "{}", listener.local_addr()?)?;
            out.flush()?;
            let mut over = tokio::task::spawn_blocking(|| io::stdin().read_line(&mut String::new()));
            loop {
                tokio::select! {
                    accepted = listener.accept() => drop(tokio::spawn(answer(accepted?.0))),
                    over = &mut over => return Ok(over?.map(drop)?),
                }
            }
        })
    }

    /// One connection, to its end.
    async fn answer(mut stream: TcpStream) {
        let (mut bytes, mut head) = ([0; 4096], Vec::new());
        while let Ok(n @ 1..) = stream.read(&mut bytes).await {
            head.extend_from_slice(&bytes[..n]);
            while let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                let hangs = head.starts_with(b"GET /hang");
                head.drain(..end + 4);
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                if !hangs && stream.write_all(answer).await.is_err() {
                    return;
                }
            }
        }
    }

    /// The server; it ends with this.
    struct Server {
        child: Child,
        address: String,
    }

    impl Server {
        fn start() -> Measured<Self> {
            let mut child = Command::new(std::env::current_exe()?)
                .arg(SERVE)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let mut address = String::new();
            let out = child.stdout.take().ok_or("no standard output")?;
            BufReader::new(out).read_line(&mut address)?;
            Ok(Self { child, address: address.trim().to_owned() })
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            drop(self.child.stdin.take());
            // It ends by itself; what it ended with is of no interest.
            let _ = self.child.wait();
        }
    }

    fn tables(calls: u64, out: &mut impl Write) -> Measured<()> {
        let (server, dir) = (Server::start()?, tempfile::tempdir()?);
        writeln!(out, "calls that answer at once, every = 0ms, `run --format json`")?;
        writeln!(
            out,
            "{:>6} {:>7} {:>16} {:>10} {:>9} {:>9}",
            "width", "rounds", "CPU us per call", "p50 ms", "calls/s", "peak MB"
        )?;
        for width in WIDTHS {
            let rounds = (calls / width).clamp(10, 2000) + WARM;
            let profile = profile(dir.path(), width, &format!("http://{}/", server.address))?;
            let run = run(&profile, rounds, &["-b", "5s", "--every", "0ms"])?;
            let counted = width * (rounds - WARM);
            writeln!(
                out,
                "{width:>6} {:>7} {:>16.1} {:>10.3} {:>9.0} {:>9.1}",
                rounds - WARM,
                run.cpu.as_secs_f64() * 1e6 / number(counted),
                median(&run.took),
                number(counted) / run.lasted.as_secs_f64(),
                number(run.peak_kb) / 1e3,
            )?;
            out.flush()?;
        }
        writeln!(out, "\ncalls that hang, budget 200 ms: how much later than that a round ends")?;
        writeln!(
            out,
            "{:>6} {:>7} {:>16} {:>10} {:>9} {:>9}",
            "width", "rounds", "CPU us per call", "p50 ms", "most ms", "peak MB"
        )?;
        for width in WIDTHS {
            let rounds = if calls > 1000 { HANGING } else { 2 } + WARM;
            let profile = profile(dir.path(), width, &format!("http://{}/hang", server.address))?;
            let run = run(&profile, rounds, &["-b", "200ms", "--every", "500ms"])?;
            let late: Vec<f64> = run.took.iter().map(|took| took - 200.0).collect();
            writeln!(
                out,
                "{width:>6} {:>7} {:>16.1} {:>10.3} {:>9.3} {:>9.1}",
                rounds - WARM,
                run.cpu.as_secs_f64() * 1e6 / number(width * (rounds - WARM)),
                median(&late),
                late.iter().copied().fold(0.0, f64::max),
                number(run.peak_kb) / 1e3,
            )?;
            out.flush()?;
        }
        Ok(())
    }

    /// So many endpoints with one URL.
    fn profile(dir: &Path, width: u64, url: &str) -> Measured<String> {
        let mut text = String::from("name = \"scale\"\n[round]\nrequest_budget = \"10s\"\n");
        for i in 0..width {
            write!(text, "[[endpoint]]\nname = \"e{i}\"\nurl = \"{url}\"\n")?;
        }
        let path = dir.join(format!("{width}.toml"));
        fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// What a run had after its first rounds.
    struct Run {
        cpu: Duration,
        lasted: Duration,
        /// Milliseconds of each round.
        took: Vec<f64>,
        peak_kb: u64,
    }

    fn run(profile: &str, rounds: u64, flags: &[&str]) -> Measured<Run> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(["run", profile, "--format", "json", "-n", &rounds.to_string()])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let (process, out) = (child.id(), child.stdout.take().ok_or("no standard output")?);
        let (mut took, mut peak_kb, mut began, mut seen) = (Vec::new(), 0, None, 0);
        let mut ended = Instant::now();
        for line in BufReader::with_capacity(1 << 20, out).lines() {
            let line: Value = serde_json::from_str(&line?)?;
            if line["type"] != "round" {
                continue;
            }
            seen += 1;
            ended = Instant::now();
            // The last reading is from near the end; then there is none any more.
            peak_kb = peak(process).unwrap_or(peak_kb);
            if seen == WARM {
                began = Some((ended, cpu(process)?));
            } else if seen > WARM {
                took.push(line["took_ms"].as_f64().ok_or("a round that took no time")?);
            }
        }
        let (since, before) = began.ok_or("no rounds")?;
        // What has ended keeps its times until it is waited for.
        while !has_ended(process)? {
            std::thread::sleep(Duration::from_millis(1));
        }
        let cpu = cpu(process)?.saturating_sub(before);
        let status = child.wait()?;
        if !status.success() || took.len() as u64 != rounds - WARM {
            return Err(format!("{seen} of {rounds} rounds, {status}").into());
        }
        Ok(Run { cpu, lasted: ended - since, took, peak_kb })
    }

    fn stat(process: u32) -> Measured<Vec<String>> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The second field is the program's name in brackets, which may hold anything.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        Ok(fields.split_whitespace().map(str::to_owned).collect())
    }

    fn has_ended(process: u32) -> Measured<bool> {
        Ok(stat(process)?.first().is_some_and(|state| state == "Z"))
    }

    /// Processor time of a process, in steps of Linux's tick: 10 ms.
    fn cpu(process: u32) -> Measured<Duration> {
        let ticks =
            stat(process)?.iter().skip(11).take(2).map(|n| n.parse::<u64>()).sum::<Result<u64, _>>()?;
        Ok(Duration::from_millis(10 * ticks))
    }

    /// The most that was resident, in kB.
    fn peak(process: u32) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }

    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    fn number(count: u64) -> f64 {
        count as f64
    }

    /// The middle one, of an even number the upper of the two.
    fn median(of: &[f64]) -> f64 {
        let mut sorted = of.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}
