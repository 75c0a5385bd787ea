//! Rounds by dice, and an app for them.
#![allow(dead_code, reason = "each bench uses its own part")]

use fanscope::app::{EndpointInfo, Options, Setup};
use fanscope::domain::{
    Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, HedgeCounts, Outcome, Phase, Phases,
    Reason, Round, RoundNo, Settings,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::Duration;

pub const BUDGET: Duration = Duration::from_millis(200);

pub fn settings() -> Arc<Settings> {
    Arc::new(Settings { budget: BUDGET, ..Settings::default() })
}

pub fn setup(lanes: usize) -> Setup {
    let endpoint = |i| EndpointInfo {
        name: format!("endpoint-{i}"),
        required: false,
        replicas: 1,
        simulated: false,
        breaker: false,
        unverified: false,
        requests: Vec::new(),
    };
    let settings = Settings::clone(&settings());
    let options = Options::default();
    Setup {
        profile: "bench".into(),
        endpoints: (0..lanes).map(endpoint).collect(),
        specs: Vec::new(),
        hosts: lanes,
        settings,
        what_if_rounds: 600,
        options,
    }
}

/// A call that answers within 20 to 220 ms, so that one in ten is cut; one in twenty fails at once.
fn call(index: usize, dice: &mut ChaCha8Rng) -> Call {
    let end = Duration::from_micros(u64::from(20_000 + dice.next_u32() % 200_000));
    let fails = dice.next_u32().is_multiple_of(20);
    let (end, outcome, attempted) = if fails {
        let end = Duration::from_millis(2);
        (end, Outcome::Missing(Reason::HttpStatus), AttemptOutcome::Failed)
    } else if end > BUDGET {
        (BUDGET, Outcome::Missing(Reason::Deadline), AttemptOutcome::Cancelled)
    } else {
        (end, Outcome::Ok, AttemptOutcome::Ok)
    };
    let mut phases = Phases::default();
    phases.add(Phase::Connect, end / 10);
    phases.add(Phase::Waiting, end / 2);
    phases.add(Phase::Body, end.saturating_sub(end / 10 + end / 2));
    let attempt = Attempt {
        replica: 0,
        kind: AttemptKind::Primary,
        start: Duration::ZERO,
        end,
        outcome: attempted,
        reason: fails.then_some(Reason::HttpStatus),
        detail: None,
        status: (outcome == Outcome::Ok).then_some(200).or(fails.then_some(503)),
        bytes: 1_000,
        wire_bytes: 1_000,
        server_timing: Arc::default(),
        reused: Some(true),
        http: None,
        remote: None,
        phase: Phase::Body,
        phases,
        trace_id: None,
        answer: None,
    };
    Call {
        endpoint: EndpointId(index),
        outcome,
        end,
        phase: Phase::Body,
        status: attempt.status,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: (outcome == Outcome::Ok).then_some(0),
        attempts: vec![attempt],
    }
}

pub fn round(no: u64, lanes: usize, settings: &Arc<Settings>, dice: &mut ChaCha8Rng) -> Round {
    let calls: Vec<Call> = (0..lanes).map(|i| call(i, dice)).collect();
    let last = calls.iter().map(|c| c.end).max().unwrap_or_default();
    let answered = calls.iter().filter(|c| c.outcome == Outcome::Ok).count();
    Round {
        no: RoundNo(no),
        at: Duration::from_millis(500 * no),
        start_lag: Duration::from_micros(300),
        settings: Arc::clone(settings),
        budget: BUDGET,
        clamped: false,
        k: None,
        ended_by: if last >= BUDGET { EndedBy::Deadline } else { EndedBy::AllSettled },
        took: last,
        ok: true,
        quorum_impossible_at: None,
        quorum_at: None,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: None,
        arm: None,
        late: Vec::new(),
        answered_optional: answered,
        failed: Vec::new(),
        calls,
    }
}
