//! What to do about this endpoint (R42), with where its cut calls had come to.

use crate::domain::{Phase, Reason};
use crate::stats::Hint;
use crate::view::ctx::Ctx;
use crate::view::text::{Pen, spans_width};
use crate::view::theme::Tone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The hint row; blank where there is nothing to say.
pub struct CallHint<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
}

impl Widget for &CallHint<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut hints = self.ctx.app.hints();
        let Some(hint) = hints.find(|h| h.endpoint == self.ctx.selected()) else { return };
        let room = area.width.saturating_sub(1);
        let forms = [Form::Whole, Form::Long, Form::Short, Form::Least].map(|form| self.words(hint, form));
        let words = forms.iter().find(|w| spans_width(w) <= room).unwrap_or(&forms[3]);
        Pen::new(buf).spans(area.x + 1, area.y, area.right(), words);
    }
}

/// How much is said; each less than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Whole,
    Long,
    Short,
    Least,
}

impl CallHint<'_> {
    fn words(&self, hint: &Hint, form: Form) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        let (often, short) = match form {
            Form::Whole | Form::Long => (hint.often(false), false),
            Form::Short => (hint.often(true), true),
            Form::Least => (format!("{} of {}", hint.count, hint.of), true),
        };
        let phase = if form == Form::Whole { self.phase(hint) } else { None };
        vec![
            ctx.bold(format!("{} ", ctx.glyphs.arrow), Tone::Plain),
            Ctx::plain(format!("{} ", hint.verb())),
            ctx.bold(often, Tone::Plain),
            Ctx::plain(format!("{}: ", phase.unwrap_or_default())),
            ctx.bold(hint.remedy.words(short), Tone::Plain),
        ]
    }

    /// Where most of the cut calls had come to, if the rounds that the hint speaks of are all kept.
    fn phase(&self, hint: &Hint) -> Option<String> {
        let rounds = &self.ctx.app.picture().rounds;
        if hint.reason != Reason::Deadline || rounds.len() < hint.of {
            return None;
        }
        let calls = rounds.iter().rev().take(hint.of).filter_map(|r| r.calls.get(hint.endpoint.index()));
        let cut: Vec<Phase> =
            calls.filter(|c| c.outcome.reason() == Some(hint.reason)).map(|c| c.phase).collect();
        let count = |phase: Phase| cut.iter().filter(|&&p| p == phase).count();
        let most = Phase::ALL.iter().copied().max_by_key(|&p| count(p)).filter(|&p| count(p) > 0)?;
        let words = match most {
            Phase::Queued => "before anything was sent",
            Phase::Dns => "resolving the name",
            Phase::Connect => "connecting",
            Phase::Tls => "in the TLS handshake",
            Phase::Waiting => "waiting for the first byte",
            Phase::Body => "inside the body",
        };
        Some(format!(", {} of them {words}", count(most)))
    }
}
