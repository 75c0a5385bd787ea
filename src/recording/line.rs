//! The lines of a record, and what was asked for. Times `at_ms` are milliseconds from the session's start.

use super::hedge::{HedgeLine, OwnHedge};
use super::round::{CallOutcome, RoundLine, is_false};
use super::summary::SummaryLine;
use super::units::Millis;
use crate::domain::{Ab, CallSpec, EndpointId, Late, Mode, Reason, Round, RoundNo, Settings, Variant, text};
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Its own limit, from the round's start; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<Millis>,
    /// Whether a second identical request does no harm; absent where that is so, or not known.
    #[serde(default = "is_so", skip_serializing_if = "is_true")]
    pub repeatable: bool,
    /// Its own say on hedging: `false` for never, or by which settings; absent where it has none.
    #[serde(default, skip_serializing_if = "OwnHedge::is_by_mode")]
    pub hedge: OwnHedge,
}

const fn is_so() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_true(so: &bool) -> bool {
    *so
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
        Self {
            name: name.to_owned(),
            required: spec.required,
            replicas: spec.replicas,
            breaker,
            timeout_ms: spec.timeout.map(Millis::from),
            repeatable: spec.repeatable,
            hedge: OwnHedge(spec.hedge),
        }
    }

    /// What the engine knows of it, as far as a record does; the rest as it is by default.
    #[must_use]
    pub fn spec(&self) -> CallSpec {
        CallSpec {
            required: self.required,
            timeout: self.timeout_ms.map(Duration::from),
            replicas: self.replicas.max(1),
            repeatable: self.repeatable,
            hedge: self.hedge.0,
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
        let hedge = self.hedge.settings()?;
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
