//! The terminal's own state: taken on entry, given back on every way out and while the process is stopped.

use super::job::is_foreground;
use crate::domain::text;
use crate::engine;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Whether the terminal is ours. Process-wide, as the terminal is, so that the panic hook finds it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What panicked on other threads while the screen was up.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Most panics that are kept to be told.
const MOST_PANICS: usize = 5;

static HOOK: Once = Once::new();

/// Whether the mouse is listened to, as long as the terminal is ours.
static MOUSE: AtomicBool = AtomicBool::new(true);

/// Buttons and wheel in SGR coordinates. Crossterm's own command asks for every movement, too, which nothing here
/// wants: a hand on the mouse would keep the loop busy.
const MOUSE_ON: Print<&str> = Print("\x1b[?1000h\x1b[?1006h");

/// The same, taken back.
const MOUSE_OFF: Print<&str> = Print("\x1b[?1006l\x1b[?1000l");

/// Letters stay in the columns that they were put into: a terminal that orders lines by the direction of their
/// scripts would move what stands beside a Hebrew name (ECMA-48, BDSM). Others don't know the mode and ignore it.
const IN_PLACE: Print<&str> = Print("\x1b[8l");

/// The same, taken back.
const IN_ORDER: Print<&str> = Print("\x1b[8h");

/// Holds the terminal in raw mode on its alternate screen.
#[derive(Debug)]
pub(super) struct Guard(());

impl Guard {
    /// Takes the terminal. The panic hook is set before, so that no panic finds it taken without one.
    pub(super) fn enter() -> io::Result<Self> {
        watch();
        // From here on every way out, also an error in the next line, gives it back.
        let guard = Self(());
        take()?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Sets the panic hook, on the screen's own thread and before any other that may panic is started.
pub(super) fn watch() {
    HOOK.call_once(set_hook);
}

/// Whether the mouse is listened to from the next time on that the terminal is taken.
pub(super) fn listen_to_mouse(listen: bool) {
    MOUSE.store(listen, Ordering::SeqCst);
}

/// A switch of the mouse; nothing where the terminal keeps it.
fn mouse(switch: Print<&'static str>) -> Print<&'static str> {
    if MOUSE.load(Ordering::SeqCst) { switch } else { Print("") }
}

/// Takes the terminal, also again: what a shell did to it meanwhile does not matter.
pub(super) fn take() -> io::Result<()> {
    super::surface::go_on();
    // Crossterm believes that the terminal is still as it made it.
    disable_raw_mode()?;
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, Hide, mouse(MOUSE_ON), EnableBracketedPaste, IN_PLACE)
}

/// Gives the terminal back, once. Never panics: a terminal that is gone needs nothing any more.
pub(super) fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    super::surface::make_way();
    let out = &mut io::stdout();
    // The last frame may have been cut in the middle of a synchronized update.
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        IN_ORDER,
        DisableBracketedPaste,
        mouse(MOUSE_OFF),
        Show,
        LeaveAlternateScreen
    );
    // In the background the modes are the shell's, and touching them would stop us on the way out.
    if is_foreground() {
        let _ = disable_raw_mode();
    }
}

/// On the screen's own thread: restore, then print. On any other: keep it until the screen is left, for it
/// ends nothing here. A panicking call is its own lane's affair.
fn set_hook() {
    let print = std::panic::take_hook();
    let screen = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if thread.name() == Some(engine::THREAD_NAME) {
            // Not on the normal screen either, which may be there for a moment yet.
        } else if thread.id() == screen || !TAKEN.load(Ordering::SeqCst) {
            restore();
            print(panic);
        } else {
            let mut kept = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < MOST_PANICS {
                kept.push(format!("thread {}: {panic}", thread.name().unwrap_or("unnamed")));
            }
        }
    }));
}

/// Tells what panicked in the background, once the normal screen is back.
pub(super) fn report_background_panics() {
    let kept = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
    for panic in kept {
        // Where standard error is gone there is nobody to tell.
        let said = text::visible(&format!("a background thread panicked; please report it: {panic}"));
        let _ = writeln!(io::stderr(), "fanscope: {said}");
    }
}
