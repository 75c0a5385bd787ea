//! The signals that end the program, and how it ends by them.

use std::io;

/// A signal that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(pub i32);

#[cfg(unix)]
mod unix {
    use super::Signal;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use std::io;
    use std::task::Poll;
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// SIGINT, SIGTERM, SIGHUP and SIGQUIT, caught from now on.
    #[derive(Debug)]
    pub struct Signals(Vec<(i32, Stream)>);

    impl Signals {
        /// Starts catching. Within a tokio runtime.
        ///
        /// # Errors
        /// When a handler can't be set.
        pub fn catch() -> io::Result<Self> {
            let one = |number: i32| Ok((number, signal(SignalKind::from_raw(number))?));
            Ok(Self([SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().map(one).collect::<io::Result<_>>()?))
        }

        /// Waits for the next one.
        pub async fn next(&mut self) -> Signal {
            std::future::poll_fn(|cx| {
                for (number, stream) in &mut self.0 {
                    if stream.poll_recv(cx).is_ready() {
                        return Poll::Ready(Signal(*number));
                    }
                }
                Poll::Pending
            })
            .await
        }
    }
}

#[cfg(unix)]
pub use unix::Signals;

/// Ctrl-C, where there are no signals.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Starts catching.
    ///
    /// # Errors
    /// Never here.
    pub fn catch() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one; an error in waiting counts as one.
    pub async fn next(&mut self) -> Signal {
        drop(tokio::signal::ctrl_c().await);
        Signal(2)
    }
}

/// Ends the process by this signal, so that a shell sees what happened. Call it last: nothing is dropped.
///
/// # Errors
/// When the signal's default does not end a process, or can't be had.
pub fn die_by(signal: Signal) -> io::Result<()> {
    #[cfg(unix)]
    return signal_hook::low_level::emulate_default_handler(signal.0);
    #[cfg(not(unix))]
    Err(io::Error::other(format!("no signal {} here", signal.0)))
}
