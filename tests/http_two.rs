//! HTTP/2: what is shared, what a cut costs its siblings, and what the peer is told.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{HttpVersion, Phase, Reason};
use fanscope::engine::transport::{AttemptRequest, Trace, Transport};
use fanscope::profile::{Endpoint, HttpChoice, Target, Template};
use http_upstream::*;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

fn over_http2(url: &str) -> Endpoint {
    let mut shop = endpoint(url);
    shop.http = HttpChoice::Http2;
    shop
}

/// What a server has seen of a request: its `:authority` and its `host` header.
type Names = Heads<(Option<String>, Option<String>)>;

/// Answers every request with 200, or never where its path says `/hang`; counts its connections.
async fn serving(config: Option<Arc<rustls::ServerConfig>>) -> (SocketAddr, Names, Arc<AtomicUsize>) {
    let (names, connections): (Names, Arc<AtomicUsize>) = Default::default();
    let (kept, count) = (Arc::clone(&names), Arc::clone(&connections));
    let address = upstream(move |_, stream| {
        count.fetch_add(1, Ordering::Relaxed);
        let (config, kept) = (config.clone(), Arc::clone(&kept));
        async move {
            match config {
                None => serve(stream, kept).await,
                Some(config) => {
                    let stream = tokio_rustls::TlsAcceptor::from(config).accept(stream).await;
                    if let Ok(stream) = stream {
                        serve(stream, kept).await;
                    }
                }
            }
        }
    })
    .await;
    (address, names, connections)
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, kept: Names) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let mut hanging = Vec::new();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let host = request.headers().get("host").map(|h| h.to_str().unwrap().to_owned());
        kept.lock().unwrap().push((request.uri().authority().map(ToString::to_string), host));
        if request.uri().path() == "/hang" {
            hanging.push(respond);
            continue;
        }
        let mut body = respond.send_response(http::Response::new(()), false).unwrap();
        body.send_data(bytes::Bytes::from_static(b"hello"), true).unwrap();
    }
}

// ---- cuts

#[tokio::test]
async fn r15_a_cut_resets_its_stream_and_spares_siblings_and_connection() {
    // Answers the second request once the first one's stream was reset.
    let (told, mut tell) = mpsc::unbounded_channel();
    let address = upstream(move |_, stream| {
        let told = told.clone();
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut streams = HashMap::new();
            while streams.len() < 2 {
                let (request, respond) = connection.accept().await.unwrap().unwrap();
                streams.insert(request.uri().path().to_owned(), respond);
            }
            told.send(None).unwrap();
            let [mut cut, mut sibling] = ["/cut", "/sibling"].map(|path| streams.remove(path).unwrap());
            let wait = async move {
                let reason = std::future::poll_fn(|cx| cut.poll_reset(cx)).await.unwrap();
                told.send(Some(reason)).unwrap();
                sibling.send_response(http::Response::new(()), true).unwrap();
            };
            tokio::spawn(wait);
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                respond.send_response(http::Response::new(()), true).unwrap();
            }
        }
    })
    .await;
    let mut shop = over_http2("");
    shop.target =
        Target::Urls(["cut", "sibling"].map(|p| Template::fixed(format!("http://{address}/{p}"))).into());
    let transport = transport(shop);
    let traces = [(); 3].map(|()| Trace::new(Instant::now(), None));
    let sibling = AttemptRequest { replica: 1, ..request(1) };
    let mut first = transport.attempt(request(1), traces[0].clone());
    let mut second = transport.attempt(sibling, traces[1].clone());
    tokio::select! {
        _ = &mut first => panic!("never answered"),
        _ = &mut second => panic!("not answered yet"),
        both = tell.recv() => assert_eq!(both, Some(None)),
    }
    assert_eq!(traces[0].seen(Instant::now()).phase, Phase::Waiting);
    drop(first);
    second.await.unwrap();
    assert_eq!(tell.recv().await, Some(Some(h2::Reason::CANCEL)));
    transport.attempt(request(2), traces[2].clone()).await.unwrap();
    let seen = traces[2].seen(Instant::now());
    assert_eq!((seen.http, seen.reused), (Some(HttpVersion::Http2), Some(true)));
    assert!(!traces.iter().any(Trace::is_shared));
}

