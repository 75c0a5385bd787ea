//! The lines of the trade-off: what is read at the marker, how long rounds take, what follows, and what a cut call
//! means.

use crate::domain::numbers;
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, Row, spans_width};
use crate::view::theme::Tone;
use crate::whatif::budget::BudgetPoint;
use crate::whatif::outlook::{Outlook, Status};
use crate::whatif::quantile::Trust;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use std::time::Duration;

/// What would have been at the budget that is looked at, the most telling first: as much as fits.
pub fn reading(ctx: &Ctx<'_>, outlook: &Outlook, area: Option<Rect>, pen: &mut Pen<'_>) {
    let (Some(area), Some(point)) = (area, ctx.app.marked()) else { return };
    let holds = point.budget == outlook.budget;
    let style = if holds { Tone::Cut } else { Tone::Plain };
    let mut groups = vec![answered(ctx, point, style)];
    let dim = |label: &str, value: String| vec![ctx.dim(format!("{label} ")), Ctx::plain(value)];
    groups.push(vec![Ctx::plain(status(ctx, outlook, point))]);
    groups.extend(point.next_minute.map(|within| dim("next minute", format!("{} %", ctx.between(within)))));
    groups.extend(point.all.map(|all| dim("all calls", numbers::share_percent(all))));
    let k = outlook.quorum.k;
    groups.extend(
        point.at_least_k.filter(|_| k > 0).map(|share| dim(&format!("k {k}"), numbers::share_percent(share))),
    );
    let worst = point.missing.iter().max_by_key(|(_, count)| *count);
    groups.extend(worst.map(|(reason, count)| dim(reason.as_str(), count.to_string())));
    groups.extend(outlook.budgets.knee.map(|knee| {
        vec![
            Ctx::plain(format!("{} ", ctx.glyphs.mark)),
            ctx.dim("knee "),
            Ctx::plain(numbers::setting_ms(knee)),
        ]
    }));
    pen.groups(area.x + 1, area.y, area.right().saturating_sub(1), &groups);
}

