//! What goes on the wire, and where to.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{Phase, Reason};
use fanscope::engine::transport::Transport;
use fanscope::http::HttpTransport;
use fanscope::profile::types::{Piece, Rows};
use fanscope::profile::{Endpoint, Proxy, Target, Template};
use http_upstream::*;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn set(endpoint: &mut Endpoint, name: &str, value: &str) {
    endpoint.headers.push((name.to_owned(), Template::fixed(value)));
}

fn request_line(head: &str) -> &str {
    head.lines().next().unwrap()
}

// ---- the request on the wire

#[tokio::test]
async fn a_request_goes_out_as_it_is_written() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint(&format!("http://{address}/a%7Eb%2Fc%CE%BB/%zz?q=%20+x&r=a%26b"));
    "POST".clone_into(&mut shop.method);
    shop.body = Template::fixed("{\"sku\": 42}");
    set(&mut shop, "Host", "shop.example");
    set(&mut shop, "X-Tag", "one, two");
    set(&mut shop, "x-tag", "three");
    once(shop).await.ok();
    let head = heads.lock().unwrap().pop().unwrap();
    assert_eq!(request_line(&head), "POST /a%7Eb%2Fc%CE%BB/%zz?q=%20+x&r=a%26b HTTP/1.1");
    assert_eq!(headers(&head, "host"), ["shop.example"]);
    assert_eq!(headers(&head, "x-tag"), ["one, two", "three"]);
    assert_eq!(headers(&head, "user-agent"), [concat!("fanscope/", env!("CARGO_PKG_VERSION"))]);
    assert!(head.ends_with("\r\n\r\n{\"sku\": 42}"));
    let parent: Vec<_> = header(&head, "traceparent").unwrap().split('-').collect();
    assert_eq!((parent[0], parent[1].len(), parent[2].len(), parent[3]), ("00", 32, 16, "01"));
    assert!(parent.iter().all(|p| p.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))));
}

#[tokio::test]
async fn what_the_profile_sets_itself_is_not_replaced() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint(&format!("http://{address}/"));
    set(&mut shop, "User-Agent", "probe/1");
    shop.trace = false;
    once(shop.clone()).await.ok();
    set(&mut shop, "TraceParent", "00-1-2-00");
    shop.trace = true;
    once(shop).await.ok();
    let heads = heads.lock().unwrap();
    assert_eq!(headers(&heads[0], "user-agent"), ["probe/1"]);
    assert_eq!(header(&heads[0], "traceparent"), None);
    assert_eq!(headers(&heads[1], "traceparent"), ["00-1-2-00"]);
    assert_eq!(header(&heads[0], "host"), Some(address.to_string().as_str()));
}

#[tokio::test]
async fn rounds_and_rows_vary_the_request() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint("");
    let text = Piece::Text(format!("http://{address}/"));
    let url = Template(vec![text, Piece::Round, Piece::Text("?sku=".to_owned()), Piece::Row(0)]);
    shop.target = Target::Urls(vec![url]);
    shop.headers = vec![("x-sku".to_owned(), Template(vec![Piece::Row(0)]))];
    let mut profile = profile(vec![shop]);
    let row = |sku: &str| vec![sku.to_owned()];
    profile.rows = Some(Rows { columns: vec!["sku".to_owned()], rows: vec![row("a"), row("b")] });
    let transport = HttpTransport::new(Arc::new(profile), None).unwrap();
    for round in 1..=3 {
        attempt(&transport, round).await.ok();
    }
    let heads = heads.lock().unwrap();
    let lines: Vec<_> = heads.iter().map(|h| request_line(h)).collect();
    assert_eq!(lines, ["GET /1?sku=a HTTP/1.1", "GET /2?sku=b HTTP/1.1", "GET /3?sku=a HTTP/1.1"]);
    assert_eq!(header(&heads[1], "x-sku"), Some("b"));
    // One connection carried all three.
    assert_ne!(header(&heads[0], "traceparent"), header(&heads[1], "traceparent"));
}

#[tokio::test]
async fn userinfo_becomes_a_header_and_leaves_the_url() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    once(endpoint(&format!("http://Aladdin:open%20sesame@{address}/"))).await.ok();
    let head = heads.lock().unwrap().pop().unwrap();
    assert_eq!(header(&head, "authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    assert_eq!(header(&head, "host"), Some(address.to_string().as_str()));
}

#[tokio::test]
async fn simulated_endpoints_go_where_they_are_told() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint("");
    shop.target = Target::Simulated(Vec::new());
    let urls = Arc::new(move |r: fanscope::engine::transport::AttemptRequest| {
        format!("http://{address}/{}/{}", r.endpoint.index(), r.round)
    });
    let transport = HttpTransport::new(Arc::new(profile(vec![shop])), Some(urls)).unwrap();
    attempt(&transport, 7).await.ok();
    assert_eq!(request_line(&heads.lock().unwrap()[0]), "GET /0/7 HTTP/1.1");
}

