//! One attempt: send, judge the connection, follow what may be followed, read the body, check.
//!
//! Must not know why errors happen (that is `classify`) nor how requests are made.

use super::body::{self, Read};
use super::classify::{self, Context};
use super::client::{Clients, Sent};
use super::dial::{Dial, DialGuard, Stage};
use super::evidence::{Beginning, Raw};
use super::request::Asked;
use super::retry_after;
use crate::domain::{Answer, HttpVersion, Phase, Reason};
use crate::engine::transport::{Failure, Trace};
use crate::profile::Endpoint;
use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::{Response, Version, header};

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
    let mut hop: Option<Asked> = None;
    loop {
        let asked = hop.as_ref().unwrap_or(asked);
        let mut opened = send(clients, endpoint, asked, trace).await.map_err(|failure| (failure, None))?;
        let response = &mut opened.response;
        let next = match endpoint.follow {
            0 => None,
            _ => asked.redirected(response.status(), response.headers().get(header::LOCATION)),
        };
        let mut body = Beginning::default();
        let status = Some(response.status().as_u16());
        let refused = |words: &str| Failure { status, ..Failure::new(Reason::Redirect, words) };
        let failure = match next {
            None => answer(&mut opened, endpoint, trace, &mut body).await.err(),
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
        return Err((failure, Some(Box::new(Raw::take(&mut opened.response, body, hop)))));
    }
}

/// An answer whose head is here.
struct Opened {
    response: Response,
    context: Context,
    sent: Sent,
}

/// Sends one request and waits for the head of its answer.
async fn send(
    clients: &Clients,
    endpoint: &Endpoint,
    asked: &Asked,
    trace: &Trace,
) -> Result<Opened, Failure> {
    loop {
        let invalid = |words: String| Failure::new(Reason::InvalidRequest, words);
        let wire = asked.wire(endpoint, &clients.environment).map_err(invalid)?;
        let client = clients.get(&wire.key).map_err(invalid)?;
        let guard = DialGuard(Dial::new(trace.clone()));
        let dial = &guard.0;
        let mut sent = client.sending();
        let error = match dial.send(client.reqwest.execute(wire.request), || client.shares_a_dial()).await {
            Ok(response) => {
                let context = head(&response, dial, trace);
                return Ok(Opened { response, context, sent });
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
            trace.reused(ended.reused);
        }
        return Err(classify::before_head(&error, Context { ended, http2: negotiated || client.http2() }));
    }
}

/// The head is here: which connection brought it?
fn head(response: &Response, dial: &Dial, trace: &Trace) -> Context {
    let ended = dial.end(response.extensions().get::<HttpInfo>());
    if ended.reused && ended.stage != Stage::None {
        trace.forget_dial();
    }
    trace.reused(ended.reused);
    trace.head(version(response.version()), response.status().as_u16());
    trace.retry_after(retry_after::read(response.status(), response.headers()));
    let http2 = response.version() == Version::HTTP_2;
    Context { ended, http2 }
}

/// Reads the body and judges the whole answer. The call's end is after the last byte, so a refused status
/// is only reported then, and it outranks what its body did.
async fn answer(
    opened: &mut Opened,
    endpoint: &Endpoint,
    trace: &Trace,
    body: &mut Beginning,
) -> Result<(), Failure> {
    trace.reach(Phase::Body);
    let Opened { response, context, sent } = opened;
    let status = response.status();
    let expect = &endpoint.expect;
    let read = body::read(response, expect.max_body, expect.body_contains.as_deref(), trace, body).await;
    if !matches!(read, Read::TooLarge) {
        sent.ended();
    }
    let failure =
        |reason, words: &str| Failure { status: Some(status.as_u16()), ..Failure::new(reason, words) };
    if !expect.status.contains(status.as_u16()) {
        let retry_after = retry_after::read(status, response.headers());
        return Err(Failure { retry_after, ..failure(Reason::HttpStatus, &status.to_string()) });
    }
    match read {
        Read::Whole { found: true } => Ok(()),
        Read::Whole { found: false } => {
            Err(failure(Reason::CheckFailed, "the body does not contain the expected text"))
        }
        Read::TooLarge => {
            Err(failure(Reason::BodyLimit, &format!("the body is larger than {} bytes", expect.max_body)))
        }
        Read::Broken(error) => {
            Err(Failure { status: Some(status.as_u16()), ..classify::in_body(&error, *context) })
        }
    }
}

fn version(version: Version) -> HttpVersion {
    match version {
        Version::HTTP_2 => HttpVersion::Http2,
        Version::HTTP_11 => HttpVersion::Http11,
        _ => HttpVersion::Http10,
    }
}
