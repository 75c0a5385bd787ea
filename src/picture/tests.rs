use super::*;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

const CAPTION: Caption<'static> = Caption { title: "A test", description: "Cells & <shapes>." };

/// A screen of these lines, all in one style.
fn screen(lines: &[(&str, Style)]) -> Buffer {
    let width = lines.iter().map(|l| l.0.width()).max().unwrap_or_default();
    let (width, height) = (u16::try_from(width).unwrap(), u16::try_from(lines.len()).unwrap());
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    for (y, (text, style)) in (0..).zip(lines) {
        buffer.set_string(0, y, text, *style);
    }
    buffer
}

fn drawn(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|l| (*l, Style::new())).collect();
    svg(&screen(&lines), &Palette::DARK, CAPTION)
}

/// Place, width and text of every run: x, y, `textLength`.
fn texts(svg: &str) -> Vec<(u32, u32, u32, String)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let runs = document.descendants().filter(|n| n.has_tag_name("text"));
    runs.map(|n| {
        let number = |name| n.attribute(name).map_or(0, |v| v.parse().unwrap());
        (number("x"), number("y"), number("textLength"), n.text().unwrap().to_owned())
    })
    .collect()
}

/// The path data of every shape behind the text, the ground left out.
fn paths(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let shapes = document.descendants().filter(|n| n.has_tag_name("path")).skip(1);
    shapes.map(|n| n.attribute("d").unwrap().to_owned()).collect()
}

#[test]
fn a_small_screen_becomes_this_svg() {
    let plain = Style::new();
    let mut buffer = screen(&[("● ok 200  <1 ms", plain), ("███▌┃ ⣀⣤⣶", plain), ("░▒▓━╸┫└", plain)]);
    buffer.set_style(Rect::new(0, 0, 1, 1), Style::new().fg(Color::Green));
    buffer.set_style(Rect::new(5, 0, 3, 1), Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED));
    buffer.set_style(Rect::new(10, 0, 5, 1), Style::new().add_modifier(Modifier::REVERSED));
    buffer.set_style(Rect::new(0, 1, 2, 1), Style::new().fg(Color::Green).add_modifier(Modifier::DIM));
    buffer.set_style(Rect::new(0, 2, 7, 1), Style::new().fg(Color::Yellow).add_modifier(Modifier::ITALIC));
    insta::assert_snapshot!(svg(&buffer, &Palette::DARK, CAPTION));
}

#[test]
fn what_xml_reserves_is_escaped_and_control_characters_are_left_out() {
    let mut buffer = screen(&[("a<b>&\"'c", Style::new()), ("xyz", Style::new())]);
    for (x, symbol) in [(0, "\u{1b}"), (1, "\u{7}y"), (2, "\u{ffff}")] {
        buffer[(x, 1)].set_symbol(symbol);
    }
    let svg = svg(&buffer, &Palette::LIGHT, Caption { title: "\u{0}<t>", description: "\"&" });
    assert_eq!(texts(&svg), [(0, 12, 64, "a<b>&\"'c".to_owned()), (8, 28, 0, "y".to_owned())]);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let words = |name| document.descendants().find(|n| n.has_tag_name(name)).and_then(|n| n.text());
    assert_eq!((words("title"), words("desc")), (Some("<t>"), Some("\"&")));
}

#[test]
fn runs_begin_at_their_own_column() {
    let run = |x, y, length, text: &str| (x, y, length, text.to_owned());
    assert_eq!(texts(&drawn(&["one two  x"])), [run(0, 12, 56, "one two"), run(72, 12, 0, "x")]);
    // A symbol may come from another font, whose width must not move what follows.
    assert_eq!(
        texts(&drawn(&["a → b·c"])),
        [
            run(0, 12, 0, "a"),
            run(16, 12, 0, "→"),
            run(32, 12, 0, "b"),
            run(40, 12, 0, "·"),
            run(48, 12, 0, "c")
        ]
    );
    assert_eq!(texts(&drawn(&["ab█cd"])), [run(0, 12, 16, "ab"), run(24, 12, 16, "cd")]);
}

