//! What to ask: a profile is a TOML file of endpoints and budgets, read, checked and turned into types that
//! cannot be wrong. Knows nothing of terminals, runtimes or HTTP clients.
//!
//! [`load`] takes a path or the name of a built-in, [`parse`] a text, [`from_urls`] URLs. All of them hand
//! out a [`Profile`] without a fault in it, or [`ProfileErrors`] with every fault that was found.

mod arguments;
mod builtin;
mod curl;
mod descriptors;
pub mod durations;
pub(crate) mod error;
mod expand;
mod explain;
mod file;
mod guards;
mod hosts;
pub mod nearest;
mod overrides;
pub mod quantities;
pub mod reach;
pub(crate) mod reading;
pub mod redact;
#[cfg(test)]
mod schema;
pub mod secrets;
mod shell;
pub(crate) mod source;
pub(crate) mod syntax;
pub mod types;
mod urls;
mod validate;
pub mod variants;
mod warnings;

pub use arguments::{ArgumentFault, argument_faults};
pub use builtin::BUILTINS;
pub use curl::{CurlCall, SECRET, curl};
pub use descriptors::descriptors;
pub use error::{Complaint, Mark, Place, ProfileError, ProfileErrors};
pub use explain::{explain, request_line, warning};
pub use hosts::hosts;
pub use overrides::Overrides;
pub use types::Profile;
pub use types::{
    Distribution, Endpoint, Expect, Fault, FaultKind, HttpChoice, LatencyLaw, Piece, Proxy, Resolver, Rows,
    Simulation, Slow, StatusSet, Target, Template, Tls,
};
pub use urls::{from_urls, parse_header};
pub use validate::MAX_ENDPOINTS;
pub use warnings::{is_unverified, warnings};

use reading::Unreadable;
use std::path::Path;

/// Loads a profile by path or by the name of a built-in; a file of that name wins.
///
/// # Errors
/// Everything that is wrong with the file, or why it could not be read.
pub fn load(arg: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Profile, ProfileErrors> {
    let path = Path::new(arg);
    let builtin = builtin::find(arg);
    if let Some(text) = builtin.filter(|_| !path.is_file()) {
        return parse(&format!("built-in {arg}"), text, Path::new("."), env);
    }
    match reading::read(path) {
        Ok(text) => parse(arg, &text, path.parent().unwrap_or(Path::new(".")), env),
        Err(Unreadable::Missing) => Err(missing(arg)),
        Err(Unreadable::Other(what, help)) => {
            let help: Vec<String> = Some(help).filter(|h| !h.is_empty()).into_iter().collect();
            Err(ProfileErrors::whole(arg, what, &help))
        }
    }
}

/// Parses a profile's text. `source_name` is what messages call it; files that it names are looked for in
/// `base_dir`; `env` gives the environment's variables.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(
    source_name: &str,
    text: &str,
    base_dir: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Profile, ProfileErrors> {
    validate::profile(source_name, text.strip_prefix('\u{feff}').unwrap_or(text), base_dir, env)
}

/// What contradicts itself once flags have changed a profile's settings: a budget below 1 ms, a period that is
/// neither 0 nor 1 ms, a fixed hedge delay that is not below the budget, a hedge of what may not be sent twice
/// (R30), a quorum beyond the optional endpoints; of two variants in turn (W9), each has to stand. One line each.
#[must_use]
pub fn contradictions(profile: &Profile) -> Vec<String> {
    validate::contradictions(profile)
}

/// The built-in profile of this name, whatever files there are.
///
/// # Errors
/// There is none of that name.
pub fn built_in(name: &str) -> Result<Profile, ProfileErrors> {
    let text = builtin::find(name).ok_or_else(|| missing(name))?;
    parse(&format!("built-in {name}"), text, Path::new("."), &|_| None)
}

/// Whether this names a built-in profile and no file.
#[must_use]
pub fn is_built_in(arg: &str) -> bool {
    builtin::find(arg).is_some() && !Path::new(arg).is_file()
}

fn missing(arg: &str) -> ProfileErrors {
    let names: Vec<&str> = BUILTINS.iter().map(|b| b.0).collect();
    let with_end = format!("{arg}.toml");
    let help = if arg.is_empty() {
        "name a file or a built-in profile".to_owned()
    } else if arg.contains("://") {
        "this looks like a URL, where a profile is wanted".to_owned()
    } else if !arg.contains('/') && arg.contains(':') || arg.starts_with("localhost") {
        format!("for a URL write http://{}", source::visible_all(arg))
    } else if Path::new(&with_end).is_file() {
        format!("did you mean {}?", source::visible_all(&with_end))
    } else if let Some(close) = nearest::nearest(arg, names.iter().copied()) {
        format!("did you mean the built-in `{close}`?")
    } else {
        "`fanscope init -o FILE` writes one to start from".to_owned()
    };
    let builtins = format!("built-in profiles: {}", names.join(", "));
    let shown = if arg.is_empty() { "\"\"".to_owned() } else { secrets::redact_url(arg) };
    ProfileErrors::whole(
        &shown,
        "there is no such file and no built-in profile of that name",
        &[help, builtins],
    )
}
