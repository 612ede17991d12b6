//! Settings of a run: recorded when it starts, so that a later process does the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::state::guard::MissingRule;

/// The settings of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunSettings {
    /// Whether it asks before each move.
    pub mode: Mode,
    /// What stops it.
    pub limits: Limits,
    /// What happens when something that a node declares is missing.
    pub missing: MissingRule,
    /// The system's tool policy; agents can only tighten it.
    pub policy: Policy,
    /// The step's text stands in the node brief up to this size.
    pub inline_step_bytes: u64,
    /// The model that was asked for, by its name; none for the one that is set up for runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The size of the model's window, in tokens.
    pub window_tokens: u64,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            limits: Limits::default(),
            missing: MissingRule::default(),
            policy: Policy::default(),
            inline_step_bytes: 16 * 1024,
            model: None,
            window_tokens: 128_000,
        }
    }
}

/// Whether a run asks before each move.
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

/// What stops a run. Each counts from the user's last input.
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
