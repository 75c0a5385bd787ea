//! `${VAR}`, `${VAR:-default}`, `$$`, and the holes `${round}` and `${rows.NAME}` that each round fills.

use super::error::Complaint;
use super::nearest::{list, nearest};
use super::secrets::is_secret_key;
use super::source::visible;
use super::types::{Piece, Template};
use std::cell::RefCell;
use std::ops::Range;

/// What a text may refer to.
pub(super) struct Scope<'a> {
    /// The environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Columns of the rows file.
    pub columns: Columns<'a>,
    /// Takes the values of variables whose name says that they are secret.
    pub secret: &'a RefCell<Vec<String>>,
}

/// Columns that a text may refer to.
pub(super) enum Columns<'a> {
    /// There is no rows file.
    None,
    /// There is one, and it is reported already that it cannot be read.
    Unreadable,
    /// These.
    Known(&'a [String]),
}

/// A fault within a text, with the bytes that it concerns.
pub(super) type Fault = (Range<usize>, Complaint);

/// Faults that are told of one text.
const MAX_FAULTS: usize = 20;

/// Expands a text.
///
/// A variable's value is taken as it is: what looks like a reference in it is not expanded again.
pub(super) fn expand(text: &str, scope: &Scope<'_>) -> Result<Template, Vec<Fault>> {
    let mut pieces = Pieces::default();
    let mut faults = Vec::new();
    let mut at = 0;
    while faults.len() < MAX_FAULTS
        && let Some(dollar) = text.get(at..).and_then(|rest| rest.find('$')).map(|i| at + i)
    {
        pieces.text(text.get(at..dollar).unwrap_or_default());
        let rest = text.get(dollar + 1..).unwrap_or_default();
        if rest.starts_with('$') {
            pieces.text("$");
            at = dollar + 2;
        } else if let Some(inner) = rest.strip_prefix('{') {
            let Some(length) = inner.find('}') else {
                faults.push((dollar..text.len(), unclosed()));
                break;
            };
            at = dollar + 3 + length;
            match refer(inner.get(..length).unwrap_or_default(), scope) {
                Ok(piece) => pieces.push(piece),
                Err(complaint) => faults.push((dollar..at, complaint)),
            }
        } else {
            let word = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .map(char::len_utf8)
                .sum::<usize>();
            faults.push((dollar..dollar + 1 + word, lone_dollar(rest.get(..word).unwrap_or_default())));
            at = dollar + 1;
        }
    }
    pieces.text(text.get(at..).unwrap_or_default());
    if faults.is_empty() { Ok(Template(pieces.0)) } else { Err(faults) }
}

/// Pieces with neighbouring texts joined.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.0.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.0.push(Piece::Text(text.to_owned()));
        }
    }

    fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.text(&text),
            other => self.0.push(other),
        }
    }
}

/// What stands between the braces.
fn refer(inner: &str, scope: &Scope<'_>) -> Result<Piece, Complaint> {
    if inner == "round" {
        return Ok(Piece::Round);
    }
    if let Some(column) = inner.strip_prefix("rows.") {
        return row(column, scope);
    }
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    if !is_name(name) {
        return Err(bad_name(name));
    }
    let value = (scope.env)(name).filter(|value| default.is_none() || !value.is_empty());
    let piece = match (value, default) {
        (Some(value), _) => Piece::Variable { name: name.to_owned(), value },
        (None, Some(default)) => Piece::Text(default.to_owned()),
        (None, None) => return Err(unset(name)),
    };
    if let Piece::Text(value) | Piece::Variable { value, .. } = &piece
        && is_secret_key(name)
    {
        scope.secret.borrow_mut().push(value.clone());
    }
    Ok(piece)
}

fn row(column: &str, scope: &Scope<'_>) -> Result<Piece, Complaint> {
    let shown = visible(column);
    let columns = match scope.columns {
        Columns::Known(columns) => columns,
        Columns::Unreadable => return Ok(Piece::Row(0)),
        Columns::None => {
            return Err(Complaint::new(
                format!("`${{rows.{shown}}}` needs a table of rows"),
                r#"name a CSV file in [round]: rows = "skus.csv""#,
            ));
        }
    };
    columns.iter().position(|c| c == column).map(Piece::Row).ok_or_else(|| {
        let known: Vec<&str> = columns.iter().map(String::as_str).collect();
        let help = nearest(column, known.iter().copied()).map_or_else(
            || format!("its columns are {}", visible(&list(&known))),
            |close| format!("did you mean `${{rows.{}}}`?", visible(close)),
        );
        Complaint::new(format!("the rows file has no column `{shown}`"), help)
    })
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn unset(name: &str) -> Complaint {
    let help = match nearest(name, ["round"]) {
        Some(close) => format!("did you mean `${{{close}}}`, the round's number?"),
        None => format!("set it, or give a default: `${{{name}:-…}}`"),
    };
    Complaint::new(format!("the environment variable `{name}` is not set"), help)
}

fn bad_name(name: &str) -> Complaint {
    // What follows a colon may be a default with a secret in it.
    let name = name.split(':').next().unwrap_or_default();
    let help = match name.split_once('.') {
        Some((_, column)) => format!("a column of the rows file is `${{rows.{}}}`", visible(column)),
        None => "write `${NAME}` or `${NAME:-default}`; `$$` is a plain dollar sign".to_owned(),
    };
    Complaint::new(format!("`{}` is not the name of a variable", visible(name)), help)
}

fn unclosed() -> Complaint {
    Complaint::new("`${` is never closed", "write `${NAME}`; `$$` is a plain dollar sign")
}

fn lone_dollar(word: &str) -> Complaint {
    let help = if is_name(word) {
        format!("write `${{{word}}}` for a variable, or `$$` for a plain dollar sign")
    } else {
        "write `$$` for a plain dollar sign, or `${NAME}` for a variable".to_owned()
    };
    Complaint::new("a lone `$` means nothing", help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<Template, Vec<Fault>> {
        let env = |name: &str| match name {
            "A" => Some("1$B".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let columns = ["sku".to_owned()];
        expand(text, &Scope { env: &env, columns: Columns::Known(&columns), secret: &RefCell::default() })
    }

    #[test]
    fn c08_only_braces_expand() {
        let text = |t: &str| run(t).map(|t| t.fill(7, &["x".to_owned()]));
        assert_eq!(text("pa$$word"), Ok("pa$word".to_owned()));
        assert_eq!(text("${A}-${B:-b}-${EMPTY}-${EMPTY:-e}"), Ok("1$B-b--e".to_owned()));
        assert_eq!(text("$${A}"), Ok("${A}".to_owned()));
        assert_eq!(text("r${round}/${rows.sku}é"), Ok("r7/xé".to_owned()));
        assert_eq!(run("").unwrap().0, []);
    }

    #[test]
    fn c08_everything_else_is_an_error_with_its_place() {
        let fault = |t: &str| run(t).unwrap_err().remove(0);
        assert_eq!(fault("x${B}y").0, 1..5);
        assert!(fault("x${B}y").1.message.contains("`B` is not set"));
        assert!(fault("pa$word").1.to_string().contains("`$$`"));
        assert_eq!(fault("é$").0, 2..3);
        for text in ["${", "${}", "${1}", "${a b}", "${rows.nope}", "${row.sku}", "${rounds}", "$(x)", "${Ä}"]
        {
            assert!(run(text).is_err(), "{text}");
        }
        assert_eq!(run("${B}${C}").unwrap_err().len(), 2);
    }
}
