//! Proxies: what they carry, and what is said where they don't.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{Phase, Reason};
use fanscope::engine::transport::{Trace, Transport};
use fanscope::profile::{Endpoint, Proxy};
use http_upstream::*;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

fn through(proxy: &str, url: &str) -> Endpoint {
    let mut shop = endpoint(url);
    shop.proxy = Proxy::Url(proxy.to_owned());
    shop
}

/// Reads what a client says first to a SOCKS 5 proxy, without a password, and whom it asks for.
async fn socks(stream: &mut TcpStream) -> Option<String> {
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await.ok()?;
    let mut methods = vec![0; usize::from(greeting[1])];
    stream.read_exact(&mut methods).await.ok()?;
    stream.write_all(&[5, 0]).await.ok()?;
    let mut asked = [0; 4];
    stream.read_exact(&mut asked).await.ok()?;
    let length = match asked[3] {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await.ok()?),
    };
    let mut host = vec![0; length];
    stream.read_exact(&mut host).await.ok()?;
    let port = stream.read_u16().await.ok()?;
    let host = match asked[3] {
        3 => String::from_utf8(host).unwrap(),
        _ => host.iter().map(u8::to_string).collect::<Vec<_>>().join("."),
    };
    Some(format!("{host}:{port}"))
}

/// A SOCKS 5 proxy that answers with this code; where it is 0, it answers the request itself, with whom it was asked
/// for.
async fn socks_proxy(code: u8) -> SocketAddr {
    upstream(move |_, mut stream| async move {
        let Some(asked) = socks(&mut stream).await else { return };
        stream.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        if code == 0 {
            while read_head(&mut stream).await.is_some() {
                stream.write_all(ok(&asked).as_bytes()).await.unwrap();
            }
        }
    })
    .await
}

#[tokio::test]
async fn what_a_proxy_answers_to_connect_is_said() {
    for (answer, words) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "authorization required"),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "refused"),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", "refused"),
        ("", "closed"),
    ] {
        let proxy = answering_once(answer).await;
        let shop = through(&format!("http://user:hunter2@{proxy}"), "https://shop.invalid/");
        let came = once(shop).await;
        assert_eq!(came.seen.phase, Phase::Connect);
        let failure = came.failure();
        assert_eq!(failure.reason, Reason::ConnectFailed, "{}", failure.detail);
        assert!(
            failure.detail.starts_with(&format!("proxy {proxy}: ")) && failure.detail.contains(words),
            "{}",
            failure.detail
        );
        assert!(!failure.detail.contains("hunter2"), "{}", failure.detail);
    }
}

