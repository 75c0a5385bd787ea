//! What a shorter budget would have given: recounts of whole rounds, exact and without a model (W3). Pure, in
//! memory that grows with the budgets asked for and never with the rounds.
//!
//! A round answers for a budget up to its *horizon*: the time it was meant to run (its budget; the request budget in
//! the modes that are not cut at the budget), or the earliest instant at which one of its calls was cancelled
//! without having been seen to the end (by a quorum, by fail-fast), whichever is earlier.
//!
//! How long a round was meant to run does not depend on how it went, so one that was meant to run for less simply
//! does not count. That an early quorum ended it does: those left over would be the slow ones. So the rounds of a
//! mode count for a budget only where all of them that were meant to run that long have been seen that long.
//!
//! At a budget `b` a call had come out as it did if that was by `b`, and was cut at `b` (`deadline`) otherwise.
//! Required calls are not cut at the budget but come out as they did (R34), and so do those that were cancelled for
//! a required one's failure: any budget that is not shorter would have ended the round just so. A call that waited
//! for its permit until it was cut waited at every shorter budget (`throttled`).
//!
//! A hedged round answers only for budgets at which it would have been hedged just so (R24). A percentile delay is at
//! most half of the budget, so at a budget below twice the delay it would have been a shorter one: other attempts,
//! other answers. A fixed delay must be below the budget. A call's delay that is not the round's own fixed one may be
//! either (an endpoint may have its own, and a record does not say which), and is taken for a percentile. Where a
//! percentile stood depends on how slow the rounds before were: those left over would be the ones of fast times. So
//! where a round of a mode is left out for that, all of them are; for a fixed delay, which somebody chose, only the
//! round itself is.

use super::seen::{Hedging, Seen, SeenCall};
use super::shares::{Mean, Share};
use crate::domain::{Mode, Outcome, Reason, Round};
use std::ops::Range;
use std::time::Duration;

/// Rounds that make a recount good although others are not in it.
pub(super) const MANY: usize = 20;

/// Folds rounds into what each of some budgets would have given.
#[derive(Debug, Clone)]
pub struct Recount {
    /// Ascending, none twice.
    budgets: Vec<Duration>,
    k: usize,
    required: Vec<bool>,
    rounds: u64,
    /// Per mode, in the order of [`Mode::ALL`], a tally for each budget.
    modes: Vec<Vec<Tally>>,
    /// Answers of the round at hand, at each budget beyond those of the one before: all, and of optional calls.
    answers: Vec<(usize, usize)>,
}

/// The rounds of one mode at one budget.
#[derive(Debug, Clone, Default)]
struct Tally {
    /// Rounds seen for at least that long.
    n: u64,
    /// Rounds meant to run that long of which a call was cancelled unseen before.
    cut_short: u64,
    /// Rounds meant to run that long that would have been hedged otherwise.
    hedged: u64,
    /// Whether those that are not among them are no fair sample.
    biased: bool,
    answered: Mean,
    all: u64,
    at_least_k: u64,
    /// By how much each reason's missing calls are more than at the budget before, so that a call counts in two
    /// places, however many budgets it is missing at.
    missing: [i64; Reason::ALL.len()],
    /// The same of optional calls that are cut.
    pending: i64,
}

/// The rounds of all modes at one budget.
#[derive(Debug, Default)]
struct Sum {
    n: u64,
    answered: Mean,
    all: u64,
    at_least_k: u64,
    missing: [i64; Reason::ALL.len()],
    pending: i64,
}

impl Sum {
    fn add(&mut self, tally: &Tally, running: &Running) {
        self.n += tally.n;
        self.answered.join(&tally.answered);
        self.all += tally.all;
        self.at_least_k += tally.at_least_k;
        self.pending += running.pending;
        for (sum, count) in self.missing.iter_mut().zip(running.missing) {
            *sum += count;
        }
    }
}

/// Missing calls of a mode, from budget to budget.
#[derive(Debug, Clone, Default)]
struct Running {
    missing: [i64; Reason::ALL.len()],
    pending: i64,
}

impl Running {
    fn step(&mut self, tally: &Tally) {
        self.pending += tally.pending;
        for (sum, change) in self.missing.iter_mut().zip(tally.missing) {
            *sum += change;
        }
    }
}

