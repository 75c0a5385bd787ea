//! What whole rounds say of each k, and their calls of each endpoint: one observation a round for either, and the
//! curves of both.
//!
//! A round that ended by its own rule says nothing of a k that was undecided then, and those of its kind that went on
//! are no fair sample: the sixth answer never comes before the fifth, at which a quorum of five ends. So where one
//! round of a kind (its mode and its k) was cut so, none of them counts for that k.

use crate::domain::{EndpointId, Mode, Outcome, Reason};
use crate::whatif::outlook::{Question, Status};
use crate::whatif::recount::MANY;
use crate::whatif::seen::Seen;
use crate::whatif::survival::{Curve, Grade, Observation, Observed};
use std::time::Duration;

/// Where at most this share was cut before a time, one in so many, what they might have done changes little.
const FEW_CUT: usize = 50;

/// An observation as one number, which sorts by time and has events before cut ones (W2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp(u64);

impl Stamp {
    /// Nothing was sent: it can never answer.
    const NEVER: Self = Self(Observed::Error as u64);

    /// Of a round that does not count.
    const NONE: Self = Self(u64::MAX);

    const MASK: u64 = 3;

    fn of(seen: Observation) -> Self {
        Self(nanos(seen.time) << 2 | seen.what as u64)
    }

    /// `None` of one that does not count.
    const fn what(self) -> Option<Observed> {
        match self.0 & Self::MASK {
            0 => Some(Observed::Ok),
            1 => Some(Observed::Error),
            2 => Some(Observed::Censored),
            _ => None,
        }
    }

    fn is(self, what: Observed) -> bool {
        self.what() == Some(what)
    }

    fn seen(self) -> Option<Observation> {
        Some(Observation { time: Duration::from_nanos(self.0 >> 2), what: self.what()? })
    }
}

/// Saturates at a time that leaves room for what was seen, some 146 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX >> 2)
}

/// One observation a round, of an endpoint's call or of the k-th answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    /// In the order of the rounds.
    by_round: Vec<Stamp>,
    /// Those that count, in the order of time.
    sorted: Vec<Stamp>,
    pub curve: Curve,
}

impl Series {
    /// `scratch` is room that is used anew for each.
    fn of(by_round: Vec<Stamp>, scratch: &mut Vec<Observation>) -> Self {
        let mut sorted: Vec<Stamp> = by_round.iter().copied().filter(|&stamp| stamp != Stamp::NONE).collect();
        sorted.sort_unstable();
        scratch.clear();
        scratch.extend(sorted.iter().filter_map(|stamp| stamp.seen()));
        let curve = Curve::of_sorted(scratch);
        Self { by_round, sorted, curve }
    }

    /// In the order of the rounds; `None` for one that does not count.
    pub fn by_round(&self) -> impl Iterator<Item = Option<Observation>> {
        self.by_round.iter().map(|stamp| stamp.seen())
    }

    /// Those before `t`.
    fn before(&self, t: Duration) -> &[Stamp] {
        let t = nanos(t);
        self.sorted.get(..self.sorted.partition_point(|stamp| stamp.0 >> 2 < t)).unwrap_or_default()
    }

    /// Rounds that count and of which `k` answers were there by `t`.
    pub fn answered(&self, t: Duration) -> usize {
        let t = nanos(t);
        let by = self.sorted.iter().take_while(|stamp| stamp.0 >> 2 <= t);
        by.filter(|stamp| stamp.is(Observed::Ok)).count()
    }

    /// Rounds that were undecided and watched just before `t`.
    pub fn at_risk(&self, t: Duration) -> usize {
        self.sorted.len() - self.before(t).len()
    }

    /// How good the curve's value at `t` is. Where few are at risk only since nearly all are decided, and hardly any
    /// was cut, what those might have done changes it by no more than 0.02.
    pub fn status(&self, t: Duration) -> Status {
        let part = self.sorted.len() < self.by_round.len();
        if self.sorted.is_empty() || part && Grade::of(self.sorted.len()) == Grade::None {
            return Status::NotObserved;
        }
        if self.curve.first_censored().is_none_or(|censored| t <= censored) {
            return Status::Exact;
        }
        let cut = self.before(t).iter().filter(|stamp| stamp.is(Observed::Censored)).count();
        if cut.saturating_mul(FEW_CUT) <= self.sorted.len() {
            return Status::Estimated;
        }
        let decided = self.curve.at(t).filter(|row| row.pending <= 0.0).map(|row| row.at_risk);
        match Grade::of(decided.unwrap_or_else(|| self.at_risk(t))) {
            Grade::Solid => Status::Estimated,
            Grade::Thin => Status::Thin,
            Grade::None => Status::NotObserved,
        }
    }

