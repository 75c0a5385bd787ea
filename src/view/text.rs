//! Text on cells: cut and padded by display width and graphemes, clipped to the buffer. Everything here may
//! be called with any position, any size and any text: what terminals disagree on is shown in a way in which no
//! row can shift ([`steady`]), and what is measured, cut and drawn is that.

pub use crate::domain::text::width;
use crate::domain::text::{is_plain, seven_bit, steady};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;

/// The text, cut with `mark` at its end if it is wider than this.
#[must_use]
pub fn cut(text: &str, most: u16, mark: &str) -> String {
    let text = &*steady(text);
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(width(mark));
    let (mut out, mut used) = (String::new(), 0_u16);
    for grapheme in text.graphemes(true) {
        used = used.saturating_add(width(grapheme));
        if used > room {
            break;
        }
        out.push_str(grapheme);
    }
    if width(mark) <= most {
        out.push_str(mark);
    }
    out
}

/// The text's end, with `mark` before it if there is more than this.
#[must_use]
pub fn cut_start(text: &str, most: u16, mark: &str) -> String {
    let text = &*steady(text);
    if width(text) <= most {
        return text.to_owned();
    }
    let mark = if width(mark) <= most { mark } else { "" };
    format!("{mark}{}", end_of(text, most - width(mark)))
}

/// As much of the text's end as fits.
fn end_of(text: &str, room: u16) -> &str {
    let (mut from, mut used) = (text.len(), 0_u16);
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used = used.saturating_add(width(grapheme));
        if used > room {
            break;
        }
        from = at;
    }
    text.get(from..).unwrap_or_default()
}

/// The text, cut in its middle if it is wider than this: names often begin alike and differ at their ends.
#[must_use]
pub fn cut_middle(text: &str, most: u16, mark: &str) -> String {
    let text = &*steady(text);
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(width(mark));
    let head = cut(text, room - room / 2, "");
    let mark = if width(mark) <= most { mark } else { "" };
    format!("{head}{mark}{}", end_of(text, room / 2))
}

/// Writes onto a buffer and never outside of it.
pub struct Pen<'b> {
    buf: &'b mut Buffer,
}

impl<'b> Pen<'b> {
    /// A pen for this buffer.
    pub fn new(buf: &'b mut Buffer) -> Self {
        Self { buf }
    }

    /// Sets one cell.
    pub fn cell(&mut self, x: u16, y: u16, symbol: &str, style: Style) {
        if let Some(cell) = self.buf.cell_mut((x, y)) {
            // Whole new style: what was below must not shine through.
            *cell = styled(style);
            cell.set_symbol(symbol);
        }
    }

    /// The columns `from..to` of a row, as far as there are any.
    fn cells(&mut self, from: u16, to: u16, y: u16) -> &mut [Cell] {
        let area = self.buf.area;
        let (from, to) = (from.max(area.left()), to.min(area.right()));
        if from >= to || y < area.top() || y >= area.bottom() {
            return &mut [];
        }
        let first = self.buf.index_of(from, y);
        self.buf.content.get_mut(first..first + usize::from(to - from)).unwrap_or_default()
    }

    /// Writes text up to the column `limit` and returns the column after it.
    pub fn put(&mut self, x: u16, y: u16, limit: u16, text: &str, style: Style) -> u16 {
        let area = self.buf.area;
        let limit = limit.min(area.right());
        if x < area.left() || x >= limit || y < area.top() || y >= area.bottom() {
            return x;
        }
        let room = limit - x;
        let end = x.saturating_add(width(text).min(room));
        if is_plain(text) {
            for (cell, letter) in self.cells(x, end, y).iter_mut().zip(text.chars()) {
                *cell = styled(style);
                cell.set_char(letter);
            }
            return end;
        }
        self.cells(x, end, y).fill(Cell::EMPTY);
        self.buf.set_stringn(x, y, steady(text), usize::from(room), style).0
    }

    /// Writes text so that it ends before the column `end`, and returns its first column.
    pub fn put_right(&mut self, end: u16, y: u16, text: &str, style: Style) -> u16 {
        let start = end.saturating_sub(width(text));
        self.put(start, y, end, text, style);
        start
    }

