//! Stragglers of probe rounds, and what became of them.

use crate::domain::{Call, EndpointId, Late, Outcome, Reason, Round, RoundNo};
use crate::whatif::survival::{Observation, Observed, of_late};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Probe rounds that are waited for, at most. So many never run at once; of a recording that lost lines some would
/// stay for ever.
const OPEN: usize = 64;

/// Calls that were cut and watched past the end of their rounds, by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LateTotal {
    /// They answered.
    pub ok: u64,
    /// They failed.
    pub error: u64,
    /// They were pending for as long as anybody looked.
    pub censored: u64,
}

impl LateTotal {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.ok + self.error + self.censored
    }
}

/// Counts them, and holds back what endpoints' curves are to learn from them.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    pub(super) probes: u64,
    total: LateTotal,
    /// Rounds that count, with the stragglers of which nothing is known yet: what is said of any other round is in no
    /// figure.
    open: BTreeMap<RoundNo, Vec<Straggler>>,
}

/// A call that was cut and is still watched.
#[derive(Debug, Clone, Copy)]
struct Straggler {
    endpoint: EndpointId,
    /// What was seen of its primary attempt so far, where more will be: it has no hedges beside it, from which it
    /// would not be told apart.
    cut: Option<Observation>,
}

/// What a curve learns, and whose.
pub(super) type Learnt = (EndpointId, Observation);

impl Watch {
    /// Takes in a round that counts.
    pub(super) fn round(&mut self, round: &Round) {
        self.probes += u64::from(round.probe.is_some());
    }

    /// Takes in a call of it; whether what was seen of it is held back.
    pub(super) fn call(&mut self, round: &Round, call: &Call, seen: Option<Observation>) -> bool {
        if round.probe.is_none() || call.outcome != Outcome::Missing(Reason::Deadline) {
            return false;
        }
        let cut = seen.filter(|seen| seen.what == Observed::Censored && call.hedges.sent == 0);
        self.open.entry(round.no).or_default().push(Straggler { endpoint: call.endpoint, cut });
        cut.is_some()
    }

    /// Takes in what became of a straggler.
    pub(super) fn late(&mut self, round: RoundNo, late: &Late) -> Option<Learnt> {
        let open = self.open.get_mut(&round)?;
        let place = open.iter().position(|straggler| straggler.endpoint == late.endpoint)?;
        let Straggler { endpoint, cut } = open.swap_remove(place);
        if open.is_empty() {
            self.open.remove(&round);
        }
        let what = of_late(late);
        match what {
            Observed::Ok => self.total.ok += 1,
            Observed::Error => self.total.error += 1,
            Observed::Censored => self.total.censored += 1,
        }
        cut.map(|cut| (endpoint, Observation { time: late.end.max(cut.time), what }))
    }

    /// What was held back of rounds of which nothing more will be told: of too many, or where `all` are over.
    pub(super) fn given_up(&mut self, all: bool) -> Vec<Learnt> {
        let most = if all { 0 } else { OPEN };
        let mut cut = Vec::new();
        while self.open.len() > most
            && let Some((_, stragglers)) = self.open.pop_first()
        {
            cut.extend(stragglers.iter().filter_map(|s| Some((s.endpoint, s.cut?))));
        }
        cut
    }

    /// What is held back of an endpoint: when each of its calls was cut.
    pub(super) fn held(&self, endpoint: EndpointId) -> impl Iterator<Item = Duration> + '_ {
        let stragglers = self.open.values().flatten().filter(move |s| s.endpoint == endpoint);
        stragglers.filter_map(|straggler| Some(straggler.cut?.time))
    }

    /// What is known; `None` where no call was watched to its end.
    pub(super) fn total(&self) -> Option<LateTotal> {
        (self.total.total() > 0).then_some(self.total)
    }
}
