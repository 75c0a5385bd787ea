//! From an error to its reason and its words, once and for all.
//!
//! reqwest's own kinds say little (every body fault is "decode"), so the chain of sources is walked down to
//! the errors of io, rustls, h2 and hyper. Must not know requests; the words never hold a URL.

mod proxy;

use super::dial::{Ended, Stage};
use super::dns::LookupError;
use super::ports;
use crate::domain::Reason;
use crate::engine::transport::Failure;
use hyper_util::client::legacy::connect::HttpInfo;
pub(super) use proxy::Via;
use rustls::{AlertDescription, CertificateError};
use std::error::Error as StdError;
use std::io::{self, ErrorKind};

/// Deeper chains than this don't occur; a loop in one would never end.
const DEEPEST: usize = 32;

/// What is known beside the error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// The connection.
    pub(super) ended: Ended,
    /// Whether HTTP/2 was spoken.
    pub(super) http2: bool,
    /// Whether the handshake of TLS agreed on it.
    pub(super) agreed: bool,
    /// Whether the origin has answered over HTTP/2 before.
    pub(super) answered: bool,
}

/// What is known of the connection's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoken {
    Http1,
    /// HTTP/2, and it has answered.
    Http2,
    /// HTTP/2 was agreed on, and nothing was answered yet.
    Agreed,
    /// HTTP/2 is hoped for, and nothing was answered yet.
    Hoped,
}

impl Spoken {
    fn before_head(context: Context) -> Self {
        match (context.http2, context.ended.reused && context.answered) {
            (false, _) => Self::Http1,
            (true, true) => Self::Http2,
            (true, false) if context.agreed => Self::Agreed,
            (true, false) => Self::Hoped,
        }
    }

    fn in_body(context: Context) -> Self {
        if context.http2 { Self::Http2 } else { Self::Http1 }
    }

    /// Whether it is a connection for HTTP/2 that has not answered anything. How it ends is told in one of many ways,
    /// by chance: hyper may know of it before the request is sent, while it is written or while its answer is read.
    fn is_unanswered(self) -> bool {
        matches!(self, Self::Agreed | Self::Hoped)
    }
}

type Link<'a> = &'a (dyn StdError + 'static);

/// The links of an error, outermost first. An io error hides what it wraps from `source()`.
fn chain<'a>(error: Link<'a>) -> impl Iterator<Item = Link<'a>> {
    let inner = |link: &Link<'a>| -> Option<Link<'a>> {
        let link: Link<'a> = *link;
        match link.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as Link<'a>),
            None => link.source(),
        }
    };
    std::iter::successors(Some(error), inner).take(DEEPEST)
}

fn find<E: StdError + 'static>(error: Link<'_>) -> Option<&E> {
    chain(error).find_map(|link| link.downcast_ref())
}

/// The connection on which the request failed and whether TLS agreed on HTTP/2, where the error tells.
pub(super) fn connection(error: &reqwest::Error) -> (Option<HttpInfo>, bool) {
    let client: Option<&hyper_util::client::legacy::Error> = find(error);
    let Some(connected) = client.and_then(|c| c.connect_info()) else { return (None, false) };
    let mut extras = http::Extensions::new();
    connected.get_extras(&mut extras);
    (extras.remove(), connected.is_negotiated_h2())
}

