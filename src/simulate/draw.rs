//! What an upstream does with an attempt, drawn from the seed. Pure: no clock, no state, no order.
//!
//! Every draw has a key, `key = fold(mix(seed), words)` with `fold(h, w) = mix(h ^ w)` and `mix` the `SplitMix64`
//! step (Steele, Lea and Flood 2014), and a `ChaCha8` generator seeded with it. The words are:
//!
//! | draw | words |
//! |---|---|
//! | latency | 1, endpoint, replica, round, attempt |
//! | coin of a fault | 2, endpoint, replica, round |
//! | coin of slowness alone | 3, endpoint, replica, round |
//! | coin of slowness in a group | 4, FNV-1a of the group's name, round |
//!
//! A coin is a uniform number in [0, 1) that falls when it is below the rate, so two members of a group with
//! different rates are slow together as often as the smaller rate says. These formulas are a promise: another
//! version of this program replays the same seed to the same picture.

use crate::domain::{FaultSwitch, seed};
use crate::profile::{Distribution, FaultKind, Simulation};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};
use std::time::Duration;

/// The 99th percentile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_840_8;

/// What the slow switch adds; see [`FaultSwitch::Slow`].
const SLOW: Duration = Duration::from_millis(400);

/// Which attempt is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The profile's seed.
    pub seed: u64,
    /// The endpoint's place in the profile, from 0.
    pub endpoint: usize,
    /// The replica, from 0.
    pub replica: usize,
    /// The round, from 1.
    pub round: u64,
    /// The attempt within its call; 0 is the primary.
    pub attempt: u64,
}

/// What happens to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// From the request's head to the answer's, or to the fault.
    pub latency: Duration,
    /// What goes wrong.
    pub fault: Option<FaultKind>,
}

/// What happens to this attempt.
#[must_use]
pub fn plan(simulation: &Simulation, at: Draw) -> Plan {
    let latency = latency(simulation, at).saturating_add(slowness(simulation, at));
    Plan { latency, fault: fault(simulation, at) }
}

/// What happens to this attempt under a switch. Draws keep no state, so whatever was switched in between, the
/// profile's own plan is again what it would have been.
#[must_use]
pub fn switched(simulation: &Simulation, at: Draw, switch: FaultSwitch) -> Plan {
    let always = |kind| Plan { fault: Some(kind), ..plan(simulation, at) };
    match switch {
        FaultSwitch::AsWritten => plan(simulation, at),
        FaultSwitch::Healthy => Plan { latency: latency(simulation, at), fault: None },
        FaultSwitch::Slow => Plan { latency: latency(simulation, at).saturating_add(SLOW), fault: None },
        FaultSwitch::Http503 => always(FaultKind::Status(503)),
        FaultSwitch::Reset => always(FaultKind::Reset),
        FaultSwitch::Refuse => always(FaultKind::Refuse),
        FaultSwitch::Hang => always(FaultKind::Hang),
    }
}

/// The law's time, without slowness.
fn latency(simulation: &Simulation, at: Draw) -> Duration {
    let Draw { seed, endpoint, replica, round, attempt } = at;
    let mut rng = generator(seed, &[1, endpoint as u64, replica as u64, round, attempt]);
    sample(&simulation.latency, round, &mut rng)
}

/// The fault that strikes this replica in this round; the same for every attempt on it.
fn fault(simulation: &Simulation, at: Draw) -> Option<FaultKind> {
    let fault = simulation.fail?;
    let words = [2, at.endpoint as u64, at.replica as u64, at.round];
    coin(at.seed, &words, fault.rate).then_some(fault.kind)
}

/// What occasional slowness adds.
fn slowness(simulation: &Simulation, at: Draw) -> Duration {
    let Some(slow) = &simulation.slow else { return Duration::ZERO };
    let rate = f64::from(slow.rate_ppm) / 1e6;
    let struck = match &slow.group {
        Some(group) => coin(at.seed, &[4, fnv1a(group), at.round], rate),
        None => coin(at.seed, &[3, at.endpoint as u64, at.replica as u64, at.round], rate),
    };
    if struck { slow.add } else { Duration::ZERO }
}

fn sample(law: &Distribution, round: u64, rng: &mut ChaCha8Rng) -> Duration {
    match law {
        Distribution::Fixed(time) => *time,
        Distribution::Uniform(from, to) => {
            let (low, high) = (from.min(to), from.max(to));
            let share: f64 = rng.random();
            seconds(low.as_secs_f64() + share * (high.as_secs_f64() - low.as_secs_f64()))
        }
        Distribution::LogNormal { median, p99 } => {
            // ln X ~ N(ln median, sigma), and z(0.99) sigma is the distance of the p99 from the median.
            let sigma = (p99.as_secs_f64() / median.as_secs_f64()).ln() / Z99;
            let z: f64 = StandardNormal.sample(rng);
            if median.is_zero() || !sigma.is_finite() || sigma <= 0.0 {
                return *median;
            }
            seconds(median.as_secs_f64() * (sigma * z).exp())
        }
        Distribution::Bimodal { fast, slow, slow_share } => {
            let share: f64 = rng.random();
            sample(if share < *slow_share { slow } else { fast }, round, rng)
        }
        Distribution::Trace(times) => {
            // Rounds count from 1, so the first round takes the first time.
            let count = (times.len() as u64).max(1);
            let turn = round.saturating_sub(1) % count;
            usize::try_from(turn).ok().and_then(|i| times.get(i)).copied().unwrap_or_default()
        }
    }
}

/// Seconds as a duration: 0 below zero, the longest where it does not fit.
fn seconds(seconds: f64) -> Duration {
    if seconds > 0.0 { Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX) } else { Duration::ZERO }
}

fn coin(seed: u64, words: &[u64], rate: f64) -> bool {
    generator(seed, words).random::<f64>() < rate
}

fn generator(seed: u64, words: &[u64]) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed::key(seed, words))
}

/// FNV-1a, 64 bits.
fn fnv1a(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_reference_value_holds() {
        // FNV-1a of "a": a changed formula would redraw every recorded seed.
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn times_out_of_range_are_cut() {
        assert_eq!(seconds(-1.0), Duration::ZERO);
        assert_eq!(seconds(f64::NAN), Duration::ZERO);
        assert_eq!(seconds(f64::INFINITY), Duration::MAX);
    }
}
