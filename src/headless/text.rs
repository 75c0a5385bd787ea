//! A run's summary for people: one line for the whole, a table of the endpoints.

use crate::domain::{Mode, Reason, Settings, numbers};
use crate::profile::{Profile, durations};
use crate::recording::{EndpointSummary, HedgesTotal, Millis, SummaryLine};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Widest name that the table makes room for.
const MOST_NAME: usize = 32;

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
    let share = |value: Option<f64>| value.map_or_else(|| "no data".to_owned(), numbers::share_percent);
    let _ = writeln!(
        out,
        "answered {}  partial {}  failed {}  skipped {}  round p50 {}  p90 {}  p99 {}",
        share(summary.completeness),
        share(summary.partial),
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
    if let Some(hedges) = hedges(&summary.hedges) {
        let _ = writeln!(out, "\n{hedges}");
    }
    if summary.rounded {
        out.push_str("\nso many calls that their times are rounded, by up to 0.1 %\n");
    }
    out
}

/// What hedges did and cost; `None` where there were none.
pub(super) fn hedges(hedges: &HedgesTotal) -> Option<String> {
    if hedges.sent == 0 && hedges.suppressed.0.is_empty() {
        return None;
    }
    let suppressed: u64 = hedges.suppressed.0.iter().map(|s| s.1).sum();
    let extra = hedges.extra_load.map_or_else(|| "no data".to_owned(), numbers::share_percent);
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

fn row(endpoint: &EndpointSummary) -> String {
    let label = |reason: &Reason| reason.label(endpoint.status);
    let mut missing: Vec<String> =
        endpoint.missing.0.iter().map(|(reason, count)| format!("{} {count}", label(reason))).collect();
    if endpoint.not_needed > 0 {
        missing.push(format!("(not needed {})", endpoint.not_needed));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of calls, far below 2^52")]
    let ok = (endpoint.n > 0).then(|| endpoint.ok as f64 / endpoint.n as f64);
    let ok = ok.map_or_else(|| "–".to_owned(), numbers::share_percent);
    let (p50, p95) = (millis(endpoint.p50_ms), millis(endpoint.p95_ms));
    format!("{ok:>8}  {p50:>9}  {p95:>9}  {}", missing.join(", ")).trim_end().to_owned()
}

/// `–` where the data do not reach.
fn millis(time: Option<Millis>) -> String {
    time.map_or_else(|| "–".to_owned(), |time| numbers::ms(time.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Ordered;
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
    fn rounded_times_are_said_to_be() {
        let profile = crate::profile::load("shops", &|_| None).expect("the built-in profile loads");
        let text = |rounded| summary(&profile, &SummaryLine { rounded, ..SummaryLine::default() });
        assert!(
            text(true).ends_with("times are rounded, by up to 0.1 %\n") && !text(false).contains("rounded")
        );
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
}