    /// Writes pieces one after the other up to the column `limit`.
    pub fn spans(&mut self, x: u16, y: u16, limit: u16, spans: &[Span<'_>]) -> u16 {
        spans.iter().fold(x, |x, span| self.put(x, y, limit, &span.content, span.style))
    }

    /// Writes groups of pieces three columns apart, and leaves out those at the end that don't fit.
    pub fn groups(&mut self, x: u16, y: u16, limit: u16, groups: &[Vec<Span<'_>>]) {
        let mut next = x;
        for group in groups {
            if next.saturating_add(spans_width(group)) > limit {
                return;
            }
            next = self.spans(next, y, limit, group).saturating_add(3);
        }
    }

    /// Writes pieces so that they end before the column `end`, and returns their first column.
    pub fn spans_right(&mut self, end: u16, y: u16, spans: &[Span<'_>]) -> u16 {
        let start = end.saturating_sub(spans_width(spans));
        self.spans(start, y, end, spans);
        start
    }

    /// Fills the columns `from..to` with a symbol.
    pub fn fill(&mut self, from: u16, to: u16, y: u16, symbol: &str, style: Style) {
        let mut cell = styled(style);
        cell.set_symbol(symbol);
        self.cells(from, to, y).fill(cell);
    }

    /// A panel's first row: title, rule, and what stands at its end.
    pub fn title(&mut self, row: Row, left: &[Span<'_>], rule: (&str, Style), right: &[Span<'_>]) {
        let after = self.spans(row.x, row.y, row.end(), left).saturating_add(1);
        let mut before = row.end();
        let room = row.end().saturating_sub(after);
        if !right.is_empty() && spans_width(right) <= room {
            before = self.spans_right(row.end(), row.y, right).saturating_sub(1);
        }
        self.fill(after, before, row.y, rule.0, rule.1);
    }
}

/// A blank in this style.
fn styled(style: Style) -> Cell {
    let mut cell = Cell::EMPTY;
    cell.set_style(style);
    cell
}

/// Leaves only 7-bit characters on these cells. Columns stay what they are.
pub fn keep_seven_bits(area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    for y in area.rows().map(|row| row.y) {
        // A wide symbol is two signs of one style: its own cell takes one, the empty one behind it the other.
        let mut behind: Option<Style> = None;
        for x in area.left()..area.right() {
            let Some(cell) = buf.cell_mut((x, y)) else { continue };
            if let Some(style) = behind.take() {
                cell.set_symbol("?").set_style(style);
            } else if !cell.symbol().is_ascii() {
                behind = (width(cell.symbol()) > 1).then(|| cell.style());
                let sign: String = seven_bit(cell.symbol()).chars().take(1).collect();
                cell.set_symbol(&sign);
            }
        }
    }
}

/// A row of a panel.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its first column.
    pub x: u16,
    /// Where it is.
    pub y: u16,
    /// Its columns.
    pub width: u16,
}

impl Row {
    /// The column after its last.
    #[must_use]
    pub const fn end(self) -> u16 {
        self.x.saturating_add(self.width)
    }
}

/// Columns that pieces take together.
#[must_use]
pub fn spans_width(spans: &[Span<'_>]) -> u16 {
    spans.iter().fold(0, |sum, span| sum.saturating_add(width(&span.content)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_cut_by_width_and_never_inside_a_grapheme() {
        assert_eq!(cut("shipping", 8, "…"), "shipping");
        assert_eq!(cut("shipping-service", 8, "…"), "shippin…");
        assert_eq!(cut("日本語テキスト", 8, "…"), "日本語…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2, "…"), "e\u{301}…");
        assert_eq!(cut("abc", 0, "…"), "");
        assert_eq!(cut_middle("pricing-eu-primary", 9, "…"), "pric…mary");
        assert_eq!(cut_middle("日本語テキスト", 8, "…"), "日本…ト");
        assert_eq!(cut_middle("abc", 0, "…"), "");
        assert_eq!(cut_start("deployed 1.2", 8, "…"), "…yed 1.2");
        assert_eq!(cut_start("日本語テキスト", 8, "…"), "…キスト");
        assert_eq!(cut_start("abc", 0, "…"), "");
    }

    #[test]
    fn seven_bits_keep_columns_and_styles() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 9, 1));
        Pen::new(&mut buf).put(0, 0, 9, "日本é●a…", Style::new().bold());
        let area = buf.area;
        keep_seven_bits(area, &mut buf);
        let text: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text, "??????a~ ");
        assert!(buf.content.iter().take(8).all(|cell| cell.modifier == ratatui::style::Modifier::BOLD));
    }

    proptest! {
        #[test]
        fn a_cut_text_fits(text in "\\PC{0,40}", most in 0_u16..30) {
            prop_assert!(width(&cut(&text, most, "…")) <= most);
            prop_assert!(width(&cut_middle(&text, most, "…")) <= most);
            prop_assert!(width(&cut_start(&text, most, "…")) <= most);
        }

        #[test]
        fn a_pen_writes_anywhere_without_harm(
            text in "\\PC{0,20}", x in 0_u16..40, y in 0_u16..10, limit in 0_u16..60, w in 0_u16..20, h in 0_u16..4,
        ) {
            let mut buf = Buffer::empty(Rect::new(3, 1, w, h));
            let mut pen = Pen::new(&mut buf);
            pen.put(x, y, limit, &text, Style::new());
            pen.put_right(limit, y, &text, Style::new());
            pen.fill(x, limit, y, "─", Style::new());
            pen.title(Row { x, y, width: limit }, &[Span::raw(text.clone())], ("─", Style::new()), &[Span::raw(text)]);
        }
    }
}
