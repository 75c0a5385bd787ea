//! What is known at each budget: the exact recount, and from its end on the stragglers that were watched longer.

use super::BudgetPoint;
use crate::domain::{Mode, Outcome, Reason};
use crate::whatif::outlook::{Question, Status};
use crate::whatif::recount::{BudgetRow, Found, MANY, Recount, horizon};
use crate::whatif::seen::Seen;
use crate::whatif::shares::Share;
use crate::whatif::spread::{Level, log_log, variances};
use crate::whatif::survival::{Curve, Grade, Observation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Rounds under which a recount of a part of them is no number (W6).
const FEW: u64 = 5;

/// A share of the calls that may still be pending where what no budget can buy is told.
const UNSEEN: f64 = 0.01;

/// What rounding leaves of no calls at all.
const NOTHING: f64 = 1e-9;

/// A share of the calls that may be cut by a quorum before it is said what that assumes (W1).
const CUT_SHORT: f64 = 0.05;

/// Everything that budgets are read from.
pub(super) struct Known<'q> {
    question: &'q Question,
    required: Vec<bool>,
    /// Of the budgets that were asked for.
    rows: Vec<BudgetRow>,
    /// The last exact one, where there is any.
    last: Option<BudgetRow>,
    base: Base,
    tail: Tail,
    /// Rounds of the next minute.
    minute: f64,
}

/// Where the exact part ends.
struct Base {
    /// The budget; `None` where nothing is exact.
    until: Option<Duration>,
    /// Mean of the answered shares there.
    ok: f64,
    /// Share of the calls that are optional and pending there.
    pending: f64,
    /// Rounds that count there.
    rounds: f64,
    /// Their calls.
    calls: f64,
    /// To how many independent calls they amount.
    sample: f64,
}

/// Calls that were watched beyond it.
struct Tail {
    curve: Curve,
    /// At the curve's rows, of the share answered.
    variances: Vec<f64>,
    /// When each was last seen, ascending.
    times: Vec<Duration>,
    /// Until when there are enough of them for a number.
    until: Option<Duration>,
}

/// The share of the calls that has answered, and its variance.
struct Estimate {
    value: f64,
    variance: f64,
    at_risk: usize,
}

impl<'q> Known<'q> {
    /// Looks at the rounds for these budgets.
    pub(super) fn of(question: &'q Question, budgets: &[Duration]) -> Self {
        let required: Vec<bool> = question.specs.iter().map(|spec| spec.required).collect();
        let optional = required.iter().filter(|required| !**required).count();
        let ends = ends(&question.rounds, &required);
        let all: Vec<Duration> = budgets.iter().chain(&ends).copied().collect();
        let mut recount = Recount::new(&all, question.settings.quorum_of(optional), &required);
        question.rounds.iter().for_each(|round| recount.add(round));
        let rows = recount.rows();
        let mut exact = rows.iter().rev().filter(|row| ends.contains(&row.budget) && is_good(row));
        let exact = exact.find_map(|row| Some((row, row.found.as_ref()?)));
        let last = exact.map(|(row, _)| row.clone());
        let base = match exact {
            Some((row, found)) => Base::of(row, found),
            None => Base::nothing(question, &required),
        };
        let tail = Tail::of(question, &required, base.until);
        let asked: BTreeSet<Duration> = budgets.iter().copied().collect();
        Self {
            minute: question.rounds_a_minute(),
            rows: rows.into_iter().filter(|row| asked.contains(&row.budget)).collect(),
            question,
            required,
            last,
            base,
            tail,
        }
    }

    pub(super) const fn exact_until(&self) -> Option<Duration> {
        self.base.until
    }

    /// The largest budget with figures of its own.
    pub(super) fn seen_until(&self) -> Option<Duration> {
        self.base.until.max(self.tail.until)
    }

    pub(super) fn errors(&self) -> Option<f64> {
        let (low, high) = self.beyond();
        (!self.question.rounds.is_empty() && high - low <= UNSEEN).then(|| (1.0 - high).clamp(0.0, 1.0))
    }

    pub(super) fn assumes_independence(&self) -> bool {
        let (mut all, mut cut) = (0_u32, 0_u32);
        for call in self.question.rounds.iter().flat_map(|round| &round.calls) {
            if !self.is_required(call.endpoint.index()) {
                let reason = call.outcome.reason();
                all = all.saturating_add(1);
                let by_quorum =
                    call.outcome == Outcome::NotNeeded || reason == Some(Reason::QuorumImpossible);
                cut = cut.saturating_add(u32::from(by_quorum));
            }
        }
        f64::from(cut) > f64::from(all) * CUT_SHORT
    }

    pub(super) fn points(&self) -> Vec<BudgetPoint> {
        let unknown = self.rows.iter().filter(|row| !is_good(row) && self.is_below(row.budget));
        let unknown: Vec<Duration> = unknown.map(|row| row.budget).collect();
        let low: BTreeMap<Duration, f64> = unknown.iter().copied().zip(self.answered(&unknown)).collect();
        self.rows.iter().map(|row| self.point(row, low.get(&row.budget).copied())).collect()
    }

