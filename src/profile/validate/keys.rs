//! Every key of a profile, where it belongs, and what people call it elsewhere.

pub(crate) const ROOT: &[&str] = &["name", "round", "hedge", "defaults", "endpoint"];

pub(crate) const ROUND: &[&str] = &[
    "mode",
    "budget",
    "request_budget",
    "every",
    "quorum",
    "quorum_fail_fast",
    "max_rps",
    "resolver",
    "grace",
    "spin",
    "max_overlap",
    "probe",
    "what_if_rounds",
    "rows",
    "seed",
];

pub(crate) const HEDGE: &[&str] = &["delay", "max", "load_budget", "on_error"];

pub(crate) const ENDPOINT: &[&str] = &[
    "name",
    "url",
    "replicas",
    "simulate",
    "method",
    "headers",
    "body",
    "required",
    "timeout",
    "expect",
    "concurrency",
    "dependency",
    "breaker",
    "idempotent",
    "http",
    "connect_to",
    "tls",
    "proxy",
    "follow",
    "trace",
    "hedge",
];

pub(crate) const EXPECT: &[&str] = &["status", "body_contains", "max_body"];

pub(crate) const TLS: &[&str] = &["ca", "cert", "key", "insecure", "sni"];

pub(crate) const SIMULATE: &[&str] = &["latency", "fail", "slow", "body"];

pub(crate) const FAIL: &[&str] = &["rate", "as"];

pub(crate) const SLOW: &[&str] = &["rate", "add", "group"];

pub(crate) const LATENCY: &[&str] = &["fixed", "uniform", "median", "p99", "bimodal", "trace"];

pub(crate) const BIMODAL: &[&str] = &["fast", "slow", "share"];

/// What a key is called here that is called otherwise elsewhere.
pub(crate) fn synonym(key: &str) -> Option<&'static str> {
    let folded = key.to_ascii_lowercase().replace('-', "_");
    let meant = match folded.as_str() {
        "deadline" | "deadlin" | "deadline_ms" | "budget_ms" | "time_budget" => "budget",
        "total_timeout" | "request_timeout" | "outer_budget" => "request_budget",
        "interval" | "period" | "rate" | "frequency" => "every",
        "k" | "need" | "min_success" => "quorum",
        "rps" | "qps" | "rate_limit" => "max_rps",
        "dns" => "resolver",
        "overlap" | "max_rounds" => "max_overlap",
        "urls" | "hosts" | "targets" | "upstreams" => "replicas",
        "uri" | "address" | "target" | "host" => "url",
        "endpoints" | "upstream" | "service" | "services" => "endpoint",
        "verb" => "method",
        "data" | "payload" => "body",
        "critical" | "mandatory" => "required",
        "assert" | "check" | "checks" => "expect",
        "max_in_flight" | "max_connections" | "permits" => "concurrency",
        "circuit_breaker" => "breaker",
        "redirects" | "max_redirects" | "follow_redirects" => "follow",
        "http_version" | "version" => "http",
        "resolve" | "connect" => "connect_to",
        "hedging" => "hedge",
        "after" => "delay",
        "max_hedges" | "max_attempts" => "max",
        "insecure_skip_verify" | "skip_verify" => "insecure",
        "server_name" => "sni",
        "ca_file" | "cacert" => "ca",
        "cert_file" => "cert",
        "key_file" => "key",
        "contains" => "body_contains",
        "code" | "codes" | "statuses" => "status",
        "fault" | "error" | "errors" => "fail",
        "kind" | "type" | "how" => "as",
        _ => return None,
    };
    Some(meant)
}

/// The table in which a key belongs.
pub(crate) fn home(key: &str) -> Option<&'static str> {
    let tables = [
        (ROUND, "[round]"),
        (&["delay", "load_budget", "on_error"], "[hedge] or an endpoint's `hedge`"),
        (ENDPOINT, "[[endpoint]] or [defaults]"),
        (EXPECT, "an endpoint's `expect`"),
        (TLS, "an endpoint's `tls`"),
        (SIMULATE, "an endpoint's `simulate`"),
        (LATENCY, "the `latency` of `simulate`"),
        (ROOT, "the top of the file, before every table"),
    ];
    tables.into_iter().find(|(keys, _)| keys.contains(&key)).map(|(_, home)| home)
}
