//! A draft as the text of a profile, with comments for whoever goes on with it.

use super::draft::{Draft, Request};
use super::vault::Vault;
use crate::domain::text::visible;
use crate::profile::durations::show;
use std::fmt::Write;
use std::time::Duration;

/// Budget where nothing says how long answers take.
const BUDGET: Duration = Duration::from_secs(1);

/// Attempts a second and host that a profile of ours asks for at most: half of what fanscope would send.
const PER_SECOND: usize = 25;

/// The text of the profile. Writing to a string can't fail, so its results are dropped.
pub(super) fn text(draft: &Draft) -> String {
    let names = draft.names();
    let mut out = head(draft);
    let name = names.first().filter(|_| names.len() == 1).map_or("requests", String::as_str);
    let _ = write!(out, "\nname = {}\n\n[round]\n", quoted(&draft.vault, name));
    let (budget, why) = draft.budget.clone().unwrap_or((BUDGET, "how long an answer may take".to_owned()));
    let every = Duration::from_secs(draft.busiest().div_ceil(PER_SECOND).max(1) as u64);
    out += &line("mode = \"deadline\"", "or \"quorum\", \"hedge\", \"wait-all\", \"fail-fast\"");
    out += &line(&format!("budget = \"{}\"", show(budget)), &why);
    out += &line(&format!("every = \"{}\"", show(every)), "from the start of one round to the next");
    for (name, request) in names.iter().zip(&draft.requests) {
        endpoint(&mut out, &draft.vault, name, request, budget);
    }
    out
}

fn head(draft: &Draft) -> String {
    let mut out = format!(
        "# Written by `fanscope {}`. `fanscope check FILE` explains it, `fanscope FILE` shows it live.\n",
        draft.asked
    );
    let variables = draft.vault.names();
    if !variables.is_empty() {
        out += "#\n# What is secret is not in it. Set these variables before it is used:\n";
        for name in variables {
            let _ = writeln!(out, "#   export {name}=...");
        }
    }
    let notes = draft.all_notes();
    if !notes.is_empty() {
        out += "#\n";
    }
    for note in notes {
        comment(&mut out, &note);
    }
    out
}

fn comment(out: &mut String, text: &str) {
    let _ = writeln!(out, "# {}", visible(text));
}

/// A setting with a comment beside it.
fn line(setting: &str, comment: &str) -> String {
    if comment.is_empty() {
        return format!("{setting}\n");
    }
    format!("{setting:<24} # {comment}\n")
}

fn endpoint(out: &mut String, vault: &Vault, name: &str, request: &Request, budget: Duration) {
    out.push('\n');
    for note in &request.notes {
        comment(out, note);
    }
    let _ = writeln!(out, "[[endpoint]]\nname = {}", quoted(vault, name));
    let _ = writeln!(out, "url = {}", quoted(vault, &request.url));
    if request.method != "GET" {
        let method = format!("method = \"{}\"", request.method);
        let harmless = matches!(request.method.as_str(), "HEAD" | "OPTIONS");
        let why = if harmless { "" } else { "sent anew in every round: make sure that does no harm" };
        out.push_str(&line(&method, why));
    }
    if let Some(body) = &request.body {
        let _ = writeln!(out, "body = {}", quoted(vault, body));
    }
    match request.timeout {
        Some(timeout) if timeout < budget => {
            let _ = writeln!(out, "timeout = \"{}\"", show(timeout));
        }
        Some(timeout) => {
            let _ =
                writeln!(out, "# timeout = \"{}\" would never strike: the budget comes first", show(timeout));
        }
        None => {}
    }
    if let Some(status) = request.status {
        let _ = writeln!(out, "expect = {{ status = [\"2xx\", {status}] }}");
    }
    if request.follow > 0 {
        out.push_str(&line(&format!("follow = {}", request.follow), "redirects"));
    }
    if request.insecure {
        out.push_str(&line("tls = { insecure = true }", "any certificate is accepted"));
    }
    if let Some(place) = &request.connect_to {
        let _ = writeln!(out, "connect_to = {}", quoted(vault, place));
    }
    // A table of its own, so it is the last.
    headers(out, vault, &request.headers);
}

/// Headers by name; one that is there twice has a list of values.
fn headers(out: &mut String, vault: &Vault, headers: &[(String, String)]) {
    let mut seen: Vec<&str> = Vec::new();
    for (name, value) in headers {
        if seen.iter().any(|n| n.eq_ignore_ascii_case(name)) {
            continue;
        }
        if seen.is_empty() {
            out.push_str("[endpoint.headers]\n");
        }
        seen.push(name);
        let values: Vec<String> = headers
            .iter()
            .filter(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| quoted(vault, value))
            .collect();
        let value = if values.len() > 1 { format!("[{}]", values.join(", ")) } else { quoted(vault, value) };
        let _ = writeln!(out, "{} = {value}", key(name));
    }
}

fn key(name: &str) -> String {
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
        return name.to_owned();
    }
    // Names of headers are visible ASCII without quotes and backslashes.
    format!("\"{name}\"")
}

/// A text as a basic string of TOML.
pub(super) fn quoted(vault: &Vault, text: &str) -> String {
    let mut out = String::from("\"");
    for c in vault.spelled(text).chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c)),
            c => out.write_char(c),
        };
    }
    out.push('"');
    out
}
