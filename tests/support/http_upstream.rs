//! Misbehaving servers on loopback and the few lines that run an attempt against them.
#![expect(dead_code, reason = "each test file uses its own part")]
#![expect(clippy::unwrap_used, reason = "a helper of tests: a surprise here is a failed test")]

use fanscope::domain::{EndpointId, Phase, RoundNo};
use fanscope::engine::transport::{AttemptRequest, Failure, Seen, Trace, Transport};
use fanscope::http::HttpTransport;
use fanscope::profile::{Endpoint, Profile, Target, Template};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// What a server has seen.
pub type Heads<T> = Arc<Mutex<Vec<T>>>;

/// An endpoint with every key at its default.
pub fn endpoint(url: &str) -> Endpoint {
    Endpoint::plain("shop".to_owned(), Target::Urls(vec![Template::fixed(url)]))
}

/// A profile of these endpoints.
pub fn profile(endpoints: Vec<Endpoint>) -> Profile {
    Profile::plain("test".to_owned(), endpoints)
}

/// A transport for one endpoint.
pub fn transport(endpoint: Endpoint) -> HttpTransport {
    HttpTransport::new(Arc::new(profile(vec![endpoint])), None).unwrap()
}

/// The first attempt of a round.
pub fn request(round: u64) -> AttemptRequest {
    AttemptRequest { round: RoundNo(round), endpoint: EndpointId(0), replica: 0, attempt: 0 }
}

/// How an attempt came out.
#[derive(Debug)]
pub struct Came {
    pub result: Result<(), Failure>,
    pub seen: Seen,
    pub took: Duration,
    /// Phases in the order in which they were reached.
    pub reached: Vec<Phase>,
}

impl Came {
    #[track_caller]
    pub fn failure(self) -> Failure {
        let failure = self.result.expect_err("the attempt should have failed");
        assert!(!failure.detail.is_empty());
        failure
    }

    #[track_caller]
    pub fn ok(self) -> Seen {
        self.result.expect("the attempt should have succeeded");
        self.seen
    }
}

/// Runs the first attempt of a round to its end.
pub async fn attempt(transport: &HttpTransport, round: u64) -> Came {
    let started = Instant::now();
    let reached: Arc<Mutex<Vec<Phase>>> = Arc::default();
    let log = Arc::clone(&reached);
    let trace = Trace::new(started, Some(Box::new(move |phase, _| log.lock().unwrap().push(phase))));
    let result = transport.attempt(request(round), trace.clone()).await;
    let end = Instant::now();
    let reached = reached.lock().unwrap().clone();
    Came { result, seen: trace.seen(end), took: end - started, reached }
}

/// Runs one attempt against an endpoint.
pub async fn once(endpoint: Endpoint) -> Came {
    attempt(&transport(endpoint), 1).await
}

/// Lets what is to stay unfinished run until something was seen of it.
pub async fn until<F: Future + Unpin>(running: &mut F, seen: impl Fn() -> bool) {
    while !seen() {
        tokio::select! {
            biased;
            _ = &mut *running => panic!("it was to stay unfinished"),
            () = tokio::task::yield_now() => {}
        }
    }
}

/// Whether an attempt is in this phase.
pub fn is_in(trace: &Trace, phase: Phase) -> bool {
    trace.seen(Instant::now()).phase == phase
}

/// A server on 127.0.0.1 that hands each connection, counted from 0, to `serve`.
pub async fn upstream<F, Fut>(serve: F) -> SocketAddr
where
    F: Fn(usize, TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for no in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(no, stream));
        }
    });
    address
}

/// A server that answers every request with these bytes.
pub async fn answering(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer: Arc<[u8]> = answer.into().into();
    upstream(move |_, mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            while read_head(&mut stream).await.is_some() {
                stream.write_all(&answer).await.unwrap();
            }
        }
    })
    .await
}

/// A server that answers the first request of each connection with these bytes and closes.
pub async fn answering_once(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer: Arc<[u8]> = answer.into().into();
    upstream(move |_, mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            if read_head(&mut stream).await.is_some() {
                let _ = stream.write_all(&answer).await;
            }
        }
    })
    .await
}

