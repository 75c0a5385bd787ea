//! Byte for byte: requests as they go out, and answers of every shape with their bytes counted both ways.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{EndpointId, Reason, ServerTiming};
use fanscope::engine::transport::{AttemptRequest, Trace, Transport};
use fanscope::http::HttpTransport;
use fanscope::profile::{Endpoint, Template};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http_upstream::*;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

fn set(endpoint: &mut Endpoint, name: &str, value: &str) {
    endpoint.headers.push((name.to_owned(), Template::fixed(value)));
}

fn at(address: SocketAddr) -> Endpoint {
    endpoint(&format!("http://{address}/"))
}

fn text() -> Vec<u8> {
    (0..400).flat_map(|i| format!("price {i}, ").into_bytes()).collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn each_coding(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(text).unwrap();
    let mut plain = DeflateEncoder::new(Vec::new(), Compression::best());
    plain.write_all(text).unwrap();
    vec![
        ("gzip", gzip(text)),
        ("x-gzip", gzip(text)),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", plain.finish().unwrap()),
        ("zstd", zstd::encode_all(text, 3).unwrap()),
    ]
}

/// An answer of 200 with this body, whole.
fn encoded(coding: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The same in chunks of this size.
fn chunked(coding: &str, body: &[u8], size: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ntransfer-encoding: chunked\r\n\r\n");
    let mut answer = head.into_bytes();
    for chunk in body.chunks(size) {
        answer.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        answer.extend(chunk);
        answer.extend(b"\r\n");
    }
    answer.extend(b"0\r\n\r\n");
    answer
}

// ---- bytes, counted both ways

#[tokio::test]
async fn bytes_are_counted_as_they_came_and_decoded() {
    let text = text();
    for (coding, body) in each_coding(&text) {
        for answer in [encoded(coding, &body), chunked(coding, &body, 7)] {
            let mut shop = at(answering(answer).await);
            shop.expect.body_contains = Some("price 399, ".to_owned());
            let seen = once(shop).await.ok();
            assert_eq!((seen.bytes, seen.wire_bytes), (text.len() as u64, body.len() as u64), "{coding}");
        }
    }
    let seen = once(at(answering(ok("plain")).await)).await.ok();
    assert_eq!((seen.bytes, seen.wire_bytes), (5, 5));
    let seen = once(at(answering(encoded("identity", b"plain")).await)).await.ok();
    assert_eq!((seen.bytes, seen.wire_bytes), (5, 5));
}

#[tokio::test]
async fn gzip_is_asked_for_unless_the_profile_says_otherwise() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let asked = |name: &str, value: &str| {
        let mut shop = at(address);
        set(&mut shop, name, value);
        shop
    };
    for (shop, expected) in [
        (at(address), vec!["gzip"]),
        (asked("Accept-Encoding", "zstd, br"), vec!["zstd, br"]),
        (asked("accept-encoding", "identity"), vec!["identity"]),
        // A part of an encoded body can't be decoded.
        (asked("Range", "bytes=0-9"), vec![]),
    ] {
        once(shop).await.ok();
        assert_eq!(headers(&heads.lock().unwrap().pop().unwrap(), "accept-encoding"), expected);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_coding_is_a_fault_of_the_body() {
    let text = text();
    for (coding, body) in each_coding(&text) {
        let cut = &body[..body.len() - 1];
        let failure = once(at(answering(encoded(coding, cut)).await)).await.failure();
        assert_eq!((failure.reason, failure.status), (Reason::BodyTruncated, Some(200)), "{coding}");
        assert!(failure.detail.starts_with(&coding.replace("x-", "")), "{}", failure.detail);
        let more = [body.as_slice(), b"<!-- served by -->"].concat();
        let failure = once(at(answering(encoded(coding, &more)).await)).await.failure();
        assert_eq!(failure.reason, Reason::BodyInvalid, "{coding}: {}", failure.detail);
        // Where the connection ends first that is what happened.
        let answer = encoded(coding, &body);
        let failure = once(at(answering_once(&answer[..answer.len() - 9]).await)).await.failure();
        assert_eq!(failure.reason, Reason::BodyTruncated, "{coding}: {}", failure.detail);
    }
    for coding in ["gzip", "zstd", "deflate"] {
        let failure = once(at(answering(encoded(coding, b"<html>plain</html>")).await)).await.failure();
        assert_eq!(failure.reason, Reason::BodyInvalid, "{coding}: {}", failure.detail);
    }
    let mut bad_sum = gzip(&text);
    let at_sum = bad_sum.len() - 6;
    bad_sum[at_sum] ^= 1;
    let failure = once(at(answering(encoded("gzip", &bad_sum)).await)).await.failure();
    assert_eq!(failure.reason, Reason::BodyInvalid, "{}", failure.detail);
}

#[tokio::test]
async fn a_coding_that_is_not_undone_is_counted_as_it_came_and_named() {
    for (coding, named) in
        [("br", "(br)"), ("gzip, br", "(several codings)"), ("hunter2", "(an unknown coding)")]
    {
        let address = answering(encoded(coding, b"\x0b\x02\x80price\x03")).await;
        let seen = once(at(address)).await.ok();
        assert_eq!((seen.bytes, seen.wire_bytes), (9, 9));
        let mut shop = at(address);
        shop.expect.body_contains = Some("sold out".to_owned());
        let failure = once(shop).await.failure();
        assert_eq!(failure.reason, Reason::CheckFailed);
        assert!(failure.detail.contains(named) && !failure.detail.contains("hunter2"), "{}", failure.detail);
    }
}

#[tokio::test]
async fn a_bomb_is_stopped_where_the_limit_is() {
    let text = vec![b'0'; 8 << 20];
    for (coding, body) in each_coding(&text) {
        let mut shop = at(answering(encoded(coding, &body)).await);
        shop.expect.max_body = 1 << 20;
        let came = once(shop).await;
        // One buffer of a decoder may come on top.
        assert!(came.seen.bytes <= (1 << 20) + (256 << 10), "{coding}: {}", came.seen.bytes);
        assert_eq!(came.failure().reason, Reason::BodyLimit, "{coding}");
    }
    // To the byte.
    let exact = vec![b'0'; 100_000];
    for (coding, body) in each_coding(&exact) {
        let mut shop = at(answering(encoded(coding, &body)).await);
        shop.expect.max_body = 100_000;
        assert_eq!(once(shop.clone()).await.ok().bytes, 100_000, "{coding}");
        shop.expect.max_body = 99_999;
        assert_eq!(once(shop).await.failure().reason, Reason::BodyLimit, "{coding}");
    }
}

#[tokio::test]
async fn what_is_kept_of_an_encoded_answer_is_decoded_and_redacted() {
    let page = b"sorry, Bearer hunter2 is not known here";
    for (coding, body) in each_coding(page) {
        let mut answer = encoded(coding, &body);
        answer.splice(9..15, *b"403 No");
        let mut shop = at(answering(answer).await);
        set(&mut shop, "authorization", "Bearer hunter2");
        let seen = once(shop).await.seen;
        assert_eq!(&*seen.answer.unwrap().body, "sorry, <redacted> is not known here", "{coding}");
    }
    // Of one that is too large its beginning, once.
    let mut shop = at(answering(encoded("gzip", &gzip(b"0123456789"))).await);
    shop.expect.max_body = 8;
    let answer = once(shop).await.seen.answer.unwrap();
    assert_eq!((&*answer.body, answer.body_truncated), ("0123456789", true));
}

#[tokio::test]
async fn h10_the_bytes_are_those_of_the_answer_that_decided() {
    let last = answering(encoded("gzip", &gzip(&text()))).await;
    let page = "<a href=\"elsewhere\">moved, and many words about it</a>";
    let first =
        format!("HTTP/1.1 302 X\r\nlocation: http://{last}/\r\ncontent-length: {}\r\n\r\n{page}", page.len());
    let address = answering(first).await;
    let mut shop = at(address);
    shop.follow = 1;
    let seen = once(shop).await.ok();
    let came = gzip(&text()).len() as u64;
    assert_eq!((seen.bytes, seen.wire_bytes), (text().len() as u64, came));
    // Not followed it is an answer of its own.
    let mut shop = at(address);
    shop.expect.status = fanscope::profile::StatusSet(vec![(302, 302)]);
    assert_eq!(once(shop).await.ok().bytes, page.len() as u64);
}

// ---- answers of every shape

/// Asks twice over one transport; the second must go over the first one's connection.
async fn kept_alive(shop: Endpoint) {
    let transport = transport(shop);
    for round in 1..=2 {
        let seen = attempt(&transport, round).await.ok();
        assert_eq!((seen.bytes, seen.wire_bytes), (0, 0));
        assert_eq!(seen.reused, Some(round > 1));
    }
}

#[tokio::test]
async fn a_part_of_an_encoded_body_is_taken_as_it_comes() {
    let text = text();
    for (coding, body) in each_coding(&text) {
        let part = &body[..body.len() / 2];
        let answer = encoded(coding, part);
        let answer =
            [b"HTTP/1.1 206 Partial Content".as_slice(), &answer[b"HTTP/1.1 200 OK".len()..]].concat();
        let mut shop = at(answering(answer).await);
        let seen = once(shop.clone()).await.ok();
        assert_eq!((seen.bytes, seen.wire_bytes), (part.len() as u64, part.len() as u64), "{coding}");
        shop.expect.body_contains = Some("price 399, ".to_owned());
        let failure = once(shop).await.failure();
        assert_eq!(failure.reason, Reason::CheckFailed);
        let named = format!("it is encoded ({})", coding.trim_start_matches("x-"));
        assert!(failure.detail.contains(&named), "{}", failure.detail);
    }
}

#[tokio::test]
async fn answers_without_a_body_end_with_their_head_and_keep_the_connection() {
    for (method, answer) in [
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5000\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5000\r\ncontent-encoding: gzip\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\netag: \"x\"\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 0\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("DELETE", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
    ] {
        let mut shop = at(answering(answer).await);
        method.clone_into(&mut shop.method);
        shop.expect.status = fanscope::profile::StatusSet(vec![(200, 399)]);
        let done = tokio::time::timeout(std::time::Duration::from_secs(20), kept_alive(shop)).await;
        assert!(done.is_ok(), "{method} {answer:?} never ended");
    }
}

#[tokio::test]
async fn a_body_that_no_answer_to_head_may_have_does_not_become_the_next_answer() {
    let address = answering(ok("HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n")).await;
    let mut shop = at(address);
    "HEAD".clone_into(&mut shop.method);
    let transport = transport(shop);
    for round in 1..=3 {
        let came = attempt(&transport, round).await;
        let (status, result) = (came.seen.status, came.result);
        // It is thrown away with its connection, or noticed before the next request is lost to it.
        assert!(status == Some(200) || status.is_none(), "{status:?} {result:?}");
    }
}

#[tokio::test]
async fn informational_answers_go_before_the_answer_and_are_not_it() {
    let early = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\nserver-timing: early\r\n\r\n";
    for before in [
        "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
        early.to_owned(),
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n".to_owned() + early,
        early.repeat(500),
    ] {
        let address =
            answering(before + "HTTP/1.1 200 OK\r\nserver-timing: db;dur=2\r\ncontent-length: 2\r\n\r\nok")
                .await;
        let transport = transport(at(address));
        for round in 1..=2 {
            let seen = attempt(&transport, round).await.ok();
            assert_eq!((seen.status, seen.bytes, seen.reused), (Some(200), 2, Some(round > 1)));
            assert_eq!(seen.server_timing.len(), 1);
        }
    }
}

#[tokio::test]
async fn a_switch_of_protocols_that_nobody_asked_for_is_a_refused_status() {
    let switch = "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\nhello";
    let came = once(at(answering(switch).await)).await;
    let failure = came.failure();
    assert!(
        matches!(
            (failure.reason, failure.status),
            (Reason::HttpStatus, Some(101)) | (Reason::Protocol, None)
        ),
        "{failure:?}"
    );
}

#[tokio::test]
async fn headers_that_repeat_are_all_kept_in_their_order() {
    let answer =
        "HTTP/1.1 500 X\r\nvia: one\r\nx-empty:\r\nVia: two, three\r\nvia: four\r\ncontent-length: 0\r\n\r\n";
    let kept = once(at(answering(answer).await)).await.seen.answer.unwrap();
    let of = |name: &str| -> Vec<&str> {
        kept.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
    };
    assert_eq!((of("via"), of("x-empty")), (vec!["one", "two, three", "four"], vec![""]));
}

// ---- what the server says of its time

fn metric(name: &str, ms: Option<u64>, words: Option<&str>) -> ServerTiming {
    ServerTiming::new(name, ms.map(std::time::Duration::from_millis), words).unwrap()
}

#[tokio::test]
async fn server_timing_is_read_from_any_answer_and_from_behind_its_body() {
    let head = "server-timing: db;dur=53;desc=\"Postgres, main\", miss\r\nServer-Timing: app;dur=47\r\n";
    let expected = [
        metric("db", Some(53), Some("Postgres, main")),
        metric("miss", None, None),
        metric("app", Some(47), None),
    ];
    for status in ["200 OK", "503 Busy"] {
        let answer = format!("HTTP/1.1 {status}\r\n{head}content-length: 2\r\n\r\nok");
        let came = once(at(answering(answer).await)).await;
        assert_eq!(*came.seen.server_timing, expected, "{status}");
    }
    let behind = format!(
        "HTTP/1.1 200 OK\r\ntrailer: server-timing\r\n{head}transfer-encoding: chunked\r\n\r\n\
         2\r\nok\r\n0\r\nserver-timing: total;dur=99\r\n\r\n"
    );
    let mut shop = at(answering(behind).await);
    set(&mut shop, "te", "trailers");
    let seen = once(shop).await.ok();
    assert_eq!(seen.server_timing[..3], expected);
    assert_eq!(seen.server_timing[3..], [metric("total", Some(99), None)]);
    // No answer, none; rubbish, none.
    assert!(once(at(answering_once("").await)).await.seen.server_timing.is_empty());
    let rubbish = "HTTP/1.1 200 OK\r\nserver-timing: ;;dur=,=x\r\ncontent-length: 0\r\n\r\n";
    assert!(once(at(answering(rubbish).await)).await.ok().server_timing.is_empty());
}

#[tokio::test]
async fn server_timing_does_not_tell_secrets_and_is_that_of_the_answer_that_decided() {
    let answer = "HTTP/1.1 200 OK\r\nserver-timing: auth;desc=\"hunter2 ok\"\r\ncontent-length: 0\r\n\r\n";
    let last = answering(answer).await;
    let first = format!(
        "HTTP/1.1 302 X\r\nlocation: http://{last}/\r\nserver-timing: edge;dur=1\r\ncontent-length: 0\r\n\r\n"
    );
    let mut shop = at(answering(first).await);
    set(&mut shop, "authorization", "Bearer hunter2");
    shop.follow = 1;
    let seen = once(shop).await.ok();
    assert_eq!(*seen.server_timing, [metric("auth", None, Some("<redacted> ok"))]);
}

// ---- requests as they go out

/// Everything that the client sends, up to `end`.
async fn sent(shop: Endpoint, end: &'static [u8]) -> String {
    let (tell, told) = tokio::sync::oneshot::channel();
    let tell = Arc::new(std::sync::Mutex::new(Some(tell)));
    let address = upstream(move |_, mut stream| {
        let tell = Arc::clone(&tell);
        async move {
            let mut all = Vec::new();
            while !all.ends_with(end) {
                all.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(ok("").as_bytes()).await.unwrap();
            let tell = tell.lock().unwrap().take().unwrap();
            tell.send(all).unwrap();
        }
    })
    .await;
    let mut shop = shop;
    shop.connect_to = Some((address.ip().to_string(), address.port()));
    once(shop).await.ok();
    String::from_utf8(told.await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_whole_request_byte_for_byte() {
    let mut shop = endpoint("http://shop.example/a?b=c");
    shop.trace = false;
    set(&mut shop, "Accept", "a, b");
    set(&mut shop, "X-Tag", "one");
    set(&mut shop, "X-Other", "ä");
    set(&mut shop, "x-tag", "two, three");
    let agent = concat!("fanscope/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        sent(shop, b"\r\n\r\n").await,
        format!(
            "GET /a?b=c HTTP/1.1\r\naccept: a, b\r\nx-tag: one\r\nx-tag: two, three\r\nx-other: ä\r\n\
             accept-encoding: gzip\r\nhost: shop.example\r\nuser-agent: {agent}\r\n\r\n"
        )
    );
}

#[tokio::test]
async fn h21_targets_go_out_byte_for_byte() {
    for target in [
        "/%7E%2F%CE%BB/%zz/%",
        "//a///b/",
        "/a;b=c|d'e!$&()*+,:@~[x]",
        "/?",
        "/?a=%20+b&&c=%26&d=%27/?x=|",
        "/?q=a?b",
        "/a...b/.well-known/..x/x..",
        "/%00%0d%0a%ff",
    ] {
        let mut shop = endpoint(&format!("http://shop.example{target}"));
        shop.trace = false;
        let sent = sent(shop, b"\r\n\r\n").await;
        assert_eq!(sent.lines().next().unwrap(), format!("GET {target} HTTP/1.1"));
    }
    // What the client rewrites; `check` tells.
    for (written, target) in [
        ("http://shop.example", "/"),
        ("http://shop.example?q", "/?q"),
        ("http://shop.example/x#part", "/x"),
        ("http://shop.example/'?'", "/'?%27"),
        ("http://shop.example/a/../b/%2e%2E/%2E/c", "/c"),
        ("http://shop.example/a b/ä?c d=ö", "/a%20b/%C3%A4?c%20d=%C3%B6"),
    ] {
        let sent = sent(endpoint(written), b"\r\n\r\n").await;
        assert_eq!(sent.lines().next().unwrap(), format!("GET {target} HTTP/1.1"));
    }
}

#[tokio::test]
async fn h14_host_and_path_of_endpoints_are_never_mixed() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let servers = [recording(answer).await, recording(answer).await];
    let url = |no: usize| format!("http://{}/only/{no}?no={no}", servers[no % 2].0);
    let endpoints = (0..12).map(|no| endpoint(&url(no))).collect();
    let transport = HttpTransport::new(Arc::new(profile(endpoints)), None).unwrap();
    for round in 1..=3 {
        let all = (0..12).map(|no| {
            let request = AttemptRequest { endpoint: EndpointId(no), ..request(round) };
            transport.attempt(request, Trace::new(Instant::now(), None))
        });
        for result in futures_util::future::join_all(all).await {
            result.unwrap();
        }
    }
    for (parity, (address, heads)) in servers.iter().enumerate() {
        let mut lines: Vec<String> = Vec::new();
        for head in heads.lock().unwrap().iter() {
            assert_eq!(headers(head, "host"), [address.to_string()]);
            lines.push(head.lines().next().unwrap().to_owned());
        }
        lines.sort();
        let own = (parity..12).step_by(2);
        let mut expected: Vec<_> = own.map(|no| format!("GET /only/{no}?no={no} HTTP/1.1")).collect();
        expected = expected.iter().flat_map(|line| vec![line.clone(); 3]).collect();
        expected.sort();
        assert_eq!(lines, expected);
    }
}

#[tokio::test]
async fn bodies_say_their_length_also_when_they_are_empty() {
    for (method, body, length) in [
        ("POST", "", Some("0")),
        ("PUT", "", Some("0")),
        ("PATCH", "", Some("0")),
        ("POST", "é", Some("2")),
        ("GET", "", None),
        ("HEAD", "", None),
        ("DELETE", "", None),
        ("DELETE", "{}", Some("2")),
        ("OPTIONS", "", None),
    ] {
        let mut shop = endpoint("http://shop.example/");
        method.clone_into(&mut shop.method);
        shop.body = Template::fixed(body);
        let sent = sent(shop, if body.is_empty() { b"\r\n\r\n" } else { body.as_bytes() }).await;
        assert_eq!(header(&sent, "content-length"), length, "{method} {body:?}");
        assert_eq!((header(&sent, "transfer-encoding"), header(&sent, "expect")), (None, None));
        assert!(sent.ends_with(&format!("\r\n\r\n{body}")), "{sent:?}");
    }
}

#[tokio::test]
async fn e12_every_attempt_of_a_call_sends_the_same_bytes() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = at(address);
    "POST".clone_into(&mut shop.method);
    shop.body = Template::fixed("{\"sku\": \"4\\u00e92\"}\r\n\r\n\u{0}é");
    shop.trace = false;
    let transport = transport(shop);
    for no in 0..4 {
        let request = AttemptRequest { attempt: no, ..request(7) };
        transport.attempt(request, Trace::new(Instant::now(), None)).await.unwrap();
    }
    let heads = heads.lock().unwrap();
    assert!(heads[0].ends_with("\r\n\r\n{\"sku\": \"4\\u00e92\"}\r\n\r\n\u{0}é"), "{}", heads[0]);
    assert!(heads.len() == 4 && heads.iter().all(|head| *head == heads[0]), "{heads:?}");
}
