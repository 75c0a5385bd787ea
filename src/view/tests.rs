//! Whole screens, with their colours, and every size and state without harm.

mod comfort;
mod detail;
pub(crate) mod fuzz;
mod hostile;
mod look;
mod records;
mod replay;
mod room;
pub(crate) mod scenes;
mod themes;
mod tradeoff;

use super::*;
use crate::app::{Action, Colour, Message, Options, Panel, ThemeName, update};
use crate::stats::Window;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;

/// A drawn screen.
pub(crate) fn drawn(app: &App, width: u16, height: u16) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    Dashboard(app).render(buf.area, &mut buf);
    buf
}

/// A style in one letter: the colour's first (`r g y m c`, `.` for the default), `d` for dim, upper case for
/// bold, `%` for reverse. Faint colours have letters of their own: `1 2 3 4 5` for red to cyan.
fn letter(style: Style) -> char {
    let dim = style.add_modifier.contains(Modifier::DIM);
    let (plain, faint) = match style.fg {
        Some(Color::Red) => ('r', '1'),
        Some(Color::Green) => ('g', '2'),
        Some(Color::Yellow) => ('y', '3'),
        Some(Color::Magenta) => ('m', '4'),
        Some(Color::Cyan) => ('c', '5'),
        Some(Color::Reset) | None => ('.', 'd'),
        Some(other) => panic!("{other:?} is not one of the screen's colours"),
    };
    assert!(matches!(style.bg, Some(Color::Reset) | None), "no backgrounds");
    let letter = if dim { faint } else { plain };
    match style.add_modifier {
        m if m.contains(Modifier::REVERSED) => '%',
        m if m.contains(Modifier::BOLD) && letter == '.' => 'B',
        m if m.contains(Modifier::BOLD) => letter.to_ascii_uppercase(),
        _ => letter,
    }
}

/// The screen as text, and under it a row of letters for the styles of each row, as runs: `4B 8d`.
fn printed(buf: &Buffer) -> String {
    let mut out = String::new();
    let mut styles = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        let cells = (buf.area.left()..buf.area.right()).map(|x| &buf[(x, y)]);
        let text: String = cells.clone().map(ratatui::buffer::Cell::symbol).collect();
        writeln!(out, "{}", text.trim_end()).unwrap();
        // Blank cells look the same in every style but reverse.
        let mut runs: Vec<(char, usize)> = Vec::new();
        for cell in cells {
            let blank = cell.symbol() == " " && !cell.modifier.contains(Modifier::REVERSED);
            let style = if blank { ' ' } else { letter(cell.style()) };
            match runs.last_mut() {
                Some((last, count)) if *last == style => *count += 1,
                _ => runs.push((style, 1)),
            }
        }
        if runs.last().is_some_and(|r| r.0 == ' ') {
            runs.pop();
        }
        let runs: Vec<String> =
            runs.iter().map(|(s, n)| format!("{n}{}", if *s == ' ' { '_' } else { *s })).collect();
        writeln!(styles, "{y:>2} {}", runs.join(" ")).unwrap();
    }
    format!("{out}--\n{styles}")
}

fn assert_scene(name: &str, app: &App, sizes: &[(u16, u16)]) {
    for &(width, height) in sizes {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), printed(&drawn(app, width, height)));
    }
}

const FULL: (u16, u16) = (120, 40);
const ALL: [(u16, u16); 5] = [FULL, (80, 24), (60, 16), (40, 10), (200, 60)];
const TALL: [(u16, u16); 2] = [(160, 50), (250, 80)];

#[test]
fn a_round_in_progress() {
    assert_scene("running", &scenes::running(Options::default()), &ALL);
}

#[test]
fn h29_servers_that_may_be_anybody_are_warned_of_in_the_header_at_every_size() {
    let head = |unverified: usize, (width, height)| {
        let mut app = scenes::running(Options::default());
        app.endpoints.iter_mut().take(unverified).for_each(|e| e.unverified = true);
        let buf = drawn(&app, width, height);
        let text: String = (0..width).map(|x| buf[(x, 0)].symbol().to_owned()).collect();
        let at = text.find("insecure").map(|at| text[..at].chars().count());
        at.inspect(|&at| assert_eq!(letter(buf[(u16::try_from(at).unwrap(), 0)].style()), 'R'));
        text
    };
    for size in ALL {
        let some = if size.0 < 80 { "insecure" } else { "insecure 2 of 8 " };
        assert!(head(2, size).contains(some), "{size:?}");
        assert!(head(8, size).contains("insecure"), "{size:?}");
        assert!(!head(0, size).contains("insecure"));
    }
}

