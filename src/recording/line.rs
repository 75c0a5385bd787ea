//! The lines of a record, and what was asked for. Times `at_ms` are milliseconds from the session's start.

use super::round::{CallOutcome, RoundLine, is_false};
use super::summary::SummaryLine;
use super::units::Millis;
use crate::domain::{
    Ab, CallSpec, EndpointId, HedgeContract, HedgeDelay, HedgeSettings, Late, Mode, Reason, Round, RoundNo,
    Settings, Variant, text,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Duration;

/// One line of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    /// What was asked for; the first line.
    Session(SessionLine),
    /// What a key changed.
    Settings(SettingsLine),
    /// A round after its clean-up.
    Round(RoundLine),
    /// What became of a straggler of a probe round.
    Late(LateLine),
    /// What somebody had to say.
    Note(NoteLine),
    /// Everything together; the last line, missing where the record was cut.
    Summary(SummaryLine),
    /// A line of another version.
    #[serde(skip)]
    Unknown,
}

impl Line {
    /// The first line. `started` is wall time as RFC 3339, a label only; the endpoints stand in profile order.
    #[must_use]
    pub fn session(profile: &str, started: &str, endpoints: Vec<EndpointLine>, settings: &Settings) -> Self {
        Self::Session(SessionLine {
            schema: super::SCHEMA,
            fanscope: env!("CARGO_PKG_VERSION").to_owned(),
            profile: profile.to_owned(),
            started: started.to_owned(),
            settings: SettingsBody::of(settings, optional(&endpoints)),
            endpoints,
        })
    }

    /// Settings that hold from the next round on; `at` is from the session's start.
    #[must_use]
    pub fn settings(at: Duration, settings: &Settings, endpoints: &[EndpointLine]) -> Self {
        let settings = SettingsBody::of(settings, optional(endpoints));
        Self::Settings(SettingsLine { at_ms: at.into(), settings })
    }

    /// What somebody had to say at this time of the session.
    #[must_use]
    pub fn note(at: Duration, text: &str) -> Self {
        Self::Note(NoteLine { at_ms: at.into(), text: text.to_owned() })
    }

    /// A settled round; `names` are the endpoints in profile order.
    #[must_use]
    pub fn round(round: &Round, names: &[String]) -> Self {
        Self::Round(RoundLine::of(round, names))
    }

    /// What became of a straggler of this round.
    #[must_use]
    pub fn late(round: RoundNo, late: &Late, names: &[String]) -> Self {
        Self::Late(LateLine {
            round: round.0,
            endpoint: name_of(names, late.endpoint),
            outcome: late.outcome.into(),
            reason: late.outcome.reason(),
            end_ms: late.end.into(),
        })
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
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(rename = "type", borrow)]
            kind: Cow<'a, str>,
        }
        // Nearly every line is a round, and need not be gone through twice.
        if text.starts_with(ROUND) {
            return serde_json::from_str(text).map(Self::Round);
        }
        let Kind { kind } = serde_json::from_str(text)?;
        match &*kind {
            "session" => serde_json::from_str(text).map(Self::Session),
            "settings" => serde_json::from_str(text).map(Self::Settings),
            "round" => serde_json::from_str(text).map(Self::Round),
            "late" => serde_json::from_str(text).map(Self::Late),
            "note" => serde_json::from_str(text).map(Self::Note),
            "summary" => serde_json::from_str(text).map(Self::Summary),
            _ => Ok(Self::Unknown),
        }
    }
}

/// How the line of a round begins where this program wrote it.
const ROUND: &str = r#"{"type":"round","#;

/// Endpoints that need not answer: the n of a quorum.
pub(super) fn optional(endpoints: &[EndpointLine]) -> usize {
    endpoints.iter().filter(|endpoint| !endpoint.required).count()
}

