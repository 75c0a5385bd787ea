//! The first rows: what runs, with which numbers, and what the instrument says of itself. A change that no
//! round has yet shows both values: `200 → 250 ms`.

use super::ctx::Ctx;
use super::honesty;
use super::layout::{Regions, Size};
use super::text::{Pen, cut, cut_middle, spans_width};
use super::theme::Tone;
use crate::app::{Kind, Pace, Recording, Sort, ab_pair, ab_words};
use crate::domain::numbers;
use crate::domain::{Ab, EndpointId, FaultSwitch, Mode, PlayState, Settings};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;
use std::time::Duration;

/// Header and self-honesty line.
pub struct Header<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where.
    pub regions: Regions,
}

/// Columns between two groups.
const APART: u16 = 3;

/// Columns between the groups and what stands at the row's end.
const GAP: u16 = 2;

/// What the header goes without where there is no room for it: this and all that is named before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Without {
    /// All is said.
    Nothing,
    /// The program's name, and since when a recording is.
    Name,
    /// How many servers may be anybody, and how far back a frozen picture is in words.
    Counts,
    /// The limit of a call whose round ends when all have settled, and what hedges still wait for.
    Limits,
    /// The round's number, which the verdict says as well.
    Round,
    /// What runs: whoever started it knows that.
    Profile,
    /// The period.
    Period,
    /// The mode, of which the budget is left.
    Mode,
}

impl Without {
    const ALL: &[Self] = &[
        Self::Nothing,
        Self::Name,
        Self::Counts,
        Self::Limits,
        Self::Round,
        Self::Profile,
        Self::Period,
        Self::Mode,
    ];
}

impl Widget for &Header<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf);
        let (x, end) = (area.x.saturating_add(1), area.right().saturating_sub(1));
        if let Some(y) = self.regions.header {
            let least = if self.regions.size == Size::Small { Without::Counts } else { Without::Nothing };
            let forms =
                || Without::ALL.iter().filter(|&&w| w >= least).map(|&w| (self.left(w), self.right(w)));
            let fits = |(left, right): &(Vec<_>, Vec<_>)| {
                let left = left.iter().map(|group: &Vec<_>| spans_width(group) + APART).sum::<u16>();
                x + left + spans_width(right) <= end + APART.saturating_sub(GAP)
            };
            if let Some((left, right)) = forms().find(fits).or_else(|| forms().next_back()) {
                let end = pen.spans_right(end, y, &right).saturating_sub(GAP);
                pen.groups(x, y, end, &left);
            }
        }
        if let Some(y) = self.regions.honesty {
            pen.groups(x, y, end, &honesty::groups(self.ctx, end.saturating_sub(x)));
        }
    }
}

