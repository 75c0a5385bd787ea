//! What is kept of rounds, and the answers beside budgets: how long a round takes, two variants side by side.

#[path = "support/sample.rs"]
#[expect(dead_code, reason = "each test file uses its own part")]
mod sample;

use fanscope::domain::{
    Ab, Arm, Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, HedgeCounts, Late, Outcome,
    Phase, Phases, Reason, Round, RoundNo, Settings, Variant,
};
use fanscope::whatif::arms::Arms;
use fanscope::whatif::outlook::{Outlook, Question};
use fanscope::whatif::quantile::Trust;
use fanscope::whatif::seen::{ROUNDS, Sample, Seen};
use fanscope::whatif::survival::{Observation, Observed};
use sample::{CUT, FAILED, Nature, cut, dice, ms, question, session};
use std::sync::Arc;
use std::time::Duration;

const BUDGET: Duration = ms(200);

fn attempt(kind: AttemptKind, start: u64, end: u64, outcome: AttemptOutcome) -> Attempt {
    Attempt {
        replica: 0,
        kind,
        start: ms(start),
        end: ms(end),
        outcome,
        reason: (outcome == AttemptOutcome::Failed).then_some(Reason::HttpStatus),
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

fn call(endpoint: usize, outcome: Outcome, end: u64, attempts: Vec<Attempt>) -> Call {
    Call {
        endpoint: EndpointId(endpoint),
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

fn primary(end: u64, outcome: AttemptOutcome) -> Vec<Attempt> {
    vec![attempt(AttemptKind::Primary, 0, end, outcome)]
}

/// A deadline round: one call answers, one is cut.
fn round(no: u64, probe: bool) -> Round {
    Round {
        no: RoundNo(no),
        at: ms(500 * no),
        start_lag: Duration::ZERO,
        settings: Arc::new(Settings::default()),
        budget: BUDGET,
        clamped: false,
        k: None,
        ended_by: EndedBy::Deadline,
        took: BUDGET,
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: probe.then_some(ms(1000)),
        arm: None,
        late: Vec::new(),
        answered_optional: 1,
        failed: Vec::new(),
        calls: vec![
            call(0, Outcome::Ok, 40, primary(40, AttemptOutcome::Ok)),
            call(1, CUT, 200, primary(201, AttemptOutcome::Cancelled)),
        ],
    }
}

fn whole(seen: &Seen, call: usize, now: Duration) -> Option<(Duration, Observed)> {
    seen.whole(&seen.calls[call], now).map(|o| (o.time, o.what))
}

#[test]
fn w7_a_straggler_is_pending_until_now_and_then_what_became_of_it() {
    let mut seen = Seen::of(&round(1, true));
    let at = |past: u64| seen.at + ms(past);
    assert_eq!(whole(&seen, 0, at(0)), Some((ms(40), Observed::Ok)));
    // Never less than when it was seen at its round's end, never longer than it is watched.
    for (past, until) in [(100, 201), (300, 300), (5000, 1000)] {
        assert_eq!(whole(&seen, 1, at(past)), Some((ms(until), Observed::Censored)), "{past}");
    }
    assert_eq!(seen.primary(&seen.calls[1], at(300)).map(|o| o.time), Some(ms(300)));
    let now = at(5000);
    for (outcome, end, want) in [
        (Outcome::Ok, 320, (320, Observed::Ok)),
        (FAILED, 320, (320, Observed::Error)),
        (CUT, 1000, (1000, Observed::Censored)),
        (Outcome::Missing(Reason::Throttled), 450, (450, Observed::Censored)),
        (Outcome::Missing(Reason::Aborted), 450, (450, Observed::Censored)),
        (Outcome::NotNeeded, 450, (450, Observed::Censored)),
        (Outcome::Ok, 1_000_000, (1000, Observed::Censored)),
        // A stamp from before its round's end would be a clock's fault.
        (Outcome::Ok, 100, (201, Observed::Ok)),
    ] {
        seen.late(Late { endpoint: EndpointId(1), outcome, end: ms(end) });
        assert_eq!(whole(&seen, 1, now), Some((ms(want.0), want.1)), "{outcome:?} at {end}");
    }
    // A call that had settled has no later fate, and an endpoint that is not there none at all.
    seen.late(Late { endpoint: EndpointId(0), outcome: FAILED, end: ms(320) });
    seen.late(Late { endpoint: EndpointId(9), outcome: FAILED, end: ms(320) });
    assert_eq!(whole(&seen, 0, now), Some((ms(40), Observed::Ok)));
}

#[test]
fn w7_without_a_probe_a_cut_call_is_not_watched() {
    let mut seen = Seen::of(&round(1, false));
    let cut = Some((ms(201), Observed::Censored));
    assert_eq!(whole(&seen, 1, ms(60_000)), cut);
    seen.late(Late { endpoint: EndpointId(1), outcome: Outcome::Ok, end: ms(320) });
    assert_eq!(whole(&seen, 1, ms(60_000)), cut);
}

#[test]
fn w7_late_answers_that_a_round_brings_with_it_are_taken_in() {
    let mut settled = round(1, true);
    settled.late = vec![Late { endpoint: EndpointId(1), outcome: Outcome::Ok, end: ms(320) }];
    // Out of profile order, too.
    settled.calls.swap(0, 1);
    let seen = Seen::of(&settled);
    assert_eq!(whole(&seen, 0, ms(60_000)), Some((ms(320), Observed::Ok)));
}

#[test]
fn w1_a_hedged_call_is_what_came_of_all_its_attempts() {
    use AttemptKind::{Hedge, Primary};
    use AttemptOutcome::{Cancelled, Failed, Ok};
    let of = |outcome, end, attempts| {
        let mut hedged = round(1, false);
        hedged.calls = vec![call(0, outcome, end, attempts)];
        let seen = Seen::of(&hedged);
        let observed = |o: Option<Observation>| o.map(|o| (o.time, o.what));
        (observed(seen.calls[0].primary), observed(seen.calls[0].whole))
    };
    let both = |first, second| {
        let (end, how) = second;
        let mut all = primary(first, Cancelled);
        all.push(attempt(Hedge, 50, end, how));
        all
    };
    // The hedge won, the primary was pending.
    let won = of(Outcome::Ok, 90, both(91, (90, Ok)));
    assert_eq!(won, (Some((ms(91), Observed::Censored)), Some((ms(90), Observed::Ok))));
    // Both were cut: pending for as long as either was.
    let cut = of(CUT, 200, both(200, (201, Cancelled)));
    assert_eq!(cut.1, Some((ms(201), Observed::Censored)));
    // Cut, and then an answer came all the same.
    assert_eq!(of(CUT, 200, both(201, (202, Ok))).1, Some((ms(202), Observed::Ok)));
    // All failed.
    let failed = vec![attempt(Primary, 0, 60, Failed), attempt(Hedge, 50, 80, Failed)];
    assert_eq!(of(FAILED, 80, failed).1, Some((ms(80), Observed::Error)));
}

fn numbers(sample: &Sample) -> Vec<u64> {
    sample.rounds().iter().map(|round| round.no.0).collect()
}

#[test]
fn a_sample_holds_the_latest_rounds_that_count_in_order() {
    let mut sample = Sample::new(3);
    for no in [1, 3, 2, 5, 4] {
        sample.push(&round(no, false));
    }
    assert_eq!(numbers(&sample), [3, 4, 5]);
    // Older than all that are kept.
    sample.push(&round(1, false));
    assert_eq!(numbers(&sample), [3, 4, 5]);
    let mut warm = round(6, false);
    warm.warmup = true;
    sample.push(&warm);
    sample.push(&Round { ended_by: EndedBy::Aborted, ..round(7, false) });
    assert_eq!(numbers(&sample), [3, 4, 5]);
    sample.clear();
    assert!(sample.rounds().is_empty());
    let mut one = Sample::new(0);
    one.push(&round(1, false));
    one.push(&round(2, false));
    assert_eq!(numbers(&one), [2], "never none");
}

#[test]
fn a_sample_of_wide_rounds_holds_fewer_of_them() {
    let mut wide = round(1, false);
    wide.calls = (0..1000).map(|i| call(i, Outcome::Ok, 1, Vec::new())).collect();
    let mut sample = Sample::default();
    for no in 1..=150 {
        wide.no = RoundNo(no);
        sample.push(&wide);
    }
    assert_eq!((sample.rounds().len(), numbers(&sample)[0]), (120, 31));
    let mut narrow = Sample::default();
    (1..=700).for_each(|no| narrow.push(&round(no, false)));
    assert_eq!(narrow.rounds().len(), ROUNDS);
}

#[test]
fn w7_a_late_answer_finds_its_round_and_leaves_copies_alone() {
    let mut sample = Sample::new(2);
    (1..=3).for_each(|no| sample.push(&round(no, true)));
    let before = sample.clone();
    let late = Late { endpoint: EndpointId(1), outcome: Outcome::Ok, end: ms(320) };
    sample.late(RoundNo(2), late);
    let kept = |sample: &Sample| sample.rounds().iter().map(|r| r.calls[1].late).collect::<Vec<_>>();
    assert_eq!(kept(&sample), [Some(late), None]);
    assert_eq!(kept(&before), [None, None], "who looks at a copy sees what it was");
    sample.late(RoundNo(1), late);
    assert_eq!(kept(&sample), [Some(late), None], "its round is forgotten");
}

#[test]
fn a_round_is_over_when_its_last_call_is() {
    let settings = Arc::new(Settings::default());
    let seen = |time, what| Observation { time: ms(time), what };
    // 100 rounds: the last call of each comes at 101, 102, … ms, or fails then.
    let rounds = |probe: bool| -> Vec<Arc<Seen>> {
        let of = |no: u64| {
            let last = if no.is_multiple_of(2) { Observed::Ok } else { Observed::Error };
            Arc::new(cut(no, &settings, probe, &[seen(50, Observed::Ok), seen(100 + 2 * no, last)]))
        };
        (1..=100).map(of).collect()
    };
    let [p50, p90, p99] = question(rounds(true)).answer().round;
    assert_eq!((p50.time, p50.trust), (Some(ms(200)), Trust::Solid));
    assert_eq!((p90.time, p90.trust), (Some(ms(280)), Trust::Thin), "11 rounds were left then");
    assert_eq!((p99.time, p99.trust), (None, Trust::None), "two rounds are no number");
    // Cut at 200 ms, half of them are seen to their end.
    let [p50, p90, _] = question(rounds(false)).answer().round;
    assert_eq!((p50.time, p50.trust), (Some(ms(200)), Trust::Solid));
    assert_eq!((p90.time, p90.trust), (None, Trust::Censored));
    assert_eq!(p90.above, Some(BUDGET + Duration::from_micros(300)));
}

#[test]
fn a_call_that_was_never_sent_is_over_at_once() {
    let settings = Arc::new(Settings::default());
    let of = |no| {
        let mut round = cut(no, &settings, false, &[Observation { time: ms(70), what: Observed::Ok }; 2]);
        let call = &mut round.calls[1];
        (call.outcome, call.end) = (Outcome::Missing(Reason::BreakerOpen), Duration::ZERO);
        (call.primary, call.whole) = (None, None);
        Arc::new(round)
    };
    let outlook = question((1..=30).map(of).collect()).answer();
    assert_eq!(outlook.round[0].time, Some(ms(70)));
}

/// Rounds in turn: those of the first variant answer in half of their calls, those of the second in all.
fn in_turn(ab: Ab, rounds: u64) -> Vec<Arc<Seen>> {
    let base = Settings { ab: Some(ab), ..Settings::default() };
    let ok = Observation { time: ms(90), what: Observed::Ok };
    let late = Observation { time: ms(230), what: Observed::Ok };
    let of = |no: u64| {
        let (settings, arm) = base.of_round(no);
        let mut round = cut(no, &Arc::new(settings), false, &[ok, late]);
        round.arm = arm;
        Arc::new(round)
    };
    (1..=rounds).map(of).collect()
}

fn budgets(a: u64, b: u64) -> Ab {
    Ab { a: Variant::Budget(ms(a)), b: Variant::Budget(ms(b)) }
}

#[test]
fn w9_two_variants_side_by_side() {
    let arms = Arms::of(&question(in_turn(budgets(150, 250), 100))).unwrap();
    assert_eq!((arms.a.variant, arms.b.variant), (Variant::Budget(ms(150)), Variant::Budget(ms(250))));
    assert_eq!((arms.a.rounds, arms.b.rounds), (50, 50));
    assert_eq!((arms.a.completeness, arms.b.completeness), (0.5, 1.0));
    assert_eq!((arms.a.partial, arms.b.partial), (1.0, 0.0));
    assert!((arms.completeness.value - 0.5).abs() < 1e-12 && arms.completeness.is_clear());
    assert!((arms.partial.value + 1.0).abs() < 1e-12 && arms.partial.is_clear());
    let holds = |(low, high): (f64, f64), value: f64| low <= value && value <= high && high - low < 0.4;
    assert!(holds(arms.a.interval, 0.5) && holds(arms.a.partial_interval, 1.0), "{:?}", arms.a);
    assert!(holds(arms.b.interval, 1.0) && holds(arms.b.partial_interval, 0.0), "{:?}", arms.b);
    assert_eq!((arms.b.p50, arms.b.p99), (ms(230), ms(230)));
}

#[test]
fn w9_the_times_of_a_variant_are_nearest_ranks() {
    let mut rounds = in_turn(budgets(150, 250), 200);
    for (i, round) in rounds.iter_mut().enumerate() {
        Arc::make_mut(round).took = ms(i as u64 / 2 + 1);
    }
    let arms = Arms::of(&question(rounds)).unwrap();
    assert_eq!((arms.a.p50, arms.a.p99, arms.b.p50, arms.b.p99), (ms(50), ms(99), ms(50), ms(99)));
}

#[test]
fn w9_only_the_variants_that_take_turns_now_are_compared() {
    let (old, new) = (in_turn(budgets(100, 120), 40), in_turn(budgets(150, 250), 10));
    let both: Vec<_> = old.iter().chain(&new).cloned().collect();
    let arms = Arms::of(&question(both.clone())).unwrap();
    assert_eq!((arms.a.rounds, arms.a.variant), (5, Variant::Budget(ms(150))));
    // Where none do any more, those that did last.
    let mut over = question(both);
    over.rounds.extend(session(&Nature::PLAIN, 10, BUDGET, None, &mut dice(1)));
    over.settings.ab = None;
    assert_eq!(Arms::of(&over).unwrap().b.variant, Variant::Budget(ms(250)));
    // Those that are to take turns next have had none yet.
    over.settings.ab = Some(budgets(1, 2));
    assert_eq!(Arms::of(&over), None);
    assert_eq!(Arms::of(&question(in_turn(budgets(1, 2), 1))), None, "only one of them had");
    assert_eq!(Arms::of(&question(session(&Nature::PLAIN, 10, BUDGET, None, &mut dice(1)))), None);
    let arm = in_turn(budgets(150, 250), 2).iter().map(|round| round.arm).collect::<Vec<_>>();
    assert_eq!(arm, [Some(Arm::A), Some(Arm::B)]);
}

#[test]
fn nothing_asked_of_nothing_is_nothing() {
    let none = question(Vec::new());
    let outlook = none.answer();
    assert_eq!((outlook.rounds, outlook.calls, outlook.probes), (0, 0, 0));
    assert_eq!(outlook.budget, BUDGET);
    assert_eq!((&outlook.budgets, &outlook.arms), (&Outlook::default().budgets, &None));
    assert!(outlook.advice.is_empty());
}

#[test]
fn an_answer_counts_what_it_rests_on_and_asked_again_it_is_the_same() {
    let question: Question = question(session(&Nature::PLAIN, 60, BUDGET, Some(4), &mut dice(1)));
    let outlook = question.answer();
    assert_eq!((outlook.rounds, outlook.calls, outlook.probes), (60, 480, 15));
    for _ in 0..50 {
        assert_eq!(question.answer(), outlook);
    }
}

/// Without a period the pace is the one that was seen.
#[test]
fn the_next_minute_has_as_many_rounds_as_the_pace_gives() {
    let mut question = question(session(&Nature::PLAIN, 60, BUDGET, None, &mut dice(1)));
    let width = |question: &Question| {
        let points = question.answer().budgets.points;
        let (low, high) = points.iter().find(|p| p.budget == BUDGET).unwrap().next_minute.unwrap();
        high - low
    };
    let by_period = width(&question);
    question.settings.every = Duration::ZERO;
    assert!((width(&question) - by_period).abs() < 1e-12, "they started 500 ms apart");
    question.settings.every = Duration::from_secs(600);
    assert!(width(&question) > by_period * 2.0, "a minute has one round at least");
}
