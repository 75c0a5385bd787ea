//! What estimates of a report are made from: compact rounds of all recordings on one clock, all of them while they
//! are few, and in bounded memory where they are very many: then every 2nd, 4th, 8th, … pair of rounds. Pairs, so that
//! of two variants that take turns both stay.

use crate::domain::{Late, Outcome, Reason, Round, RoundNo, Suppression};
use crate::whatif::seen::Seen;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Calls that are kept at most: about 200 bytes each, and answers take about 2 µs of each. More would make a report of
/// a large recording wait longer for its estimates than for the recording, and no figure better to speak of.
pub(super) const CALLS: usize = 100_000;

/// Probe rounds whose stragglers are waited for, at most: so many never run at once.
const OPEN: usize = 64;

/// The rounds.
#[derive(Debug)]
pub(super) struct Sample {
    kept: Vec<Kept>,
    calls: usize,
    most: usize,
    /// Rounds that were taken in.
    rounds: u64,
    /// Of so many pairs one is kept.
    stride: u64,
    /// Probe rounds of the session at hand of which stragglers may still be told.
    open: BTreeMap<RoundNo, Kept>,
    /// When the session at hand began, and the latest that was told of it.
    begun: Duration,
    now: Duration,
    /// Endpoints of which no second request was allowed.
    once: Vec<bool>,
}

#[derive(Debug)]
struct Kept {
    /// Which pair it is of.
    pair: u64,
    seen: Arc<Seen>,
}

impl Sample {
    /// Nothing yet, of so many endpoints.
    pub(super) fn new(endpoints: usize, most: usize) -> Self {
        Self {
            kept: Vec::new(),
            calls: 0,
            most,
            rounds: 0,
            stride: 1,
            open: BTreeMap::new(),
            begun: Duration::ZERO,
            now: Duration::ZERO,
            once: vec![false; endpoints],
        }
    }

    /// Something was told of this time of its session.
    pub(super) fn reached(&mut self, at: Duration) {
        self.now = self.now.max(self.begun.saturating_add(at));
    }

    /// Takes in a round that counts, and what is kept of it.
    pub(super) fn push(&mut self, round: &Round, mut seen: Seen) {
        let pair = self.rounds / 2;
        self.rounds += 1;
        for call in &round.calls {
            if call.hedges.suppressed.get(Suppression::NotIdempotent) > 0
                && let Some(once) = self.once.get_mut(call.endpoint.index())
            {
                *once = true;
            }
        }
        if !pair.is_multiple_of(self.stride) {
            return;
        }
        seen.at = seen.at.saturating_add(self.begun);
        let open = is_open(&seen);
        let kept = Kept { pair, seen: Arc::new(seen) };
        if !open {
            return self.keep(kept);
        }
        self.open.insert(round.no, kept);
        if self.open.len() > OPEN
            && let Some((_, lost)) = self.open.pop_first()
        {
            self.close(lost);
        }
    }

    /// Takes in what became of a straggler.
    pub(super) fn late(&mut self, round: RoundNo, late: Late) {
        let Some(kept) = self.open.get_mut(&round) else { return };
        let seen = Arc::make_mut(&mut kept.seen);
        seen.late(late);
        self.now = self.now.max(seen.at.saturating_add(late.end));
        if !is_open(seen)
            && let Some(kept) = self.open.remove(&round)
        {
            self.keep(kept);
        }
    }

    /// The session at hand is over; another one may begin.
    pub(super) fn end(&mut self) {
        for (_, kept) in std::mem::take(&mut self.open) {
            self.close(kept);
        }
        self.begun = self.now;
    }

    /// Keeps a round of which no more will be told: its stragglers were pending until the end of the session.
    fn close(&mut self, mut kept: Kept) {
        let until = self.now.saturating_sub(kept.seen.at);
        let seen = Arc::make_mut(&mut kept.seen);
        let lost = seen.probe.is_some_and(|watched| watched < until);
        let pending = seen.calls.iter().filter(|call| call.late.is_none() && is_cut(call.outcome));
        let pending: Vec<Late> = pending
            .map(|call| Late {
                endpoint: call.endpoint,
                outcome: Outcome::Missing(Reason::Aborted),
                // A line that should be there by then is lost: nothing is known but that the call was cut.
                end: if lost { call.end } else { until.max(call.end) },
            })
            .collect();
        for late in pending {
            seen.late(late);
        }
        self.keep(kept);
    }

    fn keep(&mut self, kept: Kept) {
        if !kept.pair.is_multiple_of(self.stride) {
            return;
        }
        self.calls += kept.seen.calls.len();
        self.kept.push(kept);
        while self.calls > self.most && self.kept.len() > 2 {
            self.stride = self.stride.saturating_mul(2);
            self.kept.retain(|kept| kept.pair.is_multiple_of(self.stride));
            self.calls = self.kept.iter().map(|kept| kept.seen.calls.len()).sum();
        }
    }

    /// The rounds in order of time, and the time at which everything had been told.
    pub(super) fn rounds(&self) -> (Vec<Arc<Seen>>, Duration) {
        let mut rounds: Vec<_> = self.kept.iter().map(|kept| Arc::clone(&kept.seen)).collect();
        rounds.sort_by_key(|seen| seen.at);
        (rounds, self.now)
    }

