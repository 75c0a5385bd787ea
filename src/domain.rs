//! The vocabulary that every other room speaks: ids, settings, reasons, rounds and events.
//!
//! Knows nothing of terminals, sockets or runtimes and never asks a clock: every time here is a
//! [`Duration`](std::time::Duration) from the start of the session or of the round, as each field says.

pub mod ab;
pub mod cost;
pub mod event;
pub mod evidence;
pub mod fault;
pub mod guards;
pub mod ids;
pub mod numbers;
mod overrun;
pub mod playback;
pub mod reason;
pub mod round;
pub mod seed;
pub mod settings;
pub mod text;

pub use ab::{Ab, Arm, Variant};
pub use cost::Connected;
pub use event::Event;
pub use evidence::{Answer, ServerTiming, TraceId};
pub use fault::FaultSwitch;
pub use guards::Guards;
pub use ids::{EndpointId, RoundNo};
pub use playback::{PlayState, Playback, Seek, Speed};
pub use reason::{Phase, Reason};
pub use round::{
    Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, HedgeCounts, HttpVersion, Late, Outcome, Phases,
    Round, Suppressed, Suppression,
};
pub use settings::{CallSpec, HedgeContract, HedgeDelay, HedgeSettings, Mode, Settings};
