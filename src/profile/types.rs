//! The validated profile.

use crate::domain::{CallSpec, HedgeContract, Settings};
use std::path::PathBuf;
use std::time::Duration;

/// A validated profile: at least one endpoint, unique names, every number in its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What rounds are asked to do until a key or a flag changes it.
    pub settings: Settings,
    /// Most attempts per second, host and port; `None`: the default of 50 (R39).
    pub max_rps: Option<f64>,
    /// How names are resolved.
    pub resolver: Resolver,
    /// Seed of the embedded upstreams.
    pub seed: u64,
    /// Rows that vary the requests: header and rows of the CSV file named in `rows`.
    pub rows: Option<Rows>,
    /// How many of the last rounds what-if answers are drawn from.
    pub what_if_rounds: usize,
    /// The endpoints, in order.
    pub endpoints: Vec<Endpoint>,
}

impl Profile {
    /// Rounds that what-if answers are drawn from, where nothing else is asked for.
    pub const WHAT_IF_ROUNDS: usize = 600;

    /// A profile of these endpoints with everything else at its default.
    #[must_use]
    pub fn plain(name: String, endpoints: Vec<Endpoint>) -> Self {
        Self {
            name,
            settings: Settings::default(),
            max_rps: None,
            resolver: Resolver::default(),
            seed: 0,
            rows: None,
            what_if_rounds: Self::WHAT_IF_ROUNDS,
            endpoints,
        }
    }

    /// What the engine has to know of each endpoint.
    #[must_use]
    pub fn call_specs(&self) -> Vec<CallSpec> {
        self.endpoints
            .iter()
            .map(|e| CallSpec {
                required: e.required,
                timeout: e.timeout,
                replicas: e.replicas(),
                repeatable: e.repeatable(),
                hedge: e.hedge,
            })
            .collect()
    }

    /// The round's row of the table; rounds beyond its end start over.
    #[must_use]
    pub fn row(&self, round: u64) -> &[String] {
        let Some(rows) = self.rows.as_ref().filter(|r| !r.rows.is_empty()) else { return &[] };
        let count = rows.rows.len() as u64;
        let index = usize::try_from(round.saturating_sub(1) % count).unwrap_or_default();
        rows.rows.get(index).map_or(&[], Vec::as_slice)
    }

    /// How many calls are optional: the n of a quorum.
    #[must_use]
    pub fn optional(&self) -> usize {
        self.endpoints.iter().filter(|e| !e.required).count()
    }
}

/// A table whose row of the round can be put into requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`; at least one.
    pub rows: Vec<Vec<String>>,
}

/// One upstream dependency.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent keys of the profile, each its own switch")]
pub struct Endpoint {
    /// Unique name, free of control characters.
    pub name: String,
    /// Where its calls go.
    pub target: Target,
    /// Request method, upper case.
    pub method: String,
    /// Request headers in order; names may repeat.
    pub headers: Vec<(String, Template)>,
    /// Request body, the same for each attempt.
    pub body: Template,
    /// Whether its failure fails the round.
    pub required: bool,
    /// Its own limit.
    pub timeout: Option<Duration>,
    /// What counts as an answer.
    pub expect: Expect,
    /// Attempts in flight at once for its dependency; `None`: the default of R36.
    pub concurrency: Option<u32>,
    /// The name under which it shares permits and breaker with others; `None`: its host and port.
    pub dependency: Option<String>,
    /// Whether it has a breaker.
    pub breaker: bool,
    /// Whether a second identical request does no harm although the method is not GET or HEAD.
    pub idempotent: bool,
    /// HTTP version.
    pub http: HttpChoice,
    /// Host and port to dial instead of the URL's.
    pub connect_to: Option<(String, u16)>,
    /// TLS settings.
    pub tls: Tls,
    /// Proxy.
    pub proxy: Proxy,
    /// Redirects that are followed.
    pub follow: u32,
    /// Whether a W3C `traceparent` is sent.
    pub trace: bool,
    /// Its own say on hedging.
    pub hedge: HedgeContract,
}

impl Endpoint {
    /// Whether headers and body are the same in every round.
    #[must_use]
    pub fn has_fixed_content(&self) -> bool {
        self.body.is_fixed() && self.headers.iter().all(|(_, value)| value.is_fixed())
    }

    /// An endpoint with every other key at its default.
    #[must_use]
    pub fn plain(name: String, target: Target) -> Self {
        Self {
            name,
            target,
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Template::default(),
            required: false,
            timeout: None,
            expect: Expect::default(),
            concurrency: None,
            dependency: None,
            breaker: false,
            idempotent: false,
            http: HttpChoice::default(),
            connect_to: None,
            tls: Tls::default(),
            proxy: Proxy::default(),
            follow: 0,
            trace: true,
            hedge: HedgeContract::ByMode,
        }
    }

