//! Whose call in which round, how it came out, and where one is.

use crate::app::{DetailPage, Lane, LaneState, Shown};
use crate::domain::{Reason, numbers};
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, Row, cut_middle, spans_width};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The title row.
pub struct Title<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// What is below.
    pub page: &'a DetailPage,
    /// The first row of it in sight.
    pub top: usize,
}

impl Widget for &Title<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let ctx = self.ctx;
        let row = Row { x: area.x + 1, y: area.y, width: area.width.saturating_sub(2) };
        let rights = self.rights();
        let lefts = [true, false].map(|long| self.left(long, row.width));
        // How it came out matters more than where one is.
        let fits = |left: &Vec<Span<'_>>, right: &Vec<Span<'_>>| {
            spans_width(left) + 1 + spans_width(right) <= row.width
        };
        let pairs = lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right)));
        let fitting = pairs.into_iter().find(|(left, right)| fits(left, right));
        let none = Vec::new();
        let (left, right) = fitting.unwrap_or((&lefts[1], &none));
        let rule = if self.page.head > 1 { ctx.glyphs.rule } else { " " };
        Pen::new(buf).title(row, left, (rule, ctx.theme.dim()), right);
    }
}

impl Title<'_> {
    fn left(&self, long: bool, width: u16) -> Vec<Span<'static>> {
        let (ctx, app) = (self.ctx, self.ctx.app);
        let Some(endpoint) = app.endpoints.get(app.selected) else { return Vec::new() };
        let most = if long { width / 2 } else { (width / 3).max(8) };
        let mut name = cut_middle(&endpoint.name, most, ctx.glyphs.ellipsis);
        if endpoint.required {
            name.push_str(if long { ", required," } else { "!" });
        }
        let whose = match (app.round_no(), long) {
            (Some(no), true) => format!("{name} in round {no}"),
            _ => name,
        };
        let mut spans = vec![ctx.bold(whose, Tone::Plain), Span::raw("  ")];
        match app.detail_lane() {
            Some(lane) => spans.extend(self.state(&lane, long)),
            None => spans.push(ctx.dim("waiting for the first round")),
        }
        spans
    }

    /// Glyph and words of the state: the first part to be read first.
    fn state(&self, lane: &Lane, long: bool) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        let (glyph, tone) = ctx.state_glyph(lane.state);
        let limit = ctx.limit(ctx.app.selected, lane).map(|(limit, _)| limit);
        let end = numbers::ms(lane.end);
        let (what, more) = match lane.state {
            LaneState::Running(phase) if long => ("running".to_owned(), format!(" in phase {phase}")),
            LaneState::Running(phase) => (phase.to_string(), String::new()),
            LaneState::Ok => {
                let status = lane.status.map_or_else(String::new, |s| format!(" {s}"));
                (format!("ok{status}"), format!(" in {end}"))
            }
            LaneState::Cut(Reason::Throttled, _) if long => (
                "throttled".to_owned(),
                limit.map_or_else(String::new, |l| format!(", no permit {}", l.before())),
            ),
            LaneState::Cut(Reason::Throttled, _) => ("throttled".to_owned(), String::new()),
            LaneState::Cut(_, phase) if long => (
                limit.map_or("cut".to_owned(), |l| format!("cut at {}", l.word())),
                format!(" in phase {phase}"),
            ),
            LaneState::Cut(_, phase) => (format!("cut {} {phase}", ctx.glyphs.dot), String::new()),
            LaneState::Error(reason) => {
                let after = if long { format!(" after {end}") } else { format!(" {end}") };
                (reason.label(lane.status), after)
            }
            LaneState::GivenUp(phase) if long => {
                ("given up with its round".to_owned(), format!(" in phase {phase} after {end}"))
            }
            LaneState::GivenUp(_) => ("given up".to_owned(), String::new()),
            LaneState::NotNeeded if long => {
                ("not needed".to_owned(), format!(", enough had answered after {end}"))
            }
            LaneState::NotNeeded => ("not needed".to_owned(), String::new()),
        };
        let strong = if tone == Tone::Dim { ctx.dim(what) } else { ctx.bold(what, tone) };
        let mut spans = vec![ctx.tone(format!("{glyph} "), tone), strong, ctx.tone(more, tone)];
        let budget = ctx.app.round_budget();
        if lane.is_late(budget) {
            let by = numbers::ms(lane.end.saturating_sub(budget));
            spans.push(ctx.bold(format!(" {} {by} late", ctx.glyphs.dot), Tone::Cut));
        }
        spans
    }

    /// What stands at the right, the longest form first: that the round runs or is looked back at, and which
    /// rows are in sight.
    fn rights(&self) -> Vec<Vec<Span<'static>>> {
        let (ctx, app) = (self.ctx, self.ctx.app);
        let frozen = ctx.frozen(false).map(|words| format!("picture{}", words.content.trim_end()));
        let running = match app.shown() {
            Shown::Running(live) => {
                let budget = live.started.budget;
                let elapsed = if app.may_pass_budget() { app.elapsed() } else { app.elapsed().min(budget) };
                let (now, of) = (numbers::measured(elapsed).0, numbers::setting_ms(budget));
                Some(format!("round at {now} of {of}"))
            }
            Shown::Waiting | Shown::Over(_) => None,
        };
        let (end, rows) = (self.page.end(), self.page.rows);
        let sight = (end > 0)
            .then(|| ctx.dim(format!("{}-{} of {}", self.top + 1, self.top + rows, self.page.length())));
        let place: Vec<Span<'static>> =
            frozen.or(running).map(|words| ctx.tone(words, Tone::Plain)).into_iter().collect();
        let sight: Vec<Span<'static>> = sight.into_iter().collect();
        let both = match (place.is_empty(), sight.is_empty()) {
            (false, false) => [place.clone(), vec![Span::raw("   ")], sight.clone()].concat(),
            _ => [place.clone(), sight.clone()].concat(),
        };
        vec![both, place, sight]
    }
}
