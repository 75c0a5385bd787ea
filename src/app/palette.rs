//! A typed line that finds actions and words: what is offered for what was typed, and what Enter makes of it.

use super::actions::{Binding, bindings};
use super::glossary::{Entry, GLOSSARY};
use super::key::{Key, KeyCode};
use super::keymap::Keymap;
use super::typing::{Typed, TypedLine};
use super::{Action, App, Effect};

/// Most characters of the line.
const LONGEST: usize = 60;

/// The line, and which of the offers is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Palette {
    line: TypedLine,
    chosen: usize,
}

/// Something that the palette offers.
#[derive(Debug, Clone, Copy)]
pub enum Offer {
    /// To do.
    Do(&'static Binding),
    /// To explain: the place of a word in the glossary.
    Explain(usize, &'static Entry),
}

impl Offer {
    /// Whether all of these are in it.
    fn has(&self, terms: &[String], keymap: &Keymap) -> bool {
        let text = match self {
            Self::Do(b) => {
                let keys: Vec<String> = keymap.keys(b).iter().map(|key| key.ascii()).collect();
                format!("{} {} {}", b.help, b.name, keys.join(" ")).to_lowercase()
            }
            Self::Explain(_, entry) => entry.word.to_owned(),
        };
        terms.iter().all(|term| text.contains(term.as_str()))
    }

    fn begins_with(&self, typed: &str) -> bool {
        match self {
            Self::Do(b) => b.help.to_lowercase().starts_with(typed) || b.name.starts_with(typed),
            Self::Explain(_, entry) => entry.word.starts_with(typed),
        }
    }
}

impl App {
    pub(super) fn open_palette(&mut self) {
        self.palette = Some(Palette { line: TypedLine::new(LONGEST), chosen: 0 });
    }

    /// What was typed into the palette, where it is open.
    #[must_use]
    pub fn palette(&self) -> Option<&str> {
        self.palette.as_ref().map(|palette| palette.line.text())
    }

    /// What is offered for what was typed, and which of them is chosen. What begins with it comes first.
    #[must_use]
    pub fn offered(&self) -> (Vec<Offer>, usize) {
        let Some(palette) = &self.palette else { return (Vec::new(), 0) };
        let typed = palette.line.text().trim().to_lowercase();
        let terms: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
        let actions = bindings(self.kind()).filter(|b| self.can(b.action)).map(Offer::Do);
        let words = GLOSSARY.iter().enumerate().map(|(place, entry)| Offer::Explain(place, entry));
        let mut offers: Vec<Offer> =
            actions.chain(words).filter(|offer| offer.has(&terms, &self.keymap)).collect();
        offers.sort_by_key(|offer| !offer.begins_with(&typed));
        let chosen = palette.chosen.min(offers.len().saturating_sub(1));
        (offers, chosen)
    }

    /// Whether an action means something at the moment.
    fn can(&self, action: Action) -> bool {
        match action {
            Action::Palette | Action::Tenth(_) => false,
            Action::Fault => self.endpoints.get(self.selected).is_some_and(|e| e.simulated),
            _ => true,
        }
    }

    /// A key while the palette is open.
    pub(super) fn in_palette(&mut self, key: Key) -> Vec<Effect> {
        let (offers, chosen) = self.offered();
        let Some(palette) = &mut self.palette else { return Vec::new() };
        let last = offers.len().saturating_sub(1);
        match key.code {
            KeyCode::Up => palette.chosen = chosen.saturating_sub(1),
            KeyCode::Down => palette.chosen = (chosen + 1).min(last),
            KeyCode::Home => palette.chosen = 0,
            KeyCode::End => palette.chosen = last,
            _ => match palette.line.typed(key) {
                Typed::GoesOn => palette.chosen = 0,
                Typed::Dropped => self.palette = None,
                Typed::Kept => {
                    self.palette = None;
                    return match offers.get(chosen) {
                        // Not the key, which turns the pages of a story.
                        Some(Offer::Do(binding)) if binding.action == Action::Detail => {
                            self.open_detail();
                            Vec::new()
                        }
                        Some(Offer::Do(binding)) => self.act(binding.action),
                        Some(Offer::Explain(place, _)) => self.explain(*place),
                        None => Vec::new(),
                    };
                }
            },
        }
        Vec::new()
    }

    /// Text is pasted into the palette; false where it is not open.
    pub(super) fn pasted_into_palette(&mut self, text: &str) -> bool {
        let Some(palette) = &mut self.palette else { return false };
        palette.line.pasted(text);
        palette.chosen = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture as fx;
    use crate::app::{Message, Notice, Options, Screen, update};
    use crate::domain::Mode;

    fn typed(text: &str) -> App {
        let mut app = fx::page(Mode::Deadline, 3, Options::default());
        update(&mut app, Message::Action(Action::Palette));
        text.chars().for_each(|c| drop(update(&mut app, Message::Typed(Key::char(c)))));
        app
    }

    fn enter(app: &mut App) -> Vec<Effect> {
        update(app, Message::Typed(Key::plain(KeyCode::Enter)))
    }

    fn names(app: &App) -> Vec<&'static str> {
        let name = |offer: Offer| match offer {
            Offer::Do(binding) => binding.name,
            Offer::Explain(_, entry) => entry.word,
        };
        app.offered().0.into_iter().map(name).collect()
    }

    #[test]
    fn enter_runs_the_action_that_was_found() {
        let mut app = typed("freeze");
        assert_eq!(names(&app), ["freeze"]);
        assert!(enter(&mut app).is_empty());
        assert!(app.rounds_back().is_some() && !app.is_typing());
        assert_eq!(enter(&mut typed("larger bud")).len(), 1, "an effect of it goes out");
    }

    #[test]
    fn enter_explains_a_word_until_the_next_key() {
        let mut app = typed("connect_ref");
        assert!(enter(&mut app).is_empty());
        assert!(
            matches!(app.notice(), Some(Notice::Explained(said)) if said.starts_with("connect_refused: "))
        );
        update(&mut app, Message::Action(Action::Window));
        assert_eq!(app.notice(), None);
    }

    #[test]
    fn arrows_choose_within_what_is_offered_and_esc_leaves() {
        let mut app = typed("mode");
        let count = app.offered().0.len();
        assert!(count > 5, "{:?}", names(&app));
        for _ in 0..99 {
            update(&mut app, Message::Typed(Key::plain(KeyCode::Down)));
        }
        assert_eq!(app.offered().1, count - 1);
        update(&mut app, Message::Typed(Key::plain(KeyCode::Up)));
        assert_eq!(app.offered().1, count - 2);
        update(&mut app, Message::Typed(Key::plain(KeyCode::Esc)));
        assert_eq!((app.palette(), app.screen), (None, Screen::Dashboard));
    }

    #[test]
    fn what_is_not_there_is_not_offered_and_enter_on_nothing_is_no_harm() {
        let mut app = typed("zzzz");
        assert!(names(&app).is_empty() && enter(&mut app).is_empty());
        let mut app = typed("fault, if");
        assert_eq!(names(&app), ["fault"]);
        app.endpoints[5].simulated = false;
        assert!(names(&app).is_empty());
    }
}
