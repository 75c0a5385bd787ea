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
    let spread = |i: usize| -> u32 {
        let reach = KERNEL.len() / 2;
        let at = |k: usize| (i + k).checked_sub(reach).and_then(|j| counts.get(j)).copied().unwrap_or(0);
        KERNEL.iter().enumerate().map(|(k, weight)| at(k) * weight).sum()
    };
    // Nothing is spread to where nothing ended: no hill reaches behind the deadline that cut it.
    let ends =
        counts.iter().position(|&c| c > 0).unwrap_or(0)..=counts.iter().rposition(|&c| c > 0).unwrap_or(0);
    let heights: Vec<u32> = (0..halves).map(|i| if ends.contains(&i) { spread(i) } else { 0 }).collect();
    let top = heights.iter().copied().max().unwrap_or(0);
    if top == 0 {
        return;
    }
    // A single completion is a dot and no tower.
    let top = top.max(LEAST_TOP);
    let dots = u32::from(rows) * 4;
    // Rounded up: one completion is a dot, not nothing.
    let dots_of = |half: usize| heights.get(half).map_or(0, |h| (h * dots).div_ceil(top));
    for column in 0..axis.scale.width() {
        let pair = [dots_of(usize::from(column) * 2), dots_of(usize::from(column) * 2 + 1)];
        for row in 0..rows {
            let lit = pair.map(|d| d.saturating_sub(u32::from(row) * 4).min(4));
            if lit != [0, 0] {
                let glyph = glyph(ctx, lit);
                pen.cell(axis.x + column, bottom.saturating_sub(row), &glyph, ctx.theme.dim());
            }
        }
    }
}

/// Braille bits of 0 to 4 dots in a cell's left half, from below.
const LEFT: [u32; 5] = [0, 0x40, 0x44, 0x46, 0x47];

/// The same for its right half.
const RIGHT: [u32; 5] = [0, 0x80, 0xa0, 0xb0, 0xb8];

/// A cell with this many dots in its left and its right half, from below.
fn glyph(ctx: &Ctx<'_>, [left, right]: [u32; 2]) -> String {
    let levels = ctx.glyphs.hills;
    if let Some(level) = levels.get((left.max(right) as usize).saturating_sub(1)) {
        return (*level).to_owned();
    }
    let bits = |table: [u32; 5], n: u32| table.get(n as usize).copied().unwrap_or_default();
    let code = 0x2800 | bits(LEFT, left) | bits(RIGHT, right);
    char::from_u32(code).unwrap_or(' ').to_string()
}