#[test]
fn wide_characters_take_two_cells() {
    let run = |x, length, text: &str| (x, 12, length, text.to_owned());
    assert_eq!(
        texts(&drawn(&["本店x👩‍👧y"])),
        [run(0, 16, "本"), run(16, 16, "店"), run(32, 0, "x"), run(40, 16, "👩‍👧"), run(56, 0, "y")]
    );
}

#[test]
fn a_style_of_its_own_is_a_run_of_its_own_and_blanks_have_none() {
    let mut buffer = screen(&[("one two", Style::new())]);
    buffer.set_style(Rect::new(3, 0, 1, 1), Style::new().fg(Color::Red));
    assert_eq!(texts(&svg(&buffer, &Palette::DARK, CAPTION)).len(), 1);
    buffer.set_style(Rect::new(4, 0, 1, 1), Style::new().fg(Color::Red));
    assert_eq!(texts(&svg(&buffer, &Palette::DARK, CAPTION)).len(), 3);
}

#[test]
fn bars_and_lines_have_no_seams() {
    assert_eq!(paths(&drawn(&["███▌"])), ["M0 0h28v16h-28z"]);
    assert_eq!(paths(&drawn(&["─┃", "─┃", " ┃"])), ["M0 7.5h8v1h-8zM0 23.5h8v1h-8zM11 0h2v48h-2z"]);
    assert_eq!(paths(&drawn(&["██", "██"])), ["M0 0h16v32h-16z"]);
}

#[test]
fn eighths_have_their_size() {
    for (n, left) in (1..=7).zip(["▏", "▎", "▍", "▌", "▋", "▊", "▉"]) {
        assert_eq!(paths(&drawn(&[left])), [format!("M0 0h{n}v16h-{n}z")]);
    }
    for (n, lower) in (1..=8).zip(["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]) {
        let height = 2 * n;
        assert_eq!(paths(&drawn(&[lower])), [format!("M0 {}h8v{height}h-8z", 16 - height)]);
    }
}

#[test]
fn braille_is_dots_at_one_pitch() {
    // The lowest row of both cells is one row of four dots; a lone dot stands above the last.
    assert_eq!(paths(&drawn(&["⣀⣠"])), ["M14 10h0.1M2 14h12.1"]);
    assert_eq!(paths(&drawn(&["⠁⠀⢀"])), ["M2 2h0.1M22 14h0.1"]);
}

#[test]
fn an_empty_screen_is_a_picture_too() {
    for (width, height) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        let svg = svg(&Buffer::empty(Rect::new(0, 0, width, height)), &Palette::LIGHT, CAPTION);
        assert_eq!((paths(&svg).len(), texts(&svg).len()), (0, 0));
    }
}

#[test]
fn a_screen_elsewhere_begins_at_the_pictures_corner() {
    let mut buffer = Buffer::empty(Rect::new(5, 7, 2, 1));
    buffer.set_string(5, 7, "ab", Style::new());
    assert_eq!(texts(&svg(&buffer, &Palette::DARK, CAPTION)), [(0, 12, 16, "ab".to_owned())]);
}

#[test]
fn a_ground_that_every_cell_has_is_that_of_the_picture_and_drawn_once() {
    let (ground, ink) = (Color::Rgb(0x12, 0x16, 0x1c), Color::Indexed(203));
    let palette = Palette::DARK.on(ground, ink);
    assert_eq!((palette.background, palette.foreground), (Rgb(0x12, 0x16, 0x1c), Rgb(0xff, 0x5f, 0x5f)));
    let painted = Style::new().bg(ground).fg(ink);
    let marked = painted.add_modifier(ratatui::style::Modifier::REVERSED);
    let drawn = svg(&screen(&[("plain", painted), ("marked", marked)]), &palette, CAPTION);
    assert_eq!(paths(&drawn), ["M0 16h48v16h-48z"], "only what is reversed has a ground of its own");
    assert_eq!(drawn.matches("#12161c").count(), 2, "the ground, and the reversed letters");
}
