//! The colours of the themes that paint their own ground.

use super::Tone;

/// Red, green, blue (sRGB).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

/// A ground and what is written on it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Palette {
    pub(super) ground: Rgb,
    plain: Rgb,
    dim: Rgb,
    ok: Rgb,
    error: Rgb,
    cut: Rgb,
    running: Rgb,
    hedge: Rgb,
}

/// Light on dark.
pub(super) const DARK: Palette = Palette {
    ground: Rgb(0x12, 0x16, 0x1c),
    plain: Rgb(0xd8, 0xdc, 0xe2),
    dim: Rgb(0x8b, 0x94, 0x9e),
    ok: Rgb(0x5f, 0xc8, 0x6f),
    error: Rgb(0xff, 0x6b, 0x6b),
    cut: Rgb(0xe3, 0xb3, 0x41),
    running: Rgb(0x4c, 0xc3, 0xd9),
    hedge: Rgb(0xc7, 0x92, 0xea),
};

/// Dark on light.
pub(super) const LIGHT: Palette = Palette {
    ground: Rgb(0xfb, 0xfb, 0xfa),
    plain: Rgb(0x24, 0x29, 0x2e),
    dim: Rgb(0x5f, 0x66, 0x6d),
    ok: Rgb(0x1a, 0x74, 0x34),
    error: Rgb(0xc0, 0x1f, 0x2d),
    cut: Rgb(0x85, 0x5d, 0x00),
    running: Rgb(0x0a, 0x6a, 0x78),
    hedge: Rgb(0x7b, 0x36, 0xa8),
};

/// On black, each of them with a contrast of 7 and more.
pub(super) const HIGH_CONTRAST: Palette = Palette {
    ground: Rgb(0, 0, 0),
    plain: Rgb(0xff, 0xff, 0xff),
    dim: Rgb(0xc6, 0xc6, 0xc6),
    ok: Rgb(0x5f, 0xff, 0x87),
    error: Rgb(0xff, 0x87, 0x87),
    cut: Rgb(0xff, 0xd7, 0x5f),
    running: Rgb(0x5f, 0xd7, 0xff),
    hedge: Rgb(0xff, 0xaf, 0xff),
};

/// Blue for what went well and orange for errors: red and green are the same to many. All but the ground are of the 256
/// that terminals number, chosen to be as far apart as can be in the eyes of those with two kinds of cones.
pub(super) const COLOUR_BLIND_SAFE: Palette = Palette {
    ground: Rgb(0x12, 0x16, 0x1c),
    plain: Rgb(0xe4, 0xe4, 0xe4),
    dim: Rgb(0x8a, 0x8a, 0x8a),
    ok: Rgb(0x00, 0x87, 0xff),
    error: Rgb(0xd7, 0x5f, 0x00),
    cut: Rgb(0xff, 0xd7, 0x00),
    running: Rgb(0x00, 0xff, 0x87),
    hedge: Rgb(0xd7, 0xaf, 0xff),
};

/// How much of its colour a faint tone keeps, in hundredths.
const FAINT: u16 = 80;

impl Palette {
    pub(super) const fn ink(&self, tone: Tone) -> Rgb {
        match tone {
            Tone::Plain => self.plain,
            Tone::Dim => self.dim,
            Tone::Ok => self.ok,
            Tone::Error => self.error,
            Tone::Cut => self.cut,
            Tone::Running => self.running,
            Tone::Hedge => self.hedge,
        }
    }

    /// A tone mixed toward the ground.
    pub(super) fn faint(&self, tone: Tone) -> Rgb {
        let (ink, ground) = (self.ink(tone), self.ground);
        let mix = |ink: u8, ground: u8| {
            let sum = u16::from(ink) * FAINT + u16::from(ground) * (100 - FAINT);
            u8::try_from(sum / 100).unwrap_or(u8::MAX)
        };
        Rgb(mix(ink.0, ground.0), mix(ink.1, ground.1), mix(ink.2, ground.2))
    }
}

/// The steps of the 6x6x6 cube of the colours that terminals number; it begins at 16.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The nearest of those colours: of the cube or of the 24 greys behind it.
pub(super) fn nearest(wanted: Rgb) -> u8 {
    let step = |value: u8| (0_u8..).zip(CUBE).min_by_key(|(_, c)| c.abs_diff(value)).unwrap_or((0, 0));
    let ((r, red), (g, green), (b, blue)) = (step(wanted.0), step(wanted.1), step(wanted.2));
    let cube = (16 + 36 * r + 6 * g + b, Rgb(red, green, blue));
    let greys = (0..24).map(|n| (232 + n, 8 + 10 * n)).map(|(index, grey)| (index, Rgb(grey, grey, grey)));
    let far = |Rgb(r, g, b): Rgb| {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(r, wanted.0) + square(g, wanted.1) + square(b, wanted.2)
    };
    std::iter::once(cube).chain(greys).min_by_key(|(_, colour)| far(*colour)).map_or(16, |(index, _)| index)
}

#[cfg(test)]
mod tests;
