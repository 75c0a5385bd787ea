//! TLS: good ones, and the rest wrong in one way each.

use super::steps::{A_MOMENT, Animal, Cert, Step, head, hello, ms, send};
use Step::{Close, Drop, Flood, Hang, Reset, Tls, Wait};

const OK: &[&str] = &["ok/200"];
const TLS: &[&str] = &["tls/tls"];

pub fn all() -> Vec<Animal> {
    [certificates(), handshakes(), after()].concat()
}

fn certificates() -> Vec<Animal> {
    let shows = |name, cert, says| Animal::new(name, TLS, [hello()]).https([Tls(cert)]).says(says);
    vec![
        Animal::new("good", OK, [hello()]).https([Tls(Cert::Good)]),
        Animal::new("good-1.2", OK, [hello()]).https([Tls(Cert::Old)]),
        shows("self-signed", Cert::SelfSigned, "unknown issuer"),
        shows("expired", Cert::Expired, "expired"),
        shows("not-yet-valid", Cert::NotYetValid, "not valid yet"),
        shows("wrong-host", Cert::WrongHost, "wrong host"),
        shows("untrusted-ca", Cert::UntrustedAuthority, "unknown issuer"),
        // In TLS 1.3 the server's refusal comes after the handshake.
        Animal::new("wants-a-certificate", &["tls/waiting"], [hello()])
            .https([Tls(Cert::Mutual)])
            .says("ertificate"),
    ]
}

fn handshakes() -> Vec<Animal> {
    let instead = |name, expected, steps: Vec<Step>| Animal::new(name, expected, []).https(steps);
    vec![
        instead("tls-hang", &["deadline/tls"], vec![Hang]),
        instead("tls-speaks-http", TLS, vec![send("HTTP/1.1 400 Bad Request\r\n\r\n"), Hang])
            .says("does not speak TLS"),
        instead("tls-garbage", TLS, vec![send(vec![0x93; 300]), Hang]).says("does not speak TLS"),
        instead("tls-garbage-endless", TLS, vec![Flood(vec![0x93; 4000], u64::MAX)]),
        instead("tls-alert", TLS, vec![send(*b"\x15\x03\x03\x00\x02\x02\x28"), Hang]),
        // Either may be noticed before the handshake has begun.
        instead("tls-reset", &["tls/tls", "conn_reset/connect", "tls/connect"], vec![Reset]),
        instead("tls-close", TLS, vec![Close]),
        Animal::new("tls-slow", OK, [hello()]).https([Wait(ms(200)), Tls(Cert::Good)]).not_before(ms(200)),
    ]
}

fn after() -> Vec<Animal> {
    let good = |name, expected, steps: Vec<Step>| Animal::new(name, expected, steps).https([Tls(Cert::Good)]);
    let begun = || head("content-length: 1000\r\n");
    let truncated: &[_] = &["body_truncated/body/200"];
    vec![
        good("hang-inside", &["deadline/waiting"], vec![Hang]),
        good("hang-inside-body", &["deadline/body/200"], vec![begun(), Hang]),
        good("reset-inside", &["conn_reset/waiting"], vec![Reset]),
        good("reset-inside-body", &["conn_reset/body/200"], vec![begun(), A_MOMENT, Reset]),
        good("close-inside", &["conn_closed/waiting"], vec![Close]),
        // A close without the close_notify that tells an end from a cut.
        good("drop-inside", &["conn_closed/waiting"], vec![Drop]).says("without sending TLS close_notify"),
        good("drop-inside-body", truncated, vec![begun(), send("hello"), A_MOMENT, Drop]),
        good("drop-until-close", truncated, vec![head(""), send("hello"), A_MOMENT, Drop]),
        good("until-close-inside", OK, vec![head(""), send("hello"), Close]),
    ]
}
