//! What to do about the endpoint that fails most often for one reason (R42).

use super::ctx::Ctx;
use super::layout::Size;
use super::text::{Pen, cut, spans_width};
use super::theme::Tone;
use crate::domain::Reason;
use crate::stats::{Hint, Remedy};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The hint row: as many hints as fit, the most frequent first.
pub struct HintLine<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// How much is shown.
    pub size: Size,
}

impl Widget for &HintLine<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let mut pen = Pen::new(buf);
        let (mut x, end) =
            (area.x + if self.size == Size::Small { 1 } else { 2 }, area.right().saturating_sub(1));
        for (i, hint) in self.ctx.app.stats().hints().iter().enumerate() {
            let room = end.saturating_sub(x);
            let forms = [true, false].map(|long| self.words(hint, long));
            let Some(words) = forms.iter().find(|w| spans_width(w) <= room) else {
                if i == 0 {
                    pen.spans(x, area.y, end, &forms[1]);
                }
                return;
            };
            x = pen.spans(x, area.y, end, words).saturating_add(3);
        }
    }
}

impl HintLine<'_> {
    fn words(&self, hint: &Hint, long: bool) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        let what = match hint.reason {
            Reason::Deadline => "was cut in",
            Reason::ConnectRefused => "refused",
            Reason::ConnectUnreachable => "was unreachable in",
            _ => "could not be connected to in",
        };
        let advice = match (hint.remedy, long) {
            (Remedy::AddBreaker, _) => "add a circuit breaker",
            (Remedy::FixLatency, true) => "fix its latency or give it a smaller share, a timeout of its own",
            (Remedy::FixLatency, false) => "fix its latency or set its timeout",
        };
        let calls = if long { "calls" } else { "" };
        let of = format!(" {what} {} of the last {} {calls}", hint.count, hint.of);
        let name = cut(ctx.endpoint(hint.endpoint), 20, ctx.glyphs.ellipsis);
        vec![
            ctx.bold(format!("{} {name}", ctx.glyphs.arrow), Tone::Plain),
            Ctx::plain(format!("{}: ", of.trim_end())),
            ctx.bold(advice, Tone::Plain),
        ]
    }
}
