//! A round's events, made again from what its record says.

use crate::domain::event::{AttemptStep, RoundStarted};
use crate::domain::{Attempt, Call, EndpointId, Event, Round, Suppression};
use std::sync::Arc;
use std::time::Duration;

/// How the round began.
pub(super) fn started(round: &Round) -> Event {
    let warming = |call: &&Call| call.hedges.suppressed.get(Suppression::Warming) > 0;
    Event::RoundStarted(RoundStarted {
        round: round.no,
        at: round.at,
        start_lag: round.start_lag,
        settings: Arc::clone(&round.settings),
        budget: round.budget,
        hedge_delays: round.calls.iter().map(|call| call.hedge_delay).collect(),
        warming: round.calls.iter().filter(warming).count(),
    })
}

/// What happened until it was published, in order of time, from the round's start.
pub(super) fn within(round: &Round) -> Vec<(Duration, Event)> {
    let mut events = Vec::new();
    for call in &round.calls {
        for (index, attempt) in call.attempts.iter().enumerate() {
            let event = |(at, step)| {
                (at, Event::Attempt { round: round.no, call: call.endpoint, attempt: index, at, step })
            };
            events.extend(steps(attempt).map(event));
        }
        events.push((call.end, settled(round, call.endpoint, call)));
    }
    events.retain(|event| event.0 < round.took);
    events.sort_by_key(|event| event.0);
    events
}

fn settled(round: &Round, call: EndpointId, Call { end, outcome, .. }: &Call) -> Event {
    Event::CallSettled { round: round.no, call, at: *end, outcome: *outcome }
}

/// An attempt's start, the phases it reached, and its end.
fn steps(attempt: &Attempt) -> impl Iterator<Item = (Duration, AttemptStep)> {
    let begun = AttemptStep::Started { replica: attempt.replica, kind: attempt.kind };
    let over = AttemptStep::Ended {
        outcome: attempt.outcome,
        reason: attempt.reason,
        status: attempt.status,
        reused: attempt.reused,
    };
    let mut at = attempt.start;
    let reached = attempt.phases.iter().map(move |(phase, time)| {
        let entered = at;
        at = at.saturating_add(time);
        (entered, AttemptStep::Reached(phase))
    });
    std::iter::once((attempt.start, begun)).chain(reached).chain([(attempt.end, over)])
}
