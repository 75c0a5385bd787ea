//! A served connection that can be made to end in a reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A TCP stream that is counted while it is open.
pub(super) struct Wire {
    stream: TcpStream,
    doomed: Doom,
    open: Arc<AtomicUsize>,
}

/// Makes a [`Wire`] end with RST instead of FIN.
#[derive(Clone, Default)]
pub(super) struct Doom(Arc<AtomicBool>);

impl Doom {
    pub(super) fn seal(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Wire {
    pub(super) fn new(stream: TcpStream, doomed: Doom, open: Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self { stream, doomed, open }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.doomed.0.load(Ordering::Relaxed) {
            // Where that fails the peer sees an orderly close: less than was asked for, and nothing to report to.
            let _ = self.stream.set_zero_linger();
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
