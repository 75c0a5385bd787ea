//! What other budgets would have given, in a small plot, and one line of advice under it.

use super::ctx::Ctx;
use super::hint::Words;
use super::text::{Pen, Row, spans_width, width};
use super::theme::Tone;
use super::tradeoff::Curve;
use crate::domain::numbers;
use crate::stats::Window;
use crate::whatif::advice::{Sentence, Weight};
use crate::whatif::outlook::{Outlook, Status};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// What the answers are where rounds do not end at their budget.
pub const IF_CUT: &str = "if cut at the budget";

/// The panel.
pub struct WhatIfPanel<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

impl Widget for &WhatIfPanel<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let (ctx, mut pen) = (self.ctx, Pen::new(buf));
        let title = [ctx.bold("What if", Tone::Plain)];
        let row = Row { x: area.x, y: area.y, width: area.width };
        let rounds = ctx.outlook().map(|_| ctx.outlook_rounds());
        let [long, short] = if ctx.app.cuts_at_budget() {
            ["answered by budget", "answered"]
        } else {
            ["answered if cut at the budget", IF_CUT]
        };
        let forms = rounds.map(|rounds| {
            let with = |words: &str| format!("{words} {} {rounds}", ctx.glyphs.dot);
            [with(long), with(short), short.to_owned()]
        });
        let room = area.width.saturating_sub(spans_width(&title) + 3);
        let right = forms.into_iter().flatten().find(|words| width(words) <= room);
        let right: Vec<Span<'_>> = right.map(|words| ctx.dim(words)).into_iter().collect();
        pen.title(row, &title, (ctx.glyphs.rule, ctx.theme.dim()), &right);
        let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
        match ctx.outlook() {
            Some(outlook) => Curve { ctx, outlook, area: below }.draw(false, &mut pen),
            None => {
                pen.put(area.x + 3, below.y, area.right(), ctx.no_outlook(), ctx.theme.dim());
            }
        }
    }
}

impl Ctx<'_> {
    /// What other budgets would have given, where that is known.
    pub(super) fn outlook(&self) -> Option<&Outlook> {
        self.app.outlook().filter(|outlook| !outlook.budgets.points.is_empty())
    }

    /// Why there is none.
    pub(super) fn no_outlook(&self) -> &'static str {
        if self.app.stats().totals(Window::Start).rounds > 0 {
            "not looked at yet"
        } else {
            self.nothing_counted()
        }
    }

    /// Over which rounds: `last 1 min · 120 rounds`, `last 600 rounds`.
    pub(super) fn outlook_rounds(&self) -> String {
        let rounds = numbers::counted(self.app.outlook().map_or(0, |o| o.rounds), "round", "rounds");
        match self.app.outlook_window() {
            "last" => format!("last {rounds}"),
            window => format!("{window} {} {rounds}", self.glyphs.dot),
        }
    }

    /// A sentence of advice in pieces.
    pub(super) fn sentence(&self, sentence: &Sentence) -> Vec<Span<'static>> {
        let mut out = vec![self.bold(format!("{} ", self.glyphs.arrow), Tone::Plain)];
        out.extend(sentence.0.iter().map(|(piece, weight)| match weight {
            Weight::Plain => Self::plain(piece.clone()),
            Weight::Strong => self.bold(piece.clone(), Tone::Plain),
        }));
        out
    }
}

/// The first piece of advice, whole and in short.
pub fn advice(ctx: &Ctx<'_>) -> Option<Words> {
    let outlook = ctx.app.outlook()?;
    let sentence = outlook.advice.first()?;
    let long = ctx.sentence(sentence);
    let short = in_short(ctx, outlook, sentence).unwrap_or_else(|| clause(long.clone()));
    Some([long, short])
}

/// What the budget that a sentence begins with would answer: `280 ms would answer 96.7 % ±0.5, now 92.0 %`.
fn in_short(ctx: &Ctx<'_>, outlook: &Outlook, sentence: &Sentence) -> Option<Vec<Span<'static>>> {
    if !ctx.app.cuts_at_budget() {
        return None;
    }
    let (first, _) = sentence.0.first()?;
    let points = &outlook.budgets.points;
    let point = points.iter().find(|point| numbers::setting_ms(point.budget) == *first)?;
    let now = points.iter().find(|point| point.budget == outlook.budget)?.completeness?;
    let (low, high) = point.interval?;
    let thin = if point.status == Status::Thin { " thin" } else { "" };
    let would = if thin.is_empty() { " would answer " } else { " answers " };
    Some(vec![
        ctx.bold(format!("{} {first}", ctx.glyphs.arrow), Tone::Plain),
        Ctx::plain(would),
        ctx.bold(numbers::share_percent(point.completeness?), Tone::Plain),
        Ctx::plain(format!(
            " {}{:.1}{thin}, now {}",
            ctx.glyphs.about,
            (high - low) * 50.0,
            numbers::share_percent(now)
        )),
    ])
}

/// The first clause of a sentence.
fn clause(mut spans: Vec<Span<'static>>) -> Vec<Span<'static>> {
    let end =
        |span: &Span<'_>| [" (", ": ", "; ", ". "].iter().filter_map(|mark| span.content.find(mark)).min();
    if let Some((last, at)) = spans.iter().enumerate().find_map(|(i, span)| Some((i, end(span)?))) {
        spans.truncate(last + 1);
        if let Some(span) = spans.last_mut() {
            span.content = span.content.get(..at).unwrap_or_default().to_owned().into();
        }
    }
    spans
}
