//! Quantiles of an endpoint's recent calls, with cut calls taken for what they are: not over yet.

use crate::domain::{AttemptOutcome, Call, Outcome, Reason, Round};
use std::collections::VecDeque;
use std::time::Duration;

/// A quantile of the time to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantile {
    /// It was seen.
    At(Duration),
    /// Above this time: until then it was not reached, and after that too few calls were still pending.
    Above(Duration),
    /// Too few calls, or so many errors that it can never be reached.
    None,
}

/// How an observed call came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Ok,
    Error,
    /// Given up while it was pending. Sorts last: events come before censorings of the same time.
    Censored,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    /// When its round ended, from the session's start.
    seen: Duration,
    time: Duration,
    end: End,
}

/// The last calls of an endpoint, also sorted by time.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    ring: VecDeque<Sample>,
    sorted: Vec<(Duration, End)>,
}

/// Calls that are kept: enough for a p99 with five calls at risk.
const KEPT: usize = 512;

/// Calls that must still be at risk for a number to be given.
const AT_RISK: usize = 5;

/// Slack for sums of shares, so that a quantile that is met exactly is not missed by a rounding error.
const SLACK: f64 = 1e-9;

impl Samples {
    /// Takes a call's primary attempt in, if anything was sent.
    pub(super) fn fold(&mut self, round: &Round, call: &Call) {
        let Some((time, end)) = observe(round, call) else { return };
        if self.ring.len() == KEPT
            && let Some(old) = self.ring.pop_front()
            && let Ok(at) = self.sorted.binary_search(&(old.time, old.end))
        {
            self.sorted.remove(at);
        }
        self.ring.push_back(Sample { seen: round.at.saturating_add(round.took), time, end });
        let at = self.sorted.partition_point(|&other| other < (time, end));
        self.sorted.insert(at, (time, end));
    }

    /// Times of the calls that answered and were seen at or after `from`.
    pub(super) fn completions(&self, from: Duration) -> impl Iterator<Item = Duration> + '_ {
        self.ring.iter().filter(move |s| s.seen >= from && s.end == End::Ok).map(|s| s.time)
    }

    /// The smallest time by which a share `q` of the calls had answered.
    ///
    /// Aalen-Johansen with errors as a competing risk: `F(t) = sum S(t-) d/n`. Followed as long as enough
    /// calls are at risk; a quantile that could only come after that is above the last time looked at.
    #[expect(clippy::cast_precision_loss, reason = "counts up to KEPT")]
    pub(super) fn quantile(&self, q: f64) -> Quantile {
        let (mut answered, mut pending, mut index) = (0.0, 1.0, 0);
        let mut seen = None;
        while let Some(&(time, _)) = self.sorted.get(index) {
            let at_risk = self.sorted.len() - index;
            if at_risk < AT_RISK {
                break;
            }
            let ties = self.sorted.iter().skip(index).take_while(|s| s.0 == time);
            let (mut ok, mut events, mut all) = (0_usize, 0_usize, 0_usize);
            for &(_, end) in ties {
                ok += usize::from(end == End::Ok);
                events += usize::from(end != End::Censored);
                all += 1;
            }
            answered += pending * ok as f64 / at_risk as f64;
            pending *= 1.0 - events as f64 / at_risk as f64;
            if answered >= q - SLACK {
                return Quantile::At(time);
            }
            seen = Some(time);
            index += all;
        }
        match seen {
            Some(time) if answered + pending >= q - SLACK => Quantile::Above(time),
            _ => Quantile::None,
        }
    }
}

/// What a call shows of its endpoint's latency; `None` where nothing was sent.
fn observe(round: &Round, call: &Call) -> Option<(Duration, End)> {
    if let [primary, _, ..] = call.attempts.as_slice() {
        let end = match primary.outcome {
            AttemptOutcome::Ok => End::Ok,
            AttemptOutcome::Failed => End::Error,
            AttemptOutcome::Cancelled => End::Censored,
        };
        return Some((primary.end.saturating_sub(primary.start), end));
    }
    match (call.outcome, call.late_by) {
        (Outcome::Ok, _) => Some((call.end, End::Ok)),
        (Outcome::NotNeeded, _) => Some((call.end, End::Censored)),
        // Late, but seen: the call's real time is known.
        (Outcome::Missing(Reason::Deadline), Some(late)) => {
            Some((round.budget.saturating_add(late), End::Ok))
        }
        (Outcome::Missing(reason), _) => match reason {
            Reason::BreakerOpen
            | Reason::BackingOff
            | Reason::LocalFdLimit
            | Reason::LocalPortLimit
            | Reason::InvalidRequest => None,
            Reason::Deadline
            | Reason::RequestDeadline
            | Reason::Throttled
            | Reason::Aborted
            | Reason::SiblingFailed
            | Reason::QuorumImpossible => Some((call.end, End::Censored)),
            _ => Some((call.end, End::Error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(list: &[(u64, End)]) -> Samples {
        let mut sorted: Vec<_> = list.iter().map(|&(ms, end)| (Duration::from_millis(ms), end)).collect();
        sorted.sort_unstable();
        Samples { ring: VecDeque::new(), sorted }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn without_censoring_it_is_the_nearest_rank() {
        let s = samples(&(1..=100).map(|i| (i, End::Ok)).collect::<Vec<_>>());
        assert_eq!(s.quantile(0.5), Quantile::At(ms(50)));
        assert_eq!(s.quantile(0.95), Quantile::At(ms(95)));
        assert_eq!(s.quantile(0.99), Quantile::Above(ms(96)), "two calls at risk are no estimate");
    }

    #[test]
    fn w1_cut_calls_are_censored_not_dropped() {
        let mut list: Vec<_> = (1..=60).map(|i| (i, End::Ok)).collect();
        list.extend((0..40).map(|_| (200, End::Censored)));
        let s = samples(&list);
        assert_eq!(s.quantile(0.5), Quantile::At(ms(50)));
        assert_eq!(s.quantile(0.95), Quantile::Above(ms(200)));
    }

    #[test]
    fn errors_make_a_quantile_unreachable() {
        let mut list: Vec<_> = (1..=80).map(|i| (i + 10, End::Ok)).collect();
        list.extend((0..20).map(|_| (2, End::Error)));
        let s = samples(&list);
        assert_eq!(s.quantile(0.5), Quantile::At(ms(60)));
        assert_eq!(s.quantile(0.95), Quantile::None);
    }

    #[test]
    fn early_censoring_moves_its_weight_to_later_events() {
        let mut list = vec![(10, End::Censored); 50];
        list.extend((1..=50).map(|i| (100 + i, End::Ok)));
        assert_eq!(samples(&list).quantile(0.5), Quantile::At(ms(125)));
    }

    #[test]
    fn nothing_seen_is_no_number() {
        assert_eq!(samples(&[]).quantile(0.5), Quantile::None);
        assert_eq!(samples(&[(1, End::Ok), (2, End::Censored)]).quantile(0.9), Quantile::None);
    }
}