#[test]
fn a_round_cut_at_its_deadline() {
    assert_scene("cut", &scenes::cut(Options::default()), &ALL);
    assert_scene("cut", &scenes::cut(Options::default()), &TALL);
}

#[test]
fn r18_a_quorum_is_met_and_the_rest_is_grey() {
    assert_scene("quorum", &scenes::quorum(Options::default()), &[FULL, (80, 24), (60, 16)]);
}

#[test]
fn r21_a_quorum_that_cannot_be_met_any_more() {
    assert_scene("quorum-impossible", &scenes::quorum_impossible(), &[FULL]);
}

#[test]
fn r21_a_running_round_says_that_its_quorum_is_lost() {
    let row = |app: &App| printed(&drawn(app, 120, 40)).lines().nth(3).unwrap_or_default().to_owned();
    assert!(row(&scenes::quorum_lost(65.0)).ends_with("─ 65 of 200 ms"));
    assert!(row(&scenes::quorum_lost(75.0)).ends_with("quorum impossible · 75 of 200 ms"));
}

#[test]
fn r23_hedges_are_rows_under_their_call() {
    assert_scene("hedge", &scenes::hedge(Options::default()), &ALL);
    assert_scene("hedge", &scenes::hedge(Options::default()), &TALL);
}

#[test]
fn r28_what_holds_hedges_back_is_named() {
    let app = scenes::hedge_held(Options::default());
    assert_scene("hedge-held", &app, &[FULL, (80, 24), (200, 60)]);
}

#[test]
fn r28_a_race_is_not_limited_by_the_load_budget() {
    let app = scenes::race();
    assert_scene("race", &app, &[FULL, (80, 24)]);
}

#[test]
fn r31_without_hedges_the_panel_says_so() {
    let words = |app: &App| printed(&drawn(app, 80, 24));
    let app = scenes::asked(scenes::cut(Options::default()), Panel::Hedges);
    let text = words(&app);
    assert!(text.contains("no hedges in deadline rounds") && !text.contains("extra load"), "{text}");
    let app = scenes::asked(scenes::waiting(), Panel::Hedges);
    assert!(words(&app).contains("no round has settled yet"));
}

#[test]
fn the_selected_endpoint_is_in_sight_among_the_hedges() {
    let mut app = scenes::hedge(Options::default());
    let table = |app: &App| {
        let text = printed(&drawn(app, 80, 24));
        text.lines().skip_while(|l| !l.starts_with(" Hedges")).take(6).collect::<Vec<_>>().join("\n")
    };
    let first = table(&app);
    assert!(first.contains("search") && !first.contains("tax"), "{first}");
    update(&mut app, Message::Action(Action::Last));
    let last = table(&app);
    assert!(last.contains("tax") && !last.contains("search"), "{last}");
    assert!(last.contains("all, 2 more"), "{last}");
}

#[test]
fn w8_who_holds_the_round_up() {
    let app = scenes::asked(scenes::cut(Options::default()), Panel::Blame);
    assert_scene("blame", &app, &[FULL, (80, 24)]);
    let app = scenes::asked(scenes::hedge_held(Options::default()), Panel::Blame);
    assert_scene("hedge-blame", &app, &[(200, 60)]);
}

#[test]
fn w8_r40_rounds_that_end_at_a_quorum_are_not_called_complete() {
    let mut app = scenes::asked(scenes::quorum(Options::default()), Panel::Blame);
    assert_scene("quorum-blame", &app, &[FULL, (80, 24)]);
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains("quorum met, ") && !text.contains("complete"), "{text}");
    update(&mut app, Message::Action(Action::Detail));
    update(&mut app, Message::Resized(120, 40));
    let text = printed(&drawn(&app, 120, 40));
    assert!(text.contains("quorum met in ") && !text.contains("complete with"), "{text}");
}

#[test]
fn all_calls_by_window() {
    let app = scenes::asked(scenes::cut(Options::default()), Panel::Calls);
    assert_scene("calls", &app, &[FULL, (80, 24)]);
}

#[test]
fn r41_the_missing_table_of_every_window() {
    let mut app = scenes::cut(Options::default());
    for window in [Window::FiveMinutes, Window::Start, Window::TenSeconds] {
        update(&mut app, Message::Action(Action::Window));
        assert_eq!(app.window, window);
        assert_scene(&format!("window-{}", window.label().replace(' ', "-")), &app, &[FULL]);
    }
}

