//! The worked rounds of `tests/vectors.json`, played on paused time through the real round runner.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod support;

use fanscope::domain::{AttemptKind, Call, Mode, Outcome, Phase, Reason, Round};
use fanscope::engine::limits::breaker::{Breaker, Class, Rule, State};
use fanscope::engine::limits::tokens::Tokens;
use fanscope::engine::policy::RoundPlan;
use serde_json::Value;
use support::{FakeNet, Play, call, guarded, hedge, one_dependency, plan, play_with};

/// Shapes that belong to the profile: rejected before there is a round.
const REJECTED: [&str; 2] = ["round_empty", "round_quorum_larger_than_n_rejected"];

fn vectors(kind: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    all["vectors"].as_array().unwrap().iter().filter(|v| v["kind"] == kind).cloned().collect()
}

fn reason(word: &str) -> Reason {
    *Reason::ALL.iter().find(|r| r.as_str() == word).unwrap()
}

fn play_of(attempt: &Value) -> Play {
    let after = attempt[0].as_u64().unwrap();
    match attempt[1].as_str().unwrap() {
        "ok" => Play::ok(after),
        word => Play::fail(after, reason(word)),
    }
}

fn script(input: &Value) -> Vec<Vec<Play>> {
    let lanes = input["lanes"].as_array().unwrap();
    lanes.iter().map(|l| l["attempts"].as_array().unwrap().iter().map(play_of).collect()).collect()
}

fn plan_of(input: &Value) -> RoundPlan {
    let h = &input["hedge"];
    let hedging = h.as_object().and_then(|_| {
        let max = u8::try_from(h["max"].as_u64().unwrap()).unwrap();
        hedge(h["delay"].as_u64().unwrap(), max, h["on_error"].as_bool().unwrap())
    });
    let calls = input["lanes"].as_array().unwrap().iter().map(|_| call(hedging)).collect();
    let k = input["quorum"].as_u64().map(|k| usize::try_from(k).unwrap());
    let mode = if k.is_some() { Mode::Quorum } else { Mode::Deadline };
    RoundPlan {
        k,
        quorum_fail_fast: input["fail_fast"] == true,
        ..plan(mode, input["deadline"].as_u64().unwrap(), calls)
    }
}

fn check_call(name: &str, call: &Call, lane: &Value) {
    let what = format!("{name}: {}", lane["key"]);
    assert_eq!(call.outcome.as_str(), lane["outcome"], "{what}");
    if let Some(word) = lane["reason"].as_str() {
        assert_eq!(call.outcome, Outcome::Missing(reason(word)), "{what}");
    }
    if let Some(at) = lane["at"].as_u64() {
        assert_eq!(call.end, support::ms(at), "{what}");
    }
    if let Some(by) = lane["by"].as_str() {
        let kind = call.winner.map(|w| call.attempts[w].kind);
        assert_eq!(kind.map(AttemptKind::as_str), Some(by), "{what}");
    }
    if lane["phase"] == "queued" {
        assert_eq!((call.phase, call.attempts.len()), (Phase::Queued, 0), "{what}");
    }
}

