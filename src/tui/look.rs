//! What the terminal can show of what is wanted.

use crate::app::{ColorChoice, Colour, Options};
use crate::config::Settings;

/// How to look on a terminal of which the environment says what it can show.
pub(super) fn options(settings: &Settings, env: &dyn Fn(&str) -> Option<String>) -> Options {
    let any = env("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit");
    let colour = match settings.color.value {
        ColorChoice::Never => Colour::Mono,
        ColorChoice::Auto | ColorChoice::Always if any => Colour::TrueColor,
        ColorChoice::Auto | ColorChoice::Always => Colour::Ansi16,
    };
    // Crossterm reads NO_COLOR by itself; what was decided here holds.
    crossterm::style::force_color_output(colour != Colour::Mono);
    Options { ascii: settings.ascii.value, colour, theme: settings.theme.value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn look(color: ColorChoice, vars: &[(&str, &str)]) -> (Colour, bool) {
        let vars: Vec<(String, String)> =
            vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let env = move |name: &str| vars.iter().find(|v| v.0 == name).map(|v| v.1.clone());
        let flags =
            Flags { color: Some(color).filter(|color| *color != ColorChoice::Auto), ..Flags::default() };
        let options = options(&Settings::resolve(flags, &env, None), &env);
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
