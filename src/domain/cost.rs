//! What hedges cost besides the requests themselves (R31): time spent for nothing and connections dialled again.

use super::round::{Attempt, AttemptKind, Call};
use std::collections::BTreeSet;
use std::time::Duration;

impl Call {
    /// Its attempts that were for nothing: hedges that did not win, and a primary that lost to one.
    pub fn wasted_attempts(&self) -> impl Iterator<Item = &Attempt> {
        let winner = self.winner.and_then(|index| self.attempts.get(index));
        let hedge_won = winner.is_some_and(|a| a.kind == AttemptKind::Hedge);
        let lost = move |index: usize, kind| match kind {
            AttemptKind::Hedge => self.winner != Some(index),
            AttemptKind::Primary => hedge_won,
        };
        self.attempts.iter().enumerate().filter(move |&(i, a)| lost(i, a.kind)).map(|(_, a)| a)
    }

    /// Time that [`Call::wasted_attempts`] took.
    #[must_use]
    pub fn wasted(&self) -> Duration {
        let times = self.wasted_attempts().map(|a| a.end.saturating_sub(a.start));
        times.fold(Duration::ZERO, Duration::saturating_add)
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
