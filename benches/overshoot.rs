//! How late rounds are over that end at their budget: the release binary on calls that hang, and on every fault of the
//! tests' zoo, in each mode that cuts. Prints a table and asserts nothing about it; fails only where something can't be
//! measured.
//!
//! `cargo bench --bench overshoot -- [--rounds N]`, N for each row.

#[path = "../tests/support/zoo.rs"]
mod zoo;
#[path = "../tests/support/zoo_run.rs"]
mod zoo_run;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
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
            let run = zoo_run::run(&zoo, ROUND, &[flags, &["-n", rounds]].concat());
            let late = zoo_run::overshoot(&run.rounds);
            let at = |percent: usize| late.get(late.len() * percent / 100).or(late.last());
            let ms = |at: Option<&f64>| at.map_or("-".to_owned(), |ms| format!("{ms:.2} ms"));
            writeln!(
                out,
                "{name:<22} {mode:<9} p50 {:>9}  p99 {:>9}  most {:>9}  of {}",
                ms(at(50)),
                ms(at(99)),
                ms(late.last()),
                late.len()
            )?;
            out.flush()?;
        }
    }
    Ok(())
}
