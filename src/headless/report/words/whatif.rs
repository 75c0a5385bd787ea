//! Words for what other budgets, quorums and hedges would give, shared by every form of a report.

use super::super::collect::Collected;
use super::super::estimates::Budget;
use super::{NONE, quantile};
use crate::domain::{Arm, numbers};
use crate::headless::text::probes;
use crate::headless::turns;
use crate::whatif::budget::BudgetPoint;
use crate::whatif::hedge::{HedgeRow, HedgeSeen};
use crate::whatif::outlook::Status;
use crate::whatif::quorum::QuorumRow;
use std::time::Duration;

/// What estimates rest on, where that is not all rounds: `from 12000 of 96000 rounds, evenly over time`.
pub(in super::super) fn based_on(all: &Collected) -> Option<String> {
    let (kept, of) = all.estimates().part?;
    Some(format!("from {kept} of {of} rounds, evenly over time"))
}

/// A line of the budget table: a budget of which something is known, or a stretch of those of which at most bounds
/// are, with these and why.
#[derive(Debug, Clone)]
pub(in super::super) enum BudgetLine<'a> {
    /// Its figures and the completeness among them.
    Known(&'a BudgetPoint, f64),
    /// From the first to the last of them.
    Unknown { from: Duration, to: Duration, bounds: Option<Bounds>, why: String },
}

/// What a share is at least and at most, and the rounds that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Bounds {
    /// In percent: `62.5 to 75.0 %`.
    pub(in super::super) within: String,
    pub(in super::super) n: u64,
}

impl Bounds {
    fn of(point: &BudgetPoint) -> Option<Self> {
        let (lo, hi) = point.bounds?;
        Some(Self { within: format!("{:.1} to {:.1} %", lo * 100.0, hi * 100.0), n: point.n })
    }
}

/// The budgets that rounds really ended at: one, or two where those take turns. None where rounds of some mode end
/// elsewhere too, so that no budget's figures are those of what ran.
pub(in super::super) fn ran(all: &Collected) -> Vec<Duration> {
    let arms = Arm::ALL.iter().map(|&arm| all.settings.of_arm(arm));
    let ran = arms.map(|settings| settings.mode.ends_at_budget().then_some(settings.budget));
    let mut ran = ran.collect::<Option<Vec<_>>>().unwrap_or_default();
    ran.sort_unstable();
    ran.dedup();
    ran
}

/// The head of the column of budgets.
pub(in super::super) fn budget_head(all: &Collected) -> &'static str {
    if ran(all).is_empty() { "if cut at" } else { "budget" }
}

/// The lines of a budget table; those of which the same is said share one.
pub(in super::super) fn budget_lines(all: &Collected) -> Vec<BudgetLine<'_>> {
    let mut lines: Vec<BudgetLine<'_>> = Vec::new();
    for budget in &all.estimates().budgets {
        if let Some(completeness) = budget.point.completeness {
            lines.push(BudgetLine::Known(&budget.point, completeness));
            continue;
        }
        let (at, within, said) = (budget.point.budget, Bounds::of(&budget.point), unknown(budget, all));
        match lines.last_mut() {
            Some(BudgetLine::Unknown { to, bounds, why, .. }) if (&*bounds, &*why) == (&within, &said) => {
                *to = at;
            }
            _ => lines.push(BudgetLine::Unknown { from: at, to: at, bounds: within, why: said }),
        }
    }
    lines
}

/// Why there is no figure.
fn unknown(budget: &Budget, all: &Collected) -> String {
    let Budget { point, row } = budget;
    let estimates = all.estimates();
    // Of larger budgets than the exact ones and those that were watched there may be figures all the same.
    let known = estimates.budgets.iter().map(|budget| &budget.point);
    let known = known.filter(|known| known.completeness.is_some() && known.budget < point.budget);
    let known = known.map(|known| known.budget).max();
    let seen = [estimates.outlook.budgets.exact_until, all.watched, known].into_iter().flatten().max();
    let seen = seen.unwrap_or_default();
    let why = if all.recount.rounds() == 0 {
        return "no rounds".to_owned();
    } else if row.cut_short > 0 {
        "rounds ended earlier with calls still running".to_owned()
    } else if row.hedged > 0 {
        "rounds would have hedged at other times".to_owned()
    } else if point.budget > seen {
        format!("censored at {}", numbers::setting_ms(seen))
    } else {
        "too few calls were watched for that long".to_owned()
    };
    format!("not observed: {why}")
}

