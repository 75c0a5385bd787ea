//! Numbers that a seed and a place decide, so that the same seed gives the same again.

/// One step of `SplitMix64` (Steele, Lea and Flood 2014).
#[must_use]
pub const fn mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The key of a draw: `fold(mix(seed), words)` with `fold(h, w) = mix(h ^ w)`.
#[must_use]
pub fn key(seed: u64, words: &[u64]) -> u64 {
    words.iter().fold(mix(seed), |key, word| mix(key ^ word))
}

/// A coin that falls in this share (0 to 1) of the places: the key's upper 53 bits as a number in [0, 1), below it.
#[must_use]
pub fn coin(seed: u64, words: &[u64], share: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    let uniform = (key(seed, words) >> 11) as f64 / (1_u64 << 53) as f64;
    uniform < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_reference_values_hold() {
        // First outputs of SplitMix64 seeded with 0: a changed formula would redraw every recorded seed.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn a_coin_falls_as_often_as_it_should_and_always_the_same_way() {
        let falls = |seed, share| (1..=10_000).filter(|&i| coin(seed, &[5, i], share)).count();
        assert_eq!([falls(1, 0.0), falls(1, 1.0)], [0, 10_000]);
        // Within four standard deviations of 500.
        assert!((410..=590).contains(&falls(7, 0.05)), "{}", falls(7, 0.05));
        assert_eq!(falls(7, 0.05), falls(7, 0.05));
        let other = (1..=1000).filter(|&i| coin(7, &[5, i], 0.5) != coin(8, &[5, i], 0.5)).count();
        assert!(other > 0, "another seed, other coins");
    }
}
