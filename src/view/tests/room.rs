//! What a size keeps it keeps whatever else has to be said, and what is said is not cut within a number.

use super::*;
use crate::app::Recording;
use crate::app::fixture as fx;
use crate::domain::{Mode, Phase};
use std::sync::Arc;

fn row(app: &App, y: usize, (width, height): (u16, u16)) -> String {
    printed(&drawn(app, width, height)).lines().nth(y).unwrap_or_default().to_owned()
}

/// Rounds of a mode, some of whose servers may be anybody.
fn insecure(mode: Mode) -> App {
    let mut app = match mode {
        Mode::Deadline => scenes::cut(Options::default()),
        Mode::Quorum => scenes::quorum(Options::default()),
        Mode::Hedge => scenes::hedge(Options::default()),
        Mode::WaitAll => scenes::wait_all(),
        Mode::FailFast => {
            let mut app = fx::page(Mode::FailFast, 30, Options::default());
            let round = fx::round(31, fx::at(31), &Arc::new(fx::settings(Mode::FailFast)), &fx::TYPICAL);
            fx::play(&mut app, &round, fx::ms(187.0));
            fx::finish(&mut app, round);
            app
        }
    };
    app.endpoints.iter_mut().take(2).for_each(|e| e.unverified = true);
    app
}