/// Budgets from one to another: `220 ms to 400 ms`.
pub(in super::super) fn stretch(from: Duration, to: Duration) -> String {
    let from_ms = numbers::setting_ms(from);
    if from == to { from_ms } else { format!("{from_ms} to {}", numbers::setting_ms(to)) }
}

/// How good figures are, in words for people.
pub(in super::super) const fn status(status: Status) -> &'static str {
    match status {
        Status::NotObserved => "not observed",
        other => other.as_str(),
    }
}

/// An interval of shares: `88.1–93.5`.
pub(in super::super) fn interval(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(|| NONE.to_owned(), |(lo, hi)| turns::interval([lo, hi]))
}

/// When all calls of a round are out, whatever the budget.
pub(in super::super) fn out_by(all: &Collected) -> Option<String> {
    let times = all.estimates().outlook.round;
    let none = times.iter().all(|read| read.time.is_none() && read.above.is_none());
    let [p50, p90, p99] = times.map(quantile);
    (!none).then(|| format!("all calls of a round are out by p50 {p50}  p90 {p90}  p99 {p99}"))
}

/// How far past their deadline rounds were watched.
pub(in super::super) fn watched(all: &Collected) -> Option<String> {
    let far = numbers::setting_ms(all.watched?);
    Some(format!("{}; watched to {far}", probes(&all.summary)?))
}

/// The rows of the table of quorums: as many as there is room for, about the one that was asked about.
pub(in super::super) fn quorums(all: &Collected, most: usize) -> &[QuorumRow] {
    let rows = all.estimates().outlook.quorum.rows.as_slice();
    let asked = rows.iter().position(|row| row.k == all.k).unwrap_or(0);
    let from = asked.saturating_sub(most / 2).min(rows.len().saturating_sub(most));
    rows.get(from..rows.len().min(from.saturating_add(most))).unwrap_or_default()
}

/// A row of the table of hedges.
#[derive(Debug)]
pub(in super::super) struct Hedged {
    pub(in super::super) delay: String,
    pub(in super::super) extra_load: String,
    pub(in super::super) ok_by_budget: String,
    pub(in super::super) interval: String,
    pub(in super::super) p99: String,
    pub(in super::super) status: &'static str,
    /// Whether that is the earliest within the load budget.
    pub(in super::super) best: bool,
}

/// The rows of the table of hedges: the model's, and what was really seen; none where no call may be hedged.
pub(in super::super) fn hedges(all: &Collected) -> Vec<Hedged> {
    let Some(study) = &all.estimates().outlook.hedge else { return Vec::new() };
    let modelled = study.rows.iter().map(|row| Hedged {
        delay: delay(row),
        extra_load: numbers::share_percent(row.extra_load),
        ok_by_budget: row.ok_by_budget.map_or_else(|| NONE.to_owned(), numbers::share_percent),
        interval: String::new(),
        p99: row.p99.map_or_else(|| NONE.to_owned(), numbers::ms),
        status: row.words(),
        best: row.delay.is_some() && row.time.is_some() && row.time == study.best,
    });
    modelled.chain(study.observed.as_ref().map(observed)).collect()
}

fn delay(row: &HedgeRow) -> String {
    use crate::domain::HedgeDelay;
    match (row.delay, row.time) {
        (None, _) => "no hedge".to_owned(),
        (Some(delay @ HedgeDelay::Percentile(_)), Some(time)) => format!("{delay} ({})", numbers::ms(time)),
        (Some(delay), _) => numbers::delay(delay),
    }
}

fn observed(seen: &HedgeSeen) -> Hedged {
    Hedged {
        delay: numbers::delay(seen.delay),
        extra_load: numbers::share_percent(seen.extra_load),
        ok_by_budget: numbers::share_percent(seen.ok_by_budget),
        interval: interval(Some(seen.interval)),
        p99: seen.p99.map_or_else(|| NONE.to_owned(), numbers::ms),
        status: "observed",
        best: false,
    }
}

/// What the table of hedges rests on.
pub(in super::super) fn hedge_basis(all: &Collected) -> Option<String> {
    let study = all.estimates().outlook.hedge.as_ref().filter(|study| !study.rows.is_empty())?;
    let cut = if study.assumes_independence { ", so do the curves behind it" } else { "" };
    let load = numbers::short_share(study.load_budget);
    let n = numbers::counted(study.n, "call", "calls");
    let real = match (study.real, &study.observed) {
        (0, _) => String::new(),
        (_, Some(seen)) => format!("; observed: {} hedges of {} calls", seen.hedges, seen.calls),
        (real, None) => format!("; {real} real, too few to set beside it"),
    };
    Some(format!("model: assumes independence{cut}, n {n}, load budget {load}{real}"))
}
