//! What is kept of an answer that made its attempt fail (section 8, point 6), against real sockets: safe to show,
//! without secrets, bounded.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{Answer, Reason};
use fanscope::profile::{Endpoint, HttpChoice, Template};
use http_upstream::*;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// The reason and what was kept.
async fn kept(endpoint: Endpoint) -> (Reason, Arc<Answer>) {
    let came = once(endpoint).await;
    let answer = came.seen.answer.clone().expect("an answer was kept");
    (came.failure().reason, answer)
}

async fn kept_of(answer: impl Into<Vec<u8>>) -> (Reason, Arc<Answer>) {
    let address = answering_once(answer).await;
    kept(endpoint(&format!("http://{address}/"))).await
}

fn failing(head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut answer = format!("HTTP/1.1 503 Whatever\r\n{head}content-length: {length}\r\n\r\n").into_bytes();
    answer.extend(body);
    answer
}

fn value<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let found = answer.headers.iter().find(|(n, _)| n == name);
    found.map(|(_, value)| value.as_str()).unwrap()
}

#[tokio::test]
async fn s8_6_a_refused_status_keeps_status_line_headers_and_body() {
    let page = b"<h1>\x1b[31mSorry\x1b[0m</h1>\r\n\tback \xff soon\r\n\x07\xe2\x80\xae\n";
    let (reason, answer) =
        kept_of(failing("Content-Type: text/html\r\nX-Two: a\r\nX-Two: b\r\n", page)).await;
    assert_eq!(reason, Reason::HttpStatus);
    assert_eq!(answer.status_line, "HTTP/1.1 503 Service Unavailable");
    let names: Vec<_> = answer.headers.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names, ["content-type", "x-two", "x-two", "content-length"]);
    assert_eq!(value(&answer, "content-type"), "text/html");
    assert_eq!(&*answer.body, "<h1>\\x1b[31mSorry\\x1b[0m</h1>\n    back \u{fffd} soon\n\\x07\\u{202e}\n");
    assert!(!answer.body_truncated);
    assert_eq!(answer.headers_left_off, 0);
}

#[tokio::test]
async fn an_unusual_status_has_no_words() {
    let (_, answer) = kept_of("HTTP/1.0 599 \x41\r\n\r\nbye").await;
    assert_eq!((answer.status_line.as_str(), &*answer.body), ("HTTP/1.0 599", "bye"));
}

#[tokio::test]
async fn an_accepted_answer_is_not_kept_and_neither_is_none() {
    let address = answering(ok("hello")).await;
    let seen = once(endpoint(&format!("http://{address}/"))).await.ok();
    assert_eq!(seen.answer, None);
    let silent = answering_once("").await;
    let came = once(endpoint(&format!("http://{silent}/"))).await;
    assert_eq!(came.seen.answer, None);
    assert_eq!(came.failure().reason, Reason::ConnClosed);
}

#[tokio::test]
async fn faults_of_the_body_keep_what_had_come() {
    let check = |address: SocketAddr| {
        let mut shop = endpoint(&format!("http://{address}/"));
        shop.expect.body_contains = Some("price".to_owned());
        shop.expect.max_body = 8;
        shop
    };
    for (answer, reason, body, truncated) in [
        (ok("no"), Reason::CheckFailed, "no", false),
        (ok("0123456789"), Reason::BodyLimit, "0123456789", true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_owned(), Reason::BodyTruncated, "half", true),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n".to_owned(),
            Reason::BodyInvalid,
            "half",
            true,
        ),
    ] {
        let (came, answer) = kept(check(answering_once(answer).await)).await;
        assert_eq!((came, &*answer.body, answer.body_truncated), (reason, body, truncated));
        assert_eq!(answer.status_line, "HTTP/1.1 200 OK");
    }
}