    /// Rounds that count.
    pub fn n(&self) -> usize {
        self.sorted.len()
    }

    /// Of the rounds that were meant to run until `t` or longer (W3), how many had an answer by then, and how many
    /// there are. `None` where they are too few, or one of them was undecided when it was cut.
    pub fn recount(&self, limits: &[u64], t: Duration) -> Option<(usize, usize)> {
        let t = nanos(t);
        let (mut answered, mut n) = (0, 0);
        let counts =
            self.by_round.iter().zip(limits).filter(|&(&stamp, &limit)| stamp != Stamp::NONE && limit >= t);
        for (stamp, _) in counts {
            let end = stamp.0 >> 2;
            if stamp.is(Observed::Censored) && end < t {
                return None;
            }
            n += 1;
            answered += usize::from(stamp.is(Observed::Ok) && end <= t);
        }
        (n >= MANY).then_some((answered, n))
    }

    /// Whether its value at `t` may be told.
    pub fn is_known(&self, t: Duration) -> bool {
        self.status(t) != Status::NotObserved
    }

    /// Whether anything was seen of it at `t` or later.
    pub fn is_within(&self, t: Duration) -> bool {
        self.curve.horizon().is_some_and(|horizon| t <= horizon)
    }

    /// The share that has answered by `t`.
    pub fn ok(&self, t: Duration) -> f64 {
        self.curve.at(t).map_or(0.0, |row| row.ok)
    }
}

/// All of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub rounds: usize,
    /// How long each round was meant to run, or was watched, in nanoseconds.
    pub limits: Vec<u64>,
    /// Of each optional endpoint: its calls. One for which nothing was sent failed at once.
    pub calls: Vec<Series>,
    /// For k = 1, 2, …: the k-th answer, or the error after which it can't come any more.
    pub kth: Vec<Series>,
}

impl Facts {
    pub fn of(question: &Question) -> Self {
        let places = places(question);
        let n = places.iter().flatten().count();
        // In one order whatever the order in which they come, so that the draws are the same.
        let mut rounds: Vec<&Seen> = question.rounds.iter().map(AsRef::as_ref).collect();
        let key = |round: &Seen| (round.at, round.no, round.took);
        let ends = |round: &&Seen| round.calls.iter().map(|call| call.end).collect::<Vec<_>>();
        rounds.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| ends(a).cmp(&ends(b))));
        let mut calls = vec![Vec::with_capacity(rounds.len()); n];
        let mut kth = calls.clone();
        let mut kinds = Kinds::default();
        let (mut row, mut decided) = (vec![Stamp::NEVER; n], vec![Stamp::NEVER; n]);
        for round in &rounds {
            row.fill(Stamp::NEVER);
            for call in &round.calls {
                let slot = place(&places, call.endpoint).and_then(|place| row.get_mut(place));
                if let Some((slot, seen)) = slot.zip(round.meant(call, question.now)) {
                    *slot = Stamp::of(seen);
                }
            }
            push(&mut calls, &row);
            row.sort_unstable();
            decide(&row, &mut decided);
            push(&mut kth, &decided);
            kinds.note(round, &decided);
        }
        kinds.leave_out(&rounds, &mut kth);
        let mut scratch = Vec::with_capacity(rounds.len());
        let mut series = |columns: Vec<Vec<Stamp>>| {
            columns.into_iter().map(|column| Series::of(column, &mut scratch)).collect()
        };
        let limits = rounds.iter().map(|round| nanos(round.limit())).collect();
        Self { rounds: rounds.len(), limits, calls: series(calls), kth: series(kth) }
    }

    /// The series of k; `None` where there is no such k.
    pub fn of_k(&self, k: usize) -> Option<&Series> {
        k.checked_sub(1).and_then(|place| self.kth.get(place))
    }
}