/// What one budget would have given.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetRow {
    /// The budget.
    pub budget: Duration,
    /// Rounds that the row rests on; 0 where nothing is known exactly.
    pub n: u64,
    /// Rounds that say nothing about this budget.
    pub left_out: u64,
    /// Those of them that were meant to run that long and of which a call was cancelled unseen before.
    pub cut_short: u64,
    /// Those that were meant to run that long and would have been hedged otherwise.
    pub hedged: u64,
    /// The recount; `None` where no round can answer.
    pub found: Option<Found>,
}

/// An exact recount.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Mean of the rounds' answered shares, 0 to 1.
    pub completeness: f64,
    /// Its effective sample size, see [`Mean::share`].
    pub sample: f64,
    /// Calls of the rounds.
    pub calls: u64,
    /// Optional calls among them that were still pending.
    pub pending: u64,
    /// Share of the rounds in which every call had answered, 0 to 1.
    pub all: f64,
    /// Share of the rounds in which at least k optional calls had answered, 0 to 1.
    pub at_least_k: f64,
    /// Missing calls by reason, in the order of [`Reason::ALL`], those that occur.
    pub missing: Vec<(Reason, u64)>,
}

impl Recount {
    /// Nothing counted yet, for these budgets in any order. `k` is the number of optional answers asked about;
    /// `required` says of each endpoint in profile order whether it is required.
    #[must_use]
    pub fn new(budgets: &[Duration], k: usize, required: &[bool]) -> Self {
        let mut budgets = budgets.to_vec();
        budgets.sort_unstable();
        budgets.dedup();
        Self {
            modes: vec![vec![Tally::default(); budgets.len()]; Mode::ALL.len()],
            answers: vec![(0, 0); budgets.len()],
            budgets,
            k,
            required: required.to_vec(),
            rounds: 0,
        }
    }

    /// Adds a settled round, unless it does not count.
    pub fn push(&mut self, round: &Round) {
        if round.counts() {
            self.add(&Seen::of(round));
        }
    }

    /// Adds what was seen of a round.
    pub fn add(&mut self, round: &Seen) {
        self.rounds += 1;
        let (limit, horizon, hedging) = (round.limit(), horizon(round, &self.required), Hedging::of(round));
        let meant = self.budgets.partition_point(|&b| b <= limit);
        let otherwise = self.budgets.partition_point(|&b| hedging.differs(b)).min(meant);
        let seen = self.budgets.partition_point(|&b| horizon.is_some_and(|h| b <= h));
        let Some(tallies) = self.modes.get_mut(round.settings.mode as usize) else { return };
        for (tally, &budget) in tallies.iter_mut().zip(&self.budgets).take(otherwise) {
            tally.hedged += 1;
            tally.biased |= hedging.adapts(budget);
        }
        for tally in tallies.iter_mut().take(meant).skip(seen) {
            tally.cut_short += 1;
            tally.biased = true;
        }
        let range = otherwise..seen.max(otherwise);
        count(round, &self.required, &self.budgets, range, tallies, &mut self.answers);
        let calls = round.calls.len();
        let (mut all, mut optional) = (0, 0);
        let answered = tallies.iter_mut().zip(&self.answers).take(seen).skip(otherwise);
        for (tally, &(more, more_optional)) in answered {
            all += more;
            optional += more_optional;
            tally.n += 1;
            tally.answered.push(all, calls);
            tally.all += u64::from(calls > 0 && all == calls);
            tally.at_least_k += u64::from(optional >= self.k);
        }
    }

    /// Rounds that were counted.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// A row for each budget, ascending.
    #[must_use]
    pub fn rows(&self) -> Vec<BudgetRow> {
        let mut running = vec![Running::default(); self.modes.len()];
        let row = |(i, &budget): (usize, &Duration)| {
            let mut sum = Sum::default();
            let (mut cut_short, mut hedged) = (0, 0);
            for (running, tally) in running.iter_mut().zip(self.modes.iter().filter_map(|m| m.get(i))) {
                running.step(tally);
                cut_short += tally.cut_short;
                hedged += tally.hedged;
                if !tally.biased {
                    sum.add(tally, running);
                }
            }
            BudgetRow {
                budget,
                n: sum.n,
                left_out: self.rounds - sum.n,
                cut_short,
                hedged,
                found: found(&sum),
            }
        };
        self.budgets.iter().enumerate().map(row).collect()
    }
}

