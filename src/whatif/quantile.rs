//! A quantile of the time to an answer, and how far it may be trusted (W6). Pure.

use super::survival::{Curve, Grade};
use std::time::Duration;

/// A quantile as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quantile {
    /// The time, where it may be said.
    pub time: Option<Duration>,
    /// How good that is, or why there is none.
    pub trust: Trust,
    /// What it is at least, where it is censored.
    pub above: Option<Duration>,
}

/// How far a quantile may be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// Enough calls were at risk there.
    Solid,
    /// Few were.
    Thin,
    /// Too few for a number.
    #[default]
    None,
    /// So many calls fail that it is never reached.
    Unreachable,
    /// Calls were cut before it was reached.
    Censored,
}

impl Trust {
    /// Its stable spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Solid => "solid",
            Self::Thin => "thin",
            Self::None => "none",
            Self::Unreachable => "unreachable",
            Self::Censored => "censored",
        }
    }
}

impl Quantile {
    /// The quantile `q` (0 < q < 1) of an endpoint's curve.
    #[must_use]
    pub fn of(curve: &Curve, q: f64) -> Self {
        let none = |trust, above| Self { time: None, trust, above };
        match curve.row_ok(q) {
            Some(row) => match row.grade() {
                Grade::Solid => Self { time: Some(row.time), trust: Trust::Solid, above: None },
                Grade::Thin => Self { time: Some(row.time), trust: Trust::Thin, above: None },
                Grade::None => none(Trust::None, None),
            },
            None if Grade::of(curve.n()) == Grade::None => none(Trust::None, None),
            None if curve.unreachable_ok(q) => none(Trust::Unreachable, None),
            None => none(Trust::Censored, curve.pending_until()),
        }
    }
}
