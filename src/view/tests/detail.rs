//! The detail of a call in its states and sizes.

use super::scenes;
use super::{ALL, FULL, assert_scene, drawn, printed};
use crate::app::fixture::{self as fx, Fate};
use crate::app::{Action, App, Colour, Message, Options, ThemeName, update};
use crate::domain::{
    Answer, Attempt, AttemptKind, AttemptOutcome, HttpVersion, Mode, Outcome, Phase, Reason, Round,
    ServerTiming, Settings, TraceId,
};
use std::sync::Arc;

/// The detail of this endpoint's call, in a terminal of this size.
fn opened(mut app: App, index: usize) -> App {
    app.selected = index;
    update(&mut app, Message::Action(Action::Detail));
    app
}

/// What a real round knows besides: addresses, versions, bytes and the errors' own words.
fn furnished(mut round: Round) -> Round {
    for call in &mut round.calls {
        for attempt in &mut call.attempts {
            furnish(attempt);
        }
    }
    round
}

fn furnish(attempt: &mut Attempt) {
    attempt.trace_id = TraceId::of_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    if attempt.reason == Some(Reason::HttpStatus) {
        let header = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let headers = [("content-type", "text/html"), ("set-cookie", "<redacted>"), ("retry-after", "3")];
        attempt.answer = Some(Arc::new(Answer {
            status_line: "HTTP/1.1 503 Service Unavailable".to_owned(),
            headers: headers.map(header).to_vec(),
            headers_left_off: 1,
            body: "<html><h1>503</h1>\nno healthy upstream \\x1b[31m".into(),
            body_truncated: true,
        }));
    }
    if matches!(attempt.phase, Phase::Waiting | Phase::Body) {
        attempt.remote = Some(([192, 0, 2, 17], 443).into());
    }
    if attempt.outcome == AttemptOutcome::Ok {
        (attempt.http, attempt.bytes) = (Some(HttpVersion::Http11), 18_204);
    }
    attempt.wire_bytes = attempt.bytes;
    if attempt.outcome == AttemptOutcome::Failed {
        attempt.detail = Some(match attempt.reason {
            Some(Reason::ConnectRefused) => "tcp connect to 192.0.2.23:443: connection refused (os error 111)",
            _ => "status 503, expected 200 to 299: upstream connect error or disconnect or reset before headers, \
                  retried and the latest reset reason: remote connection failure, transport failure reason: \
                  delayed connect error",
        }.to_owned());
    }
}

fn typical(no: u64) -> Round {
    furnished(fx::round(no, fx::at(no), &Arc::new(fx::settings(Mode::Deadline)), &fx::TYPICAL))
}

/// After 300 rounds, the typical one until this instant, or to its end.
fn page(until: Option<f64>, options: Options) -> App {
    let mut app = fx::page(Mode::Deadline, 300, options);
    let round = typical(301);
    fx::play(&mut app, &round, fx::ms(until.unwrap_or(190.0)));
    if until.is_none() {
        fx::finish(&mut app, round);
    }
    app
}

#[test]
fn a_cut_call() {
    assert_scene("detail-cut", &opened(page(None, Options::default()), 5), &ALL);
}

#[test]
fn an_answered_call() {
    assert_scene("detail-ok", &opened(page(None, Options::default()), 3), &[FULL, (80, 24), (60, 16)]);
}

/// An answer that came encoded, from a server that tells what it did.
fn timed() -> App {
    let mut round = typical(301);
    for attempt in round.calls.iter_mut().flat_map(|c| &mut c.attempts) {
        attempt.wire_bytes = 4_096;
        let metric = |name, ms: Option<f64>, words| ServerTiming::new(name, ms.map(fx::ms), words);
        let metrics = [
            metric("db", Some(17.25), Some("SELECT price, \u{202e}stock")),
            metric("miss", None, Some("cache")),
            metric("total", Some(31.5), None),
            metric("render", Some(0.25), Some("templates")),
        ];
        attempt.server_timing = metrics.into_iter().flatten().collect();
    }
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    fx::play(&mut app, &round, fx::ms(190.0));
    fx::finish(&mut app, round);
    app
}

