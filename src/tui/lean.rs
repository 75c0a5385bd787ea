//! Changed cells as bytes for a terminal, in few of them: a slow line carries little, and what it carries is what
//! keys wait behind. Ratatui's own backend for crossterm takes about twice as many, most of them for colours.
//!
//! Knows what ECMA-48 says of colours and cursors and nothing of any one terminal. Hides no cursor: it is hidden as
//! long as the screen is ours.

use crate::domain::text::width;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use std::io::{self, Write};

/// Writes frames onto a terminal, changed cells only.
pub(super) struct Lean<W: Write> {
    /// Does everything but drawing.
    out: CrosstermBackend<W>,
    /// Where the cursor is, where that is sure.
    cursor: Option<Position>,
    look: Look,
    /// Blanks that are not written yet: where the first is, and how many.
    blanks: Option<(Position, u16)>,
}

/// More blanks than this in a row are erased: that says their number instead of them.
const ERASED: u16 = 5;

/// The same where something follows, to which the cursor then has to be moved.
const ERASED_BETWEEN: u16 = 10;

/// How characters are drawn from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Look {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Look {
    const fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    /// Whether a blank looks the same as in another look: of a blank there is only its ground and what is drawn on it.
    fn is_blank_as(self, other: Self) -> bool {
        let drawn = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
        self.bg == other.bg && !(self.modifier | other.modifier).intersects(drawn)
    }
}

/// Each modifier, what turns it on and what turns it off.
const MODIFIERS: [(Modifier, &str, &str); 9] = [
    (Modifier::BOLD, "1", "22"),
    (Modifier::DIM, "2", "22"),
    (Modifier::ITALIC, "3", "23"),
    (Modifier::UNDERLINED, "4", "24"),
    (Modifier::SLOW_BLINK, "5", "25"),
    (Modifier::RAPID_BLINK, "6", "25"),
    (Modifier::REVERSED, "7", "27"),
    (Modifier::HIDDEN, "8", "28"),
    (Modifier::CROSSED_OUT, "9", "29"),
];

impl<W: Write> Lean<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out: CrosstermBackend::new(out), cursor: None, look: Look::default(), blanks: None }
    }

    /// Puts the cursor there, if it isn't.
    fn go(&mut self, to: Position) -> io::Result<()> {
        match self.cursor {
            Some(at) if at == to => {}
            Some(at) if at.y == to.y && at.x + 1 == to.x => write!(self.out, "\x1b[C")?,
            Some(at) if at.y == to.y && at.x < to.x => write!(self.out, "\x1b[{}C", to.x - at.x)?,
            _ => write!(self.out, "\x1b[{};{}H", to.y.saturating_add(1), to.x.saturating_add(1))?,
        }
        self.cursor = Some(to);
        Ok(())
    }

    /// Has what follows drawn like this.
    fn take_on(&mut self, look: Look) -> io::Result<()> {
        if look != self.look {
            let (from_here, anew) = (change(self.look, look), format!("0{}", change(Look::default(), look)));
            let shorter =
                if anew.len() < from_here.len() { &anew } else { from_here.trim_start_matches(';') };
            let codes = if shorter == "0" { "" } else { shorter };
            write!(self.out, "\x1b[{codes}m")?;
            self.look = look;
        }
        Ok(())
    }

    fn put(&mut self, at: Position, cell: &Cell) -> io::Result<()> {
        let (symbol, look) = (cell.symbol(), Look::of(cell));
        if symbol == " " && look.is_blank_as(Look::default()) {
            return self.leave_blank(at);
        }
        self.write_blanks(Some(at))?;
        self.go(at)?;
        self.take_on(look)?;
        self.out.write_all(symbol.as_bytes())?;
        // How far a wide or a composed character moves the cursor is a matter on which terminals differ.
        let sure = symbol.len() == 1 || symbol.chars().count() == 1 && width(symbol) == 1;
        self.cursor = sure.then_some(behind(at, 1));
        Ok(())
    }

    fn leave_blank(&mut self, at: Position) -> io::Result<()> {
        match &mut self.blanks {
            Some((from, count)) if behind(*from, *count) == at => *count += 1,
            _ => {
                self.write_blanks(Some(at))?;
                self.blanks = Some((at, 1));
            }
        }
        Ok(())
    }

    /// Writes what was left blank; `next` is where something is written afterwards.
    fn write_blanks(&mut self, next: Option<Position>) -> io::Result<()> {
        let Some((from, count)) = self.blanks.take() else { return Ok(()) };
        if !self.look.is_blank_as(Look::default()) {
            self.take_on(Look::default())?;
        }
        self.go(from)?;
        let end = behind(from, count);
        if count > if next == Some(end) { ERASED_BETWEEN } else { ERASED } {
            return write!(self.out, "\x1b[{count}X");
        }
        self.cursor = Some(end);
        write!(self.out, "{:1$}", "", usize::from(count))
    }
}

