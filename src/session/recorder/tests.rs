//! Recordings in every format, and with every trouble that a disk can give.

use super::*;
use crate::domain::event::Vitals;
use crate::domain::{CallSpec, Mode, Settings};
use crate::recording::{EndpointLine, Reader, Record, open};
use crate::stats::fixture as fx;
use std::path::Path;

fn scribe() -> Scribe {
    let endpoint = |name: &str| EndpointLine::of(name, &CallSpec::default(), false);
    let endpoints = vec![endpoint("a"), endpoint("b")];
    Scribe::new("two", "2026-02-03T04:05:06Z", endpoints, Arc::new(Settings::default()))
}

fn settled(no: u64) -> Event {
    let fates = [fx::Fate::Answers(40.0), fx::Fate::Answers(900.0)];
    let round = fx::round(no, fx::at(no), &Arc::new(fx::settings(Mode::Deadline)), &fates);
    Event::RoundSettled { round: Arc::new(round), vitals: Vitals::default() }
}

fn begin(recordings: &mut Recordings, path: &Path, force: bool) {
    let writer = Writer::create(path, force).unwrap();
    recordings.begin(writer, scribe(), Instant::now()).unwrap();
}

fn read(path: &Path) -> Vec<Record> {
    let mut reader = Reader::new(open(path).unwrap());
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        records.push(record);
    }
    assert_eq!(reader.left_out(), None);
    records
}

#[test]
fn s7_a_recording_has_its_session_its_rounds_and_its_summary_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["r.ndjson", "r.gz", "r.zst"] {
        let (path, mut recordings) = (dir.path().join(name), Recordings::default());
        begin(&mut recordings, &path, false);
        for no in 1..=30 {
            recordings.now().unwrap().event(&settled(no));
        }
        let [done] = <[Recording; 1]>::try_from(recordings.finish()).unwrap();
        assert_eq!((done.lines, done.lost, done.fault(), done.closed), (32, 0, None, true), "{name}");
        let records = read(&path);
        assert!(matches!(records.first(), Some(Record::Session(_))), "{name}");
        let Some(Record::Summary(summary)) = records.last() else { panic!("{name}: no summary") };
        assert_eq!((records.len(), summary.rounds), (32, 30), "{name}");
    }
}

#[test]
fn a_recording_that_begins_in_the_middle_counts_no_start_skipped_before() {
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let path = dir.path().join("r.ndjson");
    let writer = Writer::create(&path, false).unwrap();
    recordings.begin(writer, scribe().after_skipped(7), Instant::now()).unwrap();
    for (no, total) in [(8, 7), (9, 10)] {
        let Event::RoundSettled { round, vitals } = settled(no) else { panic!("another event") };
        let vitals = Vitals { skipped: total, ..vitals };
        recordings.now().unwrap().event(&Event::RoundSettled { round, vitals });
    }
    assert_eq!(recordings.finish()[0].fault(), None);
    let records = read(&path);
    let [_, Record::Round(_, first), Record::Round(_, second), Record::Summary(summary)] = &records[..]
    else {
        panic!("{records:?}");
    };
    assert_eq!((*first, *second, summary.skipped), (0, 3, 3));
}

#[test]
fn recordings_follow_each_other_and_all_are_told() {
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let paths = ["one", "two"].map(|name| dir.path().join(name));
    for (path, no) in paths.iter().zip(1..) {
        begin(&mut recordings, path, false);
        recordings.now().unwrap().event(&settled(no));
    }
    let done = recordings.finish();
    assert_eq!(done.iter().map(|r| &r.path).collect::<Vec<_>>(), paths.iter().collect::<Vec<_>>());
    assert!(paths.iter().all(|path| read(path).len() == 3));
    assert!(recordings.finish().is_empty() && recordings.state().is_none());
}

