//! The endpoints whose calls may be hedged, and what was seen of each: what the model is fed with, and its means over
//! their calls.

use super::model::{Law, Plan, first};
use super::steps::{Steps, nanos, time};
use super::{HedgeRow, HedgeStatus, LEAST, percentile};
use crate::domain::{CallSpec, HedgeContract, HedgeDelay, HedgeSettings, Outcome};
use crate::whatif::outlook::Question;
use crate::whatif::seen::{Seen, SeenCall};
use crate::whatif::survival::{Curve, EPSILON, Grade, Observation, Observed};
use std::time::Duration;

/// So many real hedges tell more of the next one than the primaries do.
pub(super) const ENOUGH: usize = 30;

/// Endpoints with at most one call in so many change little.
const HARDLY: usize = 50;

/// With so many answers the rest changes little.
const NEARLY_ALL: f64 = 0.98;

/// An endpoint whose calls may be hedged.
pub(super) struct Lane {
    /// By what it is hedged, where it is.
    pub settings: HedgeSettings,
    pub replicas: usize,
    /// Its primary attempts, as the curve of an endpoint has them.
    curve: Curve,
    primary: Steps,
    /// Its hedges from their own start, where enough were seen.
    hedge: Option<Steps>,
    /// Its own timeout.
    limit: f64,
}

/// All of them.
#[derive(Default)]
pub(super) struct Lanes {
    each: Vec<Lane>,
    /// Hedges that were really sent.
    pub real: u64,
    /// Primary attempts that were seen to their end.
    pub events: usize,
    /// Those that were cut by a quorum or by a winner.
    losers: usize,
    /// When each primary was last seen, ascending.
    times: Vec<Duration>,
    budget: Duration,
}

/// How a call of this endpoint is hedged where it is; `None` where it never is.
pub(super) fn contract(spec: &CallSpec, by_mode: HedgeSettings) -> Option<HedgeSettings> {
    let settings = match spec.hedge {
        HedgeContract::ByMode => by_mode,
        HedgeContract::Own(own) => own,
        HedgeContract::Off => return None,
    };
    (spec.repeatable && settings.max_for(spec.replicas) > 0).then_some(settings)
}

/// What is gathered of an endpoint.
#[derive(Default)]
struct Gathered {
    primaries: Vec<Observation>,
    hedges: Vec<Observation>,
}

impl Lanes {
    /// `None` where no call may be hedged.
    pub fn of(question: &Question) -> Option<Self> {
        let contracts: Vec<_> =
            question.specs.iter().map(|spec| contract(spec, question.settings.hedge)).collect();
        let mut all = Self { budget: question.settings.effective_budget().0, ..Self::default() };
        let mut gathered: Vec<Option<Gathered>> =
            contracts.iter().map(|contract| contract.map(|_| Gathered::default())).collect();
        for round in &question.rounds {
            for call in &round.calls {
                if let Some(Some(gathered)) = gathered.get_mut(call.endpoint.index()) {
                    all.take(round, call, question.now, gathered);
                }
            }
        }
        let endpoints = question.specs.iter().zip(contracts).zip(gathered);
        let lanes =
            endpoints.filter_map(|((spec, settings), gathered)| Some(Lane::of(spec, settings?, &gathered?)));
        all.each = lanes.collect();
        all.times.sort_unstable();
        (!all.each.is_empty()).then_some(all)
    }

    fn take(&mut self, round: &Seen, call: &SeenCall, now: Duration, gathered: &mut Gathered) {
        let hedges = call
            .hedges
            .iter()
            .map(|&(start, seen)| Observation { time: seen.time.saturating_sub(start), what: seen.what });
        gathered.hedges.extend(hedges);
        self.real += call.hedges.len() as u64;
        let Some(primary) = round.primary(call, now) else { return };
        gathered.primaries.push(primary);
        self.times.push(primary.time);
        let cut = primary.what == Observed::Censored;
        self.events += usize::from(!cut);
        self.losers += usize::from(cut && matches!(call.outcome, Outcome::NotNeeded | Outcome::Ok));
    }

    /// Whether more than 5 % of the primaries were cut by a quorum or a winner (W1).
    pub fn assumes_independence(&self) -> bool {
        let primaries: usize = self.each.iter().map(|lane| lane.curve.n()).sum();
        self.losers.saturating_mul(20) > primaries
    }