/// So many columns behind a place.
fn behind(at: Position, columns: u16) -> Position {
    Position { x: at.x.saturating_add(columns), y: at.y }
}

/// What changes one look into the other, each code after a semicolon.
fn change(from: Look, to: Look) -> String {
    let mut codes = String::new();
    let mut add = |code: &str| {
        codes.push(';');
        codes.push_str(code);
    };
    let (gone, mut new) = (from.modifier - to.modifier, to.modifier - from.modifier);
    let mut last = "";
    for (modifier, _, off) in MODIFIERS.iter().filter(|m| gone.contains(m.0)) {
        // One code turns two of them off: what stays of the two is turned on again.
        new |=
            to.modifier & MODIFIERS.iter().filter(|m| m.2 == *off && m.0 != *modifier).map(|m| m.0).collect();
        if *off != last {
            add(off);
            last = off;
        }
    }
    for (_, on, _) in MODIFIERS.iter().filter(|m| new.contains(m.0)) {
        add(on);
    }
    if from.fg != to.fg {
        add(&colour(to.fg, 30));
    }
    if from.bg != to.bg {
        add(&colour(to.bg, 40));
    }
    codes
}

/// A colour's code; `base` is 30 for letters and 40 for what is behind them.
fn colour(colour: Color, base: u8) -> String {
    let plain = |n: u8| (base + n).to_string();
    let bright = |n: u8| (base + 60 + n).to_string();
    match colour {
        Color::Reset => plain(9),
        Color::Black => plain(0),
        Color::Red => plain(1),
        Color::Green => plain(2),
        Color::Yellow => plain(3),
        Color::Blue => plain(4),
        Color::Magenta => plain(5),
        Color::Cyan => plain(6),
        Color::Gray => plain(7),
        Color::DarkGray => bright(0),
        Color::LightRed => bright(1),
        Color::LightGreen => bright(2),
        Color::LightYellow => bright(3),
        Color::LightBlue => bright(4),
        Color::LightMagenta => bright(5),
        Color::LightCyan => bright(6),
        Color::White => bright(7),
        Color::Indexed(n) => format!("{};5;{n}", base + 8),
        Color::Rgb(r, g, b) => format!("{};2;{r};{g};{b}", base + 8),
    }
}

