//! Text of any kind in every place where text from outside is drawn: names, errors, headers, bodies, notices, what
//! is typed. Whatever it is, a cell holds one thing that every terminal shows alike, rows are as wide as the screen,
//! and nothing is drawn past it.

use super::{drawn, scenes};
use crate::app::fixture::{self as fx, Fate};
use crate::app::{Action, App, Behind, Health, Message, Notice, Options, Panel, Screen, update};
use crate::domain::text::is_hidden;
use crate::domain::{Answer, Mode, PlayState, Reason};
use crate::view::Dashboard;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::sync::Arc;
use unicode_width::UnicodeWidthStr;

/// What terminals trip over.
const NASTY: &[&str] = &[
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "\x1bP$q\x1b\\",
    "\u{9b}31m",
    "\u{90}x\u{9c}",
    "\0",
    "\x07",
    "\x08",
    "\t",
    "\r",
    "\n",
    "\x7f",
    "\u{202e}evil\u{202c}",
    "\u{2066}a\u{2069}",
    "\u{200f}",
    "\u{061c}",
    "שלום",
    "العربية لا",
    "日本語",
    "한국어",
    "ｆｕｌｌ",
    "\u{3000}",
    "👩\u{200d}👩\u{200d}👧\u{200d}👦",
    "🇩🇪",
    "🇩",
    "👍🏽",
    "❤\u{fe0f}",
    "⌚\u{fe0e}",
    "1\u{fe0f}\u{20e3}",
    "e\u{301}",
    "\u{301}",
    "क्षि",
    "ᄀ\u{1161}\u{11a8}",
    "\u{3164}",
    "\u{ad}",
    "\u{200b}",
    "\u{feff}",
    "\u{2028}",
    "\u{2029}",
    "\u{e000}",
    "\u{f8ff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{e0041}",
    "\u{10ffff}",
    "…",
    "─",
    "shop-",
    "a b",
    "x",
];

fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(NASTY).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
        1 => any::<char>().prop_map(String::from),
        1 => (1_usize..300).prop_map(|n| format!("a{}", "\u{301}".repeat(n))),
        1 => (1_usize..3000).prop_map(|n| "日x".repeat(n)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// An app all of whose outside texts are these.
fn told(texts: &[String; 4], options: Options) -> App {
    let [name, detail, header, body] = texts;
    let names = [name.as_str(), "plain", detail, "日本語", header];
    let settings = fx::settings(Mode::Deadline);
    let mut setup = fx::setup(&names, settings.clone(), options);
    setup.profile.clone_from(header);
    let mut app = App::new(setup);
    let fails = Fate::Fails(30.0, Reason::HttpStatus, Some(503));
    let settings = Arc::new(settings);
    for no in 1..=3 {
        let fates = [fails, Fate::Answers(20.0), fails, Fate::Answers(250.0), fails];
        let mut round = fx::round(no, fx::at(no), &settings, &fates);
        for attempt in round.calls.iter_mut().flat_map(|call| &mut call.attempts) {
            attempt.detail = Some(detail.clone());
            attempt.answer = Some(Arc::new(Answer {
                status_line: header.clone(),
                headers: vec![(header.clone(), body.clone()), ("x".to_owned(), name.clone())],
                headers_left_off: 1,
                body: body.as_str().into(),
                body_truncated: true,
            }));
        }
        fx::start(&mut app, &round);
        fx::finish(&mut app, round);
    }
    app
}

/// Checks a screen's cells. `ascii`: also that they have 7 bits.
fn check(buf: &Buffer, ascii: bool) -> Result<(), TestCaseError> {
    for y in buf.area.rows().map(|row| row.y) {
        let mut x = buf.area.left();
        while x < buf.area.right() {
            let symbol = buf[(x, y)].symbol();
            prop_assert!(
                !symbol.is_empty() && !symbol.chars().any(|c| c.is_control() || is_hidden(c)),
                "{:?}",
                symbol
            );
            prop_assert!(!ascii || symbol.is_ascii(), "{:?}", symbol);
            prop_assert!(symbol.chars().count() < 12, "{:?}", symbol);
            let columns = u16::try_from(symbol.width()).unwrap();
            prop_assert!(columns > 0, "{:?}", symbol);
            for behind in x + 1..x + columns {
                prop_assert!(behind < buf.area.right(), "{:?} ends outside", symbol);
                // A terminal would not show what stands there, and shift the rest.
                prop_assert_eq!(buf[(behind, y)].symbol(), " ", "behind {:?}", symbol);
            }
            x += columns;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn t07_t08_t11_text_from_outside_stays_in_its_cells(
        texts in [nasty(), nasty(), nasty(), nasty()], typed in nasty(), ascii: bool, failed: bool,
        size in (40_u16..=160, 10_u16..=50), panel in prop::sample::select(&Panel::ALL[..]),
    ) {
        let mut app = scenes::asked(told(&texts, Options { ascii, ..Options::default() }), panel);
        update(&mut app, Message::Resized(size.0, size.1));
        if failed {
            app.health = Health::Failed(texts[1].clone());
        }
        check(&drawn(&app, size.0, size.1), ascii)?;
        update(&mut app, Message::Notice(Notice::Failed(texts[3].clone())));
        check(&drawn(&app, size.0, size.1), ascii)?;
        for screen in [Screen::Detail(0), Screen::Detail(3), Screen::Tradeoff, Screen::Help { top: 0, behind: Behind::Dashboard }] {
            app.screen = screen;
            check(&drawn(&app, size.0, size.1), ascii)?;
        }
        app.screen = Screen::Dashboard;
        for (action, key) in [(Action::Filter, crate::app::KeyCode::Enter), (Action::Note, crate::app::KeyCode::Esc)] {
            update(&mut app, Message::Action(action));
            update(&mut app, Message::Pasted(typed.clone()));
            for c in typed.chars().take(50) {
                update(&mut app, Message::Typed(crate::app::Key::char(c)));
            }
            check(&drawn(&app, size.0, size.1), ascii)?;
            update(&mut app, Message::Typed(crate::app::Key::plain(key)));
        }
        check(&drawn(&app, size.0, size.1), ascii)?;
    }

    /// A part of a terminal is all that is drawn on.
    #[test]
    fn nothing_is_drawn_past_the_screen(
        texts in [nasty(), nasty(), nasty(), nasty()], at in (0_u16..20, 0_u16..9), size in (0_u16..=130, 0_u16..=45),
        screen in 0_usize..4, replay: bool,
    ) {
        let mut app = if replay {
            scenes::replay(Options::default(), PlayState::Playing)
        } else {
            told(&texts, Options::default())
        };
        app.screen = [
            Screen::Dashboard, Screen::Detail(0), Screen::Tradeoff, Screen::Help { top: 0, behind: Behind::Detail },
        ][screen];
        let area = Rect::new(at.0, at.1, size.0, size.1);
        let mut buf = Buffer::empty(Rect::new(0, 0, area.right() + 7, area.bottom() + 5));
        buf.content.iter_mut().for_each(|cell| { cell.set_symbol("@"); });
        let untouched = buf[(0, 0)].clone();
        let whole = buf.area;
        Dashboard(&app).render(area, &mut buf);
        for position in whole.positions().filter(|p| !area.contains(*p)) {
            prop_assert_eq!(&buf[position], &untouched, "{:?} of {:?}", position, area);
        }
    }
}

/// What a terminal shows after several frames, of which only the differences are sent, is the last one.
#[test]
fn nothing_of_an_earlier_frame_is_left() {
    use ratatui::backend::CrosstermBackend;
    use ratatui::{Terminal, TerminalOptions, Viewport};
    let (width, height) = (120, 40);
    let texts = ["日x", "👩👧❤DE👍e\u{301}שלום日本", "日", "x日👩"].map(|piece| piece.repeat(90));
    let mut app = told(&texts, Options::default());
    update(&mut app, Message::Resized(width, height));
    let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, width, height)) };
    let (mut bytes, mut shown) = (Vec::new(), vt100::Parser::new(height, width, 0));
    let mut terminal = Terminal::with_options(CrosstermBackend::new(&mut bytes), options).unwrap();
    let screens =
        [Screen::Detail(0), Screen::Detail(7), Screen::Dashboard, Screen::Detail(1), Screen::Tradeoff];
    let mut wanted = Vec::new();
    for screen in screens.into_iter().chain([Screen::Detail(3), Screen::Dashboard]) {
        app.screen = screen;
        terminal.draw(|frame| crate::view::draw(&app, frame)).unwrap();
        wanted.push(drawn(&app, width, height));
    }
    drop(terminal);
    shown.process(&bytes);
    let last = wanted.last().unwrap();
    for position in last.area.positions() {
        let seen = shown.screen().cell(position.y, position.x).unwrap();
        let behind_wide = seen.is_wide_continuation();
        let seen = if seen.has_contents() { seen.contents() } else { " " };
        assert!(
            behind_wide || seen == last[position].symbol(),
            "{seen:?} at {position:?}: {:?}",
            last[position].symbol()
        );
    }
}
