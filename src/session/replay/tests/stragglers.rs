//! Probe rounds, whose stragglers are heard of after they have settled, and rounds that take turns.

use super::*;
use crate::domain::{Ab, EndpointId, Late, Outcome, Reason, Variant};

/// Rounds every 90 ms, every fifth a probe round: its stragglers come 0 to 900 ms after its end, and their lines
/// stand where that was, so among those of later rounds.
fn lines_with_stragglers(count: u64) -> Vec<Line> {
    let mut dice = fx::Dice::new(5);
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let settings = Arc::new(settings(Mode::Deadline));
    let mut timed: Vec<(Duration, u64, Line)> = Vec::new();
    for no in 1..=count {
        let at = Duration::from_millis(no * 90);
        let mut round = fx::round(no, at, &settings, &fx::page_fates(&mut dice));
        let end = round.at + round.took;
        if no % 5 == 0 {
            round.probe = Some(settings.watch());
            let cut = round.calls.iter().filter(|c| c.outcome == Outcome::Missing(Reason::Deadline));
            for (nth, call) in (0..).zip(cut) {
                // Some were over before their round was written down.
                let later = Duration::from_millis(250 * (no / 5 % 4) + 300 * nth);
                let end = round.took.saturating_sub(Duration::from_micros(50)) + later;
                let late = Late { endpoint: call.endpoint, outcome: Outcome::Ok, end };
                timed.push(((at + end).max(at + round.took), 1, Line::late(round.no, &late, &names)));
            }
        }
        timed.push((end, 0, Line::round(&round, &names)));
    }
    timed.sort_by_key(|line| (line.0, line.1));
    [session_line(&settings)].into_iter().chain(timed.into_iter().map(|l| l.2)).collect()
}

/// The rounds of which stragglers are heard, each with when.
fn heard(events: &[Event]) -> Vec<(RoundNo, Late)> {
    let late = |event: &Event| match event {
        Event::Late { round, late } => Some((*round, *late)),
        _ => None,
    };
    events.iter().filter_map(late).collect()
}

#[tokio::test(start_paused = true)]
async fn w7_stragglers_are_heard_of_at_their_time_and_never_before_their_round_is_over() {
    let lines = lines_with_stragglers(120);
    let wanted = lines.iter().filter(|line| matches!(line, Line::Late(_))).count();
    let file = file(text(&lines).as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let mut settled: Vec<Arc<Round>> = Vec::new();
    let mut events = Vec::new();
    while replay.playback().state == PlayState::Playing {
        let Told::Event(event) = replay.next().await else { continue };
        if let Event::RoundSettled { round, .. } = &event {
            settled.push(Arc::clone(round));
        }
        if let Event::Late { round, late } = &event {
            let round = settled.iter().find(|r| r.no == *round).expect("its round is over");
            let (now, due) = (replay.elapsed(), (round.at + late.end).max(round.at + round.took));
            assert!(now >= due && now < due + Duration::from_millis(50), "{now:?} for {due:?}");
        }
        events.push(event);
    }
    let heard = heard(&events);
    assert!(wanted > 12 && heard.len() == wanted, "{} of {wanted}", heard.len());
    // Rounds have gone on meanwhile.
    let last = replay.playback().length;
    assert!(
        heard.iter().any(|(_, late)| late.end > Duration::from_millis(700)) && last > Duration::from_secs(5)
    );
}

#[tokio::test(start_paused = true)]
async fn w7_a_jump_knows_what_was_heard_of_until_there_and_tells_the_rest() {
    let lines = lines_with_stragglers(1500);
    let wanted = lines.iter().filter(|line| matches!(line, Line::Late(_))).count();
    let file = file(text(&lines).as_bytes());
    let mut replay = start(file.path());
    replay.pause(true);
    read(&replay);
    for part in [700, 30, 955, 420] {
        replay.seek(Seek::Part(part));
        let at = replay.elapsed();
        let mut jumped = None;
        while let Some(told) = replay.ready() {
            if let Told::Jumped(past, _) = told {
                jumped = Some(*past);
            }
        }
        assert_eq!(jumped.expect("a jump"), folded(&mut replay, at), "{part}");
    }
    // From there on everything is told that was not.
    let here = replay.elapsed();
    let before = folded(&mut replay, here).told.iter().filter(|t| t.contains("hears")).count();
    replay.set_speed(Speed::FASTEST);
    replay.pause(false);
    let (rest, _) = played(&mut replay).await;
    let after = rest.told.iter().filter(|told| told.contains("hears")).count();
    assert!(before > 0 && after > 0);
    assert_eq!(before + after, wanted);
}

#[tokio::test(start_paused = true)]
async fn w7_a_straggler_of_a_round_that_is_not_in_the_file_is_passed_over() {
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let late = Late { endpoint: EndpointId(1), outcome: Outcome::Ok, end: Duration::from_millis(300) };
    let mut lines = lines(4, 500);
    lines.insert(2, Line::late(RoundNo(77), &late, &names));
    lines.insert(3, Line::late(RoundNo(1), &late, &names));
    let file = file(text(&lines).as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let (folded, events) = played(&mut replay).await;
    assert_eq!(folded.stats.totals(crate::stats::Window::Start).rounds, 4);
    assert_eq!((heard(&events), replay.playback().fault), (vec![], None), "neither was watched");
}

#[tokio::test(start_paused = true)]
async fn w7_joined_recordings_have_stragglers_of_their_own() {
    let one = text(&lines_with_stragglers(30));
    let file = file(format!("{one}{one}").as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let (_, events) = played(&mut replay).await;
    let numbers: Vec<u64> = heard(&events).iter().map(|(no, _)| no.0).collect();
    let (first, second): (Vec<u64>, Vec<u64>) = numbers.iter().partition(|&&no| no <= 30);
    assert!(!first.is_empty());
    assert_eq!(first.iter().map(|no| no + 30).collect::<Vec<_>>(), second);
}

#[tokio::test(start_paused = true)]
async fn w9_rounds_that_take_turns_change_no_settings() {
    let [a, b] = [150, 250].map(|ms| Variant::Budget(Duration::from_millis(ms)));
    let base = Settings { ab: Some(Ab { a, b }), ..settings(Mode::Deadline) };
    let names: Vec<String> = fx::page_names().into_iter().map(str::to_owned).collect();
    let round = |no: u64| {
        let (settings, arm) = base.of_round(no);
        let budget = settings.budget;
        let mut round = fx::round(no, Duration::from_millis(500 * no), &Arc::new(settings), &fx::TYPICAL);
        (round.arm, round.budget) = (arm, budget);
        Line::round(&round, &names)
    };
    let lines: Vec<Line> = [session_line(&base)].into_iter().chain((1..=8).map(round)).collect();
    let file = file(text(&lines).as_bytes());
    let mut replay = start(file.path());
    read(&replay);
    let (_, events) = played(&mut replay).await;
    let changes = events.iter().filter(|e| matches!(e, Event::SettingsChanged { .. })).count();
    assert_eq!(changes, 1, "what the first round says of itself, and no more");
    let budgets = events.iter().filter_map(|event| match event {
        Event::RoundStarted(started) => Some((started.settings.budget, started.settings.ab)),
        _ => None,
    });
    let budgets: Vec<_> = budgets.collect();
    assert_eq!(budgets.len(), 8);
    assert!(budgets.iter().all(|(_, ab)| *ab == base.ab) && budgets[0].0 < budgets[1].0);
}
