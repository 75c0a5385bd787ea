//! A profile in the making: requests come in as they were found, and stand in it without their secrets.

use super::vault::{Vault, filled, named, scrubbed};
use super::{InitError, conceal};
use crate::domain::numbers::counted;
use crate::profile::{self, MAX_ENDPOINTS};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use url::Url;

/// Most headers of a request, as a profile has it.
const MAX_HEADERS: usize = 100;

/// Longest name that is made of a host and a path, in characters.
const LONGEST_NAME: usize = 80;

/// Methods that a profile sends and that these sources write.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "REPORT"];

/// Headers of one connection or one visit: fanscope sets its own, or they would turn every answer into a 304.
const DROPPED: [&str; 16] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What is sent, as it was found.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    /// What is appended to the query of the URL; a part of it without a key is secret.
    pub(super) query: Vec<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
    pub(super) timeout: Option<Duration>,
    /// Redirects that are followed.
    pub(super) follow: u32,
    pub(super) insecure: bool,
    /// Host and port to dial.
    pub(super) connect_to: Option<String>,
    /// A status that counts as an answer beside 2xx.
    pub(super) status: Option<u16>,
    /// What is said above it, without values.
    pub(super) notes: Vec<String>,
}

impl Request {
    pub(super) fn get(url: String) -> Self {
        Self { method: "GET".to_owned(), url, ..Self::default() }
    }

    /// The value of a header, whatever the case of its name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A profile in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// How it was asked for, as in `fanscope init --curl`.
    pub(super) asked: String,
    pub(super) vault: Vault,
    pub(super) requests: Vec<Request>,
    /// The budget, and where it comes from.
    pub(super) budget: Option<(Duration, String)>,
    /// What is said at the head of the file, without values.
    pub(super) notes: Vec<String>,
    /// Requests beyond what a profile may have.
    over: u64,
}

impl Draft {
    pub(super) fn new(asked: &str) -> Self {
        Self { asked: asked.to_owned(), ..Self::default() }
    }

    /// Takes a request in. Its strings come from outside, but for the marks of variables that the vault knows.
    ///
    /// # Errors
    /// What can't be sent, without the text itself.
    pub(super) fn add(&mut self, mut request: Request) -> Result<(), &'static str> {
        if !METHODS.contains(&request.method.as_str()) {
            return Err("its method is none that a profile sends");
        }
        check_url(&appended(request.url.clone(), &request.query))?;
        if self.requests.len() == MAX_ENDPOINTS {
            self.over += 1;
            return Ok(());
        }
        let kind = request.header("content-type").map(str::to_owned);
        let vault = &mut self.vault;
        let query: Vec<String> = request
            .query
            .iter()
            .map(|query| conceal::pairs(vault, query, '&', Some("query secret")))
            .collect();
        request.url = appended(conceal::url(vault, &request.url), &query);
        let mut unfit = 0_u64;
        let headers = std::mem::take(&mut request.headers);
        for (name, value) in headers.into_iter().filter(|(name, _)| !is_dropped(name)) {
            if profile::parse_header(&format!("{name}: {}", filled(&value))).is_err()
                || request.headers.len() == MAX_HEADERS
            {
                unfit += 1;
                continue;
            }
            let value = conceal::header(&mut self.vault, &name, &value);
            request.headers.push((name, value));
        }
        if unfit > 0 {
            request
                .notes
                .push(format!("left out: {} that can't be sent", counted(unfit, "header", "headers")));
        }
        request.body = request.body.filter(|body| !body.is_empty());
        if let Some(body) = request.body.take() {
            request.body = Some(conceal::body(&mut self.vault, kind.as_deref(), &body));
        }
        self.requests.push(request);
        Ok(())
    }

    /// What the profile is to say of all that is not in it.
    pub(super) fn all_notes(&self) -> Vec<String> {
        let over = (self.over > 0).then(|| {
            let requests = counted(self.over, "request", "requests");
            format!("left out: {requests} beyond the {MAX_ENDPOINTS} of a profile")
        });
        self.notes.iter().cloned().chain(over).collect()
    }

    /// Hides what stood once more outside of its own place.
    pub(super) fn scrub(&mut self) {
        let index = self.vault.index();
        for request in &mut self.requests {
            request.url = scrubbed(&index, &request.url);
            for (_, value) in &mut request.headers {
                *value = scrubbed(&index, value);
            }
            request.body = request.body.take().map(|body| scrubbed(&index, &body));
        }
    }

    /// Names of the endpoints: their host, with the path where hosts repeat, with a number where that repeats too.
    pub(super) fn names(&self) -> Vec<String> {
        let places: Vec<(String, String)> = self.requests.iter().map(|r| host_and_path(&r.url)).collect();
        let mut hosts: HashMap<&str, usize> = HashMap::new();
        for (host, _) in &places {
            *hosts.entry(host).or_default() += 1;
        }
        let mut taken = HashSet::new();
        let mut next: HashMap<String, usize> = HashMap::new();
        let name = |(host, path): &(String, String)| {
            let repeated = hosts.get(host.as_str()).is_some_and(|&n| n > 1);
            let wanted = if repeated { format!("{host}{path}") } else { host.clone() };
            let wanted: String = wanted.chars().take(LONGEST_NAME).collect();
            let mut name = wanted.clone();
            let number = next.entry(wanted.clone()).or_insert(1);
            while !taken.insert(name.clone()) {
                *number += 1;
                name = format!("{wanted}-{number}");
            }
            name
        };
        places.iter().map(name).collect()
    }

    /// Most requests to one host.
    pub(super) fn busiest(&self) -> usize {
        let mut hosts: HashMap<String, usize> = HashMap::new();
        for request in &self.requests {
            *hosts.entry(host_and_path(&request.url).0).or_default() += 1;
        }
        hosts.into_values().max().unwrap_or(1)
    }
}

fn is_dropped(name: &str) -> bool {
    name.starts_with(':') || DROPPED.iter().any(|dropped| dropped.eq_ignore_ascii_case(name.trim()))
}

/// The URL with more of a query.
fn appended(mut url: String, query: &[String]) -> String {
    for part in query {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(part);
    }
    url
}

/// Whether a URL can be asked, whatever its variables hold.
fn check_url(url: &str) -> Result<(), &'static str> {
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Err("its URL does not begin with http:// or https://");
    }
    profile::from_urls(&[filled(url)], &[])
        .map(drop)
        .map_err(|_| "its URL is not valid: look at its host and port, and for line breaks")
}

/// Host with its port, and path, with the names of variables in their place.
fn host_and_path(url: &str) -> (String, String) {
    let Ok(parsed) = Url::parse(&named(url)) else { return ("endpoint".to_owned(), String::new()) };
    let mut host = parsed.host_str().unwrap_or("endpoint").to_owned();
    if let Some(port) = parsed.port() {
        host = format!("{host}:{port}");
    }
    (host, parsed.path().trim_end_matches('/').to_owned())
}

/// A draft that can't be made, as an error for people.
pub(super) fn unfit(which: &str, why: &str) -> InitError {
    InitError::new(&format!("{which} can't be made an endpoint: {why}"))
}