    /// Number of URLs or simulated replicas, at least 1.
    #[must_use]
    pub fn replicas(&self) -> usize {
        match &self.target {
            Target::Urls(urls) => urls.len(),
            Target::Simulated(sims) => sims.len(),
        }
    }

    /// Whether a second identical request does no harm (R30).
    #[must_use]
    pub fn repeatable(&self) -> bool {
        self.idempotent || matches!(self.method.as_str(), "GET" | "HEAD")
    }
}

/// Where calls go. Never empty.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Real URLs.
    Urls(Vec<Template>),
    /// Embedded upstreams on loopback.
    Simulated(Vec<Simulation>),
}

/// Text with holes that each round fills. `${VAR}` of the environment has its value already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(pub Vec<Piece>);

/// A piece of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// `${NAME}` of the environment.
    Variable {
        /// Its name.
        name: String,
        /// What it was when the profile was read.
        value: String,
    },
    /// `${round}`: the round's number.
    Round,
    /// `${rows.NAME}`: the column with this index.
    Row(usize),
}

impl Template {
    /// A template without holes.
    #[must_use]
    pub fn fixed(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    /// Whether it has no holes.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Variable { .. }))
    }

    /// The text for a round; `row` is the round's row of the table.
    #[must_use]
    pub fn fill(&self, round: u64, row: &[String]) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) | Piece::Variable { value: text, .. } => out.push_str(text),
                Piece::Round => out.push_str(&round.to_string()),
                Piece::Row(index) => out.push_str(row.get(*index).map_or("", String::as_str)),
            }
        }
        out
    }
}

/// What counts as an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// Accepted statuses.
    pub status: StatusSet,
    /// Text that the body must contain.
    pub body_contains: Option<String>,
    /// Largest accepted body in bytes, after decoding.
    pub max_body: u64,
}

impl Default for Expect {
    fn default() -> Self {
        Self { status: StatusSet(vec![(200, 299)]), body_contains: None, max_body: 16 << 20 }
    }
}

/// Accepted statuses as inclusive ranges: `2xx` is `(200, 299)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSet(pub Vec<(u16, u16)>);

impl StatusSet {
    /// Whether the status is accepted.
    #[must_use]
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|&(lo, hi)| (lo..=hi).contains(&status))
    }
}

/// HTTP version asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HttpChoice {
    /// HTTP/1.1 only.
    #[default]
    Http11,
    /// HTTP/2 only, with prior knowledge on plain connections.
    Http2,
    /// By ALPN.
    Auto,
}

/// TLS settings. Paths are resolved against the profile's folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// PEM file of accepted authorities instead of the platform's.
    pub ca: Option<PathBuf>,
    /// PEM file of our certificate.
    pub cert: Option<PathBuf>,
    /// PEM file of our key.
    pub key: Option<PathBuf>,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Name sent and verified instead of the URL's host.
    pub sni: Option<String>,
}

/// How the endpoint is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Proxy {
    /// Directly.
    #[default]
    None,
    /// By the environment's variables.
    Env,
    /// Through this proxy (`http`, `https`, `socks5`, `socks5h`).
    Url(String),
}

/// How names are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resolver {
    /// Our own, cancellable.
    #[default]
    Async,
    /// The system's, on a thread of its own.
    System,
}

/// An embedded upstream.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Time from the request to the answer.
    pub latency: LatencyLaw,
    /// Faults.
    pub fail: Option<Fault>,
    /// Occasional slowness, shared by the endpoints of a group.
    pub slow: Option<Slow>,
    /// Body size of an answer in bytes.
    pub body: u64,
}

/// A latency law: a distribution, cut to non-negative times.
pub type LatencyLaw = Distribution;

/// A distribution of times.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Fixed(Duration),
    /// Uniform between two times.
    Uniform(Duration, Duration),
    /// Log-normal, given by its median and 99th percentile.
    LogNormal {
        /// Median.
        median: Duration,
        /// 99th percentile, above the median.
        p99: Duration,
    },
    /// One of two laws.
    Bimodal {
        /// The usual one.
        fast: Box<Distribution>,
        /// The other.
        slow: Box<Distribution>,
        /// Share of the other, 0 to 1.
        slow_share: f64,
    },
    /// These times in turn, over and over. Never empty.
    Trace(Vec<Duration>),
}

/// A fault and how often it strikes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fault {
    /// Share of rounds, 0 to 1.
    pub rate: f64,
    /// What happens.
    pub kind: FaultKind,
}

/// Faults of embedded upstreams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// This status, 500 to 599.
    Status(u16),
    /// The connection is reset after the request.
    Reset,
    /// The connection is refused.
    Refuse,
    /// No answer ever.
    Hang,
    /// The body trickles far slower than any budget.
    Drip,
    /// The body ends before its announced length.
    Truncate,
}

/// Occasional slowness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slow {
    /// Share of rounds in parts per million.
    pub rate_ppm: u32,
    /// Added time.
    pub add: Duration,
    /// Endpoints of one group share the coin of a round.
    pub group: Option<String>,
}
