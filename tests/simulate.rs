//! The embedded upstreams, seen from outside: pure draws, then raw sockets.

#![expect(clippy::unwrap_used, reason = "in a test a missing value is a failure, helpers included")]

#[path = "support/http_upstream.rs"]
mod http_upstream;

use fanscope::domain::{EndpointId, Event, FaultSwitch, Reason};
use fanscope::http::{HttpTransport, SimulatedUrls};
use fanscope::profile::{
    Distribution, Endpoint, Fault, FaultKind, HttpChoice, Simulation, Slow, Target, Template,
};
use fanscope::session::{Plan, Session};
use fanscope::simulate::Fleet;
use fanscope::simulate::draw::{Draw, plan, switched};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn law(latency: Distribution) -> Simulation {
    Simulation { latency, fail: None, slow: None, body: 64 }
}

fn failing(kind: FaultKind, rate: f64) -> Simulation {
    Simulation { fail: Some(Fault { rate, kind }), ..law(Distribution::Fixed(ms(0))) }
}

fn slow(rate_ppm: u32, group: Option<&str>) -> Simulation {
    let slow = Slow { rate_ppm, add: ms(200), group: group.map(str::to_owned) };
    Simulation { slow: Some(slow), ..law(Distribution::Fixed(ms(10))) }
}

fn endpoint(name: &str, simulations: Vec<Simulation>) -> Endpoint {
    Endpoint::plain(name.to_owned(), Target::Simulated(simulations))
}

fn at(endpoint: usize, round: u64, attempt: u64) -> Draw {
    Draw { seed: 7, endpoint, replica: 0, round, attempt }
}

/// Nearest-rank median and p99 over many rounds, in ms.
fn quantiles(latency: Distribution) -> (f64, f64) {
    let simulation = law(latency);
    let mut times: Vec<_> = (1..=20_000).map(|round| plan(&simulation, at(0, round, 0)).latency).collect();
    times.sort_unstable();
    let ms = |i: usize| times[i].as_secs_f64() * 1e3;
    (ms(9_999), ms(19_799))
}

#[track_caller]
fn near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= want * tolerance, "{got} is not within {tolerance} of {want}");
}

#[test]
fn each_law_has_its_median_and_p99() {
    let (median, p99) = quantiles(Distribution::Fixed(ms(30)));
    near(median, 30.0, 0.0);
    near(p99, 30.0, 0.0);

    let (median, p99) = quantiles(Distribution::Uniform(ms(100), ms(200)));
    near(median, 150.0, 0.02);
    near(p99, 199.0, 0.01);

    let (median, p99) = quantiles(Distribution::LogNormal { median: ms(45), p99: ms(300) });
    near(median, 45.0, 0.03);
    near(p99, 300.0, 0.08);

    // 10 % slow: the median is the fast law's, the p99 lies among the slow ones.
    let (median, p99) = quantiles(Distribution::Bimodal {
        fast: Box::new(Distribution::Fixed(ms(20))),
        slow: Box::new(Distribution::Uniform(ms(300), ms(400))),
        slow_share: 0.1,
    });
    near(median, 20.0, 0.0);
    near(p99, 390.0, 0.02);
}

#[test]
fn a_trace_is_played_in_turn_by_round() {
    let simulation = law(Distribution::Trace(vec![ms(1), ms(2), ms(3)]));
    let played: Vec<_> = (1..=7).map(|round| plan(&simulation, at(0, round, 0)).latency).collect();
    assert_eq!(played, [1, 2, 3, 1, 2, 3, 1].map(ms));
}

#[test]
fn degenerate_laws_give_their_median() {
    for (median, p99) in [(0, 10), (10, 10), (10, 5)] {
        let simulation = law(Distribution::LogNormal { median: ms(median), p99: ms(p99) });
        assert_eq!(plan(&simulation, at(0, 1, 0)).latency, ms(median));
    }
}

