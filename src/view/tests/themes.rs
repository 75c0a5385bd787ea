//! Themes that paint: the same signs as in the terminal's own colours, and no cell without a ground.

use super::*;

/// Some screens that have every tone.
fn screens(options: Options) -> Vec<App> {
    let mut apps = vec![
        scenes::running(options),
        scenes::cut(options),
        scenes::quorum(options),
        scenes::hedge(options),
        scenes::frozen(options),
        scenes::filtering(options),
    ];
    for action in [Action::Help, Action::Detail, Action::Tradeoff] {
        let mut app = scenes::cut(options);
        update(&mut app, Message::Resized(120, 40));
        update(&mut app, Message::Action(action));
        apps.push(app);
    }
    apps
}

fn of(theme: ThemeName, colour: Colour) -> Vec<Buffer> {
    let options = Options { colour, theme, ..Options::default() };
    screens(options).iter().map(|app| drawn(app, 120, 40)).collect()
}

#[test]
fn a_theme_changes_colours_and_nothing_else() {
    let plain = of(ThemeName::Terminal, Colour::TrueColor);
    for theme in ThemeName::ALL.into_iter().filter(|theme| theme.paints()) {
        for (painted, plain) in of(theme, Colour::TrueColor).iter().zip(&plain) {
            for (new, old) in painted.content.iter().zip(&plain.content) {
                assert_eq!(new.symbol(), old.symbol());
                assert_eq!(new.modifier, old.modifier - Modifier::DIM, "{theme:?}: {:?}", old.symbol());
                assert!(matches!((new.fg, new.bg), (Color::Rgb(..), Color::Rgb(..))), "{theme:?}: {new:?}");
            }
        }
        for painted in of(theme, Colour::Ansi16) {
            let numbered = |cell: &ratatui::buffer::Cell| {
                matches!((cell.fg, cell.bg), (Color::Indexed(16..), Color::Indexed(16..)))
            };
            assert!(painted.content.iter().all(numbered), "{theme:?}: a terminal of 256 colours has these");
        }
    }
}

#[test]
fn without_colour_every_theme_is_the_same() {
    let plain = of(ThemeName::Mono, Colour::TrueColor);
    for theme in ThemeName::ALL {
        assert_eq!(of(theme, Colour::Mono), plain, "{theme:?}");
    }
}

#[test]
fn the_ground_is_painted_in_its_own_area_only() {
    let options = Options { theme: ThemeName::Light, colour: Colour::TrueColor, ..Options::default() };
    let mut buf = Buffer::empty(Rect::new(0, 0, 90, 30));
    (&Dashboard(&scenes::cut(options))).render(Rect::new(0, 0, 80, 24), &mut buf);
    for (position, cell) in buf.area.positions().zip(&buf.content) {
        let inside = position.x < 80 && position.y < 24;
        assert_eq!(cell.bg == Color::Reset, !inside, "{position:?}");
    }
}