#[tokio::test]
async fn what_is_kept_is_bounded() {
    let head: Vec<_> = (0..40).map(|i| format!("x-{i}: {}\r\n", "v".repeat(300))).collect();
    let head = format!("{}: long\r\n{}", "n".repeat(100), head.concat());
    let body = "é".repeat(1023) + "x€" + &"y".repeat(100_000);
    let (_, answer) = kept_of(failing(&head, body.as_bytes())).await;
    assert_eq!((answer.headers.len(), answer.headers_left_off), (Answer::MAX_HEADERS, 10));
    assert!(answer.headers.iter().all(|(n, v)| n.len() <= Answer::MAX_NAME && v.len() <= Answer::MAX_VALUE));
    let (name, value) = (&answer.headers[0].0, &answer.headers[1].1);
    assert!(name.ends_with("n…") && value.ends_with("v…"), "{name} {value}");
    // The character that the limit splits is left out.
    assert_eq!(*answer.body, *("é".repeat(1023) + "x"));
    assert!(answer.body_truncated);
    let exact = "z".repeat(Answer::MAX_BODY);
    let (_, answer) = kept_of(failing("", exact.as_bytes())).await;
    assert_eq!((&*answer.body, answer.body_truncated), (exact.as_str(), false));
}

fn set(endpoint: &mut Endpoint, name: &str, value: &str) {
    endpoint.headers.push((name.to_owned(), Template::fixed(value)));
}

