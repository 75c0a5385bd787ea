//! Which phases an attempt shows, and what its connection's life looks like from outside.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{HttpVersion, Phase};
use fanscope::engine::transport::{Trace, Transport};
use fanscope::http::HttpTransport;
use fanscope::profile::{HttpChoice, Resolver};
use http_upstream::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

// ---- phases

#[tokio::test]
async fn phases_sum_to_the_attempt_and_a_kept_connection_has_no_dial() {
    let address = answering(ok("hello")).await;
    let transport = transport(endpoint(&format!("http://{address}/")));
    let first = attempt(&transport, 1).await;
    assert_eq!(first.reached, [Phase::Connect, Phase::Waiting, Phase::Body]);
    assert_eq!(first.seen.phases.iter().map(|p| p.1).sum::<Duration>(), first.took);
    assert_eq!((first.seen.reused, first.seen.remote), (Some(false), Some(address)));
    assert_eq!((first.seen.http, first.seen.bytes), (Some(HttpVersion::Http11), 5));
    let second = attempt(&transport, 2).await;
    assert_eq!(second.reached, [Phase::Waiting, Phase::Body]);
    assert_eq!(second.seen.phases.iter().map(|p| p.1).sum::<Duration>(), second.took);
    for phase in [Phase::Dns, Phase::Connect, Phase::Tls] {
        assert_eq!(second.seen.phases.get(phase), None);
    }
    assert_eq!((second.seen.reused, second.seen.remote), (Some(true), Some(address)));
    second.ok();
}

#[tokio::test]
async fn a_name_and_a_handshake_are_phases_of_their_own() {
    let authority = Authority::new();
    let (address, _) = tls_upstream(server_config(&authority.sign(&["localhost"], true), &[])).await;
    for resolver in [Resolver::Async, Resolver::System] {
        let mut shop = endpoint(&format!("https://localhost:{}/", address.port()));
        shop.tls.ca = Some(authority.ca_file());
        let mut profile = profile(vec![shop]);
        profile.resolver = resolver;
        let transport = HttpTransport::new(Arc::new(profile), None).unwrap();
        let came = attempt(&transport, 1).await;
        assert_eq!(came.reached, [Phase::Dns, Phase::Connect, Phase::Tls, Phase::Waiting, Phase::Body]);
        assert_eq!(came.seen.phases.iter().map(|p| p.1).sum::<Duration>(), came.took);
        came.ok();
        assert_eq!(attempt(&transport, 2).await.reached, [Phase::Waiting, Phase::Body]);
    }
}

