//! What to do, under the panels: about endpoints that fail most often for one reason (R42) under the missing
//! table, and what other panels have to say under them.

use super::ctx::Ctx;
use super::layout::{Regions, Size};
use super::panel;
use super::text::{Pen, spans_width};
use super::theme::Tone;
use crate::app::Panel;
use crate::stats::Hint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// A piece of advice in its long and its short form.
pub type Words = [Vec<Span<'static>>; 2];

/// Columns of a piece of advice, at the least.
const LEAST_ADVICE: u16 = 16;

/// The hint row: as many hints as fit, the most important first.
pub struct HintLine<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where the panels are.
    pub regions: Regions,
}

/// What stands under a panel, between these columns.
struct Slot {
    x: u16,
    end: u16,
    panel: Panel,
    advice: Vec<Words>,
}

impl Widget for &HintLine<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let mut pen = Pen::new(buf);
        let slots = self.slots(area);
        let said: Vec<&Slot> = slots.iter().filter(|slot| !slot.advice.is_empty()).collect();
        for (i, slot) in said.iter().enumerate() {
            // It may reach to where the next begins.
            let end = said.get(i + 1).map_or(area.right().saturating_sub(1), |next| next.x.saturating_sub(3));
            line(&slot.advice, (slot.x, end), area.y, &mut pen);
        }
    }
}

impl HintLine<'_> {
    fn slots(&self, area: Rect) -> Vec<Slot> {
        // No more than a row has room for, however many there are.
        let most = usize::from(area.width / LEAST_ADVICE) + 1;
        let general: Vec<Words> = self.ctx.app.hints().take(most).map(|hint| self.words(hint)).collect();
        if self.regions.size <= Size::Small {
            let (x, end) = (area.x + 1, area.right().saturating_sub(1));
            return vec![Slot { x, end, panel: Panel::Missing, advice: general }];
        }
        let columns = self.regions.panels.columns().enumerate();
        let mut slots: Vec<Slot> = columns
            .map(|(i, (panel, at))| {
                let advice = panel::advice(self.ctx, panel);
                let x = at.x + u16::from(i == 0);
                Slot { x, end: at.right(), panel, advice: advice.into_iter().collect() }
            })
            .collect();
        // Under the table they are about; else where nothing else is said and one fits, or behind what is said.
        let least = general.first().map_or(0, |[_, short]| spans_width(short));
        let fits = |s: &Slot| s.advice.is_empty() && s.end.saturating_sub(s.x) >= least;
        let place = slots.iter().position(|s| s.panel == Panel::Missing);
        let place = place.or_else(|| slots.iter().position(fits)).unwrap_or(0);
        if let Some(slot) = slots.get_mut(place) {
            slot.advice.extend(general);
        }
        slots
    }

    fn words(&self, hint: &Hint) -> Words {
        let ctx = self.ctx;
        [false, true].map(|short| {
            let name = ctx.name(hint.endpoint, 20);
            vec![
                ctx.bold(format!("{} {name}", ctx.glyphs.arrow), Tone::Plain),
                Ctx::plain(format!(" {} {}: ", hint.verb(), hint.often(short))),
                ctx.bold(hint.remedy.words(short), Tone::Plain),
            ]
        })
    }
}

/// Writes pieces of advice one after the other, those that fit; the first in any case, cut if it must be.
fn line(advice: &[Words], (mut x, end): (u16, u16), y: u16, pen: &mut Pen<'_>) {
    for (i, forms) in advice.iter().enumerate() {
        let room = end.saturating_sub(x);
        let Some(words) = forms.iter().find(|w| spans_width(w) <= room) else {
            if i == 0 {
                pen.spans(x, y, end, &forms[1]);
            }
            return;
        };
        x = pen.spans(x, y, end, words).saturating_add(3);
    }
}
