//! Looks at what other budgets would have given, off the loop and off the engine: one question at a time, and the
//! next one not before half a second has passed, and after an answer that took long not before three times as long: with
//! thousands of calls it would else never stop. Whoever leaves does not wait for an answer.

use crate::app::{App, Asking};
use crate::whatif::outlook::{Outlook, Question};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// From one question to the next, at the least.
const APART: Duration = Duration::from_millis(500);

/// How many times as long as an answer took nothing is asked after it: a quarter of a core at the most.
const REST: u32 = 3;

/// What comes of waiting for the advisor.
#[derive(Debug)]
pub(super) enum Heard {
    /// The answers.
    Answer(Box<Outlook>),
    /// None, for a fault of the program; nothing is asked any more.
    Fault,
    /// Something may be asked now.
    Free,
}

/// The advisor's desk.
#[derive(Debug)]
pub(super) struct Advisor {
    /// How a question is answered.
    answer: fn(&Question) -> Outlook,
    /// What was asked last.
    asked: Option<Asking>,
    /// The answer that is being made, on a thread for that.
    making: Option<JoinHandle<Outlook>>,
    /// When the last question was asked.
    begun: Instant,
    /// When the next question may be asked, and whether there is one.
    next: Instant,
    waiting: bool,
    broken: bool,
}

impl Advisor {
    pub(super) fn new(answer: fn(&Question) -> Outlook) -> Self {
        let now = Instant::now();
        Self { answer, asked: None, making: None, begun: now, next: now, waiting: false, broken: false }
    }

    /// Asks what there is to ask, where that is something new and its time has come.
    pub(super) fn offer(&mut self, app: &App) {
        self.waiting = false;
        if self.broken || self.making.is_some() {
            return;
        }
        let asking = app.asking();
        if self.asked.as_ref() == Some(&asking) {
            return;
        }
        let now = Instant::now();
        self.waiting = now < self.next;
        if !self.waiting {
            (self.begun, self.next) = (now, now + APART);
            self.asked = Some(asking);
            let (answer, question) = (self.answer, app.question());
            self.making = Some(tokio::task::spawn_blocking(move || answer(&question)));
        }
    }

    /// What is being looked at is of no use any more.
    pub(super) fn forget(&mut self) {
        (self.asked, self.making) = (None, None);
    }

    /// Waits for an answer, or until a question that is there may be asked. Nothing is lost where it is given up.
    pub(super) async fn next(&mut self) -> Heard {
        if let Some(making) = &mut self.making {
            let made = making.await;
            self.making = None;
            let now = Instant::now();
            self.next = self.next.max(now + now.saturating_duration_since(self.begun).saturating_mul(REST));
            // What panicked is kept by the hook, and told once the screen is left.
            self.broken = made.is_err();
            return made.map_or(Heard::Fault, |outlook| Heard::Answer(Box::new(outlook)));
        }
        if !self.waiting {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep_until(self.next).await;
        Heard::Free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture as fx;
    use crate::app::{Action, Message, Options, update};
    use crate::domain::Mode;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn app() -> App {
        fx::page(Mode::Deadline, 5, Options::default())
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_question_is_asked_once_and_two_are_half_a_second_apart() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let count = |_: &Question| {
            ASKED.fetch_add(1, Ordering::SeqCst);
            Outlook::default()
        };
        let (mut advisor, mut app) = (Advisor::new(count), app());
        let start = Instant::now();
        advisor.offer(&app);
        advisor.offer(&app);
        assert!(matches!(advisor.next().await, Heard::Answer(_)));
        advisor.offer(&app);
        update(&mut app, Message::Action(Action::BudgetUp));
        advisor.offer(&app);
        assert!(matches!(advisor.next().await, Heard::Free), "not yet");
        assert!(start.elapsed() >= APART);
        advisor.offer(&app);
        assert!(matches!(advisor.next().await, Heard::Answer(_)));
        assert_eq!(ASKED.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn after_an_answer_that_took_long_nothing_is_asked_for_three_times_as_long() {
        let (mut advisor, mut app) = (Advisor::new(|_| Outlook::default()), app());
        advisor.offer(&app);
        // Time stands still while a thread works for it.
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(matches!(advisor.next().await, Heard::Answer(_)));
        update(&mut app, Message::Action(Action::BudgetUp));
        let since = Instant::now();
        advisor.offer(&app);
        assert!(matches!(advisor.next().await, Heard::Free));
        assert!(since.elapsed() >= Duration::from_secs(6));
    }

    #[tokio::test]
    async fn a_panic_is_a_fault_and_nothing_is_asked_any_more() {
        let (mut advisor, mut app) = (Advisor::new(|_| panic!("planted")), app());
        advisor.offer(&app);
        assert!(matches!(advisor.next().await, Heard::Fault));
        update(&mut app, Message::Action(Action::BudgetUp));
        advisor.offer(&app);
        assert!(advisor.making.is_none() && !advisor.waiting);
    }
}