#[test]
fn s8_6_what_the_server_says_of_its_time_stands_beside_the_waiting() {
    let app = opened(timed(), 1);
    assert_scene("detail-server-timing", &app, &ALL);
    let wide = printed(&drawn(&app, 120, 40));
    let waiting = wide.lines().find(|line| line.contains("waiting")).unwrap();
    assert!(waiting.contains("server: total 31.5 ms"), "{waiting}");
    for text in ["db 17.2 ms (SELECT price, stock)", "miss (cache)", "render 0.2 ms (templates)"] {
        assert!(wide.contains(text), "{text}\n{wide}");
    }
    assert!(wide.contains("bytes 18204, 4096 on the wire"), "{wide}");
}

#[test]
fn r42_a_refused_call_with_its_own_words_and_a_hint() {
    assert_scene("detail-refused", &opened(page(None, Options::default()), 7), &ALL);
}

#[test]
fn r42_a_call_that_is_cut_again_and_again_says_where() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut app = App::new(fx::setup(&["recs"], fx::settings(Mode::Deadline), Options::default()));
    for no in 1..=30 {
        let time = if no % 3 == 0 { 150.0 } else { 260.0 };
        let round = fx::round(no, fx::at(no), &settings, &[Fate::Answers(time)]);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    let text = printed(&drawn(&opened(app, 0), 120, 40));
    let hint = "→ cut in 13 of the last 20 calls, 13 of them waiting for the first byte: fix its latency or set \
                a timeout of its own";
    assert!(text.contains(hint), "{text}");
}

#[test]
fn a_running_call_is_live() {
    assert_scene(
        "detail-running",
        &opened(page(Some(120.0), Options::default()), 5),
        &[FULL, (80, 24), (40, 10)],
    );
    let at = |ms| printed(&drawn(&opened(page(Some(ms), Options::default()), 5), 120, 40));
    assert!(at(60.0).contains("60 of 200 ms") && at(61.0).contains("61 of 200 ms"));
    assert!(at(10.0).contains("running in phase connect"), "the phase is the one it is in");
}

#[test]
fn r23_a_hedged_call_whose_hedge_won() {
    let app = opened(scenes::hedge(Options::default()), 0);
    assert_scene("detail-hedge", &app, &ALL);
    // A primary that answered before its hedge.
    assert_scene("detail-hedge-lost", &opened(scenes::hedge(Options::default()), 3), &[FULL]);
    assert_scene("detail-hedge-running", &opened(scenes::hedge_running(), 0), &[FULL, (40, 10)]);
}

/// R27: every attempt is listed with its reason and its own words.
fn both_failed() -> App {
    let settings = Settings { mode: Mode::Hedge, ..fx::settings(Mode::Hedge) };
    let mut setup = fx::setup(&["search"], settings.clone(), Options::default());
    setup.endpoints[0].replicas = 2;
    setup.endpoints[0].requests.push("GET https://search-b.example/v2?token=<redacted>".to_owned());
    let mut app = App::new(setup);
    let refused = Fate::Fails(60.0, Reason::HttpStatus, Some(503));
    let mut call = fx::hedged(
        fx::call(0, refused, fx::ms(200.0), Outcome::Missing(Reason::Deadline)),
        40.0,
        42.0,
        false,
        false,
    );
    let hedge = call.attempts.get_mut(1).unwrap();
    (hedge.outcome, hedge.reason, hedge.reused) =
        (AttemptOutcome::Failed, Some(Reason::ConnectRefused), None);
    let budget = settings.effective_budget();
    let round = furnished(fx::assemble(1, fx::at(1), &Arc::new(settings), budget, None, vec![call]));
    fx::play(&mut app, &round, fx::ms(50.0));
    fx::finish(&mut app, round);
    opened(app, 0)
}

#[test]
fn r27_all_attempts_failed_and_each_is_listed() {
    let app = both_failed();
    assert_scene("detail-both-failed", &app, &[FULL, (80, 24), (60, 16)]);
    for (width, height) in [(200, 60), FULL, (80, 30)] {
        let text = printed(&drawn(&app, width, height));
        for word in ["http_503", "connect_refused", "attempt 1: status 503", "attempt 2: tcp connect"] {
            assert!(text.contains(word), "{word} at {width}x{height}:\n{text}");
        }
    }
}

#[test]
fn r18_a_call_that_was_not_needed() {
    assert_scene(
        "detail-not-needed",
        &opened(scenes::quorum(Options::default()), 5),
        &[FULL, (80, 24), (40, 10)],
    );
}

