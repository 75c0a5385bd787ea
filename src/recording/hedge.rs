//! How hedging stands in a line: the settings of it, and an endpoint's own say. What is as by default is absent, so
//! that recordings of before read as they did.

use crate::domain::{HedgeContract, HedgeDelay, HedgeSettings, text};
use serde::{Deserialize, Serialize};

/// How calls are hedged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HedgeLine {
    /// `p95`, `50ms`.
    #[serde(default)]
    pub delay: String,
    /// Hedges beside the primary; absent where the delay and the replicas decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u8>,
    /// Hedges per primary, 0 to 1; absent where it is 0.05.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_budget: Option<f64>,
    /// Whether a retryable failure starts the next hedge at once; absent where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<bool>,
}

impl HedgeLine {
    pub(super) fn of(hedge: &HedgeSettings) -> Self {
        let usual = HedgeSettings::default();
        Self {
            delay: hedge.delay.to_string(),
            max: hedge.max,
            load_budget: Some(hedge.load_budget).filter(|load| load.total_cmp(&usual.load_budget).is_ne()),
            on_error: Some(hedge.on_error).filter(|on_error| *on_error != usual.on_error),
        }
    }

    /// What is known of it; the rest as it is by default.
    ///
    /// # Errors
    /// What a field says that no settings can say.
    pub(super) fn settings(&self) -> Result<HedgeSettings, String> {
        let usual = HedgeSettings::default();
        let none = || format!("`{}` is no hedge delay", text::clean(&self.delay));
        let delay = match self.delay.as_str() {
            "" => usual.delay,
            delay => HedgeDelay::parse(delay).ok_or_else(none)?,
        };
        let load_budget = self.load_budget.unwrap_or(usual.load_budget);
        if !(0.0..=1.0).contains(&load_budget) {
            return Err(format!("{load_budget} is no share of calls to hedge"));
        }
        Ok(HedgeSettings {
            delay,
            max: self.max,
            load_budget,
            on_error: self.on_error.unwrap_or(usual.on_error),
        })
    }
}

/// An endpoint's own say on hedging, as a profile spells it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Say", into = "Say")]
pub struct OwnHedge(pub HedgeContract);

impl OwnHedge {
    /// Whether there is nothing to say.
    pub(super) fn is_by_mode(&self) -> bool {
        self.0 == HedgeContract::ByMode
    }
}

/// `false`: never hedged; settings: hedged by these; `true`: as the mode has it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Say {
    Whether(bool),
    How(HedgeLine),
}

impl From<OwnHedge> for Say {
    fn from(own: OwnHedge) -> Self {
        match own.0 {
            HedgeContract::ByMode => Self::Whether(true),
            HedgeContract::Off => Self::Whether(false),
            HedgeContract::Own(hedge) => Self::How(HedgeLine::of(&hedge)),
        }
    }
}

impl TryFrom<Say> for OwnHedge {
    type Error = String;

    fn try_from(say: Say) -> Result<Self, String> {
        Ok(Self(match say {
            Say::Whether(true) => HedgeContract::ByMode,
            Say::Whether(false) => HedgeContract::Off,
            Say::How(line) => HedgeContract::Own(line.settings()?),
        }))
    }
}

#[cfg(test)]
impl schemars::JsonSchema for OwnHedge {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Say::schema_name()
    }

    fn json_schema(schemas: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Say::json_schema(schemas)
    }
}
