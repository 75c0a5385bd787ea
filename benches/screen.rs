//! What the dashboard puts on a terminal, and what a slow terminal makes of it: the release binary in a pseudo-terminal,
//! against a server on loopback in this process. Prints tables and asserts nothing about them; fails only where something
//! can't be measured.
//!
//! `cargo bench --bench screen -- [--minutes N]`, N for the memory of a long session at the end; without it there is none.

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
    use serde_json::Value;
    use std::error::Error;
    use std::io::{self, Write};
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::{Duration, Instant};

    type Measured<T> = Result<T, Box<dyn Error>>;

    /// Rounds follow each other without a pause: calls that hang last all of them.
    const ROUND: &str = "budget = \"200ms\"\nevery = \"200ms\"";

    /// Lanes, columns, rows.
    const SCREENS: [(usize, u16, u16); 2] = [(8, 120, 40), (64, 200, 60)];

    /// How long bytes are counted.
    const WATCHED: Duration = Duration::from_secs(10);

    /// What was under way when a pause was asked for is over by then.
    const SETTLING: Duration = Duration::from_secs(1);

    /// Bytes a second of a slow line.
    const SLOW: usize = 50_000;

    const KEYS: usize = 40;

    /// Between two keys.
    const THINKING: Duration = Duration::from_millis(400);

    /// Starts every frame.
    const FRAME: &[u8] = b"\x1b[?2026h";

    pub fn main() -> ExitCode {
        let done = words::number("screen", "--minutes", 0).map_err(Into::into);
        words::exit("screen", done.and_then(|n| all(n, &mut io::stdout())))
    }

    fn all(minutes: u64, out: &mut impl Write) -> Measured<()> {
        let dir = tempfile::tempdir()?;
        let server = Lanes::start()?;
        writeln!(out, "Bytes to the terminal, rounds of 200 ms without a pause")?;
        for screen in SCREENS {
            bytes(&server, dir.path(), screen, out)?;
        }
        writeln!(
            out,
            "\nA reader of {SLOW} bytes a second beside one that takes all at once, 64 lanes at 200x60"
        )?;
        for speed in [None, Some(SLOW)] {
            slow(&server, dir.path(), speed, out)?;
        }
        if minutes > 0 && cfg!(target_os = "linux") {
            writeln!(out, "\nResident, 64 lanes at 200x60, a round of 200 ms every 500 ms")?;
            resident(&server, dir.path(), minutes, out)?;
        }
        Ok(())
    }

    /// The number of the round on the screen; 0 where there is none yet.
    fn round(text: &str) -> u64 {
        let number = text.split("Round ").nth(1).and_then(|rest| rest.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    fn quit(mut term: Terminal) {
        term.keys("q");
        assert!(term.end().0.success(), "did not end well");
    }

    /// Bytes and frames in this time.
    fn watch(term: &Terminal, time: Duration) -> (f64, f64) {
        let (from, began) = (term.written(), Instant::now());
        std::thread::sleep(time);
        let (raw, seconds) = (term.raw(), began.elapsed().as_secs_f64());
        let new = raw.get(from..).unwrap_or_default();
        let frames = new.windows(FRAME.len()).filter(|bytes| *bytes == FRAME).count();
        let rate = |n: usize| u32::try_from(n).map_or(f64::INFINITY, f64::from) / seconds;
        (rate(new.len()), rate(frames))
    }

    fn bytes(
        server: &Lanes,
        dir: &Path,
        (lanes, width, height): (usize, u16, u16),
        out: &mut impl Write,
    ) -> Measured<()> {
        let profile = server.profile(dir, lanes, Answers::Usual, ROUND)?;
        let mut term = Terminal::start(width, height, &[&profile.to_string_lossy()], &[]);
        // Until then hills and counters grow.
        term.wait("some rounds", |screen| round(&screen.contents()) >= 30);
        let (bytes, frames) = watch(&term, WATCHED);
        term.keys(" ");
        term.wait_text("paused");
        std::thread::sleep(SETTLING);
        let paused = watch(&term, WATCHED / 2).0;
        quit(term);
        writeln!(
            out,
            "{lanes:>2} lanes at {width}x{height}: {:.1} kB/s in {frames:.1} frames/s, paused {paused:.0} bytes/s",
            bytes / 1e3
        )?;
        Ok(out.flush()?)
    }

    /// Keys, frames and rounds where somebody reads at this speed.
    fn slow(server: &Lanes, dir: &Path, speed: Option<usize>, out: &mut impl Write) -> Measured<()> {
        let profile = server.profile(dir, 64, Answers::Usual, ROUND)?;
        let record = dir.join("rounds.ndjson").to_string_lossy().into_owned();
        let args = [&*profile.to_string_lossy(), "--record", &record, "--force"];
        let mut term = match speed {
            None => Terminal::start(200, 60, &args, &[]),
            Some(speed) => Terminal::start_slow(200, 60, &args, speed),
        };
        term.wait("some rounds", |screen| round(&screen.contents()) >= 30);
        let (bytes, frames) = watch(&term, WATCHED);
        let first = selected_row(&term.text());
        let moved = times(&mut term, ["j", "k"], |text| selected_row(text) != first);
        let helped = times(&mut term, ["?", "?"], |text| text.contains("Keys and signs"));
        quit(term);
        let (rounds, late) = rounds(&record)?;
        writeln!(
            out,
            "{}: {:.1} kB/s in {frames:.1} frames/s",
            speed.map_or("fast", |_| "slow"),
            bytes / 1e3
        )?;
        writeln!(out, "  j or k to the other lane {}", quantiles(moved))?;
        writeln!(out, "  ? to the help, or back   {}", quantiles(helped))?;
        writeln!(out, "  rounds {rounds}, later than their budget by {}", quantiles(late))?;
        Ok(out.flush()?)
    }

    /// From one key or the other to where it holds that `shows`, and that it does not; in milliseconds.
    fn times(term: &mut Terminal, keys: [&str; 2], shows: impl Fn(&str) -> bool) -> Vec<f64> {
        let once = |i: usize| {
            std::thread::sleep(THINKING);
            let began = Instant::now();
            term.keys(keys[i % 2]);
            term.wait("an answer", |screen| shows(&screen.contents()) == i.is_multiple_of(2));
            began.elapsed().as_secs_f64() * 1e3
        };
        (0..KEYS).map(once).collect()
    }

    /// The row with the sign of the selected lane before its name.
    fn selected_row(text: &str) -> Option<usize> {
        text.lines().position(|line| line.trim_start().starts_with('▌'))
    }

    /// How many rounds this recording has, and how much later than their budget those ended that it ended.
    fn rounds(record: &str) -> Measured<(usize, Vec<f64>)> {
        let (mut all, mut late) = (0, Vec::new());
        for line in std::fs::read_to_string(record)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            if line["type"] == "round" {
                all += 1;
                let number = |key: &str| line[key].as_f64().ok_or_else(|| format!("no {key}"));
                if line["ended_by"] == "deadline" {
                    late.push(number("took_ms")? - number("budget_ms")?);
                }
            }
        }
        Ok((all, late))
    }

    /// Median, 90th and 99th percentile and the most of these milliseconds.
    fn quantiles(mut ms: Vec<f64>) -> String {
        ms.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| ms.get((ms.len() * percent).div_ceil(100).saturating_sub(1));
        let said = |at: Option<&f64>| at.map_or("-".to_owned(), |ms| format!("{ms:.2}"));
        let (p50, p90, p99, most) = (said(at(50)), said(at(90)), said(at(99)), said(ms.last()));
        format!("p50 {p50} ms, p90 {p90} ms, p99 {p99} ms, most {most} ms, of {}", ms.len())
    }

    /// Resident size by the minute.
    fn resident(server: &Lanes, dir: &Path, minutes: u64, out: &mut impl Write) -> Measured<()> {
        let profile = server.profile(dir, 64, Answers::Usual, "budget = \"200ms\"\nevery = \"500ms\"")?;
        let term = Terminal::start(200, 60, &[&profile.to_string_lossy()], &[]);
        term.wait_text("Round 2");
        let path = format!("/proc/{}/status", term.process());
        for minute in 1..=minutes {
            std::thread::sleep(Duration::from_secs(60));
            let status = std::fs::read_to_string(&path)?;
            let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
            writeln!(out, "minute {minute:>2}: {}", line.trim())?;
            out.flush()?;
        }
        quit(term);
        Ok(())
    }
}
