use super::*;
use crate::domain::{Attempt, EndpointId, HedgeCounts, Phase, Phases};
use proptest::prelude::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn curve(observations: &[(u64, Observed)]) -> Curve {
    Curve::of(&observations.iter().map(|&(t, what)| Observation { time: ms(t), what }).collect::<Vec<_>>())
}

fn attempt(kind: AttemptKind, end: u64, outcome: AttemptOutcome, reason: Option<Reason>) -> Attempt {
    Attempt {
        replica: 0,
        kind,
        start: Duration::ZERO,
        end: ms(end),
        outcome,
        reason,
        detail: None,
        status: None,
        bytes: 0,
        wire_bytes: 0,
        server_timing: std::sync::Arc::default(),
        reused: None,
        http: None,
        remote: None,
        phase: Phase::Waiting,
        phases: Phases::default(),
        trace_id: None,
        answer: None,
    }
}

fn call(outcome: Outcome, end: u64, attempts: Vec<Attempt>) -> Call {
    Call {
        endpoint: EndpointId(0),
        outcome,
        end: ms(end),
        phase: Phase::Waiting,
        status: None,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: None,
        attempts,
    }
}

#[test]
fn what_outlasts_the_last_event_is_pending_until_the_first_of_it_was_cut() {
    use Observed::{Censored, Ok};
    assert_eq!(curve(&[(10, Ok), (5, Censored)]).pending_until(), None);
    assert_eq!(curve(&[(10, Ok), (200, Censored), (300, Censored)]).pending_until(), Some(ms(200)));
    assert_eq!(curve(&[(10, Ok), (10, Censored)]).pending_until(), Some(ms(10)));
    assert_eq!(curve(&[(200, Censored); 3]).pending_until(), Some(ms(200)));
}

#[test]
fn w1_the_primary_decides_what_is_seen() {
    use AttemptKind::{Hedge, Primary};
    use AttemptOutcome::{Cancelled, Failed, Ok};
    let seen = |outcome, attempts| observation(&call(outcome, 200, attempts)).map(|o| (o.time, o.what));
    let one = |end, how, reason| vec![attempt(Primary, end, how, reason)];
    assert_eq!(seen(Outcome::Ok, one(40, Ok, None)), Some((ms(40), Observed::Ok)));
    // A primary that lost to its hedge was pending when it was cancelled.
    let lost = vec![attempt(Primary, 90, Cancelled, None), attempt(Hedge, 88, Ok, None)];
    assert_eq!(seen(Outcome::Ok, lost), Some((ms(90), Observed::Censored)));
    // One that failed before its hedge won was an error.
    let failed = vec![attempt(Primary, 9, Failed, Some(Reason::HttpStatus)), attempt(Hedge, 88, Ok, None)];
    assert_eq!(seen(Outcome::Ok, failed), Some((ms(9), Observed::Error)));
    // Cut at the deadline: at the instant last seen pending, not at the nominal budget.
    let missing = Outcome::Missing(Reason::Deadline);
    assert_eq!(seen(missing, one(201, Cancelled, None)), Some((ms(201), Observed::Censored)));
    // Late but seen.
    assert_eq!(seen(missing, one(203, Ok, None)), Some((ms(203), Observed::Ok)));
    let reset = Some(Reason::ConnReset);
    assert_eq!(seen(missing, one(203, Failed, reset)), Some((ms(203), Observed::Error)));
    // The endpoint's own timeout is an error at that limit, whatever came after it.
    let timeout = Outcome::Missing(Reason::Timeout);
    assert_eq!(seen(timeout, one(201, Cancelled, None)), Some((ms(200), Observed::Error)));
    assert_eq!(seen(timeout, one(203, Ok, None)), Some((ms(200), Observed::Error)));
    assert_eq!(seen(timeout, one(9, Failed, reset)), Some((ms(9), Observed::Error)));
    assert_eq!(seen(Outcome::NotNeeded, one(66, Cancelled, None)), Some((ms(66), Observed::Censored)));
}

