//! Faults of a connection, by the place at which they strike; keep-alive and its races.

use super::steps::{A_MOMENT, Animal, By, Door, Step, answer, half, head, hello, ms, send};
use Step::{Close, Drip, Drop, Hang, Reset, Wait};

pub fn all() -> Vec<Animal> {
    let mut all = [connecting(), stalling(), slow(), resetting(), closing(), keeping()].concat();
    if !cfg!(target_os = "linux") {
        // Others make room in a full queue.
        all.retain(|animal| !matches!(animal.door, Door::Full));
    }
    all
}

fn connecting() -> Vec<Animal> {
    vec![
        Animal::new("ok", &["ok/200"], [hello()]),
        Animal::new("refuse", &["connect_refused/connect"], []).door(Door::Shut).says("refused"),
        Animal::new("blackhole", &["deadline/connect"], []).door(Door::Full),
        Animal::new("accept-hang", &["deadline/waiting"], []).first([Hang]),
        Animal::new("accept-reset", &["conn_reset/waiting", "conn_reset/connect"], []).first([Reset]),
        // Closed with the request unread it is a reset.
        Animal::new("accept-close", &["conn_closed/waiting", "conn_reset/waiting"], []).first([Drop]),
        Animal::new("accept-half-close", &["conn_closed/waiting"], []).first([Close]).says("closed"),
        Animal::new("accept-slow", &["ok/200"], [hello()]).first([Wait(ms(200))]).not_before(ms(200)),
    ]
}

fn stalling() -> Vec<Animal> {
    vec![
        Animal::new("hang", &["deadline/waiting"], [Hang]),
        Animal::new("hang-mid-head", &["deadline/waiting"], [send("HTTP/1.1 200 OK\r\ncontent-"), Hang]),
        Animal::new("hang-after-head", &["deadline/body/200"], [head("content-length: 9\r\n"), Hang]),
        Animal::new("hang-mid-body", &["deadline/body/200"], [half(), Hang]),
        Animal::new(
            "hang-mid-refusal",
            &["deadline/body/503"],
            [send("HTTP/1.1 503 X\r\ncontent-length: 9\r\n\r\nbusy"), Hang],
        ),
    ]
}

fn slow() -> Vec<Animal> {
    let rest = || send("x".repeat(500));
    let late = |name, steps: Vec<Step>| Animal::new(name, &["ok/200"], steps).not_before(ms(200));
    vec![
        late("pause-mid-body", vec![half(), Wait(ms(200)), rest()]),
        late("late-head", vec![Wait(ms(200)), hello()]),
        late("late-body", vec![head("content-length: 2\r\n"), Wait(ms(200)), send("ok")]),
        late(
            "drip-body",
            vec![head("content-length: 21\r\n"), Drip(b"once upon a midnight ".to_vec(), ms(10))],
        ),
        late(
            "drip-head",
            vec![Drip(b"HTTP/1.1 200 OK\r\n".to_vec(), ms(12)), send("content-length: 0\r\n\r\n")],
        ),
        Animal::new(
            "drip-for-ever",
            &["deadline/body/200"],
            [head("content-length: 1000000\r\n"), Drip(vec![b'x'; 1_000_000], ms(20))],
        ),
    ]
}

fn resetting() -> Vec<Animal> {
    vec![
        Animal::new("reset-request", &["conn_reset/waiting"], [Reset]).says("reset"),
        Animal::new(
            "reset-mid-head",
            &["conn_reset/waiting"],
            [send("HTTP/1.1 200 OK\r\ncont"), A_MOMENT, Reset],
        ),
        Animal::new(
            "reset-after-head",
            &["conn_reset/body/200"],
            [head("content-length: 9\r\n"), A_MOMENT, Reset],
        ),
        Animal::new("reset-mid-body", &["conn_reset/body/200"], [half(), A_MOMENT, Reset]).says("reset"),
        // Where the next request comes sooner than the reset.
        Animal::new("reset-after-answer", &["ok/200", "conn_reset/waiting"], [hello(), A_MOMENT, Reset]),
    ]
}

fn closing() -> Vec<Animal> {
    let chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    vec![
        Animal::new("close-request", &["conn_closed/waiting"], [Close]).says("closed"),
        Animal::new("close-mid-head", &["conn_closed/waiting"], [send("HTTP/1.1 200 OK\r\ncont"), Close]),
        Animal::new("close-mid-body", &["body_truncated/body/200"], [half(), Close]),
        // The peer says that it will send no more, in the middle of a body that has an end of its own.
        Animal::new("half-close-open-body", &["body_truncated/body/200"], [send(chunk), Close]),
        Animal::new("until-close", &["ok/200"], [head(""), send("hello"), Close]),
        Animal::new("no-end", &["deadline/body/200"], [head(""), send("hello"), Hang]),
    ]
}

fn keeping() -> Vec<Animal> {
    let twice = |last: Vec<Step>| vec![vec![hello()], last];
    let says_close = || answer("200 OK", "connection: close\r\n", "hello");
    vec![
        Animal::new("connection-close", &["ok/200"], [says_close(), Close]),
        // Says that it closes, and does not.
        Animal::new("connection-close-lie", &["ok/200"], [says_close(), Hang]),
        Animal::new("keepalive-silent", &["ok/200", "conn_closed/waiting"], [hello(), Close]),
        Animal::new("keepalive-3", &["ok/200"], [])
            .turns(By::Connection, vec![vec![hello()], vec![hello()], vec![says_close(), Close]]),
        Animal::new("keepalive-race-rst", &["ok/200", "conn_reset/waiting"], [])
            .turns(By::Connection, twice(vec![Reset])),
        Animal::new("keepalive-race-fin", &["ok/200", "conn_closed/waiting"], [])
            .turns(By::Connection, twice(vec![Close])),
    ]
}
