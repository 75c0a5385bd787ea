mod blame;
mod hedges;

use super::fixture::{self as fx, Fate};
use super::*;
use crate::domain::{AttemptOutcome, EndedBy, Mode, Phase, Phases, RoundNo, Settings};
use crate::whatif::survival::{Observation, Observed, fair};
use proptest::prelude::*;
use std::sync::Arc;

pub(super) fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Ok),
        1 => Just(Outcome::NotNeeded),
        3 => prop::sample::select(Reason::ALL).prop_map(Outcome::Missing),
    ]
}

/// A round whose calls came out like this.
pub(super) fn round(no: u64, at: Duration, outcomes: &[Outcome], status: Option<u16>) -> Round {
    let settings = Arc::new(Settings::default());
    let call = |(i, &outcome)| {
        let mut call = fx::call(i, Fate::Answers(50.0), settings.budget, Outcome::NotNeeded);
        (call.outcome, call.status) = (outcome, status);
        call
    };
    let calls = outcomes.iter().enumerate().map(call).collect();
    fx::assemble(no, at, &settings, settings.effective_budget(), None, calls)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// R41: in every window the sums equal the calls, and every row's share is of its own endpoint's calls.
    #[test]
    fn r41_sums_equal_the_calls_in_every_window(
        rounds in prop::collection::vec((prop::collection::vec(outcome(), 4), 0_u64..9000), 1..120),
    ) {
        let (mut stats, mut at, mut ends) = (Stats::new(4), Duration::ZERO, Vec::new());
        for (i, (outcomes, gap)) in rounds.iter().enumerate() {
            at += Duration::from_millis(*gap);
            let round = round(i as u64 + 1, at, outcomes, None);
            ends.push((round.at + round.took).as_secs());
            stats.fold(&round, Vitals::default());
            // A sum that holds at the end must have held all along.
            let head = ends.iter().max().copied().unwrap_or(0);
            for window in Window::ALL {
                let from = window.seconds().map_or(0, |s| head.saturating_sub(s - 1));
                let expected = ends.iter().filter(|&&e| e >= from).count() as u64;
                let totals = stats.totals(window);
                prop_assert_eq!(totals.rounds, expected);
                prop_assert_eq!(totals.calls(), 4 * expected);
                let rows = stats.missing(window);
                prop_assert_eq!(rows.iter().map(|r| r.count).sum::<u64>(), totals.missing());
                prop_assert!(rows.iter().all(|r| r.calls == expected && r.count <= r.calls));
                let cut = rows.iter().filter(|r| r.reason.is_cut()).map(|r| r.count).sum::<u64>();
                prop_assert_eq!(cut, totals.cut, "deadline stays apart from every error");
            }
        }
        for row in stats.missing(Window::Minute) {
            for buckets in [1, 22, 30, 60, 500] {
                let spark = stats.spark(row.endpoint, row.reason, Window::Minute, buckets);
                prop_assert_eq!(spark.len(), buckets.min(60));
                prop_assert_eq!(spark.iter().map(|b| b.count).sum::<u64>(), row.count);
                prop_assert_eq!(spark.iter().map(|b| b.calls).sum::<u64>(), row.calls);
            }
        }
    }
}

#[test]
fn r41_the_most_frequent_reason_comes_first() {
    let mut stats = Stats::new(2);
    let deadline = Outcome::Missing(Reason::Deadline);
    let refused = Outcome::Missing(Reason::ConnectRefused);
    for (no, outcomes) in
        [[deadline, refused], [Outcome::Ok, refused], [deadline, refused]].iter().enumerate()
    {
        stats.fold(&round(no as u64, fx::at(no as u64), outcomes, None), Vitals::default());
    }
    let rows: Vec<_> =
        stats.missing(Window::Minute).iter().map(|r| (r.endpoint.0, r.reason, r.count)).collect();
    assert_eq!(rows, [(1, Reason::ConnectRefused, 3), (0, Reason::Deadline, 2)]);
    let totals = stats.totals(Window::Start);
    assert_eq!((totals.ok, totals.cut, totals.error, totals.partial), (1, 2, 3, 3));
}

#[test]
fn a_status_is_named_while_there_is_only_one() {
    let mut stats = Stats::new(1);
    let failed = [Outcome::Missing(Reason::HttpStatus)];
    let mut fold = |second: u64, status| {
        stats.fold(&round(second, Duration::from_secs(second), &failed, Some(status)), Vitals::default());
        stats.missing(Window::Minute).first().map(MissingRow::label)
    };
    assert_eq!(fold(1, 503).as_deref(), Some("http_503"));
    assert_eq!(fold(2, 500).as_deref(), Some("http_status"));
    assert_eq!(fold(40, 500).as_deref(), Some("http_status"), "the 503 is still in the window");
    assert_eq!(fold(90, 500).as_deref(), Some("http_500"));
}

#[test]
fn what_the_engine_says_beside_a_round_that_does_not_count_holds_all_the_same() {
    let mut stats = Stats::new(1);
    let vitals =
        Vitals { open_breakers: 2, backing_off: 1, lingering: 3, lost_events: 4, skipped: 5, watched: 0 };
    stats.leave_out(&round(1, fx::at(1), &[Outcome::Ok], None), vitals);
    let pulse = stats.pulse();
    assert_eq!((pulse.open_breakers(), pulse.backing_off(), pulse.lingering()), (2, 1, 3));
    assert_eq!((pulse.skipped(), pulse.start_lag()), (5, None), "of the round itself nothing counts");
}

