//! The words of a metric: from its parts to what is measured.

use super::metric::Name;
use super::parse::{Fault, Part};
use super::value::is_number;
use super::{Metric, Percentile};
use crate::domain::Reason;
use crate::domain::text::{unshaped, visible};
use crate::profile::nearest::nearest;

/// Metrics that stand alone; percentiles of other numbers are found by their `p`.
const METRICS: [&str; 13] = [
    "completeness",
    "partial",
    "failed",
    "skipped",
    "rounds",
    "missing",
    "ok",
    "hedges.extra_load",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
];

/// What the parts mean.
///
/// # Errors
/// A word that there is not, or one too many or too few.
pub(super) fn metric(parts: &[Part], endpoints: &[String]) -> Result<Metric, Fault> {
    let Some((first, more)) = parts.split_first() else {
        return Err(Fault::new(&(0..0), "expected a metric"));
    };
    let alone = |metric: Metric| match more.first() {
        None => Ok(metric),
        Some(part) => {
            Err(Fault::new(&part.span, format!("`{}` is of the whole run and has no parts", first.word))
                .help(format!("write `{}` alone", first.word)))
        }
    };
    match first.word.as_str() {
        _ if first.quoted => Err(unknown(first, endpoints)),
        "completeness" => alone(Metric::Completeness),
        "partial" => alone(Metric::Partial),
        "failed" => alone(Metric::Failed),
        "skipped" => alone(Metric::Skipped),
        "rounds" => alone(Metric::Rounds),
        "missing" => missing(first, more, endpoints),
        "ok" => match more {
            [] => Err(Fault::new(&first.span, "expected an endpoint, as in ok.ENDPOINT")
                .help("the share of all calls that answered is `completeness`")),
            [name] => endpoint(name, endpoints).map(Metric::Ok),
            [_, part, ..] => Err(too_many(part)),
        },
        "hedges" => match more {
            [part] if part.word == "extra_load" => Ok(Metric::ExtraLoad),
            _ => Err(Fault::new(
                &more.first().unwrap_or(first).span,
                "of hedges there is only hedges.extra_load",
            )),
        },
        word => match word.strip_prefix('p').filter(|digits| is_number(digits)) {
            Some(digits) => percentile(first, digits, more, endpoints),
            None => Err(unknown(first, endpoints)),
        },
    }
}

fn too_many(part: &Part) -> Fault {
    Fault::new(&part.span, "expected an operator, found one more part")
        .help("a name with a dot in it stands in double quotes: \"a.b\"")
}

fn unknown(part: &Part, endpoints: &[String]) -> Fault {
    let fault = Fault::new(&part.span, format!("there is no metric `{}`", visible(&part.word)));
    if endpoints.contains(&part.word) {
        let name = Name(&part.word);
        return fault.help(format!("of an endpoint there are missing.{name}, ok.{name} and p99.{name}"));
    }
    match nearest(&part.word, METRICS) {
        Some(close) => fault.help(format!("did you mean `{close}`?")),
        None => fault.help(
            "the metrics are completeness, partial, failed, skipped, rounds, missing, ok.ENDPOINT, p50 to p99.9 and \
             hedges.extra_load",
        ),
    }
}

/// `missing`, `missing.ENDPOINT`, `missing.ENDPOINT.REASON`, `missing.*.REASON`. An endpoint always comes first,
/// so one that is called like a reason is no puzzle.
fn missing(first: &Part, more: &[Part], endpoints: &[String]) -> Result<Metric, Fault> {
    let whose = |part: &Part| match part.word.as_str() {
        "*" if !part.quoted => Ok(None),
        _ => endpoint(part, endpoints).map(Some),
    };
    match more {
        [] => Ok(Metric::Missing { endpoint: None, reason: None }),
        [name] => whose(name).map(|endpoint| Metric::Missing { endpoint, reason: None }).map_err(|fault| {
            match self::reason(name) {
                Ok(reason) => {
                    Fault::new(&name.span, format!("`{reason}` is a reason, and no endpoint is called so"))
                        .help(format!("for all endpoints write {}.*.{reason}", first.word))
                }
                Err(_) => fault,
            }
        }),
        [name, why] => {
            let endpoint = whose(name)?;
            Ok(Metric::Missing { endpoint, reason: Some(reason(why)?) })
        }
        [_, _, part, ..] => Err(too_many(part)),
    }
}

fn reason(part: &Part) -> Result<Reason, Fault> {
    let word = part.word.as_str();
    if let Some(reason) = Reason::ALL.iter().copied().find(|reason| reason.as_str() == word) {
        return Ok(reason);
    }
    let fault = Fault::new(&part.span, format!("there is no reason `{}`", visible(word)));
    if word.strip_prefix("http_").is_some_and(is_number) {
        return Err(fault.help("refused statuses are counted together: http_status"));
    }
    let all = || Reason::ALL.iter().map(|reason| reason.as_str());
    Err(match nearest(word, all()) {
        Some(close) => fault.help(format!("did you mean `{close}`?")),
        None => fault.help(format!("the reasons are {}", all().collect::<Vec<_>>().join(", "))),
    })
}

fn endpoint(part: &Part, endpoints: &[String]) -> Result<String, Fault> {
    // A profile's names go without what only shapes them, however they are written there.
    if let Some(name) = [part.word.clone(), unshaped(&part.word)].into_iter().find(|n| endpoints.contains(n))
    {
        return Ok(name);
    }
    let fault = Fault::new(&part.span, format!("there is no endpoint `{}`", visible(&part.word)));
    let close = nearest(&part.word, endpoints.iter().map(String::as_str));
    let few = || endpoints.iter().take(12).map(|name| Name(name).to_string()).collect::<Vec<_>>().join(", ");
    let more = if endpoints.len() > 12 { ", …" } else { "" };
    Err(match close {
        Some(close) => fault.help(format!("did you mean `{}`?", Name(close))),
        None => fault.help(format!("the endpoints are {}{more}", few())),
    })
}

/// `p99`, `p99.9`, `p99.ENDPOINT`, `p99.9.ENDPOINT`: digits right behind the first dot are decimals.
fn percentile(first: &Part, digits: &str, more: &[Part], endpoints: &[String]) -> Result<Metric, Fault> {
    let decimals = more.first().filter(|part| !part.quoted && is_number(&part.word));
    let number = decimals.map_or_else(|| digits.to_owned(), |part| format!("{digits}.{}", part.word));
    let rest = more.get(usize::from(decimals.is_some())..).unwrap_or_default();
    let span = first.span.start..decimals.unwrap_or(first).span.end;
    let value = number.parse::<f64>().ok().filter(|value| *value > 0.0 && *value < 100.0);
    let Some(value) = value else {
        let shown = visible(&number);
        return Err(Fault::new(&span, format!("p{shown} is no percentile"))
            .help("percentiles lie between 0 and 100: p50, p99, p99.9"));
    };
    let percentile = Percentile(value);
    match rest {
        [] => Ok(Metric::Took(percentile)),
        [name] => Ok(Metric::Latency(percentile, endpoint(name, endpoints)?)),
        [_, part, ..] => Err(too_many(part)),
    }
}
