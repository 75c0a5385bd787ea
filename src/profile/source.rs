//! The text that was given: where a byte stands in it, and how its lines are shown in a message. Shown lines
//! hold no secret, no control character, and never more than fits beside a caret. Knows nothing of TOML.

use super::error::{Mark, Place};
use super::secrets;
use crate::domain::text::is_hidden;
pub(crate) use crate::domain::text::visible as visible_all;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// A range of bytes of the source.
pub(crate) type Span = Range<usize>;

/// Widest part of a line that is shown, in terminal cells.
const SHOWN_CELLS: usize = 72;

/// Bytes before and after a mark that are looked at.
const NEAR: usize = 4096;

/// A text with a name.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    name: String,
    text: &'a str,
    starts: Vec<usize>,
    labels: Vec<String>,
    /// Ranges known to be secret from the parsed document, in order.
    secrets: Vec<Span>,
}

impl<'a> Source<'a> {
    /// A file's text.
    pub(crate) fn file(name: &str, text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: visible_all(name), text, starts, labels: Vec::new(), secrets: Vec::new() }
    }

    /// Arguments of the command line, one a line of `text`, with a label for each.
    pub(crate) fn arguments(labels: Vec<String>, text: &'a str) -> Self {
        Self { labels, ..Self::file("command line", text) }
    }

    /// Its name, safe to show.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What is written at the span.
    pub(crate) fn written(&self, span: &Span) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Marks ranges that are never to be shown.
    pub(crate) fn hide(&mut self, mut spans: Vec<Span>) {
        spans.sort_by_key(|s| s.start);
        self.secrets = spans;
    }

    /// Line of a byte, counted from 0.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// The span of a line without its end.
    pub(crate) fn line_span(&self, line: usize) -> Span {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next.saturating_sub(1));
        let text = self.text.get(start..end).unwrap_or_default();
        start..start + text.trim_end_matches('\r').len()
    }

    /// Where the span is, with its first line shown.
    pub(crate) fn place(&self, span: &Span) -> Place {
        let line = self.line_of(span.start);
        let bounds = self.line_span(line);
        let text = self.written(&bounds);
        let start = span.start.clamp(bounds.start, bounds.end) - bounds.start;
        let end = span.end.clamp(bounds.start + start, bounds.end) - bounds.start;
        let column = text.get(..start).map_or(start, |before| before.chars().count()) + 1;
        Place {
            label: self.labels.get(line).cloned(),
            line: line + 1,
            column,
            mark: self.mark(line, &bounds, start, end),
        }
    }

    fn mark(&self, line: usize, bounds: &Span, start: usize, end: usize) -> Mark {
        // A line may be as long as the file; only what is near the mark can be shown.
        let text = self.written(bounds);
        let from = boundary(text, start.saturating_sub(NEAR));
        let to = boundary(text, start.saturating_add(NEAR));
        let (start, end) = (start - from, end.min(to) - from);
        let near = bounds.start + from..bounds.start + to;
        let hidden = self.hidden(line, &near);
        let cells = cells(self.written(&near), &hidden);
        let before: usize = cells.iter().take_while(|c| c.at < start).map(|c| c.width).sum();
        let under: usize = cells.iter().filter(|c| (start..end).contains(&c.at)).map(|c| c.width).sum();
        window(&cells, before, under.max(1))
    }

    /// Secret ranges of a line, from the document and from the look of the line itself.
    fn hidden(&self, line: usize, bounds: &Span) -> Vec<Span> {
        let text = self.written(bounds);
        let first = self.secrets.partition_point(|s| s.end <= bounds.start);
        let known = self.secrets.iter().skip(first).take_while(|s| s.start < bounds.end);
        let mut spans: Vec<Span> = known
            .map(|s| s.start.max(bounds.start) - bounds.start..s.end.min(bounds.end) - bounds.start)
            .collect();
        spans.extend(secrets::spans_in_line(text, self.in_tls(line)));
        spans.sort_by_key(|s| s.start);
        spans
    }

    /// Whether the line belongs to a table named `tls`, whose `key` is a path and no secret.
    fn in_tls(&self, line: usize) -> bool {
        (0..=line)
            .rev()
            .take(64)
            .map(|l| self.written(&self.line_span(l)).trim())
            .find(|text| text.starts_with('['))
            .is_some_and(|header| header.trim_end_matches(']').ends_with("tls"))
    }
}

/// The next boundary between characters, from `at` on.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}

/// A character as it is shown.
struct Cell {
    at: usize,
    shown: String,
    width: usize,
}

fn cells(text: &str, hidden: &[Span]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut masked_to = 0;
    let mut hidden = hidden.iter().peekable();
    for (at, c) in text.char_indices() {
        while let Some(span) = hidden.next_if(|s| s.start <= at) {
            if at < span.end && span.end > masked_to {
                if at >= masked_to {
                    cells.push(Cell { at, shown: secrets::MASK.to_owned(), width: secrets::MASK.len() });
                }
                masked_to = span.end;
            }
        }
        if at >= masked_to {
            let shown = visible_all(c.encode_utf8(&mut [0; 4]));
            let width = shown.chars().map(|c| c.width().unwrap_or(0)).sum();
            cells.push(Cell { at, shown, width });
        }
    }
    cells
}

/// Cuts the cells to what fits, the marked part inside.
fn window(cells: &[Cell], before: usize, under: usize) -> Mark {
    let total: usize = cells.iter().map(|c| c.width).sum();
    let from = if total <= SHOWN_CELLS { 0 } else { before.saturating_sub(SHOWN_CELLS / 3) };
    let mut text = String::new();
    let (mut seen, mut skipped) = (0, 0);
    for cell in cells {
        if seen < from {
            skipped += cell.width;
        } else if seen + cell.width > from + SHOWN_CELLS {
            text.push('…');
            break;
        } else {
            text.push_str(&cell.shown);
        }
        seen += cell.width;
    }
    let lead = usize::from(skipped > 0);
    if lead > 0 {
        text.insert(0, '…');
    }
    let caret = before.saturating_sub(skipped) + lead;
    Mark { text, caret, length: under.min((SHOWN_CELLS + 2).saturating_sub(caret)).max(1) }
}

/// Outside text made visible for use inside a message, cut at 60 characters.
pub(crate) fn visible(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", visible_all(text.get(..at).unwrap_or_default())),
        None => visible_all(text),
    }
}

/// Whether a character can't be seen where it is written.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control() || is_hidden(c)
}
