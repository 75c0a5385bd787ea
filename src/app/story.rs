//! The story of the budget in chapters: each sets the rounds' settings and says in a sentence what is to be seen. Keys
//! of the dashboard work meanwhile.

use super::{Action, App, Change, Effect, Screen};
use crate::domain::{EndpointId, FaultSwitch, HedgeDelay, HedgeSettings, Mode, Settings};
use std::time::Duration;

/// A chapter.
#[derive(Debug, Clone, Copy)]
pub struct Chapter {
    /// Its title.
    pub title: &'static str,
    /// What is to be seen, in a sentence or two.
    pub says: &'static str,
    mode: Mode,
    budget_ms: u64,
}

/// The chapters, in their order. They are about the built-in profile `demo`.
pub const CHAPTERS: [Chapter; 7] = [
    Chapter {
        title: "All or nothing",
        says: "Seven calls answer in time, one fails after 1.2 s. The whole page fails with it, and late.",
        mode: Mode::FailFast,
        budget_ms: 200,
    },
    Chapter {
        title: "Wait for all",
        says: "Every answer is used, and every page takes as long as the slowest call: over a second.",
        mode: Mode::WaitAll,
        budget_ms: 200,
    },
    Chapter {
        title: "The deadline",
        says: "After 200 ms the page is shown with what has come: seven of eight, and why one is missing.",
        mode: Mode::Deadline,
        budget_ms: 200,
    },
    Chapter {
        title: "Another budget",
        says: "Half the time costs two more answers. The key a shows what any budget would give.",
        mode: Mode::Deadline,
        budget_ms: 100,
    },
    Chapter {
        title: "The quorum",
        says: "Any four of the seven optional calls are enough, so the page waits for none of the slow ones.",
        mode: Mode::Quorum,
        budget_ms: 200,
    },
    Chapter {
        title: "The hedge",
        says: "What is late after 100 ms is asked again on another replica: eight of eight, within 200 ms.",
        mode: Mode::Hedge,
        budget_ms: 200,
    },
    Chapter {
        title: "The required call",
        says: "The others get 50 ms, but no page goes without its cart, so that may take longer. x breaks it.",
        mode: Mode::Deadline,
        budget_ms: 50,
    },
];

impl Chapter {
    /// The settings of its rounds, made from those that the story begins with.
    #[must_use]
    pub fn settings(&self, base: &Settings) -> Settings {
        let (long, budget) = (self.mode.ignores_budget(), Duration::from_millis(self.budget_ms));
        Settings {
            mode: self.mode,
            budget,
            every: Duration::from_millis(if long { 1500 } else { 500 }),
            quorum: (self.mode == Mode::Quorum).then_some(4),
            hedge: HedgeSettings { delay: HedgeDelay::Fixed(budget / 2), ..base.hedge },
            ..base.clone()
        }
    }
}

/// Where the story is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Story {
    base: Settings,
    at: usize,
}

impl App {
    /// The same, telling the story. Its first rounds are to have the settings of the first chapter already.
    #[must_use]
    pub fn telling(self) -> Self {
        let base = self.wanted().clone();
        Self { story: Some(Box::new(Story { base, at: 0 })), ..self }
    }

    /// The chapter that is told, with its number from 0, and whether its settings were changed by key.
    #[must_use]
    pub fn chapter(&self) -> Option<(usize, &'static Chapter, bool)> {
        let story = self.story.as_ref()?;
        let chapter = CHAPTERS.get(story.at)?;
        Some((story.at, chapter, chapter.settings(&story.base) != *self.wanted()))
    }

    /// A key that turns a page of the story.
    pub(super) fn in_story(&mut self, action: Action) -> Option<Vec<Effect>> {
        if self.screen != Screen::Dashboard {
            return None;
        }
        let story = self.story.as_mut()?;
        let to = match action {
            // What the last chapter says of this key is about the required call, whatever is selected.
            Action::Fault if story.at + 1 == CHAPTERS.len() => {
                let required = self.endpoints.iter().position(|e| e.required)?;
                let broken = self.faults.get(required) == Some(&FaultSwitch::Http503);
                let to = if broken { FaultSwitch::AsWritten } else { FaultSwitch::Http503 };
                return Some(self.set_fault(required, to));
            }
            Action::Detail | Action::PageDown => (story.at + 1).min(CHAPTERS.len() - 1),
            Action::PageUp => story.at.saturating_sub(1),
            _ => return None,
        };
        if to == story.at {
            return Some(Vec::new());
        }
        story.at = to;
        let settings = CHAPTERS.get(to)?.settings(&story.base);
        self.thaw();
        // Each chapter begins with upstreams as they are written.
        let broken = (0..self.faults.len()).filter(|&at| self.faults[at] != FaultSwitch::AsWritten);
        let mended: Vec<usize> = broken.collect();
        let mut effects = self.change(|wanted, _| *wanted = settings);
        effects.extend(mended.into_iter().flat_map(|at| self.set_fault(at, FaultSwitch::AsWritten)));
        Some(effects)
    }

