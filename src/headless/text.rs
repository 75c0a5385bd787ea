//! A run's summary for people: one line for the whole, a table of the endpoints.

use super::turns;
use crate::domain::{Mode, Reason, Settings, numbers};
use crate::profile::{Profile, durations};
use crate::recording::{EndpointSummary, HedgesTotal, Millis, SummaryLine};
use crate::whatif::quantile::{Quantile, Trust};
use crate::whatif::shares::Share;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Widest name that the table makes room for.
const MOST_NAME: usize = 32;

/// Where no number can be said.
pub(super) const NONE: &str = "–";

/// Said where there were too many times to keep each; `None` where they are exact.
pub(super) fn rounded(summary: &SummaryLine) -> Option<String> {
    let by = percent_up(summary.rounded_by?);
    Some(format!("there were too many times to keep each: they are rounded up, by at most {by} %"))
}

/// A small share in per cent with two digits at most, rounded up.
fn percent_up(share: f64) -> f64 {
    (share * 10_000.0).ceil() / 100.0
}

/// Writes the summary out.
#[must_use]
pub(super) fn summary(profile: &Profile, summary: &SummaryLine) -> String {
    let mut out = String::new();
    let plural = if summary.rounds == 1 { "" } else { "s" };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{}  {}  {} round{plural}",
        profile.name,
        contract(&profile.settings, profile.optional()),
        summary.rounds
    );
    let _ = writeln!(
        out,
        "answered {}  partial {}  failed {}  skipped {}  round p50 {}  p90 {}  p99 {}",
        percent(summary.completeness),
        percent(summary.partial),
        summary.failed,
        summary.skipped,
        millis(summary.round.p50_ms),
        millis(summary.round.p90_ms),
        millis(summary.round.p99_ms),
    );
    let widest = summary.endpoints.iter().map(|e| e.endpoint.width()).max().unwrap_or(0);
    let width = widest.clamp("endpoint".len(), MOST_NAME);
    let _ = writeln!(out, "\n{:<width$}  {:>8}  {:>9}  {:>9}  missing", "endpoint", "ok", "p50", "p95");
    for endpoint in &summary.endpoints {
        let pad = " ".repeat(width.saturating_sub(endpoint.endpoint.width()));
        let _ = writeln!(out, "{}{pad}  {}", endpoint.endpoint, row(endpoint));
    }
    let read: Vec<Quantile> = summary.endpoints.iter().flat_map(|e| e.trusted).collect();
    if let Some(legend) = legend(&read) {
        let _ = writeln!(out, "{legend}");
    }
    if let Some(hedges) = hedges(&summary.hedges) {
        let _ = writeln!(out, "\n{hedges}");
    }
    if let Some(overruns) = overruns(summary) {
        let _ = writeln!(out, "\n{overruns}");
    }
    if let Some(probes) = probes(summary) {
        let _ = writeln!(out, "\n{probes}");
    }
    if let Some(ab) = &summary.ab {
        let _ = write!(out, "\n{}", turns::text(ab));
    }
    if let Some(rounded) = rounded(summary) {
        let _ = writeln!(out, "\n{rounded}");
    }
    out
}

/// That this machine was too busy at times; `None` where it was not.
fn overruns(summary: &SummaryLine) -> Option<String> {
    let rounds = numbers::counted(summary.overruns, "round", "rounds");
    (summary.overruns > 0)
        .then(|| format!("client overrun in {rounds}: this machine woke up too late to judge what they cut"))
}

/// What became of calls that were watched past the end of their rounds; `None` where none were to be (W7).
pub(super) fn probes(summary: &SummaryLine) -> Option<String> {
    let late = summary.late.unwrap_or_default();
    let stragglers = match late.total() {
        0 => "no call known to its end".to_owned(),
        n => format!(
            "{} watched past the end: {} answered, {} failed, {} still pending",
            numbers::counted(n, "call", "calls"),
            late.ok,
            late.error,
            late.censored,
        ),
    };
    (summary.probes > 0)
        .then(|| format!("{}, {stragglers}", numbers::counted(summary.probes, "probe round", "probe rounds")))
}

/// What hedges did and cost; `None` where there were none.
pub(super) fn hedges(hedges: &HedgesTotal) -> Option<String> {
    if hedges.sent == 0 && hedges.suppressed.0.is_empty() {
        return None;
    }
    let suppressed: u64 = hedges.suppressed.0.iter().map(|s| s.1).sum();
    let extra = percent(hedges.extra_load);
    Some(format!(
        "hedges: {} sent for {} primaries ({extra} extra load), {} won, {} wasted ({}), {} reconnects, \
         {suppressed} suppressed",
        hedges.sent,
        hedges.primaries,
        hedges.won,
        hedges.wasted,
        millis(Some(hedges.wasted_ms)),
        hedges.reconnects,
    ))
}

