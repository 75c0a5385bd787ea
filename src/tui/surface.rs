//! Where frames go: drawn into memory, written to the terminal by a thread of its own.

use super::guard;
use super::lean::Lean;
use super::rest::{Line, Written};
use crate::app::App;
use crate::view;
use crossterm::QueueableCommand;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use ratatui::Terminal;
use std::cell::RefCell;
#[cfg(unix)]
use std::fs::File;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Something that frames can be drawn on.
pub(super) trait Surface {
    /// Whether the last frame has gone out; another one would only queue up.
    fn ready(&self) -> bool;

    /// Waits until that is so.
    async fn written(&self);

    /// When a slow terminal has taken what was written, as far as is known; `None` where it takes all at once.
    fn taken_at(&self) -> Option<Instant>;

    /// Draws a frame.
    fn draw(&mut self, app: &App) -> io::Result<()>;

    /// Has the terminal told something that is no part of the screen, with the next frame.
    fn send_raw(&mut self, bytes: &str) -> io::Result<()>;

    /// Has the next frame paint every cell anew.
    fn forget(&mut self) -> io::Result<()>;

    /// Gives the screen back, until it is taken again.
    fn give_back(&mut self);

    /// Takes the screen again, whatever has become of it.
    fn take_again(&mut self) -> io::Result<()>;
}

/// Whether the writer is in the middle of a frame. Process-wide, as the terminal is.
static WRITING: AtomicBool = AtomicBool::new(false);

/// Whether the writer is to stop where it is: the screen is being left.
static STOP: AtomicBool = AtomicBool::new(false);

/// What frames are written to.
#[cfg(unix)]
type Out = File;

/// What frames are written to: only the library's own standard output turns UTF-8 into what a console takes, whatever
/// its code page.
#[cfg(not(unix))]
type Out = io::Stdout;

/// How long the writer waits for a slow terminal before it looks up.
const LOOK_UP: Duration = Duration::from_millis(5);

/// How long the end waits for the writer to look up.
const LAST_PIECE: Duration = Duration::from_millis(20);

/// Has the writer stop, and makes room for the few bytes that give the terminal back: what a slow or stuck
/// terminal has not taken yet is thrown away, for its screen is being left.
pub(super) fn make_way() {
    STOP.store(true, Ordering::SeqCst);
    let until = Instant::now() + LAST_PIECE;
    while WRITING.load(Ordering::SeqCst) && Instant::now() < until {
        std::thread::yield_now();
    }
    if !takes_output(&io::stdout(), Duration::ZERO) {
        discard_output();
    }
}

/// Lets the writer write again.
pub(super) fn go_on() {
    STOP.store(false, Ordering::SeqCst);
}

