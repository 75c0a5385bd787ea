//! A profile on the spot: `fanscope https://a.example https://b.example`.

use super::error::{Complaint, Problem, Problems, ProfileErrors};
use super::source::{Source, visible};
use super::types::{Endpoint, Profile, Target, Template};
use super::validate::{check_url, header_name, header_value};
use std::collections::{HashMap, HashSet};
use url::Url;

/// Longest part of a path that goes into a name, in characters.
const NAMED_PATH: usize = 40;

/// A profile with an endpoint for each URL, everything else at its default. `headers` are arguments such as
/// `Accept: text/html, */*`, sent with every request. Nothing is expanded: the shell has done that.
///
/// # Errors
/// Every URL and header that cannot be sent, and an empty list of URLs.
pub fn from_urls(urls: &[String], headers: &[String]) -> Result<Profile, ProfileErrors> {
    let labels = (1..=urls.len())
        .map(|n| format!("URL {n}"))
        .chain((1..=headers.len()).map(|n| format!("header {n}")));
    // One argument a line; a line break within one would move the lines after it.
    let lines: Vec<String> =
        urls.iter().chain(headers).map(|arg| arg.replace(['\n', '\r'], "\u{1b}")).collect();
    let text = lines.join("\n");
    let source = Source::arguments(labels.collect(), &text);
    let mut problems = Problems::default();
    if urls.is_empty() {
        problems
            .push(Problem::whole("there is no URL").help("write for example: fanscope https://a.example"));
    }
    for (i, url) in lines.iter().take(urls.len()).enumerate() {
        report(&mut problems, &source, i, check_url(url));
    }
    let mut sent = Vec::new();
    for (i, header) in headers.iter().enumerate() {
        if let Some(header) = report(&mut problems, &source, urls.len() + i, parse_header(header)) {
            sent.push((header.0, Template::fixed(header.1)));
        }
    }
    if !problems.is_empty() {
        return Err(problems.render(&source));
    }
    let endpoints = names(urls)
        .into_iter()
        .zip(urls)
        .map(|(name, url)| {
            let target = Target::Urls(vec![Template::fixed(url.as_str())]);
            Endpoint { headers: sent.clone(), ..Endpoint::plain(name, target) }
        })
        .collect();
    Ok(Profile::plain("urls".to_owned(), endpoints))
}

fn report<T>(
    problems: &mut Problems,
    source: &Source<'_>,
    line: usize,
    result: Result<T, Complaint>,
) -> Option<T> {
    result.map_err(|c| problems.push(Problem::at(&source.line_span(line), c.message).help_if(c.help))).ok()
}

/// Splits a header argument, `Name: value`. The value is kept whole, commas and all (H31).
///
/// # Errors
/// Where there is no colon, or name or value cannot be sent.
pub fn parse_header(text: &str) -> Result<(String, String), Complaint> {
    let Some((name, value)) = text.split_once(':') else {
        return Err(Complaint::new(
            "a header is a name, a colon and a value",
            "write for example 'Accept: text/html'",
        ));
    };
    header_name(name.trim())?;
    header_value(value.trim())?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Profile {
    /// Sets headers on every endpoint, each in the place of those with its name, whatever their case (H30).
    pub fn set_headers(&mut self, headers: &[(String, String)]) {
        for endpoint in &mut self.endpoints {
            endpoint.headers.retain(|(name, _)| !headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name)));
            endpoint.headers.extend(headers.iter().map(|(n, v)| (n.clone(), Template::fixed(v.as_str()))));
        }
    }
}

