//! Pieces of SVG, and text made safe for a page that is XML and HTML at once.

use std::fmt::{self, Display, Write};

/// Text for between tags and within quotes: nothing in it is markup. Control characters, which XML does not know,
/// are left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(' ')?,
                '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c if c.is_control() => {}
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A picture of so many units, with a name and a sentence for those who don't see it.
pub(super) fn picture(
    id: &str,
    (width, height): (f64, f64),
    title: &str,
    about: &str,
    inner: &str,
) -> String {
    let (title, about) = (Escaped(title), Escaped(about));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{about}</desc>\
         {inner}</svg>\n"
    )
}

/// A rectangle; nothing where it has no area.
pub(super) fn rect(class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    if width <= 0.0 || height <= 0.0 {
        return String::new();
    }
    format!("<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>")
}

/// A line.
pub(super) fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
}

/// Text that begins, ends (`end`) or is centred (`mid`) at a point.
pub(super) fn text(class: &str, (x, y): (f64, f64), text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", Escaped(text))
}

/// A whole number of rows or columns as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "a few thousand rows at most")]
pub(super) const fn units(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_text_is_markup() {
        let evil = "</title><script>alert(\"1\" & '2')</script>\u{1b}[31m\nb";
        assert_eq!(
            Escaped(evil).to_string(),
            "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;[31m b"
        );
    }
}
