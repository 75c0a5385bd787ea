//! Every reason that the HTTP room can give, shown against real sockets that misbehave.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{Phase, Reason};
use fanscope::engine::transport::{Failure, Trace, Transport};
use fanscope::http::HttpTransport;
use fanscope::profile::{Distribution, HttpChoice, Resolver, Simulation, StatusSet, Target, Template, Tls};
use http_upstream::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::time::Instant;

async fn reason_of(answer: &str) -> Failure {
    let address = answering_once(answer).await;
    once(endpoint(&format!("http://{address}/"))).await.failure()
}

// ---- names

/// A name server that knows no name and counts what it is asked.
async fn knows_nothing() -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let asked: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&asked);
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut packet = [0; 512];
        loop {
            let (size, from) = socket.recv_from(&mut packet).await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            // The question ends after its name, type and class; what follows (EDNS) is cut off.
            let mut end = 12;
            while packet[end] != 0 {
                end += usize::from(packet[end]) + 1;
            }
            end += 5;
            assert!(end <= size);
            packet[2..4].copy_from_slice(&[0x81, 0x83]); // an answer: NXDOMAIN
            packet[6..12].fill(0);
            socket.send_to(&packet[..end], from).await.unwrap();
        }
    });
    (address, asked)
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_dns() {
    let (server, asked) = knows_nothing().await;
    let profile = profile(vec![endpoint("http://no-such-shop.example./")]);
    let transport = HttpTransport::with_name_servers(Arc::new(profile), None, &[server]).unwrap();
    let (came, other) = tokio::join!(attempt(&transport, 1), attempt(&transport, 1));
    assert_eq!(came.seen.phase, Phase::Dns);
    for failure in [came.failure(), other.failure()] {
        assert_eq!(failure.reason, Reason::Dns);
        assert!(failure.detail.contains("NXDOMAIN"), "{}", failure.detail);
    }
    // Both calls shared one lookup: A and AAAA.
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

// On paused time: nothing ever answers, so the resolver's patience passes at once.
#[tokio::test(start_paused = true)]
async fn no_name_server_at_all_is_dns() {
    let closed = closed_port();
    let profile = profile(vec![endpoint("http://no-such-shop.example./")]);
    let transport = HttpTransport::with_name_servers(Arc::new(profile), None, &[closed]).unwrap();
    assert_eq!(attempt(&transport, 1).await.failure().reason, Reason::Dns);
}

#[tokio::test]
async fn the_systems_resolver_gives_the_same_reason() {
    let mut profile = profile(vec![endpoint("http://a..b.invalid/")]);
    profile.resolver = Resolver::System;
    let transport = HttpTransport::new(Arc::new(profile), None).unwrap();
    // An empty label is refused by getaddrinfo itself, without a network.
    assert_eq!(attempt(&transport, 1).await.failure().reason, Reason::Dns);
}

// ---- connecting

fn closed_port() -> std::net::SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn a_closed_port_is_connect_refused() {
    let came = once(endpoint(&format!("http://{}/", closed_port()))).await;
    assert_eq!(came.seen.http, None);
    let failure = came.failure();
    assert_eq!(failure.reason, Reason::ConnectRefused);
    assert!(failure.detail.to_lowercase().contains("refused"), "{}", failure.detail);
    assert!(failure.retryable());
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn an_address_without_a_route_is_connect_unreachable() {
    // The limited broadcast address takes no TCP connection anywhere.
    let failure = once(endpoint("http://255.255.255.255/")).await.failure();
    assert_eq!(failure.reason, Reason::ConnectUnreachable, "{}", failure.detail);
}

// ---- TLS

async fn tls_failure(names: &[&str], valid: bool, trusted: bool) -> Failure {
    let authority = Authority::new();
    let (address, _) = tls_upstream(server_config(&authority.sign(names, valid), &[])).await;
    let mut shop = endpoint(&format!("https://localhost:{}/", address.port()));
    let other = Authority::new();
    shop.tls.ca = Some(if trusted { authority.ca_file() } else { other.ca_file() });
    let came = once(shop).await;
    assert_eq!(came.seen.phase, Phase::Tls);
    came.failure()
}

#[tokio::test]
async fn tls_says_what_is_wrong_with_the_certificate() {
    for (names, valid, trusted, words) in [
        (&["localhost"], false, true, "expired"),
        (&["elsewhere.example"], true, true, "wrong host"),
        (&["localhost"], true, false, "unknown issuer"),
    ] {
        let failure = tls_failure(names, valid, trusted).await;
        assert_eq!(failure.reason, Reason::Tls);
        assert!(failure.detail.starts_with(words), "{words}: {}", failure.detail);
    }
}

#[tokio::test]
async fn https_to_a_port_that_speaks_http_is_tls() {
    let address = upstream(|_, mut stream| async move {
        let _ = stream.read_u8().await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let failure = once(endpoint(&format!("https://{address}/"))).await.failure();
    assert_eq!(failure.reason, Reason::Tls);
    assert!(failure.detail.contains("does not speak TLS"), "{}", failure.detail);
}

#[tokio::test]
async fn a_handshake_that_is_cut_is_tls() {
    for with_reset in [true, false] {
        let address = upstream(move |_, mut stream| async move {
            let _ = stream.read_u8().await;
            if with_reset {
                reset(stream);
            }
        })
        .await;
        assert_eq!(once(endpoint(&format!("https://{address}/"))).await.failure().reason, Reason::Tls);
    }
}

// ---- the connection

#[tokio::test]
async fn a_reset_before_the_head_is_conn_reset() {
    let address = upstream(|_, mut stream| async move {
        read_head(&mut stream).await;
        reset(stream);
    })
    .await;
    let failure = once(endpoint(&format!("http://{address}/"))).await.failure();
    assert_eq!(failure.reason, Reason::ConnReset);
    assert!(!failure.detail.contains("stale"), "{}", failure.detail);
}

#[tokio::test]
async fn a_close_before_or_within_the_head_is_conn_closed() {
    for answer in ["", "HTTP/1.1 200 OK\r\ncontent-le"] {
        let failure = reason_of(answer).await;
        assert_eq!(failure.reason, Reason::ConnClosed, "{answer:?}: {}", failure.detail);
        assert!(!failure.detail.contains("stale"));
    }
}

#[tokio::test]
async fn a_kept_connection_that_closes_under_the_request_is_stale() {
    for with_reset in [true, false] {
        let address = upstream(move |_, mut stream| async move {
            read_head(&mut stream).await;
            stream.write_all(ok("first").as_bytes()).await.unwrap();
            read_head(&mut stream).await;
            if with_reset {
                reset(stream);
            }
        })
        .await;
        let transport = transport(endpoint(&format!("http://{address}/")));
        assert_eq!(attempt(&transport, 1).await.ok().reused, Some(false));
        let second = attempt(&transport, 2).await;
        assert_eq!(second.seen.reused, Some(true));
        let failure = second.failure();
        assert_eq!(failure.reason, if with_reset { Reason::ConnReset } else { Reason::ConnClosed });
        assert!(failure.detail.starts_with("stale: "), "{}", failure.detail);
    }
}

#[tokio::test]
async fn what_is_not_http_is_protocol() {
    for answer in
        ["SSH-2.0-OpenSSH_9.9\r\n\r\n", "HTTP/1.1 banana\r\n\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n"]
    {
        let failure = reason_of(answer).await;
        assert_eq!(failure.reason, Reason::Protocol, "{answer:?}: {}", failure.detail);
    }
}

// ---- the body

#[tokio::test]
async fn a_body_that_ends_early_is_body_truncated() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nshort",
    ] {
        let failure = reason_of(answer).await;
        assert_eq!(failure.reason, Reason::BodyTruncated, "{answer:?}: {}", failure.detail);
        assert_eq!(failure.status, Some(200));
    }
}

#[tokio::test]
async fn a_body_that_is_reset_is_conn_reset() {
    let tell = Arc::new(Notify::new());
    let seen_head = Arc::clone(&tell);
    let address = upstream(move |_, mut stream| {
        let seen_head = Arc::clone(&seen_head);
        async move {
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n").await.unwrap();
            // A reset throws away what the client has not read: it comes once the client has seen the head.
            seen_head.notified().await;
            reset(stream);
        }
    })
    .await;
    let transport = transport(endpoint(&format!("http://{address}/")));
    let watch = move |phase, _| {
        if phase == Phase::Body {
            tell.notify_one();
        }
    };
    let trace = Trace::new(Instant::now(), Some(Box::new(watch)));
    let failure = transport.attempt(request(1), trace).await.unwrap_err();
    assert_eq!(failure.reason, Reason::ConnReset, "{}", failure.detail);
}

#[tokio::test]
async fn broken_framing_or_encoding_is_body_invalid() {
    for answer in [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnot a size\r\n",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 11\r\n\r\nno gzip yet",
    ] {
        let failure = reason_of(answer).await;
        assert_eq!(failure.reason, Reason::BodyInvalid, "{answer:?}: {}", failure.detail);
    }
}

#[tokio::test]
async fn an_endless_body_is_body_limit() {
    let address = upstream(|_, mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
        while stream.write_all(b"a\r\n0123456789\r\n").await.is_ok() {}
    })
    .await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.expect.max_body = 1000;
    let failure = once(shop).await.failure();
    assert_eq!((failure.reason, failure.status), (Reason::BodyLimit, Some(200)));
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_fine() {
    let address = answering(ok("0123456789")).await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.expect.max_body = 10;
    assert_eq!(once(shop).await.ok().bytes, 10);
}

// ---- the answer

#[tokio::test]
async fn a_refused_status_is_http_status() {
    let busy = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n";
    let plain = reason_of(&format!("{busy}\r\n")).await;
    assert_eq!((plain.reason, plain.status, plain.retry_after), (Reason::HttpStatus, Some(503), None));
    assert!(plain.retryable());
    let later = reason_of(&format!("{busy}retry-after: 7\r\n\r\n")).await;
    assert_eq!(later.retry_after, Some(Duration::from_secs(7)));
    assert!(!later.retryable());
    assert!(later.detail.contains("503"), "{}", later.detail);
}

#[tokio::test]
async fn a_refused_status_outranks_a_broken_body() {
    let failure = reason_of("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 100\r\n\r\nshort").await;
    assert_eq!((failure.reason, failure.status), (Reason::HttpStatus, Some(502)));
}

#[tokio::test]
async fn an_expected_status_is_an_answer() {
    let address = answering_once("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.expect.status = StatusSet(vec![(200, 299), (404, 404)]);
    assert_eq!(once(shop).await.ok().status, Some(404));
}

#[tokio::test]
async fn a_missing_text_is_check_failed_also_across_chunks() {
    let address = answering(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\nthe pr\r\n6\r\nice: 4\r\n0\r\n\r\n",
    )
    .await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.expect.body_contains = Some("price: 4".to_owned());
    assert_eq!(once(shop.clone()).await.ok().bytes, 12);
    shop.expect.body_contains = Some("price: 5".to_owned());
    let failure = once(shop).await.failure();
    assert_eq!((failure.reason, failure.status), (Reason::CheckFailed, Some(200)));
}

// ---- redirects

fn redirect_to(target: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n")
}

#[tokio::test]
async fn redirects_are_answers_unless_followed() {
    let failure = reason_of(&redirect_to("/next")).await;
    assert_eq!((failure.reason, failure.status), (Reason::HttpStatus, Some(302)));
}

#[tokio::test]
async fn too_many_redirects_is_redirect() {
    let address = answering_once(redirect_to("/again")).await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.follow = 3;
    let failure = once(shop).await.failure();
    assert_eq!((failure.reason, failure.status), (Reason::Redirect, Some(302)));
}

#[tokio::test]
async fn a_redirect_to_another_protocol_is_redirect() {
    let address = answering_once(redirect_to("ftp://user:hunter2@files.example/")).await;
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.follow = 3;
    let failure = once(shop).await.failure();
    assert_eq!(failure.reason, Reason::Redirect);
    assert!(!failure.detail.contains("hunter2"));
}

// ---- requests that can't be made

#[tokio::test]
async fn r4_what_cannot_be_built_is_invalid_request() {
    let hostile = |change: fn(&mut fanscope::profile::Endpoint)| {
        let mut shop = endpoint("http://127.0.0.1:1/?token=hunter2");
        change(&mut shop);
        shop
    };
    let simulation =
        Simulation { latency: Distribution::Fixed(Duration::ZERO), fail: None, slow: None, body: 0 };
    let simulated = Target::Simulated(vec![simulation]);
    let mut no_upstream = endpoint("");
    no_upstream.target = simulated;
    for shop in [
        endpoint("not a url hunter2"),
        endpoint("ftp://hunter2@127.0.0.1/"),
        endpoint("http://user:hunter2@/"),
        hostile(|e| e.headers = vec![("x-key".to_owned(), Template::fixed("hunter2\r\nevil: 1"))]),
        hostile(|e| e.headers = vec![("no header".to_owned(), Template::fixed("hunter2"))]),
        hostile(|e| "no method".clone_into(&mut e.method)),
        hostile(|e| e.target = Target::Urls(vec![Template(vec![fanscope::profile::types::Piece::Round])])),
        no_upstream,
    ] {
        let failure = once(shop).await.failure();
        assert_eq!(failure.reason, Reason::InvalidRequest, "{}", failure.detail);
        assert!(!failure.detail.contains("hunter2"), "{}", failure.detail);
    }
}

#[tokio::test]
async fn no_detail_tells_a_secret() {
    let garbage = answering_once("hunter2\r\n\r\n").await;
    let silent = answering_once("").await;
    let cut = upstream(|_, mut stream| async move {
        let _ = stream.read_u8().await;
    })
    .await;
    let moved = answering_once("HTTP/1.1 302 Found\r\nlocation: http://[hunter2\r\n\r\n").await;
    let (server, _) = knows_nothing().await;
    let closed = closed_port();
    for target in [
        format!("http://user:hunter2@{closed}"),
        format!("https://user:hunter2@{cut}"),
        format!("http://user:hunter2@{silent}"),
        format!("http://user:hunter2@{garbage}"),
        format!("http://user:hunter2@{moved}"),
        "http://user:hunter2@no-such-shop.example.".to_owned(),
    ] {
        let mut shop = endpoint(&format!("{target}/?token=hunter2"));
        shop.headers = vec![("authorization".to_owned(), Template::fixed("Bearer hunter2"))];
        shop.follow = 1;
        let profile = profile(vec![shop]);
        let transport = HttpTransport::with_name_servers(Arc::new(profile), None, &[server]).unwrap();
        let failure = attempt(&transport, 1).await.failure();
        assert!(!failure.detail.contains("hunter2"), "{target}: {}", failure.detail);
    }
}

#[tokio::test]
async fn files_that_cannot_be_read_are_said_at_the_start() {
    let mut shop = endpoint("https://127.0.0.1:1/");
    shop.tls = Tls { ca: Some("/nowhere/ca.pem".into()), ..Tls::default() };
    let error = HttpTransport::new(Arc::new(profile(vec![shop])), None).err().unwrap().to_string();
    assert!(error.contains("endpoint shop: tls.ca: /nowhere/ca.pem"), "{error}");
}

// ---- HTTP/2

fn over_http2(address: std::net::SocketAddr) -> fanscope::profile::Endpoint {
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.http = HttpChoice::Http2;
    shop
}

#[tokio::test]
async fn http2_goaway_with_the_request_in_flight_is_goaway() {
    let address = upstream(|_, stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let (_, mut respond) = connection.accept().await.unwrap().unwrap();
        respond.send_response(http::Response::new(()), true).unwrap();
        let _request = connection.accept().await.unwrap();
        connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
        while connection.accept().await.is_some() {}
    })
    .await;
    let transport = transport(over_http2(address));
    attempt(&transport, 1).await.ok();
    let failure = attempt(&transport, 2).await.failure();
    assert_eq!(failure.reason, Reason::Goaway, "{}", failure.detail);
}

#[tokio::test]
async fn http2_reset_stream_is_conn_reset() {
    let address = upstream(|_, stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            respond.send_reset(h2::Reason::INTERNAL_ERROR);
        }
    })
    .await;
    let failure = once(over_http2(address)).await.failure();
    assert_eq!(failure.reason, Reason::ConnReset, "{}", failure.detail);
}

#[tokio::test]
async fn http2_goaway_that_refuses_the_stream_is_goaway() {
    let failure = once(over_http2(going_away(0).await)).await.failure();
    assert_eq!(failure.reason, Reason::Goaway, "{}", failure.detail);
}

#[tokio::test]
async fn an_http2_connection_that_just_ends_says_that_it_may_be_no_goaway() {
    // hyper tells a GOAWAY that let our stream finish and a plain close in the same words.
    let address = answering_once("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    let failure = once(over_http2(address)).await.failure();
    assert_eq!(failure.reason, Reason::ConnClosed, "{}", failure.detail);
    assert!(failure.detail.contains("or no HTTP/2 there"), "{}", failure.detail);
}
