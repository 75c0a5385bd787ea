//! Keys typed into the production loop, over a real session and a screen in memory.
//!
//! A script says what has to be on the screen before its next key is typed, so nothing here waits for a time.

mod advisor;
mod comfort;
mod files;
mod fuzz;
mod replay;

use super::advisor::Advisor;
use super::job::Job;
use super::run::{Leave, Loop};
use super::source::Source;
use super::surface::Surface;
use crate::app::{App, Options};
use crate::profile;
use crate::session::{Plan, Session, Signals};
use crate::view;
use crossterm::event::{
    Event as Input, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use futures_util::Stream;
use futures_util::stream::poll_fn;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (120, 40);

/// When a script is given up.
const STUCK: Duration = Duration::from_secs(60);

/// What is on the screen, and who waits for it to change.
#[derive(Default)]
struct Seen {
    text: String,
    frames: usize,
    /// What the terminal was told beside the screen.
    raw: String,
    waiting: Option<Waker>,
}

/// A screen in memory.
struct Memory {
    terminal: Terminal<TestBackend>,
    seen: Rc<RefCell<Seen>>,
}

impl Surface for Memory {
    fn ready(&self) -> bool {
        true
    }

    async fn written(&self) {}

    fn taken_at(&self) -> Option<Instant> {
        None
    }

    fn draw(&mut self, app: &App) -> io::Result<()> {
        self.terminal.draw(|frame| view::draw(app, frame)).map_err(io::Error::other)?;
        let mut seen = self.seen.borrow_mut();
        seen.text = self.terminal.backend().to_string();
        seen.frames += 1;
        if let Some(waker) = seen.waiting.take() {
            waker.wake();
        }
        Ok(())
    }

    fn send_raw(&mut self, bytes: &str) -> io::Result<()> {
        self.seen.borrow_mut().raw.push_str(bytes);
        Ok(())
    }

    fn forget(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn give_back(&mut self) {}

    fn take_again(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A step of a script: what the screen has to say, and what is done then.
struct Step(Box<dyn Fn(&str) -> bool>, io::Result<Input>);

/// Once the screen says this, that is typed.
fn on(text: &'static str, input: Input) -> Step {
    when(move |screen| screen.contains(text), input)
}

/// Once this holds for the screen, that is typed.
fn when(holds: impl Fn(&str) -> bool + 'static, input: Input) -> Step {
    Step(Box::new(holds), Ok(input))
}

fn key(code: KeyCode) -> Input {
    Input::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn char(c: char) -> Input {
    key(KeyCode::Char(c))
}

fn typed(seen: Rc<RefCell<Seen>>, steps: Vec<Step>) -> impl Stream<Item = io::Result<Input>> + Unpin {
    let mut steps: VecDeque<Step> = steps.into();
    poll_fn(move |cx| {
        let mut seen = seen.borrow_mut();
        match steps.front() {
            Some(step) if (step.0)(&seen.text) => Poll::Ready(steps.pop_front().map(|step| step.1)),
            _ => {
                seen.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    })
}

/// Plays a script against the built-in demo; returns why the loop ended, its last words and the last screen.
fn play(steps: Vec<Step>) -> (Leave, Vec<String>, String) {
    play_in(Path::new(""), steps)
}

/// The same, with files going to this folder.
fn play_in(folder: &Path, steps: Vec<Step>) -> (Leave, Vec<String>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let profile = profile::load("shops", &|_| None).unwrap();
        let app = App::new(super::setup(&profile, Options::default()));
        let mut session = Session::start(profile, Plan::default()).unwrap();
        play_on(app, &mut session, folder, steps).await
    })
}

/// Plays a script against this.
async fn play_on(
    app: App,
    source: &mut impl Source,
    folder: &Path,
    steps: Vec<Step>,
) -> (Leave, Vec<String>, String) {
    let seen = Rc::new(RefCell::new(Seen::default()));
    let terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
    let surface = Memory { terminal, seen: Rc::clone(&seen) };
    let input = typed(Rc::clone(&seen), steps);
    let duties = (Signals::catch().unwrap(), Job::take().unwrap());
    let mut looped = Loop::new(app, source, surface, input, duties);
    folder.clone_into(&mut looped.files.folder);
    if let Some(answer) = advisor::PLANTED.get() {
        looped.advisor = Advisor::new(answer);
    }
    if let Some(reload) = comfort::planted() {
        looped.reload = reload;
    }
    let looped = looped.run();
    let looped = tokio::time::timeout(STUCK, looped).await;
    let last = seen.borrow().text.clone();
    let Ok((why, words)) = looped else { panic!("the script is stuck at:\n{last}") };
    (why, words, last)
}

/// The first thing that a terminal tells.
fn resized() -> Step {
    on("", Input::Resize(SIZE.0, SIZE.1))
}

#[test]
fn keys_change_mode_number_and_budget_and_q_leaves_a_summary() {
    let (why, words, _) = play(vec![
        resized(),
        on("deadline 200 ms", char('2')),
        on("quorum 5 of 8", char('[')),
        on("quorum 4 of 8", key(KeyCode::Left)),
        on("by 175 ms", char('3')),
        on("hedge after p95", char('q')),
    ]);
    assert_eq!(why, Leave::Quit);
    assert!(words[0].starts_with("fanscope shops: hedge after p95 by 175 ms"), "{words:?}");
}

#[test]
fn history_the_call_in_detail_and_help_are_gone_into_and_out_of() {
    let (why, ..) = play(vec![
        resized(),
        // Two rounds have settled when the second is over.
        on("2 rounds,", char(',')),
        on("frozen", key(KeyCode::Esc)),
        when(|s| !s.contains("frozen"), key(KeyCode::Enter)),
        on("Esc back", char('?')),
        on("Keys and signs", key(KeyCode::Esc)),
        when(|s| s.contains("other call"), key(KeyCode::Esc)),
        on("1-5 mode", char('q')),
    ]);
    assert_eq!(why, Leave::Quit);
}

#[test]
fn keys_are_text_while_the_filter_is_typed_and_ctrl_c_still_quits() {
    let ctrl_c = Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    let (why, _, last) = play(vec![
        resized(),
        on("1-5 mode", char('/')),
        on("8 of 8 lanes", char('7')),
        on("1 of 8 lanes", char('q')),
        on("filter 7q", key(KeyCode::Backspace)),
        on("filter 7 ", ctrl_c),
    ]);
    assert_eq!(why, Leave::Quit);
    assert!(last.contains("shop-7") && !last.contains("● shop-1"));
}

#[test]
fn the_mouse_selects_a_lane_and_x_makes_it_fail() {
    let click = |row| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        Input::Mouse(MouseEvent { kind, column: 30, row, modifiers: KeyModifiers::NONE })
    };
    let (why, ..) = play(vec![
        resized(),
        // The second lane, of two rows each below the axis.
        on("1 round", click(8)),
        when(|s| s.lines().any(|l| l.contains("▌") && l.contains("shop-1")), char('x')),
        on("x shop-1 healthy", char('x')),
        on("x shop-1 slow", char('x')),
        on("x shop-1 http_503", char('f')),
        on("frozen", char('f')),
        when(|s| s.lines().any(|l| l.contains("shop-1") && l.contains("http_503  ")), char('q')),
    ]);
    assert_eq!(why, Leave::Quit);
}

#[test]
fn keys_that_cannot_be_read_are_a_reason_to_say() {
    let full = io::Error::other("too many open files");
    let (why, ..) = play(vec![resized(), Step(Box::new(|screen| screen.contains("1-5 mode")), Err(full))]);
    assert_eq!(why, Leave::Failed("cannot read the terminal: too many open files".to_owned()));
}

#[test]
fn a_terminal_that_is_gone_ends_the_loop() {
    let gone = Step(Box::new(|screen| screen.contains("1-5 mode")), Err(io::ErrorKind::BrokenPipe.into()));
    assert_eq!(play(vec![resized(), gone]).0, Leave::Gone);
}
