//! The sentences, each from what it rests on; `None` where that does not carry it.

use super::Sentence;
use crate::domain::numbers::{delay, ms, setting_ms, share_percent};
use crate::domain::{HedgeDelay, Mode, Outcome, Variant};
use crate::whatif::budget::BudgetPoint;
use crate::whatif::hedge::{self, HedgeStatus};
use crate::whatif::outlook::{Outlook, Question, Status};
use crate::whatif::shares::{Mean, Share};
use crate::whatif::survival::Observed;

/// A difference of completeness that is worth a sentence.
const WORTH: f64 = 0.005;

/// One that nobody would miss.
const NOTHING: f64 = 0.002;

/// Between a quorum of whole rounds and one of independent calls, from which on it may have been called correlated.
const APART: f64 = 0.02 - 1e-9;

/// The part of what a larger budget can buy that is bought cheaply.
const MOST: f64 = 0.9;

/// The share of the budget that must be saved to be worth a sentence.
const SAVED: u32 = 10;

/// Answered shares that people ask for.
const TARGETS: [f64; 2] = [0.95, 0.99];

/// Missing calls under which nobody is blamed.
const BLAMED: u64 = 20;

/// What is looked at.
pub(super) struct View<'a> {
    question: &'a Question,
    outlook: &'a Outlook,
    /// The budget that holds.
    now: Option<&'a BudgetPoint>,
}

impl<'a> View<'a> {
    pub(super) fn of(question: &'a Question, outlook: &'a Outlook) -> Self {
        let now = outlook.budgets.points.iter().find(|point| point.budget == outlook.budget);
        Self { question, outlook, now }
    }

    /// Whether rounds end at the budget that holds, or once all calls are out. A quorum, a failure or the last call
    /// ends them otherwise, and where two budgets take turns neither is the one that is looked at.
    pub(super) fn is_cut_at_budget(&self) -> bool {
        !self.takes_turns() && self.question.settings.end_at_budget()
    }

    /// Whether rounds have two budgets in turn.
    fn takes_turns(&self) -> bool {
        self.question.settings.ab.is_some_and(|ab| matches!(ab.a, Variant::Budget(_)))
    }

