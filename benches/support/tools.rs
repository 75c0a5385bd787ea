//! Others that send requests, where they are installed.

use crate::{Cost, Measured};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A load generator that runs for two seconds.
pub struct Loader {
    pub name: &'static str,
    /// What comes before the number of connections, and after it, before the URL.
    words: (&'static [&'static str], &'static [&'static str]),
    /// What stands before the number of requests in what it says, and after it.
    requests: (&'static str, &'static str),
}

pub const LOADERS: [Loader; 2] = [
    Loader { name: "wrk", words: (&["-t1", "-d2", "-c"], &[]), requests: ("", " requests in") },
    Loader {
        name: "oha",
        words: (&["--no-tui", "-z", "2s", "-w", "-c"], &[]),
        requests: ("[200] ", " responses"),
    },
];

impl Loader {
    /// CPU time of a request; `None` where it is not installed.
    pub fn run(&self, url: &str, connections: u64) -> Measured<Option<Duration>> {
        let before = of_children()?;
        let mut command = Command::new(self.name);
        command.args(self.words.0).arg(connections.to_string()).args(self.words.1).arg(url);
        let Ok(output) = command.stderr(Stdio::null()).output() else { return Ok(None) };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = said.lines().find_map(|line| {
            let (before, _) = line.split_once(self.requests.1)?;
            before.trim().strip_prefix(self.requests.0)?.trim().parse::<f64>().ok()
        });
        let requests = line.filter(|n| *n >= 1.0).ok_or_else(|| format!("{} said: {said}", self.name))?;
        Ok(Some((of_children()?.saturating_sub(before)).div_f64(requests)))
    }
}

/// CPU time of the children that have ended. Linux counts it in hundredths of a second.
fn of_children() -> Measured<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name, in brackets, may have blanks.
    let (_, fields) = stat.rsplit_once(')').ok_or("/proc/self/stat can't be read")?;
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(10 * ticks))
}

/// An interpreter that has aiohttp.
pub fn python() -> Option<&'static str> {
    let has = |python: &&str| {
        let asked = Command::new(python).args(["-c", "import aiohttp"]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    // The first in the path may be somebody's own; the system's packages go with the system's.
    ["python3", "/usr/bin/python3"].into_iter().find(has)
}

/// The same rounds with asyncio and aiohttp.
pub fn fanout(python: &str, url: &str, width: u64, rounds: u64) -> Measured<Cost> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/support/fanout.py");
    let mut command = Command::new(python);
    command.arg(script).args([url, &width.to_string(), &rounds.to_string()]);
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = said.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(round)), Some(Ok(each))) = (numbers.next(), numbers.next()) else {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    };
    let time = |us: f64| Duration::from_secs_f64(us / 1e6);
    Ok(Cost { round: time(round), thread: Duration::ZERO, process: time(each) })
}
