//! Lookups without a descriptor to be had. A process of its own: the limit holds for all of it.
#![cfg(target_os = "linux")]

#[path = "support/http_upstream.rs"]
mod http_upstream;
#[expect(dead_code, reason = "other tests need more kinds of answers")]
#[path = "support/name_server.rs"]
mod name_server;

use fanscope::domain::Reason;
use fanscope::http::HttpTransport;
use fanscope::profile::Resolver;
use http_upstream::*;
use name_server::{Said, addresses, name_server};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

#[tokio::test]
async fn l01_a_lookup_that_gets_no_descriptor_is_our_fault_and_not_the_names() {
    let address = answering_once("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (server, _) = name_server(move |name, of| Said::Records(0, addresses(name, of, &[here]))).await;
    let at = |host: &str| vec![endpoint(&format!("http://{host}:{}/", address.port()))];
    let own = HttpTransport::with_name_servers(Arc::new(profile(at("shop.example."))), None, &[server]);
    let mut profile = profile(at("localhost"));
    profile.resolver = Resolver::System;
    let system = HttpTransport::new(Arc::new(profile), None);
    let limit = getrlimit(Resource::Nofile);
    for transport in [own.unwrap(), system.unwrap()] {
        setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..limit }).unwrap();
        let starved = attempt(&transport, 1).await;
        setrlimit(Resource::Nofile, limit).unwrap();
        let failure = starved.failure();
        assert_eq!(failure.reason, Reason::LocalFdLimit, "{}", failure.detail);
        assert!(failure.detail.contains("Too many open files"), "{}", failure.detail);
        // And with some again it is asked again.
        assert!(attempt(&transport, 2).await.result.is_ok());
    }
}
