//! That what is written can be read, and that states stay apart in every eye.

use super::*;

const PALETTES: [(&str, &Palette, f64); 4] = [
    ("dark", &DARK, 4.5),
    ("light", &LIGHT, 4.5),
    ("high-contrast", &HIGH_CONTRAST, 7.0),
    ("colour-blind-safe", &COLOUR_BLIND_SAFE, 4.5),
];

const TONES: [Tone; 7] =
    [Tone::Plain, Tone::Dim, Tone::Ok, Tone::Error, Tone::Cut, Tone::Running, Tone::Hedge];

/// What linear light is to an eye: its red, green and blue.
type Eye = [[f64; 3]; 3];

/// Without red cones, and without green ones (Viénot, Brettel, Mollon 1999), on linear light.
const EYES: [(&str, Eye); 3] = [
    ("with all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protan", [[0.112_38, 0.887_62, 0.0], [0.112_38, 0.887_62, 0.0], [0.004_01, -0.004_01, 1.0]]),
    ("deutan", [[0.292_75, 0.707_25, 0.0], [0.292_75, 0.707_25, 0.0], [-0.022_34, 0.022_34, 1.0]]),
];

/// What red, green and blue light have in what is seen as bright (sRGB).
const LUMINANCE: [f64; 3] = [0.2126, 0.7152, 0.0722];

fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|value| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn luminance(colour: Rgb) -> f64 {
    linear(colour).iter().zip(LUMINANCE).map(|(light, share)| light * share).sum()
}

/// WCAG 2.1, 1.4.3.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// CIE L*a*b* of what an eye sees of a colour.
fn seen(colour: Rgb, eye: &Eye) -> [f64; 3] {
    let light = linear(colour);
    let product =
        |row: [f64; 3], column: [f64; 3]| -> f64 { row.iter().zip(column).map(|(a, b)| a * b).sum() };
    let seen = eye.map(|row| product(row, light).clamp(0.0, 1.0));
    // CIE XYZ of sRGB, each over that of white.
    let xyz = [([0.4124, 0.3576, 0.1805], 0.950_47), (LUMINANCE, 1.0), ([0.0193, 0.1192, 0.9505], 1.088_83)];
    let [x, y, z] = xyz.map(|(row, white)| {
        let part = product(row, seen) / white;
        if part > 0.008_856 { part.cbrt() } else { 7.787 * part + 16.0 / 116.0 }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// CIE 1976 distance: about 2 can just be told apart side by side.
fn distance(a: Rgb, b: Rgb, eye: &Eye) -> f64 {
    let (a, b) = (seen(a, eye), seen(b, eye));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The colour of a number from 16 on.
fn indexed(index: u8) -> Rgb {
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return Rgb(grey, grey, grey);
    }
    let n = usize::from(index - 16);
    Rgb(CUBE[n / 36], CUBE[n / 6 % 6], CUBE[n % 6])
}

#[test]
fn every_tone_can_be_read_on_its_ground_also_in_256_colours() {
    // WCAG 1.4.11 asks 3 of what is no text: bars, not words, are faint.
    for (name, palette, least) in PALETTES {
        for tone in TONES {
            for (ink, least) in [(palette.ink(tone), least), (palette.faint(tone), 3.0)] {
                let exact = contrast(ink, palette.ground);
                let near = contrast(indexed(nearest(ink)), indexed(nearest(palette.ground)));
                assert!(exact >= least, "{name} {tone:?} {ink:?}: {exact:.2}");
                assert!(near >= least, "{name} {tone:?} {ink:?}, in 256: {near:.2}");
            }
        }
    }
}

#[test]
fn states_stay_apart_for_every_eye_in_the_colours_made_for_that() {
    let apart = |palette: &Palette, least: f64| {
        let mut near = Vec::new();
        for (place, &one) in TONES.iter().enumerate() {
            for &other in &TONES[place + 1..] {
                for (eye, matrix) in &EYES {
                    let (a, b) = (palette.ink(one), palette.ink(other));
                    let exact = distance(a, b, matrix);
                    let near_by = distance(indexed(nearest(a)), indexed(nearest(b)), matrix);
                    if exact.min(near_by) < least {
                        near.push(format!("{one:?} and {other:?}, {eye}: {exact:.1}, {near_by:.1}"));
                    }
                }
            }
        }
        near
    };
    assert_eq!(apart(&COLOUR_BLIND_SAFE, 30.0), [""; 0]);
    // That the test can fail: the ordinary dark theme is not made for that.
    assert!(!apart(&DARK, 30.0).is_empty());
}

#[test]
fn the_nearest_numbered_colour_is_found() {
    for index in 16..=255 {
        assert_eq!(indexed(nearest(indexed(index))), indexed(index));
    }
    assert_eq!(nearest(Rgb(0xff, 0x6b, 0x6b)), 203);
    assert_eq!(nearest(Rgb(0x12, 0x16, 0x1c)), 233);
}