impl Ctx<'_> {
    /// Live or paused; of a recording, what its player does.
    pub(super) fn pace(&self) -> Span<'static> {
        let playback = self.app.playback();
        let state = playback.map(|playback| playback.state);
        match (self.app.pace, state) {
            // What follows in it can't be read; the scrubber says where that begins and why.
            (_, Some(PlayState::End)) if playback.is_some_and(|p| p.fault.is_some()) => {
                self.bold("broken off", Tone::Error)
            }
            (_, Some(PlayState::End)) => self.bold("end", Tone::Plain),
            (Pace::Paused, _) => Span::styled(" paused ", super::theme::Theme::reversed()),
            (Pace::Live, Some(PlayState::Following)) => self.bold("following", Tone::Plain),
            (Pace::Live, Some(_)) => self.bold("playing", Tone::Plain),
            (Pace::Live, None) => self.bold("live", Tone::Plain),
        }
    }

    /// That the session is recorded, and whether all is well with that.
    pub(super) fn recording(&self) -> Option<Span<'static>> {
        match self.app.recording {
            Recording::Off => None,
            Recording::On => Some(Self::plain(format!("{} rec", self.glyphs.recorded))),
            Recording::Faulty(_) => Some(self.bold(format!("{} rec", self.glyphs.error), Tone::Error)),
        }
    }

    /// That some servers may be anybody: what they answer says nothing of those that are meant.
    pub(super) fn unverified(&self, short: bool) -> Option<Span<'static>> {
        let endpoints = &self.app.endpoints;
        let words = match endpoints.iter().filter(|e| e.unverified).count() {
            0 => return None,
            some if !short && some < endpoints.len() => format!("insecure {some} of {}", endpoints.len()),
            _ => "insecure".to_owned(),
        };
        Some(self.bold(words, Tone::Error))
    }

    /// That it is a recording, and how fast it is played.
    fn playing(&self) -> Option<Vec<Span<'static>>> {
        let speed = self.app.playback()?.speed.to_string();
        Some(vec![self.dim("replay "), self.bold(speed, Tone::Plain)])
    }

    /// That the picture is frozen, and how many rounds have settled since the one on the lanes.
    pub(super) fn frozen(&self, short: bool) -> Option<Span<'static>> {
        let words = match self.app.rounds_back()? {
            n if short && n > 0 => format!(" frozen -{n} "),
            0 => " frozen ".to_owned(),
            n => format!(" frozen {} {} back ", self.glyphs.dot, numbers::counted(n, "round", "rounds")),
        };
        Some(Span::styled(words, super::theme::Theme::reversed()))
    }

    /// A setting's pieces: one value, or the old and the new one.
    fn setting(&self, (from, to): (String, String), unit: &str, tone: Tone) -> Vec<Span<'static>> {
        if from == to {
            return vec![self.bold(format!("{to}{unit}"), tone)];
        }
        let arrow = self.glyphs.arrow;
        vec![self.tone(format!("{from} {arrow} "), tone), self.bold(format!("{to}{unit}"), tone)]
    }

    /// The budget, perhaps with the one to come.
    pub(super) fn budget(&self) -> Vec<Span<'static>> {
        let (from, to) = (self.app.config.live(), self.app.wanted());
        // What takes turns is no budget that holds.
        if let Some(ab) = to.ab.filter(|ab| from.ab == to.ab && ab.a.key() == "budget") {
            return vec![self.dim("A/B "), self.tone(ab_pair(ab), Tone::Cut)];
        }
        self.setting((numbers::millis(from.budget), numbers::millis(to.budget)), " ms", Tone::Cut)
    }
}

