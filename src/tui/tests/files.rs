//! Keys that write files: recordings, notes in them, pictures.

use super::{Step, char, key, on, play_in, resized, when};
use crate::recording::{Line, Reader, Record, open};
use crate::tui::run::Leave;
use crossterm::event::{Event as Input, KeyCode};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The folder's files with this extension, by name.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    found.sort();
    found
}

fn read(path: &Path) -> Vec<Record> {
    let mut reader = Reader::new(open(path).unwrap());
    std::iter::from_fn(|| reader.next_record().unwrap()).collect()
}

fn notes<'r>(records: &'r [Record]) -> Vec<&'r str> {
    let note = |record: &'r Record| match record {
        Record::Note(_, text) => Some(text.as_str()),
        _ => None,
    };
    records.iter().filter_map(note).collect()
}

/// Text, typed key by key.
fn word(text: &'static str) -> Vec<Step> {
    text.chars().map(|c| on("", char(c))).collect()
}

#[test]
fn s8_r_records_until_it_is_pressed_again_and_never_into_the_same_file() {
    let dir = dir();
    let (why, ..) = play_in(
        dir.path(),
        vec![
            resized(),
            on("1 round,", char('R')),
            on("recording to ", char('w')),
            when(|s| s.contains("◉ rec   live") && s.contains("4 rounds,"), char('R')),
            when(|s| s.contains("recorded to ") && !s.contains("◉ rec"), char('R')),
            when(|s| s.contains("◉ rec") && s.contains("6 rounds,"), char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
    let found = files(dir.path(), "ndjson");
    assert_eq!(found.len(), 2, "{found:?}");
    for path in found {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with("shops-2") && name.len() >= "shops-20260203-040506.ndjson".len(), "{name}");
        let records = read(&path);
        let rounds = records.iter().filter(|r| matches!(r, Record::Round(..))).count();
        assert!(matches!(records.first(), Some(Record::Session(_))));
        let Some(Record::Summary(summary)) = records.last() else { panic!("no summary: {records:?}") };
        // The one that quitting gave up stands in the record and counts nowhere.
        assert!(rounds >= 1 && rounds as u64 - summary.rounds <= 1, "{rounds} rounds, {summary:?}");
    }
}

#[test]
fn s8_a_note_is_typed_pasted_marked_and_recorded_and_so_is_a_switched_fault() {
    let dir = dir();
    let steps = [
        vec![resized(), on("1 round,", char('R')), on("◉ rec", char('n')), on("note ", char('q'))],
        word("uick "),
        vec![
            on("note quick", Input::Paste("fix\nsecond line".to_owned())),
            on("note quick fix", key(KeyCode::Enter)),
            on("▴ quick fix", char('n')),
            on("Esc drop", char('z')),
            on("note z", key(KeyCode::Esc)),
            when(|s| !s.contains("note z"), char('x')),
            on("x shop-0 healthy", char(',')),
            when(|s| s.contains("frozen"), char('q')),
        ],
    ];
    let (why, ..) = play_in(dir.path(), steps.into_iter().flatten().collect());
    assert_eq!(why, Leave::Quit);
    let records = read(&files(dir.path(), "ndjson")[0]);
    assert_eq!(notes(&records), ["quick fix", "shop-0: healthy"]);
}

#[test]
fn s8_e_exports_the_picture_and_its_round_each_time_to_new_files() {
    let dir = dir();
    let (why, words, _) = play_in(
        dir.path(),
        vec![
            resized(),
            on("2 rounds,", char(',')),
            on("frozen", char('e')),
            on("exported ", char('e')),
            on("exported ", key(KeyCode::Esc)),
            // One that runs is written when it is over.
            when(|s| !s.contains("frozen") && s.contains(" running"), char('e')),
            on("4 rounds,", char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
    let (pictures, data) = (files(dir.path(), "svg"), files(dir.path(), "json"));
    assert_eq!((pictures.len(), data.len()), (3, 3), "{pictures:?} {data:?}");
    assert_eq!(words.iter().filter(|w| w.starts_with("exported ")).count(), 3, "{words:?}");
    for (picture, data) in pictures.iter().zip(&data) {
        assert_eq!(picture.with_extension(""), data.with_extension(""));
        let text = std::fs::read_to_string(picture).unwrap();
        let svg = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(svg.root_element().tag_name().name(), "svg");
        let (title, line) =
            (svg.descendants().find(|n| n.has_tag_name("title")), std::fs::read_to_string(data));
        assert!(title.unwrap().text().unwrap().starts_with("fanscope: profile shops, 2"));
        let line = line.unwrap();
        let Ok(Line::Round(round)) = Line::parse(line.trim_end()) else { panic!("{line}") };
        let shown = format!("Round {}", round.round);
        assert!(text.contains(&shown), "{shown} is not on the picture");
    }
}

#[test]
fn s8_what_cannot_be_written_is_said_and_rounds_go_on() {
    let dir = dir();
    let (why, words, _) = play_in(
        &dir.path().join("nowhere"),
        vec![
            resized(),
            on("1 round,", char('R')),
            on("cannot record to ", char('e')),
            on("cannot write fanscope-shops-", char('w')),
            on("4 rounds,", char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
    assert!(!words.iter().any(|w| w.starts_with("exported")), "{words:?}");
}

#[test]
fn s8_a_recording_that_is_lost_is_said_and_stays_marked() {
    let dir = dir();
    let folder = dir.path().join("gone");
    std::fs::create_dir(&folder).unwrap();
    let gone = folder.clone();
    let vanishes = move |screen: &str| {
        let recorded = screen.contains("◉ rec") && files(&gone, "ndjson").len() == 1;
        recorded && std::fs::remove_dir_all(&gone).is_ok()
    };
    let (why, ..) = play_in(
        &folder,
        vec![
            resized(),
            on("1 round,", char('R')),
            when(vanishes, char('w')),
            when(|s| s.matches("recording: the file was deleted").count() == 2, char('w')),
            when(|s| s.contains("✕ rec") && s.matches("recording: the file").count() == 1, char('R')),
            // Its name is long; what was lost stands behind it.
            when(|s| !s.contains("rec   live") && s.contains("recorded to "), char('q')),
        ],
    );
    assert_eq!(why, Leave::Quit);
}

#[test]
fn s8_a_recording_that_fell_short_is_not_said_to_be_done() {
    use super::super::files::recorded;
    use crate::app::Notice;
    use crate::session::Recording;
    let well =
        Recording { path: "r.ndjson".into(), lines: 3, bytes: 100, lost: 0, trouble: None, closed: true };
    assert_eq!(recorded(&well), Notice::Done("recorded to r.ndjson".to_owned()));
    let short = Recording { lost: 2, trouble: Some("No space left on device".to_owned()), ..well };
    let said = "recorded to r.ndjson: No space left on device, 2 lines lost".to_owned();
    assert_eq!(recorded(&short), Notice::Failed(said));
}