    /// How many rounds were kept, and of how many; `None` where that is all of them.
    pub(super) fn part(&self) -> Option<(u64, u64)> {
        let kept = self.kept.len() as u64;
        (kept < self.rounds).then_some((kept, self.rounds))
    }

    /// Whether a second request to an endpoint does no harm, as far as that was seen.
    pub(super) fn repeatable(&self, endpoint: usize) -> bool {
        !self.once.get(endpoint).copied().unwrap_or(false)
    }
}

/// Whether a straggler of it may still be told of.
fn is_open(seen: &Seen) -> bool {
    seen.probe.is_some() && seen.calls.iter().any(|call| call.late.is_none() && is_cut(call.outcome))
}

/// Only a call that was cut at its round's end is watched.
fn is_cut(outcome: Outcome) -> bool {
    outcome == Outcome::Missing(Reason::Deadline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EndpointId, Mode, Settings};
    use crate::stats::fixture as fx;
    use crate::whatif::survival::{Observation, Observed};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn round(no: u64, at: u64, probe: bool) -> Round {
        let settings = Arc::new(Settings { probe: 0.05, ..fx::settings(Mode::Deadline) });
        let mut round = fx::round(no, ms(at), &settings, &fx::TYPICAL);
        round.probe = probe.then(|| settings.watch());
        round
    }

    fn push(sample: &mut Sample, round: &Round) {
        sample.reached(round.at + round.took);
        sample.push(round, Seen::of(round));
    }

    fn cut(round: &Round) -> EndpointId {
        round.calls.iter().find(|call| is_cut(call.outcome)).expect("one is cut").endpoint
    }

    /// What was seen of the stragglers of a round, at the end.
    fn watched(sample: &Sample, place: usize) -> Vec<Observation> {
        let (rounds, now) = sample.rounds();
        let seen = &rounds[place];
        let cut = seen.calls.iter().filter(|call| is_cut(call.outcome));
        cut.filter_map(|call| seen.whole(call, now)).collect()
    }

    #[test]
    fn w7_stragglers_are_those_of_their_own_session() {
        let mut sample = Sample::new(8, 1000);
        let probe = round(3, 1_000, true);
        let cut = cut(&probe);
        for _ in 0..2 {
            push(&mut sample, &probe);
            push(&mut sample, &round(4, 1_500, false));
            let ok = Late { endpoint: cut, outcome: Outcome::Ok, end: ms(640) };
            sample.late(RoundNo(3), ok);
            sample.late(RoundNo(4), ok);
            sample.end();
            // The next session has a round of the same number, which was not watched.
            push(&mut sample, &round(3, 100, false));
            sample.late(RoundNo(3), Late { end: ms(300), ..ok });
            sample.end();
        }
        let (rounds, _) = sample.rounds();
        assert_eq!(rounds.len(), 6);
        assert!(rounds.is_sorted_by_key(|seen| seen.at), "one clock");
        for (place, seen) in rounds.iter().enumerate() {
            let late =
                seen.calls.iter().filter_map(|call| call.late).map(|late| late.end).collect::<Vec<_>>();
            let known = if seen.probe.is_some() { late.contains(&ms(640)) } else { late.is_empty() };
            assert!(known, "{place}: {late:?}");
        }
    }

    #[test]
    fn w7_where_a_session_ends_before_a_straggler_it_was_pending_until_then() {
        let mut sample = Sample::new(8, 1000);
        push(&mut sample, &round(1, 0, true));
        push(&mut sample, &round(2, 300, false));
        sample.end();
        push(&mut sample, &round(1, 90_000, false));
        sample.end();
        let until = ms(300) + round(2, 300, false).took;
        for seen in watched(&sample, 0) {
            assert_eq!(seen, Observation { time: until, what: Observed::Censored });
        }
    }

    #[test]
    fn w7_a_straggler_whose_line_is_lost_was_cut_and_no_more_is_known() {
        let mut sample = Sample::new(8, 1000);
        let probe = round(1, 0, true);
        push(&mut sample, &probe);
        push(&mut sample, &round(2, 60_000, false));
        sample.end();
        for seen in watched(&sample, 0) {
            assert!(seen.what == Observed::Censored && seen.time <= probe.took, "{seen:?}");
        }
        // Also where very many are.
        for no in 1..1000 {
            push(&mut sample, &round(no, no * 500, true));
        }
        assert!(sample.open.len() <= OPEN);
    }

    #[test]
    fn where_rounds_are_very_many_every_other_pair_goes_and_both_of_a_pair_stay() {
        let mut sample = Sample::new(8, 1000);
        for no in 1..=10_000 {
            push(&mut sample, &round(no, no * 500, no % 20 == 0));
        }
        sample.end();
        let (rounds, _) = sample.rounds();
        let calls: usize = rounds.iter().map(|seen| seen.calls.len()).sum();
        assert!(calls <= 1000 && calls > 400, "{calls}");
        assert_eq!(sample.part(), Some((rounds.len() as u64, 10_000)));
        let (odd, even): (Vec<u64>, Vec<u64>) =
            rounds.iter().map(|seen| seen.no.0).partition(|no| no % 2 == 1);
        assert_eq!(odd.iter().map(|no| no + 1).collect::<Vec<_>>(), even);
        assert!(odd.windows(2).all(|two| two[1] - two[0] == odd[1] - odd[0]), "evenly over time");
        let mut few = Sample::new(8, 1000);
        push(&mut few, &round(1, 0, false));
        assert_eq!(few.part(), None);
    }
}
