//! Where frames go: drawn into memory, written to the terminal by a thread of its own.

use crate::app::App;
use crate::view;
use crossterm::QueueableCommand;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Something that frames can be drawn on.
pub(super) trait Surface {
    /// Whether the last frame has gone out; another one would only queue up.
    fn ready(&self) -> bool;

    /// Draws a frame.
    fn draw(&mut self, app: &App) -> io::Result<()>;

    /// Has the next frame paint every cell anew.
    fn forget(&mut self) -> io::Result<()>;
}

/// Whether the writer is in the middle of a frame. Process-wide, as the terminal is.
static WRITING: AtomicBool = AtomicBool::new(false);

/// How long the end waits for a frame that is being written.
const LAST_FRAME: Duration = Duration::from_millis(30);

/// Whether the writer has nothing in hand, waiting a little for it.
pub(super) fn writer_is_idle() -> bool {
    let until = Instant::now() + LAST_FRAME;
    while WRITING.load(Ordering::SeqCst) {
        if Instant::now() >= until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// The terminal on standard output.
pub(super) struct Tty {
    terminal: Terminal<CrosstermBackend<Frame>>,
    frame: Frame,
    writer: SyncSender<Vec<u8>>,
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
        let terminal = Terminal::new(CrosstermBackend::new(frame.clone()))?;
        // One frame under way at most: the next is not drawn before the last is out.
        let (writer, frames) = sync_channel::<Vec<u8>>(1);
        let mut out = standard_output()?;
        std::thread::Builder::new().name("fanscope-writer".to_owned()).spawn(move || {
            while let Ok(frame) = frames.recv() {
                let written = out.write_all(&frame).and_then(|()| out.flush());
                WRITING.store(false, Ordering::SeqCst);
                if written.is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { terminal, frame, writer })
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

    fn draw(&mut self, app: &App) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        // A terminal that says 0x0 shows nothing.
        if width == 0 || height == 0 {
            return Ok(());
        }
        self.terminal.draw(|frame| view::draw(app, frame))?;
        self.send()
    }

    fn forget(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }
}

/// Standard output past its buffer and lock, which a stuck writer would hold.
#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Standard output past its buffer and lock, which a stuck writer would hold.
#[cfg(windows)]
fn standard_output() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