/// An error before the answer's head. `via` is the proxy, where there is one.
pub(super) fn before_head(error: &reqwest::Error, context: Context, via: Option<&Via>) -> Failure {
    let spoken = Spoken::before_head(context);
    let reason = if error.is_builder() {
        Reason::InvalidRequest
    } else if error.is_redirect() {
        Reason::Redirect
    } else if let Some(reason) = local_limit(error, ports::are_gone) {
        reason
    } else if error.is_dns() {
        Reason::Dns
    } else if error.is_connect() {
        match connecting(error, context.ended.stage) {
            // It may also be noticed once the connection is in use.
            Reason::ConnReset if spoken.is_unanswered() => Reason::ConnClosed,
            reason => reason,
        }
    } else {
        on_connection(error, spoken).unwrap_or_else(|| match find::<hyper::Error>(error) {
            Some(hyper) if hyper.is_user() => Reason::InvalidRequest,
            // TLS tells an end without its close_notify as an error.
            _ if io_kind(error) == Some(ErrorKind::UnexpectedEof) => Reason::ConnClosed,
            _ => Reason::Protocol,
        })
    };
    let failure = failure(reason, error, spoken);
    let connecting = error.is_connect();
    if let Some(via) = via.filter(|via| connecting && via.is_to_blame(error, reason)) {
        return Failure::new(reason, format!("proxy {}: {}", via.address, failure.detail));
    }
    // A kept connection that dies before it has answered had most likely been closed while it was idle.
    let kept = context.ended.reused && !spoken.is_unanswered();
    if kept && matches!(reason, Reason::ConnReset | Reason::ConnClosed) {
        return Failure::new(reason, format!("stale: {}", failure.detail));
    }
    failure
}

/// An error within the body.
pub(super) fn in_body(error: &reqwest::Error, context: Context) -> Failure {
    let spoken = Spoken::in_body(context);
    let reason = on_connection(error, spoken).or_else(|| {
        io_kind(error).map(|kind| match kind {
            ErrorKind::UnexpectedEof => Reason::BodyTruncated,
            _ => Reason::BodyInvalid,
        })
    });
    let reason = match reason {
        // The connection went away within the body: the body is what is missing.
        Some(Reason::ConnClosed) => Reason::BodyTruncated,
        // The head was HTTP; what broke is the body.
        Some(Reason::Protocol) if !context.http2 => Reason::BodyInvalid,
        Some(reason) => reason,
        None => Reason::BodyInvalid,
    };
    failure(reason, error, spoken)
}

/// A body that its coding can't be undone of. The words are the decoder's, and name nothing that was sent.
pub(super) fn in_coding(error: &io::Error, coding: &str) -> Failure {
    let reason = match error.kind() {
        ErrorKind::UnexpectedEof => Reason::BodyTruncated,
        _ => Reason::BodyInvalid,
    };
    Failure::new(reason, format!("{coding}: {error}"))
}

/// This machine's own limits, wherever they struck.
fn local_limit(error: Link<'_>, no_ports: impl Fn() -> bool) -> Option<Reason> {
    chain(error).find_map(|link| {
        let os_error = match (link.downcast_ref::<io::Error>(), link.downcast_ref::<LookupError>()) {
            (Some(io), _) if io.kind() == ErrorKind::AddrNotAvailable => {
                return no_ports().then_some(Reason::LocalPortLimit);
            }
            (Some(io), _) => io.raw_os_error(),
            // A question needs a port, too.
            (_, Some(lookup)) if lookup.no_ports() => return Some(Reason::LocalPortLimit),
            (_, Some(lookup)) => lookup.os_error,
            _ => None,
        }?;
        is_fd_limit(os_error).then_some(Reason::LocalFdLimit)
    })
}

/// Whether the system's error says that the process (EMFILE) or the host (ENFILE) has no descriptors left.
/// The numbers are the same on every Unix; Windows has one for sockets (WSAEMFILE).
fn is_fd_limit(os_error: i32) -> bool {
    if cfg!(windows) { os_error == 10_024 } else { matches!(os_error, 23 | 24) }
}

fn connecting(error: Link<'_>, stage: Stage) -> Reason {
    if proxy::fault(error).is_some_and(|fault| fault.refused) {
        // Also one that is reached by TLS: that was up.
        return Reason::ConnectFailed;
    }
    if stage == Stage::Tls || find::<rustls::Error>(error).is_some() {
        return Reason::Tls;
    }
    match io_kind(error) {
        Some(ErrorKind::ConnectionRefused) => Reason::ConnectRefused,
        // The last one: no address of ours from which that one could be reached, such as none of IPv6.
        Some(
            ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable,
        ) => Reason::ConnectUnreachable,
        // The port had answered before.
        Some(ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe) => {
            Reason::ConnReset
        }
        _ => Reason::ConnectFailed,
    }
}

