//! The detail of a call: its parts, the rows of each, and how far it scrolls. The view draws by this and the
//! keys scroll by it. Knows no cells and no styles.

mod answer;
mod facts;

pub use answer::AnswerLine;
pub use facts::{Fact, FactLine};

use super::{Action, App, Fate, Lane, LaneState, Shown};
use crate::domain::{Call, EndpointId, Late, Phase, Reason};
use crate::stats::Window;

/// A part of the detail, a block of whole rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// An empty row.
    Blank,
    /// What was asked for.
    Request,
    /// That no round has started yet.
    Waiting,
    /// The attempts on a time axis.
    Attempts,
    /// Address, HTTP version, status and the like.
    Facts,
    /// The errors' own words.
    Words,
    /// What a failed answer said.
    Answer,
    /// The command that was copied.
    Command,
    /// The calls of the rounds that are kept.
    Rounds,
    /// Quantiles.
    Latency,
    /// Outcomes by window.
    Outcomes,
    /// Quantiles, and outcomes beside them.
    Numbers,
    /// What to do.
    Hint,
}

/// The detail for a size of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailPage {
    /// Whether there is room for the phases of an attempt, a row each.
    pub whole: bool,
    /// Rows above the title: none, the header, the header and the instrument's own numbers, a blank one.
    pub head: u16,
    /// Rows between the title and the keys.
    pub rows: usize,
    /// The parts and their rows, from above.
    pub parts: Vec<(Part, u16)>,
    /// The facts, in lines that fit.
    pub facts: Vec<FactLine>,
    /// The errors' own words, in lines; the last of an error may be too long.
    pub words: Vec<String>,
    /// What the failed answer said, in lines.
    pub answer: Vec<AnswerLine>,
    /// The command that was copied, in lines.
    pub command: Vec<AnswerLine>,
}

/// Width from which quantiles and outcomes stand beside each other.
const WIDE: u16 = 110;

/// Least and most rows of the chart of rounds, without its title and labels.
const CHART: (usize, usize) = (5, 32);

/// Rows of the quantiles: title, heads and four of them.
const LATENCY_ROWS: u16 = 6;

/// Most reasons that stand among the outcomes; more are counted together.
pub const MOST_REASONS: usize = 5;

impl DetailPage {
    /// First column of what stands in the detail, and columns at both sides that stay blank.
    #[must_use]
    pub const fn margins(whole: bool) -> (u16, u16) {
        if whole { (4, 5) } else { (1, 2) }
    }

    /// The detail of the selected call in a terminal of so many columns and rows.
    #[must_use]
    pub fn of(app: &App, width: u16, height: u16) -> Self {
        let whole = width >= 80 && height >= 24;
        let head = match (width, height) {
            _ if whole && height >= 34 => 3,
            _ if whole => 2,
            (60.., 16..) => 1,
            _ => 0,
        };
        let room = width.saturating_sub(Self::margins(whole).1);
        let lane = app.detail_lane();
        let mut page = Self {
            whole,
            head,
            rows: usize::from(height.saturating_sub(head + 2)),
            parts: Vec::new(),
            facts: lane.as_ref().map_or_else(Vec::new, |l| facts::lines(app, l, whole, room)),
            words: lane.as_ref().map_or_else(Vec::new, |l| facts::words(app, l, room)),
            answer: lane.as_ref().map_or_else(Vec::new, |l| answer::lines(app, l, room)),
            command: app.command_lines(room),
        };
        let command = (Part::Command, rows(page.command.len()));
        page.parts = match lane {
            None => {
                let blank = (Part::Blank, u16::from(whole));
                vec![blank, (Part::Request, request_rows(app)), command, blank, (Part::Waiting, 1)]
            }
            Some(lane) => page.arranged(app, &lane, width),
        };
        page.parts.retain(|p| p.1 > 0);
        page
    }

    /// The parts with as much room between them and for the chart as there is; without room enough the most
    /// telling first.
    fn arranged(&self, app: &App, lane: &Lane, width: u16) -> Vec<(Part, u16)> {
        let request = (Part::Request, request_rows(app));
        let command = (Part::Command, rows(self.command.len()));
        let attempts = (Part::Attempts, self.attempt_rows(lane));
        let facts = (Part::Facts, rows(self.facts.len()));
        let words = (Part::Words, rows(self.words.len()));
        let answer = (Part::Answer, rows(self.answer.len()));
        let (blank, hint) = ((Part::Blank, 1), (Part::Hint, 1));
        let outcomes = outcome_rows(app);
        let numbers = if width >= WIDE {
            vec![(Part::Numbers, outcomes.max(LATENCY_ROWS))]
        } else {
            vec![(Part::Latency, LATENCY_ROWS), (Part::Outcomes, outcomes)]
        };
        let chart = |spare: usize| (Part::Rounds, rows(spare.clamp(CHART.0, CHART.1) + 2));
        // What is not there needs no room around it.
        let gap = |rows: u16| (Part::Blank, rows.min(1));
        let airy: Vec<_> = [
            blank,
            request,
            command,
            gap(request.1 + command.1),
            attempts,
            gap(facts.1 + words.1),
            facts,
            words,
            gap(answer.1),
            answer,
            blank,
            chart(0),
            blank,
        ]
        .into_iter()
        .chain(numbers.iter().copied())
        .chain([blank, hint, blank])
        .collect();
        let dense: Vec<_> = if self.whole {
            [request, command, attempts, facts, words, hint, answer, chart(0)]
                .into_iter()
                .chain(numbers)
                .collect()
        } else {
            [attempts, facts, words, hint, request, command, answer, chart(0)]
                .into_iter()
                .chain(numbers)
                .collect()
        };
        let spare = |parts: &[(Part, u16)]| self.rows.checked_sub(length(parts));
        let fits = self.whole && spare(&airy).is_some();
        let mut parts = if fits { airy } else { dense };
        if let Some(spare) = spare(&parts)
            && let Some(part) = parts.iter_mut().find(|p| p.0 == Part::Rounds)
        {
            *part = chart(CHART.0 + spare);
        }
        parts
    }

