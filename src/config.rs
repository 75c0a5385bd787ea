//! How somebody likes the dashboard: a TOML file of a theme, keys and a ceiling for what profiles may ask, under what
//! flags and the environment say. Flags beat the environment, which beats the file, which beats what is usual.
//!
//! [`load`] finds and reads the file, [`Settings::resolve`] says what holds, [`Settings::print`] writes it down. Knows
//! profiles' reader of TOML and the names of themes, keys and actions; no terminal and no engine.

mod file;
mod place;
mod print;
mod reader;
mod settings;
#[cfg(test)]
mod tests;

pub use file::File;
pub use settings::{Flags, Held, Origin, Settings};

use crate::profile::ProfileErrors;
use crate::profile::reading::{Unreadable, read};
use place::Place;
use std::ffi::OsString;
use std::path::Path;

/// The variable that names the file; set to nothing, it says that there is none.
pub const VARIABLE: &str = "FANSCOPE_CONFIG";

/// Reads the file that a flag or the environment names, or the one at the usual place, where there is one.
///
/// # Errors
/// Everything that is wrong with it, or why it could not be read. A file that is named has to be there.
pub fn load(
    flag: Option<&Path>,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Option<File>, ProfileErrors> {
    let (path, by) = match place::find(flag, env) {
        Place::None => return Ok(None),
        Place::Usual(path) if !place::is_there(&path) => return Ok(None),
        Place::Usual(path) => (path, None),
        Place::Named(path, by) => (path, Some(by)),
    };
    let name = path.display().to_string();
    match read(&path) {
        Ok(text) => File::parse(&name, &text).map(Some),
        Err(Unreadable::Missing) => {
            let help = by.map(|by| format!("{by} names it; without that, no file has to be there"));
            Err(ProfileErrors::whole(&name, "there is no such file", &Vec::from_iter(help)))
        }
        Err(Unreadable::Other(what, help)) => {
            let help: Vec<String> = Some(help).filter(|help| !help.is_empty()).into_iter().collect();
            Err(ProfileErrors::whole(&name, what, &help))
        }
    }
}
