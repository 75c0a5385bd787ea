//! A recording being played: how fast, where to, how far.

use super::ids::RoundNo;
use std::fmt;
use std::time::Duration;

/// How fast a recording is played: a power of two of the time in which it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Speed(i8);

impl Speed {
    /// A quarter of real time.
    pub const SLOWEST: Self = Self(-2);

    /// 64 times real time.
    pub const FASTEST: Self = Self(6);

    /// Every speed, the slowest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (Self::SLOWEST.0..=Self::FASTEST.0).map(Self)
    }

    /// The next slower one, if there is one.
    #[must_use]
    pub fn slower(self) -> Self {
        Self(self.0.saturating_sub(1)).max(Self::SLOWEST)
    }

    /// The next faster one, if there is one.
    #[must_use]
    pub fn faster(self) -> Self {
        Self(self.0.saturating_add(1)).min(Self::FASTEST)
    }

    /// How much of the recording goes by in this time.
    #[must_use]
    pub fn played(self, time: Duration) -> Duration {
        let factor = 1_u32 << self.0.unsigned_abs();
        if self.0 < 0 { time / factor } else { time.saturating_mul(factor) }
    }

    /// How long it takes to play so much of the recording.
    #[must_use]
    pub fn takes(self, time: Duration) -> Duration {
        Self(-self.0).played(time)
    }

    /// What this was displayed from, the `x` left out or not; also `0.25` and `0.5`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('x').unwrap_or(text);
        let decimal = |speed: Self| match speed.0 {
            -2 => Some("0.25"),
            -1 => Some("0.5"),
            _ => None,
        };
        Self::all()
            .find(|speed| speed.to_string().strip_suffix('x') == Some(text) || decimal(*speed) == Some(text))
    }
}

impl fmt::Display for Speed {
    /// `1/4x`, `1x`, `64x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = 1_u32 << self.0.unsigned_abs();
        if self.0 < 0 { f.pad(&format!("1/{factor}x")) } else { f.pad(&format!("{factor}x")) }
    }
}

/// Where to go in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// So far back from here.
    Back(Duration),
    /// So far ahead from here.
    Ahead(Duration),
    /// So many thousandths of the whole from its beginning.
    Part(u16),
    /// The end of this round.
    Round(RoundNo),
    /// The end of the round before this one, or before the one that is being gone to.
    Before(RoundNo),
    /// The end of the round after this one, or after the one that is being gone to.
    After(RoundNo),
}

/// What a player does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlayState {
    /// It plays.
    #[default]
    Playing,
    /// It waits for a key.
    Paused,
    /// It has played everything there is, and there will be more.
    Following,
    /// It has played everything.
    End,
}

/// How far the playing of a recording has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Playback {
    /// Where it is, from the recording's start.
    pub position: Duration,
    /// How long the recording is, as far as it has been gone through.
    pub length: Duration,
    /// How fast it goes.
    pub speed: Speed,
    /// What the player does.
    pub state: PlayState,
    /// The percentage that has been gone through, while that is not everything.
    pub indexed: Option<u8>,
    /// What is to be said about the recording.
    pub notice: Option<String>,
    /// Why there is nothing to read after its end, where it should go on.
    pub fault: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_go_from_a_quarter_to_64_in_powers_of_two() {
        let words: Vec<String> = Speed::all().map(|s| s.to_string()).collect();
        assert_eq!(words, ["1/4x", "1/2x", "1x", "2x", "4x", "8x", "16x", "32x", "64x"]);
        assert_eq!(Speed::default().to_string(), "1x");
        assert_eq!(Speed::SLOWEST.slower(), Speed::SLOWEST);
        assert_eq!(Speed::FASTEST.faster(), Speed::FASTEST);
        for (slow, fast) in Speed::all().zip(Speed::all().skip(1)) {
            assert_eq!((slow.faster(), fast.slower()), (fast, slow));
        }
    }

    #[test]
    fn time_is_stretched_and_shrunk() {
        let second = Duration::from_secs(1);
        assert_eq!(Speed::SLOWEST.played(second), Duration::from_millis(250));
        assert_eq!(Speed::SLOWEST.takes(second), Duration::from_secs(4));
        assert_eq!(Speed::FASTEST.played(second), Duration::from_secs(64));
        assert_eq!(Speed::FASTEST.takes(Duration::from_secs(64)), second);
        assert_eq!(Speed::FASTEST.played(Duration::MAX), Duration::MAX);
    }

    #[test]
    fn speeds_are_read_as_they_are_written_and_as_decimals() {
        for speed in Speed::all() {
            let text = speed.to_string();
            assert_eq!(Speed::parse(&text), Some(speed));
            assert_eq!(Speed::parse(text.trim_end_matches('x')), Some(speed));
        }
        assert_eq!(Speed::parse("0.25"), Some(Speed::SLOWEST));
        assert_eq!(Speed::parse("0.5x"), Speed::parse("1/2"));
        for no in ["", "x", "3", "128", "0", "-1", "1/8", "4 x", "1e1"] {
            assert_eq!(Speed::parse(no), None, "{no:?}");
        }
    }
}