    /// An axis, a row for each attempt, and the phases of the one that decided. A single attempt has a row for its
    /// sum instead of one of its own.
    fn attempt_rows(&self, lane: &Lane) -> u16 {
        let phases = if self.whole { rows(Phase::ALL.len()) } else { 0 };
        rows(lane.bars.len()).saturating_add(1 + phases)
    }

    /// All rows.
    #[must_use]
    pub fn length(&self) -> usize {
        length(&self.parts)
    }

    /// The first row of the last page.
    #[must_use]
    pub fn end(&self) -> usize {
        self.length().saturating_sub(self.rows)
    }

    /// Where a key leads that scrolls, from the row `top` on.
    #[must_use]
    pub fn scrolled(&self, top: usize, action: Action) -> Option<usize> {
        // The terminal may have grown since the last key.
        let top = top.min(self.end());
        let to = match action {
            Action::PageUp => top.saturating_sub(self.rows),
            Action::PageDown => top + self.rows,
            Action::First => 0,
            Action::Last => self.end(),
            _ => return None,
        };
        Some(to.min(self.end()))
    }
}

fn length(parts: &[(Part, u16)]) -> usize {
    parts.iter().map(|p| usize::from(p.1)).sum()
}

fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn request_rows(app: &App) -> u16 {
    u16::from(app.request().is_some())
}

/// Title, heads, answered, reasons, not needed, share, and what rounds would have been without it.
fn outcome_rows(app: &App) -> u16 {
    let totals = app.stats().endpoint_totals(EndpointId(app.selected), Window::Start);
    let reasons = totals.missing.len().min(MOST_REASONS + 1);
    6 + rows(reasons) + u16::from(totals.not_needed > 0)
}

impl App {
    /// The selected endpoint's call in the round on the lanes, where that round is over.
    #[must_use]
    pub fn detail_call(&self) -> Option<&Call> {
        match self.shown() {
            Shown::Over(round) => round.calls.get(self.selected),
            Shown::Waiting | Shown::Running(_) => None,
        }
    }

    /// What became of that call past its round's end, where it was watched (W7).
    #[must_use]
    pub fn detail_late(&self) -> Option<Late> {
        self.late(self.selected)
    }

    /// What became of an endpoint's call past the end of the round on the lanes, where it was watched (W7).
    #[must_use]
    pub fn late(&self, index: usize) -> Option<Late> {
        self.round()?.late.iter().find(|late| late.endpoint.index() == index).copied()
    }

    /// The selected endpoint's call. What the deadline cut ends at the deadline, however late that was noticed.
    #[must_use]
    pub fn detail_lane(&self) -> Option<Lane> {
        let mut lane = self.lane(self.selected)?;
        if matches!(lane.state, LaneState::Cut(Reason::Deadline, _)) {
            let limit = self.round_budget();
            lane.end = lane.end.min(limit);
            for bar in lane.bars.iter_mut().filter(|b| b.fate == Fate::Cut && b.end > limit) {
                let excess = bar.end.saturating_sub(limit);
                bar.end = limit.max(bar.start);
                if let Some((_, time)) = bar.segments.last_mut() {
                    *time = time.saturating_sub(excess);
                }
            }
        }
        Some(lane)
    }

    /// The URL of the attempt that decided the selected call; before the first round, the first one.
    pub(super) fn decisive_replica(&self) -> usize {
        let lane = self.lane(self.selected);
        lane.as_ref().and_then(|l| l.bars.get(l.decisive())).map_or(0, |b| b.replica)
    }

    /// The request of the attempt that decided the selected call; before the first round, of its first URL.
    #[must_use]
    pub fn request(&self) -> Option<&str> {
        self.endpoints.get(self.selected)?.requests.get(self.decisive_replica()).map(String::as_str)
    }
}

impl Lane {
    /// The attempt that decided, as an index into `bars`: the one that answered, else the first that failed for
    /// the call's reason, else the one that had come furthest of those still on their way.
    #[must_use]
    pub fn decisive(&self) -> usize {
        let place = |wanted: &dyn Fn(&Fate) -> bool| self.bars.iter().position(|b| wanted(&b.fate));
        let answered = place(&|fate| matches!(fate, Fate::Ok | Fate::Won));
        let failed = || match self.state {
            LaneState::Error(reason) => place(&|fate| *fate == Fate::Failed(reason)),
            _ => None,
        };
        let reached = |index: &usize| self.bars.get(*index).and_then(|b| b.segments.last()).map(|s| s.0);
        let going = |index: &usize| {
            self.bars.get(*index).is_some_and(|b| matches!(b.fate, Fate::Running | Fate::Cut))
        };
        // Of equals the first: the primary.
        let furthest = || (0..self.bars.len()).rev().filter(going).max_by_key(reached);
        answered.or_else(failed).or_else(furthest).unwrap_or(0)
    }
}
