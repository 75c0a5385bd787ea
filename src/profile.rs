//! What to ask: a profile is a TOML file of endpoints and budgets, read, checked and turned into types that
//! cannot be wrong. Knows nothing of terminals, runtimes or HTTP clients.

pub mod types;

pub use types::Profile;
pub use types::{
    Distribution, Endpoint, Expect, Fault, FaultKind, HttpChoice, LatencyLaw, Proxy, Resolver, Simulation,
    Slow, StatusSet, Target, Template, Tls,
};
