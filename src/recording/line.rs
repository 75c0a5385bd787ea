//! The lines of a record, and what was asked for. Times `at_ms` are milliseconds from the session's start.

use super::round::RoundLine;
use super::summary::SummaryLine;
use super::units::Millis;
use crate::domain::{CallSpec, EndpointId, HedgeSettings, Mode, Round, Settings};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// What was asked for; the first line.
    Session(SessionLine),
    /// What a key changed.
    Settings(SettingsLine),
    /// A round after its clean-up.
    Round(RoundLine),
    /// Everything together; the last line, missing where the record was cut.
    Summary(SummaryLine),
    /// A line of another version.
    #[serde(other, skip_serializing)]
    Unknown,
}

impl Line {
    /// The first line. `started` is wall time as RFC 3339, a label only; `names` and `specs` are the endpoints in
    /// profile order.
    #[must_use]
    pub fn session(
        profile: &str,
        started: &str,
        names: &[String],
        specs: &[CallSpec],
        settings: &Settings,
    ) -> Self {
        let endpoint = |(i, spec): (usize, &CallSpec)| EndpointLine {
            name: name_of(names, EndpointId(i)),
            required: spec.required,
            replicas: spec.replicas,
        };
        Self::Session(SessionLine {
            schema: super::SCHEMA,
            fanscope: env!("CARGO_PKG_VERSION").to_owned(),
            profile: profile.to_owned(),
            started: started.to_owned(),
            endpoints: specs.iter().enumerate().map(endpoint).collect(),
            settings: SettingsBody::of(settings, optional(specs)),
        })
    }

    /// Settings that hold from the next round on; `at` is from the session's start.
    #[must_use]
    pub fn settings(at: Duration, settings: &Settings, specs: &[CallSpec]) -> Self {
        let settings = SettingsBody::of(settings, optional(specs));
        Self::Settings(SettingsLine { at_ms: at.into(), settings })
    }

    /// A settled round; `names` are the endpoints in profile order.
    #[must_use]
    pub fn round(round: &Round, names: &[String]) -> Self {
        Self::Round(RoundLine::of(round, names))
    }

    /// The last line.
    #[must_use]
    pub const fn summary(summary: SummaryLine) -> Self {
        Self::Summary(summary)
    }

    /// The line as JSON with its line break, to be written in one piece.
    ///
    /// # Errors
    /// For [`Line::Unknown`] only, which holds nothing to write.
    pub fn to_json_line(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads a line.
    ///
    /// # Errors
    /// It is not JSON (cut, most likely), or a field that cannot be done without is absent or of another kind.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

fn optional(specs: &[CallSpec]) -> usize {
    specs.iter().filter(|spec| !spec.required).count()
}

/// An endpoint's name; its number where it has none.
pub(super) fn name_of(names: &[String], endpoint: EndpointId) -> String {
    names.get(endpoint.index()).cloned().unwrap_or_else(|| format!("#{}", endpoint.index()))
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionLine {
    /// Version of the schema.
    pub schema: u32,
    /// Version of the program.
    #[serde(default)]
    pub fanscope: String,
    /// The profile's name.
    #[serde(default)]
    pub profile: String,
    /// Wall time of the start, RFC 3339.
    #[serde(default)]
    pub started: String,
    /// The endpoints in profile order.
    #[serde(default)]
    pub endpoints: Vec<EndpointLine>,
    /// What the first round was asked to do.
    pub settings: SettingsBody,
}

/// An endpoint in the session line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointLine {
    /// Its name.
    pub name: String,
    /// Whether its failure fails the round.
    #[serde(default)]
    pub required: bool,
    /// Number of URLs.
    #[serde(default)]
    pub replicas: usize,
}

/// Changed settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsLine {
    /// When, from the session's start.
    #[serde(default)]
    pub at_ms: Millis,
    /// What holds from the next round on.
    pub settings: SettingsBody,
}

/// Settings of rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsBody {
    /// The contract.
    pub mode: Mode,
    /// The optional budget.
    pub budget_ms: Millis,
    /// The outer limit.
    #[serde(default)]
    pub request_budget_ms: Millis,
    /// k of a quorum, also where the mode is another one now.
    #[serde(default)]
    pub quorum: usize,
    /// From one planned start to the next.
    #[serde(default)]
    pub every_ms: Millis,
    /// How calls are hedged.
    #[serde(default)]
    pub hedge: HedgeLine,
}

impl SettingsBody {
    fn of(settings: &Settings, optional: usize) -> Self {
        Self {
            mode: settings.mode,
            budget_ms: settings.budget.into(),
            request_budget_ms: settings.request_budget.into(),
            quorum: settings.quorum_of(optional),
            every_ms: settings.every.into(),
            hedge: HedgeLine::of(&settings.hedge),
        }
    }
}

/// How calls are hedged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HedgeLine {
    /// `p95`, `50ms`.
    #[serde(default)]
    pub delay: String,
    /// Hedges beside the primary; absent where the delay and the replicas decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u8>,
}

impl HedgeLine {
    fn of(hedge: &HedgeSettings) -> Self {
        Self { delay: hedge.delay.to_string(), max: hedge.max }
    }
}
