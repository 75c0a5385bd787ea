//! A lane's recent past: how many calls ended when, as a faint hill on its own bar.

use super::axis::Axis;
use super::ctx::Ctx;
use super::text::Pen;
use crate::domain::EndpointId;

/// Weights that spread a completion over its neighbours, so that a hill is no comb.
const KERNEL: [u32; 5] = [1, 2, 3, 2, 1];

/// Height that fills the rows, at the least.
const LEAST_TOP: u32 = 12;

/// Draws the hill of an endpoint into `rows` rows, the lowest being `bottom`.
pub fn draw(ctx: &Ctx<'_>, pen: &mut Pen<'_>, axis: &Axis, endpoint: EndpointId, bottom: u16, rows: u16) {
    let halves = usize::from(axis.scale.width()) * 2;
    let mut counts = vec![0_u32; halves];
    for time in ctx.app.stats().completions(endpoint) {
        // Eighths to half cells.
        let half = usize::try_from(axis.scale.eighths(time) / 4).unwrap_or(usize::MAX);
        if let Some(count) = counts.get_mut(half) {
            *count += 1;
        }
    }
    let ended = |count: &u32| *count > 0;
    let (Some(first), Some(last)) = (counts.iter().position(ended), counts.iter().rposition(ended)) else {
        return;
    };
    // The middle of the kernel comes down on its half; the vector is longer at both sides by what is beside that.
    let mut spread = vec![0_u32; halves + KERNEL.len() - 1];
    for (half, count) in counts.iter().enumerate().filter(|(_, count)| ended(count)) {
        for (height, weight) in spread.iter_mut().skip(half).zip(KERNEL) {
            *height += count * weight;
        }
    }
    // Nothing is spread to where nothing ended: no hill reaches behind the deadline that cut it.
    let height = |half: usize| {
        let inside = (first..=last).contains(&half);
        if inside { spread.get(half + KERNEL.len() / 2).copied().unwrap_or(0) } else { 0 }
    };
    // A single completion is a dot and no tower.
    let top = (first..=last).map(height).max().unwrap_or(0).max(LEAST_TOP);
    let dots = u32::from(rows) * 4;
    // Rounded up: one completion is a dot, not nothing.
    let dots_of = |half: usize| (height(half) * dots).div_ceil(top);
    for column in first / 2..=last / 2 {
        let pair = [dots_of(column * 2), dots_of(column * 2 + 1)];
        let x = axis.x.saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
        for row in 0..rows {
            let lit = pair.map(|d| d.saturating_sub(u32::from(row) * 4).min(4));
            if lit != [0, 0] {
                let glyph = glyph(ctx, lit);
                let mut utf8 = [0; 4];
                pen.cell(x, bottom.saturating_sub(row), glyph.encode_utf8(&mut utf8), ctx.theme.dim());
            }
        }
    }
}

/// Braille bits of 0 to 4 dots in a cell's left half, from below.
const LEFT: [u32; 5] = [0, 0x40, 0x44, 0x46, 0x47];

/// The same for its right half.
const RIGHT: [u32; 5] = [0, 0x80, 0xa0, 0xb0, 0xb8];

/// A cell with this many dots in its left and its right half, from below.
fn glyph(ctx: &Ctx<'_>, [left, right]: [u32; 2]) -> char {
    let level = (left.max(right) as usize).saturating_sub(1);
    if let Some(level) = ctx.glyphs.hills.get(level) {
        return *level;
    }
    let bits = |table: [u32; 5], n: u32| table.get(n as usize).copied().unwrap_or_default();
    let code = 0x2800 | bits(LEFT, left) | bits(RIGHT, right);
    char::from_u32(code).unwrap_or(' ')
}
