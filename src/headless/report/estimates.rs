//! What another budget, quorum or hedge delay would have given, from the rounds of all recordings: recounts of all of
//! them where they answer exactly, and beyond that estimates from the rounds that were kept for it.

use super::collect::Collected;
use crate::domain::{CallSpec, Settings};
use crate::recording::EndpointLine;
use crate::whatif::budget::{BudgetCurve, BudgetPoint};
use crate::whatif::outlook::{Outlook, Question, Status};
use crate::whatif::quorum::{QuorumRow, QuorumStudy};
use crate::whatif::recount::BudgetRow;
use crate::whatif::shares::Share;

/// Every answer.
#[derive(Debug)]
pub(super) struct Estimates {
    /// What was asked.
    question: Question,
    /// k that was asked about.
    k: usize,
    /// The budgets that were asked about, ascending.
    pub(super) budgets: Vec<Budget>,
    /// Everything else.
    pub(super) outlook: Outlook,
    /// Rounds that estimates were made from, and of how many; `None` where that is all of them.
    pub(super) part: Option<(u64, u64)>,
}

/// A budget.
#[derive(Debug)]
pub(super) struct Budget {
    /// What is said of it.
    pub(super) point: BudgetPoint,
    /// The recount of all rounds, and why it is none.
    pub(super) row: BudgetRow,
}

impl Estimates {
    /// Looks at everything that was read.
    pub(super) fn of(all: &Collected) -> Self {
        let (rounds, now) = all.sample.rounds();
        let question = Question {
            rounds,
            now,
            settings: Settings { quorum: Some(all.k), ..(*all.settings).clone() },
            names: all.session.endpoints.iter().map(|endpoint| endpoint.name.clone()).collect(),
            specs: specs(all),
        };
        let rows = all.recount.rows();
        let asked: Vec<_> = rows.iter().map(|row| row.budget).collect();
        let points = BudgetCurve::at(&question, &asked);
        let budgets = rows.into_iter().zip(points);
        Self {
            budgets: budgets.map(|(row, point)| Budget { point: whole(point, &row), row }).collect(),
            outlook: question.answer(),
            part: all.sample.part(),
            k: all.k,
            question,
        }
    }

    /// The quorum that was asked about; `None` without rounds.
    pub(super) fn quorum(&self) -> Option<&QuorumRow> {
        self.outlook.quorum.rows.iter().find(|row| row.k == self.k)
    }

    /// The same with a point at every event, for programs: of very many events that takes as long as all else.
    pub(super) fn quorum_in_full(&self) -> QuorumRow {
        QuorumStudy::one(&self.question, self.k)
    }
}

/// What the recordings tell of the endpoints. Older ones don't say what may be sent once only; but hedges that were
/// kept back for it do.
fn specs(all: &Collected) -> Vec<CallSpec> {
    let specs = all.session.endpoints.iter().map(EndpointLine::spec).enumerate();
    specs
        .map(|(i, spec)| CallSpec { repeatable: spec.repeatable && all.sample.repeatable(i), ..spec })
        .collect()
}

/// The recount of all rounds in the place of that of some.
fn whole(point: BudgetPoint, row: &BudgetRow) -> BudgetPoint {
    match &row.found {
        Some(found) if point.status == Status::Exact => BudgetPoint {
            n: row.n,
            completeness: Some(found.completeness),
            interval: Some(Share { value: found.completeness, n: found.sample }.interval()),
            all: Some(found.all),
            at_least_k: Some(found.at_least_k),
            missing: found.missing.clone(),
            ..point
        },
        _ => point,
    }
}
