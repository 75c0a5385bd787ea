//! Times in bounded memory: exact while there is room for each, with ever fewer significant bits when there is not.
//!
//! The idea of giving up resolution as room runs out, evenly over the whole range, is the uniform collapse of
//! `UDDSketch` (Epicoco et al., IEEE Access 8, 2020); here the bins are those of binary floating-point numbers. Histogram
//! libraries fix their resolution beforehand and keep each kind apart.

/// Times in microseconds, of `K` kinds. All kinds are binned together, so that a time of one kind never changes
/// places with an equal one of another.
#[derive(Debug, Clone)]
pub(super) struct Times<const K: usize> {
    /// Significant bits that are kept of each time.
    bits: u32,
    /// By the last time of each bin, ascending, how many of each kind.
    bins: Vec<(u32, [u32; K])>,
}

impl<const K: usize> Default for Times<K> {
    fn default() -> Self {
        Self { bits: u32::BITS, bins: Vec::new() }
    }
}

impl<const K: usize> Times<K> {
    /// Bins at most. There is one list of the rounds; each of their endpoints has its own.
    const ROOM: usize = if K == 1 { 8192 } else { 2048 };

    /// Adds a time of a kind; a kind that there is not is none.
    pub(super) fn push(&mut self, kind: usize, time: u32) {
        if kind >= K {
            return;
        }
        let time = last_of(time, self.bits);
        let index = self.bins.binary_search_by_key(&time, |&(time, _)| time).unwrap_or_else(|index| {
            self.bins.insert(index, (time, [0; K]));
            index
        });
        if let Some((_, counts)) = self.bins.get_mut(index) {
            counts[kind] = counts[kind].saturating_add(1);
        }
        if self.bins.len() > Self::ROOM {
            self.coarsen();
        }
    }

    /// Joins bins until a quarter of them is free, so that it is seldom done. With one bit there are 33 at most.
    fn coarsen(&mut self) {
        while self.bins.len() > Self::ROOM / 4 * 3 {
            self.bits -= 1;
            self.bins.iter_mut().for_each(|(time, _)| *time = last_of(*time, self.bits));
            self.bins.dedup_by(|next, before| {
                let same = next.0 == before.0;
                if same {
                    let pairs = before.1.iter_mut().zip(next.1);
                    pairs.for_each(|(count, more)| *count = count.saturating_add(more));
                }
                same
            });
        }
    }

    /// By what share of itself a time may read too long; `None` while times are exact.
    pub(super) fn rounded_by(&self) -> Option<f64> {
        (self.bits < u32::BITS).then(|| 2_f64.powi(1 - i32::try_from(self.bits).unwrap_or(i32::MAX)))
    }

    /// Ascending distinct times with how often each was seen, by kind. A rounded time is the last of its bin: it
    /// never reads better than it was.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, [u64; K])> {
        self.bins.iter().map(|&(time, counts)| (time, counts.map(u64::from)))
    }
}

/// The longest time with the same `bits` (1 or more) leading significant bits and the same length.
const fn last_of(time: u32, bits: u32) -> u32 {
    let length = u32::BITS - time.leading_zeros();
    let spare = length.saturating_sub(bits);
    // At most 31 are spare.
    time | ((1 << spare) - 1)
}