/// How the calls came out at the budgets of a range: the missing ones go to their tallies; to the places of the
/// budgets at which more answered than at the one before, how many, all and optional calls.
fn count(
    round: &Seen,
    required: &[bool],
    budgets: &[Duration],
    range: Range<usize>,
    tallies: &mut [Tally],
    answers: &mut [(usize, usize)],
) {
    let (from, to) = (range.start, range.end);
    let Some(answers) = answers.get_mut(..to) else { return };
    answers.fill((0, 0));
    for call in &round.calls {
        let required = required.get(call.endpoint.index()).copied().unwrap_or(false);
        let by = if required { 0 } else { budgets.partition_point(|&b| b < call.end) }.clamp(from, to);
        let pending = match fate(call, round.settings.mode, required) {
            Fate::Answer => {
                miss(tallies, from..by, Reason::Deadline);
                if let Some((all, optional)) = answers.get_mut(by) {
                    *all += 1;
                    *optional += usize::from(!required);
                }
                from..by
            }
            Fate::Missing(reason) => {
                miss(tallies, from..by, Reason::Deadline);
                miss(tallies, by..to, reason);
                from..by
            }
            Fate::Always(reason) => {
                miss(tallies, from..to, reason);
                if required { from..from } else { from..to }
            }
        };
        change(tallies, pending, |tally| &mut tally.pending);
    }
}

fn found(sum: &Sum) -> Option<Found> {
    let Share { value: completeness, n: sample } = sum.answered.share()?;
    #[expect(clippy::cast_precision_loss, reason = "counts of rounds, far below 2^52")]
    let of_all = |part: u64| part as f64 / sum.n as f64;
    let count = |count: i64| u64::try_from(count).unwrap_or(0);
    let missing = Reason::ALL.iter().map(|&reason| (reason, count(sum.missing[reason as usize])));
    Some(Found {
        completeness,
        sample,
        calls: sum.answered.calls(),
        pending: count(sum.pending),
        all: of_all(sum.all),
        at_least_k: of_all(sum.at_least_k),
        missing: missing.filter(|&(_, count)| count > 0).collect(),
    })
}

/// Up to when every call was watched. `None` where a required one was not seen to its end: no budget would have cut
/// it, so none is answered.
pub(super) fn horizon(round: &Seen, required: &[bool]) -> Option<Duration> {
    let fail_fast = round.settings.mode == Mode::FailFast;
    let mut horizon = round.limit();
    for call in &round.calls {
        let required = required.get(call.endpoint.index()).copied().unwrap_or(false);
        let unseen = match call.outcome {
            Outcome::NotNeeded | Outcome::Missing(Reason::QuorumImpossible) => true,
            Outcome::Missing(Reason::SiblingFailed) => fail_fast,
            // A required call is cut there at every budget.
            Outcome::Missing(Reason::RequestDeadline) => !required,
            _ => false,
        };
        if unseen && required {
            return None;
        }
        if unseen {
            horizon = horizon.min(call.end);
        }
    }
    Some(horizon)
}

/// What a call comes to at the budgets within its round's horizon.
enum Fate {
    /// It answers at its end.
    Answer,
    /// It is missing for this reason from its end on, and cut before.
    Missing(Reason),
    /// It is missing for this reason at every budget.
    Always(Reason),
}

fn fate(call: &SeenCall, mode: Mode, required: bool) -> Fate {
    let reason = match call.outcome {
        Outcome::Ok => return Fate::Answer,
        Outcome::NotNeeded => return Fate::Always(Reason::Deadline),
        Outcome::Missing(reason) => reason,
    };
    // Pending for as long as it was watched.
    let pending = match reason {
        Reason::Deadline | Reason::QuorumImpossible | Reason::RequestDeadline => true,
        Reason::SiblingFailed => mode == Mode::FailFast,
        _ => false,
    };
    match reason {
        _ if required => Fate::Always(reason),
        Reason::Throttled => Fate::Always(Reason::Throttled),
        _ if pending => Fate::Always(Reason::Deadline),
        _ => Fate::Missing(reason),
    }
}

fn miss(tallies: &mut [Tally], budgets: Range<usize>, reason: Reason) {
    change(tallies, budgets, |tally| &mut tally.missing[reason as usize]);
}

/// One more from the first of the budgets on, and one less after the last.
fn change(tallies: &mut [Tally], budgets: Range<usize>, count: impl Fn(&mut Tally) -> &mut i64) {
    if budgets.is_empty() {
        return;
    }
    if let Some(tally) = tallies.get_mut(budgets.start) {
        *count(tally) += 1;
    }
    if let Some(tally) = tallies.get_mut(budgets.end) {
        *count(tally) -= 1;
    }
}