/// Faults of a connection that was up.
fn on_connection(error: Link<'_>, spoken: Spoken) -> Option<Reason> {
    if find::<rustls::Error>(error).is_some() {
        // Refused after the handshake, such as a missing client certificate in TLS 1.3.
        return Some(Reason::Tls);
    }
    if let Some(h2) = find::<h2::Error>(error).filter(|e| !e.is_io()) {
        return Some(match (h2.is_go_away(), h2.is_reset()) {
            (true, _) if h2.is_remote() => Reason::Goaway,
            (_, true) if h2.is_remote() => Reason::ConnReset,
            _ => Reason::Protocol,
        });
    }
    match io_kind(error) {
        Some(
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected,
        ) if spoken.is_unanswered() => return Some(Reason::ConnClosed),
        // Most often a GOAWAY, of which nothing is left but a pipe that broke.
        Some(ErrorKind::BrokenPipe) if spoken == Spoken::Http2 => return Some(Reason::Goaway),
        // The last ones: the system itself gave the connection up.
        Some(
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::TimedOut
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown,
        ) => return Some(Reason::ConnReset),
        _ => {}
    }
    let hyper = find::<hyper::Error>(error)?;
    if hyper.is_incomplete_message() {
        return Some(Reason::ConnClosed);
    }
    if hyper.is_canceled() || hyper.is_closed() {
        // The connection went away with the request in its queue.
        return Some(if spoken == Spoken::Http2 { Reason::Goaway } else { Reason::ConnClosed });
    }
    hyper.is_parse().then_some(Reason::Protocol)
}

/// The kind of the innermost io error.
fn io_kind(error: Link<'_>) -> Option<ErrorKind> {
    chain(error).filter_map(|link| link.downcast_ref::<io::Error>()).last().map(io::Error::kind)
}

fn failure(reason: Reason, error: Link<'_>, spoken: Spoken) -> Failure {
    let mut words = words(error);
    if reason == Reason::Tls {
        words = tls_words(error, words);
    } else if let Some(fault) = proxy::fault(error) {
        words = fault.words;
    } else if let Some(h2) = find::<h2::Error>(error).filter(|e| !e.is_io()) {
        words = h2_words(h2, words, spoken);
    } else if reason == Reason::Goaway {
        words = format!("the HTTP/2 connection ended (GOAWAY or a close): {words}");
    } else if reason == Reason::ConnClosed && spoken.is_unanswered() {
        let perhaps = if spoken == Spoken::Hoped { ", or no HTTP/2 there" } else { "" };
        words = format!("ended before it answered anything (a close, GOAWAY{perhaps}): {words}");
    }
    Failure::new(reason, words)
}

/// What the innermost link says; the outer ones only say where it happened.
fn words(error: Link<'_>) -> String {
    let said = chain(error).map(ToString::to_string).filter(|words| !words.trim().is_empty()).last();
    without_urls(&said.unwrap_or_default())
}

/// Names the code, and what it means to an operator.
fn h2_words(error: &h2::Error, words: String, spoken: Spoken) -> String {
    match error.reason() {
        // Our own: what came first, as far as is known, was no frame.
        Some(h2::Reason::FRAME_SIZE_ERROR) if !error.is_remote() && spoken == Spoken::Hoped => {
            format!("no HTTP/2 there, or a frame of a wrong size: {words}")
        }
        Some(code @ h2::Reason::ENHANCE_YOUR_CALM) if error.is_remote() => {
            format!("{code:?}: too many requests or cancels for the server: {words}")
        }
        Some(code) if error.is_remote() => format!("{code:?}: {words}"),
        _ => words,
    }
}

