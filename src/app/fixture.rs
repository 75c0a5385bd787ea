//! Apps for tests: hand-made rounds, played event by event.

pub(crate) use crate::stats::fixture::*;

use super::{App, EndpointInfo, Message, Options, Recorded, Setup, update};
use crate::domain::event::{AttemptStep, RoundStarted, Vitals};
use crate::domain::{CallSpec, Event, HedgeContract, Mode, Playback, Reason, Round, Settings};
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn setup(names: &[&str], settings: Settings, options: Options) -> Setup {
    Setup {
        profile: "page".to_owned(),
        endpoints: names
            .iter()
            .map(|n| EndpointInfo {
                name: (*n).to_owned(),
                required: false,
                replicas: 1,
                simulated: true,
                breaker: false,
                unverified: false,
                requests: vec![format!("GET https://{n}.example/v2/{n}?user=7&token=<redacted>")],
            })
            .collect(),
        specs: names.iter().map(|_| spec()).collect(),
        hosts: names.len(),
        settings,
        what_if_rounds: crate::whatif::seen::ROUNDS,
        options,
    }
}

/// What the engine knows of each.
fn spec() -> CallSpec {
    CallSpec { required: false, timeout: None, replicas: 1, repeatable: true, hedge: HedgeContract::ByMode }
}

/// Tells the app that a round began.
pub(crate) fn start(app: &mut App, round: &Round) {
    let started = RoundStarted {
        round: round.no,
        at: round.at,
        start_lag: round.start_lag,
        settings: Arc::clone(&round.settings),
        budget: round.budget,
        hedge_delays: round.calls.iter().map(|c| c.hedge_delay).collect(),
        warming: 0,
    };
    update(app, Message::Engine(Event::RoundStarted(started)));
}

/// Tells the app what happened in a round until this instant, and that the time is now.
pub(crate) fn play(app: &mut App, round: &Round, until: Duration) {
    start(app, round);
    let mut events: Vec<(Duration, Event)> = Vec::new();
    for call in &round.calls {
        for (index, a) in call.attempts.iter().enumerate() {
            let event = |at, step| {
                (at, Event::Attempt { round: round.no, call: call.endpoint, attempt: index, at, step })
            };
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
        let mut fates = page_fates(&mut dice);
        // The ads' outage at the end, for the hint.
        if rounds > 100 && no + 15 > rounds {
            fates[7] = Fate::Fails(2.1, Reason::ConnectRefused, None);
        }
        let round = round(no, at(no), &settings, &fates);
        start(&mut app, &round);
        finish(&mut app, round);
    }
    app.selected = 5;
    app
}

/// The same as a recording that has come so far.
pub(crate) fn recorded(mut app: App, playback: Playback) -> App {
    for endpoint in &mut app.endpoints {
        (endpoint.simulated, endpoint.requests) = (false, Vec::new());
    }
    (app.hosts, app.recorded) = (
        0,
        Some(Recorded {
            started: "2026-11-30T10:01:02.123Z".to_owned(),
            playback: Playback::default(),
            going: false,
        }),
    );
    update(&mut app, Message::Played(playback));
    app
}
