//! What a gate can measure, and how it is spelled.

use crate::domain::Reason;
use std::fmt;

/// What is measured, over all counted rounds.
#[derive(Debug, Clone, PartialEq)]
pub enum Metric {
    /// Mean share of the calls that answered.
    Completeness,
    /// Share of the rounds that were partial (R40).
    Partial,
    /// Share of the rounds that failed (R34).
    Failed,
    /// Planned starts that did not happen.
    Skipped,
    /// Completed rounds.
    Rounds,
    /// Calls that were missing.
    Missing {
        /// Whose; `None` for all endpoints.
        endpoint: Option<String>,
        /// Why; `None` for any reason.
        reason: Option<Reason>,
    },
    /// Share of an endpoint's calls that answered.
    Ok(String),
    /// Nearest-rank quantile of the rounds' time.
    Took(Percentile),
    /// Quantile of an endpoint's time to an answer, by the survival curve.
    Latency(Percentile, String),
    /// Hedges sent for each primary (R31).
    ExtraLoad,
}

/// A percentile, above 0 and below 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile(pub(super) f64);

impl Percentile {
    /// As a share, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }
}

/// The unit that a metric has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A share, at most this many percent.
    Share {
        /// 100 for parts of a whole.
        most_percent: u16,
    },
    /// A count.
    Count,
    /// A time.
    Time,
}

impl Metric {
    /// Its unit.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Completeness | Self::Partial | Self::Failed | Self::Ok(_) => {
                Kind::Share { most_percent: 100 }
            }
            // Four hedges for each primary are the most (R23).
            Self::ExtraLoad => Kind::Share { most_percent: 400 },
            Self::Skipped | Self::Rounds | Self::Missing { .. } => Kind::Count,
            Self::Took(_) | Self::Latency(..) => Kind::Time,
        }
    }
}

impl Kind {
    /// What a value of it looks like.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::Share { .. } => "a share such as 0.98 or 98%",
            Self::Count => "a count such as 0 or 12",
            Self::Time => "a time such as 250ms or 1s",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completeness => f.write_str("completeness"),
            Self::Partial => f.write_str("partial"),
            Self::Failed => f.write_str("failed"),
            Self::Skipped => f.write_str("skipped"),
            Self::Rounds => f.write_str("rounds"),
            Self::Missing { endpoint, reason } => {
                f.write_str("missing")?;
                match (endpoint, reason) {
                    (Some(name), _) => write!(f, ".{}", Name(name))?,
                    (None, Some(_)) => f.write_str(".*")?,
                    (None, None) => {}
                }
                reason.map_or(Ok(()), |reason| write!(f, ".{reason}"))
            }
            Self::Ok(name) => write!(f, "ok.{}", Name(name)),
            Self::Took(percentile) => write!(f, "p{}", percentile.0),
            Self::Latency(percentile, name) => write!(f, "p{}.{}", percentile.0, Name(name)),
            Self::ExtraLoad => f.write_str("hedges.extra_load"),
        }
    }
}

/// Whether a name may hold it without quotes.
pub(super) fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | ':' | '@')
}

/// An endpoint's name, quoted where it has to be.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.bytes().all(|b| b.is_ascii_digit());
        if self.0.chars().all(is_bare) && !number {
            return f.write_str(self.0);
        }
        // An empty name is all digits too, and needs its quotes as well.
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
