//! Certificates of the TLS servers, good and bad in one way each.

use super::steps::Cert;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// An authority that the client knows, one that it does not, and what servers show.
pub struct Certs {
    known: Authority,
    unknown: OnceLock<Authority>,
    folder: tempfile::TempDir,
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    cert: rcgen::Certificate,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        Self { issuer: Issuer::new(params, key), cert }
    }
}

impl Certs {
    pub fn new() -> Self {
        let known = Authority::new("zoo");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), known.cert.pem()).unwrap();
        Self { known, unknown: OnceLock::new(), folder }
    }

    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// How a server with this certificate shakes hands.
    pub fn server(&self, cert: Cert) -> Arc<ServerConfig> {
        let versions: &[_] =
            if cert == Cert::Old { &[&rustls::version::TLS12] } else { rustls::ALL_VERSIONS };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(versions).unwrap();
        let builder = if cert == Cert::Mutual {
            let mut roots = RootCertStore::empty();
            roots.add(self.known.cert.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let (cert, key) = self.certificate(cert);
        Arc::new(builder.with_single_cert(vec![cert], key).unwrap())
    }

    fn certificate(&self, cert: Cert) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let name = if cert == Cert::WrongHost { "elsewhere.example" } else { "localhost" };
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        if cert == Cert::Expired {
            params.not_before = rcgen::date_time_ymd(2020, 1, 1);
            params.not_after = rcgen::date_time_ymd(2020, 2, 1);
        }
        if cert == Cert::NotYetValid {
            params.not_before = rcgen::date_time_ymd(4000, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let unknown = || self.unknown.get_or_init(|| Authority::new("nobody knows it"));
        let signed = match cert {
            Cert::SelfSigned => params.self_signed(&key),
            Cert::UntrustedAuthority => params.signed_by(&key, &unknown().issuer),
            _ => params.signed_by(&key, &self.known.issuer),
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        (signed.unwrap().der().clone(), key)
    }
}