#[test]
fn a_draw_depends_on_its_key_and_on_nothing_else() {
    let mut simulation = failing(FaultKind::Status(503), 0.5);
    simulation.latency = Distribution::Uniform(ms(0), ms(1000));
    let forward: Vec<_> = (1..200).map(|round| plan(&simulation, at(3, round, 1))).collect();
    let mut backward: Vec<_> = (1..200).rev().map(|round| plan(&simulation, at(3, round, 1))).collect();
    backward.reverse();
    assert_eq!(forward, backward);

    let one = at(3, 17, 0);
    let drawn = plan(&simulation, one).latency;
    let others = [
        Draw { seed: 8, ..one },
        Draw { endpoint: 4, ..one },
        Draw { replica: 1, ..one },
        Draw { round: 18, ..one },
        Draw { attempt: 1, ..one },
    ];
    assert!(others.iter().all(|other| plan(&simulation, *other).latency != drawn));
    // A fault strikes the round, so a second attempt on the same replica meets it again.
    for round in 1..100 {
        let faults = [0, 1, 2].map(|attempt| plan(&simulation, at(3, round, attempt)).fault);
        assert!(faults.iter().all(|fault| *fault == faults[0]));
    }
}

#[test]
fn coins_fall_at_their_rate() {
    let struck = |rate: f64| {
        let simulation = failing(FaultKind::Hang, rate);
        (1..=10_000).filter(|&round| plan(&simulation, at(0, round, 0)).fault.is_some()).count()
    };
    assert_eq!(struck(0.0), 0);
    assert_eq!(struck(1.0), 10_000);
    assert!((400..=600).contains(&struck(0.05)), "{}", struck(0.05));
}

#[test]
fn endpoints_of_a_group_are_slow_together() {
    let is_slow = |simulation: &Simulation, e, round| plan(simulation, at(e, round, 0)).latency > ms(100);
    let (grouped, alone) = (slow(100_000, Some("db")), slow(100_000, None));
    let rounds = 1..=2_000;
    assert!(rounds.clone().all(|r| is_slow(&grouped, 0, r) == is_slow(&grouped, 5, r)));
    assert!(rounds.clone().any(|r| is_slow(&alone, 0, r) != is_slow(&alone, 5, r)));
    let count = rounds.clone().filter(|&r| is_slow(&grouped, 0, r)).count();
    assert!((140..=260).contains(&count), "{count} of 2000 at 10 %");
    // Another group has a coin of its own.
    let other = slow(100_000, Some("cache"));
    assert!(rounds.clone().any(|r| is_slow(&grouped, 0, r) != is_slow(&other, 0, r)));
}

fn fleet(simulation: Simulation) -> Fleet {
    Fleet::start(&[endpoint("shop-0", vec![simulation])], 7).unwrap()
}

/// Host and port, and path with query, of a URL.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap())
}

