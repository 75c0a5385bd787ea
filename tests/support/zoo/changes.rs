//! Servers that change from request to request, and servers that have too much to do.

use super::steps::{Animal, By, Door, Step, answer, head, hello, ms, send};
use Step::{Close, Hang, Reset, Shed, Wait, Work};

const REFUSED: &[&str] = &["ok/200", "http_status/body/503"];

/// Faults in turn: each server has its own period.
pub fn flaky() -> Vec<Animal> {
    let every = |n: usize, fault: Vec<Step>| {
        let mut turns = vec![vec![hello()]; n];
        turns[n / 2] = fault;
        turns
    };
    let flaky = |name, expected, turns| Animal::new(name, expected, []).turns(By::Server, turns);
    let busy = || answer("503 Service Unavailable", "", "busy");
    let half = || vec![head("content-length: 99\r\n"), send("hello"), Wait(ms(20))];
    vec![
        flaky("errors", REFUSED, every(5, vec![busy()])),
        flaky("resets", &["ok/200", "conn_reset/waiting"], every(4, vec![Reset])),
        flaky("stalls", &["ok/200", "deadline/waiting"], every(6, vec![Hang])),
        flaky("first-try", REFUSED, vec![vec![busy()], vec![hello()]]),
        flaky("body-resets", &["ok/200", "conn_reset/body/200"], every(3, [half(), vec![Reset]].concat())),
        flaky(
            "body-closes",
            &["ok/200", "body_truncated/body/200"],
            every(3, [half(), vec![Close]].concat()),
        ),
        // Kept connections that die under the request, at their third.
        Animal::new("race", &["ok/200", "conn_reset/waiting"], [])
            .turns(By::Connection, vec![vec![hello()], vec![hello()], vec![Reset]]),
        // And one that dies while it is idle.
        Animal::new("idle", &["ok/200", "conn_closed/waiting"], [hello(), Wait(ms(20)), Close]),
    ]
}

/// Queues, each with a dozen callers in every round.
pub fn overload() -> Vec<Animal> {
    let late = |slots, time| vec![Work(slots, ms(time)), hello()];
    vec![
        Animal::new("queue", &["ok/200"], late(4, 50)).callers(12).not_before(ms(50)),
        // Work that outlasts the budget, and goes on when the client has left.
        Animal::new("zombie", &["deadline/waiting"], late(4, 60_000)).callers(12),
        Animal::new("sheds", REFUSED, [Shed(4, 4), Wait(ms(100)), hello()]).callers(12),
        Animal::new("single", &["ok/200"], late(1, 10)).callers(6).not_before(ms(10)),
        Animal::new("accepts", &["ok/200"], [answer("200 OK", "connection: close\r\n", "hello"), Close])
            .door(Door::Slow(ms(30)))
            .callers(6),
    ]
}