// ---- where the connection goes

#[tokio::test]
async fn localhost_is_tried_on_both_families() {
    for host in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(host).await else {
            continue; // no IPv6 on this machine
        };
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            stream.write_all(ok("x").as_bytes()).await.unwrap();
        });
        let seen = once(endpoint(&format!("http://localhost:{}/", address.port()))).await.ok();
        assert_eq!(seen.remote, Some(address));
    }
}

#[tokio::test]
async fn an_ipv6_literal_needs_no_resolver() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = read_head(&mut stream).await.unwrap();
        stream.write_all(ok(header(&head, "host").unwrap()).as_bytes()).await.unwrap();
    });
    let mut shop = endpoint(&format!("http://{address}/"));
    shop.expect.body_contains = Some(address.to_string());
    let came = once(shop).await;
    assert_eq!(came.reached, [Phase::Connect, Phase::Waiting, Phase::Body]);
    came.ok();
}

#[tokio::test]
async fn connect_to_dials_elsewhere_and_keeps_the_host() {
    let (address, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint("http://shop.invalid/price");
    shop.connect_to = Some((address.ip().to_string(), address.port()));
    assert_eq!(once(shop.clone()).await.ok().remote, Some(address));
    shop.connect_to = Some(("localhost".to_owned(), address.port()));
    set(&mut shop, "host", "other.example:81");
    once(shop).await.ok();
    let heads = heads.lock().unwrap();
    assert_eq!(
        (request_line(&heads[0]), header(&heads[0], "host")),
        ("GET /price HTTP/1.1", Some("shop.invalid"))
    );
    assert_eq!(headers(&heads[1], "host"), ["other.example:81"]);
}

#[tokio::test]
async fn name_for_tls_host_header_and_dialled_host_are_three_things() {
    let authority = Authority::new();
    let names = ["inner.example", "shop.invalid", "127.0.0.9"];
    let (address, heads) = tls_upstream(server_config(&authority.sign(&names, true), &[])).await;
    let mut shop = endpoint("https://shop.invalid:8443/");
    shop.tls.ca = Some(authority.ca_file());
    shop.connect_to = Some(("127.0.0.1".to_owned(), address.port()));
    // The URL's own name.
    assert_eq!(once(shop.clone()).await.ok().remote, Some(address));
    // A name of its own.
    shop.tls.sni = Some("inner.example".to_owned());
    once(shop.clone()).await.ok();
    // A name that the certificate doesn't have.
    shop.tls.sni = Some("other.example".to_owned());
    let failure = once(shop.clone()).await.failure();
    assert!(failure.detail.starts_with("wrong host"), "{}", failure.detail);
    // An address: verified, and never sent as a name.
    shop.tls.sni = Some("127.0.0.9".to_owned());
    once(shop.clone()).await.ok();
    // Verification off: nothing is compared.
    shop.tls.sni = Some("other.example".to_owned());
    shop.tls.ca = None;
    shop.tls.insecure = true;
    once(shop).await.ok();
    let heads = heads.lock().unwrap();
    let names: Vec<_> = heads.iter().map(|(name, _)| name.as_deref()).collect();
    assert_eq!(names, [Some("shop.invalid"), Some("inner.example"), None, Some("other.example")]);
    for (_, head) in heads.iter() {
        assert_eq!(headers(head, "host"), ["shop.invalid:8443"]);
    }
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_its_own_server() {
    let authority = Authority::new();
    let mine = authority.sign(&["me.example"], true);
    let upstream = authority.sign(&["localhost"], true);
    let (address, _) = tls_upstream(mutual_config(&upstream, &authority)).await;
    let mut shop = endpoint(&format!("https://localhost:{}/", address.port()));
    shop.tls.ca = Some(authority.ca_file());
    // TLS 1.3 refuses after the handshake; the reason is still TLS.
    let failure = once(shop.clone()).await.failure();
    assert_eq!(failure.reason, fanscope::domain::Reason::Tls, "{}", failure.detail);
    shop.tls.cert = Some(mine.cert_file);
    shop.tls.key = Some(mine.key_file);
    once(shop).await.ok();
}

#[tokio::test]
async fn r4_what_the_wire_refuses_is_known_before_it_is_held_back() {
    let mut shop = endpoint("https://shop.invalid/");
    assert!(transport(shop.clone()).can_build(request(1)));
    (shop.connect_to, shop.proxy) =
        (Some(("127.0.0.1".to_owned(), 1)), Proxy::Url("http://127.0.0.1:1".to_owned()));
    let transport = transport(shop);
    assert!(!transport.can_build(request(1)));
    assert_eq!(attempt(&transport, 1).await.failure().reason, Reason::InvalidRequest);
}

#[tokio::test]
async fn proxies_carry_the_request() {
    let (proxy, heads) = recording("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let mut shop = endpoint("http://shop.invalid/price");
    shop.proxy = Proxy::Url(format!("http://user:hunter2@{proxy}"));
    assert_eq!(once(shop.clone()).await.ok().remote, Some(proxy));
    let head = heads.lock().unwrap().pop().unwrap();
    assert_eq!(request_line(&head), "GET http://shop.invalid/price HTTP/1.1");
    assert!(header(&head, "proxy-authorization").is_some());

    // SOCKS 5 with the name resolved by the proxy.
    let socks = upstream(|_, mut stream| async move {
        let mut greeting = [0; 3];
        stream.read_exact(&mut greeting).await.unwrap();
        stream.write_all(&[5, 0]).await.unwrap();
        let mut asked = vec![0; 5];
        stream.read_exact(&mut asked).await.unwrap();
        let mut name = vec![0; usize::from(asked[4]) + 2];
        stream.read_exact(&mut name).await.unwrap();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        read_head(&mut stream).await.unwrap();
        stream.write_all(ok(&String::from_utf8_lossy(&name)).as_bytes()).await.unwrap();
    })
    .await;
    shop.proxy = Proxy::Url(format!("socks5h://{socks}"));
    shop.expect.body_contains = Some("shop.invalid".to_owned());
    once(shop.clone()).await.ok();

    // A proxy that is down says so without its password.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    shop.proxy = Proxy::Url(format!("http://user:hunter2@{closed}"));
    let failure = once(shop).await.failure();
    assert!(!failure.detail.contains("hunter2"), "{}", failure.detail);
}

// ---- redirects

#[tokio::test]
async fn r39_credentials_stay_with_their_scheme_host_and_port() {
    let (elsewhere, there) = recording("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let (address, here) = {
        let heads: Heads<String> = Arc::default();
        let kept = Arc::clone(&heads);
        let address = upstream(move |_, mut stream: TcpStream| {
            let kept = Arc::clone(&kept);
            async move {
                while let Some(head) = read_head(&mut stream).await {
                    let target = if request_line(&head).contains("/first") {
                        "/second".to_owned()
                    } else {
                        format!("http://{elsewhere}/third")
                    };
                    kept.lock().unwrap().push(head);
                    let answer = format!(
                        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n"
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        })
        .await;
        (address, heads)
    };
    let mut shop = endpoint(&format!("http://user:hunter2@{address}/first"));
    shop.follow = 2;
    for secret in ["Cookie", "Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "Host"] {
        set(&mut shop, secret, "hunter2");
    }
    set(&mut shop, "X-Plain", "stays");
    assert_eq!(once(shop).await.ok().remote, Some(elsewhere));
    let (here, there) = (here.lock().unwrap(), there.lock().unwrap());
    assert_eq!(here.len(), 2);
    for head in here.iter() {
        assert!(header(head, "authorization").is_some());
        assert_eq!(header(head, "cookie"), Some("hunter2"));
    }
    let head = &there[0];
    assert!(!head.contains("hunter2") && header(head, "authorization").is_none(), "{head}");
    assert_eq!(header(head, "x-plain"), Some("stays"));
    assert_eq!(header(head, "host"), Some(elsewhere.to_string().as_str()));
}

#[tokio::test]
async fn a_redirect_after_post_becomes_a_get() {
    let heads: Heads<String> = Arc::default();
    let kept = Arc::clone(&heads);
    let address = upstream(move |_, mut stream| {
        let kept = Arc::clone(&kept);
        async move {
            while let Some(head) = read_head(&mut stream).await {
                let found = head.starts_with("POST");
                kept.lock().unwrap().push(head);
                let answer = if found {
                    "HTTP/1.1 303 See Other\r\nlocation: /done\r\ncontent-length: 0\r\n\r\n".to_owned()
                } else {
                    ok("x")
                };
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let mut shop = endpoint(&format!("http://{address}/"));
    "POST".clone_into(&mut shop.method);
    shop.body = Template::fixed("order");
    shop.follow = 1;
    once(shop).await.ok();
    let heads = heads.lock().unwrap();
    assert_eq!(request_line(&heads[1]), "GET /done HTTP/1.1");
    assert!(!heads[1].contains("order"));
}
