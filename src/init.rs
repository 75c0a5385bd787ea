//! A first profile: a starter with comments, or one made of URLs, `curl` commands, a HAR or an `OpenAPI` description.
//! What is secret in them becomes a variable of the environment. Texts come in and go out; knows no file and no clock.

mod conceal;
mod curl;
mod draft;
mod har;
mod json;
mod openapi;
mod render;
mod vault;
mod words;

use crate::profile::{self, ProfileErrors};
use draft::{Draft, Request};
use std::path::Path;
use vault::{PLACEHOLDER, unmarked};

/// A commented profile to start from; its upstreams are embedded.
pub const STARTER: &str = include_str!("../profiles/starter/starter.toml");

/// Largest profile that is read back.
const LARGEST: usize = 4 << 20;

/// Why there is no profile. No error repeats what it was given: that may be secret.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// What is wrong with the input.
    #[error("{0}")]
    Input(String),
    /// What is wrong with URLs of the command line, shown without their secrets.
    #[error("no profile is made of these URLs\n{0}")]
    Urls(ProfileErrors),
    /// A fault of ours: the text does not pass the profile's own reader.
    #[error("the profile that came of it does not pass `fanscope check`, so it is not written\n{0}")]
    Unsound(ProfileErrors),
}

impl InitError {
    fn new(what: &str) -> Self {
        Self::Input(what.to_owned())
    }

    fn at(line: usize, what: &str, help: &str) -> Self {
        Self::Input(format!("line {line}: {what}; {help}"))
    }
}

/// A profile that passes `fanscope check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its text.
    pub text: String,
    /// How many endpoints it has.
    pub endpoints: usize,
    /// Names of the variables that it needs.
    pub variables: Vec<String>,
    /// What it leaves out, a line each; the text says it too.
    pub notes: Vec<String>,
}

/// The starter profile.
///
/// # Errors
/// None but [`InitError::Unsound`].
pub fn starter() -> Result<Written, InitError> {
    checked(Written { text: STARTER.to_owned(), endpoints: 0, variables: Vec::new(), notes: Vec::new() })
}

/// An endpoint for each URL.
///
/// # Errors
/// Every URL that can't be asked.
pub fn from_urls(urls: &[String]) -> Result<Written, InitError> {
    profile::from_urls(urls, &[]).map_err(InitError::Urls)?;
    let mut draft = Draft::new("init");
    for url in urls {
        draft.add(Request::get(unmarked(url))).map_err(|why| draft::unfit("a URL", why))?;
    }
    finished(draft)
}

/// An endpoint for each URL of the `curl` commands in a text, as a shell would read them.
///
/// # Errors
/// Where it holds none, what a shell could not read, and what a profile can't send.
pub fn from_curl(text: &str) -> Result<Written, InitError> {
    let mut draft = Draft::new("init --curl");
    curl::read(&unmarked(text), &mut draft)?;
    finished(draft)
}

/// An endpoint for each entry of a HAR, as browsers save it.
///
/// # Errors
/// Where it is none, or has no entry that can be asked.
pub fn from_har(text: &str) -> Result<Written, InitError> {
    let mut draft = Draft::new("init --har");
    har::read(text, &mut draft)?;
    finished(draft)
}

/// An endpoint for each path of an `OpenAPI` description that can be read with GET. `server` stands in the place of
/// the servers that it names.
///
/// # Errors
/// Where it is none, names no server, or has no path that can be asked.
pub fn from_openapi(text: &str, server: Option<&str>) -> Result<Written, InitError> {
    let mut draft = Draft::new("init --openapi");
    openapi::read(text, server, &mut draft)?;
    finished(draft)
}

fn finished(mut draft: Draft) -> Result<Written, InitError> {
    draft.scrub();
    let written = Written {
        text: render::text(&draft),
        endpoints: draft.requests.len(),
        variables: draft.vault.names().to_vec(),
        notes: draft.all_notes(),
    };
    if written.text.len() > LARGEST {
        return Err(InitError::new(
            "the profile would be larger than 4 MB, the most that is read: give it fewer requests",
        ));
    }
    checked(written)
}

/// The last guard: what is written is what the profile's own reader takes.
fn checked(written: Written) -> Result<Written, InitError> {
    let set = |_: &str| Some(PLACEHOLDER.to_owned());
    match profile::parse("the profile", &written.text, Path::new("."), &set) {
        Ok(profile) => Ok(Written { endpoints: profile.endpoints.len(), ..written }),
        Err(errors) => Err(InitError::Unsound(errors)),
    }
}

#[cfg(test)]
mod tests;