/// Names the faults that an operator looks for.
fn tls_words(error: Link<'_>, words: String) -> String {
    let Some(fault) = find::<rustls::Error>(error) else { return words };
    let name = match fault {
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => "expired",
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "wrong host"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "not valid yet",
            CertificateError::UnknownIssuer => "unknown issuer",
            _ => return words,
        },
        rustls::Error::InvalidMessage(_) => "the port does not speak TLS",
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => "it asks for our certificate",
        // A server looks at no other.
        rustls::Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError,
        ) => "it refuses our certificate",
        // Only who insists on HTTP/2 is refused for it.
        rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol) => "no HTTP/2 there",
        _ => return words,
    };
    format!("{name}: {}", without_urls(&fault.to_string()))
}

/// Replaces anything that looks like a URL: it may hold a secret. One at the end, such as rustls' pointer to its manual,
/// leaves nothing behind.
fn without_urls(text: &str) -> String {
    let clean = |word: &str| if word.contains("://") { "(url)".to_owned() } else { word.to_owned() };
    let text = text.split(' ').map(clean).collect::<Vec<_>>().join(" ");
    text.strip_suffix(": (url)").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(code: i32) -> io::Error {
        io::Error::from_raw_os_error(code)
    }

    #[test]
    fn our_own_limits_are_apart_from_the_upstreams_faults() {
        let none_left = |error: io::Error| local_limit(&error, || true);
        assert_eq!(none_left(os(24)), Some(Reason::LocalFdLimit));
        assert_eq!(none_left(os(23)), Some(Reason::LocalFdLimit));
        let ports = || io::Error::other(io::Error::from(ErrorKind::AddrNotAvailable));
        assert_eq!(none_left(ports()), Some(Reason::LocalPortLimit));
        assert_eq!(none_left(io::Error::from(ErrorKind::AddrInUse)), None);
        assert_eq!(none_left(io::Error::from(ErrorKind::ConnectionRefused)), None);
        // With ports left it is the address that is wanting.
        assert_eq!(local_limit(&ports(), || false), None);
        assert_eq!(connecting(&ports(), Stage::Connect), Reason::ConnectUnreachable);
        assert_eq!(connecting(&io::Error::from(ErrorKind::AddrInUse), Stage::Connect), Reason::ConnectFailed);
    }

    #[test]
    fn connecting_is_told_apart_by_the_innermost_io_error() {
        let reason = |kind| connecting(&io::Error::other(io::Error::from(kind)), Stage::Connect);
        assert_eq!(reason(ErrorKind::ConnectionRefused), Reason::ConnectRefused);
        assert_eq!(reason(ErrorKind::HostUnreachable), Reason::ConnectUnreachable);
        assert_eq!(reason(ErrorKind::NetworkUnreachable), Reason::ConnectUnreachable);
        assert_eq!(reason(ErrorKind::ConnectionReset), Reason::ConnReset);
        assert_eq!(reason(ErrorKind::TimedOut), Reason::ConnectFailed);
        assert_eq!(connecting(&io::Error::from(ErrorKind::UnexpectedEof), Stage::Tls), Reason::Tls);
    }

    #[test]
    fn a_connection_that_the_system_gave_up_is_no_fault_of_the_protocol() {
        for kind in [ErrorKind::TimedOut, ErrorKind::HostUnreachable, ErrorKind::NotConnected] {
            let error = io::Error::other(io::Error::from(kind));
            assert_eq!(on_connection(&error, Spoken::Http1), Some(Reason::ConnReset), "{kind}");
        }
    }

    #[test]
    fn a_tls_fault_is_found_below_an_io_error() {
        let fault = rustls::Error::from(CertificateError::UnknownIssuer);
        let hidden = io::Error::other(io::Error::new(ErrorKind::InvalidData, fault));
        assert_eq!(connecting(&hidden, Stage::Connect), Reason::Tls);
        assert!(tls_words(&hidden, String::new()).starts_with("unknown issuer: "));
    }

    #[test]
    fn urls_never_reach_the_words() {
        let leaky = io::Error::other("while asking https://user:pw@host/?token=x it broke");
        assert_eq!(words(&leaky), "while asking (url) it broke");
        let manual = io::Error::other("closed without close_notify: https://docs.example/manual");
        assert_eq!(words(&manual), "closed without close_notify");
    }
}
