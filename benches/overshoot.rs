//! How late rounds are over that end at their budget: the release binary on calls that hang, and on every fault of the
//! tests' zoo, in each mode that cuts. Beside it how late a thread wakes up that only sleeps, at the same time: what the
//! machine does to everybody. Prints a table and asserts nothing about it; fails only where something can't be measured.
//!
//! `cargo bench --bench overshoot -- [--rounds N]`, N for each row.

#[path = "../tests/support/zoo.rs"]
mod zoo;
#[path = "../tests/support/zoo_run.rs"]
mod zoo_run;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use zoo::Zoo;
use zoo::steps::{Animal, Step};

/// Long enough for what is quick to be over, and so that nothing else than hanging is cut.
const ROUND: &str = "budget = \"200ms\"\nevery = \"250ms\"\n[defaults]\nexpect = { max_body = \"1MiB\" }";

fn main() -> ExitCode {
    match rounds().and_then(|rounds| table(&rounds, &mut io::stdout())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is gone the exit code still says it.
            let _ = writeln!(io::stderr(), "overshoot: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Rounds of each row. Cargo adds `--bench` to what was typed.
fn rounds() -> Result<String, Box<dyn Error>> {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    match (words.next().as_deref(), words.next(), words.next()) {
        (None, ..) => Ok("200".to_owned()),
        (Some("--rounds"), Some(n), None) if n.parse::<u32>().is_ok_and(|n| n > 0) => Ok(n),
        _ => Err("usage: cargo bench --bench overshoot -- [--rounds N]".into()),
    }
}

fn table(rounds: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let hanging = |n| vec![Animal::new("hang", &[], [Step::Hang]).callers(n)];
    let zoos = [
        ("8 hanging calls", hanging(8)),
        ("64 hanging calls", hanging(64)),
        ("every fault of HTTP", zoo::plain()),
        ("every fault of TLS", zoo::tls::all()),
        ("flaky servers", zoo::changes::flaky()),
        ("overloaded servers", zoo::changes::overload()),
    ];
    for (name, animals) in zoos {
        let zoo = Zoo::start(animals);
        let all = zoo.cages.iter().map(|cage| cage.endpoints().len()).sum::<usize>().to_string();
        let modes: [(&str, &[&str]); 3] = [
            ("deadline", &["-m", "deadline"]),
            // Never met, so that the deadline ends it.
            ("quorum", &["-m", "quorum", "-k", &all]),
            ("hedge", &["-m", "hedge", "--hedge-delay", "100ms"]),
        ];
        for (mode, flags) in modes {
            let over = AtomicBool::new(false);
            let (run, floor) = thread::scope(|scope| {
                let floor = scope.spawn(|| sleeps(&over));
                let run = zoo_run::run(&zoo, ROUND, &[flags, &["-n", rounds]].concat());
                over.store(true, Ordering::Relaxed);
                (run, floor.join())
            });
            let floor = floor.map_err(|_| "the thread that sleeps panicked")?;
            let late = zoo_run::overshoot(&run.rounds);
            writeln!(
                out,
                "{name:<22} {mode:<9} {}  of {:<4} a bare sleep {}",
                quantiles(&late),
                late.len(),
                quantiles(&floor)
            )?;
            out.flush()?;
        }
    }
    Ok(())
}

/// How much later than asked for a thread wakes up that only sleeps, in milliseconds, ascending.
fn sleeps(over: &AtomicBool) -> Vec<f64> {
    let mut late = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let due = Instant::now() + Duration::from_millis(20);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        late.push(due.elapsed().as_secs_f64() * 1000.0);
    }
    late.sort_unstable_by(f64::total_cmp);
    late
}

/// Median, 99th percentile and the most of ascending milliseconds.
fn quantiles(ms: &[f64]) -> String {
    let at = |percent: usize| ms.get((ms.len() * percent).div_ceil(100).saturating_sub(1));
    let said = |at: Option<&f64>| at.map_or("-".to_owned(), |ms| format!("{ms:.2} ms"));
    format!("p50 {:>8}  p99 {:>8}  most {:>8}", said(at(50)), said(at(99)), said(ms.last()))
}