impl<W: Write> Backend for Lean<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        // Since the last frame somebody else may have written.
        self.cursor = None;
        for (x, y, cell) in content {
            self.put(Position { x, y }, cell)?;
        }
        self.write_blanks(None)?;
        self.take_on(Look::default())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.out.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.out.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.out.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.out.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        self.out.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.out.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    const SIZE: (u16, u16) = (24, 4);

    fn empty() -> Buffer {
        Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1))
    }

    /// What is written when one picture follows another.
    fn written(from: &Buffer, to: &Buffer) -> Vec<u8> {
        let mut out = Vec::new();
        Lean::new(&mut out).draw(from.diff(to).into_iter()).unwrap();
        out
    }

    fn said(write: impl Fn(&mut Buffer)) -> String {
        let mut to = empty();
        write(&mut to);
        String::from_utf8(written(&empty(), &to)).unwrap()
    }

    #[test]
    fn blanks_take_any_look_that_shows_nothing_on_them() {
        let (dim, cyan) = (Style::new().dim(), Style::new().cyan());
        let words = |between: Style| {
            said(|buf| {
                buf.set_string(2, 1, "a b", dim);
                buf[(3, 1)].set_style(Style::reset().patch(between));
            })
        };
        assert_eq!(words(cyan), "\x1b[2;3H\x1b[2ma b\x1b[m");
        assert_eq!(words(Style::new()), "\x1b[2;3H\x1b[2ma\x1b[Cb\x1b[m");
        assert_eq!(words(cyan.reversed()), "\x1b[2;3H\x1b[2ma\x1b[0;7;36m \x1b[0;2mb\x1b[m");
    }

    #[test]
    fn many_blanks_are_erased() {
        let over = |columns: &str| {
            let (mut from, mut to) = (empty(), empty());
            from.set_string(1, 0, columns, Style::new());
            to.set_string(20, 0, "a", Style::new());
            String::from_utf8(written(&from, &to)).unwrap()
        };
        assert_eq!(over("xxxxx"), "\x1b[1;2H     \x1b[14Ca");
        assert_eq!(over("xxxxxx"), "\x1b[1;2H\x1b[6X\x1b[19Ca");
        assert_eq!(over(&"x".repeat(19)), "\x1b[1;2H\x1b[19X\x1b[19Ca");
    }

    #[test]
    fn what_did_not_change_writes_nothing() {
        assert_eq!(said(|_| {}), "");
    }

    #[test]
    fn looks_change_in_the_shorter_way() {
        let words = |a, b| {
            said(move |buf| {
                buf.set_string(0, 0, "a", a);
                buf.set_string(1, 0, "b", b);
            })
        };
        let plain = Style::new();
        assert_eq!(words(plain.cyan().bold(), plain.cyan().dim()), "\x1b[1;1H\x1b[1;36ma\x1b[22;2mb\x1b[m");
        assert_eq!(words(plain.cyan().dim(), plain.yellow()), "\x1b[1;1H\x1b[2;36ma\x1b[0;33mb\x1b[m");
        assert_eq!(words(plain.cyan(), plain.yellow()), "\x1b[1;1H\x1b[36ma\x1b[33mb\x1b[m");
        assert_eq!(
            words(plain.bold().dim().red(), plain.bold().red()),
            "\x1b[1;1H\x1b[1;2;31ma\x1b[22;1mb\x1b[m"
        );
        assert_eq!(words(plain.reversed(), plain), "\x1b[1;1H\x1b[7ma\x1b[mb");
    }

    #[test]
    fn behind_what_terminals_measure_differently_the_place_is_said() {
        let wide = said(|buf| buf.set_string(0, 0, "日a", Style::new()));
        assert_eq!(wide, "\x1b[1;1H日\x1b[1;3Ha");
        let composed = said(|buf| buf.set_string(0, 0, "e\u{301}a", Style::new()));
        assert_eq!(composed, "\x1b[1;1He\u{301}\x1b[1;2Ha");
    }

    /// A cell in words: text, colours and modifiers, and of a blank only its ground.
    type Shown = (String, Option<(vt100::Color, [bool; 3])>, vt100::Color, [bool; 2]);

    fn shown(screen: &vt100::Screen) -> Vec<Shown> {
        let places = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
        let cell = |(x, y): (u16, u16)| {
            let cell = screen.cell(y, x).unwrap();
            let symbol = if cell.has_contents() { cell.contents() } else { " " };
            let letter = (cell.fgcolor(), [cell.bold(), cell.dim(), cell.italic()]);
            let ground = [cell.underline(), cell.inverse()];
            (symbol.to_owned(), (symbol != " ").then_some(letter), cell.bgcolor(), ground)
        };
        places.map(cell).collect()
    }

    fn meant(picture: &Buffer) -> Vec<Shown> {
        let colour = |colour| match colour {
            Color::Red => vt100::Color::Idx(1),
            Color::Cyan => vt100::Color::Idx(6),
            Color::DarkGray => vt100::Color::Idx(8),
            Color::White => vt100::Color::Idx(15),
            Color::Indexed(n) => vt100::Color::Idx(n),
            Color::Rgb(r, g, b) => vt100::Color::Rgb(r, g, b),
            _ => vt100::Color::Default,
        };
        let cell = |cell: &Cell| {
            let is = |modifier| cell.modifier.contains(modifier);
            let letter = [Modifier::BOLD, Modifier::DIM, Modifier::ITALIC].map(is);
            let letter = (cell.symbol() != " ").then_some((colour(cell.fg), letter));
            let ground = [Modifier::UNDERLINED, Modifier::REVERSED].map(is);
            (cell.symbol().to_owned(), letter, colour(cell.bg), ground)
        };
        picture.content.iter().map(cell).collect()
    }

    fn a_style() -> impl Strategy<Value = Style> {
        let colour = || {
            prop_oneof![
                5 => Just(Color::Reset),
                3 => prop::sample::select(vec![Color::Red, Color::Cyan, Color::DarkGray, Color::White]),
                1 => any::<u8>().prop_map(Color::Indexed),
                1 => any::<(u8, u8, u8)>().prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
            ]
        };
        // One of them at a time, as the emulator knows them.
        let weight = prop::sample::select(vec![Modifier::empty(), Modifier::BOLD, Modifier::DIM]);
        let others = vec![Modifier::ITALIC, Modifier::UNDERLINED, Modifier::REVERSED];
        let modifier = (weight, prop::sample::subsequence(others, 0..=2))
            .prop_map(|(weight, others)| others.into_iter().fold(weight, |all, one| all | one));
        (colour(), prop_oneof![4 => Just(Color::Reset), 1 => colour()], modifier)
            .prop_map(|(fg, bg, modifier)| Style::reset().fg(fg).bg(bg).add_modifier(modifier))
    }

    fn a_picture() -> impl Strategy<Value = Buffer> {
        let word = ("[a▇⣀ ]{1,12}", 0..SIZE.0, 0..SIZE.1, a_style());
        prop::collection::vec(word, 0..12).prop_map(|words| {
            let mut buf = empty();
            for (text, x, y, style) in words {
                buf.set_string(x, y, text, style);
            }
            buf
        })
    }

    proptest! {
        /// Picture after picture, a terminal shows all that is meant.
        #[test]
        fn a_terminal_shows_every_picture(pictures in prop::collection::vec(a_picture(), 1..5)) {
            let mut terminal = vt100::Parser::new(SIZE.1, SIZE.0, 0);
            let mut before = empty();
            for picture in pictures {
                terminal.process(&written(&before, &picture));
                prop_assert_eq!(shown(terminal.screen()), meant(&picture));
                before = picture;
            }
        }
    }
}
