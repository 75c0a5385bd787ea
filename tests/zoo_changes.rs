//! Servers that change from request to request, and servers that have too much to do, through the real binary.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/zoo.rs"]
mod zoo;
#[path = "support/zoo_run.rs"]
mod zoo_run;

use serde_json::Value;
use zoo::Zoo;
use zoo::steps::{Animal, By, Step, answer};
use zoo_run::{Run, Table, calls, run, said};

/// What was said of the calls to an endpoint, or to those whose names begin so, in order.
fn told(run: &Run, name: &str) -> Vec<String> {
    let all = run.rounds.iter().flat_map(calls);
    all.filter(|call| call["endpoint"].as_str().unwrap().starts_with(name)).map(said).collect()
}

fn count(told: &[String], what: &str) -> usize {
    told.iter().filter(|said| *said == what).count()
}

const FLAKY: &str = "budget = \"3s\"\nevery = \"0ms\"";

#[test]
fn r27_each_fault_of_a_flaky_server_is_told_in_its_round_and_in_no_other() {
    let zoo = Zoo::start(zoo::changes::flaky());
    let run = run(&zoo, FLAKY, &["-n", "24"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    let faults = [
        ("errors", "http_status/body/503", 5),
        ("resets", "conn_reset/waiting", 6),
        ("stalls", "deadline/waiting", 4),
        ("first-try", "http_status/body/503", 12),
        ("body-resets", "conn_reset/body/200", 8),
        ("body-closes", "body_truncated/body/200", 8),
        ("race", "conn_reset/waiting", 8),
    ];
    for (name, fault, times) in faults {
        assert_eq!(count(&told(&run, name), fault), times, "{name}");
        assert_eq!(count(&told(&run, name), "ok/200"), 24 - times, "{name}");
    }
    // A kept connection that dies under a request says so.
    let race = run.rounds.iter().flat_map(calls).filter(|call| call["endpoint"] == "race");
    for attempt in race.map(|call| &call["attempts"][0]).filter(|attempt| attempt["outcome"] == "failed") {
        assert_eq!(attempt["reused"], true);
        assert!(attempt["detail"].as_str().unwrap().starts_with("stale: "), "{attempt}");
    }
}

#[test]
fn r25_a_hedge_mends_what_is_flaky_and_no_sum_is_off() {
    let zoo = Zoo::start(zoo::changes::flaky());
    let hedge = "[hedge]\nload_budget = \"100%\"\non_error = true";
    let flags = ["-n", "24", "-m", "hedge", "--hedge-delay", "300ms"];
    let run = run(&zoo, &format!("{FLAKY}\n{hedge}"), &flags);
    Table::of(&zoo, &run.rounds, &[]).check();
    for name in ["errors", "resets", "stalls", "first-try", "body-resets", "body-closes"] {
        assert_eq!(count(&told(&run, name), "ok/200"), 24, "{name}: the fault's hedge meets none");
    }
    let hedges = |key: &str| {
        let of = |call: &Value| call["hedges"][key].as_u64().unwrap_or_default();
        run.rounds.iter().flat_map(calls).map(of).sum::<u64>()
    };
    assert!(hedges("won") >= 24, "{} won", hedges("won"));
}

/// The phase and status of a call that was cut are those of the attempt that was cut, however far one had come that
/// failed before.
#[test]
fn r27_a_call_cut_while_its_hedge_hangs_says_so_and_not_what_its_primary_had_got() {
    let turns = vec![vec![answer("500 Internal Server Error", "", "no")], vec![Step::Hang]];
    let zoo =
        Zoo::start(vec![Animal::new("fails-then-hangs", &["deadline/waiting"], []).turns(By::Server, turns)]);
    let round = format!("{FLAKY}\n[hedge]\nload_budget = \"100%\"\non_error = true");
    let run = run(&zoo, &round, &["-n", "2", "-m", "hedge", "--hedge-delay", "1s"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    let attempts = run.rounds.iter().flat_map(calls).flat_map(|call| call["attempts"].as_array().unwrap());
    let attempts: Vec<_> = attempts.map(|attempt| (&attempt["outcome"], &attempt["status"])).collect();
    let one = [(&"failed".into(), &500.into()), (&"cancelled".into(), &Value::Null)];
    assert_eq!(attempts, [one, one].concat());
}

#[test]
fn r6_r14_queues_sheds_and_slow_doors_cost_their_own_time_only() {
    let zoo = Zoo::start(zoo::changes::overload());
    let run = run(&zoo, "budget = \"3s\"\nevery = \"0ms\"", &["-n", "2"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    let sheds = told(&run, "sheds");
    // Four are served and four wait; when all come at once four are turned away.
    assert!(count(&sheds, "ok/200") >= 2 * 8, "{sheds:?}");
    for round in &run.rounds {
        let end = |call: &Value| call["end_ms"].as_f64().unwrap();
        let mut queue: Vec<f64> = calls(round)
            .iter()
            .filter(|call| call["endpoint"].as_str().unwrap().starts_with("queue"))
            .map(end)
            .collect();
        queue.sort_by(f64::total_cmp);
        // Twelve in rows of four.
        assert!(queue[4] >= 100.0 && queue[8] >= 150.0, "{queue:?}");
    }
}

#[test]
fn r18_a_quorum_of_a_crowd_leaves_the_queue_behind() {
    let zoo = Zoo::start(zoo::changes::overload());
    let run = run(&zoo, "budget = \"3s\"\nevery = \"0ms\"", &["-n", "3", "-m", "quorum", "-k", "8"]);
    Table::of(&zoo, &run.rounds, &["not_needed"]).check();
    assert!(run.rounds.iter().all(|round| round["ended_by"] == "quorum"));
}
