//! The policy's gate: asks the limits, and keeps what they hand out until the order is carried out.

use crate::domain::{EndpointId, Reason, RoundNo, Suppression};
use crate::engine::limits::Limits;
use crate::engine::limits::guards::{Entry, Pass, Tolls};
use crate::engine::policy::{Berth, Gate};
use crate::engine::transport::{AttemptRequest, Transport};
use std::cell::RefMut;
use std::collections::VecDeque;
use std::time::Duration;

/// The gate of a round at one moment.
pub(super) struct Door<'a> {
    pub(super) limits: RefMut<'a, Limits>,
    pub(super) entries: &'a mut VecDeque<(EndpointId, Entry)>,
    pub(super) tolls: &'a mut Tolls,
    pub(super) transport: &'a dyn Transport,
    pub(super) round: RoundNo,
    /// From the session's start.
    pub(super) now: Duration,
}

impl Door<'_> {
    /// Whether the call's request can't be built: then it fails by itself, whatever would hold it back.
    fn is_invalid(&self, call: EndpointId, replica: usize) -> bool {
        let request = AttemptRequest { round: self.round, endpoint: call, replica, attempt: 0 };
        !self.transport.can_build(request)
    }
}

impl Gate for Door<'_> {
    fn primary(&mut self, call: EndpointId) -> Result<Berth, Reason> {
        let toll = self.tolls.take(call);
        let (replica, entry) = match self.limits.guards.primary(call, toll, self.now) {
            Ok((replica, Entry::Queued(..))) if self.is_invalid(call, replica) => {
                (replica, Entry::Free(Pass::default()))
            }
            Ok(free) => free,
            Err(_) if self.is_invalid(call, 0) => (0, Entry::Free(Pass::default())),
            Err(reason) => return Err(reason),
        };
        let waits = matches!(entry, Entry::Queued(..));
        self.entries.push_back((call, entry));
        Ok(Berth { replica, waits })
    }

    fn hedge(&mut self, call: EndpointId, next: usize, race: bool) -> Result<usize, Suppression> {
        let (replica, entry) = self.limits.hedge(call, next, race, self.now)?;
        self.entries.push_back((call, entry));
        Ok(replica)
    }
}
