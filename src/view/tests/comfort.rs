//! Words explained, the palette over the lanes, and how a dashboard begins.

use super::*;
use crate::app::glossary::{GLOSSARY, find};
use crate::app::{Gesture, Key, KeyCode, Message, Target};

fn typed(mut app: App, text: &str) -> App {
    update(&mut app, Message::Action(Action::Palette));
    text.chars().for_each(|c| drop(update(&mut app, Message::Typed(Key::char(c)))));
    app
}

fn text(app: &App, width: u16, height: u16) -> String {
    printed(&drawn(app, width, height))
}

#[test]
fn the_palette_lies_over_the_lower_rows_at_every_size() {
    let app = typed(scenes::cut(Options::default()), "fr");
    assert_scene("palette", &app, &[(80, 24), (40, 10)]);
    let nothing =
        typed(scenes::cut(Options { ascii: true, colour: Colour::Mono, ..Options::default() }), "zzz");
    assert_scene("palette-nothing", &nothing, &[(60, 16)]);
    for (width, height) in [(1, 1), (0, 0), (39, 10), (40, 9), (300, 3)] {
        drawn(&app, width, height);
    }
}

#[test]
fn the_chosen_offer_stays_in_sight() {
    let mut app = typed(scenes::cut(Options::default()), "");
    update(&mut app, Message::Typed(Key::plain(KeyCode::End)));
    let last = GLOSSARY.last().unwrap().word;
    for (width, height) in [(80, 24), (40, 10)] {
        let screen = text(&app, width, height);
        let row = screen.lines().find(|line| line.contains(&format!("what is      {last}"))).unwrap();
        assert!(row.contains("what is"), "{screen}");
    }
}

#[test]
fn an_explanation_is_whole_also_on_a_small_screen() {
    for entry in GLOSSARY {
        let mut app = scenes::cut(Options::default());
        update(&mut app, Message::Pointed(Gesture::Explain, Target::Word(find(entry.word).unwrap())));
        for (width, height) in [(120, 40), (80, 24), (40, 10)] {
            let screen = drawn(&app, width, height);
            let rows: Vec<String> = (0..height)
                .map(|y| (0..width).map(|x| screen[(x, y)].symbol()).collect::<String>().trim().to_owned())
                .collect();
            let flat = rows.join(" ");
            assert!(flat.contains(entry.meaning), "{} at {width}x{height}: {flat}", entry.word);
        }
    }
}

#[test]
fn a_word_under_the_mouse_is_found_where_it_stands() {
    let app = scenes::quorum(Options::default());
    let area = Rect::new(0, 0, 120, 40);
    let screen = drawn(&app, 120, 40);
    let place = |wanted: &str| {
        (0..40_u16).find_map(|y| {
            let row: String = (0..120).map(|x| screen[(x, y)].symbol()).collect();
            let at = row.find(wanted)?;
            Some((u16::try_from(row[..at].chars().count()).unwrap(), y))
        })
    };
    let found = |(x, y): (u16, u16)| match crate::view::word(&app, area, x, y) {
        Target::Word(place) => GLOSSARY[place].word,
        _ => "",
    };
    for (shown, meant) in [
        ("connect_refused", "connect_refused"),
        ("not needed", "not needed"),
        ("overshoot", "overshoot"),
        ("quorum", "quorum"),
    ] {
        let (x, y) = place(shown).unwrap_or_else(|| panic!("{shown} is not shown"));
        assert_eq!(found((x, y)), meant);
        let last = x + u16::try_from(shown.len()).unwrap() - 1;
        assert_eq!(found((last, y)), meant, "also at its end");
    }
    assert_eq!(found((0, 39)), "");
    assert_eq!(crate::view::word(&app, area, 500, 3), Target::Elsewhere);
}

#[test]
fn the_footer_says_how_to_begin_until_the_first_key() {
    let mut app = scenes::running(Options::default()).welcoming();
    let footer = |app: &App, width, height| {
        let buf = drawn(app, width, height);
        (0..width).map(|x| buf[(x, height - 1)].symbol()).collect::<String>().trim().to_owned()
    };
    assert_eq!(footer(&app, 80, 24), "? keys   : find   a trade-off   x break one   q quit");
    assert!(footer(&app, 40, 10).starts_with("? keys") && footer(&app, 40, 10).ends_with("q quit"));
    app.endpoints[app.selected].simulated = false;
    assert!(!footer(&app, 80, 24).contains("break one"));
    update(&mut app, Message::Tick(std::time::Duration::from_secs(60)));
    assert!(footer(&app, 80, 24).contains(": find"), "time alone does not take it away");
    update(&mut app, Message::Action(Action::Down));
    assert!(footer(&app, 80, 24).starts_with("1-5 mode"));
}

#[test]
fn the_words_are_a_page_that_scrolls() {
    let mut app = scenes::cut(Options::default());
    update(&mut app, Message::Resized(80, 24));
    update(&mut app, Message::Action(Action::Glossary));
    assert_scene("words", &app, &[(80, 24)]);
    update(&mut app, Message::Action(Action::Last));
    assert!(text(&app, 80, 24).contains("please report it."));
    update(&mut app, Message::Action(Action::Back));
    assert_eq!(app.screen, Screen::Dashboard);
}
