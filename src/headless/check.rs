//! `fanscope check`: says what is wrong with profiles, or what they would do.

use crate::profile::{self, BUILTINS};
use crate::session;
use std::io::{self, Write};

/// Checks each profile and explains those that are right, held to so many attempts a second, host and port. False when
/// one is not.
///
/// # Errors
/// Only of writing.
pub fn check(
    names: &[String],
    max_rps: Option<f64>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> io::Result<bool> {
    let env = |name: &str| std::env::var(name).ok();
    let mut good = true;
    for (i, name) in names.iter().enumerate() {
        match profile::load(name, &env) {
            Ok(mut profile) => {
                let held = max_rps.and_then(|most| session::hold(&mut profile, most));
                let gap = if i > 0 { "\n" } else { "" };
                write!(out, "{gap}{}", profile::explain(&profile))?;
                if let Some(held) = held {
                    write!(out, "{}", profile::warning(&held))?;
                }
                if let Some(short) = session::would_be_short(&profile) {
                    write!(out, "{}", profile::warning(&short.to_string()))?;
                }
            }
            Err(found) => {
                good = false;
                writeln!(errors, "{found}")?;
            }
        }
    }
    out.flush()?;
    Ok(good)
}

/// Lists the built-in profiles, each with the first sentence of its own description.
///
/// # Errors
/// Only of writing.
pub fn list(out: &mut dyn Write) -> io::Result<()> {
    for (name, text) in BUILTINS {
        let about: Vec<&str> = text.lines().map_while(|l| l.strip_prefix('#')).map(str::trim).collect();
        let about = about.join(" ");
        let sentence = about.split_inclusive(". ").next().unwrap_or_default().trim_end();
        writeln!(out, "{name:<12}{sentence}")?;
    }
    out.flush()
}
