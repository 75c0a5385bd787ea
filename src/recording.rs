//! The NDJSON lines of a session: one schema for what `run --format json` prints, for what `--record` writes and
//! for what `replay` and `report` read. Knows no terminal and no network, and reads no clock: even the date comes
//! in as text.
//!
//! Lines are plain structs, built from the domain's types and read back into them. Readers accept lines, fields
//! and summaries that are absent or unknown; the closed sets (reasons, modes) stay closed.

mod back;
mod hedge;
mod line;
mod open;
mod read;
mod round;
#[cfg(test)]
mod schema;
mod scribe;
mod summary;
mod units;
mod write;

pub use hedge::{HedgeLine, OwnHedge};
pub use line::{AbLine, EndpointLine, LateLine, Line, NoteLine, SessionLine, SettingsBody, SettingsLine};
pub use open::{is_packed, open, unpacked};
pub use read::{Context, ReadError, Reader, Record};
pub use round::{AttemptLine, CallLine, CallOutcome, FailedLine, HedgesLine, PhasesLine, RoundLine};
pub use scribe::Scribe;
pub use summary::{
    AbSummary, ArmSummary, DifferenceLine, Differences, EndpointSummary, GateLine, HedgesTotal, LateTotal,
    RoundTimes, SummaryFold, SummaryLine,
};
pub use units::{Millis, Ordered};
pub use write::{CreateError, Writer};

/// The version of the schema, written in every session line.
pub const SCHEMA: u32 = 1;
