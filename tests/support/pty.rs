//! The real binary in a pseudo-terminal, with a terminal emulator at the other end.
#![allow(dead_code, reason = "each test binary uses its own part")]

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take before the test fails; nothing waits that long when all is well.
const PATIENCE: Duration = Duration::from_secs(30);

/// Rows and columns that the emulator has at least, whatever the terminal has: it panics where a line that was
/// drawn for another size wraps on a single row, or a wide character meets a single column.
const LEAST: u16 = 2;

/// How often in a second a slow line carries something.
const TURNS: u16 = 100;

/// What came out of the program.
struct Seen {
    parser: vt100::Parser,
    /// All bytes so far.
    raw: Vec<u8>,
    /// Whether that is all.
    over: bool,
}

struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Owned,
    shared: Arc<Shared>,
    before: String,
}

impl Terminal {
    /// Starts fanscope in a terminal of this size. `env` is added to a fixed environment.
    pub fn start(width: u16, height: u16, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fanscope"));
        command.args(args);
        Self::spawn(width, height, command, env, None)
    }

    /// Starts fanscope at the end of a line that carries so many bytes a second.
    pub fn start_slow(width: u16, height: u16, args: &[&str], bytes_per_second: usize) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fanscope"));
        command.args(args);
        Self::spawn(width, height, command, &[], Some(bytes_per_second))
    }

    /// The same, with this as its working directory.
    pub fn start_in(dir: &Path, width: u16, height: u16, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fanscope"));
        command.args(args);
        command.cwd(dir);
        Self::spawn(width, height, command, env, None)
    }

    /// Starts a shell with job control that runs this script. `$FANSCOPE` there is the program.
    pub fn shell(width: u16, height: u16, script: &str) -> Self {
        let mut command = CommandBuilder::new("/bin/sh");
        command.args(["-c", &format!("set -m; {script}")]);
        let env = [("FANSCOPE", env!("CARGO_BIN_EXE_fanscope")), ("PATH", "/usr/bin:/bin")];
        Self::spawn(width, height, command, &env, None)
    }

    /// Runs a line of a shell in this folder, as somebody types it. `path` is the shell's own.
    pub fn line_in(dir: &Path, path: &str, line: &str) -> Self {
        let mut command = CommandBuilder::new("/bin/sh");
        command.args(["-c", &format!("exec {line}")]);
        command.cwd(dir);
        let home = dir.display().to_string();
        Self::spawn(120, 40, command, &[("PATH", path), ("HOME", &home)], None)
    }

    fn spawn(
        width: u16,
        height: u16,
        mut command: CommandBuilder,
        env: &[(&str, &str)],
        bytes_per_second: Option<usize>,
    ) -> Self {
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pty");
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        for (name, value) in env {
            command.env(name, value);
        }
        let before = modes(pair.master.as_ref());
        let child = Owned(pair.slave.spawn_command(command).expect("the program"));
        drop(pair.slave);
        let parser = vt100::Parser::new(height, width, 0);
        let seen = Mutex::new(Seen { parser, raw: Vec::new(), over: false });
        let shared = Arc::new(Shared { seen, changed: Condvar::new() });
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            // A slow line carries a little every few milliseconds; what it did not carry then is not made up for.
            let carried = bytes_per_second.map_or(65536, |n| n / usize::from(TURNS));
            let mut bytes = vec![0; carried];
            let mut turn = Instant::now();
            loop {
                if bytes_per_second.is_some() {
                    turn = (turn + Duration::from_secs(1) / TURNS.into()).max(Instant::now());
                    std::thread::sleep(turn - Instant::now());
                }
                let n = reader.read(&mut bytes).unwrap_or(0);
                let mut seen = theirs.seen.lock().expect("the screen");
                seen.parser.process(&bytes[..n]);
                seen.raw.extend_from_slice(&bytes[..n]);
                seen.over = n == 0;
                theirs.changed.notify_all();
                if n == 0 {
                    break;
                }
            }
        });
        Self { master: pair.master, writer, child, shared, before }
    }

    /// Waits until what is on the screen satisfies `shows`.
    pub fn wait(&self, what: &str, shows: impl Fn(&vt100::Screen) -> bool) {
        let seen = self.shared.seen.lock().expect("the screen");
        let (seen, timeout) = self
            .shared
            .changed
            .wait_timeout_while(seen, PATIENCE, |s| !shows(s.parser.screen()) && !s.over)
            .expect("the screen");
        let screen = seen.parser.screen();
        assert!(!timeout.timed_out() && shows(screen), "waited for {what}, seen:\n{}", screen.contents());
    }

    pub fn wait_text(&self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    /// Waits for a line that starts so, after the margin.
    pub fn wait_line(&self, start: &str) {
        let starts = |line: &str| line.strip_prefix(' ').is_some_and(|line| line.starts_with(start));
        self.wait(start, |screen| screen.contents().lines().any(starts));
    }

    pub fn text(&self) -> String {
        self.shared.seen.lock().expect("the screen").parser.screen().contents()
    }

    /// How many bytes the program has written so far.
    pub fn written(&self) -> usize {
        self.shared.seen.lock().expect("the screen").raw.len()
    }

    /// All that the program has written so far.
    pub fn raw(&self) -> Vec<u8> {
        self.shared.seen.lock().expect("the screen").raw.clone()
    }

    /// The program's process.
    pub fn process(&self) -> u32 {
        self.child.0.process_id().expect("a process")
    }

    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("keys");
        self.writer.flush().expect("keys");
    }

    pub fn resize(&self, width: u16, height: u16) {
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        self.shared
            .seen
            .lock()
            .expect("the screen")
            .parser
            .screen_mut()
            .set_size(height.max(LEAST), width.max(LEAST));
        self.master.resize(size).expect("a size");
    }

    pub fn signal(&self, name: &str) {
        let pid = self.process().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().expect("kill").success());
    }

    /// Waits for the end; checks that the terminal is as it was before. Returns how it ended and what the
    /// normal screen shows.
    pub fn end(&mut self) -> (ExitStatus, String) {
        let status = self.child.wait();
        let seen = self.shared.seen.lock().expect("the screen");
        let (seen, _) =
            self.shared.changed.wait_timeout_while(seen, PATIENCE, |s| !s.over).expect("the screen");
        let shown = seen.parser.screen();
        let text = shown.contents();
        assert!(is_plain(shown), "still as the dashboard had it:\n{text}");
        assert_eq!(modes(self.master.as_ref()), self.before, "the terminal's modes");
        (status, text)
    }

    /// Whether the terminal's modes are those of before the start.
    pub fn has_old_modes(&self) -> bool {
        modes(self.master.as_ref()) == self.before
    }
}

