//! What outlives a round: hedge tokens, the recent primaries behind a percentile delay, and the guards of
//! dependencies and hosts.

pub mod backoff;
pub mod breaker;
pub mod courtesy;
pub mod delay;
pub mod guards;
pub mod permits;
pub mod rate;
pub mod tokens;

use super::policy::{CallPlan, HedgePlan, RoundPlan};
use crate::domain::{
    CallSpec, EndpointId, Guards, HedgeContract, HedgeDelay, HedgeSettings, Mode, Round, Settings,
    Suppression,
};
use delay::RecentPrimaries;
use guards::{Entry, LiveGuards, Tolls};
use std::time::Duration;
use tokens::Tokens;

/// What the engine remembers from round to round. Times are from the session's start.
#[derive(Debug)]
pub struct Limits {
    specs: Vec<CallSpec>,
    tokens: Vec<Tokens>,
    recent: Vec<RecentPrimaries>,
    /// Permits, breakers, rates and back-offs.
    pub guards: LiveGuards,
}

impl Limits {
    /// Fresh state for these endpoints behind these guards.
    #[must_use]
    pub fn new(specs: Vec<CallSpec>, guards: &Guards) -> Self {
        let tokens = specs.iter().map(|_| Tokens::default()).collect();
        let recent = specs.iter().map(|_| RecentPrimaries::default()).collect();
        Self { specs, tokens, recent, guards: LiveGuards::new(guards) }
    }

    /// Reserves the primaries of a round that starts now.
    ///
    /// # Errors
    /// When a host would get more attempts than its rate: the moment at which to ask again.
    pub fn reserve(&self, now: Duration) -> Result<Tolls, Duration> {
        self.guards.reserve(self.specs.len(), now)
    }

    /// Resolves the settings for a round that starts now.
    #[must_use]
    pub fn plan(&self, settings: &Settings) -> RoundPlan {
        let optional = self.specs.iter().filter(|s| !s.required).count();
        let (budget, _) = settings.effective_budget();
        let quorum = settings.mode == Mode::Quorum && optional > 0;
        let calls = (0..self.specs.len()).map(|i| self.call(i, settings, budget)).collect();
        RoundPlan {
            mode: settings.mode,
            budget,
            request_budget: settings.request_budget,
            k: quorum.then(|| settings.quorum_of(optional)),
            quorum_fail_fast: settings.quorum_fail_fast,
            calls,
        }
    }

    fn call(&self, index: usize, settings: &Settings, budget: Duration) -> CallPlan {
        let spec = &self.specs[index];
        let hedge = contract(spec, settings).and_then(|h| hedge_plan(spec, &h, &self.recent[index], budget));
        CallPlan { required: spec.required, timeout: spec.timeout, replicas: spec.replicas, hedge }
    }

    /// A primary of this call goes out: `share` hedges more may follow (R28).
    pub fn pay_in(&mut self, call: EndpointId, share: f64) {
        self.tokens.get_mut(call.index()).into_iter().for_each(|tokens| tokens.deposit(share));
    }

    /// Takes what a hedge costs and says where it goes; `next` is the replica whose turn it is. `race`: asked for
    /// explicitly, so the load budget does not apply (R28). Nothing is paid for a hedge that is suppressed.
    ///
    /// # Errors
    /// What is short.
    pub fn hedge(
        &mut self,
        call: EndpointId,
        next: usize,
        race: bool,
        now: Duration,
    ) -> Result<(usize, Entry), Suppression> {
        let tokens = self.tokens.get_mut(call.index()).filter(|_| !race);
        if tokens.as_ref().is_some_and(|tokens| !tokens.ready()) {
            return Err(Suppression::Budget);
        }
        let sent = self.guards.hedge(call, next, now)?;
        if let Some(tokens) = tokens {
            tokens.take();
        }
        Ok(sent)
    }

    /// Learns from a settled round; nothing from one that was given up.
    pub fn learn(&mut self, round: &Round) {
        if !round.counts() {
            return;
        }
        for (call, recent) in round.calls.iter().zip(&mut self.recent) {
            recent.push(round, call);
        }
    }
}

/// By what the endpoint is hedged in this mode (R34a); contrast modes never hedge.
fn contract(spec: &CallSpec, settings: &Settings) -> Option<HedgeSettings> {
    match (spec.hedge, settings.mode) {
        (_, Mode::WaitAll | Mode::FailFast) | (HedgeContract::Off, _) => None,
        (HedgeContract::Own(own), _) => Some(own),
        (HedgeContract::ByMode, mode) => (mode == Mode::Hedge).then_some(settings.hedge),
    }
}

/// R24: a percentile is estimated from recent primaries, at least 1 ms and at most half of the budget.
fn hedge_plan(
    spec: &CallSpec,
    hedge: &HedgeSettings,
    recent: &RecentPrimaries,
    budget: Duration,
) -> Option<HedgePlan> {
    let max = hedge.max_for(spec.replicas);
    if max == 0 {
        return None;
    }
    let (delay, warming) = match hedge.delay {
        HedgeDelay::Fixed(delay) => (delay, None),
        HedgeDelay::Percentile(q) => match recent.delay(q, hedge.on_error, budget) {
            Ok(delay) => (delay, None),
            Err(cause) => (budget / 2, Some(cause)),
        },
    };
    let suppressed = if spec.repeatable { warming } else { Some(Suppression::NotIdempotent) };
    Some(HedgePlan { delay, max, on_error: hedge.on_error, load_budget: hedge.load_budget, suppressed })
}