/// Panels and lanes keep their places whatever happens in the rounds.
#[test]
#[expect(clippy::useless_vec, reason = "an array of so many screens is too large for the stack")]
fn nothing_moves_while_rounds_go_by() {
    for (before, after) in vec![
        (scenes::waiting(), scenes::cut(Options::default())),
        (scenes::hedge(Options::default()), scenes::hedge_held(Options::default())),
        (scenes::hedge(Options::default()), scenes::hedge_running()),
    ] {
        for (width, height) in ALL.into_iter().chain(TALL) {
            let area = Rect::new(0, 0, width, height);
            assert_eq!(Regions::of(&before, area), Regions::of(&after, area), "{width}x{height}");
        }
    }
}

/// Rows of the screen belong to one part each, and panels beside each other do not touch.
#[test]
fn no_two_parts_of_the_screen_share_a_cell() {
    for app in [scenes::cut(Options::default()), scenes::hedge(Options::default()), scenes::many()] {
        for panel in Panel::ALL {
            let app = scenes::asked(app.clone(), panel);
            for (width, height) in (40..=260).step_by(10).flat_map(|w| (10..=90).map(move |h| (w, h))) {
                let area = Rect::new(0, 0, width, height);
                let regions = Regions::of(&app, area).unwrap();
                let rows = [regions.header, regions.honesty, Some(regions.verdict), regions.axis];
                let rows = rows.into_iter().chain([regions.legend, regions.hint, Some(regions.footer)]);
                let mut parts: Vec<Rect> = rows.flatten().map(|y| row(area, Some(y))).collect();
                parts.extend(regions.panels.iter().map(|p| p.1));
                parts.extend(regions.history);
                parts.push(regions.lanes);
                for (i, a) in parts.iter().enumerate() {
                    assert_eq!(a.intersection(area), *a, "{width}x{height}");
                    assert!(
                        parts[..i].iter().all(|b| !a.intersects(*b)),
                        "{width}x{height}: {a} in {parts:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn r23_a_hedge_under_way() {
    assert_scene("hedge-running", &scenes::hedge_running(), &[FULL]);
}

#[test]
fn r34_a_required_call_fails_the_round() {
    assert_scene("required-failed", &scenes::required_failed(), &[FULL, (80, 24), (40, 10)]);
}

#[test]
fn r32_wait_all_runs_past_the_budget_and_says_so() {
    assert_scene("wait-all", &scenes::wait_all(), &[FULL, (80, 24)]);
}

#[test]
fn paused() {
    assert_scene("paused", &scenes::paused(), &[FULL, (60, 16), (40, 10)]);
}

#[test]
fn a_pending_change_shows_both_values() {
    assert_scene("pending", &scenes::pending(), &[FULL, (80, 24), (60, 16), (40, 10)]);
}

#[test]
fn changes_are_marked_in_the_history_and_a_clamp_is_said() {
    assert_scene("changed", &scenes::changed(), &[FULL]);
}

#[test]
fn before_the_first_round() {
    assert_scene("waiting", &scenes::waiting(), &ALL);
}

#[test]
fn the_help() {
    let mut app = scenes::running(Options::default());
    update(&mut app, Message::Action(Action::Help));
    assert_scene("help", &app, &ALL);
}

#[test]
fn m17_the_help_says_what_a_time_is_made_of() {
    let mut app = scenes::running(Options::default());
    update(&mut app, Message::Action(Action::Help));
    let shown = printed(&drawn(&app, 120, 40));
    for words in ["from the round's start", "queued, dns, connect", "tls, waiting, body"] {
        assert!(shown.contains(words), "{shown}");
    }
}

/// At any size: the last page is reached, nothing scrolls past it, and the first key back moves.
#[test]
fn scrolling_the_help_ends_at_its_last_page() {
    let mut app = scenes::running(Options::default());
    let mut scrolled = 0;
    for width in [40, 79, 80, 119, 120, 200] {
        for height in 10..=60 {
            update(&mut app, Message::Resized(width, height));
            update(&mut app, Message::Action(Action::Help));
            let first = drawn(&app, width, height);
            for _ in 0..40 {
                update(&mut app, Message::Action(Action::PageDown));
            }
            let last = drawn(&app, width, height);
            assert!(printed(&last).contains("hedge delay"), "{width}x{height}: the last line is in sight");
            update(&mut app, Message::Action(Action::Down));
            assert!(drawn(&app, width, height) == last, "{width}x{height}: past the end");
            update(&mut app, Message::Action(Action::Up));
            let moves = first != last;
            assert_eq!(drawn(&app, width, height) != last, moves, "{width}x{height}: one line up");
            scrolled += usize::from(moves);
            update(&mut app, Message::Action(Action::First));
            assert!(drawn(&app, width, height) == first, "{width}x{height}: the first page");
            update(&mut app, Message::Action(Action::Back));
        }
    }
    assert!(scrolled > 30, "{scrolled} sizes are too small for one page");
}

#[test]
fn sixty_lanes_scroll_around_the_selected_one() {
    assert_scene("many", &scenes::many(), &ALL);
}

#[test]
fn seven_bit_characters_without_colour() {
    let options = Options { ascii: true, colour: Colour::Mono, theme: ThemeName::Terminal };
    assert_scene("ascii-running", &scenes::running(options), &ALL);
    assert_scene("ascii-cut", &scenes::cut(options), &[FULL]);
    assert_scene("ascii-quorum", &scenes::quorum(options), &[FULL]);
    assert_scene("ascii-hedge", &scenes::hedge(options), &[FULL]);
    assert_scene("ascii-hedge-held", &scenes::hedge_held(options), &[FULL]);
    assert_scene("ascii-blame", &scenes::asked(scenes::cut(options), Panel::Blame), &[FULL]);
    for app in
        [scenes::running(options), scenes::cut(options), scenes::hedge(options), scenes::quorum(options)]
    {
        let text = printed(&drawn(&app, 200, 60));
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn without_colour_glyphs_bold_and_dim_remain() {
    let options = Options { colour: Colour::Mono, ..Options::default() };
    let buf = drawn(&scenes::cut(options), 120, 40);
    assert!(buf.content().iter().all(|c| matches!(c.fg, Color::Reset)));
    assert_scene("mono", &scenes::cut(options), &[FULL]);
}

#[test]
fn the_engine_failed() {
    let mut app = scenes::cut(Options::default());
    update(&mut app, Message::Failed("the engine's thread is gone".to_owned()));
    assert_scene("failed", &app, &[(80, 24)]);
}

#[test]
fn t02_a_small_terminal_is_told_what_is_needed_and_recovers() {
    let app = scenes::running(Options::default());
    let text = |w, h| printed(&drawn(&app, w, h)).lines().next().unwrap_or_default().to_owned();
    assert_eq!(text(39, 10), "fanscope needs 40x10, this is 39x10");
    assert_eq!(text(40, 9), "fanscope needs 40x10, this is 40x9");
    assert_eq!(text(12, 3), "needs 40x10");
    // Half a number would be a wrong one.
    assert_eq!((text(10, 5).as_str(), text(4, 5).as_str()), ("40x10", ""));
    assert!(text(40, 10).contains("200 ms"));
}

#[test]
fn t07_wide_names_and_long_names_keep_the_columns() {
    let app =
        scenes::named(&["日本語の店舗", "a-service-with-a-very-long-name-indeed", "é́́", "👩‍👩‍👧‍👦 family", ""]);
    assert_scene("names", &app, &[FULL, (80, 24), (40, 10)]);
}

#[test]
fn no_endpoints_at_all() {
    for (width, height) in ALL {
        drawn(&scenes::named(&[]), width, height);
    }
}

#[test]
fn r34_a_required_call_runs_to_the_request_budget_and_both_limits_are_drawn() {
    assert_scene("both-limits", &scenes::both_limits(), &[FULL, (80, 24)]);
}

#[test]
fn a_pending_mode_is_seen_at_the_least_size() {
    let mut app = scenes::running(Options::default());
    update(&mut app, Message::Action(Action::Mode(crate::domain::Mode::Quorum)));
    assert!(printed(&drawn(&app, 40, 10)).starts_with(" → quorum"));
}

#[test]
fn the_help_can_be_read_to_its_end_at_every_size() {
    let sizes = [(80, 24), (40, 10), (60, 16), (120, 40)];
    let recording = crate::domain::PlayState::Playing;
    let kinds = [scenes::named(&["a"]), scenes::replay(Options::default(), recording)];
    for ((width, height), app) in sizes.into_iter().flat_map(|size| kinds.iter().map(move |app| (size, app)))
    {
        let mut app = app.clone();
        update(&mut app, Message::Resized(width, height));
        update(&mut app, Message::Action(Action::Help));
        let mut shown = String::new();
        for _ in 0..20 {
            shown.push_str(&printed(&drawn(&app, width, height)));
            update(&mut app, Message::Action(Action::PageDown));
        }
        for binding in crate::app::actions::bindings(app.kind()) {
            assert!(shown.contains(binding.help), "{} is cut at {width}x{height}", binding.help);
        }
        for sign in
            ["within its limit", "where it happened", "or lost", "the winner", "k-th answer", "hedge delay"]
        {
            assert!(shown.contains(sign), "{sign} is cut at {width}x{height}");
        }
    }
}
