//! What a simulated endpoint can be made to do while it is watched.

use super::reason::words;

words! {
    /// A switch over what the profile wrote about a simulated endpoint. Each has exactly one effect, so that the
    /// screen shows one reason.
    FaultSwitch {
        /// The profile's own latency, slowness and faults.
        AsWritten = "as-written",
        /// The profile's latency, without slowness and without faults.
        Healthy = "healthy",
        /// Healthy, and answering 400 ms later: twice the budget that holds where none is written.
        Slow = "slow",
        /// Always answering 503.
        Http503 = "http_503",
        /// Always resetting the connection after the request.
        Reset = "reset",
        /// Always refusing to connect.
        Refuse = "refuse",
        /// Never answering.
        Hang = "hang",
    }
}

impl FaultSwitch {
    /// The switch with this spelling.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.as_str() == word)
    }
}