/// A server that sends the whole request back, as a header and as the body of a 500.
async fn echoing() -> SocketAddr {
    upstream(|_, mut stream| async move {
        while let Some(head) = read_head(&mut stream).await {
            let line = head.replace("\r\n", " | ");
            let length = head.len();
            let answer =
                format!("HTTP/1.1 500 X\r\nx-echo: {line}\r\ncontent-length: {length}\r\n\r\n{head}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await
}

#[tokio::test]
async fn secrets_that_are_sent_back_are_not_kept() {
    let address = echoing().await;
    let mut shop =
        endpoint(&format!("http://Aladdin:open%20sesame@{address}/?q=visible&token=hunter2%2Fa&sig=abc"));
    "POST".clone_into(&mut shop.method);
    set(&mut shop, "Cookie", "sid=c00kie; theme=dark");
    set(&mut shop, "X-Api-Key", "k3y-value");
    set(&mut shop, "X-Plain", "stays");
    shop.body = Template::fixed("user=me&password=s3cret%21");
    let (_, answer) = kept(shop).await;
    let shown = format!("{answer:?}");
    for secret in ["hunter2", "QWxhZGRpbjpvcGVuIHNlc2FtZQ", "c00kie", "k3y-value", "s3cret"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    for plain in ["q=visible", "user=me", "x-plain: stays", "token=<redacted>", "x-api-key: <redacted>"] {
        assert!(answer.body.contains(plain), "{plain} not in {}", answer.body);
        assert!(shown.contains(plain));
    }
}

#[tokio::test]
async fn parts_of_credentials_are_secrets_too() {
    let page =
        b"no user Aladdin, no password open sesame, no session c00kie, no token hunter2/a or hunter2%2fa";
    let address = answering_once(failing("X-Why: wrong hunter2/a\r\n", page)).await;
    let mut shop = endpoint(&format!("http://Aladdin:open%20sesame@{address}/?%74oken=hunter2%2fa"));
    set(&mut shop, "Cookie", "sid=c00kie");
    let (_, answer) = kept(shop).await;
    let r = "<redacted>";
    let want = format!("no user {r}, no password {r}, no session {r}, no token {r} or {r}");
    assert_eq!((&*answer.body, value(&answer, "x-why")), (want.as_str(), "wrong <redacted>"));
}

#[tokio::test]
async fn a_secret_that_the_limit_splits_is_not_kept_in_part() {
    let page = "x".repeat(Answer::MAX_BODY - 5) + "hunter2";
    let address = answering_once(failing("", page.as_bytes())).await;
    let mut shop = endpoint(&format!("http://{address}/"));
    set(&mut shop, "Authorization", "Bearer hunter2");
    let (_, answer) = kept(shop).await;
    assert!(answer.body.ends_with("xxx<redacted>") && answer.body_truncated, "{}", answer.body);
}

#[tokio::test]
async fn headers_with_credentials_are_not_kept() {
    let secret = [
        "Set-Cookie",
        "Authorization",
        "Proxy-Authenticate",
        "X-Auth-Token",
        "X-Secret",
        "Api-Key",
        "Password",
    ];
    let head = secret.map(|name| format!("{name}: hunter2\r\n")).concat();
    let head = format!(
        "{head}Location: http://me:hunter2@h.example/cb?token=hunter2&a=b\r\nWWW-Authenticate: Basic realm=\"shop\"\r\n"
    );
    let (_, answer) = kept_of(failing(&head, b"")).await;
    for name in secret {
        assert_eq!(value(&answer, &name.to_ascii_lowercase()), "<redacted>", "{name}");
    }
    assert_eq!(value(&answer, "location"), "http://<redacted>@h.example/cb?token=<redacted>&a=b");
    // A challenge is no secret, and a 401 is hard to explain without it.
    assert_eq!(value(&answer, "www-authenticate"), "Basic realm=\"shop\"");
}

fn redirect_to(target: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 5\r\n\r\nmoved")
}

#[tokio::test]
async fn of_redirects_the_answer_that_decided_is_kept() {
    // Not followed: an answer like any other.
    let (reason, answer) = kept_of(redirect_to("/next")).await;
    assert_eq!((reason, &*answer.body, answer.body_truncated), (Reason::HttpStatus, "moved", false));
    assert_eq!(answer.status_line, "HTTP/1.1 302 Found");
    // Followed too often: its body is never read.
    let mut shop = endpoint(&format!("http://{}/", answering_once(redirect_to("/again")).await));
    shop.follow = 2;
    let (reason, answer) = kept(shop).await;
    assert_eq!((reason, &*answer.body, answer.body_truncated), (Reason::Redirect, "", true));
    assert_eq!(value(&answer, "location"), "/again");
    // Followed to a failure: only that one, without the secret that led there.
    let there = answering_once(failing("", b"bad ticket 4711abcd")).await;
    let here = answering_once(redirect_to(&format!("http://{there}/?token=4711abcd"))).await;
    let mut shop = endpoint(&format!("http://{here}/"));
    shop.follow = 2;
    let (reason, answer) = kept(shop).await;
    assert_eq!((reason, &*answer.body), (Reason::HttpStatus, "bad ticket <redacted>"));
    assert_eq!(answer.status_line, "HTTP/1.1 503 Service Unavailable");
}

#[tokio::test]
async fn http2_answers_are_kept_alike() {
    let address = upstream(|_, stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let answer = http::Response::builder().status(429).header("x-why", "too many").body(()).unwrap();
            let mut body = respond.send_response(answer, false).unwrap();
            body.send_data("slow down".into(), true).unwrap();
        }
    })
    .await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.http = HttpChoice::Http2;
    let (reason, answer) = kept(shop).await;
    assert_eq!((reason, &*answer.body), (Reason::HttpStatus, "slow down"));
    assert_eq!(answer.status_line, "HTTP/2.0 429 Too Many Requests");
    assert_eq!(value(&answer, "x-why"), "too many");
}

// ---- the trace

#[tokio::test]
async fn the_trace_id_is_the_one_that_was_sent() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let shop = endpoint(&format!("http://{address}/"));
    let id = once(shop.clone()).await.ok().trace_id.unwrap().to_string();
    let sent = heads.lock().unwrap()[0].clone();
    assert!(header(&sent, "traceparent").unwrap().starts_with(&format!("00-{id}-")), "{sent}");
    // The profile's own counts too; none is none.
    let mut own = shop.clone();
    set(&mut own, "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
    let id = once(own).await.ok().trace_id.unwrap().to_string();
    assert_eq!(id, "4bf92f3577b34da6a3ce929d0e0e4736");
    let untraced = Endpoint { trace: false, ..shop };
    assert_eq!(once(untraced).await.ok().trace_id, None);
}