impl Header<'_> {
    fn left(&self, without: Without) -> Vec<Vec<Span<'static>>> {
        let (ctx, app) = (self.ctx, self.ctx.app);
        let small = self.regions.size == Size::Small;
        let (from, to) = (app.config.live(), app.wanted());
        let most = self.regions.area.width / 4;
        let profile = ctx.bold(cut(&app.profile, most, ctx.glyphs.ellipsis), Tone::Plain);
        let has = |what: Without| without < what;
        let mode = if has(Without::Mode) { self.mode(from, to, has(Without::Limits)) } else { ctx.budget() };
        let mut groups = Vec::new();
        if small {
            let profile = has(Without::Profile).then(|| vec![profile, Span::raw("  ")]);
            return vec![profile.into_iter().flatten().chain(mode).collect()];
        }
        if has(Without::Profile) {
            let name = has(Without::Name).then(|| ctx.dim("fanscope  "));
            groups.push(name.into_iter().chain([profile]).collect());
        }
        groups.push(mode);
        groups.extend(self.ab());
        if has(Without::Period) {
            let every = self.every(from.every, to.every);
            groups.push([vec![ctx.dim("every ")], every].concat());
        }
        let started = ctx.started().filter(|_| self.regions.size == Size::Full && has(Without::Name));
        groups.extend(started.map(|started| vec![ctx.dim("recorded "), Ctx::plain(started)]));
        if let Some(no) = app.round_no().filter(|_| has(Without::Round)) {
            groups.push(vec![ctx.dim("round "), Ctx::plain(no.to_string())]);
        }
        groups
    }

    /// Mode and its own numbers; with `limits` also what else bounds it.
    fn mode(&self, from: &Settings, to: &Settings, limits: bool) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        let mut out = Vec::new();
        if from.mode != to.mode {
            out.push(Ctx::plain(format!("{} {} ", from.mode, ctx.glyphs.arrow)));
            out.push(ctx.bold(to.mode.to_string(), Tone::Plain));
        } else if to.mode == Mode::Hedge {
            out.push(Ctx::plain("hedge after"));
        } else {
            out.push(Ctx::plain(to.mode.to_string()));
        }
        out.push(Span::raw(" "));
        let n = ctx.app.optional();
        // The old number says something only if the old mode had one.
        let before = |value: String, now: &String| if from.mode == to.mode { value } else { now.clone() };
        match to.mode {
            Mode::Deadline => {}
            Mode::Quorum => {
                let k = to.quorum_of(n).to_string();
                out.extend(ctx.setting(
                    (before(from.quorum_of(n).to_string(), &k), k),
                    &format!(" of {n}"),
                    Tone::Ok,
                ));
                out.push(ctx.dim("  by "));
            }
            Mode::Hedge => {
                let delay = numbers::delay(to.hedge.delay);
                out.extend(ctx.setting(
                    (before(numbers::delay(from.hedge.delay), &delay), delay),
                    "",
                    Tone::Hedge,
                ));
                if limits && ctx.app.picture().warming > 0 {
                    out.push(ctx.tone(format!(" {} warming", ctx.app.picture().warming), Tone::Hedge));
                }
                out.push(ctx.dim("  by "));
            }
            Mode::WaitAll | Mode::FailFast => out.push(ctx.dim(" budget ")),
        }
        out.extend(ctx.budget());
        if let (held, true) = to.effective_budget() {
            out.extend([ctx.dim(" held to "), ctx.tone(numbers::setting_ms(held), Tone::Cut)]);
        }
        if limits && to.mode.ignores_budget() {
            out.push(ctx.dim("  at most "));
            out.push(Ctx::plain(numbers::setting_ms(to.request_budget)));
        }
        out
    }

    /// Two variants that take turns, where they don't stand for the budget.
    fn ab(&self) -> Option<Vec<Span<'static>>> {
        let (from, to) = (self.ctx.app.config.live().ab, self.ctx.app.wanted().ab);
        let words = |ab: Option<Ab>| ab.map_or_else(|| "off".to_owned(), ab_words);
        let mut out = vec![self.ctx.dim("A/B ")];
        if from == to {
            let ab = to.filter(|ab| ab.a.key() != "budget")?;
            out.push(Ctx::plain(words(Some(ab))));
        } else {
            out.push(Ctx::plain(format!("{} {} ", words(from), self.ctx.glyphs.arrow)));
            out.push(self.ctx.bold(words(to), Tone::Plain));
        }
        Some(out)
    }

    fn every(&self, from: Duration, to: Duration) -> Vec<Span<'static>> {
        let word = |d: Duration| if d.is_zero() { "0".to_owned() } else { numbers::millis(d) };
        if from == to {
            return vec![Ctx::plain(format!("{} ms", word(to)))];
        }
        let arrow = self.ctx.glyphs.arrow;
        vec![
            Ctx::plain(format!("{} {arrow} ", word(from))),
            self.ctx.bold(format!("{} ms", word(to)), Tone::Plain),
        ]
    }

    /// What is chosen of the lanes, that the picture is frozen, recorded, and live or paused.
    fn right(&self, without: Without) -> Vec<Span<'static>> {
        let (ctx, lineup) = (self.ctx, &self.ctx.app.lineup);
        let short = without >= Without::Counts;
        let mut groups: Vec<Vec<Span<'static>>> = Vec::new();
        if !lineup.filter().is_empty() && !lineup.is_typing() {
            let filter = ctx.bold(cut(lineup.filter(), 16, ctx.glyphs.ellipsis), Tone::Plain);
            let count = format!(" {} of {}", lineup.lanes().len(), ctx.app.endpoints.len());
            groups.push(vec![ctx.dim("filter "), filter, ctx.dim(count)]);
        }
        if lineup.sort() != Sort::Profile {
            groups.push(vec![ctx.dim("by "), ctx.bold(lineup.sort().label(), Tone::Plain)]);
        }
        groups.extend(ctx.unverified(short).map(|unverified| vec![unverified]));
        groups.extend(self.faults());
        let small = if ctx.app.kind() == Kind::Live { Size::Small } else { Size::Medium };
        groups.extend(ctx.frozen(short || self.regions.size <= small).map(|frozen| vec![frozen]));
        groups.extend(ctx.recording().map(|recording| vec![recording]));
        groups.extend(ctx.playing());
        groups.push(vec![ctx.pace()]);
        groups.join(&Span::raw("   "))
    }

    /// What embedded upstreams are switched to: the one, or how many.
    fn faults(&self) -> Option<Vec<Span<'static>>> {
        let ctx = self.ctx;
        let faults = ctx.app.faults.iter().enumerate().filter(|f| *f.1 != FaultSwitch::AsWritten);
        let words = match (faults.clone().next()?, faults.count()) {
            ((index, switch), 1) => {
                format!("{} {switch}", cut_middle(ctx.endpoint(EndpointId(index)), 12, ctx.glyphs.ellipsis))
            }
            (_, many) => format!("{many} switched"),
        };
        Some(vec![ctx.dim("x "), ctx.bold(words, Tone::Plain)])
    }
}