/// The same as it may be: live, recorded, paused, frozen, and frozen while it is recorded.
fn states(app: &App) -> [(&'static str, App); 5] {
    let rec = |mut app: App| {
        app.recording = Recording::On;
        app
    };
    let then = |action: Action, times: usize| {
        let mut app = app.clone();
        (0..times).for_each(|_| drop(update(&mut app, Message::Action(action))));
        app
    };
    let frozen = then(Action::Earlier, 3);
    [
        ("live", app.clone()),
        ("rec", rec(app.clone())),
        ("paused", then(Action::Pause, 1)),
        ("frozen", frozen.clone()),
        ("frozen, rec", rec(frozen)),
    ]
}

#[test]
fn h29_the_warning_of_insecure_servers_leaves_the_counts_at_the_least_size() {
    for &mode in Mode::ALL {
        for (state, app) in states(&insecure(mode)) {
            let shown = row(&app, 0, (40, 10));
            assert!(shown.contains("insecure"), "{mode}, {state}: {shown}");
            let plain = {
                let mut app = app.clone();
                app.endpoints.iter_mut().for_each(|e| e.unverified = false);
                row(&app, 0, (40, 10))
            };
            let numbers = |text: &str, signs: &str| {
                let after = |sign| text.split_once(sign).map(|t| t.1.trim_start().to_owned());
                let number = |t: String| t.chars().take_while(char::is_ascii_digit).collect::<String>();
                let found = signs.chars().filter_map(|sign| Some((sign, after(sign).map(number)?)));
                found.collect::<Vec<_>>()
            };
            // The first dot is what answered, also where another says that it is recorded.
            assert!(!numbers(&plain, "●").is_empty(), "{mode}, {state}: {plain}");
            assert_eq!(numbers(&shown, "●✕■▸○◆"), numbers(&plain, "●✕■▸○◆"), "{mode}, {state}: {shown}");
            for word in ["frozen -3", "paused"] {
                assert_eq!(shown.contains(word), plain.contains(word), "{mode}, {state}: {shown}");
            }
        }
    }
    // Many calls of every kind.
    let mut many = scenes::many();
    many.endpoints.iter_mut().for_each(|e| e.unverified = true);
    let shown = row(&many, 0, (40, 10));
    assert!(shown.contains('●') && shown.contains('✕') && shown.contains("insecure"), "{shown}");
}

#[test]
fn h29_the_warning_of_insecure_servers_leaves_mode_and_budget() {
    for &mode in Mode::ALL {
        for (state, app) in states(&insecure(mode)) {
            for size in [(60, 16), (80, 24), FULL] {
                let shown = row(&app, 0, size);
                let told = [
                    "insecure",
                    "200 ms",
                    if size.0 > 60 || state != "frozen, rec" { mode.as_str() } else { "" },
                ];
                for word in told {
                    assert!(shown.contains(word), "{word} of {mode}, {state} at {size:?}: {shown}");
                }
                if size.0 >= 80 && !state.contains("frozen") {
                    assert!(shown.contains("every 500 ms"), "{mode}, {state} at {size:?}: {shown}");
                }
                if size == FULL && !state.contains("frozen") {
                    assert!(shown.contains("insecure 2 of"), "{mode}, {state}: {shown}");
                }
            }
        }
    }
}

#[test]
fn r12_a_client_overrun_never_cuts_what_came_of_the_round() {
    let over = |mode: Mode, impossible: bool| {
        let mut app = fx::page(mode, 30, Options::default());
        let mut round = fx::round(31, fx::at(31), &Arc::new(fx::settings(mode)), &fx::TYPICAL);
        round.overrun = Some(fx::ms(250.0));
        if impossible {
            (round.quorum_at, round.quorum_impossible_at) = (None, Some(fx::ms(171.0)));
        }
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
        app
    };
    let verdict = |app: &App, size| {
        let rows = printed(&drawn(app, size, if size == 80 { 24 } else { 16 }));
        let found = rows.lines().find(|l| l.contains("overrun 250 ms · ")).map(str::to_owned);
        found.unwrap_or_else(|| panic!("{rows}"))
    };
    for (mode, impossible) in
        [(Mode::Deadline, false), (Mode::WaitAll, false), (Mode::Quorum, false), (Mode::Quorum, true)]
    {
        let app = over(mode, impossible);
        for size in [80, 60] {
            let shown = verdict(&app, size);
            assert!(!shown.contains('…'), "{mode} at {size}: {shown}");
            assert!(shown.contains('●'), "{mode} at {size}: {shown}");
        }
    }
    let deadline = over(Mode::Deadline, false);
    let shown = verdict(&deadline, 80);
    assert!(shown.ends_with(" overrun 250 ms · partial · 75 % · 200.6 ms"), "{shown}");
    let shown = verdict(&deadline, 60);
    assert!(shown.ends_with(" overrun 250 ms · partial · 75 %"), "{shown}");
}

/// Every call's answer says more of its server's time than any line holds.
#[test]
fn s8_6_what_the_server_says_of_its_time_is_seen_also_where_it_is_wider_than_the_screen() {
    let mut round = fx::round(31, fx::at(31), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL);
    let (name, words) = (format!("first-{}", "n".repeat(42)), format!("words {}", ["日本"; 12].join(" ")));
    for attempt in round.calls.iter_mut().flat_map(|c| &mut c.attempts) {
        let metric = crate::domain::ServerTiming::new(&name, Some(fx::ms(17.0)), Some(&words));
        attempt.server_timing = metric.into_iter().collect();
    }
    let mut app = fx::page(Mode::Deadline, 30, Options::default());
    fx::start(&mut app, &round);
    fx::finish(&mut app, round);
    app.selected = 0;
    for (width, height) in [(40, 10), (60, 16), (80, 24)] {
        let mut app = app.clone();
        update(&mut app, Message::Resized(width, height));
        update(&mut app, Message::Action(Action::Detail));
        let mut shown = String::new();
        for _ in 0..12 {
            let page = printed(&drawn(&app, width, height));
            shown.push_str(page.split("--\n").next().unwrap_or_default());
            update(&mut app, Message::Action(Action::PageDown));
        }
        for word in ["server timing", "first-nn", "17.0 ms", "(words", "本 )"] {
            assert!(shown.contains(word), "{word} at {width}x{height}:\n{shown}");
        }
    }
}

#[test]
fn t11_a_name_of_joined_emoji_is_cut_no_shorter_than_its_room() {
    use crate::view::text::{cut, cut_middle, cut_start, width};
    let name = "👩\u{200d}👩\u{200d}👧\u{200d}👦 family of ☁\u{fe0f} carts";
    for most in 2..24 {
        for text in [cut(name, most, "…"), cut_middle(name, most, "…"), cut_start(name, most, "…")] {
            assert!((most - 2..=most).contains(&width(&text)), "{text} in {most}");
        }
    }
}

#[test]
fn m17_the_help_names_the_phases_as_the_legend_does() {
    let mut app = scenes::running(Options::default());
    update(&mut app, Message::Action(Action::Help));
    let buf = drawn(&app, 120, 40);
    let text = printed(&buf);
    for (signs, phases) in [("·░▒ ", &Phase::ALL[..3]), ("▓██ ", &Phase::ALL[3..])] {
        let names: Vec<&str> = phases.iter().map(|p| p.as_str()).collect();
        let line = text.lines().find(|l| l.contains(signs)).unwrap_or_else(|| panic!("{signs} in {text}"));
        assert!(line.contains(&names.join(", ")), "{line}");
    }
    // What tells the waiting from the body is that one is faint.
    let blocks = buf.content.iter().filter(|cell| cell.symbol() == "█").map(|cell| letter(cell.style()));
    assert_eq!(blocks.collect::<String>(), "d.");
}