/// Mode, its own number and the budget that held: `quorum 3 of 8 by 200ms`.
pub(super) fn contract(settings: &Settings, optional: usize) -> String {
    let (held, clamped) = settings.effective_budget();
    let own = match settings.mode {
        Mode::Quorum => {
            format!(" {} of {optional} by", settings.quorum_of(optional))
        }
        Mode::Hedge => format!(" after {} by", settings.hedge.delay),
        Mode::Deadline | Mode::WaitAll | Mode::FailFast => String::new(),
    };
    let asked = durations::show(settings.budget);
    let clamp = if clamped {
        let outer = durations::show(settings.request_budget);
        format!(" (of {asked}, held to request_budget {outer})")
    } else {
        String::new()
    };
    let budget = if settings.mode.ignores_budget() { settings.request_budget } else { held };
    format!("{}{own} {}{clamp}", settings.mode, durations::show(budget))
}

/// Answered share of all of an endpoint's calls: of those that were not needed too, as completeness counts (R40).
pub(super) fn ok_share(own: &EndpointSummary) -> Option<f64> {
    Share::of(own.ok, own.n).map(|share| share.value)
}

fn row(endpoint: &EndpointSummary) -> String {
    let label = |reason: &Reason| reason.label(endpoint.status);
    let mut missing: Vec<String> =
        endpoint.missing.0.iter().map(|(reason, count)| format!("{} {count}", label(reason))).collect();
    if endpoint.not_needed > 0 {
        missing.push(format!("(not needed {})", endpoint.not_needed));
    }
    let ok = ok_share(endpoint).map_or_else(|| NONE.to_owned(), numbers::share_percent);
    let [p50, p95] = endpoint.trusted.map(quantile);
    format!("{ok:>8}  {p50:>9}  {p95:>9}  {}", missing.join(", ")).trim_end().to_owned()
}

/// A time; [`NONE`] where there is none.
pub(super) fn millis(time: Option<Millis>) -> String {
    time.map_or_else(|| NONE.to_owned(), |time| numbers::ms(time.into()))
}

/// A share in percent; `no data` where there is none.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "no data".to_owned(), numbers::share_percent)
}

/// A quantile in a table: `43 ms`, `~43 ms` where it is thin, `>200 ms` where calls were cut, [`NONE`].
pub(super) fn quantile(read: Quantile) -> String {
    match (read.time, read.above) {
        (Some(time), _) if read.trust == Trust::Thin => format!("~{}", numbers::ms(time)),
        (Some(time), _) => numbers::ms(time),
        (None, Some(above)) => format!(">{}", numbers::ms(above)),
        (None, None) => NONE.to_owned(),
    }
}