    /// What is known at a budget; `low`: what had answered by then, of one below the exact ones.
    fn point(&self, row: &BudgetRow, low: Option<f64>) -> BudgetPoint {
        let below = self.is_below(row.budget);
        let exact = || row.found.as_ref().map(|found| self.exact(row, found));
        let good = is_good(row).then(exact).flatten();
        let beyond = || if below { None } else { self.estimated(row.budget) };
        let bounded = || {
            let bounds = low.map_or_else(|| self.beyond(), |low| (low.min(self.base.ok), self.base.ok));
            BudgetPoint { bounds: Some(bounds), ..self.bare(row.budget, Status::Bounded) }
        };
        if self.question.rounds.is_empty() {
            return self.bare(row.budget, Status::NotObserved);
        }
        let carried = || if below { None } else { self.carried(row.budget) };
        let few = || if below || row.n < FEW { None } else { exact() };
        good.or_else(beyond).or_else(carried).or_else(few).unwrap_or_else(bounded)
    }

    /// What is known where the data end, at a budget beyond them, if nothing was left to come there.
    fn carried(&self, budget: Duration) -> Option<BudgetPoint> {
        let (low, high) = self.beyond();
        if high - low > NOTHING {
            return None;
        }
        let exact = || self.last.as_ref().and_then(|row| Some(self.exact(row, row.found.as_ref()?)));
        let point = if self.base.pending > 0.0 { self.estimated(self.tail.until?) } else { exact() }?;
        Some(BudgetPoint { budget, ..point })
    }

    fn bare(&self, budget: Duration, status: Status) -> BudgetPoint {
        BudgetPoint {
            budget,
            status,
            n: self.question.rounds.len() as u64,
            at_risk: if self.is_below(budget) { 0 } else { self.tail.at_risk(budget) },
            completeness: None,
            interval: None,
            next_minute: None,
            bounds: None,
            all: None,
            at_least_k: None,
            missing: Vec::new(),
        }
    }

    fn exact(&self, row: &BudgetRow, found: &Found) -> BudgetPoint {
        let share = Share { value: found.completeness, n: found.sample };
        let next = self.minute * found.sample / float(row.n);
        BudgetPoint {
            n: row.n,
            at_risk: usize::try_from(found.pending).unwrap_or(usize::MAX),
            completeness: Some(share.value),
            interval: Some(share.interval()),
            next_minute: Some(share.ahead(next).interval()),
            all: Some(found.all),
            at_least_k: Some(found.at_least_k),
            missing: found.missing.clone(),
            ..self.bare(row.budget, Status::Exact)
        }
    }

    fn estimated(&self, budget: Duration) -> Option<BudgetPoint> {
        let Estimate { value, variance, at_risk } = self.base.and(&self.tail, budget);
        let status = match Grade::of(at_risk) {
            Grade::Solid => Status::Estimated,
            Grade::Thin => Status::Thin,
            Grade::None => return None,
        };
        let by_variance = Share::with_variance(value, variance);
        let known = self.base.sample > 0.0;
        let interval = match by_variance {
            Some(_) if known => log_log(value, variance),
            _ => Share { value, n: self.base.sample }.interval(),
        };
        let share = by_variance.filter(|_| known).unwrap_or(Share { value, n: self.base.sample });
        let next = self.minute * self.base.sample / self.base.rounds.max(1.0);
        Some(BudgetPoint {
            at_risk,
            completeness: Some(value),
            interval: Some(interval),
            next_minute: Some(share.ahead(next).interval()),
            ..self.bare(budget, status)
        })
    }

    /// What is answered at least and at most at budgets of which nothing more is known.
    fn beyond(&self) -> (f64, f64) {
        let row = self.tail.until.and_then(|until| self.tail.curve.at(until));
        let (ok, error) = row.map_or((0.0, 0.0), |row| (row.ok, row.error));
        let at = |share: f64| self.base.at(share);
        (at(ok), at(1.0 - error))
    }

    fn is_below(&self, budget: Duration) -> bool {
        self.base.until.is_some_and(|until| budget <= until)
    }

    fn is_required(&self, endpoint: usize) -> bool {
        self.required.get(endpoint).copied().unwrap_or(false)
    }

    /// Share of all calls that had answered by each of these budgets, which ascend.
    fn answered(&self, budgets: &[Duration]) -> Vec<f64> {
        if budgets.is_empty() {
            return Vec::new();
        }
        let mut counts = vec![0_u64; budgets.len()];
        let mut calls = 0;
        for call in self.question.rounds.iter().flat_map(|round| &round.calls) {
            calls += 1;
            let required = self.is_required(call.endpoint.index());
            let by = if required { 0 } else { budgets.partition_point(|&b| b < call.end) };
            if let Some(count) = counts.get_mut(by).filter(|_| call.outcome == Outcome::Ok) {
                *count += 1;
            }
        }
        let sums = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(share(*sum, calls))
        });
        sums.collect()
    }
}

