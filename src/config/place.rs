//! Where the file is.

use super::VARIABLE;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where to look for the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere.
    None,
    /// There, as this flag or variable says.
    Named(PathBuf, &'static str),
    /// At the usual place, where it need not be.
    Usual(PathBuf),
}

/// A flag beats the variable, which beats the usual place.
pub(super) fn find(flag: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>) -> Place {
    if let Some(path) = flag {
        return Place::Named(path.to_owned(), "--config");
    }
    match env(VARIABLE) {
        Some(path) if path.is_empty() => return Place::None,
        Some(path) => return Place::Named(path.into(), VARIABLE),
        None => {}
    }
    let folder = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = if cfg!(windows) {
        folder("APPDATA")
    } else {
        // A relative one is to be ignored (XDG Base Directory Specification).
        folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))
    };
    home.map_or(Place::None, |home| Place::Usual(home.join("fanscope").join("config.toml")))
}

/// Whether there is something at the usual place. Where that can't be known there is nothing of the user's: the home may
/// be that of another, or no folder at all.
pub(super) fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(flag: Option<&str>, vars: &[(&str, &str)]) -> Place {
        let env = |name: &str| vars.iter().find(|v| v.0 == name).map(|v| OsString::from(v.1));
        find(flag.map(Path::new), &env)
    }

    #[test]
    fn a_flag_beats_the_variable_which_beats_the_usual_place() {
        let all = [("FANSCOPE_CONFIG", "b"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(found(Some("a"), &all), Place::Named("a".into(), "--config"));
        assert_eq!(found(None, &all), Place::Named("b".into(), "FANSCOPE_CONFIG"));
        assert_eq!(found(None, &[("FANSCOPE_CONFIG", ""), ("HOME", "/h")]), Place::None);
    }

    #[cfg(unix)]
    #[test]
    fn the_usual_place_is_below_the_users_own_folder() {
        let usual = |path: &str| Place::Usual(path.into());
        assert_eq!(
            found(None, &[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]),
            usual("/x/fanscope/config.toml")
        );
        for vars in [&[("HOME", "/h")][..], &[("XDG_CONFIG_HOME", "x"), ("HOME", "/h")]] {
            assert_eq!(found(None, vars), usual("/h/.config/fanscope/config.toml"));
        }
        assert_eq!(found(None, &[]), Place::None);
        assert_eq!(found(None, &[("HOME", "")]), Place::None);
        assert!(!is_there(Path::new("/dev/null/.config/fanscope/config.toml")), "no folder at all");
    }
}
