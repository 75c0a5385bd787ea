//! What a trace tells of an attempt, and when its permit comes back.

use super::*;
use crate::engine::limits::permits::Permits;

#[test]
fn r36_the_permit_comes_back_when_the_last_worker_is_gone_and_the_end_was_dealt_with() {
    let permits = Permits::new(1);
    let begin = || {
        let trace = Trace::new(Instant::now(), None);
        trace.keep(permits.take().unwrap());
        let worker = trace.clone();
        (trace, worker)
    };
    let (trace, future) = begin();
    let connection = future.clone();
    drop(future);
    trace.deal_with();
    assert!(trace.is_shared() && permits.free() == 0, "its connection still works for it");
    drop(connection);
    assert_eq!((trace.is_shared(), permits.free()), (false, 1));

    let (trace, worker) = begin();
    drop(worker);
    assert_eq!((trace.is_shared(), permits.free()), (false, 0), "what it brought is not known yet");
    trace.deal_with();
    assert_eq!(permits.free(), 1);

    // Also where nobody looks on any more.
    let (trace, worker) = begin();
    drop(trace);
    assert_eq!(permits.free(), 0);
    drop(worker);
    assert_eq!(permits.free(), 1);
}

#[test]
fn phases_sum_to_the_attempt_and_absent_ones_are_none() {
    let t0 = Instant::now();
    let ms = Duration::from_millis;
    let trace = Trace::new(t0, None);
    trace.reach_at(Phase::Connect, t0 + ms(1));
    trace.reach_at(Phase::Waiting, t0 + ms(3));
    trace.reach_at(Phase::Body, t0 + ms(2)); // a clock read out of order never gives a negative phase
    let seen = trace.seen(t0 + ms(10));
    assert_eq!(seen.phase, Phase::Body);
    assert_eq!(seen.phases.iter().map(|p| p.1).sum::<Duration>(), ms(10));
    assert_eq!(seen.phases.get(Phase::Dns), None);
    assert_eq!(seen.phases.get(Phase::Queued), Some(ms(1)));
    assert_eq!(seen.phases.get(Phase::Waiting), Some(ms(0)));
    // Cut earlier, only what had been reached counts.
    let cut = trace.seen(t0 + ms(2));
    assert_eq!((cut.phase, cut.phases.get(Phase::Connect)), (Phase::Connect, Some(ms(1))));
}

#[test]
fn evidence_is_made_once_and_only_when_the_attempt_is_over() {
    let made: Arc<Mutex<u32>> = Arc::default();
    let count = Arc::clone(&made);
    let trace = Trace::new(Instant::now(), None);
    trace.answer(move || {
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Answer {
            status_line: "HTTP/1.1 503 Service Unavailable".to_owned(),
            headers: Vec::new(),
            headers_left_off: 0,
            body: "".into(),
            body_truncated: false,
        }
    });
    let times = || *made.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(times(), 0);
    let [first, again] = [Instant::now(); 2].map(|end| trace.seen(end).answer.expect("evidence"));
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!(times(), 1);
    assert_eq!(Trace::new(Instant::now(), None).seen(Instant::now()).answer, None);
}

#[test]
fn r25_what_may_be_tried_again() {
    let status = |code, retry_after| Failure {
        status: Some(code),
        retry_after,
        ..Failure::new(Reason::HttpStatus, "answered")
    };
    assert!(status(503, None).retryable());
    assert!(status(429, Some(Duration::from_secs(1))).retryable());
    assert!(!status(503, Some(Duration::from_secs(1))).retryable());
    assert!(!status(404, None).retryable());
    assert!(Failure::new(Reason::BodyTruncated, "").retryable());
    assert!(!Failure::new(Reason::CheckFailed, "").retryable());
    assert_eq!(Failure::new(Reason::Dns, "\x1b").detail, "dns");
}