/// A server that answers 200 and keeps the heads of the requests it got.
pub async fn recording(answer: &'static str) -> (SocketAddr, Heads<String>) {
    let heads: Heads<String> = Arc::default();
    let kept = Arc::clone(&heads);
    let address = upstream(move |_, mut stream| {
        let kept = Arc::clone(&kept);
        async move {
            while let Some(head) = read_head(&mut stream).await {
                kept.lock().unwrap().push(head);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    (address, heads)
}

/// An answer of 200 with this body.
pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Reads a request's head and its body by content-length; `None` once the client has closed.
pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let mut text = String::from_utf8(head).unwrap();
    let length = header(&text, "content-length").map_or(0, |l| l.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    text.push_str(&String::from_utf8(body).unwrap());
    Some(text)
}

/// The values of a header in a head, in order.
pub fn headers<'a>(head: &'a str, name: &str) -> Vec<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
        .collect()
}

/// The first value of a header in a head.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    headers(head, name).first().copied()
}

/// Closes with a reset instead of an orderly end.
pub fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// A certificate authority and what it signs.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

/// A PEM certificate with its key.
pub struct Certified {
    pub cert: CertificateDer<'static>,
    pub key: PrivateKeyDer<'static>,
    pub cert_file: PathBuf,
    pub key_file: PathBuf,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = tempfile::tempdir().unwrap();
        // Its own name: authorities of one name are told apart by their signatures only.
        params.distinguished_name.push(DnType::CommonName, folder.path().display().to_string());
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), cert.pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder }
    }

    /// Its certificate, for a profile's `tls.ca`.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A certificate for these names; an expired one where `valid` is false.
    pub fn sign(&self, names: &[&str], valid: bool) -> Certified {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let file = names.first().cloned().unwrap_or_default();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "test upstream");
        if !valid {
            params.not_before = rcgen::date_time_ymd(2020, 1, 1);
            params.not_after = rcgen::date_time_ymd(2020, 2, 1);
        }
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let cert_file = self.folder.path().join(format!("{file}.pem"));
        let key_file = self.folder.path().join(format!("{file}.key"));
        std::fs::write(&cert_file, cert.pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Certified { cert: cert.der().clone(), key, cert_file, key_file }
    }
}

/// A TLS server configuration without client certificates.
pub fn server_config(certified: &Certified, alpn: &[&[u8]]) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.clone()], certified.key.clone_key())
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|p| p.to_vec()).collect();
    Arc::new(config)
}

/// The same for HTTP/1.1, asking for a certificate that this authority has signed.
pub fn mutual_config(certified: &Certified, authority: &Authority) -> Arc<ServerConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.ca_file()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(vec![certified.cert.clone()], certified.key.clone_key())
        .unwrap();
    Arc::new(config)
}

/// An HTTP/2 server that accepts no stream, and says so with this code of a GOAWAY.
pub async fn going_away(code: u8) -> SocketAddr {
    upstream(move |_, mut stream| async move {
        // The client's preface and settings come together; settings answer them, then GOAWAY for every stream.
        let mut seen = vec![0; 1024];
        let _ = stream.read(&mut seen).await;
        let _ = stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await;
        let _ = stream.write_all(&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, code]).await;
        let _ = stream.read_to_end(&mut seen).await;
    })
    .await
}

/// A TLS server that answers 200 and keeps the names it was asked for and the heads.
pub async fn tls_upstream(config: Arc<ServerConfig>) -> (SocketAddr, Heads<(Option<String>, String)>) {
    let heads: Heads<(Option<String>, String)> = Arc::default();
    let kept = Arc::clone(&heads);
    let address = upstream(move |_, stream| {
        let (config, kept) = (Arc::clone(&config), Arc::clone(&kept));
        async move {
            let Ok(mut stream) = tokio_rustls::TlsAcceptor::from(config).accept(stream).await else { return };
            let name = stream.get_ref().1.server_name().map(str::to_owned);
            while let Some(head) = read_head(&mut stream).await {
                kept.lock().unwrap().push((name.clone(), head));
                stream.write_all(ok("hello").as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    (address, heads)
}

/// An HTTP proxy that tunnels to wherever CONNECT says.
pub async fn tunnelling() -> SocketAddr {
    upstream(|_, mut stream| async move {
        let Some(head) = read_head(&mut stream).await else { return };
        let to = head.split(' ').nth(1).unwrap();
        let mut there = TcpStream::connect(to).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut there).await;
    })
    .await
}
