//! Job control: SIGTSTP from the keyboard or from outside, SIGCONT, and whether the terminal is ours to touch.
//!
//! SIGTSTP is blocked in every thread and taken off by a thread that waits for nothing else. When the screen is
//! given back, that thread alone lets the signal through, so that the process stops by the real one: the shell
//! sees an ordinary stop, and where no shell could ever continue the process the kernel refuses to stop it.
//! Knows nothing of the screen.

/// What job control asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "nobody asks where there is no job control"))]
pub(super) enum Asked {
    /// To stop.
    Stop,
    /// Nothing any more: the process was stopped, in whatever way, and goes on.
    Continued,
}

#[cfg(unix)]
pub(super) use unix::{Job, is_foreground};

#[cfg(unix)]
mod unix {
    use super::Asked;
    use futures_util::FutureExt;
    use nix::sys::signal::{SigSet, Signal, kill, killpg};
    use nix::unistd::{getpgrp, getpid};
    use std::io;
    use std::thread::Builder;
    use std::time::Duration;
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
    use tokio::sync::mpsc::{Receiver, Sender, channel};

    /// How long a SIGCONT may take to be heard of.
    const LAG: Duration = Duration::from_millis(20);

    /// The process as a job of a shell.
    #[derive(Debug)]
    pub(in super::super) struct Job {
        /// Each SIGTSTP.
        stops: Receiver<()>,
        /// Lets one through.
        let_through: Sender<()>,
        /// Says that it is over.
        through: Receiver<()>,
        continued: Stream,
    }

    impl Job {
        /// Takes SIGTSTP and SIGCONT in hand. Call it before any other thread is started: they inherit the mask.
        ///
        /// # Errors
        /// When a thread or a handler can't be had.
        pub(in super::super) fn take() -> io::Result<Self> {
            let continued = signal(SignalKind::from_raw(Signal::SIGCONT as i32))?;
            let mut stop = SigSet::empty();
            stop.add(Signal::SIGTSTP);
            stop.thread_block()?;
            let (tell, stops) = channel(1);
            let (let_through, mut go) = channel(1);
            let (over, through) = channel(1);
            // It ends with the process, like the reader of keys.
            Builder::new().name("fanscope-job".to_owned()).spawn(move || {
                while stop.wait().is_ok() && tell.blocking_send(()).is_ok() && go.blocking_recv().is_some() {
                    // A stop that fails is over at once, and the screen comes back.
                    let _ = stop_here(stop);
                    if over.blocking_send(()).is_err() {
                        break;
                    }
                }
            })?;
            Ok(Self { stops, let_through, through, continued })
        }

        /// Waits for what is asked next.
        pub(in super::super) async fn next(&mut self) -> Asked {
            tokio::select! {
                biased;
                Some(()) = self.continued.recv() => Asked::Continued,
                Some(()) = self.stops.recv() => Asked::Stop,
                else => std::future::pending().await,
            }
        }

        /// Asks for a stop, as the shell's user would from outside.
        pub(in super::super) fn ask() {
            // A process that may not signal itself goes on.
            let _ = kill(getpid(), Signal::SIGTSTP);
        }

        /// Stops the process and its group after [`Asked::Stop`]; comes back when it was continued, and at once
        /// where it was not stopped because nobody could continue it.
        pub(in super::super) async fn stop(&mut self) {
            // One from before says nothing of this stop.
            let _ = self.continued.recv().now_or_never();
            if self.let_through.send(()).await.is_ok() && self.through.recv().await.is_some() {
                // Threads go on a little before the signal that let them.
                let _ = tokio::time::timeout(LAG, self.continued.recv()).await;
            }
        }

        /// Stops once more, without being asked.
        pub(in super::super) async fn stop_again(&mut self) {
            Self::ask();
            if self.stops.recv().await.is_some() {
                self.stop().await;
            }
        }
    }

    /// Stops the process here. The signal goes to the group, as the terminal's own Ctrl-Z would: a shell that
    /// started us through another program waits for that one. It is sent while blocked, so that one which is
    /// pending already does not stop us a second time.
    fn stop_here(stop: SigSet) -> nix::Result<()> {
        killpg(getpgrp(), Signal::SIGTSTP)?;
        stop.thread_unblock()?;
        stop.thread_block()
    }

    /// Whether the terminal listens to us. In the background, touching its modes would stop the process.
    pub(in super::super) fn is_foreground() -> bool {
        // A terminal that knows no groups listens to whoever reads.
        rustix::termios::tcgetpgrp(io::stdout()).map_or(true, |group| group == rustix::process::getpgrp())
    }
}

#[cfg(not(unix))]
pub(super) use elsewhere::{Job, is_foreground};

#[cfg(not(unix))]
mod elsewhere {
    use super::Asked;

    /// No job control here.
    #[derive(Debug)]
    pub(in super::super) struct Job;

    impl Job {
        /// Never fails here.
        pub(in super::super) fn take() -> std::io::Result<Self> {
            Ok(Self)
        }

        /// Never comes back here.
        pub(in super::super) async fn next(&mut self) -> Asked {
            std::future::pending().await
        }

        /// Nothing happens here.
        pub(in super::super) fn ask() {}

        /// Nothing stops here.
        pub(in super::super) async fn stop(&mut self) {}

        /// Nothing stops here.
        pub(in super::super) async fn stop_again(&mut self) {}
    }

    /// Always.
    pub(in super::super) fn is_foreground() -> bool {
        true
    }
}
