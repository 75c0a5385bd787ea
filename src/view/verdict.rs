//! The round in one row: how many calls stand where, and what came of it.

use super::ctx::Ctx;
use super::layout::{Regions, Size};
use super::text::{Pen, Row, cut, spans_width, width};
use super::theme::Tone;
use crate::app::lane::Tally;
use crate::app::{App, Health, LiveRound, Pace, Recording, Shown, variant_words};
use crate::domain::numbers;
use crate::domain::{EndedBy, Mode, Outcome, Round};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

/// The verdict row.
pub struct Verdict<'a> {
    /// State and look.
    pub ctx: &'a Ctx<'a>,
    /// Where.
    pub regions: Regions,
}

impl Widget for &Verdict<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let (ctx, size) = (self.ctx, self.regions.size);
        let width = area.width.saturating_sub(2);
        let row = Row { x: area.x.saturating_add(1), y: self.regions.verdict, width };
        let title = match (size, ctx.app.round_no()) {
            (Size::Min, _) => self.numbers(),
            (_, None) => vec![ctx.bold("waiting for the first round", Tone::Plain)],
            (Size::Small, Some(no)) => vec![ctx.bold(no.to_string(), Tone::Plain)],
            (_, Some(no)) => vec![ctx.bold(format!("Round {no}"), Tone::Plain)],
        };
        let title = [title, self.turn(size), self.warming_up(size)].concat();
        let right = match &ctx.app.health {
            Health::Failed(why) => vec![ctx.bold(cut(why, row.width / 2, ctx.glyphs.ellipsis), Tone::Error)],
            Health::Running => self.right(),
        };
        // The verdict matters more than the words beside the counts, and the counts more than its details. Where
        // there is least room they matter more than what stands before them, too.
        let room = row.width.saturating_sub(spans_width(&right) + 1);
        let form = |title: &[Span<'static>], words| {
            let counts = self.counts(words).into_iter();
            let apart = if words == Words::None { Span::raw(" ") } else { gap() };
            let spans = title.iter().cloned().chain(counts.flat_map(|c| [vec![apart.clone()], c].concat()));
            spans.collect::<Vec<_>>()
        };
        let mut forms = vec![form(&title, Words::Signs)];
        if size == Size::Min {
            let counts = form(&[], Words::None).into_iter().skip(1).collect();
            forms.extend([form(&title, Words::None), form(&self.numbers(), Words::None), counts]);
        } else {
            forms.insert(0, form(&title, Words::All));
        }
        let left = forms.iter().find(|f| spans_width(f) <= room && !f.is_empty()).unwrap_or(&title);
        let rule = if size >= Size::Medium { ctx.glyphs.rule } else { " " };
        Pen::new(buf).title(row, left, (rule, ctx.theme.dim()), &right);
    }
}

/// What is said beside a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// What it counts.
    All,
    /// Only its sign.
    Signs,
    /// Its sign, and no blank between them.
    None,
}

/// How much is said of what came of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    /// What came of it, and nothing of the times.
    Least,
    /// Without the words that others make plain.
    Short,
    /// All.
    Long,
}

/// What sets two things apart.
fn gap() -> Span<'static> {
    Span::raw("  ")
}

