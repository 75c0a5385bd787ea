//! What is left on the normal screen after the dashboard: a few lines on what was seen.

use super::{App, Kind};
use crate::domain::numbers;
use crate::domain::{HedgeDelay, Mode, Settings};
use crate::stats::{Hint, MissingRow, Totals, Window};
use std::time::Duration;

/// Rows of the missing table that are told.
const ROWS: usize = 3;

/// The session in a few lines of plain text, without colour and without line breaks; one line where no round
/// has settled. Counts are those since the last reset.
#[must_use]
pub fn summary(app: &App) -> Vec<String> {
    let totals = app.live.stats.totals(Window::Start);
    let what = if app.kind() == Kind::Live { "fanscope" } else { "fanscope replay" };
    let head = format!("{what} {}: {}", app.profile, contract(app.config.live(), app.optional()));
    let length = numbers::span(app.live.now);
    let broken = app.playback().and_then(|playback| playback.fault.as_ref());
    let broken = broken.map(|fault| format!("broken off, nothing after this was shown: {fault}"));
    if totals.rounds == 0 {
        return [format!("{head}, {length}, 0 rounds")].into_iter().chain(broken).collect();
    }
    let mut lines = vec![format!("{head}, {length}"), rounds(&totals), took(app)];
    lines.extend(broken);
    let rows = app.live.stats.missing(Window::Start);
    lines.extend(rows.iter().take(ROWS).map(|row| missing(app, row)));
    if let Some(more @ 1..) = rows.len().checked_sub(ROWS) {
        lines.push(format!("missing  {}", numbers::counted(more, "more reason", "more reasons")));
    }
    lines.extend(app.advised(&app.live).next().map(|hint| advice(app, hint)));
    lines
}

/// Mode, its own number and the budget, as in the last round.
fn contract(settings: &Settings, optional: usize) -> String {
    let own = match settings.mode {
        Mode::Quorum => format!(" {} of {optional} by", settings.quorum_of(optional)),
        Mode::Hedge if settings.hedge.delay == HedgeDelay::Fixed(Duration::ZERO) => " race by".to_owned(),
        Mode::Hedge => format!(" after {} by", numbers::delay(settings.hedge.delay)),
        Mode::Deadline | Mode::WaitAll | Mode::FailFast => String::new(),
    };
    format!("{}{own} {}", settings.mode, numbers::setting_ms(settings.budget))
}

fn rounds(totals: &Totals) -> String {
    format!(
        "{}, {} partial ({}), {} failed; answered {} of {} calls",
        numbers::counted(totals.rounds, "round", "rounds"),
        totals.partial,
        numbers::percent(totals.partial, totals.rounds, "-"),
        totals.failed,
        numbers::percent(totals.ok, totals.calls(), "-"),
        totals.calls(),
    )
}

fn took(app: &App) -> String {
    let pulse = app.live.stats.pulse();
    let quantile = |percent| pulse.took(percent).map_or_else(|| "-".to_owned(), numbers::ms);
    format!("round time p50 {}, p95 {}, max {}", quantile(50), quantile(95), numbers::ms(pulse.longest()))
}

fn missing(app: &App, row: &MissingRow) -> String {
    let share = numbers::percent(row.count, row.calls, "-");
    let name = app.endpoints.get(row.endpoint.index()).map_or("", |e| e.name.as_str());
    format!("missing  {name} {} {} of {} ({share})", row.label(), row.count, row.calls)
}

fn advice(app: &App, hint: &Hint) -> String {
    let name = app.endpoints.get(hint.endpoint.index()).map_or("", |e| e.name.as_str());
    format!("hint     {name} {} {}: {}", hint.verb(), hint.often(false), hint.remedy.words(false))
}

#[cfg(test)]
mod tests {
    use super::super::fixture as fx;
    use super::super::{Message, Options, update};
    use super::*;
    use crate::domain::Reason;
    use std::sync::Arc;

    #[test]
    fn a_session_without_a_round_is_one_line() {
        let mut app = fx::page(Mode::Deadline, 0, Options::default());
        update(&mut app, Message::Tick(Duration::from_millis(900)));
        assert_eq!(summary(&app), ["fanscope page: deadline 200 ms, 0 s, 0 rounds"]);
    }

    #[test]
    fn a_round_without_a_fault_is_three_lines() {
        let mut app = fx::page(Mode::Quorum, 0, Options::default());
        let fates = [fx::Fate::Answers(40.0); 8];
        fx::finish(&mut app, fx::round(1, fx::at(1), &Arc::new(fx::settings(Mode::Quorum)), &fates));
        update(&mut app, Message::Tick(Duration::from_secs(185)));
        assert_eq!(
            summary(&app),
            [
                "fanscope page: quorum 3 of 8 by 200 ms, 3 min 5 s",
                "1 round, 0 partial (0.0 %), 0 failed; answered 100.0 % of 8 calls",
                "round time p50 40 ms, p95 40 ms, max 40 ms",
            ]
        );
    }

    #[test]
    fn missing_calls_and_a_hint_are_told_in_at_most_eight_lines() {
        let app = fx::page(Mode::Deadline, 120, Options::default());
        assert_eq!(
            summary(&app),
            [
                "fanscope page: deadline 200 ms, 1 min 0 s",
                "120 rounds, 71 partial (59.2 %), 0 failed; answered 90.6 % of 960 calls",
                "round time p50 190 ms, p95 201 ms, max 202 ms",
                "missing  recs deadline 43 of 120 (35.8 %)",
                "missing  ads connect_refused 34 of 120 (28.3 %)",
                "missing  geo deadline 6 of 120 (5.0 %)",
                "missing  2 more reasons",
                "hint     ads refused 15 of the last 20 calls: add a circuit breaker",
            ]
        );
    }

    #[test]
    fn the_longest_round_stays_the_longest() {
        let mut app = fx::page(Mode::WaitAll, 0, Options::default());
        let settings = Arc::new(fx::settings(Mode::WaitAll));
        let slow = [fx::Fate::Answers(900.0), fx::Fate::Fails(3.0, Reason::HttpStatus, Some(503))];
        fx::finish(&mut app, fx::round(1, fx::at(1), &settings, &slow));
        for no in 2..=1100 {
            fx::finish(&mut app, fx::round(no, fx::at(no), &settings, &[fx::Fate::Answers(20.0)]));
        }
        assert_eq!(took(&app), "round time p50 20 ms, p95 20 ms, max 900 ms");
    }

    #[test]
    fn lengths_and_contracts_are_short() {
        assert_eq!(
            [0, 59, 60, 3599, 7200].map(|s| numbers::span(Duration::from_secs(s))),
            ["0 s", "59 s", "1 min 0 s", "59 min 59 s", "2 h 0 min"]
        );
        let mut settings = fx::settings(Mode::Hedge);
        assert_eq!(contract(&settings, 8), "hedge after p95 by 200 ms");
        settings.hedge.delay = HedgeDelay::Fixed(Duration::ZERO);
        assert_eq!(contract(&settings, 8), "hedge race by 200 ms");
        assert_eq!(contract(&fx::settings(Mode::WaitAll), 8), "wait-all 200 ms");
    }
}
