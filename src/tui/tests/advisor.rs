//! What other budgets would have given, asked and answered in the production loop.

use super::*;
use crate::whatif::outlook::{Outlook, Question};
use std::cell::Cell;
use std::sync::{Condvar, Mutex};

/// How questions are answered.
type Answer = fn(&Question) -> Outlook;

thread_local! {
    /// How questions are answered instead, in the test that runs on this thread.
    pub(super) static PLANTED: Cell<Option<Answer>> = const { Cell::new(None) };
}

#[test]
fn the_trade_off_answers_and_its_marker_becomes_the_budget() {
    let (why, words, _) = play(vec![
        resized(),
        on("2 rounds,", char('a')),
        on("→ 200 ms", key(KeyCode::Left)),
        on("→  195 ms", key(KeyCode::Enter)),
        on("deadline 195 ms", char('p')),
        on("probe 5 %", key(KeyCode::Esc)),
        on("1-5 mode", char('q')),
    ]);
    assert_eq!(why, Leave::Quit);
    assert!(words[0].starts_with("fanscope shops: deadline 195 ms"), "{words:?}");
}

#[test]
fn a_fault_in_an_answer_is_said_and_ends_nothing() {
    PLANTED.set(Some(|_| panic!("planted")));
    let (why, ..) = play(vec![resized(), on("no more what-if", char('a')), on("Esc back", char('q'))]);
    PLANTED.set(None);
    assert_eq!(why, Leave::Quit);
}

#[test]
fn whoever_leaves_does_not_wait_for_an_answer() {
    static BEGUN: Mutex<bool> = Mutex::new(false);
    static OPEN: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    fn held(_: &Question) -> Outlook {
        *BEGUN.lock().unwrap() = true;
        drop(OPEN.1.wait_while(OPEN.0.lock().unwrap(), |open| !*open).unwrap());
        Outlook::default()
    }
    PLANTED.set(Some(held));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let why = runtime.block_on(async {
        let profile = profile::load("shops", &|_| None).unwrap();
        let app = App::new(crate::tui::setup(&profile, Options::default()));
        let mut session = Session::start(profile, Plan::default()).unwrap();
        let asked = |_: &str| *BEGUN.lock().unwrap();
        play_on(app, &mut session, Path::new(""), vec![resized(), when(asked, char('q'))]).await.0
    });
    PLANTED.set(None);
    assert_eq!(why, Leave::Quit, "while the answer is still being made");
    *OPEN.0.lock().unwrap() = true;
    OPEN.1.notify_all();
}
