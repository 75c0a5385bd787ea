//! What a Prometheus scrapes: counters and histograms folded from settled rounds, and the listener that serves
//! them. Knows neither the engine nor who else looks at the same events.
//!
//! All series exist from the start, so that the first missing call is seen as a step from 0, and their number is
//! bounded: the endpoints of the profile times closed sets of words (see `series`). Feeding an event touches
//! atomics and takes no lock that a scrape holds for longer than the copy of one histogram.

mod fold;
mod series;
mod serve;

pub use fold::Metrics;
pub use series::{Exposition, Format, HEDGE_RESULTS};
pub use serve::{Limits, Listener};
