//! Names and addresses: what a name server may answer, and which of several addresses is dialled.
#![expect(clippy::unwrap_used, reason = "also in helpers of tests: a surprise there is a failed test")]

#[cfg(target_os = "linux")]
#[path = "support/full.rs"]
mod full;
#[path = "support/http_upstream.rs"]
mod http_upstream;
#[path = "support/name_server.rs"]
mod name_server;

use fanscope::domain::{Phase, Reason};
use fanscope::engine::transport::{Trace, Transport};
use fanscope::http::HttpTransport;
use fanscope::profile::{Endpoint, Resolver};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::rdata::CNAME;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use http_upstream::*;
use name_server::{Said, addresses, name_server};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::time::Instant;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn asking(server: SocketAddr, shop: Endpoint) -> HttpTransport {
    HttpTransport::with_name_servers(Arc::new(profile(vec![shop])), None, &[server]).unwrap()
}

/// An upstream that closes each connection, so that every attempt dials and so may ask for the name.
async fn closing() -> SocketAddr {
    answering_once("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await
}

#[tokio::test]
async fn what_a_name_server_answers_is_said() {
    for (said, words) in [
        (Said::Code(ResponseCode::ServFail), "name server answered"),
        (Said::Code(ResponseCode::Refused), "name server answered"),
        (Said::Denied(60), "NXDOMAIN"),
        (Said::Records(60, Vec::new()), "the name has no address"),
    ] {
        let (server, _) = name_server(move |_, _| said.clone()).await;
        let came = attempt(&asking(server, endpoint("http://shop.example./")), 1).await;
        assert_eq!(came.seen.phase, Phase::Dns);
        let failure = came.failure();
        assert_eq!(failure.reason, Reason::Dns, "{}", failure.detail);
        assert!(failure.detail.contains(words), "{words}: {}", failure.detail);
    }
}

#[tokio::test]
async fn a_name_has_no_address_only_where_both_questions_were_answered_so() {
    for (said, words) in [
        (Said::Code(ResponseCode::ServFail), "name server answered: Server Failure"),
        (Said::Code(ResponseCode::Refused), "name server answered: Query Refused"),
        (Said::Denied(60), "NXDOMAIN"),
    ] {
        for failing in [RecordType::A, RecordType::AAAA] {
            let said = said.clone();
            let (server, _) =
                name_server(
                    move |_, of| {
                        if of == failing { said.clone() } else { Said::Records(60, Vec::new()) }
                    },
                )
                .await;
            let came = attempt(&asking(server, endpoint("http://shop.example./")), 1).await;
            let failure = came.failure();
            assert_eq!(failure.reason, Reason::Dns, "{failing}: {}", failure.detail);
            assert!(failure.detail.contains(words), "{failing}: {words}: {}", failure.detail);
        }
    }
}

#[tokio::test]
async fn a_family_that_fails_or_is_silent_keeps_nobody_from_the_other() {
    let address = closing().await;
    for said in [Said::Silence, Said::Code(ResponseCode::ServFail), Said::Denied(60)] {
        let (server, _) = name_server(move |name, of| match of {
            RecordType::A => Said::Records(60, addresses(name, of, &[HERE])),
            _ => said.clone(),
        })
        .await;
        let transport = asking(server, endpoint(&format!("http://shop.example.:{}/", address.port())));
        for round in 1..3 {
            let since = Instant::now();
            assert_eq!(attempt(&transport, round).await.ok().remote, Some(address));
            // Whoever waits for the silent one waits for several of these.
            assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_a_chain_of_names_is_followed() {
    let address = closing().await;
    let (server, _) = name_server(|name, of| {
        let to = |next| vec![(name.to_owned(), RData::CNAME(CNAME(Name::from_str(next).unwrap())))];
        match name {
            "long.example." => Said::TooLong(60, addresses(name, of, &[HERE])),
            "one.example." => Said::Records(60, to("two.example.")),
            "two.example." => Said::Records(60, to("long.example.")),
            _ => Said::Code(ResponseCode::NXDomain),
        }
    })
    .await;
    for name in ["long.example.", "one.example.", "ONE.Example."] {
        let shop = endpoint(&format!("http://{name}:{}/", address.port()));
        assert_eq!(attempt(&asking(server, shop), 1).await.ok().remote, Some(address), "{name}");
    }
}

#[tokio::test]
async fn a_name_may_have_dozens_of_addresses() {
    let address = closing().await;
    let many: Vec<IpAddr> = (1..=60).map(|n| IpAddr::from([127, 0, 0, n])).collect();
    let (server, _) = name_server(move |name, of| Said::Records(60, addresses(name, of, &many))).await;
    let shop = endpoint(&format!("http://many.example.:{}/", address.port()));
    assert_eq!(attempt(&asking(server, shop), 1).await.ok().remote, Some(address));
}

#[tokio::test]
async fn d04_a_time_to_live_of_nothing_is_asked_for_with_each_dial_and_a_longer_one_is_not() {
    let address = closing().await;
    // Bound and not listening: it refuses.
    let gone = TcpListener::bind(("127.0.0.7", address.port())).await.unwrap();
    for (ttl, questions) in [(0, 2), (600, 1)] {
        let now: Arc<Mutex<IpAddr>> = Arc::new(Mutex::new(HERE));
        let answer = Arc::clone(&now);
        let (server, asked) =
            name_server(move |name, of| Said::Records(ttl, addresses(name, of, &[*answer.lock().unwrap()])))
                .await;
        let transport = asking(server, endpoint(&format!("http://shop.example.:{}/", address.port())));
        assert_eq!(attempt(&transport, 1).await.ok().remote, Some(address));
        *now.lock().unwrap() = IpAddr::from([127, 0, 0, 7]);
        let trace = Trace::new(Instant::now(), None);
        let mut second = transport.attempt(request(2), trace.clone());
        let other = tokio::select! {
            _ = &mut second => false,
            accepted = gone.accept() => accepted.is_ok(),
        };
        assert_eq!(other, ttl == 0, "ttl {ttl}");
        let a = asked.lock().unwrap().iter().filter(|q| q.1 == RecordType::A).count();
        assert_eq!(a, questions, "ttl {ttl}");
    }
}

#[tokio::test]
async fn a_name_that_comes_back_is_found_within_seconds_whatever_its_zone_says() {
    let address = closing().await;
    let back: Arc<Mutex<bool>> = Arc::default();
    let is_back = Arc::clone(&back);
    let (server, _) = name_server(move |name, of| {
        // Gone for a day, says the zone.
        if *is_back.lock().unwrap() {
            Said::Records(60, addresses(name, of, &[HERE]))
        } else {
            Said::Denied(86400)
        }
    })
    .await;
    let transport = asking(server, endpoint(&format!("http://shop.example.:{}/", address.port())));
    assert_eq!(attempt(&transport, 1).await.failure().reason, Reason::Dns);
    *back.lock().unwrap() = true;
    let since = Instant::now();
    while attempt(&transport, 2).await.result.is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "it is still believed to be gone");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn r16_a_lookup_is_shared_by_all_lanes_and_ends_with_the_last_of_them() {
    let (server, asked) = name_server(|_, _| Said::Silence).await;
    let transport = asking(server, endpoint("http://shop.example./"));
    let count = |of| asked.lock().unwrap().iter().filter(|q| q.1 == of).count();
    for rounds in 1..=2 {
        let traces: Vec<_> = (0..64).map(|_| Trace::new(Instant::now(), None)).collect();
        let mut lanes =
            futures_util::future::join_all(traces.iter().map(|t| transport.attempt(request(1), t.clone())));
        while count(RecordType::A) < rounds {
            tokio::select! {
                biased;
                _ = &mut lanes => panic!("nobody answers"),
                () = tokio::time::sleep(Duration::from_millis(1)) => {}
            }
        }
        // Cut: each says where it was.
        let cut = Instant::now();
        assert!(traces.iter().all(|t| t.seen(cut).phase == Phase::Dns));
        drop(lanes);
        assert!(!traces.iter().any(Trace::is_shared), "something still works for them");
    }
    assert_eq!(count(RecordType::A), 2, "one for each round");
}

#[tokio::test]
async fn names_that_cannot_be_looked_up_are_told_without_panic() {
    let (server, _) = name_server(|_, _| Said::Code(ResponseCode::NXDomain)).await;
    let label = "a".repeat(63);
    for name in [
        format!("{label}.{label}.{label}.{label}.{label}.example"),
        format!("{}.example", "b".repeat(64)),
        "a..b.example".to_owned(),
        "under_score.example".to_owned(),
        "-dash-.example".to_owned(),
        "bücher.example".to_owned(),
        "日本語.example".to_owned(),
        "a.".to_owned(),
    ] {
        for resolver in [Resolver::Async, Resolver::System] {
            let mut profile = profile(vec![endpoint(&format!("http://{name}/"))]);
            profile.resolver = resolver;
            let transport = match resolver {
                Resolver::Async => HttpTransport::with_name_servers(Arc::new(profile), None, &[server]),
                // Only what never reaches a network.
                Resolver::System if name.contains(&label) || name.contains("..") => {
                    HttpTransport::new(Arc::new(profile), None)
                }
                Resolver::System => continue,
            };
            let failure = attempt(&transport.unwrap(), 1).await.failure();
            assert!(
                matches!(failure.reason, Reason::Dns | Reason::InvalidRequest),
                "{name}: {} {}",
                failure.reason,
                failure.detail
            );
        }
    }
}

#[tokio::test]
async fn a_name_is_asked_for_as_dns_writes_it() {
    let address = closing().await;
    let (server, asked) = name_server(|name, of| Said::Records(60, addresses(name, of, &[HERE]))).await;
    for (host, name) in [
        ("BÜCHER.example.", "xn--bcher-kva.example."),
        ("under_score.example.", "under_score.example."),
        ("SHOP.EXAMPLE.", "shop.example."),
    ] {
        let shop = endpoint(&format!("http://{host}:{}/", address.port()));
        assert_eq!(attempt(&asking(server, shop), 1).await.ok().remote, Some(address));
        assert_eq!(asked.lock().unwrap().last().unwrap().0, name);
    }
}

// ---- several addresses

#[tokio::test]
#[cfg(target_os = "linux")]
async fn h18_an_address_that_swallows_the_dial_is_tried_last_by_the_next_one() {
    let address = closing().await;
    let dead: Vec<IpAddr> = vec![[127, 0, 0, 8].into(), [127, 0, 0, 9].into()];
    let _full: Vec<_> = dead.iter().map(|ip| full::full(SocketAddr::new(*ip, address.port()))).collect();
    let mut all = dead.clone();
    all.push(HERE);
    let (server, _) = name_server(move |name, of| Said::Records(600, addresses(name, of, &all))).await;
    let transport = asking(server, endpoint(&format!("http://shop.example.:{}/", address.port())));
    for _ in &dead {
        // Several lanes hang in the same address, and are cut.
        let traces: Vec<_> = (0..3).map(|_| Trace::new(Instant::now(), None)).collect();
        let lanes = traces.iter().map(|t| transport.attempt(request(1), t.clone()));
        let mut lanes = futures_util::future::select_all(lanes);
        until(&mut lanes, || traces.iter().all(|trace| is_in(trace, Phase::Connect))).await;
    }
    for round in 2..4 {
        assert_eq!(attempt(&transport, round).await.ok().remote, Some(address));
    }
}

#[tokio::test]
async fn h18_an_address_that_refuses_is_passed_by_and_the_one_that_answered_is_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_head(&mut stream).await;
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    let all: Vec<IpAddr> = vec![[127, 0, 0, 8].into(), "::1".parse().unwrap(), HERE];
    let (server, _) = name_server(move |name, of| Said::Records(600, addresses(name, of, &all))).await;
    let transport = asking(server, endpoint(&format!("http://shop.example.:{}/", address.port())));
    for round in 1..3 {
        assert_eq!(attempt(&transport, round).await.ok().remote, Some(address));
    }
}