/// For each endpoint, its place among the optional ones.
fn places(question: &Question) -> Vec<Option<usize>> {
    let mut next = 0;
    let place = |required: bool| {
        (!required).then(|| {
            next += 1;
            next - 1
        })
    };
    question.specs.iter().map(|spec| spec.required).map(place).collect()
}

fn place(places: &[Option<usize>], endpoint: EndpointId) -> Option<usize> {
    places.get(endpoint.index()).copied().flatten()
}

fn push(columns: &mut [Vec<Stamp>], row: &[Stamp]) {
    for (column, &stamp) in columns.iter_mut().zip(row) {
        column.push(stamp);
    }
}

/// When each k was decided in a round whose calls ascend: the k-th answer, the error after which fewer than k calls
/// are left, or, while it was undecided, the first call that was cut.
fn decide(calls: &[Stamp], kth: &mut [Stamp]) {
    // What is undecided is always one stretch: answers decide it from below, errors from above.
    let mut undecided = kth;
    for &stamp in calls {
        let decided = match stamp.what() {
            Some(Observed::Ok) => undecided.split_off_first_mut(),
            Some(Observed::Error) => undecided.split_off_last_mut(),
            Some(Observed::Censored) | None => return undecided.fill(stamp),
        };
        if let Some(place) = decided {
            *place = stamp;
        }
    }
}

/// By what a round ends.
type Kind = (Mode, Option<usize>);

/// For each kind of which a round ended by its own rule: by k, whether any of them did while it was undecided.
#[derive(Default)]
struct Kinds(Vec<(Kind, Vec<bool>)>);

impl Kinds {
    fn note(&mut self, round: &Seen, decided: &[Stamp]) {
        let fail_fast = round.settings.mode == Mode::FailFast;
        let by_its_rule = round.calls.iter().any(|call| match call.outcome {
            Outcome::NotNeeded | Outcome::Missing(Reason::QuorumImpossible) => true,
            Outcome::Missing(Reason::SiblingFailed) => fail_fast,
            _ => false,
        });
        if !by_its_rule {
            return;
        }
        let place = self.0.iter().position(|(kind, _)| *kind == Self::of(round)).unwrap_or_else(|| {
            self.0.push((Self::of(round), vec![false; decided.len()]));
            self.0.len() - 1
        });
        if let Some((_, cut)) = self.0.get_mut(place) {
            for (cut, stamp) in cut.iter_mut().zip(decided) {
                *cut |= stamp.is(Observed::Censored);
            }
        }
    }

    fn of(round: &Seen) -> Kind {
        (round.settings.mode, round.k)
    }

    fn leave_out(&self, rounds: &[&Seen], kth: &mut [Vec<Stamp>]) {
        for (kind, cut) in &self.0 {
            for (column, _) in kth.iter_mut().zip(cut).filter(|&(_, &cut)| cut) {
                for (stamp, _) in column.iter_mut().zip(rounds).filter(|(_, round)| Self::of(round) == *kind)
                {
                    *stamp = Stamp::NONE;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(ms: u64, what: Observed) -> Stamp {
        Stamp::of(Observation { time: Duration::from_millis(ms), what })
    }

    #[test]
    fn w4_every_k_is_decided_once() {
        use Observed::{Censored, Error, Ok};
        let calls = [stamp(5, Error), stamp(10, Ok), stamp(20, Ok), stamp(30, Censored), stamp(40, Ok)];
        let mut kth = vec![Stamp::NEVER; 5];
        decide(&calls, &mut kth);
        let want = [stamp(10, Ok), stamp(20, Ok), stamp(30, Censored), stamp(30, Censored), stamp(5, Error)];
        assert_eq!(kth, want);
    }

    #[test]
    fn an_event_sorts_before_a_cut_call_at_the_same_time() {
        let mut stamps = [stamp(7, Observed::Censored), stamp(7, Observed::Error), stamp(7, Observed::Ok)];
        stamps.sort_unstable();
        let order: Vec<_> = stamps.iter().map(|s| s.what()).collect();
        assert_eq!(order, [Observed::Ok, Observed::Error, Observed::Censored].map(Some));
        let never = Observation { time: Duration::MAX, what: Observed::Censored };
        let saturated = Stamp::of(never).seen().map(|seen| seen.time > Duration::from_secs(1_000_000_000));
        assert_eq!((saturated, Stamp::NONE.seen()), (Some(true), None));
    }
}