    /// Whether there is anything to tell.
    pub fn is_empty(&self) -> bool {
        self.each.iter().all(|lane| lane.curve.n() == 0)
    }

    /// What this delay means for a lane.
    fn plan(&self, lane: &Lane, delay: Option<HedgeDelay>) -> Plan {
        let Some(delay) = delay else { return Plan::Alone };
        let settings = HedgeSettings { delay, ..lane.settings };
        if delay.is_race() {
            return Plan::Race(settings.max_for(lane.replicas));
        }
        Plan::After { delay: nanos(self.delay(lane, delay)), on_error: settings.on_error }
    }

    /// The same as a time (R24).
    fn delay(&self, lane: &Lane, delay: HedgeDelay) -> Duration {
        match delay {
            HedgeDelay::Fixed(delay) => delay,
            HedgeDelay::Percentile(q) => percentile(&lane.curve, q, lane.settings.on_error, self.budget),
        }
    }

    /// The mean of that time over the endpoints.
    pub fn mean_delay(&self, delay: HedgeDelay) -> Duration {
        let sum: Duration =
            self.each.iter().fold(Duration::ZERO, |sum, lane| sum.saturating_add(self.delay(lane, delay)));
        sum / u32::try_from(self.each.len()).unwrap_or(u32::MAX).max(1)
    }

    /// One row of the study.
    pub fn row(&self, delay: Option<HedgeDelay>, budget: Duration) -> HedgeRow {
        let hedged = self.hedged(delay);
        let grade = self.grade_at(&hedged, budget);
        let p99 = hedged.quantile(0.99).map(|p99| (p99, self.grade().max(Grade::of(self.at_risk(p99)))));
        let p99 = p99.filter(|(_, grade)| *grade != Grade::None);
        let p99_thin = p99.is_some_and(|(_, grade)| grade == Grade::Thin);
        let p99 = p99.map(|(p99, _)| p99);
        let known = hedged.is_known(budget) && p99.is_none_or(|p99| hedged.is_known(p99));
        HedgeRow {
            delay,
            time: delay.map(|delay| self.mean_delay(delay)),
            extra_load: hedged.extra_load(),
            ok_by_budget: (grade != Grade::None).then(|| hedged.ok(nanos(budget))),
            thin: grade == Grade::Thin,
            p99,
            p99_thin,
            status: if known { HedgeStatus::Model } else { HedgeStatus::Extrapolated },
        }
    }

    /// The smallest fixed delay that costs no more than this, where a call is hedged once and it buys anything: where
    /// more calls answer by the budget, or 99 % of them earlier. Within the bounds of a delay (R24).
    pub fn best(&self, load_budget: f64) -> Option<Duration> {
        let once = |lane: &Lane| {
            let settings = HedgeSettings { delay: HedgeDelay::Fixed(LEAST), ..lane.settings };
            settings.max_for(lane.replicas) == 1
        };
        if !self.each.iter().all(once) {
            return None;
        }
        let hedged = |delay| self.hedged(Some(HedgeDelay::Fixed(delay)));
        // The load is a step function of the delay as the laws are: the smallest delay is found like a quantile.
        let spared = |delay| 1.0 - hedged(time(delay)).extra_load();
        let best = time(first(1.0 - load_budget - EPSILON, nanos(self.budget), 0.5, spared)?).max(LEAST);
        let (without, with) =
            (self.row(None, self.budget), self.row(Some(HedgeDelay::Fixed(best)), self.budget));
        let earlier = match (with.p99, without.p99) {
            (Some(with), Some(without)) => with < without,
            (with, without) => with.is_some() && without.is_none(),
        };
        let buys = with.ok_by_budget? > without.ok_by_budget? + 1e-9 || earlier;
        (best < self.budget && buys).then_some(best)
    }

    /// How many calls the endpoints' laws rest on (W6): the worst of them, but for endpoints of hardly any calls.
    pub fn grade(&self) -> Grade {
        let all: usize = self.each.iter().map(|lane| lane.curve.n()).sum();
        let matters = |grade: &Grade| {
            let calls = self.each.iter().map(|lane| lane.curve.n()).filter(|&n| Grade::of(n) >= *grade);
            calls.sum::<usize>().saturating_mul(HARDLY) > all
        };
        [Grade::None, Grade::Thin].into_iter().find(matters).unwrap_or(Grade::Solid)
    }

