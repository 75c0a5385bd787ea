//! How the program behaves from outside: the release binary in a pseudo-terminal, timed. Prints a table of medians
//! and asserts nothing about them; fails only where something can't be measured.
//!
//! `cargo bench --bench manners -- [--seconds N]`, N for the memory of a busy session.

use std::process::ExitCode;

#[cfg(unix)]
#[path = "../tests/support/pty.rs"]
mod pty;
#[cfg(unix)]
#[path = "support/words.rs"]
mod words;

#[cfg(unix)]
fn main() -> ExitCode {
    measure::main()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(unix)]
mod measure {
    use super::pty::Terminal;
    use super::words;
    use std::error::Error;
    use std::io::{self, Write};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::{Duration, Instant};

    type Measured<T> = Result<T, Box<dyn Error>>;

    const STARTS: usize = 20;
    const HANGING: usize = 64;
    const KEYS: usize = 20;
    const QUITS: usize = 10;

    /// How long a paused program is watched.
    const IDLE: Duration = Duration::from_secs(5);

    /// What may still run when a pause is asked for is over by then.
    const SETTLING: Duration = Duration::from_secs(2);

    pub fn main() -> ExitCode {
        let enough = |n| if n >= 3 { Ok(n) } else { Err("--seconds: at least 3".to_owned()) };
        let done = words::number("manners", "--seconds", 30).and_then(enough).map_err(Into::into);
        words::exit("manners", done.and_then(|n| table(n, &mut io::stdout())))
    }

    fn table(seconds: u64, out: &mut impl Write) -> Measured<()> {
        let (first, quit) = starts();
        row(out, "first frame, shops at 120x40", &times(&first))?;
        row(out, "q to the end", &times(&quit))?;
        let dir = tempfile::tempdir()?;
        let profile = hanging(dir.path())?;
        let (keys, quit) = (keys(&profile), quits(&profile));
        row(out, &format!("a key to its answer, {HANGING} hanging calls"), &times(&keys))?;
        row(out, &format!("q to the end, {HANGING} hanging calls"), &times(&quit))?;
        if cfg!(target_os = "linux") {
            let (bytes, cpu) = idle()?;
            row(out, "paused for 5 s", &format!("{bytes} bytes, {} ms CPU", cpu.as_millis()))?;
            let resident = resident(seconds)?;
            let third = resident.len() / 3;
            let (early, late) = (&resident[..third], &resident[resident.len() - third..]);
            row(
                out,
                &format!("resident, shops with no pause between rounds, {seconds} s"),
                &format!("{} kB in the first third, {} kB in the last", median(early), median(late)),
            )?;
        }
        Ok(())
    }

    fn row(out: &mut impl Write, what: &str, is: &str) -> io::Result<()> {
        writeln!(out, "{what:<58} {is}")?;
        out.flush()
    }

    fn times(times: &[Duration]) -> String {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let most = times.iter().copied().max().unwrap_or_default();
        format!("{:.1} ms median, {:.1} ms at most, of {}", ms(median(times)), ms(most), times.len())
    }

    /// The middle one, of an even number the upper of the two; nothing has the default.
    fn median<T: Copy + Ord + Default>(of: &[T]) -> T {
        let mut sorted = of.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn timed(what: impl FnOnce()) -> Duration {
        let began = Instant::now();
        what();
        began.elapsed()
    }

    fn quit(mut term: Terminal) -> Duration {
        timed(|| {
            term.keys("q");
            assert!(term.end().0.success(), "did not end well");
        })
    }

    /// From before the program is started to its first frame, and from q to its end.
    fn starts() -> (Vec<Duration>, Vec<Duration>) {
        let once = |_| {
            let began = Instant::now();
            let term = Terminal::start(120, 40, &["shops"], &[]);
            term.wait_text("fanscope");
            (began.elapsed(), quit(term))
        };
        (0..STARTS).map(once).unzip()
    }

    /// A profile of endpoints that accept and never answer; they last as long as this process.
    fn hanging(dir: &Path) -> Measured<String> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        std::thread::spawn(move || {
            // A connection is kept until its other end is closed: reading nothing, for ever, is what hanging is.
            let mut kept = Vec::new();
            for stream in listener.incoming().flatten() {
                kept.retain(|old: &std::net::TcpStream| is_open(old));
                kept.push(stream);
            }
        });
        let endpoint = |i| format!("[[endpoint]]\nname = \"hang-{i}\"\nurl = \"http://{address}/\"\n");
        let text: String = (0..HANGING).map(endpoint).collect();
        let path = dir.join("hanging.toml");
        std::fs::write(&path, format!("name = \"hanging\"\n[round]\nbudget = \"200ms\"\n{text}"))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Whether the other end of a connection still holds it.
    fn is_open(stream: &std::net::TcpStream) -> bool {
        let mut bytes = [0; 4096];
        let blocks = |e: &io::Error| e.kind() == io::ErrorKind::WouldBlock;
        stream.set_nonblocking(true).is_ok()
            && loop {
                match io::Read::read(&mut &*stream, &mut bytes) {
                    Ok(0) => break false,
                    Ok(_) => {}
                    Err(error) => break blocks(&error),
                }
            }
    }

    /// From `?` to the help, and back.
    fn keys(profile: &str) -> Vec<Duration> {
        let mut term = Terminal::start(120, 40, &[profile], &[]);
        term.wait_text("waiting");
        let shows = |screen: &vt100::Screen| screen.contents().contains("Keys and signs");
        let key = |i: usize| {
            timed(|| {
                term.keys("?");
                term.wait("an answer", |screen| shows(screen) == i.is_multiple_of(2));
            })
        };
        let times = (0..KEYS).map(key).collect();
        quit(term);
        times
    }

    fn quits(profile: &str) -> Vec<Duration> {
        let once = |_| {
            let term = Terminal::start(120, 40, &[profile], &[]);
            term.wait_text("waiting");
            quit(term)
        };
        (0..QUITS).map(once).collect()
    }

    /// Bytes written and processor time used while paused.
    fn idle() -> Measured<(usize, Duration)> {
        let mut term = Terminal::start(120, 40, &["shops"], &[]);
        term.wait_text("Round 2");
        term.keys(" ");
        term.wait_text("paused");
        std::thread::sleep(SETTLING);
        let (bytes, cpu) = (term.written(), cpu(term.process())?);
        std::thread::sleep(IDLE);
        let used = (term.written() - bytes, self::cpu(term.process())?.saturating_sub(cpu));
        quit(term);
        Ok(used)
    }

    /// Processor time of a process, in steps of Linux's tick: 10 ms.
    fn cpu(process: u32) -> Measured<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The second field is the program's name in brackets, which may hold anything.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>()?;
        Ok(Duration::from_millis(10 * ticks))
    }

    /// Resident size in kB, once a second, of a session whose rounds follow each other without a pause.
    fn resident(seconds: u64) -> Measured<Vec<u64>> {
        let term = Terminal::start(120, 40, &["shops", "--every", "0ms"], &[]);
        term.wait_text("Round 2");
        let path = format!("/proc/{}/status", term.process());
        let mut sizes = Vec::new();
        for _ in 0..seconds {
            std::thread::sleep(Duration::from_secs(1));
            let status = std::fs::read_to_string(&path)?;
            let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
            sizes.push(line.trim().trim_end_matches("kB").trim().parse()?);
        }
        quit(term);
        Ok(sizes)
    }
}
