//! Times in bounded memory: exact while they are few, counted in bins of three significant digits when they are
//! many.

use hdrhistogram::Histogram;

/// Significant digits beyond that: 2048 bins for each power of two, so a time reads less than 1/1024 too long.
const DIGITS: u8 = 3;

/// Times in microseconds, of `K` kinds. All kinds are binned together, so that a time of one kind never changes
/// places with an equal one of another.
#[derive(Debug, Clone)]
pub(super) struct Times<const K: usize> {
    kept: Kept<K>,
}

#[derive(Debug, Clone)]
enum Kept<const K: usize> {
    Exact([Vec<u32>; K]),
    Binned(Box<[Histogram<u32>; K]>),
}

impl<const K: usize> Default for Times<K> {
    fn default() -> Self {
        Self { kept: Kept::Exact([const { Vec::new() }; K]) }
    }
}

impl<const K: usize> Times<K> {
    /// Values of one kind that are kept exactly: of the rounds, of which there is one list, many; of their endpoints,
    /// each of which has its own, about as many as the bins take that come after them.
    const EXACT: usize = if K == 1 { 65_536 } else { 8192 };

    /// Adds a time of a kind; a kind that there is not is none.
    pub(super) fn push(&mut self, kind: usize, time: u32) {
        match &mut self.kept {
            Kept::Exact(lists) => {
                let Some(list) = lists.get_mut(kind) else { return };
                list.push(time);
                if list.len() > Self::EXACT {
                    self.bin();
                }
            }
            Kept::Binned(bins) => {
                if let Some(bins) = bins.get_mut(kind) {
                    record(bins, time);
                }
            }
        }
    }

    /// Goes over to bins, which grow with the times. Their bounds are ones that the library takes; were they not, times
    /// would stay exact.
    fn bin(&mut self) {
        let Kept::Exact(lists) = &self.kept else { return };
        let Ok(mut empty) = Histogram::<u32>::new(DIGITS) else { return };
        empty.auto(true);
        let binned = lists.each_ref().map(|list| {
            let mut bins = empty.clone();
            for &time in list {
                record(&mut bins, time);
            }
            bins
        });
        self.kept = Kept::Binned(Box::new(binned));
    }

    /// Whether they are rounded.
    pub(super) const fn rounded(&self) -> bool {
        matches!(self.kept, Kept::Binned(_))
    }

    /// Ascending distinct times with how often each was seen, by kind. A binned time is the last of its bin: it
    /// never reads better than it was.
    pub(super) fn counts(&self) -> Vec<(u32, [u64; K])> {
        let mut all: Vec<(u32, usize, u64)> = match &self.kept {
            Kept::Exact(lists) => {
                let of = |(kind, list): (usize, &Vec<u32>)| {
                    list.iter().map(|&time| (time, kind, 1)).collect::<Vec<_>>()
                };
                lists.iter().enumerate().flat_map(of).collect()
            }
            Kept::Binned(bins) => {
                let micros = |value| u32::try_from(value).unwrap_or(u32::MAX);
                let of = |(kind, bins): (usize, &Histogram<u32>)| {
                    let steps = bins.iter_recorded();
                    steps
                        .map(|s| (micros(s.value_iterated_to()), kind, s.count_at_value().into()))
                        .collect::<Vec<_>>()
                };
                bins.iter().enumerate().flat_map(of).collect()
            }
        };
        all.sort_unstable_by_key(|&(time, ..)| time);
        let tied = all.chunk_by(|a, b| a.0 == b.0).filter_map(|tied| {
            let mut counts = [0; K];
            for &(_, kind, count) in tied {
                counts[kind] += count;
            }
            Some((tied.first()?.0, counts))
        });
        tied.collect()
    }
}

/// Counts a time. One that bins can't grow to is counted as the longest that they have.
fn record(bins: &mut Histogram<u32>, time: u32) {
    if bins.record(time.into()).is_err() {
        bins.saturating_record(time.into());
    }
}

impl Times<1> {
    /// The smallest time with at least the share `q` of all at or below it, in microseconds; `None` without any.
    pub(super) fn nearest_rank(&self, q: f64) -> Option<u32> {
        let counts = self.counts();
        let n: u64 = counts.iter().map(|&(_, [count])| count).sum();
        #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
        let rank = (q * n as f64 - 1e-9).ceil().max(1.0);
        let mut below = 0;
        let at = counts.iter().find(|&&(_, [count])| {
            below += count;
            #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
            let reached = below as f64 >= rank;
            reached
        });
        // A share of 1 or more is the last.
        at.or(counts.last()).map(|&(time, _)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: usize = Times::<1>::EXACT;

    /// Deterministic times over the whole range of orders.
    fn time(i: u32) -> u32 {
        i.wrapping_mul(2_654_435_761) >> (i % 20)
    }

    #[test]
    fn what_is_kept_is_exact_up_to_its_limit() {
        let mut times = Times::<1>::default();
        let count = u32::try_from(EXACT).unwrap();
        (0..count).for_each(|i| times.push(0, time(i)));
        assert!(!times.rounded());
        let mut sorted: Vec<u32> = (0..count).map(time).collect();
        sorted.sort_unstable();
        assert_eq!(times.nearest_rank(0.5), Some(sorted[EXACT / 2 - 1]));
        assert_eq!(times.nearest_rank(1.0), sorted.last().copied());
    }

    #[test]
    fn beyond_it_no_time_is_off_by_more_than_1_in_1024_and_none_is_lost() {
        let mut times = Times::<1>::default();
        let count = 3 * u32::try_from(EXACT).unwrap();
        (0..count).for_each(|i| times.push(0, time(i)));
        assert!(times.rounded());
        assert_eq!(times.counts().iter().map(|c| c.1[0]).sum::<u64>(), u64::from(count));
        let mut sorted: Vec<u32> = (0..count).map(time).collect();
        sorted.sort_unstable();
        for permille in 1..1000_usize {
            let exact = sorted[(sorted.len() * permille).div_ceil(1000) - 1];
            let q = f64::from(u16::try_from(permille).unwrap()) / 1000.0;
            let binned = times.nearest_rank(q).unwrap();
            assert!(binned >= exact, "never better than it was: {binned} for {exact}");
            assert!(u64::from(binned - exact) * 1024 <= u64::from(exact), "{binned} for {exact}");
        }
    }

    #[test]
    fn kinds_are_binned_together_and_their_ties_stay_ties() {
        let mut times = Times::<2>::default();
        times.push(1, 200_100);
        let many = Times::<2>::EXACT;
        (0..=many).for_each(|_| times.push(0, 200_090));
        assert!(times.rounded());
        let counts = times.counts();
        assert_eq!(counts.len(), 1, "{counts:?}");
        assert_eq!(counts[0].1, [many as u64 + 1, 1]);
        times.push(7, 1);
        assert_eq!(times.counts(), counts, "there is no such kind");
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(Times::<1>::default().nearest_rank(0.5), None);
    }
}
