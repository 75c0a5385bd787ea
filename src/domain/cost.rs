//! What hedges cost besides the requests themselves (R31): time spent for nothing and connections dialled again.

use super::round::{AttemptKind, Call};
use std::collections::BTreeSet;
use std::time::Duration;

impl Call {
    /// Time that its attempts spent for nothing: hedges that did not win, and a primary that lost to one.
    #[must_use]
    pub fn wasted(&self) -> Duration {
        let winner = self.winner.and_then(|index| self.attempts.get(index));
        let hedge_won = winner.is_some_and(|a| a.kind == AttemptKind::Hedge);
        let lost = self.attempts.iter().enumerate().filter(|(index, attempt)| match attempt.kind {
            AttemptKind::Hedge => self.winner != Some(*index),
            AttemptKind::Primary => hedge_won,
        });
        lost.fold(Duration::ZERO, |sum, (_, a)| sum.saturating_add(a.end.saturating_sub(a.start)))
    }

    /// Primary attempts that were sent: one, or none where nothing went on the wire.
    #[must_use]
    pub fn primaries(&self) -> u64 {
        self.attempts.iter().filter(|a| a.kind == AttemptKind::Primary).count() as u64
    }
}

/// The replicas of an endpoint to which an attempt has had a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Connected(BTreeSet<usize>);

impl Connected {
    /// Takes note of a call's connections and counts its reconnects: attempts that opened a connection to a
    /// replica to which an earlier attempt had one already. It was closed by a cancel or by the server, or it
    /// was busy.
    pub fn reconnects(&mut self, call: &Call) -> u64 {
        let mut again = 0;
        for attempt in &call.attempts {
            let Some(reused) = attempt.reused else { continue };
            let first = self.0.insert(attempt.replica);
            again += u64::from(!reused && !first);
        }
        again
    }
}
