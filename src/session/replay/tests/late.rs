//! Rounds whose lines stand behind those of rounds that started later.

use super::*;

/// Where the reading thread meets rounds too late to put them in order.
fn start_loose(path: &Path) -> Replay<Folded> {
    let past = Folded { strict: false, ..Folded::new() };
    Replay::start(Recording::open(path).unwrap(), Speed::default(), past).unwrap()
}

/// Rounds every 20 ms, and one that takes 5 s from 1 s on: its line stands where it settled.
fn lines_with_a_long_round() -> Vec<Line> {
    let settings = Arc::new(settings(Mode::WaitAll));
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let round = |no: u64| {
        let mut round = fx::round(no, Duration::from_millis(no * 20), &settings, &fx::TYPICAL);
        round.took = Duration::from_millis(if no == 50 { 5000 } else { 15 });
        (round.at + round.took, Line::round(&round, &names))
    };
    let mut timed: Vec<_> = (1..=400).map(round).collect();
    timed.sort_by_key(|line| line.0);
    [session_line(&settings)].into_iter().chain(timed.into_iter().map(|line| line.1)).collect()
}

/// Plays as long as it does, and fails if time ever goes back.
async fn played_forward(replay: &mut Replay<Folded>, folded: &mut Vec<Event>) {
    let mut before = replay.elapsed();
    while replay.playback().state == PlayState::Playing {
        if let Told::Event(event) = replay.next().await {
            folded.push(event);
        }
        let now = replay.elapsed();
        assert!(now >= before, "{now:?} after {before:?}");
        before = now;
    }
}

fn settled(events: &[Event]) -> Vec<u64> {
    let no = |event: &Event| match event {
        Event::RoundSettled { round, .. } => Some(round.no.0),
        _ => None,
    };
    events.iter().filter_map(no).collect()
}

#[tokio::test(start_paused = true)]
async fn a_round_whose_line_stands_far_behind_others_starts_when_it_started() {
    let file = file(text(&lines_with_a_long_round()).as_bytes());
    let mut replay = start_loose(file.path());
    read(&replay);
    let (begun, mut events) = (Instant::now(), Vec::new());
    played_forward(&mut replay, &mut events).await;
    let (took, whole) = (begun.elapsed(), replay.playback().length);
    assert!(
        took >= whole && took.saturating_sub(whole) < Duration::from_millis(50),
        "{took:?} for {whole:?}"
    );
    let mut folded = Folded::new();
    for event in &events {
        folded.take(event.clone());
    }
    assert_eq!(folded.stats.totals(crate::stats::Window::Start).rounds, 400);
    let place = |word: &str| folded.told.iter().position(|told| told == word).unwrap();
    assert!(place("49 starts") < place("50 starts") && place("50 starts") < place("51 starts"));
    assert!(place("298 starts") < place("50 settles") && place("50 settles") < place("301 starts"));
}

#[tokio::test(start_paused = true)]
async fn a_round_that_is_known_late_is_told_late_and_time_goes_on() {
    let lines = lines_with_a_long_round();
    let long = lines.iter().position(|line| matches!(line, Line::Round(r) if r.round == 50)).unwrap();
    let file = file(text(&lines[..long]).as_bytes());
    let mut replay = start_loose(file.path());
    read(&replay);
    let mut events = Vec::new();
    played_forward(&mut replay, &mut events).await;
    let before = replay.elapsed();
    assert_eq!(replay.playback().state, PlayState::Following);
    let mut writer = OpenOptions::new().append(true).open(file.path()).unwrap();
    writer.write_all(text(&lines[long..]).as_bytes()).unwrap();
    while settled(&events).len() < 400 {
        if let Told::Event(event) = replay.next().await {
            events.push(event);
        }
        assert!(replay.elapsed() >= before);
    }
    let mut all = settled(&events);
    all.sort_unstable();
    assert_eq!(all, (1..=400).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_not_in_order_of_time_are_counted_once_however_one_gets_there() {
    let mut lines = lines(1200, 90);
    // The second half stands before the first.
    lines[1..].rotate_left(600);
    let file = file(text(&lines).as_bytes());
    let mut replay = start_loose(file.path());
    replay.pause(true);
    read(&replay);
    let mut past = None;
    for part in [1000, 300, 700, 0, 510] {
        let to = replay.place(Seek::Part(part), Duration::ZERO).unwrap().0;
        replay.seek(Seek::Part(part));
        while let Some(told) = replay.ready() {
            match told {
                Told::Jumped(folded, _) => {
                    past = Some(folded.stats.totals(crate::stats::Window::Start).rounds);
                }
                Told::Event(Event::RoundSettled { .. }) => past = past.map(|rounds| rounds + 1),
                _ => {}
            }
        }
        let due = replay.index.known().rounds().filter(|round| round.1 <= to).count() as u64;
        assert_eq!(past, Some(due), "{part}");
    }
}