#[test]
fn a_session_that_is_dropped_closes_its_recording() {
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let path = dir.path().join("r.gz");
    begin(&mut recordings, &path, false);
    recordings.now().unwrap().event(&settled(1));
    drop(recordings);
    assert!(matches!(read(&path).last(), Some(Record::Summary(_))));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_told_once_in_words_and_what_is_lost_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["full.ndjson", "full.gz", "full.zst"] {
        let (path, mut recordings) = (dir.path().join(name), Recordings::default());
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        begin(&mut recordings, &path, true);
        // Told without being asked.
        recordings.news().notified().await;
        assert_eq!(recordings.state().unwrap().trouble.as_deref(), Some("No space left on device"));
        for no in 1..=30 {
            recordings.now().unwrap().event(&settled(no));
        }
        let done = recordings.finish().remove(0);
        let fault = done.fault().unwrap();
        assert!(fault.starts_with("No space left on device, 3"), "{name}: {fault}");
        assert!(done.lost >= 31, "{name}: {done:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_deleted_file_is_noticed_without_a_round() {
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let path = dir.path().join("gone/r.ndjson");
    std::fs::create_dir(dir.path().join("gone")).unwrap();
    begin(&mut recordings, &path, false);
    while recordings.state().unwrap().lines == 0 {
        std::thread::yield_now();
    }
    std::fs::remove_dir_all(dir.path().join("gone")).unwrap();
    recordings.news().notified().await;
    assert_eq!(recordings.state().unwrap().fault().as_deref(), Some("the file was deleted"));
    recordings.now().unwrap().event(&settled(1));
    let done = recordings.finish().remove(0);
    assert_eq!(done.fault().as_deref(), Some("the file was deleted, 2 lines lost"), "the summary, too");
}

/// A disk that takes nothing: a pipe that nobody reads, until its reader does.
#[cfg(target_os = "linux")]
fn hangs(recordings: &mut Recordings, path: &Path) -> std::fs::File {
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
    // There before its writer, which it waits for only when it reads.
    let at_once = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let reader = rustix::fs::open(path, at_once, rustix::fs::Mode::empty()).unwrap();
    begin(recordings, path, true);
    rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::RDONLY).unwrap();
    reader.into()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn s7_one_note_stands_where_lines_are_lost_and_the_end_needs_no_room_in_the_queue() {
    use std::io::{BufRead, BufReader};
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let pipe = hangs(&mut recordings, &dir.path().join("pipe"));
    // More than a pipe holds: once something of it is there, the thread waits within this line.
    let text = "x".repeat(1 << 20);
    recordings.now().unwrap().event(&Event::Noted { at: Duration::ZERO, text });
    while rustix::io::ioctl_fionread(&pipe).unwrap() < 60_000 {
        std::thread::yield_now();
    }
    let mut pipe = BufReader::new(pipe);
    for no in 1..=5000 {
        recordings.now().unwrap().event(&settled(no));
    }
    let lost = recordings.state().unwrap().lost;
    assert_eq!(lost, 5000 - QUEUE as u64);
    recordings.end(Vec::new());
    // The disk recovers.
    let mut lines = Vec::new();
    loop {
        let mut text = String::new();
        if pipe.read_line(&mut text).unwrap() == 0 {
            break;
        }
        lines.push(Line::parse(text.trim_end()).unwrap());
    }
    recordings.closed().await;
    let done = recordings.finish().remove(0);
    assert_eq!((done.lost, done.closed), (lost, true));
    let [.., Line::Round(end), Line::Note(note), Line::Summary(summary)] = lines.as_slice() else {
        panic!("{:?}", lines.iter().rev().take(3).collect::<Vec<_>>());
    };
    assert_eq!(end.round, 5000 - lost, "the first were all taken");
    assert_eq!(summary.rounds, 5000);
    assert_eq!(note.text, format!("{} lost here: {FULL}", numbers::counted(lost, "line", "lines")));
    let first = fx::at(5001 - lost);
    assert_eq!(Duration::from(note.at_ms), first, "the time of the first that is missing");
    let notes = lines.iter().filter(|line| matches!(line, Line::Note(_))).count();
    assert_eq!((notes, lines.len()), (2, 2 + QUEUE + 2));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn trouble_of_a_recording_that_is_being_closed_is_told_once() {
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let reader = hangs(&mut recordings, &dir.path().join("pipe"));
    // More than a pipe holds and less than the queue.
    for no in 1..=1000 {
        recordings.now().unwrap().event(&settled(no));
    }
    assert_eq!(recordings.state().unwrap().trouble, None);
    recordings.end(Vec::new());
    assert!(recordings.trouble().is_empty(), "it has none yet");
    drop(reader);
    recordings.closed().await;
    let told = recordings.trouble();
    assert_eq!(told.len(), 1);
    assert!(told[0].fault().unwrap().starts_with("Broken pipe, "), "{told:?}");
    assert!(recordings.trouble().is_empty(), "once");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_hangs_holds_up_nobody() {
    let (dir, mut recordings) = (tempfile::tempdir().unwrap(), Recordings::default());
    let reader = hangs(&mut recordings, &dir.path().join("pipe"));
    for no in 1..=5000 {
        recordings.now().unwrap().event(&settled(no));
    }
    let state = recordings.state().unwrap();
    assert_eq!(state.trouble.as_deref(), Some("the disk does not keep up"));
    assert!(state.lost > 0 && state.lines < 5000, "{state:?}");
    // Given up at the end, when the disk still takes nothing.
    let done = recordings.finish().remove(0);
    assert!(!done.closed);
    drop(reader);
}
