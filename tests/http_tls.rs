//! TLS settings: whom we believe, who we are, and what is said where a file can't be used.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::Reason;
use fanscope::http::HttpTransport;
use fanscope::profile::{Endpoint, HttpChoice, Proxy, Template};
use http_upstream::*;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// What is wrong with the endpoint's TLS, said when the transport is made.
fn fault(shop: Endpoint) -> String {
    HttpTransport::new(Arc::new(profile(vec![shop])), None).err().expect("it can't be used").to_string()
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
async fn files_that_cannot_be_used_are_told_with_the_reason_and_no_content() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let (mine, other) = (authority.sign(&["me.example"], true), authority.sign(&["other.example"], true));
    let block = |label: &str| format!("-----BEGIN {label}-----\naHVudGVyMg==\n-----END {label}-----\n");
    let plain = |ca: Option<&Path>, cert: Option<&Path>, key: Option<&Path>| {
        let mut shop = endpoint("https://127.0.0.1:1/");
        shop.tls.ca = ca.map(Path::to_path_buf);
        (shop.tls.cert, shop.tls.key) = (cert.map(Path::to_path_buf), key.map(Path::to_path_buf));
        fault(shop)
    };
    let encrypted = write(folder.path(), "enc.key", block("ENCRYPTED PRIVATE KEY"));
    let empty = write(folder.path(), "empty.pem", "");
    let der = write(folder.path(), "ca.der", mine.cert.as_ref());
    let rubbish = write(folder.path(), "rubbish.pem", block("CERTIFICATE"));
    let cut = write(folder.path(), "cut.pem", "-----BEGIN CERTIFICATE-----\naHVudGVyMg==\n");
    let own = Some(mine.cert_file.as_path());
    for (said, words) in [
        (plain(Some(&empty), None, None), "tls.ca: "),
        (plain(Some(&empty), None, None), "no certificate in it"),
        (plain(Some(&der), None, None), "no certificate in it"),
        (plain(Some(&rubbish), None, None), "a certificate can't be read"),
        (plain(Some(&cut), None, None), "not PEM as it should be"),
        (plain(Some(folder.path()), None, None), "directory"),
        (plain(None, own, Some(&encrypted)), "the key is encrypted"),
        (plain(None, own, Some(&other.key_file)), "tls.key: it is not the key of tls.cert"),
        (plain(None, own, Some(&mine.cert_file)), "no private key in it"),
        (plain(None, Some(&mine.key_file), Some(&mine.key_file)), "no certificate in it"),
    ] {
        assert!(said.starts_with("endpoint shop: tls.") && said.contains(words), "{words}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("aHVudGVyMg"), "{said}");
    }
}

#[tokio::test]
async fn a_bundle_of_authorities_is_believed_with_each_of_them() {
    let authorities = [Authority::new(), Authority::new()];
    let folder = tempfile::tempdir().unwrap();
    let text: Vec<String> =
        authorities.iter().map(|a| std::fs::read_to_string(a.ca_file()).unwrap()).collect();
    let bundle = write(folder.path(), "bundle.pem", text.join("# another one\n"));
    for authority in &authorities {
        let (address, _) = tls_upstream(server_config(&authority.sign(&["127.0.0.1"], true), &[])).await;
        let mut shop = endpoint(&format!("https://{address}/"));
        shop.tls.ca = Some(bundle.clone());
        once(shop).await.ok();
    }
}

#[tokio::test]
async fn a_client_certificate_that_the_server_refuses_is_tls() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let upstream = authority.sign(&["localhost"], true);
    let (address, _) = tls_upstream(mutual_config(&upstream, &authority)).await;
    let wrong = stranger.sign(&["me.example"], true);
    let expired = authority.sign(&["me.example"], false);
    for (mine, words) in [(wrong, "UnknownCA"), (expired, "CertificateExpired")] {
        let mut shop = endpoint(&format!("https://localhost:{}/", address.port()));
        shop.tls.ca = Some(authority.ca_file());
        (shop.tls.cert, shop.tls.key) = (Some(mine.cert_file), Some(mine.key_file));
        let failure = once(shop).await.failure();
        assert_eq!(failure.reason, Reason::Tls, "{}", failure.detail);
        let said = failure.detail.starts_with("it refuses our certificate") && failure.detail.contains(words);
        assert!(said, "{words}: {}", failure.detail);
    }
}

/// Serves HTTP/2 and HTTP/1.1 over TLS with a certificate that nobody signed for this address.
async fn unverifiable() -> SocketAddr {
    let authority = Authority::new();
    let config = server_config(&authority.sign(&["elsewhere.example"], true), &[b"h2", b"http/1.1"]);
    upstream(move |_, stream| {
        let config = Arc::clone(&config);
        async move {
            let Ok(mut stream) = tokio_rustls::TlsAcceptor::from(config).accept(stream).await else { return };
            if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
                while read_head(&mut stream).await.is_some() {
                    stream.write_all(ok("x").as_bytes()).await.unwrap();
                }
                return;
            }
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                respond.send_response(http::Response::new(()), true).unwrap();
            }
        }
    })
    .await
}

#[tokio::test]
async fn h29_insecure_holds_on_every_way() {
    let address = unverifiable().await;
    let hop =
        answering(format!("HTTP/1.1 302 Found\r\nlocation: https://{address}/\r\ncontent-length: 0\r\n\r\n"))
            .await;
    let proxy = tunnelling().await;
    let direct = endpoint(&format!("https://{address}/"));
    let http = |http| Endpoint { http, ..direct.clone() };
    let mut named = direct.clone();
    named.tls.sni = Some("third.example".to_owned());
    named.headers = vec![("host".to_owned(), Template::fixed("shop.example"))];
    let ways = [
        http(HttpChoice::Http11),
        http(HttpChoice::Http2),
        http(HttpChoice::Auto),
        Endpoint { proxy: Proxy::Url(format!("http://{proxy}")), ..direct.clone() },
        Endpoint { follow: 1, ..endpoint(&format!("http://{hop}/")) },
        named,
    ];
    for mut way in ways {
        let failure = once(way.clone()).await.failure();
        assert_eq!(failure.reason, Reason::Tls, "{way:?}: {}", failure.detail);
        way.tls.insecure = true;
        once(way).await.ok();
    }
}
