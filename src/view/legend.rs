//! What the shades of a bar mean.

use super::ctx::Ctx;
use super::layout::Columns;
use super::text::Pen;
use super::theme::Tone;
use crate::domain::numbers;
use crate::domain::{HedgeDelay, Mode, Phase};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The legend row.
pub struct Legend<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where the axis begins.
    pub columns: Columns,
}

impl Widget for &Legend<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let ctx = self.ctx;
        // Hedge rounds have more to explain; the short phases make room for it.
        let hedge = ctx.app.mode() == Mode::Hedge;
        let left_out = |p: Phase| hedge && matches!(p, Phase::Queued | Phase::Dns | Phase::Tls);
        let mut phases: Vec<Span<'static>> = Vec::new();
        for &phase in Phase::ALL.iter().filter(|&&p| !left_out(p)) {
            let style = if phase == Phase::Body { ctx.theme.tone(Tone::Plain) } else { ctx.theme.dim() };
            phases.push(Span::styled(ctx.glyphs.phase(phase, false), style));
            phases.push(ctx.dim(format!(" {phase}  ")));
        }
        let mut groups = vec![phases];
        if hedge {
            let word = match ctx.app.round_settings().hedge.delay {
                delay @ HedgeDelay::Percentile(_) => format!(" hedge delay ({delay} of this endpoint)"),
                delay @ HedgeDelay::Fixed(_) => format!(" hedge delay ({})", numbers::delay(delay)),
            };
            groups.push(vec![ctx.tone(ctx.glyphs.delay, Tone::Hedge), ctx.dim(word)]);
        }
        if ctx.app.endpoints.iter().any(|e| e.required) {
            groups.push(vec![ctx.dim("! required")]);
        }
        groups.push(vec![ctx.dim(ctx.glyphs.hill), ctx.dim(" completions, last minute")]);
        Pen::new(buf).groups(self.columns.axis, area.y, area.right().saturating_sub(1), &groups);
    }
}
