//! Every fault of TLS through the real binary, in every mode.

#[path = "support/zoo.rs"]
mod zoo;
#[path = "support/zoo_run.rs"]
mod zoo_run;

use zoo::Zoo;
use zoo_run::{Table, calls, overshoot, run, said};

const ROUND: &str = "budget = \"3s\"\nevery = \"0ms\"";

#[test]
fn r12_in_deadline_mode_each_tls_fault_has_its_reason_phase_and_time() {
    let zoo = Zoo::start(zoo::tls::all());
    let run = run(&zoo, ROUND, &["-n", "2"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    assert_eq!(overshoot(&run.rounds).len(), 2);
}

#[test]
fn r18_in_quorum_mode_each_tls_fault_has_its_reason_phase_and_time() {
    let zoo = Zoo::start(zoo::tls::all());
    let run = run(&zoo, ROUND, &["-n", "3", "-m", "quorum", "-k", "4"]);
    Table::of(&zoo, &run.rounds, &["not_needed"]).check();
    for round in &run.rounds {
        assert_eq!(round["ended_by"], "quorum");
        let hanging = calls(round).iter().find(|call| call["endpoint"] == "tls-hang").unwrap();
        assert_eq!(said(hanging), "not_needed");
    }
}

#[test]
fn r25_in_hedge_mode_each_tls_fault_has_its_reason_phase_and_time() {
    let zoo = Zoo::start(zoo::tls::all());
    let round = format!("{ROUND}\n[hedge]\nload_budget = \"100%\"\non_error = true");
    let run = run(&zoo, &round, &["-n", "2", "-m", "hedge", "--hedge-delay", "1s"]);
    Table::of(&zoo, &run.rounds, &[]).check();
    for round in &run.rounds {
        for name in ["expired", "tls-reset", "tls-hang"] {
            let call = calls(round).iter().find(|call| call["endpoint"] == name).unwrap();
            assert_eq!(call["attempts"].as_array().unwrap().len(), 2, "both are told: {call}");
        }
    }
}
