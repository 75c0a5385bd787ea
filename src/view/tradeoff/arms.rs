//! Two variants that rounds had in turn, side by side (W9).

use crate::app::variant_words;
use crate::domain::numbers;
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, Row};
use crate::view::theme::Tone;
use crate::whatif::arms::{ArmSeen, Arms};
use crate::whatif::shares::Difference;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// Width from which times have room.
const WIDE: u16 = 110;

/// Title, a row for each, and what sets them apart.
pub fn draw(ctx: &Ctx<'_>, arms: &Arms, area: Rect, pen: &mut Pen<'_>) {
    let row = Row { x: area.x + 1, y: area.y, width: area.width.saturating_sub(2) };
    let key = ctx.dim(format!("{}, in turn", arms.a.variant.key()));
    pen.title(row, &[ctx.bold("A/B", Tone::Plain)], (ctx.glyphs.rule, ctx.theme.dim()), &[key]);
    let lines = [one(ctx, "A", &arms.a, area.width), one(ctx, "B", &arms.b, area.width), apart(ctx, arms)];
    for (line, y) in lines.iter().zip(area.y + 1..area.bottom()) {
        pen.groups(area.x + 2, y, area.right().saturating_sub(1), line);
    }
}

fn one(ctx: &Ctx<'_>, name: &str, arm: &ArmSeen, width: u16) -> Vec<Vec<Span<'static>>> {
    let variant = variant_words(arm.variant);
    let share = |label: &str, share: f64, within: (f64, f64)| {
        vec![
            Ctx::plain(format!("{:>7}", numbers::share_percent(share))),
            ctx.dim(format!(" {label} ({})", ctx.between(within))),
        ]
    };
    let mut groups = vec![
        vec![ctx.bold(name.to_owned(), Tone::Plain), Ctx::plain(format!(" {variant:>9}"))],
        share("answered", arm.completeness, arm.interval),
        share("partial", arm.partial, arm.partial_interval),
    ];
    if width >= WIDE {
        let time = |label: &str, time| vec![ctx.dim(format!("{label} ")), Ctx::plain(numbers::ms(time))];
        groups.extend([time("p50", arm.p50), time("p99", arm.p99)]);
    }
    groups.push(vec![ctx.dim(numbers::counted(arm.rounds, "round", "rounds"))]);
    groups
}

fn apart(ctx: &Ctx<'_>, arms: &Arms) -> Vec<Vec<Span<'static>>> {
    let clear = arms.completeness.is_clear() || arms.partial.is_clear();
    let points = |label: &str, difference: &Difference| {
        let signed = |share: f64| format!("{:+.1}", share * 100.0);
        let (low, high) = difference.interval;
        let value = format!("{} points", signed(difference.value));
        let strong = if difference.is_clear() { ctx.bold(value, Tone::Plain) } else { ctx.dim(value) };
        vec![strong, ctx.dim(format!(" {label} ({} to {})", signed(low), signed(high)))]
    };
    let mut groups = vec![vec![ctx.dim("B less A")]];
    groups.extend([points("answered", &arms.completeness), points("partial", &arms.partial)]);
    if !clear {
        groups.insert(1, vec![ctx.bold("no clear difference", Tone::Plain)]);
    }
    groups
}
