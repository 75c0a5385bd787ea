//! What the options of one command ask for, and the requests that come of it.

use super::options;
use super::place::{self, Place};
use crate::init::draft::Request;
use crate::init::vault::{filled, rewritten};
use crate::profile::durations;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::time::Duration;

/// What curl leaves as it is when it encodes.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Redirects where a command follows them and does not say how many; a profile follows at most 20.
const FOLLOWED: u32 = 10;

/// Most redirects of a profile.
const MOST_FOLLOWED: u32 = 20;

/// What one command asks for.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags of curl, each its own switch")]
pub(super) struct Asked {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    /// Headers that are to be left out, those that options imply among them.
    removed: Vec<String>,
    data: Option<String>,
    json: bool,
    query: Vec<String>,
    user: Option<String>,
    cookies: Vec<String>,
    get: bool,
    head: bool,
    insecure: bool,
    location: bool,
    most_redirects: Option<u32>,
    timeout: Option<Duration>,
    globoff: bool,
    places: Vec<Place>,
    /// Options that a profile has no word for.
    left_out: Vec<&'static str>,
}

impl Asked {
    pub(super) fn url(&mut self, url: &str) -> Result<(), String> {
        if url.starts_with('@') {
            return Err("it takes its URLs from a file (--url @...); write them into the command".to_owned());
        }
        self.urls.push(url.to_owned());
        Ok(())
    }