impl Times<1> {
    /// The smallest time with at least the share `q` of all at or below it, in microseconds; `None` without any.
    pub(super) fn nearest_rank(&self, q: f64) -> Option<u32> {
        let n: u64 = self.counts().map(|(_, [count])| count).sum();
        #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
        let rank = (q * n as f64 - 1e-9).ceil().max(1.0);
        let mut below = 0;
        let at = self.counts().find(|&(_, [count])| {
            below += count;
            #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
            let reached = below as f64 >= rank;
            reached
        });
        // A share of 1 or more is the last.
        at.or(self.counts().last()).map(|(time, _)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROOM: usize = Times::<1>::ROOM;

    /// Deterministic times over the whole range of orders.
    fn time(i: u32) -> u32 {
        i.wrapping_mul(2_654_435_761) >> (i % 20)
    }

    fn of(times: impl Iterator<Item = u32>) -> Times<1> {
        let mut all = Times::default();
        times.for_each(|time| all.push(0, time));
        all
    }

    #[test]
    fn what_there_is_room_for_is_exact() {
        let count = u32::try_from(ROOM).unwrap();
        let mut times = of((0..count).map(time));
        assert_eq!(times.rounded_by(), None);
        let mut sorted: Vec<u32> = (0..count).map(time).collect();
        sorted.sort_unstable();
        assert_eq!(times.nearest_rank(0.5), Some(sorted[ROOM / 2 - 1]));
        assert_eq!(times.nearest_rank(1.0), sorted.last().copied());
        (0..count).for_each(|i| times.push(0, time(i)));
        assert_eq!(times.rounded_by(), None, "the same times again take no room");
    }

    #[test]
    fn beyond_it_no_time_is_off_by_more_than_is_said_and_none_is_lost() {
        let count = 20 * u32::try_from(ROOM).unwrap();
        let times = of((0..count).map(time));
        let by = times.rounded_by().unwrap();
        assert!(by <= 1.0 / 128.0, "over 32 powers of two: {by}");
        assert_eq!(times.counts().map(|c| c.1[0]).sum::<u64>(), u64::from(count));
        let mut sorted: Vec<u32> = (0..count).map(time).collect();
        sorted.sort_unstable();
        for permille in 1..1000_usize {
            let exact = sorted[(sorted.len() * permille).div_ceil(1000) - 1];
            let q = f64::from(u16::try_from(permille).unwrap()) / 1000.0;
            let binned = times.nearest_rank(q).unwrap();
            assert!(binned >= exact, "never better than it was: {binned} for {exact}");
            assert!(f64::from(binned - exact) <= by * f64::from(exact), "{binned} for {exact}");
        }
    }

    #[test]
    fn times_of_a_service_are_rounded_by_less_than_half_a_percent() {
        // 20 to 320 ms: four powers of two.
        let times = of((0..100_000).map(|i| 20_000 + time(i) % 300_000));
        assert!(times.rounded_by().unwrap() <= 1.0 / 1024.0, "{:?}", times.rounded_by());
        let mut lane = Times::<3>::default();
        (0..100_000).for_each(|i| lane.push(0, 20_000 + time(i) % 300_000));
        assert!(lane.rounded_by().unwrap() <= 1.0 / 256.0, "{:?}", lane.rounded_by());
    }

    #[test]
    fn kinds_are_binned_together_and_their_ties_stay_ties() {
        let mut times = Times::<2>::default();
        times.push(1, 200_100);
        times.push(0, 200_099);
        let many = u32::try_from(Times::<2>::ROOM).unwrap();
        (0..many).for_each(|i| times.push(0, i * 1000));
        assert!(times.rounded_by().is_some());
        let counts: Vec<_> = times.counts().collect();
        let tied = counts.iter().find(|(time, _)| *time >= 200_100).unwrap();
        assert!(tied.1[0] >= 1 && tied.1[1] == 1, "{tied:?}");
        times.push(7, 1);
        assert!(times.counts().eq(counts), "there is no such kind");
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(Times::<1>::default().nearest_rank(0.5), None);
    }

    proptest! {
        /// Whatever the times and their order: room is kept, order and counts stay, and rounding keeps its promise.
        #[test]
        fn room_and_promise_are_kept(seed in any::<u32>(), count in 0_u32..9000, shift in 0_u32..31) {
            let given = (0..count).map(|i| time(i ^ seed) >> shift);
            let mut times = Times::<3>::default();
            given.clone().for_each(|time| times.push(0, time));
            prop_assert!(times.bins.len() <= Times::<3>::ROOM);
            prop_assert!(times.bins.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert_eq!(times.counts().map(|c| c.1[0]).sum::<u64>(), u64::from(count));
            let by = times.rounded_by().unwrap_or_default();
            for time in given {
                let read = last_of(time, times.bits);
                prop_assert!(times.bins.binary_search_by_key(&read, |bin| bin.0).is_ok());
                prop_assert!(f64::from(read - time) <= by * f64::from(time), "{} for {}", read, time);
            }
        }
    }
}