    /// Sets what a simulated endpoint is made to do.
    pub(super) fn set_fault(&mut self, index: usize, to: FaultSwitch) -> Vec<Effect> {
        let (Some(endpoint), Some(switch)) = (self.endpoints.get(index), self.faults.get_mut(index)) else {
            return Vec::new();
        };
        let from = std::mem::replace(switch, to);
        self.live.change(Change::fault(&endpoint.name, from, to));
        vec![Effect::Fault(EndpointId(index), to)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture as fx;
    use crate::app::{Message, Options, update};

    fn told() -> App {
        fx::page(Mode::FailFast, 2, Options::default()).telling()
    }

    fn press(app: &mut App, action: Action) -> Vec<Effect> {
        update(app, Message::Action(action))
    }

    #[test]
    fn keys_turn_the_pages_of_the_story_and_stop_at_its_ends() {
        let mut app = told();
        assert!(press(&mut app, Action::PageUp).is_empty(), "there is none before the first");
        for (at, chapter) in CHAPTERS.iter().enumerate().skip(1) {
            let key = if at % 2 == 0 { Action::Detail } else { Action::PageDown };
            let effects = press(&mut app, key);
            let [Effect::Apply(settings)] = effects.as_slice() else { panic!("{effects:?}") };
            assert_eq!((settings.mode, app.chapter().unwrap().0), (chapter.mode, at));
            assert!(!app.chapter().unwrap().2);
        }
        assert!(press(&mut app, Action::Detail).is_empty(), "there is none after the last");
        press(&mut app, Action::PageUp);
        assert_eq!(app.chapter().unwrap().0, CHAPTERS.len() - 2);
    }

    #[test]
    fn other_keys_do_what_they_always_do_and_the_caption_says_so() {
        let mut app = told();
        press(&mut app, Action::Detail);
        assert_eq!(press(&mut app, Action::Mode(Mode::Deadline)).len(), 1);
        assert!(app.chapter().unwrap().2, "changed by key");
        press(&mut app, Action::Tradeoff);
        press(&mut app, Action::PageDown);
        assert_eq!(app.chapter().unwrap().0, 1, "pages are turned on the dashboard only");
    }

    #[test]
    fn the_fault_of_the_last_chapter_breaks_the_required_call_and_another_page_mends_it() {
        let mut app = told();
        app.endpoints[1].required = true;
        for endpoint in &mut app.endpoints {
            endpoint.simulated = true;
        }
        CHAPTERS.iter().skip(1).for_each(|_| drop(press(&mut app, Action::Detail)));
        let fault = |to| vec![Effect::Fault(EndpointId(1), to)];
        assert_eq!(press(&mut app, Action::Fault), fault(FaultSwitch::Http503), "whatever is selected");
        assert_eq!(press(&mut app, Action::Fault), fault(FaultSwitch::AsWritten));
        press(&mut app, Action::Fault);
        let effects = press(&mut app, Action::PageUp);
        assert!(effects.ends_with(&fault(FaultSwitch::AsWritten)), "{effects:?}");
    }

    #[test]
    fn without_a_story_the_keys_are_the_dashboards() {
        let mut app = fx::page(Mode::Deadline, 2, Options::default());
        press(&mut app, Action::Detail);
        assert_eq!((app.screen, app.chapter().is_none()), (Screen::Detail(0), true));
    }

    #[test]
    fn a_caption_fits_into_two_rows_of_a_usual_terminal() {
        for (at, chapter) in CHAPTERS.iter().enumerate() {
            let caption = format!("{}/7 {}: {}", at + 1, chapter.title, chapter.says);
            assert!(crate::domain::text::wrapped(&caption, 78).len() <= 2, "{caption}");
            assert!(caption.is_ascii());
        }
    }
}