/// Takes so many resets on a connection before it says that this is too many, as servers do.
const PATIENCE: usize = 200;

/// Rounds with a cut call each.
const ROUNDS: u64 = 600;

#[tokio::test]
async fn h04_hundreds_of_cuts_end_in_no_goaway_but_in_new_connections_now_and_then() {
    let (connections, ended): (Arc<AtomicUsize>, Arc<AtomicUsize>) = Default::default();
    let (count, enough) = (Arc::clone(&connections), Arc::clone(&ended));
    let address = upstream(move |_, stream| {
        count.fetch_add(1, Ordering::Relaxed);
        let enough = Arc::clone(&enough);
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let (told, mut resets) = mpsc::unbounded_channel();
            let mut many = 0;
            loop {
                let told = told.clone();
                tokio::select! {
                    accepted = connection.accept() => {
                        let Some(Ok((request, mut respond))) = accepted else { return };
                        if request.uri().path() != "/hang" {
                            respond.send_response(http::Response::new(()), true).unwrap();
                            continue;
                        }
                        tokio::spawn(async move {
                            let _ = std::future::poll_fn(|cx| respond.poll_reset(cx)).await;
                            let _ = told.send(());
                        });
                    }
                    _ = resets.recv() => many += 1,
                }
                if many > PATIENCE {
                    enough.fetch_add(1, Ordering::Relaxed);
                    connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
                    while connection.accept().await.is_some() {}
                    return;
                }
            }
        }
    })
    .await;
    let mut shop = over_http2("");
    shop.target =
        Target::Urls(["hang", "ok"].map(|p| Template::fixed(format!("http://{address}/{p}"))).into());
    let transport = transport(shop);
    for round in 1..=ROUNDS {
        let trace = Trace::new(Instant::now(), None);
        let mut cut = transport.attempt(request(round), trace.clone());
        until(&mut cut, || is_in(&trace, Phase::Waiting)).await;
        // Its sibling shares the connection, and is answered in every round.
        let sibling = AttemptRequest { replica: 1, ..request(round) };
        transport.attempt(sibling, Trace::new(Instant::now(), None)).await.unwrap();
    }
    assert_eq!(ended.load(Ordering::Relaxed), 0, "a connection was ended for its many resets");
    let connections = connections.load(Ordering::Relaxed);
    assert!((2..=20).contains(&connections), "{connections} connections for {ROUNDS} cuts");
}

#[tokio::test]
async fn h04_bodies_that_cannot_be_decoded_reset_their_streams_and_count_too() {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let address = upstream(move |_, stream| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut open = Vec::new();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let head = http::Response::builder().header("content-encoding", "gzip").body(()).unwrap();
                let mut body = respond.send_response(head, false).unwrap();
                body.send_data(bytes::Bytes::from_static(b"this is no gzip"), false).unwrap();
                open.push(body);
            }
        }
    })
    .await;
    let transport = transport(over_http2(&format!("http://{address}/")));
    for round in 1..=PATIENCE as u64 {
        assert_eq!(attempt(&transport, round).await.failure().reason, Reason::BodyInvalid);
    }
    assert_eq!(connections.load(Ordering::Relaxed), 2, "connections for {PATIENCE} resets");
}

// ---- what the peer says

#[tokio::test]
async fn h02_after_a_goaway_the_next_round_opens_a_new_connection() {
    let address = upstream(|no, stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let (_, mut respond) = connection.accept().await.unwrap().unwrap();
        respond.send_response(http::Response::new(()), true).unwrap();
        if no == 0 {
            let _request = connection.accept().await.unwrap().unwrap();
            connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
        }
        while connection.accept().await.is_some() {}
    })
    .await;
    let transport = transport(over_http2(&format!("http://{address}/")));
    attempt(&transport, 1).await.ok();
    let failure = attempt(&transport, 2).await.failure();
    assert_eq!(failure.reason, Reason::Goaway);
    // The stream had been accepted: of the GOAWAY nothing is left to it but a connection that ends.
    assert!(failure.detail.contains("GOAWAY"), "{}", failure.detail);
    let seen = attempt(&transport, 3).await.ok();
    assert_eq!((seen.http, seen.reused), (Some(HttpVersion::Http2), Some(false)));
}

