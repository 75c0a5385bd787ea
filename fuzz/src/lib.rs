//! What has to hold for any bytes at all, by the door through which they come in. Each function panics where it
//! doesn't hold. The fuzz targets call them, and so does a test of the crate above for every input that is kept
//! in `corpus/`.

use fanscope::domain::{Answer, EndpointId, RoundNo, text};
use fanscope::engine::transport::{AttemptRequest, Trace, Transport};
use fanscope::headless::{self, Form, Gates, ReportPlan};
use fanscope::http::HttpTransport;
use fanscope::profile::{self, Endpoint, Profile, Target, Template};
use fanscope::recording::{Reader, Record, unpacked};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Nothing that moves a cursor is in it, but the line breaks of what has several lines.
fn assert_harmless(said: &str) {
    let harmless = |c: char| matches!(c, '\n' | ' ') || text::clean(&c.to_string()) == c.to_string();
    let bad = said.chars().find(|&c| !harmless(c));
    assert!(bad.is_none(), "{bad:?} in {said:?}");
}

/// A profile: it is explained, or what is wrong with it is.
pub fn profile(data: &[u8]) {
    let Ok(toml) = std::str::from_utf8(data) else { return };
    let env = |name: &str| name.len().is_multiple_of(2).then(|| "hunter2-value".to_owned());
    match profile::parse("fuzzed.toml", toml, Path::new("/nonexistent"), &env) {
        Err(errors) => {
            let said = errors.to_string();
            assert!(!said.trim().is_empty());
            assert_harmless(&said);
        }
        Ok(profile) => {
            assert!(!profile.endpoints.is_empty());
            assert!(profile.settings.budget >= Duration::from_millis(1));
            assert_harmless(&profile::explain(&profile));
            for warning in profile::warnings(&profile) {
                assert_harmless(&warning);
            }
            for (index, endpoint) in profile.endpoints.iter().enumerate() {
                for replica in 0..=endpoint.replicas().min(3) {
                    assert_harmless(&profile::request_line(&profile, EndpointId(index), replica));
                }
            }
        }
    }
}

/// A gate: as it is shown it reads as the same gate, and what is wrong with it is said.
pub fn gate(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let endpoints = ["shop-0".to_owned(), "a.b".to_owned(), "caf\u{e9} \"x\"".to_owned()];
    let texts: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for baseline in [false, true] {
        match Gates::parse(&texts, &endpoints, baseline) {
            Err(errors) => assert_harmless(&errors.to_string()),
            Ok(gates) => {
                let shown: Vec<String> = gates.shown().collect();
                let again = Gates::parse(&shown, &endpoints, baseline).expect("a gate as it is shown");
                let reshown: Vec<String> = again.shown().collect();
                assert_eq!(shown, reshown);
            }
        }
    }
}

/// A recording: read as far as it goes, with sums that hold; what could be read can be reported.
pub fn recording(data: &[u8]) {
    // A packed bomb is for the reader's own limits to stop, and would only slow this down.
    let Ok(input) = unpacked(Cursor::new(data.to_vec())) else { return };
    let mut reader = Reader::new(input);
    let mut rounds = 0_u32;
    loop {
        match reader.next_record() {
            Ok(Some(Record::Round(round, _))) => {
                rounds += 1;
                let calls = round.calls.len();
                assert_eq!(round.answered() + round.missing() + round.not_needed(), calls);
                let completeness = round.completeness();
                assert!((0.0..=1.0).contains(&completeness), "{completeness}");
            }
            Ok(Some(Record::Note(_, text))) => assert_harmless(&text),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => return assert_harmless(&error.to_string()),
        }
        if rounds > 200 {
            break;
        }
    }
    if rounds > 0 {
        reported(data);
    }
}

/// The report of what can be read, in every form.
fn reported(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("room for it");
    for form in [Form::Text, Form::Json] {
        let plan = ReportPlan {
            files: vec![file.path().to_owned()],
            compare: false,
            at: vec![Duration::from_millis(150), Duration::MAX],
            quorum: Some(2),
            form,
            html: Some(PathBuf::from("/dev/null")),
            force: true,
            ascii: false,
        };
        let (mut out, mut notices) = (Vec::new(), Vec::new());
        match headless::report(&plan, &mut out, &mut notices) {
            Ok(()) => {
                let said = String::from_utf8(out).expect("UTF-8");
                assert_harmless(&said);
                assert!(!said.contains("NaN") && !said.contains(" inf"), "{said}");
            }
            Err(error) => assert_harmless(&error.to_string()),
        }
    }
}

/// The longest that an attempt may take to take in bytes that all lie ready.
const LONGEST: Duration = Duration::from_secs(20);

/// An answer: an attempt has one outcome, with words that are harmless and bounded.
///
/// The first byte says how the rest goes out: in how many pieces, and whether the connection is then closed or reset.
pub fn response(data: &[u8]) {
    let Some((&how, answer)) = data.split_first() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut endpoint = Endpoint::plain(
            "shop".to_owned(),
            Target::Urls(vec![Template::fixed(format!("http://{address}/"))]),
        );
        endpoint.expect.max_body = 1 << 16;
        endpoint.expect.body_contains = (how & 4 != 0).then(|| "needle".to_owned());
        endpoint.follow = u32::from((how >> 3) & 1);
        let profile = Profile::plain("fuzzed".to_owned(), vec![endpoint]);
        let transport = HttpTransport::new(Arc::new(profile), None).expect("a transport");
        let (asked, started) = (attempted(&transport), Instant::now());
        tokio::select! {
            () = asked => {}
            () = served(&listener, how, answer) => unreachable!("it serves for ever"),
        }
        assert!(started.elapsed() < LONGEST, "it took {:?}", started.elapsed());
    });
}

async fn attempted(transport: &HttpTransport) {
    let request = AttemptRequest { round: RoundNo(1), endpoint: EndpointId(0), replica: 0, attempt: 0 };
    let trace = Trace::new(tokio::time::Instant::now(), None);
    let result = transport.attempt(request, trace.clone()).await;
    let seen = trace.seen(tokio::time::Instant::now());
    if let Err(failure) = result {
        assert!(!failure.detail.is_empty());
        assert_harmless(&failure.detail);
    }
    if let Some(answer) = seen.answer {
        // A control character takes up to eight bytes once it is made visible.
        assert!(answer.body.len() <= 8 * Answer::MAX_BODY, "{} bytes are kept", answer.body.len());
        assert!(answer.headers.len() <= Answer::MAX_HEADERS);
        answer.headers.iter().for_each(|(name, value)| assert_harmless(&format!("{name}{value}")));
        assert_harmless(&answer.status_line);
        assert_harmless(&answer.body);
    }
}

/// Gives every request the same answer.
async fn served(listener: &TcpListener, how: u8, answer: &[u8]) {
    loop {
        let Ok((mut socket, _)) = listener.accept().await else { continue };
        let mut head = [0; 2048];
        let _ = socket.read(&mut head).await;
        let piece = match how & 3 {
            0 => answer.len().max(1),
            1 => answer.len() / 2 + 1,
            2 => 7,
            _ => 1,
        };
        for piece in answer.chunks(piece.max(answer.len() / 64 + 1)) {
            if socket.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        if how & 16 != 0 {
            let _ = socket.set_zero_linger();
        }
    }
}
