//! The themes by name; what they look like is the view's affair.

use super::{App, Colour, Notice};

/// How the screen is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// In the terminal's own colours, on its own ground.
    #[default]
    Terminal,
    /// Light on a dark ground.
    Dark,
    /// Dark on a light ground.
    Light,
    /// White and strong colours on black.
    HighContrast,
    /// On a dark ground, in colours that stay apart without the red or the green cones of the eye.
    ColourBlindSafe,
    /// Without colour: signs, bold and dim alone.
    Mono,
}

impl ThemeName {
    /// All of them, in the order in which a key goes through them.
    pub const ALL: [Self; 6] =
        [Self::Terminal, Self::Dark, Self::Light, Self::HighContrast, Self::ColourBlindSafe, Self::Mono];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::HighContrast => "high-contrast",
            Self::ColourBlindSafe => "colour-blind-safe",
            Self::Mono => "mono",
        }
    }

    /// The theme of this name; `color` is as good as `colour`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name = if name == "color-blind-safe" { Self::ColourBlindSafe.as_str() } else { name };
        Self::ALL.into_iter().find(|theme| theme.as_str() == name)
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|&theme| theme == self).unwrap_or(0);
        Self::ALL[(place + 1) % Self::ALL.len()]
    }

    /// Whether it has colours and a ground of its own.
    #[must_use]
    pub const fn paints(self) -> bool {
        !matches!(self, Self::Terminal | Self::Mono)
    }
}

/// Whether to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// As the terminal and the environment say.
    #[default]
    Auto,
    /// Even where they say no.
    Always,
    /// None.
    Never,
}

impl ColorChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// The choice of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == name)
    }
}

impl App {
    /// Goes to the next theme and says which one it is.
    pub(super) fn next_theme(&mut self) {
        let theme = self.options.theme.next();
        self.options.theme = theme;
        let how = match self.options.colour {
            Colour::Mono if theme != ThemeName::Mono => ", without colour, as was asked for",
            Colour::Ansi16 if theme.paints() => ", in the nearest of 256 colours",
            _ => "",
        };
        self.notice = Some(Notice::Done(format!("theme {}{how}", theme.as_str())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Action, Message, Options, Screen, fixture, update};
    use crate::domain::Mode;

    #[test]
    fn a_key_goes_through_all_themes_and_says_which_it_is() {
        let mut app = fixture::page(Mode::Deadline, 3, Options::default());
        let mut said = Vec::new();
        for _ in ThemeName::ALL {
            update(&mut app, Message::Action(Action::Theme));
            let Some(Notice::Done(notice)) = app.notice() else { panic!("no notice") };
            said.push(notice.clone());
        }
        assert_eq!(said[0], "theme dark, in the nearest of 256 colours");
        assert_eq!(said[4..], ["theme mono", "theme terminal"]);
        assert_eq!(app.options.theme, ThemeName::Terminal);
        app.options.colour = Colour::Mono;
        update(&mut app, Message::Action(Action::Help));
        update(&mut app, Message::Action(Action::Theme));
        assert_eq!(
            app.notice(),
            Some(&Notice::Done("theme dark, without colour, as was asked for".to_owned()))
        );
        assert!(matches!(app.screen, Screen::Help { .. }), "the help stays");
    }

    #[test]
    fn themes_are_read_by_their_names() {
        for theme in ThemeName::ALL {
            assert_eq!(ThemeName::parse(theme.as_str()), Some(theme));
        }
        assert_eq!(ThemeName::parse("color-blind-safe"), Some(ThemeName::ColourBlindSafe));
        assert_eq!(ThemeName::parse("solarized"), None);
    }
}
