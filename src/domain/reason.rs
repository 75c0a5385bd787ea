//! Why a call is missing, and how far an attempt had come: two closed sets.

/// Declares a closed set of words with one stable `snake_case` spelling each.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every member, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable spelling used in records, metrics and on screen.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        #[cfg(test)]
        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "enum": [$($word,)+] })
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(from)?;
                let known = Self::ALL.iter().copied().find(|known| known.as_str() == word);
                known.ok_or_else(|| <D::Error as ::serde::de::Error>::unknown_variant(&word, &[$($word,)+]))
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Why a call has no answer. A closed set; free text only ever stands beside it.
    Reason {
        /// The request could not be built (bad URL after expansion, bad header).
        InvalidRequest = "invalid_request",
        /// Too many redirects, or one that may not be followed.
        Redirect = "redirect",
        /// The name did not resolve.
        Dns = "dns",
        /// The port answered the connect with a reset.
        ConnectRefused = "connect_refused",
        /// No route to the host or network.
        ConnectUnreachable = "connect_unreachable",
        /// Any other failure to connect.
        ConnectFailed = "connect_failed",
        /// This process has no file descriptors left: ours, not the upstream's.
        LocalFdLimit = "local_fd_limit",
        /// This host has no local ports left: ours, not the upstream's.
        LocalPortLimit = "local_port_limit",
        /// The TLS handshake failed after TCP was up.
        Tls = "tls",
        /// The connection was reset.
        ConnReset = "conn_reset",
        /// The connection was closed before the answer was complete.
        ConnClosed = "conn_closed",
        /// HTTP/2 GOAWAY.
        Goaway = "goaway",
        /// What came was not HTTP.
        Protocol = "protocol",
        /// The body ended early.
        BodyTruncated = "body_truncated",
        /// The body's framing or encoding was broken.
        BodyInvalid = "body_invalid",
        /// The body was larger than `max_body`.
        BodyLimit = "body_limit",
        /// The status was outside `expect`; the status stands beside it.
        HttpStatus = "http_status",
        /// A check on the body did not hold.
        CheckFailed = "check_failed",
        /// Cut at the round's deadline; the phase reached stands beside it.
        Deadline = "deadline",
        /// Held back after a Retry-After, nothing was sent.
        BackingOff = "backing_off",
        /// The endpoint's own timeout ran out.
        Timeout = "timeout",
        /// Still queued for a permit at the deadline.
        Throttled = "throttled",
        /// The breaker was open.
        BreakerOpen = "breaker_open",
        /// The quorum could no longer be met and the round failed fast.
        QuorumImpossible = "quorum_impossible",
        /// Cancelled because another call failed the round.
        SiblingFailed = "sibling_failed",
        /// Cut at the request's outer deadline.
        RequestDeadline = "request_deadline",
        /// The round was abandoned (pause, quit).
        Aborted = "aborted",
        /// The call's own code panicked.
        Internal = "internal",
    }
}

impl Reason {
    /// Whether we cut the call at a time limit, rather than something failing.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::Deadline | Self::RequestDeadline | Self::Throttled)
    }

    /// Whether this is a failure of the network or of the answer, for which another attempt may help (R25).
    /// Statuses are decided by [`crate::engine::transport::Failure::retryable`].
    #[must_use]
    pub const fn is_transport_fault(self) -> bool {
        matches!(
            self,
            Self::Dns
                | Self::ConnectRefused
                | Self::ConnectUnreachable
                | Self::ConnectFailed
                | Self::Tls
                | Self::ConnReset
                | Self::ConnClosed
                | Self::Goaway
                | Self::Protocol
                | Self::BodyTruncated
                | Self::BodyInvalid
                | Self::BodyLimit
        )
    }

    /// The word for the screen: `http_503` where a status is known, the stable spelling otherwise.
    #[must_use]
    pub fn label(self, status: Option<u16>) -> String {
        match (self, status) {
            (Self::HttpStatus, Some(code)) => format!("http_{code}"),
            _ => self.as_str().to_owned(),
        }
    }
}

words! {
    /// How far an attempt had come.
    Phase {
        /// Before anything was sent: waiting for a permit or a connection.
        Queued = "queued",
        /// Resolving the name.
        Dns = "dns",
        /// TCP connect.
        Connect = "connect",
        /// TLS handshake.
        Tls = "tls",
        /// Request sent, no answer yet.
        Waiting = "waiting",
        /// Answer's head is here, body arriving.
        Body = "body",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_snake_case_and_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for reason in Reason::ALL {
            assert!(reason.as_str().chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            assert!(seen.insert(reason.as_str()), "{reason} twice");
        }
        assert_eq!(Reason::HttpStatus.label(Some(503)), "http_503");
        assert_eq!(Reason::Deadline.label(Some(503)), "deadline");
    }
}
