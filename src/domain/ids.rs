//! Newtypes for the numbers that must not be mixed up.

use std::fmt;

/// An endpoint of the profile: its place in profile order, from 0.
///
/// A round has exactly one call per endpoint, so the same id names the call within its round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId(pub usize);

impl EndpointId {
    /// The id as an index into per-endpoint tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

/// The number of a round within its session, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoundNo(pub u64);

impl fmt::Display for RoundNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
