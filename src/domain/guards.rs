//! What holds calls back: permits, breakers and rates, and which of them stand before which replica.

use super::ids::EndpointId;

/// The guards of a profile. The default guards nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Guards {
    /// What shares permits and a breaker (R36, R37).
    pub dependencies: Vec<DependencySpec>,
    /// What shares a rate and a back-off (R39): hosts and ports.
    pub hosts: Vec<HostSpec>,
    /// Per endpoint, per replica: which guards stand before it. What is missing here is not guarded.
    pub routes: Vec<Vec<Route>>,
}

impl Guards {
    /// The guards before a replica.
    #[must_use]
    pub fn route(&self, call: EndpointId, replica: usize) -> Option<Route> {
        self.routes.get(call.index())?.get(replica).copied()
    }
}

/// A dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DependencySpec {
    /// Attempts in flight at once, at least 1.
    pub permits: u32,
}

/// A host and port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostSpec {
    /// Most attempts a second, above 0; `None`: free.
    pub max_rps: Option<f64>,
}

/// The guards before one replica of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Index into [`Guards::dependencies`].
    pub dependency: usize,
    /// Index into [`Guards::hosts`].
    pub host: usize,
    /// Whether the endpoint heeds and feeds its dependency's breaker.
    pub breaker: bool,
}
