//! One attempt: send, judge the connection, follow what may be followed, read the body, check.
//!
//! Must not know why errors happen (that is `classify`) nor how requests are made.

use super::body::{self, Read, Wanted};
use super::classify::{self, Context};
use super::client::{Clients, Sent};
use super::decode::Coding;
use super::dial::{Dial, DialGuard, Stage};
use super::evidence::{Beginning, Raw};
use super::request::Asked;
use super::{retry_after, server_timing};
use crate::domain::{Answer, HttpVersion, Phase, Reason};
use crate::engine::transport::{Failure, Trace};
use crate::profile::Endpoint;
use http::response::Parts;
use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::{Body, Response, StatusCode, Version, header};

/// Runs an attempt to its end. `keep` makes evidence of an answer that was not accepted.
pub(super) async fn run(
    clients: &Clients,
    endpoint: &Endpoint,
    asked: Asked,
    trace: &Trace,
    keep: impl FnOnce(Raw, &Asked) -> Answer + Send + 'static,
) -> Result<(), Failure> {
    trace.trace_id(asked.trace_id());
    match exchange(clients, endpoint, &asked, trace).await {
        Ok(()) => Ok(()),
        Err((failure, answer)) => {
            if let Some(raw) = answer {
                trace.answer(move || keep(*raw, &asked));
            }
            Err(failure)
        }
    }
}

/// A failure, with the answer where there was one.
type Refused = (Failure, Option<Box<Raw>>);

/// Asks, follows, and judges the answer.
async fn exchange(
    clients: &Clients,
    endpoint: &Endpoint,
    asked: &Asked,
    trace: &Trace,
) -> Result<(), Refused> {
    let mut followed = 0;
    let mut dialled = false;
    let mut hop: Option<Asked> = None;
    loop {
        let now = hop.as_ref().unwrap_or(asked);
        let (parts, opened) = send(clients, now, trace, dialled).await.map_err(|failure| (failure, None))?;
        dialled |= !opened.context.ended.reused;
        let next = if endpoint.follow == 0 {
            None
        } else {
            let location = parts.headers.get(header::LOCATION);
            now.redirected(parts.status, location, (endpoint, &clients.environment))
        };
        let mut kept = Beginning::default();
        let status = Some(parts.status.as_u16());
        let refused = |words: &str| Failure { status, ..Failure::new(Reason::Redirect, words) };
        let failure = match next {
            None => answer((&parts, opened), (endpoint, [asked, now]), trace, &mut kept).await.err(),
            Some(_) if followed == endpoint.follow => {
                Some(refused(&format!("more than {followed} redirects")))
            }
            Some(Err(words)) => Some(refused(words)),
            Some(Ok(next)) => {
                followed += 1;
                hop = Some(next);
                continue;
            }
        };
        let Some(failure) = failure else { return Ok(()) };
        return Err((failure, Some(Box::new(Raw::new(parts, kept, hop)))));
    }
}

/// An answer whose head is here.
struct Opened {
    body: Body,
    context: Context,
    sent: Sent,
}

/// Sends one request and waits for the head of its answer. `dialled`: whether the attempt has opened a connection
/// before.
async fn send(
    clients: &Clients,
    asked: &Asked,
    trace: &Trace,
    dialled: bool,
) -> Result<(Parts, Opened), Failure> {
    loop {
        let invalid = |words: String| Failure::new(Reason::InvalidRequest, words);
        let wire = asked.wire().map_err(invalid)?;
        let client = clients.get(wire.key).map_err(invalid)?;
        let guard = DialGuard(Dial::new(trace.clone(), dialled));
        let dial = &guard.0;
        let mut sent = client.sending();
        let error = match dial.send(client.reqwest.execute(wire.request), || client.shares_a_dial()).await {
            Ok(response) => {
                client.answered();
                let (parts, body, context) = head(response, dial, trace);
                return Ok((parts, Opened { body, context, sent }));
            }
            Err(error) => error,
        };
        sent.ended();
        let (used, negotiated) = classify::connection(&error);
        let ended = dial.end(used.as_ref());
        if client.http2() && error.is_connect() && ended.stage == Stage::None {
            // It waited for a sibling's dial, and that one was cancelled or failed. Nothing
            // was sent yet: the next one to dial may be this request itself.
            continue;
        }
        if !error.is_connect() && !error.is_builder() {
            dial.reused(ended.reused);
        }
        let http2 = negotiated || client.http2();
        let context = Context { ended, http2, agreed: negotiated, answered: client.has_answered() };
        return Err(classify::before_head(&error, context, asked.via().as_ref()));
    }
}

