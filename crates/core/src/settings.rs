//! Settings of a run: recorded when it starts, so that a later process does the same.

use crewagent_format::package::step::Tier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::state::guard::MissingRule;
use crate::state::visit_files::OutputRule;

/// The settings of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunSettings {
    /// Confirmation of moves.
    pub mode: Mode,
    /// Limits that stop it.
    pub limits: Limits,
    /// Treatment of a missing output or variable that a node declares.
    pub missing: MissingRule,
    /// Files that count as outputs of a node.
    #[serde(default = "OutputRule::of_older_runs")]
    pub outputs: OutputRule,
    /// The system's tool policy; agents can only tighten it.
    pub policy: Policy,
    /// Maximum size of a step's text in the node brief.
    pub inline_step_bytes: u64,
    /// Maximum size of an input that the node brief shows whole.
    pub inline_input_bytes: u64,
    /// Maximum size of all inputs that the node brief shows.
    pub inline_inputs_bytes: u64,
    /// Manner in which a model is told to change the state.
    #[serde(default)]
    pub state_tools: StateTools,
    /// Name of the requested model; none for the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The size of the model's window, in tokens.
    pub window_tokens: u64,
    /// Models for the tiers that steps advise.
    #[serde(default, skip_serializing_if = "Tiers::is_empty")]
    pub tiers: Tiers,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            limits: Limits::default(),
            missing: MissingRule::default(),
            outputs: OutputRule::default(),
            policy: Policy::default(),
            inline_step_bytes: 32 * 1024,
            inline_input_bytes: 4 * 1024,
            inline_inputs_bytes: 12 * 1024,
            state_tools: StateTools::default(),
            model: None,
            window_tokens: 128_000,
            tiers: Tiers::default(),
        }
    }
}

/// Models for the tiers that steps advise; those of a tier without one go to the run's model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Tiers {
    /// For simple work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast: Option<Box<TierModel>>,
    /// For hard work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strong: Option<Box<TierModel>>,
    /// For judging the work of another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Box<TierModel>>,
}

/// Model of a tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TierModel {
    /// Its name.
    pub model: String,
    /// The size of its window, in tokens.
    pub window_tokens: u64,
    /// True if it was named for this run; otherwise it follows the settings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
}

impl Tiers {
    /// Returns the model of a tier.
    pub fn get(&self, tier: Tier) -> Option<&TierModel> {
        match tier {
            Tier::Fast => self.fast.as_deref(),
            Tier::Strong => self.strong.as_deref(),
            Tier::Review => self.review.as_deref(),
        }
    }

    /// Sets the model of a tier.
    pub fn set(&mut self, tier: Tier, model: Option<TierModel>) {
        let model = model.map(Box::new);
        match tier {
            Tier::Fast => self.fast = model,
            Tier::Strong => self.strong = model,
            Tier::Review => self.review = model,
        }
    }

    /// Returns true if no tier has a model.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Manner in which a model is told to change the state of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum StateTools {
    /// As the package says, else with the tool.
    #[default]
    Auto,
    /// With `complete_node`.
    Tool,
    /// With edits of the state document.
    Document,
}

/// Confirmation of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Mode {
    /// It asks only for what is missing.
    #[default]
    Autopilot,
    /// It asks before each move.
    Guided,
}

/// Limits that stop a run. Each counts from the user's last input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Limits {
    /// Requests to the model.
    pub turns: u64,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { turns: 50, seconds: None, tokens: None, cost: None }
    }
}