#[tokio::test]
async fn a_proxy_reached_by_tls_that_refuses_is_no_tls_fault() {
    let authority = Authority::new();
    let config = server_config(&authority.sign(&["127.0.0.1"], true), &[b"h2", b"http/1.1"]);
    for answer in ["HTTP/1.1 502 Bad Gateway\r\n\r\n", "HTTP/1.1 407 No\r\n\r\n"] {
        let config = Arc::clone(&config);
        let proxy = upstream(move |_, stream| {
            let config = Arc::clone(&config);
            async move {
                let mut stream = tokio_rustls::TlsAcceptor::from(config).accept(stream).await.unwrap();
                assert!(read_head(&mut stream).await.unwrap().starts_with("CONNECT shop.invalid:443 "));
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        })
        .await;
        let mut shop = through(&format!("https://{proxy}"), "https://shop.invalid/");
        shop.tls.ca = Some(authority.ca_file());
        let failure = once(shop).await.failure();
        assert_eq!(failure.reason, Reason::ConnectFailed, "{}", failure.detail);
        assert!(failure.detail.starts_with(&format!("proxy {proxy}: ")), "{}", failure.detail);
    }
    // One that isn't believed is.
    let (proxy, _) = tls_upstream(config).await;
    let failure = once(through(&format!("https://{proxy}"), "http://shop.invalid/")).await.failure();
    assert_eq!(failure.reason, Reason::Tls, "{}", failure.detail);
    assert!(failure.detail.starts_with(&format!("proxy {proxy}: unknown issuer")), "{}", failure.detail);
}

#[tokio::test]
async fn a_proxy_that_says_nothing_is_cut_while_connecting_and_left() {
    let proxy = upstream(|_, mut stream| async move {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    for scheme in ["http", "socks5h"] {
        let transport = transport(through(&format!("{scheme}://{proxy}"), "https://shop.invalid/"));
        let trace = Trace::new(Instant::now(), None);
        let mut running = transport.attempt(request(1), trace.clone());
        until(&mut running, || is_in(&trace, Phase::Connect)).await;
        drop(running);
        assert!(!trace.is_shared());
        assert_eq!(trace.seen(Instant::now()).phase, Phase::Connect);
    }
}

#[tokio::test]
async fn https_goes_through_a_tunnel_and_the_credentials_go_to_the_proxy_only() {
    let authority = Authority::new();
    let (address, heads) = tls_upstream(server_config(&authority.sign(&["127.0.0.1"], true), &[])).await;
    let asked: Heads<String> = Arc::default();
    let kept = Arc::clone(&asked);
    let proxy = upstream(move |_, mut stream| {
        let kept = Arc::clone(&kept);
        async move {
            let head = read_head(&mut stream).await.unwrap();
            kept.lock().unwrap().push(head);
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut there = TcpStream::connect(address).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut there).await;
        }
    })
    .await;
    let mut shop = through(&format!("http://us%40er:p%3Aw@{proxy}"), &format!("https://{address}/"));
    shop.tls.ca = Some(authority.ca_file());
    let seen = once(shop).await.ok();
    assert_eq!(seen.remote, Some(proxy));
    let asked = asked.lock().unwrap();
    assert!(asked[0].starts_with(&format!("CONNECT {address} HTTP/1.1\r\n")), "{}", asked[0]);
    // us@er:p:w
    assert_eq!(header(&asked[0], "proxy-authorization"), Some("Basic dXNAZXI6cDp3"));
    assert_eq!(header(&heads.lock().unwrap()[0].1, "proxy-authorization"), None);
}

#[tokio::test]
async fn socks5_looks_names_up_here_and_socks5h_at_the_proxy() {
    let proxy = socks_proxy(0).await;
    // Of IPv4 as of IPv6 the last bytes of this host.
    for (scheme, asked) in [("socks5", ".0.1:81"), ("socks5h", "localhost:81")] {
        let mut shop = through(&format!("{scheme}://{proxy}"), "http://localhost:81/");
        shop.expect.body_contains = Some(asked.to_owned());
        assert_eq!(once(shop).await.ok().remote, Some(proxy));
    }
    let came = once(through(&format!("socks5://{proxy}"), "http://a..b/")).await;
    assert_eq!(came.seen.phase, Phase::Dns);
    assert_eq!(came.failure().reason, Reason::Dns);
}

#[tokio::test]
async fn a_socks_proxy_that_does_not_do_it_is_connect_failed() {
    let closing = upstream(|_, mut stream| async move {
        let _ = stream.read_exact(&mut [0; 3]).await;
    })
    .await;
    for (proxy, words) in [
        (socks_proxy(1).await, "general server failure"),
        (socks_proxy(2).await, "connection not allowed"),
        (socks_proxy(4).await, "host unreachable"),
        (socks_proxy(5).await, "connection refused"),
        (socks_proxy(99).await, ""),
        (closing, "ended the connection"),
        (answering_garbage().await, "failed parsing"),
    ] {
        for url in ["http://shop.invalid/", "https://shop.invalid/"] {
            let came = once(through(&format!("socks5h://{proxy}"), url)).await;
            let failure = came.failure();
            assert_eq!(failure.reason, Reason::ConnectFailed, "{}", failure.detail);
            let said =
                failure.detail.starts_with(&format!("proxy {proxy}: ")) && failure.detail.contains(words);
            assert!(said, "{words}: {}", failure.detail);
        }
    }
}

#[tokio::test]
async fn h20_a_proxy_that_is_down_says_so_and_no_password() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for scheme in ["http", "https", "socks5", "socks5h"] {
        for url in ["http://localhost/", "https://localhost/"] {
            let failure = once(through(&format!("{scheme}://u:hunter2@{closed}"), url)).await.failure();
            // Of SOCKS the client doesn't say why.
            let refused = matches!(failure.reason, Reason::ConnectRefused | Reason::ConnectFailed);
            assert!(refused, "{} {}", failure.reason, failure.detail);
            assert!(!failure.detail.contains("hunter2"), "{}", failure.detail);
            assert!(failure.detail.starts_with(&format!("proxy {closed}: ")), "{}", failure.detail);
        }
    }
}

#[tokio::test]
async fn a_name_that_is_not_found_is_the_proxys_or_the_upstreams() {
    for url in ["http://localhost/", "https://localhost/"] {
        let failure = once(through("http://u:hunter2@a..b:3128", url)).await.failure();
        assert_eq!(failure.reason, Reason::Dns, "{}", failure.detail);
        assert!(failure.detail.starts_with("proxy a..b:3128: "), "{}", failure.detail);
    }
    let proxy = socks_proxy(0).await;
    let failure = once(through(&format!("socks5://{proxy}"), "http://a..b/")).await.failure();
    assert_eq!(failure.reason, Reason::Dns, "{}", failure.detail);
    assert!(!failure.detail.contains("proxy"), "{}", failure.detail);
}

#[tokio::test]
async fn the_upstreams_own_certificate_is_not_blamed_on_the_proxy() {
    let authority = Authority::new();
    let (address, _) = tls_upstream(server_config(&authority.sign(&["127.0.0.1"], true), &[])).await;
    let proxy = upstream(move |_, mut stream| async move {
        let _ = read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        let mut there = TcpStream::connect(address).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut there).await;
    })
    .await;
    let failure = once(through(&format!("http://{proxy}"), &format!("https://{address}/"))).await.failure();
    assert_eq!(failure.reason, Reason::Tls, "{}", failure.detail);
    assert!(failure.detail.starts_with("unknown issuer"), "{}", failure.detail);
}

async fn answering_garbage() -> SocketAddr {
    upstream(|_, mut stream| async move {
        let _ = stream.read_u8().await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await
}
