//! reqwest, set up as fanscope sets it up.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

pub fn client() -> Result<reqwest::Client, Box<dyn Error + Send + Sync>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .pool_idle_timeout(Duration::from_secs(4))
        .tcp_nodelay(true)
        .user_agent("fanscope/bench")
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .http1_only();
    Ok(client.build()?)
}
