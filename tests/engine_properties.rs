//! Rules that hold in every round, on random rounds.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::{AttemptKind, AttemptOutcome, EndedBy, Mode, Outcome, Reason, Round};
use fanscope::engine::policy::{CallPlan, HedgePlan, RoundPlan};
use proptest::prelude::*;
use std::rc::Rc;
use support::{FakeNet, FixedGate, Play, ms, play};

fn any_play() -> impl Strategy<Value = Play> {
    let reasons = prop::sample::select(vec![
        Reason::ConnectRefused,
        Reason::ConnReset,
        Reason::HttpStatus,
        Reason::CheckFailed,
        Reason::Tls,
    ]);
    prop_oneof![
        5 => (0u64..300).prop_map(Play::ok),
        3 => (0u64..300, reasons).prop_map(|(t, r)| Play::fail(t, r)),
        1 => Just(Play::Hang),
        1 => (0u64..300).prop_map(|t| Play::Panic(ms(t))),
        1 => Just(Play::PanicAtOnce),
    ]
}

fn any_hedge() -> impl Strategy<Value = HedgePlan> {
    (0u64..150, 1u8..=4, any::<bool>()).prop_map(|(delay, max, on_error)| HedgePlan {
        delay: ms(delay),
        max,
        on_error,
        suppressed: None,
    })
}

fn any_call() -> impl Strategy<Value = (CallPlan, Vec<Play>)> {
    let plan = (prop::bool::weighted(0.2), prop::option::weighted(0.3, 1u64..250), 1usize..4).prop_flat_map(
        |(required, timeout, replicas)| {
            prop::option::of(any_hedge()).prop_map(move |hedge| CallPlan {
                required,
                timeout: timeout.map(ms),
                replicas,
                hedge,
            })
        },
    );
    (plan, prop::collection::vec(any_play(), 1..6))
}

fn any_round() -> impl Strategy<Value = (RoundPlan, Vec<Vec<Play>>)> {
    let mode = prop::sample::select(Mode::ALL.to_vec());
    let calls = prop::collection::vec(any_call(), 1..9);
    (mode, 0u64..250, 0u64..400, 1usize..9, any::<bool>(), calls).prop_map(
        |(mode, budget, request, k, quorum_fail_fast, calls)| {
            let (calls, script): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
            let optional = calls.iter().filter(|c| !c.required).count();
            let k = (mode == Mode::Quorum && optional > 0).then(|| k.min(optional));
            let budget = ms(budget.min(request));
            (RoundPlan { mode, budget, request_budget: ms(request), k, quorum_fail_fast, calls }, script)
        },
    )
}

fn run(plan: RoundPlan, script: Vec<Vec<Play>>) -> (std::sync::Arc<Round>, usize, usize) {
    let net = FakeNet::new(script);
    let (alive, sent) = (Rc::clone(&net.alive), Rc::clone(&net.sent));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let round = runtime.block_on(play(net, plan, FixedGate(None)));
    let sent = sent.borrow().len();
    (round, alive.get(), sent)
}

fn limit_of(plan: &RoundPlan, index: usize) -> std::time::Duration {
    plan.calls[index].timeout.map_or(plan.limit_of(index), |t| t.min(plan.limit_of(index)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn r1_r14_r31_every_call_settles_once_nothing_outlives_the_round_and_hedges_add_up(
        (plan, script) in any_round()
    ) {
        let (round, alive, sent) = run(plan.clone(), script);
        // R1
        prop_assert_eq!(round.calls.len(), plan.calls.len());
        prop_assert_eq!(round.answered() + round.missing() + round.not_needed(), round.calls.len());
        // R14
        prop_assert_eq!(alive, 0);
        prop_assert_eq!(round.lingering, 0);
        let attempts: usize = round.calls.iter().map(|c| c.attempts.len()).sum();
        prop_assert!(sent <= attempts, "an attempt that is not recorded");
        for (index, call) in round.calls.iter().enumerate() {
            // R31
            prop_assert_eq!(call.hedges.sent, call.hedges.won + call.hedges.wasted);
            let hedges = call.attempts.iter().filter(|a| a.kind == AttemptKind::Hedge).count();
            prop_assert_eq!(hedges, call.hedges.sent as usize);
            // R8
            let limit = limit_of(&plan, index);
            if call.outcome == Outcome::Ok {
                prop_assert!(call.end <= limit);
                let winner = &call.attempts[call.winner.unwrap()];
                prop_assert_eq!(winner.outcome, AttemptOutcome::Ok);
                prop_assert_eq!(winner.end, call.end);
            }
            for attempt in &call.attempts {
                prop_assert!(attempt.start <= attempt.end);
                let phases: std::time::Duration = attempt.phases.iter().map(|p| p.1).sum();
                prop_assert_eq!(attempt.start + phases, attempt.end, "phases sum to the attempt");
                prop_assert!(attempt.kind == AttemptKind::Primary || attempt.start < limit);
            }
        }
        // R7, R12: never past the outer limit, on time that does not lag.
        prop_assert!(round.took <= plan.request_budget);
        if round.ended_by == EndedBy::Deadline {
            prop_assert_eq!(round.took, plan.budget);
        }
        if round.ended_by == EndedBy::Quorum {
            prop_assert!(round.answered_optional >= plan.k.unwrap());
        }
        prop_assert_eq!(round.ok, round.failed.is_empty(), "a failed round names its failures");
    }

    #[test]
    fn r1_one_calls_failure_never_changes_another(
        (plan, script) in any_round(),
        which in any::<prop::sample::Index>(),
    ) {
        // In a deadline round without required calls, calls have nothing to do with each other.
        let mut plan = RoundPlan { mode: Mode::Deadline, k: None, ..plan };
        plan.calls.iter_mut().for_each(|c| c.required = false);
        let (before, ..) = run(plan.clone(), script.clone());
        let which = which.index(script.len());
        let mut changed = script;
        changed[which] = vec![Play::fail(1, Reason::ConnectRefused)];
        let (after, ..) = run(plan, changed);
        for (index, (a, b)) in before.calls.iter().zip(&after.calls).enumerate() {
            if index != which {
                prop_assert_eq!(a.outcome, b.outcome);
                prop_assert_eq!(a.end, b.end);
            }
        }
    }
}
