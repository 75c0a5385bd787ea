//! The table of faults that other tools had (`docs/faults.md`): each has a test that would fail or a reason why it
//! can't occur, and every test that is named there exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The tests that a text names: what stands in backticks as `file.rs::name`.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('`').skip(1).step_by(2).filter_map(|word| word.split_once(".rs::"))
}

/// Where a file of tests is: beside this one, unless its place in the sources is given.
fn place(file: &str) -> PathBuf {
    let folder = if file.starts_with("src/") { "" } else { "tests" };
    root().join(folder).join(format!("{file}.rs"))
}

/// Whether this is a test there, and not only a function.
fn has_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begin = [format!("fn {name}("), format!("async fn {name}(")];
    let is_it = |line: &&str| begin.iter().any(|begin| line.starts_with(begin));
    let Some(at) = lines.iter().position(is_it) else { return false };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    above.into_iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

#[test]
fn every_fault_has_a_test_or_a_reason_and_every_test_is_there() {
    let table = fs::read_to_string(root().join("docs/faults.md")).expect("the table");
    let mut ids = BTreeSet::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let [id, _, _, _, held] = cells[..] else { panic!("five cells: {row}") };
        if id == "id" {
            continue;
        }
        assert!(ids.insert(id), "{id} stands there twice");
        let reason = held.split_whitespace().count() >= 5;
        assert!(named(held).next().is_some() || reason, "{id}: neither a test nor a reason: {held}");
        let mut tests = BTreeSet::new();
        for (file, name) in named(row) {
            assert!(!file.starts_with("tests/"), "{id}: {file} is in `tests` without saying so");
            assert!(tests.insert((file, name)), "{id} names {name} twice");
            assert!(
                has_test(&place(file), name),
                "{id}: there is no test {name} in {}",
                place(file).display()
            );
        }
    }
    assert!(ids.len() > 80, "only {} rows", ids.len());
}