    /// Takes an option in; flags have an empty value. Errors name the option alone.
    pub(super) fn option(&mut self, name: &'static str, value: &str) -> Result<(), String> {
        match name {
            "url" => self.url(value)?,
            "request" => self.method = Some(value.to_owned()),
            "header" => self.header(value)?,
            "user-agent" => self.headers.push(("user-agent".to_owned(), value.to_owned())),
            "referer" => self.referer(value),
            // Without an equals sign it names a file.
            "cookie" if value.contains('=') || filled(value) != value => self.cookies.push(value.to_owned()),
            "user" => self.user = Some(value.to_owned()),
            "oauth2-bearer" => self.headers.push(("authorization".to_owned(), format!("Bearer {value}"))),
            "data" | "data-ascii" | "data-binary" => self.data(not_a_file(name, value)?, "&"),
            "data-raw" => self.data(value, "&"),
            "data-urlencode" => self.data(&encoded(name, value)?, "&"),
            "json" => {
                self.json = true;
                self.data(not_a_file(name, value)?, "");
            }
            "url-query" => self.query.push(match value.strip_prefix('+') {
                Some(as_it_is) => as_it_is.to_owned(),
                None => encoded(name, value)?,
            }),
            "get" => self.get = true,
            "head" => self.head = true,
            "insecure" => self.insecure = true,
            "globoff" => self.globoff = true,
            "location" | "location-trusted" | "follow" => self.location = true,
            "range" if value.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b',')) => {
                self.headers.push(("range".to_owned(), format!("bytes={value}")));
            }
            "max-redirs" => self.most_redirects = Some(number(name, value)?),
            "max-time" => self.timeout = seconds(value)?,
            "connect-to" => self.places.push(place::connect_to(value)?),
            "resolve" => self.places.extend(place::resolve(value)?),
            "next" => {
                return Err("--next is not read; write a command of its own for what follows it".to_owned());
            }
            "form" | "form-string" => {
                return Err(format!("--{name} sends a body of several parts, which a profile can't"));
            }
            "upload-file" => {
                return Err("--upload-file sends a file, which a profile can't; use --data".to_owned());
            }
            "config" => {
                return Err("--config keeps options in a file; write them into the command".to_owned());
            }
            "variable" => return Err("--variable is curl's own; write values, or ${NAME}".to_owned()),
            quiet if options::is_quiet(quiet) => {}
            other if self.left_out.contains(&other) => {}
            other => self.left_out.push(other),
        }
        Ok(())
    }

    /// `Name: value`, `Name:` for none, `Name;` for an empty one.
    fn header(&mut self, text: &str) -> Result<(), String> {
        if text.starts_with('@') {
            return Err(
                "it takes headers from a file (--header @...); write them into the command".to_owned()
            );
        }
        let header = text.split_once(':');
        let (name, value) = match (header, text.strip_suffix(';')) {
            (Some((name, value)), _) => (name.trim(), value.trim()),
            (None, Some(name)) => (name, ""),
            (None, None) => return Err("--header is a name, a colon and a value".to_owned()),
        };
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err("--header has a name that no header has".to_owned());
        }
        if header.is_some() && value.is_empty() {
            self.removed.push(name.to_ascii_lowercase());
        } else {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    fn referer(&mut self, value: &str) {
        let value = value.split(";auto").next().unwrap_or_default();
        if value.starts_with("http://") || value.starts_with("https://") {
            self.headers.push(("referer".to_owned(), value.to_owned()));
        } else if !value.is_empty() {
            self.left_out.push("referer");
        }
    }

    fn data(&mut self, value: &str, between: &str) {
        match &mut self.data {
            Some(data) => {
                data.push_str(between);
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
    }

    /// A request for each URL.
    pub(super) fn requests(mut self) -> Result<Vec<Request>, String> {
        if self.urls.is_empty() {
            return Err("it has no URL".to_owned());
        }
        if let Some(data) = self.data.take_if(|_| self.get) {
            self.query.push(data);
        }
        if !self.cookies.is_empty() {
            self.headers.push(("cookie".to_owned(), self.cookies.join("; ")));
        }
        self.imply();
        let urls = std::mem::take(&mut self.urls);
        urls.iter().map(|url| self.request(url)).collect()
    }

    /// Headers that follow from the kind of data, where the command does not say otherwise.
    fn imply(&mut self) {
        let implied: &[(&str, &str)] = match (self.json, self.data.is_some()) {
            (true, _) => &[("content-type", "application/json"), ("accept", "application/json")],
            (false, true) => &[("content-type", "application/x-www-form-urlencoded")],
            (false, false) => &[],
        };
        for (name, value) in implied {
            let said = self.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
            if !said && !self.removed.iter().any(|n| n == name) {
                self.headers.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
    }

    fn request(&self, written: &str) -> Result<Request, String> {
        let url = self.full_url(written)?;
        let method = match (&self.method, self.head, &self.data) {
            (Some(method), ..) => method.as_str(),
            (None, true, _) => "HEAD",
            (None, false, Some(_)) => "POST",
            (None, false, None) => "GET",
        };
        let https = url.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:"));
        let mut request = Request {
            method: method.to_ascii_uppercase(),
            headers: self.headers.clone(),
            body: self.data.clone(),
            timeout: self.timeout,
            insecure: self.insecure && https,
            connect_to: place::of(&self.places, &url),
            url,
            query: self.query.clone(),
            ..Request::default()
        };
        if self.location {
            request.follow = self.most_redirects.unwrap_or(FOLLOWED).min(MOST_FOLLOWED);
        }
        if self.user.is_some() {
            request.notes.push("user and password stand percent-encoded in their variables".to_owned());
        }
        if !self.left_out.is_empty() {
            request.notes.push(format!("left out of the curl command: --{}", self.left_out.join(", --")));
        }
        Ok(request)
    }

    /// The URL with scheme and credentials.
    fn full_url(&self, written: &str) -> Result<String, String> {
        let written = written.split('#').next().unwrap_or_default();
        // A host may be without a scheme for curl.
        let mut url = match written.contains("://") {
            true => written.to_owned(),
            false if looks_like_a_host(written) => format!("http://{written}"),
            false => return Err("it has a word that is no URL with http:// or https://".to_owned()),
        };
        if !self.globoff && has_globs(&url) {
            return Err(
                "curl would make several URLs of {...} or [...]; write them out, or add -g".to_owned()
            );
        }
        if let Some(user) = &self.user {
            url = with_user(&url, user);
        }
        Ok(url)
    }
}

fn looks_like_a_host(text: &str) -> bool {
    let host = text.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().any(|b| b.is_ascii_digit()));
    host.starts_with("localhost") || host.contains('.') || port
}

/// Curl's own patterns; the brackets of an IPv6 address are none.
fn has_globs(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    url.contains(['{', '}']) || rest.strip_prefix('[').unwrap_or(rest).contains('[')
}

/// The URL with this user and password in the place of its own.
fn with_user(url: &str, user: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    format!("{scheme}://{}:{}@{host}{path}", encode(user), encode(password))
}

fn encode(text: &str) -> String {
    rewritten(text, |part| utf8_percent_encode(part, UNRESERVED).to_string())
}

/// As curl encodes: `name=content`, `=content` or `content`, with a `+` for a space.
fn encoded(option: &str, value: &str) -> Result<String, String> {
    let form = |text: &str| encode(text).replace("%20", "+");
    match value.split_once('=') {
        Some(("", content)) => Ok(form(content)),
        Some((name, content)) => Ok(format!("{name}={}", form(content))),
        None if value.contains('@') => Err(from_file(option)),
        None => Ok(form(value)),
    }
}

fn not_a_file<'v>(option: &str, value: &'v str) -> Result<&'v str, String> {
    if value.starts_with('@') { Err(from_file(option)) } else { Ok(value) }
}

fn from_file(option: &str) -> String {
    format!("--{option} takes its data from a file or standard input; write the data into the command")
}

fn number(option: &str, value: &str) -> Result<u32, String> {
    // Without a limit.
    if value == "-1" {
        return Ok(u32::MAX);
    }
    value.parse().map_err(|_| format!("the value of --{option} is not a whole number"))
}

/// Seconds with or without a fraction; none is no limit.
fn seconds(value: &str) -> Result<Option<Duration>, String> {
    let plain = value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let seconds: Option<f64> = value.parse().ok().filter(|_| plain);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match time.filter(|&time| time <= durations::LONGEST) {
        Some(time) => Ok(Some(time).filter(|time| !time.is_zero())),
        None => Err("the value of --max-time is not a number of seconds up to a day".to_owned()),
    }
}
