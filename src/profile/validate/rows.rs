//! The CSV file named in `[round] rows`: a header, then a row per round.

use super::values::text_or_off;
use crate::profile::error::{Complaint, Problem};
use crate::profile::file::{Context, Layer};
use crate::profile::reading::{self, Unreadable};
use crate::profile::source::{visible, visible_all};
use crate::profile::types::Rows;

/// Reads the file that the table names.
pub(super) fn read(cx: &mut Context<'_>, layer: &Layer<'_>) -> Option<Rows> {
    let name = text_or_off(cx, layer, "rows", r#"rows = "skus.csv""#)?;
    let path = cx.base_dir.join(&name.value);
    let shown = format!("\"{}\"", visible_all(&path.display().to_string()));
    let parsed = match reading::read(&path) {
        Ok(text) => parse(&text)
            .map_err(|(line, c)| Complaint { message: format!("{shown}, line {line}: {}", c.message), ..c }),
        Err(Unreadable::Missing) => {
            Err(Complaint::new(format!("there is no file {shown}"), "paths count from the profile's folder"))
        }
        Err(Unreadable::Other(what, help)) => {
            Err(Complaint { message: format!("{shown} {what}"), help: Some(help).filter(|h| !h.is_empty()) })
        }
    };
    match parsed {
        Ok(rows) => Some(rows),
        Err(c) => {
            cx.report(Problem::at(&name.span, c.message).help_if(c.help));
            // Columns unknown: references to them are not reported on top.
            cx.rows_failed = true;
            None
        }
    }
}

type Located = (usize, Complaint);

/// Parses CSV as RFC 4180 has it: commas, double quotes doubled within quotes, line breaks within quotes.
fn parse(text: &str) -> Result<Rows, Located> {
    let mut records = records(text)?.into_iter();
    let Some((_, columns)) = records.next() else {
        return Err((1, Complaint::new("the file is empty", "its first line names the columns")));
    };
    let columns: Vec<String> = columns.iter().map(|c| c.trim().to_owned()).collect();
    check_columns(&columns).map_err(|c| (1, c))?;
    let mut rows = Vec::new();
    for (line, record) in records {
        if record.len() != columns.len() {
            let what =
                format!("values: {}, but the first line names {} columns", record.len(), columns.len());
            return Err((line, Complaint::new(what, "put values that hold a comma in double quotes")));
        }
        rows.push(record);
    }
    if rows.is_empty() {
        return Err((
            2,
            Complaint::new("there is no row", "add at least one line below the names of the columns"),
        ));
    }
    Ok(Rows { columns, rows })
}

fn check_columns(columns: &[String]) -> Result<(), Complaint> {
    for (i, column) in columns.iter().enumerate() {
        if column.is_empty() || column.contains('}') {
            let what = format!("column {} cannot be named \"{}\"", i + 1, visible(column));
            return Err(Complaint::new(what, "a name is not empty and holds no `}`"));
        }
        if columns.iter().take(i).any(|c| c == column) {
            return Err(Complaint::new(format!("two columns are named `{}`", visible(column)), "rename one"));
        }
    }
    Ok(())
}

/// Records with the line on which each begins; blank lines are passed over.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, Located> {
    let mut reader = Reader { chars: text.chars().peekable(), line: 1 };
    let mut records = Vec::new();
    while reader.chars.peek().is_some() {
        let line = reader.line;
        let record = reader.record()?;
        if record.len() > 1 || record.first().is_some_and(|field| !field.is_empty()) {
            records.push((line, record));
        }
    }
    Ok(records)
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn record(&mut self) -> Result<Vec<String>, Located> {
        let mut fields = Vec::new();
        loop {
            let field = if self.chars.next_if_eq(&'"').is_some() { self.quoted()? } else { self.bare()? };
            fields.push(field);
            match self.chars.next() {
                Some(',') => {}
                Some('\n') => {
                    self.line += 1;
                    return Ok(fields);
                }
                _ => return Ok(fields),
            }
        }
    }

    fn bare(&mut self) -> Result<String, Located> {
        let mut field = String::new();
        while let Some(c) = self.chars.next_if(|c| !matches!(c, ',' | '\n')) {
            if c == '"' {
                let what = "a double quote within a value without quotes";
                return Err((self.line, Complaint::new(what, r#"write "a ""quoted"" word""#)));
            }
            field.push(c);
        }
        if field.ends_with('\r') {
            field.pop();
        }
        Ok(field)
    }

    fn quoted(&mut self) -> Result<String, Located> {
        let start = self.line;
        let mut field = String::new();
        loop {
            match self.chars.next() {
                Some('"') if self.chars.next_if_eq(&'"').is_some() => field.push('"'),
                Some('"') => break,
                Some(c) => {
                    self.line += usize::from(c == '\n');
                    field.push(c);
                }
                None => return Err((start, Complaint::new("a double quote is never closed", "close it"))),
            }
        }
        self.chars.next_if_eq(&'\r');
        match self.chars.peek() {
            None | Some(',' | '\n') => Ok(field),
            Some(_) => {
                let what = "text behind a closing double quote";
                Err((self.line, Complaint::new(what, r#"write "a ""quoted"" word""#)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_parse_with_quotes_and_either_line_end() {
        let rows = parse("sku,name\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\n").unwrap();
        assert_eq!(rows.columns, ["sku", "name"]);
        assert_eq!(rows.rows, [vec!["1", "a, \"b\"\nc"], vec!["2", ""]]);
    }

    #[test]
    fn broken_tables_name_their_line() {
        for (text, line) in [
            ("", 1),
            ("a,a\n1,2", 1),
            ("a,\n1,2", 1),
            ("a\n", 2),
            ("a,b\n1,2\n3\n", 3),
            ("a\n\"x\ny\"z\n", 3),
            ("a\nx\"y\n", 2),
            ("a\n\"x\ny", 2),
        ] {
            assert_eq!(parse(text).unwrap_err().0, line, "{text:?}");
        }
    }
}
