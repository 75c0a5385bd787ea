//! Two recordings side by side: what became of it, and whether that is more than chance.
//!
//! Shares have a 95 % interval for their difference ([`crate::whatif::shares`]); where it contains 0 there is no
//! clear difference. The unit is the round: calls of one round are not independent, and one or two rounds show no
//! clear difference at all. Quantiles have their difference only. Of many rows one in twenty is clear by chance.
//!
//! As JSON one object: `old` and `new` (file, profile, started, rounds, settings), `shares` (`what`, `endpoint` and `reason`
//! where it is about one, `old`, `new`, `difference`, `lo`, `hi`, `clear`), `quantiles` (`what`, `old_ms`, `new_ms`,
//! `difference_ms`), `only_old` and `only_new` (endpoints that the other one lacks).

use super::collect::{Collected, without};
use super::missing::count;
use super::words::{self, fit, millis};
use crate::domain::text::seven_bit;
use crate::domain::{EndpointId, Reason, numbers};
use crate::recording::{EndpointSummary, Millis, SettingsBody};
use crate::whatif::quantile::Quantile;
use crate::whatif::shares::{Difference, Share};
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Widest name that the table makes room for.
const MOST_NAME: usize = 32;

/// From so many rows on it is said that some are clear by chance.
const MANY: usize = 10;

/// Two recordings side by side.
#[derive(Debug, Serialize)]
pub(super) struct Compared<'a> {
    old: Side<'a>,
    new: Side<'a>,
    shares: Vec<ShareRow<'a>>,
    quantiles: Vec<QuantileRow<'a>>,
    only_old: Vec<String>,
    only_new: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Side<'a> {
    file: &'a str,
    profile: &'a str,
    started: &'a str,
    rounds: u64,
    settings: &'a SettingsBody,
    #[serde(skip)]
    contract: String,
    #[serde(skip)]
    differing: Option<String>,
    left_out: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct ShareRow<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    old: Option<f64>,
    new: Option<f64>,
    difference: Option<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
    clear: Option<bool>,
}

#[derive(Debug, Serialize)]
struct QuantileRow<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'a str>,
    old_ms: Option<Millis>,
    new_ms: Option<Millis>,
    difference_ms: Option<f64>,
}

impl<'a> Compared<'a> {
    /// Compares the later with the earlier.
    pub(super) fn of(old: &'a Collected, new: &'a Collected) -> Self {
        let (before, after) = (&old.summary, &new.summary);
        let names =
            |all: &Collected| all.session.endpoints.iter().map(|e| e.name.clone()).collect::<Vec<_>>();
        let partial =
            |all: &Collected| all.summary.partial.and_then(|share| of_rounds(share, all.summary.rounds));
        let mut shares = vec![
            share("completeness", old.mean.share(), new.mean.share()),
            share("partial", partial(old), partial(new)),
            share("failed", part(before.failed, before.rounds), part(after.failed, after.rounds)),
        ];
        let mut quantiles = vec![
            quantile("p50", None, before.round.p50_ms, after.round.p50_ms),
            quantile("p90", None, before.round.p90_ms, after.round.p90_ms),
            quantile("p99", None, before.round.p99_ms, after.round.p99_ms),
        ];
        for (i, own) in before.endpoints.iter().enumerate() {
            let Some(place) = after.endpoints.iter().position(|e| e.endpoint == own.endpoint) else {
                continue;
            };
            let Some(later) = after.endpoints.get(place) else { continue };
            shares.extend(missing(own, later));
            let at = |all: &Collected, i, q| {
                Quantile::of(&all.fold.curve(EndpointId(i)), q).time.map(Millis::from)
            };
            for (what, q) in [("p50", 0.5), ("p95", 0.95)] {
                quantiles.push(quantile(what, Some(&own.endpoint), at(old, i, q), at(new, place, q)));
            }
        }
        let side = |all: &'a Collected| Side {
            file: all.files.first().map_or("", |f| f.name.as_str()),
            profile: &all.session.profile,
            started: &all.session.started,
            rounds: all.summary.rounds,
            settings: &all.session.settings,
            contract: words::settings(&all.settings, all.optional),
            differing: words::differing(all),
            left_out: all.files.first().and_then(|f| f.left_out.as_deref()),
        };
        Self {
            old: side(old),
            new: side(new),
            shares,
            quantiles,
            only_old: without(&names(old), &names(new)),
            only_new: without(&names(new), &names(old)),
        }
    }

    /// For people.
    pub(super) fn text(&self, width: usize, ascii: bool) -> String {
        let mut out = String::new();
        for (word, side) in [("old", &self.old), ("new", &self.new)] {
            let rounds = numbers::counted(side.rounds, "round", "rounds");
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{word}  {}  {}, {}, {rounds}", side.file, side.profile, side.started);
            let _ = writeln!(out, "     {}", side.contract);
            if let Some(differing) = &side.differing {
                let _ = writeln!(out, "     {differing}");
            }
        }
        for (word, side) in [("old", &self.old), ("new", &self.new)] {
            if let Some(left_out) = side.left_out {
                let _ = writeln!(out, "{word}: {left_out}");
            }
        }
        for (word, names) in [("old", &self.only_old), ("new", &self.only_new)] {
            if !names.is_empty() {
                let _ = writeln!(out, "only in {word}: {}", names.join(", "));
            }
        }
        let names: Vec<String> = self.shares.iter().map(ShareRow::name).collect();
        let quantiles: Vec<String> = self.quantiles.iter().map(QuantileRow::name).collect();
        let widest = names.iter().chain(&quantiles).map(|name| name.width()).max().unwrap_or(0);
        let name = widest.min(MOST_NAME);
        let _ = writeln!(
            out,
            "\n{}  {:>8}  {:>8}  {:>10}  95 % interval",
            fit("", name),
            "old",
            "new",
            "difference"
        );
        for (clear, head) in [(true, ""), (false, "no clear difference\n")] {
            let rows = self.shares.iter().zip(&names).filter(|(row, _)| (row.clear == Some(true)) == clear);
            let rows: Vec<String> =
                rows.map(|(row, label)| format!("{}  {}\n", fit(label, name), row.text())).collect();
            if !rows.is_empty() {
                out.extend([head, rows.concat().as_str()]);
            }
        }
        if self.shares.len() >= MANY {
            let _ =
                writeln!(out, "({} rows: one in twenty would be clear by chance alone)", self.shares.len());
        }
        let _ = writeln!(out, "\n{}  {:>8}  {:>8}  {:>10}", fit("", name), "old", "new", "difference");
        let known = |row: &QuantileRow<'_>| row.old_ms.or(row.new_ms).is_some();
        for (row, label) in self.quantiles.iter().zip(&quantiles).filter(|(row, _)| known(row)) {
            let _ = writeln!(out, "{}  {}", fit(label, name), row.text());
        }
        let text = words::wrapped(&out, width);
        if ascii { seven_bit(&text).into_owned() } else { text }
    }

    /// For programs.
    ///
    /// # Errors
    /// None that these types can cause.
    pub(super) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|text| text + "\n")
    }
}