impl Verdict<'_> {
    /// What stands for the header where there is none: a mode that is pending, else the budget.
    fn numbers(&self) -> Vec<Span<'static>> {
        let (from, to) = (self.ctx.app.config.live().mode, self.ctx.app.wanted().mode);
        if from == to {
            return self.ctx.budget();
        }
        vec![self.ctx.bold(format!("{} {to}", self.ctx.glyphs.arrow), Tone::Plain)]
    }

    /// Whose turn it is, where two variants have rounds in turn: `A 150 ms`.
    fn turn(&self, size: Size) -> Vec<Span<'static>> {
        let Some((arm, variant)) = self.ctx.app.turn() else { return Vec::new() };
        let arm = arm.as_str().to_uppercase();
        let what = if size >= Size::Medium { format!(" {}", variant_words(variant)) } else { String::new() };
        vec![gap(), self.ctx.bold(arm, Tone::Plain), Ctx::plain(what)]
    }

    /// That the round counts nowhere: `warming up 2 of 5`.
    fn warming_up(&self, size: Size) -> Vec<Span<'static>> {
        let Some((no, of)) = self.ctx.app.warming_up() else { return Vec::new() };
        let of = of.map_or_else(String::new, |of| format!(" {no} of {of}"));
        let words = if size == Size::Min { "warm-up" } else { "warming up" };
        vec![gap(), self.ctx.dim(format!("{words}{of}"))]
    }

    fn counts(&self, words: Words) -> Vec<Vec<Span<'static>>> {
        let (ctx, glyphs) = (self.ctx, self.ctx.glyphs);
        let tally = match ctx.app.shown() {
            Shown::Waiting => return Vec::new(),
            Shown::Running(live) => Tally::of_live(live),
            Shown::Over(round) => Tally::of_round(round),
        };
        let group = |count: usize, glyph: &str, word: &str, tone: Tone| {
            let quiet = tone == Tone::Dim;
            let number = ctx.bold(count.to_string(), if quiet { Tone::Plain } else { tone });
            let word = if words == Words::All { format!(" {word}") } else { String::new() };
            let blank = if words == Words::None { "" } else { " " };
            (count > 0).then(|| vec![ctx.tone(format!("{glyph}{blank}"), tone), number, ctx.tone(word, tone)])
        };
        let hedges = numbers::plural(tally.hedges, "hedge", "hedges").to_owned();
        let hedges = match (tally.running, tally.won, tally.hedges.saturating_sub(tally.won)) {
            (0, won, wasted) => format!("{hedges}: {won} won, {wasted} wasted"),
            _ => hedges,
        };
        let groups = [
            group(tally.ok, glyphs.ok, "ok", Tone::Ok),
            group(tally.error, glyphs.error, "error", Tone::Error),
            group(tally.cut, glyphs.cut, "cut", Tone::Cut),
            group(tally.running, glyphs.running, "running", Tone::Running),
            group(tally.not_needed, glyphs.not_needed, "not needed", Tone::Dim),
            group(tally.given_up, glyphs.not_needed, "given up", Tone::Dim),
            group(tally.hedges, glyphs.hedge, &hedges, Tone::Hedge),
        ];
        groups.into_iter().flatten().collect()
    }

    fn right(&self) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        if self.regions.size == Size::Min {
            return self.least();
        }
        let most = self.regions.area.width * 2 / 3;
        let (text, tone) = match ctx.app.shown() {
            Shown::Waiting => return Vec::new(),
            Shown::Running(live) => running(ctx, live),
            Shown::Over(round) => {
                let forms = [Length::Long, Length::Short, Length::Least].map(|length| {
                    let (text, tone) = over(ctx, round, length);
                    (overran(ctx, round, length) + &text, tone)
                });
                let [.., least] = &forms;
                forms.iter().find(|f| width(&f.0) <= most).unwrap_or(least).clone()
            }
        };
        vec![ctx.bold(cut(&text, most, ctx.glyphs.ellipsis), tone)]
    }

    /// What is right of the counts where there is no header that could say so: what the picture is, and what it
    /// is worth. Servers that may be anybody matter more than how long they took.
    fn least(&self) -> Vec<Span<'static>> {
        let ctx = self.ctx;
        let state = ctx.frozen(true).or_else(|| (ctx.app.pace == Pace::Paused).then(|| ctx.pace()));
        let unverified = ctx.unverified(true);
        if let Some(state) = state {
            return unverified.into_iter().flat_map(|u| [u, Span::raw(" ")]).chain([state]).collect();
        }
        let elapsed = || match ctx.app.round_no() {
            Some(_) => numbers::ms(ctx.app.elapsed()),
            None => "waiting".to_owned(),
        };
        let faulty = matches!(ctx.app.recording, Recording::Faulty(_));
        let last = unverified.or_else(|| (!faulty).then(|| ctx.bold(elapsed(), Tone::Plain)));
        let recording = match ctx.app.recording {
            Recording::Off => None,
            Recording::On => Some(Ctx::plain(ctx.glyphs.recorded)),
            Recording::Faulty(_) => ctx.recording(),
        };
        let gap = (recording.is_some() && last.is_some()).then(|| Span::raw(" "));
        recording.into_iter().chain(gap).chain(last).collect()
    }
}

fn running(ctx: &Ctx<'_>, live: &LiveRound) -> (String, Tone) {
    let (app, budget) = (ctx.app, live.started.budget);
    let elapsed = app.elapsed();
    let time = if elapsed <= budget {
        format!("{} of {}", numbers::measured(elapsed).0, numbers::setting_ms(budget))
    } else if app.may_pass_budget() {
        format!("{}, {} over budget", numbers::ms(elapsed), numbers::ms(elapsed.saturating_sub(budget)))
    } else {
        // The news of its end is on its way.
        format!("{} of {}", numbers::millis(budget), numbers::setting_ms(budget))
    };
    if is_lost(app, live) {
        (format!("quorum impossible {} {time}", ctx.glyphs.dot), Tone::Error)
    } else {
        (time, Tone::Plain)
    }
}