/// `at 280 ms 96.7 % answered (96.2–97.2)`.
fn answered(ctx: &Ctx<'_>, point: &BudgetPoint, tone: Tone) -> Vec<Span<'static>> {
    let at = if ctx.app.cuts_at_budget() { "at " } else { "if cut at " };
    let mut out = vec![ctx.dim(at), ctx.bold(numbers::setting_ms(point.budget), tone), Span::raw(" ")];
    match (point.completeness, point.bounds) {
        (Some(share), _) => {
            out.extend([ctx.bold(numbers::share_percent(share), tone), ctx.dim(" answered")]);
            let interval = point.interval.filter(|_| point.status != Status::Exact);
            out.extend(interval.map(|i| ctx.dim(format!(" ({})", ctx.between(i)))));
        }
        (None, Some(bounds)) => {
            out.extend([ctx.bold(format!("{} %", ctx.between(bounds)), tone), ctx.dim(" answered")]);
        }
        (None, None) => out.push(ctx.dim("no number")),
    }
    out
}

/// How far it may be trusted.
fn status(ctx: &Ctx<'_>, outlook: &Outlook, point: &BudgetPoint) -> String {
    let dot = ctx.glyphs.dot;
    let risk = || {
        let alike = if outlook.budgets.assumes_independence { ", assumes independence" } else { "" };
        format!("{dot} {} at risk{alike}", point.at_risk)
    };
    match point.status {
        Status::Exact => format!("exact, {}", numbers::counted(point.n, "round", "rounds")),
        Status::Estimated => format!("estimated {}", risk()),
        Status::Thin => format!("thin {}", risk()),
        Status::Bounded => "censored: at least, at most".to_owned(),
        Status::NotObserved => "not observed".to_owned(),
    }
}

/// How long it takes until every call of a round has come out, whatever the budget.
pub fn round(ctx: &Ctx<'_>, outlook: &Outlook, area: Option<Rect>, pen: &mut Pen<'_>) {
    let Some(area) = area else { return };
    let mut spans = vec![ctx.dim("round")];
    let mut unit = " ms";
    for (name, quantile) in ["p50", "p90", "p99"].into_iter().zip(&outlook.round) {
        spans.push(ctx.dim(format!("  {name} ")));
        let style = if quantile.trust == Trust::Thin { ctx.theme.dim() } else { Style::new() };
        let number = match (quantile.time, quantile.above) {
            (Some(time), _) => numbers::millis(rounded(time)),
            (None, Some(above)) => format!(">{}", numbers::millis(rounded(above))),
            (None, None) => ctx.glyphs.none.to_owned(),
        };
        let known = quantile.time.or(quantile.above).is_some();
        spans.push(Span::styled(number, style));
        // The unit once is enough.
        if known {
            spans.push(ctx.dim(std::mem::take(&mut unit)));
        }
    }
    if spans_width(&spans) <= area.width {
        pen.spans_right(area.right(), area.y, &spans);
    }
}

/// A measured time in whole milliseconds, from 10 ms on.
fn rounded(time: Duration) -> Duration {
    let whole = Duration::from_millis(u64::try_from((time.as_micros() + 500) / 1000).unwrap_or(u64::MAX));
    if time < Duration::from_millis(10) { time } else { whole }
}

/// Columns at both sides of the sentences.
const MARGIN: u16 = 4;

/// The sentences in at most so many lines: those that fit whole, and the first in any case.
fn advice_lines(ctx: &Ctx<'_>, outlook: &Outlook, columns: u16, most: u16) -> Vec<Vec<Span<'static>>> {
    let (room, most) = (columns.saturating_sub(MARGIN), usize::from(most));
    let mut lines: Vec<Vec<Span<'static>>> = Vec::new();
    for sentence in &outlook.advice {
        let more = wrapped(ctx.sentence(sentence), room);
        if lines.len() + more.len() <= most {
            lines.extend(more);
        } else if lines.is_empty() {
            let more: Vec<_> = more.into_iter().take(most).collect();
            lines = more;
            let mark = ctx.dim(format!(" {}", ctx.glyphs.ellipsis));
            lines.last_mut().into_iter().for_each(|line| line.push(mark.clone()));
        } else {
            break;
        }
    }
    lines
}

/// Rows of the sentences, at most so many.
pub fn advice_rows(ctx: &Ctx<'_>, outlook: &Outlook, columns: u16, most: u16) -> u16 {
    u16::try_from(advice_lines(ctx, outlook, columns, most).len()).unwrap_or(u16::MAX)
}

/// The sentences, under a title where they are `titled`.
pub fn advice(ctx: &Ctx<'_>, outlook: &Outlook, area: Option<Rect>, titled: bool, pen: &mut Pen<'_>) {
    let Some(area) = area else { return };
    if titled {
        let row = Row { x: area.x + 1, y: area.y, width: area.width.saturating_sub(2) };
        pen.title(row, &[ctx.bold("Advice", Tone::Plain)], (ctx.glyphs.rule, ctx.theme.dim()), &[]);
    }
    let rows = area.y + u16::from(titled)..area.bottom();
    let most = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    for (line, y) in advice_lines(ctx, outlook, area.width, most).iter().zip(rows) {
        pen.spans(area.x + 2, y, area.right(), line);
    }
}

/// Pieces in lines of so many columns, broken at spaces only; what continues is indented.
fn wrapped(pieces: Vec<Span<'static>>, room: u16) -> Vec<Vec<Span<'static>>> {
    let mut words: Vec<Vec<Span<'static>>> = Vec::new();
    let mut ended = true;
    for piece in pieces {
        for part in piece.content.split_inclusive(' ') {
            let part = Span::styled(part.to_owned(), piece.style);
            let over = part.content.ends_with(' ');
            match words.last_mut().filter(|_| !ended) {
                Some(word) => word.push(part),
                None => words.push(vec![part]),
            }
            ended = over;
        }
    }
    let mut lines: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0_u16;
    for word in words {
        let columns = spans_width(&word);
        let blank = u16::from(word.last().is_some_and(|part| part.content.ends_with(' ')));
        if used > 2 && used.saturating_add(columns.saturating_sub(blank)) > room {
            lines.push(vec![Span::raw("  ")]);
            used = 2;
        }
        used = used.saturating_add(columns);
        lines.last_mut().into_iter().for_each(|line| line.extend(word.iter().cloned()));
    }
    lines
}

/// Whether some budgets are beyond what was seen.
pub fn is_censored(outlook: &Outlook) -> bool {
    outlook.budgets.points.iter().any(|point| point.status != Status::Exact)
}

/// Rows that it takes to say so.
pub fn censored_rows(ctx: &Ctx<'_>, outlook: &Outlook, columns: u16) -> u16 {
    u16::try_from(censored_lines(ctx, outlook, columns).len()).unwrap_or(u16::MAX)
}

/// What a cut call means, and what has seen more, in lines that fit.
fn censored_lines(ctx: &Ctx<'_>, outlook: &Outlook, columns: u16) -> Vec<Vec<Span<'static>>> {
    let cuts = ctx.app.cuts_at_budget();
    let first = if cuts {
        format!("A cut call has not taken {}: it is censored there.", numbers::setting_ms(outlook.budget))
    } else {
        "A call that was cancelled is censored there: how long it takes is not known.".to_owned()
    };
    let guessed = |point: &BudgetPoint| matches!(point.status, Status::Estimated | Status::Thin);
    // Where rounds do not end at their budget, what they cancel is not watched.
    let above = if cuts && outlook.probes > 0 {
        "only rounds watched longer have seen anything."
    } else if outlook.budgets.points.iter().any(guessed) {
        "some calls were cut before their end."
    } else if cuts {
        "nothing was seen; probe rounds would."
    } else {
        "nothing was seen."
    };
    let until = outlook.budgets.exact_until.map(|until| numbers::setting_ms(rounded(until)));
    let second = until.map_or_else(String::new, |until| format!(" Above {until} {above}"));
    wrapped(vec![Span::raw(first + &second)], columns.saturating_sub(MARGIN))
}

/// Says so.
pub fn censored(ctx: &Ctx<'_>, outlook: &Outlook, area: Option<Rect>, pen: &mut Pen<'_>) {
    let Some(area) = area else { return };
    for (line, y) in censored_lines(ctx, outlook, area.width).iter().zip(area.y..area.bottom()) {
        let text: String = line.iter().map(|span| &*span.content).collect();
        pen.put(area.x + 2, y, area.right(), &text, ctx.theme.dim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_nowhere_else() {
        let text = |room| {
            let pieces = vec![Span::raw("one two"), Span::raw("."), Span::raw(" three fo"), Span::raw("ur")];
            let lines = wrapped(pieces, room);
            lines.iter().map(|line| line.iter().map(|s| &*s.content).collect::<String>()).collect::<Vec<_>>()
        };
        assert_eq!(text(40), ["one two. three four"]);
        assert_eq!(text(8), ["one two. ", "  three ", "  four"]);
        assert_eq!(text(7), ["one ", "  two. ", "  three ", "  four"]);
        assert_eq!(text(0).len(), 4);
    }
}
