//! The NDJSON lines that `run --format json` prints: one schema for every record. Knows no terminal and no
//! network, and reads no clock: even the date comes in as text.
//!
//! Lines are plain structs, built from the domain's types and parsed back into the same structs. Readers accept
//! lines, fields and summaries that are absent or unknown; the closed sets (reasons, modes) stay closed.

mod line;
mod round;
mod summary;
mod units;

pub use line::{EndpointLine, HedgeLine, Line, SessionLine, SettingsBody, SettingsLine};
pub use round::{AttemptLine, CallLine, CallOutcome, FailedLine, HedgesLine, PhasesLine, RoundLine};
pub use summary::{EndpointSummary, GateLine, HedgesTotal, RoundTimes, SummaryFold, SummaryLine};
pub use units::{Millis, Ordered};

/// The version of the schema, written in every session line.
pub const SCHEMA: u32 = 1;