/// Whether so many optional calls failed that the quorum cannot be met any more (R21).
fn is_lost(app: &App, live: &LiveRound) -> bool {
    let settings = &live.started.settings;
    let optional = live.calls.iter().zip(&app.endpoints).filter(|(_, e)| !e.required);
    let failed = optional.filter(|(c, _)| matches!(c.settled, Some((_, Outcome::Missing(_))))).count();
    let n = app.optional();
    settings.mode == Mode::Quorum && failed > n.saturating_sub(settings.quorum_of(n))
}

/// Before what came of a round, how late this machine woke up in it where that makes it doubtful.
fn overran(ctx: &Ctx<'_>, round: &Round, length: Length) -> String {
    let whose = if length == Length::Long { "client " } else { "" };
    let words = |late| format!("{whose}overrun {} {} ", numbers::ms(late), ctx.glyphs.dot);
    round.overrun.map(words).unwrap_or_default()
}

/// What came of a round.
fn over(ctx: &Ctx<'_>, round: &Round, length: Length) -> (String, Tone) {
    let dot = ctx.glyphs.dot;
    let times = |text: String| if length == Length::Least { String::new() } else { text };
    let took =
        if round.overshoot().is_some() { numbers::fine_ms(round.took) } else { numbers::ms(round.took) };
    if !round.ok {
        let took = times(format!(" {dot} {took}"));
        return (format!("failed: {}{took}", failures(ctx, round)), Tone::Error);
    }
    if round.ended_by == EndedBy::Aborted {
        return (format!("aborted{}", times(format!(" after {took}"))), Tone::Plain);
    }
    if let Some(k) = round.k {
        return quorum(round, k, &format!(" {dot} {took}"), length);
    }
    let late = round.took.saturating_sub(round.budget);
    let passed = round.settings.mode.ignores_budget() && !late.is_zero();
    let late = if passed { format!(", {} late", numbers::ms(late)) } else { String::new() };
    let took = |before| times(format!("{before}{took}{late}"));
    if round.partial() {
        let (answered, calls) = (round.answered() as u64, round.calls.len() as u64);
        let share = numbers::short_percent(answered, calls);
        let word = if length == Length::Long { " answered" } else { "" };
        let took = took(format!(" {dot} "));
        return (format!("partial {dot} {share}{word}{took}"), Tone::Plain);
    }
    (format!("complete{}", took(" in ".to_owned())), if passed { Tone::Plain } else { Tone::Ok })
}

fn quorum(round: &Round, k: usize, took: &str, length: Length) -> (String, Tone) {
    let had = round.answered_optional;
    let (word, took) = if length == Length::Long { ("quorum ", took) } else { ("", "") };
    let times = |text: String| if length == Length::Least { String::new() } else { text };
    match (round.quorum_at, round.quorum_impossible_at) {
        (Some(at), _) => {
            let spare = times(format!(", {} to spare", numbers::ms(round.budget.saturating_sub(at))));
            (format!("{word}met at {}{spare}", numbers::ms(at)), Tone::Ok)
        }
        (None, Some(at)) => {
            let from = times(format!(" from {}", numbers::ms(at)));
            (format!("{word}impossible{from}: {had} of {k}{took}"), Tone::Error)
        }
        (None, None) if had < k => (format!("{word}not met: {had} of {k}{took}"), Tone::Plain),
        (None, None) => (format!("{word}met{took}"), Tone::Ok),
    }
}

/// Who failed the round, and why.
fn failures(ctx: &Ctx<'_>, round: &Round) -> String {
    let word = |id: &crate::domain::EndpointId| {
        let call = round.calls.get(id.index());
        let reason = call.and_then(|c| Some(c.outcome.reason()?.label(c.status)));
        format!("{} {}", ctx.endpoint(*id), reason.unwrap_or_else(|| "missing".to_owned()))
    };
    let words: Vec<String> = round.failed.iter().map(word).collect();
    match round.settings.mode {
        Mode::FailFast if words.is_empty() => "no answer in time".to_owned(),
        _ if words.is_empty() => "a required call is missing".to_owned(),
        _ => words.join(", "),
    }
}
