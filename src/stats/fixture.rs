//! Rounds by hand, for tests: a page of eight calls with seeded latencies.

use crate::domain::{
    Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, HedgeCounts, Mode, Outcome, Phase,
    Phases, Reason, Round, RoundNo, Settings,
};
use std::sync::Arc;
use std::time::Duration;

/// Milliseconds, with fractions.
pub(crate) fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

/// Name, median (ms), spread, and how and how often it fails.
type Upstream = (&'static str, f64, f64, Option<(Reason, Option<u16>, f64)>);

/// The page's endpoints.
const PAGE: [Upstream; 8] = [
    ("catalog", 42.0, 0.25, None),
    ("price", 60.0, 0.25, None),
    ("stock", 86.0, 0.25, None),
    ("reviews", 104.0, 0.3, None),
    ("shipping", 128.0, 0.2, None),
    ("recs", 188.0, 0.25, None),
    ("geo", 125.0, 0.25, Some((Reason::HttpStatus, Some(503), 0.05))),
    ("ads", 32.0, 0.3, Some((Reason::ConnectRefused, None, 0.2))),
];

/// A deterministic stream of numbers between 0 and 1.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(1_u32 << 31)
    }

    /// Around `median`, skewed to the right.
    pub(crate) fn latency(&mut self, median: f64, sigma: f64) -> f64 {
        let normal: f64 = (0..12).map(|_| self.roll()).sum::<f64>() - 6.0;
        median * (sigma * normal).exp()
    }
}

/// How a call of a hand-made round goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    /// It would answer at this time; a limit may be earlier.
    Answers(f64),
    /// The same over a connection of its own.
    Dials(f64),
    /// It fails.
    Fails(f64, Reason, Option<u16>),
}

/// The settings of the scenes.
pub(crate) fn settings(mode: Mode) -> Settings {
    Settings { mode, quorum: Some(3), ..Settings::default() }
}

pub(crate) fn page_names() -> Vec<&'static str> {
    PAGE.iter().map(|p| p.0).collect()
}

/// Phases of an attempt that takes this long.
fn phases(total: Duration, dials: bool) -> Phases {
    let mut phases = Phases::default();
    let mut left = total;
    let mut add = |phase, time: Duration| {
        let time = time.min(left);
        left -= time;
        if !time.is_zero() {
            phases.add(phase, time);
        }
    };
    if dials {
        add(Phase::Dns, ms(4.0));
        add(Phase::Connect, ms(8.0));
        add(Phase::Tls, ms(19.0));
    }
    add(Phase::Waiting, total.mul_f64(0.9));
    add(Phase::Body, total);
    phases
}

fn attempt(end: Duration, whole: Duration, dials: bool, outcome: AttemptOutcome) -> Attempt {
    let whole = phases(whole, dials);
    let (mut cut, mut left, mut last) = (Phases::default(), end, Phase::Queued);
    for (phase, time) in whole.iter() {
        let time = time.min(left);
        left -= time;
        if !time.is_zero() {
            cut.add(phase, time);
            last = phase;
        }
    }
    Attempt {
        replica: 0,
        kind: AttemptKind::Primary,
        start: Duration::ZERO,
        end,
        outcome,
        reason: None,
        detail: None,
        status: (outcome == AttemptOutcome::Ok).then_some(200),
        bytes: 0,
        wire_bytes: 0,
        server_timing: std::sync::Arc::default(),
        reused: Some(!dials),
        http: None,
        remote: None,
        phase: last,
        phases: cut,
        trace_id: None,
        answer: None,
    }
}

/// A call that goes its way until `limit`, and what it is called if the limit is first.
pub(crate) fn call(index: usize, fate: Fate, limit: Duration, at_limit: Outcome) -> Call {
    let (outcome, end, attempt) = match fate {
        Fate::Answers(at) | Fate::Dials(at) => {
            let (whole, dials) = (ms(at), matches!(fate, Fate::Dials(_)));
            let ok = whole <= limit;
            let how = if ok { AttemptOutcome::Ok } else { AttemptOutcome::Cancelled };
            let end = whole.min(limit);
            (if ok { Outcome::Ok } else { at_limit }, end, attempt(end, whole, dials, how))
        }
        Fate::Fails(at, reason, status) => {
            let mut failed = attempt(ms(at), ms(at), false, AttemptOutcome::Failed);
            (failed.reason, failed.status) = (Some(reason), status);
            if status.is_none() {
                failed.reused = None;
                failed.phase = Phase::Connect;
                failed.phases = Phases::default();
                failed.phases.add(Phase::Connect, ms(at));
            }
            (Outcome::Missing(reason), ms(at), failed)
        }
    };
    Call {
        endpoint: EndpointId(index),
        outcome,
        end,
        phase: attempt.phase,
        status: attempt.status,
        late_by: None,
        hedge_delay: None,
        hedges: HedgeCounts::default(),
        winner: (outcome == Outcome::Ok).then_some(0),
        attempts: vec![attempt],
    }
}