/// The head is here: which connection brought it?
fn head(response: Response, dial: &Dial, trace: &Trace) -> (Parts, Body, Context) {
    let ended = dial.end(response.extensions().get::<HttpInfo>());
    if ended.reused && ended.stage != Stage::None {
        trace.forget_dial();
    }
    dial.reused(ended.reused);
    trace.head(version(response.version()), response.status().as_u16());
    trace.retry_after(retry_after::read(response.status(), response.headers()));
    let http2 = response.version() == Version::HTTP_2;
    let (parts, body) = http::Response::from(response).into_parts();
    (parts, body, Context { ended, http2, agreed: http2, answered: true })
}

/// Reads the body and judges the whole answer. The call's end is after the last byte, so a refused status
/// is only reported then, and it outranks what its body did. `asked` are the requests whose secrets may come back: the
/// endpoint's own and the one that is answered.
async fn answer(
    (head, opened): (&Parts, Opened),
    (endpoint, asked): (&Endpoint, [&Asked; 2]),
    trace: &Trace,
    kept: &mut Beginning,
) -> Result<(), Failure> {
    trace.reach(Phase::Body);
    let secrets = || asked.iter().flat_map(|asked| asked.secrets()).collect();
    trace.server_timing(server_timing::read([&head.headers], secrets));
    let (status, expect) = (head.status, &endpoint.expect);
    let coding = match Coding::of(&head.headers) {
        part if status == StatusCode::PARTIAL_CONTENT => part.as_it_comes(),
        whole => whole,
    };
    let wanted = Wanted { coding, limit: expect.max_body, text: expect.body_contains.as_deref() };
    let Opened { body, context, mut sent } = opened;
    let read = body::read(body, wanted, trace, kept).await;
    // Of the others the rest is not waited for, and their streams are reset.
    if matches!(read, Read::Whole { .. } | Read::Broken(_)) {
        sent.ended();
    }
    if let Read::Whole { trailers: Some(trailers), .. } = &read {
        trace.server_timing(server_timing::read([&head.headers, trailers], secrets));
    }
    let failure =
        |reason, words: &str| Failure { status: Some(status.as_u16()), ..Failure::new(reason, words) };
    if !expect.status.contains(status.as_u16()) {
        let retry_after = retry_after::read(status, &head.headers);
        return Err(Failure { retry_after, ..failure(Reason::HttpStatus, &named(status)) });
    }
    let status = Some(status.as_u16());
    match read {
        Read::Whole { found: true, .. } => Ok(()),
        Read::Whole { found: false, .. } => Err(failure(Reason::CheckFailed, &not_found(coding))),
        Read::TooLarge => {
            Err(failure(Reason::BodyLimit, &format!("the body is larger than {} bytes", expect.max_body)))
        }
        Read::Broken(error) => Err(Failure { status, ..classify::in_body(&error, context) }),
        Read::Undecodable(error) => Err(Failure { status, ..classify::in_coding(&error, coding.name()) }),
    }
}

/// That the text is not in the body, and that it may be, where the body can't be read.
fn not_found(coding: Coding) -> String {
    let words = "the body does not contain the expected text";
    match coding {
        Coding::Other(name) => format!("{words}: it is encoded ({name}) and was searched as it came"),
        _ => words.to_owned(),
    }
}

/// A status and its usual words, where it has any.
fn named(status: StatusCode) -> String {
    let words = status.canonical_reason().map(|words| format!(" {words}")).unwrap_or_default();
    format!("{}{words}", status.as_str())
}

fn version(version: Version) -> HttpVersion {
    match version {
        Version::HTTP_2 => HttpVersion::Http2,
        Version::HTTP_11 => HttpVersion::Http11,
        _ => HttpVersion::Http10,
    }
}
