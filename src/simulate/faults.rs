//! The switches over simulated endpoints, thrown while they are asked.

use crate::domain::{EndpointId, FaultSwitch};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What each simulated endpoint has been switched to. Cheap to clone; clones share one table, and a switch
/// holds from the next attempt on: what is under way keeps what it started with.
///
/// A switch is for the endpoint's first replica, which the primary attempt asks. The others stay as written, so
/// that an endpoint of several replicas shows what a hedge is worth.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Vec<Option<FaultSwitch>>>>);

impl Faults {
    /// Nothing is switched; `simulated` says which endpoints can be.
    pub(super) fn new(simulated: impl Iterator<Item = bool>) -> Self {
        let table = simulated.map(|simulated| simulated.then_some(FaultSwitch::AsWritten));
        Self(Arc::new(Mutex::new(table.collect())))
    }

    /// What the endpoint is switched to; `None` where it is not simulated.
    #[must_use]
    pub fn get(&self, endpoint: EndpointId) -> Option<FaultSwitch> {
        self.table().get(endpoint.index()).copied().flatten()
    }

    /// Switches the endpoint. Returns whether it could be: only simulated ones can.
    #[must_use = "an endpoint that is not simulated was not switched"]
    pub fn set(&self, endpoint: EndpointId, switch: FaultSwitch) -> bool {
        let mut table = self.table();
        let Some(Some(slot)) = table.get_mut(endpoint.index()) else { return false };
        *slot = switch;
        true
    }

    /// What holds for a replica.
    pub(super) fn of(&self, endpoint: EndpointId, replica: usize) -> FaultSwitch {
        let switched = self.get(endpoint).filter(|_| replica == 0);
        switched.unwrap_or(FaultSwitch::AsWritten)
    }

    fn table(&self) -> MutexGuard<'_, Vec<Option<FaultSwitch>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
