//! What an attempt that is over says of its dependency (R37).

use crate::domain::{Outcome, Reason};
use crate::engine::limits::breaker::Class;
use crate::engine::policy::{AttemptState, CallState};
use crate::engine::transport::Failure;
use std::time::Duration;

/// The class of an attempt that has ended or was cancelled. `sent` is when it went out, from the round's start;
/// `budget` is the round's; `held_up`: our own lateness may have kept it from ending in time.
///
/// One that was cut at the deadline or at its own timeout is a failure where it had been in flight for at least
/// half of the budget by then, however late its end was seen, unless we held it up. Every other cancellation is
/// our own doing, and so is whatever comes of a call that was given up.
pub(super) fn class(
    call: &CallState,
    attempt: usize,
    sent: Duration,
    budget: Duration,
    held_up: bool,
) -> Class {
    if call.outcome() == Some(Outcome::Missing(Reason::Aborted)) {
        return Class::Ignored;
    }
    let cut = matches!(call.outcome(), Some(Outcome::Missing(Reason::Deadline | Reason::Timeout)));
    let limit = call.limit().filter(|_| cut);
    let long = limit.is_some_and(|limit| limit.saturating_sub(sent).saturating_mul(2) >= budget);
    let of_cut = if long && !held_up { Class::Failure } else { Class::Ignored };
    match call.attempts().get(attempt).map(|a| &a.state) {
        Some(AttemptState::Ended(end, _)) if limit.is_some_and(|limit| *end > limit) => of_cut,
        Some(AttemptState::Ended(_, Ok(()))) => Class::Success,
        Some(AttemptState::Ended(_, Err(failure))) => of_failure(failure),
        Some(AttemptState::Cancelled(_)) => of_cut,
        Some(AttemptState::Ordered | AttemptState::Running) | None => Class::Ignored,
    }
}

fn of_failure(failure: &Failure) -> Class {
    match (failure.reason, failure.status) {
        (Reason::HttpStatus, Some(429 | 500..=599)) => Class::Failure,
        // It answers, even if not as it was asked to.
        (Reason::HttpStatus | Reason::Redirect, _) => Class::Success,
        (reason, _) if reason.is_transport_fault() => Class::Failure,
        _ => Class::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EndpointId, Mode, Suppression};
    use crate::engine::policy::{Berth, CallPlan, Done, Gate, Policy, RoundPlan};

    /// Lets everything through.
    struct Open;

    impl Gate for Open {
        fn primary(&mut self, _: EndpointId) -> Result<Berth, Reason> {
            Ok(Berth { replica: 0, waits: false })
        }

        fn hedge(&mut self, _: EndpointId, next: usize, _: bool) -> Result<usize, Suppression> {
            Ok(next)
        }
    }

    #[test]
    fn r37_time_in_flight_counts_to_the_limit_however_late_the_end_is_seen() {
        let ms = Duration::from_millis;
        let call = CallPlan { required: false, timeout: None, replicas: 1, hedge: None };
        let plan = RoundPlan {
            mode: Mode::Deadline,
            budget: ms(200),
            request_budget: ms(10_000),
            k: None,
            quorum_fail_fast: false,
            calls: vec![call],
        };
        let end = Done { call: EndpointId(0), attempt: 0, end: ms(215), result: Ok(()) };
        // Cancelled 15 ms after the limit, or ended then by itself.
        for mut done in [vec![], vec![end]] {
            let mut policy = Policy::new(plan.clone());
            policy.begin(&mut Open, &mut Vec::new());
            policy.step(ms(215), &mut done, &mut Open, &mut Vec::new());
            let sent_at = |sent, held_up| class(&policy.calls()[0], 0, ms(sent), ms(200), held_up);
            assert_eq!((sent_at(100, false), sent_at(101, false)), (Class::Failure, Class::Ignored));
            assert_eq!(sent_at(100, true), Class::Ignored, "our own lateness");
        }
    }

    #[test]
    fn r37_every_reason_is_a_failure_a_success_or_our_own() {
        let failed = |reason, status| of_failure(&Failure { status, ..Failure::new(reason, "") });
        for status in [429, 500, 503, 599] {
            assert_eq!(failed(Reason::HttpStatus, Some(status)), Class::Failure);
        }
        for status in [100, 302, 404, 428, 600] {
            assert_eq!(failed(Reason::HttpStatus, Some(status)), Class::Success);
        }
        let ours = [
            Reason::InvalidRequest,
            Reason::LocalFdLimit,
            Reason::LocalPortLimit,
            Reason::CheckFailed,
            Reason::Throttled,
            Reason::BackingOff,
            Reason::BreakerOpen,
            Reason::SiblingFailed,
            Reason::QuorumImpossible,
            Reason::Aborted,
            Reason::Internal,
        ];
        for reason in ours {
            assert_eq!(failed(reason, None), Class::Ignored, "{reason}");
        }
        for reason in Reason::ALL.iter().filter(|r| r.is_transport_fault()) {
            assert_eq!(failed(*reason, Some(200)), Class::Failure, "{reason}");
        }
    }
}
