//! What hedged calls really did.

use super::HedgeSeen;
use super::lanes::{ENOUGH, contract};
use crate::domain::{CallSpec, HedgeContract, HedgeDelay, Mode};
use crate::whatif::outlook::Question;
use crate::whatif::quantile::Quantile;
use crate::whatif::seen::{Seen, SeenCall};
use crate::whatif::shares::Mean;
use crate::whatif::spread::{Band, Level};
use crate::whatif::survival::{Curve, Observation, Observed};

/// The delay that holds: that of the settings, or where hedge mode is off and endpoints are hedged by contracts of
/// their own, the one that these share.
pub(super) fn held(question: &Question) -> HedgeDelay {
    let settings = &question.settings;
    let own = |spec: &CallSpec| match spec.hedge {
        HedgeContract::Own(own) => contract(spec, own).map(|own| own.delay),
        _ => None,
    };
    let mut own = question.specs.iter().filter_map(own);
    match own.next() {
        Some(first) if settings.mode != Mode::Hedge && own.all(|delay| delay == first) => first,
        _ => settings.hedge.delay,
    }
}

/// The calls that had this delay, once enough hedges were sent for them.
pub(super) fn observed(question: &Question, delay: HedgeDelay) -> Option<HedgeSeen> {
    let budget = question.settings.effective_budget().0;
    let (mut calls, mut hedges) = (0_u64, 0_u64);
    let mut seen: Vec<Observation> = Vec::new();
    let mut by_budget = Mean::default();
    for round in &question.rounds {
        let from = seen.len();
        for call in round.calls.iter().filter(|call| had(question, round, call, delay)) {
            calls += 1;
            hedges += call.hedges.len() as u64;
            seen.extend(round.meant(call, question.now));
        }
        let in_round = seen.get(from..).unwrap_or_default();
        if !in_round.is_empty() {
            by_budget.push(
                in_round.iter().filter(|o| o.what == Observed::Ok && o.time <= budget).count(),
                in_round.len(),
            );
        }
    }
    if hedges < ENOUGH as u64 {
        return None;
    }
    let curve = Curve::of(&seen);
    let band = Band::of(&curve, Level::Ok);
    let cut = seen.iter().any(|o| o.what == Observed::Censored && o.time < budget);
    let (ok_by_budget, interval) = match by_budget.share().filter(|_| !cut) {
        Some(share) => (share.value, share.interval()),
        None => (curve.at(budget).map_or(0.0, |row| row.ok), band.at(budget)),
    };
    let p99 = Quantile::of(&curve, 0.99).time;
    #[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
    let extra_load = hedges as f64 / calls.max(1) as f64;
    Some(HedgeSeen {
        delay,
        calls,
        hedges,
        extra_load,
        ok_by_budget,
        interval,
        p99,
        p99_interval: p99.map(|_| band.quantile(0.99)).unwrap_or_default(),
    })
}

/// Whether a call was to be hedged after this delay. One for which nothing was sent was not.
fn had(question: &Question, round: &Seen, call: &SeenCall, delay: HedgeDelay) -> bool {
    let Some(spec) = question.specs.get(call.endpoint.index()) else { return false };
    let hedged = round.settings.mode == Mode::Hedge || matches!(spec.hedge, HedgeContract::Own(_));
    let settings = contract(spec, round.settings.hedge).filter(|_| hedged);
    settings.is_some_and(|s| s.delay == delay) && call.hedge_delay.is_some() && call.whole.is_some()
}