/// A share of so many rounds, which was a count of them.
fn of_rounds(share: f64, rounds: u64) -> Option<Share> {
    #[expect(clippy::cast_precision_loss, reason = "a count of rounds, far below 2^52")]
    let n = rounds as f64;
    (rounds > 0).then(|| Share { value: share, n }.by_rounds())
}

/// A share of so many rounds.
fn part(part: u64, rounds: u64) -> Option<Share> {
    Share::of(part, rounds).map(Share::by_rounds)
}

fn share(what: &'static str, old: Option<Share>, new: Option<Share>) -> ShareRow<'static> {
    let difference = old.zip(new).map(|(old, new)| Difference::of(old, new));
    ShareRow {
        what,
        endpoint: None,
        reason: None,
        old: old.map(|s| s.value),
        new: new.map(|s| s.value),
        difference: difference.map(|d| d.value),
        lo: difference.map(|d| d.interval.0),
        hi: difference.map(|d| d.interval.1),
        clear: difference.map(|d| d.is_clear()),
    }
}

/// A row for each reason that occurred before or after.
fn missing<'a>(old: &'a EndpointSummary, new: &'a EndpointSummary) -> Vec<ShareRow<'a>> {
    let reasons = Reason::ALL.iter().copied().filter(|&r| count(old, r) + count(new, r) > 0);
    let row = |reason| ShareRow {
        endpoint: Some(&old.endpoint),
        reason: Some(reason),
        // An endpoint has one call in each round.
        ..share("missing", part(count(old, reason), old.n), part(count(new, reason), new.n))
    };
    reasons.map(row).collect()
}

fn quantile<'a>(
    what: &'static str,
    endpoint: Option<&'a str>,
    old_ms: Option<Millis>,
    new_ms: Option<Millis>,
) -> QuantileRow<'a> {
    #[expect(clippy::cast_precision_loss, reason = "times in µs, far below 2^52")]
    let ms = |time: Millis| time.micros() as f64;
    // Rounded to the microsecond, so that no tail of a float is shown.
    let difference_ms = old_ms.zip(new_ms).map(|(old, new)| (ms(new) - ms(old)) / 1e3);
    QuantileRow { what, endpoint, old_ms, new_ms, difference_ms }
}

impl ShareRow<'_> {
    fn name(&self) -> String {
        match (self.endpoint, self.reason) {
            (Some(endpoint), Some(reason)) => format!("{endpoint} {reason}"),
            _ => self.what.to_owned(),
        }
    }

    fn text(&self) -> String {
        let shown = |share: Option<f64>| share.map_or_else(|| words::NONE.to_owned(), numbers::share_percent);
        let head = format!("{:>8}  {:>8}", shown(self.old), shown(self.new));
        let (Some(difference), Some(lo), Some(hi)) = (self.difference, self.lo, self.hi) else {
            return format!("{head}  no data");
        };
        format!("{head}  {:>10}  {} to {}", points(difference), points(lo), points(hi))
    }
}

impl QuantileRow<'_> {
    fn name(&self) -> String {
        self.endpoint.map_or_else(|| format!("round {}", self.what), |e| format!("{e} {}", self.what))
    }

    fn text(&self) -> String {
        let difference =
            self.difference_ms.map_or_else(|| words::NONE.to_owned(), |ms| format!("{ms:+.1} ms"));
        format!("{:>8}  {:>8}  {difference:>10}", millis(self.old_ms), millis(self.new_ms))
    }
}

/// A difference of shares in percentage points, with its sign.
fn points(share: f64) -> String {
    // Nothing is shown as -0.0.
    let points = (share * 1000.0).round() / 10.0 + 0.0;
    format!("{points:+.1}")
}