/// A name for each URL: its host, with the path where hosts repeat, with a number where that repeats too.
fn names(urls: &[String]) -> Vec<String> {
    let parsed: Vec<(String, String)> = urls.iter().map(|url| host_and_path(url)).collect();
    let mut hosts: HashMap<&str, usize> = HashMap::new();
    for (host, _) in &parsed {
        *hosts.entry(host).or_default() += 1;
    }
    let mut taken = HashSet::new();
    let mut next: HashMap<String, usize> = HashMap::new();
    parsed
        .iter()
        .map(|(host, path)| {
            let repeated = hosts.get(host.as_str()).is_some_and(|&n| n > 1);
            let wanted = if repeated { format!("{host}{path}") } else { host.clone() };
            let mut name = wanted.clone();
            let number = next.entry(wanted.clone()).or_insert(1);
            while !taken.insert(name.clone()) {
                *number += 1;
                name = format!("{wanted}-{number}");
            }
            name
        })
        .collect()
}

fn host_and_path(url: &str) -> (String, String) {
    let Ok(parsed) = Url::parse(url) else { return (visible(url), String::new()) };
    let mut host = parsed.host_str().unwrap_or("url").to_owned();
    if let Some(port) = parsed.port() {
        host = format!("{host}:{port}");
    }
    let path = parsed.path().trim_end_matches('/');
    (host, visible(&path.chars().take(NAMED_PATH).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| (*s).to_owned()).collect()
    }

    fn named(list: &[&str]) -> Vec<String> {
        from_urls(&args(list), &[]).unwrap().endpoints.into_iter().map(|e| e.name).collect()
    }

    #[test]
    fn names_come_from_the_hosts_and_are_unique() {
        assert_eq!(named(&["https://a.example/x", "http://b.example:81"]), ["a.example", "b.example:81"]);
        assert_eq!(
            named(&["http://a/x", "http://a/y?z=1", "http://a/x", "http://a/", "http://a"]),
            ["a/x", "a/y", "a/x-2", "a", "a-2"]
        );
        assert_eq!(named(&["http://a", "http://a-2", "http://a"]), ["a", "a-2", "a-3"]);
    }

    #[test]
    fn h21_the_url_stays_as_it_is_written() {
        let profile = from_urls(&args(&["http://a/%7Ex%2F?q=${A}"]), &[]).unwrap();
        assert_eq!(
            profile.endpoints[0].target,
            Target::Urls(vec![Template::fixed("http://a/%7Ex%2F?q=${A}")])
        );
    }

    #[test]
    fn h31_header_values_stay_whole() {
        let profile = from_urls(&args(&["http://a"]), &args(&["Accept: a, b", "accept:c"])).unwrap();
        let sent: Vec<_> =
            profile.endpoints[0].headers.iter().map(|(n, v)| (n.as_str(), v.fill(1, &[]))).collect();
        assert_eq!(sent, [("Accept", "a, b".to_owned()), ("accept", "c".to_owned())]);
    }

    #[test]
    fn h30_headers_are_set_by_name_without_case() {
        let mut profile = from_urls(&args(&["http://a"]), &args(&["Accept: a", "X: 1"])).unwrap();
        profile.set_headers(&[("ACCEPT".to_owned(), "b".to_owned())]);
        let names: Vec<_> = profile.endpoints[0].headers.iter().map(|h| h.0.as_str()).collect();
        assert_eq!(names, ["X", "ACCEPT"]);
    }

    #[test]
    fn h32_all_faults_of_the_arguments_are_told_together() {
        let urls = args(&["a.example/x", "https://ok.example", "htps://b", "http://me:pw@h:x/\n"]);
        let errors = from_urls(&urls, &args(&["Authorization=Bearer abc"])).unwrap_err().to_string();
        assert!(errors.contains("URL 1: the URL has no scheme"), "{errors}");
        assert!(errors.contains(r#"write "https://a.example/x""#), "{errors}");
        assert!(errors.contains(r#"did you mean "https://b"?"#), "{errors}");
        assert!(errors.contains("header 1: "), "{errors}");
        assert!(!errors.contains("pw") && !errors.contains("Bearer"), "{errors}");
        assert!(from_urls(&[], &[]).unwrap_err().to_string().contains("there is no URL"));
    }
}
