//! TLS configurations: whom we believe, who we are, which HTTP versions we offer, and the mark at the
//! `ClientHello` that separates connect from handshake. Must not know endpoints or rounds.

use super::dial;
use crate::profile::HttpChoice;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientSessionMemoryCache, ClientSessionStore, Resumption, WebPkiServerVerifier};
use rustls::client::{Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, NamedGroup, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Servers whose session tickets are kept, per client.
const REMEMBERED_SERVERS: usize = 256;

/// What makes one TLS configuration differ from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct TlsKey {
    /// Accepted authorities instead of the platform's.
    pub(super) ca: Option<PathBuf>,
    /// Our certificate and key.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
    /// Whether any certificate is accepted.
    pub(super) insecure: bool,
    /// The name or address to verify where it isn't the one that is dialled. No SNI is sent then.
    pub(super) verify_as: Option<String>,
}

/// A configuration for connections that never use TLS: it trusts nobody and costs nothing.
pub(super) fn unused(http: HttpChoice) -> Result<ClientConfig, String> {
    let provider = provider();
    let verifier: Arc<dyn ServerCertVerifier> = Arc::new(AcceptNone(Arc::clone(&provider)));
    configuration(provider, verifier, None, http)
}

/// The configuration for a key. Reads files; the error names the profile's key and says what is wrong.
pub(super) fn config(key: &TlsKey, http: HttpChoice) -> Result<ClientConfig, String> {
    let provider = provider();
    let mut verifier = verifier(key, &provider)?;
    if let Some(name) = &key.verify_as {
        let name = ServerName::try_from(name.clone()).map_err(|e| format!("tls.sni: {e}"))?;
        verifier = Arc::new(VerifyAs { name, inner: verifier });
    }
    let identity = match &key.identity {
        Some((cert, key)) => Some((read_certs("tls.cert", cert)?, read_key(key)?)),
        None => None,
    };
    let mut config = configuration(provider, verifier, identity, http)?;
    config.enable_sni = key.verify_as.is_none();
    Ok(config)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn configuration(
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    identity: Option<Identity>,
    http: HttpChoice,
) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("tls: {e}"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity {
        Some((certs, key)) => builder.with_client_auth_cert(certs, key).map_err(|e| match e {
            rustls::Error::InconsistentKeys(_) => "tls.key: it is not the key of tls.cert".to_owned(),
            other => format!("tls.cert, tls.key: {other}"),
        })?,
        None => builder.with_no_client_auth(),
    };
    // reqwest leaves ALPN of a ready-made configuration alone.
    config.alpn_protocols = match http {
        HttpChoice::Http11 => vec![b"http/1.1".to_vec()],
        HttpChoice::Http2 => vec![b"h2".to_vec()],
        HttpChoice::Auto => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
    };
    config.resumption = Resumption::store(Arc::new(MarkingStore::default()));
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn verifier(key: &TlsKey, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, String> {
    if key.insecure {
        return Ok(Arc::new(AcceptAny(Arc::clone(provider))));
    }
    let Some(ca) = &key.ca else { return Ok(platform(provider)) };
    let mut roots = RootCertStore::empty();
    for cert in read_certs("tls.ca", ca)? {
        roots.add(cert).map_err(|e| format!("tls.ca: {}: a certificate can't be read: {e}", ca.display()))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|e| format!("tls.ca: {e}"))?;
    Ok(verifier)
}

/// The platform's authorities, read once: that takes milliseconds. A system without any can still be fanned
/// out to; its handshakes then say that the issuer is unknown.
fn platform(provider: &Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    static PLATFORM: OnceLock<Arc<dyn ServerCertVerifier>> = OnceLock::new();
    let read = || -> Arc<dyn ServerCertVerifier> {
        match Verifier::new(Arc::clone(provider)) {
            Ok(verifier) => Arc::new(verifier),
            Err(_) => Arc::new(AcceptNone(Arc::clone(provider))),
        }
    };
    Arc::clone(PLATFORM.get_or_init(read))
}

fn read_certs(key: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let certs: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|e| format!("{key}: {}: {}", path.display(), pem_words(&e, "certificate")))?;
    if certs.is_empty() {
        return Err(format!("{key}: {}: no certificate in it", path.display()));
    }
    Ok(certs)
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|e| {
        let encrypted = matches!(e, pem::Error::NoItemsFound) && is_encrypted(path);
        let words = if encrypted {
            "the key is encrypted; `openssl pkey -in KEY -out PLAIN` makes one without a password".to_owned()
        } else {
            pem_words(&e, "private key")
        };
        format!("tls.key: {}: {words}", path.display())
    })
}

/// Whether the file has a key behind a password.
fn is_encrypted(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.contains("ENCRYPTED"))
}

fn pem_words(error: &pem::Error, wanted: &str) -> String {
    match error {
        pem::Error::NoItemsFound => format!("no {wanted} in it"),
        pem::Error::Io(io) => io.to_string(),
        other => format!("not PEM as it should be: {other}"),
    }
}

/// Remembers sessions like rustls' own store, and tells when a handshake begins: rustls asks it while it
/// makes the `ClientHello`.
#[derive(Debug)]
struct MarkingStore(ClientSessionMemoryCache);

impl Default for MarkingStore {
    fn default() -> Self {
        Self(ClientSessionMemoryCache::new(REMEMBERED_SERVERS))
    }
}

impl ClientSessionStore for MarkingStore {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(server_name, group);
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        dial::handshaking();
        self.0.kx_hint(server_name)
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.0.set_tls12_session(server_name, value);
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        dial::handshaking();
        self.0.tls12_session(server_name)
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        self.0.remove_tls12_session(server_name);
    }

    fn insert_tls13_ticket(&self, server_name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.0.insert_tls13_ticket(server_name, value);
    }

    fn take_tls13_ticket(&self, server_name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        dial::handshaking();
        self.0.take_tls13_ticket(server_name)
    }
}

/// The signature half of a verifier, by the algorithms of its provider.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let algorithms = &self.0.signature_verification_algorithms;
            rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let algorithms = &self.0.signature_verification_algorithms;
            rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.signature_verification_algorithms.supported_schemes()
        }
    };
}

/// `insecure`: any certificate will do.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    signatures!();
}

/// No authorities at all: every issuer is unknown.
#[derive(Debug)]
struct AcceptNone(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptNone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Err(rustls::CertificateError::UnknownIssuer.into())
    }

    signatures!();
}

/// Verifies against a name of our own instead of the one that was dialled.
#[derive(Debug)]
struct VerifyAs {
    name: ServerName<'static>,
    inner: Arc<dyn ServerCertVerifier>,
}

impl ServerCertVerifier for VerifyAs {
    fn verify_server_cert(
        &self,
        cert: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.inner.verify_server_cert(cert, chain, &self.name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