#[test]
fn m16_there_is_no_rate_before_the_second_round() {
    let mut stats = Stats::new(8);
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut rate_after = |no| {
        stats.fold(&fx::round(no, fx::at(no), &settings, &fx::TYPICAL), Vitals::default());
        stats.pulse().attempts_per_second()
    };
    assert_eq!([1, 2, 3].map(&mut rate_after), [None, Some(16.0), Some(16.0)]);
}

#[test]
fn the_pulse_tells_rate_lag_overshoot_and_connections() {
    let mut stats = Stats::new(8);
    let settings = Arc::new(fx::settings(Mode::Deadline));
    for no in 1..=5 {
        stats.fold(
            &fx::round(no, fx::at(no), &settings, &fx::TYPICAL),
            Vitals { skipped: no, ..Vitals::default() },
        );
    }
    let pulse = stats.pulse();
    assert_eq!(pulse.attempts_per_second(), Some(16.0));
    assert_eq!(pulse.start_lag(), Some(fx::ms(0.3)));
    assert_eq!(pulse.overshoot(), Some(fx::ms(0.6)));
    assert_eq!((pulse.reused(), pulse.dialled(), pulse.skipped()), (6, 1, 5));
}

#[test]
fn a_reset_forgets_counts_and_keeps_the_time() {
    let mut stats = Stats::new(8);
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let vitals = |skipped| Vitals { skipped, ..Vitals::default() };
    stats.fold(&fx::round(1, fx::at(1), &settings, &fx::TYPICAL), vitals(7));
    let now = stats.now();
    stats.reset();
    assert_eq!((stats.totals(Window::Start), stats.now()), (Totals::default(), now));
    assert!(stats.missing(Window::Start).is_empty() && stats.history().is_empty());
    stats.fold(&fx::round(2, fx::at(2), &settings, &fx::TYPICAL), vitals(9));
    assert_eq!((stats.totals(Window::Start).calls(), stats.pulse().skipped()), (8, 2));
}

#[test]
fn rounds_that_settle_out_of_order_stand_in_order() {
    let mut stats = Stats::new(1);
    for no in [1, 3, 2, 4] {
        stats.fold(&round(no, fx::at(no), &[Outcome::Ok], None), Vitals::default());
    }
    assert!(stats.history().iter().map(|m| m.no).eq([1, 2, 3, 4].map(RoundNo)));
}

#[test]
fn calls_of_unknown_endpoints_are_left_out() {
    let mut stats = Stats::new(1);
    let mut made = round(1, fx::at(1), &[Outcome::Ok, Outcome::Ok], None);
    made.ended_by = EndedBy::Aborted;
    stats.fold(&made, Vitals::default());
    assert_eq!(stats.totals(Window::Start).calls(), 1);
    assert!(stats.spark(EndpointId(7), Reason::Dns, Window::Minute, 5).is_empty());
    assert_eq!(stats.quantile(EndpointId(7), 0.5), Quantile::None);
}

/// The rounds whose end is in a window that ends with the last of them.
pub(super) fn within(rounds: &[Round], window: Window) -> Vec<&Round> {
    let end = |r: &Round| (r.at + r.took).as_secs();
    let head = rounds.iter().map(end).max().unwrap_or(0);
    let from = window.seconds().map_or(0, |s| head.saturating_sub(s - 1));
    rounds.iter().filter(|r| end(r) >= from).collect()
}

#[test]
fn w1_what_the_deadline_cut_is_censored_at_the_deadline_however_late_that_was_noticed() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut stats = Stats::new(1);
    for no in 1..=40 {
        let mut round = fx::round(no, fx::at(no), &settings, &[Fate::Dials(300.0)]);
        round.calls[0].attempts[0].end = fx::ms(209.0);
        stats.fold(&round, Vitals::default());
    }
    assert_eq!(stats.quantile(EndpointId(0), 0.5), Quantile::Above(fx::ms(200.0)));
}

/// A round whose call the deadline of 200 ms cut in this phase, this late.
fn cut(no: u64, phase: Phase, late: Option<Duration>) -> Round {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut round = fx::round(no, fx::at(no), &settings, &[Fate::Answers(900.0)]);
    round.overrun = late;
    let attempt = &mut round.calls[0].attempts[0];
    (attempt.end, attempt.phase) = (attempt.end + late.unwrap_or_default(), phase);
    attempt.phases = Phases::default();
    attempt.phases.add(phase, attempt.end);
    round
}

#[test]
fn r42_what_our_own_lateness_cut_makes_no_hint_and_is_counted_as_an_overrun() {
    let after = |phase, late| {
        let mut stats = Stats::new(1);
        (1..=20).for_each(|no| stats.fold(&cut(no, phase, late), Vitals::default()));
        (stats.hints().len(), stats.pulse().overruns())
    };
    assert_eq!(after(Phase::Connect, None), (1, (0, None)));
    let late = Some(fx::ms(250.0));
    assert_eq!(after(Phase::Connect, late), (0, (20, late)));
    assert_eq!(after(Phase::Waiting, late), (1, (20, late)), "the upstream's, however late we are");
}

#[test]
fn w1_the_screen_and_the_report_see_the_same_of_a_call_that_our_own_lateness_cut() {
    let mut stats = Stats::new(1);
    for no in 1..=40 {
        let mut round = cut(no, Phase::Waiting, Some(fx::ms(250.0)));
        // It came while we were away; when, nobody knows.
        round.calls[0].attempts[0].outcome = AttemptOutcome::Ok;
        round.calls[0].late_by = Some(fx::ms(250.0));
        let call = &round.calls[0];
        let pending = Observation { time: fx::ms(200.0), what: Observed::Censored };
        assert_eq!(fair(&round, call), Some(pending));
        stats.fold(&round, Vitals::default());
    }
    assert_eq!(stats.quantile(EndpointId(0), 0.5), Quantile::Above(fx::ms(200.0)));
}
