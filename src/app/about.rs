//! What the help says first: what is on the screen behind it.

use super::{App, Behind, Kind, Screen};

const LANES: &str = "Each lane is one call of the round, from the round's start to the right; the upright line is the \
                     deadline. The round goes on without what has not come by then.";

const DETAIL: &str = "One call of the round, attempt by attempt: where its time went, what was answered, and the errors' \
                      own words. Below are its calls in earlier rounds, how long they take, and what became of them. \
                      Up and down go to the next call, comma and dot to another round.";

const TRADEOFF: &str = "What other budgets, quorums and hedges would have given, worked out from the rounds that were \
                        seen. The curve says how many calls are answered by a budget; its band says how sure that is. \
                        Calls that were cut are censored: beyond the budget that ran only probe rounds know more. \
                        Left and right move the marker, Enter makes its budget the live one.";

const RECORDED: &str =
    "This is a recording: it can be played, searched and looked at, and not be told what to have done.";

const TOLD: &str = "A story is told meanwhile: Enter turns the page, Backspace turns it back.";

impl App {
    /// What is on the screen, or behind the help, in a few sentences.
    #[must_use]
    pub fn about(&self) -> String {
        let behind = match self.screen {
            Screen::Help { behind, .. } => behind,
            _ => self.behind(),
        };
        let mut said = match behind {
            Behind::Dashboard => format!("{LANES} {}", self.panel().about()),
            Behind::Detail => DETAIL.to_owned(),
            Behind::Tradeoff => TRADEOFF.to_owned(),
        };
        if self.kind() == Kind::Replay {
            said = format!("{said} {RECORDED}");
        }
        if self.chapter().is_some() {
            said = format!("{said} {TOLD}");
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use crate::app::fixture as fx;
    use crate::app::{Action, Message, Options, Panel, update};
    use crate::domain::Mode;

    #[test]
    fn the_help_begins_with_what_is_on_the_screen_in_three_to_six_sentences() {
        let mut app = fx::page(Mode::Deadline, 3, Options::default());
        let mut all = Vec::new();
        for _ in Panel::ALL {
            update(&mut app, Message::Action(Action::Panel));
            all.push(app.about());
        }
        for action in [Action::Tradeoff, Action::Back, Action::Detail] {
            update(&mut app, Message::Action(action));
            let open = app.about();
            update(&mut app, Message::Action(Action::Help));
            assert_eq!(app.about(), open);
            update(&mut app, Message::Action(Action::Back));
            all.push(open);
        }
        for said in &all {
            let sentences = said.matches(". ").count() + 1;
            assert!((3..=6).contains(&sentences) && said.is_ascii(), "{sentences}: {said}");
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), Panel::ALL.len() + 2, "each panel and screen has words of its own");
    }
}