#[test]
fn r34_a_required_call_that_failed_the_round_says_so() {
    let app = opened(scenes::required_failed(), 0);
    assert_scene("detail-required", &app, &[FULL, (80, 24), (60, 16), (40, 10)]);
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains("user, required, in round 1"));
    assert_scene("detail-sibling", &opened(scenes::required_failed(), 3), &[(80, 24)]);
}

#[test]
fn r32_a_call_past_its_budget_is_late() {
    assert_scene("detail-late", &opened(scenes::wait_all(), 5), &[FULL]);
}

#[test]
fn nothing_was_sent() {
    let settings = Arc::new(fx::settings(Mode::Deadline));
    let mut app = fx::page(Mode::Deadline, 3, Options::default());
    let mut round = fx::round(4, fx::at(4), &settings, &fx::TYPICAL);
    let call = round.calls.get_mut(1).unwrap();
    call.outcome = Outcome::Missing(Reason::BreakerOpen);
    (call.end, call.phase) = (fx::ms(0.0), Phase::Queued);
    call.attempts.clear();
    fx::play(&mut app, &round, fx::ms(190.0));
    fx::finish(&mut app, round);
    assert_scene("detail-unsent", &opened(app, 1), &[FULL, (40, 10)]);
}

#[test]
fn before_the_first_round_the_detail_says_so() {
    let app = opened(scenes::waiting(), 5);
    assert_scene("detail-waiting", &app, &[FULL, (40, 10)]);
}

#[test]
fn frozen_rounds_are_looked_back_at() {
    let mut app = opened(page(None, Options::default()), 5);
    for _ in 0..3 {
        update(&mut app, Message::Action(Action::Earlier));
    }
    assert_scene("detail-frozen", &app, &[FULL, (60, 16)]);
    for _ in 0..200 {
        update(&mut app, Message::Action(Action::Earlier));
    }
    let text = printed(&drawn(&app, 120, 40));
    let feet = text.lines().find(|l| l.contains('▴')).unwrap();
    assert!(feet.contains("98"), "a round that is further back than fits is still marked: {feet}");
}

#[test]
fn seven_bit_characters_and_no_colour_in_the_detail() {
    let options = Options { ascii: true, colour: Colour::Mono, theme: ThemeName::Terminal };
    assert_scene("ascii-detail-cut", &opened(page(None, options), 5), &[FULL, (80, 24), (40, 10)]);
    let states = [
        opened(page(None, options), 3),
        opened(page(None, options), 7),
        opened(page(Some(120.0), options), 5),
        opened(scenes::hedge(options), 0),
        opened(scenes::quorum(options), 5),
    ];
    for app in states {
        for (width, height) in ALL {
            let buf = drawn(&app, width, height);
            assert!(printed(&buf).is_ascii(), "{}", printed(&buf));
            assert!(buf.content().iter().all(|c| c.fg == ratatui::style::Color::Reset));
        }
    }
}

#[test]
fn t07_wide_names_in_the_detail() {
    let names = ["日本語の店舗", "a-service-with-a-very-long-name-indeed-it-goes-on-and-on-and-on-and-on"];
    for (index, name) in ["detail-wide", "detail-long"].iter().enumerate() {
        assert_scene(name, &opened(scenes::named(&names), index), &[(80, 24), (40, 10)]);
    }
}