/// Where exact recounts may end: at the horizons of rounds, of which few are enough.
fn ends(rounds: &[Arc<Seen>], required: &[bool]) -> BTreeSet<Duration> {
    let of_mode = rounds.iter().filter_map(|r| Some((r.settings.mode, horizon(r, required)?)));
    let mut all: Vec<_> = of_mode.collect();
    all.sort_unstable_by_key(|&(mode, end)| (std::cmp::Reverse(end), mode));
    let every = all.iter().skip(MANY - 1).step_by(MANY).chain(all.last()).map(|&(_, end)| end);
    let mut ends: BTreeSet<Duration> = every.collect();
    // A quorum's earliest end is where its whole mode ends.
    for &mode in Mode::ALL {
        ends.extend(all.iter().rev().find(|of| of.0 == mode).map(|of| of.1));
    }
    ends
}

fn is_good(row: &BudgetRow) -> bool {
    row.n > 0 && (row.left_out == 0 || row.n >= MANY as u64)
}

impl Base {
    fn of(row: &BudgetRow, found: &Found) -> Self {
        Self {
            until: Some(row.budget),
            ok: found.completeness,
            pending: share(found.pending, found.calls).min(1.0 - found.completeness),
            rounds: float(row.n),
            calls: float(found.calls),
            sample: found.sample,
        }
    }

    /// Nothing is exact: required calls are as they are, optional ones were all pending at the start. No round tells
    /// how alike its calls are, so they are taken as all alike.
    fn nothing(question: &Question, required: &[bool]) -> Self {
        let (mut calls, mut ok, mut sent) = (0, 0, 0);
        for call in question.rounds.iter().flat_map(|round| &round.calls) {
            let required = required.get(call.endpoint.index()).copied().unwrap_or(false);
            calls += 1;
            ok += u64::from(required && call.outcome == Outcome::Ok);
            sent += u64::from(!required && call.whole.is_some());
        }
        let rounds = float(question.rounds.len() as u64);
        Self {
            until: None,
            ok: share(ok, calls),
            pending: share(sent, calls),
            rounds,
            calls: float(calls),
            sample: Share { value: 0.0, n: rounds }.by_rounds().n,
        }
    }

    /// The answered share once this share of what was pending has answered.
    fn at(&self, of_pending: f64) -> f64 {
        self.pending.mul_add(of_pending, self.ok).clamp(0.0, 1.0)
    }

    /// The estimate at a budget beyond: `E + P G` with `E` answered and `P` pending at the end of the exact part, as
    /// counts of `n` calls, and `G` of those pending answered since. By the delta method its variance is
    /// `(E(1-E) + G^2 P(1-P) - 2 G E P)/n + P^2 Var G`, here with the effective size for `n`.
    fn and(&self, tail: &Tail, budget: Duration) -> Estimate {
        let (of_pending, variance) = tail.at(budget);
        let (ok, pending) = (self.ok, self.pending);
        let counted = ok * (1.0 - ok) + of_pending * of_pending * pending * (1.0 - pending)
            - 2.0 * of_pending * ok * pending;
        let alike = if self.sample > 0.0 { (self.calls / self.sample).max(1.0) } else { 1.0 };
        let since = pending * pending * variance * alike;
        let variance = if self.sample > 0.0 { counted.max(0.0) / self.sample + since } else { 0.0 };
        Estimate { value: self.at(of_pending), variance, at_risk: tail.at_risk(budget) }
    }
}

impl Tail {
    fn of(question: &Question, required: &[bool], after: Option<Duration>) -> Self {
        let mut seen: Vec<Observation> = Vec::new();
        for round in &question.rounds {
            let optional =
                round.calls.iter().filter(|call| !required.get(call.endpoint.index()).is_some_and(|r| *r));
            let watched = optional.filter_map(|call| round.meant(call, question.now));
            seen.extend(watched.filter(|seen| after.is_none_or(|after| seen.time > after)));
        }
        seen.sort_unstable_by_key(|seen| seen.time);
        let curve = Curve::of_sorted(&seen);
        let times: Vec<Duration> = seen.iter().map(|seen| seen.time).collect();
        let until =
            times.iter().rev().find(|&&time| Grade::of(at_risk(&times, time)) != Grade::None).copied();
        Self { variances: variances(&curve, Level::Ok), curve, times, until }
    }

    fn at_risk(&self, budget: Duration) -> usize {
        at_risk(&self.times, budget)
    }

    /// The share answered, and its variance as of independent calls.
    fn at(&self, budget: Duration) -> (f64, f64) {
        let after = self.curve.rows().partition_point(|row| row.time <= budget);
        let last = after.checked_sub(1);
        let row = last.and_then(|last| Some((self.curve.rows().get(last)?.ok, *self.variances.get(last)?)));
        row.unwrap_or_default()
    }
}

fn at_risk(ascending: &[Duration], at: Duration) -> usize {
    ascending.len() - ascending.partition_point(|&time| time < at)
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls and rounds, far below 2^52")]
const fn float(count: u64) -> f64 {
    count as f64
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}