/// A round of these calls by the rules of its mode; enough of them for a screen.
pub(crate) fn round(no: u64, at: Duration, settings: &Arc<Settings>, fates: &[Fate]) -> Round {
    let (budget, clamped) = settings.effective_budget();
    let time = |f: &Fate| match *f {
        Fate::Answers(t) | Fate::Dials(t) => Some(ms(t)),
        Fate::Fails(..) => None,
    };
    let mut answers: Vec<Duration> = fates.iter().filter_map(time).collect();
    answers.sort_unstable();
    let k = (settings.mode == Mode::Quorum).then(|| settings.quorum_of(fates.len()));
    let quorum_at = k.and_then(|k| answers.get(k - 1).copied()).filter(|&t| t <= budget);
    let limit = match settings.mode {
        Mode::WaitAll | Mode::FailFast => settings.request_budget,
        _ => quorum_at.unwrap_or(budget),
    };
    let at_limit = if quorum_at.is_some() { Outcome::NotNeeded } else { Outcome::Missing(Reason::Deadline) };
    let calls: Vec<Call> = fates.iter().enumerate().map(|(i, &f)| call(i, f, limit, at_limit)).collect();
    assemble(no, at, settings, (budget, clamped), quorum_at, calls)
}

/// A round around finished calls.
pub(crate) fn assemble(
    no: u64,
    at: Duration,
    settings: &Arc<Settings>,
    (budget, clamped): (Duration, bool),
    quorum_at: Option<Duration>,
    calls: Vec<Call>,
) -> Round {
    let last = calls.iter().map(|c| c.end).max().unwrap_or_default();
    let cut = calls.iter().any(|c| c.outcome == Outcome::Missing(Reason::Deadline));
    let (ended_by, took) = match (quorum_at, cut) {
        (Some(at), _) => (EndedBy::Quorum, at),
        (None, true) => (EndedBy::Deadline, budget + ms(0.6)),
        (None, false) => (EndedBy::AllSettled, last),
    };
    Round {
        no: RoundNo(no),
        at,
        start_lag: ms(0.3),
        settings: Arc::clone(settings),
        budget,
        clamped,
        k: (settings.mode == Mode::Quorum).then(|| settings.quorum_of(calls.len())),
        ended_by,
        took,
        ok: true,
        quorum_impossible_at: None,
        quorum_at,
        overrun: None,
        lingering: 0,
        warmup: false,
        probe: None,
        arm: None,
        late: Vec::new(),
        answered_optional: calls.iter().filter(|c| c.outcome == Outcome::Ok).count(),
        failed: Vec::new(),
        calls,
    }
}

/// Random fates of the page's calls.
pub(crate) fn page_fates(dice: &mut Dice) -> Vec<Fate> {
    let fate = |&(_, median, sigma, fails): &Upstream, dice: &mut Dice| {
        let time = dice.latency(median, sigma);
        match fails {
            Some((reason, status, rate)) if dice.roll() < rate => {
                Fate::Fails(if status.is_some() { time } else { 2.1 }, reason, status)
            }
            _ => Fate::Answers(time),
        }
    };
    PAGE.iter().map(|p| fate(p, dice)).collect()
}

/// The fates of a typical round: one refused, one too slow.
pub(crate) const TYPICAL: [Fate; 8] = [
    Fate::Answers(43.0),
    Fate::Answers(61.0),
    Fate::Answers(88.0),
    Fate::Answers(112.0),
    Fate::Answers(141.0),
    Fate::Dials(260.0),
    Fate::Answers(194.0),
    Fate::Fails(2.1, Reason::ConnectRefused, None),
];

/// When a page round starts.
pub(crate) fn at(no: u64) -> Duration {
    Duration::from_millis(500 * no)
}

/// Sets a call's hedge delay.
pub(crate) fn delayed(mut call: Call, delay: f64) -> Call {
    call.hedge_delay = Some(ms(delay));
    call
}

/// Adds a hedge to a call: started at its delay, over at `end`. Whoever answers first wins.
pub(crate) fn hedged(mut call: Call, delay: f64, end: f64, won: bool, dials: bool) -> Call {
    call = delayed(call, delay);
    let time = ms(end - delay);
    let outcome = if won { AttemptOutcome::Ok } else { AttemptOutcome::Cancelled };
    let mut hedge = attempt(time, time, false, outcome);
    if dials {
        hedge.phases = Phases::default();
        hedge.phases.add(Phase::Connect, ms(8.0));
        hedge.phases.add(Phase::Waiting, time.saturating_sub(ms(10.0)));
        hedge.phases.add(Phase::Body, ms(2.0));
        hedge.reused = Some(false);
    }
    (hedge.kind, hedge.replica, hedge.start, hedge.end) = (AttemptKind::Hedge, 1, ms(delay), ms(end));
    call.hedges.sent = 1;
    if won {
        call.hedges.won = 1;
        (call.outcome, call.end, call.winner, call.status) = (Outcome::Ok, ms(end), Some(1), Some(200));
        if let Some(primary) = call.attempts.first_mut() {
            *primary = attempt(ms(end), ms(end * 2.0), false, AttemptOutcome::Cancelled);
        }
    } else {
        call.hedges.wasted = 1;
    }
    call.attempts.push(hedge);
    call
}