#[tokio::test]
async fn a_stream_that_is_reset_says_with_which_code() {
    for (code, words) in [
        (h2::Reason::ENHANCE_YOUR_CALM, "ENHANCE_YOUR_CALM"),
        (h2::Reason::REFUSED_STREAM, "REFUSED_STREAM"),
        (h2::Reason::INTERNAL_ERROR, "INTERNAL_ERROR"),
        (h2::Reason::HTTP_1_1_REQUIRED, "HTTP_1_1_REQUIRED"),
        (h2::Reason::ENHANCE_YOUR_CALM, "ENHANCE_YOUR_CALM: too many requests or cancels"),
    ] {
        let address = upstream(move |_, stream| async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                respond.send_reset(code);
            }
        })
        .await;
        let failure = once(over_http2(&format!("http://{address}/"))).await.failure();
        assert_eq!(failure.reason, Reason::ConnReset, "{}", failure.detail);
        assert!(failure.detail.starts_with(words), "{}", failure.detail);
    }
}

#[tokio::test]
async fn h04_a_goaway_that_asks_for_calm_is_named_as_such() {
    const ENHANCE_YOUR_CALM: u8 = 11;
    let address = going_away(ENHANCE_YOUR_CALM).await;
    let failure = once(over_http2(&format!("http://{address}/"))).await.failure();
    assert_eq!(failure.reason, Reason::Goaway);
    assert!(
        failure.detail.starts_with("ENHANCE_YOUR_CALM: too many requests or cancels"),
        "{}",
        failure.detail
    );
}

/// How a server ends a connection on which it never answered anything.
#[derive(Debug, Clone, Copy)]
enum End {
    Close,
    Reset,
    CloseOnceAsked,
}

/// As the engine runs: the calls share one thread, and the servers are elsewhere, so that which end is quicker is chance.
#[test]
fn r36_a_connection_that_ends_unanswered_has_one_reason_in_every_round() {
    let servers = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let engine = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for end in [End::Close, End::Reset, End::CloseOnceAsked] {
        let address = servers.block_on(upstream(move |_, stream| async move {
            match end {
                End::Close => {}
                End::Reset => stream.set_zero_linger().unwrap(),
                End::CloseOnceAsked => {
                    if let Ok(mut connection) = h2::server::handshake(stream).await {
                        let _request = connection.accept().await;
                    }
                }
            }
        }));
        engine.block_on(ends_unanswered(address, end));
    }
}

async fn ends_unanswered(address: SocketAddr, end: End) {
    let mut shop = over_http2("");
    shop.target = Target::Urls([(); 2].map(|()| Template::fixed(format!("http://{address}/"))).into());
    let transport = transport(shop);
    for round in 1..=40 {
        // The second one may share the first one's connection.
        let sibling = AttemptRequest { replica: 1, ..request(round) };
        let trace = Trace::new(Instant::now(), None);
        let both = tokio::join!(attempt(&transport, round), transport.attempt(sibling, trace));
        for failure in [both.0.failure(), both.1.unwrap_err()] {
            assert_eq!(failure.reason, Reason::ConnClosed, "{end:?} {round} {}", failure.detail);
            assert!(!failure.detail.starts_with("stale"), "{end:?} {}", failure.detail);
        }
    }
}