fn dial(url: &str) -> TcpStream {
    let stream = TcpStream::connect(parts(url).0).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

fn ask(mut stream: &TcpStream, url: &str) {
    let (host, path) = parts(url);
    // In one piece: several small writes would wait for each other's acknowledgement.
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
}

/// The head of an answer: its status line and the announced length.
fn head(reader: &mut impl BufRead) -> (String, usize) {
    let (mut status, mut length) = (String::new(), 0);
    reader.read_line(&mut status).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            return (status.trim().to_owned(), length);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
}

fn url(fleet: &Fleet, round: u64) -> String {
    fleet.url(EndpointId(0), 0, round, 0)
}

#[test]
fn a_connection_serves_two_requests() {
    let fleet = fleet(Simulation { body: 100_000, ..law(Distribution::Fixed(ms(3))) });
    let stream = dial(&url(&fleet, 1));
    let mut reader = BufReader::new(&stream);
    for round in [1, 2] {
        let asked = Instant::now();
        ask(&stream, &url(&fleet, round));
        let (status, length) = head(&mut reader);
        assert!(asked.elapsed() >= ms(3));
        assert_eq!((status.as_str(), length), ("HTTP/1.1 200 OK", 100_000));
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((&json["endpoint"], &json["round"]), (&"shop-0".into(), &round.into()));
    }
    assert_eq!(fleet.open_connections(), 1);
}

#[test]
fn a_status_fault_answers_with_it_and_keeps_the_connection() {
    let fleet = fleet(failing(FaultKind::Status(503), 1.0));
    let stream = dial(&url(&fleet, 1));
    let mut reader = BufReader::new(&stream);
    for round in [1, 2] {
        ask(&stream, &url(&fleet, round));
        let (status, length) = head(&mut reader);
        assert_eq!((status.as_str(), length), ("HTTP/1.1 503 Service Unavailable", 0));
    }
}

#[test]
fn a_reset_is_a_reset() {
    let fleet = fleet(failing(FaultKind::Reset, 1.0));
    let mut stream = dial(&url(&fleet, 1));
    ask(&stream, &url(&fleet, 1));
    let error = stream.read(&mut [0; 16]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_refusal_is_refused_in_its_rounds_only() {
    let fleet = fleet(failing(FaultKind::Refuse, 0.5));
    let mut refused = 0;
    for round in 1..=40 {
        match TcpStream::connect(parts(&url(&fleet, round)).0) {
            Ok(stream) => {
                ask(&stream, &url(&fleet, round));
                assert_eq!(head(&mut BufReader::new(&stream)).0, "HTTP/1.1 200 OK");
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
                refused += 1;
            }
        }
    }
    assert!((8..=32).contains(&refused), "{refused} of 40 at 50 %");
}

#[test]
fn a_hang_says_nothing_and_goes_when_the_client_goes() {
    let fleet = fleet(failing(FaultKind::Hang, 1.0));
    let mut stream = dial(&url(&fleet, 1));
    ask(&stream, &url(&fleet, 1));
    stream.set_read_timeout(Some(ms(50))).unwrap();
    let error = stream.read(&mut [0; 16]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    assert_eq!(fleet.open_connections(), 1);
    drop(stream);
    let gone = Instant::now();
    while fleet.open_connections() > 0 {
        assert!(gone.elapsed() < Duration::from_secs(5), "the server still holds the connection");
        std::thread::yield_now();
    }
}

#[test]
fn a_truncated_body_is_shorter_than_announced() {
    let fleet = fleet(failing(FaultKind::Truncate, 1.0));
    let stream = dial(&url(&fleet, 1));
    ask(&stream, &url(&fleet, 1));
    let mut reader = BufReader::new(&stream);
    let (status, length) = head(&mut reader);
    assert_eq!((status.as_str(), length), ("HTTP/1.1 200 OK", 64));
    let mut body = Vec::new();
    reader.read_to_end(&mut body).unwrap();
    assert!(!body.is_empty() && body.len() < length, "{} of {length} bytes", body.len());
}

#[test]
fn a_drip_starts_and_then_trickles() {
    let fleet = fleet(failing(FaultKind::Drip, 1.0));
    let stream = dial(&url(&fleet, 1));
    let asked = Instant::now();
    ask(&stream, &url(&fleet, 1));
    let mut reader = BufReader::new(&stream);
    let (status, length) = head(&mut reader);
    assert_eq!((status.as_str(), length), ("HTTP/1.1 200 OK", 300));
    // The first byte comes at once, the second after the pause.
    reader.read_exact(&mut [0; 2]).unwrap();
    assert!(asked.elapsed() >= ms(250), "two bytes within {:?}", asked.elapsed());
}

// ---- switches

/// A fleet of one endpoint, and a transport that asks it.
fn asked(simulations: Vec<Simulation>) -> (Fleet, HttpTransport) {
    let profile = http_upstream::profile(vec![endpoint("shop-0", simulations)]);
    let fleet = Fleet::start(&profile.endpoints, 7).unwrap();
    let urls = fleet.urls();
    let simulated: SimulatedUrls = Arc::new(move |r| urls.url(r.endpoint, r.replica, r.round.0, r.attempt));
    let transport = HttpTransport::new(Arc::new(profile), Some(simulated)).unwrap();
    (fleet, transport)
}

const SHOP: EndpointId = EndpointId(0);

#[tokio::test]
async fn each_switch_gives_its_reason_and_is_taken_back() {
    let (fleet, transport) = asked(vec![law(Distribution::Fixed(ms(0)))]);
    let faults = fleet.faults();
    let label = async |round| {
        let came = http_upstream::attempt(&transport, round).await;
        came.result.map_err(|failure| failure.reason.label(failure.status))
    };
    assert_eq!(faults.get(SHOP), Some(FaultSwitch::AsWritten));
    for (switch, want) in [
        (FaultSwitch::Http503, Err("http_503")),
        (FaultSwitch::Healthy, Ok(())),
        (FaultSwitch::Reset, Err("conn_reset")),
        (FaultSwitch::Refuse, Err("connect_refused")),
        (FaultSwitch::AsWritten, Ok(())),
    ] {
        assert!(faults.set(SHOP, switch));
        assert_eq!(faults.get(SHOP), Some(switch));
        for round in [1, 2] {
            assert_eq!(label(round).await, want.map_err(str::to_owned), "{switch} in round {round}");
        }
    }
    // What hangs never ends by itself: the request has arrived, its answer is still to come.
    assert!(faults.set(SHOP, FaultSwitch::Hang));
    let hanging = tokio::time::timeout(ms(100), http_upstream::attempt(&transport, 3)).await;
    assert!(hanging.is_err(), "{hanging:?}");
}

#[tokio::test]
async fn a_slow_switch_adds_to_the_drawn_latency() {
    let (fleet, transport) = asked(vec![law(Distribution::Fixed(ms(10)))]);
    assert!(fleet.faults().set(SHOP, FaultSwitch::Slow));
    let came = http_upstream::attempt(&transport, 1).await;
    assert!(came.took >= ms(410), "{:?}", came.took);
    came.ok();
}

#[tokio::test]
async fn healthy_is_healthy_whatever_the_profile_says() {
    let mut simulation = failing(FaultKind::Refuse, 1.0);
    simulation.slow = slow(1_000_000, None).slow;
    let (fleet, transport) = asked(vec![simulation.clone()]);
    let refused = http_upstream::attempt(&transport, 1).await.failure();
    assert_eq!(refused.reason, Reason::ConnectRefused);
    assert!(fleet.faults().set(SHOP, FaultSwitch::Healthy));
    http_upstream::attempt(&transport, 1).await.ok();
    assert_eq!(switched(&simulation, at(0, 1, 0), FaultSwitch::Healthy).latency, ms(0));
}

#[test]
fn switching_back_restores_every_draw() {
    let simulation = Simulation {
        fail: Some(Fault { rate: 0.3, kind: FaultKind::Refuse }),
        slow: slow(200_000, Some("db")).slow,
        ..law(Distribution::LogNormal { median: ms(45), p99: ms(300) })
    };
    let fleet = fleet(simulation.clone());
    let drawn = || (1..=100).map(|round| url(&fleet, round)).collect::<Vec<_>>();
    let before = drawn();
    for &switch in FaultSwitch::ALL {
        assert!(fleet.faults().set(SHOP, switch));
        assert_eq!(drawn() == before, switch == FaultSwitch::AsWritten, "{switch}");
    }
    assert!(fleet.faults().set(SHOP, FaultSwitch::AsWritten));
    assert_eq!(drawn(), before);
    // A fault that is switched on strikes after the time that the attempt would have taken anyway.
    for round in 1..=100 {
        let attempt = at(0, round, 1);
        let written = plan(&simulation, attempt);
        assert_eq!(switched(&simulation, attempt, FaultSwitch::AsWritten), written);
        assert_eq!(switched(&simulation, attempt, FaultSwitch::Reset).latency, written.latency);
    }
}

#[tokio::test]
async fn a_running_session_is_switched_by_its_handle() {
    let mut profile = http_upstream::profile(vec![endpoint("shop-0", vec![law(Distribution::Fixed(ms(1)))])]);
    profile.settings.every = Duration::ZERO;
    let mut session = Session::start(profile, Plan::default()).unwrap();
    let faults = session.faults();
    // Of what runs ahead of the switch there is no telling how much it is.
    let mut reasons = Vec::new();
    for switch in [FaultSwitch::Http503, FaultSwitch::AsWritten] {
        assert!(faults.set(SHOP, switch));
        let wanted = if switch == FaultSwitch::Http503 { Some(Reason::HttpStatus) } else { None };
        for _ in 0..100_000 {
            if let Some(Event::RoundSettled { round, .. }) = session.next().await
                && round.calls[0].outcome.reason() == wanted
            {
                let answer = round.calls[0].attempts[0].answer.as_ref();
                let line = answer.map(|a| a.status_line.as_str());
                assert_eq!(line, wanted.map(|_| "HTTP/1.1 503 Service Unavailable"));
                reasons.push(wanted);
                break;
            }
        }
    }
    assert_eq!(reasons, [Some(Reason::HttpStatus), None]);
    session.quit(Duration::from_secs(5)).await;
}

#[test]
fn a_switch_is_for_the_first_replica_of_a_simulated_endpoint() {
    let mut real = endpoint("real", vec![]);
    real.target = Target::Urls(vec![Template::fixed("https://a.example")]);
    let two = || vec![law(Distribution::Fixed(ms(0))), law(Distribution::Fixed(ms(0)))];
    let fleet = Fleet::start(&[endpoint("shop-0", two()), real, endpoint("shop-2", two())], 7).unwrap();
    let faults = shareable(fleet.faults());
    let urls = || [(0, 0), (0, 1), (2, 0), (2, 1)].map(|(e, r)| fleet.url(EndpointId(e), r, 1, 0));
    let before = urls();
    assert!(faults.set(EndpointId(2), FaultSwitch::Refuse));
    let after = urls();
    assert_eq!([0, 1, 2, 3].map(|i| after[i] == before[i]), [true, true, false, true]);
    // Nothing else can be switched, and the others show that nothing is.
    for nothing in [EndpointId(1), EndpointId(3)] {
        assert!(!faults.set(nothing, FaultSwitch::Hang));
        assert_eq!(faults.get(nothing), None);
    }
    assert_eq!(faults.get(EndpointId(0)), Some(FaultSwitch::AsWritten));
}

fn shareable<T: Clone + Send + Sync + 'static>(handle: T) -> T {
    handle
}

#[test]
fn replicas_have_upstreams_of_their_own() {
    let two = vec![law(Distribution::Fixed(ms(0))), law(Distribution::Fixed(ms(0)))];
    let fleet = Fleet::start(&[endpoint("shop-0", two)], 7).unwrap();
    let urls = shareable(fleet.urls());
    let [first, second] = [0, 1].map(|replica| urls.url(EndpointId(0), replica, 4, 1));
    assert_ne!(parts(&first).0, parts(&second).0);
    assert!(first.ends_with("/?round=4&attempt=1"), "{first}");
    assert_eq!(urls.url(EndpointId(0), 2, 1, 0), "");
    assert_eq!(urls.url(EndpointId(1), 0, 1, 0), "");
}

#[test]
fn an_endpoint_with_urls_has_no_upstream() {
    let mut real = endpoint("real", vec![]);
    real.target = Target::Urls(vec![Template::fixed("https://a.example")]);
    let fleet = Fleet::start(&[real], 7).unwrap();
    assert_eq!(fleet.urls().url(EndpointId(0), 0, 1, 0), "");
}

#[test]
fn dropping_the_fleet_closes_every_socket_at_once() {
    let fleet = fleet(failing(FaultKind::Hang, 1.0));
    let address = url(&fleet, 1);
    let mut stream = dial(&address);
    ask(&stream, &address);
    while fleet.open_connections() == 0 {
        std::thread::yield_now();
    }
    let stopping = Instant::now();
    drop(fleet);
    // The server hangs for good: this is a bound on hanging, not on speed.
    assert!(stopping.elapsed() < Duration::from_secs(20), "took {:?}", stopping.elapsed());
    // The open connection ends, and no new one is had.
    assert!(matches!(stream.read(&mut [0; 16]), Ok(0) | Err(_)));
    let refused = TcpStream::connect(parts(&address).0).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn five_hundred_upstreams_fit_one_thread() {
    let many: Vec<_> =
        (0..500).map(|i| endpoint(&format!("shop-{i}"), vec![law(Distribution::Fixed(ms(0)))])).collect();
    let fleet = match Fleet::start(&many, 7) {
        Ok(fleet) => fleet,
        // A machine that allows a process fewer descriptors says so instead.
        Err(error) => return assert!(error.to_string().contains("embedded upstream of shop-"), "{error}"),
    };
    let last = fleet.url(EndpointId(499), 0, 1, 0);
    let stream = dial(&last);
    ask(&stream, &last);
    assert_eq!(head(&mut BufReader::new(&stream)).0, "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn http2_with_prior_knowledge_where_the_endpoint_says_so() {
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let mut two = endpoint("shop-0", vec![law(Distribution::Fixed(ms(0))), failing(FaultKind::Reset, 1.0)]);
    two.http = HttpChoice::Http2;
    let fleet = Fleet::start(&[two], 7).unwrap();
    let ask = async |replica| {
        let url = fleet.url(EndpointId(0), replica, 1, 0);
        let stream = tokio::net::TcpStream::connect(parts(&url).0).await.unwrap();
        let io = TokioIo::new(stream);
        let (mut send, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        let request = hyper::Request::get(url).body(String::new()).unwrap();
        send.send_request(request).await
    };
    let answer = ask(0).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.version()), (200, hyper::Version::HTTP_2));
    assert!(ask(1).await.is_err());
}
