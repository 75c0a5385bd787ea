//! Every input that fuzzing has kept, by the same checks: what was found once stays mended, on any compiler.

#![expect(
    clippy::print_stdout,
    reason = "which input it was is only known by what was printed before a panic"
)]

#[path = "../fuzz/src/lib.rs"]
mod checks;

use std::fs;
use std::path::Path;

/// Runs the check on each input of a corpus; returns how many there are.
fn over(corpus: &str, check: fn(&[u8])) -> usize {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(corpus);
    let inputs = fs::read_dir(&place).unwrap_or_else(|e| panic!("{}: {e}", place.display()));
    let mut count = 0;
    for input in inputs {
        let path = input.expect("an entry").path();
        println!("{}", path.display());
        check(&fs::read(&path).expect("an input"));
        count += 1;
    }
    count
}

#[test]
fn profiles_are_explained_or_what_is_wrong_with_them_is() {
    assert!(over("profile", checks::profile) > 5);
}

#[test]
fn recordings_are_read_and_reported_as_far_as_they_go() {
    assert!(over("recording", checks::recording) > 5);
}

#[test]
fn gates_read_as_they_are_shown() {
    assert!(over("gate", checks::gate) > 5);
}

#[test]
fn answers_give_one_outcome_each() {
    assert!(over("response", checks::response) > 5);
}
