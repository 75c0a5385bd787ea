//! What the terminal can show, from flags and environment.

use crate::app::{Colour, Options, ThemeName};
use crate::cli::ColorChoice;
use crate::domain::text;

/// How to look. Flags beat the environment.
pub(super) fn options(
    choice: ColorChoice,
    ascii: bool,
    theme: ThemeName,
    env: &dyn Fn(&str) -> Option<String>,
) -> Options {
    let set = |name: &str| env(name).filter(|v| !v.is_empty());
    let on = |name: &str| set(name).is_some_and(|v| v != "0");
    let plain = set("NO_COLOR").is_some();
    let colour = match choice {
        ColorChoice::Never => Colour::Mono,
        ColorChoice::Auto if plain && !on("CLICOLOR_FORCE") => Colour::Mono,
        _ if set("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit") => Colour::TrueColor,
        _ => Colour::Ansi16,
    };
    // Crossterm reads NO_COLOR by itself; what was decided here holds.
    crossterm::style::force_color_output(colour != Colour::Mono);
    Options { ascii: ascii || !text::speaks_utf8(&set), colour, theme }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(color: ColorChoice, vars: &[(&str, &str)]) -> (Colour, bool) {
        let vars: Vec<(String, String)> =
            vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let env = move |name: &str| vars.iter().find(|v| v.0 == name).map(|v| v.1.clone());
        let options = options(color, false, ThemeName::Terminal, &env);
        (options.colour, options.ascii)
    }

    #[test]
    fn colour_follows_flag_then_environment() {
        use ColorChoice::{Always, Auto, Never};
        assert_eq!(look(Auto, &[]).0, Colour::Ansi16);
        assert_eq!(look(Auto, &[("COLORTERM", "truecolor")]).0, Colour::TrueColor);
        assert_eq!(look(Auto, &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]).0, Colour::Mono);
        assert_eq!(look(Auto, &[("NO_COLOR", ""), ("TERM", "xterm")]).0, Colour::Ansi16);
        assert_eq!(look(Auto, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]).0, Colour::Ansi16);
        assert_eq!(look(Always, &[("NO_COLOR", "1")]).0, Colour::Ansi16);
        assert_eq!(look(Never, &[("COLORTERM", "24bit")]).0, Colour::Mono);
    }

    #[test]
    fn a_locale_without_utf8_gets_ascii() {
        assert!(!look(ColorChoice::Auto, &[]).1);
        assert!(!look(ColorChoice::Auto, &[("LANG", "de_DE.UTF-8")]).1);
        assert!(look(ColorChoice::Auto, &[("LANG", "C")]).1);
        assert!(look(ColorChoice::Auto, &[("LC_ALL", "POSIX"), ("LANG", "en_US.utf8")]).1);
    }
}
