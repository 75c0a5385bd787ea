//! What the instrument says of itself: how late it was, what it skipped and held back, what it sent.

use super::ctx::Ctx;
use super::layout::WIDE;
use super::text::spans_width;
use super::theme::Tone;
use crate::app::Recording;
use crate::domain::event::SkipCause;
use crate::domain::numbers;
use ratatui::text::Span;
use std::time::Duration;

/// A number with its label, and how early it goes when room is short; 0 stays.
type Group = (u8, Vec<Span<'static>>);

/// The numbers that fit into so many columns, three apart.
pub(super) fn groups(ctx: &Ctx<'_>, room: u16) -> Vec<Vec<Span<'static>>> {
    let mut groups = all(ctx);
    if room < WIDE - 2 {
        // Never now and then: what comes and goes with the length of a number moves all behind it.
        groups.retain(|g| g.0 <= 2);
    }
    let length = |groups: &[Group]| groups.iter().map(|g| spans_width(&g.1) + 3).sum::<u16>();
    while length(&groups) > room.saturating_add(3)
        && let Some(most) = groups.iter().map(|g| g.0).max().filter(|&rank| rank > 0)
    {
        groups.retain(|g| g.0 < most);
    }
    groups.into_iter().map(|g| g.1).collect()
}

fn all(ctx: &Ctx<'_>) -> Vec<Group> {
    let pulse = ctx.app.stats().pulse();
    let none = ctx.glyphs.none;
    let time = |label: &str, time: Option<Duration>| {
        vec![ctx.dim(format!("{label} ")), Ctx::plain(time.map_or_else(|| none.to_owned(), numbers::ms))]
    };
    // These should be 0: bold where they are not.
    let zero = |label: &str, count: u64| {
        let number = if count == 0 { Ctx::plain("0") } else { ctx.bold(count.to_string(), Tone::Plain) };
        vec![ctx.dim(format!("{label} ")), number]
    };
    let counted = |count: String, label: &str| vec![Ctx::plain(count), ctx.dim(format!(" {label}"))];
    let hosts = ctx.app.hosts;
    let rate = pulse.attempts_per_second().map_or_else(|| none.to_owned(), |r| format!("{r:.1}"));
    let mut skipped = zero("skipped", pulse.skipped());
    skipped.extend(pulse.skip_cause().map(|cause| {
        ctx.dim(match cause {
            SkipCause::Missed => " late",
            SkipCause::Overlap => " overlap",
            SkipCause::Rate => " rate",
        })
    }));
    // A record that has gaps, or none at all, is what somebody will miss most.
    let fault = match &ctx.app.recording {
        Recording::Faulty(why) => Some((0, vec![ctx.bold(format!("recording: {why}"), Tone::Error)])),
        Recording::On | Recording::Off => None,
    };
    let short = ctx.app.descriptors.map(|(limit, need)| {
        (0, vec![ctx.dim("descriptors "), ctx.bold(format!("{limit} of {need}"), Tone::Error)])
    });
    let mut groups: Vec<Group> = fault.into_iter().chain(short).collect();
    // A recording does not say.
    if hosts > 0 {
        groups.push((3, counted(hosts.to_string(), numbers::plural(hosts, "host", "hosts"))));
    }
    groups.extend([
        (3, counted(rate, "attempts/s")),
        (1, time("start lag", pulse.start_lag())),
        (2, time("overshoot", pulse.overshoot())),
        (0, skipped),
        (0, zero("lingering", pulse.lingering())),
    ]);
    let unusual = [
        ("breakers open", pulse.open_breakers() as u64),
        ("backing off", pulse.backing_off() as u64),
        ("lost events", pulse.lost_events()),
    ];
    groups.extend(unusual.iter().filter(|r| r.1 > 0).map(|&(label, count)| (0, zero(label, count))));
    groups.extend(overruns(ctx).map(|overruns| (0, overruns)));
    groups.extend(probing(ctx).map(|probing| (1, probing)));
    groups.push((4, counted(pulse.reused().to_string(), "reused")));
    groups.push((4, counted(pulse.dialled().to_string(), "new")));
    groups
}

/// Rounds that this machine woke up too late in, and how late in the last of them.
fn overruns(ctx: &Ctx<'_>) -> Option<Vec<Span<'static>>> {
    let (rounds, last) = ctx.app.stats().pulse().overruns();
    let last = last.map(|last| ctx.dim(format!(", last {}", numbers::ms(last))));
    (rounds > 0).then(|| {
        let count = ctx.bold(rounds.to_string(), Tone::Plain);
        [ctx.dim("overruns "), count].into_iter().chain(last).collect()
    })
}

/// That some rounds are probes, and how many calls are watched (W7).
fn probing(ctx: &Ctx<'_>) -> Option<Vec<Span<'static>>> {
    let (share, watched) = (ctx.app.wanted().probe, ctx.app.stats().pulse().watched());
    let mut out = Vec::new();
    if share > 0.0 {
        out.extend([ctx.dim("probe "), Ctx::plain(numbers::short_share(share))]);
    }
    if watched > 0 {
        let label = if share > 0.0 { " watched " } else { "watched " };
        out.extend([ctx.dim(label), Ctx::plain(watched.to_string())]);
    }
    (!out.is_empty()).then_some(out)
}
