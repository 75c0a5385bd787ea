//! A hedge delay from the endpoint's recent primary attempts (R24).

use crate::domain::{Call, Round, Suppression};
use crate::whatif::hedge::percentile;
use crate::whatif::survival::{Curve, Observation, fair};
use std::collections::VecDeque;
use std::time::Duration;

/// Primaries that are remembered per endpoint.
const KEPT: usize = 300;

/// Fewer give no percentile: the endpoint is warming.
const ENOUGH: usize = 30;

/// The recent primary attempts of an endpoint, cut ones as censored.
#[derive(Debug, Clone, Default)]
pub struct RecentPrimaries(VecDeque<Observation>);

impl RecentPrimaries {
    /// Takes in a call of a settled round; one for which nothing was sent tells nothing.
    pub fn push(&mut self, round: &Round, call: &Call) {
        let Some(seen) = fair(round, call) else { return };
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(seen);
    }

    /// The delay at the quantile `q` for a round with this budget.
    ///
    /// # Errors
    /// [`Suppression::Warming`] under 30 samples.
    pub fn delay(&self, q: f64, on_error: bool, budget: Duration) -> Result<Duration, Suppression> {
        if self.0.len() < ENOUGH {
            return Err(Suppression::Warming);
        }
        let seen: Vec<Observation> = self.0.iter().copied().collect();
        Ok(percentile(&Curve::of(&seen), q, on_error, budget))
    }
}