    /// Budgets above the one that holds, with what they answer.
    fn above(&self) -> impl Iterator<Item = (&'a BudgetPoint, f64)> + '_ {
        let points = self.outlook.budgets.points.iter().filter(|point| point.budget > self.outlook.budget);
        points.filter_map(|point| Some((point, point.completeness?)))
    }

    /// A larger budget that buys much: the smallest with most of what any can buy.
    pub(super) fn larger(&self) -> Option<Sentence> {
        let now = self.now?;
        let before = now.completeness?;
        let best = |thin: bool| {
            let points = || self.above().filter(|(point, _)| thin || point.status != Status::Thin);
            let most =
                points().map(|(_, share)| share - before).reduce(f64::max).filter(|most| *most >= WORTH)?;
            points().find(|(_, share)| share - before >= WORTH.max(most * MOST))
        };
        let (point, share) = best(false).or_else(|| best(true))?;
        let more = point.budget.saturating_sub(now.budget);
        Some(
            Sentence::default()
                .strong(setting_ms(point.budget))
                .plain(" would answer ")
                .strong(share_percent(share))
                .plain(format!(" ({}) instead of {}: ", self.sure(point), share_percent(before)))
                .strong(format!("{} for {}", points(share - before), setting_ms(more)))
                .plain("."),
        )
    }

    /// A smaller budget that loses next to nothing.
    pub(super) fn smaller(&self) -> Option<Sentence> {
        let now = self.now.filter(|now| now.status == Status::Exact)?;
        let before = now.completeness.filter(|before| *before > 0.0)?;
        let enough = |point: &&BudgetPoint| {
            let same = point.status == Status::Exact && point.n == now.n;
            same && point.completeness.is_some_and(|share| before - share <= NOTHING)
        };
        let point = self.outlook.budgets.points.iter().find(enough)?;
        let less = now.budget.saturating_sub(point.budget);
        if less < now.budget / SAVED || less.is_zero() {
            return None;
        }
        let share = point.completeness?;
        let price = if share < before { points(before - share) } else { "nothing".to_owned() };
        Some(
            Sentence::default()
                .strong(setting_ms(point.budget))
                .plain(format!(
                    " would answer {} ({}) instead of {}: ",
                    share_percent(share),
                    self.sure(point),
                    share_percent(before)
                ))
                .strong(format!("{} less for {price}", setting_ms(less)))
                .plain("."),
        )
    }

    /// That nothing is seen above, and how it could be.
    pub(super) fn censored(&self) -> Option<Sentence> {
        if self.above().next().is_some() {
            return None;
        }
        let points = || self.outlook.budgets.points.iter();
        let bounds = points().rev().find_map(|point| point.bounds);
        let (low, high) = bounds.filter(|(low, high)| high - low >= WORTH)?;
        // What was seen ends with the last budget that has a number.
        let mut known = points().filter(|point| point.completeness.is_some()).map(|point| point.budget);
        let from = ms(known.next_back().max(self.outlook.budgets.exact_until)?);
        let n = self.outlook.rounds;
        let sentence = Sentence::default()
            .plain(format!("Above {from} everything is "))
            .strong("censored")
            .plain(format!(
                " (n {n} rounds): a longer budget answers {} to {}.",
                share_percent(low),
                share_percent(high)
            ));
        let watched = self.question.settings.probe > 0.0 || self.outlook.probes > 0;
        Some(sentence.plain(if watched {
            " Too few calls were watched past the deadline yet: thin."
        } else {
            " Watch 5 % of the rounds past the deadline to see further."
        }))
    }

    /// Which budget reaches what people ask for, or that none does; and whether one does.
    pub(super) fn targets(&self) -> Option<(Sentence, bool)> {
        let mut reached = false;
        let before = self.now?.completeness?;
        let lost = self.lost();
        let mut sentence = Sentence::default();
        for target in TARGETS.into_iter().filter(|target| before < *target) {
            let so_far = !sentence.0.is_empty();
            let next = if so_far { sentence.clone().plain("; ") } else { sentence.clone() };
            let next = next.strong(format!("{:.0} %", target * 100.0));
            let lost = lost.filter(|lost| lost.interval().0 > 1.0 - target);
            if let Some((point, share)) = self.above().find(|(_, share)| *share >= target) {
                let (at, sure) = (setting_ms(point.budget), self.sure(point));
                reached = true;
                sentence = next.plain(format!(" is reached at {at} ({}, {sure})", share_percent(share)));
            } else if let Some(lost) = lost {
                let (n, sure) = (self.outlook.rounds, interval(lost.interval()));
                let errors =
                    format!(": {} ({sure}, n {n} rounds) errors at any budget", share_percent(lost.value));
                sentence = next.plain(" is ").strong("unreachable").plain(errors);
                // What is out of reach keeps all above it out of reach.
                break;
            }
        }
        (!sentence.0.is_empty()).then(|| (sentence.plain("."), reached))
    }

    /// The share of calls that failed or were never sent, whatever the budget, by whole rounds.
    fn lost(&self) -> Option<Share> {
        let mut lost = Mean::default();
        for round in &self.question.rounds {
            let seen = round.calls.iter().map(|call| round.whole(call, self.question.now));
            let failed = seen.filter(|seen| seen.is_none_or(|seen| seen.what == Observed::Error));
            lost.push(failed.count(), round.calls.len());
        }
        lost.share()
    }

    /// What a hedge would buy within the load budget, where no call is hedged yet, and enough was seen to say so.
    pub(super) fn hedge(&self) -> Option<Sentence> {
        let mut calls = self.question.rounds.iter().flat_map(|round| &round.calls);
        if self.takes_turns() || calls.any(|call| call.hedge_delay.is_some()) {
            return None;
        }
        let study = self.outlook.hedge.as_ref().filter(|_| self.question.settings.mode != Mode::Hedge)?;
        let none = study.rows.iter().find(|row| row.delay.is_none())?;
        let best = study.best?;
        let row = study.rows.iter().find(|row| row.delay == Some(HedgeDelay::Fixed(best)))?;
        let (before, after) = (none.ok_by_budget?, row.ok_by_budget?);
        let buys = after - before;
        if [row, none].iter().any(|row| row.thin || row.status == HedgeStatus::Extrapolated) {
            return None;
        }
        if buys < WORTH || row.extra_load > study.load_budget + 1e-9 {
            return None;
        }
        let settings = self.question.settings.hedge;
        let all = self.question.specs.iter().all(|spec| hedge::may_hedge(spec, settings));
        let which = if all { "" } else { " of the calls that may be hedged" };
        Some(
            Sentence::default()
                .strong(format!("A hedge after {}", delay(HedgeDelay::Fixed(best))))
                .plain(format!(" would answer {}{which} instead of ", share_percent(after)))
                .plain(format!("{} by {}: ", share_percent(before), setting_ms(self.outlook.budget)))
                .strong(format!("{} for {} more load", points(buys), share_percent(row.extra_load)))
                .plain(format!(" (model: assumes independence, n {} calls).", study.n)),
        )
    }

    /// The endpoint that costs the most, where one does.
    pub(super) fn culprit(&self) -> Option<Sentence> {
        let blame = Blame::of(self.question);
        let (what, counts) = if blame.cut.iter().sum::<u64>() * 2 >= blame.missing.iter().sum() {
            ("of what is cut", &blame.cut)
        } else {
            ("of what is missing", &blame.missing)
        };
        let all: u64 = counts.iter().sum();
        let (worst, &count) = counts.iter().enumerate().rev().max_by_key(|(_, count)| **count)?;
        if counts.len() < 2 || all < BLAMED || count * 2 < all {
            return None;
        }
        let rounds = self.outlook.rounds;
        let complete = Share::of(blame.complete, rounds)?;
        let without = Share::of(blame.complete + blame.alone.get(worst).copied().unwrap_or(0), rounds)?;
        let part = Share::of(count, all)?;
        let sentence = Sentence::default()
            .strong(self.name(worst))
            .plain(format!(" alone is {} {what}", share_percent(part.value)));
        // A quorum is complete without its last calls: it is not they that cost it anything.
        let quorum = self.question.rounds.iter().any(|round| round.k.is_some());
        Some(if quorum || without.value - complete.value < WORTH {
            sentence.plain(format!(" (n {all} calls)."))
        } else {
            sentence.plain(". Without it a round is complete ").strong(share_percent(without.value)).plain(
                format!(
                    " of the time ({}, n {rounds} rounds) instead of {}.",
                    interval(without.by_rounds().interval()),
                    share_percent(complete.value)
                ),
            )
        })
    }

    /// Where independent calls would give another quorum than whole rounds do: k that holds in quorum mode, else the k
    /// of which that is most so.
    pub(super) fn correlated(&self) -> Option<Sentence> {
        let study = &self.outlook.quorum;
        let holds = self.question.settings.mode == Mode::Quorum;
        let rows = study.rows.iter().filter(|row| row.correlated && (!holds || row.k == study.k));
        let off = |row: &(_, f64, f64)| (row.1 - row.2).abs();
        let rows = rows.filter_map(|row| Some((row, row.by_budget?, row.independent?)));
        // They may be told apart at another time than the budget only.
        let rows = rows.filter(|row| off(row) >= APART);
        let (row, met, alone) = rows.reduce(|a, b| if off(&b) > off(&a) { b } else { a })?;
        let sure = row.interval.map(|sure| format!("{}, ", interval(sure))).unwrap_or_default();
        Some(
            Sentence::default()
                .plain("Calls are ")
                .strong("correlated")
                .plain(format!(": k {} is met by {} in ", row.k, setting_ms(self.outlook.budget)))
                .strong(share_percent(met))
                .plain(format!(" ({sure}n {}) of the rounds, independent calls would give ", row.n))
                .plain(format!("{}.", share_percent(alone))),
        )
    }

    /// That nothing is to be had.
    pub(super) fn content(&self) -> Option<Sentence> {
        let now = self.now?;
        let share = now.completeness?;
        Some(
            Sentence::default()
                .strong(format!("{} answers {}", setting_ms(now.budget), share_percent(share)))
                .plain(format!(" ({}): no other budget that was seen is better.", self.sure(now))),
        )
    }

    /// How sure a figure is: `96.2 to 97.2, n 600 rounds`, `93.9 to 96.1, thin, n 12 calls`.
    fn sure(&self, point: &BudgetPoint) -> String {
        let sure = point.interval.map(|sure| format!("{}, ", interval(sure))).unwrap_or_default();
        let thin = if point.status == Status::Thin { "thin, " } else { "" };
        if point.status == Status::Exact {
            return format!("{sure}n {} rounds", point.n);
        }
        let alike = if self.outlook.budgets.assumes_independence { ", assumes independence" } else { "" };
        format!("{sure}{thin}n {} calls{alike}", self.watched(point))
    }

    /// Calls that were watched past the exact budgets and were out by this one, or still watched then.
    fn watched(&self, point: &BudgetPoint) -> usize {
        let after = self.outlook.budgets.exact_until;
        let required = |endpoint: usize| self.question.specs.get(endpoint).is_some_and(|spec| spec.required);
        let rounds = self.question.rounds.iter();
        let seen = rounds.flat_map(|round| {
            let optional = round.calls.iter().filter(|call| !required(call.endpoint.index()));
            optional.filter_map(|call| round.meant(call, self.question.now))
        });
        let seen = seen.filter(|seen| after.is_none_or(|after| seen.time > after));
        seen.filter(|seen| seen.time >= point.budget || seen.what != Observed::Censored).count()
    }

    fn name(&self, endpoint: usize) -> String {
        self.question.names.get(endpoint).cloned().unwrap_or_else(|| format!("call {}", endpoint + 1))
    }
}

/// Who is missing, by endpoint.
struct Blame {
    cut: Vec<u64>,
    missing: Vec<u64>,
    /// Rounds in which nothing else was missing.
    alone: Vec<u64>,
    /// Rounds in which nothing was.
    complete: u64,
}

impl Blame {
    fn of(question: &Question) -> Self {
        let endpoints = question.rounds.iter().map(|round| round.calls.len()).max().unwrap_or(0);
        let none = || vec![0; endpoints];
        let mut blame = Self { cut: none(), missing: none(), alone: none(), complete: 0 };
        let add = |counts: &mut Vec<u64>, endpoint: usize| {
            if let Some(count) = counts.get_mut(endpoint) {
                *count += 1;
            }
        };
        for round in &question.rounds {
            let missing = || round.calls.iter().filter(|call| matches!(call.outcome, Outcome::Missing(_)));
            for call in missing() {
                add(&mut blame.missing, call.endpoint.index());
                if call.outcome.reason().is_some_and(crate::domain::Reason::is_cut) {
                    add(&mut blame.cut, call.endpoint.index());
                }
            }
            let mut all = missing();
            match (all.next(), all.next()) {
                (None, _) => blame.complete += 1,
                (Some(only), None) => add(&mut blame.alone, only.endpoint.index()),
                _ => {}
            }
        }
        blame
    }
}

/// `4.7 points`.
fn points(share: f64) -> String {
    format!("{:.1} points", share * 100.0)
}

/// `96.2 to 97.2`, in percent.
fn interval((low, high): (f64, f64)) -> String {
    format!("{:.1} to {:.1}", low * 100.0, high * 100.0)
}
