//! How far a run has come, on standard error and only where that is a terminal. Drawn by a thread of its own, so
//! that a terminal that stalls holds up neither signals nor rounds.

use crate::domain::numbers;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How often the bar moves where nothing happens.
const TICK: Duration = Duration::from_millis(250);

/// Steps of a full bar.
const FULL: u64 = 1000;

/// Where a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Goal {
    /// By so many rounds.
    pub(super) rounds: Option<u64>,
    /// By time.
    pub(super) time: Option<Duration>,
    /// After so many that warm up.
    pub(super) warmup: u64,
}

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Done {
    /// Rounds that warmed up.
    pub(super) warmup: u64,
    /// Rounds that count.
    pub(super) rounds: u64,
    /// Their completeness.
    pub(super) completeness: Option<f64>,
    /// When the first of those that count began.
    pub(super) since: Option<Instant>,
}

/// The bar.
pub(super) struct Progress {
    tell: SyncSender<Done>,
    say: Sender<String>,
    gone: oneshot::Receiver<()>,
}

impl Progress {
    /// Draws from now on; `None` where standard error is no terminal or has no thread to draw on.
    pub(super) fn start(goal: Goal) -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let (tell, told) = sync_channel(16);
        let (say, said) = channel();
        let (leave, gone) = oneshot::channel();
        let draw = move || {
            draw(goal, &told, &said);
            // Nobody asks where the run ended by a stalled terminal.
            let _ = leave.send(());
        };
        // A run without a bar is a run all the same.
        std::thread::Builder::new().name("fanscope-progress".to_owned()).spawn(draw).ok()?;
        Some(Self { tell, say, gone })
    }

    /// Shows this, unless the terminal is so far behind that there is no room for it.
    pub(super) fn tell(&self, done: Done) {
        let _ = self.tell.try_send(done);
    }

    /// Says something on a line of its own, between which and the bar nothing gets mixed up.
    pub(super) fn say(&self, line: String) {
        let _ = self.say.send(line);
    }

    /// Takes the bar away, waiting at most `patience` for a terminal that stalls.
    pub(super) async fn clear(self, patience: Duration) {
        let Self { tell, say, gone } = self;
        drop((tell, say));
        drop(tokio::time::timeout(patience, gone).await);
    }
}

fn draw(goal: Goal, told: &Receiver<Done>, said: &Receiver<String>) {
    let bar = ProgressBar::new(FULL);
    // The template is ours and is tested; the library's own stands in for it.
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    let mut done = Done::default();
    loop {
        say(&bar, said);
        let (at, text) = shown(goal, done, Instant::now());
        bar.set_position(at);
        bar.set_message(text);
        bar.tick();
        match told.recv_timeout(TICK) {
            Ok(newer) => done = newer,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    say(&bar, said);
    bar.finish_and_clear();
}

/// Says what is to be said while the bar is away.
fn say(bar: &ProgressBar, said: &Receiver<String>) {
    for line in said.try_iter() {
        // Where standard error is gone there is nobody to tell.
        let _ = bar.suspend(|| writeln!(io::stderr(), "{line}"));
    }
}

const TEMPLATE: &str = "[{bar:24}] {msg}";

/// How full the bar is, and what stands beside it.
fn shown(goal: Goal, done: Done, now: Instant) -> (u64, String) {
    if done.warmup < goal.warmup && done.rounds == 0 {
        return (0, format!("warming up {}/{}", done.warmup, goal.warmup));
    }
    let passed = done.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
    let mut full = 0;
    let mut text = match goal.rounds {
        Some(rounds) => {
            full = done.rounds.saturating_mul(FULL) / rounds.max(1);
            format!("{}/{rounds} rounds", done.rounds)
        }
        None => numbers::counted(done.rounds, "round", "rounds"),
    };
    if let Some(time) = goal.time {
        let share = passed.as_micros().saturating_mul(FULL.into()) / time.as_micros().max(1);
        full = full.max(u64::try_from(share).unwrap_or(FULL));
        text = format!("{text}  {}/{} s", passed.min(time).as_secs(), time.as_secs_f64());
    }
    if let Some(completeness) = done.completeness {
        text = format!("{text}  answered {}", numbers::share_percent(completeness));
    }
    (full.min(FULL), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_follows_rounds_or_time_whichever_is_further() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
        let now = Instant::now();
        let goal = |rounds, time, warmup| Goal { rounds, time: time_of(time), warmup };
        let done = |rounds| Done { rounds, completeness: Some(0.775), warmup: 2, since: Some(now) };
        let later = |ms| now + Duration::from_millis(ms);
        let show = |goal, done, ms| shown(goal, done, later(ms));
        assert_eq!(
            show(goal(Some(20), None, 2), done(5), 0),
            (250, "5/20 rounds  answered 77.5 %".to_owned())
        );
        assert_eq!(
            show(goal(None, Some(2500), 0), done(1), 1250),
            (500, "1 round  1/2.5 s  answered 77.5 %".to_owned())
        );
        assert_eq!(show(goal(Some(20), Some(1000), 0), done(5), 900).0, 900);
        assert_eq!(show(goal(Some(20), Some(1000), 0), done(5), 9000).0, FULL);
        assert_eq!(show(goal(Some(20), None, 3), done(0), 0), (0, "warming up 2/3".to_owned()));
        let nothing = shown(goal(None, Some(1000), 0), Done::default(), now);
        assert_eq!(nothing, (0, "0 rounds  0/1 s".to_owned()));
    }

    fn time_of(ms: Option<u64>) -> Option<Duration> {
        ms.map(Duration::from_millis)
    }
}