    /// Primaries that were pending and watched just before `t`.
    fn at_risk(&self, t: Duration) -> usize {
        self.times.len() - self.times.partition_point(|&time| time < t)
    }

    /// How good a share at `t` is. Up to the first call that was cut it is a recount. Beyond, few may be at risk only
    /// since nearly all have answered: where 0.98 had while there were more, what the others do changes little.
    fn grade_at(&self, hedged: &Hedged<'_>, t: Duration) -> Grade {
        let cut = self.each.iter().filter_map(|lane| lane.curve.first_censored()).min();
        if cut.is_none_or(|cut| t <= cut) {
            return self.grade();
        }
        let last = |at_risk: usize| self.times.len().checked_sub(at_risk).and_then(|i| self.times.get(i));
        let good = |at_risk| last(at_risk).is_some_and(|&at| t <= at || hedged.ok(nanos(at)) >= NEARLY_ALL);
        let at_t = if good(20) {
            Grade::Solid
        } else if good(5) {
            Grade::Thin
        } else {
            Grade::None
        };
        self.grade().max(at_t)
    }

    fn hedged(&self, delay: Option<HedgeDelay>) -> Hedged<'_> {
        #[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
        let weight = |lane: &Lane| lane.curve.n() as f64;
        let sum: f64 = self.each.iter().map(weight).sum();
        let sent = self.each.iter().filter(|lane| lane.curve.n() > 0);
        Hedged(sent.map(|lane| (lane, self.plan(lane, delay), weight(lane) / sum)).collect())
    }
}

/// The lanes that sent anything, each with its plan and its share of the calls.
pub(super) struct Hedged<'a>(Vec<(&'a Lane, Plan, f64)>);

impl Hedged<'_> {
    fn mean(&self, each: impl Fn(&Lane, Plan) -> f64) -> f64 {
        self.0.iter().map(|&(lane, plan, weight)| weight * each(lane, plan)).sum()
    }

    /// Hedges by primaries.
    pub fn extra_load(&self) -> f64 {
        self.mean(|lane, plan| plan.extra_load(&lane.primary, lane.limit))
    }

    /// Share of the calls that have answered by `t`.
    pub fn ok(&self, t: f64) -> f64 {
        self.mean(|lane, plan| plan.ok(&lane.primary, lane.replica(), lane.limit, t)).min(1.0)
    }

    /// The smallest time by which the share `q` has answered.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let last = self.0.iter().map(|(lane, plan, _)| lane.last(*plan)).fold(0.0, f64::max);
        first(q - EPSILON, last, 0.5, |t| self.ok(t)).map(time)
    }

    /// Whether what is said of `t` rests on what was seen alone.
    pub fn is_known(&self, t: Duration) -> bool {
        self.0.iter().all(|(lane, plan, _)| lane.is_known(*plan, nanos(t)))
    }
}

impl Lane {
    fn of(spec: &CallSpec, settings: HedgeSettings, gathered: &Gathered) -> Self {
        let curve = Curve::of(&gathered.primaries);
        let hedge = (gathered.hedges.len() >= ENOUGH).then(|| Steps::of(&Curve::of(&gathered.hedges)));
        Self {
            settings,
            replicas: spec.replicas,
            primary: Steps::of(&curve),
            curve,
            hedge,
            limit: spec.timeout.map_or(f64::INFINITY, nanos),
        }
    }

    /// How a hedge does: as the real ones, else as the primaries.
    fn replica(&self) -> &Steps {
        self.hedge.as_ref().unwrap_or(&self.primary)
    }

    /// From when on nothing more answers.
    fn last(&self, plan: Plan) -> f64 {
        let hedge = match plan {
            Plan::Alone => 0.0,
            Plan::Race(_) => self.replica().last(),
            Plan::After { delay, .. } => delay + self.replica().last(),
        };
        self.primary.last().max(hedge)
    }

    fn is_known(&self, plan: Plan, t: f64) -> bool {
        let t = t.min(self.limit);
        let earliest = match plan {
            Plan::Alone => t,
            Plan::Race(_) => 0.0,
            Plan::After { delay, on_error } => {
                let error = self.primary.errors().first().map(|&(at, _)| at).filter(|_| on_error);
                error.map_or(delay, |at| at.min(delay))
            }
        };
        self.primary.is_known(t) && (t <= earliest || self.replica().is_known(t - earliest))
    }
}