fn check_round(name: &str, round: &Round, expected: &Value) {
    let number = |n: usize| Value::from(n);
    assert_eq!(round.took.as_millis(), u128::from(expected["ended_at"].as_u64().unwrap()), "{name}");
    assert_eq!(round.ended_by.as_str(), expected["ended_by"], "{name}");
    assert_eq!(number(round.answered()), expected["answered"], "{name}");
    assert_eq!(number(round.missing()), expected["missing"], "{name}");
    assert_eq!(number(round.not_needed()), expected["not_needed"], "{name}");
    assert_eq!(round.partial(), expected["partial"], "{name}");
    let attempts: usize = round.calls.iter().map(|c| c.attempts.len()).sum();
    assert_eq!(number(attempts), expected["attempts"], "{name}");
    for (call, lane) in round.calls.iter().zip(expected["lanes"].as_array().unwrap()) {
        check_call(name, call, lane);
    }
    let impossible = expected["quorum_impossible_at"].as_u64().map(support::ms);
    assert_eq!(round.quorum_impossible_at, impossible, "{name}");
    let hedges = &expected["hedges"];
    if hedges.is_object() {
        let sum = |f: &dyn Fn(&Call) -> u32| Value::from(round.calls.iter().map(f).sum::<u32>());
        assert_eq!(sum(&|c| c.hedges.sent), hedges["sent"], "{name}");
        assert_eq!(sum(&|c| c.hedges.won), hedges["won"], "{name}");
        assert_eq!(sum(&|c| c.hedges.wasted), hedges["wasted"], "{name}");
        assert_eq!(sum(&|c| c.hedges.suppressed.total()), hedges["suppressed"], "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_round_vector_passes_through_the_real_runner() {
    let mut played = 0;
    for vector in vectors("round") {
        let name = vector["name"].as_str().unwrap();
        let input = &vector["input"];
        if REJECTED.contains(&name) {
            continue;
        }
        let net = FakeNet::new(script(input));
        let alive = std::rc::Rc::clone(&net.alive);
        let plan = plan_of(input);
        let permits = input["permits"].as_u64().map(|n| u32::try_from(n).unwrap());
        let guards = permits.map(|n| one_dependency(plan.calls.len(), n, false)).unwrap_or_default();
        let round = play_with(net, plan.clone(), &guarded(plan.calls.len(), &guards)).await;
        check_round(name, &round, &vector["expected"]);
        assert_eq!(alive.get(), 0, "{name}: something outlived its round");
        played += 1;
    }
    assert_eq!(played, 20);
}

#[test]
fn r37_the_breaker_vector_passes() {
    let mut run = 0;
    for vector in vectors("breaker") {
        let input = &vector["input"];
        let number = |key: &str| input[key].as_u64().unwrap();
        assert_eq!(number("half_open_probes"), 1);
        let mut breaker = Breaker::new(Rule {
            window: usize::try_from(number("window")).unwrap(),
            least: usize::try_from(number("min_calls")).unwrap(),
            failure_percent: 50,
            open: support::ms(number("open_ms")),
            successes: u32::try_from(number("half_open_successes")).unwrap(),
            ..Rule::default()
        });
        assert_eq!(input["failure_ratio"], 0.5);
        let mut out = std::collections::BTreeMap::new();
        let mut said = Vec::new();
        for event in input["events"].as_array().unwrap() {
            let (now, id) = (support::ms(event["t"].as_u64().unwrap()), event["id"].as_u64().unwrap());
            let what = if event["op"] == "admit" {
                breaker.admit(now).map_or("rejected", |admission| {
                    out.insert(id, admission);
                    "admitted"
                })
            } else {
                let (class, word) = match event["class"].as_str().unwrap() {
                    "success" => (Class::Success, "success"),
                    "failure" => (Class::Failure, "failure"),
                    _ => (Class::Ignored, "ignore"),
                };
                if breaker.settle(out.remove(&id).unwrap(), class, now) { word } else { "stale_ignored" }
            };
            let state = match breaker.state() {
                _ if what == "rejected" => "breaker_open",
                State::Closed => "closed",
                State::Open { .. } => "open",
                State::HalfOpen { .. } => "half_open",
            };
            said.push(format!("{what}:{state}"));
        }
        assert_eq!(Value::from(said), vector["expected"]);
        run += 1;
    }
    assert_eq!(run, 1);
}

#[test]
fn r28_the_token_vector_passes() {
    for vector in vectors("tokens") {
        let mut tokens = Tokens::default();
        let mut allowed = Vec::new();
        for step in vector["input"]["sequence"].as_str().unwrap().chars() {
            match step {
                'p' => tokens.deposit(vector["input"]["ratio"].as_f64().unwrap()),
                _ => allowed.push(tokens.take()),
            }
        }
        assert_eq!(Value::from(allowed), vector["expected"]["hedge_allowed"]);
    }
}