/// Whether nothing of a full screen is left on: what a shell expects.
pub fn is_plain(screen: &vt100::Screen) -> bool {
    !screen.alternate_screen()
        && !screen.hide_cursor()
        && !screen.bracketed_paste()
        && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
}

/// A test that failed leaves no program behind.
struct Owned(Box<dyn Child + Send + Sync>);

impl Owned {
    /// Waits for its end, and ends the test and the program when that does not come.
    fn wait(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.0.try_wait().expect("a status") {
                return status;
            }
            assert!(Instant::now() < until, "the program lives on");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Owned {
    /// One that has ended can't be killed, which is as well.
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// The line discipline's settings in words.
fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios())
}

/// A terminal at whose other end nobody reads but this test, when it wants to.
pub struct Stalled {
    reader: Box<dyn Read + Send>,
    writer: Box<dyn Write + Send>,
    child: Owned,
    parser: vt100::Parser,
}

impl Stalled {
    /// Starts fanscope, reads until `text` is drawn, and no further.
    pub fn start(width: u16, height: u16, args: &[&str], text: &str) -> Self {
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fanscope"));
        command.args(args);
        let child = Owned(pair.slave.spawn_command(command).expect("the program"));
        let reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let mut stalled = Self { reader, writer, child, parser: vt100::Parser::new(height, width, 0) };
        stalled.read_until(text);
        stalled
    }

    /// Reads until this is on the screen, and no further.
    pub fn read_until(&mut self, text: &str) {
        // A read takes as long as it takes: what never shows the text is ended.
        let (mut killer, (_done, waits)) = (self.child.0.clone_killer(), channel::<()>());
        std::thread::spawn(move || {
            if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _ = killer.kill();
            }
        });
        while !self.parser.screen().contents().contains(text) {
            let n = self.read();
            assert!(n > 0, "ended, or was too late, before {text:?}:\n{}", self.parser.screen().contents());
        }
    }

    fn read(&mut self) -> usize {
        let mut bytes = vec![0; 65536];
        let n = self.reader.read(&mut bytes).unwrap_or(0);
        self.parser.process(&bytes[..n]);
        n
    }

    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("keys");
        self.writer.flush().expect("keys");
    }

    /// Waits for the end, reading nothing; then reads the rest and returns the screen.
    pub fn end(mut self) -> (ExitStatus, vt100::Screen) {
        let status = self.child.wait();
        while self.read() > 0 {}
        (status, self.parser.screen().clone())
    }

    /// Closes the terminal's other end, as a window or a broken connection does, and waits for the end.
    pub fn hang_up(self) -> ExitStatus {
        let Self { reader, writer, mut child, .. } = self;
        drop(reader);
        drop(writer);
        child.wait()
    }
}
