//! The limit on file descriptors, looked at before anything starts: calls beyond it fail for a reason of ours.

use crate::profile::{self, Profile};
use std::fmt;

/// File descriptors that are short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortage {
    /// What rounds may need at once.
    pub need: u64,
    /// What the process may have.
    pub limit: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { need, limit } = self;
        write!(
            f,
            "{need} file descriptors may be needed and the limit is {limit}: calls beyond it fail as \
             local_fd_limit; raise it with `ulimit -n {need}`, or lower max_overlap or concurrency"
        )
    }
}

/// Raises the process's limit to what the profile may need, as far as that is allowed; what is short then.
pub fn raise(profile: &Profile) -> Option<Shortage> {
    let need = profile::descriptors(profile);
    short(need, limit::raise(need))
}

/// What would be short were the profile observed by this process.
#[must_use]
pub fn would_be_short(profile: &Profile) -> Option<Shortage> {
    short(profile::descriptors(profile), limit::hard())
}

fn short(need: u64, limit: Option<u64>) -> Option<Shortage> {
    limit.filter(|&limit| limit < need).map(|limit| Shortage { need, limit })
}

/// The limit of this process; `None`: there is none.
#[cfg(unix)]
mod limit {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// The limit after it was raised to this, or as far as may be.
    pub(super) fn raise(need: u64) -> Option<u64> {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let now = current?;
        let wanted = maximum.map_or(need, |maximum| need.min(maximum));
        if wanted <= now {
            return Some(now);
        }
        // A system may refuse what its own hard limit allows; then all stays as it is.
        match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
            Ok(()) => Some(wanted),
            Err(_) => Some(now),
        }
    }

    pub(super) fn hard() -> Option<u64> {
        getrlimit(Resource::Nofile).maximum
    }
}

/// No such limit is known here.
#[cfg(not(unix))]
mod limit {
    pub(super) fn raise(_: u64) -> Option<u64> {
        None
    }

    pub(super) fn hard() -> Option<u64> {
        None
    }
}
