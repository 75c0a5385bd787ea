//! What a bench is told on its command line, and what it says at its end.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// The number behind this flag, the only one that this bench takes, or `usual` without it.
///
/// # Errors
/// How it is used.
pub fn number<N: std::str::FromStr>(bench: &str, flag: &str, usual: N) -> Result<N, String> {
    // Cargo adds `--bench` to what was typed.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(usual),
        [given, n] if given == flag => n.parse().map_err(|_| format!("{flag}: a number")),
        _ => Err(format!("usage: cargo bench --bench {bench} -- [{flag} N]")),
    }
}

/// Says what went wrong, if anything did.
pub fn exit<E: Display>(bench: &str, done: Result<(), E>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is gone the exit code still says it.
            let _ = writeln!(io::stderr(), "{bench}: {error}");
            ExitCode::FAILURE
        }
    }
}
