//! Every fault of plain HTTP through the real binary, in every mode: what is said of it, when, and that nothing is
//! left of it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/zoo.rs"]
mod zoo;
#[path = "support/zoo_run.rs"]
mod zoo_run;

use serde_json::Value;
use std::time::Duration;
use zoo::steps::{Animal, Step};
use zoo::{Cage, Zoo};
use zoo_run::{Table, calls, overshoot, run, said};

/// Far more than the slowest of those that answer needs, also on a machine with other things to do.
const ROUND: &str = "budget = \"3s\"\nevery = \"0ms\"";

/// So that endless bodies are over soon.
const DEFAULTS: &str = "[defaults]\nexpect = { max_body = \"1MiB\" }";

/// The attempts of all calls to a server.
fn attempts<'a>(rounds: &'a [Value], cage: &'a Cage) -> impl Iterator<Item = &'a Value> {
    let calls = rounds.iter().flat_map(calls).filter(|call| call["endpoint"] == cage.animal.name);
    calls.flat_map(|call| call["attempts"].as_array().unwrap())
}

/// One attempt is one request: nothing is sent again behind its back.
fn one_request_each(zoo: &Zoo, rounds: &[Value]) {
    for cage in &zoo.cages {
        let animal = &cage.animal;
        let sent = attempts(rounds, cage).filter(|attempt| !attempt["phases"]["waiting"].is_null()).count();
        if !animal.more.contains("follow") {
            assert!(
                cage.requests() <= sent,
                "{}: {} requests, {sent} attempts",
                animal.name,
                cage.requests()
            );
        }
    }
    // Nor where the server ends the connection instead of an answer.
    for name in ["close-request", "reset-request", "close-mid-head", "keepalive-race-rst"] {
        let sent = attempts(rounds, zoo.cage(name)).count();
        assert_eq!((zoo.cage(name).requests(), sent >= rounds.len()), (sent, true), "{name}");
    }
}

#[test]
fn r6_r8_r12_r14_in_deadline_mode_each_fault_has_its_reason_phase_and_time() {
    let zoo = Zoo::start(zoo::plain());
    let run = run(&zoo, &format!("{ROUND}\n{DEFAULTS}"), &["-n", "2"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    assert_eq!(overshoot(&run.rounds).len(), 2);
    one_request_each(&zoo, &run.rounds);
    // Of a redirect that was followed the last body counts.
    assert!(attempts(&run.rounds, zoo.cage("redirect-once")).all(|attempt| attempt["bytes"] == 5));
}

#[test]
fn r18_r22_in_quorum_mode_each_fault_has_its_reason_phase_and_time() {
    let zoo = Zoo::start(zoo::plain());
    let all = zoo.cages.len().to_string();
    let run = run(&zoo, &format!("{ROUND}\n{DEFAULTS}"), &["-n", "2", "-m", "quorum", "-k", &all]);
    Table::of(&zoo, &run.rounds, &[]).check();
    assert_eq!(overshoot(&run.rounds).len(), 2);
    one_request_each(&zoo, &run.rounds);
    assert!(run.rounds.iter().all(|round| round["shortfall"].as_u64() > Some(0)));
}

#[test]
fn r18_r19_a_quorum_of_those_that_answer_waits_for_no_fault() {
    let zoo = Zoo::start(zoo::plain());
    let answering = zoo.list().filter(|(_, _, expected)| matches!(expected, [ok] if ok.starts_with("ok")));
    let k = answering.count().to_string();
    let run = run(&zoo, &format!("{ROUND}\n{DEFAULTS}"), &["-n", "3", "-m", "quorum", "-k", &k]);
    Table::of(&zoo, &run.rounds, &["not_needed"]).check();
    for round in &run.rounds {
        assert_eq!(round["ended_by"], "quorum");
        let hanging = calls(round).iter().find(|call| call["endpoint"] == "hang-mid-body").unwrap();
        assert_eq!(said(hanging), "not_needed");
    }
}

#[test]
fn r23_r25_r27_in_hedge_mode_each_fault_has_its_reason_phase_and_time() {
    let zoo = Zoo::start(zoo::plain());
    let hedge = "[hedge]\nload_budget = \"100%\"\non_error = true";
    let flags = ["-n", "2", "-m", "hedge", "--hedge-delay", "1s"];
    let run = run(&zoo, &format!("{ROUND}\n{hedge}\n{DEFAULTS}"), &flags);
    Table::of(&zoo, &run.rounds, &[]).check();
    assert_eq!(overshoot(&run.rounds).len(), 2);
    one_request_each(&zoo, &run.rounds);
    for round in &run.rounds {
        for name in ["refuse", "reset-request", "gzip-corrupt", "status-500", "hang", "blackhole"] {
            let call = calls(round).iter().find(|call| call["endpoint"] == name).unwrap();
            assert_eq!(call["attempts"].as_array().unwrap().len(), 2, "both are told: {call}");
        }
    }
}

/// Where every answer is refused, the time that each took is kept, and no time of an answer is made up.
#[test]
fn w1_w2_when_every_answer_is_refused_there_are_times_of_rounds_and_none_of_answers() {
    let refusing = zoo::plain().into_iter().filter(|animal| animal.name.starts_with("status-4"));
    let zoo = Zoo::start(refusing.collect());
    let run = run(&zoo, ROUND, &["-n", "20"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    assert!(run.rounds.iter().flat_map(calls).all(|call| call["end_ms"].as_f64() > Some(0.0)));
    let summary = &run.summary;
    assert_eq!((&summary["round"]["n"], &summary["partial"]), (&20.into(), &1.0.into()));
    assert!(summary["round"]["p50_ms"].as_f64() > Some(0.0), "{summary}");
    for endpoint in summary["endpoints"].as_array().unwrap() {
        assert_eq!((&endpoint["n"], &endpoint["missing"]["http_status"]), (&20.into(), &20.into()));
        assert!(["p50_ms", "p95_ms", "p99_ms"].iter().all(|p| endpoint[*p].is_null()), "{endpoint}");
    }
}

/// Servers that leave something open until the deadline, and one that closes while much is still to be sent to it.
fn open_ended() -> Vec<Animal> {
    let body = format!("method = \"POST\"\nbody = \"{}\"", "b".repeat(1_000_000));
    let unread = |name, steps: Vec<Step>| {
        Animal::new(name, &["deadline/waiting", "conn_closed/waiting"], steps).more(&body).leaves_the_body()
    };
    let open = zoo::plain().into_iter().filter(|animal| animal.expected[0].starts_with("deadline"));
    let open = open.map(|animal| animal.callers(6));
    open.chain([unread("half-close-unread", vec![Step::Close]), unread("hang-unread", vec![Step::Hang])])
        .collect()
}

/// A call that can only wait costs nothing while it waits: a busy loop would use most of a processor.
#[cfg(target_os = "linux")]
#[test]
fn r12_nothing_spins_on_a_connection_that_is_half_closed_stalled_or_dripping() {
    let zoo = Zoo::start(open_ended());
    let run = run(&zoo, ROUND, &["-n", "2"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    assert!(run.took > Duration::from_secs(6));
    // What can't be read would be nothing.
    assert!(
        run.cpu > Duration::ZERO && run.cpu < run.took / 4,
        "{:?} of processor time in {:?}",
        run.cpu,
        run.took
    );
}
