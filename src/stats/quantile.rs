//! Quantiles of an endpoint's recent calls, with cut calls taken for what they are: not over yet.

use crate::domain::{Call, Outcome, Reason, Round};
use crate::whatif::survival::{Curve, Grade, Observation, Observed, fair};
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::time::Duration;

/// A quantile of the time to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantile {
    /// It was seen.
    At(Duration),
    /// Above this time: the calls that would tell were cut then, at the earliest.
    Above(Duration),
    /// Too few calls, or so many errors that it can never be reached.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    /// When its round ended, from the session's start.
    seen: Duration,
    what: Observation,
}

/// The last calls of an endpoint, also sorted by time.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    ring: VecDeque<Sample>,
    sorted: Vec<Observation>,
    /// Made when it is asked for, and forgotten with the next call.
    curve: OnceCell<Curve>,
}

impl PartialEq for Samples {
    /// Everything else follows from the calls.
    fn eq(&self, other: &Self) -> bool {
        self.ring == other.ring
    }
}

/// Calls that are kept: enough for a p99 with five calls at risk.
const KEPT: usize = 512;

impl Samples {
    /// Takes a call's primary attempt in, if anything was sent.
    pub(super) fn fold(&mut self, round: &Round, call: &Call) {
        let Some(mut what) = fair(round, call) else { return };
        // Nobody was waiting for it after the deadline; how late that was noticed is the instrument's own affair.
        if call.outcome == Outcome::Missing(Reason::Deadline) && what.what == Observed::Censored {
            what.time = what.time.min(round.budget);
        }
        if self.ring.len() == KEPT
            && let Some(old) = self.ring.pop_front()
        {
            // Equal times stand together; which of the equal ones goes does not matter to their order.
            let from = self.sorted.partition_point(|o| o.time < old.what.time);
            if let Some(at) = self.sorted.iter().skip(from).position(|o| *o == old.what) {
                self.sorted.remove(from + at);
            }
        }
        self.ring.push_back(Sample { seen: round.at.saturating_add(round.took), what });
        let at = self.sorted.partition_point(|o| o.time < what.time);
        self.sorted.insert(at, what);
        self.curve.take();
    }

    /// Times of the calls that answered and were seen at or after `from`.
    pub(super) fn completions(&self, from: Duration) -> impl Iterator<Item = Duration> + '_ {
        let answered = self.ring.iter().filter(|s| s.what.what == Observed::Ok);
        answered.filter(move |s| s.seen >= from).map(|s| s.what.time)
    }

    /// The smallest time by which a share `q` of the calls had answered, where enough calls were at risk.
    pub(super) fn quantile(&self, q: f64) -> Quantile {
        let curve = self.curve.get_or_init(|| Curve::of_sorted(&self.sorted));
        match curve.row_ok(q) {
            Some(row) if row.grade() == Grade::None => Quantile::None,
            Some(row) => Quantile::At(row.time),
            None if Grade::of(curve.n()) == Grade::None || curve.unreachable_ok(q) => Quantile::None,
            None => curve.pending_until().map_or(Quantile::None, Quantile::Above),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(list: &[(u64, Observed)]) -> Samples {
        let mut sorted: Vec<_> = list.iter().map(|&(t, what)| Observation { time: ms(t), what }).collect();
        sorted.sort_by_key(|o| o.time);
        Samples { sorted, ..Samples::default() }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn without_censoring_it_is_the_nearest_rank() {
        let s = samples(&(1..=100).map(|i| (i, Observed::Ok)).collect::<Vec<_>>());
        assert_eq!(s.quantile(0.5), Quantile::At(ms(50)));
        assert_eq!(s.quantile(0.95), Quantile::At(ms(95)));
        assert_eq!(s.quantile(0.99), Quantile::None, "two calls at risk are no estimate");
    }

    #[test]
    fn w1_cut_calls_are_censored_not_dropped() {
        let mut list: Vec<_> = (1..=60).map(|i| (i, Observed::Ok)).collect();
        list.extend((0..40).map(|_| (200, Observed::Censored)));
        let s = samples(&list);
        assert_eq!(s.quantile(0.5), Quantile::At(ms(50)));
        assert_eq!(s.quantile(0.95), Quantile::Above(ms(200)));
    }

    #[test]
    fn errors_make_a_quantile_unreachable() {
        let mut list: Vec<_> = (1..=80).map(|i| (i + 10, Observed::Ok)).collect();
        list.extend((0..20).map(|_| (2, Observed::Error)));
        let s = samples(&list);
        assert_eq!(s.quantile(0.5), Quantile::At(ms(60)));
        assert_eq!(s.quantile(0.95), Quantile::None);
    }

    #[test]
    fn early_censoring_moves_its_weight_to_later_events() {
        let mut list = vec![(10, Observed::Censored); 50];
        list.extend((1..=50).map(|i| (100 + i, Observed::Ok)));
        assert_eq!(samples(&list).quantile(0.5), Quantile::At(ms(125)));
    }

    #[test]
    fn below_five_at_risk_there_is_no_number_unless_the_rest_was_cut() {
        let answered: Vec<_> = (1..=6).map(|i| (i * 10, Observed::Ok)).collect();
        assert_eq!(samples(&answered).quantile(0.5), Quantile::None);
        let mut cut: Vec<_> = (1..=60).map(|i| (i, Observed::Ok)).collect();
        cut.extend([(200, Observed::Censored); 4]);
        assert_eq!(samples(&cut).quantile(0.95), Quantile::Above(ms(200)));
        assert_eq!(samples(&[(200, Observed::Censored); 4]).quantile(0.5), Quantile::None);
        assert_eq!(samples(&[(200, Observed::Censored); 5]).quantile(0.5), Quantile::Above(ms(200)));
    }

    #[test]
    fn nothing_seen_is_no_number() {
        assert_eq!(samples(&[]).quantile(0.5), Quantile::None);
        assert_eq!(samples(&[(1, Observed::Ok), (2, Observed::Censored)]).quantile(0.9), Quantile::None);
    }
}