/// Writes the last words to the normal screen. A terminal that does not take them at once gets none of the rest:
/// they must not hold up the end.
pub(super) fn say(lines: &[String]) -> io::Result<()> {
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let (mut out, mut rest) = (standard_output()?, text.as_bytes());
    while !rest.is_empty() && takes_output(&out, LAST_PIECE) {
        let written = out.write(rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    out.flush()
}

/// Whether the terminal takes bytes within this time without making us wait.
#[cfg(unix)]
fn takes_output(out: &impl std::os::fd::AsFd, within: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let within = Timespec { tv_sec: 0, tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::new(out, PollFlags::OUT)], Some(&within)).is_ok_and(|ready| ready > 0)
}

#[cfg(unix)]
fn discard_output() {
    // A terminal that refuses is gone, and then there is nothing to make way for.
    let _ = rustix::termios::tcflush(io::stdout(), rustix::termios::QueueSelector::OFlush);
}

#[cfg(not(unix))]
fn takes_output<T>(_: &T, _: Duration) -> bool {
    true
}

#[cfg(not(unix))]
fn discard_output() {}

/// Writes a frame, unless the screen is left meanwhile.
fn write_frame(out: &mut Out, mut frame: &[u8]) -> io::Result<Written> {
    let bytes = frame.len();
    let mut waits: Option<(usize, Instant)> = None;
    while !frame.is_empty() && !STOP.load(Ordering::SeqCst) {
        match out.write(frame) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => frame = frame.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                waits.get_or_insert_with(|| (frame.len(), Instant::now()));
                takes_output(out, LOOK_UP);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // Where there is a buffer between us and the terminal; a file has none.
    out.flush()?;
    let at = Instant::now();
    let waited = waits.map(|(left, since)| (left.saturating_sub(frame.len()), at - since));
    Ok(Written { at, bytes, waited })
}

/// Most cells that are drawn: ten times the largest terminal that anybody has.
const MOST_CELLS: u32 = 1_000_000;

/// The terminal on standard output.
pub(super) struct Tty {
    terminal: Terminal<Lean<Frame>>,
    frame: Frame,
    writer: SyncSender<Vec<u8>>,
    /// Told when a frame has gone out.
    out: Arc<Notify>,
    line: Arc<Mutex<Line>>,
}

/// The bytes of the frame that is being drawn.
#[derive(Debug, Clone, Default)]
struct Frame(Rc<RefCell<Vec<u8>>>);

impl Write for Frame {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// A frame goes out as a whole, in [`Tty::send`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tty {
    /// The terminal on standard output, which must be in raw mode already.
    pub(super) fn new() -> io::Result<Self> {
        let frame = Frame::default();
        let terminal = Terminal::new(Lean::new(frame.clone()))?;
        // One frame under way at most: the next is not drawn before the last is out.
        let (writer, frames) = sync_channel::<Vec<u8>>(1);
        let mut out = standard_output()?;
        let written = Arc::new(Notify::new());
        let tell = Arc::clone(&written);
        let line = Arc::<Mutex<Line>>::default();
        let theirs = Arc::clone(&line);
        std::thread::Builder::new().name("fanscope-writer".to_owned()).spawn(move || {
            while let Ok(frame) = frames.recv() {
                let written = write_frame(&mut out, &frame);
                if let Ok(written) = written {
                    theirs.lock().unwrap_or_else(PoisonError::into_inner).wrote(written);
                }
                WRITING.store(false, Ordering::SeqCst);
                tell.notify_one();
                if written.is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { terminal, frame, writer, out: written, line })
    }

    fn send(&mut self) -> io::Result<()> {
        let drawn = std::mem::take(&mut *self.frame.0.borrow_mut());
        if drawn.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(drawn.len() + 16);
        frame.queue(BeginSynchronizedUpdate)?.write_all(&drawn)?;
        frame.queue(EndSynchronizedUpdate)?;
        WRITING.store(true, Ordering::SeqCst);
        self.writer.send(frame).map_err(|_| {
            WRITING.store(false, Ordering::SeqCst);
            io::Error::from(io::ErrorKind::BrokenPipe)
        })
    }
}

impl Surface for Tty {
    fn ready(&self) -> bool {
        !WRITING.load(Ordering::SeqCst)
    }

    async fn written(&self) {
        while !self.ready() {
            self.out.notified().await;
        }
    }

    fn taken_at(&self) -> Option<Instant> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).taken_at()
    }

    fn draw(&mut self, app: &App) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        // A terminal that says 0x0 shows nothing, and one of a million cells is none.
        if !(1..=MOST_CELLS).contains(&(u32::from(width) * u32::from(height))) {
            return Ok(());
        }
        self.terminal.draw(|frame| view::draw(app, frame))?;
        self.send()
    }

    fn send_raw(&mut self, bytes: &str) -> io::Result<()> {
        self.frame.write_all(bytes.as_bytes())
    }

    fn forget(&mut self) -> io::Result<()> {
        // Not `Terminal::clear`: it asks the terminal for its cursor and waits for the answer.
        self.terminal = Terminal::new(Lean::new(self.frame.clone()))?;
        self.frame.queue(Clear(ClearType::All)).map(drop)
    }

    fn give_back(&mut self) {
        guard::restore();
    }

    fn take_again(&mut self) -> io::Result<()> {
        guard::take()?;
        self.forget()
    }
}

/// The terminal of standard output, opened once more so that writing need not wait: the setting belongs to what
/// was opened, and standard output is shared with the shell. A writer that waits inside the kernel would keep
/// everybody else from writing, also from giving the terminal back.
#[cfg(unix)]
fn standard_output() -> io::Result<Out> {
    use rustix::fs::OFlags;
    use std::os::fd::AsFd;
    use std::os::unix::fs::OpenOptionsExt;
    let stdout = io::stdout();
    let name = rustix::termios::ttyname(&stdout, Vec::new())?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let path = std::path::Path::new(std::ffi::OsStr::new(name.to_str().unwrap_or_default()));
    let again = std::fs::OpenOptions::new()
        .write(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
        .open(path);
    // A terminal of another user can't be opened; then frames may make the writer wait.
    again.or_else(|_| Ok(File::from(stdout.as_fd().try_clone_to_owned()?)))
}

/// Standard output.
#[cfg(not(unix))]
fn standard_output() -> io::Result<Out> {
    Ok(io::stdout())
}
