//! Played, jumped in and followed, in virtual time.

mod late;
mod stragglers;

use super::*;
use crate::domain::{CallSpec, Mode, Settings};
use crate::recording::{EndpointLine, Line, NoteLine};
use crate::stats::{Stats, fixture as fx};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// What comes of events: everything that is counted, and what was told in which order.
#[derive(Debug, Clone, PartialEq)]
struct Folded {
    stats: Stats,
    told: Vec<String>,
    latest: Duration,
    /// Whether what is late is a fault.
    strict: bool,
}

impl Folded {
    fn new() -> Self {
        Self { stats: Stats::new(8), told: Vec::new(), latest: Duration::ZERO, strict: true }
    }
}

impl Past for Folded {
    fn take(&mut self, event: Event) {
        let mut tell = |at, words: String| {
            assert!(at >= self.latest || !self.strict, "{words} at {at:?} after {:?}", self.latest);
            self.latest = self.latest.max(at);
            self.told.push(words);
        };
        match event {
            Event::RoundStarted(started) => tell(started.at, format!("{} starts", started.round)),
            Event::RoundSettled { round, vitals } => {
                tell(round.at + round.took, format!("{} settles", round.no));
                self.stats.fold(&round, vitals);
            }
            Event::SettingsChanged { at, settings } => tell(at, settings.mode.to_string()),
            Event::Noted { at, text } => tell(at, text),
            Event::Late { round, late } => {
                self.told.push(format!("{round} hears of {} at {:?}", late.endpoint.index(), late.end));
            }
            _ => {}
        }
    }

    fn slim(&mut self) {}
}

fn session_line(settings: &Settings) -> Line {
    let endpoint = |name: &&str| EndpointLine::of(name, &CallSpec::default(), false);
    let endpoints = fx::page_names().iter().map(endpoint).collect();
    Line::session("page", "2026-11-30T10:01:02Z", endpoints, settings)
}

fn settings(mode: Mode) -> Settings {
    fx::settings(mode)
}

/// Rounds that start every so many milliseconds and may overlap, in the order in which they settle; the mode
/// changes in the middle and somebody says something.
fn lines(count: u64, every: u64) -> Vec<Line> {
    let mut dice = fx::Dice::new(9);
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let mut settings = Arc::new(settings(Mode::Deadline));
    let mut timed: Vec<(Duration, Line)> = Vec::new();
    for no in 1..=count {
        let at = Duration::from_millis(no * every);
        if no == count / 2 {
            settings = Arc::new(fx::settings(Mode::Quorum));
            let noted = NoteLine { at_ms: at.into(), text: "deployed".to_owned() };
            timed.push((at, Line::settings(at, &settings, &endpoints())));
            timed.push((at, Line::Note(noted)));
        }
        let round = fx::round(no, at, &settings, &fx::page_fates(&mut dice));
        timed.push((round.at + round.took, Line::round(&round, &names)));
    }
    timed.sort_by_key(|line| line.0);
    [session_line(&fx::settings(Mode::Deadline))].into_iter().chain(timed.into_iter().map(|l| l.1)).collect()
}

fn endpoints() -> Vec<EndpointLine> {
    match session_line(&Settings::default()) {
        Line::Session(line) => line.endpoints,
        _ => Vec::new(),
    }
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| line.to_json_line().unwrap()).collect()
}

fn file(text: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    file
}

fn start(path: &Path) -> Replay<Folded> {
    Replay::start(Recording::open(path).unwrap(), Speed::default(), Folded::new()).unwrap()
}

/// Waits until everything was read.
fn read(replay: &Replay<Folded>) {
    while !replay.index.known().over && !replay.tail.is_waiting() {
        std::thread::yield_now();
    }
}

/// Plays until the next state that is not playing; what came of it, and each event's words with its time in ms.
async fn played(replay: &mut Replay<Folded>) -> (Folded, Vec<Event>) {
    let (mut folded, mut events) = (Folded::new(), Vec::new());
    while replay.playback().state == PlayState::Playing {
        if let Told::Event(event) = replay.next().await {
            folded.take(event.clone());
            events.push(event);
        }
    }
    (folded, events)
}

/// What comes of everything until this instant, without any checkpoint.
fn folded(replay: &mut Replay<Folded>, to: Duration) -> Folded {
    let (mut cursor, mut past) = (Cursor::default(), Folded::new());
    std::mem::swap(&mut cursor, &mut replay.cursor);
    replay.go_on(to, |event| past.take(event)).unwrap();
    replay.cursor = cursor;
    past
}

