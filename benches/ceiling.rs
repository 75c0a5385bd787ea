//! What drawing takes from rounds that follow each other without a pause: 64 calls that are answered at once, with the
//! dashboard at 30 frames a second and with `fanscope run`, in turn, against the same server in this process. Prints
//! rounds a second and their ratio, and asserts nothing about them; fails only where something can't be measured.
//!
//! `cargo bench --bench ceiling -- [--pairs N]`

use std::process::ExitCode;

#[cfg(unix)]
#[path = "support/lanes.rs"]
mod lanes;
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
    use super::lanes::{Answers, Lanes};
    use super::pty::Terminal;
    use super::words;
    use std::collections::BTreeMap;
    use std::error::Error;
    use std::io::{self, Write};
    use std::process::{Command, ExitCode};
    use std::time::{Duration, Instant};

    type Measured<T> = Result<T, Box<dyn Error>>;

    const LANES: usize = 64;

    /// How long each run lasts.
    const SECONDS: u64 = 4;

    /// Terminals of these sizes.
    const SIZES: [(u16, u16); 2] = [(120, 40), (200, 60)];

    pub fn main() -> ExitCode {
        let done = words::number("ceiling", "--pairs", 5).map_err(Into::into);
        words::exit("ceiling", done.and_then(|n| table(n, &mut io::stdout())))
    }

    fn table(pairs: usize, out: &mut impl Write) -> Measured<()> {
        let dir = tempfile::tempdir()?;
        let round = "budget = \"200ms\"\nevery = \"0ms\"";
        let profile = Lanes::start()?.profile(dir.path(), LANES, Answers::Now, round)?;
        let profile = profile.to_string_lossy();
        writeln!(out, "rounds a second of {LANES} calls, one after the other, {SECONDS} s each")?;
        for size in SIZES {
            let mut ratios = Vec::new();
            for _ in 0..pairs {
                let (plain, (drawn, threads)) = (plain(&profile)?, drawn(&profile, size)?);
                let (size, ratio) = (format!("{}x{}", size.0, size.1), drawn / plain);
                ratios.push(ratio);
                writeln!(
                    out,
                    "{size:<8} run {plain:>5.0}  dashboard {drawn:>5.0}  ratio {ratio:.3}  {threads}"
                )?;
                out.flush()?;
            }
            ratios.sort_unstable_by(f64::total_cmp);
            if let Some(median) = ratios.get(ratios.len() / 2) {
                writeln!(out, "{}x{}  median ratio {median:.3}", size.0, size.1)?;
            }
        }
        Ok(())
    }

    /// Without a screen.
    fn plain(profile: &str) -> Measured<f64> {
        let time = format!("{SECONDS}s");
        let out = Command::new(env!("CARGO_BIN_EXE_fanscope"))
            .args(["run", profile, "--for", &time, "--format", "text"])
            .output()?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let rounds = number_before(&text, " round").ok_or_else(|| format!("no rounds in:\n{text}"))?;
        Ok(rounds / seconds(Duration::from_secs(SECONDS)))
    }

    /// With one, from when it shows rounds; and what its threads used meanwhile.
    fn drawn(profile: &str, (width, height): (u16, u16)) -> Measured<(f64, String)> {
        let mut term = Terminal::start(width, height, &[profile], &[]);
        term.wait_text("Round ");
        let (from, before, began) = (round(&term)?, threads(term.process()), Instant::now());
        std::thread::sleep(Duration::from_secs(SECONDS));
        let (to, after, took) = (round(&term)?, threads(term.process()), began.elapsed());
        term.keys("q");
        assert!(term.end().0.success(), "did not end well");
        let mut used = Vec::new();
        for (thread, ticks) in after {
            let ticks = ticks - before.get(&thread).copied().unwrap_or(0).min(ticks);
            // A tick is a hundredth of a second.
            let percent = f64::from(ticks) / seconds(took);
            if percent >= 1.0 {
                used.push(format!("{} {percent:.0} %", thread.1));
            }
        }
        Ok(((to - from) / seconds(took), used.join(", ")))
    }

    /// Processor time of each thread so far in ticks, by its number and name; nothing where the system does not tell.
    fn threads(process: u32) -> BTreeMap<(String, String), u32> {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let of = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).ok()?;
            let (head, fields) = stat.rsplit_once(')')?;
            let (number, name) = head.split_once(" (")?;
            let ticks = fields.split_whitespace().skip(11).take(2).map(|n| n.parse().unwrap_or(0)).sum();
            Some(((number.to_owned(), name.to_owned()), ticks))
        };
        tasks.filter_map(of).collect()
    }

    /// The number of the round on the screen.
    fn round(term: &Terminal) -> Measured<f64> {
        let text = term.text();
        let words = text.split("Round ").nth(1).and_then(|rest| rest.split_whitespace().next());
        Ok(words.ok_or("no round on the screen")?.parse()?)
    }

    /// The number that stands right before this word.
    fn number_before(text: &str, word: &str) -> Option<f64> {
        let digits = text.split(word).next()?;
        digits.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    fn seconds(time: Duration) -> f64 {
        time.as_secs_f64()
    }
}
