//! Keys and resizes, read on a thread of their own.
//!
//! Crossterm's reader never comes back from a terminal that is gone: it reads nothing, over and over. So it
//! must not run where signals and frames are waited for, and somebody else has to notice the hang-up.

use crossterm::event::Event;
use futures_util::Stream;
use futures_util::stream::poll_fn;
use std::io;
use std::thread::Builder;
use tokio::sync::mpsc::{Sender, channel};

/// Keys that wait while the loop is busy; nobody types faster than that.
const CAPACITY: usize = 256;

/// What is typed, and an error once the terminal is gone.
///
/// # Errors
/// When a thread can't be started.
pub(super) fn start() -> io::Result<impl Stream<Item = io::Result<Event>> + Unpin> {
    let (keys, mut typed) = channel(CAPACITY);
    watch_for_hangup(keys.clone())?;
    // Both threads end with the process: nothing can wake a reader that waits for a key.
    Builder::new().name("fanscope-keys".to_owned()).spawn(move || {
        loop {
            let event = crossterm::event::read();
            let last = event.is_err();
            if keys.blocking_send(event).is_err() || last {
                break;
            }
        }
    })?;
    Ok(poll_fn(move |cx| typed.poll_recv(cx)))
}

/// Sends an error when the other end of the terminal is closed.
#[cfg(unix)]
fn watch_for_hangup(tell: Sender<io::Result<Event>>) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    Builder::new().name("fanscope-hangup".to_owned()).spawn(move || {
        // Standard input may be something else than the terminal.
        let terminal = io::stdout();
        // Nothing is asked for: errors and hang-ups are always told.
        let mut watched = [PollFd::new(&terminal, PollFlags::empty())];
        while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        // A loop that is over listens no more.
        drop(tell.blocking_send(Err(io::ErrorKind::BrokenPipe.into())));
    })?;
    Ok(())
}

/// Elsewhere a terminal that is gone ends its programs by itself.
#[cfg(not(unix))]
fn watch_for_hangup(_: Sender<io::Result<Event>>) -> io::Result<()> {
    Ok(())
}
