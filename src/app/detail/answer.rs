//! What a failed answer said, in lines: its status line, headers, and the beginning of its body.

use crate::app::{App, Kind, Lane};
use crate::domain::{Answer, numbers};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A line of a failed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerLine {
    /// Version, status and its usual words.
    Status(String),
    /// A header's name and value.
    Header(String, String),
    /// A line of the body, or the rest of one that was too wide.
    Body(String),
    /// What was left off.
    Note(String),
}

impl AnswerLine {
    /// A text in lines of at most `room` columns.
    pub(in crate::app) fn body(text: &str, room: u16) -> impl Iterator<Item = Self> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (piece, after) =
                Some(rest).filter(|rest| !rest.is_empty()).map(|rest| first_piece(rest, room))?;
            rest = after;
            Some(Self::Body(piece.to_owned()))
        })
    }
}

/// Most lines of a body that are shown.
const BODY_LINES: usize = 40;

/// The answer of the attempt that decided, where it failed after an answer had begun, in lines of at most `room`
/// columns; only a header may be longer.
pub(super) fn lines(app: &App, lane: &Lane, room: u16) -> Vec<AnswerLine> {
    let attempts = app.detail_call().map_or(&[][..], |call| &call.attempts);
    let Some(attempt) = attempts.get(lane.decisive()) else { return Vec::new() };
    match attempt.answer.as_deref() {
        Some(answer) => of(answer, room),
        // There was one, or it would have no status.
        None if app.kind() == Kind::Replay && attempt.reason.is_some() && attempt.status.is_some() => {
            vec![AnswerLine::Note("what the answer said is not in a recording".to_owned())]
        }
        None => Vec::new(),
    }
}

fn of(answer: &Answer, room: u16) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::Status(answer.status_line.clone())];
    lines.extend(answer.headers.iter().map(|(name, value)| AnswerLine::Header(name.clone(), value.clone())));
    if let more @ 1.. = answer.headers_left_off {
        lines.push(AnswerLine::Note(numbers::counted(more, "more header", "more headers")));
    }
    // However long the body is, only what is shown is measured; of the rest the lines are counted.
    let mut rest = &*answer.body;
    for _ in 0..BODY_LINES {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = first_piece(rest, room);
        lines.push(AnswerLine::Body(piece.to_owned()));
        rest = after;
    }
    let more = rest.lines().count();
    let mut note = |text| lines.push(AnswerLine::Note(text));
    match (more, answer.body_truncated, answer.body.is_empty()) {
        (0, true, _) => note("the body went on, or was not read to its end".to_owned()),
        (0, false, true) => note("no body".to_owned()),
        (0, false, false) => {}
        (more, ..) => note(numbers::counted(more, "more line of the body", "more lines of the body")),
    }
    lines
}

/// The text's first line, or as much of it as fits into `room` columns and at least a grapheme, and the text
/// after it.
fn first_piece(text: &str, room: u16) -> (&str, &str) {
    let mut width = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let (before, after) = text.split_at(at);
        if matches!(grapheme, "\n" | "\r\n") {
            return (before, after.strip_prefix(grapheme).unwrap_or(after));
        }
        width += grapheme.width();
        if at > 0 && width > usize::from(room) {
            return (before, after);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &str) -> Answer {
        Answer {
            status_line: "HTTP/1.1 503 Service Unavailable".to_owned(),
            headers: vec![("retry-after".to_owned(), "3".to_owned())],
            headers_left_off: 0,
            body: body.into(),
            body_truncated: false,
        }
    }

    #[test]
    fn an_answer_is_its_status_line_headers_and_body() {
        let body = |text: &str| AnswerLine::Body(text.to_owned());
        let lines = of(&answer("<h1>down</h1>\n\n日本語"), 8);
        let status = AnswerLine::Status("HTTP/1.1 503 Service Unavailable".to_owned());
        let header = AnswerLine::Header("retry-after".to_owned(), "3".to_owned());
        assert_eq!(lines, [status, header, body("<h1>down"), body("</h1>"), body(""), body("日本語")]);
    }

    #[test]
    fn a_piece_ends_with_its_line_or_where_it_is_full() {
        assert_eq!(first_piece("ab\r\ncd", 8), ("ab", "cd"));
        assert_eq!(first_piece("ab\ncd", 2), ("ab", "cd"), "no empty piece behind a full one");
        assert_eq!(first_piece("\nab", 8), ("", "ab"));
        assert_eq!(first_piece("日本語", 5), ("日本", "語"));
        assert_eq!(first_piece("日本語", 0), ("日", "本語"));
        assert_eq!(first_piece("", 8), ("", ""));
    }

    #[test]
    fn of_a_long_body_the_lines_that_are_not_shown_to_their_ends_are_counted() {
        let lines = of(&answer(&"x".repeat(100_000)), 10);
        assert_eq!(lines.len(), 2 + BODY_LINES + 1);
        assert_eq!(lines.last(), Some(&AnswerLine::Note("1 more line of the body".to_owned())));
    }

    #[test]
    fn what_is_left_off_is_said() {
        let note = |answer: &Answer| match of(answer, 80).pop() {
            Some(AnswerLine::Note(note)) => note,
            other => panic!("{other:?}"),
        };
        assert_eq!(note(&answer("")), "no body");
        assert_eq!(note(&answer(&"x\n".repeat(50))), "10 more lines of the body");
        let cut = Answer { body_truncated: true, ..answer("begin") };
        assert_eq!(note(&cut), "the body went on, or was not read to its end");
        let many = Answer { headers_left_off: 2, ..answer("x") };
        assert!(of(&many, 80).contains(&AnswerLine::Note("2 more headers".to_owned())));
        assert_eq!(of(&answer("ab"), 0).len(), 4, "without room a character a line");
    }
}
