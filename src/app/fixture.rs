//! Rounds by hand, for tests: a page of eight calls with seeded latencies, played event by event.

use super::{App, EndpointInfo, Message, Options, Setup, update};
use crate::domain::event::{AttemptStep, RoundStarted, Vitals};
use crate::domain::{
    Attempt, AttemptKind, AttemptOutcome, Call, EndedBy, EndpointId, Event, HedgeCounts, Mode, Outcome, Phase,
    Phases, Reason, Round, RoundNo, Settings,
};
use std::sync::Arc;
use std::time::Duration;

/// Milliseconds, with fractions.
pub(crate) fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

/// Names, medians (ms) and failures of the page's endpoints.
const PAGE: [(&str, f64, f64, Option<(Reason, Option<u16>, f64)>); 8] = [
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

/// The settings of the pictures.
pub(crate) fn settings(mode: Mode) -> Settings {
    Settings { mode, quorum: Some(3), ..Settings::default() }
}

pub(crate) fn setup(names: &[&str], settings: Settings, options: Options) -> Setup {
    Setup {
        profile: "page".to_owned(),
        endpoints: names
            .iter()
            .map(|n| EndpointInfo { name: (*n).to_owned(), required: false, replicas: 1 })
            .collect(),
        hosts: names.len(),
        settings,
        options,
    }
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
        reused: Some(!dials),
        http: None,
        remote: None,
        phase: last,
        phases: cut,
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

/// A round of these calls by the rules of its mode; enough of them for pictures.
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
        lingering: 0,
        answered_optional: calls.iter().filter(|c| c.outcome == Outcome::Ok).count(),
        failed: Vec::new(),
        calls,
    }
}

/// Random fates of the page's calls.
pub(crate) fn page_fates(dice: &mut Dice) -> Vec<Fate> {
    let fate = |&(_, median, sigma, fails): &(_, f64, f64, Option<(Reason, Option<u16>, f64)>), dice: &mut Dice| {
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

/// The fates of the round in the pictures.
pub(crate) const PICTURED: [Fate; 8] = [
    Fate::Answers(43.0),
    Fate::Answers(61.0),
    Fate::Answers(88.0),
    Fate::Answers(112.0),
    Fate::Answers(141.0),
    Fate::Dials(260.0),
    Fate::Answers(194.0),
    Fate::Fails(2.1, Reason::ConnectRefused, None),
];

/// Tells the app that a round began.
pub(crate) fn start(app: &mut App, round: &Round) {
    let started = RoundStarted {
        round: round.no,
        at: round.at,
        start_lag: round.start_lag,
        settings: Arc::clone(&round.settings),
        budget: round.budget,
        hedge_delays: round.calls.iter().map(|c| c.hedge_delay).collect(),
    };
    update(app, Message::Engine(Event::RoundStarted(started)));
}

/// Tells the app what happened in a round until this instant, and that the time is now.
pub(crate) fn play(app: &mut App, round: &Round, until: Duration) {
    start(app, round);
    let mut events: Vec<(Duration, Event)> = Vec::new();
    for call in &round.calls {
        for (index, a) in call.attempts.iter().enumerate() {
            let event = |at, step| (at, Event::Attempt { round: round.no, call: call.endpoint, attempt: index, at, step });
            events.push(event(a.start, AttemptStep::Started { replica: a.replica, kind: a.kind }));
            let mut at = a.start;
            for (phase, time) in a.phases.iter() {
                events.push(event(at, AttemptStep::Reached(phase)));
                at += time;
            }
            let (outcome, reason, status, reused) = (a.outcome, a.reason, a.status, a.reused);
            events.push(event(a.end, AttemptStep::Ended { outcome, reason, status, reused }));
        }
        let settled =
            Event::CallSettled { round: round.no, call: call.endpoint, at: call.end, outcome: call.outcome };
        events.push((call.end, settled));
    }
    events.sort_by_key(|e| e.0);
    for (_, event) in events.into_iter().filter(|e| e.0 <= until) {
        update(app, Message::Engine(event));
    }
    update(app, Message::Tick(round.at + until));
}

/// Tells the app that a round is over.
pub(crate) fn finish(app: &mut App, round: Round) {
    let round = Arc::new(round);
    update(app, Message::Tick(round.at + round.took));
    update(app, Message::Engine(Event::RoundPublished(Arc::clone(&round))));
    update(app, Message::Engine(Event::RoundSettled { round, vitals: Vitals::default() }));
}

/// An app with `rounds` settled page rounds behind it, every 500 ms; the next is number `rounds + 1`.
pub(crate) fn page(mode: Mode, rounds: u64, options: Options) -> App {
    let settings = settings(mode);
    let mut app = App::new(setup(&page_names(), settings.clone(), options));
    let (settings, mut dice) = (Arc::new(settings), Dice::new(7));
    for no in 1..=rounds {
        let round = round(no, at(no), &settings, &page_fates(&mut dice));
        start(&mut app, &round);
        finish(&mut app, round);
    }
    app.selected = 5;
    app
}

/// When a page round starts.
pub(crate) fn at(no: u64) -> Duration {
    Duration::from_millis(500 * no)
}
