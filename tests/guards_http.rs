//! What holds calls back, from the profile to real sockets: R36, R39.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "support/upstream.rs"]
#[expect(dead_code, reason = "each test file uses its own part")]
mod upstream;

use fanscope::domain::event::Vitals;
use fanscope::domain::{Event, Outcome, Phase, Reason, Round};
use fanscope::profile;
use fanscope::session::{Plan, Session};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use upstream::{Manner, Upstream};

fn session(text: &str, rounds: Option<u64>) -> Session {
    Session::start(
        profile::parse("guards", text, Path::new("."), &|_| None).unwrap(),
        Plan { rounds, warmup: 0 },
    )
    .unwrap()
}

async fn next_round(session: &mut Session) -> (Arc<Round>, Vitals) {
    loop {
        if let Event::RoundSettled { round, vitals } = session.next().await.expect("the engine ended") {
            return (round, vitals);
        }
    }
}

#[tokio::test]
async fn r36_one_permit_for_two_endpoints_that_hang_lets_one_of_them_out() {
    let servers = [Upstream::start(Manner::Hang), Upstream::start(Manner::Hang)];
    let endpoint = |name: &str, url: &str, own: &str| {
        format!("[[endpoint]]\nname = '{name}'\nurl = '{url}'\ndependency = 'db'\n{own}\n")
    };
    let text = [
        "[round]\nbudget = '60ms'\n".to_owned(),
        endpoint("first", &servers[0].url(), "concurrency = 1"),
        endpoint("second", &servers[1].url(), ""),
    ]
    .concat();
    let mut session = session(&text, Some(3));
    for _ in 0..3 {
        let (round, _) = next_round(&mut session).await;
        assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::Deadline));
        assert_eq!(round.calls[0].attempts.len(), 1);
        assert_eq!(round.calls[1].outcome, Outcome::Missing(Reason::Throttled));
        assert_eq!((round.calls[1].attempts.len(), round.calls[1].phase), (0, Phase::Queued));
        assert_eq!(round.lingering, 0);
    }
    // The permit came back with each cancelled call: its connection was closed. The other was never asked.
    for _ in 0..3 {
        assert!(servers[0].visit().left_after.is_some());
    }
    assert!(session.next().await.is_none());
}

#[tokio::test]
async fn r36_who_queues_goes_out_as_soon_as_the_permit_is_back() {
    let server = Upstream::start(Manner::Answer(200, 1));
    let endpoint =
        |name: &str| format!("[[endpoint]]\nname = '{name}'\nurl = '{}'\nconcurrency = 1\n", server.url());
    // A limit far off: only the order counts.
    let text = format!(
        "[round]\nbudget = '20s'\nrequest_budget = '30s'\n{}",
        ["a", "b", "c", "d"].map(endpoint).concat()
    );
    let mut session = session(&text, Some(1));
    let (round, _) = next_round(&mut session).await;
    assert_eq!(round.answered(), 4);
    let sent =
        |c: &fanscope::domain::Call| c.attempts[0].start + c.attempts[0].phases.get(Phase::Queued).unwrap();
    for pair in round.calls.windows(2) {
        assert!(sent(&pair[1]) >= pair[0].end, "one at a time, in order: {pair:?}");
    }
}

/// Answers its first request with a 429 that asks for one second, every other one with 200; counts them.
fn busy_at_first() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, asked) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            let answer = match count.fetch_add(1, Ordering::SeqCst) {
                0 => "429 X\r\nretry-after: 1",
                _ => "200 OK",
            };
            let answer = format!("HTTP/1.1 {answer}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (addr, asked)
}

#[tokio::test]
async fn r39_a_429_that_is_expected_pauses_its_host_all_the_same() {
    let (addr, asked) = busy_at_first();
    let text = format!(
        "[round]\nbudget = '5s'\nevery = '100ms'\n[[endpoint]]\nname = 'a'\nurl = 'http://{addr}/'\n\
         expect = {{ status = [200, 429] }}\n"
    );
    let mut session = session(&text, Some(2));
    let (first, vitals) = next_round(&mut session).await;
    assert_eq!((first.calls[0].outcome, first.calls[0].status), (Outcome::Ok, Some(429)));
    assert_eq!(vitals.backing_off, 1);
    let (second, _) = next_round(&mut session).await;
    // On a slow machine the second may have begun before the answer came, or after the pause.
    let held = second.at > first.at + first.took && second.at < first.at + Duration::from_secs(1);
    assert!(!held || second.calls[0].outcome == Outcome::Missing(Reason::BackingOff));
    assert!(!held || asked.load(Ordering::SeqCst) == 1);
}

#[tokio::test]
async fn r39_a_429_with_retry_after_is_left_alone_for_its_second_and_then_asked_again() {
    let (addr, asked) = busy_at_first();
    let text = format!(
        "[round]\nbudget = '5s'\nevery = '100ms'\n[[endpoint]]\nname = 'a'\nurl = 'http://{addr}/'\n"
    );
    let mut session = session(&text, None);
    let (first, vitals) = next_round(&mut session).await;
    assert_eq!(
        (first.calls[0].outcome, first.calls[0].status),
        (Outcome::Missing(Reason::HttpStatus), Some(429))
    );
    assert_eq!(vitals.backing_off, 1);
    let mut held = 0;
    let (recovered, vitals) = loop {
        let (round, vitals) = next_round(&mut session).await;
        if round.calls[0].outcome == Outcome::Ok {
            break (round, vitals);
        }
        assert_eq!(round.calls[0].outcome, Outcome::Missing(Reason::BackingOff));
        assert_eq!(round.calls[0].attempts.len(), 0);
        // One that was held at the very end of the second may settle after it.
        let ending = round.at + Duration::from_millis(100) >= first.at + Duration::from_secs(1);
        assert!(vitals.backing_off == 1 || (ending && vitals.backing_off == 0));
        held += 1;
    };
    assert!(held > 0, "a second has room for more than one round");
    assert!(recovered.at >= first.at + Duration::from_secs(1), "asked again within the second");
    assert_eq!((asked.load(Ordering::SeqCst), vitals.backing_off), (2, 0));
}