/// An endpoint's name; its number where it has none.
pub(super) fn name_of(names: &[String], endpoint: EndpointId) -> String {
    names.get(endpoint.index()).cloned().unwrap_or_else(|| format!("#{}", endpoint.index()))
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndpointLine {
    /// Its name.
    pub name: String,
    /// Whether its failure fails the round.
    #[serde(default)]
    pub required: bool,
    /// Number of URLs.
    #[serde(default)]
    pub replicas: usize,
    /// Whether it has a circuit breaker.
    #[serde(default, skip_serializing_if = "is_false")]
    pub breaker: bool,
}

/// What became of a call of a probe round after the round had ended (W7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LateLine {
    /// Its round.
    pub round: u64,
    /// Whose call.
    pub endpoint: String,
    /// How it came out.
    pub outcome: CallOutcome,
    /// Why there is no answer: `deadline` where it was pending for as long as it was watched, `throttled` where it
    /// made room for another call, `aborted` at the end of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// When, from the round's start.
    pub end_ms: Millis,
}

/// What somebody had to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NoteLine {
    /// When, from the session's start.
    #[serde(default)]
    pub at_ms: Millis,
    /// Their words.
    pub text: String,
}

impl EndpointLine {
    /// An endpoint of a profile.
    #[must_use]
    pub fn of(name: &str, spec: &CallSpec, breaker: bool) -> Self {
        Self { name: name.to_owned(), required: spec.required, replicas: spec.replicas, breaker }
    }

    /// What the engine knows of it, as far as a record does; the rest as it is by default.
    #[must_use]
    pub fn spec(&self) -> CallSpec {
        CallSpec {
            required: self.required,
            timeout: None,
            replicas: self.replicas.max(1),
            repeatable: true,
            hedge: HedgeContract::ByMode,
        }
    }
}

/// Changed settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SettingsLine {
    /// When, from the session's start.
    #[serde(default)]
    pub at_ms: Millis,
    /// What holds from the next round on.
    pub settings: SettingsBody,
}

/// Settings of rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Share of the rounds whose stragglers are watched past the end, 0 to 1; absent where none are.
    #[serde(default, skip_serializing_if = "is_none")]
    pub probe: f64,
    /// Two variants that rounds have in turn; absent where none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ab: Option<AbLine>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_none(share: &f64) -> bool {
    *share <= 0.0
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
            probe: settings.probe,
            ab: settings.ab.as_ref().map(AbLine::of),
        }
    }

    /// The settings, as far as a record knows them; the rest as it is by default.
    ///
    /// # Errors
    /// What a field says that no settings can say.
    pub fn settings(&self) -> Result<Settings, String> {
        let hedge = self.hedge.settings();
        let hedge = hedge.ok_or_else(|| format!("`{}` is no hedge delay", text::clean(&self.hedge.delay)))?;
        if !(0.0..=1.0).contains(&self.probe) {
            return Err(format!("{} is no share of rounds to probe", self.probe));
        }
        let ab = self.ab.as_ref().map(AbLine::ab).transpose()?;
        let unknown = Settings::default();
        let or = |time: Millis, other: Duration| if time == Millis::default() { other } else { time.into() };
        Ok(Settings {
            mode: self.mode,
            budget: self.budget_ms.into(),
            request_budget: or(self.request_budget_ms, unknown.request_budget),
            every: self.every_ms.into(),
            quorum: (self.quorum > 0).then_some(self.quorum),
            hedge,
            probe: self.probe,
            ab,
            ..unknown
        })
    }
}

/// Two variants of the settings that rounds have in turn: odd ones the first, even ones the second (W9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AbLine {
    /// `mode`, `budget`, `quorum` or `hedge`.
    pub vary: String,
    /// The first: `quorum`, `150ms`, `3`, `p95`.
    pub a: String,
    /// The second.
    pub b: String,
}

impl AbLine {
    fn of(ab: &Ab) -> Self {
        Self { vary: ab.a.key().to_owned(), a: ab.a.value(), b: ab.b.value() }
    }

    fn ab(&self) -> Result<Ab, String> {
        let variant = |value: &str| {
            let none = || format!("`{}={}` is nothing to vary", text::clean(&self.vary), text::clean(value));
            Variant::parse(&self.vary, value).ok_or_else(none)
        };
        Ok(Ab { a: variant(&self.a)?, b: variant(&self.b)? })
    }
}

/// How calls are hedged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

    /// What is known of it; the rest as it is by default. `None` where the delay is none.
    fn settings(&self) -> Option<HedgeSettings> {
        let known = HedgeSettings { max: self.max, ..HedgeSettings::default() };
        if self.delay.is_empty() {
            return Some(known);
        }
        HedgeDelay::parse(&self.delay).map(|delay| HedgeSettings { delay, ..known })
    }
}