/// What the signs before quantiles mean, those that stand there.
pub(super) fn legend(read: &[Quantile]) -> Option<String> {
    let thin = read.iter().any(|q| q.trust == Trust::Thin);
    let cut = read.iter().any(|q| q.above.is_some());
    let legend = [(thin, "~ rests on fewer than 20 calls"), (cut, "> at least: calls were cut then")];
    let legend: Vec<&str> = legend.iter().filter(|(needed, _)| *needed).map(|(_, words)| *words).collect();
    (!legend.is_empty()).then(|| legend.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{probes as probes_of, *};
    use crate::recording::{LateTotal, Ordered};
    use crate::whatif::survival::{Curve, Observation, Observed};
    use std::time::Duration;

    fn printed(endpoint: EndpointSummary, hedges: HedgesTotal) -> String {
        let profile = crate::profile::load("shops", &|_| None).expect("the built-in profile loads");
        summary(&profile, &SummaryLine { endpoints: vec![endpoint], hedges, ..SummaryLine::default() })
    }

    #[test]
    fn a_status_is_shown_where_there_was_only_one() {
        let endpoint = |status| EndpointSummary {
            endpoint: "a".to_owned(),
            n: 9,
            missing: Ordered(vec![(Reason::HttpStatus, 5), (Reason::Deadline, 4)]),
            status,
            ..EndpointSummary::default()
        };
        let text = |status| printed(endpoint(status), HedgesTotal::default());
        assert!(text(Some(503)).contains("http_503 5, deadline 4"), "{}", text(Some(503)));
        assert!(text(None).contains("http_status 5, deadline 4"), "{}", text(None));
    }

    #[test]
    fn w6_a_quantile_has_its_grade() {
        let seen = |list: &[(u64, Observed, usize)]| {
            let one = |&(t, what, n): &(u64, Observed, usize)| {
                vec![Observation { time: Duration::from_millis(t), what }; n]
            };
            Curve::of(&list.iter().flat_map(one).collect::<Vec<_>>())
        };
        let graded = |curve: &Curve, q| {
            let read = Quantile::of(curve, q);
            (quantile(read), read.trust.as_str())
        };
        let steady = seen(&[(40, Observed::Ok, 90), (60, Observed::Ok, 7), (80, Observed::Ok, 3)]);
        assert_eq!(graded(&steady, 0.5), ("40 ms".to_owned(), "solid"));
        assert_eq!(graded(&steady, 0.95), ("~60 ms".to_owned(), "thin"));
        assert_eq!(graded(&steady, 0.99), (NONE.to_owned(), "none"));
        let cut = seen(&[(40, Observed::Ok, 90), (200, Observed::Censored, 10)]);
        assert_eq!(graded(&cut, 0.95), (">200 ms".to_owned(), "censored"));
        let failing = seen(&[(40, Observed::Ok, 90), (5, Observed::Error, 10)]);
        assert_eq!(graded(&failing, 0.95), (NONE.to_owned(), "unreachable"));
        assert_eq!(graded(&Curve::default(), 0.5), (NONE.to_owned(), "none"));
    }

    #[test]
    fn w6_thin_and_censored_quantiles_are_marked_and_explained() {
        let ms = Duration::from_millis;
        let thin = Quantile { time: Some(ms(44)), trust: Trust::Thin, above: None };
        let cut = Quantile { time: None, trust: Trust::Censored, above: Some(ms(200)) };
        let text = printed(
            EndpointSummary { trusted: [thin, cut], ..EndpointSummary::default() },
            HedgesTotal::default(),
        );
        assert!(text.contains("~44 ms    >200 ms"), "{text}");
        assert!(
            text.ends_with("~ rests on fewer than 20 calls; > at least: calls were cut then\n"),
            "{text}"
        );
    }

    #[test]
    fn rounded_times_are_said_to_be() {
        let profile = crate::profile::load("shops", &|_| None).expect("the built-in profile loads");
        let text = |rounded_by| summary(&profile, &SummaryLine { rounded_by, ..SummaryLine::default() });
        assert!(text(Some(1.0 / 1024.0)).ends_with("they are rounded up, by at most 0.1 %\n"));
        assert!(text(Some(1.0 / 512.0)).ends_with("by at most 0.2 %\n"));
        assert!(!text(None).contains("rounded"));
    }

    #[test]
    fn w7_probe_rounds_say_what_became_of_stragglers() {
        let said = |probes, late| probes_of(&SummaryLine { probes, late, ..SummaryLine::default() });
        let late = LateTotal { ok: 22, error: 3, censored: 5 };
        let text = "12 probe rounds, 30 calls watched past the end: 22 answered, 3 failed, 5 still pending";
        assert_eq!(said(12, Some(late)).as_deref(), Some(text));
        assert_eq!(said(1, None).as_deref(), Some("1 probe round, no call known to its end"));
        assert_eq!(said(0, None), None);
    }

    #[test]
    fn r31_hedges_are_told_with_what_they_cost() {
        let hedges = HedgesTotal {
            primaries: 200,
            sent: 5,
            won: 3,
            wasted: 2,
            extra_load: Some(0.025),
            wasted_ms: Duration::from_millis(410).into(),
            reconnects: 4,
            suppressed: Ordered(vec![(crate::domain::Suppression::Budget, 7)]),
        };
        let text = printed(EndpointSummary::default(), hedges);
        let line = "hedges: 5 sent for 200 primaries (2.5 % extra load), 3 won, 2 wasted (410 ms), 4 reconnects, \
                    7 suppressed\n";
        assert!(text.ends_with(line), "{text}");
    }

    #[test]
    fn overruns_of_this_machine_are_said() {
        let text = |overruns| super::overruns(&SummaryLine { overruns, ..SummaryLine::default() });
        assert_eq!(text(0), None);
        assert!(text(3).is_some_and(|said| said.starts_with("client overrun in 3 rounds")));
    }
}