#[tokio::test]
async fn a_frame_too_large_from_who_speaks_http2_is_not_said_to_be_no_http2() {
    let authority = Authority::new();
    let config = server_config(&authority.sign(&["127.0.0.1"], true), &[b"h2"]);
    let address = upstream(move |_, stream| {
        let config = Arc::clone(&config);
        async move {
            let mut stream = tokio_rustls::TlsAcceptor::from(config).accept(stream).await.unwrap();
            let _ = stream.read_exact(&mut [0; 24]).await;
            // SETTINGS, then a frame of DATA that claims 16 MiB.
            let _ = stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await;
            let _ = stream.write_all(&[255, 255, 255, 0, 0, 0, 0, 0, 1]).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    })
    .await;
    let mut shop = over_http2(&format!("https://{address}/"));
    shop.tls.ca = Some(authority.ca_file());
    let failure = once(shop).await.failure();
    assert_eq!(failure.reason, Reason::Protocol, "{}", failure.detail);
    assert!(!failure.detail.contains("no HTTP/2 there"), "{}", failure.detail);
    assert!(failure.detail.contains("frame"), "{}", failure.detail);
}

/// A server that answers like this and keeps the connection.
async fn no_http2_there(answer: &'static str) -> SocketAddr {
    upstream(move |_, mut stream| async move {
        let _ = stream.read_exact(&mut [0; 24]).await;
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await
}

#[tokio::test]
async fn a_server_without_http2_is_named_as_such() {
    for answer in ["HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n"] {
        let address = no_http2_there(answer).await;
        let failure = once(over_http2(&format!("http://{address}/"))).await.failure();
        assert_eq!(failure.reason, Reason::Protocol, "{}", failure.detail);
        assert!(failure.detail.starts_with("no HTTP/2 there"), "{}", failure.detail);
    }
    let authority = Authority::new();
    for (alpn, reason) in [(&[b"http/1.1".as_slice()] as &[&[u8]], Reason::Tls), (&[], Reason::Protocol)] {
        let (address, _) = tls_upstream(server_config(&authority.sign(&["127.0.0.1"], true), alpn)).await;
        let mut shop = over_http2(&format!("https://{address}/"));
        shop.tls.ca = Some(authority.ca_file());
        let failure = once(shop.clone()).await.failure();
        assert_eq!(failure.reason, reason, "{}", failure.detail);
        assert!(failure.detail.starts_with("no HTTP/2 there"), "{}", failure.detail);
        shop.http = HttpChoice::Auto;
        assert_eq!(once(shop).await.ok().http, Some(HttpVersion::Http11));
    }
}

// ---- names

#[tokio::test]
async fn h15_the_authority_is_the_urls_or_the_host_headers_wherever_it_is_dialled() {
    let (address, names, _) = serving(None).await;
    let mut shop = over_http2("http://shop.invalid/");
    shop.connect_to = Some((address.ip().to_string(), address.port()));
    assert_eq!(once(shop.clone()).await.ok().remote, Some(address));
    shop.headers = vec![("Host".to_owned(), Template::fixed("other.example"))];
    once(shop.clone()).await.ok();
    shop.headers[0].1 = Template::fixed(format!("other.example:{}", address.port()));
    once(shop.clone()).await.ok();
    // Plain HTTP with "auto" is HTTP/1.1, which this server does not speak.
    shop.http = HttpChoice::Auto;
    assert!(once(shop).await.result.is_err());
    let with_port = format!("other.example:{}", address.port());
    let seen = names.lock().unwrap().clone();
    let expected = ["shop.invalid", "other.example", &with_port].map(|name| (Some(name.to_owned()), None));
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn h15_over_tls_name_authority_and_address_are_three_things() {
    let authority = Authority::new();
    let certified = authority.sign(&["inner.example", "127.0.0.1"], true);
    let (address, names, _) = serving(Some(server_config(&certified, &[b"h2"]))).await;
    for http in [HttpChoice::Http2, HttpChoice::Auto] {
        names.lock().unwrap().clear();
        let mut shop = endpoint("https://inner.example/");
        (shop.http, shop.tls.ca) = (http, Some(authority.ca_file()));
        shop.connect_to = Some((address.ip().to_string(), address.port()));
        assert_eq!(once(shop.clone()).await.ok().remote, Some(address));
        // The URL names an address; name and authority are the certificate's.
        let mut shop = endpoint(&format!("https://{address}/"));
        (shop.http, shop.tls.ca) = (http, Some(authority.ca_file()));
        shop.tls.sni = Some("inner.example".to_owned());
        shop.headers = vec![("host".to_owned(), Template::fixed("inner.example"))];
        once(shop.clone()).await.ok();
        // The address is verified, the authority is another.
        shop.tls.sni = None;
        shop.headers[0].1 = Template::fixed("outer.example");
        once(shop.clone()).await.ok();
        // A name for TLS that is not the authority can't be said.
        shop.tls.sni = Some("inner.example".to_owned());
        let failure = once(shop).await.failure();
        assert_eq!(failure.reason, Reason::InvalidRequest);
        assert!(
            failure.detail.contains("over HTTP/2") && failure.detail.contains("http = \"1.1\""),
            "{}",
            failure.detail
        );
        let seen = names.lock().unwrap().clone();
        let expected =
            ["inner.example", "inner.example", "outer.example"].map(|n| (Some(n.to_owned()), None));
        assert_eq!(seen, expected);
    }
}
