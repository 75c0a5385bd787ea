//! Conditions on a run, such as `completeness>=0.98`: what they say, and how they are written. Each is a metric, an
//! operator and a value whose unit fits the metric. Reading is in `parse`, judging in `judge`.

mod judge;
mod metric;
mod parse;
#[cfg(test)]
mod tests;
mod value;
mod words;

pub use judge::Verdict;
pub(super) use judge::{Judged, judge, table, verdict};

use metric::{Metric, Percentile};
use parse::{Known, parse};

use crate::profile::{ArgumentFault, ProfileErrors, argument_faults, durations};
use std::fmt;
use std::time::Duration;

/// The conditions on a run, as they were written. Each can be judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gates(Vec<Gate>);

impl Gates {
    /// Reads gates for these endpoints. `baseline`: whether there is one to compare with.
    ///
    /// # Errors
    /// What is wrong with them, all together.
    pub fn parse(texts: &[String], endpoints: &[String], baseline: bool) -> Result<Self, ProfileErrors> {
        let known = Known { endpoints, baseline };
        let (mut gates, mut faults) = (Vec::new(), Vec::new());
        for (argument, text) in texts.iter().enumerate() {
            match parse(text, known) {
                Ok(gate) => gates.push(gate),
                Err(parse::Fault { span, message, help }) => {
                    faults.push(ArgumentFault { argument, span, message, help });
                }
            }
        }
        argument_faults("--gate", texts, &faults).map_or(Ok(Self(gates)), Err)
    }

    /// Each in the shortest form that reads as the same gate.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(ToString::to_string)
    }
}

/// A condition on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// As it was written.
    pub text: String,
    /// What is measured.
    pub metric: Metric,
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub bound: Bound,
}

impl fmt::Display for Gate {
    /// In the shortest form that reads as the same gate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.metric, self.op, self.bound)
    }
}

/// How a value is compared with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// At least.
    AtLeast,
    /// At most.
    AtMost,
    /// Equal.
    Equal,
    /// Not equal.
    Unequal,
    /// More than.
    Above,
    /// Less than.
    Below,
}

impl Op {
    /// Every operator.
    pub const ALL: [Self; 6] =
        [Self::AtLeast, Self::AtMost, Self::Equal, Self::Unequal, Self::Above, Self::Below];

    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a value is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// A value.
    Fixed(Amount),
    /// The same metric of the baseline, changed.
    Baseline(Change),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(amount) => amount.fmt(f),
            Self::Baseline(Change::None) => f.write_str("baseline"),
            Self::Baseline(Change::Less(amount)) => write!(f, "baseline-{amount}"),
            Self::Baseline(Change::More(amount)) => write!(f, "baseline+{amount}"),
            Self::Baseline(Change::Times(factor)) => write!(f, "baseline*{factor}"),
        }
    }
}

/// How a baseline's value becomes the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// As it is.
    None,
    /// Less so much.
    Less(Amount),
    /// And so much more.
    More(Amount),
    /// So many times.
    Times(f64),
}

/// A value as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A share: `0.98`.
    Fraction(f64),
    /// A share in percent: `98%`.
    Percent(f64),
    /// A count: `3`.
    Count(u64),
    /// A time: `250ms`.
    Time(Duration),
}

impl Amount {
    /// In the unit in which metrics are compared: shares of 1, counts, milliseconds.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Fraction(share) => share,
            Self::Percent(percent) => percent / 100.0,
            #[expect(
                clippy::cast_precision_loss,
                reason = "beyond 2^53 a count of rounds is no matter of one"
            )]
            Self::Count(count) => count as f64,
            Self::Time(time) => time.as_secs_f64() * 1e3,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fraction(share) => share.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Count(count) => count.fmt(f),
            Self::Time(time) => {
                let short = durations::show(*time);
                if durations::parse(&short) == Ok(*time) {
                    return f.write_str(&short);
                }
                // What the short form would round, to the nanosecond.
                write!(f, "{}.{:06}ms", time.as_millis(), time.subsec_nanos() % 1_000_000)
            }
        }
    }
}