#[test]
fn w1_where_nothing_was_sent_the_curve_learns_nothing() {
    for reason in [Reason::BreakerOpen, Reason::BackingOff, Reason::InvalidRequest, Reason::LocalFdLimit] {
        assert_eq!(observation(&call(Outcome::Missing(reason), 0, vec![])), None, "{reason}");
        let tried = vec![attempt(AttemptKind::Primary, 0, AttemptOutcome::Failed, Some(reason))];
        assert_eq!(observation(&call(Outcome::Missing(reason), 0, tried)), None, "{reason}");
    }
    // Cut in the queue: it was pending all that time.
    let queued = observation(&call(Outcome::Missing(Reason::Throttled), 200, vec![]));
    assert_eq!(queued, Some(Observation { time: ms(200), what: Observed::Censored }));
}

#[test]
fn nothing_seen_is_no_number() {
    let none = Curve::of(&[]);
    assert_eq!((none.quantile_ok(0.5), none.horizon(), none.rows()), (None, None, &[] as &[Row]));
    let (lo, hi) = none.ok_bounds(ms(1));
    assert!(lo.abs() < EPSILON && (hi - 1.0).abs() < EPSILON);
    let cut = curve(&[(200, Observed::Censored); 3]);
    assert_eq!((cut.quantile_ok(0.5), cut.horizon(), cut.n()), (None, Some(ms(200)), 3));
}

#[test]
fn w6_a_plateau_below_the_target_is_unreachable_and_a_cut_is_not() {
    let failing = curve(&[(10, Observed::Ok), (20, Observed::Error), (30, Observed::Ok)]);
    assert_eq!(failing.quantile_ok(0.95), None);
    assert!(failing.unreachable_ok(0.95) && !failing.unreachable_ok(0.5));
    assert_eq!(failing.quantile_settled(0.95), Some(ms(30)));
    let cut = curve(&[(10, Observed::Ok), (200, Observed::Censored)]);
    assert!(!cut.unreachable_ok(0.95));
}

fn observations() -> impl Strategy<Value = Vec<Observation>> {
    // Few distinct times, so that ties are common.
    let what = prop_oneof![Just(Observed::Ok), Just(Observed::Error), Just(Observed::Censored)];
    let one = (0u64..40, what).prop_map(|(t, what)| Observation { time: ms(t), what });
    prop::collection::vec(one, 0..120)
}

proptest! {
    #[test]
    fn w2_shares_sum_to_one_and_never_go_back(seen in observations()) {
        let curve = Curve::of(&seen);
        let mut before = Row { time: Duration::ZERO, at_risk: seen.len(), ok: 0.0, error: 0.0, pending: 1.0 };
        for row in curve.rows() {
            prop_assert!((row.ok + row.error + row.pending - 1.0).abs() < 1e-9);
            prop_assert!(row.ok >= before.ok && row.error >= before.error);
            prop_assert!(row.pending <= before.pending && row.pending >= 0.0);
            prop_assert!(row.at_risk <= before.at_risk && row.at_risk >= 1);
            before = *row;
        }
    }

    #[test]
    fn w2_without_censoring_it_is_a_recount(seen in observations(), q in 0.01f64..1.0) {
        let events: Vec<_> = seen.into_iter().filter(|o| o.what != Observed::Censored).collect();
        let curve = Curve::of(&events);
        for row in curve.rows() {
            let by = |what| events.iter().filter(|o| o.what == what && o.time <= row.time).count();
            prop_assert!((row.ok - share(by(Observed::Ok), events.len())).abs() < 1e-9);
            prop_assert!((row.error - share(by(Observed::Error), events.len())).abs() < 1e-9);
        }
        let mut times: Vec<_> = events.iter().map(|o| o.time).collect();
        times.sort_unstable();
        let nearest = times.iter().enumerate()
            .find(|(i, _)| share(i + 1, times.len()) >= q - EPSILON).map(|(_, t)| *t);
        prop_assert_eq!(curve.quantile_settled(q), nearest);
    }
}
