//! Standard output at the end of a bounded queue, written by a thread of its own: a reader that stalls holds up
//! neither signals nor rounds that run.

use std::collections::VecDeque;
use std::io::{self, Write};
use tokio::sync::{mpsc, oneshot};

/// Texts on their way to the writer.
const QUEUE: usize = 64;

/// Where text goes.
pub(super) struct Output {
    queue: mpsc::Sender<String>,
    written: oneshot::Receiver<io::Result<()>>,
    /// What has no place in the queue yet.
    waiting: VecDeque<String>,
}

impl Output {
    /// Starts the writer.
    ///
    /// # Errors
    /// When its thread can't be started.
    pub(super) fn start(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, mut texts) = mpsc::channel::<String>(QUEUE);
        let (tell, written) = oneshot::channel();
        std::thread::Builder::new().name("fanscope-output".to_owned()).spawn(move || {
            let mut write_all = || -> io::Result<()> {
                while let Some(text) = texts.blocking_recv() {
                    out.write_all(text.as_bytes())?;
                }
                out.flush()
            };
            // Nobody asks any more where the run was given up.
            drop(tell.send(write_all()));
        })?;
        Ok(Self { queue, written, waiting: VecDeque::new() })
    }

    /// Puts a text behind the others.
    pub(super) fn push(&mut self, text: String) {
        self.waiting.push_back(text);
    }

    /// Whether something waits for a place in the queue.
    pub(super) fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Waits until everything has a place in the queue. Nothing is lost when this is given up.
    ///
    /// # Errors
    /// Why the writer stopped.
    pub(super) async fn catch_up(&mut self) -> io::Result<()> {
        while self.is_behind() {
            let Ok(place) = self.queue.reserve().await else { return self.why().await };
            if let Some(text) = self.waiting.pop_front() {
                place.send(text);
            }
        }
        Ok(())
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// Why it was not.
    pub(super) async fn finish(mut self) -> io::Result<()> {
        self.catch_up().await?;
        let Self { queue, written, .. } = self;
        drop(queue);
        written.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }

    async fn why(&mut self) -> io::Result<()> {
        match (&mut self.written).await {
            Ok(Err(error)) => Err(error),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}