#[tokio::test]
async fn a_call_that_takes_over_another_ones_connection_forgets_its_own_dial() {
    // The second connection is accepted by the kernel but its TLS handshake never ends; the first comes free.
    let authority = Authority::new();
    let config = server_config(&authority.sign(&["127.0.0.1"], true), &[]);
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let address = upstream(move |no, mut stream| {
        let (config, wait) = (Arc::clone(&config), Arc::clone(&wait));
        async move {
            if no > 0 {
                let _ = stream.read_to_end(&mut Vec::new()).await;
                return;
            }
            let mut stream = tokio_rustls::TlsAcceptor::from(config).accept(stream).await.unwrap();
            read_head(&mut stream).await.unwrap();
            wait.notified().await;
            stream.write_all(ok("one").as_bytes()).await.unwrap();
            while read_head(&mut stream).await.is_some() {
                stream.write_all(ok("two").as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let mut shop = endpoint(&format!("https://{address}/"));
    shop.tls.ca = Some(authority.ca_file());
    let transport = transport(shop);
    let dialled = move |phase, _| {
        if phase == Phase::Tls {
            go.notify_one();
        }
    };
    let first = attempt(&transport, 1);
    let second = async {
        // Begins once the first is on the wire, and lets it go on once its own dial hangs.
        let started = Instant::now();
        let trace = Trace::new(started, Some(Box::new(dialled)));
        let result = transport.attempt(request(2), trace.clone()).await;
        (result, trace.seen(Instant::now()))
    };
    let (first, (second, seen)) = tokio::join!(first, second);
    first.ok();
    second.unwrap();
    assert_eq!(seen.reused, Some(true));
    assert_eq!((seen.phases.get(Phase::Connect), seen.phases.get(Phase::Tls)), (None, None));
    assert!(seen.phases.get(Phase::Queued).is_some());
}

#[tokio::test]
async fn bytes_are_counted_while_the_body_arrives() {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let address = upstream(move |_, mut stream| {
        let wait = Arc::clone(&wait);
        async move {
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhalf").await.unwrap();
            wait.notified().await;
            stream.write_all(b"done").await.unwrap();
        }
    })
    .await;
    let transport = transport(endpoint(&format!("http://{address}/")));
    let trace = Trace::new(Instant::now(), None);
    let mut running = transport.attempt(request(1), trace.clone());
    // Only half of the body was sent.
    until(&mut running, || trace.seen(Instant::now()).bytes >= 4).await;
    assert_eq!(trace.seen(Instant::now()).phase, Phase::Body);
    go.notify_one();
    running.await.unwrap();
    assert_eq!(trace.seen(Instant::now()).bytes, 8);
}

#[tokio::test]
async fn r15_a_dropped_attempt_closes_its_connection() {
    let (asked, mut told_asked) = tokio::sync::mpsc::unbounded_channel();
    let (gone, mut told_gone) = tokio::sync::mpsc::unbounded_channel();
    let address = upstream(move |_, mut stream| {
        let (asked, gone) = (asked.clone(), gone.clone());
        async move {
            read_head(&mut stream).await;
            asked.send(()).unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
            gone.send(()).unwrap();
        }
    })
    .await;
    let transport = transport(endpoint(&format!("http://{address}/")));
    let trace = Trace::new(Instant::now(), None);
    let running = transport.attempt(request(1), trace.clone());
    tokio::select! {
        _ = running => panic!("never answered"),
        _ = told_asked.recv() => {}
    }
    let dropped = Instant::now();
    told_gone.recv().await.unwrap();
    assert_eq!(trace.seen(dropped).phase, Phase::Waiting);
}

#[tokio::test]
async fn r14_a_dropped_attempt_ends_its_dial() {
    let (gone, told_gone) = oneshot::channel();
    let gone = Arc::new(std::sync::Mutex::new(Some(gone)));
    let address = upstream(move |_, mut stream| {
        let gone = Arc::clone(&gone);
        async move {
            let _ = stream.read_to_end(&mut Vec::new()).await;
            let _ = gone.lock().unwrap().take().unwrap().send(());
        }
    })
    .await;
    let transport = transport(endpoint(&format!("https://{address}/")));
    let trace = Trace::new(Instant::now(), None);
    let mut running = transport.attempt(request(1), trace.clone());
    until(&mut running, || is_in(&trace, Phase::Tls)).await;
    drop(running);
    told_gone.await.unwrap();
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced_before_anything_is_sent() {
    let (closed, told) = oneshot::channel();
    let closed = Arc::new(std::sync::Mutex::new(Some(closed)));
    let address = upstream(move |_, mut stream| {
        let closed = Arc::clone(&closed);
        async move {
            read_head(&mut stream).await;
            stream.write_all(ok("x").as_bytes()).await.unwrap();
            if let Some(closed) = closed.lock().unwrap().take() {
                drop(stream);
                closed.send(()).unwrap();
            }
        }
    })
    .await;
    let transport = transport(endpoint(&format!("http://{address}/")));
    assert_eq!(attempt(&transport, 1).await.ok().reused, Some(false));
    told.await.unwrap();
    // Once round the runtime, so that the client can see the close.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let second = attempt(&transport, 2).await;
    assert!(second.reached.contains(&Phase::Connect), "{:?}", second.reached);
    assert_eq!(second.ok().reused, Some(false));
}

// ---- HTTP/2

/// Serves HTTP/2 over TLS; the first `hang` connections never finish their handshake.
async fn http2_upstream(authority: &Authority, hang: usize) -> std::net::SocketAddr {
    let config = server_config(&authority.sign(&["127.0.0.1"], true), &[b"h2", b"http/1.1"]);
    upstream(move |no, mut stream| {
        let config = Arc::clone(&config);
        async move {
            if no < hang {
                let _ = stream.read_to_end(&mut Vec::new()).await;
                return;
            }
            let stream = tokio_rustls::TlsAcceptor::from(config).accept(stream).await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let mut body = respond.send_response(http::Response::new(()), false).unwrap();
                body.send_data(bytes::Bytes::from_static(b"hello"), true).unwrap();
            }
        }
    })
    .await
}

#[tokio::test]
async fn http2_shares_one_connection_by_choice_and_by_agreement() {
    let authority = Authority::new();
    let address = http2_upstream(&authority, 0).await;
    for http in [HttpChoice::Http2, HttpChoice::Auto] {
        let mut shop = endpoint(&format!("https://{address}/"));
        shop.tls.ca = Some(authority.ca_file());
        shop.http = http;
        let transport = transport(shop);
        let first = attempt(&transport, 1).await.ok();
        assert_eq!((first.http, first.reused, first.bytes), (Some(HttpVersion::Http2), Some(false), 5));
        assert_eq!(attempt(&transport, 2).await.ok().reused, Some(true));
    }
}

#[tokio::test]
async fn r15_cancelling_the_connecting_http2_call_leaves_its_siblings_alone() {
    let authority = Authority::new();
    let address = http2_upstream(&authority, 1).await;
    let mut shop = endpoint(&format!("https://{address}/"));
    shop.tls.ca = Some(authority.ca_file());
    shop.http = HttpChoice::Http2;
    let transport = transport(shop);
    let trace = Trace::new(Instant::now(), None);
    let mut connecting = transport.attempt(request(1), trace.clone());
    let sibling_trace = Trace::new(Instant::now(), None);
    let mut sibling = transport.attempt(request(2), sibling_trace.clone());
    // Its handshake never ends, and the sibling has no connection yet.
    let both = &mut futures_util::future::select(&mut connecting, &mut sibling);
    until(both, || is_in(&trace, Phase::Tls)).await;
    // It waits for the other's dial and says so.
    assert_eq!(sibling_trace.seen(Instant::now()).phase, Phase::Queued);
    drop(connecting);
    sibling.await.unwrap();
    assert_eq!(sibling_trace.seen(Instant::now()).reused, Some(false));
}