/// Kept rounds with other budgets have their squares at their own lines, and the chart stays in its place.
#[test]
fn rounds_with_other_budgets_are_cut_on_their_own_line() {
    let mut settings = fx::settings(Mode::Deadline);
    let mut app = App::new(fx::setup(&["recs"], settings.clone(), Options::default()));
    for no in 1..=20 {
        settings.budget = fx::ms(if no <= 10 { 100.0 } else { 200.0 });
        let round = fx::round(no, fx::at(no), &Arc::new(settings.clone()), &[Fate::Answers(300.0)]);
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    let text = printed(&drawn(&opened(app, 0), 120, 40));
    let squares: Vec<usize> = text
        .lines()
        .skip_while(|l| !l.contains("round by round"))
        .take_while(|l| !l.contains('▴'))
        .map(|l| l.matches('■').count())
        .filter(|&n| n > 0)
        .collect();
    assert_eq!(squares, [10, 10], "{text}");
}

/// At any size: the last page is reached, nothing scrolls past it, and the first key back moves.
#[test]
fn the_detail_scrolls_to_its_end_and_back() {
    let mut scrolled = 0;
    for pick in [page(None, Options::default()), both_failed()] {
        let mut app = opened(pick, 0);
        for width in [40, 60, 80, 109, 110, 200] {
            for height in (10..=45).step_by(3).chain([11, 15, 24, 35, 60, 80]) {
                update(&mut app, Message::Resized(width, height));
                update(&mut app, Message::Action(Action::First));
                let first = drawn(&app, width, height);
                update(&mut app, Message::Action(Action::Last));
                let last = drawn(&app, width, height);
                assert!(printed(&last).contains("share missing"), "{width}x{height}:\n{}", printed(&last));
                update(&mut app, Message::Action(Action::PageDown));
                assert!(drawn(&app, width, height) == last, "{width}x{height}: past the end");
                update(&mut app, Message::Action(Action::PageUp));
                let moves = first != last;
                assert_eq!(drawn(&app, width, height) != last, moves, "{width}x{height}: a page up");
                scrolled += usize::from(moves);
                for _ in 0..10 {
                    update(&mut app, Message::Action(Action::PageUp));
                }
                assert!(drawn(&app, width, height) == first, "{width}x{height}: the first page");
            }
        }
    }
    assert!(scrolled > 50, "{scrolled} sizes are too small for one page");
}

/// What a call was, how it came out, and its attempts stand on the first page of every size.
#[test]
fn the_essentials_are_on_the_first_page() {
    for width in [40, 59, 60, 80, 120] {
        for height in [10, 16, 24, 40] {
            let text = printed(&drawn(&opened(scenes::hedge(Options::default()), 0), width, height));
            let text = text.split("--\n").next().unwrap_or_default();
            for word in ["search", "ok 200 in 138 ms", "34 ms", "1 ", "2 "] {
                assert!(text.contains(word), "{word} at {width}x{height}:\n{text}");
            }
        }
    }
}

/// A call's kind does not hide in the fixtures: hedges are hedges.
#[test]
fn r23_the_winner_is_the_attempt_that_decides() {
    let app = opened(scenes::hedge(Options::default()), 0);
    let lane = app.detail_lane().unwrap();
    let call = app.detail_call().unwrap();
    assert_eq!(Some(lane.decisive()), call.winner);
    assert_eq!(call.attempts[lane.decisive()].kind, AttemptKind::Hedge);
    assert_eq!(app.request(), Some("GET https://search-b.example/search?token=<redacted>"));
}

#[test]
fn s8_6_a_failed_answer_is_shown_with_its_headers_and_the_beginning_of_its_body() {
    let mut app = fx::page(Mode::Deadline, 300, Options::default());
    let mut fates = fx::TYPICAL;
    fates[2] = Fate::Fails(40.0, Reason::HttpStatus, Some(503));
    let round = furnished(fx::round(301, fx::at(301), &Arc::new(fx::settings(Mode::Deadline)), &fates));
    fx::play(&mut app, &round, fx::ms(190.0));
    fx::finish(&mut app, round);
    assert_scene("detail-answer", &opened(app, 2), &ALL);
}

#[test]
fn r36_a_required_call_throttled_at_the_request_deadline_stands_there() {
    let settings = Settings { request_budget: fx::ms(600.0), ..fx::settings(Mode::Deadline) };
    let mut setup = fx::setup(&["recs"], settings.clone(), Options::default());
    setup.endpoints[0].required = true;
    let mut app = App::new(setup);
    let mut round = fx::round(1, fx::at(1), &Arc::new(settings), &[Fate::Answers(100.0)]);
    let call = &mut round.calls[0];
    call.outcome = Outcome::Missing(Reason::Throttled);
    (call.phase, call.end, call.attempts) = (Phase::Queued, fx::ms(600.7), Vec::new());
    fx::start(&mut app, &round);
    fx::finish(&mut app, round);
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains(">600 ms"), "{text}");
    let text = printed(&drawn(&opened(app, 0), 120, 40));
    assert!(text.contains("throttled, no permit before the request deadline"), "{text}");
    assert!(text.contains(">600 ms") && !text.contains("601 ms"), "{text}");
    let chart = text.lines().skip_while(|line| !line.contains("This call, round by round"));
    let sign = chart.clone().position(|line| line.contains('■'));
    let line = chart.clone().position(|line| line.contains("200 ms"));
    assert!(sign < line && sign.is_some(), "above the budget's line: {text}");
}