#[tokio::test(start_paused = true)]
async fn everything_is_told_once_in_order_and_at_its_time() {
    let lines = lines(40, 120);
    let file = file(text(&lines).as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let begun = Instant::now();
    let (folded, events) = played(&mut replay).await;
    let took = begun.elapsed();
    assert_eq!(folded.stats.totals(crate::stats::Window::Start).rounds, 40);
    let whole = replay.playback().length;
    assert_eq!(replay.playback().position, whole);
    let late = took.saturating_sub(whole);
    assert!(took >= whole && late < Duration::from_millis(50), "{took:?} for {whole:?}");
    let place = |word: &str| folded.told.iter().position(|told| told == word).unwrap();
    assert!(place("deployed") < place("20 starts") && place("19 starts") < place("quorum"));
    // 120 ms apart and 200 ms long: they overlap.
    assert!(place("8 starts") < place("7 settles") || place("9 starts") < place("8 settles"));
    // Each round as it is in the file, its calls and attempts with it.
    let settled = events.iter().filter_map(|event| match event {
        Event::RoundSettled { round, .. } => Some(Arc::clone(round)),
        _ => None,
    });
    for round in settled {
        let of = |event: &&Event| match event {
            Event::Attempt { round: no, .. } | Event::CallSettled { round: no, .. } => *no == round.no,
            _ => false,
        };
        let ended = round.calls.iter().filter(|call| call.end < round.took).count();
        let calls = events.iter().filter(of).filter(|e| matches!(e, Event::CallSettled { .. })).count();
        assert_eq!(calls, ended, "{}", round.no);
    }
}

#[tokio::test(start_paused = true)]
async fn a_jump_anywhere_knows_the_same_as_playing_to_there() {
    let file = file(text(&lines(2500, 90)).as_bytes());
    let mut replay = start(file.path());
    replay.pause(true);
    read(&replay);
    assert!(replay.index.known().checkpoint(Duration::MAX, 0).unwrap().mark.from > 2000);
    for part in [500, 20, 999, 1000, 0, 333, 334, 750, 1] {
        replay.seek(Seek::Part(part));
        let at = replay.elapsed();
        let mut jumped = None;
        while let Some(told) = replay.ready() {
            match told {
                Told::Jumped(past, None) => jumped = Some(*past),
                Told::Event(_) if jumped.is_none() => {}
                Told::News | Told::Arrived(None) => {}
                other => panic!("{other:?}"),
            }
        }
        // From the beginning to 50 % is a jump, too: the checkpoint there is nearer than the beginning.
        if let Some(jumped) = jumped {
            assert_eq!(jumped, folded(&mut replay, at), "{part}");
        } else {
            assert!(matches!(part, 1000 | 334), "{part}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn round_by_round_back_and_ahead_goes_through_all_of_them() {
    let file = file(text(&lines(300, 90)).as_bytes());
    let mut replay = start(file.path());
    replay.pause(true);
    read(&replay);
    replay.seek(Seek::Part(1000));
    while replay.ready().is_some() {}
    let mut go = |to: Seek| {
        replay.seek(to);
        let mut round = None;
        while let Some(told) = replay.ready() {
            if let Told::Jumped(_, at) | Told::Arrived(at) = told {
                round = at;
            }
        }
        round.map(|no| no.0)
    };
    for no in (1..300).rev() {
        assert_eq!(go(Seek::Before(RoundNo(no + 1))), Some(no));
    }
    assert_eq!(go(Seek::Before(RoundNo(1))), None);
    for no in 2..=300 {
        assert_eq!(go(Seek::After(RoundNo(no - 1))), Some(no));
    }
    assert_eq!(go(Seek::After(RoundNo(300))), None);
    assert_eq!(go(Seek::Round(RoundNo(17))), Some(17));
    assert_eq!(go(Seek::Round(RoundNo(1700))), None);
}

#[tokio::test(start_paused = true)]
async fn it_pauses_plays_one_round_and_goes_at_its_speed() {
    let text = text(&lines(20, 500)) + "{\"type\":\"summary\"}\n";
    let file = file(text.as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    replay.pause(true);
    assert!(matches!(replay.ready(), Some(Told::Event(Event::Paused(true)))));
    while replay.ready().is_some() {}
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(replay.ready().is_none());
    assert_eq!((replay.elapsed(), replay.playback().state), (Duration::ZERO, PlayState::Paused));
    for no in 1..=2 {
        replay.step_round();
        let settled = loop {
            if let Told::Event(Event::RoundSettled { round, .. }) = replay.next().await {
                break round;
            }
        };
        assert_eq!(settled.no, RoundNo(no));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(replay.ready().is_none(), "one round, no more");
    }
    replay.set_speed(Speed::parse("16").unwrap());
    replay.pause(false);
    let (left, begun) = (replay.playback().length.saturating_sub(replay.elapsed()), Instant::now());
    played(&mut replay).await;
    let (took, expected) = (begun.elapsed(), left / 16);
    assert!(took >= expected && took < expected * 2, "{took:?} for {left:?}");
    assert_eq!(replay.playback().state, PlayState::End);
    // At the end another place can be gone to, and playing goes on there.
    replay.seek(Seek::Part(0));
    assert_eq!(replay.playback().state, PlayState::Playing);
    let jumped = replay.next().await;
    assert!(matches!(jumped, Told::Jumped(..)), "{jumped:?}");
    assert!(matches!(replay.next().await, Told::Event(_)));
}

#[tokio::test(start_paused = true)]
async fn a_long_time_without_rounds_is_skipped_and_said() {
    let settings = Arc::new(settings(Mode::Deadline));
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let line = |no, at| Line::round(&fx::round(no, Duration::from_secs(at), &settings, &fx::TYPICAL), &names);
    let file = file(text(&[session_line(&settings), line(1, 1), line(2, 3600)]).as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let begun = Instant::now();
    let mut said = None;
    while replay.playback().state == PlayState::Playing {
        replay.next().await;
        said = said.or(replay.playback().notice);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(said.as_deref(), Some("3597 s without rounds skipped"));
    tokio::time::advance(SAID).await;
    assert_eq!(replay.playback().notice, None, "it passes");
}

#[tokio::test(start_paused = true)]
async fn joined_recordings_go_on_one_after_the_other() {
    let one = text(&lines(10, 500));
    let file = file(format!("{one}{one}").as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let (folded, _) = played(&mut replay).await;
    assert_eq!(folded.stats.totals(crate::stats::Window::Start).rounds, 20);
    let place = |word: &str| folded.told.iter().position(|told| told == word);
    assert!(place("another recording, of 2026-11-30T10:01:02Z") > place("10 settles"));
    assert!(place("11 starts") > place("10 settles") && place("20 settles").is_some());
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_in_the_middle_is_said_and_everything_before_it_stays() {
    let mut text = text(&lines(10, 500));
    text.push_str("{\"type\":\"round\",\"round\":\"eleven\"}\n");
    let file = file(text.as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let (folded, _) = played(&mut replay).await;
    assert_eq!(folded.stats.totals(crate::stats::Window::Start).rounds, 10);
    let playback = replay.playback();
    assert_eq!(playback.state, PlayState::End);
    assert!(playback.fault.as_deref().is_some_and(|why| why.starts_with("line 14: ")), "{playback:?}");
}

#[tokio::test(start_paused = true)]
async fn packed_recordings_are_kept_unpacked_and_a_cut_is_said() {
    let text = text(&lines(10, 500));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for packed in [gz.finish().unwrap(), zst] {
        let file = file(&packed);
        let mut replay = start(file.path());
        read(&replay);
        replay.seek(Seek::Part(900));
        while replay.ready().is_some() {}
        replay.seek(Seek::Part(0));
        let (folded, _) = played(&mut replay).await;
        assert_eq!(folded.stats.totals(crate::stats::Window::Start).rounds, 10);
        assert_eq!((replay.playback().state, replay.playback().notice), (PlayState::End, None));
    }
    let cut = zstd::encode_all(&text.as_bytes()[..text.len() - 20], 1).unwrap();
    let file = file(&cut);
    let replay = start(file.path());
    read(&replay);
    let notice = replay.playback().notice.unwrap();
    assert!(notice.starts_with("line 13 is cut: "), "{notice}");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_grows_is_followed_and_one_that_shrinks_is_told() {
    let lines = lines(6, 500);
    // The session's line and two rounds, the second without its last bytes.
    let (first, rest) = (text(&lines[..3]), text(&lines[3..]));
    let (whole, open) = first.split_at(first.len() - 9);
    let file = file(whole.as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let (folded, _) = played(&mut replay).await;
    assert_eq!(folded.told, ["deadline", "1 starts", "1 settles"]);
    assert_eq!(replay.playback().state, PlayState::Following);
    let mut writer = OpenOptions::new().append(true).open(file.path()).unwrap();
    writer.write_all(open.as_bytes()).unwrap();
    writer.write_all(rest.as_bytes()).unwrap();
    let mut folded = folded;
    while folded.stats.totals(crate::stats::Window::Start).rounds < 6 {
        if let Told::Event(event) = replay.next().await {
            folded.take(event);
        }
    }
    read(&replay);
    assert_eq!(replay.playback().state, PlayState::Following);
    writer.set_len(40).unwrap();
    while replay.playback().fault.is_none() {
        replay.next().await;
    }
    let playback = replay.playback();
    assert_eq!(playback.fault.as_deref(), Some("it was truncated while it was read"));
    assert_eq!(playback.state, PlayState::End);
    // What was there before can't be read again, and that is said, too.
    replay.seek(Seek::Part(0));
    played(&mut replay).await;
    assert!(replay.playback().fault.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_session_without_rounds_is_empty_and_no_error() {
    let file = file(text(&[session_line(&settings(Mode::Hedge))]).as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    while let Some(told) = replay.ready() {
        assert!(matches!(told, Told::News), "{told:?}");
    }
    let playback = replay.playback();
    assert_eq!((playback.length, playback.fault), (Duration::ZERO, None));
    replay.seek(Seek::Part(500));
    replay.seek(Seek::After(RoundNo(0)));
    assert_eq!(replay.elapsed(), Duration::ZERO);
}
